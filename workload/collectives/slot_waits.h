// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Chunks that wait for each other's slots (docs/collective_waits.md has the rule and the reasons). Ranks that
// hold different chunks of their collectives can wait for each other in a circle. When one closes, each of
// its chunks that waits at a member is told to start there beyond the slots, a link's latency later.
//
// All engines of a simulation share one SlotWaits. They tell it what they begin; it asks them what they hold
// (SlotRank) only when a circle is possible. Whoever owns the simulation calls settled() when an instant in
// which SlotWaits has asked for it is over.

#ifndef WEFT_WORKLOAD_COLLECTIVES_SLOT_WAITS_H
#define WEFT_WORKLOAD_COLLECTIVES_SLOT_WAITS_H

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "workload/collectives/member_begins.h"
#include "workload/collectives/plan.h"

namespace weft::collectives {

/// A collective on its members: how many of them have begun each chunk in each phase.
class SharedCollective {
 public:
  SharedCollective(const Config& config, uint32_t stream, std::shared_ptr<const CollectivePlan> plan);

  uint32_t stream() const { return stream_; }
  const CollectivePlan& plan() const { return *plan_; }
  /// Numbers the chunks, phases and lines. `views`: of any member of the line.
  size_t index(const std::vector<AxisView>& views, uint32_t chunk, uint32_t phase) const {
    return (size_t{chunk} * phases_ + phase) * lines_ + (lines_ == 1 ? 0 : line(views, chunk, phase));
  }
  /// Largest latency of the links that the chunk uses in this phase.
  Picoseconds latency(uint32_t chunk, uint32_t phase) const {
    return axes_[plan_->phases(chunk)[phase].axis].latency;
  }
  bool has_started(const std::vector<AxisView>& views) const { return has_started(member(views)); }
  /// .. of one axis: the member at a place along it.
  bool has_one_axis() const { return axes_.size() == 1; }
  bool has_started(uint32_t number) const { return (started_[number / 64] >> number % 64 & 1) != 0; }

 private:
  friend class SlotWaits;
  uint32_t member(const std::vector<AxisView>& views) const;
  uint32_t line(const std::vector<AxisView>& views, uint32_t chunk, uint32_t phase) const;
  /// No member is missing. `index`: of the chunk in the phase.
  bool all_begun(size_t index, uint32_t chunk, uint32_t phase) const {
    return begun_[index] == axes_[plan_->phases(chunk)[phase].axis].size;
  }

  struct Line {
    uint32_t size = 1;        ///< members along the axis
    uint32_t inner = 1;       ///< member numbers step by this along the axis
    Picoseconds latency = 0;  ///< of the links it uses, the largest
  };
  uint32_t stream_;
  uint64_t key_ = 0;  ///< of SlotWaits
  std::shared_ptr<const CollectivePlan> plan_;
  std::vector<Line> axes_;
  uint32_t phases_ = 0;
  uint32_t lines_ = 1;  ///< largest number of lines of an axis
  uint32_t members_ = 1;
  uint32_t here_ = 1;  ///< of them, those that SlotWaits knows
  uint32_t finished_ = 0;
  std::vector<uint32_t> line_here_;  ///< by index(): members of the line that SlotWaits knows; 0: not counted
  std::vector<uint32_t> begun_;      ///< by index(): members; of an open one SlotWaits::kOpen and its number
  std::vector<uint64_t> started_;    ///< by member, bits
};

/// A chunk that a rank has and that is not over there.
struct CurrentChunk {
  enum class State : uint8_t { holds, waits, not_issued };
  SharedCollective* collective = nullptr;
  size_t index = 0;  ///< SharedCollective::index()
  uint32_t chunk = 0;
  uint32_t phase = 0;
  uint32_t queue = 0;
  State state = State::waits;  ///< `holds`: also if its start has been decided
  bool first_phase = false;    ///< counts for the dispatcher's threshold
};

/// A chunk in a phase that some members of its line have begun and some have not.
struct OpenChunk {
  static constexpr uint32_t kNone = ~0u;
  SharedCollective* collective = nullptr;
  size_t index = 0;
  const Axis* axis = nullptr;
  uint32_t chunk = 0;
  uint32_t phase = 0;
  uint32_t base = 0;  ///< AxisView::base of the line
  uint32_t queue = 0;
  uint32_t members = 0;         ///< that have begun it
  uint32_t node = kNone;        ///< in the present search
  bool stuck = false;           ///< in the last search of all
  std::vector<uint64_t> begun;  ///< by index along the axis, bits

