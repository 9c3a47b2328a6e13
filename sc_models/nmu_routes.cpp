// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The way of a message from this NMU, up to the end of its leg: found once and then remembered (Nmu::route).

#include <algorithm>

#include "configs/blueprint/carrier.h"
#include "sc_models/nmu.h"

namespace weft {

void Nmu::find_route(uint32_t destination, uint8_t variant, Route& route) const {
  route = Route{};
  route.destination = destination;
  route.variant = variant;
  if (graph_ != nullptr) {
    find_graph_route(destination, route);
  } else if ((destination & kUnitPeer) != 0) {
    find_unit_route(destination & ~kUnitPeer, route);
  } else {
    find_leg(destination, route);
  }
}

void Nmu::find_graph_route(uint32_t destination, Route& route) const {
  if (packet_ends_.empty()) {
    route.analytical = carrier_of(*graph_) == Carrier::direct;
    route.special = route.analytical || graph_->per_flow();
    if (!route.special) route.port = static_cast<uint8_t>(graph_->next_port(place_, destination, 0));
    return;
  }
  const bool reverse = (route.variant & 1) != 0;
  route.special = true;
  route.packet = 1;
  route.target = config_.packet.forwarding == PacketForwarding::software
                     ? packet_ends_[0]->fabric.next_hop(place_, destination, reverse)
                     : destination;
}

/// One hop, to the switch of my line; at analytical fidelity it is a member of the carrier behind all NMUs.
void Nmu::find_unit_route(uint32_t d, Route& route) const {
  const Plane& plane = planes_[route.variant >> 1];
  const DimensionConfig& dimension = (*plane.dimensions)[d];
  route.port = plane.first_port[d];
  const Carrier carrier = carrier_of(dimension);
  if (carrier == Carrier::packets) {
    route.special = true;
    route.packet = plane.packet_end_of[d];
    route.target = route.destination;
    return;
  }
  route.latency = dimension.latency;
  route.analytical = route.special = carrier == Carrier::direct;
  route.target = geometry_.npus() + geometry_.line(place_, d);
  route.slowest = static_cast<uint8_t>(d);
}

/// The leg into the packet network of dimension d.
void Nmu::find_packet_leg(uint32_t destination, uint32_t d, Route& route) const {
  const bool reverse = (route.variant & 1) != 0;
  const Plane& plane = planes_[route.variant >> 1];
  route.special = true;
  route.packet = plane.packet_end_of[d];
  const PacketFabric& fabric = packet_ends_[route.packet - 1u]->fabric;
  route.target = fabric.end_of_leg(place_, destination);
  if (config_.packet.forwarding == PacketForwarding::software)
    route.target = fabric.next_hop(place_, route.target, reverse);
  const bool descending = fabric.leaves_descending(place_, route.target, reverse);
  route.port = static_cast<uint8_t>(plane.first_port[d] + (descending ? 1 : 0));
}

/// The dimensions in ascending order. An analytical leg goes on through the analytical dimensions that
/// follow; anything else starts a new leg.
void Nmu::find_leg(uint32_t destination, Route& route) const {
  const bool reverse = (route.variant & 1) != 0;
  const Plane& plane = planes_[route.variant >> 1];
  Rate rate;
  const auto take = [&](uint32_t d, uint32_t levels) {
    const DimensionConfig& dimension = (*plane.dimensions)[d];
    for (uint32_t l = 0; l < levels; ++l) {
      const Rate next = l == 0 ? dimension.link_rate() : dimension.tree->level(l).rate();
      if (rate.bytes_per_second != 0 && static_cast<Wide>(next.bytes_per_second) * rate.divisor >=
                                            static_cast<Wide>(rate.bytes_per_second) * next.divisor)
        continue;
      rate = next;
      route.slowest = static_cast<uint8_t>(d);
      route.slowest_level = static_cast<uint8_t>(l);
    }
  };
  bool found = false;
  for (uint32_t d = 0; d < geometry_.dimensions(); ++d) {
    const uint32_t from = geometry_.coordinate(place_, d);
    const uint32_t to = geometry_.coordinate(destination, d);
    if (from == to) continue;
    const DimensionConfig& dimension = (*plane.dimensions)[d];
    const Carrier carrier = carrier_of(dimension);
    const bool analytical = carrier == Carrier::direct;
    if (found && (!route.analytical || !analytical)) return;
    if (carrier == Carrier::packets) {
      find_packet_leg(destination, d, route);
      return;
    }
    const Shape shape(dimension);
    const uint32_t link = shape.link_to(from, to, reverse);
    route.latency += analytical ? geometry_.latency(d, from, to) : dimension.latency;
    take(d, height(dimension, from, to));
    route.last = static_cast<uint32_t>(plane.first_port[d]) << 16 | (shape.joins_neighbours() ? link : 0);
    route.target = geometry_.with_coordinate(found ? route.target : place_, d, to);
    route.several = found || route.slowest_level != 0;
    if (found) continue;
    found = true;
    route.analytical = route.special = analytical;
    // Directions at other fidelities have a port each; all other links are behind one.
    const bool port_each = carrier == Carrier::neighbours;
    route.port = static_cast<uint8_t>(plane.first_port[d] + (port_each ? link : 0));
    route.link = static_cast<uint16_t>(port_each ? 0 : link);
  }
}

}  // namespace weft
