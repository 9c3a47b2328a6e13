// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <systemc>
#include <vector>

#include "sc_main/decimal.h"
#include "sc_main/format_in_blocks.h"
#include "sc_main/json_text.h"
#include "sc_main/near_signals.h"
#include "sc_main/output_folder.h"
#include "sc_main/progress.h"
#include "sc_main/results.h"
#include "sc_main/simulation.h"
#include "sc_main/size_list.h"
#include "sc_main/table.h"
#include "sc_main/train_results.h"
#include "tests/support/isolated.h"
#include "tlm_interconnect/packet/traffic.h"
#include "vcd/value.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

TEST(Decimal, NanosecondsAreExact) {
  EXPECT_EQ(nanoseconds(Picoseconds{0}), "0");
  EXPECT_EQ(nanoseconds(Picoseconds{1}), "0.001");
  EXPECT_EQ(nanoseconds(Picoseconds{1000}), "1");
  EXPECT_EQ(nanoseconds(Picoseconds{1234567}), "1234.567");
  EXPECT_EQ(nanoseconds(Picoseconds{1234500}), "1234.5");
  EXPECT_EQ(nanoseconds(Picoseconds{1234050}), "1234.05");
  // Beyond what a double holds.
  EXPECT_EQ(nanoseconds(Picoseconds{9007199254740993}), "9007199254740.993");
  EXPECT_EQ(nanoseconds(kNever), "18446744073709551.615");
  EXPECT_EQ(nanoseconds(static_cast<Wide>(kNever) * 1000), "18446744073709551615");
}

std::string numbers(size_t begin, size_t end) {
  std::string text;
  for (size_t i = begin; i < end; ++i) text += std::to_string(i) + "\n";
  return text;
}

TEST(FormatInBlocks, WritesAllRowsInOrder) {
  for (const size_t rows : {0, 1, 6, 7, 8, 13, 14, 15, 1000}) {
    std::string text;
    format_in_blocks(
        rows, numbers, [&](const std::string& lines) { text += lines; }, 7);
    EXPECT_EQ(text, numbers(0, rows)) << rows;
  }
}

TEST(FormatInBlocks, TellsWhatIsThrown) {
  size_t written = 0;
  const auto write = [&](const std::string&) { ++written; };
  const auto fails = [](size_t begin, size_t end) {
    if (begin == 21) throw std::runtime_error("row 21");
    return numbers(begin, end);
  };
  EXPECT_THROW(format_in_blocks(1000, fails, write, 7), std::runtime_error);
  EXPECT_EQ(written, 3u);
  const auto full = [](const std::string&) { throw std::length_error("the disk is full"); };
  EXPECT_THROW(format_in_blocks(1000, numbers, full, 7), std::length_error);
}

TEST(Decimal, MeansAreRoundedToPicoseconds) {
  EXPECT_EQ(mean_nanoseconds(0, 0), "0");
  EXPECT_EQ(mean_nanoseconds(1000, 3), "0.333");
  EXPECT_EQ(mean_nanoseconds(2000, 3), "0.667");
  EXPECT_EQ(mean_nanoseconds(static_cast<Wide>(kNever) * 4, 4), "18446744073709551.615");
}

TEST(Decimal, ForPeople) {
  EXPECT_EQ(readable_time(999), "0.999 ns");
  EXPECT_EQ(readable_time(1500000), "1.5 us");
  EXPECT_EQ(readable_time(2500000000), "2.5 ms");
  EXPECT_EQ(readable_time(3000000000000), "3 s");
  EXPECT_EQ(readable_size(0), "0 B");
  EXPECT_EQ(readable_size(65536), "64 KiB");
  EXPECT_EQ(readable_size(1572864), "1.5 MiB");
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(12345678), "12,345,678");
  EXPECT_EQ(json_number(0.0 / 0.0), "0");
}

