// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Splitting against a run that simulates each rank from the beginning. The jobs are drawn training steps:
// they have tensor-parallel collectives, pipelines of messages, stragglers, and collectives that join
// replicas early and late.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/system/folding_jobs.h"

namespace weft {
namespace {

using test::collective;
using test::compute;
using test::dimension;
using test::JobFiles;
using test::Outcome;
using test::PbNode;
using test::Random;

std::unique_ptr<graph::CheckedJob> checked(const Config& config, const trace::JobTrace& traces) {
  return std::make_unique<graph::CheckedJob>(config, traces, graph::fold_job(config, traces));
}

/// The plan of a scout, times separated by spaces; "" if the job does not split.
std::string scout(const Config& config, const JobFiles& files, const std::vector<Splitting::Limit>& limits) {
  const test::Isolated found = test::isolated([&]() -> std::string {
    const trace::JobTrace traces = files.open();
    auto job = checked(config, traces);
    if (job->folding().replicas().empty()) return "";
    Machine machine("job", config, TraceJob::scout_options(*job));
    TraceJob first(machine, std::move(job));
    if (!first.splits()) return "";
    Splitting& splitting = first.split();
    splitting.scout();
    first.start();
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    const auto next = [] {
      return sc_core::sc_pending_activity() ? Picoseconds{sc_core::sc_time_stamp().value() +
                                                          sc_core::sc_time_to_pending_activity().value()}
                                            : kNever;
    };
    splitting.look(0, next());
    for (Picoseconds instant = next(); instant != kNever; instant = next()) {
      const Picoseconds wait = instant + 1 - sc_core::sc_time_stamp().value();
      sc_core::sc_start(sc_core::sc_time::from_value(wait), sc_core::SC_EXIT_ON_STARVATION);
      splitting.look(instant, next());
    }
    return fmt::format("{}", fmt::join(splitting.plan(limits), " "));
  });
  if (found.status != 0) throw std::runtime_error("the scout has failed: " + found.text);
  return found.text;
}

/// As test::run(); `folding` is "split N of M ranks", "wrong plan: .." or "does not split".
Outcome run_split(const Config& config, const JobFiles& files, const std::vector<Splitting::Limit>& limits) {
  Splitting::Plan plan;
  std::istringstream times(scout(config, files, limits));
  for (Picoseconds at = 0; times >> at;) plan.push_back(at);
  if (std::all_of(plan.begin(), plan.end(), [](Picoseconds at) { return at == 0; }))
    return {"", "does not split"};
  const auto result = test::isolated([&]() -> std::string {
    const trace::JobTrace traces = files.open();
    test::SoloTraceJob job("job", config, traces, true);
    if (!job.splits()) return "does not split, and did so in the scout\n";
    const auto wrong = [](const Splitting::Limit& limit, const std::string&) {
      throw std::runtime_error(fmt::format("wrong plan {} {} ", limit.unit, limit.before));
    };
    job.split().follow(plan, wrong, [] {});
    job.start();
    run_to_the_end(job);
    if (!job.finished()) return job.stall_report();
    const RunResult r = job.take_result();
    return fmt::format("split {} of {} ranks\n", r.late_ranks, config.npus()) + test::told(r);
  });
  if (result.status != 0) return {"failed: " + result.text, "failed: " + result.text};
  const size_t end = result.text.find('\n');
  return {result.text.substr(end + 1), result.text.substr(0, end)};
}

Config drawn_machine(Random& random) {
  Config config;
  for (int d = 0; d < 3; ++d) {
    config.dimensions.push_back(dimension(DimensionKind::switch_,
                                          static_cast<uint32_t>(random.pick(2, 2, 3, 4)),
                                          random.pick(25, 50, 200), random.pick(0, 500000, 1234567)));
    DimensionConfig& last = config.dimensions.back();
    last.fidelity = Fidelity::message;
    last.switching = random.below(2) == 0 ? Switching::cut_through : Switching::store_and_forward;
  }
  auto& c = config.collectives;
  for (auto& algorithms : c.algorithms)
    for (int d = 0; d < 3; ++d)
      algorithms.emplace_back(random.below(3) == 0   ? "halving_doubling"
                              : random.below(2) == 0 ? "ring"
                                                     : "direct");
  for (auto& name : c.algorithms[static_cast<size_t>(CollectiveOp::all_to_all)]) name = "direct";
  c.chunks = static_cast<uint32_t>(random.pick(1, 2, 4));
  c.active_chunks_per_dimension = static_cast<uint32_t>(random.pick(1, 1, 2));
  c.queues_per_dimension = static_cast<uint32_t>(random.pick(1, 1, 2));
  c.order = static_cast<CollectiveOrder>(random.below(4));
  c.scheduling = static_cast<CollectiveScheduling>(random.below(3));
  c.dimension_scheduling = static_cast<DimensionScheduling>(random.below(4));
  config.nmu.endpoint_delay = random.pick(0, 0, 10000);
  if (random.below(5) == 0) {
    c.reduction = ReductionKind::fixed_bandwidth;
    c.reduction_bandwidth = {1600000000000ull, 1};
  }
  config.npu.compute_slots = static_cast<uint32_t>(random.pick(1, 2));
  return config;
}

/// Programs of tensor-parallel ranks, stages and replicas, each along a dimension of its own.
class Steps {
 public:
  Steps(Random& random, const Config& config, JobFiles& files)
      : random_(random), config_(config), files_(files), ids_(files.ranks(), 0) {
    roles_[0] = static_cast<uint32_t>(random.below(3));
    roles_[1] = (roles_[0] + 1 + static_cast<uint32_t>(random.below(2))) % 3;
    roles_[2] = 3 - roles_[0] - roles_[1];
  }

