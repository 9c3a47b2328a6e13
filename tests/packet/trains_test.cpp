// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Packet trains change nothing: every arrival of every packet and message and every counter is that of the
// packet-by-packet simulation, whoever comes in between and whenever.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <sstream>
#include <systemc>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "arrival_log.h"
#include "in_child.h"
#include "tlm_interconnect/packet/packed_numbers.h"
#include "tlm_interconnect/packet/packet_network.h"

namespace weft::packet {
namespace {

using test::advance;
using test::in_child;
using Log = test::ArrivalLog;

/// Who sends to whom: anybody to anybody; every rank to one other; everybody to rank 0; in rounds, all ranks
/// at once to some others each, one after the other.
enum class Pattern { any, permutation, incast, rounds };

/// One of some values.
struct Pick {
  template <typename... Values>
  auto operator()(Values... values) const {
    const std::common_type_t<Values...> all[] = {values...};
    return all[random.below(sizeof...(values))];
  }
  Random& random;
};

struct Scenario {
  std::string notation;
  Pattern pattern = Pattern::any;
  PacketConfig network;
  Ticks flit_time = 0;     ///< of the links
  Ticks ni_flit_time = 0;  ///< of the links to the NIs; 0: the same
  Ticks latency = 0;
  uint32_t messages = 40;
  uint32_t longest = 600;      ///< packets
  uint32_t lengths = 0;        ///< 0: any; n: long messages have one of so many
  bool only_long = false;      ///< no short ones in between
  Picoseconds span = 3000000;  ///< messages are submitted within it
  uint32_t destinations = 0;   ///< 0: any; n: rank + 1 .. rank + n
  uint32_t steps = 3;          ///< rounds: messages of each rank
  uint32_t strangers = 50;     ///< .. of which one in so many goes elsewhere
  uint32_t packet_bytes = 256;
  bool uneven = false;  ///< some links are slower than the others
  bool far = false;     ///< some links are longer than the others
  uint64_t seed = 1;
};

struct Outcome {
  std::string log;
  uint64_t trains = 0, splits = 0, packets = 0;
  uint64_t work = 0;                      ///< spent on trains, in words of a record
  uint64_t hops = 0;                      ///< packet-hops of the run
  uint64_t one_by_one = 0, stepping = 0;  ///< packets that did not go by train; of them, in steps
  uint64_t growing = 0, growing_splits = 0;
  uint64_t filling = 0, filling_splits = 0;
  uint64_t joint = 0, joint_splits = 0, joint_sent = 0;
  uint64_t known = 0, known_later = 0;
  uint64_t early = 0, early_failed = 0;
};

using Plan = std::vector<std::tuple<Picoseconds, uint32_t, Message>>;

/// Rounds of a collective: the same messages again and again, a few strangers in between.
Plan rounds(const Scenario& s, uint32_t ranks, Random& random) {
  Plan plan;
  std::vector<uint32_t> offsets(s.steps);
  std::vector<uint64_t> packets(s.steps);
  for (uint32_t step = 0; step < s.steps; ++step) {
    offsets[step] = 1 + random.below(ranks - 1);
    packets[step] = step != 0 && s.lengths == 1 ? packets[0] : s.longest / 2 + random.below(s.longest / 2);
  }
  const uint32_t a_round = ranks * s.steps;
  for (uint32_t k = 0; k < s.messages; ++k) {
    Message m;
    m.id_low = k;
    const uint32_t step = k % a_round / ranks;
    uint32_t from = k % ranks;
    m.destination = (from + offsets[step]) % ranks;
    m.bytes = packets[step] * s.packet_bytes - (s.lengths == 1 ? 0 : s.packet_bytes / 3);
    m.submitted = k / a_round * a_round * (s.span / s.messages);
    m.virtual_network = static_cast<uint8_t>(step % s.network.virtual_networks);
    if (random.below(s.strangers) == 0) {
      from = random.below(ranks);
      m.destination = (from + 1 + random.below(ranks - 1)) % ranks;
      m.bytes = 1 + random.below(3 * s.packet_bytes);
      m.submitted += random.below(static_cast<uint32_t>(s.span / s.messages)) * a_round;
      m.virtual_network = static_cast<uint8_t>(random.below(s.network.virtual_networks));
    }
    plan.emplace_back(m.submitted, from, m);
  }
  return plan;
}

Outcome run(const Scenario& s, bool trains) {
  const std::string text = in_child([&]() -> std::string {
    PacketConfig config = s.network;
    config.trains = trains;
    LinkTiming link;
    link.flit_time = s.flit_time;
    link.latency = s.latency;
    LinkTiming ni_link;
    ni_link.flit_time = s.ni_flit_time != 0 ? s.ni_flit_time : s.flit_time;
    Segmentation cut;
    cut.packet_bytes = s.packet_bytes;
    PacketTopology topology = make_from_notation(s.notation, link, ni_link);
    Random rates(s.seed, 8);
    for (LinkTiming& timing : topology.links) {
      const bool slower = s.uneven && rates.below(2) == 1;
      if (slower) timing.flit_time = timing.flit_time * (4 + rates.below(5)) / 4;
      if (s.far) timing.latency = timing.latency * (1 + rates.below(8)) / 2;
    }
    PacketNetwork network("network", config, topology, cut);
    Log log;
    for (uint32_t r = 0; r < network.ranks(); ++r) network.ni(r).set_sink(&log);
    Random random(s.seed, 7);
    std::vector<uint32_t> partner(network.ranks());  // of the permutation: one cycle over all
    std::iota(partner.begin(), partner.end(), 0u);
    for (uint32_t i = network.ranks() - 1; i > 0; --i) std::swap(partner[i], partner[random.below(i)]);
    Plan plan;
    if (s.pattern == Pattern::rounds) plan = rounds(s, network.ranks(), random);
    for (uint32_t k = 0; k < s.messages && s.pattern != Pattern::rounds; ++k) {
      Message m;
      m.id_low = k;
      const uint32_t any = random.below(network.ranks());
      const uint32_t from = s.pattern == Pattern::incast ? 1 + any % (network.ranks() - 1) : any;
      const uint32_t step = 1 + random.below(s.destinations == 0 ? network.ranks() - 1 : s.destinations);
      m.destination = s.pattern == Pattern::any           ? (from + step) % network.ranks()
                      : s.pattern == Pattern::permutation ? partner[from]
                                                          : 0;
      // Most are long; some are a few packets that come in between.
      const bool few = random.below(3) == 0 && !s.only_long;
      const uint32_t packets = few ? 1 + random.below(4) : 1 + random.below(s.longest);
      m.bytes = static_cast<uint64_t>(packets) * s.packet_bytes - random.below(s.packet_bytes);
      if (!few && s.lengths != 0) {
        const uint64_t length = 1 + random.below(s.lengths);
        m.bytes =
            (length * s.longest / s.lengths) * s.packet_bytes - (length % 2 == 0 ? 0 : s.packet_bytes / 3);
      }
      m.virtual_network = static_cast<uint8_t>(random.below(config.virtual_networks));
      m.submitted = random.below(static_cast<uint32_t>(s.span));
      plan.emplace_back(m.submitted, from, m);
    }
    std::sort(plan.begin(), plan.end(), [](const auto& a, const auto& b) {
      return std::make_pair(std::get<0>(a), std::get<2>(a).id_low) <
             std::make_pair(std::get<0>(b), std::get<2>(b).id_low);
    });
    Picoseconds now = 0;
    for (const auto& [at, from, message] : plan) {
      if (at > now) {
        advance(at - now);
        now = at;
      }
      const std::string broken = network.broken_invariant(false);
      if (!broken.empty()) return "midway: " + broken;
      network.ni(from).submit(message);
    }
    for (int k = 0; k < 50000 && network.messages_in_flight() > 0; ++k) advance(10000000);
    advance(10000000);
    std::ostringstream out;
    const PacketTrains::Counters counters =
        network.trains() != nullptr ? network.trains()->counters() : PacketTrains::Counters{};
    out << counters.trains << ' ' << counters.splits << ' ' << counters.packets << ' ' << counters.work << ' '
        << network.packet_hops() << ' ' << counters.growing << ' ' << counters.growing_splits << ' '
        << counters.filling << ' ' << counters.filling_splits << ' ' << counters.joint << ' '
        << counters.joint_splits << ' ' << counters.joint_sent << ' ' << counters.known << ' '
        << counters.known_later << ' ' << counters.early << ' ' << counters.early_failed << ' '
        << counters.all() - counters.packets << ' ' << counters.of(TrainReason::stepping) << '\n';
    out << network.broken_invariant(true) << " late " << log.late << " hops " << network.packet_hops()
        << " flits " << log.flits << '\n';
    for (const auto& [id, at] : log.arrived) {
      out << id << " packets " << log.packets[id].size() << " injected " << log.injected[id] << " sent "
          << log.sent[id] << " arrived " << at << " digest " << log.digest(id) << '\n';
    }
    for (uint32_t r = 0; r < network.ranks(); ++r) {
      const NetworkInterface& ni = network.ni(r);
      out << "ni " << r << ' ' << ni.flits_sent() << ' ' << ni.flits_received() << ' ' << ni.packets_sent()
          << ' ' << ni.packets_received() << ' ' << ni.messages_sent() << ' ' << ni.queued() << ' '
          << ni.payload_sent() << '\n';
    }
    for (uint32_t r = 0; r < network.routers(); ++r) {
      const Router& router = network.router(r);
      out << "router " << r << ' ' << router.packets();
      for (uint32_t p = 0; p < router.ports(); ++p) {
        out << ' ' << router.flits_sent(p) << ' ' << router.messages_sent(p) << ' ' << router.queued(p) << ' '
            << router.packets_sent(p) << ' ' << router.payload_sent(p);
      }
      out << '\n';
    }
    return out.str();
  });
  Outcome outcome;
  std::istringstream in(text);
  in >> outcome.trains >> outcome.splits >> outcome.packets >> outcome.work >> outcome.hops >>
      outcome.growing >> outcome.growing_splits >> outcome.filling >> outcome.filling_splits >>
      outcome.joint >> outcome.joint_splits >> outcome.joint_sent >> outcome.known >> outcome.known_later >>
      outcome.early >> outcome.early_failed >> outcome.one_by_one >> outcome.stepping;
  outcome.log = text.substr(std::min(text.size(), text.find('\n') + 1));
  return outcome;
}

/// Both ways; answers what the trains did.
Outcome compare(const Scenario& s) {
  const Outcome without = run(s, false);
  const Outcome with = run(s, true);
  EXPECT_EQ(without.trains, 0u);
  EXPECT_NE(without.log.find("arrived"), std::string::npos) << without.log;
  EXPECT_EQ(without.log.find("late 1"), std::string::npos);
  if (with.log != without.log) {
    // Only the first line that differs: the whole is long.
    std::istringstream expected(without.log);
    std::istringstream got(with.log);
    std::string e;
    std::string g;
    while (std::getline(expected, e) && std::getline(got, g) && e == g) {
    }
    ADD_FAILURE() << s.notation << " seed " << s.seed << " VCs " << s.network.vcs << " buffer "
                  << s.network.buffer_flits << " flit time " << s.flit_time << " / " << s.ni_flit_time
                  << " latency " << s.latency << "\nwithout " << e << "\nwith    " << g;
  }
  return with;
}

void add(Outcome& sum, const Outcome& one) {
  sum.trains += one.trains;
  sum.splits += one.splits;
  sum.packets += one.packets;
  sum.work += one.work;
  sum.hops += one.hops;
  sum.growing += one.growing;
  sum.growing_splits += one.growing_splits;
  sum.filling += one.filling;
  sum.filling_splits += one.filling_splits;
  sum.joint += one.joint;
  sum.joint_splits += one.joint_splits;
  sum.joint_sent += one.joint_sent;
  sum.known += one.known;
  sum.known_later += one.known_later;
  sum.early += one.early;
  sum.early_failed += one.early_failed;
}

/// How routers switch, and how fast and even everything is.
void draw_routers_and_links(Scenario& s, const Pick& pick) {
  s.network.switching =
      pick(FlitSwitching::packet_held, FlitSwitching::packet_held, FlitSwitching::flit_interleaved);
  s.network.switch_allocator = pick("islip", "islip", "round_robin");
  s.network.shuffle = pick(0u, 0u, 0u, 3u);
  s.network.cycle = pick(ticks(1000), ticks(640) / 9, ticks(1280));
  s.flit_time = s.network.cycle * pick(4u, 4u, 8u, 5u, 3u) / 4;
  s.ni_flit_time = pick(0u, 0u, 1u) * s.flit_time / 2;
  s.uneven = pick(false, false, true);
  s.far = pick(false, true);
}

/// Incasts of long messages over links whose round trip is 1,760 packets.
Scenario incast_over_long_links(const std::string& notation) {
  Scenario s;
  s.notation = notation;
  s.pattern = Pattern::incast;
  s.network.cycle = s.flit_time = ticks(640) / 9;
  s.latency = ticks(250000);
  s.network.buffer_flits = 7040;
  s.packet_bytes = 64;  // flits of 16 B
  s.lengths = 1;
  s.only_long = true;
  return s;
}

/// About as long as all messages take on one link, one after the other.
Picoseconds busy_for(const Scenario& s) {
  return uint64_t{s.messages} * s.longest * (s.packet_bytes / 16) * s.flit_time / kTicksPerPicosecond;
}

TEST(Trains, ChangeNothingOnAnyTopology) {
  for (const char* notation : {"Switch(8)", "Ring(8)", "Ring(4)_Ring(4)", "Mesh(4)_Mesh(3)", "FatTree(4,2)",
                               "Ring(3)_Switch(4)", "FullyConnected(5)", "Switch(70)"}) {
    Outcome sum;
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      Scenario s;
      s.notation = notation;
      s.seed = seed;
      s.network.selection = std::string(notation) == "FatTree(4,2)" ? "hash" : "";
      s.destinations = seed % 2 == 0 ? 1 : 0;
      s.span = seed > 2 ? 30000000 : 3000000;
      add(sum, compare(s));
    }
    EXPECT_GT(sum.trains, 10u) << notation;
    EXPECT_GT(sum.splits, 0u) << notation;
    EXPECT_GT(sum.packets, 1000u) << notation;
  }
}

TEST(Trains, ChangeNothingWithAnyBufferVcsAndRate) {
  Outcome sum;
  uint64_t seed = 100;
  for (const uint32_t buffer : {2u, 7u, 16u, 64u}) {
    for (const uint32_t vcs : {1u, 2u, 4u}) {
      for (const Picoseconds flit_time : {1000u, 1300u, 2000u, 1280u, 1025u}) {
        for (const Picoseconds latency : {0u, 7500u}) {
          Scenario s;
          s.notation = vcs == 1 ? "Switch(6)" : (seed % 2 == 0 ? "Ring(6)" : "Mesh(3)_Switch(2)");
          s.network.vcs = vcs;
          s.network.buffer_flits = buffer;
          s.flit_time = ticks(flit_time);
          s.latency = ticks(latency);
          s.messages = 15;
          s.seed = ++seed;
          s.span = 9000000;
          add(sum, compare(s));
        }
      }
    }
  }
  EXPECT_GT(sum.trains, 300u);
  EXPECT_GT(sum.splits, 100u);
}

// Networks, links and traffic drawn: flows that meet for as long as they last, links with hundreds of packets
// on them, many to one.
TEST(Trains, ChangeNothingOnRandomNetworks) {
  Outcome sum;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed, 3);
    const Pick pick{random};
    Scenario s;
    s.notation = pick("Switch(8)", "Switch(16)", "Clos(hosts=4,leaves=4,spines=2)", "FatTree(4,2)", "Ring(6)",
                      "Mesh(3)_Mesh(3)", "Ring(3)_Switch(4)");
    s.pattern = pick(Pattern::any, Pattern::permutation, Pattern::permutation, Pattern::incast);
    s.network.vcs = pick(1u, 2u, 4u);
    if (s.notation.find("Ring") != std::string::npos) s.network.vcs = pick(2u, 4u);
    s.network.cycle = pick(ticks(1000), ticks(640) / 9, ticks(1280));
    s.flit_time = s.network.cycle * pick(1u, 1u, 2u);
    s.latency = s.network.cycle * pick(0u, 5u, 40u, 700u);
    s.network.buffer_flits = pick(16u, 64u, 2048u);
    s.packet_bytes = pick(64u, 256u, 1024u);
    s.messages = 30;
    s.longest = 2500;
    s.span = 2000 * s.network.cycle / kTicksPerPicosecond;
    s.seed = seed;
    add(sum, compare(s));
  }
  EXPECT_GT(sum.trains, 60u);
  EXPECT_GT(sum.splits, 5u);
}

