// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Block clocks: the grid, wakes, the stop, and that a gated clock changes no time of what crosses the pins.

#include "cosim/clock/block_clock.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pipe.h"
#include "tests/cosim/stream_bench.h"
#include "tests/support/isolated.h"
#include "timer.h"

namespace weft::cosim::test {
namespace {

using weft::test::isolated;

void run(double ms = 10) {
  sc_core::sc_start(sc_core::sc_time(ms, sc_core::SC_MS), sc_core::SC_EXIT_ON_STARVATION);
}

/// Writes down its edges; quiet unless it is told otherwise.
struct Watcher final : ClockUser {
  void edge(Picoseconds at, bool reset) override {
    if (!reset) edges.push_back(at);
    if (on_edge) on_edge(at);
  }
  bool quiet() const override { return busy == 0; }
  std::vector<Picoseconds> edges;
  int busy = 0;
  std::function<void(Picoseconds)> on_edge;
};

std::string text(const std::vector<Picoseconds>& times) {
  std::string result;
  for (const Picoseconds time : times) result += fmt::format("{} ", time);
  return result;
}

TEST(BlockClock, EdgesAreOnTheGridAndStrictlyAfterTheWake) {
  const auto edges = [](Picoseconds wake, Picoseconds phase) {
    return isolated([=] {
             BlockClock::Options options = clock_options("gated(1)");
             options.reset_cycles = 0;
             options.phase = phase;
             BlockClock clock("clock", options);
             Watcher watcher;
             clock.add(watcher);
             At at("at", wake, [&] { clock.wake(now()); });
             run();
             // The first is the start's.
             watcher.edges.erase(watcher.edges.begin());
             return text(watcher.edges) + fmt::format("{}", clock.edges());
           })
        .text;
  };
  EXPECT_EQ(edges(10001, 0), "11000 1");
  EXPECT_EQ(edges(10999, 0), "11000 1");
  EXPECT_EQ(edges(11000, 0), "12000 1");
  EXPECT_EQ(edges(11001, 0), "12000 1");
  EXPECT_EQ(edges(11000, 250), "11250 1");
  EXPECT_EQ(edges(11250, 250), "12250 1");
}

TEST(BlockClock, AWakeInTheFutureComesThen) {
  EXPECT_SILENT(isolated([] {
    BlockClock::Options options = clock_options("gated(2)");
    options.reset_cycles = 0;
    BlockClock clock("clock", options);
    Watcher watcher;
    clock.add(watcher);
    At first("first", 5000, [&] {
      clock.wake(50000);
      clock.wake(30500);
      clock.wake(20000);
    });
    run();
    const std::string got = text(watcher.edges);
    return got == "1000 2000 21000 22000 31000 32000 51000 52000 " ? std::string() : got;
  }));
}

TEST(BlockClock, TheResetComesFirstAndTheStartIsNotCounted) {
  EXPECT_SILENT(isolated([] {
    BlockClock::Options options = clock_options("gated(3)");
    options.reset_cycles = 5;
    BlockClock clock("clock", options);
    Watcher watcher;
    std::vector<bool> resets;
    watcher.on_edge = [&](Picoseconds) { resets.push_back(clock.reset_signal().read()); };
    clock.add(watcher);
    run();
    // Five edges with the reset low, three quiet ones, and the clock stands.
    if (resets != std::vector<bool>{false, false, false, false, false, true, true, true})
      return text(watcher.edges);
    if (clock.start_edges() != 8 || clock.edges() != 0)
      return fmt::format("{} {}", clock.start_edges(), clock.edges());
    if (clock.running() || sc_core::sc_pending_activity()) return std::string("it runs");
    return std::string();
  }));
}

TEST(BlockClock, AFreeClockStopsWhenNothingElseIsLeft) {
  EXPECT_SILENT(isolated([] {
    // Two clocks of which neither may take the other for work, and something that comes late.
    BlockClock::Options options = clock_options("free", 1000);
    BlockClock a("a", options);
    BlockClock same("same", options);
    options.period = 1700;
    BlockClock b("b", options);
    bool came = false;
    At late("late", 50000000, [&] { came = true; });
    run(1000);
    if (!came) return std::string("it has stopped before the end");
    if (sc_core::sc_pending_activity()) return std::string("the clocks go on");
    const Picoseconds end = now();
    // The patience is 3000 edges of each clock; it looks around every 1024 edges.
    if (end < 50000000 || end > 50000000 + 5000 * Picoseconds{1700})
      return fmt::format("the end is at {}", end);
    // Woken again it goes on on its grid.
    Watcher watcher;
    a.add(watcher);
    a.wake(end + 10);
    run(1000);
    if (watcher.edges.empty() || watcher.edges[0] != a.edge_after(end + 10))
      return std::string("it sleeps on");
    return std::string();
  }));
}

TEST(BlockClock, PoliciesByName) {
  BlockClock::Options options;
  set_policy(options, "gated(7)", "here");
  EXPECT_EQ(options.policy, BlockClock::Policy::gated);
  EXPECT_EQ(options.quiet_edges, 7u);
  set_policy(options, "free", "here");
  EXPECT_EQ(options.policy, BlockClock::Policy::free);
  set_policy(options, "automatic", "here");
  EXPECT_EQ(options.policy, BlockClock::Policy::automatic);
  for (const char* wrong :
       {"", "gate", "gated()", "gated(0)", "gated(x)", "gated(1", "gated(-1)", "gated(99999999999)"}) {
    try {
      set_policy(options, wrong, "here");
      ADD_FAILURE() << wrong;
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what())
                    .find("here: '" + std::string(wrong) + "' is no clock policy: free, gated"),
                std::string::npos)
          << error.what();
    }
  }
}

