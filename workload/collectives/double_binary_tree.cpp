// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Two complementary binary trees (P. Sanders, J. Speck, J. L. Traeff: Two-tree algorithms for full bandwidth
// broadcast, reduction and scan, Parallel Computing 35, 2009). A chunk uses one tree, the next chunk the
// other; the inner members of one tree are leaves of the other, so that over two chunks of S a member sends
// and receives no more than 4 S for an all-reduce, 2 S for a broadcast or a reduction.
//
// The tree over the positions 1 .. m is the in-order one: a position whose lowest set bit is 2^h has height
// h, odd positions are leaves, the root is the largest power of two, at depth 0; no position is deeper than
// H = floor(log2 m). The second tree is the first with its positions mirrored (m even) or moved by one (m
// odd), which makes even positions odd.
// All-reduce and barrier: the tree holds all n members. Broadcast and reduce: it holds the n - 1 others, and
// the root of the operation is joined to the tree's root.
//
// The n blocks travel as B = min(n, 8 max(1, H)) slices of neighbouring blocks, one after the other: enough
// to keep every level of the tree busy, and few enough that the time of a small chunk grows with log n only.
// Round r is the same step at every member: going up, the member at depth d sends slice i in step i + H - d,
// which is received there in the same step; going down, it sends slice i in step i + H + d (broadcast: i + d
// + 1). An all-reduce has B + 2H - 1 rounds, a broadcast or a reduction B + H. In an all-reduce a member at
// depth d has at most 2d slices above it (it sends slice i + 2d when slice i is back), so that the root's
// children send two slices a round trip; an operation with a root is a chain of sends. With x the time of a
// slice, t its serialisation alone, where links are not shared and reducing is free:
//   all-reduce         e + 2 (H + floor((B-1) / 2)) (x + e) + ((B-1) mod 2) t,   H = floor(log2 n)
//   broadcast, reduce  e + (H + 1) (x + e) + (B - 1) t,                          H = floor(log2 (n-1))
//   barrier            e + 2H (x(token) + e)
// if B divides n; else the largest slice (ceil(n/B) blocks) gives an upper bound.

#include <algorithm>

#include "configs/algorithms.h"
#include "workload/collectives/algorithm.h"

namespace weft::collectives {
namespace {

/// The in-order tree over the positions 1 .. m.
struct Tree {
  uint32_t m = 1;

  uint32_t top() const { return 1u << log2_floor(m); }
  static uint32_t lowest(uint32_t v) { return v & (~v + 1); }
  /// Not of the top.
  uint32_t parent(uint32_t v) const {
    const uint32_t bit = lowest(v);
    const uint64_t up = (static_cast<uint64_t>(v) - bit) | static_cast<uint64_t>(bit) << 1;
    return up <= m ? static_cast<uint32_t>(up) : v - bit;
  }
  uint32_t depth(uint32_t v) const {
    uint32_t d = 0;
    for (; v != top(); v = parent(v)) ++d;
    return d;
  }
  /// Calls f(child): the left one, then the right one.
  template <typename F>
  void for_children(uint32_t v, F&& f) const {
    uint32_t bit = lowest(v) >> 1;
    if (bit == 0) return;
    f(v - bit);
    while (bit != 0 && bit > m - v) bit >>= 1;
    if (bit != 0) f(v + bit);
  }
};

class DoubleBinaryTree final : public Algorithm {
 public:
  const char* name() const override { return "double_binary_tree"; }

  std::string refuses(CollectiveOp op, uint32_t) const override {
    return lacking(*weft::find_algorithm(name()), op);
  }

  uint32_t rounds(const PhaseShape& s) const override {
    const Place p(s);
    uint32_t last = 0;  // one beyond the last round with something in it
    if (p.up && p.source) last = p.slices + p.height;
    if (p.up && !p.source) last = p.slices + p.up_step();
    if (p.down && p.source) last = p.slices;
    if (p.down && !p.source) last = p.slices + p.down_step() - (p.leaf() ? 1 : 0);
    return last;
  }

