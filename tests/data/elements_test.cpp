// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/elements.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "workload/collectives/input_source.h"
#include "workload/collectives/payload_pool.h"

namespace weft::collectives {
namespace {

uint32_t bits(float value) {
  uint32_t b = 0;
  std::memcpy(&b, &value, sizeof b);
  return b;
}

float number(uint32_t b) {
  float value = 0;
  std::memcpy(&value, &b, sizeof value);
  return value;
}

/// The combination of single elements, as bits.
uint32_t combined(ElementType type, ReduceOp op, const std::vector<uint32_t>& values) {
  std::vector<std::vector<std::byte>> storage;
  std::vector<const std::byte*> operands;
  for (const uint32_t v : values) {
    storage.emplace_back(element_bytes(type));
    store_bits(type, v, storage.back().data());
  }
  for (const auto& s : storage) operands.push_back(s.data());
  std::vector<std::byte> target(element_bytes(type));
  combine(type, op, operands, 1, target.data());
  return element_bits(type, target.data());
}

TEST(Elements, Bf16RoundsToNearestEven) {
  EXPECT_EQ(bf16_from_fp32(1.0f), 0x3f80);
  EXPECT_EQ(bf16_from_fp32(number(0x3f808000)), 0x3f80);  // a tie goes to the even neighbour: down
  EXPECT_EQ(bf16_from_fp32(number(0x3f818000)), 0x3f82);  // up
  EXPECT_EQ(bf16_from_fp32(number(0x3f808001)), 0x3f81);  // just above the tie
  EXPECT_EQ(bf16_from_fp32(number(0x3f807fff)), 0x3f80);
  EXPECT_EQ(bf16_from_fp32(number(0x7f7fffff)), 0x7f80);  // the largest fp32 is nearer to infinity
  EXPECT_EQ(bf16_from_fp32(-std::numeric_limits<float>::infinity()), 0xff80);
  EXPECT_EQ(bf16_from_fp32(-0.0f), 0x8000);
  EXPECT_EQ(bf16_from_fp32(number(0xffc12345)), 0x7fc0);
  EXPECT_EQ(bf16_from_fp32(number(0x7f800001)), 0x7fc0);  // must not become an infinity
}

TEST(Elements, EveryBf16SurvivesTheWayThroughFp32) {
  for (uint32_t b = 0; b < 0x10000; ++b) {
    const bool nan = (b & 0x7f80) == 0x7f80 && (b & 0x7f) != 0;
    ASSERT_EQ(bf16_from_fp32(fp32_from_bf16(static_cast<uint16_t>(b))), nan ? 0x7fc0u : b);
  }
}

TEST(Elements, Fp32SumsGoFromLeftToRightWithRoundingAtEachStep) {
  const float big = 16777216.0f;  // 2^24: adding 1 is lost, adding 2 is not
  EXPECT_EQ(combined(ElementType::fp32, ReduceOp::sum, {bits(big), bits(1), bits(1)}), bits(big));
  EXPECT_EQ(combined(ElementType::fp32, ReduceOp::sum, {bits(1), bits(1), bits(big)}), bits(big + 2));
}

TEST(Elements, Bf16SumsAreRoundedOnceAtTheEnd) {
  // 256 + 1 is no bf16; three of them added in fp32 are 259 and round to 260, rounded in between to 256.
  const auto b = [](float v) { return static_cast<uint32_t>(bf16_from_fp32(v)); };
  EXPECT_EQ(combined(ElementType::bf16, ReduceOp::sum, {b(256), b(1), b(1), b(1)}), b(260));
}

TEST(Elements, NanIsCanonicalAndSpreads) {
  const uint32_t nan = 0xffc12345;
  const uint32_t infinity = 0x7f800000;
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::max, ReduceOp::min}) {
    EXPECT_EQ(combined(ElementType::fp32, op, {nan, bits(1)}), kCanonicalNan);
    EXPECT_EQ(combined(ElementType::fp32, op, {bits(1), nan, bits(2)}), kCanonicalNan);
    EXPECT_EQ(combined(ElementType::bf16, op, {0xffc1, 0x3f80}), 0x7fc0u);
  }
  EXPECT_EQ(combined(ElementType::fp32, ReduceOp::sum, {infinity, infinity | 0x80000000}), kCanonicalNan);
}

TEST(Elements, MaxAndMinOrderZeros) {
  const uint32_t minus = 0x80000000;
  EXPECT_EQ(combined(ElementType::fp32, ReduceOp::max, {minus, 0}), 0u);
  EXPECT_EQ(combined(ElementType::fp32, ReduceOp::max, {0, minus}), 0u);
  EXPECT_EQ(combined(ElementType::fp32, ReduceOp::min, {minus, 0}), minus);
  EXPECT_EQ(combined(ElementType::fp32, ReduceOp::min, {0, minus}), minus);
  EXPECT_EQ(combined(ElementType::fp32, ReduceOp::max, {bits(-3), bits(2), bits(-7)}), bits(2));
  EXPECT_EQ(combined(ElementType::bf16, ReduceOp::min, {0x4000, 0xc0a0, 0x3f80}), 0xc0a0u);
}