// Buffers that fill up for hundreds of packets: one VC, whose router takes a cycle more for a packet than the
// interface does, and slow links behind fast ones, at any hop. Others come in between while they fill.
TEST(Trains, ChangeNothingWhereBuffersFill) {
  Outcome sum;
  for (uint64_t seed = 1; seed <= 48; ++seed) {
    Random random(seed, 4);
    const Pick pick{random};
    Scenario s;
    s.notation = pick("Switch(6)", "Clos(hosts=2,leaves=4,spines=2)", "Mesh(3)_Mesh(2)", "FatTree(4,2)");
    s.network.selection = s.notation == "FatTree(4,2)" ? "hash" : "";
    s.network.vcs = pick(1u, 1u, 2u, 4u);
    s.uneven = s.network.vcs > 1 || pick(false, true);
    s.network.virtual_networks = pick(1u, 1u, 2u);
    s.network.strict_cut_through = pick(false, false, true);
    s.network.cycle = pick(ticks(1000), ticks(640) / 9, ticks(1280));
    s.flit_time = s.network.cycle * pick(4u, 4u, 5u, 8u) / 4;
    s.latency = s.network.cycle * pick(0u, 5u, 40u, 200u);
    s.network.buffer_flits = pick(600u, 2048u);
    s.packet_bytes = pick(64u, 128u, 256u);
    s.pattern = pick(Pattern::any, Pattern::permutation);
    s.messages = 12;
    s.longest = 4000;
    s.span = 20000 * s.network.cycle / kTicksPerPicosecond;
    s.seed = seed;
    add(sum, compare(s));
  }
  EXPECT_GT(sum.growing, 100u);
  EXPECT_GT(sum.growing_splits, 10u);
}

