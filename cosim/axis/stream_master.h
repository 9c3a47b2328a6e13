// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Drives an AXI4-Stream slave port of a block: frames in, beats out. A beat stays on the pins until the block
// takes it.

#ifndef WEFT_COSIM_AXIS_STREAM_MASTER_H
#define WEFT_COSIM_AXIS_STREAM_MASTER_H

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <systemc>
#include <vector>

#include "configs/types.h"
#include "cosim/axis/stream_checker.h"
#include "cosim/axis/stream_frame.h"
#include "cosim/axis/stream_pins.h"
#include "cosim/clock/block_clock.h"

namespace weft::cosim {

class StreamMaster final : public sc_core::sc_module, private ClockUser {
 public:
  struct Options {
    uint32_t queue_frames = 0;  ///< frames that wait or are being sent; 0: any number
    /// A block without TKEEP gets whole beats: a frame that is none is filled up with zeros. Otherwise such a
    /// frame is an error.
    bool pad = false;
  };
  /// The edges at which the block has taken the first and the last beat.
  using Sent = std::function<void(Picoseconds first, Picoseconds last)>;

  /// Errors: UserError(usage) when pins are missing, have the wrong direction, or do not fit each other; it
  /// names block and pin and says what to do.
  StreamMaster(sc_core::sc_module_name name, BlockClock& clock, StreamPins pins, Options options);
  StreamMaster(sc_core::sc_module_name name, BlockClock& clock, StreamPins pins);
  ~StreamMaster() override;

  /// Frames are sent in the order of the calls. The frame is there at `at` (now, if that is past): edges
  /// strictly after it see its first beat. With a `pace` a beat is there when its last byte is: at + (bytes
  /// of the frame up to it) / pace. `done` is called at the edge that takes the last beat, and may send.
  /// Errors: UserError(usage) for a frame that the pins cannot carry (sideband too wide, partial beats
  /// without TKEEP); std::logic_error without space().
  void send(StreamFrame frame, Picoseconds at, Sent done = {}, Rate pace = {});
  /// The queue takes one more frame.
  bool space() const { return options_.queue_frames == 0 || queue_.size() < options_.queue_frames; }
  /// Called at the edge at which a full queue gets space again.
  void on_space(std::function<void()> call) { on_space_ = std::move(call); }

  size_t queued() const { return queue_.size(); }
  uint32_t beat_bytes() const { return beat_bytes_; }
  /// Beats of a frame of so many bytes: at least one.
  uint64_t beats(uint64_t bytes) const { return bytes == 0 ? 1 : (bytes + beat_bytes_ - 1) / beat_bytes_; }
  uint64_t frames_sent() const { return checker_.frames(); }
  uint64_t beats_sent() const { return checker_.beats(); }
  uint64_t bytes_sent() const { return bytes_sent_; }
  StreamChecker& checker() { return checker_; }
  const StreamPins& pins() const { return pins_; }
  /// What it waits for: names the block's pins and the handshake; "": nothing.
  std::string stall_text() const;

 private:
  struct Entry {
    StreamFrame frame;
    Picoseconds at = 0;
    Picoseconds sent = 0;  ///< when send() was called
    Rate pace;
    Sent done;
    uint64_t next = 0;  ///< first byte of the beat that comes next or is shown
    Picoseconds first = 0;
    bool taken = false;  ///< at least one beat
  };

  void edge(Picoseconds now, bool reset) override;
  bool quiet() const override;
  void before_end_of_elaboration() override;
  Picoseconds due(const Entry& entry) const;
  void wake_for(const Entry& entry);
  void take(Picoseconds now);
  void show(const Entry& entry);
  void show_keep(uint32_t count);
  void drive_valid(bool valid);
  void check_carries(const StreamFrame& frame) const;

  BlockClock& clock_;
  StreamPins pins_;
  Options options_;
  StreamChecker checker_;
  uint32_t beat_bytes_ = 0;
  std::deque<Entry> queue_;
  bool valid_ = false;  ///< a beat is shown that was not taken
  // What the pins have.
  bool driven_valid_ = false;
  bool last_ = false;
  uint32_t kept_ = 0;
  Picoseconds woken_for_ = kNever;  ///< the latest time that the clock was told
  std::vector<uint32_t> words_;
  std::vector<uint32_t> keep_;
  const bool has_last_;  ///< the port has TLAST
  std::function<void()> on_space_;
  uint64_t bytes_sent_ = 0;
};

}  // namespace weft::cosim

#endif
