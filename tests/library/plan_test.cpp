// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Plans of the communication libraries: what the search finds, where the tuner changes its mind, channels and
// chunks by size, and the closed forms against sums written out here.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "tests/library/machines.h"
#include "workload/library/communication_library.h"
#include "workload/library/cube_mesh.h"

namespace weft::test {
namespace {

using library::CommunicationLibrary;
using library::LibraryAlgorithm;
using library::LibraryMachine;
using library::LibraryOp;
using library::LibraryPlan;
using library::Protocol;

constexpr uint64_t kKiB = 1 << 10;
constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kGiB = 1 << 30;
const LibraryParameters kPlain{0, 1, 1};

LibraryPlan plan(const CommunicationLibrary& library, uint64_t bytes, LibraryOp op = LibraryOp::all_reduce,
                 const std::vector<uint32_t>& ranks = {}) {
  return library.plan({op, bytes, ranks});
}

void expect_graph(const LibraryMachine& machine, uint32_t channels, double speed, uint32_t most) {
  const CommunicationLibrary library(machine);
  EXPECT_EQ(library.ring_graph().channels, channels) << machine.gpu;
  EXPECT_DOUBLE_EQ(library.ring_graph().speed, speed) << machine.gpu;
  EXPECT_EQ(library.most_channels(), most) << machine.gpu;
}

std::string refusal(const LibraryMachine& machine) {
  try {
    const CommunicationLibrary library(machine);
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::usage);
    return e.what();
  }
  return "accepted";
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// -- search

TEST(LibrarySearch, FindsTheGraphsOfKnownMachines) {
  expect_graph(dgx_1v(), 6, 20, 12);
  expect_graph(one_node("A100"), 12, 20, 24);
  expect_graph(one_node("H100"), 12, 30, 24);
  expect_graph(nodes_of_8("A100", 2, 8, 25), 8, 24, 16);
  expect_graph(nodes_of_8("H100", 2, 8, 50), 8, 48, 16);
  expect_graph(nodes_of_8("H100", 16, 8, 50), 8, 48, 16);
}

TEST(LibrarySearch, NvlsHasOneHeadAGpu) {
  const CommunicationLibrary node(one_node("H100"));
  EXPECT_EQ(node.nvls_graph().channels, 8u);
  EXPECT_DOUBLE_EQ(node.nvls_graph().speed, 40);
  const CommunicationLibrary nodes(nodes_of_8("H100", 2, 8, 50));
  EXPECT_DOUBLE_EQ(nodes.nvls_graph().speed, 45);
  EXPECT_EQ(CommunicationLibrary(one_node("A100")).nvls_graph().channels, 0u);
}

TEST(LibrarySearch, TreesOfTwoNodesAreFasterInside) {
  const CommunicationLibrary two(nodes_of_8("A100", 2, 8, 25));
  EXPECT_DOUBLE_EQ(two.tree_graph().speed, 30);
  EXPECT_DOUBLE_EQ(two.tree_graph().inter_speed, 24);
  EXPECT_DOUBLE_EQ(CommunicationLibrary(nodes_of_8("A100", 4, 8, 25)).tree_graph().speed, 24);
}

TEST(LibrarySearch, AGivenGraphReplacesIt) {
  LibraryMachine machine = one_node("H100");
  machine.ring = library::SearchGraph{4, 10, 0};
  expect_graph(machine, 4, 10, 8);
}

TEST(LibrarySearch, ASlowNicStillGivesAChannel) {
  const CommunicationLibrary library(nodes_of_8("A100", 2, 1, 0.1));
  EXPECT_EQ(library.ring_graph().channels, 1u);
  EXPECT_NEAR(library.ring_graph().speed, 0.1, 1e-12);
}

// -- tuner

TEST(LibraryTuner, CrossoversOfADgxH100) {
  const CommunicationLibrary library(one_node("H100"));
  EXPECT_EQ(plan(library, kMiB).protocol, Protocol::ll);
  EXPECT_EQ(plan(library, kMiB).algorithm, LibraryAlgorithm::ring);
  EXPECT_EQ(plan(library, 2 * kMiB).algorithm, LibraryAlgorithm::nvls);
}

TEST(LibraryTuner, ChunksOfNvlsGrowAtThreeSizes) {
  const CommunicationLibrary library(one_node("H100"));
  EXPECT_EQ(plan(library, 4 * kMiB).chunk_bytes, 16 * kKiB);
  EXPECT_EQ(plan(library, 8 * kMiB).chunk_bytes, 32 * kKiB);
  EXPECT_EQ(plan(library, 32 * kMiB).chunk_bytes, 32 * kKiB);
  EXPECT_EQ(plan(library, 64 * kMiB).chunk_bytes, 64 * kKiB);
  EXPECT_EQ(plan(library, 512 * kMiB).chunk_bytes, 64 * kKiB);
  EXPECT_EQ(plan(library, kGiB).chunk_bytes, 128 * kKiB);
}

TEST(LibraryTuner, AllPairsProgramsOfRccl) {
  const CommunicationLibrary library(mi300x());
  const auto is = [&](uint64_t bytes, LibraryAlgorithm algorithm, Protocol protocol, uint32_t channels) {
    const LibraryPlan p = plan(library, bytes);
    EXPECT_EQ(p.algorithm, algorithm) << bytes;
    EXPECT_EQ(p.protocol, protocol) << bytes;
    EXPECT_EQ(p.channels, channels) << bytes;
  };
  is(64 * kKiB, LibraryAlgorithm::all_pairs, Protocol::ll, 4);
  is(128 * kKiB, LibraryAlgorithm::all_pairs, Protocol::ll, 8);
  is(512 * kKiB, LibraryAlgorithm::all_pairs, Protocol::simple, 32);
  is(16 * kMiB, LibraryAlgorithm::all_pairs, Protocol::simple, 32);
  is(32 * kMiB, LibraryAlgorithm::ring, Protocol::simple, 56);
}

TEST(LibraryTuner, ProtocolsOfRccl) {
  const auto in_node = [](const char* gpu, LibraryOp op, uint64_t bytes_a_rank) {
    return plan(CommunicationLibrary(mi300x(gpu)), 8 * bytes_a_rank, op).protocol;
  };
  EXPECT_EQ(in_node("MI300X", LibraryOp::all_gather, 86 * kKiB), Protocol::ll);
  EXPECT_EQ(in_node("MI300X", LibraryOp::all_gather, 87 * kKiB), Protocol::simple);
  EXPECT_EQ(in_node("MI300X", LibraryOp::reduce_scatter, 345 * kKiB), Protocol::simple);

  // Between LL and rings of Simple an all-gather sends straight to all others.
  const auto gather = [](const char* gpu, uint64_t bytes_a_rank) {
    return plan(CommunicationLibrary(mi300x(gpu)), 8 * bytes_a_rank, LibraryOp::all_gather);
  };
  EXPECT_EQ(gather("MI300X", 86 * kKiB).algorithm, LibraryAlgorithm::ring);
  EXPECT_EQ(gather("MI300X", 87 * kKiB).algorithm, LibraryAlgorithm::point_to_point);
  EXPECT_EQ(gather("MI300X", 4 * kMiB).algorithm, LibraryAlgorithm::point_to_point);
  EXPECT_EQ(gather("MI300X", 4 * kMiB + 16).algorithm, LibraryAlgorithm::ring);
  EXPECT_EQ(gather("MI350X", 8 * kMiB).algorithm, LibraryAlgorithm::point_to_point);
  EXPECT_EQ(gather("MI350X", 8 * kMiB + 16).algorithm, LibraryAlgorithm::ring);
  EXPECT_EQ(in_node("MI350X", LibraryOp::reduce_scatter, 345 * kKiB), Protocol::ll);
  LibraryMachine nodes = mi300x();
  nodes.nodes = 2;
  nodes.nic_bandwidth = 50;
  const CommunicationLibrary two(nodes);
  EXPECT_EQ(plan(two, 16 * 512 * kKiB).protocol, Protocol::ll);
  EXPECT_EQ(plan(two, 16 * 513 * kKiB).protocol, Protocol::ll128);
  EXPECT_EQ(plan(two, 16 * 10 * kMiB).protocol, Protocol::simple);
  nodes.nodes = 4;
  EXPECT_EQ(plan(CommunicationLibrary(nodes), 32 * 10 * kMiB).protocol, Protocol::ll128);
}

TEST(LibraryTuner, VersionsDiffer) {
  // Trees with Simple cost 28 us a step before 2.23, so that LL128 keeps larger sizes.
  const auto at_512m = [](const char* version) {
    return plan(CommunicationLibrary(nodes_of_8("A100", 2, 16, 12.5, version)), 512 * kMiB).protocol;
  };
  EXPECT_EQ(at_512m("2.22"), Protocol::ll128);
  EXPECT_EQ(at_512m("2.23"), Protocol::simple);
  EXPECT_EQ(CommunicationLibrary(one_node("H100", "2.14")).nvls_graph().channels, 0u);
}

// Where listings of 2 and 4 nodes of H100 with NCCL 2.26.2 have their jumps (NVIDIA/nccl-tests issue 309).
TEST(LibraryTuner, CrossoversOfNodesOfH100) {
  const auto changes = [](uint32_t nodes, const char* version) {
    const CommunicationLibrary library(nodes_of_8("H100", nodes, 8, 50, version));
    std::vector<uint64_t> at;  // LL, LL128, NVLS trees: the first size of each
    LibraryPlan before = plan(library, kKiB);
    for (uint64_t bytes = kKiB; bytes <= 64 * kMiB; bytes *= 2) {
      const LibraryPlan p = plan(library, bytes);
      if (p.algorithm != before.algorithm || p.protocol != before.protocol) at.push_back(bytes);
      before = p;
    }
    EXPECT_EQ(before.algorithm, LibraryAlgorithm::nvls_tree);
    return at;
  };
  using Sizes = std::vector<uint64_t>;
  EXPECT_EQ(changes(2, "2.26"), (Sizes{256 * kKiB, kMiB}));
  EXPECT_EQ(changes(4, "2.26"), (Sizes{256 * kKiB, 2 * kMiB}));
  // From 2.28 on the tuner believes that an NVLS tree takes 20.9 us a step between nodes, not 14.
  EXPECT_EQ(changes(2, "2.28"), (Sizes{256 * kKiB, 4 * kMiB}));
}

TEST(LibraryTuner, OperationsWithoutTrees) {
  const CommunicationLibrary library(nodes_of_8("H100", 4, 8, 50));
  for (const LibraryOp op :
       {LibraryOp::all_gather, LibraryOp::reduce_scatter, LibraryOp::broadcast, LibraryOp::reduce})
    for (uint64_t bytes = 1; bytes <= kGiB; bytes *= 4)
      EXPECT_EQ(plan(library, bytes, op).algorithm, LibraryAlgorithm::ring) << to_string(op) << bytes;
  LibraryMachine alone = nodes_of_8("H100", 8, 1, 50);
  alone.gpus_per_node = 1;
  alone.links = NodeLinks::none;
  EXPECT_EQ(plan(CommunicationLibrary(alone), 64 * kKiB, LibraryOp::all_gather).algorithm,
            LibraryAlgorithm::pat);
  alone.version = "2.22";
  EXPECT_EQ(plan(CommunicationLibrary(alone), 64 * kKiB, LibraryOp::all_gather).algorithm,
            LibraryAlgorithm::ring);
  EXPECT_EQ(plan(CommunicationLibrary(alone), 4 * kKiB, LibraryOp::all_reduce).algorithm,
            LibraryAlgorithm::tree);
}

TEST(LibraryTuner, SocketsTakeSimpleAlone) {
  const CommunicationLibrary library(socket_pair());
  for (uint64_t bytes = 1; bytes <= kGiB; bytes *= 8)
    EXPECT_EQ(plan(library, bytes).protocol, Protocol::simple);
}

// -- channels and closed forms

TEST(LibraryWork, ARingWithLlTakesAChannelPer32KiBOf8Ranks) {
  const CommunicationLibrary library(one_node("H100"));
  EXPECT_EQ(plan(library, 1).channels, 1u);
  EXPECT_EQ(plan(library, 64 * kKiB - 1).channels, 1u);
  EXPECT_EQ(plan(library, 64 * kKiB).channels, 2u);
  EXPECT_EQ(plan(library, 768 * kKiB).channels, 24u);
  EXPECT_EQ(plan(library, kMiB).channels, 24u);
}

TEST(LibraryWork, RingWithLlBySum) {
  const LibraryPlan p = plan(CommunicationLibrary(one_node("H100")), kMiB);
  // 24 channels of half of 12 x 30 GB/s; 14 steps of 0.6 us and their bytes; base 6.6.
  const double chunk = static_cast<double>(kMiB) / 24 / 8;
  const double step = chunk / (180e3 / 24) + 0.6;
  EXPECT_NEAR(p.time_us(kPlain), 6.6 + 14 * step, 1e-9);
  // Each parameter does what it says.
  EXPECT_NEAR(p.time_us({5, 1, 1}), 5 + p.time_us(kPlain), 1e-9);
  EXPECT_NEAR(p.time_us({0, 2, 1}), 13.2 + 14 * (step + 0.6), 1e-9);
  EXPECT_NEAR(p.time_us({0, 1, 2}), 6.6 + 14 * (chunk / (360e3 / 24) + 0.6), 1e-9);
}

TEST(LibraryWork, RingWithSimpleBySum) {
  LibraryMachine machine = one_node("A100");
  const LibraryPlan p = plan(CommunicationLibrary(machine), kGiB);
  ASSERT_EQ(p.algorithm, LibraryAlgorithm::ring);
  ASSERT_EQ(p.protocol, Protocol::simple);
  ASSERT_EQ(p.channels, 24u);
  // 2 MiB chunks in two slices: a loop of a channel is 16 MiB, and there is a rest.
  const double share = static_cast<double>(kGiB) / 24;
  const double loop = 8.0 * 2 * kMiB;
  const double loops = std::floor(share / loop);
  const auto step = [](double bytes) {
    const double tau = bytes / 2 / 10e3 + 1.5;
    return std::max(2 * tau, tau + 3.4 - 1.5);
  };
  EXPECT_NEAR(p.time_us(kPlain), 8.4 + 14 * (loops * step(2.0 * kMiB) + step((share - loops * loop) / 8)),
              1e-6);
}

TEST(LibraryWork, NvlsBySum) {
  const LibraryPlan p = plan(CommunicationLibrary(one_node("H100")), 64 * kMiB);
  const double bandwidth = 8 * 40 * 0.85 * 7 / 8 * 2 * 8 / 14;  // GB/s of the buffer
  const double loop = 16.0 * 8 * 64 * kKiB;
  EXPECT_NEAR(p.time_us(kPlain), 25 + (64.0 * kMiB / loop + 0.8 + 2 * 0.4) * (loop / (bandwidth * 1e3) + 5),
              1e-6);
}

TEST(LibraryWork, SmallCallsOfManyGpusAreNoWholeLoop) {
  LibraryMachine machine = one_node("GB200");
  machine.gpus_per_node = 72;
  const LibraryPlan p = plan(CommunicationLibrary(machine), kKiB);
  ASSERT_EQ(p.algorithm, LibraryAlgorithm::nvls);
  EXPECT_LT(p.time_us(kPlain), 25 + 3 * 5);
}

TEST(LibraryWork, AllPairsBySum) {
  const CommunicationLibrary library(mi300x());
  const double bus = 14.0 / 8;
  EXPECT_NEAR(plan(library, 64 * kKiB).time_us(kPlain), bus * 64 * kKiB / (0.485 * 7 * 48e3), 1e-9);
  EXPECT_NEAR(plan(library, 2 * kMiB).time_us(kPlain), 2 * 2.1 + bus * 2 * kMiB / (0.669 * 7 * 48e3), 1e-9);
}

TEST(LibraryWork, NothingToSend) {
  const CommunicationLibrary library(one_node("H100"));
  EXPECT_EQ(plan(library, 0).algorithm, LibraryAlgorithm::none);
  EXPECT_EQ(plan(library, 0).time_us({5, 1, 1}), 0);
  EXPECT_EQ(plan(library, kMiB, LibraryOp::all_reduce, {1}).time_us({5, 1, 1}), 5);
  EXPECT_GT(plan(library, 1).time_us(kPlain), 6.6);
}

TEST(LibraryWork, EveryShapeAndSizeHasATimeThatGrows) {
  const std::vector<LibraryMachine> machines = {dgx_1v(),
                                                one_node("A100"),
                                                one_node("H100"),
                                                nodes_of_8("A100", 2, 8, 25),
                                                nodes_of_8("H100", 16, 8, 50),
                                                socket_pair(),
                                                nodes_of_8("B200", 3, 4, 100),
                                                mi300x(),
                                                [] {
                                                  LibraryMachine m = mi300x();
                                                  m.nodes = 4;
                                                  m.nic_bandwidth = 50;
                                                  return m;
                                                }()};
  for (const LibraryMachine& machine : machines) {
    const CommunicationLibrary library(machine);
    for (int op = 0; op < library::kLibraryOps; ++op) {
      for (const std::vector<uint32_t>& ranks :
           {std::vector<uint32_t>{}, {2}, {1, machine.nodes > 1 ? 1u : 0u}, {machine.gpus_per_node}}) {
        double before = 0;
        for (uint64_t bytes : {uint64_t{1}, uint64_t{7}, 100 * kKiB + 1, 3 * kMiB + 5, 16 * kGiB}) {
          const LibraryPlan p = plan(library, bytes, static_cast<LibraryOp>(op), ranks);
          const double time = p.time_us({1, 1, 1});
          EXPECT_TRUE(std::isfinite(time)) << machine.gpu << to_string(p.op) << bytes;
          EXPECT_GE(time, 1) << machine.gpu << to_string(p.op) << bytes;
          EXPECT_GE(time, before) << machine.gpu << to_string(p.op) << bytes;
          before = time;
          if (p.ranks < 2) continue;
          EXPECT_GE(p.channels, 1u);
          EXPECT_LE(p.channels, 128u);
          EXPECT_GE(p.channel_bytes * p.channels, bytes);
        }
      }
    }
  }
}

TEST(LibraryWork, CommunicatorsOfAPartUseItsNicsAndLinks) {
  const CommunicationLibrary library(nodes_of_8("H100", 2, 8, 50));
  const double all = plan(library, kGiB, LibraryOp::all_gather).time_us(kPlain);
  const double rail = plan(library, kGiB, LibraryOp::all_gather, {1, 1}).time_us(kPlain);
  // One NIC in place of eight, and half of the buffer crosses it in place of all.
  EXPECT_GT(rail, 3 * all);
  EXPECT_GT(rail, kGiB / 2 / 50e3);
  EXPECT_EQ(plan(library, kGiB, LibraryOp::all_reduce, {8, 0}).nodes, 1u);
  // The node's algorithms, not the network's.
  EXPECT_EQ(plan(library, kGiB, LibraryOp::all_reduce, {8, 0}).algorithm, LibraryAlgorithm::nvls);
}

TEST(LibraryWork, AChannelOfABroadcastIsNoFasterThanOneNic) {
  const double nic = 25;
  const CommunicationLibrary two(nodes_of_8("H100", 2, 8, nic));
  const CommunicationLibrary one(one_node("H100"));
  for (const LibraryOp op : {LibraryOp::broadcast, LibraryOp::reduce}) {
    const LibraryPlan p = plan(two, 32 * kKiB, op);
    ASSERT_EQ(p.protocol, Protocol::ll);
    EXPECT_EQ(p.crossing_bandwidth, nic / 2) << "the flags are half of what the NIC carries";
    EXPECT_EQ(p.channel_bandwidth, 28) << "in the node there is no NIC";
    EXPECT_EQ(p.crossings, 2u) << "from inside a node there and back";
    EXPECT_EQ(plan(one, 32 * kKiB, op).crossing_bandwidth, 0);
    // Within a node there is none, and 28 GB/s are a thread block's.
    EXPECT_EQ(plan(one, 32 * kKiB, op).channel_bandwidth, 28);
    EXPECT_EQ(plan(two, 32 * kKiB, op, {8, 0}).channel_bandwidth, 28);
  }
  // All channels together reach what all NICs carry.
  const LibraryPlan large = plan(two, kGiB, LibraryOp::broadcast);
  const double slowest = large.crossing_bandwidth > 0 ? large.crossing_bandwidth : large.channel_bandwidth;
  EXPECT_GT(slowest * large.channels, 0.9 * 8 * nic);
}

// A ring's chunk crosses twice on two nodes, and waits there for a NIC that is slower than a thread block.
TEST(LibraryWork, ACrossingOfARingTakesWhatItsNicTakes) {
  LibraryMachine machine = nodes_of_8("V100", 2, 4, 12.5);
  const CommunicationLibrary library(machine);
  const LibraryPlan p = plan(library, 64 * kKiB, LibraryOp::reduce_scatter);
  ASSERT_EQ(p.algorithm, LibraryAlgorithm::ring);
  ASSERT_EQ(p.protocol, Protocol::ll);
  ASSERT_EQ(p.channels, 1u);
  EXPECT_EQ(p.crossings, 2u);
  EXPECT_EQ(p.crossing_bandwidth, 6.25);
  const double chunk = 64.0 * kKiB / 16;
  const double step = chunk * 1e-3 / 12 + p.latency_us / 15;
  EXPECT_NEAR(p.work_us(kPlain), p.base_us + 15 * step + 2 * chunk * 1e-3 * (1 / 6.25 - 1 / 12.0), 1e-6);
}

// -- CollNet

LibraryMachine sharp(const std::string& gpu, uint32_t nodes, uint32_t nics, double nic) {
  LibraryMachine machine = nodes_of_8(gpu, nodes, nics, nic);
  machine.collnet = true;
  return machine;
}

/// Has the operation run by that algorithm alone.
LibraryPlan forced(LibraryMachine machine, const std::string& algorithm, uint64_t bytes,
                   LibraryOp op = LibraryOp::all_reduce) {
  machine.overrides = testing::TempDir() + "collnet_plan.csv";
  std::ofstream out(machine.overrides);
  for (const char* name : {"allreduce", "allgather", "reducescatter"})
    out << name << ",-1,-1," << algorithm << ",simple,-1,-1,-1\n";
  out.close();
  return plan(CommunicationLibrary(machine), bytes, op);
}

TEST(LibraryCollNet, SwitchesOfTheNetworkReduceLargeCalls) {
  const CommunicationLibrary library(sharp("H100", 8, 8, 50));
  const LibraryPlan large = plan(library, kGiB);
  EXPECT_EQ(large.algorithm, LibraryAlgorithm::nvls);
  EXPECT_EQ(large.nodes, 8u);
  const CommunicationLibrary without(nodes_of_8("H100", 8, 8, 50));
  EXPECT_EQ(plan(without, kGiB).algorithm, LibraryAlgorithm::nvls_tree);
  EXPECT_LT(large.time_us(kPlain), 0.8 * plan(without, kGiB).time_us(kPlain));
  // 40 GB/s a head in a node, of which NVLS reaches 0.85; and no more than what NICs carry.
  EXPECT_DOUBLE_EQ(large.bandwidth, 8 * 40 * 0.85 * 7 / 8 * 2 * 64 / 126);
  EXPECT_DOUBLE_EQ(forced(sharp("H100", 8, 4, 50), "nvls", kGiB).bandwidth, 4 * 48);
  EXPECT_EQ(forced(sharp("H100", 8, 4, 50), "nvls", kGiB).chunk_bytes, 32 * kKiB) << "less than 150 GB/s";
  EXPECT_EQ(large.chunk_bytes, 128 * kKiB);
  // V100 has no NVLS.
  const CommunicationLibrary volta(sharp("V100", 16, 4, 12.5));
  const LibraryPlan p = plan(volta, 8 * kMiB);
  EXPECT_TRUE(p.algorithm == LibraryAlgorithm::collnet_chain ||
              p.algorithm == LibraryAlgorithm::collnet_direct)
      << to_string(p.algorithm);
  // Chains do not use it.
  for (const LibraryOp op : {LibraryOp::broadcast, LibraryOp::reduce})
    EXPECT_EQ(plan(library, kGiB, op).algorithm, plan(without, kGiB, op).algorithm);
  // One node of it has no network.
  EXPECT_EQ(plan(library, kGiB, LibraryOp::all_reduce, {8}).time_us(kPlain),
            plan(without, kGiB, LibraryOp::all_reduce, {8}).time_us(kPlain));
}

TEST(LibraryCollNet, NvlsOverNodesGathersAndScatters) {
  const CommunicationLibrary library(sharp("H100", 8, 8, 50));
  const CommunicationLibrary without(nodes_of_8("H100", 8, 8, 50));
  for (const LibraryOp op : {LibraryOp::all_gather, LibraryOp::reduce_scatter}) {
    // A ring has 63 hops: more latency, and more bandwidth.
    const LibraryPlan p = plan(library, 4 * kMiB, op);
    ASSERT_EQ(p.algorithm, LibraryAlgorithm::nvls);
    EXPECT_DOUBLE_EQ(p.latency_us, 25 + 18);
    EXPECT_EQ(plan(without, 4 * kMiB, op).algorithm, LibraryAlgorithm::ring);
    EXPECT_LT(p.time_us(kPlain), plan(without, 4 * kMiB, op).time_us(kPlain));
    EXPECT_EQ(plan(library, 16 * kGiB, op).algorithm, LibraryAlgorithm::ring);
    // In a node all data come by a GPU's links once; 40 GB/s a head.
    EXPECT_DOUBLE_EQ(p.bandwidth, 8 * 40 * 0.85 * 7 / 8);
  }
  // Slow NICs carry all of a reduce-scatter, and of an all-gather what the node does not have: half of it.
  const auto slow = [](LibraryOp op) {
    return forced(sharp("H100", 2, 4, 12.5), "nvls", kGiB, op).bandwidth;
  };
  EXPECT_DOUBLE_EQ(slow(LibraryOp::reduce_scatter), 4 * 12);
  EXPECT_DOUBLE_EQ(slow(LibraryOp::all_gather), 2 * 4 * 12);
}

// From the release notes of 2.27.3. Older versions gather and scatter by NVLS in one node alone.
TEST(LibraryCollNet, NvlsOfPartsNeedsAVersionAndFewRanks) {
  for (const LibraryOp op : {LibraryOp::all_gather, LibraryOp::reduce_scatter}) {
    for (const char* version : {"2.19", "2.24", "2.26"}) {
      LibraryMachine machine = sharp("H100", 8, 8, 50);
      machine.version = version;
      EXPECT_EQ(plan(CommunicationLibrary(machine), 4 * kMiB, op).algorithm, LibraryAlgorithm::ring)
          << version;
      EXPECT_EQ(plan(CommunicationLibrary(machine), kGiB).algorithm, LibraryAlgorithm::nvls) << version;
      EXPECT_THROW(forced(machine, "nvls", kMiB, op), UserError) << version;
      EXPECT_EQ(forced(one_node("H100", version), "nvls", kMiB, op).algorithm, LibraryAlgorithm::nvls);
      machine.version = "2.27";
      EXPECT_EQ(plan(CommunicationLibrary(machine), 4 * kMiB, op).algorithm, LibraryAlgorithm::nvls);
    }
    LibraryMachine wide = one_node("GB200");
    for (const uint32_t gpus : {32u, 33u}) {
      wide.gpus_per_node = gpus;
      const auto nvls = [&] { return forced(wide, "nvls", kMiB, op); };
      if (gpus == 32) {
        EXPECT_EQ(nvls().algorithm, LibraryAlgorithm::nvls);
      } else {
        EXPECT_THROW(nvls(), UserError);
        EXPECT_EQ(forced(wide, "nvls", kMiB).algorithm, LibraryAlgorithm::nvls) << "all-reduce";
      }
    }
  }
}

// A switch of the network joins the GPUs of one place of all nodes.
TEST(LibraryCollNet, RanksAtDifferentPlacesHaveNone) {
  const LibraryMachine machine = sharp("H100", 8, 8, 50);
  const CommunicationLibrary with(machine);
  const CommunicationLibrary without(nodes_of_8("H100", 8, 8, 50));
  for (const LibraryOp op : {LibraryOp::all_reduce, LibraryOp::all_gather, LibraryOp::reduce_scatter})
    for (const uint64_t bytes : {kKiB, 4 * kMiB, kGiB}) {
      library::LibraryCall call{op, bytes, {4, 4, 4, 4}, true};
      const LibraryPlan same = with.plan(call);
      call.same_places = false;
      const LibraryPlan apart = with.plan(call);
      const LibraryPlan plain = without.plan(call);
      EXPECT_EQ(apart.algorithm, plain.algorithm) << to_string(op) << bytes;
      EXPECT_DOUBLE_EQ(apart.time_us(kPlain), plain.time_us(kPlain)) << to_string(op) << bytes;
      if (bytes == kGiB && op == LibraryOp::all_reduce) {
        EXPECT_EQ(same.algorithm, LibraryAlgorithm::nvls);
      }
    }
}

// NCCL takes small chunks where it believes in less than 150 GB/s, of an all-reduce whatever is called. With
// these NICs it believes in more for the parts.
TEST(LibraryCollNet, ChunksOfAllOperationsAreThoseOfAnAllReduce) {
  for (const double nic : {12.5, 25.0, 50.0})
    for (const uint32_t nodes : {2u, 4u, 8u}) {
      const uint64_t chunk = forced(sharp("H100", nodes, 8, nic), "nvls", 64 * kGiB).chunk_bytes;
      for (const LibraryOp op : {LibraryOp::all_gather, LibraryOp::reduce_scatter})
        EXPECT_EQ(forced(sharp("H100", nodes, 8, nic), "nvls", 64 * kGiB, op).chunk_bytes, chunk) << nic;
    }
  EXPECT_EQ(forced(sharp("H100", 2, 8, 12.5), "nvls", 64 * kGiB, LibraryOp::all_gather).chunk_bytes,
            32 * kKiB);
}

TEST(LibraryCollNet, DirectBySum) {
  const LibraryPlan p = forced(sharp("A100", 4, 8, 25), "collnet_direct", kGiB);
  ASSERT_EQ(p.algorithm, LibraryAlgorithm::collnet_direct);
  EXPECT_EQ(p.channels, 24u) << "one and a half times 16";
  EXPECT_EQ(p.chunk_bytes, 128 * kKiB) << "1 GiB / (24 x 8 x 256 KiB) is less than 64 x 2";
  EXPECT_DOUBLE_EQ(p.bandwidth, 8 * 24 / 2.0);
  const double latency = 2 * (3.7 + 0.4 * 7) + 31;
  const double loop = 24.0 * 8 * static_cast<double>(p.chunk_bytes);
  EXPECT_NEAR(p.time_us(kPlain),
              latency + (static_cast<double>(kGiB) / loop + 2) * (loop * 1e-3 / p.bandwidth + 1.5), 1e-6);
  // Four NICs for eight GPUs: their heads' links carry more.
  const LibraryPlan four = forced(sharp("A100", 4, 4, 25), "collnet_direct", kGiB);
  EXPECT_DOUBLE_EQ(four.bandwidth, 4 * 24 / 1.5 / 2);
  EXPECT_DOUBLE_EQ(forced(sharp("H100", 4, 8, 50), "collnet_direct", kGiB).bandwidth, 8 * 48 * 0.85 / 2);
}

TEST(LibraryCollNet, ChainBySum) {
  const LibraryPlan p = forced(sharp("A100", 4, 8, 25), "collnet_chain", 64 * kMiB);
  ASSERT_EQ(p.algorithm, LibraryAlgorithm::collnet_chain);
  EXPECT_EQ(p.steps, 9u) << "eight GPUs and the switch";
  EXPECT_DOUBLE_EQ(p.latency_us, 2 * 7 * 2.8 + 30);
  const double share = 64.0 * kMiB / p.channels;
  const auto chunk = static_cast<double>(p.chunk_bytes);
  const double each = chunk * 1e-3 / p.channel_bandwidth;
  EXPECT_NEAR(p.time_us(kPlain),
              p.latency_us + (share / chunk - 1) * (each + 1.5) + each + 16 * chunk * 1e-3 / 24, 1e-6)
      << "the first chunk passes 16 hops at the rate of a channel, 24 GB/s";
}

// A tree's first chunk is on each hop as long as the channel, the link or the NIC needs for it.
TEST(LibraryWork, AChunkOfATreeIsNoFasterThanALink) {
  const auto way = [](LibraryMachine machine, const char* protocol) {
    machine.overrides = testing::TempDir() + "tree_" + protocol + ".csv";
    std::ofstream(machine.overrides) << "allreduce,-1,-1,tree," << protocol << ",-1,-1,-1\n";
    return plan(CommunicationLibrary(machine), 64 * kMiB).way_bandwidth;
  };
  LibraryMachine pcie = one_node("L4");
  pcie.links = NodeLinks::pcie;
  pcie.host = HostCpu::arm;
  EXPECT_DOUBLE_EQ(way(pcie, "simple"), 6.0 / 14) << "8 GPUs on two sockets, 6 GB/s between them";
  EXPECT_DOUBLE_EQ(way(pcie, "ll"), 3.0 / 14);
  EXPECT_DOUBLE_EQ(way(one_node("A100"), "simple"), 24.0 / 14);
  EXPECT_DOUBLE_EQ(way(dgx_1v(), "simple"), 20.0 / 14);
  EXPECT_DOUBLE_EQ(way(dgx_1v(), "ll"), 10.0 / 14);
  EXPECT_DOUBLE_EQ(way(nodes_of_8("A100", 4, 8, 12.5), "simple"), 1 / (14 / 24.0 + 4 / 12.5));
}

TEST(LibraryCollNet, ChannelsAndChunksGrowWithTheSize) {
  uint32_t channels = 0;
  uint64_t chunk = 0;
  for (uint64_t bytes = kKiB; bytes <= 64 * kGiB; bytes *= 2) {
    const LibraryPlan p = forced(sharp("A100", 4, 8, 25), "collnet_direct", bytes);
    EXPECT_GE(p.channels, channels) << bytes;
    EXPECT_GE(p.chunk_bytes, chunk) << bytes;
    channels = p.channels;
    chunk = p.chunk_bytes;
  }
  EXPECT_EQ(forced(sharp("A100", 4, 8, 25), "collnet_direct", kKiB).channels, 1u);
  EXPECT_EQ(channels, 24u);
  EXPECT_EQ(chunk, 512 * kKiB);
}

TEST(LibraryCollNet, WhereThereIsNone) {
  const auto why = [](const LibraryMachine& machine, const std::string& algorithm) {
    try {
      forced(machine, algorithm, kMiB);
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string("planned");
  };
  EXPECT_TRUE(says(why(nodes_of_8("H100", 2, 8, 50), "nvls"), "`collectives.collnet: true`"));
  EXPECT_TRUE(says(why(nodes_of_8("H100", 2, 8, 50), "collnet_direct"), "`collectives.collnet: true`"));
  LibraryMachine wide = sharp("A100", 2, 16, 25);
  wide.gpus_per_node = 16;
  EXPECT_TRUE(says(why(wide, "collnet_direct"), "at most 8 ranks"));
  EXPECT_EQ(why(wide, "collnet_chain"), "planned");
  LibraryMachine one = one_node("H100");
  one.collnet = true;
  EXPECT_TRUE(says(refusal(one), "collectives.collnet")) << refusal(one);
  LibraryMachine sockets = sharp("A100", 2, 8, 12.5);
  sockets.network = NetworkKind::sockets;
  EXPECT_TRUE(says(refusal(sockets), "`network` is sockets")) << refusal(sockets);
  LibraryMachine amd = mi300x();
  amd.nodes = 2;
  amd.nics_per_node = 8;
  amd.nic_bandwidth = 50;
  amd.collnet = true;
  EXPECT_TRUE(says(refusal(amd), "NCCL alone")) << refusal(amd);
  // Nodes with different numbers of ranks.
  EXPECT_NE(
      plan(CommunicationLibrary(sharp("H100", 2, 8, 50)), kGiB, LibraryOp::all_reduce, {8, 4}).algorithm,
      LibraryAlgorithm::nvls);
}

// -- search of machines with few NICs, and of small nodes

// NCCL tries no speed of less than 0.49 of what it has: 20 channels of 5 GB/s would carry more.
TEST(LibrarySearch, ManySlowChannelsDoNotReplaceFewFastOnes) {
  LibraryMachine machine = nodes_of_8("A100", 8, 4, 25);
  machine.gpus_per_node = 4;
  expect_graph(machine, 4, 24, 8);
}

// An MI300X has one link to each of seven others.
TEST(LibrarySearch, ASmallNodeOfRcclHasNoUseForAllLinks) {
  LibraryMachine machine = mi300x();
  machine.gpus_per_node = 4;
  EXPECT_DOUBLE_EQ(CommunicationLibrary(machine).ring_graph().bandwidth(), 3 * 48);
  machine.links_per_gpu = 6;  // two bundled links to each
  EXPECT_DOUBLE_EQ(CommunicationLibrary(machine).ring_graph().bandwidth(), 6 * 48);
}

TEST(LibraryWork, TheCubeMeshSendsThroughGpusBetween) {
  for (uint32_t from = 0; from < kCubeMeshGpus; ++from)
    for (uint32_t to = 0; to < kCubeMeshGpus; ++to) {
      if (from == to || library::cube_mesh_links(from, to) != 0) continue;
      const uint32_t via = library::cube_mesh_via(from, to);
      EXPECT_GT(library::cube_mesh_links(from, via), 0u);
      EXPECT_GT(library::cube_mesh_links(via, to), 0u);
    }
  EXPECT_EQ(library::cube_mesh_via(0, 7), 4u) << "both of its links are pairs";
  EXPECT_EQ(library::cube_mesh_via(7, 0), 4u);
  // 3 has one link to 7. Messages go over it from 3 and 1 to 7, and from 3 to 6.
  EXPECT_EQ(library::cube_mesh_load(8), 3);
  const CommunicationLibrary library(dgx_1v());
  const LibraryPlan p = plan(library, kGiB, LibraryOp::all_to_all);
  EXPECT_NEAR(p.bandwidth, 20 * 8 / 3.0, 1e-9);
  EXPECT_NEAR(plan(library, kGiB, LibraryOp::all_to_all, {4}).bandwidth, 20 * 4, 1e-9);
}

// -- bad input

TEST(LibraryErrors, NameWhatIsWrongAndWhatIsAllowed) {
  EXPECT_TRUE(says(refusal(one_node("H101")), "'H101' is no GPU"));
  EXPECT_TRUE(says(refusal(one_node("H101")), "V100, A100"));
  EXPECT_TRUE(says(refusal(one_node("H100", "1.9")), "2.14 to 2.30"));
  EXPECT_TRUE(says(refusal(one_node("H100", "newest")), "no version of nccl"));
  EXPECT_TRUE(says(refusal(nodes_of_8("H100", 2, 8, 0)), "nic_bandwidth"));
  LibraryMachine machine = one_node("MI300X");
  machine.kind = LibraryKind::rccl;
  EXPECT_TRUE(says(refusal(machine), "fully_connected"));
  machine = one_node("H100");
  machine.links = NodeLinks::cube_mesh;
  EXPECT_TRUE(says(refusal(machine), "V100"));
  machine = one_node("L40S");
  EXPECT_TRUE(says(refusal(machine), "pcie"));
  machine.links = NodeLinks::pcie;
  EXPECT_EQ(refusal(machine), "accepted");
  machine = one_node("h100", "2.27.3-1");
  EXPECT_EQ(refusal(machine), "accepted");
}

}  // namespace
}  // namespace weft::test
