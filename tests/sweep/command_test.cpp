// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `weft sweep` as a user calls it: the results file, what is refused, and sweeps that are ended in the
// middle.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/weft_process.h"
#include "tests/support/paths.h"
#include "tests/trace/trace_files.h"
#include "tests/vcd/vcd_parser.h"

namespace weft::test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using Rows = std::vector<std::map<std::string, std::string>>;

const char kMachine[] =
    "weft: 1\n"
    "topology:\n"
    "  notation: Ring(4)\n"
    "  dimensions: [{bandwidth: 50 GB/s, latency: 500 ns}]\n"
    "packet: {packet_size: 256 B, flit_size: 16 B, vc_classes: none, buffer_flits: 32}\n";

/// Packets for hours.
const char kEndless[] =
    "weft: 1\n"
    "topology:\n"
    "  notation: Switch(8)\n"
    "  dimensions: [{bandwidth: 50 GB/s, latency: 500 ns, fidelity: packet}]\n"
    "packet: {packet_size: 256 B, flit_size: 64 B}\n"
    "collectives: {chunks: 65535, all_to_all: direct}\n";

void sleep_ms(int ms) {
  ::usleep(static_cast<useconds_t>(ms) * 1000);
}

/// CSV with quotes (RFC 4180).
std::vector<Words> parse_csv(const std::string& text) {
  std::vector<Words> rows;
  Words row(1);
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"') {
        row.back() += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        row.back() += text[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      row.emplace_back();
    } else if (c == '\n') {
      rows.push_back(row);
      row.assign(1, "");
    } else {
      row.back() += c;
    }
  }
  EXPECT_FALSE(quoted);
  EXPECT_EQ(row, Words(1)) << "no line break at the end";
  return rows;
}

class Sweep : public ::testing::Test {
 protected:
  Sweep() { write(at("m.yaml"), kMachine); }

  std::string at(const std::string& name) const { return folder_.file(name); }

