// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A recording of a router, replayed into routers with a seeded fault: the replay finds each, and names the
// first packet that is wrong.

#include "cosim/record/router_replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "sc_models/message_bits.h"
#include "tests/support/isolated.h"

namespace weft::cosim {
namespace {

using Kind = fabric::FlitCrossing::Kind;

constexpr Picoseconds kLatency = 4000;
constexpr Picoseconds kPipeline = 3000;
constexpr Picoseconds kCycle = 1000;
constexpr uint32_t kFlits = 4;
constexpr uint32_t kPackets = 10;

/// When the first flit of a packet is at the router.
Picoseconds arrival(uint32_t packet) {
  return 10000 + packet * kFlits * kCycle;
}

/// Packets of one message after the other come by port 0 and leave by port 1.
Recording recorded() {
  Recording recording;
  RecordingHeader& header = recording.header;
  header.kind = "router";
  header.block = "packet0_0.router5";
  header.level = "packet";
  header.cycle = ticks(kCycle);
  for (uint32_t p = 0; p < 2; ++p) {
    RecordedPort port;
    port.name = p == 0 ? "job.west" : "job.east";
    port.peer = p == 0 ? "router4" : "router6";
    port.initiator = p == 1;
    port.vcs = 2;
    port.depth = 12;
    port.flit_latency = port.credit_latency = ticks(kLatency);
    port.flit_time = ticks(kCycle);
    header.ports.push_back(port);
  }
  recording.collectives = {{7, "all_reduce of 4096 B"}};
  for (uint32_t k = 0; k < kPackets; ++k) {
    fabric::FlitCrossing flits;
    flits.vc = 1;
    flits.stride = ticks(kCycle);
    flits.count = flits.packet_flits = kFlits;
    MessageId id;
    id.kind = MessageId::Kind::collective;
    id.stream = 7;
    id.chunk = static_cast<uint16_t>(k / 2);
    flits.head.id_low = pack_low(id);
    flits.head.id_high = pack_high(id, 0);
    flits.head.bytes = 256;
    flits.head.source = 4;
    flits.head.destination = 6;
    fabric::FlitCrossing credits;
    credits.kind = Kind::credits;
    credits.vc = 1;
    credits.count = kFlits;
    credits.stride = ticks(kCycle);
    const Picoseconds told = arrival(k) - kLatency;
    const Picoseconds out = arrival(k) + kPipeline + kLatency;
    flits.first = ticks(arrival(k));
    recording.events.push_back({told, 0, true, flits});
    flits.first = ticks(out);
    recording.events.push_back({told, 1, false, flits});
    credits.first = ticks(arrival(k) + kPipeline + kLatency);
    recording.events.push_back({told, 0, false, credits});
    credits.first = ticks(out + kLatency);
    recording.events.push_back({out, 1, true, credits});
  }
  std::stable_sort(recording.events.begin(), recording.events.end(),
                   [](const RecordedEvent& a, const RecordedEvent& b) { return a.at < b.at; });
  return recording;
}

enum class Fault { none, drops, strays, late, short_of_bytes, other_vc, holds_credits };

/// Passes packets on after its pipeline; does the `which`-th one wrong.
class Seeded final : public RouterModel {
 public:
  Seeded(const char* name, RouterPlace place, Fault fault, uint32_t which)
      : RouterModel(name, std::move(place)), fault_(fault), which_(which) {}
  size_t in_flight() const override { return 0; }

 private:
  void arrive(uint32_t port, const fabric::FlitCrossing& in) override {
    if (in.kind != Kind::flits) return;
    const bool wrong = packets_++ == which_;
    fabric::FlitCrossing out = in;
    fabric::FlitCrossing credits;
    credits.kind = Kind::credits;
    credits.vc = in.vc;
    credits.count = in.count;
    credits.stride = in.stride;
    credits.first = in.first + ticks(kPipeline + kLatency);
    if (wrong && fault_ == Fault::holds_credits) credits.first += ticks(50000);
    packet::RouteCandidate way = place().way(port, in.vc, in.head);
    out.first += ticks(kPipeline + kLatency);
    out.vc = static_cast<uint8_t>(way.vc_mask == 1 ? 0 : 1);
    if (wrong && fault_ == Fault::late) out.first += ticks(7);
    if (wrong && fault_ == Fault::short_of_bytes) out.head.bytes -= 1;
    if (wrong && fault_ == Fault::other_vc) out.vc = 0;
    if (wrong && fault_ == Fault::strays) way.port = 0;
    send(port, credits);
    if (!wrong || fault_ != Fault::drops) send(way.port, out);
  }

