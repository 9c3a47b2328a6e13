// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/pool/pool_guests.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "configs/packet_timing.h"

namespace weft {

using pool::PoolLayout;

bool PoolGuests::live_in(const Config& config, const std::vector<uint32_t>& dimensions) {
  if (!config.memory_pool || !config.memory_pool->as_packets()) return false;
  const MemoryPoolConfig& pool = *config.memory_pool;
  if (dimensions.empty()) return pool.design == PoolDesign::graph;
  uint64_t npus = 1;
  for (const uint32_t d : dimensions) npus *= config.fabric_dimensions()[d].size;
  return pool.share && npus == config.npus() &&
         std::find(dimensions.begin(), dimensions.end(), *pool.share) != dimensions.end();
}

std::vector<Rate> PoolGuests::rates(const Config& config) {
  std::vector<Rate> rates;
  if (config.memory_pool->design == PoolDesign::graph) return rates;
  const auto layout = PoolLayout::make(config, false);
  for (const PoolLayout::Class& c : layout->classes()) rates.push_back(c.rate);
  return rates;
}

void PoolGuests::join(const Config& config, PacketRegion& region) {
  const uint32_t networks = network(config) + 1;
  if (std::max(1u, region.config.vcs) * networks > packet::kMostVcs)
    throw UserError(
        ExitCode::usage,
        fmt::format(
            "{}: key `packet.vcs`: {} virtual channels in {} virtual networks; the memory pool adds a "
            "virtual network to links that it shares, and a port has {} virtual channels at most; "
            "write {} or less",
            config.file.empty() ? "configuration" : config.file, region.config.vcs, networks - 1,
            packet::kMostVcs, packet::kMostVcs / networks));
  // Chunks of an NPU go to groups behind slower links than its own: packet by packet they share what is
  // behind. The NMUs' messages go without turns where `packet.injection` says so.
  region.config.virtual_networks = networks;
  region.config.interleave_messages = true;
  region.topology.guests =
      std::shared_ptr<PoolGuests>(new PoolGuests(config, PoolLayout::make(config, false), region));
}

PoolGuests::PoolGuests(const Config& config, std::unique_ptr<PoolLayout> layout, PacketRegion& region)
    : PoolWays(*layout),
      own_layout_(std::move(layout)),
      topology_(&region.topology),
      dimensions_(region.dimensions),
      base_(topology_->ranks() + static_cast<uint32_t>(topology_->units.size())),
      ends_(ranks()),
      router_(layout_.nodes(), kNone) {
  check_pool_size(config, *this, uint64_t{layout_.ways()} + 1);
  topology_->first_guest = base_;
  topology_->first_guest_link = static_cast<uint32_t>(topology_->links.size());
  for (const PoolLayout::Class& c : layout_.classes())
    topology_->add_link(pool_link_timing(config, region.config, c));
  if (dimensions_.empty()) {
    find_graph(config);
  } else {
    find_dimension(config);
  }
  add_links(config);
  add_inner();
  node_at_.assign(topology_->routers.size(), kNone);
  for (uint32_t n = 0; n < layout_.nodes(); ++n)
    if (router_[n] != kNone) node_at_[router_[n]] = n;
  if (config.packet.buffer_flits == 0) {
    const std::vector<packet::LinkTiming> added(
        topology_->links.begin() + static_cast<std::ptrdiff_t>(topology_->first_guest_link),
        topology_->links.end());
    region.config.buffer_flits = std::max(region.config.buffer_flits,
                                          covering_buffer(region.config, added, packet_flits(config.packet)));
  }
  topology_ = nullptr;
}

/// The graph's nodes are the layout's, and all links are the graph's.
void PoolGuests::find_graph(const Config& config) {
  const packet::PacketTopology& t = *topology_;
  std::vector<uint32_t> router(config.graph->nodes(), kNone);
  for (uint32_t r = 0; r < t.routers.size(); ++r) router[t.routers[r].rank] = r;
  for (uint32_t n = 0; n < layout_.nodes(); ++n) {
    for (uint32_t p = 0; p < layout_.ports(n).size(); ++p) {
      const PoolLayout::GraphEnd at = layout_.graph_end(n, p);
      router_[n] = router[at.node];
      End& end = ends_[end_of(n, p)];
      end.shared = true;
      end.port = at.port;
      end.sender = {false, router_[n], at.port};
      if (n >= layout_.npus()) continue;
      end.interface = router_[n] == kNone ? at.node : t.lane(at.node, at.port);
      end.rank = at.node;
      if (router_[n] == kNone) end.sender = {true, end.interface, 0};
    }
  }
}

/// The lines' switches are the in-node switches.
void PoolGuests::find_dimension(const Config& config) {
  const packet::PacketTopology& t = *topology_;
  uint32_t index = 0;
  while (dimensions_[index] != *config.memory_pool->share) ++index;
  for (uint32_t u = 0; u < layout_.npus(); ++u) {
    const PoolLayout::Port& link = layout_.ports(u)[0];
    End& own = ends_[end_of(u, 0)];
    End& far = ends_[end_of(link.peer, link.peer_port)];
    own.shared = far.shared = true;
    own.rank = u;
    const packet::NiAttachment& at = t.nis[u];
    const packet::TopologyRouter& router = t.routers[at.router];
    if (router.role == packet::RouterRole::dimension_switch) {  // the NPU begins at the switch
      own.interface = u;
      own.sender = {true, u, 0};
      router_[link.peer] = at.router;
      far.port = at.port;
    } else {
      own.port = t.port_of(router, index, 0);
      own.interface = t.lane(u, own.port);
      own.sender = {false, at.router, own.port};
      router_[u] = at.router;
      router_[link.peer] = router.ports[own.port].peer;
      far.port = router.ports[own.port].peer_port;
    }
    far.sender = {false, router_[link.peer], far.port};
  }
}

void PoolGuests::add_interface(uint32_t rank, uint32_t router, uint32_t link) {
  End& end = ends_[rank];
  end.interface = static_cast<uint32_t>(topology_->nis.size());
  end.rank = base_ + rank;
  topology_->add_guest(router, link, end.rank);
}

/// Switches and links that the machine has not. A group is an interface at the switch, as an NPU is.
void PoolGuests::add_links(const Config& config) {
  for (uint32_t n = 0; n < layout_.nodes(); ++n)
    if (is_switch(n) && router_[n] == kNone)
      router_[n] = topology_->add_router("pool_" + layout_.node(n).name);
  for (uint32_t n = 0; n < layout_.nodes() && config.graph == nullptr; ++n) {
    if (!is_switch(n)) continue;
    for (uint32_t p = 0; p < layout_.ports(n).size(); ++p) {
      const PoolLayout::Port& port = layout_.ports(n)[p];
      End& end = ends_[end_of(n, p)];
      if (end.port != kNone) continue;
      End& far = ends_[end_of(port.peer, port.peer_port)];
      const uint32_t link = topology_->first_guest_link + layout_.links()[port.link].cls;
      if (is_switch(port.peer)) {
        std::tie(end.port, far.port) = topology_->connect(router_[n], router_[port.peer], link);
        far.sender = {false, router_[port.peer], far.port};
      } else {
        end.port = static_cast<uint32_t>(topology_->routers[router_[n]].ports.size());
        add_interface(end_of(port.peer, port.peer_port), router_[n], link);
        far.sender = {true, far.interface, 0};
      }
      end.sender = {false, router_[n], end.port};
    }
  }
}

/// Interfaces within switches, one for each port, where sums end and copies begin; and those of groups in a
/// graph, whose nodes are routers.
void PoolGuests::add_inner() {
  inner_link_.assign(topology_->links.size(), kNone);
  for (uint32_t n = layout_.npus(); n < layout_.nodes(); ++n) {
    for (uint32_t p = 0; p < layout_.ports(n).size() && router_[n] != kNone; ++p) {
      const uint32_t rank = end_of(n, p);
      const uint32_t served = topology_->routers[router_[n]].ports[ends_[rank].port].link;
      if (inner_link_[served] == kNone) {
        packet::LinkTiming inner;
        inner.flit_time = topology_->links[served].flit_time;
        inner_link_[served] = topology_->add_link(inner);
      }
      add_interface(rank, router_[n], inner_link_[served]);
    }
  }
}

packet::GivenWays::Hop PoolGuests::next(uint32_t router, uint32_t destination) const {
  const uint32_t here = node_at_[router];
  const uint32_t rank = (destination - base_) % ranks();
  const uint32_t way = (destination - base_) / ranks();
  const uint32_t to = node_of(rank);
  if (here == kNone) throw std::logic_error("a message of the memory pool is astray");
  if (way < layout_.ways())
    return {ends_[end_of(here, layout_.next(here, to, way))].port, layout_.vc_class(here, to, way)};
  const PoolLayout::Port& port = layout_.ports(to)[port_of(rank)];
  if (port.peer != here) throw std::logic_error("a message for a switch of the memory pool is astray");
  return {ends_[end_of(here, port.peer_port)].port, 0};
}

uint32_t PoolGuests::rank(uint32_t destination) const {
  return destination < base_ ? destination : ends_[(destination - base_) % ranks()].rank;
}

uint32_t PoolGuests::interface(uint32_t destination) const {
  return ends_[(destination - base_) % ranks()].interface;
}

}  // namespace weft
