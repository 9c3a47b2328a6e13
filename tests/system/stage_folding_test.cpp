// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Folding of jobs with point-to-point messages: pipelines whose stages are classes, rings of messages within
// a class, at `analytical` fidelity and on Switch and Ring dimensions at `message` fidelity.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "tests/system/folding_jobs.h"
#include "workload/graph/folding.h"

namespace weft {
namespace {

using test::attribute;
using test::collective;
using test::compute;
using test::dimension;
using test::JobFiles;
using test::Outcome;
using test::PbNode;
using test::Random;
using test::run;

uint32_t stride(const Config& config, uint32_t d) {
  uint32_t s = 1;
  for (uint32_t i = 0; i < d; ++i) s *= config.dimensions[i].size;
  return s;
}

uint32_t coordinate(const Config& config, uint32_t rank, uint32_t d) {
  return rank / stride(config, d) % config.dimensions[d].size;
}

/// The rank with the coordinate moved on by so much, round the dimension.
uint32_t moved(const Config& config, uint32_t rank, uint32_t d, uint32_t by) {
  const uint32_t n = config.dimensions[d].size;
  const uint32_t c = coordinate(config, rank, d);
  return rank + ((c + by) % n) * stride(config, d) - c * stride(config, d);
}

Config random_machine(Random& random, bool messages) {
  Config config;
  const uint64_t dims = random.pick(1, 2, 2, 2, 3);
  uint32_t npus = 1;
  for (uint64_t d = 0; d < dims; ++d) {
    const auto size = static_cast<uint32_t>(random.pick(2, 3, 4, 4, npus > 12 ? 2 : 8));
    const DimensionKind kinds[] = {DimensionKind::ring, DimensionKind::fully_connected,
                                   DimensionKind::switch_};
    const bool stepwise = messages && random.below(3) != 0;
    const DimensionKind kind =
        stepwise || random.below(3) == 0 ? DimensionKind::switch_ : kinds[random.below(3)];
    config.dimensions.push_back(
        dimension(kind, size, random.pick(25, 50, 200), random.pick(0, 500000, 1234567)));
    DimensionConfig& last = config.dimensions.back();
    if (stepwise) last.fidelity = Fidelity::message;
    last.switching = random.below(2) == 0 ? Switching::cut_through : Switching::store_and_forward;
    npus *= size;
  }
  auto& c = config.collectives;
  if (random.below(3) != 0) {
    for (auto& algorithms : c.algorithms) {
      for (size_t d = 0; d < dims; ++d) algorithms.emplace_back(random.below(2) == 0 ? "ring" : "direct");
    }
  }
  c.chunks = static_cast<uint32_t>(random.pick(1, 2, 4));
  c.active_chunks_per_dimension = static_cast<uint32_t>(random.pick(1, 1, 2));
  c.queues_per_dimension = static_cast<uint32_t>(random.pick(1, 1, 2));
  c.order = static_cast<CollectiveOrder>(random.below(4));
  c.scheduling = static_cast<CollectiveScheduling>(random.below(3));
  config.nmu.endpoint_delay = random.pick(0, 0, 10000);
  config.nmu.injection_queue = static_cast<uint32_t>(random.pick(0, 0, 0, 2));
  if (random.below(5) == 0) {
    c.reduction = ReductionKind::fixed_bandwidth;
    c.reduction_bandwidth = {1600000000000ull, 1};
  }
  config.hbm.bandwidth = {2000000000000ull, 1};
  config.npu.compute_slots = static_cast<uint32_t>(random.pick(1, 2));
  return config;
}

/// Most dimensions are Rings at message fidelity.
Config rings_machine(Random& random) {
  Config config = random_machine(random, random.below(2) == 0);
  for (DimensionConfig& d : config.dimensions) {
    if (random.below(3) == 0) continue;
    d.kind = DimensionKind::ring;
    d.fidelity = Fidelity::message;
  }
  for (auto& algorithms : config.collectives.algorithms)
    for (size_t d = 0; d < algorithms.size(); ++d)
      if (config.dimensions[d].kind == DimensionKind::ring && random.below(8) != 0) algorithms[d] = "ring";
  return config;
}

/// Switches at message fidelity, a dimension more than stages and groups whose members differ need.
Config switches_machine(Random& random) {
  Config config = random_machine(random, true);
  config.dimensions.clear();
  for (auto& algorithms : config.collectives.algorithms) algorithms.clear();
  const bool power_of_two = random.below(2) == 0;
  for (int d = 0; d < 3; ++d) {
    const auto size = static_cast<uint32_t>(power_of_two ? random.pick(2, 4, 4) : random.pick(2, 3, 4));
    config.dimensions.push_back(
        dimension(DimensionKind::switch_, size, random.pick(25, 50, 200), random.pick(0, 500000, 1234567)));
    config.dimensions.back().fidelity = Fidelity::message;
    config.dimensions.back().switching =
        random.below(2) == 0 ? Switching::cut_through : Switching::store_and_forward;
    for (auto& algorithms : config.collectives.algorithms)
      algorithms.emplace_back(random.below(3) == 0   ? "halving_doubling"
                              : random.below(2) == 0 ? "ring"
                                                     : "direct");
  }
  for (auto& name : config.collectives.algorithms[static_cast<size_t>(CollectiveOp::all_to_all)])
    name = "direct";
  return config;
}

/// What makes ranks of a class differ.
struct Differences {
  bool odd = false;        ///< a message of one rank only is larger
  bool uneven = false;     ///< collectives whose size does not divide by their members
  bool across = false;     ///< collectives of ranks of several stages
  bool straggler = false;  ///< some compute of one rank takes longer
  uint32_t step = 1;       ///< of messages round another dimension
};

/// Programs of stages along one dimension: compute, collectives of the other dimensions, messages between
/// stages and, sometimes, round another dimension.
class Stages {
 public:
  Stages(Random& random, const Config& config, JobFiles& files)
      : random_(random), config_(config), files_(files), ids_(files.ranks(), 0) {
    stage_dimension_ = static_cast<uint32_t>(random.below(config.dimensions.size()));
    rings_ = random.below(4) == 0;
    corners_ = random.below(4) == 0;
    if (random.below(3) != 0) stage_dimension_ = static_cast<uint32_t>(config.dimensions.size()) - 1;
  }

