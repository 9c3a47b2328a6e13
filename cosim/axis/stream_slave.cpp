// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/axis/stream_slave.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "configs/units.h"

namespace weft::cosim {

StreamSlave::StreamSlave(sc_core::sc_module_name module_name, BlockClock& clock, StreamPins pins,
                         OnFrame on_frame, Options options)
    : sc_core::sc_module(module_name),
      clock_(clock),
      pins_(StreamPins::checked(std::move(pins), false)),
      options_(std::move(options)),
      checker_(pins_),
      on_frame_(std::move(on_frame)),
      beat_bytes_(pins_.width(StreamSignal::tdata) / 8) {
  if (options_.interleaved) checker_.allow_interleaving();
  beat_.reserve(beat_bytes_);
  clock_.add(*this);
}

StreamSlave::StreamSlave(sc_core::sc_module_name module_name, BlockClock& clock, StreamPins pins,
                         OnFrame on_frame)
    : StreamSlave(module_name, clock, std::move(pins), std::move(on_frame), Options{}) {}

StreamSlave::~StreamSlave() = default;

void StreamSlave::before_end_of_elaboration() {
  pins_.check_block();
}

void StreamSlave::edge(Picoseconds now, bool reset) {
  if (checker_.edge(now, reset)) take(now);
  while (!released_.empty() && released_.front().first < now) {
    visible_ -= released_.front().second;
    released_.pop();
  }
  const bool space = options_.queue_beats == 0 || visible_ < options_.queue_beats;
  drive(!reset && space && (!options_.ready || options_.ready(clock_.cycle(now) + 1)));
}

void StreamSlave::drive(bool ready) {
  if (ready == ready_) return;
  ready_ = ready;
  pins_.driven(StreamSignal::tready)->write_value(ready ? 1 : 0);
}

/// Nothing comes, and TREADY is what it will be.
bool StreamSlave::quiet() const {
  return released_.empty() && !pins_.read(StreamSignal::tvalid)->high();
}

StreamSlave::Open& StreamSlave::open_frame(uint64_t id, uint64_t dest) {
  const auto found = std::find_if(open_.begin(), open_.end(), [&](const Open& open) {
    return !options_.interleaved || (open.frame.id == id && open.frame.dest == dest);
  });
  if (found != open_.end()) return *found;
  open_.emplace_back();
  return open_.back();
}

/// The bytes of the beat that have TKEEP, into beat_.
void StreamSlave::gather() {
  const uint32_t* data = checker_.words(StreamSignal::tdata);
  const uint32_t* keep = checker_.words(StreamSignal::tkeep);
  beat_.clear();
  if (checker_.kept() == beat_bytes_) {
    beat_.resize(beat_bytes_);
    for (uint32_t i = 0; i < beat_bytes_; ++i) beat_[i] = static_cast<uint8_t>(data[i / 4] >> 8 * (i % 4));
    return;
  }
  for (uint32_t word = 0; word * 4 < beat_bytes_; ++word) {
    const uint32_t keeps = keep == nullptr ? 0xf : keep[word / 8] >> 4 * (word % 8) & 0xf;
    for (uint32_t i = 0; i < 4 && word * 4 + i < beat_bytes_; ++i) {
      if ((keeps >> i & 1) != 0) beat_.push_back(static_cast<uint8_t>(data[word] >> 8 * i));
    }
  }
}

void StreamSlave::take(Picoseconds now) {
  clock_.progress();
  if (options_.queue_beats != 0) {
    ++held_;
    ++visible_;
  }
  gather();
  bytes_ += beat_.size();
  const uint64_t id = checker_.value(StreamSignal::tid);
  const uint64_t dest = checker_.value(StreamSignal::tdest);
  Open& open = open_frame(id, dest);
  StreamFrame& frame = open.frame;
  const bool first = open.beats++ == 0;
  if (first) {
    frame.id = id;
    frame.dest = dest;
    frame.user = checker_.value(StreamSignal::tuser);
    open.first = now;
  }
  frame.bytes.insert(frame.bytes.end(), beat_.begin(), beat_.end());
  const bool has_last = checker_.words(StreamSignal::tlast) != nullptr;
  const bool last =
      has_last ? (checker_.value(StreamSignal::tlast) & 1) != 0 : frame.bytes.size() >= options_.frame_bytes;
  if (!last && !on_beat_ && options_.queue_beats != 0 && open.beats >= options_.queue_beats) {
    pins_.refuse(fmt::format(
        "a frame has more than {} beats, and so many fill the adapter's queue before its end at {}; "
        "make queue_beats as large as the longest frame, or take single beats by on_beat",
        options_.queue_beats, print_time(now)));
  }
  if (on_beat_) {
    on_beat_({now, beat_.data(), static_cast<uint32_t>(beat_.size()), first, last, id, dest,
              checker_.value(StreamSignal::tuser)});
  }
  if (!last) return;
  ++frames_;
  Open gone = std::move(open);
  open_.erase(open_.begin() + (&open - open_.data()));
  if (on_frame_) on_frame_(std::move(gone.frame), gone.first, now);
}

void StreamSlave::release(uint32_t beats) {
  if (beats > held_)
    throw std::logic_error(fmt::format("{}: {} beats are released and {} held", name(), beats, held_));
  if (beats == 0) return;
  held_ -= beats;
  const Picoseconds now = sc_core::sc_time_stamp().value();
  released_.emplace(now, beats);
  clock_.wake(now);
}

std::string StreamSlave::stall_text() const {
  const std::string port = fmt::format("block {}, pins {}: ", pins_.block(), pins_.name());
  if (options_.queue_beats != 0 && held_ >= options_.queue_beats)
    return port + fmt::format("TREADY is low: all {} beats of the adapter's queue are held", held_);
  const std::string handshake = checker_.stall_text();
  if (!handshake.empty()) return handshake;
  if (open_.empty()) return {};
  return port + fmt::format("a frame that began at {} has {} B in {} beats and no TLAST",
                            print_time(open_.front().first), open_.front().frame.bytes.size(),
                            open_.front().beats);
}

}  // namespace weft::cosim
