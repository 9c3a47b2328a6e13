// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Values with units: exact in, exact out, and an error that helps for everything else.

#include "configs/units.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>

namespace weft {
namespace {

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

void expect_rate(const char* text, uint64_t numerator, uint32_t divisor) {
  const Rate rate = parse_bandwidth(text);
  EXPECT_EQ(rate.bytes_per_second, numerator) << text;
  EXPECT_EQ(rate.divisor, divisor) << text;
}

TEST(Units, BandwidthsAreExact) {
  expect_rate("1 B/s", 1, 1);
  expect_rate("200 GB/s", 200000000000ull, 1);
  expect_rate("50GiB/s", 50ull << 30, 1);
  expect_rate("  1.5 TB/s ", 1500000000000ull, 1);
  expect_rate("28.57 GB/s", 28570000000ull, 1);
  expect_rate("400 Gb/s", 50000000000ull, 1);
  expect_rate("400 Gbps", 50000000000ull, 1);
  expect_rate("1 b/s", 1, 8);
  expect_rate("0.1 GiB/s", 536870912, 5);  // 107374182.4 B/s
  expect_rate("200/7 GiB/s", 200ull << 30, 7);
  expect_rate("14/7 GB/s", 2000000000, 1);
  expect_rate("1e3 MB/s", 1000000000, 1);
  expect_rate(".5 kB/s", 500, 1);
  expect_rate("0 GB/s", 0, 1);
  expect_rate("0.000000000000000000000000000000 GB/s", 0, 1);
  expect_rate("18446744073709551615 B/s", std::numeric_limits<uint64_t>::max(), 1);
}

TEST(Units, SizesTimesComputeAndNumbers) {
  EXPECT_EQ(parse_size("64KiB"), 65536u);
  EXPECT_EQ(parse_size("1 GiB"), 1ull << 30);
  EXPECT_EQ(parse_size("1 KB"), 1000u);
  EXPECT_EQ(parse_size("1.5 kB"), 1500u);
  EXPECT_EQ(parse_size("0 B"), 0u);
  EXPECT_EQ(parse_time("0.5 us"), 500000u);
  EXPECT_EQ(parse_time("500 ns"), 500000u);
  EXPECT_EQ(parse_time("1 ps"), 1u);
  EXPECT_EQ(parse_time("2 s"), 2000000000000u);
  EXPECT_EQ(parse_time("1/8 ns"), 125u);
  EXPECT_EQ(parse_compute("234 TFLOPS"), 234e12);
  EXPECT_EQ(parse_compute("1.5 PFLOP/s"), 1.5e15);
  EXPECT_EQ(parse_bandwidth_value("0.1 GiB/s"), 107374182.4);
  EXPECT_EQ(parse_integer("18446744073709551615"), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(parse_integer("1e3"), 1000u);
  EXPECT_EQ(parse_integer("+4.0"), 4u);
  EXPECT_EQ(parse_number("0.1"), 0.1);
  EXPECT_EQ(parse_number("1.7976e30"), 1.7976e30);
}

TEST(Units, ErrorsNameTheValueAndWhatIsAllowed) {
  const struct {
    std::function<void()> call;
    std::vector<const char*> parts;
  } cases[] = {
      {[] { parse_bandwidth("200"); }, {"'200'", "no unit", "GiB/s", "100 GB/s"}},
      {[] { parse_bandwidth("200 ns"); }, {"'200 ns'", "a time", "a bandwidth is wanted", "TB/s"}},
      {[] { parse_bandwidth("200 gb/s"); }, {"unknown unit 'gb/s'", "`GB/s`", "`Gb/s`"}},
      {[] { parse_bandwidth("200 GB"); }, {"'200 GB'", "a size", "GB/s"}},
      {[] { parse_bandwidth("-1 GB/s"); }, {"'-1 GB/s'", "negative", "allowed"}},
      {[] { parse_bandwidth("nan GB/s"); }, {"'nan GB/s'", "does not start with a number"}},
      {[] { parse_bandwidth("inf GB/s"); }, {"does not start with a number"}},
      {[] { parse_bandwidth(""); }, {"empty", "allowed"}},
      {[] { parse_bandwidth("GB/s"); }, {"does not start with a number"}},
      {[] { parse_bandwidth("1,000 GB/s"); }, {"unknown unit ',000 GB/s'"}},
      {[] { parse_bandwidth("1. GB/s"); }, {"unknown unit '. GB/s'"}},
      {[] { parse_bandwidth("0x10 GB/s"); }, {"unknown unit"}},
      {[] { parse_bandwidth("1 GB /s"); }, {"unknown unit"}},
      {[] { parse_bandwidth("1/0 GB/s"); }, {"divides by zero"}},
      {[] { parse_bandwidth("18446744073709551616 B/s"); }, {"too large"}},
      {[] { parse_bandwidth("1e30 PB/s"); }, {"too large"}},
      {[] { parse_bandwidth("1e99999999999 B/s"); }, {"exponent beyond"}},
      {[] { parse_bandwidth("1234567890123456789012345678901 B/s"); }, {"more than 30 digits"}},
      {[] { parse_size("0.5 B"); }, {"'0.5 B'", "not a whole number of bytes"}},
      {[] { parse_size("1.3 GiB"); }, {"not a whole number of bytes", "`1395864371 B`"}},
      {[] { parse_size("16777216 TiB"); }, {"too large", "18446744073709551615 B"}},
      {[] { parse_size("4 GiB/s"); }, {"a bandwidth", "a size is wanted"}},
      {[] { parse_time("0.5 ps"); }, {"not a whole number of picoseconds", "`0 ps`"}},
      {[] { parse_time("18446745 s"); }, {"too large"}},
      {[] { parse_time("5 minutes"); }, {"unknown unit 'minutes'", "ps, ns, us, ms, s"}},
      {[] { parse_time("1 \xc2\xb5s"); }, {"unknown unit"}},
      {[] { parse_compute("234"); }, {"no unit", "TFLOPS"}},
      {[] { parse_compute("2/3 TFLOPS"); }, {"fraction"}},
      {[] { parse_integer("1.5"); }, {"'1.5'", "not a whole number"}},
      {[] { parse_integer("4 chunks"); }, {"'4 chunks'", "not a whole number"}},
      {[] { parse_integer("-3"); }, {"negative"}},
      {[] { parse_integer("18446744073709551616"); }, {"too large"}},
      {[] { parse_number("0.9x"); }, {"not a plain number"}},
      {[] { parse_number("nan"); }, {"does not start with a number"}},
  };
  for (const auto& c : cases) {
    const std::string message = error_of(c.call);
    for (const char* part : c.parts)
      EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
  }
  EXPECT_LT(error_of([] { parse_size(std::string(100000, '7')); }).size(), 1000u);
}

TEST(Units, PrintsTheShortestExactText) {
  EXPECT_EQ(print_bandwidth({200000000000ull, 1}), "200 GB/s");
  EXPECT_EQ(print_bandwidth({200ull << 30, 1}), "200 GiB/s");
  EXPECT_EQ(print_bandwidth({200ull << 30, 7}), "200/7 GiB/s");
  EXPECT_EQ(print_bandwidth({28570000000ull, 1}), "28.57 GB/s");
  EXPECT_EQ(print_bandwidth({3350000000000ull, 1}), "3.35 TB/s");
  EXPECT_EQ(print_time(100000), "100 ns");
  EXPECT_EQ(print_time(1500000), "1.5 us");
  EXPECT_EQ(print_size(80ull << 30), "80 GiB");
  EXPECT_EQ(print_compute(234e12), "234 TFLOPS");
  EXPECT_EQ(print_number(0.1), "0.1");
}

TEST(Units, WhatIsPrintedIsReadBackExactly) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    const uint64_t value = random() >> (random() % 64);
    EXPECT_EQ(parse_size(print_size(value)), value);
    EXPECT_EQ(parse_time(print_time(value)), value);
    const Rate rate =
        lowest_terms({value, static_cast<uint32_t>(1 + (random() >> (32 + random() % 32)) % 4294967295u)});
    const Rate back = parse_bandwidth(print_bandwidth(rate));
    ASSERT_EQ(back.bytes_per_second, rate.bytes_per_second) << print_bandwidth(rate);
    ASSERT_EQ(back.divisor, rate.divisor) << print_bandwidth(rate);
    const double real =
        static_cast<double>(random()) / static_cast<double>(1 + (random() >> (random() % 64)));
    EXPECT_EQ(parse_compute(print_compute(real)), real) << print_compute(real);
    EXPECT_EQ(parse_bandwidth_value(print_bandwidth_value(real)), real);
    EXPECT_EQ(parse_number(print_number(real)), real);
  }
}

// What a script prints for 200/7 has more digits than a Rate holds.
TEST(Units, BandwidthsAreRoundedToTheNearest) {
  EXPECT_EQ(print_bandwidth(parse_bandwidth("0.12345678901234567 kB/s")), "123.456789012 B/s");
  const struct {
    const char* text;
    double bytes;
  } cases[] = {{"28.571428571428573 GiB/s", 28.571428571428573 * (1 << 30)},
               {"14.285714285714286 GB/s", 14.285714285714286e9},
               {"0.3333333333333333333333333333333333333333333333 PB/s", 1e15 / 3},
               {"333333.333333333333333333 PB/s", 0},
               {"12345.678901234567890123456789 PiB/s", 12345.678901234567890123456789 * (1ull << 50)},
               {"1000000.00000000055 B/s", 1000000.00000000055}};
  for (const auto& c : cases) {
    if (c.bytes == 0) {
      EXPECT_NE(error_of([&] { parse_bandwidth(c.text); }).find("too large"), std::string::npos) << c.text;
      continue;
    }
    const Rate rate = parse_bandwidth(c.text);
    EXPECT_DOUBLE_EQ(rate.value(), c.bytes) << c.text;
    // What is printed is what is used.
    const Rate back = parse_bandwidth(print_bandwidth(rate));
    EXPECT_EQ(back.bytes_per_second, rate.bytes_per_second) << print_bandwidth(rate);
    EXPECT_EQ(back.divisor, rate.divisor) << print_bandwidth(rate);
  }
  // Half a digit of the last place rounds up, less does not.
  EXPECT_EQ(print_bandwidth(parse_bandwidth("1.00000000150001 B/s")), "1.000000002 B/s");
  EXPECT_EQ(print_bandwidth(parse_bandwidth("1.00000000149999 B/s")), "1.000000001 B/s");
}

TEST(Units, DividesExactlyOrRounds) {
  const Rate seventh = divided({200ull << 30, 1}, 7);
  EXPECT_EQ(seventh.bytes_per_second, 200ull << 30);
  EXPECT_EQ(seventh.divisor, 7u);
  EXPECT_EQ(divided({14, 1}, 7).divisor, 1u);
  EXPECT_DOUBLE_EQ(divided({15339168914500000000ull, 4294967295u}, 48).value(),
                   15339168914500000000.0 / 4294967295.0 / 48);
}

// However large the divisor, a transfer's time is ceil(bytes / rate), and what 64 bits cannot hold is an
// error.
TEST(Time, TransfersAreExactOrAnError) {
  std::mt19937_64 random(11);
  int held = 0;
  for (int i = 0; i < 20000; ++i) {
    const uint64_t bytes = random() >> (random() % 64);
    const Rate rate{1 + (random() >> (random() % 64)),
                    static_cast<uint32_t>(1 + (random() >> (32 + random() % 32)) % 4294967295u)};
    // whole + remainder / rate = bytes * divisor * 1e12 / rate, in two halves of the left side
    const ExactTime t = exact_time(bytes, rate);
    EXPECT_LT(t.remainder, rate.bytes_per_second);
    const Wide n = static_cast<Wide>(bytes) * rate.divisor;
    if (t.whole >= kNever) {
      EXPECT_GE(n / rate.bytes_per_second, 18446743u);
      EXPECT_THROW(transfer_time(bytes, rate), TimeOverflow);
      continue;
    }
    ++held;
    constexpr uint64_t kPrime = 18446744073709551557ull;
    const auto modulo = [](Wide value) { return static_cast<uint64_t>(value % kPrime); };
    const auto times = [&](uint64_t a, uint64_t b) { return modulo(static_cast<Wide>(a) * b); };
    EXPECT_EQ(times(modulo(n), 1000000000000ull),
              modulo(static_cast<Wide>(times(static_cast<uint64_t>(t.whole), rate.bytes_per_second)) +
                     t.remainder));
    EXPECT_EQ(transfer_time(bytes, rate), t.whole + (t.remainder != 0 ? 1 : 0));
  }
  EXPECT_GT(held, 1000);
  EXPECT_LT(held, 19000);
}

TEST(Time, SumsThatDoNotFitAreErrors) {
  EXPECT_EQ(later(kNever - 2, 1), kNever - 1);
  EXPECT_THROW(later(kNever - 1, 1), TimeOverflow) << "kNever is no time";
  EXPECT_THROW(later(kNever - 1, kNever - 1), TimeOverflow);
  EXPECT_EQ(times(1ull << 40, 1ull << 23), 1ull << 63);
  EXPECT_THROW(times(1ull << 40, 1ull << 24), TimeOverflow);
  EXPECT_EQ(saturated(static_cast<Wide>(kNever) * 3), kNever);
  try {
    in_time([] { return later(kNever - 1, 5); }, [] { return std::string("rank 3: the send"); }, "send less");
    ADD_FAILURE() << "no error";
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::trace);
    EXPECT_STREQ(
        e.what(),
        "rank 3: the send would end after the last picosecond that simulated time can hold (213 days); "
        "send less");
  }
}

}  // namespace
}  // namespace weft