TEST(JsonTextTest, IsJson) {
  JsonText json;
  json.begin_object();
  json.key("a \"quoted\"\n key").text("bytes \xff that are no UTF-8, \\ and \t");
  json.key("empty").begin_object();
  json.end_object();
  json.key("list").begin_array();
  json.number("1234.567");
  json.number(uint64_t{18446744073709551615u});
  json.number(0.1);
  json.boolean(false);
  json.begin_array();
  json.end_array();
  json.end_array();
  json.key("last").boolean(true);
  json.end_object();
  const auto parsed = nlohmann::json::parse(json.str());
  EXPECT_EQ(parsed["list"][1], 18446744073709551615u);
  EXPECT_EQ(parsed["list"][2], 0.1);
  EXPECT_TRUE(parsed["list"][4].is_array());
  EXPECT_TRUE(parsed["empty"].is_object());
  EXPECT_TRUE(parsed["last"]);
  EXPECT_EQ(parsed.size(), 4u);
  EXPECT_NE(json.str().find("1234.567"), std::string::npos);
}

TEST(TableTest, Aligns) {
  Table table({"a", "number"});
  table.row({"long name", "1"});
  EXPECT_EQ(table.str(2), "  a          number\n  long name       1\n");
}

TEST(SizeList, Ranges) {
  EXPECT_EQ(parse_sizes("1KiB:8KiB:x2"), (std::vector<uint64_t>{1024, 2048, 4096, 8192}));
  EXPECT_EQ(parse_sizes("1 KiB : 7 KiB : x2"), (std::vector<uint64_t>{1024, 2048, 4096}));
  EXPECT_EQ(parse_sizes("0B:10B:+4B"), (std::vector<uint64_t>{0, 4, 8}));
  EXPECT_EQ(parse_sizes("4B:4B:x2"), (std::vector<uint64_t>{4}));
  EXPECT_EQ(parse_sizes("1 MiB, 10 B"), (std::vector<uint64_t>{1048576, 10}));
  EXPECT_EQ(parse_sizes("8000PB:18000PB:x2"),
            (std::vector<uint64_t>{8000000000000000000u, 16000000000000000000u}));
}

TEST(SizeList, RefusesAndSaysWhy) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "--sizes ''"},        {"1KiB:2KiB", "three"},    {"2KiB:1KiB:x2", "larger than the last"},
      {"0B:1KiB:x2", "stays 0"}, {"1B:2B:x1", "2 or more"}, {"1B:2B:+0B", "more than 0"},
      {"1B:2B:2", "'2'"},        {"1:2B:x2", "no unit"},    {"1B:9B:x", "factor"},
      {"0B:1GB:+1B", "10000"},   {"1B:9B:x2.5", "factor"},  {"-1B:9B:x2", "negative"}};
  for (const auto& [text, part] : cases) {
    try {
      parse_sizes(text);
      ADD_FAILURE() << text << " was accepted";
    } catch (const UserError& e) {
      EXPECT_EQ(e.code(), ExitCode::usage);
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("64KiB:1GiB:x2"), std::string::npos) << e.what();
    }
  }
}

TEST(SizeOption, LettersArePowersOfTwo) {
  EXPECT_EQ(parse_size_option("64k"), 65536u);
  EXPECT_EQ(parse_size_option("64K"), 65536u);
  EXPECT_EQ(parse_size_option("1M"), 1u << 20);
  EXPECT_EQ(parse_size_option(" 1.5 m "), 3u << 19);
  EXPECT_EQ(parse_size_option("2G"), 2ull << 30);
  EXPECT_EQ(parse_size_option("1T"), 1ull << 40);
  EXPECT_EQ(parse_size_option("1 MB"), 1000000u);
  EXPECT_EQ(parse_size_option("1 MiB"), 1u << 20);
  EXPECT_EQ(parse_sizes("1k:4k:x2"), (std::vector<uint64_t>{1024, 2048, 4096}));
  EXPECT_EQ(parse_sizes("1k,2M"), (std::vector<uint64_t>{1024, 2u << 20}));
  for (const char* text : {"k", "1kk", "-1M", "1.3.5M", "1Mi", "M1", "1 M/s", "0.3k", "99999999999T", "1"})
    EXPECT_THROW(parse_size_option(text), UserError) << text;
}

