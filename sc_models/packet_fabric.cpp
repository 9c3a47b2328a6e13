// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/packet_fabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "configs/blueprint/names.h"
#include "configs/graph.h"
#include "configs/packet_timing.h"
#include "configs/units.h"
#include "insight/activity_listener.h"
#include "insight/causal_log.h"
#include "sc_models/burst_teller.h"
#include "tlm_interconnect/packet/message_order.h"
#include "workload/seam.h"

namespace weft {

/// Joins the links of one network.
class PacketFabric::Joiner final : public NetworkJoiner {
 public:
  Joiner(PacketFabric& fabric, LinkCuts& cuts, uint32_t number)
      : NetworkJoiner(cuts, fabric.blocks_), fabric_(fabric), number_(number) {}

 private:
  std::string block_name(const packet::LinkToJoin& link, uint32_t router) const override {
    return fmt::format("{}.{}", link.network.basename(), link.topology.routers[router].name);
  }
  std::string link_name(const packet::LinkToJoin& link, uint32_t router, uint32_t port) const override {
    const Named network{number_, link.network.name(), link.topology};
    return fabric_.name_of(network, router, port).name;
  }

  PacketFabric& fabric_;
  const uint32_t number_;
};

PacketFabric::PacketFabric(const Config& config, const Geometry& geometry, const PacketRegion& region,
                           const std::string& suffix, LinkCuts& cuts, PartLinks* links)
    : config_(config),
      packet_(region.packet),
      geometry_(geometry),
      dimensions_(region.dimensions),
      cycle_(region.config.cycle),
      network_(geometry.npus(), 0),
      local_(geometry.npus(), 0),
      wheel_(dimensions_.empty() ? "packet_wheel"
                                 : fmt::format("packet_wheel{}{}", dimensions_[0], suffix).c_str()) {
  if (dimensions_.empty()) {  // a graph: one network, ranks are places
    places_.emplace_back();
    for (uint32_t place = 0; place < geometry.npus(); ++place) {
      local_[place] = place;
      places_[0].push_back(place);
    }
  }
  for (uint32_t place = 0; place < geometry.npus() && !dimensions_.empty(); ++place) {
    uint32_t first = place;  // the place with coordinate 0 in all of the region's dimensions
    uint32_t stride = 1;
    for (const uint32_t d : dimensions_) {
      local_[place] += geometry.coordinate(place, d) * stride;
      stride *= geometry.size(d);
      first = geometry.with_coordinate(first, d, 0);
    }
    if (first == place) {
      network_[place] = static_cast<uint32_t>(places_.size());
      places_.emplace_back(stride, 0);
    } else {
      network_[place] = network_[first];
    }
    places_[network_[place]][local_[place]] = place;
  }
  for (uint32_t n = 0; n < places_.size(); ++n) {
    packet::PacketTopology topology = region.topology;
    for (packet::TopologyRouter& router : topology.routers) {
      if (router.role == packet::RouterRole::graph) continue;  // a switch that has its name
      const uint32_t place = places_[n][router.rank];
      if (router.role == packet::RouterRole::npu) {
        router.name = fmt::format("router{}", geometry.rank_at(place));
      } else {
        const uint32_t d = dimensions_[router.dimension];
        router.name = router.node == 0 ? switch_name(geometry, d, place)
                                       : switch_name(geometry, d, place, {}, router.node);
      }
    }
    const std::string name =
        dimensions_.empty() ? "packet" : fmt::format("packet{}_{}{}", dimensions_[0], n, suffix);
    Joiner joiner(*this, cuts, n);
    parts_.push_back(parts_of(n, topology, links));
    packet::LinkJoiner* joins = cuts.none() ? nullptr : &joiner;
    if (parts_[n]) joins = parts_[n].get();
    networks_.push_back(std::make_unique<packet::PacketNetwork>(
        name.c_str(), region.config, std::move(topology), region.segmentation, joins, &wheel_));
    if (parts_[n]) parts_[n]->divide(*networks_[n]);
  }
}

/// Null: all NPUs of the network are in one part.
std::unique_ptr<PacketParts> PacketFabric::parts_of(uint32_t n, const packet::PacketTopology& topology,
                                                    PartLinks* links) const {
  if (links == nullptr) return nullptr;
  std::vector<uint32_t> parts;
  for (const uint32_t place : places_[n]) parts.push_back(links->part_of(geometry_.rank_at(place)));
  const bool one = std::all_of(parts.begin(), parts.end(), [&](uint32_t part) { return part == parts[0]; });
  return one ? nullptr : std::make_unique<PacketParts>(*links, std::move(parts), topology);
}

void PacketFabric::attach(uint32_t place, packet::PacketSink& sink) {
  packet::PacketNetwork& network = *networks_[network_[place]];
  for (uint32_t i = 0; i < network.nis(); ++i) {
    if (network.topology().nis[i].rank == local_[place]) network.ni(i).set_sink(&sink);
  }
}

uint32_t PacketFabric::switch_of(uint32_t place, uint32_t dimension) const {
  const packet::PacketTopology& topology = networks_[network_[place]]->topology();
  const uint32_t own = topology.nis[local_[place]].router;
  if (topology.routers[own].role == packet::RouterRole::dimension_switch) return own;
  return topology.routers[own].ports[topology.port_of(topology.routers[own], index_of(dimension), 0)].peer;
}

packet::NetworkInterface& PacketFabric::attach_unit(uint32_t place, uint32_t dimension,
                                                    packet::PacketSink& sink) {
  packet::PacketNetwork& network = *networks_[network_[place]];
  const packet::TopologyRouter& router = network.topology().routers[switch_of(place, dimension)];
  const uint32_t port = router.ways[geometry_.coordinate(place, dimension)];
  packet::NetworkInterface& interface = network.ni(router.ports[router.unit_lanes[port]].peer);
  interface.set_sink(&sink);
  return interface;
}

uint32_t PacketFabric::index_of(uint32_t dimension) const {
  uint32_t i = 0;
  while (dimensions_[i] != dimension) ++i;
  return i;
}

PacketFabric::Step PacketFabric::first_step(uint32_t from, uint32_t to) const {
  for (uint32_t i = 0; i < dimensions_.size(); ++i) {
    const uint32_t d = dimensions_[i];
    const Step step{i, d, geometry_.coordinate(from, d), geometry_.coordinate(to, d)};
    if (step.here != step.there) return step;
  }
  return {};
}

/// The interface from which the first link on the way leaves.
uint32_t PacketFabric::entry(uint32_t from, uint32_t to, bool reverse, uint64_t flow) const {
  const packet::PacketTopology& topology = networks_[network_[from]]->topology();
  const uint32_t me = local_[from];
  const packet::TopologyRouter& router = topology.routers[topology.nis[me].router];
  if (router.lanes.empty()) return me;
  if ((to & kUnitPeer) != 0) return topology.lane(me, topology.port_of(router, index_of(to & ~kUnitPeer), 0));
  if (dimensions_.empty())
    return topology.lane(me, config_.graph->next_port(from, to, Graph::flow(from, to, flow)));
  const Step step = first_step(from, to);
  if (step.here == step.there) return me;
  const uint32_t link = geometry_.shape(step.dimension).link_to(step.here, step.there, reverse);
  return topology.lane(me, topology.port_of(router, step.index, link));
}

void PacketFabric::send(uint32_t from, uint32_t to, bool reverse, uint64_t flow, packet::Message message) {
  if ((to & kUnitPeer) != 0) {
    const packet::PacketTopology& topology = networks_[network_[from]]->topology();
    message.destination = topology.ranks() + topology.unit_at(switch_of(from, to & ~kUnitPeer));
  } else {
    message.destination = local_[to];
  }
  packet::NetworkInterface& interface = networks_[network_[from]]->ni(entry(from, to, reverse, flow));
  const uint32_t handle = submit(interface, message);
  if (parts_[network_[from]]) parts_[network_[from]]->submitted(handle, interface, message);
}

void PacketFabric::send_result(packet::NetworkInterface& interface, uint32_t place,
                               packet::Message message) const {
  message.destination = local_[place];
  submit(interface, message);
}

/// A network that the memory pool shares has turns in any case, and only the pool takes them.
uint32_t PacketFabric::submit(packet::NetworkInterface& interface, packet::Message& message) const {
  if (config_.packet.injection != PacketInjection::aggressive) message.flags |= packet::kWithoutTurns;
  return interface.submit(message);
}

uint32_t PacketFabric::end_of_leg(uint32_t from, uint32_t destination) const {
  if (dimensions_.empty()) return destination;
  for (const uint32_t d : dimensions_)
    from = geometry_.with_coordinate(from, d, geometry_.coordinate(destination, d));
  return from;
}

bool PacketFabric::leaves_descending(uint32_t from, uint32_t to, bool reverse) const {
  const Step step = first_step(from, to);
  return step.here != step.there && geometry_.shape(step.dimension).descends(step.here, step.there, reverse);
}

uint32_t PacketFabric::next_hop(uint32_t from, uint32_t to, bool reverse) const {
  if (dimensions_.empty()) {
    const Graph& graph = *config_.graph;
    do {
      from = graph.ports(from)[graph.next_port(from, to, Graph::flow(from, to, 0))].peer;
    } while (!graph.is_npu(from));
    return from;
  }
  const Step step = first_step(from, to);
  if (step.here == step.there) return to;
  return geometry_.with_coordinate(from, step.dimension,
                                   geometry_.shape(step.dimension).next(step.here, step.there, reverse));
}

PacketFabric::Unloaded PacketFabric::unloaded(uint32_t from, uint32_t to, uint64_t bytes) const {
  if (((from | to) & kUnitPeer) != 0) {
    const uint32_t place = (from & kUnitPeer) != 0 ? to : from;
    const uint32_t d = (from & kUnitPeer) != 0 ? from & ~kUnitPeer : to & ~kUnitPeer;
    const packet::PacketTopology& topology = networks_[network_[place]]->topology();
    const packet::LinkTiming& link = topology.dimensions[index_of(d)].link;
    // One link, the routers at its ends and the interfaces there: an NPU at the switch has no router.
    const bool at_switch = topology.routers.size() == 1;
    const Ticks stages = router_cycles(config_.packet) * cycle_;
    Ticks latency = (link.latency == 0 ? cycle_ : link.latency) + (at_switch ? 1 : 2) * (stages + cycle_);
    latency += (at_switch ? 1 : 2) * (link.flit_time - cycle_);
    return {picoseconds(latency), picoseconds(message_flits(packet_, bytes) * link.flit_time)};
  }
  const packet::PacketTopology& topology = networks_[network_[from]]->topology();
  if (dimensions_.empty()) {
    const Graph::Path path = config_.graph->path(from, to, Graph::flow(from, to, 0));
    uint32_t routers = path.hops - 1;
    for (const uint32_t end : {from, to})
      routers += topology.routers[topology.nis[end].router].role == packet::RouterRole::npu ? 1 : 0;
    const uint64_t cycles = routers * router_cycles(config_.packet) + (routers + 1 - path.hops);
    return {path.latency + picoseconds(cycles * cycle_),
            picoseconds(saturated(static_cast<Wide>(message_flits(packet_, bytes)) *
                                  flit_time(config_.packet, path.slowest, cycle_)))};
  }
  const bool at_switch = topology.routers[topology.nis[local_[from]].router].role != packet::RouterRole::npu;
  const Ticks stages = router_cycles(config_.packet) * cycle_;
  Ticks latency = 0;
  Ticks slowest = 0;
  Ticks last = cycle_;
  uint32_t hops = 0;
  for (uint32_t i = 0; i < dimensions_.size(); ++i) {
    const uint32_t d = dimensions_[i];
    const uint32_t n = geometry_.hops(d, geometry_.coordinate(from, d), geometry_.coordinate(to, d));
    if (n == 0) continue;
    const packet::TopologyDimension& dimension = topology.dimensions[i];
    const packet::LinkTiming& link = dimension.link;
    const uint32_t levels = dimension.tree == nullptr ? 1 : n / 2;
    for (uint32_t l = 0; l < levels; ++l) {
      const packet::LinkTiming& one = l == 0 ? link : dimension.levels[l - 1];
      latency += n / levels * ((one.latency == 0 ? cycle_ : one.latency) + one.flit_time - cycle_);
      slowest = std::max(slowest, one.flit_time);
    }
    // Every link takes its time for the first flit, and so does the interface that it leaves by.
    if (!at_switch) latency += link.flit_time - cycle_;
    if (hops != 0 && !at_switch) latency -= last - cycle_;
    last = link.flit_time;
    hops += n;
  }
  // Interface to router and back take a cycle each; at a switch they are two of the links.
  latency += at_switch ? (hops - 1) * stages : (hops + 1) * stages + 2 * cycle_;
  return {picoseconds(latency),
          picoseconds(saturated(static_cast<Wide>(message_flits(packet_, bytes)) * slowest))};
}

std::vector<PacketFabric::FlowUse> PacketFabric::slowed_flows() const {
  std::vector<FlowUse> flows;
  for (uint32_t n = 0; n < networks(); ++n) {
    const packet::PacketNetwork& network = *networks_[n];
    const auto rank = [&](uint32_t local) { return geometry_.rank_at(places_[n][local]); };
    for (uint32_t i = 0; i < network.nis(); ++i) {
      const packet::NetworkInterface& ni = network.ni(i);
      for (const auto& [destination, record] : ni.flow_records()) {
        if (record.notifications == 0) continue;  // the first is on its way
        flows.push_back({ni.name(), rank(ni.rank()), rank(destination), record.notifications,
                         static_cast<double>(record.lowest_rate) / 8, static_cast<double>(ni.line_rate()) / 8,
                         picoseconds(record.below_line)});
      }
    }
  }
  return flows;
}

template <typename Interface, typename Output>
void PacketFabric::for_each_sender(uint32_t n, Interface&& interface, Output&& output) const {
  const packet::PacketTopology& topology = networks_[n]->topology();
  // Interfaces directly at a switch: their links are real ones.
  for (uint32_t r = 0; r < topology.ranks(); ++r) {
    if (topology.routers[topology.nis[r].router].role != packet::RouterRole::npu) interface(r);
  }
  for (uint32_t r = 0; r < topology.routers.size(); ++r) {
    for (uint32_t p = 0; p < topology.routers[r].ports.size(); ++p) {
      const packet::TopologyPort& port = topology.routers[r].ports[p];
      if (!port.sends) continue;  // the receiving end of a one-way link
      if (port.link >= topology.first_guest_link) continue;
      // Within an NPU or a switch.
      if (port.ni && (topology.routers[r].role == packet::RouterRole::npu || port.peer >= topology.ranks()))
        continue;
      output(r, p);
    }
  }
}

void PacketFabric::links_of(uint32_t n, const LinkVisitor& visit) const {
  const packet::PacketTopology& topology = networks_[n]->topology();
  for_each_sender(
      n,
      [&](uint32_t r) {
        const packet::TopologyRouter& router = topology.routers[topology.nis[r].router];
        const packet::NetworkInterface& ni = networks_[n]->ni(r);
        LinkReport link;
        link.fidelity = Fidelity::packet;
        link.name = ni.name();
        link.to = router.name;
        link.sender = {networks_[n].get(), true, r, 0};
        link.dimension = dimensions_.empty() ? 0 : dimensions_[0];
        link.bytes = ni.flits_sent() * config_.packet.flit_bytes;
        link.packets = ni.packets_sent();
        link.messages = ni.messages_sent();
        link.queued = ni.queued();
        link.busy =
            picoseconds(ni.flits_sent() * topology.links[router.ports[topology.nis[r].port].link].flit_time);
        const packet::PauseAccount::Figures pauses = ni.pauses();
        link.pauses = pauses.pauses;
        link.paused = picoseconds(pauses.time);
        link.overruns = ni.overruns();
        visit(link);
      },
      [&](uint32_t r, uint32_t p) { visit(report_of(n, r, p)); });
}

void PacketFabric::tell_bursts(insight::CausalLog& log) {
  if (log.listener() == nullptr && !log.keeps()) return;
  // A packet that leaves by a border goes on as another one.
  const bool follows = log.keeps() && config_.run.cut_links.empty() && blocks_.models.empty();
  if (follows) hops_.resize(networks());
  for (uint32_t n = 0; n < networks(); ++n) {
    packet::PacketNetwork& own = *networks_[n];
    const packet::PacketTopology& topology = own.topology();
    PacketHops* const hops = follows ? &hops_[n] : nullptr;
    const auto teller = [&](const LinkReport& link, uint32_t number, Ticks flit_time) -> packet::BurstWatch& {
      PacketHop hop;
      const Ticks latency = topology.links[number].latency;
      hop.latency = picoseconds(latency == 0 ? cycle_ : latency);
      hop.flit_time = flit_time;
      watches_.push_back(std::make_unique<BurstTeller>(
          log, link, static_cast<uint32_t>(config_.packet.flit_bytes), hop, hops));
      return *watches_.back();
    };
    own.watch();
    for_each_sender(
        n,
        [&](uint32_t r) {
          LinkReport link;
          link.name = own.ni(r).name();
          link.dimension = dimensions_.empty() ? 0 : dimensions_[0];
          const packet::TopologyRouter& router = topology.routers[topology.nis[r].router];
          const uint32_t number = router.ports[topology.nis[r].port].link;
          own.ni(r).watch(teller(link, number, topology.links[number].flit_time));
        },
        [&](uint32_t r, uint32_t p) {
          own.router(r).watch(
              p, teller(report_of(n, r, p), topology.routers[r].ports[p].link, own.router(r).flit_time(p)));
        });
    for (uint32_t i = 0; hops != nullptr && i < own.nis(); ++i) own.ni(i).watch_arrivals(*hops);
  }
}

LinkReport PacketFabric::report_of(uint32_t n, uint32_t r, uint32_t p) const {
  const packet::PacketNetwork& network = *networks_[n];
  const packet::Router& module = network.router(r);
  const packet::TopologyRouter& router = network.topology().routers[r];
  LinkReport link = name_of({n, network.name(), network.topology()}, r, p);
  link.sender = {&network, false, r, p};
  link.bytes = module.flits_sent(p) * config_.packet.flit_bytes;
  link.packets = module.packets_sent(p);
  link.marked = module.packets_marked(p);
  link.messages = module.messages_sent(p);
  link.busy = module.busy(p);
  link.queued = module.queued(p);
  for (const std::vector<uint32_t>* lanes : {&router.lanes, &router.unit_lanes})
    if (p < lanes->size()) link.queued += network.ni(router.ports[(*lanes)[p]].peer).queued();
  const packet::PauseAccount::Figures pauses = module.pauses(p);
  link.pauses = pauses.pauses;
  link.paused = picoseconds(pauses.time);
  link.overruns = module.overruns(p);
  return link;
}

LinkReport PacketFabric::name_of(const Named& network, uint32_t r, uint32_t p) const {
  const packet::PacketTopology& topology = network.topology;
  const std::vector<uint32_t>& places = places_[network.number];
  const packet::TopologyRouter& router = topology.routers[r];
  const packet::TopologyPort& port = router.ports[p];
  LinkReport link;
  link.fidelity = Fidelity::packet;
  link.name = fmt::format("{}.{}", network.name, router.name);
  if (port.ni && (router.role == packet::RouterRole::npu || port.peer >= topology.ranks())) {
    link.name += fmt::format(".ni{}", p);  // as its socket
    return link;
  }
  if (port.link >= topology.first_guest_link) {  // a guest tells of it
    link.to = topology.routers[port.peer].name;
    link.name += ".to_" + link.to;
    return link;
  }
  if (dimensions_.empty()) {
    link.to = port.ni ? fmt::format("nmu{}", geometry_.rank_at(topology.nis[port.peer].rank))
                      : topology.routers[port.peer].name;
    uint32_t before = 0;  // parallel links are numbered
    for (uint32_t q = 0; q < p; ++q)
      before += !router.ports[q].ni && router.ports[q].peer == port.peer ? 1 : 0;
    link.name += fmt::format(".to_{}{}", link.to, before == 0 ? "" : fmt::format("_{}", before));
    return link;
  }
  uint32_t i = port.ni ? 0 : port.link - 1;  // link 0 leads to interfaces, then they are the dimensions'
  if (router.role == packet::RouterRole::dimension_switch) i = router.dimension;
  const uint32_t d = dimensions_[i];
  link.dimension = d;
  if (router.node != 0) {
    // Of a tree: named as the switches of a graph, and NPUs by themselves.
    const bool npu = port.ni || topology.routers[port.peer].role == packet::RouterRole::npu;
    const uint32_t peer = port.ni ? topology.nis[port.peer].rank : topology.routers[port.peer].rank;
    link.name += ".to_" + (npu ? fmt::format("nmu{}", geometry_.rank_at(places[peer]))
                               : topology.routers[port.peer].name);
  } else if (router.role == packet::RouterRole::dimension_switch) {
    const uint32_t peer = port.ni ? topology.nis[port.peer].rank : topology.routers[port.peer].rank;
    link.name += fmt::format(".to{}", geometry_.rank_at(places[peer]));
  } else {
    uint32_t number = 0;
    while (topology.port_of(router, i, number) != p) ++number;
    link.name += "." + link_name(geometry_, d, places[router.rank], number);
  }
  link.to = port.ni ? fmt::format("nmu{}", geometry_.rank_at(places[topology.nis[port.peer].rank]))
                    : topology.routers[port.peer].name;
  return link;
}

void PacketFabric::count(Counters& counters) const {
  for (uint32_t n = 0; n < networks(); ++n) {
    const packet::PacketNetwork& own = network(n);
    counters.activations += own.activations();
    counters.in_flight += own.messages_in_flight();
    counters.packet_hops += own.packet_hops();
    counters.flits += own.flits_received();
    if (own.trains() != nullptr) counters.trains += own.trains()->counters();
  }
  blocks_.count(counters);
  for_each_link([&](const LinkReport& use) {
    counters.link_bytes += use.bytes;
    counters.link_messages += use.messages;
  });
}

std::string PacketFabric::stall_text() const {
  std::string text;
  for (uint32_t n = 0; n < networks(); ++n) {
    const std::string why = network(n).explain_stall();
    if (!why.empty()) text += fmt::format("{}: {}", network(n).name(), why);
  }
  return text + blocks_.stall_text();
}

void PacketFabric::find_unbalanced(std::vector<std::string>& lines) const {
  for (uint32_t n = 0; n < networks(); ++n) {
    const std::string line = network(n).broken_invariant(true);
    if (!line.empty()) lines.push_back(fmt::format("{}: {}", network(n).name(), line));
  }
}

}  // namespace weft
