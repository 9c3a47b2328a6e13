// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Links of any rates side by side: results depend neither on the length of bursts nor on the order of
// processes nor on packet trains; and a crossing of two rates runs at the slower one.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <sstream>
#include <systemc>
#include <tuple>
#include <vector>

#include "arrival_log.h"
#include "in_child.h"
#include "tlm_interconnect/packet/buffer_check.h"
#include "tlm_interconnect/packet/dependency_check.h"
#include "tlm_interconnect/packet/packet_network.h"

namespace weft::packet {
namespace {

using test::advance;
using test::in_child;
using Log = test::ArrivalLog;

/// Everything of it is drawn from the seed.
struct Scenario {
  PacketConfig network;
  PacketTopology topology;
  std::string text;
  uint32_t packet_bytes = 0;
  uint32_t messages = 0;
  uint32_t longest = 0;  ///< packets
  Picoseconds span = 0;  ///< messages are submitted within it
  uint64_t seed = 0;
  bool on_cycles = false;  ///< messages are submitted on cycles
};

enum class Rates { one, mixed };

/// Cycles of 1 ns, and of times that are no whole picoseconds: 16 B at 900 and at 300 GB/s, little more than
/// one.
constexpr Ticks kCycles[] = {ticks(1000), ticks(160) / 9, ticks(160) / 3, kTicksPerPicosecond + 1,
                             ticks(1000) + 1};

/// `cycle` is 1000 units of the times below.
LinkTiming draw_link(Random& random, Rates rates, const LinkTiming& common, Ticks cycle) {
  static constexpr Picoseconds kFlitTimes[] = {250,  333,  500,  750,  1000, 1000,
                                               1000, 1280, 1300, 2000, 3000, 4700};
  static constexpr Picoseconds kLatencies[] = {0, 0, 300, 1000, 2500, 7000};
  LinkTiming link = common;
  if (rates == Rates::one && common.flit_time != 0) return link;
  const auto scaled = [&](uint64_t t) { return t * cycle / 1000; };
  link.flit_time = scaled(kFlitTimes[random.below(12)]);
  link.latency = scaled(kLatencies[random.below(6)]);
  link.credit_latency = random.below(4) == 0 ? scaled(1 + random.below(4000)) : 0;
  if (random.below(8) == 0) link.flit_error = 0.01;
  return link;
}

/// Thresholds and timers so small that they act within microseconds.
std::string draw_congestion_control(uint64_t seed, PacketConfig& c) {
  Random random(seed, 17);
  EcnConfig& e = c.ecn;
  DcqcnConfig& d = c.dcqcn;
  e.enabled = true;
  e.k_min = 16 * random.below(2 * c.buffer_flits);
  e.k_max = e.k_min + 16 * random.below(4 * c.buffer_flits);
  e.p_max = random.below(4) == 0 ? 1 : 0.05 * (1 + random.below(10));
  d.enabled = random.below(5) != 0;
  d.cnp_interval = ticks(1 + random.below(random.below(2) == 0 ? 1000 : 100000));
  d.alpha_timer = ticks(1 + random.below(50000));
  d.rate_timer = ticks(500 + random.below(50000));
  d.byte_counter = 16 * (1 + random.below(1000));
  d.fast_recovery = random.below(6);
  d.g = 1.0 / (1 + random.below(64));
  d.rate_ai = uint64_t{1000000} * (1 + random.below(4000));
  d.rate_hai = 10 * d.rate_ai;
  d.min_rate = uint64_t{1000000} * (1 + random.below(20000));
  return fmt::format(" ecn {} {} {} dcqcn {} cnp {} timers {} {} bytes {}", e.k_min, e.k_max, e.p_max,
                     d.enabled, d.cnp_interval, d.alpha_timer, d.rate_timer, d.byte_counter);
}

Scenario draw(uint64_t seed, Rates rates) {
  Random random(seed, 11);
  Scenario s;
  s.seed = seed;
  PacketConfig& c = s.network;
  c.cycle = kCycles[seed % 2 == 0 ? 0 : seed / 2 % 5];
  const LinkTiming common = draw_link(random, rates, {}, c.cycle);
  const auto link = [&] {
    const LinkTiming l = draw_link(random, rates, common, c.cycle);
    s.text +=
        fmt::format(" {}+{}/{}{}", l.flit_time, l.latency, l.credit_latency, l.flit_error > 0 ? "!" : "");
    return l;
  };
  static constexpr uint32_t kBuffers[] = {1, 2, 3, 5, 8, 16, 16, 33, 64};
  c.buffer_flits = kBuffers[random.below(9)];
  c.vcs = 1 + random.below(4);
  c.seed = seed;
  const uint32_t shape = random.below(6);
  if (shape == 0) {
    const LinkTiming a = link();
    s.topology = make_fat_tree(2, 3, {a, link()}, link());
    s.text = "FatTree(2,3)" + s.text;
    if (random.below(2) == 0)
      c.routing = "up_down", c.selection = "first";
    else
      c.selection = random.below(2) == 0 ? "hash" : "random";
  } else if (shape == 1) {
    TopologyDimension d;
    d.shape = Shape(DimensionKind::switch_, 6);
    d.link = link();
    s.topology = make_dimensions({d}, link());
    s.text = "Switch(6)" + s.text;
  } else {
    std::vector<TopologyDimension> dimensions;
    std::string names;
    for (uint32_t k = 0; k < 2; ++k) {
      TopologyDimension d;
      const auto kind = static_cast<DimensionKind>(random.below(4));
      d.shape = Shape(kind, 2 + random.below(3));
      d.link = link();
      names += d.shape.name();
      dimensions.push_back(d);
    }
    s.topology = make_dimensions(dimensions, link());
    s.text = names + s.text;
    c.vcs = std::max(c.vcs, 2u);
    const bool direct = std::none_of(dimensions.begin(), dimensions.end(),
                                     [](const TopologyDimension& d) { return d.shape.has_switches(); });
    if (direct && shape > 3) c.routing = "minimal_adaptive", c.vcs = 4;
  }
  if (random.below(3) == 0) c.virtual_networks = 2;
  if (random.below(4) == 0) c.strict_priority = true;
  if (random.below(5) == 0) c.release_on_credit = true;
  if (random.below(5) == 0) c.switch_allocator = "round_robin";
  if (random.below(5) == 0) c.allocator_iterations = 2;
  if (random.below(6) == 0) c.pipeline = {1, 2, 2, 1, 3};
  if (random.below(6) == 0) c.pipeline.vc_alloc = 0;
  if (random.below(6) == 0) c.pipeline.credit = 0;
  s.packet_bytes = 16 * (1 + random.below(24));
  if (random.below(5) == 0 && s.packet_bytes <= 16 * c.buffer_flits) c.strict_cut_through = true;
  s.messages = 4 + random.below(30);
  s.longest = random.below(2) == 0 ? 8 : 200;
  s.span = picoseconds((100000 + random.below(4000000)) * c.cycle / 1000);
  s.text += fmt::format(" cycle {} VCs {}x{} buffer {} packet {} flits{}{}{} {} {} iter {} pipe {}{} sel {}",
                        c.cycle, c.virtual_networks, c.vcs, c.buffer_flits, s.packet_bytes / 16,
                        c.strict_priority ? " strict" : "", c.release_on_credit ? " release" : "",
                        c.strict_cut_through ? " cut-through" : "", c.routing, c.switch_allocator,
                        c.allocator_iterations, c.pipeline.vc_alloc, c.pipeline.credit, c.selection);
  return s;
}

struct Counts {
  uint64_t trains = 0;
  uint64_t marked = 0;
  uint64_t notifications = 0;
  uint64_t pauses = 0;
  uint64_t overruns = 0;
  void operator+=(const Counts& o) {
    pauses += o.pauses;
    overruns += o.overruns;
    trains += o.trains;
    marked += o.marked;
    notifications += o.notifications;
  }
};

struct Outcome {
  std::string log;
  Counts counts;
};

Outcome run(const Scenario& s) {
  const std::string text = in_child([&]() -> std::string {
    Segmentation cut;
    cut.packet_bytes = s.packet_bytes;
    PacketNetwork network("network", s.network, s.topology, cut);
    Log log;
    for (uint32_t r = 0; r < network.ranks(); ++r) network.ni(r).set_sink(&log);
    Random random(s.seed, 7);
    std::vector<std::tuple<Picoseconds, uint32_t, Message>> plan;
    for (uint32_t k = 0; k < s.messages; ++k) {
      Message m;
      m.id_low = k;
      const uint32_t from = random.below(network.ranks());
      m.destination = (from + 1 + random.below(network.ranks() - 1)) % network.ranks();
      const uint32_t packets = random.below(3) == 0 ? 1 + random.below(4) : 1 + random.below(s.longest);
      m.bytes = static_cast<uint64_t>(packets) * s.packet_bytes - random.below(s.packet_bytes);
      m.virtual_network = static_cast<uint8_t>(random.below(s.network.virtual_networks));
      m.submitted = random.below(static_cast<uint32_t>(s.span));
      if (s.on_cycles) {
        m.submitted = picoseconds(ticks(m.submitted) / s.network.cycle * s.network.cycle);
      }
      plan.emplace_back(m.submitted, from, m);
    }
    std::stable_sort(plan.begin(), plan.end(),
                     [](const auto& a, const auto& b) { return std::get<0>(a) < std::get<0>(b); });
    Picoseconds now = 0;
    for (const auto& [at, from, message] : plan) {
      if (at > now) advance(at - now);
      now = at;
      const std::string broken = network.broken_invariant(false);
      if (!broken.empty()) return "0 0 0 0 0\nmidway: " + broken;
      network.ni(from).submit(message);
    }
    for (int k = 0; k < 5000 && network.messages_in_flight() > 0; ++k) advance(10000000);
    advance(10000000);
    network.settle();
    const PacketNetwork::PfcFigures pfc = network.pfc();
    std::string out = fmt::format(
        "{} {} {} {} {}\n{} of {} arrived {} flits {} hops {} marked {} notifications {} pauses {} for {} "
        "overruns {}\n",
        network.trains() == nullptr ? 0 : network.trains()->counters().trains, network.packets_marked(),
        network.notifications(), pfc.pauses, pfc.overruns, log.arrived.size(), s.messages,
        network.broken_invariant(true), log.flits, network.packet_hops(), network.packets_marked(),
        network.notifications(), pfc.pauses, pfc.paused, pfc.overruns);
    for (uint32_t n = 0; n < network.nis(); ++n) {
      for (const auto& [destination, flow] : network.ni(n).flow_records()) {
        out += fmt::format("flow {} to {}: {} notifications, lowest {}, below line {}\n", n, destination,
                           flow.notifications, flow.lowest_rate, flow.below_line);
      }
    }
    for (const auto& [id, at] : log.arrived) {
      out += fmt::format("{} injected {} sent {} arrived {} packets {}\n", id, log.injected[id], log.sent[id],
                         at, log.digest(id));
    }
    for (uint32_t n = 0; n < network.nis(); ++n) {
      out += fmt::format("NI {} messages {} queued {}\n", n, network.ni(n).messages_sent(),
                         network.ni(n).queued());
    }
    for (uint32_t r = 0; r < network.routers(); ++r) {
      for (uint32_t p = 0; p < network.router(r).ports(); ++p) {
        out += fmt::format("router {} output {} packets {} messages {} queued {}\n", r, p,
                           network.router(r).packets_sent(p), network.router(r).messages_sent(p),
                           network.router(r).queued(p));
      }
    }
    return out;
  });
  Outcome outcome;
  std::istringstream(text) >> outcome.counts.trains >> outcome.counts.marked >>
      outcome.counts.notifications >> outcome.counts.pauses >> outcome.counts.overruns;
  outcome.log = text.substr(std::min(text.size(), text.find('\n') + 1));
  return outcome;
}

/// The first line that differs, or nothing.
std::string difference(const std::string& expected, const std::string& got) {
  if (expected == got) return {};
  std::istringstream a(expected);
  std::istringstream b(got);
  std::string x;
  std::string y;
  while (std::getline(a, x) && std::getline(b, y) && x == y) {
  }
  return "  " + x + "\n  " + y;
}

/// Every way to simulate one scenario gives one result. Answers that of single flits.
Outcome compare(uint64_t seed, Scenario s, Counts& counts, bool may_hang = false) {
  s.network.trains = false;
  s.network.quantum = 1;
  const Outcome reference = run(s);
  if (!may_hang) {
    EXPECT_NE(reference.log.find(fmt::format("{} of {} arrived  flits", s.messages, s.messages)),
              std::string::npos)
        << seed << " " << s.text << "\n"
        << reference.log.substr(0, 300);
  }
  const auto same = [&](const char* what, auto&& change) {
    Scenario other = s;
    change(other.network);
    const Outcome outcome = run(other);
    counts += outcome.counts;
    const std::string d = difference(reference.log, outcome.log);
    EXPECT_EQ(d, "") << "seed " << seed << " " << s.text << ": " << what;
  };
  same("bursts of 3", [](PacketConfig& c) { c.quantum = 3; });
  same("bursts of any length", [](PacketConfig& c) { c.quantum = 0; });
  same("shuffled", [](PacketConfig& c) { c.quantum = 0, c.shuffle = 1; });
  same("bursts of 2, shuffled", [](PacketConfig& c) { c.quantum = 2, c.shuffle = 2; });
  same("trains", [](PacketConfig& c) { c.quantum = 0, c.trains = true; });
  same("trains, bursts of 5, shuffled",
       [](PacketConfig& c) { c.quantum = 5, c.trains = true, c.shuffle = 3; });
  return reference;
}

TEST(Rates, AnyMixtureOfLinksIsIndependentOfBurstsOrderAndTrains) {
  Counts counts;
  for (uint64_t seed = 1; seed <= 120; ++seed) compare(seed, draw(seed, Rates::mixed), counts);
  EXPECT_GT(counts.trains, 100u);
}

TEST(Rates, OneRateIsIndependentOfBurstsOrderAndTrains) {
  Counts counts;
  for (uint64_t seed = 1; seed <= 120; ++seed) compare(seed, draw(seed, Rates::one), counts);
  EXPECT_GT(counts.trains, 200u);
}

// Interfaces a cycle or a few from their routers, and routers far from each other: a router then decides
// ahead while its interfaces send.
TEST(Rates, InterfacesNearTheirRoutersAreIndependentOfBurstsOrderAndTrains) {
  Counts counts;
  for (uint64_t seed = 1; seed <= 120; ++seed) {
    Scenario s = draw(seed, seed % 2 == 0 ? Rates::mixed : Rates::one);
    std::vector<bool> far(s.topology.links.size());
    for (const TopologyRouter& router : s.topology.routers) {
      for (const TopologyPort& port : router.ports) {
        if (port.ni || far[port.link]) continue;
        far[port.link] = true;
        LinkTiming& link = s.topology.links[port.link];
        link.latency += 60 * s.network.cycle;
        if (link.credit_latency != 0) link.credit_latency += 60 * s.network.cycle;
      }
    }
    compare(seed, s, counts);
  }
  EXPECT_GT(counts.trains, 100u);
}

// The same with marks that are drawn and senders that slow down, packet by packet and in turns.
TEST(Rates, CongestionControlIsIndependentOfBurstsAndOrder) {
  Counts counts;
  for (uint64_t seed = 1; seed <= 90; ++seed) {
    Scenario s = draw(seed, seed % 2 == 0 ? Rates::one : Rates::mixed);
    s.text += draw_congestion_control(seed, s.network);
    if (seed % 4 == 0) s.network.interleave_messages = true;
    if (seed % 3 == 0) s.span /= 20;  // into each other's way
    compare(seed, s, counts);
  }
  EXPECT_GT(counts.marked, 10000u);
  EXPECT_GT(counts.notifications, 2000u);
}

// .. and when many messages are submitted while their interface waits until a flow may go on.
TEST(Rates, CongestionControlIsIndependentOfWhenMessagesAreSubmitted) {
  Counts counts;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Scenario s = draw(seed, Rates::one);
    draw_congestion_control(seed, s.network);
    s.network.dcqcn.enabled = true;
    s.network.ecn.k_min = 16 * (seed % 4);
    s.network.ecn.k_max = s.network.ecn.k_min + 64;
    s.network.dcqcn.cnp_interval = ticks(1 + seed % 7 * 3000);
    s.network.routing.clear();
    s.network.strict_cut_through = false;
    s.network.vcs = 2 + seed % 3;
    s.network.virtual_networks = 1 + seed % 2;
    s.network.interleave_messages = seed % 3 == 0;
    s.packet_bytes = 32;
    s.messages = 150;
    s.longest = 30;
    s.span = 300000;
    s.on_cycles = seed % 4 != 0;
    s.text += " many messages";
    compare(seed, s, counts);
  }
  EXPECT_GT(counts.notifications, 2000u);
}

/// With priority flow control on all links or some, of all virtual networks or one. True: on all, and the
/// headroom suffices.
bool draw_pfc(Scenario& s) {
  Random random(s.seed, 13);
  PacketConfig& c = s.network;
  const uint32_t flits = s.packet_bytes / 16;
  const bool all = random.below(4) != 0;
  for (LinkTiming& link : s.topology.links) link.pfc = all || random.below(2) == 0;
  if (c.virtual_networks > 1 && random.below(2) == 0) c.pfc.networks = 1 + random.below(2);
  if (random.below(3) == 0) c.pfc.delay = (1 + random.below(5000)) * c.cycle / 1000;
  uint32_t headroom = 0;
  for (const LinkTiming& link : s.topology.links)
    headroom = std::max(headroom, pfc_headroom(c, link, false, flits));
  const bool enough = random.below(3) != 0;
  if (enough) {
    c.buffer_flits = headroom + 1 + random.below(2 * flits);
  } else {
    c.buffer_flits = std::max(c.buffer_flits, c.strict_cut_through ? flits : 1);
    if (random.below(2) == 0) c.pfc.xoff = 1 + random.below(c.buffer_flits);
  }
  if (random.below(4) == 0) c.pfc.xon = 0;
  s.text += fmt::format(" pfc {} of {:x} delay {} xoff {} xon {} buffer {}", all ? "all" : "some",
                        c.pfc.networks, c.pfc.delay, c.pfc.xoff, c.pfc.xon, c.buffer_flits);
  return enough;
}

struct PfcSums {
  uint64_t pauses = 0;
  uint64_t overruns = 0;
  uint64_t paused = 0;  ///< scenarios with the headroom and a pause
};

/// A scenario with priority flow control, every way. With the headroom nobody ever waits for a credit.
void compare_pfc(uint64_t seed, bool congestion_control, Counts& counts, PfcSums& sums) {
  Scenario s = draw(seed, seed % 2 == 0 ? Rates::one : Rates::mixed);
  const bool enough = draw_pfc(s);
  if (congestion_control) {
    s.text += draw_congestion_control(seed, s.network);
    s.network.dcqcn.enabled = true;
  }
  const bool may_hang = !find_dependency_cycle(s.topology, s.network).empty();
  const Outcome outcome = compare(seed, s, counts, may_hang);
  if (enough) {
    EXPECT_EQ(outcome.counts.overruns, 0u) << "seed " << seed << " " << s.text;
    sums.paused += outcome.counts.pauses > 0 ? 1 : 0;
  }
  sums.pauses += outcome.counts.pauses;
  sums.overruns += outcome.counts.overruns;
}

TEST(Rates, PriorityFlowControlIsIndependentOfBurstsOrderAndTrains) {
  Counts counts;
  PfcSums sums;
  for (uint64_t seed = 1; seed <= 100; ++seed) compare_pfc(seed, false, counts, sums);
  EXPECT_GT(counts.trains, 100u);
  EXPECT_GT(sums.pauses, 10000u);
  EXPECT_GT(sums.overruns, 100u);  // of those without it
  EXPECT_GT(sums.paused, 50u);
}

// Both together, as in RoCE networks: senders that are slowed down are paused all the same.
TEST(Rates, CongestionControlKeepsToPriorityFlowControl) {
  Counts counts;
  PfcSums sums;
  for (uint64_t seed = 1; seed <= 60; ++seed) compare_pfc(seed, true, counts, sums);
  EXPECT_GT(counts.notifications, 500u);
  EXPECT_GT(sums.pauses, 200u);
  EXPECT_GT(sums.paused, 10u);
}

// Flits of several packets take turns: nothing to compare bursts with, but processes may still run in any
// order.
TEST(Rates, InterleavedFlitsAreIndependentOfTheOrder) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Scenario s = draw(seed, seed % 2 == 0 ? Rates::one : Rates::mixed);
    s.network.switching = FlitSwitching::flit_interleaved;
    s.network.trains = false;
    bool may_hang = false;
    bool headroom = false;
    if (seed % 3 == 0) {
      headroom = draw_pfc(s);
      may_hang = !find_dependency_cycle(s.topology, s.network).empty();
    }
    const Outcome first = run(s);
    const std::string& reference = first.log;
    if (!may_hang) {
      EXPECT_NE(reference.find(" arrived  flits"), std::string::npos)
          << seed << s.text << reference.substr(0, 300);
    }
    if (headroom) {
      EXPECT_EQ(first.counts.overruns, 0u) << seed << s.text;
    }
    s.network.trains = true;
    for (const uint64_t shuffle : {0u, 1u, 2u}) {
      s.network.shuffle = shuffle;
      EXPECT_EQ(difference(reference, run(s).log), "") << "seed " << seed << " " << s.text << ": " << shuffle;
    }
  }
}

