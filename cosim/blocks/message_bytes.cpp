// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/blocks/message_bytes.h"

#include <algorithm>

#include "sc_models/payload_elements.h"

namespace weft::cosim {
namespace {

std::vector<uint8_t> last_bytes(const std::vector<std::byte>& bytes) {
  const size_t size = element_bytes(bytes);
  std::vector<uint8_t> out(size);
  std::transform(bytes.end() - static_cast<std::ptrdiff_t>(size), bytes.end(), out.begin(),
                 [](std::byte b) { return std::to_integer<uint8_t>(b); });
  return out;
}

}  // namespace

std::vector<uint8_t> message_bytes(fabric::Packet& packet, fabric::CrossingElements* elements) {
  if (packet.data == 0 || elements == nullptr) return {};
  const std::vector<std::byte> bytes = elements->take(packet.data);
  packet.data = elements->put(bytes);
  return last_bytes(bytes);
}

std::vector<uint8_t> message_bytes(const fabric::Crossing& crossing) {
  if (!crossing.has_elements) return {};
  return last_bytes(crossing.elements);
}

Rate pace_of(uint64_t bytes, Picoseconds time) {
  constexpr uint64_t kSecond = 1'000'000'000'000;
  if (time == 0 || bytes == 0) return {};
  if (time <= ~uint32_t{0} && bytes <= ~uint64_t{0} / kSecond)
    return {bytes * kSecond, static_cast<uint32_t>(time)};
  const Wide rate = static_cast<Wide>(bytes) * kSecond / time;
  if (rate == 0 || rate > ~uint64_t{0}) return {};
  return {static_cast<uint64_t>(rate), 1};
}

void trim_padding(StreamFrame& frame, size_t size, uint32_t beat_bytes) {
  const size_t most = size == 0 ? beat_bytes : beat_bytes - 1;  // also what has no bytes takes a beat
  if (frame.bytes.size() > size && frame.bytes.size() - size <= most) frame.bytes.resize(size);
}

}  // namespace weft::cosim
