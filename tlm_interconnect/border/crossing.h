// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What crosses a border of the fabric: a message in plain data, without any handle of a pool, so that it can
// be kept, compared, written to a file or sent to another process.

#ifndef WEFT_TLM_INTERCONNECT_BORDER_CROSSING_H
#define WEFT_TLM_INTERCONNECT_BORDER_CROSSING_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "tlm_interconnect/protocol/fabric_protocol.h"

namespace weft::fabric {

/// A message at `message` fidelity: one burst and its packet.
struct Crossing {
  Picoseconds first = 0;   ///< when its head arrives at the border, absolute; now or later
  Picoseconds length = 0;  ///< from its head to its tail
  uint64_t bytes = 0;
  uint64_t id_low = 0;  ///< opaque to the fabric: the message's id
  uint64_t id_high = 0;
  Picoseconds submitted = 0;  ///< when it was ready to be sent
  Picoseconds queued = 0;     ///< it has waited for links so long
  Picoseconds latency = 0;    ///< of the links behind it
  uint32_t source = 0;        ///< rank
  uint32_t destination = 0;   ///< physical NPU
  uint32_t target = 0;        ///< Transfer::target
  uint8_t flags = 0;          ///< opaque to the fabric
  uint8_t plane = 0;          ///< which fidelities it travels at
  bool has_elements = false;
  std::vector<std::byte> elements;  ///< what it carries (CrossingElements), if it carries any
};

/// Sees what crosses a link. `forward`: away from the link's initiator.
using CrossingWatch = std::function<void(bool forward, const Crossing&)>;

/// Who keeps the elements that messages carry: it makes bytes of them, and elements of bytes.
class CrossingElements {
 public:
  virtual ~CrossingElements() = default;
  /// The elements of this handle, which is then free.
  virtual std::vector<std::byte> take(uint32_t handle) = 0;
  /// A handle of the same elements.
  virtual uint32_t put(const std::vector<std::byte>& bytes) = 0;
};

/// The bytes of a crossing, independent of the machine's layout, and back. Throws std::invalid_argument for
/// bytes that are no crossing.
std::vector<std::byte> to_bytes(const Crossing& crossing);
Crossing from_bytes(const std::vector<std::byte>& bytes);

}  // namespace weft::fabric

#endif
