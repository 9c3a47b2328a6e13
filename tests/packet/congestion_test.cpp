// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// ECN and DCQCN in a network: incast, a victim that shares only the source, sources, what stays out.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <sstream>
#include <systemc>
#include <vector>

#include "arrival_log.h"
#include "in_child.h"
#include "tlm_interconnect/packet/packet_network.h"
#include "tlm_interconnect/packet/traffic.h"

namespace weft::packet {
namespace {

using test::advance;
using test::in_child;

constexpr Picoseconds kMicrosecond = 1000000;
constexpr uint32_t kBuffer = 2048;  ///< flits

PacketTopology one_switch(uint32_t ranks) {
  TopologyDimension d;
  d.shape = Shape(DimensionKind::switch_, ranks);
  d.link.latency = ticks(100000);
  return make_dimensions({d}, {});
}

/// 128 Gb/s, and everything of DCQCN some ten times faster than in the paper: it settles in a millisecond.
PacketConfig fast_control() {
  PacketConfig c;
  c.vcs = 1;
  c.buffer_flits = kBuffer;
  c.ecn.enabled = true;
  c.ecn.k_min = 16000;
  c.ecn.k_max = 64000;
  c.ecn.p_max = 0.1;
  c.dcqcn.enabled = true;
  c.dcqcn.cnp_interval = ticks(4 * kMicrosecond);
  c.dcqcn.alpha_timer = ticks(5 * kMicrosecond);
  c.dcqcn.rate_timer = ticks(20 * kMicrosecond);
  c.dcqcn.byte_counter = 1000000;
  c.dcqcn.g = 0x1.0p-6;
  c.dcqcn.rate_ai = 200000000;
  c.dcqcn.rate_hai = 400000000;
  return c;
}

/// Bytes by sender and receiver.
class Counter final : public PacketSink {
 public:
  void packet_arrives(const fabric::Packet& packet, uint32_t, Ticks) override {
    bytes[{packet.source, packet.destination}] += packet.bytes;
  }
  void message_arrives(const Message&, Picoseconds) override {}
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> bytes;
};

struct Incast {
  double queue = 0;   ///< mean flits in the switch, second half
  double share = 0;   ///< of the receiver's link that is used, second half
  double jain = 0;    ///< of the senders' shares
  double victim = 0;  ///< bytes of it, as a share of its link
  uint64_t marked = 0;
  uint64_t notifications = 0;
  uint64_t records = 0;  ///< flows to rank 0 that were slowed down
};

/// Ranks 1 to 8 send to 0 for 3 ms, and 1 after 1 ms also to 9, behind its long message.
Incast incast(const PacketConfig& config) {
  const std::string text = in_child([&]() -> std::string {
    Segmentation cut;
    cut.packet_bytes = 1024;
    PacketNetwork network("network", config, one_switch(10), cut);
    Counter counter;
    for (uint32_t r = 0; r < network.ranks(); ++r) network.ni(r).set_sink(&counter);
    for (uint32_t r = 1; r <= 8; ++r) {
      Message m;
      m.bytes = 100000000;
      network.ni(r).submit(m);
    }
    Message victim;
    victim.destination = 9;
    victim.bytes = 100000000;
    constexpr uint32_t kSteps = 300;
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> half;
    uint64_t queued = 0;
    for (uint32_t step = 0; step < kSteps; ++step) {
      if (step == kSteps / 3) network.ni(1).submit(victim);
      if (step == kSteps / 2) half = counter.bytes;
      advance(10 * kMicrosecond);
      if (step < kSteps / 2) continue;
      for (uint32_t p = 0; p < network.router(0).ports(); ++p) {
        for (uint32_t v = 0; v < config.vcs; ++v) queued += network.router(0).pending(p, v);
      }
    }
    const double link = 16e9 * 0.0015;  // bytes in half the time
    double sum = 0;
    double squares = 0;
    for (uint32_t r = 1; r <= 8; ++r) {
      const auto x = static_cast<double>(counter.bytes[{r, 0}] - half[{r, 0}]);
      sum += x;
      squares += x * x;
    }
    const std::string broken = network.broken_invariant(false);
    if (!broken.empty()) return "-1 " + broken;
    uint64_t records = 0;
    for (uint32_t r = 0; r < network.ranks(); ++r) records += network.ni(r).flow_records().count(0);
    const double victim_bytes = static_cast<double>(counter.bytes[{1, 9}] - half[{1, 9}]);
    return fmt::format("{} {} {} {} {} {} {}", static_cast<double>(queued) / (kSteps / 2.0), sum / link,
                       sum * sum / (8 * squares), victim_bytes / link, network.packets_marked(),
                       network.notifications(), records);
  });
  Incast i;
  std::istringstream(text) >> i.queue >> i.share >> i.jain >> i.victim >> i.marked >> i.notifications >>
      i.records;
  EXPECT_GT(i.share, 0) << text;
  return i;
}

TEST(Congestion, AnIncastSettlesAtShortQueuesAndFairShares) {
  const PacketConfig on = fast_control();
  PacketConfig off = on;
  off.ecn.enabled = off.dcqcn.enabled = false;
  const Incast without = incast(off);
  EXPECT_GT(without.queue, 0.98 * 8 * kBuffer) << "buffers are full";
  EXPECT_GT(without.share, 0.98);
  EXPECT_EQ(without.marked, 0u);
  const Incast with = incast(on);
  EXPECT_LT(with.queue, 0.3 * without.queue);
  EXPECT_GT(with.share, 0.97) << "and the link is busy all the same";
  EXPECT_GT(with.jain, 0.95);
  EXPECT_GT(with.notifications, 100u);
  EXPECT_GT(with.marked, with.notifications);
  EXPECT_EQ(with.records, 8u);
  // ECN alone marks and changes nothing.
  PacketConfig marks = on;
  marks.dcqcn.enabled = false;
  const Incast only = incast(marks);
  EXPECT_GT(only.marked, with.marked);
  EXPECT_EQ(only.queue, without.queue);
  EXPECT_EQ(only.notifications, 0u);
}

TEST(Congestion, AVictimThatSharesOnlyTheSourceIsNotBlocked) {
  PacketConfig on = fast_control();
  on.vcs = 4;  // at the switch it is still behind packets of the incast now and then
  on.buffer_flits = kBuffer / 4;
  PacketConfig off = on;
  off.ecn.enabled = off.dcqcn.enabled = false;
  EXPECT_EQ(incast(off).victim, 0) << "it is behind a message that takes the whole run";
  EXPECT_GT(incast(on).victim, 0.4);
}

/// Packets of a source: turn by turn to ranks 1 and 2, one every 200 cycles.
class Alternating final : public PacketSource {
 public:
  explicit Alternating(uint32_t packets) : packets_(packets) {}
  bool next(Spec& spec) override {
    if (next_ == packets_) return false;
    spec.ready = ticks(next_ * 200000ull);
    spec.destination = 1 + next_ % 2;
    spec.flits = 64;
    spec.bytes = 1024;
    spec.id = next_++;
    return true;
  }

