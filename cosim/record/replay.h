// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What replays have in common: the answers of a block are compared with those of its recording, and the first
// difference in time is told.

#ifndef WEFT_COSIM_RECORD_REPLAY_H
#define WEFT_COSIM_RECORD_REPLAY_H

#include <cstdint>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "cosim/record/recording.h"

namespace weft::cosim {

struct ReplayOptions {
  /// Answers may come so much earlier or later than recorded. 0: exactly when recorded.
  Picoseconds tolerance = 0;
};

struct Difference {
  Picoseconds at = 0;   ///< when the answer is there, or was to be
  std::string port;     ///< the link that it leaves by
  std::string message;  ///< who it is of: collective, chunk, phase, round, packet
  std::string what;     ///< what is different
};

/// "at 12.5 us (12500000 ps), link job.switch0_1.to3: message ..: .."
std::string describe(const Difference& difference);

/// Errors: UserError(usage) for a recording of another kind of block, or at another fidelity.
void check_kind(const Recording& recording, const std::string& kind, const std::string& level);

/// The number in the block's name, of which `kind` is the rest: `npu3`. Errors: UserError(usage) without one.
NpuId numbered(const Recording& recording, const std::string& kind);

/// A recording and the differences that a replay of it has found.
class ReplayReport {
 public:
  explicit ReplayReport(const Recording& recording) : recording_(recording) {}

  void differs(Picoseconds at, uint32_t port, const RecordedEvent& event, std::string what);
  void agrees() { ++agreed_; }
  /// A difference that names its own place and time.
  void tell(std::string line) { told_.push_back(std::move(line)); }
  const std::vector<std::string>& told() const { return told_; }
  /// Another difference is a fault that the block's pins have shown.
  void faulty() { ++faults_; }
  uint64_t faults() const { return faults_; }
  /// The earliest; null: there is none.
  const Difference* first() const { return count_ == 0 ? nullptr : &first_; }
  uint64_t differences() const { return count_; }
  uint64_t agreed() const { return agreed_; }

 private:
  const Recording& recording_;
  Difference first_;
  uint64_t count_ = 0;
  uint64_t agreed_ = 0;
  uint64_t faults_ = 0;
  std::vector<std::string> told_;
};

/// What goes into a block, when it went in in the recording.
class ReplayFeed {
 public:
  explicit ReplayFeed(const Recording& recording) : recording_(recording), due_("next") {}

  /// A process that is sensitive to it, and runs at the start, calls enter().
  sc_core::sc_event& due() { return due_; }
  /// Hands over what is due now.
  template <typename Enter>
  void enter(const Enter& enter) {
    const Picoseconds now = sc_core::sc_time_stamp().value();
    for (; position_ < recording_.events.size(); ++position_) {
      const RecordedEvent& event = recording_.events[position_];
      if (!event.into) continue;
      if (event.at > now) return due_.notify(sc_core::sc_time::from_value(event.at - now));
      enter(event);
    }
  }

 private:
  const Recording& recording_;
  sc_core::sc_event due_;
  size_t position_ = 0;
};

/// A testbench of one block.
class BlockReplay {
 public:
  virtual ~BlockReplay() = default;
  /// Once nothing moves any more: what has not come is a difference, too.
  virtual void finish() = 0;
  virtual const ReplayReport& report() const = 0;
  /// What went in, and was to come out: "messages", "packets".
  virtual const char* unit() const = 0;
  virtual uint64_t driven() const = 0;
  virtual uint64_t expected() const = 0;
  /// What the block waits for; "": nothing.
  virtual std::string stall_text() const = 0;
};

}  // namespace weft::cosim

#endif