  void write(const Differences& differ) {
    differ_ = differ;
    const uint64_t steps = 8 + random_.below(16);
    const uint64_t odd_step = differ.odd ? random_.below(steps) : steps;
    slow_ = differ.straggler ? static_cast<uint32_t>(random_.below(files_.ranks())) : files_.ranks();
    for (uint64_t i = 0; i < steps; ++i) {
      const uint64_t kind = i == odd_step ? 3 : random_.below(rings_ ? 8 : 7);
      deps_ = random_.below(3);
      if (kind < 2)
        compute_step();
      else if (kind == 2)
        collective_step();
      else if (kind < 7)
        message_step(i == odd_step);
      else
        ring_step();
    }
    files_.write();
  }

 private:
  uint32_t stage(uint32_t rank) const { return coordinate(config_, rank, stage_dimension_); }
  uint32_t stages() const { return config_.dimensions[stage_dimension_].size; }

  /// The same draw for all ranks of a stage, whatever they have drawn before.
  std::vector<uint64_t> after(uint32_t rank, uint64_t draw) const {
    const uint64_t id = ids_[rank];  // the last one
    if (id == 0 || deps_ == 0) return {};
    if (deps_ == 1) return {id};
    return {1 + draw % id, id};
  }
  /// Messages of one tag have one size: they may overtake each other in no other order than that of starts.
  static uint64_t bytes_of(uint64_t tag) { return 1000 * (1 + tag * 7919 % 3000); }
  uint64_t next(uint32_t rank) { return ++ids_[rank]; }

  void compute_step() {
    const uint32_t at = static_cast<uint32_t>(random_.below(stages() + 1));  // stages(): all
    const uint64_t micros = random_.below(40);
    const uint64_t draw = random_.below(1000);
    for (uint32_t r = 0; r < files_.ranks(); ++r) {
      if (at != stages() && stage(r) != at) continue;
      const auto deps = after(r, draw);
      files_.trace(r).push_back(compute(next(r), r == slow_ ? micros + micros / 2 : micros, deps));
    }
  }

