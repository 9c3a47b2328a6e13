// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_WORKLOAD_GRAPH_FOLDING_RANK_USE_H
#define WEFT_WORKLOAD_GRAPH_FOLDING_RANK_USE_H

#include <cstdint>
#include <string>
#include <vector>

#include "workload/graph/folding/digest.h"
#include "workload/trace/groups.h"

namespace weft::graph {

/// Another rank that a rank exchanges point-to-point messages with.
struct Peer {
  uint32_t rank = 0;
  bool receives = false;  ///< the rank receives from it
};

/// What one rank's trace does. Ranks with equal digests run the same program on groups and peers that lie
/// alike on the machine, from the rank's own point of view.
struct RankUse {
  // How it uses a group, bits.
  static constexpr uint8_t kShared = 1;    ///< some collective is of all members
  static constexpr uint8_t kApart = 2;     ///< some collective tells its members apart
  static constexpr uint8_t kTogether = 4;  ///< some collective folds only if all its members are alike
  static constexpr uint8_t kAround = 8;    ///< the rank receives from a peer between two of its members
  static constexpr uint8_t kLines = 16;    ///< some collective is of a line of it, not of all members
  static constexpr uint8_t kRooted = 32;   ///< some collective has a root
  static constexpr uint8_t kAtOnce = 64;   ///< some collective does not wait for the one before it

  Digest::Value digest;
  std::vector<trace::GroupId> groups;  ///< by first use
  std::vector<uint8_t> group_uses;     ///< of each
  std::vector<uint64_t> first_uses;    ///< .. nodes before the first one that uses it
  uint64_t nodes = 0;
  Digest::Value labels;          ///< what its nodes are called, and their iterations
  bool misfit = false;           ///< some node cannot be run
  bool accesses_memory = false;  ///< some node loads or stores a tensor
  std::vector<Peer> peers;       ///< by first use
  std::string reason;            ///< it cannot fold, because; empty: it can
  std::string apart;             ///< why some collective tells its members apart; empty: none does
  // Bits by dimension, of the rank's collectives (CollectivePlan::LinkImages).
  uint32_t exchanges = 0;
  uint32_t shifts = 0;
  uint32_t uneven = 0;
  bool along_dimensions = true;  ///< all its messages
  bool passes_ranks = false;     ///< some message goes on at the NMU of a rank that is on its way

  void refuse(const std::string& why) {
    if (reason.empty()) reason = why;
  }
};

}  // namespace weft::graph

#endif
