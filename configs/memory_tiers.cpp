// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/memory_tiers.h"

#include <fmt/format.h>

#include "configs/units.h"

namespace weft {
namespace {

std::string times(uint64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string room_of(uint64_t capacity) {
  return capacity == 0 ? std::string("unlimited capacity") : print_size(capacity);
}

std::string rate_of(Rate bandwidth) {
  return bandwidth.bytes_per_second == 0 ? std::string("unlimited bandwidth") : print_bandwidth(bandwidth);
}

std::string window_of(uint64_t chunk, uint32_t window) {
  return fmt::format("chunks of {}, {}", print_size(chunk),
                     window == 0 ? std::string("as many under way as pay")
                                 : fmt::format("{} of a stream under way", window));
}

}  // namespace

std::string describe_tiers(const HostMemoryConfig& host, const NvmeConfig* nvme, uint32_t npus) {
  const uint32_t hosts = host.hosts(npus);
  std::string out = fmt::format("host memory: {} of {}, {}, {}, {} each\n", times(hosts, "host"),
                                times(host.npus_of_host(npus), "NPU"), rate_of(host.bandwidth),
                                print_time(host.latency), room_of(host.capacity));
  out += fmt::format("  PCIe            {} a host, {} a direction, {}\n",
                     times(host.links_of_host(npus), "link"), print_bandwidth(host.link_bandwidth),
                     print_time(host.link_latency));
  out += fmt::format("  transfers       {}\n", window_of(host.chunk, host.window));
  if (nvme == nullptr) return out;
  out += fmt::format("NVMe: {} a host, {}, {}\n", print_bandwidth(nvme->bandwidth), print_time(nvme->latency),
                     room_of(nvme->capacity));
  out +=
      fmt::format("  PCIe            {} a direction, {}, {}\n", print_bandwidth(nvme->link_bandwidth),
                  print_time(nvme->link_latency),
                  nvme->path == "staged" ? "staged in the host's memory" : "direct, past the host's memory");
  out += fmt::format("  transfers       {}\n", window_of(nvme->chunk, nvme->window));
  return out;
}

std::string draw_tiers(const HostMemoryConfig& host, const NvmeConfig* nvme, uint32_t npus, bool full) {
  std::string out = "  // host memory and NVMe\n  edge [color=\"#555555\"];\n";
  const auto node = [&](const std::string& id, const std::string& label) {
    out += fmt::format("  \"{}\" [label=\"{}\", shape=cylinder];\n", id, label);
  };
  const auto edge = [&](const std::string& a, const std::string& b, const std::string& label) {
    out += fmt::format("  \"{}\" -- \"{}\"{};\n", a, b,
                       label.empty() ? std::string() : fmt::format(" [label=\"{}\"]", label));
  };
  const uint32_t hosts = host.hosts(npus);
  if (!full) {
    node("hosts", fmt::format("{}\\n{}", times(hosts, "host memory"), rate_of(host.bandwidth)));
    edge("npu", "hosts", fmt::format("x {}", host.npus_of_host(npus)));
    if (nvme == nullptr) return out;
    node("nvmes", fmt::format("NVMe\\n{}", print_bandwidth(nvme->bandwidth)));
    edge("hosts", "nvmes", "");
    return out;
  }
  for (uint32_t h = 0; h < hosts; ++h) {
    node(fmt::format("host{}", h), fmt::format("host {}", h));
    for (uint32_t u = 0; u < npus; ++u)
      if (host.host_of(u, npus) == h) edge(fmt::format("n{}", u), fmt::format("host{}", h), "");
    if (nvme == nullptr) continue;
    node(fmt::format("nvme{}", h), fmt::format("NVMe {}", h));
    edge(fmt::format("host{}", h), fmt::format("nvme{}", h), "");
  }
  return out;
}

}  // namespace weft
