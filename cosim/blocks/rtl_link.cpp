// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/blocks/rtl_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cosim/blocks/message_bytes.h"

namespace weft::cosim {
namespace {

const char* const kWays[] = {"forward", "backward"};

}  // namespace

RtlLink::RtlLink(sc_core::sc_module_name module_name, const LinkContext& context, Parameters& parameters,
                 const BlockClock::Options& defaults)
    : LinkModel(module_name, context),
      link_(context.name),
      clock_("clock", read_clock(parameters, defaults)) {}

RtlLink::~RtlLink() = default;

void RtlLink::add(uint32_t w, StreamPins in, StreamPins out) {
  Way& way = way_[w];
  way.book.learn(out, false);
  StreamMaster::Options padded;
  padded.pad = true;
  way.in =
      std::make_unique<StreamMaster>(fmt::format("in_{}", kWays[w]).c_str(), clock_, std::move(in), padded);
  way.out = std::make_unique<StreamSlave>(
      fmt::format("out_{}", kWays[w]).c_str(), clock_, std::move(out),
      [this, w](StreamFrame done, Picoseconds, Picoseconds last) { frame(w, done, last); });
  way.out->on_beat([this, w](const StreamSlave::Beat& one) { beat(w, one); });
}

void RtlLink::before_end_of_elaboration() {
  for (uint32_t w = 0; w < 2; ++w)
    if (!way_[w].in)
      throw UserError(ExitCode::usage,
                      fmt::format("{}: the block in the link {} has no {} direction; call {}() "
                                  "in its adapter's constructor",
                                  name(), link_, kWays[w], kWays[w]));
}

void RtlLink::cross(bool forward, const fabric::Crossing& crossing) {
  Way& way = way_[forward ? 0 : 1];
  const MessageFace face{crossing.id_low, crossing.id_high, crossing.source, crossing.destination,
                         crossing.bytes};
  const FrameBook::Place place = way.book.enter(face, message_bytes(crossing), 0, 0);
  place->head = crossing.first;
  place->tail = crossing.first + crossing.length;
  place->handle = next_++;
  way.crossings.emplace(place->handle, crossing);
  way.in->send(place->frame, crossing.first, {}, pace_of(crossing.bytes, crossing.length));
}

void RtlLink::beat(uint32_t w, const StreamSlave::Beat& one) {
  if (!one.first) return;
  Way& way = way_[w];
  way.coming = way.book.find(one.id, one.user, 0, false, one.at);
  way.is_coming = way.coming != way.book.end();
  if (!way.is_coming) return;
  way.coming->begun = true;
  const auto found = way.crossings.find(way.coming->handle);
  fabric::Crossing crossing = std::move(found->second);
  way.crossings.erase(found);
  crossing.latency += one.at - crossing.first;
  crossing.first = one.at;
  crossing.length =
      std::max(crossing.length, times(way.out->beats(way.coming->frame.bytes.size()) - 1, clock_.period()));
  way.coming->tail = later(crossing.first, crossing.length);  // as the link is told
  pass(w == 0, crossing);
}

void RtlLink::frame(uint32_t w, const StreamFrame& done, Picoseconds last) {
  Way& way = way_[w];
  if (way.is_coming) {
    way.is_coming = false;
    if (last >= later(way.coming->tail, clock_.period()) && way.late++ == 0)
      warn_of_late_frame(fmt::format("{} in the link {}, {}", name(), link_, kWays[w]), way.coming->message,
                         way.coming->tail, last);
    StreamFrame shown = done;
    trim_padding(shown, way.coming->frame.bytes.size(), way.out->beat_bytes());
    way.book.leave(way.coming, shown, 0, last);
  }
}

std::string RtlLink::stall_text() const {
  std::string text;
  for (const Way& way : way_) {
    if (!way.in) continue;
    text += stall_lines(*way.in, *way.out);
    if (way.book.size() != 0)
      text += fmt::format("\n  {} messages in it, the first one {}", way.book.size(),
                          describe(way.book.entries().front().message));
  }
  text += faults_.stall_line();
  if (!text.empty()) text += late_line(late_frames()) + clock_.stall_line();
  return text.empty() ? text : fmt::format("{} in the link {}:{}\n", name(), link_, text);
}

void RtlLink::find_unbalanced(std::vector<std::string>& lines) const {
  faults_.tell(fmt::format("{} in the link {}: fault of the RTL block", name(), link_), lines);
}

void RtlLink::find_warnings(std::vector<std::string>& lines) const {
  if (late_frames() != 0)
    lines.push_back(late_warning(fmt::format("{} in the link {}", name(), link_), late_frames()));
}

}  // namespace weft::cosim
