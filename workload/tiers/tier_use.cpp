// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/tiers/tier_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "configs/units.h"
#include "workload/tiers/tier_path.h"
#include "workload/trace/node_cache.h"

namespace weft::tiers {
namespace {

constexpr uint64_t kWindow = 16ull << 20;  // bytes of the file at a time

bool watched(const std::string& over_capacity, uint64_t capacity) {
  return capacity != 0 && over_capacity != "ignore";
}

}  // namespace

TierUse::TierUse(const Config& config)
    : config_(config),
      host_(config.host_memory && watched(config.host_memory->over_capacity, config.host_memory->capacity)),
      nvme_(config.nvme && watched(config.nvme->over_capacity, config.nvme->capacity)),
      estimate_(config.run.footprint == "on") {}

void TierUse::add(const trace::TraceIndex& index, uint32_t rank, uint32_t npu, uint32_t ranks) {
  if (!wanted() || config_.run.footprint == "off") return;
  struct Tensor {
    uint64_t bytes = 0;
    bool estimated = false;
  };
  std::map<trace::Location, std::unordered_map<std::string, Tensor>> tensors;
  trace::NodeCache cache = index.open_cache(kWindow);
  std::vector<trace::TensorUse> uses;
  trace::Node node;
  for (trace::NodeIndex i = 0; i < index.size(); ++i) {
    index.decode(cache, i, node);
    const bool store = node.type == trace::NodeType::mem_store;
    const trace::Location place = place_of(config_, node.location);
    if ((!store && node.type != trace::NodeType::mem_load) || !is_tier(place) || node.tensor_size == 0)
      continue;
    // A load reads its tensor, a store writes it.
    index.tensors(cache, i, uses);
    const auto named = std::count_if(uses.begin(), uses.end(),
                                     [&](const trace::TensorUse& use) { return use.output == store; });
    for (const trace::TensorUse& use : uses) {
      if (use.output != store) continue;
      Tensor& tensor = tensors[place][use.name];
      tensor.bytes = std::max(tensor.bytes, use.bytes != 0 || named > 1 ? use.bytes : node.tensor_size);
    }
    if (named == 0 && estimate_)
      tensors[place][fmt::format("node {} {}", node.id, node.name)] = {node.tensor_size, true};
  }
  for (const auto& [place, own] : tensors) {
    Use& use = uses_[{place, config_.host_memory->host_of(npu, config_.npus())}];
    use.hosts = std::max(use.hosts, ranks);
    for (const auto& [name, tensor] : own) {
      use.bytes += tensor.bytes;
      ++use.tensors;
      use.estimated = use.estimated || tensor.estimated;
      if (tensor.bytes < use.largest || (tensor.bytes == use.largest && name >= use.largest_name)) continue;
      use.largest = tensor.bytes;
      use.largest_name = name;
      use.largest_rank = rank;
    }
  }
}

std::string TierUse::text(trace::Location place, uint64_t capacity) const {
  const Use* worst = nullptr;
  uint32_t host = 0;
  uint32_t over = 0;
  for (const auto& [key, use] : uses_) {
    if (key.first != place || use.bytes <= capacity) continue;
    over += use.hosts;
    if (worst != nullptr && use.bytes <= worst->bytes) continue;
    worst = &use;
    host = key.second;
  }
  if (worst == nullptr) return {};
  const std::string key = fmt::format("memory.{}.capacity", to_string(place));
  return fmt::format(
      "{} tensors of {}{} B in the {} of host {} are {} B more than `{}` ({}); {} host{} too small, and the "
      "largest tensor is `{}` of rank {} ({} B). Raise the capacity, or move tensors",
      worst->tensors, worst->estimated ? "about " : "", worst->bytes,
      place == trace::Location::host ? "memory" : "drives", host, worst->bytes - capacity, key,
      print_size(capacity), over, over == 1 ? " is" : "s are", worst->largest_name, worst->largest_rank,
      worst->largest);
}

std::vector<std::string> TierUse::check() const {
  std::vector<std::string> warnings;
  const auto look = [&](trace::Location place, uint64_t capacity, const std::string& choice) {
    const std::string what = text(place, capacity);
    if (what.empty()) return;
    const std::string key = fmt::format("memory.{}.over_capacity", to_string(place));
    if (choice == "error")
      throw UserError(ExitCode::usage,
                      fmt::format("{}: key `{}` is `error`: {}",
                                  config_.file.empty() ? "configuration" : config_.file, key, what));
    warnings.push_back(fmt::format("{}; `{}` can make this an error, or silent", what, key));
  };
  if (host_) look(trace::Location::host, config_.host_memory->capacity, config_.host_memory->over_capacity);
  if (nvme_) look(trace::Location::nvme, config_.nvme->capacity, config_.nvme->over_capacity);
  return warnings;
}

}  // namespace weft::tiers
