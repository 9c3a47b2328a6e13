// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Direct: one message to every peer, destinations me + 1, me + 2, ... All-reduce is a reduce-scatter round
// and an all-gather round with a barrier between them.

#include "workload/collectives/algorithm.h"

namespace weft::collectives {
namespace {

class Direct final : public Algorithm {
 public:
  const char* name() const override { return "direct"; }
  std::string refuses(CollectiveOp, uint32_t) const override { return {}; }

  bool symmetric(CollectiveOp op, uint32_t) const override { return rootless(op); }

  uint32_t rounds(const PhaseShape& s) const override {
    return s.op == CollectiveOp::all_reduce || s.op == CollectiveOp::barrier ? 2 : 1;
  }

  void round(const PhaseShape& s, uint32_t r, Round& out) const override {
    out.clear();
    const uint32_t n = s.n;
    switch (s.op) {
      case CollectiveOp::all_reduce:
      case CollectiveOp::barrier:
        to_peers(s, r, r == 0, r == 0, out);
        out.receives = n - 1;
        return;
      case CollectiveOp::reduce_scatter:
        to_peers(s, r, true, true, out);
        out.receives = n - 1;
        return;
      case CollectiveOp::all_to_all:
        to_peers(s, r, true, false, out);
        out.receives = n - 1;
        return;
      case CollectiveOp::all_gather:
        to_peers(s, r, false, false, out);
        out.receives = n - 1;
        return;
      case CollectiveOp::broadcast:
      case CollectiveOp::scatter:
        if (s.me == s.root) {
          for (uint32_t k = 1; k < n; ++k) {
            const uint32_t to = plus_mod(s.me, k, n);
            const BlockSet blocks = s.op == CollectiveOp::broadcast ? BlockSet{0, n, 1} : BlockSet{to, 1, 1};
            out.sends.push_back({to, 0, blocks, false});
          }
        } else {
          out.receives = 1;
        }
        return;
      case CollectiveOp::reduce:
      case CollectiveOp::gather:
        if (s.me == s.root) {
          out.receives = n - 1;
        } else {
          const bool reduce = s.op == CollectiveOp::reduce;
          out.sends.push_back({s.root, 0, reduce ? BlockSet{0, n, 1} : BlockSet{s.me, 1, 1}, reduce});
        }
        return;
    }
  }

  Exchange exchange(const PhaseShape& s, uint32_t r) const override {
    if (!rootless(s.op)) return Algorithm::exchange(s, r);
    const bool gathers = s.op == CollectiveOp::all_gather || (rounds(s) == 2 && r == 1);
    return gathers ? Exchange::gathered : Exchange::scattered;
  }

  bool expects(const PhaseShape& s, uint32_t r, uint32_t from) const override {
    switch (s.op) {
      case CollectiveOp::broadcast:
      case CollectiveOp::scatter:
        return s.me != s.root && from == s.root && r == 0;
      case CollectiveOp::reduce:
      case CollectiveOp::gather:
        return s.me == s.root && r == 0;
      default:
        return r < rounds(s);
    }
  }

 private:
  /// To each peer its own block (scatter) or mine (gather).
  static void to_peers(const PhaseShape& s, uint32_t r, bool theirs, bool reduce, Round& out) {
    for (uint32_t k = 1; k < s.n; ++k) {
      const uint32_t to = s.reverse ? minus_mod(s.me, k, s.n) : plus_mod(s.me, k, s.n);
      out.sends.push_back({to, r, {theirs ? to : s.me, 1, 1}, reduce});
    }
  }
};

}  // namespace

const Algorithm* direct_algorithm() {
  static const Direct instance;
  return &instance;
}

}  // namespace weft::collectives
