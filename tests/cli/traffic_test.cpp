// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `weft traffic` as a user runs it, and the presets of links.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "configs/loader.h"
#include "configs/packet_timing.h"
#include "sc_main/load_list.h"
#include "tests/cli/weft_process.h"
#include "tests/support/paths.h"
#include "tests/vcd/vcd_parser.h"
#include "tlm_interconnect/packet/buffer_check.h"

namespace weft::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Arguments = std::vector<std::string>;

const Arguments kShort = {"--warmup", "500", "--measure", "2000", "--seeds", "1", "--load", "0.2"};

/// Short runs unless `more` says otherwise: of an option given twice the last would be an error, so it is
/// left out here.
Ran traffic(Arguments more) {
  Arguments all = {"traffic"};
  for (size_t i = 0; i < kShort.size(); i += 2) {
    if (std::find(more.begin(), more.end(), kShort[i]) == more.end())
      all.insert(all.end(), {kShort[i], kShort[i + 1]});
  }
  all.insert(all.end(), more.begin(), more.end());
  return weft(all);
}

json result(Arguments more) {
  more.emplace_back("--json");
  const Ran ran = traffic(more);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return json::parse(ran.out, nullptr, false);
}

TEST(Traffic, JsonHasTheseKeysAndAllElseIsOnTheStandardError) {
  const Ran ran = traffic({"--topology", "Mesh(2)_Mesh(2)", "--load", "0.1:0.3:0.1", "--json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json parsed = json::parse(ran.out);
  std::set<std::string> keys;
  for (const auto& item : parsed.items()) keys.insert(item.key());
  EXPECT_EQ(keys, (std::set<std::string>{"points", "saturation", "packet_hops", "wall_s", "finished"}));
  ASSERT_EQ(parsed["points"].size(), 3u);
  for (const json& point : parsed["points"]) {
    keys.clear();
    for (const auto& item : point.items()) {
      keys.insert(item.key());
      EXPECT_TRUE(item.value().is_number()) << item.key();
    }
    EXPECT_EQ(keys, (std::set<std::string>{"load", "avg_latency", "p50", "p99", "accepted"}));
    EXPECT_LE(point["p50"], point["p99"]);
    EXPECT_NEAR(point["accepted"].get<double>(), point["load"].get<double>(), 0.06);
  }
  EXPECT_EQ(parsed["points"][2]["load"], 0.3) << "not 0.30000000000000004";
  EXPECT_GT(parsed["saturation"], 0.3);
  EXPECT_GT(parsed["packet_hops"], 0);
  EXPECT_TRUE(ran.says({"avg latency", "saturation"})) << "the table";
  EXPECT_EQ(traffic({"--topology", "Mesh(2)_Mesh(2)"}).err, "");
}

TEST(Traffic, CongestionControlOfAConfigurationIsUsedAndReported) {
  const vcd::test::TemporaryFolder folder;
  write(folder.file("machine.yaml"),
        "weft: 1\ntopology:\n  notation: Switch(8)\n  dimensions: [{bandwidth: 16 GB/s, latency: 100 ns}]\n"
        "packet:\n  ecn: {enabled: true, k_min: 200 B, k_max: 2 kB, p_max: 0.5}\n"
        "  dcqcn: {enabled: true, cnp_interval: 1 us, rate_timer: 2 us, byte_counter: 10 kB}\n");
  const Arguments run = {
      folder.file("machine.yaml"), "--pattern", "all_to_one", "--load", "0.5", "--buffer", "256"};
  const json r = result(run);
  EXPECT_GT(r["points"][0]["packets_marked"], 10);
  EXPECT_GT(r["points"][0]["notifications"], 5);
  EXPECT_EQ(r["points"][0]["flows_slowed"], 8) << "one for each sender, the receiver itself among them";
  for (const char* column : {"marked", "notifications", "flows slowed"})
    EXPECT_NE(traffic(run).out.find(column), std::string::npos) << column;
  Arguments off = run;
  off.insert(off.end(), {"--set", "packet.dcqcn.enabled=false", "--set", "packet.ecn.enabled=false"});
  EXPECT_FALSE(result(off)["points"][0].contains("packets_marked"));
  // Queues that no mark can come of are told.
  Arguments small = run;
  small.back() = "1";
  small.insert(small.end(), {"--packet-flits", "1", "--set", "packet.ecn.k_min=2 kB"});
  EXPECT_TRUE(traffic(small).says({"no queue can exceed ECN's k_min of 2000 B"}));
}

// T = 2 + 4 H + (N - 1) of docs/packet_fabric.md, H = 2 routers, nearly without load.
TEST(Traffic, ZeroLoadLatencyIsExact) {
  for (const uint32_t flits : {1u, 8u}) {
    const json r = result({"--topology", "Ring(8)", "--pattern", "neighbor", "--injection", "periodic",
                           "--load", "0.01", "--packet-flits", std::to_string(flits), "--measure", "10000"});
    EXPECT_EQ(r["points"][0]["avg_latency"], 2 + 4 * 2 + (flits - 1));
    EXPECT_EQ(r["points"][0]["p99"], 2 + 4 * 2 + (flits - 1));
  }
}

// Packets from before the measurement were still waiting: no latency, which is not one of 0.
TEST(Traffic, WithoutAMeasuredPacketThereIsNoLatency) {
  const Arguments overload = {"--topology", "Ring(5)_Ring(3)", "--buffer", "1",    "--vcs",     "2",
                              "--load",     "0.05,0.9",        "--warmup", "4000", "--measure", "1000"};
  const json r = result(overload);
  EXPECT_TRUE(r["points"][0]["p99"].is_number()) << r;
  for (const char* key : {"avg_latency", "p50", "p99"}) EXPECT_TRUE(r["points"][1][key].is_null()) << r;
  EXPECT_GT(r["points"][1]["accepted"], 0.05);
  const Ran ran = traffic(overload);
  EXPECT_TRUE(ran.says({"no measured packet arrived at load 0.9", "--warmup"})) << ran.err;
  EXPECT_NE(ran.out.find(" - "), std::string::npos) << ran.out;
}

TEST(Traffic, SomeGoldens) {
  WEFT_NEEDS_DATA();
  const json data = json::parse(std::ifstream(data_dir() + "/golden/network_gate.json"));
  int tried = 0;
  for (const json& curve : data["curves"]) {
    const bool mesh = curve["topology"] == "mesh8x8";
    if (!mesh && curve["topology"] != "switch8") continue;
    const json& golden = curve["points"][mesh ? 1 : 0];  // 40 % and 20 % of saturation
    const json r = result({"--topology",
                           mesh ? "Mesh(8)_Mesh(8)" : "Switch(8)",
                           "--pattern",
                           "uniform",
                           "--load",
                           std::to_string(golden["load"].get<double>()),
                           "--packet-flits",
                           "8",
                           "--vcs",
                           "4",
                           "--buffer",
                           "16",
                           "--seeds",
                           "3",
                           "--warmup",
                           "2000",
                           "--measure",
                           mesh ? "6000" : "30000",
                           "--switching-mode",
                           "packet_held"});
    const json& point = r["points"][0];
    const double latency = golden["avg_latency"];
    EXPECT_NEAR(point["avg_latency"].get<double>(), latency, 0.03 * latency) << curve["topology"];
    const double p99 = golden["p99"];
    EXPECT_NEAR(point["p99"].get<double>(), p99, 0.1 * p99) << curve["topology"];
    const double overload = curve["overload_accepted"];
    EXPECT_NEAR(r["saturation"].get<double>(), overload, 0.03 * overload) << curve["topology"];
    ++tried;
  }
  EXPECT_EQ(tried, 2);
}

TEST(Traffic, EveryTopologyAndPatternRuns) {
  for (const char* topology : {"Mesh(4)_Mesh(4)", "Ring(4)_Ring(4)", "FatTree(k=4,n=2)", "Switch(16)",
                               "Ring(4)_FatTree(k=2,n=2)", "Clos(hosts=4,leaves=4,spines=4)"}) {
    for (const char* pattern :
         {"uniform", "transpose", "bit_complement", "neighbor", "hotspot", "all_to_one"}) {
      const json r = result({"--topology", topology, "--pattern", pattern, "--load", "0.05"});
      EXPECT_GT(r["points"][0]["avg_latency"], 0) << topology << " " << pattern;
      EXPECT_NEAR(r["points"][0]["accepted"].get<double>(), 0.05, 0.03) << topology << " " << pattern;
    }
  }
}

TEST(Traffic, EveryOptionHasItsEffect) {
  const auto latency = [](Arguments more) {
    more.insert(more.begin(), {"--topology", "Ring(4)_Ring(4)"});
    return result(more)["points"][0]["avg_latency"].get<double>();
  };
  const double plain = latency({"--load", "0.3"});
  EXPECT_EQ(plain, latency({"--load", "0.3", "--jobs", "1"})) << "the same run gives the same result";
  const std::vector<Arguments> changes = {{"--no-self"},
                                          {"--seed", "7"},
                                          {"--seeds", "2"},
                                          {"--packet-flits", "4"},
                                          {"--vcs", "2"},
                                          {"--buffer", "4"},
                                          {"--switching-mode", "flit_interleaved"},
                                          {"--routing", "minimal_adaptive"},
                                          {"--vc-classes", "switched_dateline"},
                                          {"--injection", "periodic"},
                                          {"--link-latency", "3"},
                                          {"--measure", "2100"},
                                          {"--warmup", "600"}};
  for (Arguments change : changes) {
    const std::string name = change[0];
    change.insert(change.end(), {"--load", "0.3"});
    EXPECT_NE(latency(change), plain) << name;
  }
}

TEST(Traffic, PermutationFile) {
  const vcd::test::TemporaryFolder folder;
  write(folder.file("way.txt"), "# rank 0 first\n1\n0\n3\n2\n");
  const json r = result({"--topology", "Mesh(4)", "--pattern", folder.file("way.txt"), "--load", "0.01",
                         "--packet-flits", "1", "--measure", "10000", "--injection", "periodic"});
  EXPECT_EQ(r["points"][0]["avg_latency"], 2 + 4 * 2);
  const Ran both = traffic({"--topology", "Mesh(4)", "--pattern", folder.file("way.txt"), "--no-self"});
  EXPECT_EQ(both.status, 2);
  EXPECT_TRUE(both.says({"--no-self", "way.txt", "leave the option out"})) << both.err;
  for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
           {"1\n0\n", "4 ranks"}, {"1\n0\n3\nx\n", ":4"}, {"1\n0\n3\n4\n", "4 ranks"}}) {
    write(folder.file("way.txt"), text);
    const Ran ran = traffic({"--topology", "Mesh(4)", "--pattern", folder.file("way.txt")});
    EXPECT_EQ(ran.status, 2) << text;
    EXPECT_TRUE(ran.says({"--pattern", "way.txt", part})) << ran.err;
  }
}

