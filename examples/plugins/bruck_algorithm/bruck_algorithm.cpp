// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// All-gather in ceil(log2 n) rounds for any number of members (Bruck et al., "Efficient algorithms for
// all-to-all communications in multiport message-passing systems", IEEE TPDS 8(11), 1997): in round r a
// member sends the 2^r blocks that it has, its own first, to the member 2^r below it.

#include <algorithm>
#include <string>

#include "sc_models/plugin.h"

namespace {

using namespace weft::collectives;

class Bruck final : public Algorithm {
 public:
  const char* name() const override { return "bruck"; }

  std::string refuses(weft::CollectiveOp op, uint32_t) const override {
    return op == weft::CollectiveOp::all_gather ? "" : "bruck runs all-gather only; use another algorithm";
  }

  uint32_t rounds(const PhaseShape& s) const override {
    const uint32_t k = log2_floor(s.n);
    return (1u << k) == s.n ? k : k + 1;
  }

  void round(const PhaseShape& s, uint32_t r, Round& out) const override {
    out.clear();
    const uint32_t distance = 1u << r;
    RoundSend send;
    send.to = minus_mod(s.me, distance, s.n);
    send.at_round = r;
    send.blocks = {s.me, std::min(distance, s.n - distance), 1};
    out.sends.push_back(send);
    out.receives = 1;
  }

  bool expects(const PhaseShape& s, uint32_t r, uint32_t from) const override {
    for (; r < rounds(s); ++r)
      if (plus_mod(s.me, 1u << r, s.n) == from) return true;
    return false;
  }
};

const Bruck bruck;

}  // namespace

WEFT_PLUGIN(registry) {
  registry.add_algorithm(bruck, "all-gather in ceil(log2 n) rounds for any n");
}
