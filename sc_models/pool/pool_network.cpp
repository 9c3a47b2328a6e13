// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/pool/pool_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "configs/packet_timing.h"
#include "sc_models/packet_region.h"
#include "tlm_interconnect/packet/network_check.h"

namespace weft {
namespace {

constexpr uint64_t kMostInterfaces = 1u << 19;  // some 10 KB each

std::string where(const Config& config) {
  return config.file.empty() ? "configuration" : config.file;
}

/// Routers and interfaces, port for port; then the interfaces of each switch.
void build(const pool::PoolLayout& layout, const PoolWays& ways, packet::PacketTopology& t) {
  const auto classes = static_cast<uint32_t>(layout.classes().size());
  for (uint32_t c = 0; c < classes; ++c) {  // from a switch to its own interfaces
    packet::LinkTiming inner;
    inner.flit_time = t.links[c].flit_time;
    t.add_link(inner);
  }
  t.nis.resize(ways.ranks());
  for (uint32_t n = 0; n < layout.nodes(); ++n) {
    if (!ways.is_switch(n)) continue;
    const uint32_t r = t.add_router(layout.node(n).name);
    packet::TopologyRouter& router = t.routers[r];
    const auto attach = [&](uint32_t rank, uint32_t link) {
      t.nis[rank] = {r, static_cast<uint32_t>(router.ports.size()), rank};
      router.ports.push_back({true, rank, 0, link, false});
    };
    for (const pool::PoolLayout::Port& port : layout.ports(n)) {
      const uint32_t link = layout.links()[port.link].cls;
      if (ways.is_switch(port.peer)) {
        router.ports.push_back({false, ways.router_of(port.peer), port.peer_port, link, false});
      } else {
        attach(ways.rank_of(port.peer, port.peer_port), link);
      }
    }
    for (uint32_t p = 0; p < layout.ports(n).size(); ++p)
      attach(ways.rank_of(n, p), classes + layout.links()[layout.ports(n)[p].link].cls);
  }
}

}  // namespace

PoolWays::PoolWays(const pool::PoolLayout& layout) : layout_(layout) {
  uint32_t ranks = 0;
  for (uint32_t n = 0; n < layout.nodes(); ++n) {
    first_.push_back(ranks);
    ranks += static_cast<uint32_t>(layout.ports(n).size());
    node_.resize(ranks, n);
  }
  first_.push_back(ranks);
}

packet::GivenWays::Hop PoolWays::next(uint32_t router, uint32_t destination) const {
  const uint32_t here = layout_.npus() + router;
  const uint32_t rank = destination % ranks();
  const uint32_t way = destination / ranks();
  const uint32_t to = node_[rank];
  if (!is_switch(to)) return {layout_.next(here, to, way), layout_.vc_class(here, to, way)};
  // From one switch to the next.
  const pool::PoolLayout::Port& port = layout_.ports(to)[rank - first_[to]];
  if (port.peer != here) throw std::logic_error("a message for a switch of the memory pool is astray");
  return {port.peer_port, 0};
}

PoolWays::Sender PoolWays::sender(uint32_t node, uint32_t port) const {
  if (is_switch(node)) return {false, router_of(node), port};
  return {true, rank_of(node, port), 0};
}

packet::LinkTiming pool_link_timing(const Config& config, const packet::PacketConfig& network,
                                    const pool::PoolLayout::Class& links) {
  packet::LinkTiming link;
  link.latency = ticks(links.latency);
  link.flit_time = checked_flit_time(
      config, network, {fmt::format("a link {} of the memory pool,", links.name), links.rate, config.packet});
  return link;
}

void check_pool_size(const Config& config, const PoolWays& ways, uint64_t ways_of_each) {
  if (ways.ranks() <= kMostInterfaces && static_cast<Wide>(ways.ranks()) * ways_of_each <= ~uint32_t{0} / 2)
    return;
  throw UserError(ExitCode::usage,
                  fmt::format("{}: key `memory.pool.fidelity`: at packet fidelity a pool with {} ends of "
                              "links and {} ways between a group and an NPU needs more than {} network "
                              "interfaces, or more than 2^31 destinations; use `message`, or fewer groups "
                              "and switches",
                              where(config), ways.ranks(), ways_of_each, kMostInterfaces));
}

PoolNetwork make_pool_network(const Config& config, const pool::PoolLayout& layout) {
  PoolNetwork network;
  network.ways = std::make_shared<const PoolWays>(layout);
  check_pool_size(config, *network.ways, layout.ways());
  std::vector<Ticks> flit_times;
  for (const pool::PoolLayout::Class& c : layout.classes())
    flit_times.push_back(flit_time(config.packet, c.rate));
  network.config = packet_network_config(config, flit_times);
  if (network.config.vcs == 0) network.config.vcs = layout.vc_classes();
  // The pool has ways of its own.
  network.config.routing.clear();
  network.config.selection.clear();
  if (network.config.vc_classes == "bubble" || network.config.vc_classes == "none")
    network.config.vc_classes = "dateline";
  // Chunks of an NPU go to groups behind slower links than its own. Packet by packet they share what is
  // behind; one after the other they would wait in each other's way.
  network.config.interleave_messages = true;
  network.segmentation = packet_segmentation(config.packet);
  packet::PacketTopology& t = network.topology;
  t.name = "the memory pool";
  t.selection = "first";
  t.ways = network.ways;
  for (const pool::PoolLayout::Class& c : layout.classes())
    t.add_link(pool_link_timing(config, network.config, c));
  network.config.buffer_flits = config.packet.buffer_flits != 0
                                    ? config.packet.buffer_flits
                                    : covering_buffer(network.config, t.links, packet_flits(config.packet));
  build(layout, *network.ways, t);
  try {
    packet::check_network(network.config, t, network.segmentation);
    if (network.config.vcs < layout.vc_classes())
      throw UserError(
          ExitCode::usage,
          fmt::format("`packet.vcs`: {} virtual channel of a virtual network is not enough for "
                      "a memory pool of `design: {}`, whose ways would close a cycle of buffers; it needs {}",
                      network.config.vcs, to_string(config.memory_pool->design), layout.vc_classes()));
  } catch (const UserError& error) {
    throw UserError(error.code(), fmt::format("{}: key `packet`: {}", where(config), error.what()));
  }
  return network;
}

std::vector<std::string> pool_network_warnings(const Config& config, const pool::PoolLayout& layout,
                                               const PoolNetwork& network) {
  std::vector<std::string> warnings;
  packet::PacketConfig usable = network.config;
  usable.vcs = std::max(1u, usable.vcs / layout.vc_classes());
  for (size_t c = 0; c < layout.classes().size(); ++c) {
    const pool::PoolLayout::Class& links = layout.classes()[c];
    const NamedLinks named{"memory pool, links " + links.name, links.rate, config.packet};
    for (const std::string& warning : link_warnings(usable, named, network.topology.links[c]))
      warnings.push_back(fmt::format("{}: {}", where(config), warning));
  }
  return warnings;
}

}  // namespace weft
