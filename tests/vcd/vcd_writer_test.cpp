// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "vcd/vcd_writer.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "vcd_parser.h"

namespace weft::vcd {
namespace {

using test::Change;
using test::parse_vcd;
using test::ParsedVcd;
using test::read_file;

class VcdWriterTest : public ::testing::Test {
 protected:
  WriterOptions options(Window window = {}) const {
    WriterOptions o;
    o.path = path();
    o.window = window;
    return o;
  }
  std::string path() const { return folder_.file("waves.vcd"); }
  ParsedVcd parsed() const { return parse_vcd(read_file(path())); }
  std::vector<Change> changes(const std::string& name) const { return parsed().changes[name]; }

  test::TemporaryFolder folder_;
};

using Changes = std::vector<Change>;

TEST_F(VcdWriterTest, TheTextIsWhatTheStandardSays) {
  VcdWriter w(options());
  const SignalId valid = w.add_bit("npu0.nmu.valid");
  const SignalId bytes = w.add_number("npu0.nmu.bytes", 8);
  const SignalId rate = w.add_real("npu0.rate");
  const SignalId state = w.add_enum("npu0.state", {"idle", "send", "wait"});
  const SignalId what = w.add_text("top");
  w.probe(0, valid, uint64_t{1});
  w.probe(0, state, uint64_t{2});
  w.advance(1500);
  w.probe(1500, bytes, uint64_t{0xa5});
  w.probe(1500, rate, 0.25);
  w.probe(1500, what, "all reduce");
  w.close(2000);
  EXPECT_EQ(read_file(path()),
            "$version Weft $end\n"
            "$timescale 1 ps $end\n"
            "$var string 1 % top $end\n"
            "$scope module npu0 $end\n"
            "$var real 64 # rate $end\n"
            "$var wire 2 $ state [1:0] $end\n"
            "$scope module nmu $end\n"
            "$var wire 1 ! valid $end\n"
            "$var wire 8 \" bytes [7:0] $end\n"
            "$upscope $end\n"
            "$upscope $end\n"
            "$enddefinitions $end\n"
            "#0\n$dumpvars\n1!\nbx \"\nrnan #\nb10 $\ns %\n$end\n"
            "#1500\nb10100101 \"\nr0.25 #\nsall\\x20reduce %\n"
            "#2000\n");
}

TEST_F(VcdWriterTest, TheLastValueAtATimeWins) {
  VcdWriter w(options());
  const SignalId a = w.add_number("a", 8);
  w.probe(0, a, uint64_t{1});
  w.advance(10);
  w.probe(10, a, uint64_t{2});
  w.probe(10, a, uint64_t{3});
  w.advance(20);
  w.probe(20, a, uint64_t{9});
  w.probe(20, a, uint64_t{3});
  w.close(30);
  EXPECT_EQ(changes("a"), (Changes{{0, "b1"}, {10, "b11"}}));
  EXPECT_EQ(w.changes(), 1u);
  EXPECT_EQ(parsed().times, (std::vector<uint64_t>{0, 10, 30}));
}

TEST_F(VcdWriterTest, FutureValuesWaitForTheirTime) {
  VcdWriter w(options());
  const SignalId a = w.add_number("a", 8);
  w.probe(500, a, uint64_t{5});
  w.probe(300, a, uint64_t{3});
  w.advance(100);
  w.probe(100, a, uint64_t{1});
  EXPECT_EQ(w.waiting(), 2u);
  w.close(1000);
  EXPECT_EQ(changes("a"), (Changes{{0, "bx"}, {100, "b1"}, {300, "b11"}, {500, "b101"}}));
}

TEST_F(VcdWriterTest, OfACommittedAndADirectValueTheLaterCallWins) {
  VcdWriter w(options());
  const SignalId a = w.add_number("a", 8);
  const SignalId b = w.add_number("b", 8);
  w.probe(0, a, uint64_t{0});
  w.probe(0, b, uint64_t{0});
  w.probe(10, a, uint64_t{1});
  w.advance(5);
  w.probe(5, b, uint64_t{7});  // a later call than a's commitment, but for an earlier time
  w.probe(10, b, uint64_t{8});
  w.advance(10);
  w.probe(10, a, uint64_t{2});
  w.close(10);
  EXPECT_EQ(changes("a"), (Changes{{0, "b0"}, {10, "b10"}}));
  EXPECT_EQ(changes("b"), (Changes{{0, "b0"}, {5, "b111"}, {10, "b1000"}}));
}

TEST_F(VcdWriterTest, ACommitmentSurvivesAnEarlierDirectValue) {
  VcdWriter w(options());
  const SignalId a = w.add_number("a", 8);
  w.probe(50, a, uint64_t{5});
  w.advance(20);
  w.probe(20, a, uint64_t{2});
  w.close(60);
  EXPECT_EQ(changes("a"), (Changes{{0, "bx"}, {20, "b10"}, {50, "b101"}}));
}

TEST_F(VcdWriterTest, RevokedValuesAreNotWritten) {
  VcdWriter w(options());
  const SignalId a = w.add_number("a", 8);
  w.probe(0, a, uint64_t{0});
  FutureHandle first = w.probe_at(100, a, uint64_t{1});
  const FutureHandle second = w.probe_at(200, a, uint64_t{2});
  EXPECT_TRUE(w.revoke(first));
  EXPECT_FALSE(w.revoke(first));
  EXPECT_FALSE(w.revoke(FutureHandle()));
  w.advance(201);
  EXPECT_FALSE(w.revoke(second)) << "it has been written";
  const FutureHandle present = w.probe_at(201, a, uint64_t{3});
  EXPECT_TRUE(w.revoke(present)) << "time has not moved past it";
  w.close(300);
  EXPECT_EQ(changes("a"), (Changes{{0, "b0"}, {200, "b10"}}));
}

TEST_F(VcdWriterTest, AHandleDoesNotReachTheNextUserOfItsPlace) {
  VcdWriter w(options());
  const SignalId a = w.add_number("a", 8);
  const FutureHandle old = w.probe_at(10, a, uint64_t{1});
  w.advance(20);
  const FutureHandle fresh = w.probe_at(30, a, uint64_t{2});
  EXPECT_FALSE(w.revoke(old));
  w.close(40);
  EXPECT_EQ(changes("a"), (Changes{{0, "bx"}, {10, "b1"}, {30, "b10"}}));
  EXPECT_FALSE(w.revoke(fresh));
}

TEST_F(VcdWriterTest, MassRevocationKeepsTheOthersAndTheMemory) {
  VcdWriter w(options());
  const SignalId a = w.add_number("a", 64);
  w.probe_at(uint64_t{1} << 40, a, uint64_t{77});
  for (uint64_t i = 1; i <= 100000; ++i) {
    EXPECT_TRUE(w.revoke(w.probe_at((uint64_t{1} << 40) + i, a, i)));
    ASSERT_EQ(w.waiting(), 1u);
  }
  w.close(uint64_t{1} << 41);
  EXPECT_EQ(changes("a"), (Changes{{0, "bx"}, {uint64_t{1} << 40, "b1001101"}}));
}

TEST_F(VcdWriterTest, TheClockMovesTime) {
  uint64_t now = 0;
  WriterOptions o = options();
  o.clock = [&now] { return now; };
  VcdWriter w(o);
  const SignalId a = w.add_bit("a");
  w.probe(0, a, uint64_t{0});
  const FutureHandle late = w.probe_at(50, a, uint64_t{1});
  now = 60;
  EXPECT_FALSE(w.revoke(late)) << "its time has passed";
  w.probe(60, a, uint64_t{0});
  EXPECT_EQ(w.now(), 60u);
  EXPECT_THROW(w.probe(59, a, uint64_t{1}), std::logic_error);
  w.close(70);
  EXPECT_EQ(changes("a"), (Changes{{0, "0"}, {50, "1"}, {60, "0"}}));
}

TEST_F(VcdWriterTest, TimeDoesNotGoBack) {
  VcdWriter w(options());
  const SignalId a = w.add_bit("a");
  w.advance(100);
  EXPECT_THROW(w.probe(99, a, uint64_t{1}), std::logic_error);
  EXPECT_THROW(w.advance(99), std::logic_error);
  EXPECT_THROW(w.close(99), std::logic_error);
  w.probe(100, a, uint64_t{1});
  w.close(100);
  EXPECT_EQ(changes("a"), (Changes{{0, "x"}, {100, "1"}}));
}

TEST_F(VcdWriterTest, AWindowDumpsTheValuesAtItsStart) {
  for (const bool change_at_start : {false, true}) {
    VcdWriter w(options({100, 200}));
    const SignalId a = w.add_number("a", 8);
    const SignalId b = w.add_bit("b");
    w.probe(0, a, uint64_t{1});
    w.advance(50);
    w.probe(50, a, uint64_t{2});
    if (change_at_start) w.probe(100, a, uint64_t{3});
    w.advance(150);
    w.probe(150, b, uint64_t{1});
    w.probe(200, a, uint64_t{4});
    EXPECT_FALSE(w.probe_at(201, a, uint64_t{5}));
    w.advance(300);
    w.probe(300, a, uint64_t{6});
    w.close(400);
    const ParsedVcd vcd = parsed();
    EXPECT_EQ(vcd.dump_time, 100u);
    EXPECT_EQ(vcd.times, (std::vector<uint64_t>{100, 150, 200}));
    EXPECT_EQ(changes("a"), (Changes{{100, change_at_start ? "b11" : "b10"}, {200, "b100"}}));
    EXPECT_EQ(changes("b"), (Changes{{100, "x"}, {150, "1"}}));
  }
}

TEST_F(VcdWriterTest, AWindowEndsWithATimeStampAndARunMayEndInside) {
  {
    VcdWriter w(options({10, 200}));
    const SignalId a = w.add_bit("a");
    w.advance(500);
    w.probe(500, a, uint64_t{1});
    w.close(600);
  }
  EXPECT_EQ(parsed().times, (std::vector<uint64_t>{10, 200}));
  {
    VcdWriter w(options({10, 200}));
    w.add_bit("a");
    w.close(50);
  }
  EXPECT_EQ(parsed().times, (std::vector<uint64_t>{10, 50}));
}

TEST_F(VcdWriterTest, ARunThatEndsBeforeTheWindowSaysSo) {
  VcdWriter w(options({100, 200}));
  w.add_bit("a");
  w.close(50);
  const ParsedVcd vcd = parsed();
  EXPECT_TRUE(vcd.times.empty());
  ASSERT_EQ(vcd.comments.size(), 1u);
  EXPECT_NE(vcd.comments[0].find("before the recorded window"), std::string::npos);
}

TEST_F(VcdWriterTest, AnEmptyWindowIsAnError) {
  EXPECT_THROW(VcdWriter(options({2, 1})), std::invalid_argument);
}

TEST_F(VcdWriterTest, TheDestructorWritesUpToNow) {
  {
    VcdWriter w(options());
    const SignalId a = w.add_bit("a");
    w.probe(0, a, uint64_t{0});
    w.advance(10);
    w.probe(10, a, uint64_t{1});
    w.probe(20, a, uint64_t{0});  // beyond the moment of the error: never happened
  }
  EXPECT_EQ(changes("a"), (Changes{{0, "0"}, {10, "1"}}));
}

TEST_F(VcdWriterTest, TheEmergencyHookSavesEveryOpenFile) {
  WriterOptions other = options();
  other.path = folder_.file("other.vcd");
  VcdWriter w(options());
  VcdWriter v(other);
  const SignalId a = w.add_bit("a");
  const SignalId b = v.add_bit("b");
  w.advance(10);
  w.probe(10, a, uint64_t{1});
  v.probe(0, b, uint64_t{1});
  VcdWriter::flush_all();
  EXPECT_EQ(changes("a"), (Changes{{0, "x"}, {10, "1"}}));
  EXPECT_EQ(parse_vcd(read_file(other.path)).changes["b"], (Changes{{0, "1"}}));
  // It may go on.
  w.advance(20);
  w.probe(20, a, uint64_t{0});
  w.close(20);
  EXPECT_EQ(changes("a"), (Changes{{0, "x"}, {10, "1"}, {20, "0"}}));
}

TEST_F(VcdWriterTest, AProgramThatExitsKeepsItsWaves) {
  const std::string file = path();
  EXPECT_EXIT(
      {
        WriterOptions o;
        o.path = file;
        auto* w = new VcdWriter(o);
        const SignalId a = w->add_bit("a");
        w->advance(7);
        w->probe(7, a, uint64_t{1});
        std::exit(3);
      },
      ::testing::ExitedWithCode(3), "");
  EXPECT_EQ(changes("a"), (Changes{{0, "x"}, {7, "1"}}));
}

TEST_F(VcdWriterTest, ProbesAfterTheEndAreIgnored) {
  VcdWriter w(options());
  const SignalId a = w.add_bit("a");
  w.close(10);
  w.close(10);
  w.probe(5, a, uint64_t{1});
  EXPECT_FALSE(w.probe_at(20, a, uint64_t{1}));
  EXPECT_EQ(parsed().times, (std::vector<uint64_t>{0, 10}));
}

TEST_F(VcdWriterTest, ValuesThatDoNotFitAreErrors) {
  VcdWriter w(options());
  const SignalId bit = w.add_bit("bit");
  const SignalId number = w.add_number("number", 3);
  const SignalId wide = w.add_number("wide", 64);
  const SignalId state = w.add_enum("state", {"a", "b", "c"});
  const SignalId real = w.add_real("real");
  const SignalId text = w.add_text("text");
  EXPECT_THROW(w.probe(0, bit, uint64_t{2}), std::out_of_range);
  EXPECT_THROW(w.probe(0, number, uint64_t{8}), std::out_of_range);
  EXPECT_THROW(w.probe(0, state, uint64_t{3}), std::out_of_range);
  EXPECT_THROW(w.probe(0, number, 1.0), std::logic_error);
  EXPECT_THROW(w.probe(0, text, uint64_t{1}), std::logic_error);
  EXPECT_THROW(w.probe(0, number, "x"), std::logic_error);
  w.probe(0, number, uint64_t{7});
  w.probe(0, wide, ~uint64_t{0});
  w.probe(0, real, uint64_t{3});
  w.probe(0, text, "a\\b\tc");
  w.close(0);
  EXPECT_EQ(changes("number"), (Changes{{0, "b111"}}));
  EXPECT_EQ(changes("wide"), (Changes{{0, "b" + std::string(64, '1')}}));
  EXPECT_EQ(changes("real"), (Changes{{0, "r3"}}));
  EXPECT_EQ(changes("text"), (Changes{{0, "sa\\x5Cb\\x09c"}}));
}

TEST_F(VcdWriterTest, RealNumbersKeepEveryBit) {
  VcdWriter w(options());
  const SignalId r = w.add_real("r");
  const std::vector<double> values = {0.1, 1.0 / 3, -0.0, 0.0, 1e308, 5e-324, -2.5e9, std::nan(""), INFINITY};
  for (size_t i = 0; i < values.size(); ++i) {
    w.advance(i + 1);
    w.probe(i + 1, r, values[i]);
  }
  w.close(100);
  const Changes read = changes("r");
  ASSERT_EQ(read.size(), values.size() + 1);
  for (size_t i = 0; i < values.size(); ++i) {
    const double value = std::strtod(read[i + 1].value.c_str() + 1, nullptr);
    if (std::isnan(values[i])) {
      EXPECT_TRUE(std::isnan(value));
    } else {
      EXPECT_EQ(value, values[i]);
      EXPECT_EQ(std::signbit(value), std::signbit(values[i]));
    }
  }
}

TEST_F(VcdWriterTest, BadNamesAreErrors) {
  VcdWriter w(options());
  w.add_bit("npu0.busy");
  for (const char* bad :
       {"", ".", "a.", ".a", "a..b", "a b", "a$", "a[0]", "a\n", "npu0.busy", "npu0", "npu0.busy.x"}) {
    EXPECT_THROW(w.add_bit(bad), std::invalid_argument) << bad;
  }
  EXPECT_THROW(w.add_number("n", 0), std::invalid_argument);
  EXPECT_THROW(w.add_number("n", 65), std::invalid_argument);
  EXPECT_THROW(w.add_enum("n", {}), std::invalid_argument);
  EXPECT_THROW(w.add_enum("n", {"a\nb"}), std::invalid_argument);
  w.add_number("n", 64);
  w.advance(1);
  EXPECT_THROW(w.add_bit("late"), std::logic_error);
}

TEST_F(VcdWriterTest, CodesAreDenseShortAndUnique) {
  VcdWriter w(options());
  constexpr size_t kSignals = 94 + 94 * 94 + 50;
  for (size_t i = 0; i < kSignals; ++i) w.add_bit("s" + std::to_string(i));
  w.close(1);
  const ParsedVcd vcd = parsed();  // refuses a code used twice
  ASSERT_EQ(vcd.codes.size(), kSignals);
  size_t length[4] = {};
  for (const auto& [name, code] : vcd.codes) ++length[code.size()];
  EXPECT_EQ(length[1], 94u);
  EXPECT_EQ(length[2], 94u * 94u);
  EXPECT_EQ(length[3], 50u);
}

TEST_F(VcdWriterTest, AFileThatCannotBeCreatedIsAnError) {
  WriterOptions o;
  o.path = folder_.file("no_such_folder/waves.vcd");
  try {
    VcdWriter w(o);
    FAIL() << "no error";
  } catch (const WriteError& e) {
    EXPECT_EQ(e.file(), o.path);
    EXPECT_NE(std::string(e.what()).find("No such file"), std::string::npos) << e.what();
  }
}

TEST_F(VcdWriterTest, AFullDiskIsAnErrorAndTheWriterGoesQuiet) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";
  WriterOptions o;
  o.path = "/dev/full";
  VcdWriter w(o);
  const SignalId a = w.add_number("a", 64);
  EXPECT_THROW(
      {
        for (uint64_t t = 1; t < 1000000; ++t) {
          w.advance(t);
          w.probe(t, a, t);
        }
      },
      WriteError);
  ASSERT_TRUE(w.failure().has_value());
  EXPECT_NE(w.failure()->reason().find("No space left"), std::string::npos);
  w.probe(w.now(), a, uint64_t{1});
  w.close(1000000);  // does not throw a second time
}

TEST_F(VcdWriterTest, ASmallFileOnAFullDiskFailsAtTheEnd) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";
  WriterOptions o;
  o.path = "/dev/full";
  VcdWriter w(o);
  w.add_bit("a");
  EXPECT_THROW(w.close(5), WriteError);
}

