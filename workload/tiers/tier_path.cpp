// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/tiers/tier_path.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace weft::tiers {
namespace {

using Kind = Stage::Kind;
constexpr size_t kKinds = 4;
constexpr uint32_t kMostWindow = 1u << 20;

/// As the memory model `bandwidth` reckons.
Rate rate_of(Rate bandwidth, double efficiency) {
  if (efficiency >= 1 || bandwidth.bytes_per_second == 0) return bandwidth;
  return {static_cast<uint64_t>(std::llround(bandwidth.value() * efficiency)), 1};
}

bool plain(const std::string& implementation) {
  return implementation == kDefaultMemoryModel || implementation == "bandwidth";
}

double time_of(double bytes, const Stage& stage) {
  return stage.rate.bytes_per_second == 0 ? 0 : bytes / stage.rate.value() * 1e12;
}

/// Time of a chunk in each kind of stage.
std::array<double, kKinds> service(const std::vector<Stage>& stages, double bytes) {
  std::array<double, kKinds> sums{};
  for (const Stage& stage : stages) sums[static_cast<size_t>(stage.kind)] += time_of(bytes, stage);
  return sums;
}

double slowest(const std::vector<Stage>& stages, double bytes) {
  const auto sums = service(stages, bytes);
  return *std::max_element(sums.begin(), sums.end());
}

/// From the request to the answer of one chunk alone.
double one_chunk(const Path& path, double bytes) {
  double time = static_cast<double>(path.before) + static_cast<double>(path.after);
  for (const Stage& stage : path.stages) time += time_of(bytes, stage) + static_cast<double>(stage.latency);
  return time;
}

/// The stages of a load; those of a store are the same in reverse order.
std::vector<Stage> stages_of_load(const Config& config, trace::Location place) {
  const HostMemoryConfig& host = *config.host_memory;
  const auto host_memory = [&](bool write) {
    return Stage{Kind::host_memory, write, rate_of(host.bandwidth, host.efficiency), host.latency};
  };
  const Stage npu_link{Kind::npu_link, false, host.link_bandwidth, host.link_latency};
  if (place == trace::Location::host) return {host_memory(false), npu_link};
  const NvmeConfig& nvme = *config.nvme;
  std::vector<Stage> stages = {
      {Kind::nvme_memory, false, rate_of(nvme.bandwidth, nvme.efficiency), nvme.latency},
      {Kind::nvme_link, false, nvme.link_bandwidth, nvme.link_latency}};
  if (nvme.path == "staged") stages.insert(stages.end(), {host_memory(true), host_memory(false)});
  stages.push_back(npu_link);
  return stages;
}

}  // namespace

const char* to_string(Kind kind) {
  static const char* const names[kKinds] = {"host_memory", "nvme", "host/npu", "nvme/host"};
  return names[static_cast<size_t>(kind)];
}

trace::Location place_of(const Config& config, trace::Location location) {
  if (location == trace::Location::remote && !config.memory_pool && !config.remote_memory &&
      config.host_memory)
    return trace::Location::host;
  if (is_tier(location) && !config.host_memory && (config.memory_pool || config.remote_memory))
    return trace::Location::remote;
  return location;
}

Path path_of(const Config& config, trace::Location place, bool store) {
  const HostMemoryConfig& host = *config.host_memory;
  Path path;
  path.stages = stages_of_load(config, place);
  Picoseconds way = host.link_latency;
  if (place == trace::Location::nvme) way += config.nvme->link_latency;
  if (store) {
    std::reverse(path.stages.begin(), path.stages.end());
    // What a load reads a store writes; a staged chunk is written first, and read then, in both directions.
    for (Stage& stage : path.stages) {
      const bool staged = path.stages.size() == 5 && stage.kind == Kind::host_memory;
      if (!staged) stage.write = true;
    }
    if (path.stages.size() == 5) std::swap(path.stages[1].write, path.stages[2].write);
    path.after = way;
  } else {
    path.before = way;
  }
  const bool nvme = place == trace::Location::nvme;
  path.chunk = nvme ? config.nvme->chunk : host.chunk;
  const uint32_t window = nvme ? config.nvme->window : host.window;
  path.in_order = (nvme ? config.nvme->order : host.order) == "in_order";
  const auto bytes = static_cast<double>(path.chunk);
  const double step = slowest(path.stages, bytes);
  const double enough = step == 0 ? kMostWindow : std::ceil(one_chunk(path, bytes) / step) + 1;
  path.window = window != 0 ? window : static_cast<uint32_t>(std::min<double>(enough, kMostWindow));
  path.exact =
      plain(host.implementation) && (!nvme || plain(config.nvme->implementation)) && path.stages.size() < 5;
  return path;
}

Kind Path::bottleneck() const {
  const auto sums = service(stages, static_cast<double>(chunk));
  return static_cast<Kind>(std::max_element(sums.begin(), sums.end()) - sums.begin());
}

double Path::first_chunk(uint64_t bytes) const {
  return one_chunk(*this, static_cast<double>(bytes) / static_cast<double>(chunks(bytes)));
}

double Path::closed_form(uint64_t bytes) const {
  const uint64_t n = chunks(bytes);
  const double each = static_cast<double>(bytes) / static_cast<double>(n);
  const double first = first_chunk(bytes);
  const double step = slowest(stages, each);
  const double streaming = first + static_cast<double>(n - 1) * step;
  // With a small window the chunks go in groups of it.
  const double groups = static_cast<double>((n - 1) / window) * std::max(first, window * step);
  return std::max(streaming, groups + first + static_cast<double>((n - 1) % window) * step);
}

Picoseconds Path::least(uint64_t bytes) const {
  Picoseconds time = 0;
  for (const Stage& stage : stages)
    if (stage.kind == Kind::npu_link || stage.kind == Kind::nvme_link)
      time = std::max(time, transfer_time(bytes, stage.rate));
  return time;
}

}  // namespace weft::tiers
