// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A collective algorithm: what one member of a group of n does in each round of one phase. Pure arithmetic,
// no state, so one object serves every rank, chunk and collective of a job.
//
// A round: on entering it a member submits all its sends; the round is over when `receives` messages
// addressed to it have arrived; then the next one begins. The phase is over after the last round. Data is
// named by blocks: the phase's data is n blocks (see Split), and a send names the blocks it carries, so that
// timing, byte counts and data-carrying mode all follow from one description.

#ifndef WEFT_WORKLOAD_COLLECTIVES_ALGORITHM_H
#define WEFT_WORKLOAD_COLLECTIVES_ALGORITHM_H

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "configs/blueprint/shape.h"
#include "configs/log2.h"
#include "configs/types.h"

namespace weft::collectives {

using weft::log2_floor;  // algorithms of plugins find it here

/// Sizes of the n blocks of a phase: the first `extra` blocks hold one unit more than `base` units.
struct Split {
  uint64_t base = 0;   ///< bytes of a small block
  uint32_t extra = 0;  ///< how many blocks are one unit larger
  uint32_t unit = 1;   ///< bytes of an element: what a size may differ by

  /// `bytes` (a multiple of unit) into n blocks that differ by at most one unit.
  static Split of(uint64_t bytes, uint32_t n, uint32_t unit) {
    const uint64_t units = bytes / unit;
    return {units / n * unit, static_cast<uint32_t>(units % n), unit};
  }
  uint64_t size(uint32_t block) const { return base + (block < extra ? unit : 0); }
  /// Offset of a block from the start of block 0, in bytes.
  uint64_t offset(uint32_t block) const {
    return base * block + static_cast<uint64_t>(unit) * (block < extra ? block : extra);
  }
};

/// Blocks first, first + stride, ... (count of them, modulo n).
struct BlockSet {
  uint32_t first = 0;
  uint32_t count = 0;
  uint32_t stride = 1;

  /// Calls f(block) for each block.
  template <typename F>
  void for_each(uint32_t n, F&& f) const {
    uint32_t block = first;
    for (uint32_t i = 0; i < count; ++i) {
      f(block);
      block += stride;
      while (block >= n) block -= n;
    }
  }
  /// How many of the blocks have a number below `limit`. One step for each time the set passes block n - 1.
  uint32_t below(uint32_t n, uint32_t limit) const {
    if (stride == 0) return first < limit ? count : 0;
    const auto steps = [this](uint32_t from, uint32_t to) { return (to - from - 1) / stride + 1; };
    uint32_t found = 0;
    uint32_t block = first;
    for (uint32_t left = count; left != 0;) {
      const uint32_t pass = block < n ? std::min(left, steps(block, n)) : 1;
      if (block < limit) found += std::min(pass, steps(block, limit));
      left -= pass;
      if (left != 0) block = static_cast<uint32_t>((block + uint64_t{pass} * stride) % n);
    }
    return found;
  }
  uint64_t bytes(uint32_t n, const Split& split) const {
    const uint64_t total = static_cast<uint64_t>(count) * split.base;
    return split.extra == 0 ? total : total + uint64_t{split.unit} * below(n, split.extra);
  }
};

struct RoundSend {
  uint32_t to = 0;        ///< member index
  uint32_t at_round = 0;  ///< the receiver's round that waits for this message
  BlockSet blocks;
  bool reduce = false;  ///< the receiver combines the blocks with its own
};

/// Filled by Algorithm::round(); reused, so that the hot path does not allocate.
struct Round {
  std::vector<RoundSend> sends;
  uint32_t receives = 0;

