// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Packet fidelity in the machine: closed forms of messages and collectives, dimensions of different fidelity
// in one run, what the links carried, and what a deadlock says.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <sstream>

#include "configs/loader.h"
#include "sc_models/packet_region.h"
#include "tests/support/isolated.h"
#include "tests/support/solo_job.h"

namespace weft {
namespace {

constexpr Picoseconds kCycle = 100;  ///< 16 B at 160 GB/s
constexpr Picoseconds kLatency = 10'000;

Config machine(const std::vector<std::pair<DimensionKind, uint32_t>>& dimensions,
               Fidelity fidelity = Fidelity::packet) {
  Config config;
  for (const auto& [kind, size] : dimensions) {
    DimensionConfig d;
    d.kind = kind;
    d.size = size;
    d.bandwidth = {160'000'000'000ull, 1};
    d.latency = kLatency;
    d.fidelity = fidelity;
    config.dimensions.push_back(d);
  }
  config.collectives.chunks = 1;
  return config;
}

/// A message of n flits alone over `hops` links: interface, hops + 1 routers of three stages, links, flits.
Picoseconds alone(uint64_t flits, uint32_t hops, uint32_t stages = 3) {
  return 2 * kCycle + (hops + 1) * stages * kCycle + hops * kLatency + kCycle + (flits - 1) * kCycle;
}

struct Client final : NmuClient {
  std::map<uint32_t, Picoseconds> injected;  ///< by ordinal
  std::map<uint32_t, Picoseconds> arrived;
  Picoseconds waited = 0;
  std::string wrong;
  void collective_done(NpuId, const collectives::CollectiveDone&) override {}
  void message_injected(NpuId, NpuId, const MessageId& id) override {
    injected[id.stream] = sc_core::sc_time_stamp().value();
  }
  void message_arrived(NpuId, const Completion& c) override {
    arrived[c.id.stream] = sc_core::sc_time_stamp().value();
    waited += c.split.queue;
    const TimeSplit& s = c.split;
    if (s.queue + s.serialise + s.latency + s.endpoint + s.reduce != arrived[c.id.stream] - c.submitted)
      wrong = "the parts of a message's time do not add up\n";
  }
};

struct Send {
  uint32_t from, to;
  uint64_t bytes;
};

/// Sends all at time 0; "injected arrived" of each in order, in ps, or what is broken.
std::string send_all(const Config& config, const std::vector<Send>& sends) {
  Client client;
  Machine system("s", config, client, {});
  for (uint32_t i = 0; i < sends.size(); ++i)
    system.nmu(sends[i].from).send(NpuId{sends[i].to}, 0, i, sends[i].bytes);
  sc_core::sc_start();
  std::string text = client.wrong;
  for (const std::string& line : system.check_conservation()) text += line + "\n";
  if (sends.size() == 1 && client.waited != 0) text += "a message alone waited\n";
  for (uint32_t i = 0; i < sends.size(); ++i)
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", client.injected[i], client.arrived[i]);
  return text;
}

std::string sent(const Config& config, const std::vector<Send>& sends) {
  const auto result = test::isolated([&] { return send_all(config, sends); });
  EXPECT_EQ(result.status, 0) << result.text;
  return result.text;
}

/// Runs one collective; its time, or what is wrong with it.
std::string collective(const Config& config, CollectiveOp op, uint64_t bytes,
                       const std::function<std::string(const RunResult&)>& more = {}) {
  const auto result = test::isolated([&] {
    test::SoloCollectiveJob job("job", config);
    job.start(op, bytes);
    sc_core::sc_start();
    if (!job.finished()) return job.stall_report();
    const RunResult run = job.result();
    for (const std::string& line : run.broken_invariants) return line;
    return std::to_string(run.time) + (more ? " " + more(run) : "");
  });
  EXPECT_EQ(result.status, 0) << result.text;
  return result.text;
}

/// n - 1 rounds of one message to the neighbour: what is between the fidelities is the router and the
/// headers.
TEST(PacketSystem, ARingAllGatherIsItsClosedForm) {
  for (const uint32_t n : {2u, 3u, 4u, 8u}) {
    for (const uint64_t bytes : {1ull, 16ull, 256ull, 257ull, 4096ull, 100'000ull}) {
      Config config = machine({{DimensionKind::ring, n}});
      const uint64_t flits = bytes / 256 * 16 + (bytes % 256 + 15) / 16;
      EXPECT_EQ(collective(config, CollectiveOp::all_gather, bytes),
                std::to_string((n - 1) * alone(flits, 1)))
          << n << " " << bytes;
      // A header of 24 B a packet: 18 flits each, and the last one's.
      config.packet.header_bytes = 24;
      const uint64_t more = bytes / 256 * 18 + (bytes % 256 == 0 ? 0 : (bytes % 256 + 24 + 15) / 16);
      EXPECT_EQ(collective(config, CollectiveOp::all_gather, bytes),
                std::to_string((n - 1) * alone(more, 1)));
      // Deeper routers.
      config.packet.header_bytes = 0;
      config.packet.route_cycles = 2;
      config.packet.traversal_cycles = 3;
      EXPECT_EQ(collective(config, CollectiveOp::all_gather, bytes),
                std::to_string((n - 1) * alone(flits, 1, 7)));
      // Message fidelity: latency and bytes.
      config = machine({{DimensionKind::ring, n}}, Fidelity::message);
      EXPECT_EQ(collective(config, CollectiveOp::all_gather, bytes),
                std::to_string((n - 1) * (kLatency + transfer_time(bytes, config.dimensions[0].bandwidth))));
    }
  }
}

/// All links of an NPU at once: an interface each, so that nobody waits.
TEST(PacketSystem, AFullyConnectedDimensionUsesAllItsLinksAtOnce) {
  for (const uint32_t n : {4u, 8u, 16u}) {
    const Config config = machine({{DimensionKind::fully_connected, n}});
    EXPECT_EQ(collective(config, CollectiveOp::all_gather, 65536), std::to_string(alone(4096, 1))) << n;
  }
}

TEST(PacketSystem, ASwitchIsTwoLinksAndOneRouter) {
  Config config = machine({{DimensionKind::switch_, 4}});
  const Picoseconds time = kCycle + 3 * kCycle + 2 * kLatency + 63 * kCycle;
  EXPECT_EQ(sent(config, {{0, 3, 1024}}), fmt::format("{} {}", 64 * kCycle, time));
  // Two messages for one port share it, packet by packet: the later one ends when both have passed.
  const std::string both = sent(config, {{0, 3, 1024}, {1, 3, 1024}});
  EXPECT_EQ(both.substr(both.rfind(' ') + 1), std::to_string(time + 64 * kCycle)) << both;
}

TEST(PacketSystem, MessagesGoThroughSharedRoutersWithoutStopping) {
  const Config config =
      machine({{DimensionKind::ring, 4}, {DimensionKind::fully_connected, 3}, {DimensionKind::mesh, 3}});
  for (uint32_t to = 1; to < 36; ++to) {
    const uint32_t ring = to % 4 == 3 ? 1 : to % 4;
    const uint32_t hops = ring + (to / 4 % 3 != 0 ? 1 : 0) + to / 12;
    EXPECT_EQ(sent(config, {{0, to, 5000}}), fmt::format("{} {}", 313 * kCycle, alone(313, hops))) << to;
  }
}

TEST(PacketSystem, SoftwareForwardingStopsAtEveryNpuAndPaysItsEndpoint) {
  Config config = machine({{DimensionKind::ring, 8}, {DimensionKind::ring, 4}});
  config.nmu.endpoint_delay = 70'000;
  const Picoseconds endpoint = config.nmu.endpoint_delay;
  EXPECT_EQ(sent(config, {{0, 3 + 8, 4096}}),
            fmt::format("{} {}", endpoint + 256 * kCycle, 2 * endpoint + alone(256, 4)));
  config.packet.forwarding = PacketForwarding::software;
  EXPECT_EQ(sent(config, {{0, 3 + 8, 4096}}),
            fmt::format("{} {}", endpoint + 256 * kCycle, 5 * endpoint + 4 * alone(256, 1)));
}

TEST(PacketSystem, AggressiveInjectionLetsMessagesTakeTurns) {
  Config config = machine({{DimensionKind::ring, 8}});
  const std::vector<Send> sends = {{0, 1, 25600}, {0, 1, 256}};
  EXPECT_EQ(sent(config, sends),
            fmt::format("{} {}, {} {}", 1600 * kCycle, alone(1600, 1), 1616 * kCycle, alone(1616, 1)));
  config.packet.injection = PacketInjection::aggressive;
  EXPECT_EQ(sent(config, sends),
            fmt::format("{} {}, {} {}", 1616 * kCycle, alone(1616, 1), 32 * kCycle, alone(32, 1)));
}

TEST(PacketSystem, VirtualNetworksOfTrafficClassesDoNotWaitForEachOther) {
  Config config = machine({{DimensionKind::ring, 8}});
  config.packet.virtual_networks = 2;
  config.packet.vcs = 2;
  config.packet.point_to_point_network = 1;
  const auto run = [&] {
    return test::isolated([&] {
      struct Both final : NmuClient {
        Picoseconds arrived = 0;
        void collective_done(NpuId, const collectives::CollectiveDone&) override {}
        void message_injected(NpuId, NpuId, const MessageId&) override {}
        void message_arrived(NpuId, const Completion&) override {
          arrived = sc_core::sc_time_stamp().value();
        }
      } both;
      Machine system("s", config, both, {});
      collectives::Group world;
      collectives::PlanBuilder plans(config);
      collectives::CollectiveRequest request;
      request.op = CollectiveOp::all_gather;
      request.bytes = 256'000;
      request.group = &world;
      const auto plan = plans.plan(request);
      for (uint32_t r = 0; r < 8; ++r) system.nmu(r).start_collective(1, plan);
      sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_NS));
      system.nmu(0).send(NpuId{1}, 0, 0, 2560);
      sc_core::sc_start();
      return std::to_string(both.arrived);
    });
  };
  const auto apart = run();
  // Ten packets, each after one of the collective's: half the link.
  EXPECT_LE(std::stoull(apart.text), 1000 + alone(2 * 160 + 32, 1));
  config.packet.point_to_point_network = 0;
  const auto together = run();
  EXPECT_GE(std::stoull(together.text), alone(16000 + 160, 1));  // behind a whole message
}

TEST(PacketSystem, FidelityChangesFromDimensionToDimension) {
  for (const Fidelity outer : {Fidelity::message, Fidelity::analytical}) {
    Config config =
        machine({{DimensionKind::ring, 4}, {DimensionKind::ring, 4}, {DimensionKind::switch_, 4}});
    config.dimensions[1].fidelity = outer;
    const Picoseconds bytes = transfer_time(4096, config.dimensions[1].bandwidth);
    const Picoseconds first = alone(256, 1);
    const Picoseconds last = kCycle + 3 * kCycle + 2 * kLatency + 255 * kCycle;
    // Reassembled at every change.
    EXPECT_EQ(sent(config, {{0, 1 + 4 + 16, 4096}}),
              fmt::format("{} {}", 256 * kCycle, first + kLatency + bytes + last));
    // Through message or analytical only.
    EXPECT_EQ(sent(config, {{0, 4, 4096}}), fmt::format("{} {}", bytes, kLatency + bytes));
    // The head of a message that is forwarded on it waits for the tail where it becomes packets.
    config.dimensions[1].switching = Switching::cut_through;
    EXPECT_EQ(sent(config, {{0, 1 + 4 + 16, 4096}}),
              fmt::format("{} {}", 256 * kCycle, first + kLatency + bytes + last));
  }
}

TEST(PacketSystem, RanksAreWhereTheMappingPutsThem) {
  Config config = machine({{DimensionKind::ring, 4}, {DimensionKind::ring, 2}});
  config.mapping = {5, 0, 1, 2, 3, 4, 6, 7};
  // Rank 0 is at NPU 5 (1, 1), rank 4 at NPU 3 (3, 0).
  EXPECT_EQ(sent(config, {{0, 4, 4096}}), fmt::format("{} {}", 256 * kCycle, alone(256, 3)));
  config.dimensions[0].fidelity = Fidelity::message;
  config.dimensions[0].switching = Switching::store_and_forward;
  EXPECT_EQ(
      sent(config, {{0, 4, 4096}}),
      fmt::format("{} {}", 256 * kCycle,
                  2 * (kLatency + transfer_time(4096, config.dimensions[0].bandwidth)) + alone(256, 1)));
}

TEST(PacketSystem, AnInjectionQueueHoldsMessagesBack) {
  Config config = machine({{DimensionKind::ring, 8}});
  config.nmu.injection_queue = 1;
  // One after the other, for whatever link: the second one is for the other direction.
  const std::string text = sent(config, {{0, 1, 25600}, {0, 1, 256}, {0, 7, 256}});
  EXPECT_EQ(text, fmt::format("{} {}, {} {}, {} {}", 1600 * kCycle, alone(1600, 1), 1616 * kCycle,
                              alone(1616, 1), 1616 * kCycle, alone(1616, 1)));
}

TEST(PacketSystem, LinksSayWhatTheyCarried) {
  const Config config = machine({{DimensionKind::ring, 4}, {DimensionKind::switch_, 2}});
  const std::string text = collective(config, CollectiveOp::all_gather, 2560, [](const RunResult& run) {
    std::string out = fmt::format("hops {} flits {}", run.packet_hops, run.flits);
    uint32_t ring = 0;
    uint32_t up = 0;
    uint32_t down = 0;
    for (const LinkRow& link : run.links) {
      if (link.packets == 0) continue;
      if (link.busy != link.bytes / 16 * kCycle) return "busy " + link.name;
      if (link.dimension == 0) {
        if (link.name.find("job.packet0_0.router") != 0) return link.name;
        if (link.name.substr(link.name.size() - 8) != ".d0_plus") return link.name;
        ring += link.packets;
      } else {
        (link.name.find("switch1_") != std::string::npos ? down : up) += link.packets;
      }
    }
    return out + fmt::format(" ring {} up {} down {}", ring, up, down);
  });
  // 10 packets a shard: around the ring of four in both halves, or first through the switch.
  const size_t at = text.find("ring ");
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_EQ(text.substr(at), "ring 480 up 80 down 80") << text;
  EXPECT_NE(text.find("hops 1200 flits 8960 "), std::string::npos) << text;
}

/// Sends all at time 0; "name messages queued" of every link that carried something, and the sum of what
/// messages waited by their time split.
std::string queues(const Config& config, const std::vector<Send>& sends, Picoseconds second = 0) {
  const auto result = test::isolated([&] {
    Client client;
    Machine system("s", config, client, {});
    for (uint32_t i = 0; i < sends.size(); ++i) {
      if (i == 1 && second != 0) sc_core::sc_start(sc_core::sc_time::from_value(second));
      system.nmu(sends[i].from).send(NpuId{sends[i].to}, 0, i, sends[i].bytes);
    }
    sc_core::sc_start();
    std::string text = client.wrong;
    for (const std::string& line : system.check_conservation()) text += line + "\n";
    system.for_each_link([&](const LinkReport& link) {
      if (link.messages == 0 && link.queued == 0) return;
      const std::string name = link.name.substr(link.name.find('.') + 1);
      text += fmt::format("{} {} {}; ", name.substr(name.find('.') + 1), link.messages, link.queued);
    });
    return text;
  });
  EXPECT_EQ(result.status, 0) << result.text;
  return result.text;
}

TEST(PacketSystem, LinksSayThatNobodyWaitsWhereMessagesAreAlone) {
  // 100 packets and a bit, over links of one rate, of two, at rates between cycles, with one VC.
  for (const uint64_t bytes : {1ull, 256ull, 25'700ull, 1'000'000ull}) {
    for (const uint32_t vcs : {1u, 2u, 4u}) {
      for (const uint64_t second : {160u, 100u, 123u, 40u}) {
        for (const bool trains : {false, true}) {
          Config config = machine({{DimensionKind::switch_, 3}});
          config.packet.vcs = vcs;
          config.dimensions[0].bandwidth.bytes_per_second = second * 1'000'000'000;
          if (!trains) config.packet.injection = PacketInjection::aggressive;
          EXPECT_EQ(queues(config, {{0, 2, bytes}}), "ni_0 1 0; switch0_0.to2 1 0; ") << bytes << " " << vcs;
          config = machine({{DimensionKind::mesh, 3}, {DimensionKind::fully_connected, 2}});
          config.packet.vcs = vcs;
          config.dimensions[1].bandwidth.bytes_per_second = second * 1'000'000'000;
          EXPECT_EQ(queues(config, {{0, 5, bytes}}),
                    "router0.d0_plus 1 0; router1.d0_plus 1 0; router2.d1_to5 1 0; ")
              << bytes << " " << vcs << " " << second;
          EXPECT_EQ(queues(config, {{5, 0, bytes}}),
                    "router3.d1_to0 1 0; router4.d0_minus 1 0; router5.d0_minus 1 0; ");
        }
      }
    }
  }
}

TEST(PacketSystem, LinksSayHowLongMessagesWaitedForThem) {
  constexpr Picoseconds kPacket = 16 * kCycle;
  const auto with = [](Config config, const std::function<void(Config&)>& change) {
    change(config);
    return config;
  };
  // At the interface of a link: each waits for all before it, as at message fidelity.
  for (const Fidelity fidelity : {Fidelity::packet, Fidelity::message}) {
    const bool packet = fidelity == Fidelity::packet;
    EXPECT_EQ(
        queues(machine({{DimensionKind::ring, 8}}, fidelity), {{0, 1, 25600}, {0, 1, 25600}, {0, 1, 256}}),
        fmt::format("{} 3 {}; ", packet ? "router0.d0_plus" : "d0_plus", (100 + 200) * kPacket));
    EXPECT_EQ(
        queues(machine({{DimensionKind::ring, 8}}, fidelity), {{0, 1, 25600}, {0, 1, 256}}, 5 * kPacket),
        fmt::format("{} 2 {}; ", packet ? "router0.d0_plus" : "d0_plus", 95 * kPacket));
    // At the output of a switch: one of two that come at once.
    const std::string text =
        queues(machine({{DimensionKind::switch_, 3}}, fidelity), {{0, 2, 256}, {1, 2, 256}});
    EXPECT_EQ(text.substr(text.find("to2")), fmt::format("to2 2 {}; ", +kPacket));
  }
  for (const bool trains : {true, false}) {
    const Config config = with(machine({{DimensionKind::switch_, 3}}), [&](Config& c) {
      c.packet.buffer_flits = 4096;  // nobody waits for room
      if (!trains) c.packet.injection = PacketInjection::aggressive;
    });
    // Packets take turns: all but the first wait for one of the other.
    EXPECT_EQ(queues(config, {{0, 2, 25600}, {1, 2, 25600}}),
              fmt::format("ni_0 1 0; ni_1 1 0; switch0_0.to2 2 {}; ", 199 * kPacket));
    // One packet comes two cycles after a packet of the long message has begun, which waits for it once.
    EXPECT_EQ(queues(config, {{0, 2, 256 * 2000}, {1, 2, 256}}, 1000 * kPacket + 2 * kCycle),
              fmt::format("ni_0 1 0; ni_1 1 0; switch0_0.to2 2 {}; ", 14 * kCycle + kPacket));
  }
  // Messages that take turns at their interface.
  EXPECT_EQ(queues(with(machine({{DimensionKind::ring, 8}}),
                        [](Config& c) { c.packet.injection = PacketInjection::aggressive; }),
                   {{0, 1, 25600}, {0, 1, 25600}}),
            fmt::format("router0.d0_plus 2 {}; ", 199 * kPacket));
}

TEST(PacketSystem, ADeadlockIsForeseenAndExplained) {
  Config config = machine({{DimensionKind::ring, 8}});
  config.packet.vc_classes = "none";
  config.packet.vcs = 1;
  config.packet.buffer_flits = 4;
  config.packet.routing = "dimension_order";
  config.dimensions[0].latency = 0;
  const auto warnings = packet_warnings(config, packet_regions_of(config));
  bool foreseen = false;
  for (const std::string& line : warnings)
    foreseen =
        foreseen || line.find("can deadlock: packets can wait for each other round") != std::string::npos;
  EXPECT_TRUE(foreseen);
  // Everybody sends three on: all buffers fill with what has two hops to go.
  const auto result = test::isolated([&] {
    Client client;
    Machine system("s", config, client, {});
    for (uint32_t r = 0; r < 8; ++r) system.nmu(r).send(NpuId{(r + 3) % 8}, 0, r, 25600);
    sc_core::sc_start();
    return fmt::format("{} arrived\n{}", client.arrived.size(), system.explain_stall());
  });
  EXPECT_EQ(result.text.find("8 arrived"), std::string::npos) << result.text;
  EXPECT_NE(result.text.find("s.packet0_0: "), std::string::npos) << result.text;
  EXPECT_NE(result.text.find("Deadlock: a cycle of"), std::string::npos) << result.text;
  // With datelines it drains.
  config.packet.vc_classes = "dateline";
  config.packet.vcs = 2;
  std::vector<Send> sends;
  for (uint32_t r = 0; r < 8; ++r) sends.push_back({r, (r + 3) % 8, 25600});
  EXPECT_EQ(sent(config, sends).find('\n'), std::string::npos);
}

TEST(PacketSystem, ACollectiveThatDeadlocksEndsInAStallReport) {
  Config config = machine({{DimensionKind::ring, 8}});
  config.packet.vc_classes = "none";
  config.packet.vcs = 1;
  config.packet.buffer_flits = 4;
  config.dimensions[0].latency = 0;
  for (auto& names : config.collectives.algorithms) names = {"direct"};
  const std::string text = collective(config, CollectiveOp::all_to_all, 1 << 20);
  EXPECT_NE(text.find("stalled at"), std::string::npos) << text;
  EXPECT_NE(text.find("Deadlock: a cycle of"), std::string::npos) << text;
}

// Or packets would wait at the ring's entrance for ever.
TEST(PacketSystem, BubblesNeedRoomForTwoPackets) {
  Config config = machine({{DimensionKind::mesh, 2}, {DimensionKind::ring, 3}});
  config.packet.vc_classes = "bubble";
  config.packet.strict_cut_through = true;
  config.packet.buffer_flits = 31;  // packets of 16 flits
  try {
    packet_regions_of(config);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_NE(
        std::string(error.what()).find("key `packet.buffer_flits`: 31 flits do not hold two packets of 16"),
        std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("dimension 1 (Ring(3)); allowed: 32 or more"), std::string::npos)
        << error.what();
  }
  config.packet.buffer_flits = 32;
  EXPECT_EQ(collective(config, CollectiveOp::all_reduce, 1 << 12).find('\n'), std::string::npos);
  config.packet.buffer_flits = 16;  // no bubble is needed where no ring is
  config.dimensions[1].kind = DimensionKind::mesh;
  EXPECT_EQ(collective(config, CollectiveOp::all_reduce, 1 << 12).find('\n'), std::string::npos);
}

TEST(PacketSystem, PhitsAndHeaderEfficiencyAndTheClockSlowFlitsDown) {
  Config config = machine({{DimensionKind::ring, 4}});
  config.dimensions[0].latency = 12'000;  // a multiple of every clock below: nothing waits for an edge
  config.packet.phit_bytes = 12;          // two phits: 24 B of link time
  EXPECT_EQ(sent(config, {{0, 1, 4096}}).substr(0, 6), "38400 ");
  config.packet.phit_bytes = 0;
  config.packet.header_efficiency = 0.5;
  EXPECT_EQ(sent(config, {{0, 1, 4096}}).substr(0, 6), "51200 ");
  config.packet.header_efficiency = 1;
  config.packet.cycle = 1000;
  EXPECT_EQ(sent(config, {{0, 1, 4096}}).substr(0, 7), "256000 ");
  auto warnings = packet_warnings(config, packet_regions_of(config));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(
      warnings[0].find("routers move a flit every 1 ns (`packet.cycle`), its links one every 100 ps: 10.0 %"),
      std::string::npos)
      << warnings[0];
  config.packet.cycle = 0;
  config.dimensions[0].bandwidth = {10'000'000'000'000ull, 1};  // 1.6 ps a flit
  EXPECT_TRUE(packet_warnings(config, packet_regions_of(config)).empty());
  config.dimensions[0].bandwidth = {20'000'000'000'000ull, 1};
  warnings = packet_warnings(config, packet_regions_of(config));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("a flit would take 0.8 ps, and the shortest time of a flit is 1 ps: 80.0 %"),
            std::string::npos)
      << warnings[0];
}

// A million flits on links whose flits take no whole picoseconds: the bytes' time on the link and 9 cycles of
// interfaces and routers. Where a flit is whole ticks to the picosecond, else less than a tick a flit later.
TEST(PacketSystem, LongMessagesTakeTheExactTimeOfTheirFlits) {
  constexpr uint64_t kFlits = 1'000'000;
  const std::vector<std::pair<Rate, bool>> rates = {{{900'000'000'000ull, 1}, true},    // 17 7/9 ps
                                                    {{1'800'000'000'000ull, 1}, true},  // 8 8/9 ps
                                                    {{900'000'000'000ull, 7}, true},    // 124 4/9 ps
                                                    {{5'600'000'000'000ull, 1}, true},  // 2 6/7 ps
                                                    {{153'600'000'000ull, 1}, true},    // 104 1/6 ps
                                                    {{250ull << 30, 1}, false},         // 59.6 ps
                                                    {{(200ull << 30) + 1, 7}, false},
                                                    {{1'234'567'890'123ull, 1}, false},  // 12.96 ps
                                                    {{160'000'000'000ull, 1}, true}};
  for (const auto& [rate, whole] : rates) {
    Config config = machine({{DimensionKind::ring, 4}});
    config.dimensions[0].bandwidth = rate;
    config.dimensions[0].latency = 0;  // a cycle
    EXPECT_TRUE(packet_warnings(config, packet_regions_of(config)).empty());
    const double flit = 16e12 / rate.value();
    const auto arrival = [&] {
      const std::string text = sent(config, {{0, 1, kFlits * 16}});
      return std::stod(text.substr(text.find(' ')));
    };
    const double packets = arrival();
    const double exact = (kFlits + 9) * flit;
    EXPECT_GE(packets, exact - 1e-3) << rate.bytes_per_second;
    EXPECT_LE(packets, exact + 1 + (whole ? 0 : (kFlits + 9) / 2520.0)) << rate.bytes_per_second;
    config.dimensions[0].fidelity = Fidelity::message;
    EXPECT_NEAR(arrival(), kFlits * flit, 1) << rate.bytes_per_second;
  }
}

// Rounding to ticks does not take links off the clock that are on it.
TEST(PacketSystem, MultiplesOfTheFastestLinksTimeStayMultiples) {
  for (const uint64_t fastest :
       {900'000'000'000ull, 1'234'567'890'123ull, 100ull << 30, 777'777'777'777ull}) {
    Config config = machine({{DimensionKind::ring, 3},
                             {DimensionKind::ring, 3},
                             {DimensionKind::ring, 2},
                             {DimensionKind::ring, 2},
                             {DimensionKind::ring, 2}});
    const uint32_t times[] = {7, 1, 3, 100, 2};
    for (uint32_t d = 0; d < 5; ++d) config.dimensions[d].bandwidth = {fastest, times[d]};
    const PacketRegion region = packet_regions_of(config).at(0);
    EXPECT_NEAR(static_cast<double>(region.config.cycle) * fastest / 16e12, 2520, 0.4) << fastest;
    for (uint32_t d = 0; d < 5; ++d)
      EXPECT_EQ(region.topology.dimensions[d].link.flit_time, times[d] * region.config.cycle)
          << fastest << " / " << times[d];
  }
}

// Two classes of VCs on a ring, else one. A run is that with the number itself.
TEST(PacketSystem, AutomaticVcsAreTheFewest) {
  const std::vector<std::pair<std::vector<std::pair<DimensionKind, uint32_t>>, uint32_t>> machines = {
      {{{DimensionKind::switch_, 6}}, 1},
      {{{DimensionKind::fully_connected, 3}, {DimensionKind::mesh, 3}}, 1},
      {{{DimensionKind::ring, 4}}, 2},
      {{{DimensionKind::switch_, 3}, {DimensionKind::ring, 4}}, 2}};
  for (const auto& [dimensions, vcs] : machines) {
    Config config = machine(dimensions);
    config.packet.vcs = 0;
    EXPECT_EQ(packet_regions_of(config).at(0).config.vcs, vcs);
    EXPECT_TRUE(packet_warnings(config, packet_regions_of(config)).empty());
    const std::string fewest = collective(config, CollectiveOp::all_to_all, 100'000);
    config.packet.vcs = vcs;
    EXPECT_EQ(collective(config, CollectiveOp::all_to_all, 100'000), fewest);
  }
  // Too many virtual networks for two VCs in each of them.
  Config config = machine({{DimensionKind::ring, 4}});
  config.packet.vcs = 0;
  config.packet.virtual_networks = 33;
  EXPECT_THROW(packet_regions_of(config), UserError);
}

TEST(PacketSystem, BuffersThatDoNotCoverTheRoundTripAreTold) {
  Config config = machine({{DimensionKind::ring, 4}});
  EXPECT_TRUE(packet_warnings(config, packet_regions_of(config)).empty());
  const std::string full = collective(config, CollectiveOp::all_gather, 1 << 20);
  config.packet.buffer_flits = 64;
  const auto warnings = packet_warnings(config, packet_regions_of(config));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("dimension 0 (Ring(4)): buffers of 64 flits in 2 VCs cannot cover"),
            std::string::npos)
      << warnings[0];
  // And that is what it costs: 2 VCs of 64 flits for a loop of 206 cycles.
  const std::string limited = collective(config, CollectiveOp::all_gather, 1 << 20);
  const double share = std::stod(full) / std::stod(limited);
  EXPECT_NEAR(share, 2 * 16 / (16 * 206.0 / 64 + 1), 0.02);
}

// What the warnings say is what it costs, on a loop of 24 cycles with packets of 8 flits.
TEST(PacketSystem, StrictCutThroughAndReleaseOnCreditCostWhatTheWarningSays) {
  const auto check = [](uint32_t buffer, bool strict, bool release, const char* text, double share) {
    Config config = machine({{DimensionKind::fully_connected, 2}});
    config.dimensions[0].latency = 10 * kCycle;
    config.packet.packet_bytes = 128;
    config.packet.vcs = 1;
    config.packet.buffer_flits = buffer;
    config.packet.strict_cut_through = strict;
    config.packet.release_on_credit = release;
    const auto warnings = packet_warnings(config, packet_regions_of(config));
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find(text), std::string::npos) << warnings[0];
    const double time = std::stod(collective(config, CollectiveOp::all_gather, 1'280'000));
    EXPECT_NEAR(80'000.0 * kCycle / time, share, 3e-4);
  };
  check(12, true, false, "at most 28.6 % of the link", 8.0 / 28);
  check(24, true, false, "at most 75.0 % of the link", 0.75);
  check(32, false, true, "at most 24.2 % of the link", 8.0 / 33);
  check(4, false, true, "at most 15.1 % of the link", 8.0 / 53);
}

/// Thresholds and timers small enough to act within microseconds.
void congested(Config& config) {
  config.packet.ecn = {true, 200, 4000, 0.5};
  PacketDcqcnConfig& d = config.packet.dcqcn;
  d.enabled = true;
  d.cnp_interval = 200'000;
  d.alpha_timer = d.rate_timer = 300'000;
  d.byte_counter = 20'000;
  d.rate_ai = {1'000'000'000, 1};
  d.rate_hai = {5'000'000'000, 1};
}

TEST(PacketSystem, DataArriveWholeWhenSendersSlowDown) {
  const std::vector<std::vector<std::pair<DimensionKind, uint32_t>>> shapes = {
      {{DimensionKind::switch_, 8}},
      {{DimensionKind::ring, 4}, {DimensionKind::switch_, 3}},
      {{DimensionKind::fully_connected, 3}, {DimensionKind::ring, 5}}};
  uint64_t notifications = 0;
  for (const auto& shape : shapes) {
    for (const CollectiveOp op : {CollectiveOp::all_reduce, CollectiveOp::all_to_all, CollectiveOp::gather}) {
      Config config = machine(shape);
      congested(config);
      config.run.data = "functional";
      for (auto& names : config.collectives.algorithms) names.assign(shape.size(), "direct");
      const std::string text = collective(config, op, 120'000, [&](const RunResult& run) {
        uint64_t marked = 0, of_flows = 0;
        for (const LinkRow& row : run.links) marked += row.marked;
        for (const PacketFabric::FlowUse& flow : run.congestion.flows) {
          of_flows += flow.notifications;
          if (!(flow.lowest_rate < flow.line_rate)) return std::string("a slowed flow at line rate");
          if (flow.source == flow.destination || flow.below_line == 0) return std::string("an odd flow");
        }
        if (of_flows != run.congestion.notifications) return fmt::format("{} notifications lost", of_flows);
        if (marked > run.congestion.marked) return std::string("more marks on links than in routers");
        return fmt::format("elements {} marked {} notifications {}", run.data_elements, run.congestion.marked,
                           run.congestion.notifications);
      });
      const size_t at = text.find(" elements ");
      ASSERT_NE(at, std::string::npos) << text;
      uint64_t elements = 0, marked = 0, told = 0;
      ASSERT_EQ(std::sscanf(text.c_str() + at, " elements %lu marked %lu notifications %lu", &elements,
                            &marked, &told),
                3)
          << text;
      EXPECT_GT(elements, 0u);
      EXPECT_GE(marked, told);
      notifications += told;
    }
  }
  EXPECT_GT(notifications, 200u);
}

// What a collective unit sends and receives is not marked: there is nobody to slow down.
TEST(PacketSystem, CollectivesInTheSwitchAreNotMarked) {
  Config config = machine({{DimensionKind::switch_, 8}});
  config.dimensions[0].collective_unit.segment = 256;
  for (auto& names : config.collectives.algorithms) names = {"in_switch"};
  config.run.data = "functional";
  const std::string plain = collective(config, CollectiveOp::all_reduce, 100'000);
  congested(config);
  config.packet.ecn.k_min = config.packet.ecn.k_max = 0;
  EXPECT_EQ(collective(config, CollectiveOp::all_reduce, 100'000,
                       [](const RunResult& run) { return std::to_string(run.congestion.marked); }),
            plain + " 0");
}

TEST(PacketSystem, MarkingThatCannotHappenIsTold) {
  Config config = machine({{DimensionKind::switch_, 4}});
  config.packet.ecn.enabled = true;
  config.packet.ecn.k_min = config.packet.ecn.k_max = 1'000'000'000;
  auto warnings = packet_warnings(config, packet_regions_of(config));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("no queue can exceed ECN's k_min of 1000000000 B"), std::string::npos)
      << warnings[0];
  config.packet.ecn.k_min = 5000;
  EXPECT_TRUE(packet_warnings(config, packet_regions_of(config)).empty());
  config.dimensions[0].fidelity = Fidelity::message;
  warnings = packet_warnings(config, packet_regions_of(config));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("key `packet.ecn.enabled`: nothing is at packet fidelity"), std::string::npos)
      << warnings[0];
}

/// The same machine by notation and as a graph: the same network, so the same times.
// Seven to one: the switch pauses those that send more than it can pass on.
TEST(PacketSystem, PriorityFlowControlPausesAnIncast) {
  Config config = machine({{DimensionKind::switch_, 8}});
  config.packet.vcs = 1;
  const auto incast = [](const Config& c) {
    const auto result = test::isolated([&] {
      Client client;
      Machine system("s", c, client, {});
      for (uint32_t r = 1; r < 8; ++r) system.nmu(r).send(NpuId{0}, 0, r, 1 << 20);
      sc_core::sc_start();
      std::string text = client.wrong;
      for (const std::string& line : system.check_conservation()) text += line + "\n";
      uint64_t up = 0, elsewhere = 0, overruns = 0;
      Picoseconds paused = 0;
      system.for_each_link([&](const LinkReport& link) {
        (link.name.find(".ni_") != std::string::npos ? up : elsewhere) += link.pauses;
        paused += link.paused;
        overruns += link.overruns;
      });
      return text + fmt::format("{} {} {} {} {} {}", client.arrived.size(), up, elsewhere, paused, overruns,
                                client.arrived[7]);
    });
    uint64_t arrived = 0, up = 0, elsewhere = 0, paused = 0, overruns = 0, last = 0;
    std::istringstream in(result.text);
    in >> arrived >> up >> elsewhere >> paused >> overruns >> last;
    EXPECT_EQ(arrived, 7u) << result.text;
    return std::vector<uint64_t>{up, elsewhere, paused, overruns, last};
  };
  const auto warnings = [](const Config& c) {
    std::string text;
    for (const std::string& line : packet_warnings(c, packet_regions_of(c)))
      if (line.find("priority flow control") != std::string::npos) text += line;
    return text;
  };
  const auto credits = incast(config);
  EXPECT_EQ(credits[0] + credits[1] + credits[2] + credits[3], 0u);
  EXPECT_EQ(warnings(config), "");

  config.dimensions[0].flow_control = FlowControl::pfc;
  const auto pfc = incast(config);
  EXPECT_GT(pfc[0], 100u);
  EXPECT_EQ(pfc[1], 0u);  // NMUs take everything
  EXPECT_GT(pfc[2], 0u);
  EXPECT_EQ(pfc[3], 0u);
  EXPECT_EQ(warnings(config), "");

  // What would be dropped is said beforehand and counted.
  config.packet.buffer_flits = 64;
  config.packet.pfc_xoff = 64;
  const auto lossy = incast(config);
  EXPECT_GT(lossy[3], 100u);
  const std::string text = warnings(config);
  EXPECT_NE(
      text.find("dimension 0 (Switch(8)): priority flow control pauses at 64 of 64 flits, a headroom of 0"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("`packet.buffer_flits` of"), std::string::npos) << text;

  // The dimension's word goes before that of `packet`.
  config.packet.flow_control = FlowControl::pfc;
  config.dimensions[0].flow_control = FlowControl::credits;
  EXPECT_EQ(incast(config)[0], 0u);
  config.dimensions[0].flow_control = FlowControl::automatic;
  EXPECT_GT(incast(config)[0], 0u);
}

TEST(PacketSystem, OverrunsAreWarnedOf) {
  Config config = machine({{DimensionKind::switch_, 8}});
  config.packet.vcs = 1;
  config.packet.flow_control = FlowControl::pfc;
  const auto run = [&] {
    return test::isolated([&] {
             test::SoloCollectiveJob job("job", config);
             job.start(CollectiveOp::all_to_all, 8 << 20);
             sc_core::sc_start();
             std::string text;
             for (const std::string& line : job.result().warnings) text += line + "\n";
             for (const std::string& line : job.result().broken_invariants) text += "broken: " + line;
             return text;
           })
        .text;
  };
  for (auto& names : config.collectives.algorithms) names = {"direct"};
  EXPECT_EQ(run().find("priority flow control"), std::string::npos);
  config.packet.buffer_flits = 32;
  config.packet.pfc_xoff = 32;
  const std::string text = run();
  EXPECT_NE(text.find("packets found a full buffer without having been paused"), std::string::npos) << text;
  EXPECT_NE(text.find("`packet.pfc_xoff`"), std::string::npos) << text;
  EXPECT_EQ(text.find("broken"), std::string::npos) << text;
}

TEST(PacketSystem, AGraphIsTheNotationItDraws) {
  const auto graph = [](const std::string& links, const std::string& logical) {
    return parse_config(
        "weft: 1\ntopology:\n  graph:\n    npus: 4\n    switches: 1\n    fidelity: packet\n"
        "    links:\n" +
            links + "  logical: " + logical + "\ncollectives: {chunks: 1}\n",
        "");
  };
  const std::string link = ", bandwidth: 160 GB/s, latency: 10 ns}\n";
  const Config star = graph("      - {from: npu0..npu3, to: sw0" + link, "Switch(4)");
  const Config crossbar = machine({{DimensionKind::switch_, 4}});
  const Config mesh =
      graph("      - {from: npu0..npu3, to: npu0..npu3" + link + "      - {from: npu0, to: sw0" + link,
            "FullyConnected(4)");
  const Config full = machine({{DimensionKind::fully_connected, 4}});
  for (const CollectiveOp op :
       {CollectiveOp::all_gather, CollectiveOp::all_reduce, CollectiveOp::all_to_all}) {
    EXPECT_EQ(collective(star, op, 65536), collective(crossbar, op, 65536)) << to_string(op);
    EXPECT_EQ(collective(mesh, op, 65536), collective(full, op, 65536)) << to_string(op);
  }
  EXPECT_EQ(sent(star, {{0, 3, 1024}}), sent(crossbar, {{0, 3, 1024}}));
  // Its links by name: the hub's, and of every NPU one to it.
  const std::string links = collective(star, CollectiveOp::all_gather, 65536, [](const RunResult& run) {
    std::string names;
    for (const LinkRow& row : run.links) names += row.name + ">" + row.to + " ";
    return names;
  });
  EXPECT_NE(links.find("job.packet.ni_0>switch_sw0 "), std::string::npos) << links;
  EXPECT_NE(links.find("job.packet.switch_sw0.to_nmu3>nmu3 "), std::string::npos) << links;
}

Config of_graph(const std::string& graph, const std::string& more = "") {
  return parse_config("weft: 1\ntopology:\n  graph:\n    fidelity: packet\n" + graph + more, "");
}

const char kOneWay[] = ", bandwidth: 160 GB/s, latency: 10 ns, bidirectional: false}\n";

/// Two links, one each way, are one link that goes both ways.
TEST(PacketSystem, OneWayLinksCarryDataOneWayAndCreditsBack) {
  const std::string both = ", bandwidth: 160 GB/s, latency: 10 ns}\n";
  const std::string head = "    npus: 4\n    switches: 1\n    links:\n";
  const auto star = [&](bool one_way) {
    std::string text = head + "      - {from: npu1..npu3, to: sw0" + both;
    if (!one_way) return text + "      - {from: npu0, to: sw0" + both;
    return text + "      - {from: npu0, to: sw0" + kOneWay + "      - {from: sw0, to: npu0" + kOneWay;
  };
  const std::string more = "  logical: Ring(4)\ncollectives: {chunks: 2}\n";
  // NPU 0 has two links at the one-way switch, so it has a router: 4 cycles more a message on its way.
  EXPECT_EQ(sent(of_graph(star(false), more), {{1, 2, 4096}}),
            sent(of_graph(star(true), more), {{1, 2, 4096}}));
  const Config duplex =
      of_graph("    npus: 4\n    links:\n      - {from: npu0..npu3, to: npu0..npu3" + both, more);
  const Config simplex = of_graph(
      "    npus: 4\n    links:\n      - {from: npu0..npu3, to: npu0..npu3" + std::string(kOneWay), more);
  for (const CollectiveOp op : {CollectiveOp::all_gather, CollectiveOp::all_reduce, CollectiveOp::all_to_all})
    EXPECT_EQ(collective(simplex, op, 65536), collective(duplex, op, 65536)) << to_string(op);
  // A ring that goes one way: n - 1 hops back.
  const std::string ring =
      "    npus: 4\n    links:\n      - {from: npu0..npu2, to: npu1..npu3, pattern: one_to_one" +
      std::string(kOneWay) + "      - {from: npu3, to: npu0" + kOneWay;
  const Config around = of_graph(ring, more);
  EXPECT_EQ(sent(around, {{0, 1, 4096}}), fmt::format("{} {}", 256 * kCycle, alone(256, 1)));
  EXPECT_EQ(sent(around, {{0, 3, 4096}}), fmt::format("{} {}", 256 * kCycle, alone(256, 3)));
  EXPECT_EQ(queues(around, {{0, 3, 4096}}),
            "router0.to_router1 1 0; router1.to_router2 1 0; router2.to_router3 1 0; ");
  const std::string links = collective(around, CollectiveOp::all_gather, 65536, [](const RunResult& run) {
    std::string names;
    for (const LinkRow& row : run.links) names += row.name + ">" + row.to + " ";
    return names;
  });
  EXPECT_EQ(links.substr(links.find(' ') + 1),
            "job.packet.router0.to_router1>router1 job.packet.router1.to_router2>router2 "
            "job.packet.router2.to_router3>router3 job.packet.router3.to_router0>router0 ");
}

/// What a dimension says of its links a graph says of each link.
TEST(PacketSystem, LinksOfAGraphHaveTheirOwnCreditLatencyAndErrors) {
  const std::string head = "    npus: 4\n    links:\n";
  const std::string ends = "      - {from: npu0..npu3, to: npu0..npu3, bandwidth: 160 GB/s, latency: 10 ns";
  const std::string more =
      "  logical: FullyConnected(4)\ncollectives: {chunks: 1}\npacket: {buffer_flits: 64}\n";
  Config full = machine({{DimensionKind::fully_connected, 4}});
  full.packet.buffer_flits = 64;
  const auto same = [&](const std::string& keys) {
    for (const CollectiveOp op : {CollectiveOp::all_gather, CollectiveOp::all_to_all}) {
      EXPECT_EQ(collective(of_graph(head + ends + keys + "}\n", more), op, 65536),
                collective(full, op, 65536))
          << keys << " " << to_string(op);
    }
    return std::stoull(collective(full, CollectiveOp::all_gather, 65536));
  };
  const uint64_t plain = same("");
  full.dimensions[0].credit_latency = 40'000;
  const uint64_t credits = same(", credit_latency: 40 ns");
  EXPECT_GT(credits, plain);
  full.dimensions[0].flit_error_rate = 0.02;
  const uint64_t errors = same(", credit_latency: 40 ns, flit_error_rate: 0.02");
  EXPECT_GT(errors, credits);
  full.dimensions[0].replay = 300'000;
  EXPECT_GT(same(", credit_latency: 40 ns, flit_error_rate: 0.02, replay: 300 ns"), errors);
  // One link alone: a message over another one is as fast as ever.
  const std::string link = ", bandwidth: 160 GB/s, latency: 10 ns";
  for (const char* keys : {", credit_latency: 1 us", ", flit_error_rate: 0.05, replay: 100 ns"}) {
    const Config one = of_graph(head + "      - {from: npu0, to: npu1" + link + keys +
                                    "}\n      - {from: npu1..npu3, to: npu1..npu3" + link + "}\n",
                                "packet: {buffer_flits: 64}\n");
    EXPECT_EQ(sent(one, {{1, 2, 65536}}), fmt::format("{} {}", 4096 * kCycle, alone(4096, 1))) << keys;
    EXPECT_NE(sent(one, {{0, 1, 65536}}), sent(one, {{1, 2, 65536}})) << keys;
  }
  // A tree's levels.
  const Config tree = parse_config(
      "weft: 1\ntopology:\n  notation: FatTree(2,2)\n  dimensions: [{bandwidth: 160 GB/s, latency: 10 ns, "
      "fidelity: "
      "packet}, {bandwidth: 160 GB/s, latency: 10 ns, fidelity: packet, credit_latency: 70 ns, "
      "flit_error_rate: 0.01, "
      "replay: 90 ns}]\n",
      "");
  const auto links = packet_regions_of(tree)[0].topology.links;
  EXPECT_EQ(links[0].credit_latency, 0u);
  EXPECT_EQ(links[4].credit_latency, ticks(70'000));
  EXPECT_EQ(links[4].flit_error, 0.01);
  EXPECT_EQ(links[4].replay, ticks(90'000));
}

TEST(PacketSystem, DataArrivesOverOneWayLinks) {
  const std::string graph =
      "    npus: 5\n    switches: 1\n    links:\n      - {from: npu0..npu3, to: npu1..npu4, pattern: "
      "one_to_one" +
      std::string(kOneWay) + "      - {from: npu4, to: sw0" + kOneWay +
      "      - {from: sw0, to: [npu0, npu2]" + kOneWay;
  for (const char* routing : {"shortest_path", "ecmp"}) {
    const Config config = of_graph(
        graph, fmt::format("  routing: {}\n  logical: Ring(5)\ncollectives: {{chunks: 3}}\nrun: {{data: "
                           "functional, element: int32}}\n",
                           routing));
    for (int op = 0; op < kCollectiveOps; ++op) {
      const auto what = static_cast<CollectiveOp>(op);
      if (what == CollectiveOp::barrier) continue;
      const auto result = test::isolated([&] {
        test::SoloCollectiveJob job("job", config);
        job.start(what, 20 * 1003);
        sc_core::sc_start();
        if (!job.finished()) return job.stall_report();
        for (const std::string& line : job.result().broken_invariants) return line;
        for (const std::string& line : job.wrong_data()) return line;
        return std::string(job.verified_elements() != 0 ? "right" : "nothing was verified");
      });
      EXPECT_EQ(result.text, "right") << to_string(what) << " " << routing;
    }
  }
}

TEST(PacketSystem, ARingOfOneWayLinksCanDeadlockAndIsForeseen) {
  const std::string ring =
      "    npus: 5\n    links:\n      - {from: npu0..npu3, to: npu1..npu4, pattern: one_to_one" +
      std::string(kOneWay) + "      - {from: npu4, to: npu0" + kOneWay;
  const Config config = of_graph(ring, "packet: {vcs: 1, buffer_flits: 4}\n");
  const auto warnings = packet_warnings(config, packet_regions_of(config));
  bool foreseen = false;
  for (const std::string& line : warnings)
    foreseen =
        foreseen || line.find("can deadlock: packets can wait for each other round npu") != std::string::npos;
  EXPECT_TRUE(foreseen) << fmt::format("{}", fmt::join(warnings, "\n"));
  const auto result = test::isolated([&] {
    Client client;
    Machine system("s", config, client, {});
    for (uint32_t r = 0; r < 5; ++r) system.nmu(r).send(NpuId{(r + 3) % 5}, 0, r, 25600);
    sc_core::sc_start();
    return fmt::format("{} arrived\n{}", client.arrived.size(), system.explain_stall());
  });
  EXPECT_EQ(result.text.find("5 arrived"), std::string::npos) << result.text;
  EXPECT_NE(result.text.find("Deadlock: a cycle of"), std::string::npos) << result.text;
}

TEST(PacketSystem, LinksOfDifferentRatesShareRouters) {
  Config config = machine({{DimensionKind::ring, 4}, {DimensionKind::ring, 4}});
  config.dimensions[1].bandwidth = {160'000'000'000ull, 3};
  // Interfaces keep the pace of their link: three links, each two cycles slower than the routers.
  EXPECT_EQ(sent(config, {{0, 4, 4096}}),
            fmt::format("{} {}", 256 * 3 * kCycle, alone(256, 1) + 255 * 2 * kCycle + 3 * 2 * kCycle));
  EXPECT_EQ(sent(config, {{0, 1, 4096}}), fmt::format("{} {}", 256 * kCycle, alone(256, 1)));
  // From the fast link to the slow one it is the slow one's pace, and back a packet is gathered first.
  EXPECT_EQ(sent(config, {{0, 1 + 4, 4096}}),
            fmt::format("{} {}", 256 * kCycle, alone(256, 2) + 255 * 2 * kCycle + 2 * 2 * kCycle));
}

}  // namespace
}  // namespace weft
