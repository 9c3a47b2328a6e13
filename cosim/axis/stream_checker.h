// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Watches one AXI4-Stream boundary, edge by edge, whoever drives it. The rules (AMBA AXI4-Stream, ARM IHI
// 0051):
//
//   withdrawn   TVALID stays high until TREADY
//   changed     TDATA (bytes with TKEEP), TKEEP, TLAST, TID, TDEST and TUSER stay while TVALID waits
//   keep        TKEEP has no holes: the bytes of a frame are packed from byte 0, and only its last beat has
//               fewer of them (AXI4-Stream as such allows null bytes anywhere: allow_sparse())
//   sideband    TID and TDEST are the same in all beats of a frame
//   reset       TVALID is low while the reset is active
//   open        a frame that has begun ends with a TLAST (at the end of the run)
//   stuck       a TVALID that waits gets its TREADY (at the end of the run)

#ifndef WEFT_COSIM_AXIS_STREAM_CHECKER_H
#define WEFT_COSIM_AXIS_STREAM_CHECKER_H

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "configs/types.h"
#include "cosim/axis/stream_pins.h"

namespace weft::cosim {

class StreamChecker {
 public:
  enum class Rule : uint8_t { withdrawn, changed, keep, sideband, reset, open, stuck };
  struct Violation {
    Rule rule = Rule::withdrawn;
    Picoseconds at = 0;
    std::string text;  ///< names block, pins, time, and what to do
  };
  using Report = std::function<void(const Violation&)>;

  /// By default a violation is thrown as UserError(usage). The pins outlive the checker.
  explicit StreamChecker(const StreamPins& pins);
  /// Who hears of violations instead.
  void report_to(Report report) { report_ = std::move(report); }
  /// Frames of several TIDs and TDESTs may be interleaved beat by beat.
  void allow_interleaving() { interleaved_ = true; }

  /// Null bytes may be anywhere.
  void allow_sparse() { sparse_ = true; }

  /// At a rising edge, before anything is written. Returns true if a beat is taken at this edge.
  bool edge(Picoseconds now, bool reset);
  /// The same for a sender that knows what it shows, with TVALID high: only the handshake is watched, which
  /// is cheaper. `last`: the beat is the last one of its frame.
  bool handshake(Picoseconds now, bool last) {
    if (ready_->high()) {
      if (last) ++frames_;
      ++beats_;
      waiting_ = false;
      return true;
    }
    if (!waiting_) since_ = now;
    waiting_ = true;
    return false;
  }
  /// After the run: what is still open.
  void finish(Picoseconds now);

  /// What the last edge saw on a pin; only if it saw TVALID. Without the pin: null.
  const uint32_t* words(StreamSignal signal) const {
    const Seen& s = seen(signal);
    return s.pin == nullptr ? nullptr : s.now.data();
  }
  /// .. its lowest 64 bits; without the pin 0.
  uint64_t value(StreamSignal signal) const;
  /// Bytes with TKEEP at the last edge.
  uint32_t kept() const;

  /// A beat waits for its TREADY, since when (the first edge that saw it), and the handshake in words; "":
  /// none waits.
  bool waiting() const { return waiting_; }
  Picoseconds waiting_since() const { return since_; }
  std::string stall_text() const;

  uint64_t beats() const { return beats_; }
  uint64_t frames() const { return frames_; }
  uint64_t violations() const { return violations_; }

 private:
  struct Seen {  ///< one pin's value at the last edge, and when TVALID began to wait
    Pin* pin = nullptr;
    uint32_t bits = 0;
    std::vector<uint32_t> now;
    std::vector<uint32_t> then;
  };
  struct Frame {  ///< that has begun
    uint64_t id = 0;
    uint64_t dest = 0;
    uint64_t beats = 0;
    Picoseconds first = 0;
  };

  void broken(Rule rule, Picoseconds now, StreamSignal pin, const std::string& what,
              const std::string& remedy);
  void sample();
  bool stable(StreamSignal signal) const;
  void check_stable(Picoseconds now);
  void check_keep(Picoseconds now, bool last);
  void check_frame(Picoseconds now);
  Seen& seen(StreamSignal signal) { return seen_[static_cast<size_t>(signal)]; }
  const Seen& seen(StreamSignal signal) const { return seen_[static_cast<size_t>(signal)]; }

  std::string port_;  ///< begins messages
  std::array<Seen, kStreamSignals> seen_;
  const Pin* ready_ = nullptr;  ///< TREADY
  uint32_t data_bytes_ = 0;
  bool interleaved_ = false;
  bool sparse_ = false;
  bool waiting_ = false;
  Picoseconds since_ = 0;
  std::vector<Frame> open_;
  uint64_t beats_ = 0;
  uint64_t frames_ = 0;
  uint64_t violations_ = 0;
  Report report_;
};

const char* to_string(StreamChecker::Rule rule);

}  // namespace weft::cosim

#endif
