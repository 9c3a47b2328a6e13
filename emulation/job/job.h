// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A job of which some ranks are real. Frames of the real ranks come in with their local times; the job lets
// simulated time go on as far as no real rank can still do anything before it (virtual clock), or to the wall
// clock, and answers. It knows no sockets.
//
// Order at one time: first all that the fabric does then, next the calls of the real ranks by rank and order
// of issue. So times do not depend on which process was faster.

#ifndef WEFT_EMULATION_JOB_JOB_H
#define WEFT_EMULATION_JOB_JOB_H

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "configs/config.h"
#include "emulation/environment/fabric.h"
#include "emulation/job/classes.h"
#include "emulation/job/communicators.h"
#include "emulation/job/job_error.h"
#include "emulation/job/report.h"
#include "emulation/job/shared_view.h"
#include "emulation/protocol/messages.h"
#include "workload/collectives/rules.h"

namespace weft::emulation {

struct JobSettings {
  uint32_t world = 0;
  std::vector<uint32_t> real;  ///< ascending
  bool wall = false;
  uint32_t data = 0;                        ///< weft_data
  Welcome welcome;                          ///< what HELLO is answered with
  std::function<Picoseconds()> wall_clock;  ///< with `wall`: since the start
  /// Hears what ranks say, with the local time that passed since they last spoke or were answered. May be
  /// empty.
  std::function<void(uint32_t rank, const Frame& frame, Picoseconds gap)> heard;
};

class Capture;

class Job final : private FabricListener {
 public:
  using SendBytes = std::function<void(uint32_t rank, const std::vector<uint8_t>& bytes)>;

  /// All references outlive it. `capture` may be null.
  Job(const Config& config, JobSettings settings, Fabric& fabric, SendBytes send, Capture* capture);
  ~Job() override;

  /// A process has said HELLO as this rank. Throws JobError.
  void join(uint32_t rank, const Hello& hello, SharedView memory);
  /// Throws JobError, and ProtocolError for a frame that makes no sense.
  void take(uint32_t rank, const Frame& frame);
  /// Simulates as far as is safe; with the wall clock at most to `wall` (ps).
  void advance(Picoseconds wall = kNever);
  /// With the wall clock: when there is something to do next; kNever: when a frame comes.
  Picoseconds due() const;
  /// Its process is gone. Throws JobError if it had not said BYE.
  void lost(uint32_t rank, const std::string& how);

  bool ended() const;
  bool ended(uint32_t rank) const;
  Report& report() { return report_; }
  /// Every rank has ended, or made so many collectives and messages since its last new communicator.
  bool settled(uint64_t calls) const;
  /// Members of communicators: what this job has found, what another one has.
  const KnownMembers& found() const { return communicators_.found(); }
  void know(KnownMembers members) { communicators_.know(std::move(members)); }
  /// What each rank does, for messages: a line a rank.
  std::string describe() const;

 private:
  enum class Status : uint8_t { absent, running, waiting, making, ended };
  struct Call {
    Picoseconds time = 0;
    Frame frame;
  };
  struct Request {
    bool done = false;
    Finished finished;
    size_t row = 0;  ///< in the report
    uint64_t send_offset = kNoBuffer;
    uint64_t receive_offset = kNoBuffer;
    uint64_t room = 0;
    uint32_t operation = ~0u;   ///< instance of a collective
    std::vector<uint8_t> data;  ///< that has arrived
    bool has_data = false;
  };
  struct Rank {
    Status status = Status::absent;
    Picoseconds time = 0;  ///< the last stamp: it does nothing before
    std::deque<Call> calls;
    std::map<uint64_t, Request> requests;
    bool waits = false;  ///< `wait` is open
    bool probes = false;
    Wait wait;
    Probe probe;
    uint64_t wait_request = 0;
    Picoseconds wait_since = 0;
    std::string last_call = "HELLO";
    uint64_t last_request = 0;
    uint64_t since_communicator = 0;  ///< collectives and messages since its last new one
    SharedView memory;
  };

  // job.cpp: ranks and time
  Rank& of(uint32_t rank) { return ranks_.at(rank); }
  bool step(Picoseconds wall);
  void apply(uint32_t rank, const Call& call);
  Request& new_request(uint32_t rank, const Call& call);
  void apply_wait(uint32_t rank, const Call& call, bool test);
  void apply_compute(uint32_t rank, const Call& call);
  void apply_mark(uint32_t rank, const Call& call);
  void apply_bye(uint32_t rank, const Call& call);
  void wake_ranks();
  bool try_wake(uint32_t rank);
  std::vector<uint64_t> satisfied(const Rank& state, const Wait& wait) const;
  void answer(uint32_t rank, uint64_t request, Picoseconds time, const std::vector<uint64_t>& finished);
  void run_on(uint32_t rank, Picoseconds time);
  template <typename Answer>
  void reply(uint32_t rank, uint64_t request, Picoseconds time, const Answer& message);
  void finish(uint32_t rank, uint64_t request);
  [[noreturn]] void deadlock();
  void make_communicator(uint32_t rank, const Call& call);
  const Communicator& communicator(uint32_t rank, uint32_t id, const char* call);

