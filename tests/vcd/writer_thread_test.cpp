// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "vcd/writer_thread.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "vcd/waves.h"
#include "vcd_parser.h"

namespace weft::vcd {
namespace {

using test::read_file;

/// A writer that is called at once, or by a second thread. Both read the same clock.
struct Recording {
  Recording(WriterOptions options, bool threaded) {
    options.clock = [this] { return now; };
    if (threaded) {
      options.clock = nullptr;
      options.before_flush = [this] { thread->settle(); };
    }
    writer = std::make_unique<VcdWriter>(options);
    if (threaded) thread = std::make_unique<WriterThread>(*writer, [this] { return now; });
  }
  template <class Use>
  auto call(const Use& use) {
    return thread ? use(*thread) : use(*writer);
  }
  VcdWriter& settled() {
    if (thread) thread->settle();
    return *writer;
  }

  Time now = 0;
  std::unique_ptr<VcdWriter> writer;
  std::unique_ptr<WriterThread> thread;
};

class WriterThreadTest : public ::testing::Test {
 protected:
  WriterOptions options(const std::string& name) const {
    WriterOptions o;
    o.path = folder_.file(name);
    return o;
  }
  test::TemporaryFolder folder_;
};

/// Every kind of call, at drawn times. Returns what revoke() said.
std::vector<bool> record(Recording& r, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<SignalId> bits;
  std::vector<SignalId> spans;
  std::vector<SignalId> numbers;
  std::vector<SignalId> counts;
  std::vector<SignalId> reals;
  std::vector<SignalId> texts;
  for (int i = 0; i < 6; ++i) {
    const std::string scope = "m" + std::to_string(i) + ".";
    bits.push_back(r.writer->add_bit(scope + "bit"));
    spans.push_back(r.writer->add_bit(scope + "span"));
    numbers.push_back(r.writer->add_number(scope + "number", 20));
    counts.push_back(r.writer->add_number(scope + "count", 32));
    reals.push_back(r.writer->add_real(scope + "real"));
    texts.push_back(r.writer->add_text(scope + "text"));
  }
  std::vector<FutureHandle> handles;
  std::vector<bool> revoked;
  for (int i = 0; i < 30000; ++i) {
    if (random() % 3 == 0) r.now += random() % 40;
    const size_t k = random() % 6;
    const Time t = r.now + (random() % 2 == 0 ? 0 : random() % 500);
    // What is told ahead reads the clock; where that is rare, the clock is read once for many calls.
    const uint64_t kind = random() % (seed % 3 == 0 ? 9 : 150);
    switch (kind < 9 ? kind : kind % 6) {
      case 0:
        r.call([&](auto& w) { w.probe(t, bits[k], random() % 2); });
        break;
      case 1:
        r.call([&](auto& w) { w.span(t, t + random() % 90, spans[k]); });
        break;
      case 2:
        r.call([&](auto& w) { w.probe(t, numbers[k], random() % 1000); });
        break;
      case 3: {
        const Steps steps(2 * t, 1 + random() % 20, random() % 70, 2);
        r.call([&](auto& w) { w.add(steps, counts[k], random() % 2 == 0 ? 1 : -1); });
        break;
      }
      case 4:
        r.call([&](auto& w) { w.probe(t, reals[k], static_cast<double>(random() % 8) / 3); });
        break;
      case 5:
        r.call([&](auto& w) { w.probe(t, texts[k], "text" + std::to_string(random() % 5)); });
        break;
      case 6:
        handles.push_back(r.call([&](auto& w) { return w.probe_at(t, numbers[k], random() % 1000); }));
        break;
      case 7:
        handles.push_back(
            r.call([&](auto& w) { return w.probe_at(t, texts[k], std::string_view("ahead")); }));
        break;
      default:
        if (handles.empty()) break;
        const FutureHandle handle =
            handles[handles.size() - 1 - random() % std::min<size_t>(handles.size(), 9)];
        revoked.push_back(r.call([&](auto& w) { return w.revoke(handle); }));
    }
    if (random() % 5000 == 0) r.settled().flush();
  }
  r.settled().close(r.now + random() % 600);
  return revoked;
}

TEST_F(WriterThreadTest, TheFileIsThatOfTheCallsThemselves) {
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    WriterOptions of_calls = options("calls.vcd");
    if (seed % 4 == 1) of_calls.window = {20000, 60000};
    if (seed % 4 == 2) of_calls.max_bytes = 40000;
    of_calls.every_step = seed % 2 == 0;
    WriterOptions of_thread = of_calls;
    of_thread.path = folder_.file("thread.vcd");
    Recording calls(of_calls, false);
    Recording thread(of_thread, true);
    const std::vector<bool> by_calls = record(calls, seed);
    const std::vector<bool> by_thread = record(thread, seed);
    if (!calls.writer->truncated()) {
      EXPECT_EQ(by_calls, by_thread) << "seed " << seed;
    }
    ASSERT_EQ(calls.writer->truncated(), thread.writer->truncated()) << "seed " << seed;
    ASSERT_EQ(calls.writer->changes(), thread.writer->changes()) << "seed " << seed;
    ASSERT_TRUE(read_file(of_calls.path) == read_file(of_thread.path)) << "seed " << seed;
  }
}

TEST_F(WriterThreadTest, AFullDiskIsToldOnceAndTheRunGoesOn) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";
  WriterOptions o;
  o.path = "/dev/full";
  Recording r(o, true);
  const SignalId a = r.writer->add_number("a", 64);
  const auto many = [&] {
    for (uint64_t i = 0; i < 1000000; ++i) {
      ++r.now;
      r.thread->probe(r.now, a, r.now);
    }
  };
  EXPECT_THROW(many(), WriteError);
  EXPECT_NO_THROW(many());
  EXPECT_TRUE(r.settled().failure().has_value());
}

