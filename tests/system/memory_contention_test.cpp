// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Reductions in HBM (`reduction: hbm`) beside what the trace loads and stores: what both take follows from
// their bytes, at every fidelity and with both models of HBM.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "configs/dram_spec.h"
#include "tests/support/isolated.h"
#include "tests/support/solo_job.h"
#include "tests/trace/trace_files.h"

namespace weft {
namespace {

using trace::test::collective;
using trace::test::PbNode;

struct Work {
  ChakraProtoMsg::CollectiveCommType op = ChakraProtoMsg::REDUCE_SCATTER;
  uint64_t reduce = 0;  ///< bytes of the collective; 0: none
  std::vector<uint64_t> loads;
  bool store = false;
};

struct Outcome {
  Picoseconds all = 0, collective = 0, loads = 0;
  uint64_t memory_bytes = 0;
  std::string wrong;
};

Outcome run(const Config& config, const Work& work) {
  trace::test::TempFolder folder;
  for (uint32_t r = 0; r < config.npus(); ++r) {
    std::vector<PbNode> nodes;
    if (work.reduce != 0) nodes.push_back(collective(1, work.op, static_cast<int64_t>(work.reduce)));
    for (size_t i = 0; i < work.loads.size(); ++i) {
      PbNode load = trace::test::make(
          10 + i, "load", work.store ? ChakraProtoMsg::MEM_STORE_NODE : ChakraProtoMsg::MEM_LOAD_NODE);
      trace::test::attribute(load, "tensor_size", static_cast<int64_t>(work.loads[i]));
      nodes.push_back(load);
    }
    trace::test::write_trace(folder / fmt::format("t.{}.et", r), nodes);
  }
  const std::string stem = folder / "t";
  const auto result = test::isolated([&] {
    const trace::JobTrace traces = trace::open_job(stem, config.npus(), "", false);
    test::SoloTraceJob job("job", config, traces);
    job.start();
    if (!test::run_to_the_end(job)) return job.stall_report();
    const RunResult r = job.result();
    std::string text;
    for (const std::string& line : r.broken_invariants) text += line + "\n";
    if (!text.empty()) return text;
    const Picoseconds end = r.collectives.empty() ? 0 : r.collectives[0].finished;
    Picoseconds loads = 0;
    for (const RankRow& row : r.ranks) loads = std::max(loads, row.time.local_memory);
    return fmt::format("{} {} {} {}", r.time, end, loads, r.memory_bytes);
  });
  Outcome o;
  std::istringstream in(result.text);
  if (result.status != 0 || !(in >> o.all >> o.collective >> o.loads >> o.memory_bytes))
    o.wrong = result.text;
  return o;
}

/// Four NPUs, eight chunks of which four are under way.
Config machine(const char* model, Fidelity fidelity, uint64_t link) {
  Config config;
  DimensionConfig d;
  d.kind = DimensionKind::ring;
  d.size = 4;
  d.bandwidth = {link, 1};
  d.latency = 100'000;
  d.fidelity = fidelity;
  config.dimensions = {d};
  config.collectives.chunks = 8;
  config.collectives.active_chunks_per_dimension = 4;
  config.collectives.reduction = ReductionKind::hbm;
  config.hbm.model = model;
  config.hbm.preset = "HBM2E";
  config.hbm.stacks = 1;
  config.hbm.bandwidth = {409'600'000'000ull, 1};
  config.hbm.latency = 100'000;
  return config;
}

constexpr Fidelity kFidelities[] = {Fidelity::analytical, Fidelity::message, Fidelity::packet};
constexpr uint64_t kFast = 4'000'000'000'000;  // links: the HBM is the bottleneck of the collective
constexpr uint64_t kSlow = 100'000'000'000;    // .. the links are

// 16 MiB are reduced on each of four ranks, by 3/4: 36 MiB of accesses. The loads take 64 MiB.
TEST(MemoryContention, TogetherTakeWhatTheirBytesTake) {
  for (const char* model : {"bandwidth", "banked"}) {
    for (const Fidelity fidelity : kFidelities) {
      for (const uint64_t link : {kFast, kSlow}) {
        Picoseconds first = 0;
        for (const uint64_t each : {64ull << 20, 4ull << 20, 256ull << 10}) {
          const Config config = machine(model, fidelity, link);
          Work both;
          both.reduce = 16 << 20;
          both.loads.assign((64ull << 20) / each, each);
          Work alone = both;
          alone.loads.clear();
          const Outcome a = run(config, alone);
          const Outcome t = run(config, both);
          const std::string name = fmt::format("{}, {}, links of {} GB/s, loads of {} B", model,
                                               to_string(fidelity), link / 1'000'000'000, each);
          ASSERT_EQ(a.wrong + t.wrong, "") << name;
          EXPECT_EQ(t.memory_bytes, 4 * (100ull << 20)) << name;
          // The banked model's streams run at eta of the peak.
          const double rate =
              0.4096 * (config.hbm.banked() ? find_dram_spec("HBM2E")->stream_efficiency() : 1);
          const double bytes = static_cast<double>(100 << 20);
          // Its turns change rows: 1.2 % more, with the shortcut and burst by burst.
          const double turns = config.hbm.banked() ? 1.012 : 1;
          EXPECT_NEAR(static_cast<double>(t.all) * rate / bytes, turns, 0.01) << name;
          // Initiators share equally, whatever the size of their requests.
          EXPECT_GT(t.collective, a.all) << name;
          EXPECT_LE(static_cast<double>(t.collective), 2.03 * static_cast<double>(a.all)) << name;
          if (first == 0) first = t.collective;
          EXPECT_NEAR(static_cast<double>(t.collective) / static_cast<double>(first), 1, 0.01) << name;
        }
      }
    }
  }
}

TEST(MemoryContention, NoneWhereNothingIsReducedInMemory) {
  for (const char* model : {"bandwidth", "banked"}) {
    for (const Fidelity fidelity : kFidelities) {
      Config config = machine(model, fidelity, kSlow);
      config.collectives.reduction = ReductionKind::none;
      const auto compare = [&](ChakraProtoMsg::CollectiveCommType op, const std::string& what) {
        Work both;
        both.op = op;
        both.reduce = 4 << 20;
        both.loads.assign(16, 1 << 20);
        both.store = op != ChakraProtoMsg::REDUCE_SCATTER;
        Work collective = both, loads = both;
        collective.loads.clear();
        loads.reduce = 0;
        const Outcome c = run(config, collective), l = run(config, loads), t = run(config, both);
        ASSERT_EQ(c.wrong + l.wrong + t.wrong, "") << what;
        EXPECT_EQ(t.collective, c.collective) << what;
        EXPECT_EQ(t.loads, l.loads) << what;
        EXPECT_EQ(c.memory_bytes, 0u) << what;
      };
      const std::string name = fmt::format("{}, {}", model, to_string(fidelity));
      compare(ChakraProtoMsg::REDUCE_SCATTER, name);
      config.collectives.reduction = ReductionKind::hbm;
      compare(ChakraProtoMsg::ALL_GATHER, name + ", nothing is reduced");
      // A switch reduces without anybody's HBM.
      config.dimensions[0].kind = DimensionKind::switch_;
      config.collectives.algorithms[static_cast<size_t>(CollectiveOp::all_reduce)] = {"in_switch"};
      compare(ChakraProtoMsg::ALL_REDUCE, name + ", in the switch");
    }
  }
}

TEST(MemoryContention, ReductionsInMemoryAreNeverFasterNorMoreBandwidthSlower) {
  std::mt19937 random(11);
  const auto pick = [&](uint64_t n) { return random() % n; };
  for (int i = 0; i < 20; ++i) {
    Config config = machine(i % 4 == 3 ? "banked" : "bandwidth", kFidelities[i % 3],
                            1'000'000'000ull * (20 + pick(2000)));
    config.dimensions[0].kind = pick(2) != 0 ? DimensionKind::ring : DimensionKind::fully_connected;
    config.dimensions[0].size = static_cast<uint32_t>(2 + pick(5));
    config.collectives.chunks = static_cast<uint32_t>(1 + pick(6));
    config.hbm.outstanding = static_cast<uint32_t>(1 + pick(8));
    Work work;
    if (pick(2) != 0) work.op = ChakraProtoMsg::ALL_REDUCE;
    work.reduce = uint64_t{config.npus()} * config.collectives.chunks * (1 + pick(60'000));
    for (uint64_t n = pick(12); n > 0; --n) work.loads.push_back(1 + pick(3 << 20));
    work.store = pick(3) == 0;
    const Outcome in_memory = run(config, work);
    Config other = config;
    other.collectives.reduction = ReductionKind::none;
    const Outcome without = run(other, work);
    ASSERT_EQ(in_memory.wrong + without.wrong, "") << i;
    EXPECT_GE(in_memory.all, without.all) << i;
    EXPECT_GT(in_memory.collective, without.collective) << i;
    if (config.hbm.banked()) continue;
    other = config;
    other.hbm.bandwidth.bytes_per_second *= 2;
    const Outcome faster = run(other, work);
    ASSERT_EQ(faster.wrong, "") << i;
    EXPECT_LE(faster.all, in_memory.all) << i;
    EXPECT_LE(faster.collective, in_memory.collective) << i;
  }
}

}  // namespace
}  // namespace weft