// Latency and rate of the links count: 16 B take 160 ps at 100 GB/s and 320 ps at 50 GB/s.
TEST(Traffic, MachineOfAConfiguration) {
  const vcd::test::TemporaryFolder folder;
  const std::string machine = folder.file("machine.yaml");
  write(machine,
        "weft: 1\ntopology:\n  notation: Ring(4)_Mesh(2)\n  dimensions:\n"
        "    - {bandwidth: 100 GB/s, latency: 1600 ps}\n    - {bandwidth: 50 GB/s, latency: 3200 ps}\n");
  const Arguments base = {machine,    "--pattern",      "neighbor", "--load",   "0.01", "--injection",
                          "periodic", "--packet-flits", "1",        "--buffer", "64"};
  // Three routers; 9 cycles more on the first link, 19 on the second, where the flit takes one more.
  const double latency = result(base)["points"][0]["avg_latency"];
  EXPECT_NEAR(latency, 2 + 4 * 3 + 9 + 19, 2);
  Arguments longer = base;
  longer.insert(longer.end(), {"--set", "topology.dimensions[0].latency=3200 ps"});
  EXPECT_EQ(result(longer)["points"][0]["avg_latency"], latency + 10);
  // A link longer than the time after which a network without arrivals counts as stuck.
  const json slow =
      result({machine, "--pattern", "neighbor", "--load", "0.001", "--buffer", "64", "--set",
              "topology.dimensions[*].latency=8 us", "--warmup", "120000", "--measure", "50000"});
  EXPECT_GT(slow["points"][0]["avg_latency"], 100000);
}