TEST(BlockClock, ParametersOfAModule) {
  const auto read = [](const std::string& text) {
    Parameters parameters(parse_implementation(text), "npu.implementation");
    const BlockClock::Options options = read_clock(parameters, {});
    parameters.finish();
    return options;
  };
  const BlockClock::Options options =
      read("block(period=1.25 ns, clock=gated(5), phase=100 ps, patience=77)");
  EXPECT_EQ(options.period, 1250u);
  EXPECT_EQ(options.policy, BlockClock::Policy::gated);
  EXPECT_EQ(options.quiet_edges, 5u);
  EXPECT_EQ(options.phase, 100u);
  EXPECT_EQ(options.patience, 77u);
  EXPECT_EQ(read("block").policy, BlockClock::Policy::automatic);
  EXPECT_THROW(read("block(clock=slow)"), UserError);
  EXPECT_THROW(read("block(period=1 ps)"), UserError);
  EXPECT_THROW(read("block(patience=0)"), UserError);
}

/// One block with two independent pipelines' worth of traffic: several clocks, each with a pipe.
struct Lane {
  Lane(int number, const BlockClock::Options& clock_options, uint32_t queue_beats, bool random_ready)
      : clock(fmt::format("clock{}", number).c_str(), clock_options),
        rtl(fmt::format("rtl{}", number).c_str()),
        master(fmt::format("in{}", number).c_str(), clock, WEFT_STREAM_PINS(rtl, s)),
        slave(
            fmt::format("out{}", number).c_str(), clock, WEFT_STREAM_PINS(rtl, m),
            [this](StreamFrame frame, Picoseconds first, Picoseconds last) {
              ++frames;
              for (const uint64_t n : {frame.id, uint64_t(frame.bytes.size()), first, last, now()})
                out.add(n);
              if (on_frame) on_frame(frame);
            },
            slave_options(number, queue_beats, random_ready)) {
    clock.clock(rtl.clk);
    clock.reset(rtl.rst_n);
    // The pin is wired where the policy is automatic.
    if (clock_options.policy == BlockClock::Policy::automatic) {
      clock.qactive(rtl.busy);
    } else {
      ties.open(rtl.busy);
    }
  }
  static StreamSlave::Options slave_options(int number, uint32_t queue_beats, bool random_ready) {
    StreamSlave::Options options;
    options.queue_beats = queue_beats;
    if (random_ready) {
      options.ready = [number](uint64_t cycle) {
        return ((cycle + 17 * static_cast<uint64_t>(number)) * 0x9e3779b97f4a7c15ull >> 60) < 7;
      };
    }
    return options;
  }
  void send(StreamFrame frame, Picoseconds at, Rate pace = {}) {
    master.send(
        std::move(frame), at,
        [this](Picoseconds first, Picoseconds last) {
          for (const uint64_t n : {first, last, now()}) in.add(n);
        },
        pace);
  }
  Hash in;  ///< of each port: what happens at one time in two clocks' domains has no order
  Hash out;
  Random random{7};
  BlockClock clock;
  Vpipe rtl;
  PinTies ties;
  StreamMaster master;
  StreamSlave slave;
  uint64_t frames = 0;
  int left = 100;  ///< answers that it may send
  std::function<void(const StreamFrame&)> on_frame;
};

