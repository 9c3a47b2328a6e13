// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A network that has been restarted is a new one: every arrival comes as long after the restart as it comes
// after time 0 in a network that has carried nothing.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <systemc>
#include <vector>

#include "in_child.h"
#include "tlm_interconnect/packet/packet_network.h"

namespace weft::packet {
namespace {

using test::advance;
using test::in_child;

/// What arrives, in times since `start`.
class Log final : public PacketSink {
 public:
  std::string text;
  uint32_t messages = 0;

  void begin_at(Picoseconds t) {
    start_ = t;
    text.clear();
    messages = 0;
    digest_.clear();
  }
  bool takes_trains() const override { return true; }
  void packet_arrives(const fabric::Packet& packet, uint32_t flits, Ticks at) override {
    digest_[packet.id_low] += hash64(hash64(at - ticks(start_)) ^ hash64(packet.bytes * 1000 + flits) ^
                                     hash64(packet.source * 1000ull + packet.marked));
  }
  void message_arrives(const Message& message, Picoseconds at) override {
    text += fmt::format("{} injected {} arrived {} packets {:x}\n", message.id_low, message.injected - start_,
                        at - start_, digest_[message.id_low]);
    ++messages;
  }

 private:
  Picoseconds start_ = 0;
  std::map<uint64_t, uint64_t> digest_;
};

struct Scenario {
  std::string notation = "Switch(8)";
  PacketConfig network;
  LinkTiming link;
  uint64_t seed = 1;
};

/// Messages of one seed, all submitted now.
void submit(PacketNetwork& network, const Scenario& s, uint64_t seed, Picoseconds now) {
  Random random(seed, 11);
  for (uint32_t k = 0; k < 40; ++k) {
    Message m;
    m.id_low = k;
    const uint32_t from = random.below(network.ranks());
    m.destination = (from + 1 + random.below(network.ranks() - 1)) % network.ranks();
    m.bytes = 1 + random.below(random.below(4) == 0 ? 60000 : 3000);
    m.virtual_network = static_cast<uint8_t>(random.below(s.network.virtual_networks));
    m.submitted = now;
    network.ni(from).submit(m);
  }
}

/// The messages of `s.seed`; `before`: after others and a restart, at an odd time.
std::string run(const Scenario& s, bool before) {
  return in_child([&]() -> std::string {
    PacketNetwork network("network", s.network, make_from_notation(s.notation, s.link, s.link));
    Log log;
    for (uint32_t r = 0; r < network.ranks(); ++r) network.ni(r).set_sink(&log);
    advance(0);
    if (before) {
      submit(network, s, s.seed + 1000, 0);
      for (int k = 0; k < 1000 && network.messages_in_flight() > 0; ++k) advance(1000000);
      if (network.messages_in_flight() > 0) return "not over";
      while (sc_core::sc_pending_activity()) advance(sc_core::sc_time_to_pending_activity().value());
      advance(12347 + s.seed);
      log.begin_at(sc_core::sc_time_stamp().value());
      network.restart();
    }
    const Picoseconds start = sc_core::sc_time_stamp().value();
    const uint64_t hops = network.packet_hops();
    const uint64_t pauses = network.pfc().pauses;
    submit(network, s, s.seed, start);
    for (int k = 0; k < 1000 && network.messages_in_flight() > 0; ++k) advance(1000000);
    advance(10000000);
    return fmt::format("{}{} messages, {} hops, {} pauses {}", log.text, log.messages,
                       network.packet_hops() - hops, network.pfc().pauses - pauses,
                       network.broken_invariant(true));
  });
}

void compare(const Scenario& s, const std::string& what, bool pauses = false) {
  const std::string alone = run(s, false);
  EXPECT_EQ(alone.find(" 0 pauses") == std::string::npos, pauses) << what;
  ASSERT_NE(alone.find("40 messages"), std::string::npos) << what << alone;
  EXPECT_EQ(run(s, true), alone) << what << " seed " << s.seed;
}

TEST(Restart, MakesANewNetworkOfAnyKind) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed, 5);
    Scenario s;
    s.seed = seed;
    const char* const notations[] = {
        "Switch(8)",        "Ring(6)", "Mesh(3)_Mesh(3)", "FatTree(4,2)", "Clos(hosts=2,leaves=4,spines=2)",
        "FullyConnected(5)"};
    s.notation = notations[random.below(6)];
    // Cycles of which no two starts have an edge in common.
    const Ticks cycles[] = {ticks(1000), ticks(640) / 9, ticks(1280) + 1, ticks(333)};
    s.network.cycle = cycles[random.below(4)];
    s.network.vcs = 2 + random.below(3);
    s.network.virtual_networks = 1 + random.below(2);
    s.network.strict_priority = random.below(3) == 0;
    s.network.buffer_flits = 40 + random.below(200);
    s.network.switching = random.below(3) == 0 ? FlitSwitching::flit_interleaved : FlitSwitching::packet_held;
    s.network.release_on_credit = random.below(4) == 0;
    s.network.interleave_messages = random.below(4) == 0;
    s.network.switch_allocator = random.below(2) == 0 ? "islip" : "round_robin";
    s.link.flit_time = s.network.cycle * (8 + random.below(8)) / 8;
    s.link.latency = random.below(4) == 0 ? ticks(7) : ticks(random.below(20000));
    if (s.notation == "FatTree(4,2)") {
      const char* const selections[] = {"random", "spray", "hash"};
      s.network.selection = selections[random.below(3)];
    }
    if (s.notation == "Mesh(3)_Mesh(3)" && random.below(2) == 0) s.network.routing = "minimal_adaptive";
    if (random.below(4) == 0) s.link.flit_error = 0.01;
    if (random.below(4) == 0) {
      s.network.ecn.enabled = true;
      s.network.ecn.k_min = 200;
      s.network.ecn.k_max = 2000;
      s.network.ecn.p_max = 0.3;
      s.network.dcqcn.enabled = random.below(2) == 0;
    }
    compare(s, s.notation);
  }
}

