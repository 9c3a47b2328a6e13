// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The collective engine of one rank: runs plans on a MessagePort. Chunks wait in logical scheduling queues
// (LSQs), one a dimension and ring direction, and run up to active_chunks_per_dimension at once in each. All
// chunks enter the first phase's queue; when a phase ends its chunk enters the next phase's queue, then the
// freed slot and the next queue are served (collectives.md, Concurrency).
//
// Decisions are taken when an instant has settled, in an order that depends on collective and chunk ids only,
// so that ranks in equal situations decide alike. Ranks in unequal situations (stragglers, contention) can
// still choose different chunks for their slots and then wait for each other. SlotWaits finds such circles
// and has their chunks started beyond the slots. The last resort is rescue(): when nothing moves any more,
// the owner of the simulation asks every engine to start its first waiting chunks. Both are counted and
// reported.

#ifndef WEFT_WORKLOAD_COLLECTIVES_ENGINE_H
#define WEFT_WORKLOAD_COLLECTIVES_ENGINE_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "configs/flat_map.h"
#include "configs/large_pages.h"
#include "insight/causal_log.h"
#include "workload/collectives/data.h"
#include "workload/collectives/plan.h"
#include "workload/collectives/slot_waits.h"
#include "workload/seam.h"

namespace weft::collectives {

/// Queueing and network time of one phase, summed over the chunks of one rank (ps).
struct PhaseTime {
  Wide queue = 0;    ///< ready, waiting for a slot
  Wide network = 0;  ///< from its start to its last message
  uint32_t chunks = 0;
};

/// What a rank reports when it has finished its part of a collective.
struct CollectiveDone {
  uint32_t stream = 0;
  Picoseconds started = 0;
  Picoseconds finished = 0;
  const CollectivePlan* plan = nullptr;
  std::vector<PhaseTime> phases;
  uint64_t messages = 0;  ///< received
  uint64_t bytes = 0;     ///< received
  TimeSums split;         ///< summed over the received messages
  /// Data-carrying mode: this rank's elements; null otherwise, and of barriers and empty plans.
  std::shared_ptr<const CollectiveData> data;
};

class alignas(64) CollectiveEngine final : public MessageSink, private SlotRank {
 public:
  using Done = std::function<void(const CollectiveDone&)>;

  /// `data`: messages carry elements (data-carrying mode); null: sizes only. `waits`: the one of all engines;
  /// null: this rank's part stands for other ranks', so that none can choose otherwise.
  CollectiveEngine(NpuId rank, const Config& config, MessagePort& port, Done done,
                   DataContext* data = nullptr, SlotWaits* waits = nullptr);
  ~CollectiveEngine() override;
  CollectiveEngine(const CollectiveEngine&) = delete;
  CollectiveEngine& operator=(const CollectiveEngine&) = delete;

  /// Starts this rank's part of the collective `stream` (the same number on every member). `done` may be
  /// called before this returns when there is nothing to send. A higher `priority` goes first; among equal
  /// ones collectives.scheduling decides, so that it alone decides where all are 0. `for_all`: what this rank
  /// does stands for all members.
  void start(uint32_t stream, std::shared_ptr<const CollectivePlan> plan, int32_t priority = 0,
             bool for_all = false);

  /// This rank waits for a point-to-point message of `source` (or not any more): what it has not started may
  /// wait for that.
  void message_awaited(NpuId source, bool awaited);

  /// Tells the log of its chunks; before the first collective. It outlives the engine.
  void keep_causes(insight::CausalLog* log) { causes_ = log; }

  void completed(const Completion& completion) override;
  void wake(uint32_t token) override;
  void settled() override {
    if (unsettled_) settle();
  }

  /// Starts the first waiting chunk of every queue, slots or not. Returns how many there were.
  uint32_t rescue();

  /// Asks the processor for the lines that the next completion will probably touch.
  void prefetch() const {
    __builtin_prefetch(last_);
    __builtin_prefetch(reinterpret_cast<const char*>(last_) + 64);
  }
  void prefetch_chunk(uint32_t chunk) const { __builtin_prefetch(last_chunks_ + chunk); }

  bool idle() const { return active_count_ == 0; }
  /// Idle, and no message has come of a collective that has not started here.
  bool rests() const {
    return idle() && !unsettled_ && decided_.empty() && early_.empty() && early_received_.empty();
  }
  /// Has run what `like` has, the engine of another rank; both rest. `image`: the rank here in the place of
  /// one there.
  void adopt(const CollectiveEngine& like, const std::function<NpuId(NpuId)>& image);
  uint32_t active_collectives() const { return active_count_; }
  /// Chunks started beyond the slots (by SlotWaits and rescue), over the whole run.
  uint64_t out_of_order_starts() const { return out_of_order_; }