  uint32_t rank(uint32_t i) const { return axis->rank(base, i); }
};

/// What SlotWaits may ask of a rank.
class SlotRank {
 public:
  virtual ~SlotRank() = default;
  /// The chunks of all collectives that this rank has started and not finished, collective by collective, by
  /// number. Adds to `out`.
  virtual void current_chunks(std::vector<CurrentChunk>& out) const = 0;
  /// The chunk, which waits here, starts at `at` beyond the slots.
  virtual void start_beyond(const SharedCollective& collective, uint32_t chunk, Picoseconds at) = 0;
};

class SlotCircles;

class SlotWaits {
 public:
  /// `ask`: calls settled() when the present instant is over everywhere; called at most once until then.
  SlotWaits(const Config& config, std::function<void()> ask);
  ~SlotWaits();
  SlotWaits(const SlotWaits&) = delete;
  SlotWaits& operator=(const SlotWaits&) = delete;

  void add(NpuId rank, SlotRank& who);
  /// Not all of the machine's `npus` will be added: the others are simulated elsewhere, or begin with those
  /// that stand for them. Circles are then found among those that are added; one that passes others is not.
  /// Before the first one is added. `tell`: member_begins() is kept.
  void expect_some_of(uint32_t npus, bool tell);
  /// With expect_some_of() and `tell`: when the ranks have begun chunks, and waited for messages.
  const MemberBegins& member_begins() const { return member_begins_; }

  /// The rank starts its part of a collective. The result lives until all members have finished. Null: other
  /// members have started it with another plan.
  SharedCollective* started(uint32_t stream, const std::shared_ptr<const CollectivePlan>& plan, NpuId rank,
                            const std::vector<AxisView>& views);
  /// The rank has finished its part.
  void finished(SharedCollective& collective);

  /// The rank begins the chunk in a phase. Not of chunks whose start was decided here.
  void begun(SharedCollective& collective, const std::vector<AxisView>& views, uint32_t chunk, uint32_t phase,
             NpuId rank, Picoseconds now) {
    if (now != now_) advance(now);
    const size_t at = collective.index(views, chunk, phase);
    if ((collective.begun_[at] & kOpen) == 0) ++collective.begun_[at];
    const AxisView& view = views[collective.plan().phases(chunk)[phase].axis];
    if (tell_) note_begin(collective, at, *view.axis, view.base, weft::index(rank), 0);
    begins_.push_back({&collective, at, chunk, phase, weft::index(rank), view.me, view.base});
    if (!asked_) consider(begins_.back());
  }
  /// The rank ends the chunk in a phase. If others have not begun it, what the rank holds may have been
  /// stuck.
  void ended(const SharedCollective& collective, const std::vector<AxisView>& views, uint32_t chunk,
             uint32_t phase, NpuId rank, Picoseconds now) {
    if (now != now_) advance(now);
    if (wanted(weft::index(rank)) &&
        !collective.all_begun(collective.index(views, chunk, phase), chunk, phase))
      look_at(weft::index(rank));
  }
  /// A chunk has become ready at the rank, or waits for the dispatcher from now on.
  void came_up(NpuId rank, Picoseconds now) {
    if (now != now_) advance(now);
    if (wanted(weft::index(rank))) look_at(weft::index(rank));
  }
  /// The rank waits for a point-to-point message of `source`; it has come.
  void message_awaited(NpuId rank, NpuId source, Picoseconds now);
  void message_came(NpuId rank, NpuId source, Picoseconds now);

  /// Who hears when a search goes on from a rank to one whose message it waits for; empty: nobody.
  void on_follow(std::function<void(uint32_t rank, uint32_t source)> call) { on_follow_ = std::move(call); }

