// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/blocks/rtl_switch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cosim/blocks/message_bytes.h"

namespace weft::cosim {

RtlSwitch::RtlSwitch(sc_core::sc_module_name module_name, SwitchContext context, Parameters& parameters,
                     const BlockClock::Options& defaults)
    : SwitchModel(module_name, context),
      clock_("clock", read_clock(parameters, defaults)),
      elements_(context.elements) {}

RtlSwitch::~RtlSwitch() = default;

void RtlSwitch::add_port(StreamPins in, StreamPins out) {
  const auto p = static_cast<uint32_t>(rtl_ports_.size());
  book_.learn(out, true);
  rtl_ports_.emplace_back();
  RtlPort& port = rtl_ports_.back();
  StreamMaster::Options padded;
  padded.pad = true;
  port.in = std::make_unique<StreamMaster>(fmt::format("in{}", p).c_str(), clock_, std::move(in), padded);
  port.out = std::make_unique<StreamSlave>(
      fmt::format("out{}", p).c_str(), clock_, std::move(out),
      [this, p](StreamFrame done, Picoseconds first, Picoseconds last) { frame(p, done, first, last); });
  port.out->on_beat([this, p](const StreamSlave::Beat& one) { beat(p, one); });
}

void RtlSwitch::before_end_of_elaboration() {
  if (rtl_ports_.size() < ports().size())
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: the block has {} ports, and the switch needs {}; take a block with as many, "
                    "or a machine with smaller switches",
                    name(), rtl_ports_.size(), ports().size()));
}

void RtlSwitch::arrive(const Arrival& arrival) {
  const fabric::Packet& message = packet(arrival.packet);
  const MessageFace face{message.id_low, message.id_high, message.source, message.destination, message.bytes};
  const FrameBook::Place place = book_.enter(face, message_bytes(packets()[arrival.packet], elements_),
                                             arrival.port, output(arrival.packet));
  place->head = arrival.head;
  place->tail = arrival.tail;
  place->handle = arrival.packet;
  StreamMaster& in = *rtl_ports_[arrival.port].in;
  if (!cut_through()) return in.send(place->frame, arrival.tail);
  in.send(place->frame, arrival.head, {}, pace_of(face.bytes, arrival.tail - arrival.head));
}

void RtlSwitch::beat(uint32_t p, const StreamSlave::Beat& one) {
  if (!one.first) return;
  RtlPort& port = rtl_ports_[p];
  port.coming = book_.find(one.id, one.user, p, false, one.at);
  port.is_coming = port.coming != book_.end();
  if (!port.is_coming) return;
  FrameBook::Entry& entry = *port.coming;
  entry.begun = true;
  if (!cut_through()) return;
  const uint64_t beats = port.out->beats(entry.frame.bytes.size());
  port.told = later(one.at, times(beats - 1, clock_.period()));
  // Its last bytes are still on their way to the block, and take as long through it as the first ones.
  if (entry.tail > one.at) port.told = std::max(port.told, later(entry.tail, one.at - entry.head));
  leave(entry.handle, p, port.told);
}

void RtlSwitch::frame(uint32_t p, const StreamFrame& done, Picoseconds first, Picoseconds last) {
  RtlPort& port = rtl_ports_[p];
  if (!port.is_coming) return;  // a fault, which has been told
  port.is_coming = false;
  if (!cut_through()) leave(port.coming->handle, p, last);
  if (cut_through()) look_for_gaps(port, first, last);
  StreamFrame shown = done;
  trim_padding(shown, port.coming->frame.bytes.size(), port.out->beat_bytes());
  book_.leave(port.coming, shown, p, last);
}

/// What the pace of the message's own bytes explains is no gap of the block's, nor is a period of the clock.
void RtlSwitch::look_for_gaps(const RtlPort& port, Picoseconds first, Picoseconds last) {
  const FrameBook::Entry& entry = *port.coming;
  const Picoseconds paced = first < entry.head ? 0 : later(entry.tail, first - entry.head);
  if (last < later(std::max(port.told, paced), clock_.period())) return;
  if (late_frames_++ == 0) warn_of_late_frame(name(), entry.message, port.told, last);
}

/// Links are taken at the end of the instant, in the order of the ports.
void RtlSwitch::leave(uint32_t handle, uint32_t port, Picoseconds tail) {
  leaving_.push_back({handle, port, tail});
  wake_at(sc_core::sc_time_stamp().value());
}

void RtlSwitch::work(Picoseconds now) {
  std::vector<Leaving> leaving = std::exchange(leaving_, {});
  std::stable_sort(leaving.begin(), leaving.end(),
                   [](const Leaving& a, const Leaving& b) { return a.port < b.port; });
  for (const Leaving& one : leaving) forward(one.handle, one.port, now, one.tail);
}

std::string RtlSwitch::explain_stall() const {
  std::string text;
  for (const RtlPort& port : rtl_ports_) text += stall_lines(*port.in, *port.out);
  size_t shown = 0;
  for (const FrameBook::Entry& entry : book_.entries()) {
    if (shown++ == 4) break;
    text +=
        fmt::format("\n  {}: in the block since {} ps, from port {} to port {}{}", describe(entry.message),
                    entry.head, entry.in, entry.out, entry.begun ? ", has begun to leave" : "");
  }
  if (book_.size() > shown) text += fmt::format("\n  and {} more messages", book_.size() - shown);
  text += faults_.stall_line();
  if (!text.empty()) text += late_line(late_frames_) + clock_.stall_line();
  return text.empty() ? text : fmt::format("the RTL block holds {} messages{}\n", book_.size(), text);
}

void RtlSwitch::find_unbalanced(std::vector<std::string>& lines) const {
  faults_.tell(std::string(name()) + ": fault of the RTL block", lines);
}

void RtlSwitch::find_warnings(std::vector<std::string>& lines) const {
  if (late_frames_ != 0) lines.push_back(late_warning(name(), late_frames_));
}

}  // namespace weft::cosim
