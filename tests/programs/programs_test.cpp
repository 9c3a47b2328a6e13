// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Programs of communication libraries: without contention they take what the closed forms say, they carry the
// data that their operation is defined to move, and slower links never make them faster. Cases are drawn at
// random, with fixed seeds.

#include <gtest/gtest.h>

#include <cmath>

#include "tests/library/machines.h"
#include "tests/programs/program_rig.h"
#include "workload/programs/channel_orders.h"

namespace weft::test {
namespace {

using relations::Random;

const LinkTime kAtOnce = [](const Message&) { return Picoseconds{0}; };

library::LibraryMachine draw_machine(Random& random, uint32_t most_ranks) {
  if (random.chance(15)) return mi300x(random.pick({"MI300X", "MI350X"}));
  if (random.chance(10)) return dgx_1v();
  if (random.chance(10)) return socket_pair();
  library::LibraryMachine m = one_node(random.pick({"V100", "A100", "H100", "H200", "B200"}),
                                       random.pick({"", "2.18", "2.21", "2.26"}));
  if (m.gpu == "B200") m.version = "";
  m.gpus_per_node = random.small(1, 8);
  m.nodes = random.small(1, std::max(1u, most_ranks / m.gpus_per_node));
  if (m.ranks() == 1) m.nodes = 2;
  m.nics_per_node = random.chance(50) ? m.gpus_per_node : random.small(1, m.gpus_per_node);
  m.nic_bandwidth = random.pick({12.5, 25.0, 50.0});
  if (m.gpus_per_node == 1) m.links = NodeLinks::none;
  m.collnet = m.nodes > 1 && random.chance(50);
  return m;
}

ProgramCase draw(Random& random, uint32_t most_ranks) {
  ProgramCase of;
  of.machine = draw_machine(random, most_ranks);
  of.op = random.pick({CollectiveOp::all_reduce, CollectiveOp::all_reduce, CollectiveOp::all_reduce,
                       CollectiveOp::all_gather, CollectiveOp::reduce_scatter, CollectiveOp::broadcast,
                       CollectiveOp::reduce, CollectiveOp::all_to_all, CollectiveOp::gather,
                       CollectiveOp::scatter});
  if (!random.chance(15))
    of.algorithm =
        random.pick({"ring", "ring", "tree", "pat", "nvls", "nvlstree", "collnet_direct", "collnet_chain"});
  if (random.chance(80)) of.protocol = random.pick({"ll", "ll128", "simple"});
  of.root = random.small(0, of.machine.ranks() - 1);
  return of;
}

/// Runs the case if the library has such a plan and a program for it.
bool tried(const ProgramCase& of, const LinkTime& link, bool data, ProgramOutcome& out,
           const std::vector<Picoseconds>& starts = {}) {
  try {
    out = run_program(of, link, data, starts);
  } catch (const UserError&) {
    return false;
  }
  return out.sends != 0;
}

TEST(Programs, TakeTheClosedFormsWithoutContention) {
  uint32_t runs = 0;
  for (uint64_t i = 0; i < 400; ++i) {
    Random random(11, "closed", i);
    ProgramCase of = draw(random, 24);
    of.bytes = uint64_t{1} << random.between(0, 26);
    of.bytes += random.below(of.bytes);
    of.parameters = {0, 0.5 + 0.01 * static_cast<double>(random.below(100)),
                     0.8 + 0.01 * static_cast<double>(random.below(40))};
    ProgramOutcome out;
    if (!tried(of, kAtOnce, false, out)) continue;
    ++runs;
    const double time = static_cast<double>(out.time) * 1e-6;
    EXPECT_NEAR(time / out.work_us, 1, 0.005) << of.text() << ": " << time << " of " << out.work_us << " us";
  }
  EXPECT_GT(runs, 150u);
}

TEST(Programs, CarryTheirData) {
  uint32_t runs = 0;
  uint64_t elements = 0;
  for (uint64_t i = 0; i < 500; ++i) {
    Random random(12, "data", i);
    ProgramCase of = draw(random, i % 10 == 0 ? 64 : 20);
    of.bytes = 4 * (random.chance(30) ? random.between(1, 5) : random.between(1, 3000));
    of.small_chunks = random.chance(70);
    ProgramOutcome out;
    Random noise(13, "links", i);
    const LinkTime link = [&](const Message&) { return noise.below(30000000); };
    std::vector<Picoseconds> starts;
    for (uint32_t m = 0; m < of.machine.ranks(); ++m) starts.push_back(noise.below(50000000));
    if (!tried(of, link, true, out, starts)) continue;
    ++runs;
    elements += out.elements;
    EXPECT_EQ(out.wrong, "") << of.text();
    EXPECT_GT(out.elements, 0u) << of.text();
  }
  EXPECT_GT(runs, 200u);
  EXPECT_GT(elements, 1000000u);
}

// Four GPUs of each node, at the same places or not: channels enter and leave a node at each equally often.
TEST(Programs, RingsOfAPartUseItsNicsEquallyOften) {
  const library::LibraryMachine machine = nodes_of_8("H100", 2, 8, 50);
  for (const std::vector<uint32_t>& npus : {std::vector<uint32_t>{0, 1, 2, 3, 8, 9, 10, 11},
                                            {0, 2, 4, 6, 8, 10, 12, 14},
                                            {0, 1, 2, 3, 12, 13, 14, 15},
                                            {0, 1, 6, 7, 9, 11, 12, 15}}) {
    library::Team team;
    team.npus = npus;
    for (uint32_t m = 0; m < npus.size(); ++m) team.positions.push_back(m);
    library::ChannelOrders orders(machine, team);
    std::vector<uint32_t> entered(npus.size(), 0), left(npus.size(), 0);
    for (uint32_t channel = 0; channel < 16; ++channel) {
      const std::vector<uint32_t> ring = orders.ring(channel);
      ASSERT_EQ(ring.size(), npus.size());
      for (size_t i = 0; i < ring.size(); ++i) {
        const uint32_t next = ring[(i + 1) % ring.size()];
        if (orders.node(ring[i]) == orders.node(next)) continue;
        ++left[ring[i]];
        ++entered[next];
      }
    }
    EXPECT_EQ(entered, std::vector<uint32_t>(npus.size(), 4)) << npus[4];
    EXPECT_EQ(left, std::vector<uint32_t>(npus.size(), 4)) << npus[4];
  }
}

/// Parts of their own for all ranks, which the network's switches reduce or send to the other nodes.
TEST(Programs, NvlsOverNodesGathersAndScattersParts) {
  uint32_t runs = 0;
  for (uint64_t i = 0; i < 60; ++i) {
    Random random(15, "parts", i);
    ProgramCase of;
    of.machine = one_node(random.pick({"H100", "H200", "B200"}), "");
    of.machine.gpus_per_node = random.small(3, 6);
    of.machine.nodes = random.small(2, 3);
    of.machine.nics_per_node = random.small(1, of.machine.gpus_per_node);
    of.machine.nic_bandwidth = random.pick({12.5, 25.0, 50.0});
    of.machine.collnet = true;
    of.op = random.pick({CollectiveOp::all_gather, CollectiveOp::reduce_scatter});
    of.algorithm = "nvls";
    of.protocol = "simple";
    const bool data = i % 2 == 0;
    of.bytes = data ? 4 * random.between(1, 1000) : random.between(1, 1 << 24);
    of.small_chunks = data;
    Random noise(16, "links", i);
    const LinkTime late = [&](const Message&) { return noise.below(30000000); };
    ProgramOutcome out;
    if (!tried(of, data ? late : kAtOnce, data, out)) continue;
    ++runs;
    EXPECT_EQ(out.wrong, "") << of.text();
    if (data) {
      EXPECT_GT(out.elements, 0u) << of.text();
    } else {
      EXPECT_NEAR(static_cast<double>(out.time) * 1e-6 / out.work_us, 1, 0.005) << of.text();
    }
  }
  EXPECT_GT(runs, 50u);
}

// A loop of 24 nodes has 13,920 messages, and 16 GiB have 2,048 loops.
TEST(Programs, LoopsOfManyMessagesAreJoined) {
  ProgramCase of;
  of.machine = one_node("H100", "");
  of.machine.gpus_per_node = of.machine.nics_per_node = 4;
  of.machine.nodes = 24;
  of.machine.nic_bandwidth = 50;
  of.machine.collnet = true;
  of.algorithm = "nvls";
  of.protocol = "simple";
  for (const CollectiveOp op : {CollectiveOp::all_gather, CollectiveOp::reduce_scatter}) {
    of.op = op;
    for (const uint64_t mib : {512, 1024, 16384}) {
      of.bytes = (mib << 20) / (op == CollectiveOp::all_gather ? of.machine.ranks() : 1);
      ProgramOutcome out;
      ASSERT_TRUE(tried(of, kAtOnce, false, out));
      EXPECT_LT(out.sends, 400000u) << of.text();
      EXPECT_NEAR(static_cast<double>(out.time) * 1e-6 / out.work_us, 1, 0.005) << of.text();
    }
  }
  of.op = CollectiveOp::all_reduce;
  for (const char* algorithm : {"nvls", "nvlstree", "collnet_direct"}) {
    of.algorithm = algorithm;
    of.bytes = uint64_t{64} << 30;
    ProgramOutcome out;
    ASSERT_TRUE(tried(of, kAtOnce, false, out)) << algorithm;
    EXPECT_LT(out.sends, 400000u) << of.text();
    EXPECT_NEAR(static_cast<double>(out.time) * 1e-6 / out.work_us, 1, 0.005) << of.text();
  }
  of.algorithm = "nvls";
  // With data: chunks of a few elements.
  of.machine.nodes = 6;
  of.small_chunks = true;
  for (const CollectiveOp op :
       {CollectiveOp::all_gather, CollectiveOp::reduce_scatter, CollectiveOp::all_reduce}) {
    of.op = op;
    of.bytes = op == CollectiveOp::all_gather ? 40000 : 960000;
    ProgramOutcome out;
    ASSERT_TRUE(tried(of, kAtOnce, true, out));
    EXPECT_EQ(out.wrong, "") << of.text();
    EXPECT_GT(out.sends, 100000u) << of.text();
    EXPECT_LT(out.sends, 400000u) << of.text();
  }
}

TEST(Programs, SlowerLinksAndLateMembersNeverHelp) {
  for (uint64_t i = 0; i < 60; ++i) {
    Random random(14, "slower", i);
    ProgramCase of = draw(random, 16);
    of.bytes = random.between(1, 1 << 22);
    ProgramOutcome quick;
    if (!tried(of, kAtOnce, false, quick)) continue;
    const double ps_a_byte = static_cast<double>(random.below(2000));
    const LinkTime slow = [&](const Message& m) {
      return static_cast<Picoseconds>(ps_a_byte * static_cast<double>(m.bytes));
    };
    ProgramOutcome slower;
    ASSERT_TRUE(tried(of, slow, false, slower));
    EXPECT_GE(slower.time, quick.time) << of.text();
    std::vector<Picoseconds> starts;
    for (uint32_t m = 0; m < of.machine.ranks(); ++m) starts.push_back(random.below(100000000));
    ProgramOutcome late;
    ASSERT_TRUE(tried(of, kAtOnce, false, late, starts));
    EXPECT_GE(late.time, quick.time) << of.text();
  }
}

}  // namespace
}  // namespace weft::test
