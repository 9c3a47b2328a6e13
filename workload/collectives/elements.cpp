// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/elements.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <stdexcept>

namespace weft::collectives {
namespace {

float as_float(uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

uint32_t as_bits(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

struct Fp32 {
  using Wire = uint32_t;
  using Accumulator = float;
  static float load(uint32_t wire) { return as_float(wire); }
  static uint32_t store(float value) { return std::isnan(value) ? kCanonicalNan : as_bits(value); }
};

struct Bf16 {
  using Wire = uint16_t;
  using Accumulator = float;
  static float load(uint16_t wire) { return fp32_from_bf16(wire); }
  static uint16_t store(float value) { return bf16_from_fp32(value); }
};

struct Int32 {
  using Wire = uint32_t;
  using Accumulator = int32_t;
  static int32_t load(uint32_t wire) { return static_cast<int32_t>(wire); }
  static uint32_t store(int32_t value) { return static_cast<uint32_t>(value); }
};

struct Sum {
  static float apply(float a, float b) { return a + b; }
  static int32_t apply(int32_t a, int32_t b) {
    return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
  }
};

struct Max {
  static float apply(float a, float b) {
    if (std::isnan(a) || std::isnan(b)) return as_float(kCanonicalNan);
    if (a == b) return std::signbit(a) ? b : a;
    return a > b ? a : b;
  }
  static int32_t apply(int32_t a, int32_t b) { return a > b ? a : b; }
};

struct Min {
  static float apply(float a, float b) {
    if (std::isnan(a) || std::isnan(b)) return as_float(kCanonicalNan);
    if (a == b) return std::signbit(a) ? a : b;
    return a < b ? a : b;
  }
  static int32_t apply(int32_t a, int32_t b) { return a < b ? a : b; }
};

template <typename Type, typename Op>
void fold(const std::vector<const std::byte*>& operands, uint64_t elements, std::byte* target) {
  using Wire = typename Type::Wire;
  for (uint64_t k = 0; k < elements; ++k) {
    Wire wire{};
    std::memcpy(&wire, operands[0] + k * sizeof wire, sizeof wire);
    auto accumulator = Type::load(wire);
    for (size_t i = 1; i < operands.size(); ++i) {
      std::memcpy(&wire, operands[i] + k * sizeof wire, sizeof wire);
      accumulator = Op::apply(accumulator, Type::load(wire));
    }
    wire = Type::store(accumulator);
    std::memcpy(target + k * sizeof wire, &wire, sizeof wire);
  }
}

template <typename Type>
void fold(ReduceOp op, const std::vector<const std::byte*>& operands, uint64_t elements, std::byte* target) {
  switch (op) {
    case ReduceOp::sum:
      return fold<Type, Sum>(operands, elements, target);
    case ReduceOp::max:
      return fold<Type, Max>(operands, elements, target);
    case ReduceOp::min:
      return fold<Type, Min>(operands, elements, target);
    case ReduceOp::none:
      break;
  }
  throw std::logic_error("combine() without a reduction");
}

}  // namespace

const char* to_string(ElementType type) {
  switch (type) {
    case ElementType::byte:
      return "byte";
    case ElementType::fp32:
      return "fp32";
    case ElementType::bf16:
      return "bf16";
    case ElementType::int32:
      return "int32";
  }
  return "?";
}

const char* to_string(ReduceOp op) {
  switch (op) {
    case ReduceOp::none:
      return "none";
    case ReduceOp::sum:
      return "sum";
    case ReduceOp::max:
      return "max";
    case ReduceOp::min:
      return "min";
  }
  return "?";
}

ElementType element_type(const std::string& name) {
  for (const ElementType type : {ElementType::fp32, ElementType::bf16, ElementType::int32}) {
    if (name == to_string(type)) return type;
  }
  throw UserError(ExitCode::usage,
                  fmt::format("key `run.element`: '{}' is unknown; allowed: `fp32`, `bf16`, `int32`", name));
}

ReduceOp reduce_op(const std::string& name) {
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::max, ReduceOp::min}) {
    if (name == to_string(op)) return op;
  }
  throw UserError(ExitCode::usage,
                  fmt::format("key `run.reduce`: '{}' is unknown; allowed: `sum`, `max`, `min`", name));
}

uint16_t bf16_from_fp32(float value) {
  if (std::isnan(value)) return static_cast<uint16_t>(kCanonicalNan >> 16);
  const uint32_t bits = as_bits(value);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float fp32_from_bf16(uint16_t bits) {
  return as_float(static_cast<uint32_t>(bits) << 16);
}

void combine(ElementType type, ReduceOp op, const std::vector<const std::byte*>& operands, uint64_t elements,
             std::byte* target) {
  switch (type) {
    case ElementType::fp32:
      return fold<Fp32>(op, operands, elements, target);
    case ElementType::bf16:
      return fold<Bf16>(op, operands, elements, target);
    case ElementType::int32:
      return fold<Int32>(op, operands, elements, target);
    case ElementType::byte:
      break;
  }
  throw std::logic_error("combine() of bytes");
}

uint32_t element_bits(ElementType type, const std::byte* element) {
  if (type == ElementType::byte) return static_cast<uint32_t>(*element);
  if (type == ElementType::bf16) {
    uint16_t bits = 0;
    std::memcpy(&bits, element, sizeof bits);
    return bits;
  }
  uint32_t bits = 0;
  std::memcpy(&bits, element, sizeof bits);
  return bits;
}

void store_bits(ElementType type, uint32_t bits, std::byte* element) {
  if (type == ElementType::byte) {
    *element = static_cast<std::byte>(bits);
  } else if (type == ElementType::bf16) {
    const auto half = static_cast<uint16_t>(bits);
    std::memcpy(element, &half, sizeof half);
  } else {
    std::memcpy(element, &bits, sizeof bits);
  }
}

double element_value(ElementType type, const std::byte* element) {
  const uint32_t bits = element_bits(type, element);
  switch (type) {
    case ElementType::fp32:
      return as_float(bits);
    case ElementType::bf16:
      return fp32_from_bf16(static_cast<uint16_t>(bits));
    case ElementType::int32:
      return static_cast<int32_t>(bits);
    case ElementType::byte:
      break;
  }
  return bits;
}

std::string element_text(ElementType type, const std::byte* element) {
  if (unwritten(type, element)) return "nothing (the element was never written)";
  return fmt::format("{} (0x{:0{}x})", element_value(type, element), element_bits(type, element),
                     2 * element_bytes(type));
}

bool unwritten(ElementType type, const std::byte* element) {
  for (uint32_t i = 0; i < element_bytes(type); ++i) {
    if (element[i] != kUnwritten) return false;
  }
  return true;
}

}  // namespace weft::collectives