  /// A sweep of `weft collective` into FILE.
  Words collective(const std::string& file, const Words& more, const std::string& config = "m.yaml") const {
    Words words = {"sweep", at(config), "--command", "collective", "--out", at(file)};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  Rows rows(const std::string& file) const {
    const std::vector<Words> cells = parse_csv(read(at(file)));
    Rows out;
    for (size_t r = 1; r < cells.size(); ++r) {
      EXPECT_EQ(cells[r].size(), cells[0].size());
      out.emplace_back();
      for (size_t i = 0; i < cells[0].size(); ++i) out.back()[cells[0][i]] = cells[r][i];
    }
    return out;
  }
  Words column(const std::string& file, const std::string& name) const {
    Words out;
    for (const auto& row : rows(file)) out.push_back(row.at(name));
    return out;
  }
  /// Whole lines of the journal behind the first one.
  size_t journal_points(const std::string& file) const {
    std::ifstream in(at(file) + ".sweep/journal", std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto lines = std::count(text.begin(), text.end(), '\n');
    return lines == 0 ? 0 : static_cast<size_t>(lines - 1);
  }
  /// Programs that were started with a file of this test's folder and have not ended.
  size_t programs() const {
    size_t count = 0;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename().string();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      std::ifstream in(entry.path() / "cmdline", std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(in), {}};
      if (text.find(folder_.path()) != std::string::npos) ++count;
    }
    return count;
  }

  vcd::test::TemporaryFolder folder_;
};

TEST_F(Sweep, ARowForEveryPoint) {
  const Ran ran =
      weft(collective("r.csv", {"--vary", "collectives.chunks=1,2", "--vary", "--size=1 MiB,2 MiB"}));
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  EXPECT_NE(ran.out.find("4 points"), std::string::npos) << ran.out;
  EXPECT_EQ(column("r.csv", "point"), (Words{"1", "2", "3", "4"}));
  EXPECT_EQ(column("r.csv", "collectives.chunks"), (Words{"1", "1", "2", "2"}));
  EXPECT_EQ(column("r.csv", "--size"), (Words{"1 MiB", "2 MiB", "1 MiB", "2 MiB"}));
  EXPECT_EQ(column("r.csv", "exit_code"), (Words{"0", "0", "0", "0"}));
  EXPECT_EQ(column("r.csv", "results[0].bytes"), (Words{"1048576", "2097152", "1048576", "2097152"}));
  EXPECT_EQ(column("r.csv", "finished"), Words(4, "true"));
  EXPECT_EQ(column("r.csv", "error"), Words(4));
  // What the command says by itself.
  const Ran one =
      weft({"collective", at("m.yaml"), "--set", "collectives.chunks=2", "--size", "2 MiB", "--json"});
  EXPECT_NE(one.out.find("\"time_ns\": " + rows("r.csv")[3]["results[0].time_ns"] + ","), std::string::npos)
      << one.out;
  EXPECT_EQ(read(at("r.csv")).find("wall_s"), std::string::npos);
  EXPECT_FALSE(fs::exists(at("r.csv.part")));
  // Nothing runs again, and there may be more columns.
  const Ran again =
      weft(collective("r.csv", {"--vary", "collectives.chunks=1,2", "--vary", "--size=1 MiB,2 MiB",
                                "--timings", "--column", "half=results[0].time_ns/2"}));
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_TRUE(again.says({"4 of 4 points have run already"})) << again.err;
  const std::vector<Words> cells = parse_csv(read(at("r.csv")));
  EXPECT_EQ(cells[0].back(), "results[0].wall_s");
  EXPECT_EQ(std::stod(rows("r.csv")[0]["half"]) * 2, std::stod(rows("r.csv")[0]["results[0].time_ns"]));
}

TEST_F(Sweep, SameBytesForAnyNumberOfJobs) {
  const Words vary = {"--vary",
                      "packet.vcs=1,2",
                      "--vary",
                      "topology.dimensions[0].fidelity=message,packet",
                      "--vary",
                      "--size=range(64 KiB, 1 MiB, x4)",
                      "--objective",
                      "min time_ns s.t. exit_code == 0",
                      "--",
                      "--op",
                      "all_to_all",
                      "--algorithm",
                      "direct",
                      "--chunks",
                      "1"};
  std::string first;
  for (const char* jobs : {"1", "2", "4"}) {
    Words words = collective(std::string("r") + jobs, {"--jobs", jobs});
    words.insert(words.end(), vary.begin(), vary.end());
    const Ran ran = weft(words);
    ASSERT_LE(ran.status, 1) << ran.err;
    if (first.empty()) first = read(at("r1"));
    EXPECT_EQ(read(at(std::string("r") + jobs)), first) << jobs;
  }
  EXPECT_EQ(rows("r1").size(), 12u);
}

TEST_F(Sweep, FailedPointsAreRows) {
  const Ran ran = weft(collective("r.csv", {"--vary", "--algorithm=ring,in_switch,direct", "--objective",
                                            "max busbw_GBps", "--", "--size", "1 MiB"}));
  EXPECT_EQ(ran.status, 1);
  EXPECT_TRUE(ran.says({"1 of 3 points failed", "point 2 (--algorithm=in_switch)", "exit code 2"}))
      << ran.err;
  EXPECT_EQ(column("r.csv", "exit_code"), (Words{"0", "2", "0"}));
  const Rows all = rows("r.csv");
  EXPECT_NE(all[1].at("error").find("in_switch"), std::string::npos) << all[1].at("error");
  EXPECT_EQ(all[1].at("results[0].time_ns"), "");
  EXPECT_EQ(all[1].at("objective"), "");
  EXPECT_EQ(all[0].at("error"), "");
  // They are not run again unless that is asked for.
  const Words same = {"--vary", "--algorithm=ring,in_switch,direct", "--", "--size", "1 MiB"};
  EXPECT_TRUE(
      weft(collective("r.csv", same)).says({"3 of 3 points have run already", "1 of 3 points failed"}));
  Words retry = {"--retry-failed"};
  retry.insert(retry.end(), same.begin(), same.end());
  const Ran tried = weft(collective("r.csv", retry));
  EXPECT_EQ(tried.status, 1);
  EXPECT_TRUE(tried.says({"2 of 3 points have run already"})) << tried.err;
}

TEST_F(Sweep, AStallIsARowWithWhatTheCommandPrinted) {
  write(at("stall.yaml"), kMachine + std::string("collectives: {chunks: 1, all_to_all: direct}\n"));
  const Ran ran = weft(collective(
      "r.csv",
      {"--set", "topology.notation=Ring(8)", "--set", "topology.dimensions[0].fidelity=packet", "--set",
       "packet.buffer_flits=4", "--set", "packet.packet_size=512 B", "--vary",
       "packet.vcs=1,2; packet.vc_classes=none,dateline", "--", "--op", "all_to_all", "--size", "1 MiB"},
      "stall.yaml"));
  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_EQ(column("r.csv", "exit_code"), (Words{"4", "0"}));
  const Rows all = rows("r.csv");
  EXPECT_NE(all[0].at("error").find("stalled at"), std::string::npos) << all[0].at("error");
  EXPECT_EQ(all[0].at("error").find('\n'), std::string::npos);
  EXPECT_EQ(all[0].at("results[0].time_ns"), "");
  EXPECT_NE(all[1].at("results[0].time_ns"), "");
}

TEST_F(Sweep, KeysThatVaryTogetherAndQuotedValues) {
  const Ran ran = weft(collective(
      "r.csv",
      {"--vary",
       "topology.notation='FatTree(k=2,n=2)',Ring(4); topology.dimensions[0].bandwidth=\"100 GB/s\",50 GB/s",
       "--vary", "collectives.all_reduce=[ring],direct", "--", "--size", "64KiB"}));
  EXPECT_LE(ran.status, 1) << ran.err;
  EXPECT_EQ(column("r.csv", "topology.notation"),
            (Words{"FatTree(k=2,n=2)", "FatTree(k=2,n=2)", "Ring(4)", "Ring(4)"}));
  EXPECT_EQ(column("r.csv", "topology.dimensions[0].bandwidth"),
            (Words{"100 GB/s", "100 GB/s", "50 GB/s", "50 GB/s"}));
  EXPECT_EQ(column("r.csv", "collectives.all_reduce"), (Words{"[ring]", "direct", "[ring]", "direct"}));
  EXPECT_NE(read(at("r.csv")).find("\"FatTree(k=2,n=2)\""), std::string::npos);
}

TEST_F(Sweep, ObjectivesTiesAndConstraints) {
  const Words vary = {"--vary",   "npu.compute_slots=1,2",
                      "--vary",   "collectives.chunks=1,2,4",
                      "--column", "cost=0.5*npu.compute_slots + collectives.chunks + hbm.bandwidth / 2 TB/s"};
  const auto run = [&](const std::string& objective) {
    Words words = vary;
    words.insert(words.end(), {"--objective", objective, "--", "--size", "1 MiB"});
    return weft(collective("r.csv", words));
  };
  Ran ran = run("min time_ns");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(column("r.csv", "cost"), (Words{"2.5", "3.5", "5.5", "3", "4", "6"}))
      << "with a key that is not varied";
  // Slots change nothing in a collective: a tie.
  EXPECT_EQ(column("r.csv", "objective"),
            (Words{"best", "feasible", "feasible", "best", "feasible", "feasible"}));
  EXPECT_NE(ran.out.find("2 equally good points"), std::string::npos) << ran.out;
  ran = run("min time_ns s.t. cost >= 3.5, npu.compute_slots < 2");
  EXPECT_EQ(column("r.csv", "objective"),
            (Words{"infeasible", "best", "feasible", "infeasible", "infeasible", "infeasible"}));
  EXPECT_NE(ran.out.find("the best of 2 points that meet it"), std::string::npos) << ran.out;
  ran = run("max time_ns, min cost");
  EXPECT_EQ(column("r.csv", "objective"),
            (Words{"front", "front", "front", "feasible", "feasible", "feasible"}));
  ran = run("min time_ns s.t. cost > 100");
  EXPECT_EQ(ran.status, 0);
  EXPECT_NE(ran.out.find("no point meets it"), std::string::npos) << ran.out;
  // The results are there although the formula is wrong.
  fs::remove(at("r.csv"));
  ran = run("min tiem_ns");
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"no column and no key `tiem_ns`", "did you mean `results[0].time_ns`"})) << ran.err;
  EXPECT_EQ(rows("r.csv").size(), 6u);
}

