// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A machine apart from its jobs: jobs one after the other, jobs side by side, and jobs that want the same
// NPUs. The relation `several_jobs` and tests/cli/jobs_test.cpp draw and run more of them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "sc_models/collective_job.h"
#include "sc_models/trace_job.h"
#include "tests/support/isolated.h"
#include "tests/support/small_machine.h"
#include "tests/trace/trace_files.h"

namespace weft {
namespace {

using trace::test::collective;
using trace::test::comp;
using trace::test::PbNode;
using trace::test::receive;
using trace::test::send;

constexpr auto kAllReduce = ChakraProtoMsg::ALL_REDUCE;

Config machine_config(Fidelity fidelity) {
  Config config = test::ring_4_switch_2(fidelity);
  config.hbm.bandwidth = {1'000'000'000'000ull, 1};
  return config;
}

/// Traces of four ranks: compute, collectives, memory and a ring of messages.
class FourRanks {
 public:
  FourRanks() {
    for (uint32_t r = 0; r < 4; ++r) {
      PbNode load = make(9, "load", ChakraProtoMsg::MEM_LOAD_NODE, {1});
      trace::test::attribute(load, "tensor_size", 4096);
      PbNode in = receive(4, (r + 3) % 4, 20000, 7);
      PbNode last = collective(5, kAllReduce, 30000);
      last.add_data_deps(4);
      trace::test::write_trace(folder_ / fmt::format("t.{}.et", r),
                               {comp(1, {}, r + 1), collective(2, kAllReduce, 100000),
                                send(3, (r + 1) % 4, 20000, 7), in, last, load});
    }
  }
  trace::JobTrace open() const { return trace::open_job(folder_ / "t", 4, "", false); }