TEST_F(VcdWriterTest, TheBudgetStopsTheRecordingAtAWholeStep) {
  WriterOptions o = options();
  o.max_bytes = 10000;
  VcdWriter w(o);
  const SignalId a = w.add_number("a", 64);
  const SignalId b = w.add_number("b", 64);
  for (uint64_t t = 1; t < 5000; ++t) {
    w.advance(t);
    w.probe(t, a, t);
    w.probe(t, b, t);
  }
  w.close(5000);
  EXPECT_TRUE(w.truncated());
  EXPECT_FALSE(w.failure());
  EXPECT_LE(std::filesystem::file_size(path()), o.max_bytes);
  EXPECT_GT(std::filesystem::file_size(path()), o.max_bytes - 400);
  EXPECT_EQ(std::filesystem::file_size(path()), w.bytes());
  const ParsedVcd vcd = parsed();
  ASSERT_EQ(vcd.comments.size(), 1u);
  EXPECT_NE(vcd.comments[0].find("the limit of 10000 bytes"), std::string::npos);
  EXPECT_EQ(vcd.times.back(), w.truncated_at());
  EXPECT_EQ(changes("a"), changes("b"));
  EXPECT_EQ(changes("a").size() + changes("b").size() - 2, w.changes());
}

TEST_F(VcdWriterTest, ABudgetBelowTheHeaderIsAnError) {
  WriterOptions o = options();
  o.max_bytes = 1000;
  VcdWriter w(o);
  for (int i = 0; i < 100; ++i) w.add_bit("s" + std::to_string(i));
  EXPECT_THROW(w.advance(1), WriteError);
}

