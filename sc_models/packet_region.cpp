// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/packet_region.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "configs/blueprint/blueprint.h"
#include "configs/blueprint/carrier.h"
#include "configs/graph.h"
#include "configs/packet_timing.h"
#include "configs/tree.h"
#include "configs/units.h"
#include "sc_models/pool/pool_guests.h"
#include "tlm_interconnect/packet/buffer_check.h"
#include "tlm_interconnect/packet/config_topology.h"
#include "tlm_interconnect/packet/dependency_check.h"
#include "tlm_interconnect/packet/network_check.h"
#include "tlm_interconnect/policies/routing/routing_policy.h"
#include "workload/collectives/in_switch.h"

namespace weft {
namespace {

constexpr uint64_t kMostInterfaces = 1u << 19;  // some 10 KB each
constexpr uint32_t kMostBufferFlits = 1u << 24;
/// Above this a search for cycles of buffers may take longer than the run.
constexpr uint32_t kMostCheckedRanks = 1024;
constexpr uint64_t kMostCheckedSteps = 100000000;

std::string where(const Config& config) {
  return config.file.empty() ? "configuration" : config.file;
}

packet::LinkTiming link_timing(const Config& config, const packet::PacketConfig& network,
                               const DimensionConfig& d) {
  packet::LinkTiming link;
  link.latency = ticks(d.latency);
  const PacketFabricConfig packet = packet_of(config.packet, d);
  link.flit_time = checked_flit_time(config, network, {"a link", d.link_rate(), packet});
  packet::set_link_options(d, packet, link);
  return link;
}

/// Kinds of links that a dimension has.
uint32_t levels_of(const DimensionConfig& d) {
  return d.tree == nullptr ? 1 : d.tree->levels();
}

/// VCs that the packets on one link may use: those of one class.
uint32_t usable_vcs(const packet::PacketConfig& network, const DimensionConfig& d) {
  const bool classes =
      Shape(d).circular() && (network.vc_classes == "dateline" || network.vc_classes == "switched_dateline");
  return classes ? std::max(1u, network.vcs / 2) : network.vcs;
}

bool anything_at_packet_fidelity(const Config& config) {
  return !packet_regions(config).empty() || may_carry_packets(config);
}

/// A packet that is on its way for longer would pass the end of the time that packets can have.
void check_latencies(const Config& config, const std::vector<uint32_t>& dimensions) {
  Wide way = 0;
  for (const uint32_t d : dimensions) {
    const DimensionConfig& dimension = config.fabric_dimensions()[d];
    way += static_cast<Wide>(dimension.latency) * (dimension.size + 1);
  }
  if (config.graph != nullptr && dimensions.empty()) {
    Picoseconds longest = 0;
    for (const GraphLink& link : config.graph->spec().links) longest = std::max(longest, link.latency);
    way = static_cast<Wide>(longest) * config.graph->spec().links.size();
  }
  if (way <= kLongestTickTime) return;
  throw UserError(
      ExitCode::usage,
      fmt::format("{}: the latencies of the links at packet fidelity add up to more than {}, up to "
                  "which packet fidelity counts; lower them, or use message or analytical fidelity",
                  where(config), print_time(kLongestTickTime)));
}

void check_network(const Config& config, const PacketRegion& region) {
  try {
    packet::check_network(region.config, region.topology, region.segmentation);
  } catch (const UserError& error) {
    throw UserError(error.code(), fmt::format("{}: key `packet`: {}", where(config), error.what()));
  }
}

/// Makes the routing policy once, to see that it fits. `packet.vcs: auto` becomes a number.
void check_routing(const Config& config, PacketRegion& region) {
  const std::string& named = region.config.routing;
  const std::string& routing = named.empty() ? region.topology.routing : named;
  try {
    if (region.config.vcs == 0) region.config.vcs = fewest_vcs(routing, region.topology, region.config);
    packet::make_routing_policy(routing, region.topology, region.config);
  } catch (const UserError& error) {
    throw UserError(error.code(), fmt::format("{}: key `packet`: {}", where(config), error.what()));
  }
}

/// A packet enters a ring only beside room for another one, which a smaller buffer never has.
void check_bubble(const Config& config, const PacketRegion& region, uint64_t flits) {
  const std::string& routing = region.config.routing;
  if (region.config.vc_classes != "bubble" || (!routing.empty() && routing != "dimension_order")) return;
  if (region.config.buffer_flits >= 2 * flits) return;
  for (size_t i = 0; i < region.dimensions.size(); ++i) {
    const packet::TopologyDimension& d = region.topology.dimensions[i];
    if (!d.shape.circular()) continue;
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: key `packet.buffer_flits`: {} flits do not hold two packets of {}, which "
                    "`packet.vc_classes: bubble` needs on dimension {} ({}); allowed: {} or more",
                    where(config), region.config.buffer_flits, flits, region.dimensions[i], d.shape.name(),
                    2 * flits));
  }
}

