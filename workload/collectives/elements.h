// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Elements of data-carrying mode and how they are combined. The result of a reduction is declared, so that
// "bit-exact" means something:
//
//  - the operands are taken in the order in which they are given, left to right (who calls orders them by
//    contributor index, never by arrival);
//  - fp32 and bf16 accumulate in fp32, each step rounded to nearest even; the accumulator is rounded to the
//    element type once, when it is stored;
//  - int32 sums wrap modulo 2^32;
//  - max and min propagate NaN and order -0 below +0 (IEEE 754-2019 maximum and minimum);
//  - a NaN result is the one canonical NaN: sign 0, quiet, no payload (0x7fc00000, bf16 0x7fc0).
//
// Movements (everything but reductions) keep every bit. Elements lie in memory in the host's byte order.

#ifndef WEFT_WORKLOAD_COLLECTIVES_ELEMENTS_H
#define WEFT_WORKLOAD_COLLECTIVES_ELEMENTS_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "workload/seam.h"

namespace weft::collectives {

const char* to_string(ElementType type);
const char* to_string(ReduceOp op);
/// The values of the configuration keys run.element and run.reduce. Throw UserError(usage) for other words.
ElementType element_type(const std::string& name);
ReduceOp reduce_op(const std::string& name);

/// Bytes of an element.
constexpr uint32_t element_bytes(ElementType type) {
  return type == ElementType::byte ? 1 : type == ElementType::bf16 ? 2 : 4;
}

constexpr uint32_t kCanonicalNan = 0x7fc00000;

/// fp32 to bf16, nearest even; NaN becomes the canonical one.
uint16_t bf16_from_fp32(float value);
float fp32_from_bf16(uint16_t bits);

/// target[k] = operands[0][k] op operands[1][k] op ...; `target` may be one of the operands. At least one
/// operand; one alone is only brought to canonical form. `type` is not byte, `op` is not none.
void combine(ElementType type, ReduceOp op, const std::vector<const std::byte*>& operands, uint64_t elements,
             std::byte* target);

/// The bits of an element in the low bytes, and its value as text ("12 (0x41400000)").
uint32_t element_bits(ElementType type, const std::byte* element);
std::string element_text(ElementType type, const std::byte* element);
double element_value(ElementType type, const std::byte* element);
void store_bits(ElementType type, uint32_t bits, std::byte* element);

/// What storage holds before anything is written to it; no input is generated with these bits.
constexpr std::byte kUnwritten{0xad};
bool unwritten(ElementType type, const std::byte* element);

}  // namespace weft::collectives

#endif
