// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Packet size, phits and header efficiency of a dimension's own: what they do to times, and where they cannot
// be.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/weft_process.h"
#include "tests/vcd/vcd_parser.h"

namespace weft::test {
namespace {

/// Machines at packet fidelity, of 64 B flits.
class DimensionPackets : public ::testing::Test {
 protected:
  /// The path of a configuration. `dimensions`: what follows bandwidth and latency of each; `packet`: more
  /// keys.
  std::string machine(const std::string& notation, const std::vector<std::string>& dimensions,
                      const std::string& packet = "") {
    std::string text = "weft: 1\ntopology:\n  notation: " + notation + "\n  dimensions:\n";
    for (const std::string& more : dimensions) text += "    - {latency: 120 ns, " + more + "}\n";
    const std::string file = folder_.file("machine" + std::to_string(files_++) + ".yaml");
    write(file, text + "packet: {flit_size: 64 B" + packet + "}\n");
    return file;
  }
  /// Of an all-gather, in ps.
  static double time_of(const std::string& file) {
    const Ran ran =
        weft({"collective", file, "--op", "all_gather", "--size", "40 KiB", "--chunks", "1", "--json"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    if (ran.status != 0) return 0;
    return 1000 * nlohmann::json::parse(ran.out)["results"][0]["time_ns"].get<double>();
  }
  static void expect_refused(const std::string& file, const std::vector<std::string>& parts) {
    const Ran ran = weft({"validate", file});
    EXPECT_EQ(ran.status, 2) << ran.out;
    EXPECT_TRUE(ran.says(parts)) << ran.err;
  }

  vcd::test::TemporaryFolder folder_;
  int files_ = 0;
};

const std::string kLink = "bandwidth: 64 GB/s, fidelity: packet";

TEST_F(DimensionPackets, OfAllDimensionsAreThoseOfTheMachine) {
  const std::string keys = ", packet_size: 512 B, phit_size: 48 B, header_efficiency: 0.8";
  for (const char* notation : {"Switch(4)", "Ring(4)", "Clos(hosts=2,leaves=2,spines=2)_Ring(2)"}) {
    const size_t n = std::string(notation).find(")_") == std::string::npos ? 1 : 2;
    const double plain = time_of(machine(notation, std::vector<std::string>(n, kLink)));
    const double machines = time_of(machine(notation, std::vector<std::string>(n, kLink), keys));
    const double own = time_of(machine(notation, std::vector<std::string>(n, kLink + keys)));
    EXPECT_EQ(own, machines) << notation;
    EXPECT_GT(own, 1.4 * plain) << notation;
  }
}

TEST_F(DimensionPackets, HalfTheEfficiencyIsTwiceTheTimeButForLatencies) {
  // One message over two hops of 120 ns: all else is cycles, and a cycle is the time of a flit.
  const double hops = 240000;
  const double whole = time_of(machine("Switch(2)", {kLink}));
  const double half = time_of(machine("Switch(2)", {kLink + ", header_efficiency: 0.5"}));
  EXPECT_GT(whole, hops);
  EXPECT_EQ(half - hops, 2 * (whole - hops));
}

TEST_F(DimensionPackets, FlitsTakeWholePhitsOfTheirOwnDimension) {
  // 64 B take two phits of 48 B: 96 B of 60 GB/s, as long as 64 B of 40 GB/s.
  const std::string fast = "bandwidth: 60 GB/s, fidelity: packet",
                    slow = "bandwidth: 40 GB/s, fidelity: packet";
  const double slower = time_of(machine("Ring(4)_Ring(3)", {fast, slow}));
  EXPECT_EQ(time_of(machine("Ring(4)_Ring(3)", {fast, fast + ", phit_size: 48 B"})), slower);
  EXPECT_LT(time_of(machine("Ring(4)_Ring(3)", {fast, fast})), slower);
}

TEST_F(DimensionPackets, NetworksHaveTheirOwnPacketSizes) {
  const std::string ring = "bandwidth: 64 GB/s, fidelity: message";
  const auto sized = [&](const char* first, const char* last) {
    return machine("Switch(2)_Ring(2)_Switch(2)",
                   {kLink + ", packet_size: " + first, ring, kLink + ", packet_size: " + last},
                   ", header: 16 B");
  };
  // A header of 16 B makes a packet of 256 B five flits, and one of 4 KiB sixty-five.
  const double small = time_of(sized("256 B", "256 B"));
  const double mixed = time_of(sized("256 B", "4 KiB"));
  const double large = time_of(sized("4 KiB", "4 KiB"));
  EXPECT_LT(mixed, small);
  EXPECT_LT(large, mixed);
  EXPECT_EQ(time_of(machine("Switch(2)_Ring(2)_Switch(2)", {kLink, ring, kLink + ", packet_size: 4 KiB"},
                            ", header: 16 B")),
            mixed);
}

TEST_F(DimensionPackets, OneNetworkHasOnePacketSize) {
  expect_refused(machine("Switch(2)_Ring(4)", {kLink + ", packet_size: 512 B", kLink}),
                 {"topology.dimensions[].packet_size", "512 B in dimension 0 (Switch(2))",
                  "256 B in dimension 1 (Ring(4))", "`fidelity`"});
  const Ran ran = weft({"validate", machine("Switch(2)_Ring(4)", {kLink + ", packet_size: 256 B", kLink})});
  EXPECT_EQ(ran.status, 0) << ran.err;
}

TEST_F(DimensionPackets, WhatCannotBeIsRefused) {
  expect_refused(machine("Ring(4)", {kLink + ", header_efficiency: 0.9"}, ", header: 8 B"),
                 {"topology.dimensions[0].header_efficiency", "`packet.header` (8 B)", "twice"});
  expect_refused(machine("FatTree(4,2)", {kLink + ", phit_size: 8 B"}),
                 {"topology.dimensions[0].phit_size", "FatTree(k=4,n=2)", "`packet.phit_size`"});
  expect_refused(machine("Ring(4)", {kLink + ", header_efficiency: 0"}),
                 {"topology.dimensions[0].header_efficiency", "0.01"});
}

TEST_F(DimensionPackets, EffectiveConfigurationsAndDescriptionsHaveThem) {
  const std::string file = machine("Switch(4)", {kLink + ", packet_size: 512 B, phit_size: 48 B"});
  const Ran shown = weft({"describe", file});
  EXPECT_NE(shown.out.find("of 512 B, phits of 48 B, header efficiency 1"), std::string::npos) << shown.out;
  write(folder_.file("job.txt"), "DATA\n1\nlayer -1 9 NONE 0 9 NONE 0 9 ALLREDUCE 4096 9\n");
  const Ran ran = weft({"run", file, "--text", folder_.file("job.txt"), "--out", folder_.file("out")});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(time_of(folder_.file("out/effective.yaml")), time_of(file));
  EXPECT_NE(read(folder_.file("out/effective.yaml")).find("phit_size: 48 B"), std::string::npos);
}

TEST_F(DimensionPackets, SyntheticTrafficHasThem) {
  const auto latency_of = [&](const std::string& file) {
    const Ran ran = weft({"traffic", file, "--pattern", "uniform", "--load", "0.1", "--json"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    return ran.status == 0 ? nlohmann::json::parse(ran.out)["points"][0]["avg_latency"].dump() : "";
  };
  const std::string keys = ", packet_size: 512 B, phit_size: 48 B";
  const std::string own = latency_of(machine("Ring(4)_Ring(4)", {kLink + keys, kLink + keys}));
  EXPECT_EQ(own, latency_of(machine("Ring(4)_Ring(4)", {kLink, kLink}, keys)));
  EXPECT_NE(own, latency_of(machine("Ring(4)_Ring(4)", {kLink, kLink})));
}

}  // namespace
}  // namespace weft::test