PacketRegion make_region(const Config& config, const std::vector<uint32_t>& dimensions) {
  const std::vector<DimensionConfig>& all = config.fabric_dimensions();
  PacketRegion region;
  region.dimensions = dimensions;
  region.packet = packet_of_network(config, dimensions);
  region.segmentation = packet_segmentation(region.packet);
  uint64_t lanes = 0;
  for (const uint32_t d : dimensions) {
    lanes += Shape(all[d]).links() + (collectives::uses_unit(config, d) ? 1 : 0);
  }
  if (config.npus() * lanes > kMostInterfaces) {
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: key `topology.dimensions`: at packet fidelity {} NPUs with {} links each "
                    "need more than {} network interfaces; use message fidelity, or a Switch in "
                    "place of FullyConnected",
                    where(config), config.npus(), lanes, kMostInterfaces));
  }
  std::vector<Ticks> times = flit_times(config, dimensions);
  const bool pool = PoolGuests::live_in(config, dimensions);
  if (pool)
    for (const Rate rate : PoolGuests::rates(config)) times.push_back(flit_time(config.packet, rate));
  region.config = packet_network_config(config, times);
  std::vector<packet::TopologyDimension> parts;
  std::vector<packet::LinkTiming> links;
  bool several_ways = false;
  for (const uint32_t d : dimensions) {
    packet::TopologyDimension part;
    part.shape = Shape(all[d]);
    part.link = link_timing(config, region.config, all[d]);
    part.tree = all[d].tree;
    links.push_back(part.link);
    for (uint32_t l = 1; l < levels_of(all[d]); ++l) {
      part.levels.push_back(link_timing(config, region.config, at_level(all[d], l)));
      links.push_back(part.levels.back());
    }
    several_ways = several_ways || (part.tree != nullptr && part.tree->graph().per_flow());
    parts.push_back(std::move(part));
  }
  const uint64_t flits = packet_flits(region.packet);
  region.config.buffer_flits = config.packet.buffer_flits != 0 ? config.packet.buffer_flits
                                                               : covering_buffer(region.config, links, flits);
  try {
    region.topology = packet::make_dimensions(parts, {});
  } catch (const UserError& error) {
    throw UserError(error.code(), fmt::format("{}: key `topology`: {}", where(config), error.what()));
  }
  // Reproducible, and a tie on a ring is the NMU's choice; in a tree flows spread over the ways up.
  region.topology.selection = several_ways ? "hash" : "first";
  region.topology.add_lanes();
  for (uint32_t r = 0; r < region.topology.routers.size(); ++r) {
    const packet::TopologyRouter& router = region.topology.routers[r];
    if (router.role == packet::RouterRole::dimension_switch &&
        collectives::uses_unit(config, dimensions[router.dimension])) {
      region.topology.add_unit(r);
    }
  }
  if (pool) PoolGuests::join(config, region);
  check_latencies(config, region.dimensions);
  check_routing(config, region);
  check_bubble(config, region, flits);
  check_network(config, region);
  return region;
}

