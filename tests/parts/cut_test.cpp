// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Where a machine is cut: along replicas, not along stages, and never where it cannot be.

#include "parts/cut.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "configs/loader.h"

namespace weft::parts {
namespace {

Config machine(const std::string& notation, const std::string& dimensions) {
  return parse_config("weft: 1\ntopology:\n  notation: " + notation + "\n  dimensions:\n" + dimensions, "");
}

constexpr const char* kLink = "    - {bandwidth: 50 GB/s, latency: 500 ns}\n";

std::string refusal(const Config& config, uint32_t parts, const std::string& asked = {}) {
  try {
    choose_cut(config, parts, {}, asked);
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::usage);
    return e.what();
  }
  return {};
}

TEST(Cut, GoesAlongTheOutermostDimension) {
  const Config config = machine("Ring(4)_Ring(4)_Ring(8)", kLink);
  const Cut cut = choose_cut(config, 4, {});
  for (uint32_t r = 0; r < 128; ++r) EXPECT_EQ(cut.part_of[r], r / 32) << "rank " << r;
  EXPECT_EQ(cut.imbalance, 1.0);
}

TEST(Cut, GoesAlongReplicasNotStages) {
  // tp 2, dp 4, pp 3: rank = tp + 2 dp + 8 pp. Stages send to each other.
  const Config config = machine("Switch(2)_Switch(12)", kLink);
  RankLoads loads;
  loads.work.assign(24, 10);
  for (uint32_t r = 0; r < 16; ++r) loads.sends.emplace_back(r, r + 8);
  const Cut cut = choose_cut(config, 2, loads);
  EXPECT_EQ(cut.crossing_sends, 0u);
  for (const auto& [from, to] : loads.sends) EXPECT_EQ(cut.part_of[from], cut.part_of[to]);
  EXPECT_EQ(cut.part_of[0], 0u);
}

TEST(Cut, KeepsRanksTogetherThatAreAlikeAtFirst) {
  // tp 4, dp 4: replicas are alike, so that the cut goes along the tensor-parallel ranks.
  const Config config = machine("Switch(4)_Switch(4)", kLink);
  RankLoads loads;
  loads.work.assign(16, 10);
  EXPECT_EQ(choose_cut(config, 2, loads).text(), "rank / 8 % 2");
  for (uint32_t r = 0; r < 16; ++r) loads.alike.push_back(r % 4);
  const Cut cut = choose_cut(config, 2, loads);
  EXPECT_EQ(cut.text(), "rank / 2 % 2");
  EXPECT_EQ(cut.separated, 0u);
  EXPECT_EQ(choose_cut(config, 2, loads, "rank / 8 % 2").separated, 8u);
}

TEST(Cut, IsTheOneThatIsAskedFor) {
  const Config config = machine("Switch(2)_Switch(12)", kLink);
  RankLoads loads;
  loads.work.assign(24, 10);
  for (uint32_t r = 0; r < 16; ++r) loads.sends.emplace_back(r, r + 8);
  const Cut cut = choose_cut(config, 2, loads, "rank/8%3");
  EXPECT_EQ(cut.text(), "rank / 8 % 3");
  EXPECT_EQ(cut.crossing_sends, 8u);
  for (uint32_t r = 0; r < 24; ++r) EXPECT_EQ(cut.part_of[r], r / 8 * 2 / 3) << "rank " << r;
  for (const char* bad : {"rank / 8 % 5", "rank / 12 % 1", "rank / 5 % 2", "rank / 0 % 2", "8 % 3", "rank"}) {
    const std::string text = refusal(config, 2, bad);
    EXPECT_NE(text.find(std::string("--parts-cut ") + bad), std::string::npos) << bad << ": " << text;
    EXPECT_NE(text.find("24 NPUs into 2 parts"), std::string::npos) << text;
  }
  const Config no_latency =
      machine("Switch(2)_Switch(12)", "    - {bandwidth: 50 GB/s, latency: 0 ns}\n" + std::string(kLink));
  const std::string text = refusal(no_latency, 2, "rank / 1 % 2");
  EXPECT_NE(text.find("--parts-cut rank / 1 % 2: "), std::string::npos) << text;
  EXPECT_NE(text.find("dimension 0"), std::string::npos) << text;
  EXPECT_EQ(choose_cut(no_latency, 2, {}, "rank / 2 % 4").size, 4u);
}

TEST(Cut, BalancesTheWork) {
  // Eight ranks, of which the first four have three times the work: halves of the outer coordinate would be 3
  // : 1.
  const Config config = machine("Switch(8)", kLink);
  RankLoads loads;
  loads.work = {30, 30, 30, 30, 10, 10, 10, 10};
  const Cut cut = choose_cut(config, 2, loads);
  uint64_t work[2] = {};
  for (uint32_t r = 0; r < 8; ++r) work[cut.part_of[r]] += loads.work[r];
  EXPECT_EQ(work[0], work[1]);
}

TEST(Cut, PartsOfEverySize) {
  const Config config = machine("Ring(5)_Switch(7)", kLink);
  for (uint32_t parts = 1; parts <= 35; ++parts) {
    const Cut cut = choose_cut(config, parts, {});
    const std::set<uint32_t> all(cut.part_of.begin(), cut.part_of.end());
    EXPECT_EQ(all.size(), parts);
    EXPECT_EQ(cut.part_of[0], 0u);
  }
}

TEST(Cut, SparesPacketNetworks) {
  // The outer dimension is one: the inner one is cut.
  const Config config = machine("Ring(4)_Switch(4)",
                                "    - {bandwidth: 50 GB/s, latency: 500 ns}\n"
                                "    - {bandwidth: 50 GB/s, latency: 500 ns, fidelity: packet}\n");
  const Cut cut = choose_cut(config, 2, {});
  for (uint32_t r = 0; r < 16; ++r) EXPECT_EQ(cut.part_of[r], cut.part_of[r % 4]);
  EXPECT_FALSE(cut.through_packets);
}

TEST(Cut, GoesThroughPacketNetworksWhereThereIsNothingElse) {
  const Config config =
      machine("Switch(4)", "    - {bandwidth: 50 GB/s, latency: 500 ns, fidelity: packet}\n");
  const Cut cut = choose_cut(config, 2, {});
  EXPECT_TRUE(cut.through_packets);
  EXPECT_EQ(cut.part_of, (std::vector<uint32_t>{0, 0, 1, 1}));
}

TEST(Cut, SaysWhyThereIsNone) {
  EXPECT_NE(refusal(machine("Ring(4)", kLink), 5).find("the machine has 4 NPUs"), std::string::npos);
  const Config config = machine("Ring(4)", "    - {bandwidth: 50 GB/s, latency: 0 ns}\n");
  EXPECT_NE(refusal(config, 2).find("without latency"), std::string::npos);
  const Config packets =
      machine("Switch(4)", "    - {bandwidth: 50 GB/s, latency: 90 ps, fidelity: packet}\n");
  EXPECT_NE(refusal(packets, 2).find("packet network"), std::string::npos);
}

}  // namespace
}  // namespace weft::parts
