// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/memory_estimate.h"

#include <algorithm>
#include <map>
#include <utility>

#include "configs/blueprint/carrier.h"
#include "configs/blueprint/shape.h"
#include "configs/graph.h"
#include "configs/packet_timing.h"
#include "configs/tree.h"
#include "workload/collectives/in_switch.h"
#include "workload/graph/checked_job.h"
#include "workload/graph/fidelity_rules.h"
#include "workload/pool/pool_layout.h"
#include "workload/tiers/tier_path.h"

namespace weft {
namespace {

// Bytes, measured as the slope of the peak resident memory over each count (docs/performance.md).
constexpr double kProgram = 21e6;           // what every run has
constexpr double kNmu = 2900;               // an NMU with its collective engine and sockets
constexpr double kPort = 270;               // .. a port
constexpr double kPortSlot = 192;           // .. a port that stays empty, at packet fidelity
constexpr double kLink = 64;                // a further link behind a port
constexpr double kLastLink = 64;            // .. a link that ends there, at analytical fidelity
constexpr double kNpu = 7100;               // NPU and memory modules
constexpr double kSwitch = 4000;            // a switch of a Switch dimension
constexpr double kSwitchPort = 850;         // .. a port of it, with what the NMU binds to it
constexpr double kDirectMember = 780;       // a port's place in a fabric without switches
constexpr double kGraphSwitch = 4000;       // a switch of a tree or graph
constexpr double kGraphPort = 1100;         // .. a port of it
constexpr double kGraphWay = 9.5;           // .. its way to an NPU
constexpr double kMirror = 3000;            // of a rank that stands for others, in a dimension
constexpr double kRouter = 2000;            // packet fidelity
constexpr double kRouterPort = 1600;        // .. a port
constexpr double kRouterVc = 750;           // .. a virtual channel of a port
constexpr double kRouterPair = 14;          // .. a pair of ports
constexpr double kInterface = 1800;         // a network interface
constexpr double kInterfaceVc = 300;        // .. a virtual channel of it
constexpr double kMessage = 105;            // a message on its way
constexpr double kAnalyticalMessage = 150;  // .. that queues for a last link
constexpr double kPacket = 160;             // a packet on its way
constexpr double kChunk = 235;              // a chunk at a rank
constexpr double kBlock = 200;              // a block in a collective unit
constexpr double kFoldedRank = 8;           // a rank that another one stands for
constexpr double kTraces = 3e6;             // what every run of traces has
constexpr double kTraceRank = 5000;         // .. for the trace of a rank, besides its nodes
constexpr double kTraceNode = 130;          // a node of a built rank: what is read of it
constexpr double kTraceWindow = 128e6;      // .. of all ranks together at most
constexpr double kHost = 1800;              // host memory or NVMe of a host, with its memory
constexpr double kHostPort = 1300;          // .. for each NPU of it
constexpr double kTierChunk = 420;          // a chunk on its way, with its request
constexpr double kRankRow = 250;            // rows of results
constexpr double kLinkRow = 420;
constexpr double kCollectiveRow = 360;
constexpr double kPhase = 100;
constexpr double kPoolPort = 1500;       // an NPU's end of the memory pool
constexpr double kPoolSwitch = 2500;     // a switch of it
constexpr double kPoolSwitchPort = 900;  // .. a port
constexpr double kPoolGroup = 1900;      // a memory group
constexpr double kPoolGroupPort = 800;   // .. a port
constexpr double kPoolMemory = 3000;     // .. a memory of its own
constexpr double kPoolChunk = 60;        // a chunk that a group has still to serve, or that a sum is of
constexpr double kPoolShare = 120;       // what a group has still to serve of an NPU, with `split: fluid`

/// Sums up by name, in any order.
class Parts {
 public:
  void add(const std::string& what, double bytes) { bytes_[what] += bytes; }
  MemoryEstimate get() const {
    MemoryEstimate estimate;
    for (const auto& [what, bytes] : bytes_)
      if (bytes > 0) estimate.parts.push_back({what, bytes});
    std::stable_sort(estimate.parts.begin(), estimate.parts.end(),
                     [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    return estimate;
  }

 private:
  std::map<std::string, double> bytes_;
};

constexpr const char* kNpus = "NPUs";
constexpr const char* kSwitches = "switches";
constexpr const char* kPackets = "packet networks";
constexpr const char* kOfTraces = "traces";
constexpr const char* kResults = "results";

double ports_of(const Graph& graph, bool npus) {
  double ports = 0;
  for (uint32_t n = npus ? 0 : graph.npus(); n < (npus ? graph.npus() : graph.nodes()); ++n)
    ports += static_cast<double>(graph.ports(n).size());
  return ports;
}

/// A dimension at analytical or message fidelity.
void add_dimension(Parts& parts, const Config& config, const DimensionConfig& d, uint32_t number,
                   double ranks, double folded) {
  const double n = d.size;
  const double lines = config.npus() / n;
  const bool unit = collectives::uses_unit(config, number);
  const Shape shape(d);
  const Carrier carrier = carrier_of(d);
  parts.add(kSwitches, folded * kMirror);
  double port = kPort + (shape.joins_pairs() ? (n - 2) * kLink : kLink);
  if (carrier == Carrier::direct || carrier == Carrier::pairs) {
    port += kDirectMember;
    if (carrier == Carrier::direct) port += kLastLink * shape.links();
  } else if (carrier == Carrier::switches) {
    const Graph& graph = d.tree->graph();
    parts.add(kSwitches,
              lines * ((graph.nodes() - graph.npus()) * kGraphSwitch + ports_of(graph, false) * kGraphPort));
  } else if (carrier == Carrier::crossbars) {
    parts.add(kSwitches, lines * (kSwitch + n * kSwitchPort));
  } else {
    port += kPort;  // one a direction
  }
  if (unit) parts.add(kSwitches, lines * (kSwitch + n * kSwitchPort));
  parts.add(kNpus, ranks * port);
}

constexpr const char* kPool = "the memory pool";

struct PacketCounts {
  double routers = 0;
  double ports = 0;
  double pairs = 0;  ///< of ports of one router
  double interfaces = 0;

  void add_router(double count, double ports_of_it) {
    routers += count;
    ports += count * ports_of_it;
    pairs += count * ports_of_it * ports_of_it;
  }
};

void add_counts(Parts& parts, double vcs, const PacketCounts& c) {
  parts.add(kPackets, c.routers * kRouter + c.ports * (kRouterPort + vcs * kRouterVc) +
                          c.pairs * kRouterPair + c.interfaces * (kInterface + vcs * kInterfaceVc));
}

/// VCs of a port. `classes`: those that `packet.vcs: auto` takes.
double vcs_of(const Config& config, uint32_t classes) {
  const uint32_t vcs = config.packet.vcs != 0 ? config.packet.vcs : classes;
  return double{1} * vcs * config.packet.virtual_networks;
}

/// Classes of VCs that the routing of these dimensions needs.
uint32_t vc_classes(const Config& config, const std::vector<uint32_t>& dimensions) {
  const bool one = config.packet.vc_classes == "none" || config.packet.vc_classes == "bubble";
  const bool ring = std::any_of(dimensions.begin(), dimensions.end(),
                                [&](uint32_t d) { return Shape(config.fabric_dimensions()[d]).circular(); });
  if (config.packet.routing == "minimal_adaptive") return ring ? 3 : 2;
  return ring && !one ? 2 : 1;
}

/// The ways of a tree or graph.
void add_ways(Parts& parts, const Graph& graph) {
  parts.add("ways of trees and graphs", kGraphWay * graph.nodes() * graph.npus());
}

/// Adjacent dimensions at packet fidelity: all networks of them.
void add_region(Parts& parts, const Config& config, const std::vector<uint32_t>& dimensions) {
  const std::vector<DimensionConfig>& all = config.fabric_dimensions();
  const double npus = config.npus();
  PacketCounts counts;
  double links = 0;  // of an NPU
  for (const uint32_t d : dimensions) {
    const double n = all[d].size;
    const bool alone = dimensions.size() == 1;
    links += Shape(all[d]).links();
    if (!Shape(all[d]).has_switches()) continue;
    if (all[d].tree != nullptr) {
      const Graph& graph = all[d].tree->graph();
      for (uint32_t node = graph.npus(); node < graph.nodes(); ++node)
        counts.add_router(npus / n, static_cast<double>(graph.ports(node).size()));
      if (alone) counts.interfaces += npus;
      continue;
    }
    const double lanes = collectives::uses_unit(config, d) ? n : 0;
    counts.add_router(npus / n, n + lanes);
    counts.interfaces += npus / n * lanes + (alone ? npus : 0);
  }
  if (dimensions.size() > 1 || !Shape(all[dimensions[0]]).has_switches()) {
    counts.add_router(npus, 2 * links);
    counts.interfaces += npus * links;
  }
  parts.add(kNpus, npus * static_cast<double>(dimensions.size()) * 2 * kPortSlot);
  add_counts(parts, vcs_of(config, vc_classes(config, dimensions)), counts);
}

void add_graph(Parts& parts, const Config& config) {
  const Graph& graph = *config.graph;
  const double npu_ports = ports_of(graph, true);
  const Carrier carrier = carrier_of(graph);
  if (carrier == Carrier::direct) {
    parts.add(kNpus, npu_ports * 2 * kLink + config.npus() * (kPort + kDirectMember));
  } else if (carrier == Carrier::switches) {
    parts.add(kNpus, npu_ports * kPort);
    parts.add(kSwitches, (graph.nodes() - graph.npus()) * kGraphSwitch + ports_of(graph, false) * kGraphPort);
  } else {
    PacketCounts counts;
    for (uint32_t n = 0; n < graph.nodes(); ++n) {
      const auto ports = static_cast<double>(graph.ports(n).size());
      if (!graph.is_npu(n)) {
        counts.add_router(1, ports);
      } else if (ports == 1 && !graph.is_npu(graph.ports(n)[0].peer)) {
        ++counts.interfaces;
      } else {
        counts.add_router(1, 2 * ports);
        counts.interfaces += ports;
      }
    }
    add_counts(parts, vcs_of(config, 1), counts);
  }
}

/// Nodes and links of a memory pool, as PoolLayout builds them.
struct PoolCounts {
  explicit PoolCounts(const Config& config) {
    const MemoryPoolConfig& pool = *config.memory_pool;
    npus = config.npus();
    groups = pool.groups;
    if (pool.design == PoolDesign::graph) {
      switches = config.graph->nodes() - config.graph->npus() - groups;
      between = static_cast<double>(config.graph->spec().links.size()) - npus - groups;
      return;
    }
    if (pool.upper.empty()) {  // a router at every place
      const bool edge = pool.design == PoolDesign::mesh && pool.placement == PoolPlacement::edge;
      switches = pool.nodes + (edge ? 0 : groups);
      between = switches * (pool.design == PoolDesign::ring ? 1 : 2);
      return;
    }
    folded = pool::PoolLayout::folds(pool);
    switches = pool.nodes;
    double below = pool.nodes;
    for (const PoolLevel& level : pool.upper) {
      const double here = folded ? 1 : level.switches;
      between += below * here;
      switches += here;
      below = here;
    }
    if (folded) groups = 1;
    group_ports = below;
  }
  double npus = 0;
  double switches = 0;
  double groups = 0;
  double group_ports = 1;  ///< of one
  double between = 0;      ///< links between switches
  bool folded = false;
  double switch_ports() const { return npus + groups * group_ports + 2 * between; }
};

/// A memory pool: its modules, or at packet fidelity its network with them.
void add_pool(Parts& parts, const Config& config) {
  const MemoryPoolConfig& pool = *config.memory_pool;
  const PoolCounts counts(config);
  const double ways = 2 * (counts.npus + counts.groups * counts.group_ports + counts.between) * kLink;
  parts.add(kPool, ways);
  if (pool.as_flows()) return;
  parts.add(kPool, counts.npus * kPoolPort + counts.switches * kPoolSwitch + counts.groups * kPoolGroup);
  if (pool.group_memory != kDefaultMemoryModel) parts.add(kPool, counts.groups * kPoolMemory);
  if (!pool.as_packets()) {
    parts.add(kPool,
              counts.switch_ports() * kPoolSwitchPort + counts.groups * counts.group_ports * kPoolGroupPort);
    return;
  }
  // Every port of a switch has an interface of its own, and NPUs and groups have theirs.
  PacketCounts packets;
  const double ports = counts.switch_ports() / std::max(1.0, counts.switches);
  packets.add_router(counts.switches, 2 * ports);
  packets.interfaces = counts.switch_ports() + counts.npus + counts.groups * counts.group_ports;
  const bool rings = pool.design == PoolDesign::ring || pool.design == PoolDesign::mesh;
  add_counts(parts, vcs_of(config, rings ? 2 : 1), packets);
}

/// Host memory and NVMe of `ranks` NPUs, each with its streams full.
void add_tiers(Parts& parts, const Config& config, double ranks) {
  if (!config.host_memory) return;
  const HostMemoryConfig& host = *config.host_memory;
  const double hosts = std::min<double>(host.hosts(config.npus()), ranks);
  double chunks = 0;  // of an NPU
  for (const trace::Location place : {trace::Location::host, trace::Location::nvme}) {
    if (place == trace::Location::nvme && !config.nvme) continue;
    // A stream never has more under way than the window, and seldom as many as a large one.
    for (const bool store : {false, true})
      chunks += std::min(64u, tiers::path_of(config, place, store).window);
    parts.add("host memory and NVMe", hosts * kHost + ranks * kHostPort);
  }
  parts.add("host memory and NVMe", ranks * chunks * kTierChunk);
}

/// Directions of links, each of which has a row in the results.
double link_rows(const Config& config) {
  double rows = 0;
  if (config.host_memory)
    rows += 2.0 * config.host_memory->hosts(config.npus()) *
            (config.host_memory->links_of_host(config.npus()) + (config.nvme ? 1.0 : 0.0));
  if (config.graph != nullptr) return rows + 2.0 * static_cast<double>(config.graph->spec().links.size());
  for (const DimensionConfig& d : config.fabric_dimensions())
    rows += static_cast<double>(directed_links(d, config.npus()));
  if (config.memory_pool && !config.memory_pool->as_flows()) {
    const PoolCounts pool(config);
    rows += 2 * (pool.npus + pool.groups * pool.group_ports + pool.between);
  }
  return rows;
}

void add_machine(Parts& parts, const Config& config, double ranks, double folded, bool npus) {
  parts.add("the program", kProgram);
  const bool memories = npus || config.collectives.reduction == ReductionKind::hbm;
  parts.add(kNpus, ranks * (kNmu + (memories ? kNpu : 0)));
  if (npus) add_tiers(parts, config, ranks);
  parts.add("folded ranks", (config.npus() - ranks) * kFoldedRank);
  if (config.graph != nullptr) {
    add_ways(parts, *config.graph);
    add_graph(parts, config);
  }
  if (npus && config.memory_pool) add_pool(parts, config);
  for (const DimensionConfig& d : config.fabric_dimensions())
    if (d.tree != nullptr) add_ways(parts, d.tree->graph());
  // Planes of rules share what they have alike.
  const graph::FidelityRules rules(config);
  std::vector<std::vector<uint32_t>> regions;
  std::vector<std::pair<uint32_t, Fidelity>> built;
  for (uint32_t p = 0; p < rules.planes(); ++p) {
    const Config& plane = rules.plane(p);
    const std::vector<DimensionConfig>& dimensions = plane.fabric_dimensions();
    for (uint32_t d = 0; d < dimensions.size(); ++d) {
      const std::pair<uint32_t, Fidelity> key{d, dimensions[d].fidelity};
      if (dimensions[d].size <= 1 || carrier_of(dimensions[d]) == Carrier::packets ||
          std::find(built.begin(), built.end(), key) != built.end())
        continue;
      built.push_back(key);
      add_dimension(parts, plane, dimensions[d], d, ranks, folded);
    }
    for (const std::vector<uint32_t>& region : packet_regions(plane)) {
      if (ranks == folded || std::find(regions.begin(), regions.end(), region) != regions.end()) continue;
      regions.push_back(region);
      add_region(parts, plane, region);
    }
  }
}

/// Packets that fit on the wires of an NPU's links, both directions.
double packets_on_wires(const Config& config) {
  const auto packet = static_cast<double>(smallest_packet(config));
  const auto on_wire = [&](const Rate& rate, Picoseconds latency) {
    return 2 * (1 + rate.value() * static_cast<double>(latency) * 1e-12 / packet);
  };
  double packets = 0;
  if (config.graph != nullptr && carrier_of(*config.graph) == Carrier::packets) {
    for (const GraphLink& link : config.graph->spec().links) packets += on_wire(link.rate(), link.latency);
    packets /= config.npus();
  }
  const std::vector<DimensionConfig>& all = config.fabric_dimensions();
  for (const std::vector<uint32_t>& region : packet_regions(config)) {
    for (const uint32_t d : region) {
      const double links = Shape(all[d]).links();
      const double levels = all[d].tree != nullptr ? all[d].tree->levels() : 1;
      packets += links * levels * on_wire(all[d].link_rate(), all[d].latency);
    }
  }
  return packets;
}

/// What runs: `ranks` of them at once.
void add_size(Parts& parts, const Config& config, const collectives::PlanSize& size, double ranks) {
  const auto& dimensions = config.fabric_dimensions();
  const bool last_links = std::any_of(dimensions.begin(), dimensions.end(), [](const DimensionConfig& d) {
    return d.size > 1 && carrier_of(d) == Carrier::direct;
  });
  parts.add("chunks of collectives", ranks * size.chunks * kChunk);
  parts.add("messages on their way", ranks * size.messages * (last_links ? kAnalyticalMessage : kMessage));
  parts.add(kSwitches, ranks * size.blocks * kBlock);
  const graph::FidelityRules rules(config);
  double packets = 0;
  for (uint32_t p = 0; p < rules.planes(); ++p) packets = std::max(packets, packets_on_wires(rules.plane(p)));
  packets = std::min(packets, size.bytes / static_cast<double>(smallest_packet(config)));
  parts.add("packets on their way", ranks * packets * kPacket);
}

/// What a job needs beside its machine.
void add_job(Parts& parts, const Config& config, const graph::CheckedJob& job) {
  const graph::Folding& folding = job.folding();
  const trace::JobTrace& traces = job.traces();
  const graph::JobSize& size = job.size();
  add_size(parts, config, size.of_a_rank,
           static_cast<double>(folding.classes().size()) + static_cast<double>(folding.whole().size()));
  double nodes = 0;  // of built ranks
  for (uint32_t r = 0; r < traces.npus(); ++r)
    if (folding.built(r)) nodes += traces.index(r).size();
  parts.add(kOfTraces, static_cast<double>(traces.index_bytes()) + traces.npus() * kTraceRank +
                           std::min(nodes * kTraceNode, kTraceWindow));
  parts.add(kResults, traces.npus() * kRankRow + size.collectives * kCollectiveRow + size.phases * kPhase);
  parts.add("elements (run.data)", size.data_bytes);
}

}  // namespace

double MemoryEstimate::bytes() const {
  double sum = 0;
  for (const Part& part : parts) sum += part.bytes;
  return sum;
}

MemoryEstimate machine_memory(const Config& config, double ranks, double folded, bool npus) {
  Parts parts;
  add_machine(parts, config, ranks, folded, npus);
  return parts.get();
}

MemoryEstimate pool_memory(const Config& config, PoolOperation operation, uint64_t bytes, uint32_t npus) {
  Parts parts;
  add_machine(parts, config, config.npus(), 0, false);
  if (!config.memory_pool) return parts.get();
  add_pool(parts, config);
  const MemoryPoolConfig& pool = *config.memory_pool;
  const PoolCounts counts(config);
  const double size = static_cast<double>(bytes);
  const double chunks = std::max(1.0, size / static_cast<double>(pool.chunk)) * npus;
  const bool all = in_switch(operation);
  if (pool.as_flows()) {
    parts.add(kPool, 0);
  } else if (pool.split == PoolSplit::whole && (all || !stores(operation))) {
    parts.add(kPool, chunks * kPoolChunk);
  } else if (!counts.folded && !all) {
    const double shares = counts.groups * (pool.upper.empty() ? 1 : pool.ways());
    parts.add(kPool, npus * std::min(shares, size) * kPoolShare);
  }
  if (config.run.data != "none") {  // at NPUs and in groups, with a flag a byte's eighth
    const double tensor = all ? size * npus : size;
    const double copies = operation == PoolOperation::gather_load ? npus + 1 : all ? 2 : 2.0 * npus;
    parts.add("elements (run.data)", tensor * copies * 1.125);
  }
  return parts.get();
}

MemoryEstimate least_memory(const Config& config, bool fold) {
  const bool folds = fold && config.output.waves.empty() && graph::folding_refusal(config).empty();
  Parts parts;
  add_machine(parts, config, folds ? 1 : config.npus(), folds ? 1 : 0, true);
  parts.add(kOfTraces, kTraces + config.npus() * kTraceRank);
  parts.add(kResults, config.npus() * kRankRow + link_rows(config) * kLinkRow);
  return parts.get();
}

MemoryEstimate job_memory(const Config& config, const graph::CheckedJob& job) {
  const graph::Folding& folding = job.folding();
  const auto folded = static_cast<double>(folding.classes().size());
  const double ranks = folded + static_cast<double>(folding.whole().size());
  Parts parts;
  add_machine(parts, config, job.ranks().whole() ? ranks : config.npus(), folded, true);
  parts.add(kOfTraces, kTraces);
  parts.add(kResults, link_rows(config) * kLinkRow);
  add_job(parts, config, job);
  return parts.get();
}

MemoryEstimate jobs_memory(const Config& config, const std::vector<const graph::CheckedJob*>& jobs) {
  Parts parts;
  add_machine(parts, config, config.npus(), 0, true);
  parts.add(kOfTraces, kTraces);
  parts.add(kResults, link_rows(config) * kLinkRow);
  for (const graph::CheckedJob* job : jobs) add_job(parts, config, *job);
  return parts.get();
}

MemoryEstimate collective_memory(const Config& config, bool folded, const collectives::PlanSize& size,
                                 double data) {
  const double ranks = folded ? 1 : config.npus();
  Parts parts;
  add_machine(parts, config, ranks, folded ? 1 : 0, false);
  add_size(parts, config, size, ranks);
  parts.add("elements (run.data)", data);
  return parts.get();
}

MemoryEstimate network_memory(const packet::PacketTopology& topology, const packet::PacketConfig& network,
                              uint32_t packet_flits, double copies) {
  const double vcs = network.total_vcs();
  PacketCounts counts;
  double flits = 0;  // on wires and in buffers
  for (const packet::TopologyRouter& router : topology.routers) {
    counts.add_router(copies, static_cast<double>(router.ports.size()));
    for (const packet::TopologyPort& port : router.ports) {
      const packet::LinkTiming& link = topology.links[port.link];
      const Ticks time = link.flit_time == 0 ? network.cycle : link.flit_time;
      flits += vcs * network.buffer_flits + static_cast<double>(link.latency) / static_cast<double>(time);
    }
  }
  counts.interfaces = copies * static_cast<double>(topology.nis.size());
  Parts parts;
  parts.add("packets on their way", copies * flits / packet_flits * kPacket);
  parts.add("the program", kProgram * (1 + copies / 4));
  add_counts(parts, vcs, counts);
  return parts.get();
}

}  // namespace weft
