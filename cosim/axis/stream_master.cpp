// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/axis/stream_master.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "configs/units.h"

namespace weft::cosim {

StreamMaster::StreamMaster(sc_core::sc_module_name module_name, BlockClock& clock, StreamPins pins,
                           Options options)
    : sc_core::sc_module(module_name),
      clock_(clock),
      pins_(StreamPins::checked(std::move(pins), true)),
      options_(options),
      checker_(pins_),
      beat_bytes_(pins_.width(StreamSignal::tdata) / 8),
      words_(pins_.any(StreamSignal::tdata)->words() + 1),
      keep_(words_of(beat_bytes_) + 1),
      has_last_(pins_.driven(StreamSignal::tlast) != nullptr) {
  if (const Pin* keep = pins_.any(StreamSignal::tkeep))
    keep_.resize(std::max<size_t>(keep_.size(), keep->words()));
  if (const Pin* strb = pins_.any(StreamSignal::tstrb))
    keep_.resize(std::max<size_t>(keep_.size(), strb->words()));
  clock_.add(*this);
}

StreamMaster::StreamMaster(sc_core::sc_module_name module_name, BlockClock& clock, StreamPins pins)
    : StreamMaster(module_name, clock, std::move(pins), Options{}) {}

StreamMaster::~StreamMaster() = default;

void StreamMaster::before_end_of_elaboration() {
  pins_.check_block();
}

void StreamMaster::check_carries(const StreamFrame& frame) const {
  const auto fits = [this](StreamSignal signal, uint64_t value) {
    const uint32_t bits = pins_.driven(signal) == nullptr ? 0 : pins_.width(signal);
    if (bits >= 64 || value >> bits == 0) return;
    pins_.refuse(fmt::format("a frame with {} = {} does not fit: {}", to_string(signal), value,
                             bits == 0 ? "the port has no such pin"
                                       : fmt::format("the pin has {} bit{}", bits, bits == 1 ? "" : "s")));
  };
  fits(StreamSignal::tid, frame.id);
  fits(StreamSignal::tdest, frame.dest);
  fits(StreamSignal::tuser, frame.user);
  const bool whole = !frame.bytes.empty() && frame.bytes.size() % beat_bytes_ == 0;
  if (!whole && pins_.driven(StreamSignal::tkeep) == nullptr && !options_.pad) {
    pins_.refuse(
        fmt::format("a frame of {} B does not fill beats of {} B, and the port has no TKEEP; give it one, or "
                    "allow the adapter to pad",
                    frame.bytes.size(), beat_bytes_));
  }
}

void StreamMaster::send(StreamFrame frame, Picoseconds at, Sent done, Rate pace) {
  if (!space()) throw std::logic_error(fmt::format("{}: a frame was sent to a full queue", name()));
  check_carries(frame);
  Entry entry;
  entry.frame = std::move(frame);
  entry.at = at;
  entry.sent = sc_core::sc_time_stamp().value();
  entry.pace = pace;
  entry.done = std::move(done);
  queue_.push_back(std::move(entry));
  if (queue_.size() == 1) wake_for(queue_.front());
}

void StreamMaster::wake_for(const Entry& entry) {
  const Picoseconds at = due(entry);
  if (at == woken_for_) return;
  woken_for_ = at;
  clock_.wake(at);
}

/// When the beat that comes next is there: edges after that see it.
Picoseconds StreamMaster::due(const Entry& entry) const {
  Picoseconds at = entry.at;
  if (entry.pace.bytes_per_second != 0) {
    const uint64_t upto = std::min<uint64_t>(entry.next + beat_bytes_, entry.frame.bytes.size());
    at = later(at, transfer_time(upto, entry.pace));
  }
  return std::max(at, entry.sent);
}

bool StreamMaster::quiet() const {
  if (queue_.empty()) return true;
  return !valid_ && due(queue_.front()) > sc_core::sc_time_stamp().value();
}

void StreamMaster::edge(Picoseconds now, bool reset) {
  if (!valid_ && queue_.empty()) return;
  if (reset) return;
  if (valid_ && checker_.handshake(now, last_ || !has_last_)) take(now);
  if (valid_) return;
  if (!queue_.empty() && due(queue_.front()) < now) {
    show(queue_.front());
  } else {
    drive_valid(false);
    if (!queue_.empty()) wake_for(queue_.front());
  }
}

/// The block has taken the beat that was shown.
void StreamMaster::take(Picoseconds now) {
  clock_.progress();
  valid_ = false;
  Entry& entry = queue_.front();
  const uint64_t left = entry.frame.bytes.size() - entry.next;
  const uint64_t beat = std::min<uint64_t>(left, beat_bytes_);
  if (entry.next == 0) entry.first = now;
  bytes_sent_ += beat;
  entry.next += beat;
  if (beat < left) return;
  const bool full = !space();
  const Entry gone = std::move(queue_.front());
  queue_.pop_front();
  if (gone.done) gone.done(gone.first, now);
  if (full && on_space_) on_space_();
}

void StreamMaster::show(const Entry& entry) {
  const auto& bytes = entry.frame.bytes;
  const uint64_t left = bytes.size() - entry.next;
  const auto count = static_cast<uint32_t>(std::min<uint64_t>(left, beat_bytes_));
  std::fill(words_.begin(), words_.end(), 0);
  for (uint32_t i = 0; i + 4 <= count; i += 4) {
    const uint8_t* b = bytes.data() + entry.next + i;
    words_[i / 4] = b[0] | uint32_t{b[1]} << 8 | uint32_t{b[2]} << 16 | uint32_t{b[3]} << 24;
  }
  for (uint32_t i = count & ~3u; i < count; ++i)
    words_[i / 4] |= uint32_t{bytes[entry.next + i]} << 8 * (i % 4);
  pins_.driven(StreamSignal::tdata)->write(words_.data());
  if (count != kept_) show_keep(count);
  const auto put = [this](StreamSignal signal, uint64_t value) {
    if (DrivenPin* pin = pins_.driven(signal)) pin->write_value(value);
  };
  const bool last = left <= beat_bytes_;
  if (last != last_) put(StreamSignal::tlast, last ? 1 : 0);
  last_ = last;
  if (entry.next == 0) {
    put(StreamSignal::tid, entry.frame.id);
    put(StreamSignal::tdest, entry.frame.dest);
    put(StreamSignal::tuser, entry.frame.user);
  }
  drive_valid(true);
  valid_ = true;
}

void StreamMaster::show_keep(uint32_t count) {
  kept_ = count;
  for (uint32_t i = 0; i < keep_.size(); ++i) {
    const uint32_t from = 32 * i;
    keep_[i] = count <= from ? 0 : count - from >= 32 ? ~uint32_t{0} : (uint32_t{1} << (count - from)) - 1;
  }
  for (const StreamSignal signal : {StreamSignal::tkeep, StreamSignal::tstrb}) {
    if (DrivenPin* pin = pins_.driven(signal)) pin->write(keep_.data());
  }
}

void StreamMaster::drive_valid(bool valid) {
  if (valid == driven_valid_) return;
  driven_valid_ = valid;
  pins_.driven(StreamSignal::tvalid)->write_value(valid ? 1 : 0);
}

std::string StreamMaster::stall_text() const {
  if (queue_.empty()) return {};
  const Entry& entry = queue_.front();
  const std::string handshake = checker_.stall_text();
  return fmt::format(
      "{}{} frame{} ({} of {} B of the first taken) wait{}",
      handshake.empty() ? fmt::format("block {}, pins {}: ", pins_.block(), pins_.name()) : handshake + "; ",
      queue_.size(), queue_.size() == 1 ? "" : "s", entry.next, entry.frame.bytes.size(),
      queue_.size() == 1 ? "s" : "");
}

}  // namespace weft::cosim
