// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/axis/stream_checker.h"

#include <fmt/format.h>

#include <algorithm>

#include "configs/units.h"

namespace weft::cosim {
namespace {

/// What a beat shows beside TVALID, and holds while it waits.
constexpr StreamSignal kPayload[] = {StreamSignal::tdata, StreamSignal::tkeep, StreamSignal::tstrb,
                                     StreamSignal::tlast, StreamSignal::tid,   StreamSignal::tdest,
                                     StreamSignal::tuser};

bool bit(const uint32_t* words, uint32_t index) {
  return (words[index / 32] >> index % 32 & 1) != 0;
}

std::string hex(const std::vector<uint32_t>& words, uint32_t bits) {
  std::string text = "0x";
  for (uint32_t i = words_of(bits); i-- != 0;) {
    const uint32_t here = i == words_of(bits) - 1 ? (bits - 1) % 32 + 1 : 32;
    text += fmt::format("{:0{}x}", words[i] & (here == 32 ? ~uint32_t{0} : (uint32_t{1} << here) - 1),
                        (here + 3) / 4);
  }
  return text;
}

}  // namespace

const char* to_string(StreamChecker::Rule rule) {
  constexpr const char* names[] = {"withdrawn", "changed", "keep", "sideband", "reset", "open", "stuck"};
  return names[static_cast<size_t>(rule)];
}

StreamChecker::StreamChecker(const StreamPins& pins)
    : port_(fmt::format("block {}, pins {}", pins.block(), pins.name())) {
  for (size_t i = 0; i < kStreamSignals; ++i) {
    const auto signal = static_cast<StreamSignal>(i);
    Seen& s = seen_[i];
    s.pin = pins.any(signal);
    if (s.pin == nullptr) continue;
    s.bits = pins.bits(signal);
    s.now.resize(s.pin->words());
    s.then.resize(s.pin->words());
  }
  for (const StreamSignal signal : {StreamSignal::tdata, StreamSignal::tvalid, StreamSignal::tready}) {
    if (seen(signal).pin == nullptr) pins.refuse(fmt::format("{} is missing", to_string(signal)));
  }
  ready_ = seen(StreamSignal::tready).pin;
  data_bytes_ = seen(StreamSignal::tdata).bits / 8;
}

void StreamChecker::broken(Rule rule, Picoseconds now, StreamSignal signal, const std::string& what,
                           const std::string& remedy) {
  ++violations_;
  Violation violation{rule, now, {}};
  const Pin* pin = seen(signal).pin;
  violation.text = fmt::format("{}: {} ({}) {} at {}; {} (rule `{}` of the stream checker)", port_,
                               to_string(signal), pin == nullptr ? "no pin" : pin->wire_name(), what,
                               print_time(now), remedy, to_string(rule));
  if (!report_) throw UserError(ExitCode::usage, violation.text);
  report_(violation);
}

void StreamChecker::sample() {
  for (const StreamSignal signal : kPayload) {
    Seen& s = seen(signal);
    if (s.pin != nullptr) s.pin->read(s.now.data());
  }
}

uint64_t StreamChecker::value(StreamSignal signal) const {
  const Seen& s = seen(signal);
  if (s.pin == nullptr) return 0;
  return s.now.size() > 1 ? s.now[0] | static_cast<uint64_t>(s.now[1]) << 32 : s.now[0];
}

uint32_t StreamChecker::kept() const {
  const Seen& keep = seen(StreamSignal::tkeep);
  if (keep.pin == nullptr) return data_bytes_;
  uint32_t bytes = 0;
  for (uint32_t i = 0; i < data_bytes_; i += 32) {
    const uint32_t here = std::min(data_bytes_ - i, 32u);
    const uint32_t word = keep.now[i / 32];
    bytes +=
        static_cast<uint32_t>(__builtin_popcount(here == 32 ? word : word & ((uint32_t{1} << here) - 1)));
  }
  return bytes;
}

bool StreamChecker::stable(StreamSignal signal) const {
  const Seen& s = seen(signal);
  if (s.pin == nullptr || s.now == s.then) return true;
  const Seen& keep = seen(StreamSignal::tkeep);
  if (signal != StreamSignal::tdata || keep.pin == nullptr) return false;
  // Bytes without TKEEP are nothing.
  for (uint32_t i = 0; i < data_bytes_; ++i) {
    const auto byte = [i](const std::vector<uint32_t>& words) { return words[i / 4] >> 8 * (i % 4) & 0xff; };
    if (bit(keep.now.data(), i) && byte(s.now) != byte(s.then)) return false;
  }
  return true;
}

void StreamChecker::check_stable(Picoseconds now) {
  for (const StreamSignal signal : kPayload) {
    if (stable(signal)) continue;
    Seen& s = seen(signal);
    broken(Rule::changed, now, signal,
           fmt::format("changed from {} to {} while TVALID waits for TREADY (since {})", hex(s.then, s.bits),
                       hex(s.now, s.bits), print_time(since_)),
           "hold the payload until a rising edge with TVALID and TREADY");
    s.then = s.now;
  }
}

bool StreamChecker::edge(Picoseconds now, bool reset) {
  const bool valid = seen(StreamSignal::tvalid).pin->high();
  if (reset) {
    if (valid) {
      broken(Rule::reset, now, StreamSignal::tvalid, "is high during the reset",
             "drive TVALID low while the reset is active");
    }
    waiting_ = false;
    return false;
  }
  if (!valid) {
    if (waiting_) {
      waiting_ = false;
      broken(Rule::withdrawn, now, StreamSignal::tvalid,
             fmt::format("was withdrawn before TREADY came (it was high from {} on)", print_time(since_)),
             "hold TVALID until a rising edge with TREADY");
    }
    return false;
  }
  sample();
  if (waiting_) check_stable(now);
  if (seen(StreamSignal::tready).pin->high()) {
    waiting_ = false;
    check_frame(now);
    ++beats_;
    return true;
  }
  if (!waiting_) {
    waiting_ = true;
    since_ = now;
    for (const StreamSignal signal : kPayload) seen(signal).then = seen(signal).now;
  }
  return false;
}

void StreamChecker::check_keep(Picoseconds now, bool last) {
  const Seen& keep = seen(StreamSignal::tkeep);
  if (keep.pin == nullptr || sparse_) return;
  const uint32_t bytes = kept();
  bool hole = false;
  for (uint32_t i = 0; i < bytes; ++i) hole = hole || !bit(keep.now.data(), i);
  if (hole) {
    broken(Rule::keep, now, StreamSignal::tkeep, fmt::format("has holes: {}", hex(keep.now, keep.bits)),
           "set the bits of the beat's bytes from bit 0 on without gaps");
  } else if (!last && bytes != data_bytes_) {
    broken(Rule::keep, now, StreamSignal::tkeep,
           fmt::format("has {} of {} bytes in a beat that is not the frame's last", bytes, data_bytes_),
           "fill every beat but the last");
  }
}

void StreamChecker::check_frame(Picoseconds now) {
  const Seen& last_pin = seen(StreamSignal::tlast);
  const bool last = last_pin.pin == nullptr || (last_pin.now[0] & 1) != 0;
  // Without TLAST nobody here knows which beat is the last.
  check_keep(now, last);
  const uint64_t id = value(StreamSignal::tid);
  const uint64_t dest = value(StreamSignal::tdest);
  auto frame = std::find_if(open_.begin(), open_.end(),
                            [&](const Frame& f) { return !interleaved_ || (f.id == id && f.dest == dest); });
  if (frame == open_.end()) {
    if (!last) open_.push_back({id, dest, 1, now});
  } else {
    const auto compare = [&](StreamSignal signal, uint64_t before, uint64_t here) {
      if (before == here) return;
      broken(Rule::sideband, now, signal,
             fmt::format("changed from {} to {} in beat {} of a frame", before, here, frame->beats),
             "keep it until TLAST (or allow interleaved frames)");
    };
    compare(StreamSignal::tid, frame->id, id);
    compare(StreamSignal::tdest, frame->dest, dest);
    ++frame->beats;
    frame->id = id;
    frame->dest = dest;
    if (last) open_.erase(frame);
  }
  if (last) ++frames_;
}

void StreamChecker::finish(Picoseconds now) {
  if (waiting_) {
    broken(Rule::stuck, now, StreamSignal::tready,
           fmt::format("never came for the TVALID that is high since {}", print_time(since_)),
           "raise TREADY when the beat can be taken");
  }
  for (const Frame& frame : open_) {
    broken(Rule::open, now, StreamSignal::tlast,
           fmt::format("is missing: a frame that began at {} has {} beat{} and no end",
                       print_time(frame.first), frame.beats, frame.beats == 1 ? "" : "s"),
           "set TLAST in the last beat of each frame");
  }
}

std::string StreamChecker::stall_text() const {
  if (!waiting_) return {};
  return fmt::format("{}: TVALID ({}) is high since {} and waits for TREADY ({}), which is low", port_,
                     seen(StreamSignal::tvalid).pin->wire_name(), print_time(since_),
                     seen(StreamSignal::tready).pin->wire_name());
}

}  // namespace weft::cosim