// Links on which hundreds of packets are on their way: streams repeat from their first packets on, before
// anything has arrived and before credits come back. Others come in between meanwhile, or wait for an output
// that the stream has had.
TEST(Trains, ChangeNothingWhilePathsFill) {
  Outcome sum;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed, 5);
    const Pick pick{random};
    Scenario s;
    s.notation = pick("Switch(6)", "Switch(12)", "Clos(hosts=2,leaves=4,spines=2)", "Mesh(3)_Mesh(2)");
    s.network.vcs = pick(1u, 2u, 4u);
    s.uneven = pick(false, false, true);
    s.network.virtual_networks = pick(1u, 1u, 2u);
    s.network.release_on_credit = pick(false, false, false, true);
    s.network.cycle = pick(ticks(1000), ticks(640) / 9, ticks(1280));
    s.flit_time = s.network.cycle * pick(4u, 4u, 5u, 8u) / 4;
    s.latency = s.network.cycle * pick(300u, 700u, 1500u);
    s.network.buffer_flits = pick(1024u, 4096u);
    s.packet_bytes = pick(64u, 128u, 256u);
    s.pattern = pick(Pattern::any, Pattern::permutation, Pattern::permutation);
    s.messages = 16;
    s.longest = 3000;
    s.span = pick(1000u, 10000u) * s.network.cycle / kTicksPerPicosecond;
    s.seed = seed;
    add(sum, compare(s));
  }
  EXPECT_GT(sum.filling, 80u);
  EXPECT_GT(sum.filling_splits, 8u);
}

