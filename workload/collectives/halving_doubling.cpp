// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Recursive halving and doubling. Reduce-scatter: partners at distance 1, 2, 4, ... exchange S/2, S/4, ...;
// after round k a member is responsible for the blocks whose low k + 1 index bits are its own. All-gather is
// the same backwards. Rooted operations use the binomial tree, which any number of members can have.
//
// Other sizes than powers of two: the first p = 2^floor(log2 n) members are the core. The extra member p + j
// folds its data into member j before the core's rounds and gets its result from there after them; in the
// core, member j stands for the blocks j and p + j. With x(m) the time of a message and c(S) that of the
// core:
//   reduce-scatter  e + x(S) + e + red(S) + c(S) + x(S/n) + e
//   all-reduce      e + x(S) + e + red(S) + c(S) + x(S) + e
//   all-gather      e + x(S) + e + c + x((n-1) S) + e       (S the shard)
// where a message of the core's step k (distance 2^k) holds the blocks b < n with b = i modulo 2^(k+1), for
// the member i that they are for (reduce-scatter) or from (all-gather): at most ceil(n / 2^(k+1)) of them.
// For reduce-scatter and all-gather this is an upper bound unless n - p > p / 2: only then is there an extra
// member whose data goes through every step to another one.

#include "configs/algorithms.h"
#include "workload/collectives/algorithm.h"

namespace weft::collectives {
namespace {

bool power_of_two(uint32_t n) {
  return (n & (n - 1)) == 0;
}

class HalvingDoubling final : public Algorithm {
 public:
  const char* name() const override { return "halving_doubling"; }

  std::string refuses(CollectiveOp op, uint32_t) const override {
    return lacking(*weft::find_algorithm(name()), op);
  }

  bool symmetric(CollectiveOp op, uint32_t n) const override { return rootless(op) && power_of_two(n); }

  uint32_t rounds(const PhaseShape& s) const override {
    const uint32_t l = log2_floor(s.n);
    if (!rooted(s.op) && !power_of_two(s.n)) {
      if (extra(s, s.me)) return 1;
      const uint32_t core = s.op == CollectiveOp::all_reduce || s.op == CollectiveOp::barrier ? 2 * l : l;
      return core + 2 * folds(s, s.me);
    }
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
    if (!rooted(s.op)) {
      if (power_of_two(s.n)) {
        core_round(s, r, out);
      } else {
        folded_round(s, r, out);
      }
      return;
    }
    switch (s.op) {
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
      default:
        return;
    }
  }

  bool expects(const PhaseShape& s, uint32_t r, uint32_t from) const override {
    const uint32_t l = log2_floor(s.n);
    if (!rooted(s.op)) {
      if (extra(s, s.me)) return r == 0 && from == s.me - core(s);
      if (extra(s, from)) return r == 0 && s.me == from - core(s);
      const uint32_t distance = s.me ^ from;
      const uint32_t folded = folds(s, s.me);
      if (!power_of_two(distance) || distance == 0) return false;
      const uint32_t k = log2_floor(distance);
      switch (s.op) {
        case CollectiveOp::reduce_scatter:
          return folded + k >= r;
        case CollectiveOp::all_gather:
          return folded + l - 1 - k >= r;
        default:
          return folded + 2 * l - 1 - k >= r;
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
  /// Members of the core: the largest power of two that n holds.
  static uint32_t core(const PhaseShape& s) { return 1u << log2_floor(s.n); }
  /// Is member i outside the core?
  static bool extra(const PhaseShape& s, uint32_t i) { return i >= core(s); }
  /// 1 when core member i takes an extra member's data in before its first step.
  static uint32_t folds(const PhaseShape& s, uint32_t i) { return i < s.n - core(s) ? 1 : 0; }

  /// Step r of the core, at a member of it.
  static void core_round(const PhaseShape& s, uint32_t r, Round& out) {
    const uint32_t l = log2_floor(s.n);
    switch (s.op) {
      case CollectiveOp::reduce_scatter:
        halve(s, r, out);
        break;
      case CollectiveOp::all_gather:
        doubled(s, l - 1 - r, out);
        break;
      default:
        if (r < l) {
          halve(s, r, out);
        } else {
          doubled(s, 2 * l - 1 - r, out);
        }
    }
    out.sends.back().at_round = r;
  }

  /// Round r of a group whose size is no power of two.
  static void folded_round(const PhaseShape& s, uint32_t r, Round& out) {
    const bool gather = s.op == CollectiveOp::all_gather;
    if (extra(s, s.me)) {
      const BlockSet mine = gather ? BlockSet{s.me, 1, 1} : BlockSet{0, s.n, 1};
      out.sends.push_back({s.me - core(s), 0, mine, !gather});
      out.receives = 1;  // the result, when the partner has it
      return;
    }
    const uint32_t folded = folds(s, s.me);
    if (folded != 0 && r == 0) {
      out.receives = 1;
      return;
    }
    const uint32_t l = log2_floor(s.n);
    const uint32_t steps = s.op == CollectiveOp::reduce_scatter || gather ? l : 2 * l;
    const uint32_t step = r - folded;
    if (step < steps) {
      core_round(s, step, out);
      RoundSend& send = out.sends.back();
      send.at_round = step + folds(s, send.to);
      return;
    }
    const uint32_t partner = s.me + core(s);
    BlockSet result{0, s.n, 1};
    if (s.op == CollectiveOp::reduce_scatter) result = {partner, 1, 1};
    if (gather) result = {plus_mod(partner, 1, s.n), s.n - 1, 1};
    out.sends.push_back({partner, 0, result, false});
  }

  /// Blocks whose low k + 1 index bits are those of member i.
  static BlockSet slice(const PhaseShape& s, uint32_t i, uint32_t k) {
    const uint32_t stride = 2u << k;
    const uint32_t first = i & (stride - 1);
    return {first, (s.n - first + stride - 1) / stride, stride};
  }
  /// Exchange with the partner at distance 2^k: it gets the blocks whose low k + 1 bits are its own.
  static void halve(const PhaseShape& s, uint32_t k, Round& out) {
    const uint32_t partner = s.me ^ (1u << k);
    out.sends.push_back({partner, k, slice(s, partner, k), true});
    out.receives = 1;
  }
  /// The reverse: it gets all I hold, the blocks whose low k + 1 bits are mine.
  static void doubled(const PhaseShape& s, uint32_t k, Round& out) {
    const uint32_t partner = s.me ^ (1u << k);
    out.sends.push_back({partner, k, slice(s, s.me, k), false});
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
