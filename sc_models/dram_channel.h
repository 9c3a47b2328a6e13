// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// One channel of a DRAM stack with its controller: per pseudo-channel a window of requests and banks with
// open rows. What the controller does is a matter of policies (dram_policies.h); by default first ready,
// first come, first served, reads before writes until so many writes wait that they are drained. Column
// commands of the pseudo-channels are independent of each other, row commands share the channel's slots. No
// kernel: the caller says what time it is.

#ifndef WEFT_SC_MODELS_DRAM_CHANNEL_H
#define WEFT_SC_MODELS_DRAM_CHANNEL_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "configs/dram_spec.h"
#include "configs/types.h"
#include "sc_models/dram_policies.h"

namespace weft {

/// One burst.
struct DramRequest {
  uint64_t row = 0;
  uint32_t bank = 0;
  bool write = false;
  uint64_t token = 0;  ///< given back
};

class DramChannel {
 public:
  /// Of the default grouping of a window of 64: writes from which on they are drained, and down to which as
  /// long as reads wait.
  static constexpr uint32_t kWriteHigh = 26;
  static constexpr uint32_t kWriteLow = 6;

  /// `spec` outlives it. `policies`: their map is the caller's affair.
  DramChannel(const DramSpec& spec, const DramPolicies& policies);
  /// With the default policies. `window`: requests of a pseudo-channel among which the controller chooses.
  explicit DramChannel(const DramSpec& spec, uint32_t window = 64);

  struct Completion {
    uint64_t token = 0;
    Picoseconds at = 0;  ///< the last byte of read data is with the requester; a write is accepted by the row
  };

  /// A request that comes at `now`, when all commands before it are issued. It may set others free, which do
  /// not go before it either. Times must not decrease from call to call, nor from advance() to submit().
  void submit(uint32_t pseudo_channel, const DramRequest& request, Picoseconds now);

  /// When the next command is due (it may become earlier by submit()); kNever: nothing is waiting.
  Picoseconds next();

  /// Issues every command due by `now`; appends what they complete, whose times may lie ahead.
  void advance(Picoseconds now, std::vector<Completion>& done);

  /// No command of the channel before `until`: its pins are taken by a stream, which pays for the refreshes
  /// in its time and leaves all banks closed.
  void block(Picoseconds until);
  /// A row of a bank is open from `until` on, when block() has left it closed: the stream's next one.
  void open(uint32_t pseudo_channel, uint32_t bank, uint64_t row, Picoseconds until);

  /// What goes over the command pins.
  struct Command {
    enum class Kind : uint8_t { activate, precharge, read, write, refresh };
    Kind kind = Kind::activate;
    uint32_t pseudo_channel = 0;
    uint32_t bank = 0;  ///< of a refresh of all banks: 0
    uint64_t row = 0;
    Picoseconds at = 0;
    bool closes = false;  ///< of a column command: with auto-precharge
  };
  /// Appends every command from now on; null: no longer.
  void record(std::vector<Command>* commands) { commands_ = commands; }

  // -- statistics
  struct Counters {
    uint64_t reads = 0, writes = 0;
    uint64_t hits = 0;  ///< column commands to a row that was open when the request came
    uint64_t activates = 0, precharges = 0, refreshes = 0;
  };
  const Counters& counters() const { return counters_; }
  /// Requests that have not got their column command.
  uint32_t waiting() const { return waiting_; }

 private:
  static constexpr uint64_t kClosed = ~uint64_t{0};
  static constexpr uint32_t kNone = ~uint32_t{0};
  static constexpr uint64_t kBanks = 64;  ///< at most