// Messages of a few lengths between a few ranks, mostly one at a time: those that begin alike are known, and
// so is how their paths empty. Others come in between: before the stream recurs, later, and while the path
// empties.
TEST(Trains, ChangeNothingWhereMessagesBeginAlike) {
  Outcome sum;
  std::vector<uint64_t> seeds(120);
  std::iota(seeds.begin(), seeds.end(), 1u);
  // Joint trains: another message of an interface whose own one waits for credits; rings with bubbles.
  seeds.insert(seeds.end(), {2432, 2572, 5535, 7634});
  for (const uint64_t seed : seeds) {
    Random random(seed, 8);
    const Pick pick{random};
    Scenario s;
    s.notation = pick("Switch(3)", "Switch(4)", "Clos(hosts=2,leaves=2,spines=2)", "Mesh(3)_Mesh(2)",
                      "FatTree(2,2)", "Switch(2)_Switch(2)", "Ring(4)", "Ring(3)_Ring(3)");
    const bool ring = s.notation.find("Ring") != std::string::npos;
    s.network.selection = s.notation == "FatTree(2,2)" ? "hash" : "";
    s.pattern = pick(Pattern::any, Pattern::permutation, Pattern::incast);
    s.network.vcs = ring ? pick(2u, 4u) : pick(1u, 2u, 3u, 4u, 4u);
    s.network.virtual_networks = pick(1u, 1u, 1u, 2u);
    s.network.strict_cut_through = pick(false, false, true);
    s.network.release_on_credit = pick(false, false, false, true);
    if (ring && pick(false, true)) {
      s.network.vc_classes = "bubble";
      s.network.vcs = pick(1u, 2u);
      s.network.strict_cut_through = true;
    }
    draw_routers_and_links(s, pick);
    s.latency = s.network.cycle * pick(0u, 5u, 40u, 200u);
    s.network.buffer_flits = pick(64u, 600u, 2048u);
    s.packet_bytes = pick(64u, 256u, 256u);
    s.messages = pick(60u, 120u);
    s.longest = pick(60u, 300u);
    s.lengths = pick(1u, 2u, 3u);
    s.destinations = pick(0u, 1u);
    // So long that a path is busy for a half, or a tenth, of the time.
    s.span = busy_for(s) / pick(1u, 2u, 8u) * pick(1u, 4u);
    s.seed = seed;
    add(sum, compare(s));
  }
  EXPECT_GT(sum.known, 400u);
  EXPECT_GT(sum.early, 400u);
  EXPECT_GT(sum.early_failed, 100u);
  EXPECT_GT(sum.splits, 100u);
}

// Rounds of a collective: messages begin when those before them, of their interface and of others, are still
// on the way. They are known from the packet on with which their path is their own.
TEST(Trains, ChangeNothingWherePathsClear) {
  Outcome sum;
  std::vector<uint64_t> seeds(100);
  std::iota(seeds.begin(), seeds.end(), 1u);
  seeds.push_back(759);  // a packet comes by an input of one train, and wants the output of another one
  for (const uint64_t seed : seeds) {
    Random random(seed, 9);
    const Pick pick{random};
    Scenario s;
    s.notation = pick("Switch(3)", "Switch(4)", "Switch(6)", "Clos(hosts=2,leaves=2,spines=2)",
                      "FatTree(2,2)", "Switch(2)_Switch(2)", "Mesh(3)", "Ring(4)");
    s.network.selection = s.notation == "FatTree(2,2)" ? "hash" : "";
    s.pattern = Pattern::rounds;
    s.network.pipeline.route = pick(0u, 0u, 1u);
    s.network.pipeline.vc_alloc = pick(1u, 1u, 0u, 2u);
    s.network.vcs = s.notation == "Ring(4)" ? 2 : pick(1u, 2u, 3u, 4u, 4u);
    s.network.virtual_networks = pick(1u, 1u, 2u);
    s.network.strict_cut_through = pick(false, false, true);
    s.network.release_on_credit = pick(false, false, false, true);
    draw_routers_and_links(s, pick);
    s.latency = s.network.cycle * pick(5u, 40u, 200u, 400u);
    s.network.buffer_flits = pick(64u, 600u, 2048u);
    s.packet_bytes = pick(64u, 256u, 256u);
    s.messages = pick(200u, 400u);
    s.longest = pick(60u, 150u, 300u);
    s.lengths = pick(1u, 2u);
    s.steps = pick(1u, 2u, 3u, 5u);
    s.span = busy_for(s) / pick(1u, 2u, 4u);
    s.seed = seed;
    add(sum, compare(s));
  }
  EXPECT_GT(sum.known_later, 400u);
  EXPECT_GT(sum.early, 400u);
  EXPECT_GT(sum.early_failed, 100u);
  EXPECT_GT(sum.splits, 100u);
}

// Messages that share ports for as long as they last: many to one, and permutations on trees, whose messages
// meet in one place or in a chain of places. Short ones come in between.
TEST(Trains, ChangeNothingWhereMessagesShareLinks) {
  Outcome sum;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed, 6);
    const Pick pick{random};
    Scenario s;
    s.notation =
        pick("Switch(4)", "Switch(6)", "Clos(hosts=4,leaves=4,spines=2)", "Clos(hosts=3,leaves=4,spines=1)",
             "FatTree(4,2)", "Mesh(4)_Mesh(3)", "Ring(6)", "FullyConnected(4)_Switch(3)");
    s.network.selection = s.notation == "FatTree(4,2)" ? "hash" : "";
    s.pattern = pick(Pattern::incast, Pattern::permutation, Pattern::permutation, Pattern::any);
    s.network.vcs = s.notation == "Ring(6)" ? 2 : pick(1u, 1u, 1u, 2u);
    s.network.virtual_networks = pick(1u, 1u, 1u, 2u);
    s.network.switching =
        pick(FlitSwitching::packet_held, FlitSwitching::packet_held, FlitSwitching::flit_interleaved);
    s.network.release_on_credit = pick(false, false, false, true);
    s.network.switch_allocator = pick("islip", "islip", "round_robin");
    s.network.cycle = pick(ticks(1000), ticks(640) / 9, ticks(1280));
    s.flit_time = s.network.cycle * pick(4u, 4u, 4u, 8u, 5u) / 4;
    s.uneven = pick(false, false, true);
    s.far = pick(false, true);
    s.latency = s.network.cycle * pick(0u, 5u, 40u, 200u);
    s.network.buffer_flits = pick(16u, 64u, 600u);
    s.packet_bytes = pick(64u, 256u, 256u, 1024u);
    s.network.strict_cut_through = s.network.buffer_flits * 16 >= s.packet_bytes && pick(false, false, true);
    s.messages = pick(6u, 12u, 20u);
    s.longest = 4000;
    s.span = pick(1000u, 20000u) * s.network.cycle / kTicksPerPicosecond;
    s.seed = seed;
    add(sum, compare(s));
  }
  EXPECT_GT(sum.joint, 100u);
  EXPECT_GT(sum.joint_splits, 10u);
}

// Two to one by links of unequal length and rate: credits of one sender still only get fewer when the others
// recur. Senders that another packet may join by a route that is drawn. Modules that run in any order.
TEST(Trains, ChangeNothingWhereMembersDiffer) {
  Outcome sum;
  for (uint64_t seed = 1; seed <= 80; ++seed) {
    Random random(seed, 7);
    const Pick pick{random};
    Scenario s;
    s.notation = pick("Switch(3)", "Switch(4)", "Ring(6)", "Ring(4)_Ring(4)");
    const bool ring = s.notation.find("Ring") != std::string::npos;
    s.pattern = ring ? Pattern::any : Pattern::incast;
    s.network.vcs = ring ? 2 : pick(1u, 1u, 2u);
    s.network.virtual_networks = pick(1u, 1u, 2u);
    s.network.selection = ring ? pick("random", "spray", "first") : "";
    if (ring) s.network.routing = "shortest_path";
    s.network.shuffle = pick(0u, 0u, 3u);
    s.uneven = true;
    s.far = true;
    s.flit_time = s.network.cycle * pick(1u, 2u);
    s.latency = s.network.cycle * pick(40u, 200u, 600u);
    s.network.buffer_flits = pick(64u, 600u, 2048u);
    s.packet_bytes = pick(64u, 256u);
    s.messages = pick(2u, 4u, 12u);
    s.longest = 4000;
    s.span = pick(100u, 20000u) * s.network.cycle / kTicksPerPicosecond;
    s.seed = seed;
    add(sum, compare(s));
  }
  EXPECT_GT(sum.joint, 20u);
}

