// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Jobs in files for the tests of folding, and everything that the results say of them.

#ifndef WEFT_TESTS_SYSTEM_FOLDING_JOBS_H
#define WEFT_TESTS_SYSTEM_FOLDING_JOBS_H

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/isolated.h"
#include "tests/support/solo_job.h"
#include "tests/trace/trace_files.h"

namespace weft::test {

using trace::test::attribute;
using trace::test::PbNode;
using trace::test::TempFolder;

inline DimensionConfig dimension(DimensionKind kind, uint32_t size, uint64_t gigabytes = 50,
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
inline std::string told(const RunResult& r) {
  std::string text = fmt::format("{} ps, {} messages, {} nodes, {} B of memory, bounds {} {}\n", r.time,
                                 r.messages, r.nodes, r.memory_bytes, r.lower_bound, r.upper_bound);
  for (const RankRow& row : r.ranks) {
    text +=
        fmt::format("rank {}: {} {} {} {} {} ends {}\n", row.rank, row.time.compute, row.time.local_memory,
                    row.time.remote_memory, row.time.communication, row.time.idle, row.finished);
  }
  std::vector<std::string> lines;
  for (const CollectiveRow& row : r.collectives) {
    std::string line = fmt::format(
        "{} {} {} {} B {} ranks {} chunks: {} to {}, bound {}, {} messages, {} B, {} {} {} {} {}",
        row.group.str(), row.name.str(), to_string(row.op), row.bytes, row.ranks, row.chunks, row.started,
        row.finished, row.lower_bound, row.messages, row.message_bytes, row.split.queue, row.split.serialise,
        row.split.latency, row.split.endpoint, row.split.reduce);
    for (const auto& phase : row.phases)
      line += fmt::format(", {} {} {}", phase.what.str(), phase.queue, phase.network);
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
  std::string folding;  ///< "simulated ranks, folded collectives of all, repeated ones; reasons"
};

inline Outcome run(const Config& config, const JobFiles& files, bool fold) {
  const auto result = isolated([&] {
    const trace::JobTrace traces = files.open();
    SoloTraceJob job("job", config, traces, fold);
    job.start();
    run_to_the_end(job);
    if (!job.finished()) return job.stall_report();
    const RunResult r = job.result();
    std::string folding = fmt::format("{} simulated, {} of {} folded{}", r.simulated_ranks,
                                      r.folded_collectives, r.collectives.size(), r.folded ? ", all" : "");
    if (r.repeated_collectives != 0) folding += fmt::format(", {} repeated", r.repeated_collectives);
    for (const auto& [reason, ranks] : r.unfolded) folding += fmt::format("; {}: {}", ranks, reason);
    // Moved out of the job, the rows are the same and in the same order.
    const RunResult taken = job.take_result();
    const bool same = std::equal(r.collectives.begin(), r.collectives.end(), taken.collectives.begin(),
                                 taken.collectives.end(), [](const CollectiveRow& a, const CollectiveRow& b) {
                                   return a.stream == b.stream && a.started == b.started;
                                 });
    if (!same || told(taken) != told(r)) return fmt::format("with fold {} take_result() differs", fold);
    return folding + "\n" + told(r);
  });
  if (result.status != 0) return {"failed: " + result.text, ""};
  const size_t end = result.text.find('\n');
  return {result.text.substr(end + 1), result.text.substr(0, end)};
}

inline PbNode collective(uint64_t id, CollectiveOp op, uint64_t bytes, const std::string& group,
                         const std::vector<uint64_t>& after) {
  const ChakraProtoMsg::CollectiveCommType types[] = {ChakraProtoMsg::ALL_REDUCE, ChakraProtoMsg::ALL_GATHER,
                                                      ChakraProtoMsg::REDUCE_SCATTER,
                                                      ChakraProtoMsg::ALL_TO_ALL};
  PbNode node = trace::test::collective(id, types[static_cast<int>(op)], static_cast<int64_t>(bytes), group);
  for (const uint64_t d : after) node.add_data_deps(d);
  return node;
}

inline PbNode compute(uint64_t id, uint64_t micros, const std::vector<uint64_t>& after = {}) {
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

}  // namespace weft::test

#endif
