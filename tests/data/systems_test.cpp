// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Collectives with real data on simulated machines: every algorithm x operation x kind of dimension x
// fidelity x group shape x odd size, 500 random systems, and what a job says when the data is wrong. Each
// batch of systems shares one simulation in a process of its own.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <set>
#include <string>

#include "tests/data/cases.h"
#include "tests/support/isolated.h"
#include "tests/support/solo_job.h"
#include "workload/collectives/data_check.h"

namespace weft {
namespace {

using test::DataCase;
using test::GroupShape;

struct Running final : NmuClient {
  DataCase c;
  std::unique_ptr<Machine> system;
  std::unique_ptr<collectives::PlanBuilder> plans;
  std::unique_ptr<collectives::DataCheck> check;
  std::shared_ptr<const collectives::CollectivePlan> plan;
  uint32_t done = 0;
  std::string wrong;

  void start(uint32_t number) {
    system =
        std::make_unique<Machine>(fmt::format("s{}", number).c_str(), c.config, *this, Machine::Options{});
    plans = std::make_unique<collectives::PlanBuilder>(c.config);
    check = std::make_unique<collectives::DataCheck>(*system->data());
    c.request.group = &c.group;
    plan = plans->plan(c.request);
    for (uint32_t r = 0; r < system->npus(); ++r) {
      if (plan->member_index(r) != ~0u) system->nmu(r).start_collective(1, plan);
    }
  }
  void collective_done(NpuId, const collectives::CollectiveDone& d) override {
    ++done;
    if (!d.data) return;
    const std::string line = check->check(*d.data);
    if (wrong.empty()) wrong = line;
  }
  void message_injected(NpuId, NpuId, const MessageId&) override {}
  void message_arrived(NpuId, const Completion&) override {}