  void round(const PhaseShape& s, uint32_t r, Round& out) const override {
    out.clear();
    const Place p(s);
    const bool single = s.op == CollectiveOp::barrier;
    auto blocks = [&](uint32_t slice) {
      if (single) return BlockSet{0, 1, 1};
      const uint32_t first = bound(s.n, p.slices, slice);
      return BlockSet{first, bound(s.n, p.slices, slice + 1) - first, 1};
    };
    auto in_range = [&](uint32_t step) { return r >= step && r - step < p.slices; };
    if (p.source) {
      // The root of the operation, beside the tree.
      const uint32_t top = p.member(s, p.tree.top());
      if (p.up && in_range(p.height)) out.receives = 1;
      if (p.down && r < p.slices) out.sends.push_back({top, r, blocks(r), false});
      return;
    }
    uint32_t children = 0;
    p.tree.for_children(p.position, [&](uint32_t) { ++children; });
    const bool top = p.position == p.tree.top();
    if (p.up) {
      const uint32_t step = p.up_step();
      if (step > 0 && in_range(step - 1)) out.receives += children;
      if (in_range(step) && (!top || p.joined)) {
        const uint32_t to = top ? s.root : p.member(s, p.tree.parent(p.position));
        out.sends.push_back({to, r, blocks(r - step), true});
      }
    }
    if (p.down) {
      const uint32_t step = p.down_step();
      if ((!top || p.joined) && in_range(step - 1)) ++out.receives;
      if (in_range(step)) {
        p.tree.for_children(p.position, [&](uint32_t child) {
          out.sends.push_back({p.member(s, child), r, blocks(r - step), false});
        });
      }
    }
  }

  bool expects(const PhaseShape& s, uint32_t r, uint32_t from) const override {
    const Place p(s);
    if (p.source) {
      return p.up && from == p.member(s, p.tree.top()) && r < p.slices + p.height;
    }
    const bool top = p.position == p.tree.top();
    bool expected = false;
    if (p.up) {
      p.tree.for_children(p.position, [&](uint32_t child) {
        expected = expected || (p.member(s, child) == from && r + 1 < p.slices + p.up_step());
      });
    }
    if (p.down && (!top || p.joined)) {
      const uint32_t parent = top ? s.root : p.member(s, p.tree.parent(p.position));
      expected = expected || (parent == from && r + 1 < p.slices + p.down_step());
    }
    return expected;
  }

 private:
  /// First block of a slice.
  static uint32_t bound(uint32_t n, uint32_t slices, uint32_t slice) {
    return static_cast<uint32_t>(static_cast<uint64_t>(n) * slice / slices);
  }

  /// Where a member stands in its chunk's tree.
  struct Place {
    explicit Place(const PhaseShape& s)
        : up(s.op != CollectiveOp::broadcast), down(s.op != CollectiveOp::reduce), joined(up != down) {
      tree.m = joined ? s.n - 1 : s.n;
      height = log2_floor(tree.m);
      slices = s.op == CollectiveOp::barrier ? 1 : std::min(s.n, 8 * std::max(1u, height));
      if (joined) {
        source = s.me == s.root;
        if (source) return;
        position = swap(s, minus_mod(s.me, s.root, s.n));
      } else {
        position = swap(s, s.me + 1);
      }
      depth = tree.depth(position);
    }

    /// Between the positions of the first tree and those of the chunk's tree.
    uint32_t swap(const PhaseShape& s, uint32_t v) const {
      if (s.variant % 2 == 0) return v;
      if (tree.m % 2 == 0) return tree.m + 1 - v;
      return v == 1 ? tree.m : v - 1;
    }
    uint32_t back(const PhaseShape& s, uint32_t v) const {
      if (s.variant % 2 == 0) return v;
      if (tree.m % 2 == 0) return tree.m + 1 - v;
      return v == tree.m ? 1 : v + 1;
    }
    uint32_t member(const PhaseShape& s, uint32_t v) const {
      const uint32_t i = back(s, v);
      return joined ? plus_mod(i, s.root, s.n) : i - 1;
    }
    bool leaf() const { return Tree::lowest(position) == 1; }
    /// The round in which this member sends slice 0 up, and down.
    uint32_t up_step() const { return height - depth; }
    uint32_t down_step() const { return joined ? depth + 1 : height + depth; }

    bool up;      ///< the operation reduces
    bool down;    ///< it spreads
    bool joined;  ///< its root is no part of the tree
    bool source = false;
    Tree tree;
    uint32_t height = 0;
    uint32_t slices = 1;
    uint32_t position = 0;
    uint32_t depth = 0;
  };
};

}  // namespace

const Algorithm* double_binary_tree_algorithm() {
  static const DoubleBinaryTree instance;
  return &instance;
}

}  // namespace weft::collectives
