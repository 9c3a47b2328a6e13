// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `weft calibrate` on measured tables of real machines, and what it says of input that is none.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/cli/weft_process.h"
#include "tests/support/paths.h"

namespace weft::test {
namespace {

using nlohmann::json;

std::string measured(const std::string& name) {
  return data_dir() + "/measured/" + name + ".json";
}

json calibrated(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "calibrate");
  arguments.emplace_back("--json");
  const Ran ran = weft(arguments);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return ran.status == 0 ? json::parse(ran.out) : json();
}

/// The gate of docs/calibration.md. `known_links`: the scales can be judged.
void check_gate(const json& report, bool known_links) {
  const json& test = report["test"];
  EXPECT_LE(test["p50"].get<double>(), 5) << report["machine"];
  EXPECT_LE(test["p95"].get<double>(),
            std::max(10.0, report["baselines"]["interpolation"]["p95"].get<double>()))
      << report["machine"];
  if (!known_links) return;
  const double latency = report["parameters"]["latency_scale"],
               bandwidth = report["parameters"]["bandwidth_scale"];
  EXPECT_TRUE(latency >= 0.3 && latency <= 4) << latency;
  EXPECT_TRUE(bandwidth >= 0.8 && bandwidth <= 1.2) << bandwidth;
}

/// The crossover that begins with these words is within one size, and predicted at this size.
void check_crossover(const json& report, const std::string& change, uint64_t bytes) {
  for (const json& crossover : report["crossovers"]) {
    if (crossover["change"].get<std::string>() != change) continue;
    EXPECT_TRUE(crossover["within_one_size"].get<bool>()) << change;
    const auto predicted = crossover["predicted_bytes"].get<uint64_t>();
    EXPECT_TRUE(predicted >= bytes / 2 && predicted <= bytes * 2) << change << " at " << predicted;
    return;
  }
  ADD_FAILURE() << change << " is not among " << report["crossovers"].dump();
}

TEST(Calibrate, EightH100) {
  WEFT_NEEDS_DATA();
  const json report = calibrated({measured("nccl_h100_8gpu_allreduce"), "--machine", "dgx_h100"});
  check_gate(report, true);
  EXPECT_EQ(report["test"]["rows"], 12);
  check_crossover(report, "ring LL -> nvls Simple", 2 << 20);
  check_crossover(report, "nvls chunk 16 KiB -> 32 KiB", 8 << 20);
  check_crossover(report, "nvls chunk 32 KiB -> 64 KiB", 64 << 20);
  check_crossover(report, "nvls chunk 64 KiB -> 128 KiB", uint64_t{1} << 30);
}

TEST(Calibrate, EightMI300X) {
  WEFT_NEEDS_DATA();
  const json report = calibrated({measured("rccl_mi300x_8gpu_allreduce"), "--machine", "mi300x"});
  check_gate(report, true);
  check_crossover(report, "all_pairs LL -> all_pairs Simple", 512 << 10);
  check_crossover(report, "all_pairs Simple -> ring Simple", 16 << 20);
}

TEST(Calibrate, EightMI350X) {
  WEFT_NEEDS_DATA();
  check_gate(calibrated({measured("rccl_mi350x_8gpu_allreduce"), "--machine", "mi350x"}), true);
}

TEST(Calibrate, TwoNodesOfH200) {
  WEFT_NEEDS_DATA();
  check_gate(calibrated({measured("nccl_h200_2node16_allreduce"), "--machine", "dgx_h200_2node"}), true);
}

// Sixteen ports of 100 Gb/s a node; the tree has all sizes, and changes to Simple at 1 GiB.
TEST(Calibrate, TwoNodesOfA100) {
  WEFT_NEEDS_DATA();
  const json report = calibrated({measured("nccl_a100_2node16_allreduce"), "--machine", "oci_a100_2node",
                                  "--set", "collectives.library_version=2.20"});
  check_gate(report, true);
  check_crossover(report, "tree LL -> tree LL128", 256 << 10);
  check_crossover(report, "tree LL128 -> tree Simple", uint64_t{1} << 30);
}

// A bandwidth of its own for each operation, far below the link's: data is staged in host memory.
TEST(Calibrate, APairOverSockets) {
  WEFT_NEEDS_DATA();
  for (const char* operation : {"all_reduce", "all_gather"}) {
    const json report =
        calibrated({measured("neuronabox_table1_2xV100_100GbE"), "--operation", operation, "--machine",
                    "ethernet_100g_pair", "--set", "collectives.library_version=2.19"});
    check_gate(report, false);
    for (const json& row : report["plan"]) EXPECT_EQ(row["protocol"], "Simple");
  }
}

// Unfitted: the peak of eight V100 within 15 %.
TEST(Calibrate, EightV100AtOnePoint) {
  WEFT_NEEDS_DATA();
  const json report = calibrated({measured("nccl_v100_8gpu_point"), "--machine", "dgx_1v", "--fit", "none"});
  EXPECT_LE(report["test"]["max"].get<double>(), 15);
  const Ran fitted = weft({"calibrate", measured("nccl_v100_8gpu_point"), "--machine", "dgx_1v"});
  EXPECT_EQ(fitted.status, 2);
  EXPECT_TRUE(fitted.says({"3 parameters need", "--fit none"})) << fitted.err;
}

/// A log of `weft collective`, whose machine and parameters are known.
class Synthetic : public testing::Test {
 protected:
  std::string table(uint32_t ranks, const std::string& rows) {
    const std::string path = folder_.file("table.json");
    write(path, R"({"operation": "all_reduce", "ranks": )" + std::to_string(ranks) + R"(, "rows": [)" + rows +
                    "]}");
    return path;
  }
  static Ran run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "calibrate");
    return weft(arguments);
  }

  vcd::test::TemporaryFolder folder_;
};