  void write() {
    const uint64_t steps = 10 + random_.below(40);
    const uint64_t joined_from =
        random_.below(3) == 0 ? random_.below(steps) : steps - 1 - random_.below(steps / 3);
    const uint64_t slow_ranks = random_.below(8) == 0 ? 0 : 1 + random_.below(2);
    for (uint64_t i = 0; i < slow_ranks; ++i)
      slow_.push_back(static_cast<uint32_t>(random_.below(files_.ranks())));
    const bool chain = random_.below(3) == 0;
    rooted_ = random_.below(6) == 0 ? 1 + random_.below(2) : 0;
    for (uint64_t i = 0; i < steps; ++i) {
      deps_ = chain ? 1 : random_.below(3);
      const uint64_t kind = random_.below(8);
      if (i >= joined_from && kind < 2)
        join();
      else if (kind < 4)
        work();
      else if (kind < 6)
        tensor();
      else
        pass_on();
    }
    join();
    files_.write();
  }

 private:
  uint32_t stride(uint32_t d) const {
    uint32_t s = 1;
    for (uint32_t i = 0; i < d; ++i) s *= config_.dimensions[i].size;
    return s;
  }
  uint32_t at(uint32_t rank, uint32_t d) const { return rank / stride(d) % config_.dimensions[d].size; }
  uint32_t tensor_dimension() const { return roles_[0]; }
  uint32_t stage_dimension() const { return roles_[1]; }
  uint32_t replica_dimension() const { return roles_[2]; }
  uint32_t stages() const { return config_.dimensions[stage_dimension()].size; }
  bool is_of(uint32_t rank, uint32_t stage) const {
    return stage == stages() || at(rank, stage_dimension()) == stage;
  }
  uint32_t any_stage() { return static_cast<uint32_t>(random_.below(stages() + 1)); }

  std::vector<uint64_t> after(uint32_t rank, uint64_t draw) const {
    const uint64_t id = ids_[rank];
    if (id == 0 || deps_ == 0) return {};
    if (deps_ == 1) return {id};
    return {1 + draw % id};
  }

