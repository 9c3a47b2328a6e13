// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/record/message_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace weft::cosim {

MessageAnswers::MessageAnswers(const Recording& recording, const ReplayOptions& options, ReplayReport& report)
    : recording_(recording), options_(options), report_(report) {
  for (const RecordedEvent& event : recording.events) {
    const auto& crossing = std::get<fabric::Crossing>(event.what);
    if (!event.into) expected_.emplace(key_of(crossing), Expected{&event});
  }
}

const RecordedEvent* MessageAnswers::answered(uint32_t port, const fabric::Crossing& crossing) {
  const auto [begin, end] = expected_.equal_range(key_of(crossing));
  auto found = std::find_if(begin, end, [](const auto& entry) { return !entry.second.seen; });
  const RecordedEvent actual{sc_core::sc_time_stamp().value(), port, false, crossing};
  if (found == end) {
    report_.differs(crossing.first, port, actual,
                    begin == end ? "is not in the recording" : "comes once more than in the recording");
    return nullptr;
  }
  found->second.seen = true;
  const RecordedEvent& recorded = *found->second.event;
  const std::string difference = compare(port, crossing, recorded);
  if (difference.empty()) {
    report_.agrees();
  } else {
    const auto& wanted = std::get<fabric::Crossing>(recorded.what);
    report_.differs(std::min(crossing.first, wanted.first), port, recorded, difference);
  }
  return &recorded;
}

/// "": they are the same.
std::string MessageAnswers::compare(uint32_t port, const fabric::Crossing& crossing,
                                    const RecordedEvent& recorded) const {
  const auto& wanted = std::get<fabric::Crossing>(recorded.what);
  const auto off = [&](Picoseconds a, Picoseconds b) { return (a > b ? a - b : b - a) > options_.tolerance; };
  if (port != recorded.port)
    return fmt::format("leaves by port {} to {}; recorded: port {} to {}", port,
                       recording_.header.ports[port].peer, recorded.port,
                       recording_.header.ports[recorded.port].peer);
  if (crossing.bytes != wanted.bytes)
    return fmt::format("has {} B; recorded: {} B", crossing.bytes, wanted.bytes);
  if (crossing.elements != wanted.elements) {
    size_t at = 0;
    const size_t both = std::min(crossing.elements.size(), wanted.elements.size());
    while (at < both && crossing.elements[at] == wanted.elements[at]) ++at;
    if (at == both)
      return fmt::format("carries {} B of elements; recorded: {} B", crossing.elements.size(),
                         wanted.elements.size());
    return fmt::format("carries 0x{:02x} at byte {} of its elements; recorded: 0x{:02x}",
                       std::to_integer<int>(crossing.elements[at]), at,
                       std::to_integer<int>(wanted.elements[at]));
  }
  if (off(crossing.first, wanted.first))
    return fmt::format(
        "its head is there at {} ps, {} ps {} than recorded", crossing.first,
        crossing.first > wanted.first ? crossing.first - wanted.first : wanted.first - crossing.first,
        crossing.first > wanted.first ? "later" : "earlier");
  if (off(crossing.length, wanted.length))
    return fmt::format("takes {} ps from its head to its tail; recorded: {} ps", crossing.length,
                       wanted.length);
  return {};
}

void MessageAnswers::finish(const FaultTeller* teller, std::optional<uint32_t> port) {
  for (const auto& [key, expected] : expected_) {
    if (expected.seen) continue;
    const auto& wanted = std::get<fabric::Crossing>(expected.event->what);
    report_.differs(wanted.first, expected.event->port, *expected.event, "does not come");
  }
  if (teller == nullptr) return;
  // What its pins show, and its messages do not: bytes.
  for (const BlockFault& fault : teller->faults()) {
    fabric::Crossing crossing;
    crossing.id_low = fault.message.id_low;
    crossing.id_high = fault.message.id_high;
    crossing.source = fault.message.source;
    crossing.destination = fault.message.destination;
    crossing.bytes = fault.message.bytes;
    const uint32_t at = port.value_or(fault.port);
    report_.faulty();
    report_.differs(fault.at, at, {fault.at, at, false, crossing}, fault.what);
  }
}

}  // namespace weft::cosim
