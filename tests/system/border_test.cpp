// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Borders: a crossing is plain data that comes back as it was, nothing enters in the past, and a machine
// whose links are cut gives what it gives whole (relation `borders` draws machines and jobs).

#include "tlm_interconnect/border/border.h"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "sc_models/payload_elements.h"
#include "tests/support/isolated.h"
#include "tests/support/small_machine.h"
#include "tests/support/solo_job.h"

namespace weft {
namespace {

using fabric::Crossing;

Crossing draw_crossing(std::mt19937_64& random) {
  Crossing c;
  for (uint64_t* field :
       {&c.first, &c.length, &c.bytes, &c.id_low, &c.id_high, &c.submitted, &c.queued, &c.latency})
    *field = random() >> (random() % 64);
  c.source = static_cast<uint32_t>(random());
  c.destination = static_cast<uint32_t>(random());
  c.target = static_cast<uint32_t>(random());
  c.flags = static_cast<uint8_t>(random());
  c.plane = static_cast<uint8_t>(random());
  c.has_elements = random() % 2 == 0;
  c.elements.resize(c.has_elements ? random() % 50 : 0);
  for (std::byte& b : c.elements) b = static_cast<std::byte>(random());
  return c;
}

TEST(Border, ACrossingComesBackFromItsBytes) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200; ++i) {
    const Crossing c = draw_crossing(random);
    const std::vector<std::byte> bytes = to_bytes(c);
    EXPECT_EQ(to_bytes(fabric::from_bytes(bytes)), bytes);
    const Crossing back = fabric::from_bytes(bytes);
    EXPECT_EQ(back.first, c.first);
    EXPECT_EQ(back.destination, c.destination);
    EXPECT_EQ(back.flags, c.flags);
    EXPECT_EQ(back.elements, c.elements);
  }
}

TEST(Border, BytesThatAreNoCrossingAreRefused) {
  std::mt19937_64 random(2);
  Crossing c = draw_crossing(random);
  c.elements.resize(9);
  const std::vector<std::byte> bytes = to_bytes(c);
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(fabric::from_bytes({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}),
                 std::invalid_argument);
  std::vector<std::byte> longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_THROW(fabric::from_bytes(longer), std::invalid_argument);
  std::vector<std::byte> list = bytes;
  for (size_t i = bytes.size() - 9 - 8; i < bytes.size() - 9; ++i) list[i] = std::byte{0xff};
  EXPECT_THROW(fabric::from_bytes(list), std::invalid_argument);
}

TEST(Border, PayloadsComeBackFromTheirBytes) {
  collectives::PayloadPool pool;
  PayloadElements elements(pool);
  const uint32_t handle = pool.acquire();
  collectives::Payload& payload = pool[handle];
  payload.source = 7;
  payload.sequence = 3;
  payload.blocks = {2, 5, 4};
  payload.reduce = true;
  payload.offset = 1234567890123;
  payload.origins = {9, 8};
  payload.bytes = {std::byte{1}, std::byte{2}, std::byte{3}};
  const std::vector<std::byte> bytes = elements.take(handle);
  EXPECT_EQ(pool.live(), 0u);
  const uint32_t again = elements.put(bytes);
  EXPECT_EQ(pool.live(), 1u);
  const collectives::Payload& back = pool[again];
  EXPECT_EQ(back.source, 7u);
  EXPECT_EQ(back.sequence, 3u);
  EXPECT_EQ(back.blocks.stride, 4u);
  EXPECT_TRUE(back.reduce);
  EXPECT_FALSE(back.interval);
  EXPECT_EQ(back.offset, 1234567890123u);
  EXPECT_EQ(back.origins, (std::vector<uint32_t>{9, 8}));
  EXPECT_EQ(back.bytes.size(), 3u);
  EXPECT_EQ(back.references, 1u);
  EXPECT_THROW(elements.put({bytes.begin(), bytes.end() - 1}), std::invalid_argument);
  pool.release(again);
}

/// Runs one collective on a machine; its time and how many messages crossed borders.
std::string outcome(const std::string& cut, const std::string& data) {
  const auto result = test::isolated([&] {
    Config config = test::ring_4_switch_2();
    config.run.cut_links = cut;
    config.run.data = data;
    test::SoloCollectiveJob job("job", config);
    job.start(CollectiveOp::all_reduce, 1 << 16);
    test::run_to_the_end(job);
    std::string text = std::to_string(job.last().time()) + " ps";
    for (const std::string& line : job.result().broken_invariants) text += "; " + line;
    return text + "; cut " + std::to_string(job.machine().cuts().cut()) + ", crossed " +
           std::to_string(job.machine().cuts().crossed());
  });
  EXPECT_EQ(result.status, 0) << result.text;
  return result.text;
}

