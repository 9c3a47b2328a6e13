// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/tlm/access_pieces.h"

#include <algorithm>

namespace weft::cosim {
namespace {

/// Bytes [from, to) of the data, one behind the other in memory from `address` on.
void cut(std::vector<AccessPiece>& pieces, uint64_t address, uint32_t from, uint32_t to, uint32_t most) {
  for (uint32_t i = from; i < to;) {
    const uint64_t at = address + (i - from);
    uint32_t length = 1;
    while (length < most && at % (uint64_t{2} * length) == 0 && uint64_t{2} * length <= to - i) length *= 2;
    pieces.push_back({at, i, length, false, length});
    i += length;
  }
}

}  // namespace

std::vector<AccessPiece> pieces_of(const tlm::tlm_generic_payload& payload, uint32_t most,
                                   bool enabled_only) {
  std::vector<AccessPiece> pieces;
  const uint32_t length = payload.get_data_length();
  const uint32_t width = std::min(payload.get_streaming_width(), length);
  const bool all = !enabled_only || payload.get_byte_enable_ptr() == nullptr;
  for (uint32_t beat = 0; beat < length; beat += width) {
    const uint32_t end = std::min(length - beat, width) + beat;
    const size_t before = pieces.size();
    for (uint32_t i = beat; i < end;) {
      uint32_t to = all ? end : i;
      while (!all && to < end && enabled(payload, to)) ++to;
      if (to > i) cut(pieces, payload.get_address() + (i - beat), i, to, most);
      i = std::max(to, i + 1);
    }
    // Of writes to the same addresses the last one counts.
    if (payload.is_write() && before != 0 && pieces.size() > before) pieces[before].after_all = true;
  }
  return pieces;
}

}  // namespace weft::cosim
