// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Relations between the keys of `memory.pool`, and with the machine's dimensions.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "configs/blueprint/shape.h"
#include "configs/graph.h"
#include "configs/loading/resolution.h"
#include "configs/units.h"

namespace weft::loading {
namespace {

class PoolRules {
 public:
  PoolRules(Resolution& r, MemoryPoolConfig& pool) : r_(r), pool_(pool) {}

  void resolve() {
    if (r_.config.remote_memory)
      complain(
          "design",
          "`memory.pool` is given beside `remote_memory`, and remote accesses can only go to one of them; "
          "take one of the two out");
    check_design_keys();
    check_share();
    if (pool_.in_node_bandwidth.bytes_per_second == 0) {
      if (!pool_.share && !broken("in_node_bandwidth"))
        complain("in_node_bandwidth",
                 "missing; add it: the bandwidth of the link between an NPU and its in-node "
                 "switch, for example `256 GB/s`");
      pool_.in_node_bandwidth = Rate{1, 1};
    }
    if (pool_.out_node_bandwidth.bytes_per_second == 0) pool_.out_node_bandwidth = pool_.in_node_bandwidth;
    if (pool_.capacity != 0 && pool_.chunk > pool_.capacity)
      complain("chunk",
               fmt::format("a chunk of {} is more than a group holds (`memory.pool.capacity`: {}); use "
                           "a smaller chunk or larger groups",
                           print_size(pool_.chunk), print_size(pool_.capacity)));
    const uint32_t npus = r_.config.npus();
    if (!r_.config.dimensions.empty() && npus % pool_.nodes != 0)
      complain("nodes", fmt::format("{} nodes do not divide the machine's {} NPUs; allowed: a divisor of {}",
                                    pool_.nodes, npus, npus));
    if (pool_.as_flows() && (pool_.share || pool_.design == PoolDesign::graph))
      complain("fidelity",
               fmt::format("'{}': the pool shares links ({}) at `message` or `packet` fidelity, where "
                           "collectives and chunks wait for each other; write the fidelity of these links",
                           to_string(pool_.fidelity), pool_.share ? "`share`" : "`design: graph`"));
    if (pool_.group_memory != kDefaultMemoryModel && pool_.fidelity == Fidelity::analytical)
      complain(
          "group_memory",
          fmt::format("'{}': at analytical fidelity groups have no memory, only their bandwidth; take the "
                      "key out, or write `fidelity: message`",
                      pool_.group_memory));
    resolve_design();
  }

 private:
  std::string path(const char* key) const { return std::string("memory.pool.") + key; }
  bool written(const char* key) const { return r_.find(path(key).c_str()) != nullptr; }
  bool broken(const char* key) const { return r_.raw.broken.count(find_key(path(key))) != 0; }
  void complain(const char* key, const std::string& what) { r_.complain(path(key), what); }

  /// Keys of another design.
  void check_design_keys() {
    // The effective configuration has all keys: a default is no contradiction.
    const auto only = [&](const char* key, PoolDesign design) {
      if (!written(key) || pool_.design == design || is_default(key)) return;
      complain(key,
               fmt::format("is of `design: {}`, and the design is {}; take the key out or change the design",
                           to_string(design), to_string(pool_.design)));
    };
    only("levels", PoolDesign::multi_level);
    only("shape", PoolDesign::mesh);
    only("placement", PoolDesign::mesh);
    only("wraparound", PoolDesign::mesh);
    if (pool_.design == PoolDesign::multi_level && !pool_.levels.empty() && !is_default("out_switches"))
      complain("out_switches", "`levels` says how many switches there are; take one of the two keys out");
    if (pool_.design == PoolDesign::graph) check_graph();
  }

  bool is_default(const char* key) const {
    const RawValue* const raw = r_.find(path(key).c_str());
    return raw == nullptr || raw->value == default_of(*find_key(path(key)));
  }

  /// The graph has the nodes and links.
  void check_graph() {
    if (r_.config.graph == nullptr) {
      complain("design", "'graph' needs `topology.graph`; add it or choose another design");
      return;
    }
    for (const char* const key : {"nodes", "out_switches", "latency"})
      if (!is_default(key))
        complain(key,
                 "`topology.graph` has the nodes and links of a pool of `design: graph`; "
                 "take the key out");
    for (const char* const key : {"out_node_bandwidth", "in_node_bandwidth"})
      if (written(key) && !(std::get<Rate>(r_.find(path(key).c_str())->value) == pool_.group_bandwidth))
        complain(key, "`topology.graph` has the links of a pool of `design: graph`; take the key out");
    const GraphSpec& spec = r_.config.graph->spec();
    if (!pool_.as_flows() && (spec.fidelity != pool_.fidelity || spec.implementation != "crossbar"))
      complain("design",
               fmt::format("'graph' shares the links of `topology.graph`, which has to be at the pool's "
                           "fidelity with `crossbar` switches: it is at `{}` fidelity with `{}`, and "
                           "`memory.pool.fidelity` is `{}`",
                           to_string(spec.fidelity), spec.implementation, to_string(pool_.fidelity)));
    uint32_t groups = 0;
    for (const std::string& name : r_.config.graph->spec().switches)
      groups += name.size() > 6 && name.compare(0, 6, "memory") == 0 &&
                name.find_first_not_of("0123456789", 6) == std::string::npos;
    if (groups == 0)
      complain("design",
               "'graph' needs memory groups: call switches of `topology.graph` `memory0`, `memory1`, .., "
               "each with one link");
    else if (!is_default("groups") && pool_.groups != groups)
      complain("groups",
               fmt::format("{} groups, but `topology.graph` has {} switches that are called `memory` and a "
                           "number; take the key out",
                           pool_.groups, groups));
    pool_.groups = std::max(1u, groups);
    pool_.in_node_bandwidth = pool_.group_bandwidth;
  }

