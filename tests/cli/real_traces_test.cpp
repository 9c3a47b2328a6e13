// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/weft_process.h"
#include "tests/support/paths.h"
#include "tests/vcd/vcd_parser.h"

namespace weft::test {
namespace {

using nlohmann::json;

class RealTraces : public ::testing::Test {
 protected:
  void SetUp() override {
    WEFT_NEEDS_DATA();
    write(folder_.file("m.yaml"),
          "weft: 1\ntopology:\n  notation: Ring(8)\n  dimensions: [{bandwidth: 50 GB/s, latency: 500 ns}]\n");
  }

  static std::string traces(const std::string& name) { return data_dir() + "/traces/" + name; }

  Ran run(const std::string& notation, std::vector<std::string> more) const {
    std::vector<std::string> arguments = {"run",   folder_.file("m.yaml"),
                                          "--set", "topology.notation=" + notation,
                                          "--out", folder_.file("out")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return weft(arguments);
  }

  /// Bounds, categories and invariants of the last run; its summary.
  json check() const {
    json s = json::parse(read(folder_.file("out/summary.json")));
    EXPECT_EQ(s["invariants"], "ok");
    EXPECT_LE(s["lower_bound_ns"], s["time_ns"]);
    EXPECT_LE(s["time_ns"], s["upper_bound_ns"]);
    uint64_t most_compute = 0;
    for (const auto& row : read_csv(folder_.file("out/ranks.csv"))) {
      EXPECT_EQ(picoseconds(row.at("compute_ns")) + picoseconds(row.at("local_memory_ns")) +
                    picoseconds(row.at("remote_memory_ns")) + picoseconds(row.at("communication_ns")) +
                    picoseconds(row.at("idle_ns")),
                picoseconds(row.at("time_ns")));
      most_compute = std::max(most_compute, picoseconds(row.at("compute_ns")));
    }
    EXPECT_GE(s["time_ns"].get<double>() * 1000 + 1, static_cast<double>(most_compute));
    return s;
  }

  void stage(const std::string& name, const std::vector<std::string>& machines) {
    for (const std::string& machine : machines) {
      for (const char* fidelity : {"message", "analytical"}) {
        const Ran ran =
            run(machine, {"--trace", traces(name + "/workload"), "--groups", traces(name + "/workload.json"),
                          "--set", std::string("topology.dimensions[*].fidelity=") + fidelity});
        ASSERT_EQ(ran.status, 0) << machine << " " << fidelity << ": " << ran.err;
        EXPECT_NE(ran.out.find("<= time <="), std::string::npos);
        const json s = check();
        EXPECT_GT(s["time_ns"], 0) << machine;
        EXPECT_GT(s["categories"]["communication_ns"]["max"], 0) << machine;
        EXPECT_GT(s["categories"]["compute_ns"]["max"], 0) << machine;
      }
    }
  }

  vcd::test::TemporaryFolder folder_;
};

TEST_F(RealTraces, ShardedStage) {
  stage("stage_gpt_8_fsdp",
        {"Ring(8)", "Switch(8)", "FullyConnected(4)_Switch(2)", "Ring(2)_Ring(2)_Ring(2)"});
}

TEST_F(RealTraces, ThreeDimensionalStage) {
  stage("stage_llama_16", {"Ring(16)", "FullyConnected(4)_Switch(4)", "Ring(2)_FullyConnected(4)_Switch(2)"});
}

TEST_F(RealTraces, Microbenchmarks) {
  for (const std::string op : {"all_reduce", "all_gather", "reduce_scatter", "all_to_all"}) {
    for (const char* machine : {"Ring(8)", "Switch(8)", "FullyConnected(8)", "Ring(4)_Switch(2)"}) {
      const Ran ran = run(machine, {"--trace", traces("astra_microbench/" + op + "/8npus_1MB/" + op)});
      ASSERT_EQ(ran.status, 0) << ran.err;
      const json s = check();
      ASSERT_EQ(s["collectives"].size(), 1u);
      const json c = s["collectives"][op];
      EXPECT_EQ(c["count"], 1);
      // Nothing else runs: the same as the collective alone.
      const Ran alone = weft({"collective", "--topology", machine, "--bandwidth", "50 GB/s", "--latency",
                              "500 ns", "--op", op, "--size", c["bytes"].dump() + " B", "--json"});
      ASSERT_EQ(alone.status, 0) << alone.err;
      EXPECT_EQ(json::parse(alone.out)["results"][0]["time_ns"], s["time_ns"]) << op << " " << machine;
      EXPECT_EQ(json::parse(alone.out)["results"][0]["messages"], s["messages"]) << op << " " << machine;
    }
  }
}

TEST_F(RealTraces, PyTorchRank) {
  const Ran ran = run("Ring(1)", {"--trace", traces("pytorch_real/chakra")});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(ran.says({"warning", "1277 dependencies"})) << ran.err;
  const json s = check();
  EXPECT_EQ(s["nodes"], 3664);
  EXPECT_GT(s["time_ns"], 0);
  EXPECT_NE(s["warnings"].dump().find("1277"), std::string::npos);
  const Ran strict = run("Ring(1)", {"--trace", traces("pytorch_real/chakra"), "--strict"});
  EXPECT_EQ(strict.status, 3);
  EXPECT_TRUE(strict.says({"chakra.0.et", "1277"})) << strict.err;
  const Ran json_file = weft({"trace", "info", traces("pytorch_real/host_trace_1.0.2-chakra.0.0.4.json")});
  EXPECT_EQ(json_file.status, 3) << json_file.err;
  const Ran info = weft({"trace", "info", "--json", traces("pytorch_real/chakra.0.et")});
  EXPECT_EQ(info.status, 0) << info.err;
  EXPECT_EQ(json::parse(info.out)["total"]["dangling_dependencies"], 1277);
}

TEST_F(RealTraces, MachinesOfAnotherSize) {
  const Ran ran = run("Ring(4)", {"--trace", traces("stage_gpt_8_fsdp/workload"), "--groups",
                                  traces("stage_gpt_8_fsdp/workload.json")});
  EXPECT_EQ(ran.status, 3);
  EXPECT_TRUE(ran.says({"8 trace files", "4 NPUs"})) << ran.err;
}

}  // namespace
}  // namespace weft::test