  void collective_step() {
    const auto dims = static_cast<uint32_t>(config_.dimensions.size());
    if (dims == 1) return compute_step();
    uint32_t mask = static_cast<uint32_t>(1 + random_.below((1u << dims) - 1));
    mask &= ~(1u << stage_dimension_);
    if (mask == 0) mask = stage_dimension_ == 0 ? 2 : 1;
    uint32_t at = static_cast<uint32_t>(random_.below(stages() + 1));
    if (differ_.uneven || differ_.across) {
      // Members of groups along the first other dimension may differ, those along the second are alike.
      const uint32_t first = stage_dimension_ == 0 ? 1 : 0;
      mask = random_.below(2) == 0 ? 1u << first
                                   : ((1u << dims) - 1) & ~(1u << first) & ~(1u << stage_dimension_);
      if (differ_.across && random_.below(3) == 0) {
        mask = 1u << stage_dimension_;
        at = stages();
      }
    }
    const auto op = static_cast<CollectiveOp>(random_.below(4));
    uint64_t bytes = 64ull * 27 * 7 * (1 + random_.below(200));
    if (differ_.uneven && (mask & (stage_dimension_ == 0 ? 2u : 1u)) != 0) bytes += 1 + random_.below(3);
    const uint64_t draw = random_.below(1000);
    for (uint32_t r = 0; r < files_.ranks(); ++r) {
      if (at != stages() && stage(r) != at) continue;
      const auto deps = after(r, draw);
      files_.trace(r).push_back(collective(next(r), op, bytes, files_.group(mask, r), deps));
    }
  }

  void send(uint32_t from, uint32_t to, uint64_t bytes, uint64_t draw) {
    const uint64_t tag = tag_;
    PbNode s = trace::test::send(ids_[from] + 1, to, bytes, tag);
    for (const uint64_t d : after(from, draw)) s.add_data_deps(d);
    next(from);
    files_.trace(from).push_back(s);
    PbNode r = trace::test::receive(ids_[to] + 1, from, bytes, tag);
    for (const uint64_t d : after(to, draw)) r.add_data_deps(d);
    next(to);
    files_.trace(to).push_back(r);
  }

  void message_step(bool odd) {
    const uint32_t at = static_cast<uint32_t>(random_.below(stages()));
    const uint32_t by = random_.below(4) != 0 ? 1 : stages() - 1;
    tag_ = 1 + (random_.below(3) == 0 ? tag_ / 2 : tag_) % 1000;
    const uint64_t bytes = bytes_of(tag_);
    const uint64_t draw = random_.below(1000);
    const auto turn = static_cast<uint32_t>(random_.below(config_.dimensions.size() * 6));
    for (uint32_t r = 0; r < files_.ranks(); ++r) {
      if (stage(r) != at) continue;
      uint32_t to = moved(config_, r, stage_dimension_, by);
      if (corners_ && turn < config_.dimensions.size() && turn != stage_dimension_)
        to = moved(config_, to, turn, 1);
      send(r, to, odd && r == at * stride(config_, stage_dimension_) ? bytes + 4096 : bytes, draw);
    }
  }

  /// Every rank sends to the next one of another dimension, or one farther away.
  void ring_step() {
    const auto d = static_cast<uint32_t>(random_.below(config_.dimensions.size()));
    const uint32_t size = config_.dimensions[d].size;
    const uint32_t by = std::min(differ_.step, size - 1);
    const uint64_t tag = 1001 + random_.below(3);
    const uint64_t bytes = bytes_of(tag);
    const uint64_t draw = random_.below(1000);
    const std::vector<uint64_t> last = ids_;
    for (uint32_t r = 0; r < files_.ranks(); ++r) {
      PbNode s = trace::test::send(last[r] + 1, moved(config_, r, d, by), bytes, tag);
      for (const uint64_t dep : after(r, draw)) s.add_data_deps(dep);
      files_.trace(r).push_back(s);
      const uint32_t from = moved(config_, r, d, size - by);
      PbNode w = trace::test::receive(last[r] + 2, from, bytes, tag);
      for (const uint64_t dep : after(r, draw)) w.add_data_deps(dep);
      files_.trace(r).push_back(w);
    }
    for (uint64_t& id : ids_) id += 2;
  }