TEST(Border, CutLinksCarryTheSame) {
  for (const char* const data : {"none", "functional"}) {
    const std::string whole = outcome("", data);
    const std::string time = whole.substr(0, whole.find(';'));
    EXPECT_NE(whole.find("; cut 0, crossed 0"), std::string::npos) << whole;
    // A ring of eight links in both lines, and a switch's port of every NPU.
    const std::string all = outcome("*", data);
    EXPECT_EQ(all.substr(0, all.find(';')), time);
    EXPECT_NE(all.find("; cut 16, crossed "), std::string::npos) << all;
    EXPECT_EQ(all.find("crossed 0"), std::string::npos) << all;
    const std::string one = outcome("*.nmu0.d0_plus", data);
    EXPECT_EQ(one.substr(0, one.find(';')), time);
    EXPECT_NE(one.find("; cut 1, crossed "), std::string::npos) << one;
  }
}

TEST(Border, APatternThatCutsNothingIsRefused) {
  const auto result = test::isolated([] {
    Config config = test::ring_4_switch_2();
    config.run.cut_links = "*.nmu9.*";
    try {
      test::SoloCollectiveJob job("job", config);
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  });
  EXPECT_NE(result.text.find("`run.cut_links`: '*.nmu9.*' matches no link;"), std::string::npos)
      << result.text;
}

using fabric::FlitCrossing;

FlitCrossing draw_flits(std::mt19937_64& random) {
  FlitCrossing c;
  c.kind = static_cast<FlitCrossing::Kind>(random() % 4);
  c.vc = static_cast<uint8_t>(random() % 32);
  c.first = random() >> (random() % 64);
  c.stride = random() >> (random() % 64);
  c.count = static_cast<uint32_t>(random());
  if (c.kind != FlitCrossing::Kind::flits) return c;
  c.first_flit = random() % 2 == 0 ? 0 : static_cast<uint32_t>(random() % 1000 + 1);
  c.packet_flits = static_cast<uint32_t>(random());
  if (!c.has_head()) return c;
  for (uint64_t* field :
       {&c.head.bytes, &c.head.id_low, &c.head.id_high, &c.head.submitted, &c.head.interface})
    *field = random();
  for (uint32_t* field : {&c.head.source, &c.head.destination, &c.head.elements})
    *field = static_cast<uint32_t>(random());
  c.head.virtual_network = static_cast<uint8_t>(random());
  c.head.flags = static_cast<uint8_t>(random());
  c.head.marked = random() % 2 == 0;
  return c;
}

TEST(PacketBorder, FlitsComeBackFromTheirBytes) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 400; ++i) {
    const FlitCrossing c = draw_flits(random);
    const std::vector<std::byte> bytes = to_bytes(c);
    const FlitCrossing back = fabric::flits_from_bytes(bytes);
    EXPECT_EQ(to_bytes(back), bytes);
    EXPECT_EQ(back.kind, c.kind);
    EXPECT_EQ(back.vc, c.vc);
    EXPECT_EQ(back.last(), c.last());
    EXPECT_EQ(back.has_tail(), c.has_tail());
    EXPECT_EQ(back.head.destination, c.head.destination);
    EXPECT_EQ(back.head.marked, c.head.marked);
    for (size_t size = 0; size < bytes.size(); ++size)
      EXPECT_THROW(
          fabric::flits_from_bytes({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}),
          std::invalid_argument);
  }
  EXPECT_THROW(fabric::flits_from_bytes({std::byte{4}}), std::invalid_argument);
}

/// The time of a collective at packet fidelity, what crossed borders and what went by train.
std::string packet_outcome(Config config, const std::string& cut, uint64_t bytes = 1 << 18) {
  const auto result = test::isolated([&] {
    config.run.cut_links = cut;
    config.collectives.chunks = 1;
    test::SoloCollectiveJob job("job", config);
    job.start(CollectiveOp::all_reduce, bytes);
    test::run_to_the_end(job);
    std::string text = std::to_string(job.last().time()) + " ps";
    for (const std::string& line : job.result().broken_invariants) text += "; " + line;
    return text + "; cut " + std::to_string(job.machine().cuts().cut()) + ", crossed " +
           std::to_string(job.machine().cuts().crossed()) + ", hops " +
           std::to_string(job.machine().totals().packet_hops) + ", activations " +
           std::to_string(job.machine().totals().activations);
  });
  EXPECT_EQ(result.status, 0) << result.text;
  return result.text;
}

uint64_t figure(const std::string& text, const std::string& name) {
  return std::stoull(text.substr(text.find(name + " ") + name.size() + 1));
}

