// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Links of any rates side by side: results depend neither on the length of bursts nor on the order of processes
// nor on packet trains; and a crossing of two rates runs at the slower one.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <sstream>
#include <systemc>
#include <tuple>
#include <vector>

#include "in_child.h"
#include "tlm_interconnect/packet/packet_network.h"

namespace weft::packet {
namespace {

using test::advance;
using test::in_child;

/// What arrived when, in the order of the messages' ids.
class Log final : public PacketSink {
 public:
  bool takes_trains() const override { return true; }
  void packet_arrives(const fabric::Packet& packet, uint32_t count, Picoseconds at) override {
    packets[packet.id_low] += hash64(at) ^ hash64(packet.bytes * 1000 + count);
  }
  void flits_arrive(uint32_t count, Picoseconds first, Picoseconds flit_time) override {
    for (uint32_t k = 0; k < count; ++k) flits += hash64(first + k * flit_time);
  }
  void message_sent(const Message& message, Picoseconds at) override { sent[message.id_low] = at; }
  void message_arrives(const Message& message, Picoseconds at) override {
    arrived[message.id_low] = at;
    injected[message.id_low] = message.injected;
  }

  std::map<uint64_t, uint64_t> packets;
  std::map<uint64_t, Picoseconds> sent, arrived, injected;
  uint64_t flits = 0;
};

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
};

enum class Rates { one, mixed };

LinkTiming draw_link(Random& random, Rates rates, const LinkTiming& common) {
  static constexpr Picoseconds kFlitTimes[] = {250, 333, 500, 750, 1000, 1000, 1000, 1280, 1300, 2000, 3000, 4700};
  static constexpr Picoseconds kLatencies[] = {0, 0, 300, 1000, 2500, 7000};
  LinkTiming link = common;
  if (rates == Rates::one && common.flit_time != 0) return link;
  link.flit_time = kFlitTimes[random.below(12)];
  link.latency = kLatencies[random.below(6)];
  link.credit_latency = random.below(4) == 0 ? 1 + random.below(4000) : 0;
  return link;
}

Scenario draw(uint64_t seed, Rates rates) {
  Random random(seed, 11);
  Scenario s;
  s.seed = seed;
  const LinkTiming common = draw_link(random, rates, {});
  const auto link = [&] {
    const LinkTiming l = draw_link(random, rates, common);
    s.text += fmt::format(" {}+{}/{}", l.flit_time, l.latency, l.credit_latency);
    return l;
  };
  PacketConfig& c = s.network;
  static constexpr uint32_t kBuffers[] = {1, 2, 3, 5, 8, 16, 16, 33, 64};
  c.buffer_flits = kBuffers[random.below(9)];
  c.vcs = 1 + random.below(4);
  c.seed = seed;
  const uint32_t shape = random.below(6);
  if (shape == 0) {
    const LinkTiming a = link();
    s.topology = make_fat_tree(2, 3, {a, link()}, link());
    s.text = "FatTree(2,3)" + s.text;
    if (random.below(2) == 0) c.routing = "up_down", c.selection = "first";
    else c.selection = random.below(2) == 0 ? "hash" : "random";
  } else if (shape == 1) {
    TopologyDimension d;
    d.kind = DimensionKind::switch_;
    d.size = 6;
    d.link = link();
    s.topology = make_dimensions({d}, link());
    s.text = "Switch(6)" + s.text;
  } else {
    std::vector<TopologyDimension> dimensions;
    std::string names;
    for (uint32_t k = 0; k < 2; ++k) {
      TopologyDimension d;
      d.kind = static_cast<DimensionKind>(random.below(4));
      d.size = 2 + random.below(3);
      d.link = link();
      names += fmt::format("{}({})", static_cast<int>(d.kind), d.size);
      dimensions.push_back(d);
    }
    s.topology = make_dimensions(dimensions, link());
    s.text = names + s.text;
    c.vcs = std::max(c.vcs, 2u);
    const bool direct = std::none_of(dimensions.begin(), dimensions.end(), [](const TopologyDimension& d) {
      return d.kind == DimensionKind::switch_;
    });
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
  s.span = 100000 + random.below(4000000);
  s.text += fmt::format(" VCs {}x{} buffer {} packet {} flits{}{}{} {} {} iter {} pipe {}{} sel {}", c.virtual_networks, c.vcs,
                        c.buffer_flits, s.packet_bytes / 16, c.strict_priority ? " strict" : "",
                        c.release_on_credit ? " release" : "", c.strict_cut_through ? " cut-through" : "",
                        c.routing, c.switch_allocator, c.allocator_iterations, c.pipeline.vc_alloc, c.pipeline.credit, c.selection);
  return s;
}

struct Outcome {
  std::string log;
  uint64_t trains = 0;
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
      plan.emplace_back(m.submitted, from, m);
    }
    std::stable_sort(plan.begin(), plan.end(),
                     [](const auto& a, const auto& b) { return std::get<0>(a) < std::get<0>(b); });
    Picoseconds now = 0;
    for (const auto& [at, from, message] : plan) {
      advance(at - now);
      now = at;
      const std::string broken = network.broken_invariant(false);
      if (!broken.empty()) return "0\nmidway: " + broken;
      network.ni(from).submit(message);
    }
    for (int k = 0; k < 5000 && network.messages_in_flight() > 0; ++k) advance(10000000);
    advance(10000000);
    std::string out = fmt::format("{}\n{} of {} arrived {} flits {} hops {}\n",
                                  network.trains() == nullptr ? 0 : network.trains()->counters().trains,
                                  log.arrived.size(), s.messages, network.broken_invariant(true), log.flits,
                                  network.packet_hops());
    for (const auto& [id, at] : log.arrived) {
      out += fmt::format("{} injected {} sent {} arrived {} packets {}\n", id, log.injected[id], log.sent[id],
                         at, log.packets[id]);
    }
    return out;
  });
  return {text.substr(std::min(text.size(), text.find('\n') + 1)), std::stoull("0" + text)};
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

