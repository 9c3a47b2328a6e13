// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A fit finds the parameters that made the times.

#include "sc_main/calibrate/fit.h"

#include <gtest/gtest.h>

#include <random>

#include "sc_main/machines/catalogue.h"
#include "tests/calibrate/messages.h"

namespace weft::calibrate {
namespace {

using library::CommunicationLibrary;
using library::LibraryMachine;

/// Sizes x 4, as a calibration takes them, with the times that a machine of these parameters has.
std::vector<FitRow> rows_of(const char* machine, const LibraryParameters& real, double noise) {
  const CommunicationLibrary library(LibraryMachine::of(machines::load_machine(machine)));
  std::mt19937 random(7);
  std::uniform_real_distribution<double> error(1 - noise, 1 + noise);
  std::vector<FitRow> rows;
  for (uint64_t bytes = 1024; bytes <= uint64_t{4} << 30; bytes *= 4) {
    FitRow row;
    row.bytes = bytes;
    row.plan = library.plan({library::LibraryOp::all_reduce, bytes, {}});
    row.real_us = row.plan.time_us(real) * error(random);
    rows.push_back(row);
  }
  return rows;
}

TEST(Fit, RecoversTheParameters) {
  for (const char* machine : {"dgx_a100", "dgx_h100", "dgx_h100_2node", "mi300x", "dgx_1v"})
    for (const LibraryParameters& real : {LibraryParameters{5, 1, 1}, LibraryParameters{22, 0.6, 0.92}}) {
      const LibraryParameters found = fit(rows_of(machine, real, 0), {}, {});
      EXPECT_NEAR(found.launch_us, real.launch_us, 0.02 * real.launch_us) << machine;
      EXPECT_NEAR(found.latency_scale, real.latency_scale, 0.02) << machine;
      EXPECT_NEAR(found.bandwidth_scale, real.bandwidth_scale, 0.005) << machine;
    }
}

TEST(Fit, AnOutlierDrawsItLittle) {
  const LibraryParameters real{8, 0.8, 0.97};
  std::vector<FitRow> rows = rows_of("dgx_h100", real, 0.01);
  rows[3].real_us *= 1.8;
  const LibraryParameters found = fit(rows, {}, {});
  // Launch and latencies can stand for each other; the times cannot.
  for (const FitRow& row : rows)
    EXPECT_NEAR(row.plan.time_us(found) / row.plan.time_us(real), 1, 0.06) << row.bytes;
}

TEST(Fit, KeepsWhatIsNotChosen) {
  const LibraryParameters real{5, 1.5, 0.9}, start{5, 1.5, 1};
  FitChoice only;
  only.launch = only.latency = false;
  const LibraryParameters found = fit(rows_of("mi300x", real, 0), start, only);
  EXPECT_EQ(found.launch_us, 5);
  EXPECT_EQ(found.latency_scale, 1.5);
  EXPECT_NEAR(found.bandwidth_scale, 0.9, 0.001);
  const LibraryParameters none = fit(rows_of("mi300x", real, 0), start, parse_fit("none"));
  EXPECT_EQ(none.bandwidth_scale, 1);
}

TEST(Fit, AWrongMachineIsImplausible) {
  // Times of two nodes on the plan of one: the bandwidth is a fraction of that machine's.
  std::vector<FitRow> rows = rows_of("dgx_h100", {5, 1, 1}, 0);
  for (FitRow& row : rows) row.real_us *= 4;
  const LibraryParameters found = fit(rows, {}, {});
  const auto sentences = implausible(found, {});
  ASSERT_FALSE(sentences.empty());
  EXPECT_TRUE(says(sentences.back(), {"bandwidth scale", "implausible", "graph"}));
  EXPECT_TRUE(implausible({5, 0.31, 1.19}, {}).empty());
  EXPECT_EQ(implausible({5, 0.29, 1.21}, {}).size(), 2u);
  EXPECT_TRUE(implausible({5, 0.29, 1.21}, parse_fit("t0")).empty()) << "what is not fitted is the user's";
}

TEST(Fit, ReadsItsParameters) {
  const FitChoice two = parse_fit("t0, bandwidth");
  EXPECT_TRUE(two.launch && two.bandwidth && !two.latency);
  EXPECT_EQ(parse_fit("none").count(), 0u);
  EXPECT_TRUE(says(error_of([] { parse_fit("latncy"); }), {"--fit latncy", "did you mean latency"}));
  EXPECT_TRUE(says(error_of([] { parse_fit("none,t0"); }), {"none"}));
}

}  // namespace
}  // namespace weft::calibrate