  /// The instant is over: finds circles that closed in it and decides starts.
  void settled();

  // For SlotCircles.
  const Config& config() const { return config_; }
  SlotRank& rank(uint32_t r) { return *ranks_[r]; }
  /// Null: not open.
  OpenChunk* find(const SharedCollective& collective, size_t index) {
    const uint32_t begun = collective.begun_[index];
    return (begun & kOpen) == 0 ? nullptr : opens_[begun & ~kOpen].get();
  }
  /// The rank has begun some open chunk: without one, nothing that it holds can be stuck.
  bool engaged(uint32_t rank) const { return engaged_[rank] != 0; }
  /// A search goes on from the rank to one whose message it waits for.
  void follows(uint32_t rank, uint32_t source) const {
    if (on_follow_) on_follow_(rank, source);
  }
  /// The ranks whose messages this one waits for.
  const std::vector<uint32_t>& awaited_by(uint32_t rank) const { return sources_[rank]; }

 private:
  static constexpr uint32_t kOpen = 1u << 31;
  struct Begin {
    SharedCollective* collective = nullptr;
    size_t at = 0;
    uint32_t chunk = 0;
    uint32_t phase = 0;
    uint32_t rank = 0;
    uint32_t me = 0;
    uint32_t base = 0;
  };

  void make_room(size_t ranks);
  /// Members of the line that are here. `at`: SharedCollective::index() of a chunk on it.
  uint32_t here(SharedCollective& collective, size_t at, const Axis& axis, uint32_t base) const;
  /// Members of the collective that are here. `views`: of any member.
  uint32_t members_here(const SharedCollective& collective, const std::vector<AxisView>& views,
                        uint32_t first) const;
  /// In parts: keeps when it was, if the line is on others, too.
  void note_begin(SharedCollective& collective, size_t at, const Axis& axis, uint32_t base, uint32_t rank,
                  uint32_t decided);
  void advance(Picoseconds now);
  void consider(const Begin& begin);
  void look_at(uint32_t rank);
  void request();
  void book();
  void open(const Begin& begin);
  void add_begin(const Begin& begin);
  bool add_changes();
  void add_all();
  void decide(uint32_t rank, const CurrentChunk& chunk, Picoseconds at, uint32_t decided);
  /// Some open chunk misses the rank, or a message of it: only then an arrow leads to what it holds.
  bool wanted(uint32_t rank) const { return (missed_[rank] | awaited_[rank]) != 0; }

  const Config& config_;
  std::function<void()> ask_;
  std::function<void(uint32_t, uint32_t)> on_follow_;
  std::vector<SlotRank*> ranks_;  ///< null: simulated elsewhere
  MemberBegins member_begins_;
  bool some_ = false;                           ///< there are such
  bool tell_ = false;                           ///< member_begins_ is kept
  std::vector<uint32_t> missed_;                ///< by rank: open chunks that it has not begun
  std::vector<uint32_t> engaged_;               ///< by rank: open chunks that it has begun
  std::vector<uint32_t> awaited_;               ///< by rank: messages of it that others wait for
  std::vector<std::vector<uint32_t>> sources_;  ///< by rank
  std::vector<Begin> begins_;                   ///< of the present instant
  std::vector<uint32_t> looked_at_;             ///< ranks, likewise
  Picoseconds now_ = 0;
  bool asked_ = false;
  bool some_stuck_ = false;  ///< at the end of the last search of all open chunks
  bool less_stuck_ = false;  ///< something has happened since by which a stuck chunk may have become unstuck
  std::vector<std::unique_ptr<OpenChunk>> opens_;
  std::vector<uint32_t> free_opens_;
  std::unordered_map<uint64_t, std::unique_ptr<SharedCollective>> collectives_;  ///< by stream, first member
  std::vector<std::unique_ptr<SharedCollective>> over_;                          ///< finished in this instant
  SharedCollective* last_ = nullptr;
  uint64_t last_key_ = 0;
  std::unique_ptr<SlotCircles> circles_;
};

}  // namespace weft::collectives

#endif
