// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/p2p_data.h"

#include <fmt/format.h>

#include <algorithm>

#include "workload/collectives/elements.h"

namespace weft::collectives {

void P2pData::fill(uint32_t source, uint32_t destination, const MessageId& id, uint64_t bytes,
                   std::vector<std::byte>& out) const {
  // A buffer of its own for every message: destination, tag and ordinal make its number, in the half that
  // collectives do not reach.
  uint64_t number = destination;
  number = (number * 0x9e3779b97f4a7c15ull + id.round) * 0x9e3779b97f4a7c15ull + id.stream;
  InputKey key;
  key.stream = static_cast<uint32_t>((number * 0x9e3779b97f4a7c15ull) >> 32) | 0x80000000u;
  key.rank = source;
  const uint32_t size = element_bytes(context_.type());
  const uint64_t elements = (bytes + size - 1) / size;
  out.resize(elements * size);
  if (elements != 0) context_.source().fill(key, 0, elements, out.data());
  out.resize(bytes);
}

uint32_t P2pData::load(uint32_t source, uint32_t destination, const MessageId& id, uint64_t bytes) {
  const uint32_t handle = context_.payloads().acquire();
  Payload& payload = context_.payloads()[handle];
  payload.source = source;
  fill(source, destination, id, bytes, payload.bytes);
  return handle;
}

std::string P2pData::check(uint32_t destination, const Completion& message) {
  const uint32_t source = index(message.source);
  const auto where = [&] {
    return fmt::format("message {} from rank {} to rank {} with tag {} ({} B)", message.id.stream, source,
                       destination, message.id.round, message.bytes);
  };
  if (!context_.payloads().valid(message.data)) return where() + ": it arrived without its data";
  ++messages_;
  std::vector<std::byte> wanted;
  fill(source, destination, message.id, message.bytes, wanted);
  const std::vector<std::byte> got = context_.payloads()[message.data].bytes;
  context_.payloads().release(message.data);
  if (got == wanted) return {};
  if (got.size() != wanted.size()) return fmt::format("{}: {} B arrived", where(), got.size());
  const uint32_t size = element_bytes(context_.type());
  const auto wrong =
      static_cast<uint64_t>(std::mismatch(got.begin(), got.end(), wanted.begin()).first - got.begin());
  const uint64_t element = wrong / size;
  if ((element + 1) * size > got.size())
    return fmt::format("{}: its last {} B are wrong", where(), got.size() % size);
  return fmt::format("{}: element {}: expected {}, got {}", where(), element,
                     element_text(context_.type(), wanted.data() + element * size),
                     element_text(context_.type(), got.data() + element * size));
}

}  // namespace weft::collectives