TEST(SizeRangeTest, AsNcclTests) {
  EXPECT_EQ(sizes_of({"8", "64", "2", ""}), (std::vector<uint64_t>{8, 16, 32, 64}));
  EXPECT_EQ(sizes_of({"1k", "8K", "2", ""}), (std::vector<uint64_t>{1024, 2048, 4096, 8192}));
  EXPECT_EQ(sizes_of({"1M", "1G", "32", ""}), (std::vector<uint64_t>{1u << 20, 32u << 20, 1u << 30}));
  EXPECT_EQ(sizes_of({"1 KiB", "3 KiB", "", "1k"}), (std::vector<uint64_t>{1024, 2048, 3072}));
  EXPECT_EQ(sizes_of({"1M", "3M", "", ""}), (std::vector<uint64_t>{1u << 20, 2u << 20, 3u << 20}));
  EXPECT_EQ(sizes_of({"1M", "", "", ""}), (std::vector<uint64_t>{1u << 20}));
  EXPECT_EQ(sizes_of({"0", "8", "", "4"}), (std::vector<uint64_t>{0, 4, 8}));
  EXPECT_EQ(sizes_of({"18446744073709551614", "18446744073709551615", "2", ""}).size(), 1u);
  const std::vector<std::pair<SizeRange, std::string>> wrong = {{{"", "1M", "", ""}, "give -b"},
                                                                {{"1M", "", "2", ""}, "give -e"},
                                                                {{"2M", "1M", "2", ""}, "more than -e"},
                                                                {{"1", "2", "2", "1"}, "both"},
                                                                {{"1", "2", "1", ""}, "2 or more"},
                                                                {{"0", "2", "2", ""}, "stays 0"},
                                                                {{"1", "2", "", "0"}, "more than 0"},
                                                                {{"1", "1G", "", "1"}, "10000"},
                                                                {{"x", "1G", "2", ""}, "-b"},
                                                                {{"1", "1 GB/s", "2", ""}, "-e"},
                                                                {{"1", "2", "2.5", ""}, "-f"},
                                                                {{"1", "2", "", "-1"}, "-i"}};
  for (const auto& [range, part] : wrong) {
    try {
      sizes_of(range);
      ADD_FAILURE() << part;
    } catch (const UserError& e) {
      EXPECT_EQ(e.code(), ExitCode::usage);
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("-b 8 -e 128M -f 2"), std::string::npos) << e.what();
    }
  }
}

TEST(ProgressTest, NothingInTheFirstTwoSeconds) {
  std::string text;
  Progress progress([&](std::string_view t) { text += t; }, true, "nodes");
  progress.update(1.99, 1000, 1, 10);
  progress.end();
  EXPECT_EQ(text, "");
}

TEST(ProgressTest, OnATerminalOneLineIsWrittenOver) {
  std::string text;
  Progress progress([&](std::string_view t) { text += t; }, true, "nodes");
  progress.update(2.0, 1234567000, 1000, 4000);
  EXPECT_EQ(text, "\rsimulated 1.234567 ms, 1,000 of 4,000 nodes (25 %), 2 s so far, ETA 6 s");
  const size_t length = text.size() - 1;
  text.clear();
  progress.update(2.1, 1234567000, 1001, 4000);
  EXPECT_EQ(text, "") << "too soon";
  progress.update(3.0, 2000000000, 4000, 4000);
  EXPECT_EQ(text.size() - 1, length) << "the rest of the old line must go";
  EXPECT_EQ(text.find("\rsimulated 2 ms, 4,000 of 4,000 nodes (100 %), 3 s so far, ETA 0 s"), 0u) << text;
  text.clear();
  progress.end();
  EXPECT_EQ(text, "\n");
}

