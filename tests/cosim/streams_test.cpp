// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// AXI4-Stream adapters on verilated blocks: nothing is lost or changed at any width, with both mappings of
// pins, with gaps and back-pressure, partial beats, one byte, no byte.

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bare.h"
#include "pipe.h"
#include "scale_fs.h"
#include "scale_none.h"
#include "scale_ns.h"
#include "tests/cosim/stream_bench.h"
#include "tests/support/isolated.h"
#include "widths.h"
#include "widths_bv.h"

namespace weft::cosim::test {
namespace {

using weft::test::isolated;

/// A master and a slave on one pipeline of a block, and what crossed.
struct Lane {
  Lane(const std::string& name, BlockClock& clock, StreamPins in, StreamPins out, uint64_t seed,
       uint32_t queue_beats)
      : random(seed) {
    StreamSlave::Options options;
    options.queue_beats = queue_beats;
    options.ready = [seed](uint64_t cycle) { return (cycle * 2654435761u + seed) % 7 < 5; };
    master = std::make_unique<StreamMaster>((name + "_in").c_str(), clock, std::move(in));
    slave = std::make_unique<StreamSlave>((name + "_out").c_str(), clock, std::move(out),
                                          [this, queue_beats](StreamFrame frame, Picoseconds, Picoseconds) {
                                            if (queue_beats != 0) slave->release(slave->held());
                                            taken.push_back(std::move(frame));
                                          },
                                          options);
  }
  void send(size_t bytes, Picoseconds at) {
    sent.push_back(random.frame(bytes, 8, 6, 16));
    master->send(sent.back(), at);
  }
  /// Frames of every length from none to three beats and some long ones.
  void send_all() {
    const uint32_t beat = master->beat_bytes();
    for (uint32_t bytes = 0; bytes <= 3 * beat + 1; bytes += beat > 32 ? 1 + random.below(5) : 1)
      send(bytes, random.below(200000));
    for (int i = 0; i < 5; ++i) send(1, 200000);
    for (int i = 0; i < 5; ++i) send(10 * beat + random.below(beat), 300000 + random.below(50000));
  }