TEST(PacketBorder, CutLinksCarryTheSameWithoutTrains) {
  const Config config = test::ring_4_switch_2(Fidelity::packet);
  const std::string whole = packet_outcome(config, "");
  // Interfaces too: four lanes an NPU (two of the ring, one to the switch .. ) and its links, both ends once.
  const std::string all = packet_outcome(config, "*");
  const std::string one = packet_outcome(config, "*.router0.d0_plus");
  EXPECT_EQ(figure(one, "cut"), 1u) << one;
  EXPECT_GT(figure(all, "cut"), 16u) << all;
  for (const std::string& cut : {all, one}) {
    EXPECT_EQ(cut.substr(0, cut.find(';')), whole.substr(0, whole.find(';'))) << cut;
    EXPECT_EQ(figure(cut, "hops"), figure(whole, "hops")) << cut;
    EXPECT_GT(figure(cut, "crossed"), 0u) << cut;
  }
  // Trains carry the messages of the whole machine; those that pass a border go packet by packet.
  EXPECT_GT(figure(one, "activations"), figure(whole, "activations"));
  EXPECT_GT(figure(all, "activations"), figure(one, "activations")) << all << whole;
}

TEST(Border, LinksOfPairsAreCutOneByOne) {
  Config config = test::ring_4_switch_2();
  config.dimensions[0].kind = DimensionKind::fully_connected;
  const auto run = [&](const std::string& cut, const std::string& data) {
    config.run.data = data;
    return packet_outcome(config, cut, 1 << 12);
  };
  for (const char* const data : {"none", "functional"}) {
    const std::string whole = run("", data);
    const std::string all = run("*.d0_*", data);
    const std::string pair = run("*.nmu0.d0_to1", data);
    EXPECT_EQ(figure(all, "cut"), 2u * 4 * 3) << all;  // two lines of four
    EXPECT_EQ(figure(pair, "cut"), 2u) << pair;        // both directions
    EXPECT_GT(figure(pair, "crossed"), 0u) << pair;
    EXPECT_GT(figure(all, "crossed"), figure(pair, "crossed")) << all;
    EXPECT_EQ(all.substr(0, all.find(';')), whole.substr(0, whole.find(';')));
    EXPECT_EQ(pair.substr(0, pair.find(';')), whole.substr(0, whole.find(';')));
  }
}