// A message submitted while its interface sends another virtual network's packets has its turn at the same
// time whenever the interface last ran.
TEST(Rates, VirtualNetworksTakeTurnsIndependentlyOfTheOrder) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Scenario s = draw(seed, Rates::one);
    s.network.virtual_networks = 2;
    s.network.vcs = 2;
    s.network.routing.clear();
    s.packet_bytes = 32;
    s.network.strict_cut_through = false;
    s.messages = 120;
    s.longest = 40;
    s.span = picoseconds(400 * s.network.cycle);
    s.network.trains = false;
    if (seed % 3 == 0) {
      s.network.virtual_networks = 1;
      s.network.interleave_messages = true;
    }
    const std::string reference = run(s).log;
    for (const uint64_t shuffle : {1u, 2u, 3u}) {
      s.network.shuffle = shuffle;
      s.network.quantum = static_cast<uint32_t>(shuffle);
      EXPECT_EQ(difference(reference, run(s).log), "") << "seed " << seed << " " << s.text << ": " << shuffle;
    }
  }
}

/// Hands messages over from a process, which the kernel runs before or after those of the network.
class Sender final : public sc_core::sc_module {
 public:
  Sender(sc_core::sc_module_name name, NetworkInterface& ni, std::vector<Message> messages)
      : sc_module(name), ni_(ni), messages_(std::move(messages)) {
    SC_HAS_PROCESS(Sender);
    SC_METHOD(send);
  }