TEST(Restart, ForgetsPauses) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    Scenario s;
    s.seed = seed;
    s.notation = "Clos(hosts=4,leaves=2,spines=1)";
    s.link.pfc = true;
    s.network.cycle = ticks(640) / 9;
    s.network.vcs = 1;
    s.network.buffer_flits = 600;
    s.network.pfc.xoff = 60;
    s.link.latency = ticks(2000);
    compare(s, "pfc", true);
  }
}

// Without it both clock edges and arbiters are where the messages before have left them.
TEST(Restart, IsNeeded) {
  Scenario s;
  s.network.cycle = ticks(640) / 9;
  s.link.flit_time = s.network.cycle;
  const auto start_of_second = [&](bool restart) {
    return in_child([&]() -> std::string {
      PacketNetwork network("network", s.network, make_from_notation(s.notation, s.link, s.link));
      Log log;
      for (uint32_t r = 0; r < network.ranks(); ++r) network.ni(r).set_sink(&log);
      advance(12347);
      log.begin_at(12347);
      if (restart) network.restart();
      submit(network, s, 1, 12347);
      advance(100000000);
      return log.text;
    });
  };
  EXPECT_NE(start_of_second(false), run(s, false).substr(0, start_of_second(false).size()));
  EXPECT_EQ(start_of_second(true), run(s, false).substr(0, start_of_second(true).size()));
}

TEST(Restart, IsRefusedWhileSomethingIsOnItsWay) {
  EXPECT_NE(in_child([]() -> std::string {
              PacketNetwork network("network", {}, make_from_notation("Switch(4)", {}, {}));
              submit(network, {}, 1, 0);
              advance(1000);
              sc_core::sc_report_handler::set_actions(sc_core::SC_FATAL, sc_core::SC_THROW);
              try {
                network.restart();
              } catch (const sc_core::sc_report& e) {
                return e.get_msg();
              }
              return "accepted";
            }).find("on their way"),
            std::string::npos);
}

}  // namespace
}  // namespace weft::packet