/// The graph's nodes as routers, port for port; its NPUs' routers have the interfaces. An NPU with a single
/// link to a switch is an interface at that switch.
PacketRegion make_graph_region(const Config& config) {
  const Graph& graph = *config.graph;
  const GraphSpec& spec = graph.spec();
  PacketRegion region;
  region.packet = packet_of_network(config, {});
  region.segmentation = packet_segmentation(region.packet);
  std::vector<Ticks> flit_times;
  uint64_t lanes = 0;
  for (const GraphLink& link : spec.links) {
    flit_times.push_back(flit_time(config.packet, link.rate()));
    lanes += (graph.is_npu(link.from) ? 1 : 0) + (graph.is_npu(link.to) ? 1 : 0);
  }
  if (lanes > kMostInterfaces) {
    throw UserError(ExitCode::usage,
                    fmt::format("{}: key `topology.graph`: at packet fidelity the NPUs' {} links need more "
                                "than {} network interfaces; use message fidelity",
                                where(config), lanes, kMostInterfaces));
  }
  region.config = packet_network_config(config, flit_times);
  packet::PacketTopology& t = region.topology;
  t.name = "the graph";
  t.routing = "table";
  t.selection = graph.per_flow() ? "hash" : "first";
  for (const GraphLink& link : spec.links) {
    t.add_link(link_timing(config, region.config, as_dimension(link, Fidelity::packet)));
  }
  region.config.buffer_flits = config.packet.buffer_flits != 0
                                   ? config.packet.buffer_flits
                                   : covering_buffer(region.config, t.links, packet_flits(config.packet));
  std::vector<uint32_t> router(graph.nodes(), ~0u);
  std::vector<uint32_t> node_of;
  for (uint32_t n = 0; n < graph.nodes(); ++n) {
    const auto& ports = graph.ports(n);
    if (graph.is_npu(n) && ports.size() == 1 && !graph.is_npu(ports[0].peer)) continue;
    router[n] = t.add_router(graph.is_npu(n) ? graph.name(n) : "switch_" + graph.name(n));
    t.routers[router[n]].rank = n;
    if (graph.is_npu(n)) t.routers[router[n]].role = packet::RouterRole::npu;
    node_of.push_back(n);
  }
  t.nis.resize(graph.npus());
  for (const uint32_t n : node_of) {
    packet::TopologyRouter& r = t.routers[router[n]];
    for (const Graph::Port& port : graph.ports(n)) {
      if (router[port.peer] != ~0u) {
        r.ports.push_back({false, router[port.peer], port.peer_port, port.link, false, port.sends});
        continue;
      }
      t.nis[port.peer] = {router[n], static_cast<uint32_t>(r.ports.size()), port.peer};
      r.ports.push_back({true, port.peer, 0, port.link, false});
    }
  }
  const uint32_t interface = t.add_link({});
  for (uint32_t n = 0; n < graph.npus(); ++n) {
    if (router[n] == ~0u) continue;
    packet::TopologyRouter& r = t.routers[router[n]];
    t.nis[n] = {router[n], static_cast<uint32_t>(r.ports.size()), n};
    r.ports.push_back({true, n, 0, interface, false});
  }
  t.table_first.push_back(0);
  for (uint32_t d = 0; d < graph.npus(); ++d) {
    for (const uint32_t n : node_of) {
      if (router[n] != t.nis[d].router) graph.next_ports(n, d, t.table_ports);
      t.table_first.push_back(static_cast<uint32_t>(t.table_ports.size()));
    }
  }
  t.add_lanes();
  if (PoolGuests::live_in(config, {})) PoolGuests::join(config, region);
  check_latencies(config, {});
  check_routing(config, region);
  check_network(config, region);
  return region;
}

}  // namespace

packet::Segmentation packet_segmentation(const PacketFabricConfig& packet) {
  packet::Segmentation s;
  s.packet_bytes = static_cast<uint32_t>(packet.packet_bytes);
  s.flit_bytes = static_cast<uint32_t>(packet.flit_bytes);
  s.header_bytes = static_cast<uint32_t>(packet.header_bytes);
  return s;
}

packet::PacketConfig packet_network_config(const Config& config, const std::vector<Ticks>& flit_times) {
  const PacketFabricConfig& p = config.packet;
  packet::PacketConfig n;
  n.cycle = router_cycle(p, flit_times);
  n.pipeline = {p.route_cycles, p.vc_alloc_cycles, p.switch_alloc_cycles, p.traversal_cycles,
                p.credit_cycles};
  n.vcs = p.vcs;
  n.virtual_networks = p.virtual_networks;
  n.strict_priority = p.strict_priority;
  n.switching = p.switching == FlitSwitchingKind::packet_held ? packet::FlitSwitching::packet_held
                                                              : packet::FlitSwitching::flit_interleaved;
  n.strict_cut_through = p.strict_cut_through;
  n.release_on_credit = p.release_on_credit;
  n.quantum = p.quantum;
  n.allocator_iterations = p.allocator_iterations;
  n.switch_allocator = p.switch_allocator;
  n.vc_allocator = p.vc_allocator;
  n.routing = p.routing == "auto" ? "" : p.routing;
  n.selection = p.selection == "auto" ? "" : p.selection;
  n.vc_classes = p.vc_classes;
  n.seed = config.run.seed;
  if (!p.pfc_networks.empty()) n.pfc.networks = 0;
  for (const uint32_t network : p.pfc_networks) n.pfc.networks |= 1u << network;
  if (p.pfc_xoff != 0) n.pfc.xoff = p.pfc_xoff;
  if (p.pfc_xon != 0) n.pfc.xon = p.pfc_xon;
  n.pfc.delay = ticks(p.pfc_delay);
  n.interleave_messages = p.injection == PacketInjection::aggressive;
  packet::set_congestion_control(p, n);
  return n;
}

