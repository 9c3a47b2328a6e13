// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/border/flit_crossing.h"

#include <stdexcept>

#include "tlm_interconnect/border/bytes.h"

namespace weft::fabric {
namespace {

/// Both directions name the fields in one order.
template <typename Bytes, typename H>
void head_fields(Bytes& bytes, H& head) {
  bytes.number(head.bytes);
  bytes.number(head.id_low);
  bytes.number(head.id_high);
  bytes.number(head.submitted);
  bytes.number(head.interface);
  bytes.number(head.source);
  bytes.number(head.destination);
  bytes.number(head.elements);
  bytes.number(head.virtual_network);
  bytes.number(head.flags);
  bytes.flag(head.marked);
}

template <typename Bytes, typename C>
void fields(Bytes& bytes, C& c) {
  bytes.number(c.vc);
  bytes.number(c.first);
  bytes.number(c.stride);
  bytes.number(c.count);
  if (c.kind != FlitCrossing::Kind::flits) return;
  bytes.number(c.first_flit);
  bytes.number(c.packet_flits);
  if (c.first_flit == 0) head_fields(bytes, c.head);
}

}  // namespace

std::vector<std::byte> to_bytes(const FlitCrossing& crossing) {
  ByteWriter writer;
  writer.number(static_cast<uint8_t>(crossing.kind));
  fields(writer, crossing);
  return writer.take();
}

FlitCrossing flits_from_bytes(const std::vector<std::byte>& bytes) {
  FlitCrossing crossing;
  ByteReader reader(bytes);
  uint8_t kind = 0;
  reader.number(kind);
  if (kind > static_cast<uint8_t>(FlitCrossing::Kind::resume))
    throw std::invalid_argument("neither flits nor credits nor a pause");
  crossing.kind = static_cast<FlitCrossing::Kind>(kind);
  fields(reader, crossing);
  reader.end();
  return crossing;
}

}  // namespace weft::fabric