TEST_F(Sweep, WhereAllPointsFailThatIsWhatIsSaid) {
  const Ran ran = weft(collective("r.csv", {"--vary", "collectives.chunks=1,2", "--objective", "min time_ns",
                                            "--", "--size", "64 KiB", "--algorithm", "in_switch"}));
  EXPECT_EQ(ran.status, 1);
  EXPECT_TRUE(ran.says({"2 of 2 points failed", "in_switch"})) << ran.err;
  EXPECT_EQ(ran.err.find("no column"), std::string::npos) << ran.err;
  EXPECT_EQ(column("r.csv", "exit_code"), (Words{"2", "2"}));
}

TEST_F(Sweep, AnUnknownNameIsToldAfterTheFirstPoint) {
  const Ran ran = weft(collective(
      "r.csv", {"--vary", "npu.compute_slots=1,2", "--column", "x=1/tiem_ns", "--", "--size", "64 KiB"}));
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"weft: warning: --column `x`: point ", "did you mean `results[0].time_ns`"}))
      << ran.err;
}

TEST_F(Sweep, EveryPointIsCheckedBeforeAnyRuns) {
  const auto refused = [&](const Words& more, const std::vector<std::string>& parts) {
    Words words = more;
    words.insert(words.end(), {"--", "--size", "64 KiB"});
    const Ran ran = weft(collective("none.csv", words));
    EXPECT_EQ(ran.status, 2) << ran.err;
    EXPECT_TRUE(ran.says(parts)) << ran.err;
    EXPECT_FALSE(fs::exists(at("none.csv.sweep")));
    EXPECT_FALSE(fs::exists(at("none.csv")));
  };
  refused({"--vary", "npu.peek=1,2"},
          {"m.yaml, point 1 of 2 (npu.peek=1)", "unknown key 'peek'", "did you mean `peak`"});
  refused({"--vary", "collective.chunks=1"}, {"m.yaml", "unknown key 'collective'", "`collectives"});
  refused({"--vary", "collectives.chunks=1,none,2,0"},
          {"point 2 of 4", "'none'", "point 4 of 4 (collectives.chunks=0)", "allowed"});
  refused({"--vary", "topology.dimensions[1].latency=1 us"}, {"index 1 is beyond"});
  refused({"--vary", "topology.dimensions[0].latency=range(1 us, 2 us, 500 ns)", "--vary", "hbm.latency=1"},
          {"point 1 of 3", "hbm.latency"});
  refused({"--vary", "npu.peak=1 TFLOPS", "--vary", "npu.peak=2 TFLOPS"}, {"`npu.peak` is varied twice"});
  refused({"--vary", "npu.peak=1 TFLOPS", "--set", "npu.peak=2 TFLOPS"}, {"--set", "keep one"});
  refused({"--vary", "collectives.chunks=range(8,1,1)"}, {"is empty"});
  refused({"--vary", "collectives.chunks=range(1,1000,1)", "--vary",
           "nmu.endpoint_delay=range(0 ns,1000 ns,1 ns)"},
          {"more than 100000 points"});
  refused({"--vary", "--sise=1 MiB"}, {"point 1 of 1", "--sise"});
  refused({}, {"--vary is missing"});
  refused({"--vary", "npu.peak=1 TFLOPS", "--objective", "fast"}, {"--objective 'fast'", "min or max"});
  refused({"--vary", "npu.peak=1 TFLOPS", "--column", "a="}, {"--column `a`"});
  refused({"--vary", "npu.peak=1 TFLOPS", "--jobs", "0"}, {"--jobs 0"});
  refused({"--vary", "npu.peak=1 TFLOPS", "--slurm-tasks", "3"}, {"belong to --slurm"});
  const Words plain = {"--vary", "npu.peak=1 TFLOPS"};
  EXPECT_TRUE(
      weft({"sweep", at("m.yaml"), "--command", "colective", "--vary", "npu.peak=1", "--out", at("none.csv")})
          .says({"did you mean collective", "traffic"}));
  EXPECT_TRUE(weft({"sweep", at("m.yaml"), "--vary", "npu.peak=1 TFLOPS", "--out", at("none.csv")})
                  .says({"workload.trace", "--trace"}));
  EXPECT_TRUE(weft({"sweep", at("m.yaml"), "--vary", "npu.peak=1 TFLOPS"}).says({"--out is missing"}));
  EXPECT_TRUE(weft({"sweep", at("m.yaml"), "--command", "collective", "--vary", "npu.peak=1 TFLOPS", "--out",
                    at("none.csv"), "--", "--out", "x"})
                  .says({"--out behind `--`", "--keep"}));
}