// Packets, routers and buffers are those of the section `packet`, and options come before it.
TEST(Traffic, RoutersOfAConfiguration) {
  const vcd::test::TemporaryFolder folder;
  const std::string machine = folder.file("machine.yaml");
  write(machine,
        "weft: 1\ntopology:\n  notation: Ring(6)\n  dimensions: [{bandwidth: 16 GB/s, latency: 1 ns}]\n"
        "packet: {packet_size: 64 B, header: 16 B, vcs: 2, buffer_flits: 8, vc_classes: switched_dateline, "
        "switching: "
        "flit_interleaved}\nrun: {seed: 5}\n");
  const Arguments load = {"--load", "0.2,0.9"};
  const auto with = [&](Arguments all, const Arguments& more) {
    all.insert(all.end(), load.begin(), load.end());
    all.insert(all.end(), more.begin(), more.end());
    return result(all)["points"];
  };
  const Arguments options = {"--topology", "Ring(6)", "--packet-flits", "5", "--seed", "5"};
  EXPECT_EQ(with({machine}, {}),
            with(options, {"--vcs", "2", "--buffer", "8", "--vc-classes", "switched_dateline",
                           "--switching-mode", "flit_interleaved"}));
  EXPECT_EQ(with({machine}, {"--vcs", "4", "--buffer", "20", "--vc-classes", "dateline", "--switching-mode",
                             "packet_held"}),
            with(options, {"--buffer", "20"}));
  // Stages, and times of flits: three routers on the way of two links, 5 flits.
  write(folder.file("way.txt"), "2\n3\n4\n5\n0\n1\n");
  const auto alone = [&](const Arguments& sets) {
    Arguments all = {machine,       "--pattern", folder.file("way.txt"),
                     "--injection", "periodic",  "--load",
                     "0.01",        "--measure", "10000"};
    for (const std::string& set : sets) all.insert(all.end(), {"--set", set});
    return result(all)["points"][0]["p50"].get<double>();
  };
  EXPECT_EQ(alone({}), 2 + 4 * 3 + 4);
  EXPECT_EQ(alone({"packet.vc_alloc_cycles=3"}), 2 + 6 * 3 + 4);
  EXPECT_EQ(alone({"packet.header=0 B"}), 2 + 4 * 3 + 3);
  // A cycle of 1.5 ns and of 2 ns: latencies of two cycles.
  EXPECT_EQ(alone({"packet.phit_size=12 B", "topology.dimensions[0].latency=3 ns"}), 2 + 4 * 3 + 2 + 4);
  EXPECT_EQ(
      alone({"packet.header=0 B", "packet.header_efficiency=0.5", "topology.dimensions[0].latency=4 ns"}),
      2 + 4 * 3 + 2 + 3);
  EXPECT_EQ(alone({"packet.cycle=2 ns", "topology.dimensions[0].latency=4 ns"}), 2 + 4 * 3 + 2 + 4);
  // `auto` buffers cover the round trip.
  const Ran covered = traffic(
      {machine, "--set", "packet.buffer_flits=auto", "--set", "topology.dimensions[0].latency=90 ns"});
  EXPECT_EQ(covered.status, 0);
  EXPECT_EQ(covered.err, "");
  const Ran large = traffic({machine, "--set", "packet.flit_size=1 B", "--set", "packet.packet_size=1 MiB"});
  EXPECT_EQ(large.status, 2);
  EXPECT_TRUE(large.says({"machine.yaml", "1048592 flits", "--packet-flits"})) << large.err;
}

