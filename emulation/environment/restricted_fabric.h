// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Only the real ranks are simulated (`environment.detail: restricted`): each has its collective engine, with
// its queues and chunks. What the emulated ranks send to it comes at the times that IdleTimes tells. Other
// collectives may use a real rank's dimension, so that it begins a phase later than on an idle machine. The
// emulated ranks run the same collectives. They begin that phase as much later.

#ifndef WEFT_EMULATION_ENVIRONMENT_RESTRICTED_FABRIC_H
#define WEFT_EMULATION_ENVIRONMENT_RESTRICTED_FABRIC_H

#include <cstdint>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "emulation/environment/collective_chain.h"
#include "emulation/environment/fabric.h"
#include "emulation/environment/idle_times.h"
#include "emulation/environment/running_collective.h"
#include "emulation/job/classes.h"

namespace weft::emulation {

class RestrictedFabric final : public Fabric {
 public:
  /// All outlive it.
  RestrictedFabric(const Config& config, const Classes& classes, IdleTimes& idle);
  ~RestrictedFabric() override;

  void listen(FabricListener& listener) override { listener_ = &listener; }
  Picoseconds now() const override { return now_; }
  Picoseconds next() const override;
  void run_to(Picoseconds t) override;
  bool rescue() override;
  bool simulates_all() const override { return false; }
  uint32_t begin(const Start& start) override;
  void join(uint32_t operation, uint32_t rank) override;
  void send(uint32_t message, uint32_t source, uint32_t destination, uint64_t bytes) override;
  std::string explain_stall() const override { return {}; }
  /// Events so far: the real ranks' arrivals and wake-ups.
  uint64_t events() const { return order_; }

 private:
  class Port;
  class Listener;
  using Operation = RunningCollective;
  using Group = JoinGroup;
  using Expected = RunningCollective::Expected;
  enum class Kind : uint8_t { arrival, wake, left, there };
  struct Event {
    Picoseconds at = 0;
    uint64_t order = 0;
    Kind kind = Kind::arrival;
    uint32_t rank = 0;
    uint32_t value = 0;  ///< token, or message
    uint32_t version = 0;
    uint32_t operation = 0;
    Completion completion;
    bool operator<(const Event& o) const { return at != o.at ? at > o.at : order > o.order; }
  };

  /// Its first member, `rank`, joins.
  void make_groups(const std::shared_ptr<Operation>& operation, uint32_t rank);
  /// Time of an arrival (or of a phase's begin, if `arrival` is null); kNever: a group must join first.
  Picoseconds time_of(Operation& operation, uint32_t rank, uint32_t key, int64_t shift,
                      const size_t* arrival);
  int64_t in_chain(const Operation& operation, uint32_t rank, uint32_t key, const size_t* arrival);
  /// Emulated followers of a rank that has nothing else to do are still in a collective.
  bool followers_busy(uint32_t rank) const;
  /// When all groups have joined: notes when followers will be done.
  void note_ends(Operation& operation);
  bool all_at_once(const Operation& operation) const;
  void phase_began(uint32_t rank, uint32_t stream, uint32_t key);
  /// Events for what can be told now; `again`: also for what has one.
  void schedule(uint32_t stream, Operation& operation, bool again);
  void measure_exactly(Operation& operation);
  void measure_chain();
  void leave_chain(Operation& operation);
  bool arrives(const Event& event);
  void engine_done(uint32_t rank, const collectives::CollectiveDone& done);
  void push(Event event);
  void settle();

  const Classes& classes_;
  IdleTimes& idle_;
  FabricListener* listener_ = nullptr;
  std::unique_ptr<Listener> phases_;
  std::unique_ptr<insight::CausalLog> log_;
  struct RankState {
    std::unique_ptr<Port> port;
    std::unique_ptr<collectives::CollectiveEngine> engine;
    uint32_t open = 0;               ///< collectives that it has joined and not finished
    Picoseconds followers_done = 0;  ///< the last of its emulated followers, in all collectives before
  };
  std::map<uint32_t, RankState> ranks_;
  std::map<uint32_t, std::shared_ptr<Operation>> operations_;
  CollectiveChain chain_;
  std::priority_queue<Event> events_;
  std::map<std::pair<uint32_t, uint32_t>, Picoseconds> out_free_, in_free_;  ///< (rank, port)
  uint32_t next_operation_ = 1;
  uint64_t order_ = 0;
  Picoseconds now_ = 0;
  bool unsettled_ = false;
  bool told_ = false;
};

}  // namespace weft::emulation

#endif
