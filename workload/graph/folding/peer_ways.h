// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The ways of point-to-point messages, seen from one of their ends, so that ranks can be compared: ranks of a
// class must have ways of the same length, by the same links, and must never break a tie differently.

#ifndef WEFT_WORKLOAD_GRAPH_FOLDING_PEER_WAYS_H
#define WEFT_WORKLOAD_GRAPH_FOLDING_PEER_WAYS_H

#include <cstdint>
#include <string>
#include <vector>

#include "configs/blueprint/geometry.h"
#include "configs/config.h"
#include "workload/graph/folding/digest.h"
#include "workload/graph/folding/group_shapes.h"
#include "workload/graph/folding/rank_use.h"

namespace weft::graph {

inline constexpr const char* kNoOrderOfMessages =
    "a point-to-point message and one of a collective may come at one instant, and their senders' numbers "
    "are not in the same order at all ranks";

class PeerWays {
 public:
  /// `config` outlives the object.
  explicit PeerWays(const Config& config) : config_(config), geometry_(Geometry::of_fabric(config)) {}

  /// Adds the lengths and links of the ways between the rank and the peer, in both directions.
  void describe(uint32_t rank, uint32_t peer, Digest& digest) const;
  /// A message goes on at the NMU of another rank: it turns a corner, not all at `analytical` fidelity.
  bool passes_ranks(uint32_t from, uint32_t to) const;
  /// Compares the rank's peers with each other and with the members of its groups, when all of these are
  /// known: adds in which order their messages of one instant are taken, and refuses a rank that may take
  /// them in no certain order. Switches: only notes it (RankUse::kAround).
  void compare(uint32_t rank, GroupShapes& shapes, Digest& digest, RankUse& use) const;

  /// The first and the last dimension on the way from one rank to another.
  uint32_t first_dimension(uint32_t from, uint32_t to) const;
  uint32_t last_dimension(uint32_t from, uint32_t to) const;
  uint32_t coordinate(uint32_t rank, uint32_t dimension) const {
    return geometry_.coordinate(rank, dimension);
  }

 private:
  /// The link by which messages of the peer come to the rank. Equal links are equal values.
  uint64_t last_link(uint32_t rank, uint32_t peer) const;
  void compare_with_group(uint32_t rank, const Peer& peer, size_t place, const GroupShape& shape,
                          Digest& digest, RankUse& use) const;

  const Config& config_;
  const Geometry geometry_;
};

}  // namespace weft::graph

#endif