  /// For the stall report: one line an unfinished chunk (at most `limit`), saying which rank it waits for.
  std::vector<std::string> describe_waits(size_t limit) const;

  /// Changes of the engine's state, for probes: collective stream, phase and round of the chunk that moved
  /// last.
  struct Position {
    uint32_t stream = 0;
    uint32_t phase = 0;
    uint32_t round = 0;
    uint32_t active_chunks = 0;
  };
  const Position& position() const { return position_; }

 private:
  enum class Status : uint8_t { not_issued, waiting, starting, running, finished };
  /// One cache line: all that a message needs to know of its chunk.
  struct alignas(64) Chunk {
    Split split;
    Picoseconds since = 0;  ///< ready (waiting) or started (running)
    uint32_t waiting_for = 0;
    uint32_t round = 0;
    uint32_t rounds = 0;
    uint32_t me = 0;    ///< index along the phase's axis
    uint32_t sent = 0;  ///< messages of the round sent so far (direct with a window)
    uint32_t base = 0;  ///< AxisView::base of the phase's axis
    uint8_t phase = 0;
    Status status = Status::waiting;
    bool reverse = false;
    bool in_switch = false;   ///< the phase's messages go to and come from the switch's collective unit
    bool first_phase = true;  ///< its first phase is not over (dispatcher)
    bool decided = false;     ///< waits, and SlotWaits has told it to start beyond the slots
  };
  struct Received {
    uint64_t messages = 0;
    uint64_t bytes = 0;
    RunningSums split;
    void add(const Completion& c) {
      ++messages;
      bytes += c.bytes;
      split.add(c.split);
    }
  };
  /// The first two lines are what a message needs.
  struct alignas(128) Active {
    static void* operator new(std::size_t size, std::align_val_t) { return LargePages::allocate(size); }
    static void operator delete(void* memory, std::size_t size, std::align_val_t) noexcept {
      LargePages::release(memory, size);
    }
    std::vector<Chunk, LargePageAllocator<Chunk>> chunks;
    std::shared_ptr<const CollectivePlan> plan;
    std::shared_ptr<CollectiveData> data;  ///< null: sizes only
    SharedCollective* shared = nullptr;    ///< null: stands for all members
    Received received;
    std::vector<AxisView> views;
    std::vector<PhaseTime> phases;
    Picoseconds started = 0;
    uint64_t sequence = 0;  ///< order of issue at this rank
    uint32_t stream = 0;
    uint32_t unfinished = 0;
    int32_t priority = 0;
    std::vector<insight::ActivityId> causes;  ///< by chunk: what it became ready by; empty: nobody asks
  };
  struct Waiting {
    int64_t rank_key = 0;     ///< between collectives: smaller first
    uint64_t preference = 0;  ///< within a dimension: smaller first
    Picoseconds ready = 0;
    uint32_t stream = 0;
    uint32_t chunk = 0;
    Active* active = nullptr;
    bool operator<(const Waiting& o) const {
      if (rank_key != o.rank_key) return rank_key < o.rank_key;
      if (preference != o.preference) return preference < o.preference;
      if (ready != o.ready) return ready < o.ready;
      if (stream != o.stream) return stream < o.stream;
      return chunk < o.chunk;
    }
  };
  struct Running {
    Active* active = nullptr;
    uint32_t chunk = 0;
  };
  struct Queue {
    std::vector<Waiting> waiting;  ///< sorted; from `head` on
    size_t head = 0;
    std::vector<Running> running;
    bool dirty = false;
    bool gathered_last = true;                         ///< rg: the phase started last was an all-gather
    insight::ActivityId freed = insight::kNoActivity;  ///< what ended when a slot was freed last ..
    Picoseconds freed_at = kNever;                     ///< .. and when; kept for the causal log
  };
  /// What start() was asked for.
  struct Start {
    uint32_t stream = 0;
    std::shared_ptr<const CollectivePlan> plan;
    int32_t priority = 0;
    bool for_all = false;
    Picoseconds joined = 0;  ///< when start() was called: a what-if delay before now
  };
  void begin_collective(const Start& start);
  Active* find(uint32_t stream);
  Queue& queue_of(const Active& active, uint32_t chunk, uint32_t phase);
  bool reversed(const Active& active, uint32_t chunk, uint32_t phase) const;
  void enqueue(Active& active, uint32_t chunk);
  void settle();
  void serve(Queue& queue);
  void begin(Active& active, uint32_t chunk, Queue& queue);
  void tell_start(uint32_t stream, const CollectivePlan& plan, Picoseconds now) const;
  void tell_phase(const Active& active, uint32_t chunk, bool begins) const;
  void resume(const Active& active, uint32_t chunk, const Queue& queue);
  void enter_round(Active& active, uint32_t chunk);
  void contribute(Active& active, uint32_t chunk);
  void end_phase(Active& active, uint32_t chunk);
  void send(const Active& active, uint32_t chunk, const RoundSend& send, const PhaseShape& shape);
  bool windowed(const PhasePlan& phase) const;
  void send_more(Active& active, uint32_t chunk);
  void apply_round(Active& active, uint32_t chunk);
  void finish_chunk(Active& active);
  void finish(Active& active);
  void early(const Completion& completion);
  void mark(Queue& queue);
  void alternate(Queue& queue);
  int64_t key_of(const Active& active) const;
  uint64_t preference(const Active& active, uint32_t chunk) const;
  void dispatch();
  void start_decided();
  void issue(Active& active, uint32_t chunk);
  void skip_phases(const Active& active, Chunk& chunk) const;
  void current_chunks(std::vector<CurrentChunk>& out) const override;
  void start_beyond(const SharedCollective& collective, uint32_t chunk, Picoseconds at) override;
  uint32_t take_early(const Active& active, uint32_t chunk, uint32_t phase, uint32_t round);
  static Wide early_key(uint32_t stream, uint32_t chunk, uint32_t phase, uint32_t round) {
    return static_cast<Wide>(stream) << 64 | static_cast<uint64_t>(chunk) << 40 |
           static_cast<uint64_t>(phase) << 32 | round;
  }

