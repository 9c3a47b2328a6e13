// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/timeline/timeline.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "configs/file_set.h"

namespace weft::timeline {
namespace {

namespace fs = std::filesystem;

class TimelineFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("weft_timeline." + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path() const { return (folder_ / "timeline.pftrace").string(); }

  fs::path folder_;
};

/// A run of so many NPUs in a ring, each with messages, nodes with long names, collectives and phases.
void drive(Timeline& timeline, insight::CausalLog& log, uint32_t npus, uint32_t steps, uint32_t seed) {
  std::mt19937 random(seed);
  for (uint32_t n = 0; n < npus; ++n)
    log.add_link({"job.nmu" + std::to_string(n) + ".d0_plus", "dimension 0"});
  timeline.read_links(log);
  timeline.begin();
  Picoseconds now = 0;
  std::vector<Picoseconds> free(npus, 0);
  for (uint32_t s = 0; s < steps; ++s) {
    for (uint32_t n = 0; n < npus; ++n) {
      const std::string name(random() % 3 == 0 ? 700 : 5, static_cast<char>('a' + random() % 26));
      timeline.node_began({n, s, s, name + std::to_string(s * npus + n), insight::NodeKind::compute, 0, now});
      timeline.collective_began({n, s + 1, "all_reduce", 100, now});
      timeline.phase_began({n, s + 1, 0, 0, "all_gather", 100, now, now});
      const uint32_t packet = n + 1;
      timeline.submitted(packet);
      const Picoseconds begin = std::max(now, free[n]);
      free[n] = begin + 1 + random() % 5000;
      timeline.crossed({n + 1, packet, s + 2, 0, 0, 100, now, begin, free[n], free[n] - begin});
    }
    now += 10'000;
    for (uint32_t n = 0; n < npus; ++n) {
      if (random() % 50 == 0) continue;  // never received
      timeline.delivered({n + 1, s + 2, (n + 1) % npus, n, 0, 0, s, 100, 0, now - random() % 3, 0, now});
      timeline.phase_ended({n, s + 1, 0, 0, "all_gather", 100, now, now});
      timeline.collective_ended(n, s + 1, now);
      timeline.node_ended(n, s, now);
    }
  }
  timeline.close(now);
}

TEST_F(TimelineFile, NoBudgetIsExceeded) {
  uint64_t largest = 0;
  for (const uint64_t budget : {64u << 10, 100u << 10, 200u << 10, 1u << 20, 16u << 20}) {
    for (const uint32_t npus : {1u, 7u, 300u}) {
      insight::CausalLog log(0);
      Timeline timeline({path(), 0, kNever, budget});
      drive(timeline, log, npus, 9000 / npus, 1);
      EXPECT_EQ(timeline.failure(), "");
      const uint64_t size = fs::file_size(path());
      EXPECT_LE(size, budget) << npus << " NPUs";
      EXPECT_FALSE(fs::exists(path() + kPartSuffix));
      largest = std::max(largest, size);
      EXPECT_EQ(timeline.warnings().empty(), size < budget / 8) << size << " of " << budget;
    }
  }
  EXPECT_GT(largest, 1u << 20);
}

TEST_F(TimelineFile, AFileThatIsLeftHasItsName) {
  {
    insight::CausalLog log(0);
    Timeline timeline({path(), 0, kNever, 1 << 20});
    timeline.read_links(log);
    timeline.begin();
    timeline.node_began({0, 0, 0, "never ends", insight::NodeKind::compute, 0, 5});
  }
  EXPECT_TRUE(fs::exists(path()));
}

TEST_F(TimelineFile, AnErrorNamesTheFileAndTheRemedy) {
  try {
    Timeline timeline({(folder_ / "none" / "timeline.pftrace").string(), 0, kNever, 1 << 20});
    FAIL();
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::usage);
    EXPECT_NE(
        std::string(e.what()).find("none/timeline.pftrace.part: the timeline cannot be written: No such"),
        std::string::npos)
        << e.what();
  }
}

TEST(Overview, TheBinsHoldWhatWasAdded) {
  std::mt19937_64 random(7);
  for (const uint32_t most : {2u, 32u, 500u}) {
    Overview overview(most);
    const uint32_t a = overview.add_link("a");
    const uint32_t b = overview.add_link("b");
    EXPECT_EQ(overview.add_link("a"), a);
    double bytes[2] = {};
    double busy[2] = {};
    Picoseconds last = 0;
    for (int i = 0; i < 2000; ++i) {
      const Picoseconds begin = random() % 5'000'000;
      const Picoseconds length = random() % (i % 7 == 0 ? 3'000'000 : 900);
      const uint64_t own = random() % 10000;
      overview.add(i % 2 == 0 ? a : b, begin, begin + length, length / 2, own);
      bytes[i % 2] += static_cast<double>(own);
      busy[i % 2] += static_cast<double>(length / 2);
      last = std::max(last, begin + length);
    }
    overview.settle();
    ASSERT_EQ(overview.classes().size(), 2u);
    EXPECT_EQ(overview.classes()[a].links, 2u);
    for (int c = 0; c < 2; ++c) {
      double sum = 0;
      double sum_busy = 0;
      for (const Overview::Bin& bin : overview.classes()[c].bins) {
        EXPECT_GE(bin.bytes, -1e-6);
        sum += bin.bytes;
        sum_busy += bin.busy;
      }
      EXPECT_NEAR(sum, bytes[c], 1e-6 * bytes[c]);
      EXPECT_NEAR(sum_busy, busy[c], 1e-6 * busy[c]);
      EXPECT_LE(overview.classes()[c].bins.size(), most);
    }
    EXPECT_GE(most * overview.width(), last);
    EXPECT_LT(most * overview.width() / 4, std::max<Picoseconds>(last, most * 128'000));
  }
}

}  // namespace
}  // namespace weft::timeline
