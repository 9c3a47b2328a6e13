// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Takes what an AXI4-Stream master port of a block sends: beats in, frames out. TREADY follows from the space
// that its queue has before a beat comes.

#ifndef WEFT_COSIM_AXIS_STREAM_SLAVE_H
#define WEFT_COSIM_AXIS_STREAM_SLAVE_H

#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "configs/types.h"
#include "cosim/axis/stream_checker.h"
#include "cosim/axis/stream_frame.h"
#include "cosim/axis/stream_pins.h"
#include "cosim/clock/block_clock.h"

namespace weft::cosim {

class StreamSlave final : public sc_core::sc_module, private ClockUser {
 public:
  struct Options {
    /// Beats that were taken and not released; TREADY is low when there are so many. 0: any number, and
    /// nobody need release.
    uint32_t queue_beats = 0;
    /// Of a block without TLAST: a frame ends after so many bytes. 0: each beat is a frame.
    uint64_t frame_bytes = 0;
    bool interleaved = false;  ///< frames of several TIDs and TDESTs may come beat by beat
    /// True: TREADY may be high at the edge with this number (BlockClock::cycle). Null: always.
    std::function<bool(uint64_t cycle)> ready;
  };
  /// One beat that was taken at `at`.
  struct Beat {
    Picoseconds at = 0;
    const uint8_t* bytes = nullptr;  ///< those with TKEEP; until the call returns
    uint32_t count = 0;
    bool first = false;  ///< of its frame
    bool last = false;
    uint64_t id = 0;
    uint64_t dest = 0;
    uint64_t user = 0;
  };
  using OnBeat = std::function<void(const Beat&)>;
  /// A frame, and the edges at which its first and its last beat were taken. Called at the latter.
  using OnFrame = std::function<void(StreamFrame frame, Picoseconds first, Picoseconds last)>;

  /// Errors: as StreamMaster's.
  StreamSlave(sc_core::sc_module_name name, BlockClock& clock, StreamPins pins, OnFrame on_frame,
              Options options);
  StreamSlave(sc_core::sc_module_name name, BlockClock& clock, StreamPins pins, OnFrame on_frame);
  ~StreamSlave() override;

  void on_beat(OnBeat call) { on_beat_ = std::move(call); }
  /// So many beats have left the queue, now: TREADY may rise at the first edge strictly after that.
  void release(uint32_t beats);
  /// In the queue: taken and not released.
  uint32_t held() const { return held_; }

  uint32_t beat_bytes() const { return beat_bytes_; }
  uint64_t beats(uint64_t bytes) const { return bytes == 0 ? 1 : (bytes + beat_bytes_ - 1) / beat_bytes_; }
  uint64_t frames_taken() const { return frames_; }
  uint64_t beats_taken() const { return checker_.beats(); }
  uint64_t bytes_taken() const { return bytes_; }
  /// A frame has begun and not ended.
  bool in_frame() const { return !open_.empty(); }
  StreamChecker& checker() { return checker_; }
  const StreamPins& pins() const { return pins_; }
  /// Why nothing comes out any more: a full queue, or a frame without its end; "": nothing is held.
  std::string stall_text() const;

 private:
  struct Open {
    StreamFrame frame;
    Picoseconds first = 0;
    uint64_t beats = 0;
  };

  void edge(Picoseconds now, bool reset) override;
  bool quiet() const override;
  void before_end_of_elaboration() override;
  void take(Picoseconds now);
  void gather();
  Open& open_frame(uint64_t id, uint64_t dest);
  void drive(bool ready);

  BlockClock& clock_;
  StreamPins pins_;
  Options options_;
  StreamChecker checker_;
  OnFrame on_frame_;
  OnBeat on_beat_;
  uint32_t beat_bytes_ = 0;
  bool ready_ = false;
  uint32_t held_ = 0;
  uint32_t visible_ = 0;  ///< held, as edges see it
  /// Released beats that edges do not see yet: when, how many.
  std::queue<std::pair<Picoseconds, uint32_t>> released_;
  std::vector<Open> open_;
  std::vector<uint8_t> beat_;  ///< bytes of the one that is being taken
  uint64_t frames_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace weft::cosim

#endif