TEST(ProgressTest, TheTimeToGoIsThatOfAllTheWork) {
  std::string text;
  Progress progress([&](std::string_view t) { text += t; }, false, "nodes");
  int asked = 0;
  const auto work = [&] {
    ++asked;
    return Work{50, 200, "messages of size 2 of 5", 0.4, "7 % of packets by train"};
  };
  progress.update(1, 1000, work);
  EXPECT_EQ(asked, 0) << "there is nothing to say";
  progress.update(10, 1000, work);
  EXPECT_EQ(text,
            "simulated 1 ns, 50 of 200 messages of size 2 of 5 (40 %), 7 % of packets by train, 10 s so far, "
            "ETA 15 s\n");
}

TEST(TrainResults, TheMostFrequentReasonsInOneLine) {
  packet::TrainCounts trains;
  trains.packets = 600000;
  trains.trains = 1200;
  trains.splits = 30;
  const auto add = [&trains](packet::TrainReason why, uint64_t packets) {
    trains.ordinary[static_cast<size_t>(why)] += packets;
  };
  add(packet::TrainReason::filling, 100000);
  add(packet::TrainReason::compared, 120000);
  add(packet::TrainReason::stepping, 60000);
  add(packet::TrainReason::unsettled, 20000);
  add(packet::TrainReason::company, 50000);
  add(packet::TrainReason::last, 45000);
  add(packet::TrainReason::never, 5000);
  EXPECT_EQ(
      trains_text(trains),
      "60.0 % of 1,000,000 packets went by train (1,200 trains, 30 ended early); one by one 20.0 %: their "
      "stream had not recurred, 10.0 %: their path was not full yet, 5.0 %: others used their path");
  EXPECT_EQ(trains_share(trains), "60 % of packets by train");
  EXPECT_EQ(trains_text({}), "");
  EXPECT_EQ(trains_share({}), "");
  packet::TrainCounts few;
  few.packets = 99999;
  EXPECT_EQ(trains_text(few), "");
}

TEST(NearSignals, PartsFirstThenSlips) {
  const std::vector<std::string> names = {"job.npu0.state",        "job.npu0.node",
                                          "job.nmu0.d0_plus.busy", "job.nmu0.d0_plus.bytes",
                                          "job.sw0.out3.busy",     "job.nmu0.round"};
  EXPECT_EQ(near_signals("plus.busy", names).front(), "job.nmu0.d0_plus.busy");
  EXPECT_EQ(near_signals("npu[0-9].stat", names).front(), "job.npu0.state");
  EXPECT_EQ(near_signals("*.d7_plus.bites", names).front(), "job.nmu0.d0_plus.bytes");
  EXPECT_EQ(near_signals("NPU3.Node", names).front(), "job.npu0.node");
  EXPECT_EQ(near_signals("x", names).size(), 5u);
  EXPECT_TRUE(near_signals("x", {}).empty());
}

TEST(ProgressTest, ElsewhereALineNowAndThen) {
  std::string text;
  Progress progress([&](std::string_view t) { text += t; }, false, "nodes");
  progress.update(2.5, 1000, 0, 10);
  EXPECT_EQ(text, "simulated 1 ns, 0 of 10 nodes (0 %), 2 s so far, ETA unknown\n");
  text.clear();
  progress.update(5.0, 1000, 1, 10);
  EXPECT_EQ(text, "");
  progress.update(12.5, 1000, 1, 10);
  EXPECT_NE(text.find("ETA 112 s"), 0u);
  EXPECT_EQ(text.back(), '\n');
  progress.end();
}

class OutputFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "weft_out_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }
  std::string at(const std::string& name) const { return (root_ / name).string(); }

  static std::string failure(const std::function<void()>& action, ExitCode code) {
    try {
      action();
    } catch (const UserError& e) {
      EXPECT_EQ(e.code(), code) << e.what();
      return e.what();
    }
    ADD_FAILURE() << "no error";
    return "";
  }

  fs::path root_;
};