TEST_F(VcdWriterTest, AStepLargerThanTheBuffer) {
  VcdWriter w(options());
  std::vector<SignalId> all;
  for (int i = 0; i < 30000; ++i) all.push_back(w.add_number("s" + std::to_string(i), 64));
  for (uint64_t t = 1; t <= 2; ++t) {
    w.advance(t);
    for (const SignalId s : all) w.probe(t, s, ~uint64_t{0} - t);
  }
  w.close(3);
  const ParsedVcd vcd = parsed();
  for (const auto& [name, list] : vcd.changes) ASSERT_EQ(list.size(), 3u) << name;
}

TEST_F(VcdWriterTest, AnAliasHasTheCodeOfItsSignal) {
  VcdWriter w(options());
  const SignalId a = w.add_number("x.a", 8);
  const SignalId b = w.add_alias("y.b", a);
  const SignalId c = w.add_bit("z");
  EXPECT_EQ(w.name(b), "y.b");
  EXPECT_EQ(w.width(b), 8u);
  EXPECT_THROW(w.add_alias("x.a", a), std::invalid_argument);
  w.probe(3, a, uint64_t{5});
  w.probe(4, c, uint64_t{1});
  w.close(5);
  EXPECT_EQ(w.changes(), 2u);
  EXPECT_EQ(parsed().codes.at("x.a"), parsed().codes.at("y.b"));
  EXPECT_NE(parsed().codes.at("x.a"), parsed().codes.at("z"));
  EXPECT_EQ(changes("x.a"), changes("y.b"));
  EXPECT_EQ(changes("y.b").back().value, "b101");
}

