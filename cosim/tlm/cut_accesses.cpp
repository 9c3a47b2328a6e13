// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/tlm/cut_accesses.h"

#include <algorithm>

namespace weft::cosim {

void CutAccesses::begin(uint32_t ticket, Payload& payload, std::vector<AccessPiece> pieces, bool with_enables,
                        Picoseconds at) {
  Cut& cut = cut_[ticket];
  cut.payload = &payload;
  cut.pieces = std::move(pieces);
  cut.last = at;
  if (payload.get_byte_enable_ptr() != nullptr && with_enables) {
    cut.enables.resize(payload.get_data_length());
    for (uint32_t i = 0; i < cut.enables.size(); ++i)
      cut.enables[i] = enabled(payload, i) ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
  }
  go_on(ticket, at);
}

/// Starts the pieces up to the next one that has to wait.
void CutAccesses::go_on(uint32_t ticket, Picoseconds at) {
  Cut& cut = cut_[ticket];
  if (cut.next == cut.pieces.size()) {
    const Cut over = std::move(cut);
    cut_.erase(ticket);
    over_(ticket, over.status, over.last);
    return;
  }
  const size_t first = cut.next;
  do ++cut.next;
  while (cut.next < cut.pieces.size() && !cut.pieces[cut.next].after_all);
  const size_t end = cut.next;
  cut.under_way = static_cast<uint32_t>(end - first);
  for (size_t i = first; i < end; ++i) {  // the last one may end the access: `cut` is gone then
    const AccessPiece piece = cut.pieces[i];
    start_(ticket, *cut.payload, piece, cut.enables.empty() ? nullptr : cut.enables.data() + piece.offset,
           at);
  }
}

void CutAccesses::piece_over(uint32_t ticket, tlm::tlm_response_status status, Picoseconds at) {
  Cut& cut = cut_[ticket];
  cut.status = worst(cut.status, status);
  cut.last = std::max(cut.last, at);
  if (--cut.under_way == 0) go_on(ticket, cut.last);
}

}  // namespace weft::cosim