 private:
  uint32_t packets_;
  uint32_t next_ = 0;
};

/// What arrives, by destination, and whether it does so in order.
class Arrivals final : public PacketSink {
 public:
  void packet_arrives(const fabric::Packet& packet, uint32_t, Ticks at) override {
    packets[packet.destination].push_back(picoseconds(at));
    ordered = ordered && (packet.id_low == 0 || packet.id_low > last[packet.destination]);
    last[packet.destination] = packet.id_low;
  }
  void message_arrives(const Message&, Picoseconds) override {}
  std::map<uint32_t, std::vector<Picoseconds>> packets;
  std::map<uint32_t, uint64_t> last;
  bool ordered = true;
};

/// Nothing is marked, and a flow that has been told to slow down to 1 Gb/s stays there.
PacketConfig slow_recovery() {
  PacketConfig c = fast_control();
  c.ecn.k_min = c.ecn.k_max = 100000000;
  c.dcqcn.min_rate = 1000000000;
  c.dcqcn.rate_timer = ticks(1000000 * kMicrosecond);
  return c;
}

/// Rank 0 is told, after a microsecond, to slow down to that what it sends to rank 1.
void hold_back(PacketNetwork& network) {
  for (uint32_t k = 0; k < 10; ++k) network.ni(0).notify(1, ticks(1000000 + k));
}

/// Rank 0 has two flows, to 1 and to 2; the first is told to slow down to 1 of 128 Gb/s. Nothing else.
std::string two_flows(bool held_back, bool messages) {
  return in_child([&]() -> std::string {
    PacketConfig c = slow_recovery();
    c.dcqcn.byte_counter = ~uint64_t{0} >> 1;
    Segmentation cut;
    cut.packet_bytes = 1024;
    PacketNetwork network("network", c, one_switch(3), cut);
    Arrivals arrivals;
    for (uint32_t r = 0; r < 3; ++r) network.ni(r).set_sink(&arrivals);
    if (held_back) hold_back(network);
    Alternating source(1000);
    advance(2 * kMicrosecond);
    Message m;
    m.bytes = 500 * 1024;
    for (uint32_t to = 1; messages && to <= 2; ++to) {
      m.destination = to;
      network.ni(0).submit(m);
    }
    if (!messages) network.ni(0).set_source(&source);
    advance(6000 * kMicrosecond);
    const auto& first = arrivals.packets[1];
    const auto& second = arrivals.packets[2];
    if (first.size() != 500 || second.size() != 500 || !arrivals.ordered) return "not all, or out of order";
    return fmt::format("{} {} {}", first.front(), first.back(), second.back());
  });
}

TEST(Congestion, AFlowThatIsHeldBackKeepsToItsRateAndBlocksNoOther) {
  for (const bool messages : {true, false}) {
    uint64_t first = 0, last = 0, other = 0;
    std::istringstream(two_flows(false, messages)) >> first >> last >> other;
    uint64_t slow_first = 0, slow_last = 0, slow_other = 0;
    std::istringstream(two_flows(true, messages)) >> slow_first >> slow_last >> slow_other;
    ASSERT_GT(slow_other, 0u);
    EXPECT_EQ(slow_first, first) << "the first packet has nothing to wait for";
    // 8192 bits at 1 Gb/s are 8.192 us; now and then the link is busy with the other flow when one is due.
    EXPECT_GE(slow_last - slow_first, 499 * 8192000u);
    EXPECT_LE(slow_last - slow_first, 499 * 8192000u + 10 * 65000u);
    if (messages) {
      EXPECT_GT(last, first + 499 * 64000u);
      EXPECT_GT(other, last) << "one after the other";
      // Four packets of the other flow between its 500, and a VC is idle for a cycle after each.
      EXPECT_LT(slow_other, first + 506 * 65000u);
    } else {
      EXPECT_LE(slow_other, other + 64000u);
    }
  }
}

/// Every rank sends to rank 0 and to others, open loop.
TrafficPoint hotspot(const PacketConfig& config, double load) {
  TrafficConfig c;
  c.topology = one_switch(6);
  c.network = config;
  c.packet_flits = 8;
  c.pattern.name = "hotspot";
  c.pattern.hotspot_weight = 4;
  c.pattern.self_destinations = false;
  c.warmup_cycles = 20000;
  c.measure_cycles = 60000;
  c.drain_cycles = 0;
  c.loads = {load};
  c.find_saturation = false;
  const TrafficResult result = run_traffic(c, advance);
  return result.runs[0];
}

PacketConfig hasty() {
  PacketConfig c = fast_control();
  c.vcs = 2;
  c.buffer_flits = 512;
  c.ecn.k_min = 2000;
  c.ecn.k_max = 20000;
  c.dcqcn.cnp_interval = ticks(2 * kMicrosecond);
  c.dcqcn.rate_timer = ticks(3 * kMicrosecond);
  c.dcqcn.byte_counter = 20000;
  return c;
}

// A flow that waits until its rate allows the next packet does not take that time from what is submitted
// meanwhile, even if the interface is busy with something else shortly before.
TEST(Congestion, WhatIsSubmittedWhileAFlowWaitsGoesAtOnce) {
  const std::string text = in_child([&]() -> std::string {
    PacketConfig c = slow_recovery();
    Segmentation cut;
    cut.packet_bytes = 1024;
    PacketNetwork network("network", c, one_switch(3), cut);
    test::ArrivalLog log;
    for (uint32_t r = 0; r < 3; ++r) network.ni(r).set_sink(&log);
    hold_back(network);
    advance(2 * kMicrosecond);
    const auto submit = [&](uint64_t id, uint32_t to, uint64_t bytes) {
      Message m;
      m.id_low = id;
      m.destination = to;
      m.bytes = bytes;
      m.submitted = sc_core::sc_time_stamp().value();
      network.ni(0).submit(m);
    };
    submit(0, 1, 2048);  // its second packet is due after 8192 ns
    advance(8192000 - 90000);
    submit(1, 2, 16);
    advance(60000);
    submit(2, 2, 16);
    advance(100 * kMicrosecond);
    return fmt::format("{} {} {}", log.injected[1], log.injected[2], log.sent[0]);
  });
  EXPECT_EQ(text, fmt::format("{} {} {}", 2000000 + 8192000 - 90000, 2000000 + 8192000 - 30000,
                              2000000 + 8192000 + 64000));
}

/// Submits one message at a time, before or after the interface runs in that cycle.
class Submitter final : public sc_core::sc_module {
 public:
  Submitter(sc_core::sc_module_name name, NetworkInterface& ni, const Message& message)
      : sc_module(name), ni_(ni), message_(message) {
    SC_HAS_PROCESS(Submitter);
    SC_METHOD(submit);
    sensitive << event_;
    dont_initialize();
    event_.notify(sc_core::sc_time::from_value(message.submitted));
  }