TEST_F(Sweep, DryRunListsThePoints) {
  const Ran ran =
      weft(collective("r.csv", {"--vary", "npu.compute_slots=1,2", "--dry-run", "--", "--size", "64 KiB"}));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(ran.out.find("point 2: npu.compute_slots=2\n"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("--size '64 KiB'"), std::string::npos) << ran.out;
  EXPECT_FALSE(fs::exists(at("r.csv.sweep")));
}

TEST_F(Sweep, TheFoldersOfPointsAreKeptIfAskedFor) {
  for (int rank = 0; rank < 4; ++rank)
    trace::test::write_trace(at("t." + std::to_string(rank) + ".et"), {trace::test::comp(1)});
  const auto run = [&](const Words& more) {
    Words words = {"sweep", at("m.yaml"), "--vary", "npu.compute_slots=1,2", "--out", at("r.csv")};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--", "--trace", at("t")});
    return weft(words);
  };
  Ran ran = run({});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(column("r.csv", "time_ns"), (Words{"1000", "1000"}));
  EXPECT_FALSE(fs::exists(at("r.csv.sweep/points")));
  ran = run({"--keep"});
  EXPECT_EQ(ran.status, 2) << "what was not kept cannot be given";
  EXPECT_TRUE(ran.says({"--keep", "--restart"})) << ran.err;
  ran = run({"--keep", "--restart"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(fs::exists(at("r.csv.sweep/points/2/summary.json")));
  // Traces that are changed make another sweep.
  trace::test::write_trace(at("t.0.et"), {trace::test::comp(1), trace::test::comp(2)});
  ran = run({"--keep"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"the traces " + at("t") + ".*.et has changed"})) << ran.err;
}

TEST_F(Sweep, AChangedSweepIsRefused) {
  const auto run = [&](const std::string& chunks, const Words& more, const std::string& size) {
    Words words = {"--vary", "collectives.chunks=" + chunks};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--", "--size", size});
    return weft(collective("r.csv", words));
  };
  ASSERT_EQ(run("1,2", {}, "64 KiB").status, 0);
  EXPECT_EQ(run("range(1,2,1)", {}, "64 KiB").status, 0) << "the same points";
  EXPECT_TRUE(run("1,2,4", {}, "64 KiB")
                  .says({"r.csv.sweep/journal", "the list of points has changed", "--restart"}));
  EXPECT_TRUE(run("1,2", {}, "128 KiB").says({"the command has changed", "--size '64 KiB'"}));
  EXPECT_TRUE(run("1,2", {"--set", "npu.compute_slots=2"}, "64 KiB").says({"the command has changed"}));
  write(at("m.yaml"), kMachine + std::string("# another line\n"));
  const Ran changed = run("1,2", {}, "64 KiB");
  EXPECT_EQ(changed.status, 2);
  EXPECT_TRUE(changed.says({"the file " + at("m.yaml") + " has changed"})) << changed.err;
  EXPECT_EQ(run("1,2", {"--restart"}, "64 KiB").status, 0);
  write(at("other.csv"), "a,b\n");
  EXPECT_TRUE(weft(collective("other.csv", {"--vary", "collectives.chunks=1", "--", "--size", "1 B"}))
                  .says({"is not the results of a sweep"}));
}

/// Table V of the paper on the pool: its sweep of bandwidths, and the pair that the paper chose.
TEST_F(Sweep, TheKneeOfThePool) {
  const std::string all = "range(256 GB/s, 2048 GB/s, 256 GB/s)";
  const Ran ran = weft(
      {"sweep", weft::test::source_dir() + "/configs/papers/table5_hiermem_base.yaml", "--command", "pool",
       "--vary", "memory.pool.in_node_bandwidth=" + all + ";memory.pool.out_node_bandwidth=" + all, "--vary",
       "memory.pool.group_bandwidth=range(100 GB/s, 500 GB/s, 100 GB/s)", "--objective",
       "min memory.pool.in_node_bandwidth + memory.pool.group_bandwidth s.t. time_ns <= "
       "1.025*lowest(time_ns)",
       "--out", at("r.csv"), "--", "--tensor", "64 MiB", "--chunk", "64 KiB"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const Rows rows_of_pool = rows("r.csv");
  ASSERT_EQ(rows_of_pool.size(), 40u);
  for (const auto& row : rows_of_pool) {
    const bool knee = row.at("memory.pool.in_node_bandwidth") == "512 GB/s" &&
                      row.at("memory.pool.group_bandwidth") == "500 GB/s";
    EXPECT_EQ(row.at("objective") == "best", knee) << row.at("point");
  }
  WEFT_NEEDS_DATA();
  std::ifstream file(data_dir() + "/golden/memory_pool.json");
  size_t compared = 0;
  const auto all_of_paper = nlohmann::json::parse(file);
  for (const auto& golden : all_of_paper["sweep"]) {
    const std::string in_node = std::to_string(golden["B_in"].get<int>()) + " GB/s";
    const std::string group = std::to_string(golden["B_group"].get<int>()) + " GB/s";
    for (const auto& row : rows_of_pool) {
      if (row.at("memory.pool.in_node_bandwidth") != in_node ||
          row.at("memory.pool.group_bandwidth") != group)
        continue;
      const double expected = golden["load"]["t_async"].get<double>() * 1e9;
      EXPECT_NEAR(std::stod(row.at("time_ns")) / expected, 1, 1e-6) << in_node << " " << group;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 40u);
}

/// SIGKILL in the middle, several times; then the same bytes as without it.
TEST_F(Sweep, GoesOnAfterKill9) {
  const Words points = {"--jobs", "2",      "--vary", "collectives.chunks=range(1, 60, 1)",
                        "--",     "--size", "64 KiB"};
  ASSERT_EQ(weft(collective("whole.csv", points)).status, 0);
  size_t kept = 0;
  size_t kills = 0;
  for (int attempt = 0; attempt < 20 && kills < 3; ++attempt) {
    RunningWeft running(collective("r.csv", points));
    while (running.running() && journal_points("r.csv") < kept + 3) sleep_ms(1);
    running.signal(SIGKILL);
    const Ran ran = running.wait();
    const size_t now = journal_points("r.csv");
    EXPECT_GE(now, kept) << "what has run stays";
    kept = now;
    if (ran.status == 128 + SIGKILL) {
      ++kills;
      EXPECT_FALSE(fs::exists(at("r.csv")));
      continue;
    }
    // It was done before the signal came: once more from the beginning.
    fs::remove_all(at("r.csv.sweep"));
    fs::remove(at("r.csv"));
    kept = 0;
  }
  ASSERT_GE(kills, 1u);
  while (programs() != 0) sleep_ms(5);  // children end with their parent
  // The end of a line that was being written.
  std::ofstream(at("r.csv.sweep/journal"), std::ios::binary | std::ios::app)
      << "0123456789abcdef {\"point\":3,\"ex";
  const Ran ran = weft(collective("r.csv", points));
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(ran.says({std::to_string(kept) + " of 60 points have run already"})) << ran.err;
  EXPECT_EQ(read(at("r.csv")), read(at("whole.csv")));
}

TEST_F(Sweep, ASignalEndsItAndItsChildrenAtOnce) {
  write(at("endless.yaml"), kEndless);
  for (const int number : {SIGINT, SIGTERM}) {
    const std::string file = "r" + std::to_string(number);
    // Small ones first, then two that take hours.
    RunningWeft running(collective(
        file, {"--jobs", "2", "--vary", "--size=1 KiB,2 KiB,64 GiB,128 GiB", "--", "--op", "all_to_all"},
        "endless.yaml"));
    while (running.running() && (journal_points(file) < 2 || programs() < 3)) sleep_ms(5);
    running.signal(number);
    const Ran ran = running.wait();
    EXPECT_EQ(ran.status, 128 + number) << ran.err;
    EXPECT_TRUE(ran.says({"2 of 4 points have run and are kept", "the same command goes on"})) << ran.err;
    EXPECT_EQ(programs(), 0u);
    EXPECT_EQ(journal_points(file), 2u) << "points that were ended are not results";
    EXPECT_FALSE(fs::exists(at(file)));
  }
}

TEST_F(Sweep, OnlyOneAtATime) {
  write(at("endless.yaml"), kEndless);
  const Words words =
      collective("r.csv", {"--vary", "--size=64 GiB,128 GiB", "--", "--op", "all_to_all"}, "endless.yaml");
  RunningWeft running(words);
  while (running.running() && !(fs::exists(at("r.csv.sweep/journal")) && programs() > 1)) sleep_ms(5);
  const Ran second = weft(words);
  EXPECT_EQ(second.status, 2);
  EXPECT_TRUE(second.says({"running already: process "})) << second.err;
  running.signal(SIGKILL);
  running.wait();
  while (programs() != 0) sleep_ms(5);
  RunningWeft after(words);
  while (after.running() && programs() < 2) sleep_ms(5);
  EXPECT_TRUE(after.running()) << after.wait().err;
  after.signal(SIGTERM);
  EXPECT_EQ(after.wait().status, 143);
}

TEST_F(Sweep, ACrashIsARow) {
  write(at("endless.yaml"), kEndless);
  RunningWeft running(
      collective("r.csv", {"--vary", "--size=64 GiB", "--", "--op", "all_to_all"}, "endless.yaml"));
  const auto child = [&]() -> int {
    for (const auto& entry : fs::directory_iterator("/proc")) {
      std::ifstream in(entry.path() / "cmdline", std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(in), {}};
      if (text.find(folder_.path()) != std::string::npos && text.find("--json") != std::string::npos)
        return std::stoi(entry.path().filename().string());
    }
    return 0;
  };
  int pid = 0;
  while (running.running() && (pid = child()) == 0) sleep_ms(5);
  ASSERT_NE(pid, 0);
  ::kill(pid, SIGKILL);
  const Ran ran = running.wait();
  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_EQ(column("r.csv", "exit_code"), (Words{"137"}));
  EXPECT_NE(rows("r.csv")[0].at("error").find("ended by signal 9"), std::string::npos);
}

/// The shares of an array job's tasks, without Slurm.
TEST_F(Sweep, TasksShareThePoints) {
  const Words tail = {"--vary", "collectives.chunks=1,2,3,4,5", "--", "--size", "64 KiB"};
  const auto with = [&](Words more, const std::string& file = "r.csv") {
    more.insert(more.end(), tail.begin(), tail.end());
    return weft(collective(file, more));
  };
  ASSERT_EQ(with({}, "whole.csv").status, 0);
  Ran ran = with({"--slurm", "--dry-run", "--slurm-tasks", "2", "--slurm-options", "--partition=long"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const std::string script = read(at("r.csv.sweep/slurm.sh"));
  EXPECT_NE(script.find("#SBATCH --array=0-1\n"), std::string::npos) << script;
  EXPECT_NE(script.find("#SBATCH --partition=long\n"), std::string::npos) << script;
  EXPECT_EQ(with({"--task", "1/2"}).status, 0);
  ran = with({"--collect"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_TRUE(ran.says({"3 of 5 points have not run"})) << ran.err;
  // The script is what a task runs.
  EXPECT_EQ(shell("SLURM_ARRAY_TASK_ID=0 bash " + at("r.csv.sweep/slurm.sh")).status, 0);
  ran = with({"--collect"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(read(at("r.csv")), read(at("whole.csv")));
  EXPECT_EQ(with({"--collect", "--restart"}).status, 2);
  EXPECT_EQ(with({"--task", "2/2"}).status, 2);
}

TEST_F(Sweep, WithoutSlurmItSaysWhatToDo) {
  const Ran ran = shell("PATH=/nowhere $WEFT sweep " + at("m.yaml") +
                        " --command collective --vary collectives.chunks=1 --out " + at("r.csv") +
                        " --slurm -- --size 1KiB");
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"sbatch was not found in PATH", "--dry-run"})) << ran.err;
}

}  // namespace
}  // namespace weft::test