  void check_share() {
    if (!pool_.share || r_.config.dimensions.empty()) return;
    const std::vector<DimensionConfig>& dimensions = r_.config.fabric_dimensions();
    if (r_.config.graph != nullptr || *pool_.share >= dimensions.size()) {
      complain("share", fmt::format("the machine has no dimension {}; it has {}", *pool_.share,
                                    r_.config.graph != nullptr ? 0 : dimensions.size()));
      return;
    }
    const DimensionConfig& d = dimensions[*pool_.share];
    const bool same = pool_.as_flows() || d.fidelity == pool_.fidelity;
    if (!Shape(d).has_crossbar() || !same || d.implementation != kDefaultSwitchModel ||
        r_.config.remapped()) {
      complain(
          "share",
          fmt::format("dimension {} ({}, {} fidelity) has no switches that a pool at {} fidelity can "
                      "share; allowed: a Switch dimension at the pool's fidelity "
                      "(`memory.pool.fidelity`), `message` or `packet`, with `crossbar` switches, on a "
                      "machine without `logical` and `mapping`",
                      *pool_.share, print_dimension(d), to_string(d.fidelity), to_string(pool_.fidelity)));
      return;
    }
    if (pool_.as_packets()) check_shared_packets(dimensions);
    if (r_.config.npus() / pool_.nodes != d.size || r_.config.npus() % pool_.nodes != 0)
      complain("nodes",
               fmt::format("{} nodes have not {} NPUs each, as the lines of the shared dimension {} have; "
                           "write {}",
                           pool_.nodes, d.size, *pool_.share, r_.config.npus() / d.size));
    if (written("in_node_bandwidth") && !(pool_.in_node_bandwidth == d.link_rate()))
      complain("in_node_bandwidth",
               fmt::format("the links are those of dimension {} (`share`), at {}; take the key out",
                           *pool_.share, print_bandwidth(d.link_rate())));
    pool_.in_node_bandwidth = d.link_rate();
  }

  /// One packet network joins all NPUs, and the pool to them.
  void check_shared_packets(const std::vector<DimensionConfig>& dimensions) {
    for (uint32_t i = 0; i < dimensions.size(); ++i) {
      const DimensionConfig& d = dimensions[i];
      if (d.size > 1 && d.fidelity != Fidelity::packet)
        complain("share",
                 fmt::format("dimension {} ({}) is at {} fidelity; a pool at packet fidelity shares links "
                             "where all dimensions are at `packet` fidelity, as one network",
                             i, print_dimension(d), to_string(d.fidelity)));
    }
    const std::string& routing = r_.config.packet.routing;
    if (routing != "auto" && routing != "dimension_order" && routing != "minimal_adaptive")
      complain("share",
               fmt::format("`packet.routing: {}` might send collectives through the switches of the pool; "
                           "allowed with `share`: auto, dimension_order, minimal_adaptive",
                           routing));
  }

  void resolve_design() {
    switch (pool_.design) {
      case PoolDesign::hierarchical:
        pool_.upper = {{pool_.out_switches, pool_.out_node_bandwidth}};
        break;
      case PoolDesign::multi_level:
        resolve_levels();
        break;
      case PoolDesign::mesh:
        resolve_mesh();
        break;
      default:
        break;
    }
  }

  void resolve_levels() {
    try {
      pool_.upper = parse_pool_levels(
          pool_.levels.empty() ? std::to_string(pool_.out_switches) : pool_.levels, pool_.out_node_bandwidth);
    } catch (const UserError& e) {
      complain("levels", e.what());
    }
  }

  void resolve_mesh() {
    const uint64_t all =
        pool_.placement == PoolPlacement::edge ? pool_.nodes : uint64_t{pool_.nodes} + pool_.groups;
    if (pool_.shape.empty()) {
      pool_.height = static_cast<uint32_t>(std::sqrt(static_cast<double>(all)));
      if (pool_.placement == PoolPlacement::edge) {
        pool_.height = pool_.groups / 2;
      } else {
        while (all % pool_.height != 0) --pool_.height;
      }
      pool_.width = pool_.height == 0 ? 0 : static_cast<uint32_t>(all / pool_.height);
    } else {
      try {
        parse_pool_shape(pool_.shape, pool_.width, pool_.height);
      } catch (const UserError& e) {
        complain("shape", e.what());
        return;
      }
    }
    if (uint64_t{pool_.width} * pool_.height != all)
      complain("shape", fmt::format("{}x{} has {} places, and {} need {}", pool_.width, pool_.height,
                                    uint64_t{pool_.width} * pool_.height,
                                    pool_.placement == PoolPlacement::edge
                                        ? fmt::format("{} nodes", pool_.nodes)
                                        : fmt::format("{} nodes and {} groups", pool_.nodes, pool_.groups),
                                    all));
    else if (pool_.placement == PoolPlacement::edge && pool_.groups != 2 * pool_.height)
      complain("groups",
               fmt::format("{} groups are not one at each end of {} rows; write {}, or another `shape`",
                           pool_.groups, pool_.height, 2 * pool_.height));
  }

  Resolution& r_;
  MemoryPoolConfig& pool_;
};

}  // namespace

void resolve_pool(Resolution& r) {
  if (r.config.memory_pool) PoolRules(r, *r.config.memory_pool).resolve();
}

}  // namespace weft::loading
