// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Numbers of any size in few bytes: seven bits a byte, the lowest first, and the highest bit of a byte says
// that another one follows (base 128 varints of the protocol buffers encoding).

#ifndef WEFT_CONFIGS_VARINT_H
#define WEFT_CONFIGS_VARINT_H

#include <cstdint>

namespace weft {

/// `Bytes`: a std::string, or a std::vector of bytes.
template <typename Bytes>
void append_varint(Bytes& bytes, uint64_t value) {
  using Byte = typename Bytes::value_type;
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<Byte>(value | 0x80));
  bytes.push_back(static_cast<Byte>(value));
}

}  // namespace weft

#endif