TEST_F(OutputFolderTest, MakesFoldersAndRemovesOldResultsOnly) {
  fs::create_directories(root_ / "a");
  std::ofstream(at("a/summary.json")) << "old";
  std::ofstream(at("a/mine.txt")) << "keep";
  std::ofstream(at("a/links.csv.part")) << "of a run that was killed";
  const OutputFolder folder(at("a"), {"summary.json", "links.csv"});
  EXPECT_FALSE(fs::exists(at("a/summary.json")));
  EXPECT_FALSE(fs::exists(at("a/links.csv.part")));
  EXPECT_TRUE(fs::exists(at("a/mine.txt")));
  EXPECT_EQ(std::distance(fs::directory_iterator(root_ / "a"), fs::directory_iterator()), 1)
      << "the probe is gone";
  const OutputFolder nested(at("b/c/d"), {});
  nested.write("x", "text");
  EXPECT_EQ(fs::file_size(at("b/c/d/x")), 4u);
}

TEST_F(OutputFolderTest, AFileInTheWay) {
  std::ofstream(at("file")) << "x";
  for (const char* path : {"file", "file/below"}) {
    const std::string text = failure([&] { OutputFolder folder(at(path), {}); }, ExitCode::usage);
    EXPECT_NE(text.find(at(path)), std::string::npos) << text;
    EXPECT_NE(text.find("--out"), std::string::npos) << text;
  }
  EXPECT_EQ(fs::file_size(at("file")), 1u);
}

TEST_F(OutputFolderTest, AFolderThatCannotBeWritten) {
  const std::string text = failure([] { OutputFolder folder("/proc", {}); }, ExitCode::usage);
  EXPECT_NE(text.find("/proc"), std::string::npos) << text;
  EXPECT_NE(text.find("--out"), std::string::npos) << text;
  failure([] { OutputFolder folder("", {}); }, ExitCode::usage);
}

TEST_F(OutputFolderTest, AFullDiskIsSeenAtTheLatestWhenTheFileIsClosed) {
  for (const size_t size : {size_t{9}, size_t{1} << 20}) {
    ResultFile file("/dev/full");  // a device is written directly
    const std::string text = failure(
        [&] {
          file.append(std::string(size, 'x'));
          file.close();
        },
        ExitCode::internal);
    EXPECT_NE(text.find("/dev/full"), std::string::npos) << text;
    EXPECT_NE(text.find("No space left"), std::string::npos) << text;
    EXPECT_NE(text.find("free some space"), std::string::npos) << text;
  }
}

TEST_F(OutputFolderTest, SymlinksAreRefused) {
  fs::create_directories(root_ / "a");
  std::ofstream(at("mine.txt")) << "keep";
  for (const char* name : {"summary.json", "links.csv.part"}) {
    fs::create_symlink(at("mine.txt"), at("a") + "/" + name);
    const std::string text = failure(
        [&] {
          OutputFolder(at("a"), {"summary.json", "links.csv"});
        },
        ExitCode::usage);
    EXPECT_NE(text.find(std::string("a/") + name), std::string::npos) << text;
    EXPECT_NE(text.find("symlink"), std::string::npos) << text;
    fs::remove(at("a") + "/" + name);
  }
  fs::create_symlink(at("mine.txt"), at("link"));
  failure([&] { ResultFile file(at("link")); }, ExitCode::usage);
  EXPECT_EQ(fs::file_size(at("mine.txt")), 4u);
}

TEST_F(OutputFolderTest, NamesThatAreTooLongAndLoops) {
  for (const std::string& path :
       {at(std::string(300, 'x')), at("a/" + std::string(300, 'x') + "/b"), at(std::string(5000, 'y'))}) {
    const std::string text = failure([&] { OutputFolder folder(path, {}); }, ExitCode::usage);
    EXPECT_NE(text.find("File name too long"), std::string::npos) << text;
    EXPECT_NE(text.find("--out"), std::string::npos) << text;
  }
  fs::create_symlink("loop", at("loop"));
  for (const char* path : {"loop", "loop/below"}) {
    const std::string text = failure([&] { OutputFolder folder(at(path), {}); }, ExitCode::usage);
    EXPECT_NE(text.find("symbolic links"), std::string::npos) << text;
  }
}