Ticks checked_flit_time(const Config& config, const packet::PacketConfig& network, const NamedLinks& links) {
  const Ticks time = flit_time(links.packet, links.rate, network.cycle);
  if (time > kLongestFlitTime)
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: key `packet.flit_size`: {} take {} on {} of {}; give a smaller flit", where(config),
                    print_size(links.packet.flit_bytes), print_flit_time(links.packet, links.rate),
                    links.name, print_bandwidth(links.rate)));
  return time;
}

std::vector<std::string> link_warnings(const packet::PacketConfig& usable, const NamedLinks& links,
                                       const packet::LinkTiming& link) {
  std::vector<std::string> warnings;
  const std::string& name = links.name;
  const Ticks own = flit_time(links.packet, links.rate);
  if (own < link.flit_time)
    warnings.push_back(
        fmt::format("{}: routers move a flit every {} (`packet.cycle`), its links one every {}: {:.1f} % "
                    "of their bandwidth can be used",
                    name, print_ticks(link.flit_time), print_ticks(own),
                    100.0 * static_cast<double>(own) / static_cast<double>(link.flit_time)));
  const double exact = exact_flit_time(links.packet, links.rate);
  if (exact < 0.98)
    warnings.push_back(
        fmt::format("{}: a flit would take {:.3g} ps, and the shortest time of a flit is 1 ps: {:.1f} % of "
                    "the bandwidth can be used; make `packet.flit_size` larger",
                    name, exact, 100 * exact));
  std::string buffers =
      packet::buffer_warning(name, usable, link, static_cast<uint32_t>(packet_flits(links.packet)));
  if (!buffers.empty()) warnings.push_back(std::move(buffers));
  return warnings;
}

uint32_t covering_buffer(const packet::PacketConfig& network, const std::vector<packet::LinkTiming>& links,
                         uint64_t flits) {
  uint64_t needed = std::max<uint64_t>(16, flits);
  uint64_t headroom = 0;
  for (const packet::LinkTiming& link : links) {
    const Ticks loop = packet::credit_round_trip(network, link);
    needed = std::max(needed, (loop + link.flit_time - 1) / link.flit_time + flits);
    if (!link.pfc) continue;
    headroom = std::max<uint64_t>(headroom,
                                  packet::pfc_headroom(network, link, false, static_cast<uint32_t>(flits)));
  }
  if (headroom != 0 && network.pfc.xoff != packet::PfcConfig::kAuto)
    needed = std::max<uint64_t>(needed, network.pfc.xoff);
  needed += headroom;
  if (network.vc_classes == "bubble") needed = std::max(needed, 2 * flits);
  return static_cast<uint32_t>(std::min<uint64_t>(needed, kMostBufferFlits));
}

std::vector<PacketRegion> packet_regions_of(const Config& config) {
  std::vector<PacketRegion> regions;
  for (const std::vector<uint32_t>& dimensions : packet_regions(config))
    regions.push_back(make_region(config, dimensions));
  if (config.graph != nullptr && carrier_of(*config.graph) == Carrier::packets && config.npus() > 1)
    regions.push_back(make_graph_region(config));
  return regions;
}