 private:
  void send() {
    const Picoseconds now = sc_core::sc_time_stamp().value();
    for (; next_ < messages_.size() && messages_[next_].submitted <= now; ++next_)
      ni_.submit(messages_[next_]);
    if (next_ < messages_.size())
      next_trigger(sc_core::sc_time::from_value(messages_[next_].submitted - now));
  }
  NetworkInterface& ni_;
  const std::vector<Message> messages_;
  size_t next_ = 0;
};

// Messages that come in the very picosecond in which others have their turn, before or after the interface
// runs.
TEST(Rates, TurnsDoNotDependOnWhetherTheSenderOrTheInterfaceRunsFirst) {
  for (const Ticks cycle : kCycles) {
    const auto arrivals = [&](uint64_t shuffle) {
      return in_child([&]() -> std::string {
        PacketConfig config;
        config.cycle = cycle;
        config.interleave_messages = true;
        config.shuffle = shuffle;
        PacketNetwork network("network", config, make_from_notation("Switch(3)", {}, {}));
        Log log;
        for (uint32_t r = 0; r < 3; ++r) network.ni(r).set_sink(&log);
        std::vector<Message> messages;
        for (uint64_t k = 0; k < 40; ++k) {
          Message m;
          m.id_low = k;
          m.destination = 1 + k % 2;
          m.bytes = 256 * (3 + k % 4);
          // Packets of 16 flits begin every 16 cycles.
          m.submitted = k < 4 ? 0 : picoseconds(16 * k * cycle);
          messages.push_back(m);
        }
        Sender sender("sender", network.ni(0), messages);
        advance(picoseconds(100000 * cycle));
        std::string text = fmt::format("{} arrived{}", log.arrived.size(), network.broken_invariant(true));
        for (const auto& [id, at] : log.arrived) text += fmt::format(" {}:{}", id, at);
        return text;
      });
    };
    const std::string reference = arrivals(0);
    EXPECT_EQ(reference.substr(0, 11), "40 arrived ");
    for (const uint64_t shuffle : {1u, 2u, 3u})
      EXPECT_EQ(arrivals(shuffle), reference) << cycle << " " << shuffle;
  }
}