// Two to one. The queues before the port that they share grow for 14,000 packets, and for a round trip the
// credits on their way are of the time before they met.
// What does not recur while buffers fill (seed 2) is looked for again when they are full.
TEST(Trains, CarryMessagesThatMeetWhileBuffersFill) {
  struct Case {
    uint64_t seed;
    uint64_t most_one_by_one;
  };
  for (const Case& one : {Case{1, 16'000}, Case{2, 160'000}, Case{6, 16'000}}) {
    Scenario s = incast_over_long_links("Switch(3)");
    s.network.vcs = 4;
    s.messages = 2;
    s.longest = 200000;
    s.span = 4000000;
    s.seed = one.seed;
    const Outcome outcome = compare(s);
    EXPECT_GT(outcome.joint, 2u) << one.seed;
    EXPECT_GT(outcome.growing + outcome.filling, 3u) << one.seed;
    EXPECT_LT(outcome.one_by_one, one.most_one_by_one) << one.seed;
  }
}

// Interfaces send one message after another, to different receivers. Thousands of packets of the first ones
// wait for outputs that they share, and the next ones come behind them; or nothing does.
TEST(Trains, CarryMessagesBehindThoseThatHaveBeenSent) {
  Outcome sum;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed, 11);
    const Pick pick{random};
    Scenario s = incast_over_long_links(
        pick("Switch(3)", "Switch(4)", "Switch(6)", "Ring(2)_Switch(3)", "Clos(hosts=2,leaves=2,spines=2)"));
    s.pattern = Pattern::any;
    s.network.vcs = pick(1u, 2u, 4u);
    s.network.virtual_networks = pick(1u, 1u, 2u);
    s.network.buffer_flits = pick(800u, 2800u, 7040u);
    s.latency = ticks(pick(20000u, 100000u));
    if (seed % 3 == 0) draw_routers_and_links(s, pick);
    s.messages = 6 + random.below(8);
    s.longest = pick(4000u, 20000u);
    s.lengths = pick(0u, 1u, 2u);
    s.only_long = pick(true, true, false);
    s.span = busy_for(s) / 8;
    s.seed = seed;
    add(sum, compare(s));
  }
  EXPECT_GT(sum.joint_sent, 40u);
}

// Where packets of others come in between for as long as a message lasts, looking for trains stops soon: what
// it costs stays in proportion to the packets, and to what an interface may spend in advance.
TEST(Trains, CostLittleWhereTheyCannotBe) {
  Scenario s;
  s.pattern = Pattern::permutation;
  s.network.cycle = s.flit_time = ticks(640) / 9;
  s.latency = ticks(50000);
  s.network.buffer_flits = 4096;
  s.messages = 24;
  s.longest = 6000;
  s.span = 100000;
  for (const char* notation : {"Clos(hosts=4,leaves=4,spines=1)", "Mesh(4)_Mesh(4)", "Switch(16)"}) {
    s.notation = notation;
    s.pattern = s.notation == "Switch(16)" ? Pattern::incast : Pattern::permutation;
    const Outcome outcome = compare(s);
    // Six words a hop and as many at the interface, which on one switch is twelve a hop.
    EXPECT_LT(outcome.work, 13 * outcome.hops + 16 * 20000) << notation << ' ' << outcome.hops;
  }
}

