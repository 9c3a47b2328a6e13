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
  EXPECT_NE(result.text.find("`run.cut_links`: '*.nmu9.*' matches no link that can be cut"),
            std::string::npos)
      << result.text;
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

}  // namespace
}  // namespace weft
