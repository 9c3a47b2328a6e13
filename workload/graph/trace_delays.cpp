// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/graph/trace_delays.h"

#include <map>
#include <utility>

#include "workload/graph/fidelity_rules.h"

namespace weft::graph {
namespace {

constexpr uint64_t kReadWindow = 1u << 20;  ///< bytes of a trace that are kept while it is read

/// The ranks that are a group's first member, and their groups.
std::map<uint32_t, std::vector<bool>> first_members(const trace::Groups& groups) {
  std::map<uint32_t, std::vector<bool>> first;
  for (trace::GroupId g = 0; g < groups.size(); ++g) {
    const auto& ranks = groups.ranks(g);
    std::vector<bool>& own = first[g == trace::kWorld || ranks.empty() ? 0 : ranks[0]];
    own.resize(groups.size());
    own[g] = true;
  }
  return first;
}

}  // namespace

TraceDelays trace_delays(const trace::JobTrace& traces, collectives::DelayRules& rules) {
  TraceDelays delays;
  if (!rules.any()) return delays;
  const trace::Groups& groups = traces.groups();
  for (const auto& [rank, own] : first_members(groups)) {
    const trace::TraceIndex& index = traces.index(rank);
    // A file need not be in the order of ordinals.
    std::map<std::pair<trace::GroupId, uint32_t>, trace::NodeIndex> nodes;
    trace::NodeCache cache = index.open_cache(kReadWindow);
    trace::Node node;
    for (trace::NodeIndex i = 0; i < index.size(); ++i) {
      if (index.type(i) != trace::NodeType::comm_coll) continue;
      index.decode(cache, i, node);
      const auto group = groups.find(node.pg_name);
      if (node.has_comm_type && group && own[*group]) nodes[{*group, node.ordinal}] = i;
    }
    for (const auto& [place, i] : nodes) {
      index.decode(cache, i, node);
      const Picoseconds delay = rules.next(
          place.first, {node.op, node.comm_size, groups.name(place.first), node.name, iteration_of(node)});
      if (delay != 0) delays[traces.collectives().number(place.first, place.second)] = delay;
    }
  }
  return delays;
}

}  // namespace weft::graph