  void clear() {
    sends.clear();
    receives = 0;
  }
};

/// One phase as a member sees it.
struct PhaseShape {
  CollectiveOp op = CollectiveOp::all_reduce;
  uint32_t n = 1;        ///< members, >= 2 when an algorithm is asked
  uint32_t me = 0;       ///< my index
  uint32_t root = 0;     ///< of broadcast, reduce, gather, scatter
  bool reverse = false;  ///< ring: the direction of descending indices
  uint32_t variant = 0;  ///< chunk index: the trees of double_binary_tree take turns
};

/// What a round is to all members together.
enum class Exchange : uint8_t {
  none,
  scattered,  ///< every member sends every other one a message: the receiver's block,
  gathered,   ///< its own block,
  other       ///< or something else
};

/// Operations in which one member, the root, stands out.
constexpr bool rooted(CollectiveOp op) {
  return op == CollectiveOp::broadcast || op == CollectiveOp::reduce || op == CollectiveOp::gather ||
         op == CollectiveOp::scatter;
}

/// The root of a reduction or a gather sends nothing. What it receives, the root of the mirrored operation
/// sends by the same links: all algorithms run the one as the other backwards.
constexpr CollectiveOp sent_by_root(CollectiveOp op) {
  if (op == CollectiveOp::reduce) return CollectiveOp::broadcast;
  return op == CollectiveOp::gather ? CollectiveOp::scatter : op;
}

class Algorithm {
 public:
  virtual ~Algorithm() = default;
  virtual const char* name() const = 0;

  /// Why this algorithm cannot run `op` on n members, and what can; empty: it can.
  virtual std::string refuses(CollectiveOp op, uint32_t n) const = 0;

  /// Do all n members do alike at the same time, so that what one sends tells what it receives? Then a
  /// collective whose blocks are all of one size can be solved from one member (folding).
  virtual bool symmetric(CollectiveOp op, uint32_t n) const {
    (void)op;
    (void)n;
    return false;
  }

  /// Members exchange messages with their switch's collective unit instead of each other: a phase is one
  /// round without sends, and its messages are those of a UnitLayout (in_switch.h).
  virtual bool in_switch() const { return false; }

  virtual uint32_t rounds(const PhaseShape& shape) const = 0;
  virtual void round(const PhaseShape& shape, uint32_t r, Round& out) const = 0;

  /// Is round r of all members a full exchange, in which each sends every other one a message and waits in
  /// its own round r for theirs? Told from the rounds; an algorithm that knows may say so at once. `shape.me`
  /// does not matter.
  virtual Exchange exchange(const PhaseShape& shape, uint32_t r) const;

  /// Why the rounds would not give what the operation is defined to give; empty: they do. Algorithms of this
  /// library are proven by their tests, those that a user brings are proven here. `block`: the first block
  /// that is wrong, if it is one.
  virtual std::string disproof(const PhaseShape& shape, uint32_t& block) const {
    (void)shape;
    (void)block;
    return {};
  }

  /// Does this member, in round r or later, still wait for a message from member `from`?
  virtual bool expects(const PhaseShape& shape, uint32_t r, uint32_t from) const = 0;
};

/// The registry: one row an algorithm. nullptr for an unknown name.
const Algorithm* find_algorithm(const std::string& name);
/// Those by which members exchange messages with each other: all but `in_switch`.
const std::vector<const Algorithm*>& all_algorithms();

/// Adds the algorithm of a plugin (`source`: its file), which must live as long as the program, under its
/// name(), and `one_<name>` for whole operations. Its rounds are proven for every operation and number of
/// members that it runs (disproof()). Errors: UserError(usage) when there is one of that name.
void add_algorithm(const Algorithm& algorithm, const std::string& description, const std::string& source);

/// What an algorithm that runs whole operations ("one_ring") does on its flat line of members. nullptr for a
/// name that is none.
const Algorithm* find_flat_algorithm(const std::string& name);

/// The algorithm a dimension uses when the configuration names none.
const Algorithm* default_algorithm(const Shape& shape, CollectiveOp op);

// One function a file; registry.cpp lists them.
const Algorithm* ring_algorithm();
const Algorithm* direct_algorithm();
const Algorithm* halving_doubling_algorithm();
const Algorithm* double_binary_tree_algorithm();
const Algorithm* in_switch_algorithm();

/// Is it one of the operations in which no member is special?
constexpr bool rootless(CollectiveOp op) {
  return op == CollectiveOp::all_reduce || op == CollectiveOp::all_gather ||
         op == CollectiveOp::reduce_scatter || op == CollectiveOp::all_to_all || op == CollectiveOp::barrier;
}

/// a - b modulo n, for a, b < n.
constexpr uint32_t minus_mod(uint32_t a, uint32_t b, uint32_t n) {
  return a >= b ? a - b : a + n - b;
}
/// a + b modulo n, for a, b < n.
constexpr uint32_t plus_mod(uint32_t a, uint32_t b, uint32_t n) {
  return a + b >= n ? a + b - n : a + b;
}

}  // namespace weft::collectives

#endif
