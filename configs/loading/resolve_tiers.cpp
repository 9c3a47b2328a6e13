// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Relations between the keys of `memory.host` and `memory.nvme`, and with the machine.

#include <fmt/format.h>

#include <string>

#include "configs/loading/resolution.h"
#include "configs/units.h"

namespace weft::loading {
namespace {

class TierRules {
 public:
  explicit TierRules(Resolution& r) : r_(r) {}

  void resolve_host(HostMemoryConfig& host) {
    const uint32_t npus = r_.config.npus();
    if (host.per == "npu" && host.nodes != 1) {
      r_.complain(
          "memory.host.nodes",
          fmt::format("{} nodes, but with `per: npu` every NPU has a host of its own; take the key out, "
                      "or write `per: node`",
                      host.nodes));
      host.nodes = 1;
    }
    if (host.bandwidth.bytes_per_second == 0 && host.implementation != kDefaultMemoryModel &&
        host.implementation != "bandwidth" && r_.find("memory.host.bandwidth") != nullptr)
      r_.complain(
          "memory.host.bandwidth",
          fmt::format("'unlimited' is of model `bandwidth`, and `memory.host.implementation` is '{}'; give "
                      "the bandwidth of the memory",
                      host.implementation));
    if (r_.config.dimensions.empty()) return;
    if (host.per == "node" && npus % host.nodes != 0) {
      r_.complain("memory.host.nodes",
                  fmt::format("{} nodes do not divide the machine's {} NPUs; allowed: a divisor of {}",
                              host.nodes, npus, npus));
      host.nodes = 1;
    }
    if (host.links && *host.links > host.npus_of_host(npus))
      r_.complain("memory.host.links",
                  fmt::format("{} links, but a host has {} NPUs, and an NPU uses one link; allowed: 1 to {}",
                              *host.links, host.npus_of_host(npus), host.npus_of_host(npus)));
    check_chunk("memory.host", host.chunk, host.capacity);
  }

  void resolve_nvme(NvmeConfig& nvme) {
    if (!r_.config.host_memory)
      r_.complain("memory.nvme.bandwidth",
                  "the drives are behind their host, and there is no `memory.host`; add it: `memory: {host: "
                  "{bandwidth: 200 GB/s, link_bandwidth: 64 GB/s}}`");
    if (nvme.link_bandwidth.bytes_per_second == 0) nvme.link_bandwidth = nvme.bandwidth;
    check_chunk("memory.nvme", nvme.chunk, nvme.capacity);
    if (nvme.path == "staged" && r_.config.host_memory && r_.config.host_memory->capacity != 0 &&
        nvme.chunk > r_.config.host_memory->capacity)
      r_.complain("memory.nvme.chunk",
                  fmt::format("a chunk of {} is staged in the host's memory, which holds {} "
                              "(`memory.host.capacity`); use a smaller chunk, or `path: direct`",
                              print_size(nvme.chunk), print_size(r_.config.host_memory->capacity)));
  }

 private:
  void check_chunk(const std::string& section, uint64_t chunk, uint64_t capacity) {
    if (capacity == 0 || chunk <= capacity || r_.find((section + ".chunk").c_str()) == nullptr) return;
    r_.complain(section + ".chunk",
                fmt::format("a chunk of {} is more than `{}.capacity` ({}); use a smaller chunk",
                            print_size(chunk), section, print_size(capacity)));
  }

  Resolution& r_;
};

}  // namespace

void resolve_tiers(Resolution& r) {
  if (r.config.host_memory) TierRules(r).resolve_host(*r.config.host_memory);
  if (r.config.nvme) TierRules(r).resolve_nvme(*r.config.nvme);
}

}  // namespace weft::loading
