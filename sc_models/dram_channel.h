// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// One channel of a DRAM stack with its controller: per pseudo-channel a window of requests and banks with
// open rows; first ready, first come, first served, reads before writes until so many writes wait that they
// are drained. Column commands of the pseudo-channels are independent of each other, row commands share the
// channel's slots. No kernel: the caller says what time it is.

#ifndef WEFT_SC_MODELS_DRAM_CHANNEL_H
#define WEFT_SC_MODELS_DRAM_CHANNEL_H

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "configs/dram_spec.h"
#include "configs/types.h"

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
  /// Writes in the window of a pseudo-channel from which on they are drained, and down to which as long as
  /// reads wait. Ramulator drains a queue of 32 from above 80 % to below 20 %.
  static constexpr uint32_t kWriteHigh = 26;
  static constexpr uint32_t kWriteLow = 6;

  /// `spec` outlives it. `window`: requests of a pseudo-channel among which the controller chooses.
  DramChannel(const DramSpec& spec, uint32_t window = 64);

  struct Completion {
    uint64_t token = 0;
    Picoseconds at = 0;  ///< the last byte of read data is with the requester; a write is accepted by the row
  };

  /// A request that comes at `now`. Times must not decrease from call to call, nor from advance() to
  /// submit().
  void submit(uint32_t pseudo_channel, const DramRequest& request, Picoseconds now);

  /// When the next command is due (it may become earlier by submit()); kNever: nothing is waiting.
  Picoseconds next();

  /// Issues every command due by `now`; appends what they complete, whose times may lie ahead.
  void advance(Picoseconds now, std::vector<Completion>& done);

  /// No command of the channel before `until` (its pins are taken by a stream).
  void block(Picoseconds until);

  /// What goes over the command pins.
  struct Command {
    enum class Kind : uint8_t { activate, precharge, read, write, refresh };
    Kind kind = Kind::activate;
    uint32_t pseudo_channel = 0;
    uint32_t bank = 0;  ///< of a refresh of all banks: 0
    uint64_t row = 0;
    Picoseconds at = 0;
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

  struct Waiting {
    DramRequest request;
    Picoseconds arrival = 0;
    bool hit = true;  ///< so far
  };
  struct Bank {
    uint64_t row = kClosed;
    Picoseconds read_ready = 0, write_ready = 0, precharge_ready = 0, activate_ready = 0;
  };
  struct PseudoChannel {
    std::vector<Waiting> window;  ///< in the order of arrival
    std::deque<Waiting> behind;
    uint32_t writes = 0;            ///< in the window
    bool draining = false;          ///< writes go first
    std::vector<uint32_t> of_bank;  ///< requests in the window
    std::vector<Bank> banks;
    std::vector<Picoseconds> group_read, group_write;  ///< earliest, by the last commands to the group
    std::vector<Picoseconds> group_activate;           ///< tRRDL
    Picoseconds read_ready = 0, write_ready = 0, activate_ready = 0;  ///< by the last commands to any group
    std::array<Picoseconds, 4> activates{};                           ///< the last four
    uint32_t oldest_activate = 0;
    Picoseconds refresh = kNever;  ///< due
    uint32_t refresh_bank = 0;     ///< per-bank refresh: whose turn
    // The next command, if known.
    bool decided = false;
    enum class Next : uint8_t { none, read, write, activate, precharge, refresh } command = Next::none;
    Picoseconds at = kNever;
    uint32_t index = 0;  ///< into the window
  };

  void note(Command::Kind kind, const PseudoChannel& pc, uint32_t bank, uint64_t row) {
    if (commands_ == nullptr) return;
    commands_->push_back({kind, static_cast<uint32_t>(&pc - pseudo_channels_.data()), bank, row, pc.at});
  }
  /// What the requests in the window want of the banks, a bit each, and of the pins.
  struct Wishes {
    uint64_t hits = 0;  ///< a request to the open row waits
    uint64_t direction_misses =
        0;  ///< one that goes first (a read, or a write while they are drained) needs another row
    bool direction_hit = false;  ///< one that goes first needs a column command only
  };
  Wishes wishes(const PseudoChannel& pc) const;
  void admit(PseudoChannel& pc, Picoseconds now);
  void decide(PseudoChannel& pc);
  void decide_refresh(PseudoChannel& pc, bool somebody_waits);
  void issue(PseudoChannel& pc, std::vector<Completion>& done);
  void column(PseudoChannel& pc, std::vector<Completion>& done);
  void activate(PseudoChannel& pc);
  void precharge(PseudoChannel& pc);
  void refresh(PseudoChannel& pc);
  void catch_up_refreshes(PseudoChannel& pc, Picoseconds now);
  void skip_refreshes(PseudoChannel& pc, Picoseconds now);
  PseudoChannel* earliest();
  Picoseconds slot(Picoseconds t) const;  ///< on the channel's clock, with a row-command slot
  /// Between refreshes of a pseudo-channel: of all its banks, or of one bank after the other.
  Picoseconds refresh_interval() const {
    return on_clock(spec_.per_bank_refresh ? spec_.refi / spec_.banks() : spec_.refi);
  }
  Picoseconds on_clock(Picoseconds t) const { return (t + spec_.clock - 1) / spec_.clock * spec_.clock; }

  const DramSpec& spec_;
  const uint32_t window_;
  const uint32_t bank_queue_;
  std::vector<PseudoChannel> pseudo_channels_;
  Picoseconds row_free_ = 0;  ///< the row-command slots before are taken
  Picoseconds blocked_ = 0;
  uint32_t waiting_ = 0;
  Counters counters_;
  std::vector<Command>* commands_ = nullptr;
};

}  // namespace weft

#endif