// A cycle of 1 ns: the same network by three names.
TEST(Traffic, ANotationNeedsNoOptionAndTreesAreMachinesToo) {
  const vcd::test::TemporaryFolder folder;
  const std::string packets = "packet: {packet_size: 128 B, buffer_flits: 16}\n";
  const std::string machine = folder.file("tree.yaml");
  write(machine,
        "weft: 1\ntopology:\n  notation: FatTree(k=4,n=2)\n  dimensions: [{bandwidth: 16 GB/s, latency: 1 "
        "ns}]\n" +
            packets);
  const json by_option = result({"--topology", "FatTree(k=4,n=2)"})["points"];
  EXPECT_EQ(result({"FatTree(k=4,n=2)"})["points"], by_option);
  EXPECT_EQ(result({machine})["points"], by_option);
  EXPECT_EQ(result({"FatTree(n=2,k=4)"})["points"], by_option);
  const std::string clos = folder.file("clos.yaml");
  write(
      clos,
      "weft: 1\ntopology:\n  notation: Clos(hosts=4,leaves=3,spines=2)\n  dimensions: [{bandwidth: 16 GB/s, "
      "latency: 1 ns}]\n" +
          packets);
  EXPECT_EQ(result({clos})["points"], result({"Clos(spines=2,hosts=4,leaves=3)"})["points"]);
  // A graph: its own routes, and less than a ring of all NPUs would take.
  const std::string graph = folder.file("graph.yaml");
  write(
      graph,
      "weft: 1\ntopology:\n  graph:\n    npus: 16\n    switches: 1\n    links: [{from: npu0..npu15, to: sw0, "
      "bandwidth: 16 GB/s, latency: 1 ns}]\n" +
          packets);
  EXPECT_NEAR(result({graph})["points"][0]["avg_latency"].get<double>(),
              result({"Switch(16)"})["points"][0]["avg_latency"].get<double>(), 0.5);
}

