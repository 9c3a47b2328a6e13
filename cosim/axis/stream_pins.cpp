// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/axis/stream_pins.h"

#include <fmt/format.h>

#include "configs/types.h"

namespace weft::cosim {
namespace {

constexpr StreamSignal kAll[] = {StreamSignal::tdata, StreamSignal::tvalid, StreamSignal::tready,
                                 StreamSignal::tkeep, StreamSignal::tstrb,  StreamSignal::tlast,
                                 StreamSignal::tid,   StreamSignal::tdest,  StreamSignal::tuser};

std::string range(uint32_t least, uint32_t most) {
  return least == most ? fmt::format("{} bit{}", most, most == 1 ? "" : "s")
                       : fmt::format("{} to {} bits", least, most);
}

}  // namespace

const char* to_string(StreamSignal signal) {
  constexpr const char* names[] = {"TDATA", "TVALID", "TREADY", "TKEEP", "TSTRB",
                                   "TLAST", "TID",    "TDEST",  "TUSER"};
  return names[static_cast<size_t>(signal)];
}

std::string StreamPins::block() const {
  for (const StreamSignal signal : kAll) {
    if (const Pin* pin = any(signal)) return pin->block() == nullptr ? "?" : pin->block()->name();
  }
  return "?";
}

void StreamPins::refuse(const std::string& what) const {
  throw UserError(ExitCode::usage, fmt::format("block {}, pins {}: {}", block(), name_, what));
}

void StreamPins::check_bits(StreamSignal signal, uint32_t bits, const std::string& why) {
  const Pin* pin = any(signal);
  if (pin == nullptr) return;
  const uint32_t known = width(signal);
  const uint32_t least = known != 0 ? known : pin->least_bits();
  const uint32_t most = known != 0 ? known : pin->most_bits();
  if (bits < least || bits > most) {
    refuse(fmt::format(
        "{} ({}, {}) has {}, and {} needs {}; give the adapter the pins of one port, or change the "
        "block's widths",
        to_string(signal), pin->name(), pin->type(), range(least, most), why, range(bits, bits)));
  }
  width(signal) = bits;
}

void StreamPins::check(bool driven_by_adapter) {
  for (const StreamSignal signal : {StreamSignal::tdata, StreamSignal::tvalid, StreamSignal::tready}) {
    if (any(signal) != nullptr) continue;
    refuse(fmt::format(
        "{} is missing; a stream needs TDATA, TVALID and TREADY: name the pins NAME_{} .. in the RTL, or "
        "give them to StreamPins one by one",
        to_string(signal),
        signal == StreamSignal::tdata    ? "tdata"
        : signal == StreamSignal::tvalid ? "tvalid"
                                         : "tready"));
  }
  for (const StreamSignal signal : kAll) {
    const Pin* pin = any(signal);
    if (pin == nullptr) continue;
    const bool input = !pin->output();
    if (input == (driven_by_adapter == (signal != StreamSignal::tready))) continue;
    refuse(fmt::format(
        "{} ({}) is an {} of the block, and {} needs an {}; a StreamMaster drives the block's slave "
        "port, a StreamSlave takes from its master port",
        to_string(signal), pin->name(), input ? "input" : "output",
        driven_by_adapter ? "a StreamMaster" : "a StreamSlave", input ? "output" : "input"));
  }
  check_widths();
}

StreamPins StreamPins::checked(StreamPins pins, bool driven_by_adapter) {
  pins.check(driven_by_adapter);
  return pins;
}

void StreamPins::check_block() const {
  if (const sc_core::sc_object* block = any(StreamSignal::tdata)->block()) check_bound(*block);
}

void StreamPins::check_widths() {
  const Pin& data = *any(StreamSignal::tdata);
  const Pin* keep = any(StreamSignal::tkeep);
  uint32_t bits = width(StreamSignal::tdata);
  if (bits == 0 && data.least_bits() != data.most_bits() && keep != nullptr) {
    // The other pin may know more.
    const uint32_t bytes = width(StreamSignal::tkeep);
    if (bytes != 0) bits = 8 * bytes;
    if (bytes == 0 && keep->least_bits() == keep->most_bits()) bits = 8 * keep->most_bits();
  }
  if (bits == 0) bits = data.most_bits();
  if (bits < data.least_bits() || bits > data.most_bits()) {
    refuse(fmt::format(
        "TDATA ({}) is said to have {}, and its type {} has {}; correct data_bits(), or the widths of the "
        "block",
        data.name(), range(bits, bits), data.type(), range(data.least_bits(), data.most_bits())));
  }
  if (bits % 8 != 0 || bits < 8 || bits > 1024) {
    refuse(fmt::format("TDATA ({}, {}) has {}; a stream has whole bytes, 8 to 1024 bits", data.name(),
                       data.type(), range(bits, bits)));
  }
  width(StreamSignal::tdata) = bits;
  const std::string of_data = fmt::format("TDATA of {} bits", bits);
  check_bits(StreamSignal::tkeep, bits / 8, of_data);
  check_bits(StreamSignal::tstrb, bits / 8, of_data);
  for (const StreamSignal signal : {StreamSignal::tvalid, StreamSignal::tready, StreamSignal::tlast})
    check_bits(signal, 1, "a handshake");
  for (const StreamSignal signal : {StreamSignal::tid, StreamSignal::tdest, StreamSignal::tuser}) {
    const Pin* pin = any(signal);
    if (pin != nullptr && width(signal) == 0) width(signal) = pin->most_bits();
  }
  for (const StreamSignal signal : kAll) {
    if (Pin* const pin = any(signal)) {
      pin->has_bits(width(signal));
      pin->is_signal(name_, to_string(signal));
    }
  }
}

}  // namespace weft::cosim