  std::string failure() const {
    if (done != plan->members()) return fmt::format("{} of {} ranks finished", done, plan->members());
    if (!wrong.empty()) return wrong;
    const auto broken = system->check_conservation();
    return broken.empty() ? std::string{} : broken.front();
  }
};

/// Runs the cases in one simulation; a line a failure, then the number of elements compared.
std::string run_all(std::vector<DataCase> cases) {
  std::vector<std::unique_ptr<Running>> all;
  for (DataCase& c : cases) {
    all.push_back(std::make_unique<Running>());
    all.back()->c = std::move(c);
    all.back()->start(static_cast<uint32_t>(all.size()));
  }
  bool again = true;
  while (again) {
    sc_core::sc_start();
    again = false;
    for (const auto& r : all) {
      if (r->done != r->plan->members()) again = r->system->rescue() || again;
    }
  }
  std::string text;
  uint64_t elements = 0;
  for (const auto& r : all) {
    const std::string failure = r->failure();
    if (!failure.empty()) text += failure + ": " + r->c.text() + "\n";
    elements += r->check->elements();
  }
  return text + fmt::format("elements {}", elements);
}

/// In batches, each in its own process. Returns the elements compared.
uint64_t run_isolated(const std::vector<DataCase>& cases) {
  constexpr size_t kBatch = 100;
  uint64_t elements = 0;
  for (size_t at = 0; at < cases.size(); at += kBatch) {
    const std::vector<DataCase> batch(
        cases.begin() + static_cast<std::ptrdiff_t>(at),
        cases.begin() + static_cast<std::ptrdiff_t>(std::min(at + kBatch, cases.size())));
    const auto result = test::isolated([&] { return run_all(batch); });
    EXPECT_EQ(result.status, 0) << result.text;
    EXPECT_EQ(result.text.rfind("elements ", 0), 0u) << result.text;
    if (result.text.rfind("elements ", 0) == 0) elements += std::stoull(result.text.substr(9));
  }
  return elements;
}

TEST(DataSystems, EveryAlgorithmOperationTopologyFidelityAndShape) {
  std::mt19937_64 random(3);
  // The second Switch becomes a tree.
  static const DimensionKind kKinds[] = {DimensionKind::ring, DimensionKind::fully_connected,
                                         DimensionKind::switch_, DimensionKind::mesh, DimensionKind::switch_};
  const std::vector<std::vector<uint32_t>> sizes = {{2}, {7}, {8}, {4, 3}, {2, 4, 2}, {2, 3, 2, 2}};
  std::vector<DataCase> cases;
  for (int o = 0; o < kCollectiveOps; ++o) {
    const auto op = static_cast<CollectiveOp>(o);
    for (const auto& shape : sizes) {
      for (size_t first = 0; first < 5; ++first) {
        for (const Fidelity fidelity : {Fidelity::analytical, Fidelity::message, Fidelity::packet}) {
          for (const GroupShape group :
               {GroupShape::all, GroupShape::grid, GroupShape::line, GroupShape::irregular}) {
            DataCase c;
            std::vector<DimensionKind> kinds;
            for (size_t d = 0; d < shape.size(); ++d) kinds.push_back(kKinds[(first + d) % 5]);
            c.config = test::machine(kinds, shape, fidelity);
            for (size_t d = 0; d < shape.size(); ++d)
              if ((first + d) % 5 == 4)
                test::make_random_tree(c.config.dimensions[d], test::tree_of(shape[d]), random);
            c.config.collectives.chunks = 3;
            c.config.collectives.order = static_cast<CollectiveOrder>(cases.size() % kCollectiveOrders);
            c.config.collectives.queues_per_dimension = 1 + cases.size() / 2 % 2;
            c.group.id = 1;
            c.group.ranks = test::group_of(c.config, group, random);
            static const uint64_t kElements[] = {1, 2, 5, 64, 97, 203};
            test::set_request(c, op, kElements[random() % 6], random);
            // Algorithms take turns over the cases, where the machine's own dimensions allow them.
            if (cases.size() % 3 != 0) test::choose_algorithms(c, random(), true);
            cases.push_back(c);
          }
        }
      }
    }
  }
  EXPECT_EQ(cases.size(), 9u * 6 * 5 * 3 * 4);
  EXPECT_GT(run_isolated(cases), 500000u);
}

/// Nothing left to chance: every algorithm (flat ones, too) x operation it has x kind of dimension x fidelity
/// x group shape, with sizes of groups and data that nothing divides.
TEST(DataSystems, EveryCombination) {
  static const DimensionKind kKinds[] = {DimensionKind::ring, DimensionKind::fully_connected,
                                         DimensionKind::switch_, DimensionKind::mesh};
  // In the fifth round a tree under a Ring.
  std::vector<std::string> names;
  for (const auto* algorithm : collectives::all_algorithms()) {
    names.emplace_back(algorithm->name());
    if (collectives::find_flat_algorithm(std::string("one_") + algorithm->name()) != nullptr)
      names.push_back(std::string("one_") + algorithm->name());
  }
  std::mt19937_64 random(12);
  std::vector<DataCase> cases;
  std::set<std::pair<std::string, int>> pairs;
  for (const std::string& name : names) {
    const auto* flat = collectives::find_flat_algorithm(name);
    const auto* algorithm = flat != nullptr ? flat : collectives::find_algorithm(name);
    for (int o = 0; o < kCollectiveOps; ++o) {
      const auto op = static_cast<CollectiveOp>(o);
      if (!algorithm->refuses(op, 5).empty()) continue;
      for (size_t k = 0; k < 5; ++k) {
        for (const Fidelity fidelity : {Fidelity::analytical, Fidelity::message, Fidelity::packet}) {
          for (const GroupShape group :
               {GroupShape::all, GroupShape::grid, GroupShape::line, GroupShape::irregular}) {
            DataCase c;
            c.config = test::machine({kKinds[k % 4], kKinds[(k + 1) % 4]}, {5, 3}, fidelity);
            if (k == 4) {
              c.config = test::machine({DimensionKind::switch_, DimensionKind::ring}, {6, 3}, fidelity);
              test::make_random_tree(c.config.dimensions[0], test::tree_of(6), random);
            }
            c.config.collectives.chunks = 2;
            c.config.collectives.order = static_cast<CollectiveOrder>(cases.size() % kCollectiveOrders);
            c.config.collectives.algorithms[static_cast<size_t>(o)].assign(2, name);
            c.group.id = 1;
            do {
              c.group.ranks = test::group_of(c.config, group, random);
            } while (c.group.ranks.size() == 1);
            test::set_request(c, op, 97, random);
            cases.push_back(c);
            pairs.insert({name, o});
          }
        }
      }
    }
  }
  EXPECT_GE(pairs.size(), 2u * (9 + 9 + 4 + 4)) << "of algorithms and operations";
  EXPECT_EQ(cases.size(), pairs.size() * 5 * 3 * 4);
  EXPECT_GT(run_isolated(cases), 500000u);
}

TEST(DataSystems, FiveHundredRandomSystems) {
  std::mt19937_64 random(20240608);
  std::vector<DataCase> cases;
  for (int i = 0; i < 500; ++i) cases.push_back(test::random_case(random, true));
  ASSERT_GE(cases.size(), 500u);
  EXPECT_GT(run_isolated(cases), 500000u);
  // Every scheduler and element type is among them.
  std::set<int> orders, schedulings, within;
  std::set<std::string> elements;
  for (const DataCase& c : cases) {
    orders.insert(static_cast<int>(c.config.collectives.order));
    schedulings.insert(static_cast<int>(c.config.collectives.scheduling));
    within.insert(static_cast<int>(c.config.collectives.dimension_scheduling));
    elements.insert(c.config.run.element + c.config.run.reduce);
  }
  EXPECT_EQ(orders.size(), static_cast<size_t>(kCollectiveOrders));
  EXPECT_EQ(schedulings.size(), 3u);
  EXPECT_EQ(within.size(), 4u);
  EXPECT_EQ(elements.size(), 9u);
}

TEST(DataSystems, RandomSystemsWhoseSwitchesReduce) {
  std::mt19937_64 random(7);
  std::vector<DataCase> cases;
  // More of them, to look for trouble: WEFT_RANDOM_SYSTEMS.
  const char* more = std::getenv("WEFT_RANDOM_SYSTEMS");
  const size_t count = more != nullptr ? std::strtoul(more, nullptr, 10) : 300;
  while (cases.size() < count) {
    DataCase c = test::random_case(random, true);
    auto& names = c.config.collectives.algorithms[static_cast<size_t>(c.request.op)];
    names.clear();
    for (const DimensionConfig& d : c.config.dimensions) {
      const bool unit = d.kind == DimensionKind::switch_ && d.tree == nullptr && d.size > 1;
      names.emplace_back(unit ? "in_switch" : "");
    }
    const bool any = std::find(names.begin(), names.end(), "in_switch") != names.end();
    if (any && c.request.op != CollectiveOp::all_to_all) cases.push_back(std::move(c));
  }
  EXPECT_GT(run_isolated(cases), count * 500);
}

/// Every second time an input is asked for it is another one: what was computed with is not what is expected.
class Liar final : public collectives::InputSource {
 public:
  void fill(const collectives::InputKey& key, uint64_t first, uint64_t count, std::byte* out) const override {
    for (uint64_t k = 0; k < count; ++k) {
      const auto value = static_cast<int32_t>(key.rank == 5 && first + k == 17 ? 100 + ++calls_ : 1);
      std::memcpy(out + k * 4, &value, 4);
    }
  }