  struct Waiting {
    static constexpr uint64_t kNoHit = 1, kWrite = 2, kNumber = 4 * kBanks;
    Picoseconds arrival = 0;  ///< no command before; on the clock
    uint64_t row = 0;
    uint64_t token = 0;
    uint64_t order = 0;  ///< in the order of arrival: its number x kNumber + bank x 4 + what it is
    bool write() const { return (order & kWrite) != 0; }
    bool hit() const { return (order & kNoHit) == 0; }  ///< so far
    uint32_t bank() const { return bank_of(order); }
  };
  static uint32_t bank_of(uint64_t order) { return static_cast<uint32_t>(order / 4 % kBanks); }
  /// Times that end in `_clock` are on the clock, the others are exact.
  struct Bank {
    uint64_t row = kClosed;
    Picoseconds read_clock = 0, write_clock = 0;
    Picoseconds precharge_clock = 0, activate_clock = 0;
    Picoseconds precharge_ready = 0, activate_ready = 0;
    uint32_t queued = 0;   ///< requests in the window, in their order, from place bank x bank_queue_ on
    uint32_t columns = 0;  ///< since the row was opened
    // The oldest of each kind in its queue, or kNone; and how many of each kind there are.
    uint32_t read_hit = kNone, write_hit = kNone, miss = kNone;
    uint32_t read_hits = 0, write_hits = 0, read_misses = 0, write_misses = 0;
    bool wanted() const { return (read_hits | write_hits) != 0; }  ///< its row, as it is
  };
  /// A command that could go. kNever: none.
  struct Best {
    Picoseconds at = kNever;
    uint64_t order = ~uint64_t{0};
    bool write = false;
    uint32_t bank() const { return bank_of(order); }
    bool before(const Best& o) const { return at != o.at ? at < o.at : order < o.order; }
    void offer(Picoseconds t, uint64_t o, bool w) {
      if (t != at ? t > at : o > order) return;  // of equals the oldest
      at = t;
      order = o;
      write = w;
    }
  };
  struct PseudoChannel {
    std::vector<Waiting> window;  ///< of each bank its queue
    std::vector<Waiting> behind;  ///< beyond the window, from `behind_first` on
    size_t behind_first = 0;
    uint32_t queued = 0;  ///< in the window
    uint32_t writes = 0;  ///< of them
    uint64_t next_order = 0;
    bool draining = false;  ///< writes go first
    std::vector<Bank> banks;
    // A bit a bank: a request to the open row waits, one to another row; its row is open.
    uint64_t read_hits = 0, write_hits = 0, read_misses = 0, write_misses = 0;
    // Row changes that could go, by bank: when, by the bank alone, and whose request it is. A bit a bank: its
    // row is to be closed, one is to be opened.
    std::vector<Picoseconds> row_ready;
    std::vector<uint64_t> row_order;
    uint64_t closings = 0, openings = 0;
    // Of them those that only wait for what is common to all banks, which is this late: the oldest goes
    // first.
    uint64_t ripe_closings = 0, ripe_openings = 0;
    Picoseconds closings_ripe_at = 0, openings_ripe_at = 0;
    // The oldest hits, by bank; reads, then writes: when, by bank and request alone, and in which order.
    std::vector<Picoseconds> column_ready;
    std::vector<uint64_t> column_order;
    std::vector<Picoseconds> group_read, group_write;  ///< earliest, by the last commands to the group
    std::vector<Picoseconds> group_activate;           ///< tRRDL
    Picoseconds read_clock = 0, write_clock = 0, activate_clock = 0;  ///< by the last commands to any group
    std::array<Picoseconds, 4> window_opens{};                        ///< tFAW of the last four
    uint32_t oldest_activate = 0;
    Picoseconds refresh = kNever;  ///< due
    uint32_t refresh_bank = 0;     ///< per-bank refresh: whose turn
    // What could go next on the pins of column commands and of row commands, where that is known. Row
    // changes of before stay known until their slot is taken.
    Best column, closing, opening;
    bool column_known = false, closing_known = false, opening_known = false;
    // The next command, if known.
    bool decided = false;
    enum class Next : uint8_t { none, column, row, refresh } command = Next::none;
    Picoseconds at = kNever;
    uint32_t bank = 0, position = 0;  ///< of its request
  };
  /// DramSpec's times in whole clocks, so that what begins on the clock stays on it.
  struct Clocks {
    Picoseconds rcd_read, rcd_write, rp, ras, rc, rtp, write_to_precharge, ccd_short, ccd_long, rrd_short,
        rrd_long, faw, rtw, write_to_read_short, write_to_read_long;
  };