TEST_F(OutputFolderTest, FilesAppearWhenTheyAreComplete) {
  ResultFile one(at("one"));
  one.append("text");
  EXPECT_FALSE(fs::exists(at("one")));
  EXPECT_TRUE(fs::exists(at("one.part")));
  one.close();
  EXPECT_TRUE(fs::exists(at("one")));
  {
    FileSet together;
    ResultFile two(at("two"), &together);
    ResultFile three(at("three"), &together);
    two.close();
    EXPECT_FALSE(fs::exists(at("two")));
    three.close();
    together.finish();
    EXPECT_TRUE(fs::exists(at("two")) && fs::exists(at("three")));
    ResultFile four(at("four"), &together);
    four.close();
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(root_), fs::directory_iterator()), 3)
      << "four was not finished";
}

TEST_F(OutputFolderTest, AnUnfinishedFileIsRemoved) {
  {
    ResultFile file(at("half"));
    file.append("text");
  }
  EXPECT_FALSE(fs::exists(at("half")));
}

CollectiveRow row(Picoseconds time, Picoseconds bound) {
  CollectiveRow r;
  r.bytes = 1000;
  r.group = "7";
  r.ranks = r.members_done = 4;
  r.started = 10;
  r.finished = 10 + time;
  r.lower_bound = bound;
  return r;
}