  const Fault fault_;
  const uint32_t which_;
  uint32_t packets_ = 0;
};

/// What the replay finds: the number of differences, packets, and the first difference.
std::string replay(Fault fault, uint32_t which, Picoseconds tolerance = 0) {
  const auto result = test::isolated([&] {
    const Recording recording = recorded();
    RouterReplay bench("bench", recording,
                       [&](const char* name, RouterPlace place) {
                         return std::make_unique<Seeded>(name, std::move(place), fault, which);
                       },
                       {tolerance});
    sc_core::sc_start();
    bench.finish();
    std::string text = std::to_string(bench.report().differences()) + " of " +
                       std::to_string(bench.expected()) + ", " + std::to_string(bench.driven()) + " in, " +
                       std::to_string(bench.report().agreed()) + " agree";
    if (const Difference* first = bench.report().first()) text += "; " + describe(*first);
    return text;
  });
  EXPECT_EQ(result.status, 0) << result.text;
  return result.text;
}

TEST(RouterReplays, AgreeWithTheRouterThatWasRecorded) {
  EXPECT_EQ(replay(Fault::none, 0), "0 of 10, 10 in, 10 agree");
}

TEST(RouterReplays, FindTheFirstWrongPacket) {
  for (const uint32_t which : {0u, 5u}) {
    const std::string who =
        ", rank 4 to 6, 256 B, collective 7 (all_reduce of 4096 B), chunk " + std::to_string(which / 2);
    const auto finds = [&](Fault fault, const std::string& what) {
      const std::string found = replay(fault, which);
      EXPECT_NE(found.find("; at "), std::string::npos) << found;
      EXPECT_NE(found.find("link job.east"), std::string::npos) << found;
      EXPECT_NE(found.find(who), std::string::npos) << found << "\n" << who;
      EXPECT_NE(found.find(what), std::string::npos) << found;
    };
    finds(Fault::late, "flit 0 is there at " + std::to_string(arrival(which) + kPipeline + kLatency + 7) +
                           " ps, 7 ps later than recorded");
    finds(Fault::short_of_bytes, "has 255 B; recorded: 256 B");
    finds(Fault::other_vc, "leaves by port 1 to router6 on VC 0; recorded: port 1 to router6 on VC 1");
  }
  EXPECT_NE(replay(Fault::strays, 5).find("leaves by port 0 to router4 on VC 1; recorded: port 1"),
            std::string::npos);
}

TEST(RouterReplays, TellWhatDoesNotCome) {
  // Of two packets that look the same it is the second one that is missing.
  const std::string found = replay(Fault::drops, kPackets - 1);
  EXPECT_EQ(found.find("1 of 10, 10 in, 9 agree"), 0u) << found;
  EXPECT_NE(found.find("does not come"), std::string::npos) << found;
}

TEST(RouterReplays, TolerateSomeLateness) {
  EXPECT_EQ(replay(Fault::late, 5, 8).find("0 of 10"), 0u);
}

/// Neighbours wait for credits: packets are late then, and nothing breaks.
TEST(RouterReplays, TellOfASlowBlockThatItIsLate) {
  const std::string found = replay(Fault::holds_credits, 1);
  EXPECT_NE(found.find("10 in"), std::string::npos) << found;
  EXPECT_NE(found.find("later than recorded"), std::string::npos) << found;
}

TEST(RouterReplays, RefuseOtherRecordings) {
  const auto refusal = [](Recording recording) {
    const auto result = test::isolated([&] {
      try {
        RouterReplay bench("bench", recording, [](const char* name, RouterPlace place) {
          return std::make_unique<Seeded>(name, std::move(place), Fault::none, 0);
        });
      } catch (const UserError& e) {
        return std::string(e.what());
      }
      return std::string("accepted");
    });
    return result.text;
  };
  Recording other = recorded();
  other.header.kind = "nmu";
  EXPECT_NE(refusal(other).find("is of the nmu 'packet0_0.router5', not of a router"), std::string::npos);
  Recording paused = recorded();
  fabric::FlitCrossing pause;
  pause.kind = Kind::pause;
  paused.events.push_back({1000000, 0, true, pause});
  EXPECT_NE(refusal(paused).find("pauses are not replayed"), std::string::npos) << refusal(paused);
}

}  // namespace
}  // namespace weft::cosim