TEST(Traffic, ATreeIsADimension) {
  const vcd::test::TemporaryFolder folder;
  const std::string machine = folder.file("machine.yaml");
  write(machine,
        "weft: 1\ntopology:\n  notation: Ring(2)_Clos(hosts=4,leaves=2,spines=4)\n  dimensions: [{bandwidth: "
        "16 "
        "GB/s, latency: 1 ns}]\npacket: {packet_size: 128 B, buffer_flits: 16}\n");
  const json by_option = result({"Ring(2)_Clos(hosts=4,leaves=2,spines=4)"})["points"];
  EXPECT_EQ(result({machine})["points"], by_option);
  // Uplinks of a quarter of the bandwidth carry a quarter: half of the traffic changes leaves, and every rank
  // has one of them.
  const Arguments quarter = {machine, "--set", "topology.dimensions[1].levels=[{bandwidth: 4 GB/s}]",
                             "--selection", "random"};
  const double saturation = result(quarter)["saturation"];
  EXPECT_GT(saturation, 0.35);
  EXPECT_LT(saturation, 0.52);
  EXPECT_GT(result({machine, "--selection", "random"})["saturation"].get<double>(), 0.7);
}

TEST(Traffic, BuffersThatCannotCoverTheRoundTripAreWarnedOf) {
  const Ran ran = traffic({"--topology", "Ring(4)", "--link-latency", "100"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(ran.says({"warning", "links of dimension 0", "credit round trip of 204 ns", "flits per VC"}))
      << ran.err;
}

TEST(Traffic, LinksOfAGraphAreToldApartInWarnings) {
  const Ran ran =
      traffic({weft::test::source_dir() + "/configs/examples/group_4_and_6.yaml", "--buffer", "16"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(ran.says({"links with a flit every 320 ps and a latency of 400 ns: buffers of 16 flits",
                        "links with a flit every 80 ps and a latency of 1 us: buffers of 16 flits"}))
      << ran.err;
}

TEST(Traffic, ADeadlockIsNamedBeforehandAndExplainedAfterwards) {
  const Arguments dangerous = {"--topology", "Ring(8)",  "--vcs", "1",      "--vc-classes",
                               "none",       "--buffer", "4",     "--load", "0.9",
                               "--measure",  "20000",    "--json"};
  const Ran ran = traffic(dangerous);
  EXPECT_EQ(ran.status, 4) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_TRUE(ran.says({"warning: Ring(8)", "can deadlock", "router_0", "Use vc_classes: dateline"}))
      << ran.err;
  EXPECT_TRUE(ran.says({"error: ", "Deadlock: a cycle of", "waits for", "--vc-classes dateline"})) << ran.err;
  const Ran other = traffic({"--topology", "Ring(4)_Ring(4)", "--routing", "shortest_path", "--buffer", "8",
                             "--load", "0.9", "--measure", "20000"});
  EXPECT_EQ(other.status, 4) << other.err;
  EXPECT_TRUE(other.says({"As options: Use --routing dimension_order with --vc-classes dateline"}))
      << other.err;
}

TEST(Traffic, BadOptionsNameThemselvesTheValueAndWhatIsAllowed) {
  const struct {
    Arguments arguments;
    std::vector<std::string> parts;
  } cases[] = {{{"--pattern", "unifrm"}, {"--pattern 'unifrm'", "mean uniform", "all_to_one"}},
               {{"--pattern", "permutation"}, {"--pattern", "file"}},
               {{"--pattern", "hotspot", "--hotspot-rank", "16"}, {"--pattern hotspot", "16", "16 ranks"}},
               {{"--pattern", "hotspot", "--hotspot-weight", "0"}, {"weight", "above 0"}},
               {{"--pattern", "hotspt", "--hotspot-rank", "1"}, {"--pattern 'hotspt'", "mean hotspot"}},
               {{"--hotspot-rank", "1"}, {"--hotspot-rank 1", "--pattern uniform", "all_to_one"}},
               {{"--pattern", "all_to_one", "--hotspot-weight", "9"}, {"--hotspot-weight 9", "give hotspot"}},
               {{"--load", "0"}, {"--load '0'", "between"}},
               {{"--load", "1.5"}, {"--load '1.5'", "and 1"}},
               {{"--load", "nan"}, {"--load 'nan'"}},
               {{"--load", "0.1:0.9"}, {"--load", "three"}},
               {{"--load", "0.9:0.1:0.1"}, {"larger than the last"}},
               {{"--load", "0.1:0.9:0"}, {"step", "above 0"}},
               {{"--load", "0.1:0.9:1e-9"}, {"more than 1000"}},
               {{"--load", "0.1,,0.2"}, {"--load"}},
               {{"--packet-flits", "0"}, {"--packet-flits 0", "from 1"}},
               {{"--packet-flits", "-8"}, {"--packet-flits", "-8"}},
               {{"--vcs", "0"}, {"--vcs 0", "from 1 to 64"}},
               {{"--vcs", "65"}, {"--vcs 65"}},
               {{"--vcs", "1"}, {"Ring", "at least 2 VCs"}},
               {{"--buffer", "0"}, {"--buffer 0"}},
               {{"--seeds", "0"}, {"--seeds 0"}},
               {{"--seeds", "many"}, {"--seeds", "many"}},
               {{"--measure", "0"}, {"--measure 0"}},
               {{"--jobs", "0"}, {"--jobs 0"}},
               {{"--switching-mode", "held"}, {"--switching-mode 'held'", "flit_interleaved"}},
               {{"--routing", "dimension_odrer"}, {"--routing", "mean dimension_order"}},
               {{"--routing", "nearest_common_ancestor"}, {"nearest_common_ancestor"}},
               {{"--selection", "x"}, {"--selection 'x'", "most_credits"}},
               {{"--vc-classes", "x"}, {"--vc-classes 'x'", "dateline"}},
               {{"--vc-classes", "bubble", "--buffer", "8"}, {"bubble", "enlarge"}},
               {{"--injection", "x"}, {"--injection 'x'", "periodic"}},
               {{"--link-latency", "0"}, {"--link-latency 0"}},
               {{"--set", "npu.peak=1 TFLOPS"}, {"--set", "configuration"}},
               {{"machine.yaml"}, {"both given"}},
               {{"--pattern", ""}, {"--pattern"}},
               {{"--nonsense", "1"}, {"--nonsense", "weft traffic --help"}}};
  for (const auto& c : cases) {
    Arguments arguments = c.arguments;
    arguments.insert(arguments.end(), {"--topology", "Ring(4)_Ring(4)", "--json"});
    const Ran ran = traffic(arguments);
    EXPECT_EQ(ran.status, 2) << c.arguments[0] << ": " << ran.err;
    EXPECT_EQ(ran.out, "") << c.arguments[0];
    EXPECT_TRUE(ran.says(c.parts)) << c.arguments[0] << ": " << ran.err;
  }
  for (const auto& [topology, part] :
       std::vector<std::pair<std::string, std::string>>{{"Rong(4)", "Rong"},
                                                        {"Ring(0)", "at least 1"},
                                                        {"Ring(4)_", "kind is missing"},
                                                        {"Ring(k4)", "size"},
                                                        {"FatTree(k=1,n=3)", "less than 2"},
                                                        {"FatTree(k=99,n=9)", "more than"},
                                                        {"FatTree(k=4,n=9)", "smaller"},
                                                        {"FatTree(k=4)", "`n`"},
                                                        {"FullyConnected(60000)", "Switch"},
                                                        {"Ring(99999)", "smaller"},
                                                        {"Ring(300)_Ring(300)", "smaller"},
                                                        {"Ring(99999999999999999999)", "larger than"}}) {
    const Ran ran = traffic({"--topology", topology});
    EXPECT_EQ(ran.status, 2) << topology;
    EXPECT_TRUE(ran.says({"--topology", part})) << ran.err;
  }
  EXPECT_TRUE(
      traffic({"--topology", "Ring(6)", "--pattern", "transpose"}).says({"--pattern", "power of two"}));
  EXPECT_TRUE(traffic({"--topology", "Switch(1)", "--no-self"}).says({"--no-self", "one rank"}));
  EXPECT_TRUE(traffic({}).says({"--topology"}));
  EXPECT_EQ(traffic({}).status, 2);
  EXPECT_EQ(traffic({"absent.yaml"}).status, 2);
}

TEST(LoadList, RangesHitTheirLastLoad) {
  const std::vector<double> tenths = cli::parse_loads("0.1:0.9:0.1");
  EXPECT_EQ(tenths, (std::vector<double>{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}));
  EXPECT_EQ(cli::parse_loads("0.1:0.35:0.1"), (std::vector<double>{0.1, 0.2, 0.3}));
  EXPECT_EQ(cli::parse_loads("0.3, 0.05"), (std::vector<double>{0.3, 0.05}));
  EXPECT_EQ(cli::parse_loads("1:1:1"), (std::vector<double>{1}));
}

// -- configs/links

/// A preset as a dimension of a machine, as docs/guide/traffic.md shows it.
std::string machine_with(const std::string& preset) {
  std::string text = "weft: 1\ntopology:\n  notation: Switch(8)\n  dimensions:\n    -\n";
  size_t at = 0;
  while (at < preset.size()) {
    const size_t end = std::min(preset.find('\n', at), preset.size());
    text += "      " + preset.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return text;
}

TEST(LinkPresets, EveryOneLoadsSaysItsSourcesAndItsBufferIsDocumented) {
  const std::string guide = read(weft::test::source_dir() + "/docs/guide/traffic.md");
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(weft::test::source_dir() + "/configs/links")) {
    const std::string name = entry.path().stem().string();
    SCOPED_TRACE(name);
    names.insert(name);
    const std::string preset = read(entry.path().string());
    const Config config = parse_config(machine_with(preset), entry.path().string());
    ASSERT_EQ(config.dimensions.size(), 1u);
    const DimensionConfig& d = config.dimensions[0];
    EXPECT_GE(d.link_rate().value(), 50e9);
    EXPECT_NE(preset.find("latency:"), std::string::npos);
    for (const char* part : {"# bandwidth: ", "# latency: ", "# packets", "unverified", "https://"})
      EXPECT_NE(preset.find(part), std::string::npos) << part;

    // The guide's table: packets of 256 B in flits of 16 B, 4 VCs of 16 flits, the router's default pipeline.
    packet::PacketConfig network;
    network.cycle = flit_time({}, d.link_rate());
    packet::LinkTiming link;
    link.latency = ticks(d.latency);
    link.flit_time = network.cycle;
    const std::string warning = packet::buffer_warning(name, network, link, 16);
    ASSERT_FALSE(warning.empty());
    const size_t share = warning.find("at most ") + 8;
    const size_t enough = warning.find("about ") + 6;
    char row[200];
    std::snprintf(
        row, sizeof row, "| `%s` | %.1f ns | %s %% | %s |", name.c_str(),
        static_cast<double>(packet::credit_round_trip(network, link)) / static_cast<double>(ticks(1000)),
        warning.substr(share, warning.find(" %", share) - share).c_str(),
        warning.substr(enough, warning.find(' ', enough) - enough).c_str());
    EXPECT_NE(guide.find(row), std::string::npos) << "docs/guide/traffic.md lacks the row\n" << row;
  }
  EXPECT_EQ(names, (std::set<std::string>{"cxl3_x16", "infiniband_ndr", "nvlink4", "nvlink5", "roce_400g",
                                          "ualink_200g_x4", "xgmi_mi300x"}));
}

TEST(Traffic, PriorityFlowControl) {
  const Arguments hotspot = {"--topology", "Switch(8)", "--pattern", "all_to_one",
                             "--vcs",      "1",         "--load",    "0.5"};
  Arguments pfc = hotspot;
  pfc.insert(pfc.end(), {"--buffer", "64", "--pfc"});
  const json with = result(pfc);
  EXPECT_GT(with["points"][0]["pauses"], 0);
  EXPECT_GT(with["points"][0]["paused_share"], 0.1);
  EXPECT_LT(with["points"][0]["paused_share"], 1.0);
  EXPECT_EQ(with["points"][0]["overruns"], 0);
  EXPECT_FALSE(result(hotspot)["points"][0].contains("pauses"));

  Arguments lossy = hotspot;
  lossy.insert(lossy.end(), {"--pfc", "--pfc-xoff", "16", "--pfc-delay", "20"});
  const Ran ran = traffic(lossy);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(ran.err.find("priority flow control pauses at 16 of 16 flits, a headroom of 0"),
            std::string::npos)
      << ran.err;
  EXPECT_NE(ran.err.find("packets found a full buffer without having been paused"), std::string::npos)
      << ran.err;
  EXPECT_NE(ran.out.find("overruns"), std::string::npos) << ran.out;

  const Ran alone = traffic({"--topology", "Switch(8)", "--pfc-xoff", "8"});
  EXPECT_EQ(alone.status, 2) << alone.err;
  EXPECT_NE(alone.err.find("give --pfc as well"), std::string::npos) << alone.err;
  const Ran above = traffic({"--topology", "Switch(8)", "--pfc", "--pfc-xoff", "17"});
  EXPECT_EQ(above.status, 2) << above.err;
  EXPECT_NE(above.err.find("--pfc-xoff 17: a buffer has 16 flits; give from 1 to 16"), std::string::npos)
      << above.err;
  const Ran ring = traffic({"--topology", "Ring(8)", "--pfc", "--buffer", "64"});
  EXPECT_NE(ring.err.find("can deadlock"), std::string::npos) << ring.err;
}

}  // namespace
}  // namespace weft::test