TEST_F(WriterThreadTest, AValueThatDoesNotFitIsAnErrorAndTheOthersAreWritten) {
  Recording r(options("w.vcd"), true);
  const SignalId a = r.writer->add_number("a", 3);
  r.thread->probe(1, a, uint64_t{8});
  r.thread->probe(2, a, uint64_t{7});
  EXPECT_THROW(r.thread->settle(), std::out_of_range);
  r.settled().close(3);
  EXPECT_EQ(test::parse_vcd(read_file(folder_.file("w.vcd"))).changes["a"],
            (std::vector<test::Change>{{0, "bx"}, {2, "b111"}}));
}

TEST_F(WriterThreadTest, TheEmergencyHookAndTheDestructorWriteWhatWasTold) {
  const std::string path = folder_.file("w.vcd");
  {
    Recording r(options("w.vcd"), true);
    const SignalId a = r.writer->add_number("a", 32);
    for (uint64_t i = 0; i < 10000; ++i) {
      r.now = i;
      r.thread->probe(i, a, i);
    }
    VcdWriter::flush_all();
    EXPECT_EQ(test::parse_vcd(read_file(path)).times.back(), 9999u);
    r.now = 20000;
    r.thread->probe(20000, a, uint64_t{1});
    r.thread.reset();
  }
  EXPECT_EQ(test::parse_vcd(read_file(path)).changes["a"].back(), (test::Change{20000, "b1"}));
}

TEST_F(WriterThreadTest, AnErrorThatNobodyHasSeenDoesNotKeepTheHookFromWriting) {
  Recording r(options("w.vcd"), true);
  const SignalId a = r.writer->add_number("a", 3);
  r.now = 5;
  r.thread->probe(5, a, uint64_t{8});
  r.thread->probe(5, a, uint64_t{7});
  VcdWriter::flush_all();
  EXPECT_EQ(test::parse_vcd(read_file(folder_.file("w.vcd"))).changes["a"].back(), (test::Change{5, "b111"}));
}

