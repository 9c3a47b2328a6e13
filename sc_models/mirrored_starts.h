// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Collectives that one member runs for all, at analytical fidelity (docs/folding.md). All members of a line
// start the collective at one instant, and none of them does anything else. Then they send the same messages
// at the same times. The first member runs the collective. Its own messages come back to it in place of those
// of its peers. The others get its result.
//
// Only for a job on all NPUs of its machine, whose rank r is NPU r.

#ifndef WEFT_SC_MODELS_MIRRORED_STARTS_H
#define WEFT_SC_MODELS_MIRRORED_STARTS_H

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sc_models/machine.h"
#include "sc_models/npu.h"
#include "tlm_interconnect/ports/link.h"
#include "workload/collectives/plan.h"

namespace weft {

/// A rank's part of a collective, in a table.
inline uint64_t part_key(uint32_t rank, uint32_t collective) {
  return static_cast<uint64_t>(rank) << 32 | collective;
}

class MirroredStarts {
 public:
  /// Mirrors stand in analytical dimensions only: the machine has no others.
  static bool fit(const Config& config);

  /// The machine has no other such object while this one lives.
  explicit MirroredStarts(Machine& machine);
  ~MirroredStarts();
  MirroredStarts(const MirroredStarts&) = delete;
  MirroredStarts& operator=(const MirroredStarts&) = delete;

  /// Keeps a start back until this instant has settled. False: it cannot be mirrored, or the rank has other
  /// work; start it in messages.
  bool hold(uint32_t rank, trace::NodeIndex node, const CollectiveStart& start);
  /// The rank starts something else at this instant: what is held of it starts in messages. False: nothing
  /// was.
  bool release(uint32_t rank);
  /// A collective of this rank is over. The members that it ran for, itself included; empty: itself alone.
  /// Their links have been used as its own.
  std::vector<uint32_t> end(uint32_t rank, const collectives::CollectiveDone& done);

  /// Messages of members that did not run themselves.
  uint64_t messages() const { return messages_; }

 private:
  struct Held {
    uint32_t rank = 0;
    trace::NodeIndex node = 0;
    CollectiveStart start;  ///< without a plan: released
    insight::ActivityId cause = insight::kNoActivity;
  };
  /// A collective that one member runs for all.
  struct Mirrored {
    std::vector<uint32_t> ranks;
    std::vector<fabric::Link> before;  ///< the member's links
    uint32_t dimensions = 0;           ///< bits
    uint32_t exchanges = 0;
  };
  /// How a plan can be run by one member; dimensions 0: not at all.
  struct Mirrorable {
    uint32_t dimensions = 0;
    uint32_t exchanges = 0;
    uint32_t members = 1;  ///< of its line
  };
  const Mirrorable& mirrorable(const collectives::CollectivePlan& plan);
  void start(const Held& held);
  void start_held();
  bool start_mirrored(const std::vector<const Held*>& members);

  Machine& machine_;
  std::vector<Held> held_;
  std::unordered_map<uint32_t, size_t> held_of_;  ///< by rank
  std::unordered_map<const collectives::CollectivePlan*, Mirrorable> mirrorable_;
  std::unordered_map<uint64_t, Mirrored> mirrored_;  ///< by rank and stream
  uint64_t messages_ = 0;
};

}  // namespace weft

#endif
