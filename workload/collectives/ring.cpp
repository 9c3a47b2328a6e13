// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The ring: every member sends to its successor and receives from its predecessor. Rounds and sizes as in the
// closed forms of ring algorithms: all-reduce 2(n-1) rounds of S/n, all-gather n-1 of
// S, reduce-scatter n-1 of S/n, all-to-all by relay n(n-1)/2 of S/n; rooted operations are chains pipelined
// by block.

#include "workload/collectives/algorithm.h"

namespace weft::collectives {
namespace {

class Ring final : public Algorithm {
 public:
  const char* name() const override { return "ring"; }
  std::string refuses(CollectiveOp, uint32_t) const override { return {}; }

  bool symmetric(CollectiveOp op, uint32_t) const override { return rootless(op); }

  uint32_t rounds(const PhaseShape& s) const override {
    const uint32_t n = s.n;
    switch (s.op) {
      case CollectiveOp::all_reduce:
      case CollectiveOp::barrier:
        return 2 * (n - 1);
      case CollectiveOp::all_gather:
      case CollectiveOp::reduce_scatter:
        return n - 1;
      case CollectiveOp::all_to_all:
        return n * (n - 1) / 2;
      case CollectiveOp::broadcast:
      case CollectiveOp::reduce: {
        const uint32_t p = position(s);
        if (p == 0) return n;           // only sends, block after block
        return p == n - 1 ? n : n + 1;  // receives block r in round r, passes it on in round r + 1
      }
      case CollectiveOp::gather: {
        const uint32_t p = position(s);
        return p == n - 1 ? n - 1 : p + 1;
      }
      case CollectiveOp::scatter: {
        const uint32_t p = position(s);
        if (p == 0) return n - 1;
        return n - p;
      }
    }
    return 0;
  }

  void round(const PhaseShape& s, uint32_t r, Round& out) const override {
    const uint32_t n = s.n;
    const uint32_t me = ring_index(s, s.me);  // positions along the direction of travel
    out.clear();
    switch (s.op) {
      case CollectiveOp::all_reduce:
      case CollectiveOp::barrier:
        if (r < n - 1) {
          reduce_step(s, me, r, out);
        } else {
          // After the reduce-scatter rounds member `me` holds block me complete; pass the newest on.
          send_next(s, me, r, {ring_index(s, minus_mod(me, r - (n - 1), n)), 1, 1}, false, out);
          out.receives = 1;
        }
        return;
      case CollectiveOp::reduce_scatter:
        reduce_step(s, me, r, out);
        return;
      case CollectiveOp::all_gather:
        send_next(s, me, r, {ring_index(s, minus_mod(me, r, n)), 1, 1}, false, out);
        out.receives = 1;
        return;
      case CollectiveOp::all_to_all: {
        // Distance d takes d hops; in hop h member `me` passes on the block that member me - h sends to me -
        // h + d.
        uint32_t d = 1;
        uint32_t h = r;
        while (h >= d) h -= d++;
        const uint32_t origin = minus_mod(me, h, n);
        send_next(s, me, r, {ring_index(s, plus_mod(origin, d, n)), 1, 1}, false, out);
        out.receives = 1;
        return;
      }
      case CollectiveOp::broadcast:
      case CollectiveOp::reduce: {
        const uint32_t p = position(s);
        const bool reduce = s.op == CollectiveOp::reduce;
        if (p == 0) {
          send_next(s, me, r, {r, 1, 1}, reduce, out);
          return;
        }
        if (r < n) out.receives = 1;
        if (p != n - 1 && r > 0) send_next(s, me, r - 1, {r - 1, 1, 1}, reduce, out);
        return;
      }
      case CollectiveOp::gather: {
        // The member at position p sends its own block, then the p blocks that come from upstream, nearest
        // first.
        const uint32_t p = position(s);
        if (p == n - 1) {
          out.receives = 1;
          return;
        }
        if (r < p) out.receives = 1;
        send_next(s, me, r, {ring_index(s, minus_mod(me, r, n)), 1, 1}, false, out);
        return;
      }
      case CollectiveOp::scatter: {
        // The root sends the farthest member's block first; each member keeps the last one it receives.
        const uint32_t p = position(s);
        const uint32_t far = plus_mod(ring_index(s, s.root), n - 1, n);
        if (p == 0) {
          send_next(s, me, r, {ring_index(s, minus_mod(far, r, n)), 1, 1}, false, out);
          return;
        }
        out.receives = 1;
        if (r > 0) send_next(s, me, r - 1, {ring_index(s, minus_mod(far, r - 1, n)), 1, 1}, false, out);
        return;
      }
    }
  }

  bool expects(const PhaseShape& s, uint32_t r, uint32_t from) const override {
    const uint32_t me = ring_index(s, s.me);
    if (ring_index(s, from) != minus_mod(me, 1, s.n)) return false;
    switch (s.op) {
      case CollectiveOp::broadcast:
      case CollectiveOp::reduce:
        return position(s) != 0 && r < s.n;
      case CollectiveOp::gather:
        return r < position(s);
      case CollectiveOp::scatter:
        return position(s) != 0 && r < s.n - position(s);
      default:
        return r < rounds(s);
    }
  }

 private:
  /// Index along the direction of travel; its own inverse.
  static uint32_t ring_index(const PhaseShape& s, uint32_t i) { return s.reverse ? s.n - 1 - i : i; }

  /// Place in the chain of a rooted operation: 0 sends first. Broadcast and scatter start at the root, reduce
  /// and gather end there.
  static uint32_t position(const PhaseShape& s) {
    const uint32_t distance = minus_mod(ring_index(s, s.me), ring_index(s, s.root), s.n);
    const bool from_root = s.op == CollectiveOp::broadcast || s.op == CollectiveOp::scatter;
    return from_root ? distance : minus_mod(distance, 1, s.n);
  }

  static void send_next(const PhaseShape& s, uint32_t me, uint32_t at_round, BlockSet blocks, bool reduce,
                        Round& out) {
    out.sends.push_back({ring_index(s, plus_mod(me, 1, s.n)), at_round, blocks, reduce});
  }

  /// Reduce-scatter: block me - 1 - r travels on, so that block me is complete here after n - 1 rounds.
  static void reduce_step(const PhaseShape& s, uint32_t me, uint32_t r, Round& out) {
    send_next(s, me, r, {ring_index(s, minus_mod(minus_mod(me, 1, s.n), r, s.n)), 1, 1}, true, out);
    out.receives = 1;
  }
};

}  // namespace

const Algorithm* ring_algorithm() {
  static const Ring instance;
  return &instance;
}

}  // namespace weft::collectives