  // collectives.cpp
  struct Contribution {
    uint64_t request = 0;
    Picoseconds joined = 0;
    std::vector<uint8_t> data;
    bool has_data = false;
    Coll call;
  };
  struct Instance {
    const Communicator* comm = nullptr;
    uint32_t sequence = 0;
    Coll first;
    uint32_t first_rank = 0;
    uint32_t stream = ~0u;  ///< the fabric's number; ~0u: nothing to send
    Picoseconds injected = 0;
    std::map<uint32_t, Contribution> joined;  ///< real ranks
    uint32_t left = 0;                        ///< real members that have not finished
    std::map<uint32_t, std::vector<uint32_t>>
        followers;  ///< by real rank: emulated members that join with it
  };
  struct LaterJoin {
    Picoseconds time = 0;
    uint64_t order = 0;
    uint32_t stream = 0;
    uint32_t rank = 0;
    bool operator<(const LaterJoin& o) const { return time != o.time ? time > o.time : order > o.order; }
  };
  void apply_coll(uint32_t rank, const Call& call);
  Instance& instance_of(uint32_t rank, const Coll& coll, const Communicator& comm);
  void check_equal(const Instance& instance, uint32_t rank, const Coll& coll) const;
  void begin_instance(Instance& instance);
  std::optional<uint64_t> iteration_of(uint32_t rank) const;
  void join_followers(Instance& instance, uint32_t rank);
  Picoseconds skew(uint32_t rank, const Instance& instance) const;
  void apply_joins();
  void operation_done(uint32_t operation, uint32_t rank, const collectives::CollectiveDone& done) override;
  void finish_member(Instance& instance, uint32_t rank, const Finished& finished);
  std::string unjoined() const;

  // messages.cpp
  struct Message {
    uint32_t comm = 0;
    uint32_t source = 0;  ///< ranks of the world
    uint32_t destination = 0;
    int32_t tag = 0;
    uint64_t bytes = 0;
    uint64_t ordinal = 0;  ///< of (communicator, source, destination)
    uint64_t request = 0;  ///< of the sender; 0: emulated, or over
    bool synchronous = false;
    bool guessed = false;  ///< of an emulated rank that does as its real one: nobody must receive it
    bool there = false;
    bool taken = false;
    Completion completion;
    std::vector<uint8_t> data;
    bool has_data = false;
  };
  struct Posted {
    uint64_t request = 0;
    uint32_t comm = 0;
    int32_t peer = 0;
    int32_t tag = 0;
    uint64_t room = 0;
  };
  struct LaterSend {
    Picoseconds time = 0;
    uint64_t order = 0;
    uint32_t message = 0;
    bool operator<(const LaterSend& o) const { return time != o.time ? time > o.time : order > o.order; }
  };
  void apply_send(uint32_t rank, const Call& call);
  void apply_recv(uint32_t rank, const Call& call);
  void apply_probe(uint32_t rank, const Call& call);
  uint32_t add_message(Message message);
  void launch(uint32_t number);
  void send_images(const Communicator& comm, uint32_t rank, const Message& of_real);
  const PeerRule* peer_rule(uint32_t rank, int32_t tag) const;
  void message_left(uint32_t message) override;
  void message_there(uint32_t message, const Completion& completion) override;
  void deliver(uint32_t number);
  void match(uint32_t rank, uint32_t number, const Posted& posted);
  bool fits(const Message& message, const Posted& posted) const;
  uint32_t find_arrived(uint32_t rank, const Posted& posted) const;
  void send_over(Message& message);
  void forget(uint32_t number);
  std::string unmatched(uint32_t rank) const;

  const Config& config_;
  JobSettings settings_;
  Fabric& fabric_;
  SendBytes send_;
  Capture* capture_;
  Classes classes_;
  Communicators communicators_;
  collectives::PlanBuilder plans_;
  collectives::Rules rules_;
  Report report_;
  std::map<uint32_t, Rank> ranks_;
  bool told_ = false;  ///< the fabric has told something
  Picoseconds now_ = 0;
  std::string failure_;  ///< of a message, found while the fabric ran
  uint32_t failed_rank_ = 0;

  std::map<std::pair<uint32_t, uint32_t>, std::unique_ptr<Instance>>
      instances_;  ///< (communicator, sequence)
  std::map<uint32_t, Instance*> by_stream_;
  std::priority_queue<LaterJoin> later_joins_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, Picoseconds> joined_at_;  ///< (rank, ordinal, sequence)
  uint64_t order_ = 0;

  std::map<uint32_t, Message> messages_;
  uint32_t next_message_ = 1;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint64_t> sent_,
      delivered_;                                     ///< (comm, source, destination)
  std::map<uint32_t, std::deque<uint32_t>> arrived_;  ///< by real rank, in order of arrival
  std::map<uint32_t, std::deque<Posted>> posted_;     ///< by real rank, in order of posting
  std::priority_queue<LaterSend> later_sends_;
};

}  // namespace weft::emulation

#endif
