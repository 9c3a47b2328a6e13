// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/packet_timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "configs/tree.h"
#include "configs/units.h"

namespace weft {

std::vector<std::vector<uint32_t>> packet_regions(const Config& config) {
  std::vector<std::vector<uint32_t>> regions;
  bool open = false;
  const std::vector<DimensionConfig>& dimensions = config.fabric_dimensions();
  for (uint32_t d = 0; d < dimensions.size(); ++d) {
    if (dimensions[d].size <= 1) continue;
    if (dimensions[d].fidelity != Fidelity::packet) {
      open = false;
      continue;
    }
    if (!open) regions.emplace_back();
    open = true;
    regions.back().push_back(d);
  }
  return regions;
}

PacketFabricConfig packet_of(const PacketFabricConfig& packet, const DimensionConfig& dimension) {
  PacketFabricConfig own = packet;
  if (dimension.packet_bytes != 0) own.packet_bytes = dimension.packet_bytes;
  if (dimension.phit_bytes != 0) own.phit_bytes = dimension.phit_bytes;
  if (dimension.header_efficiency != 0) own.header_efficiency = dimension.header_efficiency;
  return own;
}

PacketFabricConfig packet_of_network(const Config& config, const std::vector<uint32_t>& dimensions) {
  if (dimensions.empty()) return config.packet;
  const std::vector<DimensionConfig>& all = config.fabric_dimensions();
  const PacketFabricConfig first = packet_of(config.packet, all[dimensions[0]]);
  for (const uint32_t d : dimensions) {
    const uint64_t other = packet_of(config.packet, all[d]).packet_bytes;
    if (other == first.packet_bytes) continue;
    throw UserError(
        ExitCode::usage,
        fmt::format(
            "{}: key `topology.dimensions[].packet_size`: {} in dimension {} ({}), and {} in dimension {} "
            "({}); both are of one packet network, whose packets have one size: give both the same, or "
            "another `fidelity` to one of them",
            config.file.empty() ? "configuration" : config.file, print_size(first.packet_bytes),
            dimensions[0], print_dimension(all[dimensions[0]]), print_size(other), d,
            print_dimension(all[d])));
  }
  return first;
}

uint64_t smallest_packet(const Config& config) {
  uint64_t bytes = config.graph != nullptr ? config.packet.packet_bytes : ~uint64_t{0};
  for (const std::vector<uint32_t>& region : packet_regions(config))
    for (const uint32_t d : region)
      bytes = std::min(bytes, packet_of(config.packet, config.fabric_dimensions()[d]).packet_bytes);
  return bytes == ~uint64_t{0} ? config.packet.packet_bytes : bytes;
}

namespace {

/// Bytes of link time that a flit takes: whole phits.
uint64_t wire_bytes(const PacketFabricConfig& packet) {
  const uint64_t phit = packet.phit_bytes == 0 ? packet.flit_bytes : packet.phit_bytes;
  return (packet.flit_bytes + phit - 1) / phit * phit;
}

}  // namespace

double exact_flit_time(const PacketFabricConfig& packet, Rate rate) {
  return static_cast<double>(wire_bytes(packet)) / rate.value() / packet.header_efficiency * 1e12;
}

Ticks flit_time(const PacketFabricConfig& packet, Rate rate) {
  if (exact_flit_time(packet, rate) > 1e15) return 2 * kLongestFlitTime;  // more than ticks hold, perhaps
  const Ticks whole =
      std::max(kTicksPerPicosecond, transfer_time(wire_bytes(packet) * kTicksPerPicosecond, rate));
  if (packet.header_efficiency == 1) return whole;
  constexpr auto kTicks = static_cast<double>(kTicksPerPicosecond);
  return std::max(whole, static_cast<Ticks>(std::ceil(exact_flit_time(packet, rate) * kTicks * (1 - 1e-12))));
}

Ticks flit_time(const PacketFabricConfig& packet, Rate rate, Ticks cycle) {
  return on_multiple(flit_time(packet, rate), cycle);
}

Ticks on_multiple(Ticks own, Ticks cycle) {
  if (own <= cycle) return cycle;
  const Ticks cycles = (own + cycle - 1) / cycle;
  // What is whole picoseconds is exact. Otherwise each cycle may have been rounded up by almost a tick.
  return own % kTicksPerPicosecond != 0 && cycles * cycle - own < cycles ? cycles * cycle : own;
}

std::string print_flit_time(const PacketFabricConfig& packet, Rate rate) {
  return print_time(static_cast<Picoseconds>(exact_flit_time(packet, rate)));
}

std::vector<Ticks> flit_times(const Config& config, const std::vector<uint32_t>& dimensions) {
  std::vector<Ticks> times;
  for (const uint32_t d : dimensions) {
    const DimensionConfig& dimension = config.fabric_dimensions()[d];
    const PacketFabricConfig packet = packet_of(config.packet, dimension);
    const uint32_t levels = dimension.tree == nullptr ? 1 : dimension.tree->levels();
    for (uint32_t l = 0; l < levels; ++l)
      times.push_back(flit_time(packet, at_level(dimension, l).link_rate()));
  }
  return times;
}

Ticks router_cycle(const PacketFabricConfig& packet, const std::vector<Ticks>& flit_times) {
  if (packet.cycle != 0) return ticks(packet.cycle);
  Ticks cycle = kNever;
  for (const Ticks time : flit_times) cycle = std::min(cycle, time);
  return cycle == kNever ? ticks(1000) : cycle;
}

std::string print_ticks(Ticks t) {
  if (t % kTicksPerPicosecond == 0) return print_time(t / kTicksPerPicosecond);
  const double ps = static_cast<double>(t) / static_cast<double>(kTicksPerPicosecond);
  return ps < 1000 ? fmt::format("{:.4g} ps", ps) : fmt::format("{:.7g} ns", ps / 1000);
}

uint64_t packet_flits(const PacketFabricConfig& packet) {
  return (packet.packet_bytes + packet.header_bytes + packet.flit_bytes - 1) / packet.flit_bytes;
}

uint64_t message_flits(const PacketFabricConfig& packet, uint64_t bytes) {
  const uint64_t full = bytes / packet.packet_bytes;
  const uint64_t rest = bytes % packet.packet_bytes;
  const uint64_t last =
      rest == 0 && full != 0 ? 0 : (rest + packet.header_bytes + packet.flit_bytes - 1) / packet.flit_bytes;
  return std::max<uint64_t>(1, full * packet_flits(packet) + last);
}

}  // namespace weft
