// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The ports of an NMU: how many there are, what links and sockets they have, and where they lead.

#include <fmt/format.h>

#include <string>

#include "configs/blueprint/carrier.h"
#include "configs/blueprint/names.h"
#include "sc_models/nmu.h"
#include "sc_models/switch_ways.h"

namespace weft {

void Nmu::Port::send_on(uint32_t links, fabric::LinkType& link_type) {
  more_links = links - 1;
  if (more_links != 0) more = std::make_unique<fabric::Link[]>(more_links);
  for (uint32_t i = 0; i < links; ++i) link(i) = fabric::Link(link_type);
}

void Nmu::Port::expect_on(uint32_t links, fabric::LinkType& link_type) {
  if (links == 0) return;
  last_count = links;
  own_last_links = std::make_unique<fabric::LastLink[]>(links);
  last_links = own_last_links.get();
  for (uint32_t i = 0; i < links; ++i) last(i).set_type(link_type);
}

void Nmu::Port::resolve() {
  if (!initiator && !target) return;  // an empty slot
  if (initiator) {
    forward = initiator->peer();
    if (analytical != Analytical::no) direct = dynamic_cast<fabric::DirectFabric*>(forward);
  } else {
    backward = target->peer();
  }
  if (forward == nullptr && backward == nullptr)
    SC_REPORT_FATAL("weft/sc_models/nmu", fmt::format("{}: port {}, of dimension {}, is bound to nothing",
                                                      nmu->name(), number, dimension)
                                              .c_str());
  initiator.reset();
  target.reset();
}

/// The sockets of an NMU are two objects of the kernel, whatever it has of links.
void Nmu::add_end(Port& port, bool is_target) {
  if (is_target) {
    if (!targets_) targets_ = std::make_unique<fabric::fabric_target_port>("targets");
    port.target = std::make_unique<fabric::fabric_target_end>(*targets_, port);
  } else {
    if (!initiators_) initiators_ = std::make_unique<fabric::fabric_initiator_port>("initiators");
    port.initiator = std::make_unique<fabric::fabric_initiator_end>(*initiators_, port);
  }
}

void Nmu::build_ports(std::vector<fabric::LinkType>& link_types) {
  const uint32_t dims = geometry_.dimensions();
  // The plane that shows a fidelity of the dimension first has the ports; later ones share them.
  const auto first_with = [&](uint32_t p, uint32_t d) {
    uint32_t q = 0;
    while ((*planes_[q].dimensions)[d].fidelity != (*planes_[p].dimensions)[d].fidelity) ++q;
    return q;
  };
  size_t count = 0;
  // Every dimension has a pair of slots, so that number ^ 1 is the other direction of a ring; some stay
  // empty.
  for (uint32_t p = 0; p < planes_.size(); ++p) {
    for (uint32_t d = 0; d < dims; ++d) count += dimensions_[d].size > 1 && first_with(p, d) == p ? 2 : 0;
  }
  if (count > kInject - kFirstPort) {
    throw UserError(ExitCode::usage,
                    fmt::format("an NPU has {} pairs of ports, with those of `topology.fidelity_rules`, and "
                                "{} is the most; lift fewer dimensions",
                                count / 2, (kInject - kFirstPort) / 2));
  }
  ports_ = Ports(count);  // sized once: endpoints are exported by address
  port_ = ports_.data();
  size_t next = 0;
  for (uint32_t p = 0; p < planes_.size(); ++p) {
    planes_[p].first_port.assign(dims, 0);
    for (uint32_t d = 0; d < dims; ++d) {
      if (dimensions_[d].size <= 1) continue;
      if (const uint32_t q = first_with(p, d); q != p) {
        planes_[p].first_port[d] = planes_[q].first_port[d];
      } else {
        build_dimension(p, d, link_types[d], next);
      }
    }
  }
  switches_only_ = planes_.size() == 1 &&
                   std::all_of(dimensions_.begin(), dimensions_.end(), [](const DimensionConfig& d) {
                     const bool switched = d.size > 1 && (carrier_of(d) == Carrier::crossbars ||
                                                          carrier_of(d) == Carrier::switches);
                     return d.size <= 1 || (switched && Shape(d).links() == 1);
                   });
}

void Nmu::build_dimension(uint32_t p, uint32_t d, fabric::LinkType& link_type, size_t& next) {
  const DimensionConfig& dimension = (*planes_[p].dimensions)[d];
  const Shape shape(dimension);
  next = (next + 1) / 2 * 2;
  planes_[p].first_port[d] = static_cast<uint8_t>(next);
  const Carrier carrier = carrier_of(dimension);
  if (carrier == Carrier::packets) {
    next += 2;  // no ports, only their slots: network interfaces of the packet network are in their place
    return;
  }
  auto add = [&](bool descending, size_t links, size_t in_links, bool is_target) {
    Port& port = ports_[next];
    port.nmu = this;
    port.number = static_cast<uint8_t>(next++);
    port.dimension = static_cast<uint16_t>(d);
    port.descending = descending;
    port.plane = static_cast<uint8_t>(p);
    if (carrier == Carrier::direct)
      port.analytical = shape.joins_pairs() ? Port::Analytical::pairs : Port::Analytical::shared;
    port.cut_through = dimension.switching == Switching::cut_through;
    port.send_on(static_cast<uint32_t>(links), link_type);
    port.expect_on(static_cast<uint32_t>(in_links), link_type);
    add_end(port, is_target);
  };
  const uint32_t c = geometry_.coordinate(place_, d);
  const size_t first = next;
  // Only ports that exist: a mesh has nothing beyond its ends.
  const auto neighbour = [&](uint32_t link) {
    return p == 0 && shape.size() > 2 && shape.leads_on(c, link)
               ? geometry_.with_coordinate(place_, d, shape.peer(c, link))
               : ~0u;
  };
  if (carrier == Carrier::neighbours) {
    // The upward end of each link is the initiator. Where a link leads nowhere the slot stays empty.
    for (const uint32_t link : {Shape::kUp, Shape::kDown}) {
      if (shape.leads_on(c, link)) {
        add(link == Shape::kDown, 1, 0, link == Shape::kDown);
      } else {
        ++next;
      }
      ports_[first + link].neighbour = neighbour(link);
      neighbours_ = neighbours_ || neighbour(link) != ~0u;
    }
    return;
  }
  // Between pairs, what comes along this dimension alone has waited for the same link at its other end.
  const auto along = [](const DimensionConfig& other) { return other.size > 1; };
  const bool others = std::count_if(dimensions_.begin(), dimensions_.end(), along) > 1;
  const bool waits = carrier == Carrier::direct && (others || !shape.joins_pairs());
  add(false, shape.links(), waits ? shape.links() : 0, false);
  if (!shape.joins_neighbours()) return;
  // Analytical: both directions behind one socket.
  ports_[first].neighbour = neighbour(Shape::kUp);
  ports_[first].lower_neighbour = neighbour(Shape::kDown);
}

void Nmu::build_graph_ports(std::vector<fabric::LinkType>& link_types) {
  const auto& ends = graph_->ports(place_);
  const Carrier carrier = carrier_of(*graph_);
  if (carrier == Carrier::packets) {
    ports_ = Ports(2);  // slots only, see build_ports
  } else if (carrier == Carrier::direct) {
    // One socket to the carrier; a link each way for every end.
    ports_ = Ports(2);
    Port& port = ports_[0];
    port.nmu = this;
    port.analytical = Port::Analytical::shared;
    if (!ends.empty()) port.send_on(static_cast<uint32_t>(ends.size()), link_types.front());
    for (uint32_t p = 0; p < ends.size(); ++p) port.link(p) = fabric::Link(link_types[ends[p].link]);
    if (!ends.empty()) port.expect_on(static_cast<uint32_t>(ends.size()), link_types.front());
    for (uint32_t p = 0; p < ends.size(); ++p) port.last(p).set_type(link_types[ends[p].link]);
    add_end(port, false);
  } else {
    ports_ = Ports((ends.size() + 1) / 2 * 2);  // number ^ 1 is a slot
    for (uint32_t p = 0; p < ends.size(); ++p) {
      Port& port = ports_[p];
      port.nmu = this;
      port.number = static_cast<uint8_t>(p);
      port.cut_through = graph_->spec().switching == Switching::cut_through;
      port.first = fabric::Link(link_types[ends[p].link]);
      add_end(port, !ends[p].at_from);
    }
  }
  port_ = ports_.data();
}

bool Nmu::Port::sends(uint32_t i, uint32_t place) const {
  if (nmu->graph_ == nullptr) {
    const uint32_t here = nmu->geometry_.coordinate(place, dimension);
    return nmu->geometry_.shape(dimension).leads_on(here, descending ? uint32_t{Shape::kDown} : i);
  }
  const auto& ends = nmu->graph_->ports(place);
  const size_t end = analytical != Analytical::no ? i : number;
  return end < ends.size() && ends[end].sends;
}

void Nmu::end_of_elaboration() {
  opposite_ = 0;
  for (Port& port : ports_) {
    port.resolve();
    if (port.nmu != nullptr && port.descending) opposite_ = 1;
    if (port.analytical == Port::Analytical::no || port.direct == nullptr) continue;
    port.direct->hint(place_, static_cast<const Wakeable*>(this), port.last_links);
  }
}

Fidelity Nmu::fidelity_of(const Port& port) const {
  return graph_ != nullptr ? graph_->spec().fidelity
                           : (*planes_[port.plane].dimensions)[port.dimension].fidelity;
}

Nmu::Port* Nmu::port(uint32_t dimension, bool descending, uint32_t plane) {
  const DimensionConfig& d = (*planes_[plane].dimensions)[dimension];
  if (d.size <= 1) return nullptr;
  Port& port = ports_[planes_[plane].first_port[dimension] +
                      (descending && carrier_of(d) == Carrier::neighbours ? 1u : 0u)];
  return port.nmu == nullptr ? nullptr : &port;
}

LinkSocket Nmu::end(const LinkEndAt& at) {
  Port* const end = graph_ != nullptr ? &ports_[at.dimension] : port(at.dimension, at.descending, at.plane);
  if (end == nullptr) return {};
  return {end->initiator.get(), end->target.get()};
}

fabric::Link* Nmu::link(const LinkEndAt& at) {
  if (graph_ != nullptr) return &ports_[at.dimension].first;
  Port* const end = port(at.dimension, at.descending, at.plane);
  return end == nullptr ? nullptr : &end->first;
}

void Nmu::hint(const LinkEndAt& at, const NmuModel& peer) {
  if (Port* const end = port(at.dimension, at.descending, at.plane)) end->peer_hint = peer.hot();
}

LinkReport Nmu::report(const Port& port, uint32_t i, NpuId rank, const LinkImages& images) const {
  const uint32_t place = geometry_.place(index(rank));
  if (graph_ != nullptr) {
    LinkReport report(port.link(i));
    const uint32_t end = port.analytical != Port::Analytical::no ? i : port.number;
    const GraphEnd names = graph_end(*graph_, geometry_, {}, "switch_", {place, end});
    report.fidelity = graph_->spec().fidelity;
    report.name = name() + names.link;
    report.to = names.to;
    return report;
  }
  const uint32_t d = port.dimension;
  const bool own = rank == rank_;
  LinkReport report(port.link(own ? i
                                  : images.of(geometry_.shape(d), d, i, geometry_.coordinate(place, d),
                                              geometry_.coordinate(place_, d))));
  report.fidelity = fidelity_of(port);
  const uint32_t link = port.descending ? uint32_t{Shape::kDown} : i;
  const std::string behind = port.plane == 0 ? std::string() : fmt::format("_{}", to_string(report.fidelity));
  report.name = own ? name() : fmt::format("{}.{}", get_parent_object()->name(), nmu_name(geometry_, place));
  report.name += '.';
  report.name += link_name(geometry_, d, place, link, behind);
  report.to = link_end(geometry_, d, place, link, behind);
  report.dimension = d;
  return report;
}

void Nmu::for_each_link_as(NpuId rank, const LinkImages& images, const LinkVisitor& visit) const {
  const uint32_t place = geometry_.place(index(rank));
  for (const Port& port : ports_) {
    for (uint32_t i = 0; port.nmu != nullptr && i < port.links(); ++i) {
      if (port.sends(i, place)) visit(report(port, i, rank, images));
    }
  }
}

void Nmu::join(PacketFabric& fabric, uint32_t p) {
  Plane& plane = planes_[p];
  size_t end = 0;  // planes share networks, and then this NMU's end of them
  while (end < packet_ends_.size() && &packet_ends_[end]->fabric != &fabric) ++end;
  if (end == packet_ends_.size()) {
    const uint8_t port = fabric.dimensions().empty() ? uint8_t{0} : plane.first_port[fabric.dimensions()[0]];
    packet_ends_.push_back(std::make_unique<PacketEnd>(*this, fabric, port));
    fabric.attach(place_, *packet_ends_.back());
  }
  plane.packet_end_of.resize(std::max<size_t>(1, dimensions_.size()), 0);
  for (const uint32_t d : fabric.dimensions()) plane.packet_end_of[d] = static_cast<uint8_t>(end + 1);
}

}  // namespace weft