/// Calls at drawn times, also at times of edges, by a process of its own.
class Driver final : public sc_core::sc_module {
 public:
  Driver(sc_core::sc_module_name name, std::function<Picoseconds()> step)
      : sc_core::sc_module(name), step_(std::move(step)) {
    SC_HAS_PROCESS(Driver);
    SC_METHOD(run);
  }

 private:
  /// The step says how long until the next one; kNever: none.
  void run() {
    const Picoseconds next = step_();
    if (next == kNever) return;
    if (next == 0) return next_trigger(sc_core::SC_ZERO_TIME);
    next_trigger(sc_core::sc_time::from_value(next));
  }
  std::function<Picoseconds()> step_;
};

/// The hash of all completion times under a pattern, and how many frames came and edges there were.
struct Outcome {
  std::string hash;
  uint64_t frames = 0;
  uint64_t edges = 0;
};

Outcome outcome(const std::string& pattern, const std::string& policy) {
  const auto result = isolated([&] {
    Random random(42);
    const bool paced = pattern == "paced";
    const bool pushed_back = pattern == "back-pressure";
    std::vector<std::unique_ptr<Lane>> lanes;
    for (int i = 0; i < 3; ++i) {
      BlockClock::Options options = clock_options(policy, std::vector<Picoseconds>{1000, 1250, 777}[i]);
      options.phase = std::vector<Picoseconds>{0, 0, 333}[i];
      lanes.push_back(std::make_unique<Lane>(i, options, pushed_back ? 40 : 0, pushed_back));
    }
    int left = 400;
    Driver driver("driver", [&]() -> Picoseconds {
      Lane& lane = *lanes[random.below(3)];
      if (pattern == "ping-pong") {
        if (now() == 0) return 40000;
        for (auto& l : lanes) l->send(random.frame(24, 8), now());
        return kNever;
      }
      if (left-- == 0) return kNever;
      if (pattern == "sparse") {
        lane.send(random.frame(1 + random.below(8), 8), now());
        return random.below(3) == 0 ? 1000 * random.below(100) : random.below(100000);
      }
      if (pattern == "bursts") {
        for (uint64_t n = random.below(12); n-- != 0;) lane.send(random.frame(random.below(100), 8), now());
        return random.below(4) == 0 ? 0 : 1000 * random.below(200);
      }
      if (paced) {
        const uint64_t rate = 500000000 * (1 + random.below(20));
        lane.send(random.frame(1 + random.below(400), 8), now() + random.below(3) * 15000, Rate{rate, 1});
        return random.below(300000);
      }
      lane.send(random.frame(random.below(60), 8), now());
      return random.below(40000);
    });
    for (int i = 0; i < 3; ++i) {
      lanes[i]->on_frame = [&, i, at = lanes[i].get()](const StreamFrame&) {
        if (pushed_back) at->slave.release(at->slave.held() / 2);
        if (pattern != "ping-pong" || at->left-- <= 0) return;
        // The answer goes into another clock's domain, now or later.
        Lane& other = *lanes[static_cast<size_t>(i + 1) % 3];
        other.send(at->random.frame(1 + at->random.below(30), 8),
                   now() + at->random.below(2) * at->random.below(90000));
      };
    }
    // What stays of the queue at the end is released now and then.
    Driver release("release", [&]() -> Picoseconds {
      if (!pushed_back || now() > 40000000) return kNever;
      for (auto& lane : lanes) lane->slave.release(lane->slave.held());
      return 23000;
    });
    run();
    uint64_t frames = 0;
    uint64_t edges = 0;
    Hash log;
    for (auto& lane : lanes) {
      log.add(lane->in.value);
      log.add(lane->out.value);
      frames += lane->frames;
      edges += lane->clock.edges();
      if (lane->master.queued() != 0) return fmt::format("something is left: {}", lane->master.stall_text());
    }
    return fmt::format("{:x} {} {}", log.value, frames, edges);
  });
  Outcome out;
  EXPECT_EQ(result.status, 0) << result.text;
  char hash[32] = {};
  EXPECT_EQ(std::sscanf(result.text.c_str(), "%31s %lu %lu", hash, &out.frames, &out.edges), 3)
      << result.text;
  out.hash = hash;
  return out;
}