  Random random;
  std::vector<StreamFrame> sent;
  std::vector<StreamFrame> taken;
  std::unique_ptr<StreamMaster> master;
  std::unique_ptr<StreamSlave> slave;
};

/// A block with a lane of every width, and its clock.
template <typename Model>
struct Widths {
  explicit Widths(const std::string& policy) : clock("clock", clock_options(policy)), rtl("rtl") {
    clock.clock(rtl.clk);
    clock.reset(rtl.rst_n);
#define LANE(W)                                                                                 \
  lanes.push_back(std::make_unique<Lane>("lane" #W, clock, WEFT_STREAM_PINS(rtl, s##W),         \
                                         WEFT_STREAM_PINS(rtl, m##W), W, W % 3 == 0 ? 64 : 0)); \
  bits.push_back(W)
    LANE(8);
    LANE(16);
    LANE(24);
    LANE(32);
    LANE(40);
    LANE(64);
    LANE(72);
    LANE(128);
    LANE(256);
    LANE(512);
    LANE(1000);
    LANE(1024);
#undef LANE
  }
  BlockClock clock;
  Model rtl;
  std::vector<std::unique_ptr<Lane>> lanes;
  std::vector<uint32_t> bits;
};

template <typename Model>
std::string all_widths(const std::string& policy) {
  Widths<Model> block(policy);
  const auto& lanes = block.lanes;
  const auto& bits = block.bits;
  for (auto& lane : lanes) lane->send_all();
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS), sc_core::SC_EXIT_ON_STARVATION);
  std::string text;
  for (size_t i = 0; i < lanes.size(); ++i) {
    Lane& lane = *lanes[i];
    const std::string wrong = differences(lane.sent, lane.taken);
    if (!wrong.empty()) text += fmt::format("{} bits: {}", bits[i], wrong);
    if (lane.master->beat_bytes() * 8 != bits[i] || lane.slave->beat_bytes() * 8 != bits[i])
      text += fmt::format("{} bits: beats of {} B; ", bits[i], lane.master->beat_bytes());
    if (lane.master->bytes_sent() != lane.slave->bytes_taken() ||
        lane.master->beats_sent() != lane.slave->beats_taken())
      text += fmt::format("{} bits: counters differ; ", bits[i]);
    if (lane.master->queued() != 0 || !lane.master->stall_text().empty() || !lane.slave->stall_text().empty())
      text += fmt::format("{} bits: something is left; ", bits[i]);
  }
  if (sc_core::sc_pending_activity()) text += "the simulation goes on; ";
  return text;
}

TEST(Streams, NothingIsLostAtAnyWidth) {
  EXPECT_SILENT(isolated([] { return all_widths<Vwidths>("gated(4)"); }));
}
TEST(Streams, NothingIsLostAtAnyWidthWithVectorPins) {
  EXPECT_SILENT(isolated([] { return all_widths<Vwidths_bv>("gated(4)"); }));
}
TEST(Streams, AFreeClockDoesTheSameAndStopsAtTheEnd) {
  EXPECT_SILENT(isolated([] { return all_widths<Vwidths>("free"); }));
}

/// The pipeline of five stages between two adapters.
struct Pipe {
  explicit Pipe(const std::string& policy, StreamMaster::Options in = {}, StreamSlave::Options out = {})
      : clock("clock", clock_options(policy)),
        rtl("rtl"),
        master("in", clock, WEFT_STREAM_PINS(rtl, s), in),
        slave(
            "out", clock, WEFT_STREAM_PINS(rtl, m),
            [this](StreamFrame frame, Picoseconds first, Picoseconds last) {
              taken.push_back(std::move(frame));
              firsts.push_back(first);
              lasts.push_back(last);
              if (on_taken) on_taken();
            },
            std::move(out)) {
    clock.clock(rtl.clk);
    clock.reset(rtl.rst_n);
    ties.open(rtl.busy);
  }
  BlockClock clock;
  Vpipe rtl;
  PinTies ties;
  StreamMaster master;
  StreamSlave slave;
  std::vector<StreamFrame> taken;
  std::vector<Picoseconds> firsts;
  std::vector<Picoseconds> lasts;
  std::function<void()> on_taken;
};

void run() {
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS), sc_core::SC_EXIT_ON_STARVATION);
}

/// Keeps the changes of what begins so; the last value of an instant holds.
class PinLog final : public vcd::ProbeListener {
 public:
  bool wants(std::string_view name) override {
    return name.find("72") != std::string_view::npos || name.find("clock") == 0;
  }
  vcd::SignalId declared(const vcd::Signal& signal) override {
    names.emplace_back(signal.name);
    widths[names.back()] = signal.width;
    return static_cast<vcd::SignalId>(names.size() - 1);
  }
  void changed(vcd::Time t, vcd::SignalId signal, uint64_t value) override {
    values[names[vcd::index(signal)]][t] = value;
  }
  void changed(vcd::Time, vcd::SignalId, double) override { ++others; }
  void changed(vcd::Time, vcd::SignalId, std::string_view) override { ++others; }
  vcd::FutureHandle expected(vcd::Time, vcd::SignalId, uint64_t) override { return {}; }
  vcd::FutureHandle expected(vcd::Time, vcd::SignalId, double) override { return {}; }
  vcd::FutureHandle expected(vcd::Time, vcd::SignalId, std::string_view) override { return {}; }
  bool revoked(const vcd::FutureHandle&) override { return false; }
  void counted(const vcd::Steps&, vcd::SignalId, int) override { ++others; }

  /// The value just before `t`.
  uint64_t before(const std::string& name, vcd::Time t) const {
    return std::prev(values.at(name).lower_bound(t))->second;
  }