namespace {

using Warn = std::function<void(const std::string&)>;

/// Of the links of a dimension, or of a level of its tree: what of their bandwidth flits cannot use, and
/// buffers that are too small.
void level_warnings(const Config& config, const PacketRegion& region, size_t i, uint32_t level,
                    const Warn& warn) {
  const auto flits = static_cast<uint32_t>(packet_flits(region.packet));
  const uint32_t d = region.dimensions[i];
  const DimensionConfig& dimension = config.fabric_dimensions()[d];
  const packet::TopologyDimension& part = region.topology.dimensions[i];
  const packet::LinkTiming& link = level == 0 ? part.link : part.levels[level - 1];
  const Rate rate = at_level(dimension, level).link_rate();
  const std::string name = fmt::format("dimension {} ({}{})", d, print_dimension(dimension),
                                       level == 0 ? "" : fmt::format(", level {}", level));
  packet::PacketConfig usable = region.config;
  usable.vcs = usable_vcs(region.config, dimension);
  const PacketFabricConfig packet = packet_of(config.packet, dimension);
  for (const std::string& warning : link_warnings(usable, {name, rate, packet}, link)) warn(warning);
  if (!link.pfc) return;
  // A single switch is fed by interfaces only.
  const std::string headroom =
      packet::pfc_warning(name, region.config, link, region.topology.routers.size() == 1, flits,
                          "`packet.pfc_xoff`", "`packet.buffer_flits`");
  if (!headroom.empty()) warn(headroom);
}

/// Of the links of a graph: the first whose buffers are too small, and the first that lacks headroom.
void graph_link_warnings(const Config& config, const PacketRegion& region, const Warn& warn) {
  const auto flits = static_cast<uint32_t>(packet_flits(config.packet));
  const std::vector<GraphLink>& links = config.graph->spec().links;
  const auto name = [&](size_t i) {
    return fmt::format("the link from {} to {}", config.graph->name(links[i].from),
                       config.graph->name(links[i].to));
  };
  for (size_t i = 0; i < links.size(); ++i) {
    const std::string buffers =
        packet::buffer_warning(name(i), region.config, region.topology.links[i], flits);
    if (buffers.empty()) continue;
    warn(buffers + "; other links may be as short of them");
    break;
  }
  for (size_t i = 0; i < links.size(); ++i) {
    const packet::LinkTiming& timing = region.topology.links[i];
    if (!timing.pfc) continue;
    const std::string headroom = packet::pfc_warning(name(i), region.config, timing, false, flits,
                                                     "`packet.pfc_xoff`", "`packet.buffer_flits`");
    if (headroom.empty()) continue;
    warn(headroom + "; other links may be as short of it");
    break;
  }
}

/// Buffers that can wait for each other in a circle, or that nobody has looked at.
void cycle_warnings(const Config& config, const PacketRegion& region, const Warn& warn) {
  const uint32_t ranks = region.topology.ranks();
  uint64_t ports = 0;
  for (const packet::TopologyRouter& router : region.topology.routers) ports += router.ports.size();
  if (ranks <= kMostCheckedRanks && ports * region.config.vcs * ranks <= kMostCheckedSteps) {
    const std::string cycle = packet::find_dependency_cycle(region.topology, region.config);
    if (!cycle.empty()) warn(cycle);
    return;
  }
  // The known combinations are free of deadlock at any size; only those that are not need the search.
  const std::string& routing = region.config.routing;
  const bool table = region.dimensions.empty() && routing != "up_down";
  // A pause holds the classes of a ring together, and the escapes of adaptive routing with the rest.
  const bool pauses = std::any_of(region.dimensions.begin(), region.dimensions.end(), [&](uint32_t number) {
    const DimensionConfig& d = config.fabric_dimensions()[number];
    return config.packet.pfc(d.flow_control) && routing != "up_down" &&
           (Shape(d).circular() || routing == "minimal_adaptive");
  });
  if (region.config.vc_classes != "none" && routing != "shortest_path" && !table && !pauses) return;
  warn(
      fmt::format("{} is too large to be searched for cycles of buffers, and nothing in the "
                  "configuration excludes them",
                  region.topology.name));
}

}  // namespace

std::vector<std::string> packet_warnings(const Config& config, const std::vector<PacketRegion>& regions) {
  std::vector<std::string> warnings;
  const Warn warn = [&](const std::string& text) {
    warnings.push_back(fmt::format("{}: {}", where(config), text));
  };
  if (config.packet.ecn.enabled && !anything_at_packet_fidelity(config)) {
    warn(
        "key `packet.ecn.enabled`: nothing is at packet fidelity, so there is no queue and no mark; set "
        "`fidelity: packet`");
  }
  for (const PacketRegion& region : regions) {
    const std::string unmarked =
        packet::marking_warning(region.topology, region.config, config.packet.flit_bytes);
    if (!unmarked.empty()) warn(unmarked);
    for (size_t i = 0; i < region.dimensions.size(); ++i) {
      const uint32_t levels = levels_of(config.fabric_dimensions()[region.dimensions[i]]);
      for (uint32_t level = 0; level < levels; ++level) level_warnings(config, region, i, level, warn);
    }
    if (region.dimensions.empty()) graph_link_warnings(config, region, warn);
    cycle_warnings(config, region, warn);
  }
  return warnings;
}

}  // namespace weft
