// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The packet network as a whole: exact zero-load times, bursts against single flits, invariants, deadlock,
// determinism, messages.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>

#include <functional>
#include <map>
#include <systemc>
#include <tuple>

#include "in_child.h"
#include "tests/vcd/vcd_parser.h"
#include "tlm_interconnect/packet/packet_network.h"
#include "tlm_interconnect/packet/traffic.h"
#include "vcd/waves.h"

namespace weft::packet {
namespace {

using test::advance;
using test::in_child;

PacketTopology topology(const std::string& notation) {
  return make_from_notation(notation, {}, {});
}

// T = 2 + 4 H + (N - 1) for every pair.
std::string check_zero_load(const std::string& notation, uint32_t flits, const PacketConfig& config) {
  return in_child([&]() -> std::string {
    const PacketTopology t = topology(notation);
    const auto times = zero_load_latencies(t, config, flits, advance);
    const auto n = static_cast<uint32_t>(t.nis.size());
    for (uint32_t from = 0; from < n; ++from) {
      for (uint32_t to = 0; to < n; ++to) {
        const uint64_t expected = 2 + 4 * hops_between(t, config, from, to) + flits - 1;
        if (times[from * n + to] != expected) {
          return fmt::format("{} {} -> {}: {} cycles, not {}", notation, from, to, times[from * n + to],
                             expected);
        }
      }
    }
    return "exact";
  });
}

TEST(ZeroLoad, EveryPairOfEveryGoldenTopologyIsExact) {
  for (const char* notation :
       {"Ring(8)", "Ring(4)_Ring(4)_Ring(4)", "Mesh(8)_Mesh(8)", "FatTree(k=4,n=3)", "Switch(8)"}) {
    for (const uint32_t flits : {1u, 8u}) EXPECT_EQ(check_zero_load(notation, flits, {}), "exact");
  }
}

TEST(ZeroLoad, OtherTopologiesAndBothModes) {
  PacketConfig config;
  EXPECT_EQ(check_zero_load("Ring(3)_FullyConnected(4)_Switch(3)", 5, config), "exact");
  config.switching = FlitSwitching::flit_interleaved;
  EXPECT_EQ(check_zero_load("Ring(8)", 8, config), "exact");
  EXPECT_EQ(check_zero_load("FatTree(2,3)", 3, config), "exact");
  config = {};
  config.strict_cut_through = true;
  EXPECT_EQ(check_zero_load("Mesh(3)_Mesh(3)", 16, config), "exact");
  config = {};
  config.routing = "minimal_adaptive";
  EXPECT_EQ(check_zero_load("Mesh(4)_Ring(4)", 8, config), "exact");
}

// The same cycles where they are no whole picoseconds.
TEST(ZeroLoad, ACycleNeedNotBeWholePicoseconds) {
  for (const Ticks cycle : {ticks(160) / 9, kTicksPerPicosecond + 1, ticks(1000) - 1, kTicksPerPicosecond}) {
    PacketConfig config;
    config.cycle = cycle;
    EXPECT_EQ(check_zero_load("Ring(3)_FullyConnected(4)_Switch(3)", 5, config), "exact") << cycle;
  }
  PacketConfig config;
  config.cycle = kTicksPerPicosecond - 1;  // two cycles in one of the kernel's picoseconds
  EXPECT_THROW(PacketNetwork("network", config, topology("Switch(2)")), UserError);
}

TrafficConfig traffic(const std::string& notation, double load) {
  TrafficConfig c;
  c.topology = topology(notation);
  c.loads = {load};
  c.find_saturation = false;
  c.warmup_cycles = 500;
  c.measure_cycles = 3000;
  c.pattern.self_destinations = true;
  return c;
}

struct Case {
  const char* notation;
  double load;
  uint32_t flits;
  uint32_t vcs;
  uint32_t buffer;
};

const Case kCases[] = {{"Ring(8)", 0.3, 8, 4, 16},           {"Ring(8)", 1.0, 8, 4, 16},
                       {"Ring(4)_Ring(4)", 0.7, 8, 4, 8},    {"Mesh(4)_Mesh(4)", 1.0, 5, 2, 3},
                       {"FatTree(4,2)", 0.6, 8, 4, 16},      {"Switch(8)", 1.0, 1, 4, 16},
                       {"Ring(5)", 1.0, 20, 2, 4},           {"FullyConnected(4)", 0.9, 8, 1, 2},
                       {"Ring(4)_Switch(3)", 1.0, 8, 4, 16}, {"Ring(4)_Ring(3)", 1.0, 5, 64, 3},
                       {"Switch(8)", 1.0, 4, 40, 4}};

/// All that a point says.
std::string facts(const TrafficPoint& p) {
  return fmt::format("{} {} {} {} {} {} {} {} {} {}", p.avg_latency, p.p50, p.p99, p.min_latency,
                     p.max_latency, p.accepted, p.saturated, p.packets, p.packet_hops, p.digest);
}

// A head that waits for one of several outputs is looked at when one of them changes, not in every cycle: the
// cycles are those of the fast links, and what it waits for is a slow one.
TEST(Adaptive, AWaitingHeadIsNotLookedAtEveryCycle) {
  TrafficConfig c = traffic("Mesh(3)_Mesh(3)", 0.5);
  c.network.routing = "minimal_adaptive";
  for (const uint32_t slower : {1u, 100u, 1000u}) {
    for (const char* selection : {"most_credits", "first", "random"}) {
      c.network.selection = selection;
      for (size_t i = 0; i < c.topology.links.size(); ++i) {
        c.topology.links[i].latency = c.network.cycle;
        c.topology.links[i].flit_time = c.network.cycle * (i == 2 ? slower : 1);
      }
      const TrafficPoint p = run_traffic(c, advance).points[0];
      // Choosing at random, a head may have chosen the output that is not free while another one is.
      const double bound = std::string(selection) == "random" ? 400 : 8;
      EXPECT_LT(static_cast<double>(p.activations), bound * static_cast<double>(p.packet_hops))
          << slower << ' ' << selection;
    }
  }
}

// .. and what it then does is what it would have done.
TEST(Adaptive, UnequalRatesAreExactlyTheFlitByFlitModel) {
  TrafficConfig c = traffic("Mesh(3)_Mesh(4)", 0.6);
  c.network.routing = "minimal_adaptive";
  for (size_t i = 1; i < c.topology.links.size(); ++i) {
    c.topology.links[i].latency = c.network.cycle * (4 * i);
    c.topology.links[i].flit_time = c.network.cycle * (i == 2 ? 50 : 3);
  }
  for (const char* selection : {"most_credits", "first", "hash", "random", "spray"}) {
    c.network.selection = selection;
    // Without its escapes this routing is not free of deadlock.
    c.loads = {std::string(selection) == "most_credits" ? 0.6 : 0.02};
    c.network.quantum = 0;
    const TrafficPoint whole = run_traffic(c, advance).points[0];
    c.network.quantum = 1;
    EXPECT_EQ(facts(whole), facts(run_traffic(c, advance).points[0])) << selection;
  }
}

// How far all runs are is told while they run, and in the end it is all of it.
TEST(Traffic, ProgressIsTold) {
  TrafficConfig c = traffic("Mesh(4)_Mesh(4)", 0.5);
  c.seeds = 3;
  uint64_t calls = 0;
  uint64_t before = 0;
  uint64_t whole = 0;
  Picoseconds simulated = 0;
  c.progress = [&](Picoseconds time, uint64_t done, uint64_t total) {
    ++calls;
    EXPECT_GE(done, before);
    EXPECT_LE(done, total);
    before = done;
    whole = total;
    simulated = time;
  };
  run_traffic(c, advance);
  EXPECT_GE(calls, 3u) << "after each of three runs at least";
  EXPECT_EQ(before, whole);
  EXPECT_GE(simulated, 3 * picoseconds((c.warmup_cycles + c.measure_cycles) * c.network.cycle));
}

// Latencies of a million cycles and more have their percentiles, too.
TEST(Traffic, LongLatenciesHaveTheirPercentiles) {
  TrafficConfig c = traffic("Switch(2)", 0.001);
  for (LinkTiming& link : c.topology.links) link.latency = 700000 * c.network.cycle;
  c.network.buffer_flits = 1u << 22;
  c.network.vcs = 1;
  c.packet_flits = 4;
  c.pattern.self_destinations = false;
  c.warmup_cycles = 1500000;
  c.measure_cycles = 3000000;
  c.drain_cycles = 4000000;
  const TrafficPoint p = run_traffic(c, advance).points[0];
  EXPECT_FALSE(p.saturated);
  EXPECT_GE(p.p50, 1400000);
  EXPECT_LE(p.p50, p.p99);
  EXPECT_LT(p.p50, p.max_latency);
}

// A burst is a shorthand: with bursts of one flit every cycle is decided for itself, and nothing changes.
TEST(Bursts, AreExactlyTheFlitByFlitModel) {
  for (const Case& k : kCases) {
    TrafficConfig c = traffic(k.notation, k.load);
    c.packet_flits = k.flits;
    c.network.vcs = k.vcs;
    c.network.buffer_flits = k.buffer;
    const TrafficResult whole = run_traffic(c, advance);
    c.network.quantum = 1;
    const TrafficResult single = run_traffic(c, advance);
    c.network.quantum = 3;
    const TrafficResult three = run_traffic(c, advance);
    ASSERT_GT(whole.points[0].packets, 100u) << k.notation;
    EXPECT_EQ(facts(whole.points[0]), facts(single.points[0])) << k.notation;
    EXPECT_EQ(facts(whole.points[0]), facts(three.points[0])) << k.notation;
  }
}

// With hardly any load the network is often empty when the sources are closed.
TEST(Bursts, DoNotChangeWhatSourcesSendLast) {
  TrafficConfig c = traffic("Switch(2)", 0.3);
  c.packet_flits = 33;
  c.network.buffer_flits = 64;
  c.measure_cycles = 1000;
  c.seeds = 40;
  const TrafficResult whole = run_traffic(c, advance);
  c.network.quantum = 1;
  const TrafficResult single = run_traffic(c, advance);
  for (uint32_t s = 0; s < c.seeds; ++s) EXPECT_EQ(facts(whole.runs[s]), facts(single.runs[s])) << s;
}

TEST(Determinism, ASecondRunAndAShuffledOneAreIdentical) {
  for (const Case& k : kCases) {
    for (const FlitSwitching switching : {FlitSwitching::packet_held, FlitSwitching::flit_interleaved}) {
      TrafficConfig c = traffic(k.notation, k.load);
      c.packet_flits = k.flits;
      c.network.vcs = k.vcs;
      c.network.buffer_flits = k.buffer;
      c.network.switching = switching;
      const TrafficResult a = run_traffic(c, advance);
      const TrafficResult b = run_traffic(c, advance);
      EXPECT_EQ(facts(a.points[0]), facts(b.points[0])) << k.notation;
      for (const uint64_t shuffle : {1u, 2u, 3u}) {
        c.network.shuffle = shuffle;
        const TrafficResult s = run_traffic(c, advance);
        EXPECT_EQ(facts(a.points[0]), facts(s.points[0])) << k.notation << " shuffled";
      }
      c.network.shuffle = 0;
      c.network.seed = 99;
      EXPECT_NE(run_traffic(c, advance).points[0].digest, a.points[0].digest) << k.notation;
    }
  }
}

TEST(Determinism, AdaptiveRoutesAndOddRatesAreIndependentOfTheOrderOfProcesses) {
  const auto check = [](const char* notation, const char* routing, Picoseconds flit_time, uint32_t buffer) {
    for (uint64_t seed = 1; seed < 4; ++seed) {
      TrafficConfig c = traffic(notation, flit_time > 1000 ? 0.5 : 0.9);
      c.network.routing = routing;
      c.network.buffer_flits = buffer;
      c.network.seed = seed;
      for (LinkTiming& l : c.topology.links) l.flit_time = ticks(flit_time);
      const TrafficResult a = run_traffic(c, advance);
      for (const uint64_t shuffle : {1u, 2u}) {
        c.network.shuffle = shuffle;
        EXPECT_EQ(a.points[0].digest, run_traffic(c, advance).points[0].digest)
            << notation << " " << routing << " " << flit_time << " seed " << seed;
      }
      c.network.shuffle = 0;
      if (*routing != 0) continue;
      for (const uint32_t quantum : {1u, 3u}) {
        c.network.quantum = quantum;
        EXPECT_EQ(a.points[0].digest, run_traffic(c, advance).points[0].digest)
            << notation << " " << flit_time << " seed " << seed << " in bursts of " << quantum;
      }
    }
  };
  check("Mesh(4)_Mesh(4)", "minimal_adaptive", 1000, 16);
  check("Ring(4)_Ring(4)", "minimal_adaptive", 1000, 8);
  check("Ring(8)", "", 1300, 16);
  check("Mesh(3)_Switch(2)", "", 1025, 7);
}

TEST(Modes, AgreeWithoutContention) {
  for (const char* notation : {"Ring(8)", "Switch(8)"}) {
    TrafficConfig c = traffic(notation, 0.01);
    c.pattern.name = "neighbor";
    c.injection = "periodic";
    const TrafficResult held = run_traffic(c, advance);
    c.network.switching = FlitSwitching::flit_interleaved;
    const TrafficResult interleaved = run_traffic(c, advance);
    ASSERT_GT(held.points[0].packets, 20u);
    EXPECT_EQ(held.points[0].digest, interleaved.points[0].digest);
    EXPECT_EQ(held.points[0].min_latency, held.points[0].max_latency);
  }
}

TEST(Deadlock, OneClassOnATorusHangsAndIsExplained) {
  TrafficConfig c = traffic("Ring(8)", 1.0);
  c.network.vc_classes = "none";
  c.network.vcs = 1;
  c.network.buffer_flits = 4;
  c.measure_cycles = 200000;
  try {
    run_traffic(c, advance);
    FAIL() << "it did not hang";
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::stall);
    const std::string text = e.what();
    EXPECT_NE(text.find("Deadlock: a cycle of"), std::string::npos) << text;
    EXPECT_NE(text.find("waits for a"), std::string::npos) << text;
    EXPECT_NE(text.find("from rank"), std::string::npos) << text;
  }
}

TEST(Deadlock, DatelinesDrainAfterFullOverload) {
  for (const char* notation : {"Ring(8)", "Ring(4)_Ring(4)_Ring(4)"}) {
    for (const char* classes : {"dateline", "switched_dateline"}) {
      TrafficConfig c = traffic(notation, 1.0);
      c.network.vc_classes = classes;
      c.network.vcs = 2;
      c.network.buffer_flits = 4;
      c.measure_cycles = 6000;
      const TrafficResult r = run_traffic(c, advance);  // ends drained with its invariants checked, or throws
      EXPECT_GT(r.points[0].accepted, 0.2) << notation << " " << classes;
    }
  }
}

TEST(Routing, AdaptiveAndExplicitNetworksRunAndDrainUnderOverload) {
  TrafficConfig c = traffic("Ring(4)_Ring(4)", 1.0);
  c.network.routing = "minimal_adaptive";
  EXPECT_GT(run_traffic(c, advance).points[0].accepted, 0.3);
  for (const char* selection : {"hash", "spray", "most_credits", "first"}) {
    TrafficConfig tree = traffic("FatTree(4,2)", 0.8);
    tree.network.selection = selection;
    EXPECT_GT(run_traffic(tree, advance).points[0].accepted, 0.2) << selection;
  }
  for (const char* notation :
       {"Ring(3)_FullyConnected(4)_Switch(3)", "Switch(4)_Switch(4)", "Ring(1)", "Mesh(2)"}) {
    EXPECT_GT(run_traffic(traffic(notation, 1.0), advance).points[0].accepted, 0.1) << notation;
  }
  TrafficConfig up_down = traffic("Ring(5)_Ring(4)", 1.0);
  up_down.network.routing = "up_down";
  up_down.network.vcs = 1;
  up_down.network.vc_classes = "none";
  EXPECT_GT(run_traffic(up_down, advance).points[0].accepted, 0.05);
}

TEST(Options, EveryOneKeepsItsInvariants) {
  const auto run = [](auto&& change) {
    TrafficConfig c = traffic("Ring(4)_Ring(4)", 1.0);
    change(c);
    const TrafficResult r = run_traffic(c, advance);
    return r.points[0].accepted;
  };
  const double base = run([](TrafficConfig&) {});
  EXPECT_GT(run([](TrafficConfig& c) { c.network.strict_cut_through = true; }), 0.3);
  EXPECT_LT(run([](TrafficConfig& c) { c.network.release_on_credit = true; }), base);
  EXPECT_GT(run([](TrafficConfig& c) { c.network.allocator_iterations = 3; }), 0.95 * base);
  EXPECT_GT(run([](TrafficConfig& c) { c.network.switch_allocator = "round_robin"; }), 0.5 * base);
  EXPECT_GT(run([](TrafficConfig& c) { c.network.pipeline.vc_alloc = 0; }), 0.3);
  EXPECT_GT(run([](TrafficConfig& c) { c.network.pipeline = {2, 2, 2, 2, 3}; }), 0.3);
  EXPECT_GT(run([](TrafficConfig& c) { c.network.virtual_networks = 2; }), 0.3);
  // Links of half the rate of the routers' clock, and of a rate that is no multiple of it.
  for (const Picoseconds flit_time : {2000u, 1300u}) {
    const double accepted = run([&](TrafficConfig& c) {
      for (LinkTiming& l : c.topology.links) l.flit_time = ticks(flit_time);
    });
    EXPECT_GT(accepted, 0.6 * base * 1000 / static_cast<double>(flit_time));
    EXPECT_LT(accepted, 1000.0 / static_cast<double>(flit_time));
  }
}

TEST(Deadlock, BubblesKeepARingMovingWithOneClass) {
  TrafficConfig c = traffic("Ring(8)", 1.0);
  c.network.vc_classes = "bubble";
  c.network.strict_cut_through = true;
  c.network.vcs = 1;
  c.measure_cycles = 20000;
  EXPECT_GT(run_traffic(c, advance).points[0].accepted, 0.15);
  c.network.buffer_flits = 15;  // not two packets
  EXPECT_THROW(run_traffic(c, advance), UserError);
}

TEST(Retry, DelaysButLosesNothing) {
  TrafficConfig c = traffic("Ring(8)", 0.3);
  const double clean = run_traffic(c, advance).points[0].avg_latency;
  for (LinkTiming& l : c.topology.links) l.flit_error = 0.01;
  const TrafficPoint retried = run_traffic(c, advance).points[0];
  EXPECT_GT(retried.avg_latency, clean + 0.1);
  EXPECT_LT(retried.avg_latency, 2 * clean);
  EXPECT_EQ(run_traffic(c, advance).points[0].digest, retried.digest);
  for (LinkTiming& l : c.topology.links) l.flit_error = 1;
  EXPECT_THROW(run_traffic(c, advance), UserError);
}

// A packet of N flits over links of different rate, alone: the slow link sets its pace, and from slow to fast
// it waits until it can go without gaps.
TEST(Rates, ClosedFormsOfMixedLinks) {
  const auto time = [](Picoseconds first, Picoseconds second) {
    return in_child([&]() -> std::string {
      PacketTopology t;
      t.name = "chain";
      t.routing = "shortest_path";
      t.selection = "first";
      const uint32_t ni = t.add_link({});
      LinkTiming a;
      a.flit_time = ticks(first);
      LinkTiming b;
      b.flit_time = ticks(second);
      const uint32_t link_a = t.add_link(a);
      const uint32_t link_b = t.add_link(b);
      for (const char* name : {"a", "b", "c"}) t.add_router(name);
      t.connect(0, 1, link_a);
      t.connect(1, 2, link_b);
      t.attach(0, ni);
      t.attach(2, ni);
      return std::to_string(zero_load_latencies(t, {}, 8, advance)[1]);
    });
  };
  const int n = 8;
  EXPECT_EQ(time(1000, 1000), std::to_string(2 + 4 * 3 + (n - 1)));
  // The last flit leaves the slow link (n - 1) x 4 cycles after the first; a flit takes 3 cycles more to come
  // over it.
  EXPECT_EQ(time(4000, 4000), std::to_string(2 + 4 * 3 + 2 * 3 + (n - 1) * 4));
  EXPECT_EQ(time(1000, 4000), std::to_string(2 + 4 * 3 + 3 + (n - 1) * 4));
  EXPECT_EQ(time(4000, 1000), std::to_string(2 + 4 * 3 + 3 + (n - 1) * 4));
}

TEST(Pipeline, StagesAddUpAtZeroLoad) {
  PacketConfig config;
  config.pipeline = {1, 2, 3, 2, 1};
  EXPECT_EQ(in_child([&]() -> std::string {
              const auto times = zero_load_latencies(topology("Switch(4)"), config, 1, advance);
              return std::to_string(times[1]);
            }),
            std::to_string(2 + 1 + 2 + 3 + 2 + 1));
}

class Collector final : public PacketSink {
 public:
  void packet_arrives(const fabric::Packet& packet, uint32_t, Ticks at) override {
    ++packets;
    // With one VC and one route a pair's packets keep their order.
    Ticks& last = last_of_pair[{packet.source, packet.destination}];
    in_order = in_order && at > last;
    last = at;
  }
  void message_arrives(const Message& message, Picoseconds at) override {
    arrivals[message.id_low] = at;
    bytes += message.bytes;
  }
  void message_sent(const Message& message, Picoseconds at) override { sent[message.id_low] = at; }
  uint64_t packets = 0;
  uint64_t bytes = 0;
  bool in_order = true;
  std::map<uint64_t, Picoseconds> sent;
  std::map<std::pair<uint32_t, uint32_t>, Ticks> last_of_pair;
  std::map<uint64_t, Picoseconds> arrivals;
};

TEST(Messages, AreCutSentAndPutTogether) {
  EXPECT_EQ(in_child([]() -> std::string {
              PacketConfig config;
              Segmentation cut;  // 256 B packets of 16 flits
              PacketNetwork network("network", config, topology("Ring(8)"), cut);
              Collector sink;
              for (uint32_t r = 0; r < 8; ++r) network.ni(r).set_sink(&sink);
              const auto send = [&](uint64_t id, uint32_t from, uint32_t to, uint64_t bytes) {
                Message m;
                m.id_low = id;
                m.destination = to;
                m.bytes = bytes;
                network.ni(from).submit(m);
              };
              send(1, 0, 1, 0);         // one flit
              send(2, 1, 2, 16);        // one flit
              send(3, 2, 3, 17);        // two flits
              send(4, 3, 4, 256 * 10);  // ten full packets
              send(5, 5, 6, 1000);      // 3 x 256 + 232 (15 flits)
              advance(1000000);
              std::string times;
              for (const auto& [id, at] : sink.arrivals) times += std::to_string(at / 1000) + " ";
              times += std::to_string(sink.bytes) + " " + std::to_string(sink.packets) + " sent";
              for (const auto& [id, at] : sink.sent) times += " " + std::to_string(at / 1000);
              return times + network.broken_invariant(true);
            }),
            // 2 + 4 x 2 routers = 10 for the head; then one cycle a flit
            "10 10 11 169 72 3593 17 sent 1 1 2 160 63");
}

// Ticks end after two hours; nothing wraps before that is said.
TEST(Messages, AfterTheLastTickAreRefused) {
  class Silent final : public PacketSink {
   public:
    bool takes_trains() const override { return true; }
    void train_arrives(const TrainArrivals&) override {}
    void packet_arrives(const fabric::Packet&, uint32_t, Ticks) override {}
    void message_arrives(const Message&, Picoseconds) override {}
  };
  const auto run = [](uint64_t bytes, Picoseconds submitted) {
    return in_child([&]() -> std::string {
      PacketNetwork network("network", {}, topology("Switch(2)"));
      Silent sink;
      for (uint32_t r = 0; r < 2; ++r) network.ni(r).set_sink(&sink);
      Message m;
      m.destination = 1;
      m.bytes = bytes;
      m.submitted = submitted;
      try {
        network.ni(0).submit(m);
        advance(2 * kLongestTickTime);
      } catch (const std::exception& e) {
        return e.what();
      }
      return network.messages_in_flight() == 0 ? "arrived" : "lost";
    });
  };
  EXPECT_EQ(run(1000, kLongestTickTime - 1000000), "arrived");
  EXPECT_NE(run(1000, kLongestTickTime + 1).find("packet fidelity counts up to 3600 s"), std::string::npos);
  EXPECT_NE(run(1000, kNever - 1).find("packet fidelity counts up to 3600 s"), std::string::npos);
  // Long before the hour, and a train passes it.
  const std::string late = run(uint64_t{1} << 54, 0);
  EXPECT_NE(late.find("packet fidelity counts up to 3600 s"), std::string::npos) << late;
}

TEST(Messages, OfManyRanksArriveOnceEachAndInOrder) {
  EXPECT_EQ(in_child([]() -> std::string {
              PacketConfig config;
              config.vcs = 1;
              config.routing = "up_down";
              config.selection = "first";
              PacketNetwork network("network", config, topology("Mesh(4)_Mesh(2)"));
              Collector sink;
              uint64_t id = 0;
              uint64_t bytes = 0;
              for (uint32_t r = 0; r < 8; ++r) network.ni(r).set_sink(&sink);
              for (uint32_t from = 0; from < 8; ++from) {
                for (uint32_t to = 0; to < 8; ++to) {
                  for (uint32_t k = 0; k < 3; ++k) {
                    Message m;
                    m.id_low = id++;
                    m.destination = to;
                    m.bytes = 100 + 777 * k;
                    bytes += m.bytes;
                    network.ni(from).submit(m);
                  }
                }
              }
              advance(100000000);
              if (sink.arrivals.size() != id) return "messages missing";
              if (sink.bytes != bytes) return "bytes missing";
              if (!sink.in_order) return "order broken";
              if (network.messages_in_flight() != 0) return "messages left";
              return network.broken_invariant(true);
            }),
            "");
}

// Bulk messages in one virtual network; a small one in another overtakes them, in the NI and on the way.
TEST(VirtualNetworks, DoNotWaitForEachOther) {
  const auto arrival = [](uint32_t networks, uint8_t small) {
    return std::stoull(in_child([&]() -> std::string {
      PacketConfig config;
      config.virtual_networks = networks;
      config.vcs = 4 / networks;
      PacketNetwork network("network", config, topology("Switch(4)"));
      Collector sink;
      for (uint32_t r = 0; r < 4; ++r) network.ni(r).set_sink(&sink);
      for (uint32_t r = 0; r < 3; ++r) {  // three ranks crowd the fourth
        Message m;
        m.id_low = r;
        m.destination = 3;
        m.bytes = 64 * 1024;
        network.ni(r).submit(m);
      }
      Message m;
      m.id_low = 99;
      m.destination = 2;
      m.bytes = 64;
      m.virtual_network = small;
      network.ni(0).submit(m);
      advance(1000000000);
      const std::string broken = network.broken_invariant(true);
      if (!broken.empty() || sink.arrivals.size() != 4) return "0";
      return std::to_string(sink.arrivals.at(99) / 1000);
    }));
  };
  const uint64_t behind = arrival(1, 0);
  const uint64_t beside = arrival(2, 1);
  EXPECT_GT(behind,
            3u * 64 * 1024 / 16 * 9 / 10);  // after its own rank's bulk, which had a third of the port
  EXPECT_GT(beside, 0u);
  EXPECT_LT(beside, 100u);
}

// One packet of 8 flits through a switch: VC allocation in cycle 2, switch allocation from 3, at the NI from
// 6, the first credit back in 9.
TEST(Waveforms, ShowAPacketFlitByFlit) {
  const std::string text = in_child([]() -> std::string {
    const std::string path = ::testing::TempDir() + fmt::format("weft_router_{}.vcd", getpid());
    vcd::WavesOptions options;
    options.selection = "network.*";
    options.view = false;
    options.writer.path = path;
    options.writer.clock = [] { return sc_core::sc_time_stamp().value(); };
    vcd::ProbeHub probes;
    vcd::Waves waves(options);
    waves.listen(probes);
    PacketNetwork network("network", {}, topology("Switch(2)"));
    network.record(probes);
    waves.begin();
    Collector sink;
    for (uint32_t r = 0; r < 2; ++r) network.ni(r).set_sink(&sink);
    Message m;
    m.destination = 1;
    m.bytes = 128;
    network.ni(0).submit(m);
    advance(100000);
    waves.close(100000);
    auto parsed = vcd::test::parse_vcd(vcd::test::read_file(path));
    std::remove(path.c_str());
    std::string result = network.trains() == nullptr ? "" : "trains ";
    const std::string router = std::string("network.") + network.topology().routers[0].name;
    for (const char* signal : {".out1.busy", ".out1.vc0_credits", ".in0.vc0_flits", ".in1.vc0_flits"}) {
      result += std::string(signal) + ":";
      for (const auto& change : parsed.changes[router + signal]) {
        result += fmt::format(" {}={}", change.time / 1000, change.value);
      }
      result += "\n";
    }
    return result;
  });
  EXPECT_EQ(text,
            ".out1.busy: 0=0 3=1 11=0\n"
            ".out1.vc0_credits: 0=b10000 3=b1111 4=b1110 5=b1101 6=b1100 7=b1011 8=b1010 11=b1011 12=b1100 "
            "13=b1101 14=b1110 15=b1111 16=b10000\n"
            ".in0.vc0_flits: 0=b0 2=b1 10=b0\n"
            ".in1.vc0_flits: 0=b0\n");
}

// An urgent message through a switch whose output three ranks crowd with bulk.
TEST(VirtualNetworks, StrictPriorityGoesBeforeAllOthers) {
  struct Result {
    uint64_t urgent = 0;
    std::string all;
  };
  const auto run = [](const std::function<void(PacketConfig&)>& change, bool bulk, Picoseconds flit_time) {
    const std::string text = in_child([&]() -> std::string {
      PacketConfig config;
      config.virtual_networks = 2;
      config.vcs = 2;
      change(config);
      LinkTiming link;
      link.flit_time = ticks(flit_time);
      PacketNetwork network("network", config, make_from_notation("Switch(5)", link, link));
      Collector sink;
      for (uint32_t r = 0; r < 5; ++r) network.ni(r).set_sink(&sink);
      const auto send = [&](uint64_t id, uint32_t from, uint8_t virtual_network, uint64_t packets) {
        Message m;
        m.id_low = id;
        m.destination = 4;
        m.bytes = packets * 256;
        m.virtual_network = virtual_network;
        m.submitted = sc_core::sc_time_stamp().value();
        network.ni(from).submit(m);
      };
      for (uint32_t r = 0; bulk && r < 3; ++r) send(r, r, 0, 300);
      advance(1000000);
      send(99, 0, 1, 100);
      advance(1000000000);
      std::string broken = network.broken_invariant(true);
      if (!broken.empty()) return broken;
      for (const auto& [id, at] : sink.arrivals) broken += fmt::format(" {}: {}", id, at);
      return fmt::format("{}{}", (sink.arrivals.at(99) - 1000000) / 1000, broken);
    });
    return Result{std::stoull(text), text};
  };
  for (const Picoseconds flit_time : {1000u, 2000u}) {
    const auto strict = [](PacketConfig& c) { c.strict_priority = true; };
    const uint64_t alone = run(strict, false, flit_time).urgent;
    const Result first = run(strict, true, flit_time);
    EXPECT_GE(alone, 1600 * flit_time / 1000);
    EXPECT_GE(first.urgent, alone);
    EXPECT_LE(first.urgent, alone + alone / 5);  // a packet that has begun is not interrupted
    EXPECT_GT(run([](PacketConfig&) {}, true, flit_time).urgent, 2 * alone);
    for (const uint32_t quantum : {1u, 3u}) {
      EXPECT_EQ(
          run([&](PacketConfig& c) { c.strict_priority = true, c.quantum = quantum; }, true, flit_time).all,
          first.all);
    }
    const auto interleaved = [](PacketConfig& c) {
      c.strict_priority = true;
      c.switching = FlitSwitching::flit_interleaved;
    };
    EXPECT_LE(run(interleaved, true, flit_time).urgent, alone + alone / 5);
  }
}

// A sender that ignores its credits.
class Rogue final : public sc_core::sc_module, public fabric::FabricEndpoint {
 public:
  explicit Rogue(sc_core::sc_module_name name) : sc_module(name), port("port", LinkEnd::target, *this) {}
  void end_of_elaboration() override { port.resolve(); }
  void receive(const fabric::Transfer&) override {}
  LinkPort port;
};

std::string send_rogue(const std::vector<std::pair<uint32_t, uint32_t>>& runs) {
  return in_child([&]() -> std::string {
    sc_core::sc_report_handler::set_actions(sc_core::SC_FATAL, sc_core::SC_THROW);
    PacketConfig config;
    PacketTopology t = topology("Switch(2)");
    const auto routing = make_routing_policy("dimension_order", t, config);
    fabric::PacketPool pool;
    std::vector<PortConfig> ports(2);
    for (uint32_t p = 0; p < 2; ++p) {
      ports[p].name = "p" + std::to_string(p);
      ports[p].latency = ports[p].credit_latency = ports[p].flit_time = ticks(1000);
      ports[p].depth = ports[p].peer_depth = 16;
      ports[p].lookahead = ticks(2000);
    }
    const std::string selection = "first";
    PacketWheel wheel("wheel");
    Router router("router", 0, ports, {config, *routing, selection, pool, wheel});
    Rogue a("a");
    Rogue b("b");
    router.port(0).initiator().bind(a.port.target());
    router.port(1).initiator().bind(b.port.target());
    advance(1000);
    const fabric::PacketRef ref = pool.acquire();
    pool[ref].destination = 1;
    fabric::Transfer transfer;
    transfer.packet = ref;
    transfer.packet_flits = 64;
    transfer.flit_time = ticks(1000);
    transfer.first = ticks(10000);
    for (const auto& [first, flits] : runs) {
      transfer.first_flit = first;
      transfer.flits = flits;
      a.port.send(transfer);
      transfer.first += flits * ticks(1000);
    }
    return "accepted";
  });
}

/// What an interface sends when: message `id` of so many 16-flit packets, handed over at this cycle.
struct Handed {
  char id;
  uint32_t packets;
  uint64_t cycle;
  uint8_t virtual_network = 0;
};

/// The packets of rank 0's interface in the order in which they leave, one every 16 cycles from 0 on.
/// `after`: messages come when the interface has worked in the cycle, else before it does.
std::string turns(const std::vector<Handed>& messages, const PacketConfig& network_config,
                  bool after = false) {
  class Order final : public PacketSink {
   public:
    void packet_arrives(const fabric::Packet& packet, uint32_t, Picoseconds at) override {
      order[at] = static_cast<char>(packet.id_low);
    }
    void message_arrives(const Message&, Picoseconds) override {}
    std::map<Picoseconds, char> order;
  };
  return in_child([&]() -> std::string {
    PacketNetwork network("network", network_config, topology("Switch(2)"));
    Order sink;
    for (uint32_t r = 0; r < 2; ++r) network.ni(r).set_sink(&sink);
    uint64_t now = 0;
    for (const Handed& h : messages) {
      if (h.cycle > now) advance((h.cycle - now) * 1000);
      now = std::max(now, h.cycle);
      while (after && now > 0 && sc_core::sc_time_to_pending_activity() == sc_core::SC_ZERO_TIME)
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
      Message m;
      m.id_low = static_cast<uint64_t>(h.id);
      m.bytes = uint64_t{256} * h.packets;
      m.destination = 1;
      m.submitted = now * 1000;
      m.virtual_network = h.virtual_network;
      network.ni(0).submit(m);
    }
    advance(100000000);
    std::string text;
    for (const auto& [at, id] : sink.order) text += id;
    const std::string broken = network.broken_invariant(true);
    return broken.empty() ? text : broken;
  });
}

TEST(Messages, TakeTurnsInTheOrderInWhichTheyHadThem) {
  for (const uint64_t shuffle : {0u, 1u, 2u, 3u, 4u}) {
    PacketConfig config;
    config.shuffle = shuffle;
    config.buffer_flits = 64;
    // One after the other, in the order of submission.
    EXPECT_EQ(turns({{'a', 3, 0}, {'b', 2, 0}, {'c', 1, 0}}, config), "aaabbc");
    config.interleave_messages = true;
    EXPECT_EQ(turns({{'a', 3, 0}, {'b', 2, 0}, {'c', 1, 0}}, config), "abcaba");
    EXPECT_EQ(turns({{'a', 1, 0}, {'b', 1, 0}, {'c', 3, 0}}, config), "abccc");
    // The third turn is in cycle 32. Who comes up to then, and in it, is behind those that wait, but before
    // the one whose turn it is ..
    for (const bool after : {false, true}) {
      for (const uint64_t cycle : {17u, 31u, 32u})
        EXPECT_EQ(turns({{'a', 3, 0}, {'b', 2, 0}, {'c', 1, cycle}}, config, after), "ababca") << cycle;
      EXPECT_EQ(turns({{'a', 3, 0}, {'b', 2, 0}, {'c', 1, 32}, {'d', 1, 32}}, config, after), "ababcda");
      EXPECT_EQ(turns({{'a', 3, 0}, {'b', 2, 16}}, config, after), "aabab");
    }
    // .. and who comes later is behind that, too.
    for (const uint64_t cycle : {33u, 47u})
      EXPECT_EQ(turns({{'a', 3, 0}, {'b', 2, 0}, {'c', 1, cycle}}, config), "ababac") << cycle;
    // The turn of b, which then is over: nobody is behind c.
    EXPECT_EQ(turns({{'a', 3, 0}, {'b', 2, 0}, {'c', 1, 48}}, config), "ababac");
    // Several in one cycle keep their order.
    EXPECT_EQ(turns({{'a', 3, 0}, {'b', 2, 0}, {'c', 1, 32}, {'d', 1, 32}}, config), "ababcda");
    // A message alone takes turn after turn; who comes in the cycle of one goes before its next.
    EXPECT_EQ(turns({{'a', 3, 0}, {'b', 2, 16}}, config), "aabab");
    EXPECT_EQ(turns({{'a', 3, 0}, {'b', 2, 17}}, config), "aaabb");
    // Virtual networks take turns first, each with the messages of its own.
    config.virtual_networks = 2;
    config.vcs = 2;
    EXPECT_EQ(turns({{'a', 2, 0}, {'b', 2, 0}, {'x', 2, 0, 1}, {'y', 2, 0, 1}}, config), "xaybxayb");
    config.strict_priority = true;
    EXPECT_EQ(turns({{'a', 2, 0}, {'b', 2, 0}, {'x', 2, 0, 1}, {'y', 2, 0, 1}}, config), "xyxyabab");
  }
}

TEST(Credits, SendingWithoutOneIsFatal) {
  EXPECT_EQ(send_rogue({{0, 16}}), "accepted");
  EXPECT_NE(send_rogue({{0, 17}}).find("sent without credit"), std::string::npos);
  EXPECT_NE(send_rogue({{0, 8}, {8, 9}}).find("sent without credit"), std::string::npos);
  EXPECT_NE(send_rogue({{0, 4}, {5, 4}}).find("packets mixed"), std::string::npos);
}

}  // namespace
}  // namespace weft::packet