// Modules tell initial values between declarations: thousands of them before the last signal is there.
TEST_F(WriterThreadTest, SignalsAreDeclaredWhileInitialValuesAreTold) {
  std::string files[2];
  for (const bool threaded : {false, true}) {
    WavesOptions o;
    o.selection = "*";
    o.view = false;
    o.thread = threaded;
    o.writer = options("declared.vcd");
    Time now = 0;
    o.writer.clock = [&now] { return now; };
    {
      ProbeHub probes;
      Waves waves(o);
      waves.listen(probes);
      std::vector<Probe> all;
      for (uint64_t i = 0; i < 3000; ++i) {
        const std::string scope = "m" + std::to_string(i) + ".";
        all.push_back(probes.number(scope + "n", 32));
        const Probe text = probes.text(scope + "t");
        text.set(0, "initial");
        for (uint64_t k = 0; k < (i % 64 == 63 ? 13000u : 3u); ++k) all.back().set(0, i + k);
      }
      for (now = 1; now < 20000; ++now) all[now % all.size()].set(now, now);
      waves.close(now);
      all[0].set(0, 1);  // ignored
      now = 30000;
    }
    files[threaded ? 1 : 0] = read_file(folder_.file("declared.vcd"));
  }
  EXPECT_TRUE(files[0] == files[1]);
}

TEST_F(WriterThreadTest, AForkedProcessEnds) {
  Recording r(options("w.vcd"), true);
  const SignalId a = r.writer->add_number("a", 32);
  for (uint64_t i = 0; i < 10000; ++i) r.thread->probe(0, a, i);
  EXPECT_EXIT(
      {
        alarm(20);
        for (uint64_t i = 0; i < 10000; ++i) r.thread->probe(0, a, i);
        r.thread.reset();
        std::_Exit(3);
      },
      ::testing::ExitedWithCode(3), "");
}

// Forked off before or after the second thread began, it ends by exit(), which flushes what is left.
TEST_F(WriterThreadTest, AForkedProcessLeavesTheFileToItsParent) {
  for (const bool threaded : {false, true}) {
    for (const uint64_t before : {10u, 10000u}) {
      std::string files[2];
      for (const bool forks : {false, true}) {
        {
          Recording r(options("w.vcd"), threaded);
          const SignalId a = r.writer->add_number("a", 32);
          const auto tell = [&](uint64_t first, uint64_t values) {
            for (uint64_t i = first; i < first + values; ++i)
              r.call([&](auto& to) { to.probe(r.now = i, a, i); });
          };
          tell(0, before);
          if (forks) {
            EXPECT_EXIT(alarm(20); tell(before, 50000); std::exit(3), ::testing::ExitedWithCode(3), "");
          }
          tell(before, 10);
          r.settled().close(before + 10);
        }
        files[forks ? 1 : 0] = read_file(folder_.file("w.vcd"));
      }
      EXPECT_TRUE(files[0] == files[1]) << "second thread: " << threaded << ", values before: " << before;
    }
  }
}

TEST_F(WriterThreadTest, AForkedProcessDoesNotRenameTheFile) {
  WavesOptions o;
  o.selection = "*";
  o.view = false;
  o.writer = options("w.vcd");
  o.unfinished_suffix = ".part";
  ProbeHub probes;
  Waves waves(o);
  waves.listen(probes);
  probes.number("a", 32).set(0, 1);
  EXPECT_EXIT(waves.close(5); std::_Exit(3), ::testing::ExitedWithCode(3), "");
  EXPECT_TRUE(std::filesystem::exists(folder_.file("w.vcd.part")));
  waves.close(5);
  EXPECT_TRUE(std::filesystem::exists(folder_.file("w.vcd")));
}

// The handler of a signal runs in the simulator's thread, which knows what to do.
TEST_F(WriterThreadTest, SignalsOfTheProcessDoNotGoToTheSecondThread) {
  static volatile sig_atomic_t here = 0;
  static pthread_t simulator;
  simulator = pthread_self();
  struct sigaction action = {};
  struct sigaction before = {};
  action.sa_handler = [](int) { here = pthread_equal(simulator, pthread_self()) != 0 ? 1 : 2; };
  sigaction(SIGUSR1, &action, &before);
  Recording r(options("w.vcd"), true);
  const SignalId a = r.writer->add_number("a", 32);
  for (uint64_t i = 0; i < 10000; ++i) r.thread->probe(0, a, i);
  sigset_t own;
  sigset_t old;
  sigemptyset(&own);
  sigaddset(&own, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &own, &old);
  kill(getpid(), SIGUSR1);
  usleep(20000);
  EXPECT_EQ(here, 0) << "the second thread took it";
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  EXPECT_EQ(here, 1);
  sigaction(SIGUSR1, &before, nullptr);
}

}  // namespace
}  // namespace weft::vcd