class Transparent : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Patterns, Transparent,
                         ::testing::Values("sparse", "bursts", "paced", "back-pressure", "ping-pong"),
                         [](const auto& pattern) {
                           std::string name = pattern.param;
                           name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
                           return name;
                         });

TEST_P(Transparent, AGatedClockChangesNoTime) {
  const Outcome free = outcome(GetParam(), "free");
  EXPECT_GT(free.frames, 250u);
  // The pipe shows nothing for five edges; with its qactive pin it can be stopped at any edge.
  for (const char* policy : {"gated(6)", "gated(16)", "automatic"}) {
    const Outcome gated = outcome(GetParam(), policy);
    EXPECT_EQ(gated.hash, free.hash) << policy;
    EXPECT_EQ(gated.frames, free.frames) << policy;
    EXPECT_LT(gated.edges, free.edges) << policy;
  }
}

TEST(BlockClock, TooFewQuietEdgesAreSeen) {
  // The test above can fail: a pipe of five stages that is stopped after one quiet edge is late.
  EXPECT_NE(outcome("sparse", "gated(1)").hash, outcome("sparse", "free").hash);
}

TEST(BlockClock, QactiveKeepsAWorkingBlockAwake) {
  const auto at = [](const std::string& policy, bool wired) {
    return isolated([&] {
             BlockClock clock("clock", clock_options(policy));
             Vtimer rtl("rtl");
             clock.clock(rtl.clk);
             clock.reset(rtl.rst_n);
             PinTies ties;
             if (wired) {
               clock.qactive(rtl.qactive);
             } else {
               ties.open(rtl.qactive);
             }
             std::string text;
             StreamMaster master("in", clock, WEFT_STREAM_PINS(rtl, s));
             StreamSlave slave("out", clock, WEFT_STREAM_PINS(rtl, m),
                               [&](StreamFrame frame, Picoseconds, Picoseconds last) {
                                 text += fmt::format("{} at {}", frame.bytes[0], last);
                               });
             master.send({{77}, 0, 0, 0}, 100000);
             run();
             return text + (wired && clock.free() ? " free" : "") + fmt::format(" {}", clock.edges() < 230);
           })
        .text;
  };
  // Taken at 102 ns, held for 200 edges, shown by the edge at 302 ns and taken at 303 ns.
  EXPECT_EQ(at("free", false), "77 at 303000 false");
  EXPECT_EQ(at("automatic", true), "77 at 303000 true");
  EXPECT_EQ(at("gated(1)", true), "77 at 303000 true");
  // Without the pin a gated clock freezes the timer: this is why `free` is the default.
  EXPECT_EQ(at("gated(16)", false), " true");
  EXPECT_EQ(at("automatic", false), "77 at 303000 false");
}

/// Is at work for so many edges, and says so.
struct Busy final : sc_core::sc_module {
  Busy(sc_core::sc_module_name name, uint64_t work) : sc_core::sc_module(name), left(work) {
    active.initialize(true);
    SC_HAS_PROCESS(Busy);
    SC_METHOD(edge);
    sensitive << clk.pos();
    dont_initialize();
  }
  sc_core::sc_in<bool> clk{"clk"};
  sc_core::sc_out<bool> active{"active"};
  uint64_t left;

 private:
  void edge() {
    if (left != 0 && --left == 0) active.write(false);
  }
};