// Known ahead or not, with and without gaps, with overlaps: the union of the spans.
TEST_F(VcdWriterTest, SpansAreAUnion) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    std::mt19937_64 random(seed);
    const uint64_t ahead = random() % 60;
    std::set<uint64_t> busy;
    {
      VcdWriter w(options());
      const SignalId bit = w.add_bit("busy");
      const SignalId number = w.add_number("n", 8);
      EXPECT_THROW(w.span(1, 2, number), std::logic_error);
      w.probe(0, bit, uint64_t{0});
      uint64_t start = 0;
      uint64_t now = 0;
      while (start < 1000) {
        const uint64_t end = start + random() % 8;
        w.span(start, end, bit);
        for (uint64_t t = start; t < end; ++t) busy.insert(t);
        start = std::max(start, end) + (random() % 2 == 0 ? 0 : random() % 9);
        if (start > end && random() % 8 == 0 && end > 1) start = end - 1;
        now = std::max(now, start - std::min(start, random() % (ahead + 1)));
        start = std::max(start, now);
        w.advance(now);
        if (random() % 20 == 0) w.flush();
      }
      w.close(2000);
    }
    bool value = false;
    std::set<uint64_t> found;
    uint64_t from = 0;
    for (const auto& change : changes("busy")) {
      for (uint64_t t = from; value && t < change.time; ++t) found.insert(t);
      value = change.value == "1";
      from = change.time;
    }
    EXPECT_FALSE(value);
    ASSERT_EQ(found, busy) << "seed " << seed;
  }
}

