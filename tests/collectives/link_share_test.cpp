// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The share of an NPU's links that a plan can use, against figures worked out by hand from the shape of each
// dimension and algorithm, and the change that lifts it.

#include "workload/collectives/link_share.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "configs/loader.h"

namespace weft::collectives {
namespace {

/// Dimensions of 100 GB/s a link, and more keys below.
Config machine(const std::string& notation, const std::string& more = "") {
  return parse_config("weft: 1\ntopology:\n  notation: " + notation +
                          "\n  dimensions: [{bandwidth: 100 GB/s, latency: 500 ns}]\n" + more,
                      "machine.yaml");
}

const Group kWorld;

struct Found {
  LinkShare share;
  ShareRemedy remedy;
  /// "1/2 7/7": links used and there, by dimension.
  std::string links() const {
    std::string text;
    for (const LinkShare::Dimension& d : share.dimensions)
      text += (text.empty() ? "" : " ") + std::to_string(d.used) + "/" + std::to_string(d.links);
    return text;
  }
};

Found look(const Config& config, CollectiveOp op = CollectiveOp::all_reduce, uint32_t root = 0) {
  PlanBuilder plans(config);
  CollectiveRequest request;
  request.op = op;
  request.bytes = uint64_t{1} << 34;
  request.group = &kWorld;
  request.root = root;
  const auto plan = plans.plan(request);
  return {link_share(config, *plan), share_remedy(plans, *plan)};
}

std::string algorithm(const std::string& op, const std::string& name, uint32_t chunks = 4,
                      const std::string& more = "") {
  return "collectives: {" + op + ": " + name + ", chunks: " + std::to_string(chunks) + more + "}\n";
}

TEST(LinkShare, ARingAlgorithmUsesOneDirection) {
  const Found one = look(machine("Ring(8)", algorithm("all_reduce", "ring")));
  EXPECT_EQ(one.links(), "1/2");
  EXPECT_DOUBLE_EQ(one.share.used, 100e9);
  EXPECT_DOUBLE_EQ(one.share.available, 200e9);
  EXPECT_DOUBLE_EQ(one.share.share(), 0.5);
  EXPECT_EQ(one.remedy.keys, "`collectives.queues_per_dimension: 2`");
  EXPECT_DOUBLE_EQ(one.remedy.share, 1);

  const Found two = look(machine("Ring(8)", algorithm("all_reduce", "ring", 4, ", queues_per_dimension: 2")));
  EXPECT_EQ(two.links(), "2/2");
  EXPECT_EQ(two.remedy.keys, "");

  // One chunk goes one way, whatever there are queues for.
  const Found lonely =
      look(machine("Ring(8)", algorithm("all_reduce", "ring", 1, ", queues_per_dimension: 2")));
  EXPECT_EQ(lonely.links(), "1/2");
  EXPECT_EQ(lonely.remedy.keys, "`collectives.chunks: 4`");
  const Found both = look(machine("Ring(8)", algorithm("all_reduce", "ring", 1)));
  EXPECT_EQ(both.remedy.keys, "`collectives.queues_per_dimension: 2` and `collectives.chunks: 4`");
  EXPECT_DOUBLE_EQ(both.remedy.share, 1);
}

TEST(LinkShare, DirectGoesBothWaysRoundARing) {
  EXPECT_EQ(look(machine("Ring(8)", algorithm("all_to_all", "direct")), CollectiveOp::all_to_all).links(),
            "2/2");
  // In a ring of two both links lead to the same neighbour, and a message takes one of them.
  EXPECT_EQ(look(machine("Ring(2)", algorithm("all_to_all", "direct")), CollectiveOp::all_to_all).links(),
            "1/2");
}

TEST(LinkShare, AFullConnectionHasALinkToEachPeer) {
  const Found halving = look(machine("FullyConnected(8)", algorithm("all_reduce", "halving_doubling")));
  EXPECT_EQ(halving.links(), "1/7");  // a partner a round, one chunk at a time
  EXPECT_NEAR(halving.share.share(), 1.0 / 7, 1e-12);
  EXPECT_EQ(halving.remedy.keys, "`collectives.all_reduce: direct`");
  EXPECT_DOUBLE_EQ(halving.remedy.share, 1);
  EXPECT_EQ(look(machine("FullyConnected(8)",
                         algorithm("all_reduce", "halving_doubling", 4, ", active_chunks_per_dimension: 2")))
                .links(),
            "2/7");
  EXPECT_EQ(look(machine("FullyConnected(8)", algorithm("all_reduce", "direct"))).links(), "7/7");
  EXPECT_EQ(look(machine("FullyConnected(8)", algorithm("all_reduce", "ring"))).links(), "1/7");
}

TEST(LinkShare, ASwitchHasOneLink) {
  for (const char* name : {"ring", "direct", "halving_doubling", "in_switch"}) {
    const Found found = look(machine("Switch(8)", algorithm("all_reduce", name)));
    EXPECT_EQ(found.links(), "1/1") << name;
    EXPECT_EQ(found.remedy.keys, "") << name;
  }
}

TEST(LinkShare, AMeshOfTwoHasOneLink) {
  EXPECT_EQ(look(machine("Mesh(2)", algorithm("all_reduce", "ring"))).links(), "1/1");
  EXPECT_EQ(look(machine("Mesh(5)", algorithm("all_to_all", "direct")), CollectiveOp::all_to_all).links(),
            "2/2");
}

// What comes in at the root of a gather is what goes out at the root of a scatter.
TEST(LinkShare, RootsThatReceive) {
  for (const char* notation : {"Ring(8)", "Mesh(8)", "FullyConnected(8)", "Switch(8)"}) {
    for (const char* name : {"ring", "direct", "halving_doubling"}) {
      for (const uint32_t root : {0u, 3u}) {
        const auto links = [&](CollectiveOp op) {
          return look(machine(notation, algorithm(to_string(op), name)), op, root).links();
        };
        EXPECT_EQ(links(CollectiveOp::reduce), links(CollectiveOp::broadcast)) << notation << " " << name;
        EXPECT_EQ(links(CollectiveOp::gather), links(CollectiveOp::scatter)) << notation << " " << name;
      }
    }
  }
  EXPECT_EQ(look(machine("Ring(8)", algorithm("reduce", "ring")), CollectiveOp::reduce).links(), "1/2");
  EXPECT_EQ(look(machine("Ring(8)", algorithm("gather", "direct")), CollectiveOp::gather).links(), "2/2");
  EXPECT_EQ(look(machine("FullyConnected(8)", algorithm("gather", "direct")), CollectiveOp::gather).links(),
            "7/7");
}

// A chunk is in one dimension at a time: with fewer chunks than dimensions the fastest ones count.
TEST(LinkShare, FewerChunksThanDimensions) {
  const auto three = [](uint32_t chunks) {
    return parse_config(
        "weft: 1\ntopology:\n  notation: Switch(2)_Switch(2)_Switch(2)\n  dimensions:\n"
        "    - {bandwidth: 400 GB/s}\n    - {bandwidth: 200 GB/s}\n    - {bandwidth: 100 GB/s}\n"
        "collectives: {chunks: " +
            std::to_string(chunks) + "}\n",
        "machine.yaml");
  };
  EXPECT_DOUBLE_EQ(look(three(1)).share.used, 400e9);
  EXPECT_DOUBLE_EQ(look(three(2)).share.used, 600e9);
  EXPECT_DOUBLE_EQ(look(three(3)).share.used, 700e9);
  EXPECT_DOUBLE_EQ(look(three(4)).share.share(), 1);
  EXPECT_NEAR(look(three(1)).share.share(), 4.0 / 7, 1e-12);
  EXPECT_EQ(look(three(1)).remedy.keys, "`collectives.chunks: 4`");
}

TEST(LinkShare, LinksThatAreGangedCountWithTheirRate) {
  const Config config = parse_config(
      "weft: 1\ntopology:\n  notation: Ring(4)\n  dimensions: [{bandwidth: 100 GB/s, links_per_npu: 3}]\n"
      "collectives: {all_reduce: ring, chunks: 4}\n",
      "machine.yaml");
  EXPECT_DOUBLE_EQ(look(config).share.used, 300e9);
  EXPECT_DOUBLE_EQ(look(config).share.available, 600e9);
}

// The long way of looking, message by message, is cut short for long algorithms: that changes nothing.
TEST(LinkShare, ManyNpus) {
  EXPECT_EQ(look(machine("Ring(5000)", algorithm("all_reduce", "ring"))).links(), "1/2");
  EXPECT_EQ(look(machine("Ring(5000)", algorithm("all_gather", "ring")), CollectiveOp::all_gather).links(),
            "1/2");
  EXPECT_EQ(look(machine("FullyConnected(200)", algorithm("all_reduce", "direct"))).links(), "199/199");
}

TEST(LinkShare, SaysNothingWhereMessagesTakeOtherWays) {
  const Config graph = parse_config(
      "weft: 1\ntopology:\n  graph:\n    npus: 4\n    links:\n"
      "      - {from: npu0..npu3, to: npu0..npu3, bandwidth: 50 GB/s}\n",
      "machine.yaml");
  const Config mapped = parse_config(
      "weft: 1\ntopology:\n  notation: Ring(4)\n  mapping: [0, 2, 1, 3]\n  dimensions: [{bandwidth: 50 "
      "GB/s}]\n",
      "machine.yaml");
  for (const Config* config : {&graph, &mapped}) {
    const Found found = look(*config);
    EXPECT_TRUE(found.share.dimensions.empty());
    EXPECT_DOUBLE_EQ(found.share.share(), 1);
    EXPECT_EQ(found.remedy.keys, "");
  }
  EXPECT_TRUE(
      look(machine("Ring(4)_Ring(2)", "collectives: {all_reduce: one_ring}\n")).share.dimensions.empty());
}

}  // namespace
}  // namespace weft::collectives
