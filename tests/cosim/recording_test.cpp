// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The file of a recording: it comes back as it was written, and what is cut short, damaged, or of another
// version is refused.

#include "cosim/record/recording.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <tuple>

#include "cosim/record/block_recorder.h"
#include "tests/vcd/vcd_parser.h"

namespace weft::cosim {
namespace {

fabric::Crossing draw_message(std::mt19937_64& random, Picoseconds at) {
  fabric::Crossing c;
  const auto any = [&] { return random() >> (random() % 64); };
  c.first = at + (any() >> 8);
  c.length = any();
  c.bytes = any();
  c.id_low = any();
  c.id_high = any();
  c.submitted = random() % 2 == 0 ? 0 : any();
  c.queued = any();
  c.latency = any();
  c.source = static_cast<uint32_t>(any());
  c.destination = static_cast<uint32_t>(any());
  c.target = static_cast<uint32_t>(any());
  c.flags = static_cast<uint8_t>(any());
  c.plane = static_cast<uint8_t>(any());
  c.has_elements = random() % 2 == 0;
  c.elements.resize(c.has_elements ? random() % 40 : 0);
  for (std::byte& b : c.elements) b = static_cast<std::byte>(random());
  return c;
}

fabric::FlitCrossing draw_flits(std::mt19937_64& random, Picoseconds at) {
  fabric::FlitCrossing c;
  c.kind = static_cast<fabric::FlitCrossing::Kind>(random() % 4);
  c.vc = static_cast<uint8_t>(random() % 8);
  c.first = ticks(at) + random() % 100000;
  c.stride = random() % 5000;
  c.count = static_cast<uint32_t>(random() % 100 + 1);
  if (c.kind != fabric::FlitCrossing::Kind::flits) return c;
  c.first_flit = static_cast<uint32_t>(random() % 3);
  c.packet_flits = static_cast<uint32_t>(random() % 1000 + 200);
  if (!c.has_head()) return c;
  for (uint64_t* field : {&c.head.bytes, &c.head.id_low, &c.head.id_high, &c.head.interface})
    *field = random();
  c.head.submitted = ticks(at) - random() % 100;
  for (uint32_t* field : {&c.head.source, &c.head.destination, &c.head.elements})
    *field = static_cast<uint32_t>(random());
  c.head.virtual_network = static_cast<uint8_t>(random() % 4);
  c.head.flags = static_cast<uint8_t>(random());
  c.head.marked = random() % 2 == 0;
  return c;
}

RecordedAccess draw_access(std::mt19937_64& random, Picoseconds at) {
  return {random(), random(), 1 + random() % 0xffffffff, random() % 2 == 0, at + random() % 1000000};
}

RecordedNode draw_node(std::mt19937_64& random, Picoseconds at, bool into) {
  RecordedNode recorded;
  recorded.number = random();
  recorded.at = at + random() % 1000000;
  if (!into) return recorded;
  recorded.time = random() >> (random() % 64);
  trace::Node node;
  const trace::NodeType types[] = {trace::NodeType::comp, trace::NodeType::mem_load,
                                   trace::NodeType::mem_store};
  node.type = types[random() % 3];
  node.location = static_cast<trace::Location>(random() % 4);
  for (uint64_t* field : {&node.id, &node.num_ops, &node.tensor_size, &node.gemm[0], &node.gemm[1],
                          &node.gemm[2], &node.duration})
    *field = random() >> (random() % 64);
  node.is_cpu_op = random() % 2 == 0;
  node.has_duration = random() % 2 == 0;
  for (uint64_t n = random() % 30; n > 0; --n) node.name += static_cast<char>(random());
  recorded.node = std::make_shared<const trace::Node>(node);
  return recorded;
}

bool same(const RecordedNode& a, const RecordedNode& b) {
  if (std::tie(a.number, a.at, a.time) != std::tie(b.number, b.at, b.time)) return false;
  if (a.node == nullptr || b.node == nullptr) return a.node == b.node;
  const auto fields = [](const trace::Node& n) {
    return std::tie(n.type, n.id, n.is_cpu_op, n.location, n.num_ops, n.tensor_size, n.gemm[0], n.gemm[1],
                    n.gemm[2], n.has_duration, n.duration, n.name);
  };
  return fields(*a.node) == fields(*b.node);
}

bool same(const RecordedAccess& a, const RecordedAccess& b) {
  return std::tie(a.number, a.address, a.length, a.write, a.at) ==
         std::tie(b.number, b.address, b.length, b.write, b.at);
}

template <typename Crossing>
bool same(const Crossing& a, const Crossing& b) {
  return to_bytes(a) == to_bytes(b);
}

RecordingHeader header_of(const std::string& level) {
  RecordingHeader header;
  header.kind = "switch";
  header.block = "switch0_1";
  header.level = level;
  header.program = "9.9";
  header.digest = 0x0123456789abcdef;
  header.cut_through = false;
  header.turn_by_sender = true;
  header.cycle = 2520000;
  header.configuration = "weft: 1\n" + std::string(10000, '#');
  header.virtual_networks = 4;
  for (int p = 0; p < 3; ++p) {
    RecordedPort port;
    port.name = "job.switch0_1.to" + std::to_string(p);
    port.peer = "nmu" + std::to_string(p);
    port.initiator = p == 1;
    port.rate = 50'000'000'000;
    port.latency = 500'000;
    port.vcs = 8;
    port.depth = 16;
    header.ports.push_back(port);
  }
  return header;
}

class RecordingFile : public ::testing::Test {
 protected:
  /// A recording of `events` events; what was written.
  Recording write(uint32_t events, const std::string& level = "message") {
    Recording written;
    written.header = header_of(level);
    written.collectives = {{3, "all_reduce of 4096 B"}, {4, "all_gather of 12 B, node 'x'"}};
    std::mt19937_64 random(events);
    RecordingWriter writer(file_, written.header);
    Picoseconds at = 0;
    for (uint32_t i = 0; i < events; ++i) {
      at += random() % 3 == 0 ? 0 : random() % 1000000;
      RecordedEvent event;
      event.at = at;
      event.port = static_cast<uint32_t>(random() % 3);
      event.into = random() % 2 == 0;
      if (level == "message") {
        event.what = draw_message(random, at);
      } else if (level == "access") {
        event.what = draw_access(random, at);
      } else if (level == "node") {
        event.what = draw_node(random, at, event.into);
      } else {
        event.what = draw_flits(random, at);
      }
      writer.add(event);
      written.events.push_back(event);
    }
    writer.finish(written.collectives);
    return written;
  }
  std::vector<uint8_t> bytes() const {
    std::ifstream in(file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  std::string refusal(const std::vector<uint8_t>& of) const {
    try {
      parse_recording(of, "a.rec");
    } catch (const UserError& e) {
      EXPECT_EQ(e.code(), ExitCode::usage);
      return e.what();
    }
    return "accepted";
  }

  vcd::test::TemporaryFolder folder_;
  std::string file_ = folder_.file("a.rec");
};

TEST_F(RecordingFile, ComesBackAsItWas) {
  for (const char* const level : {"message", "packet", "access", "node"}) {
    const Recording written = write(500, level);
    const Recording read = read_recording(file_);
    EXPECT_EQ(read.header.block, "switch0_1");
    EXPECT_EQ(read.header.level, level);
    EXPECT_EQ(read.header.digest, written.header.digest);
    EXPECT_FALSE(read.header.cut_through);
    EXPECT_TRUE(read.header.turn_by_sender);
    EXPECT_EQ(read.header.cycle, 2520000u);
    EXPECT_EQ(read.header.configuration, written.header.configuration);
    ASSERT_EQ(read.header.ports.size(), 3u);
    EXPECT_EQ(read.header.ports[2].peer, "nmu2");
    EXPECT_TRUE(read.header.ports[1].initiator);
    EXPECT_FALSE(read.header.ports[2].initiator);
    EXPECT_EQ(read.header.ports[2].latency, 500'000u);
    ASSERT_EQ(read.collectives.size(), 2u);
    EXPECT_EQ(read.collectives[1].name, written.collectives[1].name);
    ASSERT_EQ(read.events.size(), written.events.size());
    for (size_t i = 0; i < read.events.size(); ++i) {
      const RecordedEvent& a = read.events[i];
      const RecordedEvent& b = written.events[i];
      EXPECT_EQ(a.at, b.at);
      EXPECT_EQ(a.port, b.port);
      EXPECT_EQ(a.into, b.into);
      std::visit(
          [&](const auto& what) {
            using What = std::decay_t<decltype(what)>;
            EXPECT_TRUE(same(what, std::get<What>(b.what))) << i;
          },
          a.what);
    }
  }
}

TEST_F(RecordingFile, CutShortAnywhereIsRefused) {
  write(20);
  const std::vector<uint8_t> whole = bytes();
  ASSERT_EQ(refusal(whole), "accepted");
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string why = refusal({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
    EXPECT_NE(why, "accepted") << size;
    EXPECT_NE(why.find("a.rec: "), std::string::npos) << why;
    if (size >= 8) {
      EXPECT_NE(why.find("cut short"), std::string::npos) << size << ": " << why;
    }
  }
  std::vector<uint8_t> longer = whole;
  longer.push_back(0);
  EXPECT_NE(refusal(longer).find("bytes behind its end"), std::string::npos) << refusal(longer);
}

TEST_F(RecordingFile, AChangedByteIsRefusedOrChangesNothingElse) {
  write(20, "packet");
  const std::vector<uint8_t> whole = bytes();
  // The names of the collectives, at the end, have no checksum.
  const size_t names = 2 * 16 + std::string("all_reduce of 4096 B").size() +
                       std::string("all_gather of 12 B, node 'x'").size();
  for (size_t i = 0; i + names < whole.size(); ++i) {
    std::vector<uint8_t> other = whole;
    other[i] ^= 0x15;
    EXPECT_NE(refusal(other), "accepted") << i << " of " << whole.size();
  }
}

/// Its checksums are right, but what it says would be looked up outside the block.
TEST_F(RecordingFile, WhatNoBlockHasIsRefused) {
  const auto refused = [&](const auto& change, const std::string& level = "packet") {
    RecordingHeader header = header_of(level);
    std::mt19937_64 random(5);
    fabric::FlitCrossing flits;
    do flits = draw_flits(random, 0);
    while (flits.kind != fabric::FlitCrossing::Kind::flits || !flits.has_head());
    RecordedEvent event;
    event.what = flits;
    change(header, event, std::get<fabric::FlitCrossing>(event.what));
    RecordingWriter writer(file_, header);
    writer.add(event);
    writer.finish({});
    return refusal(bytes());
  };
  using Header = RecordingHeader;
  using Event = RecordedEvent;
  using Flits = fabric::FlitCrossing;
  EXPECT_EQ(refused([](Header&, Event&, Flits&) {}), "accepted");
  const auto expect = [](const std::string& why, const char* what) {
    EXPECT_NE(why.find(what), std::string::npos) << what << ": " << why;
  };
  expect(refused([](Header&, Event&, Flits& f) { f.vc = 8; }), "VC 8 of 8 at port 0");
  expect(refused([](Header&, Event&, Flits& f) { f.head.virtual_network = 4; }), "virtual network 4 of 4");
  expect(refused([](Header&, Event&, Flits& f) { f.packet_flits = f.count - 1; }), "of a packet of");
  expect(refused([](Header&, Event&, Flits& f) {
           f.kind = Flits::Kind::credits;
           f.count = 1u << 25;
         }),
         "a count of 33554432");
  expect(refused([](Header& h, Event&, Flits&) { h.ports[1].vcs = 68; }), "port 1 has 68 VCs");
  expect(refused([](Header& h, Event&, Flits&) { h.ports[1].vcs = 6; }), "6 VCs for 4 virtual networks");
  expect(refused([](Header& h, Event&, Flits&) { h.ports[2].depth = 0; }), "port 2 has buffers of 0 flits");
  expect(refused([](Header& h, Event&, Flits&) {
           for (RecordedPort& port : h.ports) port.depth = 1u << 24;
         }),
         "buffers of more than 2^28 flits");
  expect(refused([](Header&, Event&, Flits&) {}, "message"), "another level than message");
  expect(refused([](Header& h, Event&, Flits&) { h.level = "none"; }), "the level 'none'");
}

TEST_F(RecordingFile, SaysWhatItIsNot) {
  write(3);
  std::vector<uint8_t> other = bytes();
  other[8] = 7;
  EXPECT_NE(refusal(other).find("is of version 7 of the format, and this program reads versions 2 to 3"),
            std::string::npos)
      << refusal(other);
  EXPECT_NE(refusal({'n', 'o', 't', 'h', 'i', 'n', 'g', '!', '!'}).find("is no recording of a block"),
            std::string::npos);
  const auto unread = [](const std::string& path) -> std::string {
    try {
      read_recording(path);
    } catch (const UserError& e) {
      EXPECT_EQ(e.code(), ExitCode::usage);
      return e.what();
    }
    return "read";
  };
  EXPECT_NE(unread(folder_.file("absent.rec")).find("no such recording file"), std::string::npos);
  // A device would never end, and a folder is no file.
  EXPECT_NE(unread("/dev/zero").find("is a device, not a regular file"), std::string::npos);
  EXPECT_NE(unread("/tmp").find("is a folder, not a regular file"), std::string::npos);
  EXPECT_THROW(RecordingWriter(folder_.file("no/such/folder.rec"), header_of("message")), UserError);
}

TEST_F(RecordingFile, ReplacesNothingThatASymlinkPointsTo) {
  const std::string other = folder_.file("other");
  std::ofstream(other) << "precious";
  std::filesystem::create_symlink(other, file_);
  EXPECT_THROW(RecordingWriter(file_, header_of("message")), UserError);
  std::ifstream in(other);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "precious");
}

TEST(Recording, BlocksHaveNames) {
  EXPECT_EQ(block_name("npu[3].nmu"), "nmu3");
  EXPECT_EQ(block_name("npu12.nmu"), "nmu12");
  EXPECT_EQ(block_name("npu[0].hbm"), "hbm0");
  EXPECT_EQ(block_name("nmu[7]"), "nmu7");
  EXPECT_EQ(block_name("switch0_1"), "switch0_1");
  EXPECT_EQ(block_name("packet0_0.router5"), "packet0_0.router5");
}

}  // namespace
}  // namespace weft::cosim
