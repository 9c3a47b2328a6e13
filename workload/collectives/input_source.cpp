// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/input_source.h"

#include <algorithm>
#include <cstring>

#include "workload/collectives/elements.h"

namespace weft::collectives {
namespace {

/// A bijection of 64-bit words whose output bits all depend on all input bits.
uint64_t mix(uint64_t x) {
  x ^= x >> 32;
  x *= 0xe9846af9b1a615dull;
  x ^= x >> 32;
  x *= 0xe9846af9b1a615dull;
  x ^= x >> 28;
  return x;
}

}  // namespace

uint32_t PatternSource::exact_summand(const InputKey& key, uint64_t element, uint64_t random) const {
  const uint64_t exact = type_ == ElementType::bf16 ? 256 : 1u << 24;
  int64_t value = 0;
  if (key.members <= exact) {
    const uint64_t limit = std::min<uint64_t>(exact / key.members, 1000);
    value = static_cast<int64_t>(random % (2 * limit + 1)) - static_cast<int64_t>(limit);
  } else {
    // More contributors than the type can count: at most `exact` of them, others for each element, add one.
    const uint64_t stride = (key.members + exact - 1) / exact;
    if ((key.member + element) % stride == 0) value = random & 1 ? 1 : -1;
  }
  const auto number = static_cast<float>(value);
  uint32_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  return type_ == ElementType::bf16 ? bits >> 16 : bits;
}

void PatternSource::fill(const InputKey& key, uint64_t first, uint64_t count, std::byte* out) const {
  const uint64_t buffer = mix(mix(seed_ + 0x9e3779b97f4a7c15ull * (key.stream + 1)) + key.rank);
  const uint32_t size = element_bytes(type_);
  const bool floating = type_ == ElementType::fp32 || type_ == ElementType::bf16;
  for (uint64_t k = 0; k < count; ++k) {
    const uint64_t random = mix(buffer + 0x9e3779b97f4a7c15ull * (first + k + 1));
    std::byte* element = out + k * size;
    if (key.reduced && op_ == ReduceOp::sum && floating) {
      store_bits(type_, exact_summand(key, first + k, random), element);
      continue;
    }
    auto bits = static_cast<uint32_t>(random);
    if (type_ == ElementType::fp32 && (bits & 0x7f800000) == 0x7f800000) bits ^= 0x40000000;
    if (type_ == ElementType::bf16 && (bits & 0x7f80) == 0x7f80) bits ^= 0x4000;
    store_bits(type_, bits, element);
    if (unwritten(type_, element)) store_bits(type_, bits ^ 1, element);
  }
}

}  // namespace weft::collectives