struct Tally {
  uint64_t trains = 0;
  uint64_t complete = 0;
};

/// Every way to simulate one scenario gives one result.
void compare(uint64_t seed, Rates rates, Tally& tally) {
  Scenario s = draw(seed, rates);
  s.network.trains = false;
  s.network.quantum = 1;
  const Outcome reference = run(s);
  EXPECT_NE(reference.log.find(fmt::format("{} of {} arrived  flits", s.messages, s.messages)), std::string::npos)
      << seed << " " << s.text << "\n" << reference.log.substr(0, 300);
  const auto same = [&](const char* what, auto&& change) {
    Scenario other = s;
    change(other.network);
    const Outcome outcome = run(other);
    tally.trains += outcome.trains;
    const std::string d = difference(reference.log, outcome.log);
    EXPECT_EQ(d, "") << "seed " << seed << " " << s.text << ": " << what;
  };
  same("bursts of 3", [](PacketConfig& c) { c.quantum = 3; });
  same("bursts of any length", [](PacketConfig& c) { c.quantum = 0; });
  same("shuffled", [](PacketConfig& c) { c.quantum = 0, c.shuffle = 1; });
  same("bursts of 2, shuffled", [](PacketConfig& c) { c.quantum = 2, c.shuffle = 2; });
  same("trains", [](PacketConfig& c) { c.quantum = 0, c.trains = true; });
  same("trains, bursts of 5, shuffled", [](PacketConfig& c) { c.quantum = 5, c.trains = true, c.shuffle = 3; });
}

uint64_t env(const char* name, uint64_t otherwise) {
  const char* v = std::getenv(name);
  return v ? std::stoull(v) : otherwise;
}

TEST(Rates, MixedChangeNothing) {
  Tally tally;
  const uint64_t first = env("FIRST", 1), n = env("COUNT", 40);
  for (uint64_t seed = first; seed < first + n; ++seed) compare(seed, Rates::mixed, tally);
  fmt::print("trains {}\n", tally.trains);
}

TEST(Rates, OneRateChangesNothing) {
  Tally tally;
  const uint64_t first = env("FIRST", 1), n = env("COUNT", 40);
  for (uint64_t seed = first; seed < first + n; ++seed) compare(seed, Rates::one, tally);
  fmt::print("trains {}\n", tally.trains);
}

}  // namespace
}  // namespace weft::packet
