// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/graph/folding/library_nodes.h"

#include <algorithm>
#include <map>

#include "configs/blueprint/carrier.h"
#include "workload/library/communication_library.h"

namespace weft::graph {

std::string LibraryNodes::folding_refusal(const Config& config) {
  if (!config.collectives.library.on()) return {};
  if (!config.fidelity_rules.empty()) return "a communication library's calls have fidelity rules";
  const bool closed = std::all_of(config.dimensions.begin(), config.dimensions.end(), [](const auto& d) {
    return d.size <= 1 || carrier_of(d) == Carrier::direct;
  });
  if (!closed) return "a communication library's calls send messages";
  // Lines of a collective that runs in some dimensions only lie alike in nodes that are made of whole
  // dimensions, and of a divisor of the next one.
  uint32_t node = library::LibraryMachine::of(config).gpus_per_node;
  for (const DimensionConfig& d : config.dimensions) {
    if (node % d.size != 0)
      return d.size % node == 0 ? "" : "the library's nodes are not made of whole dimensions";
    node /= d.size;
  }
  return {};
}

LibraryNodes::LibraryNodes(const Config& config) {
  if (config.collectives.library.on()) per_node_ = library::LibraryMachine::of(config).gpus_per_node;
}

void LibraryNodes::describe(const trace::Groups& groups, trace::GroupId group, Digest& digest) const {
  if (!on()) return;
  std::map<uint32_t, uint32_t> members;
  for (const uint32_t rank : groups.ranks(group)) ++members[rank / per_node_];
  for (const auto& [node, count] : members) digest.add(count);
}

void LibraryNodes::describe(uint32_t rank, uint32_t peer, Digest& digest) const {
  if (on()) digest.add(rank / per_node_ == peer / per_node_);
}

}  // namespace weft::graph
