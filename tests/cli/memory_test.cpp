// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `weft memory`: every row of golden/hbm.json by documented options, keys of its JSON, policies that make a
// difference, and what it says of options that are wrong.

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/weft_process.h"
#include "tests/support/paths.h"
#include "tests/vcd/vcd_parser.h"

namespace weft::test {
namespace {

using nlohmann::json;
using Arguments = std::vector<std::string>;

const std::string& machine() {
  static vcd::test::TemporaryFolder folder;
  static const std::string path = [] {
    const std::string file = folder.path() + "/machine.yaml";
    write(file,
          "weft: 1\ntopology:\n  notation: Ring(2)\n  dimensions: [{bandwidth: 10 GB/s, latency: 1 us}]\n"
          "hbm: {model: banked, preset: HBM2, stacks: 1}\nremote_memory: {bandwidth: 50 GB/s, latency: 2 "
          "us}\n");
    return file;
  }();
  return path;
}

Ran memory(const Arguments& more) {
  Arguments all = {"memory", machine()};
  all.insert(all.end(), more.begin(), more.end());
  return weft(all);
}

json result(Arguments more) {
  more.emplace_back("--json");
  const Ran ran = memory(more);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return json::parse(ran.out, nullptr, false);
}

Arguments operator+(Arguments a, const Arguments& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// GB/s at load 1.
double sustained(const Arguments& more) {
  const json j = result(more + Arguments{"--load", "1"});
  return j["points"][0]["bandwidth_GBps"].get<double>();
}

json golden() {
  std::ifstream in(data_dir() + "/golden/hbm.json");
  return json::parse(in);
}

void within(const std::string& what, double value, double reference, double tolerance) {
  std::printf("%-32s %8.2f  reference %8.2f  %+5.1f %%\n", what.c_str(), value, reference,
              100 * (value / reference - 1));
  EXPECT_NEAR(value / reference, 1.0, tolerance) << what;
}

const Arguments kOne = {"--channels", "1", "--pseudo-channels", "1", "--block", "32 B"};
const Arguments kTwo = {"--channels", "1", "--block", "32 B"};

TEST(MemoryGolden, BandwidthOfOneAndTwoPseudoChannels) {
  WEFT_NEEDS_DATA();
  const Arguments random = kOne + Arguments{"--pattern", "random"};
  const Arguments mixed = kOne + Arguments{"--pattern", "mixed"};
  const Arguments bank = kOne + Arguments{"--bank-groups", "1", "--banks", "1"};
  const auto blocks = [](const char* size) {
    return Arguments{"--channels", "1", "--pseudo-channels", "1", "--pattern", "random", "--block", size};
  };
  const Arguments writes = {"--read-fraction", "0"};
  const std::map<std::string, Arguments> rows = {
      {"sequential_read", kOne},
      {"sequential_write", kOne + writes},
      {"random_read_32B", random},
      {"random_write_32B", random + writes},
      {"random_mixed_50_50", mixed},
      {"random_mixed_67_33", mixed + Arguments{"--read-fraction", "0.67"}},
      {"sequential_mixed_runs_of_64", kOne + Arguments{"--run", "64"}},
      {"random_read_128B", blocks("128 B")},
      {"random_read_256B", blocks("256 B")},
      {"random_read_512B", blocks("512 B")},
      {"random_read_no_refresh", random + Arguments{"--set", "hbm.refresh=none"}},
      {"one_bank_at_a_time_read", bank},
      {"one_bank_at_a_time_write", bank + writes},
  };
  const json measured = golden()["hbm2_one_pseudo_channel_peak_16GBps"];
  EXPECT_EQ(measured.size(), rows.size());
  for (const auto& [name, value] : measured.items()) {
    ASSERT_TRUE(rows.count(name)) << name;
    within(name, sustained(rows.at(name)), value.get<double>(), 0.10);
  }
  const json two = golden()["hbm2_two_pseudo_channels_peak_32GBps"];
  within("sequential", sustained(kTwo), two["sequential"], 0.10);
  within("random", sustained(kTwo + Arguments{"--pattern", "random"}), two["random_32B"], 0.10);
}

TEST(MemoryGolden, LatencyGrowsWithLoad) {
  WEFT_NEEDS_DATA();
  for (const auto& [pattern, rows] : golden()["latency_vs_load_ns"].items()) {
    for (const auto& [load, ns] : rows.items()) {
      const double part = std::stod(load) / 100;
      const json j = result(kOne + Arguments{"--pattern", pattern, "--load", std::to_string(part)});
      within(pattern + " at " + load + " %", j["points"][0]["avg_latency_ns"], ns.get<double>(),
             part <= 0.6 ? 0.10 : 0.25);
    }
  }
}

TEST(MemoryGolden, PercentOfPeakOfHbm2AndHbm3) {
  WEFT_NEEDS_DATA();
  const json all = golden()["ramulator_percent_of_peak"];
  for (const auto& [device, preset] : {std::pair{"HBM2-2000", "HBM2"}, std::pair{"HBM3-6400", "HBM3"}}) {
    const json rows = all[device];
    const Arguments chosen = {"--channels", "1", "--set", std::string("hbm.preset=") + preset};
    const auto percent = [&](const Arguments& more) {
      const json j = result(chosen + more + Arguments{"--load", "1"});
      EXPECT_DOUBLE_EQ(j["peak_GBps"].get<double>(), rows["peak_GBps"].get<double>());
      return 100 * j["points"][0]["bandwidth_GBps"].get<double>() / j["peak_GBps"].get<double>();
    };
    const auto columns = [&](const char* bytes) {
      return percent({"--block", bytes, "--stride", "1 KiB", "--set", "hbm.address_map=row_blocks"});
    };
    within(std::string(device) + " sequential", percent({"--block", "32 B"}), rows["seq_read"], 0.10);
    within(std::string(device) + " mixed", percent({"--block", "32 B", "--read-fraction", "0.667"}),
           rows["mixed_67_33_seq"], 0.10);
    within(std::string(device) + " one", columns("32 B"), rows["one_column_per_row"], 0.10);
    within(std::string(device) + " two", columns("64 B"), rows["two_columns"], 0.10);
    within(std::string(device) + " four", columns("128 B"), rows["four_columns"], 0.10);
  }
}

TEST(Memory, JsonHasTheseKeysAndAllElseIsOnTheStandardError) {
  const Ran ran = memory({"--load", "0.1:0.3:0.1", "--blocks", "20000", "--json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json j = json::parse(ran.out);
  std::set<std::string> keys;
  for (const auto& item : j.items()) keys.insert(item.key());
  EXPECT_EQ(keys, (std::set<std::string>{"memory", "model", "points", "peak_GBps", "bursts", "finished",
                                         "wall_s"}));
  ASSERT_EQ(j["points"].size(), 3u);
  EXPECT_EQ(j["bursts"], 3 * 2 * 20000);
  EXPECT_EQ(j["peak_GBps"], 256.0);
  double latency = 0;
  for (const json& p : j["points"]) {
    EXPECT_NEAR(p["bandwidth_GBps"].get<double>(), 256 * p["load"].get<double>(), 10);
    EXPECT_GT(p["avg_latency_ns"].get<double>(), latency);
    latency = p["avg_latency_ns"];
    EXPECT_GE(p["p99_ns"].get<double>(), p["p50_ns"].get<double>());
  }
  EXPECT_NE(ran.err.find("sequential blocks of 64 B"), std::string::npos);
}

/// A load gives the same figures whichever loads stand beside it, and from run to run.
TEST(Memory, APointDoesNotDependOnItsNeighbours) {
  const Arguments more = {"--pattern", "mixed", "--blocks", "5000"};
  const json alone = result(more + Arguments{"--load", "0.3"});
  const json list = result(more + Arguments{"--load", "1,0.6,0.3"});
  EXPECT_EQ(alone["points"][0], list["points"][2]);
}

TEST(Memory, ModelsWithoutBanksGiveTheirBandwidthAndLatency) {
  const json remote = result({"--memory", "remote", "--block", "1 KiB", "--load", "0.01,1"});
  EXPECT_EQ(remote["peak_GBps"], 50.0);
  EXPECT_NEAR(remote["points"][0]["avg_latency_ns"].get<double>(), 2000 + 20.48, 1);
  EXPECT_NEAR(remote["points"][1]["bandwidth_GBps"].get<double>(), 50, 0.5);
}

TEST(Memory, PoliciesMakeADifference) {
  const auto at = [](const Arguments& more, const char* key) {
    return result(kOne + Arguments{"--blocks", "20000"} + more)["points"][0][key].get<double>();
  };
  const Arguments random = {"--pattern", "random", "--load", "0.1"};
  const auto with = [](const char* key, const char* value) {
    return Arguments{"--set", std::string("hbm.") + key + "=" + value};
  };
  // At low load a closed row spares the precharge: tRP = 14 ns.
  EXPECT_NEAR(at(random, "avg_latency_ns") - at(random + with("page_policy", "closed"), "avg_latency_ns"), 13,
              4);
  const Arguments full = {"--load", "1"};
  const Arguments mixed = {"--pattern", "mixed", "--load", "1"};
  EXPECT_LT(at(full + with("page_policy", "capped(columns=1)"), "bandwidth_GBps"),
            0.7 * at(full, "bandwidth_GBps"));
  EXPECT_LT(at(mixed + with("scheduler", "in_order"), "bandwidth_GBps"), 0.6 * at(mixed, "bandwidth_GBps"));
  const Arguments copy = {"--read-fraction", "0.5", "--load", "1"};
  EXPECT_LT(at(copy + with("scheduler", "bank_order"), "bandwidth_GBps"), 0.97 * at(copy, "bandwidth_GBps"));
  // At moderate load reads and writes need not be kept apart.
  const Arguments some = {"--pattern", "mixed", "--load", "0.3"};
  EXPECT_LT(at(some + with("grouping", "none"), "avg_latency_ns"), 0.85 * at(some, "avg_latency_ns"));
  EXPECT_LT(at(mixed + with("window", "8"), "bandwidth_GBps"), 0.9 * at(mixed, "bandwidth_GBps"));
  EXPECT_LT(at(full + with("address_map", "fields(order=row-bank-group-column-pseudo_channel-channel)"),
               "bandwidth_GBps"),
            0.9 * at(full, "bandwidth_GBps"));
  const Arguments stride = {"--stride", "64 KiB", "--load", "1"};
  EXPECT_GT(at(stride + with("address_map", "permuted"), "bandwidth_GBps"), 2 * at(stride, "bandwidth_GBps"));
  EXPECT_GT(at(full + with("refresh", "none"), "bandwidth_GBps"), 1.04 * at(full, "bandwidth_GBps"));
  EXPECT_LT(at(full + with("refresh", "all_bank(interval=1950 ns)"), "bandwidth_GBps"),
            0.96 * at(full, "bandwidth_GBps"));
}

/// The groups of a pool: what `group_memory` says, or the server of `group_bandwidth`.
TEST(Memory, GroupsOfAPool) {
  vcd::test::TemporaryFolder folder;
  const std::string file = folder.path() + "/pool.yaml";
  write(file,
        "weft: 1\ntopology:\n  notation: Ring(2)\n  dimensions: [{bandwidth: 10 GB/s, latency: 1 us}]\n"
        "memory: {pool: {nodes: 2, groups: 4, out_switches: 2, group_bandwidth: 64 GB/s, out_node_bandwidth: "
        "64 GB/s, in_node_bandwidth: 64 GB/s}}\n");
  const auto group = [&](const Arguments& more) {
    const Ran ran = weft(Arguments{"memory", file, "--memory", "group", "--block", "4 KiB", "--json"} + more);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return json::parse(ran.out, nullptr, false);
  };
  const json server = group({"--load", "0.5,1"});
  EXPECT_EQ(server["model"], "bandwidth");
  EXPECT_NEAR(server["points"][0]["bandwidth_GBps"].get<double>(), 32, 1);
  EXPECT_NEAR(server["points"][1]["bandwidth_GBps"].get<double>(), 64, 0.1);
  const std::string cxl = "cxl(preset=cxl2_x16, switches=1)";
  const json device = group({"--load", "1", "--set", "memory.pool.group_memory=" + cxl});
  const json alone = result(Arguments{"--memory", cxl, "--block", "4 KiB", "--load", "1"});
  EXPECT_EQ(device["peak_GBps"], alone["peak_GBps"]);
  EXPECT_EQ(device["points"][0]["bandwidth_GBps"], alone["points"][0]["bandwidth_GBps"]);
  EXPECT_NEAR(device["idle_latency_ns"].get<double>(), alone["idle_latency_ns"].get<double>(), 1);
  const Ran none = memory({"--memory", "group"});
  EXPECT_EQ(none.status, 2);
  EXPECT_NE(none.err.find("no memory pool"), std::string::npos) << none.err;
}

TEST(Memory, BadOptionsSayWhatIsAllowed) {
  const std::vector<std::pair<Arguments, std::vector<std::string>>> cases = {
      {{"--pattern", "randon"}, {"--pattern 'randon'", "did you mean random"}},
      {{"--block", "0 B"}, {"--block 0 B", "from 1 B"}},
      {{"--block", "wide"}, {"--block", "wide"}},
      {{"--load", "0"}, {"--load '0'", "fractions of the peak"}},
      {{"--load", "1.5"}, {"--load '1.5'"}},
      {{"--read-fraction", "1.2"}, {"--read-fraction 1.2", "from 0"}},
      {{"--channels", "9"}, {"--channels 9", "has 8", "from 1 to 8"}},
      {{"--pseudo-channels", "3"}, {"--pseudo-channels 3"}},
      {{"--stacks", "2"}, {"--stacks 2", "hbm.stacks"}},
      {{"--memory", "hbmm"}, {"--memory 'hbmm'", "did you mean hbm"}},
      {{"--memory", "remote", "--channels", "1"}, {"hbm.model: banked", "not of the remote memory"}},
      {{"--pattern", "random", "--run", "4"}, {"--run 4", "sequential"}},
      {{"--pattern", "random", "--stride", "1 KiB"}, {"--stride 1 KiB", "sequential"}},
      {{"--range", "64 B"}, {"--block 64 B", "do not fit"}},
      {{"--blocks", "0"}, {"--blocks 0"}},
      {{"--set", "hbm.page_policy=shut"}, {"hbm.page_policy", "shut", "closed"}},
      {{"--set", "hbm.page_policy=capped(columns=0)"}, {"hbm.page_policy", "columns=0"}},
      {{"--set", "hbm.grouping=watermarks(high=99)"}, {"hbm.grouping", "high=99", "64"}},
      {{"--set", "hbm.scheduler=first_ready(depth=3)"}, {"hbm.scheduler", "depth"}},
      {{"--set", "hbm.address_map=fields(order=row-bank)"}, {"order=row-bank", "all parts"}},
      {{"--set", "hbm.refresh=all_bank(interval=300 ns)"}, {"hbm.refresh", "interval"}},
      {{"--set", "hbm.window=0"}, {"hbm.window"}},
  };
  for (const auto& [more, parts] : cases) {
    const Ran ran = memory(more);
    EXPECT_EQ(ran.status, 2) << more.back() << "\n" << ran.err;
    EXPECT_TRUE(ran.says(parts)) << more.back() << "\n" << ran.err;
  }
}

TEST(Memory, CxlDevicesHaveAnIdleLatencyAndACurve) {
  const double raw[] = {32, 64, 64, 128};
  size_t i = 0;
  for (const char* const preset : {"cxl2_x8", "cxl2_x16", "cxl3_x8", "cxl3_x16"}) {
    const auto named = [&](const char* more) {
      return Arguments{"--memory",  std::string("cxl(preset=") + preset + more + ")",
                       "--pattern", "random",
                       "--blocks",  "20000"};
    };
    const json j = result(named("") + Arguments{"--load", "0.1,0.5,0.8,1"});
    EXPECT_EQ(j["peak_GBps"], raw[i++]);
    EXPECT_GT(j["idle_latency_ns"].get<double>(), 170) << preset;
    EXPECT_LT(j["idle_latency_ns"].get<double>(), 250) << preset;
    double latency = j["idle_latency_ns"];
    for (const json& p : j["points"]) {
      EXPECT_GE(p["avg_latency_ns"].get<double>(), latency - 0.1) << preset;
      latency = p["avg_latency_ns"];
    }
    // Reads fill 86.9 or 87.5 % of the raw rate, but for the way of the first and the last ones.
    EXPECT_NEAR(j["points"][3]["bandwidth_GBps"].get<double>() / raw[i - 1], 0.868, 0.01) << preset;
    // Two switches on the way: 280 ns more.
    const json far = result(named(", switches=2") + Arguments{"--load", "0.1"});
    EXPECT_NEAR(far["idle_latency_ns"].get<double>() - j["idle_latency_ns"].get<double>(), 280, 1) << preset;
  }
  // Half the credits below the round trip, half the bandwidth.
  const auto sustained_with = [](int credits) {
    return result({"--memory", "cxl(preset=cxl2_x16, read_credits=" + std::to_string(credits) + ")",
                   "--pattern", "random", "--load", "1", "--blocks", "20000"})["points"][0]["bandwidth_GBps"]
        .get<double>();
  };
  EXPECT_NEAR(sustained_with(40) / sustained_with(80), 0.5, 0.01);
}

TEST(Memory, CxlIsTheConfigurationsWhereItHasOne) {
  const Arguments far = {"--set",    "remote_memory.implementation=cxl(preset=cxl2_x8, switches=1)",
                         "--set",    "remote_memory.latency=0 ns",
                         "--load",   "0.1",
                         "--blocks", "2000"};
  const json own = result(far + Arguments{"--memory", "cxl"});
  EXPECT_EQ(own["peak_GBps"], 50.0);
  EXPECT_GT(own["idle_latency_ns"].get<double>(), 330);
  EXPECT_EQ(own["points"], result(far + Arguments{"--memory", "remote"})["points"]);
  EXPECT_EQ(result({"--memory", "cxl", "--load", "0.1", "--blocks", "2000"})["peak_GBps"], 64.0);
}

TEST(Memory, HostsAndDrivesAreMeasured) {
  const Arguments tiers = {"--set",    "memory.host.bandwidth=200 GB/s",
                           "--set",    "memory.host.link_bandwidth=64 GB/s",
                           "--set",    "memory.host.latency=90 ns",
                           "--set",    "memory.nvme.bandwidth=20 GB/s",
                           "--set",    "memory.nvme.latency=70 us",
                           "--load",   "0.05,1",
                           "--blocks", "20000"};
  const Arguments pages = {"--block", "4 KiB"};
  const json host = result(tiers + pages + Arguments{"--memory", "host"});
  EXPECT_EQ(host["peak_GBps"], 200.0);
  EXPECT_NEAR(host["idle_latency_ns"].get<double>(), 90 + 20.48, 0.01);
  EXPECT_NEAR(host["points"][1]["bandwidth_GBps"].get<double>(), 200, 2);
  const json nvme = result(tiers + pages + Arguments{"--memory", "nvme"});
  EXPECT_NEAR(nvme["idle_latency_ns"].get<double>(), 70000 + 204.8, 0.01);
  EXPECT_NEAR(nvme["points"][1]["bandwidth_GBps"].get<double>(), 20, 1);
  // Blocks need no alignment.
  EXPECT_NEAR(result(tiers + Arguments{"--memory", "host", "--block", "1001 B", "--stride",
                                       "1003 B"})["points"][1]["bandwidth_GBps"]
                  .get<double>(),
              200, 4);
}

TEST(Memory, WhatCannotBeMeasuredSaysWhy) {
  const auto refused = [](const Arguments& more, const std::vector<std::string>& parts) {
    const Ran ran = memory(more);
    EXPECT_EQ(ran.status, 2) << ran.err;
    EXPECT_TRUE(ran.says(parts)) << ran.err;
  };
  refused({"--memory", "host"}, {"--memory host", "no `memory.host`"});
  refused({"--memory", "nvme"}, {"--memory nvme", "no `memory.nvme`"});
  refused({"--memory", "host", "--set", "memory.host.bandwidth=unlimited", "--set",
           "memory.host.link_bandwidth=1 GB/s"},
          {"`memory.host.bandwidth` is unlimited"});
  refused({"--memory", "cxl(preset=cxl9)"}, {"--memory", "there is no `cxl9`", "cxl3_x16"});
  refused({"--memory", "cxl(read_credits=0)"}, {"read_credits", "between 1 and"});
  refused({"--memory", "cxl(write_credits=0)"}, {"write_credits", "between 1 and"});
  refused({"--memory", "cxl(lanes=0)"}, {"lanes", "between 1 and"});
  refused({"--memory", "cxl(colour=red)"}, {"colour"});
  refused({"--memory", "cxl", "--channels", "2"}, {"--channels"});
  refused({"--memory", "cxll"}, {"unknown", "did you mean cxl?"});
  refused({"--memory", "cxl", "--block", "0 B"}, {"--block 0 B", "give from 1 B"});
  // A preset that contradicts the figures beside it.
  refused({"--memory", "remote", "--set", "remote_memory.implementation=cxl(preset=cxl3_x16)"},
          {"the link of cxl3_x16 carries", "`bandwidth` is 50 GB/s"});
}

}  // namespace
}  // namespace weft::test
