// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The coarsest partition of a job's ranks into classes that behave alike. Ranks of a class have equal
// digests; the k-th peer of one is of the class of the k-th peer of any other, and they are those peers'
// m-th peer with the same m; all members of a collective are of one class, or each of another one and at the
// same place for all ranks of its class. So a rank of a class cannot tell which one it is, whatever it is
// sent: its state is at every instant that of the others.

#ifndef WEFT_WORKLOAD_GRAPH_FOLDING_PARTITION_H
#define WEFT_WORKLOAD_GRAPH_FOLDING_PARTITION_H

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "configs/config.h"
#include "workload/graph/folding/analysis.h"
#include "workload/graph/folding/mixed_groups.h"
#include "workload/graph/folding/peer_ways.h"
#include "workload/graph/folding/rank_use.h"

namespace weft::graph {

class Partition {
 public:
  /// Of all ranks. All outlive the object.
  Partition(const Config& config, const std::vector<RankUse>& ranks, Analysis& analysis);

  /// Why the rank's component does not fold; empty: it does.
  const std::string& reason(uint32_t rank) { return reasons_[analysis_.components().find(rank)]; }
  /// The ranks of each class whose components fold and that has two ranks or more; ascending.
  std::vector<std::vector<uint32_t>> classes();
  /// The rank is joined with others by mixed groups: so are the first ranks of their classes.
  bool joined(uint32_t rank) { return joined_[analysis_.components().find(rank)]; }
  /// Of a rank of such a class: CollectivePlan::LinkImages.
  uint32_t exchanges(uint32_t rank) const { return exchanges_[colours_[rank]]; }
  /// `rank` is the peer's peer number so-and-so.
  uint32_t place_at(uint32_t rank, uint32_t peer) const { return places_.at(key(peer, rank)); }

 private:
  static uint64_t key(uint32_t rank, uint32_t peer) { return uint64_t{rank} << 32 | peer; }
  void refine();
  void find_reasons();
  void check_links();
  void check_mixed();
  bool closed(uint32_t rank, const std::vector<uint32_t>& firsts) const;

  const std::vector<RankUse>& ranks_;
  Analysis& analysis_;
  PeerWays ways_;
  MixedGroups mixed_;
  const uint32_t dimensions_;
  const Config& config_;
  std::unordered_map<uint64_t, uint32_t> places_;  ///< by rank and peer: which of the rank's peers it is
  std::vector<uint32_t> colours_;                  ///< by rank: its class
  std::vector<uint32_t> exchanges_;                ///< by colour
  std::vector<std::string> reasons_;               ///< by the component's lowest rank
  std::vector<bool> joined_;                       ///< likewise
};

}  // namespace weft::graph

#endif
