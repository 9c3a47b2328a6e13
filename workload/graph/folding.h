// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Finds the ranks of a job that are identical from beginning to end, before anything runs: their traces have
// the same nodes, their collectives have identical members, and they exchange point-to-point messages with
// ranks that are identical, too. One of them is simulated, with mirrors in place of its peers, and its
// results are copied (docs/folding.md says why that is exact).

#ifndef WEFT_WORKLOAD_GRAPH_FOLDING_H
#define WEFT_WORKLOAD_GRAPH_FOLDING_H

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "configs/blueprint/link_images.h"
#include "configs/config.h"
#include "workload/graph/folding/replicas.h"
#include "workload/trace/groups.h"
#include "workload/trace/workload_check.h"

namespace weft::graph {

class Partition;
struct RankUse;

class Folding {
 public:
  /// Identical ranks. Their communicator groups differ, but the n-th group that one uses corresponds to
  /// the n-th that any other uses.
  struct Class {
    struct Share {
      trace::GroupId group;
      uint32_t ranks;  ///< of this class in the group
    };
    std::vector<uint32_t> ranks;             ///< ascending, at least two; the first is simulated
    std::vector<trace::GroupId> own;         ///< the first one's groups, by first use
    std::vector<std::vector<Share>> groups;  ///< all that correspond to own[i]
    /// Bit d: rank r uses the link to peer p of FullyConnected dimension d as the first uses the one to
    /// p ^ r ^ first (coordinates), not as the one to p - r + first.
    uint32_t exchanges = 0;

    uint32_t representative() const { return ranks.front(); }
    /// All groups that correspond to this one of the representative's.
    const std::vector<Share>& like(trace::GroupId group) const;
  };

  /// A point-to-point message from a simulated rank, and what it stands for at the rank that is simulated for
  /// its receiver.
  struct Image {
    uint32_t from = 0;
    uint32_t to = 0;
    uint32_t source = 0;       ///< whose message it is there
    uint32_t destination = 0;  ///< simulated
  };

  /// Looks through all traces. Throws UserError when a collective's plan cannot be made.
  Folding(const Config& config, const trace::JobTrace& traces);
  /// Every rank is simulated, because `why`.
  Folding(const trace::JobTrace& traces, const std::string& why);

  const std::vector<Class>& classes() const { return classes_; }
  /// The class of a rank; nullptr: it is simulated itself.
  const Class* of(uint32_t rank) const {
    return class_of_[rank] == kNone ? nullptr : &classes_[class_of_[rank]];
  }
  /// The rank whose results this one's are copied from.
  uint32_t representative(uint32_t rank) const {
    const Class* c = of(rank);
    return c == nullptr ? rank : c->representative();
  }
  /// True if the machine has modules for this rank.
  bool built(uint32_t rank) const { return representative(rank) == rank; }
  /// Ranks that one simulated rank stands for, itself included.
  uint32_t times(uint32_t rank) const {
    const Class* c = of(rank);
    return c == nullptr ? 1 : static_cast<uint32_t>(c->ranks.size());
  }
  /// Ranks that are simulated themselves, ascending.
  const std::vector<uint32_t>& whole() const { return whole_; }
  /// The first rank of every class, ascending.
  std::vector<uint32_t> representatives() const;
  /// Of all point-to-point messages of ranks that stand for others; either end may send.
  const std::vector<Image>& images() const { return images_; }
  /// Of representatives(), those that take part in collectives with each other, ascending. They exchange
  /// point-to-point messages among themselves, too.
  const std::vector<uint32_t>& joined() const { return joined_; }
  /// For a rank that is simulated itself: true if one member may run a single collective for all. It may
  /// where every message that can reach the rank comes along one dimension, and nothing else forbids folding.
  bool along_dimensions(uint32_t rank) const { return along_dimensions_[rank]; }
  /// How a rank uses its links, next to the one that is simulated for it.
  LinkImages link_images(uint32_t rank) const;
  /// Where no rank folds, all dimensions are Switches at `message` fidelity, and no fidelity rule moves a
  /// message: ranks that are identical at first.
  const Replicas& replicas() const { return replicas_; }
  /// .. groups with links of their own (own_links()).
  bool has_own_links(trace::GroupId group) const { return group < own_links_.size() && own_links_[group]; }
  /// Some group has.
  bool has_own_links() const { return !own_links_.empty(); }
  /// Why ranks are simulated themselves, and how many.
  const std::map<std::string, uint32_t>& reasons() const { return reasons_; }

 private:
  static constexpr uint32_t kNone = ~0u;

  static Class make_class(std::vector<uint32_t> members, const std::vector<RankUse>& ranks,
                          const Partition& partition);
  void find_images(const std::vector<RankUse>& ranks, const Partition& partition);

  std::vector<uint32_t> class_of_;
  std::vector<Class> classes_;
  std::vector<uint32_t> whole_;
  std::vector<Image> images_;
  std::unordered_map<uint32_t, std::vector<std::vector<uint32_t>>> parts_;  ///< by rank: LineParts::images()
  std::vector<uint32_t> joined_;
  std::vector<bool> along_dimensions_;
  Replicas replicas_;
  std::vector<bool> own_links_;  ///< by group; empty: none
  std::map<std::string, uint32_t> reasons_;
};

/// What keeps every rank of this machine from folding; empty: nothing does.
std::string folding_refusal(const Config& config);

}  // namespace weft::graph

#endif
