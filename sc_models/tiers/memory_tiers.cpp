// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/tiers/memory_tiers.h"

#include <fmt/format.h>

#include "sc_models/memory_model.h"

namespace weft {

std::unique_ptr<MemoryTarget> make_tier_memory(const Config& config, trace::Location place,
                                               const std::string& implementation, const std::string& owner,
                                               const char* name, uint32_t sockets, vcd::ProbeHub* probes) {
  const auto figures = [](const auto& tier) {
    return MemoryTiming{tier.bandwidth, tier.latency, tier.capacity, tier.efficiency, true};
  };
  const MemoryContext context{
      place == trace::Location::host ? figures(*config.host_memory) : figures(*config.nvme), sockets, probes};
  return make_memory(implementation == kDefaultMemoryModel ? "bandwidth" : implementation, owner, name,
                     context);
}

MemoryTiers::MemoryTiers(const Config& config, ActivationWheel& wheel, const std::vector<uint32_t>& built,
                         ModuleChoices& choices, vcd::ProbeHub* probes)
    : context_(config, wheel), hosts_(config.host_memory->hosts(config.npus())), bytes_(config.npus()) {
  const uint32_t npus = config.host_memory->npus_of_host(config.npus());
  for (const uint32_t npu : built) {
    const uint32_t h = config.host_memory->host_of(npu, config.npus());
    if (hosts_[h] != nullptr) continue;
    const std::string host = fmt::format("host{}", h);
    hosts_[h] = std::make_unique<HostMemory>(
        host.c_str(), h * npus, context_, [&](trace::Location place, const char* name) {
          const bool of_host = place == trace::Location::host;
          const auto model =
              choices.of(ModuleKind::memory, fmt::format("{}.{}", host, name),
                         {of_host ? config.host_memory->implementation : config.nvme->implementation,
                          of_host ? "memory.host.implementation" : "memory.nvme.implementation"});
          return make_tier_memory(config, place, model.implementation, model.owner, name, npus, probes);
        });
  }
}

MemoryTiers::~MemoryTiers() = default;

void MemoryTiers::start(uint32_t npu, uint32_t token, trace::Location place, bool store, uint64_t bytes,
                        PoolClient& client) {
  bytes_[npu] += bytes;
  hosts_[context_.config.host_memory->host_of(npu, context_.config.npus())]->start(npu, token, place, store,
                                                                                   bytes, client);
}

void MemoryTiers::keep_causes(insight::CausalLog& log) {
  for (const auto& host : hosts_)
    if (host != nullptr) host->keep_causes(log);
}

std::vector<const Component*> MemoryTiers::components() const {
  std::vector<const Component*> all;
  for (const auto& host : hosts_)
    if (host != nullptr) all.push_back(host.get());
  return all;
}

void MemoryTiers::for_each_link_as(uint32_t npu, uint32_t built, const Component::LinkVisitor& visit) const {
  const std::string name = hosts_[built]->name();
  hosts_[built]->for_each_link_as(fmt::format("{}host{}", name.substr(0, name.rfind('.') + 1), npu), npu,
                                  visit);
}

}  // namespace weft