  std::vector<std::string> names;
  std::map<std::string, unsigned> widths;
  std::map<std::string, std::map<vcd::Time, uint64_t>> values;
  int others = 0;
};

std::string pins_of_a_lane() {
  Widths<Vwidths> block("gated(4)");
  PinLog log;
  vcd::ProbeHub probes;
  probes.join(log);
  const auto recorders = fabric::record_wires(probes);
  Lane& lane = *block.lanes[6];
  for (int i = 0; i < 20; ++i) lane.send(27, 20000 + 3000 * static_cast<Picoseconds>(i));
  run();
  std::vector<uint8_t> sent;
  for (const StreamFrame& frame : lane.sent) sent.insert(sent.end(), frame.bytes.begin(), frame.bytes.end());
  std::vector<uint8_t> seen;
  for (const auto& [t, high] : log.values.at("clock.clock")) {
    if (high == 0 || t == 0 || log.before("clock.reset", t) == 0) continue;
    if (log.before("rtl.m72_tvalid", t) == 0 || log.before("rtl.m72_tready", t) == 0) continue;
    const uint64_t low = log.before("rtl.m72_tdata_63_0", t);
    for (int i = 0; i < 8; ++i) seen.push_back(static_cast<uint8_t>(low >> 8 * i));
    seen.push_back(static_cast<uint8_t>(log.before("rtl.m72_tdata_71_64", t)));
  }
  if (lane.taken.size() != 20) return fmt::format("{} frames", lane.taken.size());
  if (seen != sent) return fmt::format("{} bytes on the pins, {} sent", seen.size(), sent.size());
  if (log.widths.at("rtl.m72_tdata_71_64") != 8 || log.widths.at("rtl.m72_tvalid") != 1)
    return std::string("widths");
  return log.others == 0 ? std::string() : std::string("told of something else");
}

// The bytes of every frame can be read off the recorded pins at the recorded edges of the clock.
TEST(Streams, PinsAreRecorded) {
  EXPECT_SILENT(isolated(pins_of_a_lane));
}

TEST(Streams, TimesAreThoseOfTheEdges) {
  EXPECT_SILENT(isolated([] {
    Pipe pipe("free");
    std::vector<Picoseconds> sent;
    Random random(1);
    // 20 B are three beats of 8 B. The reset is over after four edges.
    pipe.master.send(random.frame(20, 0, 0, 0), 20000, [&](Picoseconds first, Picoseconds last) {
      sent.push_back(first);
      sent.push_back(last);
    });
    run();
    // There at 20 ns: the edge at 21 ns shows it, that at 22 ns takes it.
    if (sent != std::vector<Picoseconds>{22000, 24000})
      return fmt::format("sent {} {}", sent.at(0), sent.at(1));
    // Five registers: shown by the fifth after the edge at 26 ns, taken at 27 ns.
    if (pipe.firsts.at(0) != 27000 || pipe.lasts.at(0) != 29000)
      return fmt::format("taken {} {}", pipe.firsts[0], pipe.lasts[0]);
    return std::string();
  }));
}

TEST(Streams, APacedFrameComesAsFastAsItsBytes) {
  EXPECT_SILENT(isolated([] {
    Pipe pipe("gated(8)");
    Random random(1);
    std::vector<Picoseconds> sent;
    // 8 B each 4 ns: the beats are there at 24, 28 and (4 B) 30 ns.
    pipe.master.send(
        random.frame(20), 20000,
        [&](Picoseconds first, Picoseconds last) {
          sent = {first, last};
        },
        Rate{2000000000, 1});
    run();
    if (sent != std::vector<Picoseconds>{26000, 32000})
      return fmt::format("sent {} {}", sent.at(0), sent.at(1));
    return pipe.taken.size() == 1 ? std::string() : std::string("not taken");
  }));
}

TEST(Streams, BackPressureReachesTheSender) {
  EXPECT_SILENT(isolated([] {
    StreamMaster::Options in;
    in.queue_frames = 2;
    StreamSlave::Options out;
    out.queue_beats = 4;
    Pipe pipe("gated(6)", in, out);
    Random random(3);
    std::vector<StreamFrame> sent;
    int blocked = 0;
    const auto fill = [&] {
      while (sent.size() < 12 && pipe.master.space()) {
        sent.push_back(random.frame(16, 8, 6, 16));
        pipe.master.send(sent.back(), now());
      }
      if (sent.size() < 12) ++blocked;
    };
    pipe.master.on_space(fill);
    // Nothing is released before 200 ns: four beats stand in the queue, five in the pipeline, one at its
    // input.
    std::string text;
    At check("check", 190000, [&] {
      if (pipe.slave.held() != 4 || pipe.master.beats_sent() != 9 || pipe.master.queued() != 2 ||
          sent.size() != 6)
        text += fmt::format("held {} sent {} queued {} of {}; ", pipe.slave.held(), pipe.master.beats_sent(),
                            pipe.master.queued(), sent.size());
      if (pipe.slave.stall_text().find("all 4 beats") == std::string::npos) text += pipe.slave.stall_text();
      if (pipe.master.stall_text().find("s_tready), which is low") == std::string::npos)
        text += pipe.master.stall_text();
    });
    At begin("begin", 10000, fill);
    At release("release", 200000, [&] {
      pipe.on_taken = [&] { pipe.slave.release(2); };
      pipe.slave.release(4);
    });
    run();
    if (blocked == 0) text += "the sender was never held up; ";
    return text + differences(sent, pipe.taken);
  }));
}

TEST(Streams, AFullQueueIsTheCallersMistake) {
  EXPECT_SILENT(isolated([] {
    StreamMaster::Options in;
    in.queue_frames = 1;
    Pipe pipe("free", in);
    Random random(1);
    pipe.master.send(random.frame(8), 0);
    try {
      pipe.master.send(random.frame(8), 0);
    } catch (const std::logic_error& error) {
      return std::string(error.what()).find("in: a frame was sent to a full queue") != std::string::npos
                 ? std::string()
                 : std::string(error.what());
    }
    return std::string("accepted");
  }));
}

TEST(Streams, ASlaveReleasesAtTheFirstEdgeAfterTheCall) {
  // Whether a release at the time of an edge runs before or after it, TREADY rises a period later.
  const auto last = [](Picoseconds release) {
    return isolated([release] {
             StreamSlave::Options out;
             out.queue_beats = 2;
             Pipe pipe("gated(6)", {}, out);
             Random random(3);
             for (int i = 0; i < 3; ++i) pipe.master.send(random.frame(8), 10000);
             At at("at", release, [&] { pipe.slave.release(2); });
             run();
             return pipe.lasts.size() == 3 ? fmt::format("{}", pipe.lasts[2]) : std::string("not taken");
           })
        .text;
  };
  EXPECT_EQ(last(100000), "102000");
  EXPECT_EQ(last(100001), "102000");
  EXPECT_EQ(last(100999), "102000");
  EXPECT_EQ(last(101000), "103000");
}

TEST(Streams, AConstantMustFitItsPin) {
  const auto result = isolated([] {
    Vbare rtl("rtl");
    PinTies ties;
    ties.constant(rtl.ARESET, 2);
    return std::string("it fits");
  });
  EXPECT_EQ(result.status, 99);
  EXPECT_NE(
      result.text.find("rtl.ARESET: the constant 2 does not fit a pin of type bool: give a value below 2"),
      std::string::npos)
      << result.text;
}

TEST(Streams, TheLeastThatAStreamCanBe) {
  EXPECT_SILENT(isolated([] {
    BlockClock::Options options = clock_options("gated(4)");
    options.reset_active_low = false;
    BlockClock clock("clock", options);
    Vbare rtl("rtl");
    clock.clock(rtl.ACLK);
    clock.reset(rtl.ARESET);
    PinTies ties;
    ties.constant(rtl.mode, 3);
    ties.open(rtl.count);
    std::vector<std::unique_ptr<StreamMaster>> masters;
    std::vector<std::unique_ptr<StreamSlave>> slaves;
    std::vector<std::vector<uint8_t>> taken(2);
    for (size_t i = 0; i < 2; ++i) {
      StreamMaster::Options in;
      in.pad = i == 1;
      masters.push_back(std::make_unique<StreamMaster>(fmt::format("in{}", i).c_str(), clock,
                                                       WEFT_STREAM_PINS_AT(rtl, S, i), in));
      StreamSlave::Options out;
      out.frame_bytes = 4;
      slaves.push_back(std::make_unique<StreamSlave>(
          fmt::format("out{}", i).c_str(), clock, WEFT_STREAM_PINS_AT(rtl, M, i),
          [&taken, i](StreamFrame frame, Picoseconds, Picoseconds) {
            if (frame.bytes.size() == 4)
              taken[i].insert(taken[i].end(), frame.bytes.begin(), frame.bytes.end());
          },
          out));
    }
    masters[0]->send({{1, 2, 3, 4}, 0, 0, 0}, 5000);
    masters[1]->send({{10, 20, 255}, 0, 0, 0}, 5000);
    std::string text;
    try {
      masters[0]->send({{1, 2, 3}, 0, 0, 0}, 5000);
      text += "a part of a beat was accepted; ";
    } catch (const UserError& error) {
      const std::string what = error.what();
      if (what.find("block rtl, pins S[0]: a frame of 3 B does not fill beats of 2 B") == std::string::npos)
        text += what;
    }
    try {
      masters[0]->send({{1, 2}, 7, 0, 0}, 5000);
      text += "a TID was accepted; ";
    } catch (const UserError& error) {
      const std::string what = error.what();
      if (what.find("TID = 7 does not fit: the port has no such pin") == std::string::npos) text += what;
    }
    run();
    if (taken[0] != std::vector<uint8_t>{4, 5, 6, 7}) text += "port 0; ";
    if (taken[1] != std::vector<uint8_t>{13, 23, 2, 3}) text += "port 1; ";
    return text;
  }));
}

template <typename Model>
std::string inverted() {
  BlockClock clock("clock", clock_options("gated(4)", 1250));
  Model rtl("rtl");
  clock.clock(rtl.clk);
  clock.reset(rtl.rst_n);
  StreamFrame got;
  Picoseconds last = 0;
  StreamMaster master("in", clock, WEFT_STREAM_PINS(rtl, s));
  StreamSlave slave("out", clock, WEFT_STREAM_PINS(rtl, m),
                    [&](StreamFrame frame, Picoseconds, Picoseconds at) {
                      got = std::move(frame);
                      last = at;
                    });
  master.send({{1, 2, 3, 250}, 0, 0, 0}, 100000);
  run();
  if (got.bytes != std::vector<uint8_t>{254, 253, 252, 5}) return "wrong bytes";
  // Shown at 101.25 ns, taken by the block at 102.5 ns; the last of four beats three edges later, and here
  // after one more.
  return last == 107500 ? std::string() : fmt::format("at {}", last);
}

TEST(Streams, ForeignTimeScales) {
  EXPECT_SILENT(isolated([] { return inverted<Vscale_fs>(); }));
  EXPECT_SILENT(isolated([] { return inverted<Vscale_ns>(); }));
  EXPECT_SILENT(isolated([] { return inverted<Vscale_none>(); }));
}

}  // namespace
}  // namespace weft::cosim::test