TEST(Border, AnAnalyticalLinkCannotBeCut) {
  const auto result = test::isolated([] {
    Config config = test::ring_4_switch_2(Fidelity::analytical);
    config.run.cut_links = "*.nmu1.*";
    try {
      test::SoloCollectiveJob job("job", config);
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  });
  EXPECT_NE(
      result.text.find("matches only links that cannot be cut, such as job.nmu1.d0_plus: at `analytical` "
                       "fidelity"),
      std::string::npos)
      << result.text;
  EXPECT_NE(result.text.find("`fidelity: message`"), std::string::npos) << result.text;
}

/// An end of a link that keeps what comes.
struct End final : fabric::FabricEndpoint {
  void receive(const fabric::Transfer& transfer) override { got.push_back(transfer); }
  std::vector<fabric::Transfer> got;
};

struct Bench final : sc_core::sc_module {
  explicit Bench(sc_core::sc_module_name module_name)
      : sc_core::sc_module(module_name),
        socket("socket"),
        border("border", fabric::Border::Side::initiator, pool,
               [this](const Crossing& c) { left.push_back(c); }) {
    socket.bind(static_cast<fabric::fabric_fw_if&>(end));
    border.initiator()->bind(socket);
  }
  fabric::PacketPool pool;
  End end;
  fabric::fabric_target_socket socket;
  std::vector<Crossing> left;
  fabric::Border border;
};

TEST(Border, TakesPacketsOutAndRefusesThePast) {
  const auto result = test::isolated([] {
    Bench bench("bench");
    sc_core::sc_start(sc_core::sc_time(100, sc_core::SC_PS));
    std::string text;
    Crossing c;
    c.first = 100;
    c.length = 7;
    c.bytes = 64;
    c.destination = 3;
    bench.border.enter(c);
    text += std::to_string(bench.end.got.size()) + " in, live " + std::to_string(bench.pool.live());
    // What the fabric sends back leaves it.
    fabric::Transfer back = bench.end.got.front();
    back.first = 150;
    fabric::FabricPhase phase = fabric::FabricPhase::transfer;
    sc_core::sc_time none;
    bench.socket->nb_transport_bw(back, phase, none);
    text += "; " + std::to_string(bench.left.size()) + " out, live " + std::to_string(bench.pool.live()) +
            ", at " + std::to_string(bench.left.front().first) + " to " +
            std::to_string(bench.left.front().destination);
    c.first = 99;
    try {
      bench.border.enter(c);
    } catch (const std::logic_error& e) {
      text += std::string("; ") + e.what();
    }
    return text;
  });
  EXPECT_EQ(result.status, 0) << result.text;
  EXPECT_NE(result.text.find("1 in, live 1; 1 out, live 0, at 150 to 3; at 100 ps a message of 64 B"),
            std::string::npos)
      << result.text;
  EXPECT_NE(result.text.find("whose head was due at 99 ps"), std::string::npos) << result.text;
}

/// A border of a packet network with two virtual channels of four flits, and the network's end of the link.
struct PacketBench final : sc_core::sc_module {
  explicit PacketBench(sc_core::sc_module_name module_name)
      : sc_core::sc_module(module_name),
        socket("socket"),
        border("border", fabric::PacketBorder::Side::initiator, {2, 4, ticks(10), ticks(5)}, pool,
               [this](const FlitCrossing& c) { left.push_back(c); }) {
    socket.bind(static_cast<fabric::fabric_fw_if&>(end));
    border.initiator()->bind(socket);
  }
  FlitCrossing flits(uint32_t first_flit, uint32_t count, uint32_t of, Picoseconds at) const {
    FlitCrossing c;
    c.vc = 1;
    c.first = ticks(at);
    c.stride = ticks(1);
    c.first_flit = first_flit;
    c.count = count;
    c.packet_flits = of;
    c.head.destination = 7;
    return c;
  }
  /// Why it is refused; "": it is not.
  std::string refusal(const FlitCrossing& c) {
    try {
      border.enter(c);
    } catch (const std::logic_error& e) {
      return e.what();
    }
    return "";
  }
  /// The network sends to the border.
  void send(fabric::Transfer transfer) {
    fabric::FabricPhase phase = fabric::FabricPhase::transfer;
    sc_core::sc_time none;
    socket->nb_transport_bw(transfer, phase, none);
  }
  fabric::PacketPool pool;
  End end;
  fabric::fabric_target_socket socket;
  std::vector<FlitCrossing> left;
  fabric::PacketBorder border;
};

TEST(PacketBorder, HoldsWhoStandsBehindItToTheContract) {
  const auto result = test::isolated([] {
    PacketBench bench("bench");
    sc_core::sc_start(sc_core::sc_time(100, sc_core::SC_PS));
    std::string text;
    const auto expect = [&](const FlitCrossing& c, const std::string& word) {
      const std::string why = bench.refusal(c);
      if (word.empty() ? !why.empty() : why.find(word) == std::string::npos)
        text += "'" + word + "' is not in '" + why + "'; ";
    };
    expect(bench.flits(0, 2, 6, 109), "too late; tell it at least 10 ps ahead");
    expect(bench.flits(1, 2, 6, 110), "where flit 0 was due");
    expect(bench.flits(0, 2, 6, 110), "");
    expect(bench.flits(0, 1, 1, 120), "where flit 2 was due");
    expect(bench.flits(2, 3, 6, 120), "3 flits against 2 credits");
    expect(bench.flits(2, 2, 7, 120), "of a packet of 7");
    expect(bench.flits(2, 2, 6, 120), "");
    FlitCrossing credits = bench.flits(0, 1, 0, 120);
    credits.kind = FlitCrossing::Kind::credits;
    expect(credits, "1 credits for 0 flits");
    FlitCrossing elsewhere = credits;
    elsewhere.vc = 2;
    expect(elsewhere, "2 virtual channels");
    // The network gives back two credits, and the rest of the packet may come.
    fabric::Transfer back;
    back.kind = fabric::Transfer::Kind::credit;
    back.vc = VcId{1};
    back.first = ticks(130);
    back.flits = 2;
    bench.send(back);
    expect(bench.flits(4, 2, 6, 140), "");
    if (bench.end.got.size() != 3 || bench.border.entered() != 1 || bench.pool.live() != 1)
      text += "the packet did not come in whole; ";
    const fabric::PacketRef ref = bench.end.got[0].packet;
    if (bench.pool[ref].destination != 7 || bench.end.got[2].packet != ref ||
        bench.end.got[2].first_flit != 4)
      text += "it is another one; ";
    // The network sends it on, in two bursts: it has left with its tail, and four credits come back.
    fabric::Transfer burst = bench.end.got[0];
    burst.first = ticks(200);
    burst.flits = 3;
    bench.send(burst);
    if (bench.pool.live() != 1) text += "released before its tail; ";
    credits.count = 3;
    credits.first = ticks(205);
    expect(credits, "");
    burst.first_flit = 3;
    burst.first = ticks(210);
    bench.send(burst);
    if (bench.pool.live() != 0 || bench.border.left() != 1) text += "not released with its tail; ";
    const FlitCrossing& tail = bench.left.back();
    if (!tail.has_tail() || tail.has_head() || tail.last() != ticks(210) + 2 * ticks(1))
      text += "the tail is told wrongly; ";
    return text;
  });
  EXPECT_SILENT(result);
}

}  // namespace
}  // namespace weft