  void work() {
    const uint32_t stage = any_stage();
    const uint64_t micros = 1 + random_.below(60);
    const uint64_t draw = random_.below(1000);
    for (uint32_t r = 0; r < files_.ranks(); ++r) {
      if (!is_of(r, stage)) continue;
      const bool slow = std::count(slow_.begin(), slow_.end(), r) != 0;
      const auto deps = after(r, draw);
      files_.trace(r).push_back(compute(++ids_[r], slow ? micros + micros / 2 : micros, deps));
    }
  }

  void together(uint32_t mask, uint32_t stage) {
    const auto op = static_cast<CollectiveOp>(random_.below(4));
    const uint64_t bytes =
        64ull * 27 * (1 + random_.below(2000)) + (random_.below(3) == 0 ? 1 + random_.below(5) : 0);
    const uint64_t draw = random_.below(1000);
    for (uint32_t r = 0; r < files_.ranks(); ++r) {
      if (!is_of(r, stage)) continue;
      const auto deps = after(r, draw);
      files_.trace(r).push_back(collective(++ids_[r], op, bytes, files_.group(mask, r), deps));
    }
  }
  void tensor() {
    if (rooted_ != 0 && random_.below(2) == 0) return from_root();
    together(1u << tensor_dimension(), any_stage());
  }
  /// The root sends and goes on, others wait for it. In some jobs each replica has another root.
  void from_root() {
    const uint32_t stage = any_stage();
    const auto bytes = static_cast<int64_t>(4096 * (1 + random_.below(500)));
    const auto root = static_cast<uint32_t>(random_.below(config_.dimensions[tensor_dimension()].size));
    const uint64_t draw = random_.below(1000);
    const uint32_t s = stride(tensor_dimension());
    for (uint32_t r = 0; r < files_.ranks(); ++r) {
      if (!is_of(r, stage)) continue;
      const uint32_t n = config_.dimensions[tensor_dimension()].size;
      const uint32_t place = rooted_ == 2 ? (root + at(r, replica_dimension())) % n : root;
      PbNode node = trace::test::collective(ids_[r] + 1, ChakraProtoMsg::BROADCAST, bytes,
                                            files_.group(1u << tensor_dimension(), r));
      test::attribute(node, "root", static_cast<int64_t>(r - at(r, tensor_dimension()) * s + place * s));
      for (const uint64_t d : after(r, draw)) node.add_data_deps(d);
      ++ids_[r];
      files_.trace(r).push_back(node);
    }
  }
  void join() {
    uint32_t mask = 1u << replica_dimension();
    if (random_.below(4) == 0) mask |= 1u << tensor_dimension();
    const bool across = random_.below(6) == 0;
    if (across) mask |= 1u << stage_dimension();
    together(mask, across ? stages() : any_stage());
  }

  void pass_on() {
    const auto stage = static_cast<uint32_t>(random_.below(stages()));
    const uint32_t next = (stage + (random_.below(3) == 0 ? stages() - 1 : 1)) % stages();
    if (next == stage) return;
    const uint64_t tag = 1 + random_.below(3);
    const uint64_t bytes = 4096 * tag * tag * 31;
    const uint64_t draw = random_.below(1000);
    const uint32_t s = stride(stage_dimension());
    for (uint32_t r = 0; r < files_.ranks(); ++r) {
      if (at(r, stage_dimension()) != stage) continue;
      const uint32_t to = r - stage * s + next * s;
      PbNode out = trace::test::send(ids_[r] + 1, to, bytes, tag);
      for (const uint64_t d : after(r, draw)) out.add_data_deps(d);
      ++ids_[r];
      files_.trace(r).push_back(out);
      PbNode in = trace::test::receive(ids_[to] + 1, r, bytes, tag);
      for (const uint64_t d : after(to, draw)) in.add_data_deps(d);
      ++ids_[to];
      files_.trace(to).push_back(in);
    }
  }

