// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Priority flow control: pauses to the cycle, the headroom, who else is stopped by a pause, and deadlock.
// That bursts, the order of processes and trains change nothing is in rates_test.cpp.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "arrival_log.h"
#include "in_child.h"
#include "tests/vcd/vcd_parser.h"
#include "tlm_interconnect/packet/buffer_check.h"
#include "tlm_interconnect/packet/dependency_check.h"
#include "tlm_interconnect/packet/packet_network.h"
#include "vcd/waves.h"

namespace weft::packet {
namespace {

using test::advance;
using test::in_child;
using Log = test::ArrivalLog;

constexpr Picoseconds kCycle = 1000;
constexpr Ticks kTicks = ticks(kCycle);
constexpr uint32_t kFlitBytes = 16;

Segmentation packets_of(uint32_t flits) {
  Segmentation s;
  s.packet_bytes = flits * kFlitBytes;
  s.flit_bytes = kFlitBytes;
  return s;
}

Message message(uint64_t id, uint32_t to, uint64_t flits, uint8_t network = 0) {
  Message m;
  m.id_low = id;
  m.destination = to;
  m.bytes = flits * kFlitBytes;
  m.virtual_network = network;
  return m;
}

LinkTiming link(uint64_t latency, uint64_t flit_time, bool pfc) {
  LinkTiming l;
  l.latency = latency * kTicks;
  l.flit_time = flit_time * kTicks;
  l.pfc = pfc;
  return l;
}

/// Routers a and b with a link between their ports 0; `at_a` interfaces at a, those of `at_b` at b.
PacketTopology dumbbell(const LinkTiming& between, uint32_t at_a, const std::vector<LinkTiming>& at_b) {
  PacketTopology t;
  t.name = "dumbbell";
  t.routing = "shortest_path";
  t.selection = "first";
  const uint32_t middle = t.add_link(between);
  const uint32_t interface = t.add_link({});
  t.add_router("a");
  t.add_router("b");
  t.connect(0, 1, middle);
  for (uint32_t k = 0; k < at_a; ++k) t.attach(0, interface);
  for (const LinkTiming& l : at_b) t.attach(1, t.add_link(l));
  return t;
}

// Packets of 4 flits, one VC: a sends the heads of packet p at 3 + 5 p (an idle cycle a packet), which arrive
// 7 cycles later (allocation, traversal, 5 of link); b sends one flit every 4 cycles to its slow interface,
// packet p at 11 + 17 p. XOFF 10, XON 4, and a pause takes 1 + 5 + 1 + 3 = 10 cycles.
// - Cycle 26: 14 flits have come, 4 have gone: 10. So a is paused from 36 on. It has sent the head of packet
// 6
//   at 33; its tail arrives at 43, when 28 have come and 8 have gone: 20.
// - Cycle 108: the 24th flit goes, 4 are left: a resumes at 118, with the head of packet 7.
// - Cycle 140: 41 have come, 31 have gone: 10; paused from 150 on. The head of packet 13 went at 148; its
// tail
//   arrives at 158, when 56 have come and 35 have gone: 21, the most there are.
// - Cycle 227: the 52nd goes; a resumes at 237 and sends packets 14 and 15.
// b never idles: the tail of packet 15 is sent at 11 + 17 * 15 + 12 = 278 and arrives 6 cycles later.
std::string dumbbell_by_bursts_of(uint32_t quantum) {
  return in_child([&]() -> std::string {
    const std::string path = ::testing::TempDir() + fmt::format("weft_pfc_{}.vcd", getpid());
    vcd::WavesOptions options;
    options.selection = "network.*";
    options.view = false;
    options.writer.path = path;
    options.writer.clock = [] { return sc_core::sc_time_stamp().value(); };
    vcd::ProbeHub probes;
    vcd::Waves waves(options);
    waves.listen(probes);
    PacketConfig config;
    config.vcs = 1;
    config.buffer_flits = 64;
    config.quantum = quantum;
    config.pfc.xoff = 10;
    config.pfc.xon = 4;
    config.pfc.delay = 3 * kTicks;
    PacketNetwork network("network", config, dumbbell(link(5, 1, true), 1, {link(1, 4, false)}),
                          packets_of(4));
    network.record(probes);
    waves.begin();
    Log log;
    network.ni(1).set_sink(&log);
    network.ni(0).submit(message(1, 1, 16 * 4));
    advance(130 * kCycle);
    const auto midway = network.router(0).pauses(0);  // the first, whole
    advance(870 * kCycle);
    waves.close(1000 * kCycle);
    auto parsed = vcd::test::parse_vcd(vcd::test::read_file(path));
    std::remove(path.c_str());
    std::string out = "paused";
    for (const auto& change : parsed.changes["network.a.out0.vn0_paused"])
      out += fmt::format(" {}={}", change.time / kCycle, change.value);
    uint64_t most = 0;
    std::string first;
    for (const auto& change : parsed.changes["network.b.in0.vc0_flits"]) {
      const uint64_t flits = std::stoull(change.value.substr(1), nullptr, 2);
      if (change.time < 150 * kCycle && flits >= 20 && first.empty())
        first = fmt::format("{} flits at {}", flits, change.time / kCycle);
      most = std::max(most, flits);
    }
    const auto pauses = network.router(0).pauses(0);
    const auto all = network.pfc();
    return fmt::format(
        "{}, {}, most {}, {} pause of {}, {} pauses of {} ({} of {} in all), {} overruns, arrived {}, {}",
        out, first, most, midway.pauses, midway.time / kTicks, pauses.pauses, pauses.time / kTicks,
        all.pauses, all.paused / kTicks, all.overruns, log.arrived[1] / kCycle,
        network.broken_invariant(true));
  });
}

TEST(Pfc, PausesAndResumesToTheCycle) {
  for (const uint32_t quantum : {0u, 1u, 3u}) {
    EXPECT_EQ(
        dumbbell_by_bursts_of(quantum),
        "paused 0=0 36=1 118=0 150=1 237=0, 20 flits at 43, most 21, 1 pause of 82, 2 pauses of 169 (2 of "
        "169 in all), 0 overruns, arrived 284, ")
        << quantum;
  }
}

/// An interface that sends all it can to a router from which next to nothing leaves: how many flits come in,
/// and whether it ever waited for a credit.
struct Flood {
  uint32_t flits = 0;
  uint64_t overruns = 0;
  uint64_t left = 0;
};
Flood flood(const PacketConfig& config, const LinkTiming& in, uint32_t packet_flits) {
  const std::string text = in_child([&]() -> std::string {
    PacketTopology t;
    t.name = "flood";
    t.routing = "shortest_path";
    t.selection = "first";
    t.add_router("a");
    t.attach(0, t.add_link(in));
    t.attach(0, t.add_link(link(1, 1'000'000, false)));
    PacketNetwork network("network", config, t, packets_of(packet_flits));
    network.ni(0).submit(message(1, 1, 100'000));
    advance(5000 * kCycle);
    return fmt::format("{} {} {} {}", network.router(0).pending(0, 0), network.ni(0).overruns(),
                       network.router(0).flits_sent(1), network.broken_invariant(false));
  });
  Flood result;
  std::string broken;
  std::istringstream(text) >> result.flits >> result.overruns >> result.left >> broken;
  EXPECT_EQ(result.left, 1u) << text;
  EXPECT_EQ(broken, "") << text;
  return result;
}

// What still comes after XOFF, over all XOFFs (so that the pause meets a packet at each of its flits): never
// more than the headroom, once just that. A flit less and it is short of a credit there.
TEST(Pfc, TheHeadroomIsWhatIsNeeded) {
  struct Case {
    Picoseconds latency, credit_latency, flit_time, delay;
    uint32_t packet_flits;
  };
  for (const Case& c : {Case{1000, 0, 1000, 0, 1}, Case{1000, 0, 1000, 0, 8}, Case{7000, 0, 1000, 3000, 5},
                        Case{4000, 9000, 2000, 0, 4}, Case{20000, 0, 3000, 500, 6}, Case{5000, 0, 1300, 0, 5},
                        Case{3300, 4700, 700, 1100, 4}, Case{2500, 0, 1280, 100, 7}}) {
    LinkTiming in;
    in.latency = ticks(c.latency);
    in.credit_latency = ticks(c.credit_latency);
    in.flit_time = ticks(c.flit_time);
    in.pfc = true;
    PacketConfig config;
    config.vcs = 1;
    config.trains = false;
    config.quantum = 1;  // what is sent is counted flit by flit
    config.pfc.delay = ticks(c.delay);
    const uint32_t headroom = pfc_headroom(config, in, true, c.packet_flits);
    const std::string name = fmt::format("latency {}/{} flit {} delay {} packet {}", c.latency,
                                         c.credit_latency, c.flit_time, c.delay, c.packet_flits);
    const bool on_cycle = c.flit_time % kCycle == 0;
    uint32_t most = 0;
    uint64_t overruns_below = 0;
    for (uint32_t xoff = 20; xoff < 20 + (on_cycle ? c.packet_flits : 3 * c.packet_flits); ++xoff) {
      config.pfc.xoff = xoff;
      config.pfc.xon = 0;
      config.buffer_flits = xoff + headroom;
      const Flood enough = flood(config, in, c.packet_flits);
      EXPECT_EQ(enough.overruns, 0u) << name << " xoff " << xoff;
      EXPECT_LE(enough.flits, xoff + headroom) << name << " xoff " << xoff;
      most = std::max(most, enough.flits - xoff);
      --config.buffer_flits;
      overruns_below += flood(config, in, c.packet_flits).overruns;
    }
    if (on_cycle) {
      EXPECT_EQ(most, headroom) << name;
      EXPECT_GT(overruns_below, 0u) << name;
    } else {  // where in the cycle a flit falls is not for us to choose
      EXPECT_GE(most + 1, headroom) << name;
    }
  }
}

/// Ranks 0 and 1 at a; at b rank 2, which is slow, and rank 3. Rank 0 floods rank 2; rank 1 sends two packets
/// to rank 3. When these arrive, in cycles, and whether the flood was paused.
struct Victim {
  uint64_t arrived = 0;
  uint64_t pauses = 0;
};
Victim victim(bool pfc, uint8_t network_of_victim, bool flooded = true, uint32_t networks = ~0u) {
  const std::string text = in_child([&]() -> std::string {
    PacketConfig config;
    config.vcs = 2;
    config.virtual_networks = 2;
    config.buffer_flits = 64;
    config.pfc.networks = networks;
    config.pfc.xoff = 20;
    PacketNetwork network("network", config,
                          dumbbell(link(5, 1, pfc), 2, {link(1, 64, false), link(1, 1, false)}),
                          packets_of(4));
    Log log;
    for (uint32_t r = 0; r < 4; ++r) network.ni(r).set_sink(&log);
    if (flooded) network.ni(0).submit(message(1, 2, 400 * 4));
    advance(2000 * kCycle);
    network.ni(1).submit([&] {
      Message m = message(2, 3, 2 * 4, network_of_victim);
      m.submitted = 2000 * kCycle;
      return m;
    }());
    advance(200'000 * kCycle);
    return fmt::format("{} {} {}", log.arrived[2] / kCycle - 2000, network.pfc().pauses,
                       network.broken_invariant(true));
  });
  Victim result;
  std::string broken;
  std::istringstream(text) >> result.arrived >> result.pauses >> broken;
  EXPECT_EQ(broken, "") << text;
  return result;
}

TEST(Pfc, APauseStopsTheFlowToAnIdleDestinationToo) {
  const Victim alone = victim(true, 0, false);
  EXPECT_EQ(alone.pauses, 0u);
  // In the priority of the flood it waits for rank 2 to take many flits of 64 cycles.
  const Victim same = victim(true, 0);
  EXPECT_GT(same.pauses, 0u);
  EXPECT_GT(same.arrived, alone.arrived + 10 * 64);
  // In another it does not: what the flood leaves of the link is next to all of it.
  const Victim other = victim(true, 1);
  EXPECT_GT(other.pauses, 0u);
  EXPECT_LE(other.arrived, alone.arrived + 8);
  // Only the networks that are named are paused.
  EXPECT_EQ(victim(true, 0, true, 2).pauses, 0u);
  EXPECT_EQ(victim(false, 0).pauses, 0u);
}

PacketTopology ring(uint32_t n, bool pfc) {
  return make_from_notation(fmt::format("Ring({})", n), link(3, 1, pfc), {});
}

/// Every rank of Ring(5) sends a long message two links on; what a stall says, or "arrived".
std::string load_ring(bool pfc, const std::string& vc_classes, const std::string& routing = {}) {
  return in_child([&]() -> std::string {
    PacketConfig config;
    config.vcs = 2;
    config.vc_classes = vc_classes;
    config.routing = routing;
    config.buffer_flits = 48;
    PacketNetwork network("network", config, ring(5, pfc), packets_of(8));
    Log log;
    for (uint32_t r = 0; r < 5; ++r) network.ni(r).set_sink(&log);
    for (uint32_t r = 0; r < 5; ++r) network.ni(r).submit(message(r, (r + 2) % 5, 800 * 8));
    advance(200'000 * kCycle);
    const std::string broken = network.broken_invariant(false);
    if (!broken.empty()) return broken;
    if (network.pfc().overruns != 0) return "overruns";
    return log.arrived.size() == 5 ? "arrived" : network.explain_stall();
  });
}

// Datelines do not help against pauses: both classes stop together.
TEST(Pfc, ARingCanDeadlockAndIsExplained) {
  for (const char* classes : {"none", "dateline"}) {
    const std::string text = load_ring(true, classes);
    EXPECT_NE(text.find("Deadlock: a cycle of"), std::string::npos) << text;
    EXPECT_NE(text.find("which is paused by"), std::string::npos) << text;
    EXPECT_NE(text.find("VC classes do not help"), std::string::npos) << text;
  }
  EXPECT_EQ(load_ring(false, "dateline"), "arrived");

  PacketConfig config;
  config.vcs = 2;
  EXPECT_EQ(find_dependency_cycle(ring(5, false), config), "");
  const std::string cycle = find_dependency_cycle(ring(5, true), config);
  EXPECT_NE(cycle.find("can deadlock"), std::string::npos) << cycle;
  EXPECT_NE(cycle.find("Priority flow control pauses all VCs"), std::string::npos) << cycle;
  config.routing = "up_down";
  EXPECT_EQ(find_dependency_cycle(ring(5, true), config), "");
  EXPECT_EQ(load_ring(true, "none", "up_down"), "arrived");
  config.routing.clear();
  config.pfc.networks = 0;
  EXPECT_EQ(find_dependency_cycle(ring(5, true), config), "");
  PacketConfig tree;
  EXPECT_EQ(
      find_dependency_cycle(make_from_notation("FatTree(2,3)", link(1, 1, true), link(1, 1, true)), tree),
      "");
}

TEST(Pfc, WhatDoesNotFitIsRefusedOrWarnedOf) {
  const auto build = [](void (*change)(PacketConfig&)) {
    return in_child([&]() -> std::string {
      PacketConfig config;
      config.buffer_flits = 64;
      change(config);
      PacketNetwork network("network", config, ring(4, true), packets_of(8));
      return "built";
    });
  };
  const auto expect = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect(build([](PacketConfig&) {}), "built");
  expect(build([](PacketConfig& c) { c.pfc.xoff = 65; }), "pauses at 65 flits, but a buffer has 64");
  expect(build([](PacketConfig& c) { c.pfc.xoff = 0; }), "from 1 to 64");
  expect(build([](PacketConfig& c) { c.pfc.xoff = 9, c.pfc.xon = 9; }), "give an XON below XOFF");
  expect(build([](PacketConfig& c) { c.pfc.xon = 60; }), "resumes at 60 flits");
  expect(build([](PacketConfig& c) { c.pfc.networks = 6; }), "of virtual network 1, but there are 1");
  expect(build([](PacketConfig& c) { c.vc_classes = "bubble", c.strict_cut_through = true; }), "bubble");

  // there 2 + 3, back 1 + 3 + 1, the cycle of XOFF: 10 flits, and 7 of the packet that has begun.
  PacketConfig config;
  const LinkTiming between = link(3, 1, true);
  EXPECT_EQ(pfc_headroom(config, between, false, 8), 9u + 7u);
  config.buffer_flits = 40;
  EXPECT_EQ(pfc_thresholds(config, between, false, 8).xoff, 24u);
  EXPECT_EQ(pfc_thresholds(config, between, false, 8).xon, 16u);
  EXPECT_EQ(pfc_warning("dimension 1", config, between, false, 8, "XOFF", "BUFFER"), "");
  config.pfc.xoff = 25;
  const std::string text = pfc_warning("dimension 1", config, between, false, 8, "XOFF", "BUFFER");
  expect(text, "dimension 1: priority flow control pauses at 25 of 40 flits, a headroom of 15, but 16");
  expect(text, "XOFF of 24 flits or less, or BUFFER of 41 flits or more");
}

}  // namespace
}  // namespace weft::packet
