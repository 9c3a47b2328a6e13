// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Where the elements of a collective's input buffers come from. Inputs are not stored: a source is asked
// again by whoever needs them (the engine when a chunk starts, the check at the end), and must give the same
// elements each time.

#ifndef WEFT_WORKLOAD_COLLECTIVES_INPUT_SOURCE_H
#define WEFT_WORKLOAD_COLLECTIVES_INPUT_SOURCE_H

#include <cstddef>
#include <cstdint>

#include "workload/seam.h"

namespace weft::collectives {

/// One input buffer.
struct InputKey {
  uint32_t stream = 0;   ///< the collective
  uint32_t rank = 0;     ///< whose buffer
  uint32_t member = 0;   ///< its position among the contributors
  uint32_t members = 1;  ///< contributors
  bool reduced = false;  ///< the elements will be combined, not only moved
};

class InputSource {
 public:
  virtual ~InputSource() = default;
  /// Elements first .. first + count - 1 of the buffer, to `out`.
  virtual void fill(const InputKey& key, uint64_t first, uint64_t count, std::byte* out) const = 0;
};

/// The default: pseudo-random elements of a fixed seed. What floating-point sums add are whole numbers so
/// small that every partial sum is exact (2^24 in fp32, 2^8 in bf16, shared among the contributors), so that
/// every order of adding gives the same bits. Everything else is any finite value.
class PatternSource final : public InputSource {
 public:
  PatternSource(ElementType type, ReduceOp op, uint64_t seed) : type_(type), op_(op), seed_(seed) {}
  void fill(const InputKey& key, uint64_t first, uint64_t count, std::byte* out) const override;

 private:
  uint32_t exact_summand(const InputKey& key, uint64_t element, uint64_t random) const;

  ElementType type_;
  ReduceOp op_;
  uint64_t seed_;
};

}  // namespace weft::collectives

#endif
