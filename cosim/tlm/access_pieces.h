// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// An access of any length, alignment, byte enables and streaming width in naturally aligned pieces.

#ifndef WEFT_COSIM_TLM_ACCESS_PIECES_H
#define WEFT_COSIM_TLM_ACCESS_PIECES_H

#include <cstdint>
#include <tlm>
#include <vector>

namespace weft::cosim {

/// Bytes [offset, offset + length) of the access's data, at `address`.
struct AccessPiece {
  uint64_t address = 0;
  uint32_t offset = 0;
  uint32_t length = 0;
  bool after_all = false;  ///< begins when all pieces before it are complete: it may write them again
  uint32_t width = 0;      ///< streaming width
};

/// Ascending by offset. The length of each is a power of two, and its address a multiple of that. `most`:
/// bytes of a piece at most, a power of two. `boundary`: no piece crosses a multiple of it anyhow, because
/// pieces are aligned. `enabled_only`: pieces have only bytes that are enabled, and need no byte enables;
/// otherwise pieces cover all bytes.
std::vector<AccessPiece> pieces_of(const tlm::tlm_generic_payload& payload, uint32_t most, bool enabled_only);

/// Byte i is enabled.
inline bool enabled(const tlm::tlm_generic_payload& payload, uint32_t i) {
  const unsigned char* const enables = payload.get_byte_enable_ptr();
  return enables == nullptr || enables[i % payload.get_byte_enable_length()] == TLM_BYTE_ENABLED;
}

/// TLM_OK_RESPONSE if both are, else the error; of two errors the one with the smaller enum value.
inline tlm::tlm_response_status worst(tlm::tlm_response_status a, tlm::tlm_response_status b) {
  return a < b ? a : b;  // errors are negative numbers
}

}  // namespace weft::cosim

#endif
