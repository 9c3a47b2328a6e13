// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Runs programs: keeps the lanes of all calls under way, and says when which message goes to the machine. No
// SystemC here: the host brings the time and carries the messages.
//
// A message goes to the links when its lane starts with it. The receiver can use it when its price's flight
// is over, and not before the links have brought it. Links that take longer than the price allows for its
// bytes (they are slower than the library reckons, or others use them) make it later by so much.

#ifndef WEFT_WORKLOAD_PROGRAMS_PROGRAM_ENGINE_H
#define WEFT_WORKLOAD_PROGRAMS_PROGRAM_ENGINE_H

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "insight/causal_log.h"
#include "workload/collectives/engine.h"
#include "workload/programs/program_data.h"
#include "workload/seam.h"

namespace weft::library {

/// What programs need of the machine.
class ProgramHost {
 public:
  virtual ~ProgramHost() = default;
  /// Carry the message from that NPU now, to another one or (kUnitPeer) to a switch of its lines.
  /// ProgramEngine::completed() follows.
  virtual void submit(uint32_t npu, const Message& message) = 0;
  /// .. from the switch of that number.
  virtual void submit_from_switch(uint32_t number, const Message& message) = 0;
  /// A member has finished its part of a call (ProgramEngine::open).
  virtual void member_done(uint32_t call, uint32_t member, const collectives::CollectiveDone& done) = 0;
};

class ProgramEngine {
 public:
  /// One call: a collective on the members of one line.
  struct Call {
    uint32_t stream = 0;
    std::shared_ptr<const Program> program;
    std::shared_ptr<const collectives::CollectivePlan> plan;
    std::vector<uint32_t> npus;      ///< by rank of the program
    std::vector<uint32_t> switches;  ///< by switch of the program: the host's number of it
  };
  /// `npus`: of the machine. `data`, `causes` may be null. All outlive the engine.
  ProgramEngine(ProgramHost& host, uint32_t npus, collectives::DataContext* data, insight::CausalLog* causes);
  ~ProgramEngine();

  /// A call that none of its members has started. Returns its number.
  uint32_t open(Call call);
  /// A member that has joined at `joined` begins to send at `at` (>= now).
  void start(uint32_t call, uint32_t member, Picoseconds joined, Picoseconds now, Picoseconds at);
  /// A message of kind `program` has come to the NPU, or to the switch of the number.
  void completed(uint32_t npu, const Completion& completion, Picoseconds now);
  void completed_at_switch(uint32_t number, const Completion& completion, Picoseconds now);

  /// When something is due next; kNever: nothing.
  Picoseconds next() const { return events_.empty() ? kNever : events_.front().at; }
  /// Does what is due, in an order that does not depend on the order of the calls above.
  void advance(Picoseconds now);

  /// For the stall report: what calls with that NPU wait for, at most `limit` lines.
  std::vector<std::string> describe_waits(uint32_t npu, size_t limit) const;
  bool idle() const { return running_ == 0; }

 private:
  enum class EventKind : uint8_t { arrival, end, start, launch, done };
  struct Event {
    Picoseconds at = 0;
    uint64_t order = 0;   ///< of the call: by stream and line
    uint32_t number = 0;  ///< of the message; start, done: of the member
    uint32_t call = 0;
    uint32_t data = kNoData;
    insight::ActivityId cause = insight::kNoActivity;
    Picoseconds since = 0;  ///< when `cause` ended
    EventKind kind = EventKind::arrival;
    bool before(const Event& o) const;
  };
  struct Member {
    uint32_t left = 0;  ///< messages that it has to send or receive
    bool started = false;
    bool finished = false;
    Picoseconds joined = 0;
    Picoseconds busy_until = 0;  ///< its lanes
    std::vector<Event> early;    ///< arrivals before it began
    uint64_t messages = 0;
    uint64_t bytes = 0;
    RunningSums split;
    std::unique_ptr<ProgramData> data;
  };
  struct Lane {
    uint32_t next = 0;  ///< place in Program::order()
    bool queued = false;
    Picoseconds free_at = 0;
  };
  struct Running {
    Call call;
    uint32_t number = 0;
    uint64_t order = 0;
    std::vector<uint32_t> waits;  ///< by message
    std::vector<Lane> lanes;
    std::vector<Member> members;
    uint32_t left = 0;  ///< ranks that have not finished
  };

  void push(const Event& event);
  Event event(const Running& call, EventKind kind, uint32_t number, Picoseconds at, Picoseconds now) const;
  Running& find(uint32_t place, uint32_t stream);
  /// Where a member is: the NPU, or behind all NPUs the switch.
  uint32_t place(const Running& call, uint32_t member) const;
  void forget(const Running& call, uint32_t member);
  void handle(const Event& event, Picoseconds now);
  void begin(Running& call, uint32_t member, Picoseconds now);
  void arrive(Running& call, const Event& event, Picoseconds now);
  void release(Running& call, uint32_t send, Picoseconds now);
  void try_lane(Running& call, uint32_t lane, Picoseconds now);
  void launch(Running& call, uint32_t send, Picoseconds now);
  void count_down(Running& call, uint32_t member, Picoseconds now);
  void finish(Running& call, uint32_t member, Picoseconds now);
  void tell_wait(const Running& call, const Event& event);

  ProgramHost& host_;
  collectives::DataContext* data_;
  insight::CausalLog* causes_;
  std::vector<Event> events_;  ///< a heap
  std::vector<std::unique_ptr<Running>> calls_;
  std::vector<uint32_t> free_;  ///< numbers of calls that are over
  struct Part {
    uint32_t call = 0;
    uint32_t member = 0;
  };
  uint32_t npus_;
  std::vector<std::vector<Part>> parts_;  ///< by place: its calls under way
  uint32_t running_ = 0;
};

}  // namespace weft::library

#endif
