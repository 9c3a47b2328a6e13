// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Recursive halving and doubling. Reduce-scatter: partners at distance 1, 2, 4, ... exchange S/2, S/4, ...;
// after round k a member is responsible for the blocks whose low k + 1 index bits are its own. All-gather is
// the same backwards. Rooted operations use the binomial tree, which any number of members can have.

#include "workload/collectives/algorithm.h"

namespace weft::collectives {
namespace {

uint32_t log2_floor(uint32_t n) {
  uint32_t k = 0;
  while (n >> (k + 1)) ++k;
  return k;
}

bool power_of_two(uint32_t n) {
  return (n & (n - 1)) == 0;
}

bool rooted(CollectiveOp op) {
  return op == CollectiveOp::broadcast || op == CollectiveOp::reduce || op == CollectiveOp::gather ||
         op == CollectiveOp::scatter;
}

class HalvingDoubling final : public Algorithm {
 public:
  const char* name() const override { return "halving_doubling"; }

  std::string refuses(CollectiveOp op, uint32_t n) const override {
    if (op == CollectiveOp::all_to_all) {
      return "halving_doubling has no all_to_all; use direct or ring";
    }
    if (!rooted(op) && !power_of_two(n)) {
      return "halving_doubling needs a power of two of members and has " + std::to_string(n) +
             "; use ring or direct";
    }
    return {};
  }

  bool symmetric(CollectiveOp op, uint32_t n) const override { return rootless(op) && power_of_two(n); }

  uint32_t rounds(const PhaseShape& s) const override {
    const uint32_t l = log2_floor(s.n);
    switch (s.op) {
      case CollectiveOp::all_reduce:
      case CollectiveOp::barrier:
        return 2 * l;
      case CollectiveOp::broadcast:
      case CollectiveOp::scatter:
        return relative(s) == 0 ? 1 : 2;
      case CollectiveOp::reduce:
      case CollectiveOp::gather:
        return relative(s) == 0 ? 1 : 2;
      default:
        return l;
    }
  }

  void round(const PhaseShape& s, uint32_t r, Round& out) const override {
    out.clear();
    const uint32_t l = log2_floor(s.n);
    switch (s.op) {
      case CollectiveOp::all_reduce:
      case CollectiveOp::barrier:
        if (r < l) {
          halve(s, r, r, out);
        } else {
          doubled(s, 2 * l - 1 - r, r, out);
        }
        return;
      case CollectiveOp::reduce_scatter:
        halve(s, r, r, out);
        return;
      case CollectiveOp::all_gather:
        doubled(s, l - 1 - r, r, out);
        return;
      case CollectiveOp::broadcast:
      case CollectiveOp::scatter: {
        const bool is_root = relative(s) == 0;
        if (!is_root && r == 0) {
          out.receives = 1;
          return;
        }
        for_children(s, [&](uint32_t child, uint32_t bit) {
          out.sends.push_back({absolute(s, child), 0, subtree(s, child, bit), false});
        });
        return;
      }
      case CollectiveOp::reduce:
      case CollectiveOp::gather: {
        if (r == 0) {
          for_children(s, [&](uint32_t, uint32_t) { ++out.receives; });
          return;
        }
        const uint32_t rel = relative(s);
        const uint32_t bit = log2_floor(rel);
        out.sends.push_back(
            {absolute(s, rel - (1u << bit)), 0, subtree(s, rel, bit), s.op == CollectiveOp::reduce});
        return;
      }
      case CollectiveOp::all_to_all:
        return;  // refused
    }
  }

  bool expects(const PhaseShape& s, uint32_t r, uint32_t from) const override {
    const uint32_t l = log2_floor(s.n);
    if (!rooted(s.op)) {
      const uint32_t distance = s.me ^ from;
      if (!power_of_two(distance) || distance == 0) return false;
      const uint32_t k = log2_floor(distance);
      switch (s.op) {
        case CollectiveOp::reduce_scatter:
          return k >= r;
        case CollectiveOp::all_gather:
          return l - 1 - k >= r;
        default:
          return 2 * l - 1 - k >= r;
      }
    }
    const uint32_t rel = relative(s);
    const uint32_t other = minus_mod(from, s.root, s.n);
    if (r != 0) return false;
    if (s.op == CollectiveOp::broadcast || s.op == CollectiveOp::scatter) {
      return rel != 0 && other == rel - (1u << log2_floor(rel));
    }
    bool found = false;
    for_children(s, [&](uint32_t child, uint32_t) { found = found || child == other; });
    return found;
  }

 private:
  /// Exchange with the partner at distance 2^k: it gets the blocks whose low k + 1 bits are its own.
  static void halve(const PhaseShape& s, uint32_t k, uint32_t r, Round& out) {
    const uint32_t partner = s.me ^ (1u << k);
    const uint32_t stride = 2u << k;
    out.sends.push_back({partner, r, {partner & (stride - 1), s.n / stride, stride}, true});
    out.receives = 1;
  }
  /// The reverse: it gets all I hold, the blocks whose low k + 1 bits are mine.
  static void doubled(const PhaseShape& s, uint32_t k, uint32_t r, Round& out) {
    const uint32_t partner = s.me ^ (1u << k);
    const uint32_t stride = 2u << k;
    out.sends.push_back({partner, r, {s.me & (stride - 1), s.n / stride, stride}, false});
    out.receives = 1;
  }

  static uint32_t relative(const PhaseShape& s) { return minus_mod(s.me, s.root, s.n); }
  static uint32_t absolute(const PhaseShape& s, uint32_t rel) { return plus_mod(rel, s.root, s.n); }

  /// Binomial tree: relative index rel has the children rel + 2^j for all j above rel's highest bit.
  template <typename F>
  static void for_children(const PhaseShape& s, F&& f) {
    const uint32_t rel = relative(s);
    for (uint32_t j = rel == 0 ? 0 : log2_floor(rel) + 1; (1u << j) < s.n; ++j) {
      if (rel + (1u << j) < s.n) f(rel + (1u << j), j);
    }
  }
  /// Blocks of a child's whole subtree (broadcast and reduce carry all n blocks).
  static BlockSet subtree(const PhaseShape& s, uint32_t rel, uint32_t bit) {
    if (s.op == CollectiveOp::broadcast || s.op == CollectiveOp::reduce) return {0, s.n, 1};
    const uint32_t stride = 2u << bit;
    return {absolute(s, rel), (s.n - rel + stride - 1) / stride, stride};
  }
};

}  // namespace

const Algorithm* halving_doubling_algorithm() {
  static const HalvingDoubling instance;
  return &instance;
}

}  // namespace weft::collectives
