// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/border/crossing.h"

#include "tlm_interconnect/border/bytes.h"

namespace weft::fabric {
namespace {

/// Both directions name the fields in one order.
template <typename Bytes, typename C>
void fields(Bytes& bytes, C& c) {
  bytes.number(c.first);
  bytes.number(c.length);
  bytes.number(c.bytes);
  bytes.number(c.id_low);
  bytes.number(c.id_high);
  bytes.number(c.submitted);
  bytes.number(c.queued);
  bytes.number(c.latency);
  bytes.number(c.source);
  bytes.number(c.destination);
  bytes.number(c.target);
  bytes.number(c.flags);
  bytes.number(c.plane);
  bytes.flag(c.has_elements);
  bytes.bytes(c.elements);
}

}  // namespace

std::vector<std::byte> to_bytes(const Crossing& crossing) {
  ByteWriter writer;
  fields(writer, crossing);
  return writer.take();
}

Crossing from_bytes(const std::vector<std::byte>& bytes) {
  Crossing crossing;
  ByteReader reader(bytes);
  fields(reader, crossing);
  reader.end();
  return crossing;
}

}  // namespace weft::fabric
