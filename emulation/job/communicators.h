// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The communicators of an emulated job. Explicit lists are exact. Of splits and unique ids only the real
// ranks' arguments are known: the other members come from a rule, or from the one regular grid that the real
// ranks' arguments leave possible.

#ifndef WEFT_EMULATION_JOB_COMMUNICATORS_H
#define WEFT_EMULATION_JOB_COMMUNICATORS_H

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "configs/config.h"
#include "emulation/protocol/messages.h"
#include "workload/collectives/plan.h"

namespace weft::emulation {

struct Communicator {
  uint32_t id = 0;
  collectives::Group group;          ///< ranks empty: the whole world
  std::vector<uint32_t> dimensions;  ///< of a Cartesian one, slowest first; empty: one dimension
  uint32_t size = 0;
  std::map<uint32_t, uint32_t> ordinals;  ///< real member: which of its communicators this is
  std::map<uint32_t, uint32_t> index;     ///< of listed members; empty: the whole world

  uint32_t world_rank(uint32_t member) const { return group.ranks.empty() ? member : group.ranks[member]; }
  /// ~0u: no member.
  uint32_t member(uint32_t world_rank) const;
  /// The member that stands to `to` as `from` stands to `like` in the grid: to + from - like.
  uint32_t translate(uint32_t from, uint32_t like, uint32_t to) const;
  /// The members of the communicator that `rank` has where real ranks have this one: the same if it is a
  /// member, else the block of the grid with it, if this one is such a block. Empty: there is none.
  std::vector<uint32_t> members_as_seen_by(uint32_t rank, uint32_t world) const;
};

/// Groups of `count` ranks, `stride` apart, that fill the world.
struct Grid {
  uint32_t stride = 1;
  uint32_t count = 1;
  /// The members (of n) of the group that `member` is in; fewer where the grid does not fill the end.
  std::vector<uint32_t> group_of(uint32_t member, uint32_t n) const;
  bool operator==(const Grid& o) const { return stride == o.stride && count == o.count; }
};

/// Members, in order, of the communicators of splits and unique ids, by (rank, CommHow, n-th such call of the
/// rank, from 1).
using KnownMembers = std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::vector<uint32_t>>;

class Communicators {
 public:
  Communicators(const Config& config, uint32_t world, const std::vector<uint32_t>& real);

  const Communicator& world() const { return *all_.at(0); }
  /// Null: there is none of that number with this member.
  Communicator* find(uint32_t id, uint32_t rank);
  /// The communicator that was the n-th of a rank; null: none.
  const Communicator* of_rank(uint32_t rank, uint32_t ordinal) const;
  const std::map<uint32_t, std::unique_ptr<Communicator>>& all() const { return all_; }

  struct Answer {
    uint32_t rank = 0;
    uint64_t request = 0;
    Picoseconds time = 0;
    Comm comm;
  };
  /// A real rank asks for one at its time. Returns the answers that are possible now, for this rank and for
  /// others that have waited. Throws JobError.
  std::vector<Answer> create(uint32_t rank, uint64_t request, Picoseconds time, const CommNew& message);
  void release(uint32_t rank, uint32_t id);

  /// What the real ranks' splits and ids have become.
  const KnownMembers& found() const { return found_; }
  /// Members that an earlier run has found: no rule is needed for them.
  void know(KnownMembers members) { known_ = std::move(members); }

  /// Nothing else can happen: who waits for what; empty: nobody waits.
  std::string unresolved() const;

 private:
  struct Asked {
    uint32_t rank = 0;  ///< of the world
    uint64_t request = 0;
    Picoseconds time = 0;
    CommNew message;
    uint32_t call = 0;  ///< n-th of its kind by this rank, from 1
  };
  /// Ranks of one split, or of one unique id's round.
  struct Meeting {
    std::vector<Asked> asked;
    size_t expected = 0;
  };
  Communicator& make(std::vector<uint32_t> ranks, const std::tuple<uint32_t, std::string, uint32_t>& key,
                     std::vector<uint32_t> dimensions = {});
  Answer answer(const Asked& asked, Communicator& made);
  Communicator& parent_of(const Asked& asked);
  std::vector<Answer> listed(const Asked& asked);
  std::vector<Answer> split(const Asked& asked);
  std::vector<Answer> unique(const Asked& asked);
  const CommunicatorRule* rule(uint32_t call) const;
  /// Null: nobody has found them.
  const std::vector<uint32_t>* known(const Asked& asked) const;
  Answer answer_unique(const Asked& asked, std::vector<uint32_t> ranks);
  bool all_known(const Meeting& meeting) const;
  Grid grid_of(const Meeting& meeting, const Communicator& parent) const;
  std::vector<uint32_t> split_ranks(const Asked& asked, const Meeting& meeting, const Communicator& parent,
                                    const Grid& grid) const;
  std::vector<Grid> split_grids(const Meeting& meeting, uint32_t n) const;
  std::vector<Grid> unique_grids(const std::vector<Asked>& all) const;
  [[noreturn]] void ambiguous(const Asked& asked, const std::vector<Grid>& grids, const char* call) const;
  void check_keys(const Meeting& meeting, const Communicator& parent) const;

  const std::vector<CommunicatorRule>* rules_ = nullptr;
  uint32_t world_;
  std::vector<uint32_t> real_;
  std::map<uint32_t, std::unique_ptr<Communicator>> all_;
  /// (parent, what it is made of, n-th of the same by a rank) -> id
  std::map<std::tuple<uint32_t, std::string, uint32_t>, uint32_t> made_;
  std::map<std::tuple<uint32_t, uint32_t, std::string>, uint32_t>
      same_;  ///< (rank, parent, made of): how many
  std::map<uint32_t, std::vector<uint32_t>> of_rank_;
  std::map<uint32_t, uint32_t> splits_, uniques_;                    ///< calls so far, by rank
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> parent_splits_;  ///< (rank, parent): calls so far
  std::map<std::pair<uint32_t, uint32_t>, Meeting> meetings_;        ///< (parent, call): open splits
  std::map<uint32_t, Meeting> id_meetings_;                          ///< by call
  KnownMembers known_, found_;
  uint32_t next_id_ = 1;
};

}  // namespace weft::emulation

#endif