// A long message over two links: the slower one is never idle once it has begun.
TEST(Rates, ACrossingRunsAtTheSlowerLink) {
  const auto check = [](Ticks cycle, Ticks first, Ticks second, uint32_t vcs) {
    constexpr uint64_t kPackets = 1000;
    constexpr uint64_t kFlits = 16;
    const std::string text = in_child([&]() -> std::string {
      PacketTopology t;
      t.name = "chain";
      t.routing = "shortest_path";
      t.selection = "first";
      LinkTiming a;
      a.flit_time = first;
      LinkTiming b;
      b.flit_time = second;
      const uint32_t link_a = t.add_link(a);
      const uint32_t link_b = t.add_link(b);
      for (const char* name : {"a", "b", "c"}) t.add_router(name);
      t.connect(0, 1, link_a);
      t.connect(1, 2, link_b);
      t.attach(0, link_a);
      t.attach(2, link_b);
      PacketConfig config;
      config.cycle = cycle;
      config.trains = false;
      config.vcs = vcs;
      config.buffer_flits = 64;
      PacketNetwork network("network", config, t);
      Log log;
      for (uint32_t r = 0; r < 2; ++r) network.ni(r).set_sink(&log);
      Message m;
      m.id_low = 1;
      m.destination = 1;
      m.bytes = kPackets * kFlits * 16;
      network.ni(0).submit(m);
      advance(picoseconds(kPackets * kFlits * 10 * cycle));
      return std::to_string(log.arrived[1]);
    });
    const double ideal = static_cast<double>(kPackets * kFlits * std::max(first, second)) /
                         static_cast<double>(kTicksPerPicosecond);
    EXPECT_GE(std::stod(text), ideal) << first << " to " << second;
    EXPECT_LE(std::stod(text), 1.01 * ideal) << first << " to " << second << " with " << vcs << " VCs";
  };
  for (const uint32_t vcs : {2u, 4u}) {
    for (const auto& [a, b] : std::vector<std::pair<Picoseconds, Picoseconds>>{{1000, 4000},
                                                                               {1000, 2000},
                                                                               {1000, 1300},
                                                                               {1280, 4700},
                                                                               {500, 1300},
                                                                               {500, 1000},
                                                                               {250, 750},
                                                                               {333, 1280}}) {
      check(ticks(1000), ticks(a), ticks(b), vcs);
      check(ticks(1000), ticks(b), ticks(a), vcs);
      const Ticks odd = ticks(160) / 9;
      check(odd, odd * a / 1000, odd * b / 1000, vcs);
      check(odd, odd * b / 1000, odd * a / 1000, vcs);
    }
  }
}

}  // namespace
}  // namespace weft::packet