 private:
  mutable int calls_ = 0;
};

Config four_by_two(const std::string& element) {
  Config config = test::machine({DimensionKind::ring, DimensionKind::switch_}, {4, 2}, Fidelity::message);
  config.collectives.chunks = 4;
  config.run.element = element;
  config.file = "machine.yaml";
  return config;
}

std::string run_job(const Config& config, const std::function<void(CollectiveJob&)>& start) {
  test::SoloCollectiveJob job("job", config);
  start(job);
  test::run_to_the_end(job);
  const RunResult result = job.result();
  std::string text =
      fmt::format("{} collectives {} elements\n", result.data_collectives, result.data_elements);
  for (const auto& line : result.broken_invariants) text += line + "\n";
  return text;
}

TEST(DataJobs, CountWhatTheyHaveVerified) {
  const Config config = four_by_two("bf16");
  const auto result = test::isolated([&] {
    return run_job(config, [](CollectiveJob& job) {
      job.start(CollectiveOp::all_reduce, 200);
      job.start(CollectiveOp::all_gather, 20);
      job.start(CollectiveOp::barrier, 0);
      job.start(CollectiveOp::all_to_all, 160);
    });
  });
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.text, fmt::format("3 collectives {} elements\n", 8 * 100 + 8 * 80 + 8 * 80));
}

TEST(DataJobs, NoneCarriesNothing) {
  Config config = four_by_two("fp32");
  config.run.data = "none";
  const auto result = test::isolated(
      [&] { return run_job(config, [](CollectiveJob& job) { job.start(CollectiveOp::all_reduce, 201); }); });
  EXPECT_EQ(result.text, "0 collectives 0 elements\n");
}

TEST(DataJobs, WrongDataIsABrokenInvariant) {
  const Config config = four_by_two("int32");
  const auto result = test::isolated([&] {
    return run_job(config, [](CollectiveJob& job) {
      job.machine().data()->set_source(std::make_unique<Liar>());
      job.start(CollectiveOp::all_reduce, 128);
    });
  });
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.text.find("1 collectives 256 elements"), std::string::npos) << result.text;
  EXPECT_NE(result.text.find("collective 1 (all_reduce, 128 B, group ``) delivered wrong data: rank "),
            std::string::npos)
      << result.text;
  EXPECT_NE(result.text.find("chunk 2, element 17: expected 109 (0x0000006d), got 108 (0x0000006c)"),
            std::string::npos)
      << result.text;
}

TEST(DataJobs, RefuseHalfElements) {
  const Config config = four_by_two("fp32");
  const auto result = test::isolated(
      [&] { return run_job(config, [](CollectiveJob& job) { job.start(CollectiveOp::all_reduce, 202); }); });
  EXPECT_EQ(result.status, 99);
  EXPECT_NE(result.text.find("machine.yaml: collective 1 (all_reduce): 202 B are not a whole number of fp32 "
                             "elements (4 B each)"),
            std::string::npos)
      << result.text;
}

}  // namespace
}  // namespace weft