const std::string kRows =
    "[1024, 16], [2048, 16.1], [4096, 16.2], [8192, 16.4], [16384, 17], [32768, 18], [65536, 18.5], [131072, "
    "19], "
    "[262144, 20], [524288, 21], [1048576, 27], [2097152, 42], [4194304, 54], [8388608, 82]";

TEST_F(Synthetic, HasTheKeysOfTheManual) {
  const json report = calibrated({table(8, kRows), "--machine", "dgx_h100"});
  std::vector<std::string> keys;
  for (const auto& [key, value] : report.items()) keys.push_back(key);
  EXPECT_EQ(keys,
            (std::vector<std::string>{"baselines", "crossovers", "machine", "parameters", "plan", "test"}));
  EXPECT_EQ(report["machine"], "dgx_h100");
  for (const char* key : {"launch_us", "latency_scale", "bandwidth_scale"})
    EXPECT_TRUE(report["parameters"][key].is_number()) << key;
  for (const char* name : {"64KiB", "16MiB", "above"})
    for (const char* key : {"rows", "p50", "p95", "max", "bias"})
      EXPECT_TRUE(report["test"]["classes"][name][key].is_number()) << name << key;
  EXPECT_EQ(report["test"]["rows"], 7);
  EXPECT_EQ(report["test"]["classes"]["64KiB"]["rows"], 3);
  EXPECT_EQ(report["test"]["classes"]["above"]["rows"], 0);
  EXPECT_TRUE(report["baselines"]["line"]["p95"].is_number());
  EXPECT_TRUE(report["baselines"]["interpolation"]["p95"].is_number());
  ASSERT_EQ(report["plan"].size(), 14u);
  for (const char* key : {"bytes", "algorithm", "protocol", "channels", "sim_us", "real_us"})
    EXPECT_TRUE(report["plan"][0].contains(key)) << key;
}