 private:
  void submit() { ni_.submit(message_); }
  NetworkInterface& ni_;
  const Message message_;
  sc_core::sc_event event_;
};

// At 10192 ns the flow that is held back may go on, and a message of the virtual network whose turn it is
// comes.
TEST(Congestion, AMessageSubmittedInTheCycleInWhichAFlowMayGoOnComesAfterIt) {
  const auto run = [](uint64_t shuffle) {
    return in_child([&]() -> std::string {
      PacketConfig c = slow_recovery();
      c.virtual_networks = 2;
      c.shuffle = shuffle;
      Segmentation cut;
      cut.packet_bytes = 1024;
      PacketNetwork network("network", c, one_switch(3), cut);
      test::ArrivalLog log;
      for (uint32_t r = 0; r < 3; ++r) network.ni(r).set_sink(&log);
      hold_back(network);
      Message m;
      m.destination = 1;
      m.bytes = 2048;
      m.submitted = 2 * kMicrosecond;
      const Submitter first("first", network.ni(0), m);
      m.id_low = 1;
      m.destination = 2;
      m.bytes = 16;
      m.virtual_network = 1;
      m.submitted = 10192000;
      const Submitter second("second", network.ni(0), m);
      advance(100 * kMicrosecond);
      return fmt::format("{} {} {}", log.injected[0], log.sent[0], log.injected[1]);
    });
  };
  for (uint64_t shuffle = 0; shuffle < 12; ++shuffle)
    EXPECT_EQ(run(shuffle), "2000000 10256000 10256000") << shuffle;
}

TEST(Congestion, SourcesAreIndependentOfBurstsAndOrder) {
  for (const double load : {0.4, 0.9}) {
    PacketConfig c = hasty();
    const TrafficPoint reference = hotspot(c, load);
    EXPECT_GT(reference.notifications, 20u) << load;
    for (const uint32_t quantum : {1u, 3u, 0u}) {
      for (const uint64_t shuffle : {0u, 1u, 2u}) {
        c.quantum = quantum;
        c.shuffle = shuffle;
        const TrafficPoint point = hotspot(c, load);
        EXPECT_EQ(point.digest, reference.digest) << load << " " << quantum << " " << shuffle;
        EXPECT_EQ(point.packets_marked, reference.packets_marked) << load << " " << quantum << " " << shuffle;
        EXPECT_EQ(point.notifications, reference.notifications) << load << " " << quantum << " " << shuffle;
      }
    }
  }
}

// Thresholds that are never reached: the same times to the picosecond as without.
TEST(Congestion, WithoutCongestionNothingChanges) {
  const auto run = [](const PacketConfig& config) {
    return in_child([&]() -> std::string {
      PacketNetwork network("network", config, make_from_notation("Ring(4)_Switch(3)", {}, {}));
      test::ArrivalLog log;
      for (uint32_t r = 0; r < network.ranks(); ++r) network.ni(r).set_sink(&log);
      Random random(5, 5);
      for (uint32_t k = 0; k < 200; ++k) {
        Message m;
        m.id_low = k;
        m.bytes = 1 + random.below(20000);
        const uint32_t from = random.below(network.ranks());
        m.destination = random.below(network.ranks());
        m.virtual_network = static_cast<uint8_t>(random.below(config.virtual_networks));
        m.submitted = sc_core::sc_time_stamp().value();
        network.ni(from).submit(m);
        advance(1 + random.below(300000));
      }
      advance(1000 * kMicrosecond);
      std::string out = network.broken_invariant(true);
      for (const auto& [id, at] : log.arrived) out += fmt::format("{} {} {}\n", id, at, log.digest(id));
      return out;
    });
  };
  for (const uint32_t networks : {1u, 3u}) {
    PacketConfig off;
    off.virtual_networks = networks;
    PacketConfig on = off;
    on.ecn.enabled = on.dcqcn.enabled = true;
    on.ecn.k_min = on.ecn.k_max = 1000000;
    const std::string expected = run(off);
    EXPECT_EQ(std::count(expected.begin(), expected.end(), '\n'), 200);
    EXPECT_EQ(run(on), expected);
  }
}

TEST(Congestion, WhatDoesNotFitIsRefused) {
  const auto refused = [](auto&& change) {
    PacketConfig c = fast_control();
    change(c);
    return in_child([&]() -> std::string {
      PacketNetwork network("network", c, one_switch(2));
      return "accepted";
    });
  };
  EXPECT_EQ(refused([](PacketConfig&) {}), "accepted");
  EXPECT_NE(refused([](PacketConfig& c) { c.ecn.k_min = 70000; }).find("k_min of 70000 B is above"),
            std::string::npos);
  EXPECT_NE(refused([](PacketConfig& c) { c.ecn.p_max = 1.5; }).find("p_max of 1.5"), std::string::npos);
  EXPECT_NE(refused([](PacketConfig& c) { c.ecn.enabled = false; }).find("DCQCN needs ECN"),
            std::string::npos);
  EXPECT_NE(refused([](PacketConfig& c) { c.dcqcn.g = 0; }).find("g of 0"), std::string::npos);
  EXPECT_NE(refused([](PacketConfig& c) { c.dcqcn.rate_timer = 0; }).find("timers"), std::string::npos);
}

}  // namespace
}  // namespace weft::packet
