// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/packet/config_topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "configs/graph.h"
#include "configs/graph_routing.h"
#include "configs/packet_timing.h"
#include "configs/tree_notation.h"
#include "configs/units.h"

namespace weft::packet {
namespace {

/// Throws UserError when a flit takes longer than kLongestFlitTime.
LinkTiming link_timing(Rate rate, Picoseconds latency, const PacketFabricConfig& packet) {
  LinkTiming timing;
  timing.latency = ticks(latency);
  timing.flit_time = flit_time(packet, rate);
  if (timing.flit_time > kLongestFlitTime)
    throw UserError(
        ExitCode::usage,
        fmt::format("a flit of {} bytes takes {} on a link of {}; make the flit smaller or the link "
                    "faster",
                    packet.flit_bytes, print_flit_time(packet, rate), print_bandwidth(rate)));
  return timing;
}

/// .. of a link of a graph.
LinkTiming link_timing(const GraphLink& link, const PacketFabricConfig& packet) {
  LinkTiming timing = link_timing(link.rate(), link.latency, packet);
  timing.credit_latency = ticks(link.credit_latency);
  timing.flit_error = link.flit_error_rate;
  timing.replay = ticks(link.replay);
  return timing;
}

/// Links of a graph that are alike share an entry of the topology.
class LinkClasses {
 public:
  LinkClasses(PacketTopology& topology, const PacketFabricConfig& packet)
      : topology_(topology), packet_(packet) {}
  uint32_t of(const GraphLink& link) {
    const Rate rate = link.rate();
    const auto [at, fresh] = classes_.try_emplace({rate.bytes_per_second, rate.divisor, link.latency,
                                                   link.credit_latency, link.flit_error_rate, link.replay},
                                                  uint32_t{0});
    if (fresh) at->second = topology_.add_link(link_timing(link, packet_));
    return at->second;
  }