// In either order of bit and number, at one instant or at several.
TEST_F(VcdWriterTest, AGatedNumberIsZeroWhileItsBitIs) {
  VcdWriter w(options());
  const SignalId bit = w.add_bit("busy");
  const std::optional<SignalId> rate = w.add_gated_real("rate", bit);
  ASSERT_TRUE(rate);
  EXPECT_FALSE(w.add_gated_real("second", bit)) << "a bit gates one number";
  EXPECT_FALSE(w.add_gated_real("third", *rate)) << "a number gates nothing";
  w.probe(0, bit, uint64_t{0});
  w.probe(0, *rate, 0.0);
  w.probe(10, *rate, 1.5);  // shown from 20 on
  w.probe(20, bit, uint64_t{1});
  w.probe(30, *rate, 2.5);
  w.probe(40, bit, uint64_t{0});
  w.probe(50, bit, uint64_t{1});
  w.probe(50, *rate, 3.5);
  w.probe(60, *rate, 4.5);
  w.probe(60, bit, uint64_t{0});
  w.close(70);
  std::vector<std::pair<uint64_t, std::string>> found;
  for (const auto& change : changes("rate")) found.emplace_back(change.time, change.value);
  const std::vector<std::pair<uint64_t, std::string>> expected = {{0, "r0"},  {20, "r1.5"}, {30, "r2.5"},
                                                                  {40, "r0"}, {50, "r3.5"}, {60, "r0"}};
  EXPECT_EQ(found, expected);
}

TEST_F(VcdWriterTest, TheSameCallsGiveTheSameFile) {
  std::string first;
  for (int run = 0; run < 2; ++run) {
    VcdWriter w(options());
    const SignalId a = w.add_number("x.a", 8);
    w.probe(3, a, uint64_t{1});
    w.close(5);
    if (run == 0) {
      first = read_file(path());
    } else {
      EXPECT_EQ(read_file(path()), first);
    }
  }
}

}  // namespace
}  // namespace weft::vcd
