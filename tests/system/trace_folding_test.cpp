// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Folding inside trace jobs: what is told of ranks that are not simulated is what they would have done.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "sc_models/job.h"
#include "tests/support/isolated.h"
#include "tests/trace/trace_files.h"

namespace weft {
namespace {

using trace::test::attribute;
using trace::test::PbNode;
using trace::test::TempFolder;

DimensionConfig dimension(DimensionKind kind, uint32_t size, uint64_t gigabytes = 50,
                          Picoseconds latency = 500000) {
  DimensionConfig d;
  d.kind = kind;
  d.size = size;
  d.bandwidth = {gigabytes * 1000000000, 1};
  d.latency = latency;
  d.fidelity = Fidelity::analytical;
  return d;
}

/// A job in files: a groups file and one trace a rank.
class JobFiles {
 public:
  explicit JobFiles(const Config& config) : config_(config), traces_(config.npus()) {}

  /// Groups of all lines along the dimensions in `mask`; their name at `rank` is group(mask, rank).
  std::string group(uint32_t mask, uint32_t rank) {
    std::string name = "g" + std::to_string(mask);
    uint32_t stride = 1;
    for (uint32_t d = 0; d < config_.dimensions.size(); ++d) {
      const uint32_t n = config_.dimensions[d].size;
      if ((mask >> d & 1) == 0) name += "_" + std::to_string(rank / stride % n);
      stride *= n;
    }
    auto& members = groups_[name];
    if (std::find(members.begin(), members.end(), rank) == members.end()) members.push_back(rank);
    return name;
  }
  void define(const std::string& name, std::vector<uint32_t> ranks) { groups_[name] = std::move(ranks); }

  std::vector<PbNode>& trace(uint32_t rank) { return traces_[rank]; }
  uint32_t ranks() const { return static_cast<uint32_t>(traces_.size()); }

  void write() const {
    for (uint32_t r = 0; r < traces_.size(); ++r) {
      trace::test::write_trace(folder_ / ("job." + std::to_string(r) + ".et"), traces_[r]);
    }
    std::string json;
    for (const auto& [name, ranks] : groups_) {
      json += fmt::format("{}\"{}\": [{}]", json.empty() ? "" : ", ", name, fmt::join(ranks, ", "));
    }
    trace::test::spit(folder_ / "groups.json", "{" + json + "}");
  }
  trace::JobTrace open() const {
    return trace::open_job(folder_ / "job", ranks(), groups_.empty() ? "" : folder_ / "groups.json", false);
  }

 private:
  TempFolder folder_;
  const Config& config_;
  std::vector<std::vector<PbNode>> traces_;
  std::map<std::string, std::vector<uint32_t>> groups_;
};

/// Everything the results say but how much work it was.
std::string told(const RunResult& r) {
  std::string text = fmt::format("{} ps, {} messages, {} nodes, {} B of memory, bounds {} {}\n", r.time,
                                 r.messages, r.nodes, r.memory_bytes, r.lower_bound, r.upper_bound);
  for (const RankRow& row : r.ranks) {
    text +=
        fmt::format("rank {}: {} {} {} {} {} ends {}\n", row.rank, row.time.compute, row.time.local_memory,
                    row.time.remote_memory, row.time.communication, row.time.idle, row.finished);
  }
  std::vector<std::string> lines;
  for (const CollectiveRow& row : r.collectives) {
    std::string line =
        fmt::format("{} {} {} {} B {} ranks {} chunks: {} to {}, bound {}, {} messages, {} B, {} {} {} {} {}",
                    row.group, row.name, to_string(row.op), row.bytes, row.ranks, row.chunks, row.started,
                    row.finished, row.lower_bound, row.messages, row.message_bytes, row.split.queue,
                    row.split.serialise, row.split.latency, row.split.endpoint, row.split.reduce);
    for (const auto& phase : row.phases)
      line += fmt::format(", {} {} {}", phase.what, phase.queue, phase.network);
    lines.push_back(line + "\n");
  }
  std::sort(lines.begin(), lines.end());
  for (const auto& line : lines) text += line;
  for (const LinkRow& link : r.links) {
    text += fmt::format("{} -> {} d{}: {} B, {} messages, busy {}, queued {}\n", link.name, link.to,
                        link.dimension, link.bytes, link.messages, link.busy, link.queued);
  }
  for (const auto& warning : r.warnings) text += warning + "\n";
  for (const auto& broken : r.broken_invariants) text += "broken: " + broken + "\n";
  return text;
}

struct Outcome {
  std::string told;
  std::string folding;  ///< "simulated ranks, folded collectives of all: reasons"
};

Outcome run(const Config& config, const JobFiles& files, bool fold) {
  const auto result = test::isolated([&] {
    const trace::JobTrace traces = files.open();
    TraceJob job("job", config, traces, nullptr, fold);
    job.start();
    do sc_core::sc_start();
    while (!job.finished() && job.rescue());
    if (!job.finished()) return job.stall_report();
    const RunResult r = job.result();
    std::string folding = fmt::format("{} simulated, {} of {} folded{}", r.simulated_ranks,
                                      r.folded_collectives, r.collectives.size(), r.folded ? ", all" : "");
    for (const auto& [reason, ranks] : r.unfolded) folding += fmt::format("; {}: {}", ranks, reason);
    return folding + "\n" + told(r);
  });
  if (result.status != 0) return {"failed: " + result.text, ""};
  const size_t end = result.text.find('\n');
  return {result.text.substr(end + 1), result.text.substr(0, end)};
}

PbNode collective(uint64_t id, CollectiveOp op, uint64_t bytes, const std::string& group,
                  const std::vector<uint64_t>& after) {
  const ChakraProtoMsg::CollectiveCommType types[] = {ChakraProtoMsg::ALL_REDUCE, ChakraProtoMsg::ALL_GATHER,
                                                      ChakraProtoMsg::REDUCE_SCATTER,
                                                      ChakraProtoMsg::ALL_TO_ALL};
  PbNode node = trace::test::collective(id, types[static_cast<int>(op)], static_cast<int64_t>(bytes), group);
  for (const uint64_t d : after) node.add_data_deps(d);
  return node;
}

PbNode compute(uint64_t id, uint64_t micros, const std::vector<uint64_t>& after = {}) {
  PbNode node = trace::test::comp(id, {}, micros);
  for (const uint64_t d : after) node.add_data_deps(d);
  return node;
}

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  uint64_t below(uint64_t n) { return engine_() % n; }
  template <typename... T>
  uint64_t pick(T... values) {
    const uint64_t all[] = {static_cast<uint64_t>(values)...};
    return all[below(sizeof...(values))];
  }