 private:
  PacketTopology& topology_;
  const PacketFabricConfig& packet_;
  using Class = std::tuple<uint64_t, uint64_t, Picoseconds, Picoseconds, double, Picoseconds>;
  std::map<Class, uint32_t> classes_;
};

PacketTopology make_fat_tree_of(const TreeNotation& tree, const Graph& graph,
                                const PacketFabricConfig& packet) {
  // The links lie level by level: one an NPU, then k of every switch below the roots.
  const auto timing = [&](size_t index) { return link_timing(graph.spec().links[index], packet); };
  std::vector<LinkTiming> levels;
  for (uint32_t level = 1; level < tree.n; ++level) levels.push_back(timing(size_t{level} * graph.npus()));
  return make_fat_tree(tree.k, tree.n, levels, timing(0));
}

void set_port(const Graph& graph, uint32_t node, uint32_t link, uint16_t router_port,
              std::vector<std::vector<uint16_t>>& port) {
  for (uint32_t p = 0; p < graph.ports(node).size(); ++p)
    if (graph.ports(node)[p].link == link) port[node][p] = router_port;
}

/// The graph's own routes, as the routers' table.
void fill_table(const Graph& graph, const std::vector<uint32_t>& router,
                const std::vector<std::vector<uint16_t>>& port, PacketTopology& t) {
  const GraphRouting* const policy = find_graph_routing(graph.spec().routing);
  std::vector<uint32_t> node_of(t.routers.size());
  for (uint32_t node = 0; node < graph.nodes(); ++node)
    if (router[node] != ~0u) node_of[router[node]] = node;
  const RouteIndex routes(graph);
  NextPorts next;
  t.table_first.push_back(0);
  for (uint32_t npu = 0; npu < graph.npus(); ++npu) {
    next.assign(graph.nodes(), {});
    policy->next_ports(graph, routes, npu, next);
    for (uint32_t r = 0; r < t.routers.size(); ++r) {
      // At the switch of an NPU without a router the way ends: its interface is there.
      if (r != t.nis[npu].router)
        for (const uint16_t p : next[node_of[r]]) t.table_ports.push_back(port[node_of[r]][p]);
      t.table_first.push_back(static_cast<uint32_t>(t.table_ports.size()));
    }
  }
}

PacketTopology make_graph(const Graph& graph, const PacketFabricConfig& packet, const LinkTiming& ni_link) {
  PacketTopology t;
  t.name = fmt::format("Graph({} NPUs, {} switches)", graph.npus(), graph.nodes() - graph.npus());
  t.routing = "table";
  t.selection = graph.spec().routing == "ecmp" ? "hash" : "first";
  const uint32_t ni_class = t.add_link(ni_link);
  LinkClasses classes(t, packet);
  std::vector<uint32_t> router(graph.nodes(), ~0u);
  for (uint32_t node = 0; node < graph.nodes(); ++node) {
    // An NPU at the end of one link is an interface at the switch it hangs on.
    const auto& ports = graph.ports(node);
    if (graph.is_npu(node) && ports.size() == 1 && !graph.is_npu(ports[0].peer)) continue;
    router[node] = t.add_router(graph.name(node));
  }
  for (uint32_t npu = 0; npu < graph.npus(); ++npu) {
    if (router[npu] != ~0u) {
      t.attach(router[npu], ni_class);
    } else {
      const Graph::Port& port = graph.ports(npu)[0];
      t.attach(router[port.peer], classes.of(graph.link(port)));
    }
  }
  // By node and graph port: the port of the router there.
  std::vector<std::vector<uint16_t>> port(graph.nodes());
  for (uint32_t node = 0; node < graph.nodes(); ++node) port[node].resize(graph.ports(node).size());
  for (uint32_t l = 0; l < graph.spec().links.size(); ++l) {
    const GraphLink& link = graph.spec().links[l];
    if (router[link.from] == ~0u || router[link.to] == ~0u) continue;
    const auto [at_from, at_to] =
        t.connect(router[link.from], router[link.to], classes.of(link), link.bidirectional);
    set_port(graph, link.from, l, static_cast<uint16_t>(at_from), port);
    set_port(graph, link.to, l, static_cast<uint16_t>(at_to), port);
  }
  fill_table(graph, router, port, t);
  return t;
}

/// The links of a dimension, or of a level of its tree.
LinkTiming level_timing(const DimensionConfig& dimension, uint32_t level, const PacketFabricConfig& packet) {
  const DimensionConfig d = at_level(dimension, level);
  LinkTiming link = link_timing(d.link_rate(), d.latency, packet_of(packet, d));
  set_link_options(d, packet, link);
  return link;
}

PacketTopology make_links(const Config& config, const PacketFabricConfig& packet, const LinkTiming& ni_link) {
  if (config.graph != nullptr) {
    if (is_tree_notation(config.notation)) {
      const TreeNotation tree = parse_tree_notation(config.notation);
      if (tree.kind == TreeNotation::Kind::fat_tree) return make_fat_tree_of(tree, *config.graph, packet);
    }
    return make_graph(*config.graph, packet, ni_link);
  }
  std::vector<TopologyDimension> dimensions;
  for (const DimensionConfig& d : config.fabric_dimensions()) {
    TopologyDimension dimension;
    dimension.shape = Shape(d);
    dimension.link = level_timing(d, 0, packet);
    dimension.tree = d.tree;
    for (uint32_t l = 1; d.tree != nullptr && l < d.tree->levels(); ++l)
      dimension.levels.push_back(level_timing(d, l, packet));
    dimensions.push_back(dimension);
  }
  return make_dimensions(dimensions, ni_link);
}

}  // namespace

PacketTopology make_topology(const Config& config, const PacketFabricConfig& packet,
                             const LinkTiming& ni_link) {
  PacketTopology t = make_links(config, packet, ni_link);
  // Links of a time of their own are the graph's; interfaces of NPUs with several links have none.
  if (config.graph != nullptr && packet.flow_control == FlowControl::pfc)
    for (LinkTiming& link : t.links) link.pfc = link.flit_time != 0;
  Ticks cycle = packet.cycle == 0 ? kNever : ticks(packet.cycle);
  for (const LinkTiming& link : t.links)
    if (packet.cycle == 0 && link.flit_time != 0) cycle = std::min(cycle, link.flit_time);
  for (LinkTiming& link : t.links)
    if (link.flit_time != 0) link.flit_time = on_multiple(link.flit_time, cycle);
  for (TopologyDimension& d : t.dimensions) {
    d.link.flit_time = on_multiple(d.link.flit_time, cycle);
    for (LinkTiming& level : d.levels) level.flit_time = on_multiple(level.flit_time, cycle);
  }
  return t;
}

void set_link_options(const DimensionConfig& from, const PacketFabricConfig& packet, LinkTiming& to) {
  to.credit_latency = ticks(from.credit_latency);
  to.flit_error = from.flit_error_rate;
  to.replay = ticks(from.replay);
  to.pfc = packet.pfc(from.flow_control);
}

void set_congestion_control(const PacketFabricConfig& from, PacketConfig& to) {
  const auto bits = [](Rate rate) {
    return static_cast<uint64_t>(static_cast<Wide>(rate.bytes_per_second) * 8 / rate.divisor);
  };
  to.ecn.enabled = from.ecn.enabled;
  to.ecn.k_min = from.ecn.k_min;
  to.ecn.k_max = from.ecn.k_max;
  to.ecn.p_max = from.ecn.p_max;
  const PacketDcqcnConfig& d = from.dcqcn;
  to.dcqcn.enabled = d.enabled;
  to.dcqcn.cnp_interval = ticks(d.cnp_interval);
  to.dcqcn.alpha_timer = ticks(d.alpha_timer);
  to.dcqcn.rate_timer = ticks(d.rate_timer);
  to.dcqcn.byte_counter = d.byte_counter;
  to.dcqcn.fast_recovery = d.fast_recovery;
  to.dcqcn.g = d.g;
  to.dcqcn.rate_ai = bits(d.rate_ai);
  to.dcqcn.rate_hai = bits(d.rate_hai);
  to.dcqcn.min_rate = bits(d.min_rate);
}

}  // namespace weft::packet