  // Touched by every message: the first line.
  Active* last_ = nullptr;
  const Chunk* last_chunks_ = nullptr;
  MessagePort& port_;
  uint32_t last_stream_ = 0;
  bool has_window_ = false;  ///< collectives.direct_window is set
  bool unsettled_ = false;   ///< decided_ or dirty_ is not empty
  bool has_early_ = false;   ///< early_ is not empty
  Position position_;
  std::vector<Queue*> dirty_;
  NpuId rank_;
  const Config& config_;
  Done done_;
  uint32_t slots_ = 1;
  std::vector<Picoseconds> start_delays_;  ///< by dimension; empty: nmu.endpoint_delay for all
  static constexpr uint32_t kNoStream = ~0u;
  std::vector<uint32_t> streams_;                 ///< of actives_; kNoStream: over
  std::vector<std::unique_ptr<Active>> actives_;  ///< few; their places are used again
  std::vector<Queue> queues_;
  FlatMap<Wide, uint32_t> early_;               ///< messages of rounds that are not entered yet
  FlatMap<uint32_t, Received> early_received_;  ///< of collectives not started here yet
  DataContext* data_ = nullptr;
  /// Payloads that have arrived, by the round that will apply them.
  FlatMap<Wide, std::vector<uint32_t>> payloads_;
  struct Pending {
    Active* active = nullptr;  ///< null: a start of delayed_ or decided_ is due
    uint32_t chunk = 0;
    insight::ActivityId cause = insight::kNoActivity;
  };
  uint32_t take_token(const Pending& pending);
  Picoseconds start_delay(const Axis& axis) const;
  struct Decided {
    Picoseconds at = 0;
    uint32_t stream = 0;
    uint32_t chunk = 0;
    uint32_t phase = 0;
  };
  std::vector<Pending> pending_;  ///< chunks in their endpoint delay, by token
  std::vector<uint32_t> free_tokens_;
  std::map<uint32_t, Start> delayed_;  ///< by token: collectives in their what-if delay
  SlotWaits* waits_ = nullptr;
  insight::CausalLog* causes_ = nullptr;  ///< null: nobody asks
  std::vector<Decided> decided_;          ///< starts to come, in order
  std::vector<Waiting> undispatched_;     ///< sorted: chunks the dispatcher has not issued
  uint32_t in_first_phase_ = 0;
  uint32_t active_count_ = 0;
  uint64_t issued_ = 0;
  uint64_t out_of_order_ = 0;
};

}  // namespace weft::collectives

#endif