TEST_F(Synthetic, WritesAMachineThatHasTheFittedParameters) {
  const json report = calibrated({table(8, kRows), "--machine", "dgx_h100", "--out",
                                  folder_.file("fitted.yaml"), "--svg", folder_.file("fit.svg")});
  EXPECT_EQ(read(folder_.file("fit.svg")).find("<svg"), 0u);
  EXPECT_EQ(weft({"validate", folder_.file("fitted.yaml")}).status, 0);
  const json again = calibrated({table(8, kRows), "--machine", folder_.file("fitted.yaml"), "--fit", "none"});
  for (size_t i = 0; i < 14; ++i)
    EXPECT_NEAR(again["plan"][i]["sim_us"].get<double>(), report["plan"][i]["sim_us"].get<double>(), 1e-6);
  EXPECT_EQ(again["test"]["rows"], 14) << "nothing was fitted";
  // A run of that machine takes the fitted times.
  const Ran run =
      weft({"collective", "--machine", folder_.file("fitted.yaml"), "--sizes", "1KiB:8MiB:x2", "--json"});
  ASSERT_EQ(run.status, 0) << run.err;
  const json results = json::parse(run.out)["results"];
  for (size_t i = 0; i < 14; ++i)
    EXPECT_NEAR(results[i]["time_ns"].get<double>() / 1000, report["plan"][i]["sim_us"].get<double>(), 1e-5)
        << i;
}

// Where the machine has no version, that of the table chooses what is planned.
TEST_F(Synthetic, TakesTheVersionOfTheTable) {
  const auto with = [&](const std::string& version) {
    const std::string path = folder_.file("version.json");
    write(path, R"({"operation": "all_reduce", "ranks": 16, "library": ")" + version + R"(", "rows": [)" +
                    kRows + "]}");
    return path;
  };
  const auto nvls_from = [](const json& report) {
    for (const json& row : report["plan"])
      if (row["algorithm"] == "nvls_tree") return row["bytes"].get<uint64_t>();
    return uint64_t{0};
  };
  const uint64_t old = 1 << 20, now = 4 << 20;
  EXPECT_EQ(nvls_from(calibrated({with("2.26.2+cuda12.8"), "--machine", "dgx_h100_2node"})), old);
  EXPECT_EQ(nvls_from(calibrated({with(""), "--machine", "dgx_h100_2node"})), now);
  EXPECT_EQ(nvls_from(calibrated({with("2.26.2"), "--machine", "dgx_h100_2node", "--set",
                                  "collectives.library_version=2.29"})),
            now);
  EXPECT_NE(run({with("2.26.2"), "--machine", "dgx_h100_2node", "--out", folder_.file("fitted.yaml")})
                .out.find("nccl 2.26, as the log says"),
            std::string::npos);
  EXPECT_NE(read(folder_.file("fitted.yaml")).find("library_version: \"2.26\""), std::string::npos)
      << read(folder_.file("fitted.yaml"));
  const Ran ancient = run({with("2.4.8"), "--machine", "dgx_h100_2node"});
  EXPECT_TRUE(ancient.says({"2.4.8", "2.14"})) << ancient.err;
}

TEST_F(Synthetic, OneParameterOrTwo) {
  const json one = calibrated({table(8, kRows), "--machine", "dgx_h100", "--fit", "t0"});
  EXPECT_EQ(one["parameters"]["latency_scale"], 1);
  EXPECT_EQ(one["parameters"]["bandwidth_scale"], 1);
  EXPECT_NE(one["parameters"]["launch_us"], 4);
}

