// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The time of a collective lies between its bounds, whatever the machine: all fidelities and switching modes,
// injection limits, reductions, endpoint delays, buffers and packet overheads.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>

#include "sc_models/machine.h"
#include "tests/data/cases.h"
#include "tests/support/isolated.h"
#include "workload/collectives/bounds.h"

namespace weft {
namespace {

struct Last final : NmuClient {
  Picoseconds finished = 0;
  uint32_t done = 0;
  void collective_done(NpuId, const collectives::CollectiveDone& d) override {
    ++done;
    finished = std::max(finished, d.finished);
  }
  void message_injected(NpuId, NpuId, const MessageId&) override {}
  void message_arrived(NpuId, const Completion&) override {}
};

/// What is wrong with the bounds of a case. `share`: gets the upper bound over the time.
std::string look(const test::DataCase& c, double* share) {
  collectives::PlanBuilder plans(c.config);
  collectives::CollectiveRequest request = c.request;
  request.group = &c.group;
  const auto plan = plans.plan(request);
  const auto result = test::isolated([&] {
    Last last;
    Machine system("system", c.config, last, Machine::Options{});
    const uint32_t members = c.group.size(c.config.npus());
    for (uint32_t i = 0; i < members; ++i)
      system.nmu(c.group.ranks.empty() ? i : c.group.ranks[i]).start_collective(1, plan);
    do sc_core::sc_start();
    while (last.done != members && system.rescue());
    if (last.done != members) return std::string("x only ") + std::to_string(last.done) + " members finished";
    return std::to_string(last.finished);
  });
  if (result.status != 0 || result.text[0] == 'x') return result.text;
  const Picoseconds time = std::strtoull(result.text.c_str(), nullptr, 10);
  const Picoseconds lower = collectives::lower_bound(c.config, *plan);
  const Picoseconds upper = collectives::serial_time(c.config, *plan);
  if (share != nullptr && time != 0 && upper != kNever)
    *share = static_cast<double>(upper) / static_cast<double>(time);
  if (time < lower) return fmt::format("{} ps, less than the lower bound of {}", time, lower);
  if (time > upper) return fmt::format("{} ps, more than the upper bound of {}", time, upper);
  return {};
}

uint64_t draws(uint64_t usual) {
  const char* more = std::getenv("WEFT_BOUNDS_DRAWS");
  return more != nullptr ? std::strtoull(more, nullptr, 10) : usual;
}

test::DataCase random_case(uint64_t seed) {
  std::mt19937_64 random(seed);
  test::DataCase c = test::random_case(random, true);
  c.config.run.data = "none";
  if (random() % 3 == 0) c.request.bytes *= 1 + random() % 3000;
  if (random() % 3 == 0) {
    c.config.nmu.injection_bandwidth = {(5 + random() % 200) * 1'000'000'000ull, 1};
  }
  if (random() % 4 == 0) c.config.nmu.injection_queue = 1 + static_cast<uint32_t>(random() % 3);
  if (random() % 4 == 0) {
    c.config.collectives.reduction = ReductionKind::hbm;
    c.config.hbm.bandwidth = {2'000'000'000'000ull, 1};
    c.config.hbm.latency = 100'000;
    c.config.hbm.outstanding = 1 + static_cast<uint32_t>(random() % 8);
  }
  for (DimensionConfig& d : c.config.dimensions) {
    if (random() % 4 == 0) d.credit_latency = 1 + random() % 2'000'000;
  }
  if (random() % 6 == 0) c.config.packet.release_on_credit = true;
  if (random() % 6 == 0) c.config.packet.phit_bytes = 24;
  if (random() % 6 == 0) c.config.packet.header_efficiency = 0.7;
  return c;
}

std::string text(const test::DataCase& c) {
  const PacketFabricConfig& p = c.config.packet;
  return fmt::format(
      "{}; reduction {}, e {}, injection {} B/s {}, packets {}+{} B of {} B flits, {} VCs of {} flits, "
      "strict {}, "
      "release {}, software {}",
      c.text(), to_string(c.config.collectives.reduction), c.config.nmu.endpoint_delay,
      c.config.nmu.injection_bandwidth.bytes_per_second, c.config.nmu.injection_queue, p.packet_bytes,
      p.header_bytes, p.flit_bytes, p.vcs, p.buffer_flits, p.strict_cut_through, p.release_on_credit,
      p.forwarding == PacketForwarding::software);
}

TEST(CollectiveBounds, HoldOnEveryMachine) {
  uint32_t failed = 0;
  for (uint64_t seed = 1; seed <= draws(300) && failed < 5; ++seed) {
    const test::DataCase c = random_case(seed);
    std::string wrong;
    try {
      wrong = look(c, nullptr);
    } catch (const UserError&) {
      continue;  // this algorithm cannot run on that group
    }
    EXPECT_EQ(wrong, "") << "seed " << seed << ": " << text(c);
    failed += !wrong.empty();
  }
}

/// docs/collectives: where one member's messages follow each other the upper bound is the time itself.
TEST(CollectiveBounds, AreTightWhereMessagesFollowEachOther) {
  for (const DimensionKind kind :
       {DimensionKind::ring, DimensionKind::fully_connected, DimensionKind::switch_}) {
    for (const char* algorithm : {"ring", "halving_doubling"}) {
      if (kind == DimensionKind::ring && algorithm[0] == 'h') continue;
      test::DataCase c;
      c.config = test::machine({kind}, {8}, Fidelity::message);
      c.config.dimensions[0].switching = Switching::store_and_forward;
      c.config.run.data = "none";
      c.config.nmu.endpoint_delay = 10'000;
      c.config.collectives.reduction = ReductionKind::fixed_bandwidth;
      c.config.collectives.reduction_bandwidth = {1'600'000'000'000ull, 1};
      c.config.collectives.chunks = 1;
      c.config.collectives.algorithms[0] = {algorithm};
      c.request.bytes = 8 << 20;
      double share = 0;
      EXPECT_EQ(look(c, &share), "") << c.text();
      EXPECT_NEAR(share, 1, 0.001) << c.text();
    }
  }
}

TEST(CollectiveBounds, CountEveryHopOfAMesh) {
  // Ring on a Mesh: a message from one end to the other goes over all links.
  test::DataCase c;
  c.config = test::machine({DimensionKind::mesh}, {8}, Fidelity::message);
  c.config.run.data = "none";
  c.config.dimensions[0].switching = Switching::store_and_forward;
  c.config.collectives.chunks = 1;
  c.request.bytes = 8 << 20;
  double share = 0;
  EXPECT_EQ(look(c, &share), "");
  EXPECT_GE(share, 1);
}

TEST(CollectiveBounds, CountTheInjection) {
  for (const Fidelity fidelity : {Fidelity::analytical, Fidelity::message, Fidelity::packet}) {
    test::DataCase c;
    c.config = test::machine({DimensionKind::switch_}, {8}, fidelity);
    c.config.run.data = "none";
    c.config.collectives.chunks = 4;
    c.config.nmu.injection_bandwidth = {10'000'000'000ull, 1};
    c.request.bytes = 1 << 20;
    double share = 0;
    EXPECT_EQ(look(c, &share), "") << to_string(fidelity);
    EXPECT_LT(share, 2) << to_string(fidelity);
    collectives::PlanBuilder plans(c.config);
    collectives::CollectiveRequest request = c.request;
    request.group = &c.group;
    // 7/4 MiB have to leave every member.
    EXPECT_GT(collectives::lower_bound(c.config, *plans.plan(request)), 183'500'000u);
  }
}

/// The DMA of a member sends all that the switch's unit is to combine.
TEST(CollectiveBounds, CountTheInjectionOfContributions) {
  for (const Fidelity fidelity : {Fidelity::analytical, Fidelity::message, Fidelity::packet}) {
    test::DataCase c;
    c.config = test::machine({DimensionKind::switch_}, {2}, fidelity);
    c.config.run.data = "none";
    c.config.dimensions[0].bandwidth = {1'000'000'000'000ull, 1};
    c.config.collectives.algorithms[static_cast<int>(CollectiveOp::reduce_scatter)] = {"in_switch"};
    c.config.nmu.injection_bandwidth = {10'000'000'000ull, 1};
    c.request.op = CollectiveOp::reduce_scatter;
    c.request.bytes = 1 << 20;
    EXPECT_EQ(look(c, nullptr), "") << to_string(fidelity);
  }
}

}  // namespace
}  // namespace weft