TEST(Results, ACollectiveFasterThanPhysicsIsNamed) {
  EXPECT_EQ(check_lower_bound(row(500, 500)), "");
  const std::string text = check_lower_bound(row(499, 500));
  for (const char* part : {"all_reduce", "1000 bytes", "\"7\"", "0.499 ns", "0.5 ns"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
  CollectiveRow unfinished = row(499, 500);
  unfinished.members_done = 3;
  EXPECT_EQ(check_lower_bound(unfinished), "");
}

TEST(Results, SummaryTellsWhatIsBrokenAndUnfinished) {
  Config config;
  config.notation = "Ring(2)";
  config.dimensions.resize(1);
  config.dimensions[0].size = 2;
  RunResult result;
  result.time = 1001;
  result.ranks = {{0, {1001, 0, 0, 0, 0}, 1001}, {1, {500, 0, 0, 501, 0}, 1001}};
  result.collectives = {row(2000, 1000), row(0, 0)};
  result.collectives[1].started = kNever;
  result.collectives[1].members_done = 0;
  result.broken_invariants = {"bytes \"lost\""};
  const RunRecord record{config, result, false, {"a warning"}, 1.5, 20};
  const auto json = nlohmann::json::parse(summary_json(record));
  EXPECT_EQ(json["weft_summary"], 1);
  EXPECT_EQ(json["finished"], false);
  EXPECT_EQ(json["time_ns"], 1.001);
  EXPECT_EQ(json["categories"]["compute_ns"]["max"], 1.001);
  EXPECT_EQ(json["categories"]["compute_ns"]["mean"], 0.751);
  EXPECT_EQ(json["collectives"]["all_reduce"]["count"], 2);
  EXPECT_EQ(json["collectives"]["all_reduce"]["unfinished"], 1);
  EXPECT_EQ(json["collectives"]["all_reduce"]["efficiency"], 0.5);
  EXPECT_EQ(json["invariants"], nlohmann::json::array({"bytes \"lost\""}));
  EXPECT_EQ(json["warnings"], nlohmann::json::array({"a warning"}));
}

/// Does `action` in a process at 7 ns.
class Doer final : public sc_core::sc_module {
 public:
  Doer(sc_core::sc_module_name name, std::function<void()> action)
      : sc_module(name), action_(std::move(action)) {
    SC_HAS_PROCESS(Doer);
    SC_METHOD(act);
    sensitive << event_;
    dont_initialize();
    event_.notify(sc_core::sc_time(7, sc_core::SC_NS));
  }

 private:
  void act() { action_(); }
  std::function<void()> action_;
  sc_core::sc_event event_;
};

/// What comes out of advance() when a process does `action`: the code and the text.
std::string out_of_kernel(const std::function<void()>& action) {
  return test::isolated([&] {
           set_up_kernel();
           Doer doer("doer", action);
           try {
             advance(sc_core::sc_time(1, sc_core::SC_US));
           } catch (const UserError& e) {
             return fmt::format("{}: {}", static_cast<int>(e.code()), e.what());
           } catch (const vcd::WriteError& e) {
             return fmt::format("write: {}", e.what());
           } catch (const std::bad_alloc&) {
             return std::string("memory");
           }
           return std::string("nothing");
         })
      .text;
}

TEST(Simulation, ErrorsOfProcessesKeepWhatTheyAre) {
  EXPECT_EQ(out_of_kernel([] {}), "nothing");
  for (const ExitCode code : {ExitCode::usage, ExitCode::trace, ExitCode::internal}) {
    EXPECT_EQ(out_of_kernel([&] { throw UserError(code, "t.3.et: node 5: no"); }),
              fmt::format("{}: at 7 ns: t.3.et: node 5: no", static_cast<int>(code)));
  }
  // Handled there, and something else after it.
  EXPECT_EQ(out_of_kernel([] {
              try {
                throw UserError(ExitCode::trace, "handled");
              } catch (const UserError&) {
                SC_REPORT_ERROR("weft/tests", "of the kernel");
              }
            }),
            "1: at 7 ns: of the kernel");
  EXPECT_EQ(out_of_kernel([] { SC_REPORT_FATAL("weft/tests", "an invariant"); }), "1: at 7 ns: an invariant");
  EXPECT_EQ(out_of_kernel([] { throw std::logic_error("oops"); }),
            "1: at 7 ns: internal error: oops; please report it with the command");
  EXPECT_EQ(out_of_kernel([] { throw std::bad_alloc(); }), "memory");
  EXPECT_EQ(out_of_kernel([] { throw vcd::WriteError("w.vcd", "full"); }),
            fmt::format("write: {}", vcd::WriteError("w.vcd", "full").what()));
}

TEST(Simulation, AModuleThatCallsExitIsAnError) {
  const auto run = [](const std::function<void()>& action) {
    set_up_kernel();
    Doer doer("doer", action);
    advance(sc_core::sc_time(1, sc_core::SC_US));
    std::_Exit(77);
  };
  EXPECT_EXIT(run([] { std::exit(0); }), ::testing::ExitedWithCode(1),
              "weft: error: at 7 ns, in process doer.act: a module called exit");
  // What it has forked off may end as it likes.
  EXPECT_EXIT(run([] {
                const pid_t child = fork();
                if (child == 0) std::exit(5);
                int status = 0;
                waitpid(child, &status, 0);
                if (WEXITSTATUS(status) != 5) std::_Exit(78);
              }),
              ::testing::ExitedWithCode(77), "");
}

TEST(Simulation, ErrorsOfProcessesReachTheParentOfTrafficRuns) {
  packet::TrafficConfig config;
  config.topology = packet::make_dimensions({{Shape(DimensionKind::ring, 4), {}, {}, {}}}, {});
  config.loads = {0.1};
  config.find_saturation = false;
  try {
    packet::run_traffic(config, [](Picoseconds by) {
      set_up_kernel();
      static Doer doer("doer", [] { throw UserError(ExitCode::trace, "the pattern's file"); });
      advance(sc_core::sc_time::from_value(by));
    });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::trace);
    EXPECT_STREQ(e.what(), "at 7 ns: the pattern's file");
  }
}

}  // namespace
}  // namespace weft::cli