  void note(Command::Kind kind, const PseudoChannel& pc, uint32_t bank, uint64_t row, bool closes = false) {
    if (commands_ == nullptr) return;
    commands_->push_back(
        {kind, static_cast<uint32_t>(&pc - pseudo_channels_.data()), bank, row, pc.at, closes});
  }
  Waiting* queue(PseudoChannel& pc, uint32_t bank) { return pc.window.data() + size_t{bank} * bank_queue_; }
  bool held_by_refresh(const PseudoChannel& pc, uint32_t bank, Picoseconds t) const {
    return pc.refresh <= t && (!spec_.per_bank_refresh || bank == pc.refresh_bank);
  }
  void push(PseudoChannel& pc, const Waiting& request);
  void admit(PseudoChannel& pc, Picoseconds now);
  void choose_direction(PseudoChannel& pc);
  void set_free(PseudoChannel& pc);
  void scan(PseudoChannel& pc, uint32_t bank);
  uint64_t column_candidates(const PseudoChannel& pc, bool writes) const;
  void find_column(PseudoChannel& pc);
  template <typename Time>
  void find_row(PseudoChannel& pc, uint64_t banks, Best& best, Time&& time) const;
  uint64_t ripen(const PseudoChannel& pc, uint64_t banks, uint64_t& ripe, Picoseconds& ripe_at,
                 Picoseconds at) const;
  uint64_t oldest_change(const PseudoChannel& pc, uint64_t banks) const;
  void find_closing(PseudoChannel& pc);
  void find_opening(PseudoChannel& pc);
  Picoseconds opens(const PseudoChannel& pc) const {
    return std::max({blocked_, row_free_, pc.activate_clock, pc.window_opens[pc.oldest_activate]});
  }
  void note_hit(PseudoChannel& pc, uint32_t bank, bool write);
  void offer_hit(PseudoChannel& pc, uint32_t bank, bool write);
  void note_row_change(PseudoChannel& pc, uint32_t bank);
  void offer_row(PseudoChannel& pc, uint32_t bank);
  void offer_column(PseudoChannel& pc, uint32_t bank, bool write) const;
  void undecided(PseudoChannel& pc) { pc.decided = earliest_known_ = false; }
  void unknown(PseudoChannel& pc) {
    pc.column_known = pc.closing_known = pc.opening_known = false;
    undecided(pc);
  }
  void take_out(PseudoChannel& pc, uint32_t bank, uint32_t position);
  void find_row_change(PseudoChannel& pc);
  void decide(PseudoChannel& pc);
  void decide_by_policy(PseudoChannel& pc);
  void decide_refresh(PseudoChannel& pc);
  void issue(PseudoChannel& pc, std::vector<Completion>& done);
  void column(PseudoChannel& pc, std::vector<Completion>& done);
  void activate(PseudoChannel& pc);
  void precharge(PseudoChannel& pc);
  void take_slots(uint32_t slots, Picoseconds t);
  void refresh(PseudoChannel& pc);
  void catch_up_refreshes(PseudoChannel& pc, Picoseconds now);
  void skip_refreshes(PseudoChannel& pc, Picoseconds now);
  PseudoChannel& earliest();
  Picoseconds refresh_interval() const {
    return on_clock(spec_.per_bank_refresh ? spec_.refi / spec_.banks() : spec_.refi);
  }
  Picoseconds on_clock(Picoseconds t) const { return (t + spec_.clock - 1) / spec_.clock * spec_.clock; }

  const DramSpec& spec_;
  const DramPolicies policies_;
  const uint32_t window_;
  const uint32_t bank_queue_;
  const bool first_ready_;  ///< the scheduler that is built in
  const bool separate_;     ///< reads and writes
  const bool may_close_;    ///< rows, by auto-precharge
  Clocks clocks_{};
  std::vector<uint8_t> group_of_;   ///< by bank
  std::vector<uint64_t> banks_of_;  ///< a bit a bank, by group
  /// The last request's time, the same on the clock, and the earliest of its commands.
  Picoseconds seen_ = 0, seen_clock_ = 0, clocked_ = 0;
  std::vector<PseudoChannel> pseudo_channels_;
  PseudoChannel* earliest_ = nullptr;
  bool earliest_known_ = false;
  std::vector<DramCandidate> candidates_;
  Picoseconds row_free_ = 0;  ///< the row-command slots before are taken
  Picoseconds blocked_ = 0;   ///< on the clock
  uint32_t waiting_ = 0;
  Counters counters_;
  std::vector<Command>* commands_ = nullptr;
};

}  // namespace weft

#endif
