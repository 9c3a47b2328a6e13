// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Collectives that do as an earlier one did (docs/folding.md). All members of a group start one at the same
// instant, and nobody else uses its links (graph::own_links()). Then it takes as long as the first one of its
// kind, in whichever group that was, and does the same. The first one of a kind runs in messages, and what it
// does is kept. For the later ones no message is sent: at their end the members, their NMUs and their links
// are told what that one did.
//
// Only for a job on all NPUs of its machine, whose rank r is NPU r, with Switches at `message` fidelity.

#ifndef WEFT_SC_MODELS_REPEATED_COLLECTIVES_H
#define WEFT_SC_MODELS_REPEATED_COLLECTIVES_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "configs/flat_map.h"
#include "sc_models/machine.h"
#include "sc_models/nmu.h"
#include "sc_models/npu_model.h"
#include "tlm_interconnect/ports/timed_queue.h"
#include "workload/collectives/engine.h"
#include "workload/collectives/plan.h"

namespace weft {

class RepeatedCollectives {
 public:
  /// A rank's part is over.
  using Tell = std::function<void(uint32_t rank, const collectives::CollectiveDone& done)>;

  /// Nothing but the messages of a collective decides how long it takes: no order of earlier chunks, no limit
  /// that several dimensions share, and nobody looks at single messages.
  static bool fit(Machine& machine);

  /// The machine has no other such object, and no MirroredStarts, while this one lives.
  RepeatedCollectives(Machine& machine, Tell tell);
  ~RepeatedCollectives();
  RepeatedCollectives(const RepeatedCollectives&) = delete;
  RepeatedCollectives& operator=(const RepeatedCollectives&) = delete;

  /// Keeps a start back until this instant has settled, of a group with links of its own, all of whose
  /// members are built. False: its kind does not repeat; start it in messages.
  bool hold(uint32_t rank, const CollectiveStart& start);
  /// A collective that ran in messages is over at the rank.
  void part_ended(uint32_t rank, const collectives::CollectiveDone& done) {
    if (!learning_.empty()) learn(rank, done);
  }

  /// Repeated collectives: those that were not simulated.
  uint64_t count() const { return count_; }
  /// .. and those of them that have not ended.
  size_t under_way() const { return finishes_.size(); }

 private:
  /// What a member does.
  struct Member {
    collectives::CollectiveDone done;
    Nmu::MessageCounts messages;
    std::vector<fabric::Link::Span> links;  ///< as each_link() goes through them
  };
  /// What a kind of collectives does, by member, in the order of their ranks.
  struct Outcome {
    enum class State : uint8_t { unknown, learning, known, varies };
    State state = State::unknown;
    uint32_t dimensions = 0;  ///< bits
    Picoseconds time = 0;
    std::vector<Member> members;
  };
  /// Collectives that are alike but for their members' places: operation, size, bytes of an element,
  /// settings, chunks, and of each axis the dimension and the members along it.
  using Kind = std::tuple<CollectiveOp, uint64_t, uint32_t, uint32_t, uint32_t,
                          std::vector<std::pair<uint32_t, uint32_t>>>;
  struct Held {
    uint32_t rank = 0;
    CollectiveStart start;
  };
  /// The first one of a kind, while it runs.
  struct Learning {
    Outcome* outcome = nullptr;
    std::vector<uint32_t> ranks;  ///< ascending
    Picoseconds started = 0;
    std::vector<fabric::Link> before;
    uint64_t beyond = 0;  ///< chunks that the members had started beyond the slots
    uint32_t ended = 0;
  };
  struct Repeat {
    Outcome* outcome = nullptr;
    std::vector<uint32_t> ranks;  ///< ascending
    std::shared_ptr<const collectives::CollectivePlan> plan;
    uint32_t stream = 0;
    Picoseconds started = 0;
  };

  Outcome* outcome_of(const collectives::CollectivePlan& plan);
  void start_held();
  void start_all(Held* first, Held* last);
  void start_learning(Outcome& outcome, const Held* first, const Held* last);
  void start_repeating(Outcome& outcome, Held* first, const Held* last);
  void learn(uint32_t rank, const collectives::CollectiveDone& done);
  bool keep(const Learning& learning);
  void forget(Outcome& outcome, Outcome::State state);
  uint64_t beyond(const std::vector<uint32_t>& ranks) const;
  void finish_due(Picoseconds now);
  void finish(Repeat& repeat, Picoseconds now);
  /// The links of a rank in these dimensions: to the switch, and from there.
  template <typename F>
  void each_link(uint32_t rank, uint32_t dimensions, F&& f);

  Machine& machine_;
  const Tell tell_;
  std::map<Kind, Outcome> outcomes_;
  FlatMap<uint64_t, Outcome*> outcome_of_;                 ///< by plan; null: its kind does not repeat
  size_t kept_ = 0;                                        ///< members of all outcomes
  std::vector<Held> held_;                                 ///< of this instant
  FlatMap<uint32_t, std::unique_ptr<Learning>> learning_;  ///< by stream
  std::vector<Repeat> repeats_;
  std::vector<uint32_t> free_repeats_;
  fabric::TimedQueue<uint32_t, uint64_t> finishes_;  ///< of repeats_
  uint64_t pushed_ = 0;
  uint64_t count_ = 0;
};

}  // namespace weft

#endif
