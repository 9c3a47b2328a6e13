// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/blocks/frame_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace weft::cosim {

void FrameBook::learn(const StreamPins& pins, bool several_inputs) {
  by_id_ = pins.any(StreamSignal::tid) != nullptr;
  user_mask_ = (uint64_t{1} << std::min(pins.bits(StreamSignal::tuser), 63u)) - 1;
  if (several_inputs && !by_id_ && user_mask_ == 0)
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: it has neither TID nor TUSER, and frames of several inputs cannot be told "
                    "apart; give the block a TID that goes from its inputs to its outputs",
                    pins.name()));
}

FrameBook::Place FrameBook::enter(const MessageFace& message, std::vector<uint8_t> payload, uint32_t in,
                                  uint32_t out) {
  Entry entry;
  entry.message = message;
  entry.frame.bytes = payload.empty() ? pattern_of(message) : std::move(payload);
  entry.frame.id = by_id_ ? in : 0;
  entry.frame.dest = out;
  entry.frame.user = next_tag_++ & user_mask_;
  entry.in = in;
  entry.out = out;
  return entries_.insert(entries_.end(), std::move(entry));
}

FrameBook::Place FrameBook::find(uint64_t id, uint64_t user, uint32_t port, bool begun, Picoseconds now) {
  const auto is = [&](const Entry& entry, bool at_port) {
    return entry.begun == begun && (!by_id_ || entry.in == id) &&
           (user_mask_ == 0 || entry.frame.user == (user & user_mask_)) && (!at_port || entry.out == port);
  };
  // Frames of an input to one output keep their order; else the frame has gone astray.
  for (const bool at_port : {true, false}) {
    const Place found = std::find_if(entries_.begin(), entries_.end(),
                                     [&](const Entry& entry) { return is(entry, at_port); });
    if (found != entries_.end()) return found;
  }
  faults_.add(now, first_port_ + port, nullptr,
              fmt::format("a frame with TID {} and TUSER {} comes out, which is of no message in the block",
                          id, user));
  return end();
}

void FrameBook::leave(Place place, const StreamFrame& frame, uint32_t port, Picoseconds now) {
  std::string what;
  const std::vector<uint8_t>& sent = place->frame.bytes;
  if (port != place->out) {
    what = fmt::format("it comes out by port {} and was to come out by port {}", port, place->out);
  } else if (frame.bytes.size() != sent.size()) {
    what = fmt::format("it comes out with {} B and went in with {} B", frame.bytes.size(), sent.size());
  } else if (frame.bytes != sent) {
    const auto [out, in] = std::mismatch(frame.bytes.begin(), frame.bytes.end(), sent.begin());
    what = fmt::format("byte {} of its frame comes out as 0x{:02x} and went in as 0x{:02x}",
                       out - frame.bytes.begin(), *out, *in);
  }
  if (!what.empty()) faults_.add(now, first_port_ + port, &place->message, std::move(what));
  entries_.erase(place);
}

}  // namespace weft::cosim
