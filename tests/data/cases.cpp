// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tests/data/cases.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "workload/collectives/elements.h"

namespace weft::test {

const char* to_string(GroupShape shape) {
  switch (shape) {
    case GroupShape::all:
      return "all";
    case GroupShape::grid:
      return "grid";
    case GroupShape::line:
      return "line";
    case GroupShape::irregular:
      return "irregular";
  }
  return "?";
}

std::string DataCase::text() const {
  std::string machine;
  for (const DimensionConfig& d : config.dimensions) {
    machine +=
        fmt::format("{}{}/{}", machine.empty() ? "" : "_", print_dimension(d), weft::to_string(d.fidelity));
  }
  return fmt::format(
      "{} {} {} B {} {} root {} dims {:x} chunks {} active {} queues {} window {} order {} "
      "algorithms [{}] group [{}]",
      machine, weft::to_string(request.op), request.bytes, config.run.element, config.run.reduce,
      request.root, request.involved_dimensions & 0xfu, config.collectives.chunks,
      config.collectives.active_chunks_per_dimension, config.collectives.queues_per_dimension,
      config.collectives.direct_window, weft::to_string(config.collectives.order),
      fmt::join(config.collectives.algorithms[static_cast<int>(request.op)], ", "),
      fmt::join(group.ranks, " "));
}

std::vector<std::string> algorithms_for(CollectiveOp op, uint32_t n) {
  std::vector<std::string> names;
  for (const collectives::Algorithm* a : collectives::all_algorithms()) {
    if (a->refuses(op, n).empty()) names.emplace_back(a->name());
  }
  return names;
}

Config machine(const std::vector<DimensionKind>& kinds, const std::vector<uint32_t>& sizes,
               Fidelity fidelity) {
  Config config;
  for (size_t d = 0; d < kinds.size(); ++d) {
    DimensionConfig dimension;
    dimension.kind = kinds[d];
    dimension.size = sizes[d];
    dimension.bandwidth = {(50 + 37 * d) * 1000000000ull, 1};
    dimension.latency = 500000 + 130000 * d;
    dimension.fidelity = fidelity;
    config.dimensions.push_back(dimension);
  }
  config.run.data = "functional";
  return config;
}

void set_packets(Config& config, std::mt19937_64& random) {
  PacketFabricConfig& p = config.packet;
  static const uint64_t kPackets[] = {64, 100, 256, 4096};
  p.packet_bytes = kPackets[random() % 4];
  p.flit_bytes = random() % 3 == 0 ? 32 : 16;
  p.header_bytes = random() % 3 == 0 ? 8 : 0;
  p.vcs = 2 + static_cast<uint32_t>(random() % 4);
  p.virtual_networks = 1 + static_cast<uint32_t>(random() % 2);
  p.collectives_network = p.virtual_networks - 1;
  if (random() % 3 == 0) p.buffer_flits = 1 + static_cast<uint32_t>(random() % 40);
  p.switching = static_cast<FlitSwitchingKind>(random() % 2);
  if (p.buffer_flits == 0) p.strict_cut_through = random() % 4 == 0;
  static const char* const kClasses[] = {"dateline", "switched_dateline", "bubble"};
  p.vc_classes = kClasses[random() % (p.strict_cut_through ? 3 : 2)];
  p.forwarding = static_cast<PacketForwarding>(random() % 4 == 0);
  p.injection = static_cast<PacketInjection>(random() % 2);
  if (random() % 4 == 0) p.cycle = 1000;
  if (random() % 4 == 0) p.routing = random() & 1 ? "up_down" : "dimension_order";
  if (random() % 4 == 0) p.selection = "random";
}

TreeNotation tree_of(uint32_t n) {
  TreeNotation tree;
  if (n == 4 || n == 8) {
    tree.k = 2;
    tree.n = n == 4 ? 2 : 3;
    return tree;
  }
  tree.kind = TreeNotation::Kind::clos;
  while (tree.leaves < n && (n % ++tree.leaves != 0)) {
  }
  tree.hosts = n / tree.leaves;
  tree.spines = 2;
  return tree;
}

TreeNotation random_tree(uint32_t most, std::mt19937_64& random) {
  TreeNotation tree;
  do {
    if (random() & 1) {
      tree.kind = TreeNotation::Kind::fat_tree;
      tree.k = 2 + static_cast<uint32_t>(random() % 2);
      tree.n = 1 + static_cast<uint32_t>(random() % 3);
    } else {
      tree.kind = TreeNotation::Kind::clos;
      tree.hosts = 1 + static_cast<uint32_t>(random() % 4);
      tree.leaves = 1 + static_cast<uint32_t>(random() % 4);
      tree.spines = 1 + static_cast<uint32_t>(random() % 3);
    }
  } while (tree.npus() > most);
  return tree;
}

void make_random_tree(DimensionConfig& dimension, const TreeNotation& tree, std::mt19937_64& random) {
  make_tree(dimension, tree);
  std::vector<TreeLevel> above;
  for (uint32_t l = 1; l < tree.levels(); ++l) {
    above.push_back(dimension.tree->level(l));
    if (random() & 1) above.back().bandwidth = {(10 + random() % 90) * 1000000000ull, 1};
    if (random() & 1) above.back().latency = random() % 900000;
    above.back().count = 1 + static_cast<uint32_t>(random() % 3);
  }
  make_tree(dimension, tree, std::move(above));
}

std::vector<uint32_t> group_of(const Config& config, GroupShape shape, std::mt19937_64& random) {
  const uint32_t npus = config.npus();
  std::vector<uint32_t> ranks;
  const auto subset = [&](uint32_t n, uint32_t least) {
    std::vector<uint32_t> values(n);
    for (uint32_t i = 0; i < n; ++i) values[i] = i;
    std::shuffle(values.begin(), values.end(), random);
    values.resize(least + random() % (n - least + 1));
    std::sort(values.begin(), values.end());
    return values;
  };
  switch (shape) {
    case GroupShape::all:
      return {};
    case GroupShape::grid: {
      ranks = {0};
      uint32_t stride = 1;
      for (const DimensionConfig& d : config.dimensions) {
        std::vector<uint32_t> next;
        for (const uint32_t c : subset(d.size, 1)) {
          for (const uint32_t r : ranks) next.push_back(r + c * stride);
        }
        ranks = next;
        stride *= d.size;
      }
      break;
    }
    case GroupShape::line: {
      const size_t d = random() % config.dimensions.size();
      uint32_t stride = 1;
      for (size_t i = 0; i < d; ++i) stride *= config.dimensions[i].size;
      const auto base = static_cast<uint32_t>(random() % npus);
      const uint32_t foot = base - base / stride % config.dimensions[d].size * stride;
      for (const uint32_t c : subset(config.dimensions[d].size, 1)) ranks.push_back(foot + c * stride);
      break;
    }
    case GroupShape::irregular:
      ranks = subset(npus, std::min(npus, 2u));
      break;
  }
  if (random() & 1) std::shuffle(ranks.begin(), ranks.end(), random);
  return ranks;
}

void set_request(DataCase& c, CollectiveOp op, uint64_t elements, std::mt19937_64& random) {
  const uint32_t size = collectives::element_bytes(collectives::element_type(c.config.run.element));
  c.request.op = op;
  c.request.element_bytes = op == CollectiveOp::barrier ? 1 : size;
  c.request.bytes = elements * size;
  const auto& ranks = c.group.ranks;
  c.request.root =
      ranks.empty() ? static_cast<uint32_t>(random() % c.config.npus()) : ranks[random() % ranks.size()];
}

void choose_algorithms(DataCase& c, uint64_t pick, bool units) {
  auto& names = c.config.collectives.algorithms[static_cast<int>(c.request.op)];
  names.clear();
  // One in five: an algorithm of the whole operation on the flat line of all members.
  static const char* const kWhole[] = {"one_ring", "one_direct", "one_halving_doubling",
                                       "one_double_binary_tree"};
  const char* const whole = kWhole[pick / 5 % 4];
  const uint32_t members =
      c.group.ranks.empty() ? c.config.npus() : static_cast<uint32_t>(c.group.ranks.size());
  if (pick % 5 == 0 && collectives::find_flat_algorithm(whole)->refuses(c.request.op, members).empty()) {
    names.assign(c.config.dimensions.size(), whole);
    return;
  }
  uint32_t stride = 1;
  for (const DimensionConfig& d : c.config.dimensions) {
    std::set<uint32_t> coordinates;
    for (const uint32_t r : c.group.ranks) coordinates.insert(r / stride % d.size);
    const uint32_t n = c.group.ranks.empty() ? d.size : static_cast<uint32_t>(coordinates.size());
    auto allowed = algorithms_for(c.request.op, n);
    if (c.request.op == CollectiveOp::all_reduce && c.config.collectives.order != CollectiveOrder::baseline) {
      // It becomes reduce-scatters and all-gathers, too.
      const auto scatters = algorithms_for(CollectiveOp::reduce_scatter, n);
      allowed.erase(std::remove_if(allowed.begin(), allowed.end(),
                                   [&](const std::string& name) {
                                     return std::find(scatters.begin(), scatters.end(), name) ==
                                            scatters.end();
                                   }),
                    allowed.end());
    }
    if (units && d.kind == DimensionKind::switch_ && d.tree == nullptr &&
        collectives::in_switch_algorithm()->refuses(c.request.op, n).empty()) {
      allowed.emplace_back("in_switch");
    }
    names.push_back(allowed[pick % allowed.size()]);
    pick = pick / 7 + 1;
    stride *= d.size;
  }
}

DataCase random_case(std::mt19937_64& random, bool units) {
  static const DimensionKind kKinds[] = {DimensionKind::ring, DimensionKind::fully_connected,
                                         DimensionKind::switch_, DimensionKind::mesh};
  static const char* const kElements[] = {"fp32", "bf16", "int32"};
  static const char* const kReductions[] = {"sum", "max", "min"};
  DataCase c;
  const size_t dims = 1 + random() % 4;
  std::vector<DimensionKind> kinds;
  std::vector<uint32_t> sizes;
  std::map<size_t, TreeNotation> trees;
  uint32_t npus = 1;
  for (size_t d = 0; d < dims; ++d) {
    kinds.push_back(kKinds[random() % 4]);
    const uint32_t most = std::max(1u, std::min(9u, 48 / npus));
    sizes.push_back(1 + static_cast<uint32_t>(random() % most));
    if (kinds.back() == DimensionKind::switch_ && random() % 2 != 0)
      sizes.back() = trees.emplace(d, random_tree(std::max(most, 4u), random)).first->second.npus();
    npus *= sizes.back();
  }
  c.config = machine(kinds, sizes, Fidelity::analytical);
  for (const auto& [d, tree] : trees) make_random_tree(c.config.dimensions[d], tree, random);
  for (DimensionConfig& d : c.config.dimensions) {
    d.fidelity = static_cast<Fidelity>(random() % 3);
    d.switching = random() & 1 ? Switching::cut_through : Switching::store_and_forward;
  }
  set_packets(c.config, random);
  c.config.run.element = kElements[random() % 3];
  c.config.run.reduce = kReductions[random() % 3];
  c.config.run.seed = random();
  auto& k = c.config.collectives;
  k.chunks = 1 + static_cast<uint32_t>(random() % 7);
  k.active_chunks_per_dimension = 1 + static_cast<uint32_t>(random() % 3);
  k.queues_per_dimension = 1 + static_cast<uint32_t>(random() % 2);
  k.order = static_cast<CollectiveOrder>(random() % kCollectiveOrders);
  k.scheduling = static_cast<CollectiveScheduling>(random() % 3);
  k.dimension_scheduling = static_cast<DimensionScheduling>(random() % 4);
  if (random() % 4 == 0) k.dispatch_threshold = 1 + static_cast<uint32_t>(random() % 3);
  if (random() % 4 == 0) k.direct_window = 1 + static_cast<uint32_t>(random() % 3);
  if (random() % 3 == 0) {
    k.reduction = ReductionKind::fixed_bandwidth;
    k.reduction_bandwidth = {1600000000000ull, 1};
  }
  if (random() % 3 == 0) c.config.nmu.endpoint_delay = 10000;
  c.group.id = 1;
  c.group.name = "tested";
  c.group.ranks = group_of(c.config, static_cast<GroupShape>(random() % 4), random);
  const auto op = static_cast<CollectiveOp>(random() % kCollectiveOps);
  const uint64_t elements = random() % 3 == 0 ? random() % 12 : 1 + random() % 400;
  set_request(c, op, elements, random);
  if (random() % 4 == 0) c.request.involved_dimensions = static_cast<uint32_t>(random()) | 1;
  if (random() & 1) choose_algorithms(c, random(), units);
  // Small segments and buffers, so that collective units have something to order.
  for (DimensionConfig& d : c.config.dimensions) {
    CollectiveUnitConfig& unit = d.collective_unit;
    unit.segment = 64u << random() % 4;
    if (random() % 2 == 0) unit.buffer = unit.segment * (1 + random() % 3);
    if (random() % 3 == 0) unit.ingress_bandwidth = {30000000000ull, 1};
    if (random() % 3 == 0) unit.reduction_bandwidth = {200000000000ull, 1};
    if (random() % 3 == 0) unit.latency = 70000;
  }
  // Queues and directions of ASTRA-sim 1.0, and where collectives are put in order.
  k.scatter_dimensions = 1 + static_cast<uint32_t>(random() % 3);
  k.scheduling_scope = static_cast<SchedulingScope>(random() % 2);
  for (DimensionConfig& d : c.config.dimensions) {
    if (random() % 3 == 0) d.queues = 1 + static_cast<uint32_t>(random() % 4);
    if (random() % 4 == 0) d.direction = RingDirection::one_way;
    if (d.queues % 2 == 0 && d.queues != 0) d.phase_queues = static_cast<PhaseQueues>(random() % 2);
  }
  return c;
}

}  // namespace weft::test
