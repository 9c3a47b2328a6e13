// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Recognises full exchanges from what all members send.

#include "workload/collectives/algorithm.h"

namespace weft::collectives {

Exchange Algorithm::exchange(const PhaseShape& shape, uint32_t r) const {
  const uint32_t n = shape.n;
  PhaseShape s = shape;
  Round mine;
  std::vector<bool> sent;
  bool scattered = true;
  bool gathered = true;
  for (s.me = 0; s.me < n; ++s.me) {
    if (r >= rounds(s)) return Exchange::none;
    round(s, r, mine);
    if (mine.sends.size() + 1 != n || mine.receives + 1 != n) return Exchange::none;
    sent.assign(n, false);
    sent[s.me] = true;
    for (const RoundSend& send : mine.sends) {
      if (send.at_round != r || sent[send.to]) return Exchange::none;
      sent[send.to] = true;
      scattered = scattered && send.blocks.count == 1 && send.blocks.first == send.to;
      gathered = gathered && send.blocks.count == 1 && send.blocks.first == s.me;
    }
  }
  return scattered ? Exchange::scattered : gathered ? Exchange::gathered : Exchange::other;
}

}  // namespace weft::collectives