TEST(Elements, Int32WrapsAndComparesWithSign) {
  EXPECT_EQ(combined(ElementType::int32, ReduceOp::sum, {0x7fffffff, 1}), 0x80000000u);
  EXPECT_EQ(combined(ElementType::int32, ReduceOp::max, {0x80000000, 5}), 5u);
  EXPECT_EQ(combined(ElementType::int32, ReduceOp::min, {0x80000000, 5}), 0x80000000u);
}

TEST(Elements, TheTargetMayBeAnOperand) {
  std::vector<float> a{1, 2, 3};
  std::vector<float> b{10, 20, 30};
  const auto* left = reinterpret_cast<const std::byte*>(a.data());
  auto* right = reinterpret_cast<std::byte*>(b.data());
  combine(ElementType::fp32, ReduceOp::sum, {left, right}, 3, right);
  EXPECT_EQ(b, (std::vector<float>{11, 22, 33}));
}

TEST(Elements, WordsOfTheConfiguration) {
  EXPECT_EQ(element_type("bf16"), ElementType::bf16);
  EXPECT_EQ(reduce_op("min"), ReduceOp::min);
  EXPECT_THROW(element_type("fp16"), UserError);
  EXPECT_THROW(reduce_op("none"), UserError);
}

TEST(PatternSource, IsRepeatableAndDependsOnEverything) {
  const PatternSource source(ElementType::int32, ReduceOp::sum, 7);
  const auto take = [](const PatternSource& s, const InputKey& key, uint64_t first, uint64_t count) {
    std::vector<uint32_t> out(count);
    s.fill(key, first, count, reinterpret_cast<std::byte*>(out.data()));
    return out;
  };
  const auto whole = take(source, {1, 2, 0, 4, true}, 0, 64);
  const auto part = take(source, {1, 2, 0, 4, true}, 10, 20);
  EXPECT_EQ(part, std::vector<uint32_t>(whole.begin() + 10, whole.begin() + 30));
  EXPECT_NE(whole, take(source, {2, 2, 0, 4, true}, 0, 64));
  EXPECT_NE(whole, take(source, {1, 3, 0, 4, true}, 0, 64));
  EXPECT_NE(whole, take(PatternSource(ElementType::int32, ReduceOp::sum, 8), {1, 2, 0, 4, true}, 0, 64));
}

/// Whatever the number of contributors, no order of adding loses a bit.
TEST(PatternSource, FloatingPointSumsAreExact) {
  for (const ElementType type : {ElementType::fp32, ElementType::bf16}) {
    const double exact = type == ElementType::fp32 ? 16777216 : 256;
    for (const uint32_t members : {2u, 3u, 64u, 255u, 256u, 257u, 1000u, 4096u}) {
      const PatternSource source(type, ReduceOp::sum, 1);
      constexpr uint32_t kElements = 32;
      std::vector<double> magnitude(kElements, 0.0);
      bool something = false;
      for (uint32_t m = 0; m < members; ++m) {
        std::vector<std::byte> out(kElements * element_bytes(type));
        source.fill({1, 5 * m, m, members, true}, 0, kElements, out.data());
        for (uint32_t k = 0; k < kElements; ++k) {
          const double v = element_value(type, out.data() + k * element_bytes(type));
          ASSERT_EQ(v, std::round(v));
          magnitude[k] += std::abs(v);
          something = something || v != 0;
        }
      }
      EXPECT_TRUE(something);
      for (const double m : magnitude) EXPECT_LE(m, exact) << members;
    }
  }
}

TEST(PatternSource, MovedFloatsAreFiniteAndNeverTheUnwrittenMark) {
  for (const ElementType type : {ElementType::fp32, ElementType::bf16}) {
    const PatternSource source(type, ReduceOp::sum, 3);
    std::vector<std::byte> out(300000 * element_bytes(type));
    source.fill({1, 0, 0, 2, false}, 0, 300000, out.data());
    for (uint32_t k = 0; k < 300000; ++k) {
      const std::byte* e = out.data() + k * element_bytes(type);
      ASSERT_TRUE(std::isfinite(element_value(type, e)));
      ASSERT_FALSE(unwritten(type, e));
    }
  }
}

TEST(PayloadPool, CountsAndRestores) {
  PayloadPool pool;
  const uint32_t a = pool.acquire();
  EXPECT_NE(a, kNoData);
  pool[a].bytes.resize(10);
  pool[a].reduce = true;
  pool[a].sequence = 4;
  pool.add_reference(a);
  pool.release(a);
  EXPECT_EQ(pool.live(), 1u);
  EXPECT_EQ(pool[a].bytes.size(), 10u);
  pool.release(a);
  EXPECT_EQ(pool.live(), 0u);
  EXPECT_FALSE(pool.valid(a));
  EXPECT_THROW(pool.release(a), std::logic_error);
  const uint32_t b = pool.acquire();
  EXPECT_EQ(b, a);
  EXPECT_TRUE(pool[b].bytes.empty());
  EXPECT_FALSE(pool[b].reduce);
  EXPECT_EQ(pool[b].sequence, 0u);
  pool.release(b);
}

}  // namespace
}  // namespace weft::collectives