 private:
  static PbNode make(uint64_t id, const std::string& name, ChakraProtoMsg::NodeType type,
                     std::initializer_list<uint64_t> after) {
    return trace::test::make(id, name, type, after);
  }
  trace::test::TempFolder folder_;
};

std::unique_ptr<graph::CheckedJob> checked(const Config& config, const trace::JobTrace& traces,
                                           std::vector<uint32_t> npus) {
  return std::make_unique<graph::CheckedJob>(config, traces, graph::Folding(traces, "it shares the machine"),
                                             RankMap(std::move(npus), config.npus()));
}

std::string text(const RunResult& result) {
  std::string out = fmt::format("{} ps, {} nodes, {} messages, {} B of memory\n", result.time, result.nodes,
                                result.messages, result.memory_bytes);
  for (const RankRow& row : result.ranks)
    out += fmt::format("rank {}: {} {} {} {} {}, finished {}\n", row.rank, row.time.compute,
                       row.time.local_memory, row.time.remote_memory, row.time.communication, row.time.idle,
                       row.finished);
  for (const CollectiveRow& row : result.collectives)
    out += fmt::format("collective {}: {} to {}, {} messages\n", row.stream, row.started, row.finished,
                       row.messages);
  for (const std::string& line : result.broken_invariants) out += line + "\n";
  return out;
}

bool run(Machine& machine, const std::vector<const Job*>& jobs) {
  const auto finished = [&] {
    for (const Job* job : jobs)
      if (!job->finished()) return false;
    return true;
  };
  do sc_core::sc_start();
  while (!finished() && machine.rescue());
  return finished();
}

TEST(SharedMachine, OutlivesItsJobs) {
  const FourRanks traces;
  for (const Fidelity fidelity : {Fidelity::analytical, Fidelity::message, Fidelity::packet}) {
    const auto result = test::isolated([&] {
      const Config config = machine_config(fidelity);
      const trace::JobTrace open = traces.open();
      Machine machine("machine", config, TraceJob::machine_options());
      std::vector<std::string> texts;
      for (const std::vector<uint32_t>& npus :
           {std::vector<uint32_t>{0, 1, 2, 3}, std::vector<uint32_t>{0, 1, 2, 3},
            std::vector<uint32_t>{4, 5, 6, 7}}) {
        TraceJob job(machine, checked(config, open, npus));
        job.start();
        if (!run(machine, {&job})) return job.stall_report();
        texts.push_back(text(job.own_result()));
      }
      std::vector<Picoseconds> times;
      for (int i = 0; i < 2; ++i) {
        CollectiveJob last(machine);
        last.start(CollectiveOp::all_reduce, 1 << 16);
        if (!run(machine, {&last})) return last.stall_report();
        times.push_back(last.own_result().time);
      }
      if (times[0] != times[1]) return fmt::format("a collective took {} and then {} ps", times[0], times[1]);
      for (const std::string& line : machine.check_conservation()) return line;
      if (texts[1] != texts[0]) return "the second job differs:\n" + texts[0] + texts[1];
      if (texts[2] != texts[0]) return "the job on other NPUs differs:\n" + texts[0] + texts[2];
      return std::string("same");
    });
    EXPECT_EQ(result.status, 0) << result.text;
    EXPECT_NE(result.text.find("same"), std::string::npos) << to_string(fidelity) << ": " << result.text;
  }
}

TEST(SharedMachine, JobsSideBySideAreAsAlone) {
  const FourRanks traces;
  const auto outcome = [&](bool both) {
    const auto result = test::isolated([&] {
      const Config config = machine_config(Fidelity::message);
      const trace::JobTrace open = traces.open();
      Machine machine("machine", config, TraceJob::machine_options());
      TraceJob first(machine, checked(config, open, {3, 2, 1, 0}));
      first.start();
      if (!both) {
        run(machine, {&first});
        return text(first.own_result());
      }
      TraceJob second(machine, checked(config, open, {7, 6, 5, 4}));
      second.start();
      run(machine, {&first, &second});
      const std::string a = text(first.own_result());
      return a == text(second.own_result()) ? a : "the two differ\n" + a;
    });
    EXPECT_EQ(result.status, 0) << result.text;
    return result.text;
  };
  EXPECT_EQ(outcome(true), outcome(false));
}

TEST(SharedMachine, AnNpuHasOneJobAtATime) {
  const FourRanks traces;
  const auto result = test::isolated([&] {
    const Config config = machine_config(Fidelity::message);
    const trace::JobTrace open = traces.open();
    Machine machine("machine", config, TraceJob::machine_options());
    TraceJob first(machine, checked(config, open, {0, 1, 2, 3}));
    std::string said = "accepted";
    try {
      TraceJob second(machine, checked(config, open, {4, 5, 6, 3}));
    } catch (const std::logic_error& e) {
      said = e.what();
    }
    // What was refused has left nothing behind.
    TraceJob third(machine, checked(config, open, {4, 5, 6, 7}));
    first.start();
    third.start();
    if (!run(machine, {&first, &third})) said += "; stalled";
    try {
      CollectiveJob fourth(machine);
      said += "; accepted";
    } catch (const std::logic_error& e) {
      said += std::string("; ") + e.what();
    }
    return said;
  });
  EXPECT_NE(result.text.find("npu3 has a job already; machine.nmu0 has a job already"), std::string::npos)
      << result.text;
}

/// Jobs on all NPUs that fold: one member of a line runs a collective for all.
TEST(SharedMachine, OutlivesJobsThatFold) {
  const FourRanks traces;
  const auto result = test::isolated([&] {
    Config config = machine_config(Fidelity::analytical);
    config.dimensions.resize(1);
    const trace::JobTrace open = traces.open();
    const auto folded = [&] {
      return std::make_unique<graph::CheckedJob>(config, open, graph::fold_job(config, open));
    };
    auto job_checked = folded();
    Machine machine("machine", config, TraceJob::machine_options(*job_checked));
    std::vector<std::string> texts;
    for (int i = 0; i < 2; ++i) {
      TraceJob job(machine, i == 0 ? std::move(job_checked) : folded());
      job.start();
      if (!run(machine, {&job})) return job.stall_report();
      texts.push_back(text(job.own_result()));
    }
    return texts[0] == texts[1] ? std::string("same") : texts[0] + texts[1];
  });
  EXPECT_EQ(result.status, 0) << result.text;
  EXPECT_NE(result.text.find("same"), std::string::npos) << result.text;
}

TEST(RankMap, KnowsBothWays) {
  const RankMap part({5, 2, 7}, 8);
  EXPECT_FALSE(part.whole());
  EXPECT_EQ(part.ranks(), 3u);
  for (uint32_t r = 0; r < 3; ++r) EXPECT_EQ(part.rank(part.npu(r)), r);
  EXPECT_TRUE(RankMap({0, 1, 2}, 3).whole());
  EXPECT_FALSE(RankMap({0, 2, 1}, 3).whole());
  EXPECT_TRUE(RankMap(3).whole());
  EXPECT_THROW(RankMap({0, 3}, 3), std::logic_error);
  EXPECT_THROW(RankMap({1, 1}, 3), std::logic_error);
}

}  // namespace
}  // namespace weft