// In an incast the receiver's path never clears while it lasts. The first messages find that out for all.
TEST(Trains, FewWaitForPathsThatDoNotClear) {
  Scenario s = incast_over_long_links("FullyConnected(8)_Switch(4)");
  s.network.vcs = 2;
  s.messages = 62;
  s.longest = 2000;
  s.span = 1;
  const Outcome outcome = compare(s);
  EXPECT_EQ(outcome.one_by_one, 118'780u);  // of 124,000
  EXPECT_LT(outcome.stepping, 6'000u);      // 52,892 when every interface finds it out by itself
}

// Neither cycles nor flit times are whole picoseconds, so the kernel runs modules a little late, each time by
// another part of a picosecond. Streams are as periodic as ever.
TEST(Trains, ChangeNothingBetweenPicoseconds) {
  uint64_t seed = 300;
  for (const Ticks cycle : {ticks(160) / 9, kTicksPerPicosecond + 1, ticks(160) / 3, ticks(1000) + 1}) {
    Outcome sum;
    for (const uint32_t tenths : {10u, 20u, 13u}) {
      for (const Picoseconds latency : {0u, 500u}) {
        for (const char* notation : {"Switch(6)", "Ring(6)", "Mesh(3)_Switch(2)"}) {
          Scenario s;
          s.notation = notation;
          s.network.cycle = cycle;
          s.flit_time = cycle * tenths / 10;
          s.latency = ticks(latency) * cycle / ticks(100);
          s.messages = 20;
          s.seed = ++seed;
          s.span = 9000 * cycle / kTicksPerPicosecond;
          add(sum, compare(s));
        }
      }
    }
    EXPECT_GT(sum.trains, 60u) << cycle;
    EXPECT_GT(sum.splits, 20u) << cycle;
  }
}

TEST(Trains, ChangeNothingWithAnyOption) {
  const auto with = [](const std::string& notation, auto&& change) {
    Outcome sum;
    for (uint64_t seed = 200; seed < 203; ++seed) {
      Scenario s;
      s.notation = notation;
      s.seed = seed;
      s.span = 10000000;
      change(s);
      add(sum, compare(s));
    }
    return sum;
  };
  EXPECT_GT(
      with("Ring(6)", [](Scenario& s) { s.network.switching = FlitSwitching::flit_interleaved; }).trains, 0u);
  EXPECT_GT(with("Ring(6)", [](Scenario& s) { s.network.quantum = 3; }).trains, 0u);
  EXPECT_GT(with("Switch(6)", [](Scenario& s) { s.network.strict_cut_through = true; }).trains, 0u);
  EXPECT_GT(with("Switch(6)", [](Scenario& s) { s.network.release_on_credit = true; }).trains, 0u);
  EXPECT_GT(with("Switch(6)", [](Scenario& s) { s.network.allocator_iterations = 3; }).trains, 0u);
  EXPECT_GT(with("Switch(6)", [](Scenario& s) { s.network.switch_allocator = "round_robin"; }).trains, 0u);
  EXPECT_GT(with("Ring(6)", [](Scenario& s) { s.network.pipeline.vc_alloc = 0; }).trains, 0u);
  EXPECT_GT(with("Ring(6)", [](Scenario& s) { s.network.pipeline = {2, 2, 2, 2, 3}; }).trains, 0u);
  EXPECT_GT(with("Ring(6)", [](Scenario& s) { s.network.vc_classes = "switched_dateline"; }).trains, 0u);
  EXPECT_GT(with("Ring(6)", [](Scenario& s) { s.network.routing = "up_down", s.network.selection = "first"; })
                .trains,
            0u);
  EXPECT_GT(with("Switch(6)", [](Scenario& s) { s.network.virtual_networks = 2, s.network.vcs = 2; }).splits,
            0u);
  EXPECT_GT(with("Switch(6)", [](Scenario& s) { s.network.shuffle = 5; }).trains, 0u);
  EXPECT_GT(with("Switch(6)",
                 [](Scenario& s) {
                   s.network.virtual_networks = 3;
                   s.network.vcs = 2;
                   s.network.strict_priority = true;
                 })
                .splits,
            0u);
  // Links of different rates, and faster than the clock.
  EXPECT_GT(with("Ring(6)", [](Scenario& s) { s.ni_flit_time = ticks(2000); }).trains, 0u);
  EXPECT_GT(with("Ring(6)", [](Scenario& s) { s.flit_time = ticks(800); }).trains, 0u);
  // Drawn and adaptive routes: no trains where the way is not certain.
  EXPECT_EQ(with("Mesh(3)_Mesh(3)", [](Scenario& s) { s.network.routing = "minimal_adaptive"; }).trains, 0u);
  with("FatTree(4,2)", [](Scenario& s) { s.network.selection = "random"; });
  with("FatTree(4,2)", [](Scenario& s) { s.network.selection = "spray"; });
}

// One flow alone: nearly all of it travels by train, and its neighbour's first packet splits it.
TEST(Trains, CarryALongMessageAndAreSplitByAnother) {
  const auto alone = [](bool second) {
    return in_child([&]() -> std::string {
      PacketNetwork network("network", {}, make_from_notation("Switch(4)", {}, {}));
      Log log;
      for (uint32_t r = 0; r < 4; ++r) network.ni(r).set_sink(&log);
      Message m;
      m.id_low = 1;
      m.destination = 1;
      m.bytes = 256 * 10000;
      network.ni(0).submit(m);
      advance(50000000);
      const uint64_t before = network.flits_received();
      if (second) {
        m.id_low = 2;
        m.bytes = 256;
        m.submitted = sc_core::sc_time_stamp().value();
        network.ni(2).submit(m);
      }
      advance(1000000000);
      const PacketTrains::Counters& c = network.trains()->counters();
      return fmt::format("{} trains {} splits, {}, {} before{}", c.trains, c.splits,
                         c.packets > 9900 ? "nearly all" : "few", before > 40000 ? "most" : "little",
                         network.broken_invariant(true));
    });
  };
  EXPECT_EQ(alone(false), "1 trains 0 splits, nearly all, most before");
  EXPECT_EQ(alone(true), "2 trains 1 splits, nearly all, most before");
}

// Two messages to one receiver: they take turns at its output, and nearly all of both travels by joint
// trains. A packet of somebody else splits one.
TEST(Trains, CarryMessagesThatMeetAndAreSplitByAnother) {
  const auto two = [](bool third) {
    return in_child([&]() -> std::string {
      PacketConfig config;
      config.vcs = 1;
      PacketNetwork network("network", config, make_from_notation("Switch(4)", {}, {}));
      Log log;
      for (uint32_t r = 0; r < 4; ++r) network.ni(r).set_sink(&log);
      Message m;
      m.destination = 2;
      m.bytes = 256 * 10000;
      for (uint32_t r = 0; r < 2; ++r) {
        m.id_low = r;
        network.ni(r).submit(m);
      }
      advance(50000000);
      if (third) {
        m.id_low = 2;
        m.bytes = 256;
        m.submitted = sc_core::sc_time_stamp().value();
        network.ni(3).submit(m);
      }
      advance(1000000000);
      const PacketTrains::Counters& c = network.trains()->counters();
      return fmt::format("{} joint trains, {} splits, {}{}", c.joint, c.joint_splits,
                         c.packets > 19500 ? "nearly all" : fmt::format("{} packets", c.packets),
                         network.broken_invariant(true));
    });
  };
  EXPECT_EQ(two(false), "1 joint trains, 0 splits, nearly all");
  EXPECT_EQ(two(true), "2 joint trains, 1 splits, nearly all");
}

// Messages of 640 packets on links whose round trip is 110: an interface may decide 28 packets ahead, and so
// may routers, so without steps a period of four packets (one a VC) does not show in four packets.
TEST(Trains, CarryMessagesOfAFewRoundTrips) {
  Scenario s;
  s.notation = "Switch(8)";
  s.pattern = Pattern::permutation;
  s.network.cycle = s.flit_time = ticks(1280) / 9;
  s.latency = ticks(250000);
  s.network.buffer_flits = 4096;
  s.packet_bytes = 1024;  // flits of 16 B
  const std::string counted = in_child([&]() -> std::string {
    LinkTiming link;
    link.flit_time = s.flit_time;
    link.latency = s.latency;
    Segmentation cut;
    cut.packet_bytes = s.packet_bytes;
    PacketNetwork network("network", s.network, make_from_notation(s.notation, link, link), cut);
    Log log;
    for (uint32_t r = 0; r < 8; ++r) network.ni(r).set_sink(&log);
    for (uint32_t round = 0; round < 3; ++round) {
      Message m;
      m.bytes = uint64_t{640} * s.packet_bytes;
      m.submitted = sc_core::sc_time_stamp().value();
      for (uint32_t r = 0; r < 8; ++r) {
        m.id_low = 8 * round + r;
        m.destination = (r + 1) % 8;
        network.ni(r).submit(m);
      }
      advance(20000000);
    }
    const PacketTrains::Counters& c = network.trains()->counters();
    return fmt::format("{} trains, {} splits, {}{}", c.trains, c.splits,
                       c.packets > uint64_t{24} * 400 ? "most" : fmt::format("{} packets", c.packets),
                       network.broken_invariant(true));
  });
  EXPECT_EQ(counted, "39 trains, 8 splits, most");
}

// Places of a round of four VCs, of the second virtual network.
TEST(Trains, NameVcsByTheirTurns) {
  const VcNames names(4, 4, 3);
  for (uint32_t vc = 0; vc < 12; ++vc) EXPECT_EQ(names.vc(names.place(vc)), vc);
  EXPECT_EQ(names.place(7), 4u);  // whose turn it is
  EXPECT_EQ(names.place(4), 5u);
  EXPECT_EQ(names.place(2), 2u);  // of another virtual network
  EXPECT_EQ(names.before(4), 7u);
  EXPECT_EQ(names.places(vc_bit(7) | vc_bit(2) | vc_bit(6)), vc_bit(4) | vc_bit(2) | vc_bit(7));
  EXPECT_EQ(names.vcs(names.places(0xabc)), VcMask{0xabc});
  EXPECT_EQ(names.rounds_after(VcNames(4, 4, 3)), 1u);
  EXPECT_EQ(names.rounds_after(VcNames(4, 4, 1)), 2u);
  EXPECT_EQ(names.rounds_after(VcNames(4, 4, 2)), 4u);
  // A VC without a place goes on alike only where no turn has changed.
  EXPECT_NE(names.word(2), VcNames(4, 4, 1).word(2));
  EXPECT_EQ(names.word(7), VcNames(4, 4, 1).word(5));
}

// One message after the other along one idle path of three routers. The first ones are simulated; of the
// others only the last packet.
TEST(Trains, KnowMessagesThatBeginAlike) {
  const std::string counted = in_child([]() -> std::string {
    LinkTiming link;
    link.latency = ticks(40000);
    PacketConfig config;
    config.buffer_flits = 512;
    PacketNetwork network("network", config, make_from_notation("Switch(2)_Switch(2)", link, link));
    Log log;
    for (uint32_t r = 0; r < network.ranks(); ++r) network.ni(r).set_sink(&log);
    std::string text;
    advance(1000);
    for (uint32_t k = 0; k < 6; ++k) {
      const PacketTrains::Counters before = network.trains()->counters();
      Message m;
      m.id_low = k;
      m.bytes = 256 * 300 - 100;
      m.submitted = sc_core::sc_time_stamp().value();
      m.destination = 3;
      network.ni(0).submit(m);
      advance(30000000);
      const PacketTrains::Counters& c = network.trains()->counters();
      text += fmt::format("{} known, {} one by one{}; ", c.known - before.known,
                          c.all() - c.packets - before.all() + before.packets > 1 ? "many" : "one",
                          network.broken_invariant(true));
    }
    return text;
  });
  // The turns of the VCs are others after the first message, and after the second.
  const std::string simulated = "0 known, many one by one; ";
  const std::string known = "1 known, one one by one; ";
  EXPECT_EQ(counted, simulated + simulated + simulated + simulated + known + known);
}

/// Four ranks, 100 ns from their switch. Its buffers hold what comes within a round trip.
struct FarSwitch {
  explicit FarSwitch(bool trains = true)
      : network("network", config(trains), make_from_notation("Switch(4)", link(), link())) {
    listen(log);
  }
  void listen(PacketSink& sink) {
    for (uint32_t r = 0; r < network.ranks(); ++r) network.ni(r).set_sink(&sink);
  }

  PacketNetwork network;
  Log log;

 private:
  static LinkTiming link() {
    LinkTiming link;
    link.latency = ticks(100000);
    return link;
  }
  static PacketConfig config(bool trains) {
    PacketConfig config;
    config.buffer_flits = 2048;
    config.trains = trains;
    return config;
  }
};

// A message that is known to its end is sent, and its path empties, without being simulated. Somebody who
// comes in between, whenever, finds everything as it would have been.
TEST(Trains, ChangeNothingNearTheEndOfOneThatIsKnown) {
  enum class Comes { another_rank, next_message, when_it_is_sent };
  /// Sends a message as soon as it hears that the one before it has been sent.
  struct Next final : PacketSink {
    explicit Next(Log& l) : log(l) {}
    bool takes_trains() const override { return true; }
    void packet_arrives(const fabric::Packet& packet, uint32_t flits, Ticks at) override {
      log.packet_arrives(packet, flits, at);
    }
    void message_arrives(const Message& message, Picoseconds at) override {
      log.message_arrives(message, at);
    }
    void message_sent(const Message& message, Picoseconds at) override {
      log.message_sent(message, at);
      if (next == nullptr) return;
      Message m = message;
      m.id_low += 1000;
      m.submitted = at;
      std::exchange(next, nullptr)->submit(m);
    }
    Log& log;
    NetworkInterface* next = nullptr;
  };
  for (const Comes who : {Comes::another_rank, Comes::next_message, Comes::when_it_is_sent}) {
    for (const uint64_t bytes : {256ull * 300 - 100, 256ull * 300 - 255, 256ull * 300}) {
      const auto text = [&](bool trains) {
        return in_child([&]() -> std::string {
          FarSwitch far(trains);
          auto& [network, log] = far;
          Next sink(log);
          far.listen(sink);
          advance(1000);
          for (uint32_t k = 0; k < 800; ++k) {
            const bool disturbed = k > 12 && k % 4 == 3;
            Message m;
            m.id_low = k;
            m.bytes = bytes;
            m.submitted = sc_core::sc_time_stamp().value();
            m.destination = 3;
            if (disturbed && who == Comes::when_it_is_sent) sink.next = &network.ni(0);
            network.ni(0).submit(m);
            // From the last packets on until all have arrived, not only at clock edges.
            const Picoseconds until = (who == Comes::another_rank ? 4620000 : 4750000) + k * 300;
            advance(until);
            if (disturbed && who != Comes::when_it_is_sent) {
              m.id_low += 1000;
              m.bytes = 1 + k * 7 % 600;
              m.submitted = sc_core::sc_time_stamp().value();
              network.ni(who == Comes::next_message ? 0 : 2).submit(m);
            }
            advance(30000000 - until);
          }
          std::string all = fmt::format("{}{}", log.late ? "late " : "", network.broken_invariant(true));
          for (const auto& [id, at] : log.arrived)
            all += fmt::format("{} {} {} {} {}\n", id, log.injected[id], log.sent[id], at, log.digest(id));
          if (!trains) return all;
          const PacketTrains::Counters& c = network.trains()->counters();
          if (c.known + c.early < 600) all += fmt::format("only {} known", c.known + c.early);
          if (who != Comes::when_it_is_sent && c.splits < 40) all += fmt::format("only {} split", c.splits);
          return all;
        });
      };
      EXPECT_EQ(text(true), text(false)) << static_cast<int>(who) << " " << bytes;
    }
  }
}

// The second message begins while the last packets of the first one are still on the way, and so does the
// first one of another rank to the same receiver.
TEST(Trains, KnowMessagesWhosePathClears) {
  const std::string counted = in_child([]() -> std::string {
    FarSwitch far;
    auto& [network, log] = far;
    std::string text;
    advance(1000);
    for (uint32_t k = 0; k < 8; ++k) {
      const PacketTrains::Counters before = network.trains()->counters();
      for (const uint32_t step : {1u, 2u}) {
        for (uint32_t r = 0; r < network.ranks(); ++r) {
          Message m;
          m.id_low = 8 * k + 4 * (step - 1) + r;
          m.bytes = 256 * 200;
          m.submitted = sc_core::sc_time_stamp().value();
          m.destination = (r + step) % network.ranks();
          network.ni(r).submit(m);
        }
      }
      advance(60000000);
      const PacketTrains::Counters& c = network.trains()->counters();
      text += fmt::format("{} + {} known, {} of {} early{}; ", c.known - before.known,
                          c.known_later - before.known_later,
                          c.early - before.early - (c.early_failed - before.early_failed),
                          c.early - before.early, network.broken_invariant(true));
    }
    return text;
  });
  const std::string known = "0 + 0 known, 8 of 8 early; ";
  EXPECT_EQ(counted.substr(counted.size() - std::min(counted.size(), 2 * known.size())), known + known)
      << counted;
}

// Messages follow others at once over several routers and links of several lengths, and a stranger comes now
// and then while the last packets of those before are still on the way.
TEST(Trains, ChangeNothingWhereMessagesFollowOthers) {
  Outcome sum;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed, 21);
    const Pick pick{random};
    Scenario s;
    s.notation =
        pick("Switch(4)", "Switch(5)", "Switch(2)_Clos(hosts=2,leaves=2,spines=2)", "Switch(3)_Switch(2)",
             "FullyConnected(3)_Switch(2)", "Clos(hosts=2,leaves=3,spines=2)", "Mesh(3)_Switch(2)");
    s.pattern = Pattern::rounds;
    s.network.pipeline.route = pick(0u, 1u, 2u);
    s.network.pipeline.vc_alloc = pick(1u, 1u, 0u, 2u);
    s.network.vcs = pick(1u, 2u, 3u, 4u, 4u, 8u);
    s.network.virtual_networks = pick(1u, 1u, 2u);
    s.network.strict_cut_through = pick(false, false, true);
    draw_routers_and_links(s, pick);
    s.far = pick(false, true);
    s.latency = s.network.cycle * pick(20u, 100u, 300u, 700u);
    // As many as a stream needs, or a little more, or a few, or plenty.
    const auto loop = static_cast<uint32_t>(2 * s.latency / s.network.cycle);
    s.network.buffer_flits =
        std::max(200u, pick(0u, loop / s.network.vcs, loop / s.network.vcs + 100, 2048u, 4096u));
    s.packet_bytes = pick(64u, 256u, 1024u);
    s.messages = pick(100u, 200u);
    s.longest = pick(200u, 400u);
    s.lengths = pick(1u, 1u, 2u);
    s.steps = pick(1u, 2u, 4u, 6u);
    s.strangers = pick(8u, 20u, 1000u);
    s.span = busy_for(s) / pick(1u, 2u, 4u);
    s.seed = seed;
    add(sum, compare(s));
  }
  EXPECT_GT(sum.early, 400u);
  EXPECT_GT(sum.early_failed, 100u);
}

