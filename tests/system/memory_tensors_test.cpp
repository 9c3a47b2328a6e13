// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What nodes store and load with `run.data: functional`: every tensor comes back right, and no time changes.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/isolated.h"
#include "tests/support/small_machine.h"
#include "tests/support/solo_job.h"
#include "tests/trace/trace_files.h"

namespace weft {
namespace {

using trace::test::PbNode;

constexpr uint64_t kSizes[] = {1, 777, 4'096, 65'537, 333'333};

/// Each rank stores tensors, reduces something beside, and loads them back; every second one is remote.
void write_traces(const trace::test::TempFolder& folder, uint32_t ranks) {
  for (uint32_t r = 0; r < ranks; ++r) {
    std::vector<PbNode> nodes = {trace::test::collective(1, ChakraProtoMsg::ALL_REDUCE, 64 << 10)};
    uint64_t id = 2;
    const auto access = [&](bool store, uint64_t bytes, uint64_t after, bool remote) {
      PbNode node = trace::test::make(id, "access",
                                      store ? ChakraProtoMsg::MEM_STORE_NODE : ChakraProtoMsg::MEM_LOAD_NODE);
      trace::test::attribute(node, "tensor_size", static_cast<int64_t>(bytes));
      if (remote) trace::test::attribute(node, "tensor_loc", 1);
      if (after != 0) node.add_data_deps(after);
      nodes.push_back(node);
      return id++;
    };
    for (int round = 0; round < 3; ++round) {
      for (const uint64_t bytes : kSizes) {
        const bool remote = round == 1;
        const uint64_t first = access(true, bytes, 0, remote);
        const uint64_t second = access(true, bytes, first, remote);
        access(false, bytes, access(false, bytes, second, remote), remote);
      }
    }
    trace::test::write_trace(folder / fmt::format("t.{}.et", r), nodes);
  }
}

TEST(MemoryTensors, OfNodesComeBackRightInTheTimeOfARunWithoutData) {
  const trace::test::TempFolder folder;
  const std::string stem = folder / "t";
  for (const char* model : {"bandwidth", "banked"}) {
    Config config = test::ring_4_switch_2();
    config.hbm.model = model;
    config.hbm.preset = "HBM2";
    config.hbm.stacks = 1;
    config.hbm.bandwidth = {256'000'000'000ull, 1};
    config.hbm.capacity = 1 << 20;
    config.collectives.reduction = ReductionKind::hbm;
    config.remote_memory = RemoteMemoryConfig{};
    config.remote_memory->bandwidth = {10'000'000'000ull, 1};
    write_traces(folder, config.npus());
    const auto run = [&](const std::string& data) {
      return test::isolated([&] {
        Config c = config;
        c.run.data = data;
        const trace::JobTrace traces = trace::open_job(stem, c.npus(), "", false);
        test::SoloTraceJob job("job", c, traces);
        job.start();
        if (!test::run_to_the_end(job)) return job.stall_report();
        const RunResult r = job.result();
        std::string text = fmt::format("{} ps\n", r.time);
        for (const RankRow& row : r.ranks)
          text += fmt::format("{} {} {}\n", row.time.local_memory, row.time.remote_memory, row.finished);
        for (const std::string& line : r.broken_invariants) text += line + "\n";
        const uint64_t loads = data == "none" ? 0 : 30 * c.npus();
        if (r.data_tensors != loads) text += fmt::format("{} tensors\n", r.data_tensors);
        return text;
      });
    };
    const auto without = run("none"), with = run("functional");
    EXPECT_EQ(with.status, 0);
    EXPECT_EQ(with.text, without.text) << model;
    EXPECT_GT(with.text.size(), 40u) << with.text;
  }
}

}  // namespace
}  // namespace weft
