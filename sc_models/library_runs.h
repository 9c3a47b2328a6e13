// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Collectives that a communication library plans, in simulated time: each ends when the library's closed form
// says (workload/library). They send no messages of their own.

#ifndef WEFT_SC_MODELS_LIBRARY_RUNS_H
#define WEFT_SC_MODELS_LIBRARY_RUNS_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <systemc>
#include <utility>
#include <vector>

#include "insight/causal_log.h"
#include "sc_models/settled_call.h"
#include "workload/collectives/engine.h"
#include "workload/collectives/plan.h"
#include "workload/library/library_calls.h"

namespace weft {

class LibraryRuns final : public sc_core::sc_module {
 public:
  /// A member's part of a collective. `stream`: the same number on every member.
  struct Part {
    uint32_t stream = 0;
    uint32_t rank = 0;  ///< of the job
    std::shared_ptr<const collectives::CollectivePlan> plan;
  };
  /// Hears of the end of the member's part.
  using Done = std::function<void(const collectives::CollectiveDone& done)>;

  /// `causes` may be null. Throws UserError(usage) as library::CommunicationLibrary does.
  LibraryRuns(sc_core::sc_module_name name, const Config& config, insight::CausalLog* causes);

  library::LibraryCalls& calls() { return calls_; }
  /// The member joins at the current time. `done` comes later, never before this returns.
  void start(const Part& part, const library::NpuOfRank& npu, Done done);

 private:
  struct Member {
    uint32_t rank = 0;
    Picoseconds joined = 0;
    Done done;
  };
  struct Call {
    std::shared_ptr<const collectives::CollectivePlan> plan;
    library::LibraryPlan work;
    std::vector<Member> members;
    insight::ActivityId cause = insight::kNoActivity;  ///< of the last member
  };
  /// Stream, and line of those that share a plan and a number.
  using Key = std::pair<uint32_t, uint32_t>;

  void settled();
  void finish();

  library::LibraryCalls calls_;
  insight::CausalLog* causes_;
  SettledCall complete_calls_;
  sc_core::sc_event end_;
  std::map<Key, Call> joining_;
  std::vector<Key> complete_;                         ///< all members have joined at this instant
  std::map<std::pair<Picoseconds, Key>, Call> ends_;  ///< by time
};

}  // namespace weft

#endif