TEST(Trains, PackNumbersOfEitherSign) {
  const std::vector<uint64_t> numbers = {
      0, 1, 63, 64, ~uint64_t{0}, ~uint64_t{0} - 63, 1u << 20, uint64_t{1} << 63, (uint64_t{1} << 63) - 1, 5};
  PackedNumbers packed;
  for (const uint64_t n : numbers) packed.add(n);
  EXPECT_EQ(packed.bytes(), 1u + 1 + 1 + 2 + 1 + 1 + 4 + 10 + 10 + 1);
  PackedNumbers::Reader reader(packed);
  for (const uint64_t n : numbers) {
    EXPECT_FALSE(reader.at_end());
    EXPECT_EQ(reader.next(), n);
  }
  EXPECT_TRUE(reader.at_end());
}

// A sink that wants every packet in time gets it so.
TEST(Trains, AreNotForSinksThatWantEveryPacketInTime) {
  class Strict final : public PacketSink {
   public:
    void packet_arrives(const fabric::Packet&, uint32_t, Ticks at) override {
      late += picoseconds(at) < sc_core::sc_time_stamp().value();
      ++packets;
    }
    void message_arrives(const Message&, Picoseconds) override {}
    uint32_t late = 0;
    uint32_t packets = 0;
  };
  EXPECT_EQ(in_child([]() -> std::string {
              PacketNetwork network("network", {}, make_from_notation("Switch(4)", {}, {}));
              Strict sink;
              for (uint32_t r = 0; r < 4; ++r) network.ni(r).set_sink(&sink);
              Message m;
              m.destination = 1;
              m.bytes = 256 * 1000;
              network.ni(0).submit(m);
              advance(100000000);
              return fmt::format("{} late of {}, {} trains", sink.late, sink.packets,
                                 network.trains()->counters().trains);
            }),
            "0 late of 1000, 0 trains");
}

