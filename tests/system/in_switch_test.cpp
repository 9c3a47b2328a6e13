// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// in_switch on simulated machines: closed forms at all fidelities, late members, bounded buffers, groups,
// several dimensions. Every run carries real data, which is checked against the operation's definition.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "configs/loader.h"
#include "tests/support/isolated.h"
#include "tests/support/paths.h"
#include "tests/support/solo_job.h"
#include "workload/collectives/bounds.h"
#include "workload/collectives/elements.h"
#include "workload/collectives/in_switch.h"

namespace weft {
namespace {

constexpr Picoseconds kNs = 1000;

Config machine(const std::vector<std::pair<DimensionKind, uint32_t>>& dimensions, Fidelity fidelity) {
  Config config;
  for (const auto& [kind, size] : dimensions) {
    DimensionConfig d;
    d.kind = kind;
    d.size = size;
    d.bandwidth = {100'000'000'000ull, 1};
    d.latency = 500 * kNs;
    d.fidelity = fidelity;
    d.collective_unit.segment = 1 << 20;
    config.dimensions.push_back(d);
  }
  config.collectives.chunks = 1;
  config.run.data = "functional";
  for (int op = 0; op < kCollectiveOps; ++op) {
    for (const DimensionConfig& d : config.dimensions) {
      const bool unit = d.kind == DimensionKind::switch_ && op != static_cast<int>(CollectiveOp::all_to_all);
      config.collectives.algorithms[static_cast<size_t>(op)].push_back(unit ? "in_switch" : "");
    }
  }
  return config;
}

/// One collective of a group, each member starting at its time.
struct Started {
  CollectiveOp op = CollectiveOp::all_reduce;
  uint64_t bytes = 0;
  std::vector<uint32_t> ranks = {};      ///< empty: all
  std::vector<Picoseconds> starts = {};  ///< by member; empty: 0
  uint32_t root = 0;
};

struct Outcome {
  std::vector<Picoseconds> finished;  ///< of the last member, by collective; kNever: not all have
  std::string wrong;                  ///< data, conservation, bounds; empty: nothing
  std::string stall;
  uint64_t elements = 0;
};

class Client final : public NmuClient {
 public:
  Client(const Config& config, const std::vector<Started>& all)
      : config_(config), all_(all), system_("system", config, *this, {}), plans_(config) {
    const bool data = config.run.data != "none";
    if (data) check_ = std::make_unique<collectives::DataCheck>(*system_.data());
    for (uint32_t i = 0; i < all_.size(); ++i) {
      groups_.push_back({i + 1, fmt::format("g{}", i), all_[i].ranks});
      done_.push_back(0);
      finished_.push_back(0);
    }
    for (uint32_t i = 0; i < all_.size(); ++i) {
      collectives::CollectiveRequest request;
      request.op = all_[i].op;
      request.bytes = all_[i].bytes;
      request.group = &groups_[i];
      request.root = all_[i].root;
      if (data && request.op != CollectiveOp::barrier) {
        request.element_bytes = collectives::element_bytes(system_.data()->type());
      }
      planned_.push_back(plans_.plan(request));
    }
  }

  Outcome run() {
    std::map<Picoseconds, std::vector<std::pair<uint32_t, uint32_t>>> starts;
    for (uint32_t i = 0; i < all_.size(); ++i) {
      for (uint32_t m = 0; m < planned_[i]->members(); ++m) {
        const Picoseconds at = all_[i].starts.empty() ? 0 : all_[i].starts[m];
        if (at != kNever) starts[at].push_back({i, all_[i].ranks.empty() ? m : all_[i].ranks[m]});
      }
    }
    for (const auto& [at, list] : starts) {
      const Picoseconds now = sc_core::sc_time_stamp().value();
      if (at > now) sc_core::sc_start(sc_core::sc_time::from_value(at - now));
      for (const auto& [i, rank] : list) system_.nmu(rank).start_collective(i + 1, planned_[i]);
    }
    do {
      sc_core::sc_start();
    } while (left() != 0 && system_.rescue());
    Outcome outcome;
    for (uint32_t i = 0; i < all_.size(); ++i) {
      const bool over = done_[i] == planned_[i]->members();
      outcome.finished.push_back(over ? finished_[i] : kNever);
      const Picoseconds bound = collectives::lower_bound(config_, *planned_[i]);
      if (finished_[i] < bound) wrong_ += fmt::format("{} beats its bound {}\n", finished_[i], bound);
    }
    for (const std::string& line : system_.describe_unit_waits(20)) outcome.stall += line + "\n";
    if (left() == 0) {
      for (const std::string& line : system_.check_conservation()) wrong_ += line + "\n";
    }
    outcome.wrong = wrong_;
    if (check_) outcome.elements = check_->elements();
    return outcome;
  }

  void collective_done(NpuId, const collectives::CollectiveDone& done) override {
    ++done_[done.stream - 1];
    finished_[done.stream - 1] = std::max(finished_[done.stream - 1], done.finished);
    if (!done.data) return;
    const std::string wrong = check_->check(*done.data);
    if (!wrong.empty()) wrong_ += wrong + "\n";
  }
  void message_injected(NpuId, NpuId, const MessageId&) override {}
  void message_arrived(NpuId, const Completion&) override {}

 private:
  uint32_t left() const {
    uint32_t left = 0;
    for (size_t i = 0; i < done_.size(); ++i) left += planned_[i]->members() - done_[i];
    return left;
  }

  const Config& config_;
  const std::vector<Started>& all_;
  std::vector<collectives::Group> groups_;
  Machine system_;
  collectives::PlanBuilder plans_;
  std::unique_ptr<collectives::DataCheck> check_;
  std::vector<std::shared_ptr<const collectives::CollectivePlan>> planned_;
  std::vector<uint32_t> done_;
  std::vector<Picoseconds> finished_;
  std::string wrong_;
};

Outcome run(const Config& config, const std::vector<Started>& all) {
  const auto result = test::isolated([&] {
    Client client(config, all);
    const Outcome outcome = client.run();
    std::string text = fmt::format("{}|{}|{}", outcome.wrong, outcome.stall, outcome.elements);
    for (const Picoseconds t : outcome.finished) text += fmt::format("|{}", t);
    return text;
  });
  EXPECT_EQ(result.status, 0) << result.text;
  Outcome outcome;
  if (result.status != 0) return outcome;
  std::vector<std::string> parts(1);
  for (const char c : result.text) {
    if (c == '|') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  outcome.wrong = parts[0];
  outcome.stall = parts[1];
  outcome.elements = std::stoull(parts[2]);
  for (size_t i = 3; i < parts.size(); ++i) outcome.finished.push_back(std::stoull(parts[i]));
  return outcome;
}

constexpr Fidelity kBoth[] = {Fidelity::analytical, Fidelity::message};
constexpr Fidelity kAll[] = {Fidelity::analytical, Fidelity::message, Fidelity::packet};

/// All ranks, at once, at both fidelities and with both ways of switching.
void expect_time(const std::function<void(Config&)>& change, const Started& what, Picoseconds expected,
                 uint32_t n = 4) {
  for (const Fidelity fidelity : kBoth) {
    for (const Switching switching : {Switching::store_and_forward, Switching::cut_through}) {
      Config config = machine({{DimensionKind::switch_, n}}, fidelity);
      config.dimensions[0].switching = switching;
      change(config);
      const Outcome outcome = run(config, {what});
      EXPECT_EQ(outcome.wrong, "") << to_string(what.op) << " " << to_string(fidelity);
      ASSERT_EQ(outcome.finished.size(), 1u);
      EXPECT_EQ(outcome.finished[0], expected) << to_string(what.op) << " " << to_string(fidelity);
    }
  }
}

void unchanged(Config&) {}

// L = 500 ns, 10 ps a byte: 40,000 B are 400 ns.
TEST(InSwitch, OneSegmentOfEveryOperation) {
  const uint64_t s = 40'000;
  expect_time(unchanged, {CollectiveOp::all_reduce, s}, 1800 * kNs);
  expect_time(unchanged, {CollectiveOp::reduce, s, {}, {}, 2}, 1800 * kNs);
  expect_time(unchanged, {CollectiveOp::broadcast, s, {}, {}, 3}, 1800 * kNs);
  expect_time(unchanged, {CollectiveOp::reduce_scatter, s}, (1000 + 400 + 100) * kNs);
  expect_time(unchanged, {CollectiveOp::all_gather, s}, (1000 + 400 + 3 * 400) * kNs);
  expect_time(unchanged, {CollectiveOp::gather, s, {}, {}, 1}, (1000 + 400 + 3 * 400) * kNs);
  expect_time(unchanged, {CollectiveOp::scatter, s, {}, {}, 1}, (1000 + 3 * 100 + 100) * kNs);
  expect_time(unchanged, {CollectiveOp::barrier, 0}, 1000 * kNs + 2 * 80);
  expect_time(unchanged, {CollectiveOp::all_reduce, s}, 1800 * kNs, 7);
}

TEST(InSwitch, SegmentsPipeline) {
  const auto segments = [](Config& c) { c.dimensions[0].collective_unit.segment = 10'000; };
  const uint64_t s = 40'000;
  expect_time(segments, {CollectiveOp::all_reduce, s}, (1000 + 400 + 100) * kNs);
  expect_time(segments, {CollectiveOp::reduce, s}, (1000 + 400 + 100) * kNs);
  expect_time(segments, {CollectiveOp::broadcast, s}, (1000 + 400 + 100) * kNs);
  expect_time(segments, {CollectiveOp::reduce_scatter, 4 * s}, (1000 + 1600 + 100) * kNs);
  expect_time(segments, {CollectiveOp::all_gather, s}, (1000 + 100 + 3 * 400) * kNs);
  // A shorter last segment: its way out is shorter, too, but it queues behind the one before.
  expect_time(segments, {CollectiveOp::all_reduce, 44'000}, (1000 + 440 + 100) * kNs);
  // Chunks follow each other: one at a time.
  expect_time(
      [](Config& c) {
        c.collectives.chunks = 3;
        c.nmu.endpoint_delay = 10 * kNs;
      },
      {CollectiveOp::all_reduce, 30'000}, 3 * (1000 + 2 * 100 + 2 * 10) * kNs);
}

TEST(InSwitch, TheUnitsOwnTimes) {
  const Started what{CollectiveOp::all_reduce, 40'000};
  expect_time([](Config& c) { c.dimensions[0].collective_unit.latency = 70 * kNs; }, what, 1870 * kNs);
  expect_time([](Config& c) { c.nmu.endpoint_delay = 10 * kNs; }, what, 1820 * kNs);
  // Ingress at half the port's rate, and at twice.
  expect_time(
      [](Config& c) {
        c.dimensions[0].collective_unit.ingress_bandwidth = {50'000'000'000ull, 1};
      },
      what, (1000 + 800 + 400) * kNs);
  expect_time(
      [](Config& c) {
        c.dimensions[0].collective_unit.ingress_bandwidth = {200'000'000'000ull, 1};
      },
      what, 1800 * kNs);
  // 4 x 40,000 B at 400 GB/s: 400 ns.
  expect_time(
      [](Config& c) {
        c.dimensions[0].collective_unit.reduction_bandwidth = {400'000'000'000ull, 1};
      },
      what, (1000 + 400 + 400 + 400) * kNs);
  // Four segments of 4 x 10,000 B at 200 GB/s, 200 ns each: slower than the ports.
  expect_time(
      [](Config& c) {
        c.dimensions[0].collective_unit.segment = 10'000;
        c.dimensions[0].collective_unit.reduction_bandwidth = {200'000'000'000ull, 1};
      },
      what, (1000 + 100 + 4 * 200 + 100) * kNs);
  // Nothing is reduced in an all-gather.
  expect_time(
      [](Config& c) {
        c.dimensions[0].collective_unit.reduction_bandwidth = {1'000'000'000ull, 1};
      },
      {CollectiveOp::all_gather, 40'000}, (1000 + 400 + 3 * 400) * kNs);
}

TEST(InSwitch, ASmallBufferHoldsSegmentsBack) {
  const auto with = [](uint64_t buffer, Picoseconds latency, uint64_t ingress) {
    return [=](Config& c) {
      CollectiveUnitConfig& unit = c.dimensions[0].collective_unit;
      unit.segment = 10'000;
      unit.buffer = buffer;
      unit.latency = latency;
      unit.ingress_bandwidth = {ingress, 1};
    };
  };
  const Started what{CollectiveOp::all_reduce, 40'000};
  expect_time(with(0, 50 * kNs, 0), what, (1000 + 400 + 100 + 50) * kNs);
  expect_time(with(20'000, 50 * kNs, 0), what, (1000 + 400 + 100 + 50) * kNs);
  // One place: each segment begins when the one before has left, latency and way out later.
  expect_time(with(10'000, 50 * kNs, 0), what, (1000 + 5 * 100 + 4 * 50) * kNs);
  expect_time(with(19'999, 50 * kNs, 0), what, (1000 + 5 * 100 + 4 * 50) * kNs);
  expect_time(with(10'000, 0, 0), what, (1000 + 5 * 100) * kNs);
  // .. and goes in only then.
  expect_time(with(10'000, 50 * kNs, 100'000'000'000ull), what, (1000 + 4 * (100 + 50 + 100)) * kNs);
}

TEST(InSwitch, ALateMemberIsWaitedFor) {
  for (const Fidelity fidelity : kBoth) {
    for (const uint64_t buffer : {0u, 10'000u, 20'000u, 100'000u}) {
      Config config = machine({{DimensionKind::switch_, 4}}, fidelity);
      config.dimensions[0].collective_unit.segment = 10'000;
      config.dimensions[0].collective_unit.buffer = buffer;
      const Started late{CollectiveOp::all_reduce, 40'000, {}, {0, 0, 0, 3000 * kNs}};
      const Outcome outcome = run(config, {late});
      EXPECT_EQ(outcome.wrong, "");
      ASSERT_EQ(outcome.finished.size(), 1u);
      EXPECT_EQ(outcome.finished[0], (3000 + 1500) * kNs) << buffer;
      // Of a broadcast nobody but the root is waited for.
      const Started early{CollectiveOp::broadcast, 40'000, {}, {0, 5000 * kNs, 0, 0}};
      EXPECT_EQ(run(config, {early}).finished[0], 5000 * kNs);
    }
  }
}

TEST(InSwitch, TwoCollectivesShareTheBuffer) {
  for (const Fidelity fidelity : kBoth) {
    Config config = machine({{DimensionKind::switch_, 4}}, fidelity);
    CollectiveUnitConfig& unit = config.dimensions[0].collective_unit;
    unit.segment = 10'000;
    unit.buffer = 20'000;
    unit.latency = 50 * kNs;
    const Started waits{CollectiveOp::all_reduce, 40'000, {0, 1}, {0, 10'000 * kNs}};
    const Started other{CollectiveOp::all_reduce, 40'000, {2, 3}};
    const Outcome outcome = run(config, {waits, other});
    EXPECT_EQ(outcome.wrong, "");
    ASSERT_EQ(outcome.finished.size(), 2u);
    EXPECT_EQ(outcome.finished[0], (10'000 + 1000 + 400 + 100 + 50) * kNs);
    // The first one holds a place while it waits for rank 1; one is left.
    EXPECT_EQ(outcome.finished[1], (1000 + 5 * 100 + 4 * 50) * kNs);
    EXPECT_EQ(run(config, {other}).finished[0], (1000 + 400 + 100 + 50) * kNs);
    // Two collectives of the same members share the ports. The first to arrive goes first.
    const Outcome both =
        run(config, {{CollectiveOp::all_reduce, 40'000}, {CollectiveOp::all_reduce, 40'000}});
    EXPECT_EQ(both.wrong, "");
  }
}

TEST(InSwitch, OppositeOrdersOnASmallBufferEnd) {
  for (const Fidelity fidelity : kAll) {
    Config config = machine({{DimensionKind::switch_, 3}}, fidelity);
    config.dimensions[0].collective_unit.segment = 1000;
    config.dimensions[0].collective_unit.buffer = 1000;
    config.collectives.chunks = 5;
    // LIFO: ranks start the two in different orders, and each takes its own newest first.
    const Started a{CollectiveOp::all_reduce, 40'000, {}, {0, 10, 300 * kNs}};
    const Started b{CollectiveOp::all_reduce, 40'000, {}, {10, 0, 200 * kNs}};
    const Outcome outcome = run(config, {a, b});
    EXPECT_EQ(outcome.wrong, "");
    ASSERT_EQ(outcome.finished.size(), 2u);
    EXPECT_NE(outcome.finished[0], kNever);
    EXPECT_NE(outcome.finished[1], kNever);
    EXPECT_EQ(outcome.elements, 2 * 3 * 10'000u);
  }
}

TEST(InSwitch, GroupsOnPartsOfALine) {
  for (const Fidelity fidelity : kBoth) {
    const Config config = machine({{DimensionKind::switch_, 8}}, fidelity);
    const Outcome outcome = run(config, {{CollectiveOp::all_reduce, 40'000, {6, 1, 4}},
                                         {CollectiveOp::reduce_scatter, 40'004, {0, 2}},
                                         {CollectiveOp::all_gather, 400, {3, 7, 5}}});
    EXPECT_EQ(outcome.wrong, "");
    ASSERT_EQ(outcome.finished.size(), 3u);
    EXPECT_EQ(outcome.finished[0], 1800 * kNs);
    EXPECT_EQ(outcome.finished[1], 1000 * kNs + 400'040 + 200'000);
    EXPECT_EQ(outcome.finished[2], 1000 * kNs + 3 * 4 * kNs);
    EXPECT_EQ(outcome.elements, 3 * 10'000u + 10'001 + 3 * 300);
  }
}

TEST(InSwitch, SeveralDimensionsReduceAndGatherInTurn) {
  for (const Fidelity fidelity : kBoth) {
    // Reduce-scatter and all-gather on the ring, all-reduce of a quarter in the switch.
    const Config ring = machine({{DimensionKind::ring, 4}, {DimensionKind::switch_, 8}}, fidelity);
    Outcome outcome = run(ring, {{CollectiveOp::all_reduce, 160'000}});
    EXPECT_EQ(outcome.wrong, "");
    ASSERT_EQ(outcome.finished.size(), 1u);
    EXPECT_EQ(outcome.finished[0], (2 * 3 * (500 + 400) + 1000 + 2 * 400) * kNs);
    // The switch inside: what it leaves of the data goes around the ring. Member 7's block is the last of the
    // reduce-scatter, and its shard the last of the all-gather, when the others' have passed.
    const Config inside = machine({{DimensionKind::switch_, 8}, {DimensionKind::ring, 4}}, fidelity);
    outcome = run(inside, {{CollectiveOp::all_reduce, 320'000}});
    EXPECT_EQ(outcome.wrong, "");
    EXPECT_EQ(outcome.finished[0], ((1000 + 3200 + 400) + 2 * 3 * (500 + 100) + (1000 + 400 + 400)) * kNs);
  }
}

TEST(InSwitch, OddSizesOnThreeDimensionsInEveryOrder) {
  for (const Fidelity fidelity : kAll) {
    for (const CollectiveOrder order : {CollectiveOrder::baseline, CollectiveOrder::local_bw_aware,
                                        CollectiveOrder::round_robin, CollectiveOrder::themis}) {
      for (const char* element : {"fp32", "bf16", "int32"}) {
        Config config = machine(
            {{DimensionKind::fully_connected, 4}, {DimensionKind::switch_, 6}, {DimensionKind::switch_, 3}},
            fidelity);
        config.collectives.chunks = 3;
        config.collectives.order = order;
        config.run.element = element;
        for (DimensionConfig& d : config.dimensions) {
          d.collective_unit.segment = 128;
          d.collective_unit.buffer = 256;
        }
        std::vector<Started> all;
        for (int op = 0; op < kCollectiveOps; ++op) {
          all.push_back({static_cast<CollectiveOp>(op),
                         op == static_cast<int>(CollectiveOp::all_gather) ? 52u : 3716u});
          all.back().root = 29;
        }
        all.push_back({CollectiveOp::all_reduce, 4, {5, 9, 17, 21}});        // a grid
        all.push_back({CollectiveOp::all_reduce, 1000, {70, 3, 11, 8, 2}});  // none: a flat ring
        const Outcome outcome = run(config, all);
        EXPECT_EQ(outcome.wrong, "") << to_string(order) << " " << element << " " << to_string(fidelity);
        for (const Picoseconds t : outcome.finished) EXPECT_NE(t, kNever);
        EXPECT_GT(outcome.elements, 72u * 900);
      }
    }
  }
}

TEST(InSwitch, BeatsAnythingThatTheMembersCouldDoAndKeepsToTheBound) {
  collectives::Group world;
  collectives::CollectiveRequest request;
  request.bytes = 1 << 30;
  request.group = &world;
  Config config = machine({{DimensionKind::switch_, 8}}, Fidelity::analytical);
  collectives::PlanBuilder plans(config);
  const Picoseconds once = transfer_time(request.bytes, config.dimensions[0].bandwidth);
  const Picoseconds bound = collectives::lower_bound(config, *plans.plan(request));
  EXPECT_LE(bound, once + 1000 * kNs);
  EXPECT_GE(bound + 10, once + 1000 * kNs);
  Config members = config;
  for (auto& names : members.collectives.algorithms) names.clear();
  collectives::PlanBuilder others(members);
  const Picoseconds twice = collectives::lower_bound(members, *others.plan(request));
  EXPECT_NEAR(static_cast<double>(twice - 1000 * kNs), 1.75 * static_cast<double>(once), 10.0);
}

TEST(InSwitch, UnitTimesFollowTheClosedForms) {
  DimensionConfig d = machine({{DimensionKind::switch_, 4}}, Fidelity::message).dimensions[0];
  const auto time = [&](CollectiveOp op, uint64_t bytes, uint64_t segment) {
    return collectives::unit_time(
        d, collectives::UnitLayout(op, 4, 0, collectives::Split::of(bytes, 4, 4), segment));
  };
  EXPECT_EQ(time(CollectiveOp::all_reduce, 40'000, 1 << 20), 1800 * kNs);
  EXPECT_EQ(time(CollectiveOp::all_reduce, 40'000, 10'000), 1500 * kNs);
  EXPECT_EQ(time(CollectiveOp::reduce_scatter, 160'000, 10'000), 2700 * kNs);
  EXPECT_EQ(time(CollectiveOp::all_gather, 160'000, 10'000), 2300 * kNs);
  EXPECT_EQ(time(CollectiveOp::scatter, 40'000, 1 << 20), 1400 * kNs);
  d.collective_unit.reduction_bandwidth = {200'000'000'000ull, 1};
  d.collective_unit.latency = 70 * kNs;
  EXPECT_EQ(time(CollectiveOp::all_reduce, 40'000, 10'000), 2070 * kNs);
}

TEST(InSwitch, AStallNamesTheSwitchTheBlockAndWhoIsMissing) {
  for (const Fidelity fidelity : kAll) {
    Config config = machine({{DimensionKind::switch_, 3}, {DimensionKind::switch_, 2}}, fidelity);
    config.dimensions[0].collective_unit.segment = 10'000;
    config.dimensions[0].collective_unit.buffer = 20'000;
    const Started what{CollectiveOp::all_reduce, 30'000, {3, 4, 5}, {0, kNever, 0}};
    const Outcome outcome = run(config, {what});
    ASSERT_EQ(outcome.finished.size(), 1u);
    EXPECT_EQ(outcome.finished[0], kNever);
    EXPECT_EQ(outcome.stall,
              "system.switch0_1.unit: collective 1 chunk 0 phase 0 block 0 (10000 B) waits for the "
              "contribution(s) of rank(s) 4\n"
              "system.switch0_1.unit: collective 1 chunk 0 phase 0 block 1 (10000 B) without buffer (10000 B "
              "are in use) waits for the contribution(s) of rank(s) 4\n"
              "system.switch0_1.unit: collective 1 chunk 0 phase 0 block 2 (10000 B) without buffer (10000 B "
              "are in use) waits for the contribution(s) of rank(s) 4\n");
  }
}

// A link of 100 GB/s carries a flit of 100 B in 1 ns, which is the routers' cycle.
Config packets(const std::vector<std::pair<DimensionKind, uint32_t>>& dimensions, uint64_t packet_bytes) {
  Config config = machine(dimensions, Fidelity::packet);
  config.packet.flit_bytes = 100;
  config.packet.packet_bytes = packet_bytes;
  for (DimensionConfig& d : config.dimensions) d.collective_unit.segment = packet_bytes;
  return config;
}

void expect_packet_time(const Config& config, const Started& what, Picoseconds expected) {
  const Outcome outcome = run(config, {what});
  EXPECT_EQ(outcome.wrong, "") << to_string(what.op);
  ASSERT_EQ(outcome.finished.size(), 1u);
  EXPECT_EQ(outcome.finished[0], expected) << to_string(what.op) << " of " << what.bytes;
}

// One packet of N flits. Each way: a router (3 cycles), the unit's interface (1) and N flits; a contribution
// has left the router wholly before its result enters it. Behind a router of its own, a member has that (3)
// and its interface (1) besides, both ways.
TEST(InSwitch, OnePacketOfEveryOperation) {
  const Config alone = packets({{DimensionKind::switch_, 4}}, 10'000);
  const auto form = [](uint64_t in, uint64_t out) { return (1000 + 2 * 4 + in + out) * kNs; };
  expect_packet_time(alone, {CollectiveOp::all_reduce, 10'000}, form(100, 100));
  expect_packet_time(alone, {CollectiveOp::all_reduce, 100}, form(1, 1));
  expect_packet_time(alone, {CollectiveOp::all_reduce, 104}, form(2, 2));
  expect_packet_time(alone, {CollectiveOp::reduce, 9'600, {}, {}, 2}, form(96, 96));
  expect_packet_time(alone, {CollectiveOp::broadcast, 9'600, {}, {}, 3}, form(96, 96));
  expect_packet_time(alone, {CollectiveOp::barrier, 0}, form(1, 1));
  // Four packets up one link, or three down one.
  expect_packet_time(alone, {CollectiveOp::reduce_scatter, 40'000}, form(400, 100));
  expect_packet_time(alone, {CollectiveOp::all_gather, 10'000}, form(100, 300));
  expect_packet_time(alone, {CollectiveOp::gather, 10'000, {}, {}, 1}, form(100, 300));
  expect_packet_time(alone, {CollectiveOp::scatter, 40'000, {}, {}, 1}, form(300, 100));
  const Config routed = packets({{DimensionKind::ring, 2}, {DimensionKind::switch_, 4}}, 10'000);
  expect_packet_time(routed, {CollectiveOp::all_reduce, 10'000, {1, 3, 5, 7}}, form(104, 104));
  // A link four times as slow as the routers: its first flit takes 3 cycles more, at both its ends.
  Config slow = alone;
  slow.packet.flit_bytes = 400;
  slow.packet.cycle = 1000;
  expect_packet_time(slow, {CollectiveOp::all_reduce, 4000}, form(10 * 4 + 3, 10 * 4 + 3));
  Config endpoints = alone;
  endpoints.nmu.endpoint_delay = 10 * kNs;
  endpoints.dimensions[0].collective_unit.latency = 70 * kNs;
  expect_packet_time(endpoints, {CollectiveOp::all_reduce, 10'000}, form(100, 100) + (2 * 10 + 70) * kNs);
}

TEST(InSwitch, PacketsPipelineThroughTheUnit) {
  const Config config = packets({{DimensionKind::switch_, 8}}, 1000);
  // All ports at their full rate at once; the last packet's result follows it.
  expect_packet_time(config, {CollectiveOp::all_reduce, 100'000}, (1000 + 2 * 4 + 1000 + 10) * kNs);
  expect_packet_time(config, {CollectiveOp::reduce_scatter, 80'000}, (1000 + 2 * 4 + 800 + 10) * kNs);
  expect_packet_time(config, {CollectiveOp::all_gather, 10'000}, (1000 + 2 * 4 + 10 + 700) * kNs);
  // Headers: 1000 B and 20 B are 11 flits.
  Config headers = config;
  headers.packet.header_bytes = 20;
  expect_packet_time(headers, {CollectiveOp::all_reduce, 100'000}, (1000 + 2 * 4 + 1100 + 11) * kNs);
  // Segments of ten packets are put together at the unit.
  Config segments = config;
  segments.dimensions[0].collective_unit.segment = 10'000;
  expect_packet_time(segments, {CollectiveOp::all_reduce, 100'000}, (1000 + 2 * 4 + 1000 + 100) * kNs);
  // .. and of so many that they may travel as a train.
  segments.dimensions[0].collective_unit.segment = 100'000;
  expect_packet_time(segments, {CollectiveOp::all_reduce, 1'000'000}, (1000 + 2 * 4 + 10'000 + 1000) * kNs);
}

TEST(InSwitch, TheUnitsOwnTimesForPackets) {
  const Config config = packets({{DimensionKind::switch_, 4}}, 10'000);
  const Started what{CollectiveOp::all_reduce, 40'000};
  Config changed = config;
  CollectiveUnitConfig& unit = changed.dimensions[0].collective_unit;
  // In at half the port's rate, while the packet arrives; at twice it, no time is lost.
  unit.ingress_bandwidth = {50'000'000'000ull, 1};
  expect_packet_time(changed, what, (1000 + 2 * 4 + 4 * 200 + 100) * kNs);
  unit.ingress_bandwidth = {200'000'000'000ull, 1};
  expect_packet_time(changed, what, (1000 + 2 * 4 + 4 * 100 + 100) * kNs);
  // 4 x 10,000 B at 200 GB/s: 200 ns a packet, slower than the ports.
  unit.ingress_bandwidth = {};
  unit.reduction_bandwidth = {200'000'000'000ull, 1};
  expect_packet_time(changed, what, (1000 + 2 * 4 + 100 + 4 * 200 + 100) * kNs);
  // One place for partial sums: a packet begins when the result before has left for the router.
  unit.reduction_bandwidth = {};
  unit.latency = 50 * kNs;
  unit.buffer = 10'000;
  expect_packet_time(changed, what, (1000 + 2 * 4 + 100 + 4 * (50 + 100)) * kNs);
  unit.buffer = 20'000;
  expect_packet_time(changed, what, (1000 + 2 * 4 + 400 + 50 + 100) * kNs);
}

// Everything on the network is a contribution or a result, and what a switch multicasts are packets of their
// own.
TEST(InSwitch, PacketsAreCountedOnEveryLink) {
  for (const bool routed : {false, true}) {
    std::vector<std::pair<DimensionKind, uint32_t>> dimensions{{DimensionKind::switch_, 4}};
    if (routed) dimensions.push_back({DimensionKind::ring, 2});
    Config config = packets(dimensions, 1000);
    config.packet.header_bytes = 8;
    config.run.element = "int32";
    const auto result = test::isolated([&] {
      test::SoloCollectiveJob job("job", config);
      job.start(CollectiveOp::all_reduce, 9'600);
      sc_core::sc_start();
      const RunResult run = job.result();
      const Machine::Totals totals = job.machine().totals();
      const TimeSums& split = run.collectives[0].split;
      std::string text = fmt::format("in {} {} out {} {}", totals.unit_messages_in, totals.unit_bytes_in,
                                     totals.unit_messages_out, totals.unit_bytes_out);
      if (!routed) text += fmt::format(", {} {} {}", split.queue, split.serialise, split.latency);
      for (const LinkRow& link : run.links) {
        if (link.dimension != 0) continue;
        text += fmt::format("\n{} {} {} {}", link.name, link.to, link.bytes, link.busy);
      }
      for (const std::string& broken : run.broken_invariants) text += "\n" + broken;
      for (const std::string& warning : job.machine().warnings()) text += "\n" + warning;
      return text;
    });
    EXPECT_EQ(result.status, 0);
    std::string expected;
    if (!routed) {
      // Nine packets of 11 flits and one of 7. The k-th waits for those before it at its NPU; the last one's
      // result waits for the longer one before it.
      const uint64_t queue = 4 * (11 * 45 + 11 - 7);
      const uint64_t flits = 4 * 2 * (9 * 11 + 7);
      expected = fmt::format("in 40 38400 out 40 38400, {} {} {}", queue * kNs, flits * kNs,
                             40 * 2 * (500 + 4) * kNs);
      for (int r = 0; r < 4; ++r) expected += fmt::format("\njob.packet0_0.ni_{} switch0_0 10600 106000", r);
      for (int r = 0; r < 4; ++r)
        expected += fmt::format("\njob.packet0_0.switch0_0.to{0} nmu{0} 10600 106000", r);
    } else {
      // A reduce-scatter of four blocks of 11, 11 and 5 flits and, behind the ring, their all-gather.
      expected = "in 120 96000 out 96 76800";
      for (int r = 0; r < 8; ++r)
        expected += fmt::format("\njob.packet0_0.router{}.d0_up switch0_{} 13500 135000", r, r / 4);
      for (int r = 0; r < 8; ++r)
        expected += fmt::format("\njob.packet0_0.switch0_{0}.to{1} router{1} 10800 108000", r / 4, r);
    }
    EXPECT_EQ(result.text, expected);
  }
}

std::string refusal(const Config& config, CollectiveOp op, uint64_t bytes) {
  try {
    collectives::Group world;
    collectives::CollectiveRequest request;
    request.op = op;
    request.bytes = bytes;
    request.group = &world;
    collectives::PlanBuilder(config).plan(request);
  } catch (const UserError& error) {
    return error.what();
  }
  return "none";
}

TEST(InSwitch, RefusesWhatASwitchCannotDo) {
  Config config = machine({{DimensionKind::ring, 4}, {DimensionKind::switch_, 2}}, Fidelity::message);
  config.collectives.algorithms[0] = {"in_switch", "in_switch"};
  EXPECT_NE(refusal(config, CollectiveOp::all_reduce, 100).find("in_switch needs a Switch dimension"),
            std::string::npos);
  config.collectives.algorithms[0] = {"", "in_switch"};
  EXPECT_EQ(refusal(config, CollectiveOp::all_reduce, 100), "none");
  config.mapping = {1, 0, 2, 3, 4, 5, 6, 7};
  EXPECT_NE(refusal(config, CollectiveOp::all_reduce, 100).find("are not where the physical ones are"),
            std::string::npos);
  config.mapping.clear();
  config.collectives.algorithms[static_cast<size_t>(CollectiveOp::all_to_all)] = {"", "in_switch"};
  EXPECT_NE(refusal(config, CollectiveOp::all_to_all, 100).find("use direct"), std::string::npos);
  config.dimensions[1].collective_unit.segment = 64;
  EXPECT_NE(refusal(config, CollectiveOp::all_reduce, 1ull << 40).find("collective_unit.segment"),
            std::string::npos);
}

TEST(InSwitch, TheExampleRunsFasterThanItsMembersAmongThemselves) {
  Config config = load_config(weft::test::source_dir() + "/configs/examples/in_switch.yaml");
  config.run.data = "functional";
  const std::vector<Started> all{{CollectiveOp::all_reduce, 1 << 20}};
  const Outcome outcome = run(config, all);
  EXPECT_EQ(outcome.wrong, "");
  EXPECT_EQ(outcome.elements, 32u * (1 << 18));
  for (auto& names : config.collectives.algorithms) names.clear();
  const Outcome members = run(config, all);
  EXPECT_EQ(members.wrong, "");
  EXPECT_LT(outcome.finished[0], members.finished[0]);
}

TEST(InSwitch, IsNotFolded) {
  const Config config = machine({{DimensionKind::switch_, 8}}, Fidelity::analytical);
  collectives::Group world;
  collectives::CollectiveRequest request;
  request.bytes = 1 << 20;
  request.group = &world;
  EXPECT_EQ(collectives::PlanBuilder(config).plan(request)->asymmetry(config),
            "the collective units of dimension 0's switches take part (in_switch)");
}

/// A payload that reaches the switch wrong makes the result wrong, at all members.
class Liar final : public collectives::InputSource {
 public:
  void fill(const collectives::InputKey& key, uint64_t first, uint64_t count, std::byte* out) const override {
    for (uint64_t k = 0; k < count; ++k) {
      const auto value = static_cast<int32_t>(key.rank == 2 && first + k == 17 ? 100 + ++calls_ : 1);
      std::memcpy(out + k * 4, &value, 4);
    }
  }

 private:
  mutable int calls_ = 0;
};

TEST(InSwitch, JobsReportLinksCountsAndWrongData) {
  for (const Fidelity fidelity : kBoth) {
    Config config = machine({{DimensionKind::switch_, 4}}, fidelity);
    config.run.element = "int32";
    config.dimensions[0].collective_unit.segment = 10'000;
    const auto result = test::isolated([&] {
      test::SoloCollectiveJob job("job", config);
      job.start(CollectiveOp::all_reduce, 40'000);
      sc_core::sc_start();
      const RunResult run = job.result();
      const Machine::Totals totals = job.machine().totals();
      std::string text = fmt::format("{} {} in {} {} out {} {}", run.messages,
                                     run.collectives[0].message_bytes, totals.unit_messages_in,
                                     totals.unit_bytes_in, totals.unit_messages_out, totals.unit_bytes_out);
      for (const LinkRow& link : run.links)
        text += fmt::format(", {} {} {} {}", link.name, link.to, link.bytes, link.busy);
      const TimeSums& split = run.collectives[0].split;
      text += fmt::format(", {} {} {}", split.queue, split.serialise, split.latency);
      for (const std::string& line : run.broken_invariants) text += line;
      return text;
    });
    EXPECT_EQ(result.status, 0);
    std::string expected = "16 160000 in 16 160000 out 16 160000";
    for (int r = 0; r < 4; ++r) expected += fmt::format(", job.nmu{}.d0_up switch0_0 40000 400000", r);
    for (int r = 0; r < 4; ++r) expected += fmt::format(", job.switch0_0.to{0} nmu{0} 40000 400000", r);
    // Segments queue 0, 1, 2 and 3 times 100 ns for the way up; up and down take 200 ns and 1000 ns.
    expected += fmt::format(", {} {} {}", 4 * 600 * kNs, 16 * 200 * kNs, 16 * 1000 * kNs);
    EXPECT_EQ(result.text, expected);
    const auto lied = test::isolated([&] {
      test::SoloCollectiveJob job("job", config);
      job.machine().data()->set_source(std::make_unique<Liar>());
      job.start(CollectiveOp::all_reduce, 400);
      sc_core::sc_start();
      return job.result().broken_invariants.empty() ? std::string("nothing")
                                                    : job.result().broken_invariants.front();
    });
    EXPECT_NE(lied.text.find("delivered wrong data: rank 0, chunk 0, element 17: expected 105"),
              std::string::npos)
        << lied.text;
  }
}

}  // namespace
}  // namespace weft
