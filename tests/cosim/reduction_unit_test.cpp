// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The adders of examples/rtl/reduction_unit against this library's arithmetic: any bits, with NaN,
// infinities, zeros, subnormals and what rounds to them; any set of ports.

#include "reduction_unit.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/cosim/stream_bench.h"
#include "tests/support/isolated.h"
#include "workload/collectives/elements.h"

namespace weft::cosim::test {
namespace {

using weft::test::isolated;

constexpr uint32_t kPorts = 8;

/// bf16 bits, with special values often, and exponents that lie close together.
uint16_t draw_bf16(Random& random) {
  static constexpr uint16_t kSpecial[] = {0x0000, 0x8000, 0x7f80, 0xff80, 0x7fc0, 0x7f81,
                                          0xffff, 0x0001, 0x8001, 0x007f, 0x0080, 0x807f,
                                          0x7f7f, 0xff7f, 0x3f80, 0xbf80, 0x3f81, 0x0100};
  switch (random.below(8)) {
    case 0:
      return kSpecial[random.below(sizeof kSpecial / 2)];
    case 1:
      return static_cast<uint16_t>(random.below(65536));
    case 2:
      return static_cast<uint16_t>(random.below(2) << 15 | random.below(0x200));  // tiny
    case 3:
      return static_cast<uint16_t>(random.below(2) << 15 | (0x7e00 + random.below(0x17f)));  // huge
    default:
      return static_cast<uint16_t>(random.below(2) << 15 | (0x3c00 + random.below(0x800)));
  }
}

std::string sums(ElementType type, uint64_t seed) {
  Random random(seed);
  BlockClock clock("clock", clock_options("automatic"));
  Vreduction_unit rtl("rtl");
  clock.clock(rtl.clk);
  clock.reset(rtl.rst_n);
  clock.qactive(rtl.qactive);
  PinTies ties;
  ties.constant(rtl.bf16, type == ElementType::bf16 ? 1 : 0);
  std::vector<std::unique_ptr<StreamMaster>> inputs;
  for (uint32_t p = 0; p < kPorts; ++p)
    inputs.push_back(std::make_unique<StreamMaster>(fmt::format("in{}", p).c_str(), clock,
                                                    WEFT_STREAM_PINS_AT(rtl, s_axis, p)));
  std::map<uint64_t, std::vector<uint8_t>> expected;
  uint64_t taken = 0;
  std::string text;
  StreamSlave output("out", clock, WEFT_STREAM_PINS(rtl, m_axis),
                     [&](StreamFrame frame, Picoseconds, Picoseconds) {
                       ++taken;
                       const auto& want = expected[frame.id];
                       if (frame.bytes == want || !text.empty()) return;
                       size_t i = 0;
                       while (i < want.size() && i < frame.bytes.size() && want[i] == frame.bytes[i]) ++i;
                       text = fmt::format("block {}: byte {} of {} (expected {}) is wrong", frame.id, i,
                                          frame.bytes.size(), want.size());
                     });
  const uint32_t element = collectives::element_bytes(type);
  for (uint64_t block = 0; block < 200; ++block) {
    const uint64_t mask = block % 5 == 0 ? 255 : 1 + random.below(255);
    const size_t bytes = element * random.below(60);
    std::vector<std::vector<uint8_t>> operands;
    std::vector<const std::byte*> pointers;
    for (uint32_t p = 0; p < kPorts; ++p) {
      if ((mask >> p & 1) == 0) continue;
      StreamFrame frame = random.frame(bytes);
      if (type == ElementType::bf16) {
        for (size_t i = 0; i < bytes; i += 2) {
          const uint16_t bits = draw_bf16(random);
          std::memcpy(frame.bytes.data() + i, &bits, 2);
        }
      }
      frame.id = block;
      frame.user = mask;
      operands.push_back(frame.bytes);
      inputs[p]->send(std::move(frame), 10000 + random.below(1000000));
    }
    std::vector<uint8_t> sum(operands.front());
    for (const auto& operand : operands)
      pointers.push_back(reinterpret_cast<const std::byte*>(operand.data()));
    if (operands.size() > 1 && bytes != 0)
      collectives::combine(type, ReduceOp::sum, pointers, bytes / element,
                           reinterpret_cast<std::byte*>(sum.data()));
    expected[block] = sum;
  }
  sc_core::sc_start(sc_core::sc_time(10, sc_core::SC_MS), sc_core::SC_EXIT_ON_STARVATION);
  if (taken != 200) text += fmt::format(" {} blocks came out", taken);
  return text;
}

TEST(ReductionUnit, SumsAreThoseOfTheDeclaredOrder) {
  for (const uint64_t seed : {1, 2, 3, 4}) {
    EXPECT_SILENT(isolated([&] { return sums(ElementType::int32, seed); }));
    EXPECT_SILENT(isolated([&] { return sums(ElementType::bf16, seed); }));
  }
}

}  // namespace
}  // namespace weft::cosim::test