// A message that is known is set aside to its end, and then while its path empties. Without trains some
// packets are decided ahead of time.
TEST(Trains, SettleBringsCountersUpToNowOfOneThatIsKnown) {
  const auto counted = [](bool trains) {
    return in_child([&]() -> std::string {
      FarSwitch far(trains);
      PacketNetwork& network = far.network;
      std::string text;
      advance(1000);
      for (uint32_t k = 0; k < 600; ++k) {
        Message m;
        m.id_low = k;
        m.bytes = 256 * 300 - 100;
        m.submitted = sc_core::sc_time_stamp().value();
        m.destination = 3;
        network.ni(0).submit(m);
        // Every other one goes on to its end. At all edges from the last packets on, and in between.
        const Picoseconds until = k % 2 == 0 ? 100000 : 4700000 + k / 2 * 1000 + k / 400 * 300;
        advance(until);
        if (k % 2 != 0) {
          network.settle();
          text += fmt::format("{} {} {} {} ", network.ni(0).messages_sent(), network.ni(0).packets_sent(),
                              network.ni(3).packets_received(), network.packet_hops());
        }
        advance(30000000 - until);
      }
      if (trains && network.trains()->counters().known < 400) return "few are known";
      const std::string broken = network.broken_invariant(true);
      return broken.empty() ? text : broken;
    });
  };
  std::istringstream with(counted(true));
  std::istringstream without(counted(false));
  constexpr int64_t kAhead = 8;  // packets within the latency of a link
  int64_t a = 0;
  int64_t b = 0;
  size_t numbers = 0;
  for (; with >> a && without >> b; ++numbers) ASSERT_LE(std::abs(a - b), kAhead) << numbers / 4;
  EXPECT_EQ(numbers, 1200u);
}

// Counters that are read in the middle of a train.
TEST(Trains, SettleBringsCountersUpToNow) {
  const auto midway = [](bool trains, uint32_t vcs) {
    return in_child([&]() -> std::string {
      PacketConfig config;
      config.trains = trains;
      config.vcs = vcs;
      if (vcs == 1) config.buffer_flits = 2400;  // is full between two looks
      PacketNetwork network("network", config, make_from_notation(vcs == 1 ? "Mesh(6)" : "Ring(6)", {}, {}));
      Log log;
      for (uint32_t r = 0; r < 6; ++r) network.ni(r).set_sink(&log);
      Message m;
      m.destination = 2;
      m.bytes = 256 * 5000;
      network.ni(0).submit(m);
      std::string text;
      for (int k = 0; k < 5; ++k) {
        advance(vcs == 1 ? 25990000 : 7654000);
        network.settle();
        text += fmt::format("{}{} ", network.broken_invariant(false), network.ni(0).packets_sent());
        // Routers that are not stepping may have decided another packet ahead of time.
        if (vcs == 1) continue;
        text += fmt::format("{} {} {}; ", network.ni(2).packets_received(), network.packet_hops(),
                            network.router(1).packets());
      }
      return text + (trains == (network.trains() != nullptr &&
                                network.trains()->counters().trains >= (vcs == 1 ? 3 : 5) &&
                                (vcs == 1) == (network.trains()->counters().growing > 0))
                         ? "as told"
                         : "not as told");
    });
  };
  for (const uint32_t vcs : {1u, 4u}) {
    const std::string without = midway(false, vcs);
    EXPECT_NE(without.find("as told"), std::string::npos);
    EXPECT_EQ(without.find("not as"), std::string::npos);
    EXPECT_EQ(midway(true, vcs), without);
  }
}

}  // namespace
}  // namespace weft::packet