TEST(BlockClock, ABlockThatHoldsQactiveHasAThousandTimesThePatience) {
  struct End {
    bool finished = false;
    uint64_t edges = 0;
    std::string stall;
  };
  const auto outcome = [](uint64_t work, bool wired) {
    const auto result = isolated([&] {
      BlockClock::Options options = clock_options("free");
      options.patience = 10;
      BlockClock clock("clock", options);
      Busy busy("busy", work);
      clock.clock(busy.clk);
      PinTies ties;
      if (wired) {
        clock.qactive(busy.active);
      } else {
        ties.open(busy.active);
      }
      run(1);
      return fmt::format("{} {}{}", busy.left == 0 ? 1 : 0, clock.edges(), clock.stall_line());
    });
    EXPECT_EQ(result.status, 0) << result.text;
    End out;
    char* end = nullptr;
    out.finished = std::strtoull(result.text.c_str(), &end, 10) == 1;
    out.edges = std::strtoull(end, &end, 10);
    out.stall = end;
    return out;
  };
  // It looks around every 1024 edges.
  const End silent = outcome(5'000, false);
  EXPECT_FALSE(silent.finished);
  EXPECT_LE(silent.edges, 10 + 1024);
  EXPECT_NE(silent.stall.find("for 10 edges (`patience`)"), std::string::npos) << silent.stall;
  const End at_work = outcome(5'000, true);
  EXPECT_TRUE(at_work.finished);
  EXPECT_LE(at_work.edges, 5'000 + 2 * 1024);
  const End too_long = outcome(20'000, true);
  EXPECT_FALSE(too_long.finished);
  EXPECT_GE(too_long.edges, 10'000);
  EXPECT_LE(too_long.edges, 10'000 + 1024);
  EXPECT_NE(too_long.stall.find("for 10000 edges (`patience`)"), std::string::npos) << too_long.stall;
}

TEST(BlockClock, AnIdleBlockSeesNoEdge) {
  EXPECT_SILENT(isolated([] {
    BlockClock::Options options = clock_options("gated");
    Lane idle(0, options, 0, false);
    Lane busy(1, options, 0, false);
    Random random(5);
    for (int i = 0; i < 1000; ++i) busy.send(random.frame(100), 100000 + 20000 * i);
    run();
    if (idle.clock.edges() != 0) return fmt::format("{} edges", idle.clock.edges());
    return busy.frames == 1000 && busy.clock.edges() > 10000 ? std::string()
                                                             : std::string("the other one did not work");
  }));
}

TEST(BlockClock, ClocksOfOneBlockRunTogether) {
  EXPECT_SILENT(isolated([] {
    BlockClock::Options options = clock_options("gated(4)");
    BlockClock a("a", options);
    options.period = 1500;
    BlockClock b("b", options);
    a.together(b);
    Watcher in_a;
    Watcher in_b;
    a.add(in_a);
    b.add(in_b);
    // What comes into a's domain keeps b's at work for 20 of its edges.
    in_a.on_edge = [&](Picoseconds at) {
      if (at == 101000) in_b.busy = 20;
    };
    in_b.on_edge = [&](Picoseconds) {
      if (in_b.busy != 0) --in_b.busy;
    };
    At at("at", 100500, [&] { a.wake(now()); });
    run();
    const auto later = [](const Watcher& w) {
      return std::count_if(w.edges.begin(), w.edges.end(), [](Picoseconds t) { return t > 100000; });
    };
    if (later(in_b) < 20 || later(in_b) > 26) return fmt::format("{} edges of b", later(in_b));
    // a goes on as long as b.
    if (in_a.edges.back() + 1500 < in_b.edges.back())
      return fmt::format("a stopped at {}", in_a.edges.back());
    return sc_core::sc_pending_activity() ? std::string("they go on") : std::string();
  }));
}

TEST(BlockClock, WrongOptions) {
  const auto refused = [](BlockClock::Options options) {
    return isolated([options] {
      BlockClock clock("clock", options);
      return std::string("accepted");
    });
  };
  BlockClock::Options options;
  options.period = 1;
  EXPECT_EQ(refused(options).text,
            "clock clock: its period must be at least 2 ps, for a rising and a falling edge");
  options = {};
  options.quiet_edges = 0;
  EXPECT_EQ(refused(options).text, "clock clock: it stops after 1 quiet edge or more, not after 0");
  options = {};
  options.patience = 0;
  EXPECT_EQ(refused(options).text, "clock clock: its patience is 1 edge or more, not 0");
}

}  // namespace
}  // namespace weft::cosim::test