 private:
  std::mt19937 engine_;
};

Config random_config(Random& random) {
  Config config;
  const uint64_t dims = 1 + random.below(3);
  for (uint64_t d = 0; d < dims; ++d) {
    config.dimensions.push_back(dimension(static_cast<DimensionKind>(random.below(3)),
                                          static_cast<uint32_t>(random.pick(2, 4, 3, 4, 1)),
                                          random.pick(25, 50, 200), random.pick(0, 500000, 1234567)));
  }
  auto& c = config.collectives;
  c.chunks = static_cast<uint32_t>(random.pick(1, 4, 7));
  c.active_chunks_per_dimension = static_cast<uint32_t>(random.pick(1, 1, 2, 3));
  c.queues_per_dimension = static_cast<uint32_t>(random.pick(1, 1, 2));
  c.order = static_cast<CollectiveOrder>(random.below(4));
  c.scheduling = static_cast<CollectiveScheduling>(random.below(3));
  c.dimension_scheduling = static_cast<DimensionScheduling>(random.below(4));
  c.dispatch_threshold = static_cast<uint32_t>(random.pick(0, 0, 2, 8));
  c.direct_window = static_cast<uint32_t>(random.pick(0, 0, 1));
  config.nmu.endpoint_delay = random.pick(0, 0, 10000);
  config.nmu.injection_queue = static_cast<uint32_t>(random.pick(0, 0, 2));
  if (random.below(4) == 0) {
    c.reduction = ReductionKind::fixed_bandwidth;
    c.reduction_bandwidth = {1600000000000ull, 1};
  }
  if (random.below(2) == 0) {
    const char* names[] = {"ring", "direct", "halving_doubling"};
    for (auto& algorithms : c.algorithms) {
      for (size_t d = 0; d < dims; ++d) algorithms.emplace_back(names[random.below(2)]);
    }
  }
  config.hbm.bandwidth = {2000000000000ull, 1};
  config.hbm.latency = 100000;
  config.npu.compute_slots = static_cast<uint32_t>(random.pick(1, 2));
  return config;
}

/// The same random graph on every rank, with every rank's own groups.
void random_traces(Random& random, const Config& config, JobFiles& files) {
  const auto dims = static_cast<uint32_t>(config.dimensions.size());
  const uint64_t nodes = 6 + random.below(14);
  for (uint64_t id = 1; id <= nodes; ++id) {
    std::vector<uint64_t> after;
    while (id > 1 && random.below(3) != 0 && after.size() < 3) after.push_back(1 + random.below(id - 1));
    const uint64_t kind = random.below(8);
    const auto op = static_cast<CollectiveOp>(random.below(4));
    const auto mask = static_cast<uint32_t>(1 + random.below((1u << dims) - 1));
    const uint64_t bytes = 64ull * 27 * 7 * (1 + random.below(200));
    const uint64_t micros = random.below(60);
    const bool world = random.below(4) == 0;
    const bool restricted = random.below(4) == 0;
    const int64_t priority = static_cast<int64_t>(random.below(3));
    for (uint32_t r = 0; r < files.ranks(); ++r) {
      auto& trace = files.trace(r);
      if (kind < 4) {
        PbNode node = collective(id, op, bytes, world || restricted ? "" : files.group(mask, r), after);
        attribute(node, "comm_priority", priority);
        if (restricted && !world) {
          auto* a = node.add_attr();
          a->set_name("involved_dim");
          for (uint32_t d = 0; d < dims; ++d) a->mutable_bool_list()->add_values((mask >> d & 1) != 0);
        }
        trace.push_back(node);
      } else if (kind < 7) {
        trace.push_back(compute(id, micros, after));
      } else {
        PbNode node = trace::test::make(id, "load", ChakraProtoMsg::MEM_LOAD_NODE);
        attribute(node, "tensor_size", static_cast<int64_t>(bytes));
        for (const uint64_t d : after) node.add_data_deps(d);
        trace.push_back(node);
      }
    }
  }
  files.write();
}

TEST(TraceFolding, SymmetricJobsAreToldFromOneRankToThePicosecond) {
  int folded = 0;
  for (uint32_t seed = getenv("SEED") ? atoi(getenv("SEED")) : 0; seed < 250; ++seed) {
    Random random(seed);
    const Config config = random_config(random);
    if (config.npus() < 2) continue;
    JobFiles files(config);
    random_traces(random, config, files);
    const Outcome fold = run(config, files, true);
    if (fold.folding.rfind("1 simulated", 0) != 0) continue;
    ++folded;
    EXPECT_EQ(fold.told, run(config, files, false).told)
        << "seed " << seed << ", " << config.npus() << " ranks";
    if (HasFailure()) break;
  }
  EXPECT_GT(folded, 100);
  std::printf("%d folded\n", folded);
}

}  // namespace
}  // namespace weft