  Random& random_;
  const Config& config_;
  JobFiles& files_;
  uint32_t stage_dimension_ = 0;
  uint64_t deps_ = 0;
  bool rings_ = false;    ///< messages round dimensions, too
  bool corners_ = false;  ///< messages to another stage and another place in it
  uint64_t tag_ = 0;
  Differences differ_;
  uint32_t slow_ = 0;          ///< the straggler
  std::vector<uint64_t> ids_;  ///< by rank: the last one
};

struct Folded {
  int all = 0;
  int joined = 0;  ///< of them those with collectives among the ranks that are simulated
};

/// Runs drawn jobs folded and not. Returns how many folded.
Folded compare(uint32_t seeds, uint32_t first, const std::function<Config(Random&)>& machine,
               const std::function<Differences(Random&)>& differences) {
  Folded folded;
  for (uint32_t seed = first; seed < first + seeds; ++seed) {
    Random random(seed);
    const Config config = machine(random);
    JobFiles files(config);
    Stages stages(random, config, files);
    stages.write(differences(random));
    const Outcome fold = run(config, files, true);
    const Outcome all = run(config, files, false);
    // Stages may wait for each other for ever; the report then names ranks that are simulated.
    const auto stalled_at = [](const Outcome& outcome) {
      return outcome.folding.substr(0, outcome.folding.find(':'));
    };
    if (all.folding.rfind("stalled", 0) == 0) {
      EXPECT_EQ(stalled_at(fold), stalled_at(all)) << "seed " << seed;
      continue;
    }
    const uint32_t simulated = static_cast<uint32_t>(std::atoi(fold.folding.c_str()));
    if (simulated < config.npus()) {
      ++folded.all;
      if (!graph::Folding(config, files.open()).joined().empty()) ++folded.joined;
    }
    EXPECT_EQ(fold.told, all.told) << "seed " << seed << ", " << config.npus() << " ranks, " << fold.folding;
    if (testing::Test::HasFailure()) break;
  }
  return folded;
}

Differences odd_at_times(Random& random) {
  Differences differ;
  differ.odd = random.below(4) == 0;
  return differ;
}

Differences any_difference(Random& random) {
  Differences differ;
  differ.odd = random.below(8) == 0;
  differ.uneven = random.below(2) == 0;
  differ.across = random.below(2) == 0;
  differ.straggler = random.below(8) == 0;
  return differ;
}

TEST(StageFolding, AnalyticalJobsWithMessagesAreToldToThePicosecond) {
  const auto machine = [](Random& random) { return random_machine(random, false); };
  EXPECT_GT(compare(300, 0, machine, odd_at_times).all, 80);
}

TEST(StageFolding, SwitchesAtMessageFidelityAreToldToThePicosecond) {
  const auto machine = [](Random& random) { return random_machine(random, true); };
  EXPECT_GT(compare(300, 500000, machine, odd_at_times).all, 80);
}

TEST(StageFolding, RingsAtMessageFidelityAreToldToThePicosecond) {
  const auto differences = [](Random& random) {
    Differences differ = odd_at_times(random);
    differ.step = random.below(4) == 0 ? 2 : 1;
    return differ;
  };
  EXPECT_GT(compare(400, 900000, rings_machine, differences).all, 80);
}

TEST(StageFolding, GroupsWhoseMembersDifferAreToldToThePicosecond) {
  const Folded folded = compare(400, 700000, switches_machine, any_difference);
  EXPECT_GT(folded.all, 200);
  EXPECT_GT(folded.joined, 80);
}

TEST(StageFolding, JobsWithAStragglerAreToldToThePicosecond) {
  const auto differences = [](Random& random) {
    Differences differ = any_difference(random);
    differ.straggler = true;
    return differ;
  };
  const char* jobs = std::getenv("WEFT_STRAGGLER_JOBS");
  const auto number = static_cast<uint32_t>(jobs != nullptr ? std::atoi(jobs) : 60);
  EXPECT_GT(compare(number, 1100000, switches_machine, differences).all, 4);
}

}  // namespace
}  // namespace weft