  Random& random_;
  const Config& config_;
  JobFiles& files_;
  uint32_t roles_[3] = {};
  uint64_t deps_ = 0;
  uint64_t rooted_ = 0;  ///< 1: some collectives have a root; 2: another one in each replica
  std::vector<uint64_t> ids_;
  std::vector<uint32_t> slow_;
};

/// Two tensor-parallel ranks a replica; the first one sends from its HBM to the second and goes on while the
/// message is in the switch. Ranks of a unit do not rest then, though nothing of theirs is under way.
TEST(Splitting, AMessageInASwitchIsNoRest) {
  Config config;
  for (const uint32_t size : {2u, 3u})
    config.dimensions.push_back(dimension(DimensionKind::switch_, size, 50, 1000000));
  for (DimensionConfig& d : config.dimensions) {
    d.fidelity = Fidelity::message;
    d.switching = Switching::store_and_forward;
  }
  JobFiles files(config);
  for (uint32_t r = 0; r < 6; ++r) {
    const bool first = r % 2 == 0;
    auto& nodes = files.trace(r);
    nodes.push_back(compute(1, first ? 10 : r == 5 ? 150 : 100));
    nodes.push_back(trace::test::collective(2, ChakraProtoMsg::BROADCAST, 1 << 20, files.group(1, r)));
    nodes.back().add_data_deps(1);
    test::attribute(nodes.back(), "root", int64_t{r} / 2 * 2);
    nodes.push_back(compute(3, 5, {2}));
    nodes.push_back(collective(4, CollectiveOp::all_reduce, 3 << 18, files.group(2, r), {3}));
  }
  files.write();
  const Outcome all = test::run(config, files, false);
  const Outcome some = run_split(config, files, {});
  if (some.folding != "does not split") {
    EXPECT_EQ(some.told, all.told) << some.folding;
  }
}

TEST(Splitting, ReplicasWithStragglersAreToldToThePicosecond) {
  const char* asked = std::getenv("WEFT_SPLIT_JOBS");
  const char* from = std::getenv("WEFT_SPLIT_FIRST");
  const int jobs = asked != nullptr ? std::atoi(asked) : 150;
  const int first = from != nullptr ? std::atoi(from) : 0;
  int split = 0, wrong = 0, refused = 0;
  for (int seed = first; seed < first + jobs; ++seed) {
    Random random(static_cast<uint32_t>(seed));
    const Config config = drawn_machine(random);
    JobFiles files(config);
    Steps(random, config, files).write();
    std::vector<Splitting::Limit> limits;
    Outcome some;
    for (;;) {
      some = run_split(config, files, limits);
      unsigned unit = 0;
      unsigned long before = 0;
      const size_t at = some.folding.find("wrong plan ");
      if (at == std::string::npos ||
          std::sscanf(some.folding.c_str() + at, "wrong plan %u %lu", &unit, &before) != 2)
        break;
      limits.push_back({unit, before});
      ++wrong;
      if (limits.size() > 100) break;
    }
    if (some.folding == "does not split") {
      ++refused;
      continue;
    }
    ++split;
    const Outcome all = test::run(config, files, false);
    const auto stalled_at = [](const Outcome& outcome) {
      return outcome.folding.substr(0, outcome.folding.find(':'));
    };
    if (all.folding.rfind("stalled", 0) == 0) {
      EXPECT_EQ(stalled_at(some), stalled_at(all)) << "seed " << seed;
      continue;
    }
    EXPECT_EQ(some.told, all.told) << "seed " << seed << ", " << config.npus() << " ranks, " << some.folding;
    if (testing::Test::HasFailure()) break;
  }
  RecordProperty("split", split);
  std::printf("%d split, %d plans were wrong, %d do not split\n", split, wrong, refused);
  EXPECT_GT(split, jobs / 4);
  EXPECT_LT(wrong, jobs / 5);
}

}  // namespace
}  // namespace weft
