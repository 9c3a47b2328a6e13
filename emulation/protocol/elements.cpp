// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "emulation/protocol/elements.h"

#include <cmath>
#include <cstring>
#include <type_traits>

#include "emulation/client/weft_comm.h"

namespace weft::emulation {
namespace {

float from_bf16(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

uint16_t to_bf16(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  if (std::isnan(value)) return 0x7fc0;
  bits += 0x7fff + (bits >> 16 & 1);
  return static_cast<uint16_t>(bits >> 16);
}

float from_fp16(uint16_t bits) {
  const int sign = bits >> 15;
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  float value = 0;
  if (exponent == 31)
    value = fraction != 0 ? NAN : INFINITY;
  else
    value = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                          : std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  return sign != 0 ? -value : value;
}

uint16_t to_fp16(float value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return 0x7e00;
  const float size = std::fabs(value);
  if (size >= 65520.0F) return sign | 0x7c00;
  int exponent = 0;
  std::frexp(size, &exponent);  // size = m * 2^exponent, 0.5 <= m < 1
  const int unit = (exponent < -13 ? -13 : exponent) - 11;
  const auto units = static_cast<uint32_t>(std::nearbyint(std::ldexp(size, -unit)));  // 1024 .. 2048, or less
  if (units < 1024) return static_cast<uint16_t>(sign | units);                       // subnormal
  return static_cast<uint16_t>(sign | ((static_cast<uint32_t>(unit + 24) << 10) + units));
}

template <typename T>
T apply(uint32_t reduction, T a, T b) {
  switch (reduction) {
    case WEFT_PROD:
      return static_cast<T>(a * b);
    case WEFT_MIN:
      return b < a ? b : a;
    case WEFT_MAX:
      return a < b ? b : a;
    case WEFT_LAND:
      return static_cast<T>(a != T{} && b != T{});
    case WEFT_LOR:
      return static_cast<T>(a != T{} || b != T{});
    case WEFT_LXOR:
      return static_cast<T>((a != T{}) != (b != T{}));
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (reduction == WEFT_BAND) return static_cast<T>(a & b);
    if (reduction == WEFT_BOR) return static_cast<T>(a | b);
    if (reduction == WEFT_BXOR) return static_cast<T>(a ^ b);
  }
  return static_cast<T>(a + b);
}

/// .. of equal contributions.
template <typename T>
T power(uint32_t reduction, T a, uint64_t times) {
  if (reduction == WEFT_SUM || reduction == WEFT_AVG) {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(a * static_cast<T>(times));
    return static_cast<T>(static_cast<double>(a) * static_cast<double>(times));
  }
  T all = a;
  T factor = a;  // by squaring
  for (uint64_t rest = times - 1; rest != 0; rest /= 2) {
    if (rest % 2 != 0) all = apply(reduction, all, factor);
    factor = apply(reduction, factor, factor);
  }
  return all;
}

struct Bf16 {
  using Bits = uint16_t;
  static float load(Bits bits) { return from_bf16(bits); }
  static Bits store(float value) { return to_bf16(value); }
};
struct Fp16 {
  using Bits = uint16_t;
  static float load(Bits bits) { return from_fp16(bits); }
  static Bits store(float value) { return to_fp16(value); }
};
/// Integers are combined without sign: sums wrap round.
template <typename T>
struct Plain {
  using Bits = T;
  static T load(Bits bits) { return bits; }
  static Bits store(T value) { return value; }
};

/// f(Element{}) for the type's.
template <typename F>
void with_type(uint32_t type, F&& f) {
  switch (type) {
    case WEFT_INT8:
      return f(Plain<int8_t>{});
    case WEFT_UINT8:
      return f(Plain<uint8_t>{});
    case WEFT_INT16:
      return f(Plain<int16_t>{});
    case WEFT_UINT16:
      return f(Plain<uint16_t>{});
    case WEFT_INT32:
      return f(Plain<int32_t>{});
    case WEFT_UINT32:
      return f(Plain<uint32_t>{});
    case WEFT_INT64:
      return f(Plain<int64_t>{});
    case WEFT_UINT64:
      return f(Plain<uint64_t>{});
    case WEFT_FLOAT16:
      return f(Fp16{});
    case WEFT_BFLOAT16:
      return f(Bf16{});
    case WEFT_FLOAT32:
      return f(Plain<float>{});
    case WEFT_FLOAT64:
      return f(Plain<double>{});
    default:
      return;
  }
}

/// Signed sums and products may not overflow in C++: they are formed without sign.
template <typename T>
T safe(uint32_t reduction, T a, T b) {
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    using U = std::make_unsigned_t<T>;
    if (reduction == WEFT_SUM || reduction == WEFT_AVG)
      return static_cast<T>(static_cast<uint64_t>(static_cast<U>(a)) +
                            static_cast<uint64_t>(static_cast<U>(b)));
    if (reduction == WEFT_PROD)
      return static_cast<T>(static_cast<uint64_t>(static_cast<U>(a)) *
                            static_cast<uint64_t>(static_cast<U>(b)));
  }
  return apply(reduction, a, b);
}

template <typename T>
T safe_power(uint32_t reduction, T a, uint64_t times) {
  if constexpr (std::is_integral_v<T>) {
    if (reduction == WEFT_SUM || reduction == WEFT_AVG || reduction == WEFT_PROD)
      return static_cast<T>(power<uint64_t>(reduction, static_cast<uint64_t>(a), times));
  }
  return power(reduction, a, times);
}

/// Buffers of programs need not be aligned.
template <typename T>
T get(const void* data, uint64_t i) {
  T value;
  std::memcpy(&value, static_cast<const char*>(data) + i * sizeof(T), sizeof value);
  return value;
}
template <typename T>
void put(void* data, uint64_t i, T value) {
  std::memcpy(static_cast<char*>(data) + i * sizeof(T), &value, sizeof value);
}

}  // namespace

uint32_t bytes_of_type(uint32_t type) {
  if (type == WEFT_BYTE) return 1;
  uint32_t bytes = 0;
  with_type(type, [&](auto element) { bytes = sizeof(typename decltype(element)::Bits); });
  return bytes;
}

bool can_reduce(uint32_t type, uint32_t reduction) {
  if (type == WEFT_BYTE || type > WEFT_FLOAT64 || reduction >= WEFT_USER) return false;
  const bool floating = type >= WEFT_FLOAT16;
  return !floating || (reduction != WEFT_BAND && reduction != WEFT_BOR && reduction != WEFT_BXOR);
}

void combine(uint32_t type, uint32_t reduction, void* into, const void* from, uint64_t count) {
  with_type(type, [&](auto element) {
    using E = decltype(element);
    using Bits = typename E::Bits;
    for (uint64_t i = 0; i < count; ++i)
      put<Bits>(into, i, E::store(safe(reduction, E::load(get<Bits>(into, i)), E::load(get<Bits>(from, i)))));
  });
}

void replicate(uint32_t type, uint32_t reduction, void* data, uint64_t count, uint64_t times) {
  if (times == 1) return;
  with_type(type, [&](auto element) {
    using E = decltype(element);
    using Bits = typename E::Bits;
    for (uint64_t i = 0; i < count; ++i)
      put<Bits>(data, i, E::store(safe_power(reduction, E::load(get<Bits>(data, i)), times)));
  });
}

void divide(uint32_t type, void* data, uint64_t count, uint64_t n) {
  with_type(type, [&](auto element) {
    using E = decltype(element);
    using Bits = typename E::Bits;
    using Value = decltype(E::load(Bits{}));
    for (uint64_t i = 0; i < count; ++i)
      put<Bits>(data, i, E::store(static_cast<Value>(E::load(get<Bits>(data, i)) / static_cast<Value>(n))));
  });
}

}  // namespace weft::emulation
