// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/payload_elements.h"

#include <utility>

#include "tlm_interconnect/border/bytes.h"

namespace weft {
namespace {

/// Both directions name the fields in one order.
template <typename Bytes, typename P>
void fields(Bytes& bytes, P& payload) {
  bytes.number(payload.source);
  bytes.number(payload.sequence);
  bytes.number(payload.blocks.first);
  bytes.number(payload.blocks.count);
  bytes.number(payload.blocks.stride);
  bytes.flag(payload.reduce);
  bytes.flag(payload.interval);
  bytes.number(payload.offset);
  bytes.numbers(payload.origins);
  bytes.bytes(payload.bytes);
}

}  // namespace

size_t element_bytes(const std::vector<std::byte>& bytes) {
  collectives::Payload payload;
  fabric::ByteReader reader(bytes);
  fields(reader, payload);
  reader.end();
  return payload.bytes.size();
}

std::vector<std::byte> PayloadElements::take(uint32_t handle) {
  fabric::ByteWriter writer;
  fields(writer, std::as_const(pool_)[handle]);
  pool_.release(handle);
  return writer.take();
}

uint32_t PayloadElements::put(const std::vector<std::byte>& bytes) {
  collectives::Payload payload;
  fabric::ByteReader reader(bytes);
  fields(reader, payload);
  reader.end();
  const uint32_t handle = pool_.acquire();
  payload.references = pool_[handle].references;
  pool_[handle] = std::move(payload);
  return handle;
}

}  // namespace weft
