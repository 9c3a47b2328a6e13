// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Collectives that a communication library plans, in simulated time. Where all dimensions are at `analytical`
// fidelity a collective ends when the library's closed form says (workload/library), and sends no messages.
// Elsewhere the plan runs as a program (workload/programs), whose messages the NMUs carry. Which of the two
// it is may differ from collective to collective (`topology.fidelity_rules`): a communicator's follow each
// other.

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
#include "sc_models/nmu_model.h"
#include "sc_models/program_unit.h"
#include "sc_models/settled_call.h"
#include "workload/collectives/engine.h"
#include "workload/collectives/plan.h"
#include "workload/graph/fidelity_rules.h"
#include "workload/library/call_turns.h"
#include "workload/library/library_calls.h"
#include "workload/programs/program_book.h"
#include "workload/programs/program_engine.h"

namespace weft {

class LibraryRuns final : public sc_core::sc_module, private library::ProgramHost {
 public:
  /// A member's part of a collective. `stream`: the same number on every member.
  struct Part {
    uint32_t stream = 0;
    uint32_t rank = 0;  ///< of the machine
    std::shared_ptr<const collectives::CollectivePlan> plan;
    uint8_t plane = 0;     ///< graph::FidelityRules; the same on every member
    bool for_all = false;  ///< the others are folded: no other member joins
  };
  /// Hears of the end of the member's part.
  using Done = std::function<void(const collectives::CollectiveDone& done)>;
  /// By NPU; null: it is not built.
  using NmuOf = std::function<NmuModel*(uint32_t npu)>;
  /// Of the switch that joins the NPU's line of the dimension; null: it has none. Asked when a call begins.
  using UnitOf = std::function<ProgramUnit*(uint32_t dimension, uint32_t npu)>;

  /// `data` and `causes` may be null. Throws UserError(usage) as library::CommunicationLibrary does, and when
  /// programs are to run on NMUs that cannot carry them.
  LibraryRuns(sc_core::sc_module_name name, const Config& config, const graph::FidelityRules& fidelity,
              const NmuOf& nmu, UnitOf unit, collectives::DataContext* data, insight::CausalLog* causes);
  ~LibraryRuns() override;

  library::LibraryCalls& calls() { return calls_; }
  /// The member joins at the current time. `done` comes later, never before this returns. Throws
  /// UserError(usage) when the plan has no program.
  void start(const Part& part, Done done);
  /// For the stall report: what the NPU's collectives wait for, at most `limit` lines.
  std::vector<std::string> describe_waits(uint32_t npu, size_t limit) const;

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
    Picoseconds joined = 0;                            ///< by the last member
    // Where there are programs, too.
    bool in_turn = false;
    uint32_t ready = 0;            ///< members whose earlier programs are over
    Picoseconds grouped = kNever;  ///< joined at this instant by one that joined a program then, too
  };
  /// Stream, and line of those that share a plan and a number.
  using Key = std::pair<uint32_t, uint32_t>;
  class Sink;
  /// A program that some member has joined.
  struct Opened {
    uint32_t call = 0;  ///< of the engine
    uint32_t joined = 0;
    std::vector<uint32_t> npus;
  };
  /// Parts of one NPU in one communicator, which follow each other as kernels of a stream do.
  struct Stream {
    struct Waiting {
      uint32_t call = 0;
      uint32_t member = 0;
      Picoseconds joined = 0;
      double before_us = 0;  ///< from its start to its first message
      insight::ActivityId cause = insight::kNoActivity;
      const Key* closed = nullptr;  ///< a closed form: its key in joining_; null: a program
    };
    library::CallTurns turns;
    std::map<uint32_t, Waiting> waiting;  ///< by the collective's number; not begun
    Picoseconds joined = kNever;          ///< by the last part
    Picoseconds program = kNever;         ///< by the last program
  };
  /// All members have joined it.
  struct Complete {
    uint32_t number = 0;  ///< of the collective
    std::shared_ptr<const collectives::CollectivePlan> plan;
    std::vector<uint32_t> members;
  };
  struct Ending {
    library::Communicator stream;  ///< of the member
    uint32_t number = 0;           ///< of the collective
    uint8_t plane = 0;
    Done done;
  };

  void settled();
  void finish();
  Call& join(const Part& part, const Key& key, Done done);
  void start_in_turn(const Part& part, Done done);
  void start_program(const Part& part, const library::LibraryPlan& work, Done done);
  void begin_next(Stream& stream);
  void give_turns();
  /// The numbers of the program's switches.
  std::vector<uint32_t> join_units(const library::Program& program, const std::vector<uint32_t>& npus);
  void advance();
  void wake();
  // ProgramHost
  void submit(uint32_t npu, const Message& message) override;
  void submit_from_switch(uint32_t number, const Message& message) override;
  void member_done(uint32_t call, uint32_t member, const collectives::CollectiveDone& done) override;

  library::LibraryCalls calls_;
  insight::CausalLog* causes_;
  SettledCall complete_calls_;
  sc_core::sc_event end_;
  std::map<Key, Call> joining_;
  std::vector<Key> complete_;                         ///< all members have joined at this instant
  std::map<std::pair<Picoseconds, Key>, Call> ends_;  ///< by time

  // Programs; null: the closed forms.
  std::unique_ptr<library::ProgramBook> book_;
  std::unique_ptr<library::ProgramEngine> engine_;
  std::vector<bool> sends_;                   ///< by plane: its collectives are programs
  std::vector<library::Reducers> reducers_;   ///< by plane
  std::vector<NmuModel*> nmus_;               ///< by NPU
  std::vector<MessagePort*> ports_;           ///< likewise
  std::vector<std::unique_ptr<Sink>> sinks_;  ///< of the NPUs, then of the switches
  UnitOf unit_of_;
  std::vector<ProgramUnit*> units_;  ///< those that calls have used
  SettledCall advance_;
  sc_core::sc_event due_;
  std::map<Key, Opened> opened_;
  std::map<library::Communicator, Stream> streams_;  ///< by member
  std::vector<Complete> turns_;                      ///< calls in turn that are complete since this instant
  uint64_t places_ = 0;                              ///< of calls in turn
  std::map<std::pair<uint32_t, uint32_t>, Ending> endings_;  ///< by call of the engine and member
};

}  // namespace weft

#endif