TEST_F(Synthetic, SaysWhenAFittedValueIsImplausible) {
  const Ran ran =
      run({table(16,
                 "[1024, 90], [2048, 91], [4096, 92], [1048576, 900], [16777216, 8000], [1073741824, "
                 "400000], [2147483648, 800000]"),
           "--machine", "dgx_h100_2node"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_TRUE(ran.says({"bandwidth scale", "implausible", "graph"})) << ran.err;
  EXPECT_NE(ran.out.find("missed"), std::string::npos);
}

TEST_F(Synthetic, TellsOfRowsThatItDrops) {
  const Ran ran =
      run({table(8, kRows + ", [16777216, 900], [33554432, 199], [67108864, 325]"), "--machine", "dgx_h100"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_TRUE(ran.says({"warning", "table.json", "16777216 bytes is dropped"})) << ran.err;
}

TEST_F(Synthetic, BadInput) {
  const std::string good = table(8, kRows);
  const auto fails = [](const std::vector<std::string>& arguments, const std::vector<std::string>& parts) {
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.status, 2);
    EXPECT_EQ(ran.out, "");
    EXPECT_TRUE(ran.says(parts)) << ran.err;
  };
  fails({good}, {"--machine"});
  fails({"--machine", "dgx_h100"}, {"LOG"});
  fails({good, "--machine", "tpu_v4"}, {"tpu_v4", "no communication library"});
  fails({good, "--machine", "dgx_h1000"}, {"did you mean", "dgx_h100"});
  fails({good, "--machine", "dgx_h100", "--fit", "speed"}, {"--fit speed", "t0, latency and bandwidth"});
  fails({good, "--machine", "dgx_h100", "--operation", "all_scatter"}, {"--operation"});
  fails({good, "--machine", "dgx_h100", "--operation", "barrier"}, {"barrier has no sizes"});
  fails({good, "--machine", "dgx_h100", "--set", "collectives.gpu=H1000"}, {"H1000"});
  fails({folder_.file("none.log"), "--machine", "dgx_h100"}, {"none.log"});
  write(folder_.file("other.log"), "# OSU MPI Allreduce Latency Test\n# Size  Avg Latency(us)\n4  15\n");
  fails({folder_.file("other.log"), "--machine", "dgx_h100"}, {"other.log", "no table of nccl-tests"});
  fails({table(16, kRows), "--machine", "dgx_h100"}, {"16 ranks", "weft machine list"});
  fails({table(7, kRows), "--machine", "dgx_h100_2node", "--out", "/no/folder/x.yaml"}, {"/no/folder"});
}

/// The first lines of a log, with `ranks` on each of `hosts`, and two rows.
std::string log_of(uint32_t hosts, uint32_t ranks) {
  std::string text = "# nThread 1 nGpus 1 minBytes 1024 maxBytes 4096 step: 4(factor)\n";
  for (uint32_t host = 0; host < hosts; ++host)
    for (uint32_t rank = 0; rank < ranks; ++rank)
      text += "#  Rank " + std::to_string(host * ranks + rank) + " Group  0 Pid 1 on host" +
              std::to_string(host) + " device " + std::to_string(rank) + " [0x0f] NVIDIA GPU\n";
  return text +
         "# size count type redop root time algbw busbw #wrong\n  1024 256 float sum -1 20.0 0.05 0.10 0\n"
         "  4096 1024 float sum -1 21.0 0.20 0.37 0\n";
}

TEST_F(Synthetic, HostsAreTheNodesOfTheMachine) {
  const auto planned = [&](uint32_t hosts, uint32_t ranks, const std::string& machine) {
    write(folder_.file("all_reduce_perf.log"), "all_reduce_perf\n" + log_of(hosts, ranks));
    return run({folder_.file("all_reduce_perf.log"), "--machine", machine, "--fit", "none"});
  };
  EXPECT_EQ(planned(2, 8, "dgx_h100_2node").status, 0);
  EXPECT_EQ(planned(2, 4, "dgx_h100_2node").status, 0) << "four GPUs of each";
  EXPECT_TRUE(planned(2, 4, "dgx_h100").says({"8 ranks on 2 hosts", "too few nodes"}));
  EXPECT_TRUE(planned(1, 16, "dgx_h100_2node").says({"16 ranks on 1 hosts", "too few GPUs"}));
  // NVLink joins the hosts of a rack.
  EXPECT_EQ(planned(4, 4, "gb200_nvl72").status, 0);
  EXPECT_EQ(planned(18, 4, "gb200_nvl72").status, 0);
  EXPECT_TRUE(planned(20, 4, "gb200_nvl72").says({"too few GPUs"}));
}

TEST_F(Synthetic, FewerRanksThanTheMachineHas) {
  const json four = calibrated({table(4, kRows), "--machine", "dgx_h100", "--fit", "none"});
  const json eight = calibrated({table(8, kRows), "--machine", "dgx_h100", "--fit", "none"});
  EXPECT_LT(four["plan"][13]["sim_us"].get<double>(), eight["plan"][13]["sim_us"].get<double>());
}

}  // namespace
}  // namespace weft::test
