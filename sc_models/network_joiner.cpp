// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/network_joiner.h"

#include <fmt/format.h>

#include <tuple>
#include <utility>

#include "tlm_interconnect/packet/packet_network.h"

namespace weft {

void RouterBlocks::count(Counters& counters) const {
  for (const auto& block : models) {
    counters.activations += block->activations();
    counters.in_flight += block->in_flight();
  }
}

std::string RouterBlocks::stall_text() const {
  std::string text;
  for (const auto& block : models) {
    const std::string why = block->explain_stall();
    if (!why.empty()) text += fmt::format("{}: {}\n", block->place_name(), why);
  }
  return text;
}

packet::Joint NetworkJoiner::join(const packet::LinkToJoin& link, fabric::fabric_initiator_socket& from,
                                  fabric::fabric_target_socket& to) {
  const packet::TopologyPort& port = link.topology.routers[link.router].ports[link.port];
  RouterModel* const here = block(link, link.router);
  RouterModel* const there = port.ni ? nullptr : block(link, port.peer);
  fabric::fabric_initiator_socket& near = here == nullptr ? from : park(*here, from, link.port);
  fabric::fabric_target_socket& far = there == nullptr ? to : park(*there, to, port.peer_port);
  const bool cut = cuts_.join_packets(near, far, link.terms, link.pool, [&]() -> JoinedLink {
    const sc_core::sc_object& peer = *to.get_parent_object();
    std::string back = peer.name();  // an interface's own
    JoinedLink joined;
    joined.from = {BlockEnd::Kind::router, block_name(link, link.router), link.port};
    if (port.ni) {
      joined.to.block = std::string(link.network.basename()) + "." + peer.basename();
    } else {
      back = link_name(link, port.peer, port.peer_port);
      joined.to = {BlockEnd::Kind::router, block_name(link, port.peer), port.peer_port};
    }
    const Ticks flit_time = link.topology.links[port.link].flit_time;
    joined.cycle = link.network.config().cycle;
    joined.flit_time = flit_time == 0 ? joined.cycle : flit_time;
    joined.virtual_networks = link.network.config().virtual_networks;
    joined.names = {link_name(link, link.router, link.port), std::move(back)};
    if (!recordable()) joined.from.block = joined.to.block = {};  // no recorder's block has this name
    return joined;
  });
  if (here != nullptr || there != nullptr) return packet::Joint::block;
  return cut ? packet::Joint::border : packet::Joint::bound;
}

/// What stands in the place of a router; null: nothing does.
RouterModel* NetworkJoiner::block(const packet::LinkToJoin& link, uint32_t router) {
  if (!cuts_.choices().of_links()) return nullptr;
  const auto known = at_.find(router);
  if (known != at_.end()) return known->second;
  RouterModel*& model = at_[router];
  const std::string name = block_name(link, router);
  const ModuleChoices::Chosen chosen = cuts_.choices().of(ModuleKind::router, name, {});
  if (chosen.implementation.empty()) return nullptr;
  packet::PacketNetwork& network = link.network;
  RouterPlace place{name, {}, network.config(), link.pool, {}, {}};
  const std::vector<packet::TopologyPort>& ports = link.topology.routers[router].ports;
  for (uint32_t p = 0; p < ports.size(); ++p) {
    const packet::LinkTiming& timing = link.topology.links[ports[p].link];
    const auto or_cycle = [&](Ticks t) { return t == 0 ? network.config().cycle : t; };
    RouterPlace::Port port;
    port.terms = {network.config().total_vcs(), network.config().buffer_flits, or_cycle(timing.latency),
                  timing.credit_latency == 0 ? or_cycle(timing.latency) : timing.credit_latency};
    port.flit_time = or_cycle(timing.flit_time);
    port.initiator = ports[p].ni || std::tie(router, p) < std::tie(ports[p].peer, ports[p].peer_port);
    if (timing.pfc || timing.flit_error > 0)
      throw UserError(ExitCode::usage,
                      fmt::format("{}: {}: a block in the place of a router takes links without "
                                  "`packet.pfc` and `flit_error_rate`",
                                  chosen.owner, name));
    place.ports.push_back(port);
  }
  place.way = [&network, router, ways = std::make_shared<std::vector<packet::RouteCandidate>>()](
                  uint32_t port, uint32_t vc, const fabric::PacketHead& head) {
    ways->clear();
    network.routing().route({router, port, vc, head.source, head.destination, head.virtual_network}, *ways);
    packet::prefer_lane(network.topology(),
                        {router, port, vc, head.source, head.destination, head.virtual_network}, *ways);
    return ways->front();
  };
  place.carried = [&network, router](uint32_t port, const packet::OutputLoad& load) {
    network.router(router).carried(port, load);
  };
  place.crossed = [&network, router](uint32_t port, const fabric::FlitCrossing& crossing, bool sent) {
    network.router(router).crossed(port, crossing, sent);
  };
  network.router(router).give_place();
  const std::string module = link.topology.routers[router].name + "_block";
  blocks_.models.push_back(
      make_router(chosen.implementation, chosen.owner, module.c_str(), std::move(place)));
  model = blocks_.models.back().get();
  return model;
}

std::string NetworkJoiner::next_parked() const {
  return fmt::format("parked{}", blocks_.parked.size());
}

fabric::fabric_initiator_socket& NetworkJoiner::park(RouterModel& model, fabric::fabric_initiator_socket& of,
                                                     uint32_t port) {
  blocks_.parked.push_back(
      std::make_unique<ParkedEnd>(next_parked().c_str(), fabric::BorderSocket::Side::target));
  of.bind(*blocks_.parked.back()->target());
  return *model.border(port).initiator();
}

fabric::fabric_target_socket& NetworkJoiner::park(RouterModel& model, fabric::fabric_target_socket& of,
                                                  uint32_t port) {
  blocks_.parked.push_back(
      std::make_unique<ParkedEnd>(next_parked().c_str(), fabric::BorderSocket::Side::initiator));
  blocks_.parked.back()->initiator()->bind(of);
  return *model.border(port).target();
}

}  // namespace weft
