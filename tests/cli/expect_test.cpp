// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `weft run --check`: every metric's figure is the one that the result files give, bounds are met or not as
// arithmetic says, and what is not met is told by name, row, file and line.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/job_folder.h"

namespace weft::test {
namespace {

using trace::test::collective;
using trace::test::comp;
using trace::test::PbNode;

using Rows = std::vector<std::map<std::string, std::string>>;

constexpr const char* kMachine =
    "weft: 1\n"
    "topology:\n"
    "  notation: Ring(4)\n"
    "  dimensions: [{bandwidth: 50 GB/s, latency: 500 ns, fidelity: message}]\n";

/// One check, and what it must come to. The file's line is 5 + its number.
struct Check {
  std::string entry;
  bool met;
};

class Expect : public JobFolder {
 protected:
  void SetUp() override {
    std::vector<Nodes> ranks;
    for (uint32_t r = 0; r < 4; ++r) {
      PbNode reduce = collective(2, ChakraProtoMsg::ALL_REDUCE, 400000);
      reduce.add_data_deps(1);
      PbNode gather = collective(3, ChakraProtoMsg::ALL_GATHER, 40000);
      gather.add_data_deps(2);
      ranks.push_back({comp(1, {}, 10 * (r + 1)), reduce, gather, comp(4, {3}, 70 + 5 * r)});
    }
    traces(ranks);
  }
  Ran check(const std::vector<Check>& checks, const std::vector<std::string>& more = {}) const {
    std::string text = std::string(kMachine) + "expect:\n";
    for (const Check& c : checks) text += "  - {" + c.entry + "}\n";
    std::vector<std::string> arguments = {"--check"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_traces(text, arguments);
  }
  /// Each check comes to what it must.
  void expect(const std::vector<Check>& checks) const {
    const Ran ran = check(checks);
    const bool all = std::all_of(checks.begin(), checks.end(), [](const Check& c) { return c.met; });
    EXPECT_EQ(ran.status, all ? 0 : 5) << ran.out << ran.err;
    const std::vector<bool> met = outcomes();
    ASSERT_EQ(met.size(), checks.size());
    for (size_t i = 0; i < checks.size(); ++i)
      EXPECT_EQ(met[i], checks[i].met) << checks[i].entry << "\n" << ran.out;
  }
  /// The column `met`: after the bound, the only field that is a lone 0 or 1 behind rows.
  std::vector<bool> outcomes() const {
    std::vector<bool> met;
    const std::string xml = read(at("out/junit.xml"));
    size_t from = 0;
    while ((from = xml.find("<testcase ", from)) != std::string::npos) {
      const size_t to = xml.find("</testcase>", from);
      met.push_back(xml.substr(from, to - from).find("<failure") == std::string::npos);
      from = to;
    }
    return met;
  }
  Rows rows(const std::string& file) const { return read_csv(at("out/" + file)); }
};

double number(const std::string& text) {
  return std::stod(text);
}

/// The nearest rank, from the definition: the smallest value that at least `percent` of all are not above.
double percentile(std::vector<double> values, double percent) {
  std::sort(values.begin(), values.end());
  for (const double v : values) {
    const auto not_above = std::count_if(values.begin(), values.end(), [v](double o) { return o <= v; });
    if (100.0 * static_cast<double>(not_above) >= percent * static_cast<double>(values.size())) return v;
  }
  return values.back();
}

TEST_F(Expect, EveryMetricIsWhatTheFilesSay) {
  ASSERT_EQ(check({{"metric: time, at_least: 0 ns", true}}).status, 0);
  const double time = number(rows("ranks.csv").at(0).at("time_ns"));
  const auto values = [&](const std::string& file, const std::string& column, double by = 1) {
    std::vector<double> list;
    for (const auto& row : rows(file)) list.push_back(number(row.at(column)) / by);
    return list;
  };
  std::vector<Check> checks;
  /// Bounds a part of 1e-4 to either side of the figure.
  const auto around = [&](const std::string& metric, double figure, const char* unit) {
    if (figure == 0) return;  // nothing is a part above or below
    const auto bound = [&](double factor) { return fmt::format("{:.6f}{}", figure * factor, unit); };
    checks.push_back({"metric: " + metric + ", at_most: " + bound(1.0001), true});
    checks.push_back({"metric: " + metric + ", at_most: " + bound(0.9999), false});
    checks.push_back({"metric: " + metric + ", at_least: " + bound(0.9999), true});
    checks.push_back({"metric: " + metric + ", at_least: " + bound(1.0001), false});
    checks.push_back({"metric: " + metric + ", equals: " + bound(1.0001) + ", tolerance: 0.02 %", true});
    checks.push_back({"metric: " + metric + ", equals: " + bound(1.0001), false});
    checks.push_back({"metric: " + metric + ", at_most: " + bound(0.9999) + ", tolerance: 1 %", true});
  };
  const auto time_bound = [&](const std::string& metric, double ns) {
    around(metric, std::round(ns * 100) / 100 * 1000, " ps");
    for (size_t i = checks.size() - 7; i < checks.size(); ++i) {  // whole picoseconds
      const size_t dot = checks[i].entry.find('.', checks[i].entry.find(": ", checks[i].entry.find(", ")));
      const size_t unit = checks[i].entry.find(" ps");
      if (dot != std::string::npos && dot < unit) checks[i].entry.erase(dot, unit - dot);
    }
  };
  time_bound("time", time);
  const struct {
    const char *metric, *file, *column;
  } shares[] = {{"compute", "ranks.csv", "compute_ns"},
                {"exposed_communication", "ranks.csv", "communication_ns"},
                {"link_utilisation", "links.csv", "busy_ns"}};
  for (const auto& s : shares) {
    const std::vector<double> parts = values(s.file, s.column, time);
    for (const double percent : {50.0, 90.0, 99.0})
      around(fmt::format("{}, statistic: p{:.0f}", s.metric, percent), 100 * percentile(parts, percent),
             " %");
    double sum = 0;
    for (const double part : parts) sum += part;
    around(fmt::format("{}, statistic: mean", s.metric), 100 * sum / static_cast<double>(parts.size()), " %");
    around(fmt::format("{}, statistic: max", s.metric), 100 * percentile(parts, 100), " %");
    around(fmt::format("{}, statistic: min", s.metric), 100 * *std::min_element(parts.begin(), parts.end()),
           " %");
    time_bound(fmt::format("{}, statistic: max", s.metric), time * percentile(parts, 100));
  }
  const Rows collectives = rows("collectives.csv");
  ASSERT_EQ(collectives.size(), 2u);
  for (const auto& row : collectives) {
    const std::string of = ", of: " + row.at("op");
    time_bound("collective_time" + of, number(row.at("time_ns")));
    around("bus_bandwidth" + of, number(row.at("busbw_GBps")), " GB/s");
    around("algorithm_bandwidth" + of, number(row.at("algbw_GBps")), " GB/s");
    around("efficiency" + of, 100 * number(row.at("efficiency")), " %");
  }
  const auto link = rows("links.csv").at(0);
  around("link_bytes, of: " + link.at("name"), number(link.at("bytes")) / 1000, " kB");
  for (size_t i = checks.size() - 7; i < checks.size(); ++i) {  // whole bytes
    const size_t unit = checks[i].entry.find(" kB");
    checks[i].entry.erase(unit - 3, 3);
  }
  double most = 0;
  for (const auto& row : rows("layers.csv"))
    most = std::max(most, number(row.at("compute_ns")));  // the mean of its ranks
  time_bound("layer_compute, statistic: max", most);
  around("summary, of: messages",
         nlohmann::json::parse(read(at("out/summary.json"))).at("messages").get<double>(), "");
  EXPECT_GT(checks.size(), 150u);
  expect(checks);
}

TEST_F(Expect, EveryRowMustBeWithin) {
  const auto value = [&](const char* pattern) {
    double most = 0;
    for (const auto& row : rows("ranks.csv"))
      if (std::string(pattern) == "all" || row.at("rank") == pattern)
        most = std::max(most, number(row.at("compute_ns")));
    return std::to_string(static_cast<uint64_t>(most)) + " ns";
  };
  ASSERT_EQ(check({{"metric: time, at_least: 0 ns", true}}).status, 0);
  const std::string first = value("0");
  const std::string most = value("all");
  ASSERT_NE(first, most);
  expect({{"metric: compute, at_most: " + most + ", tolerance: 0.1 %", true},
          {"metric: compute, at_most: " + first + ", tolerance: 0.1 %", false},
          {"metric: compute, of: rank0, at_most: " + first + ", tolerance: 0.1 %", true},
          {"metric: compute, of: 'rank[1-3]', at_least: " + first, true}});
  const Ran ran =
      check({{"name: \"no <slow> & \\\"odd\\\" rank\", metric: compute, at_most: " + first, false}});
  EXPECT_EQ(ran.status, 5);
  EXPECT_NE(ran.out.find("machine.yaml:6: key `expect[0]`"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("of rank3, the worst row, is outside"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("0 of 1 met"), std::string::npos) << ran.out;
  const std::string xml = read(at("out/junit.xml"));
  EXPECT_NE(xml.find("name=\"no &lt;slow&gt; &amp; &quot;odd&quot; rank\""), std::string::npos) << xml;
  EXPECT_NE(xml.find("tests=\"1\" failures=\"1\" errors=\"0\""), std::string::npos) << xml;
}

TEST_F(Expect, WhatNoRowIsCalledIsNotMet) {
  const Ran ran = check({{"metric: bus_bandwidth, of: al_reduce, at_least: 1 GB/s", false},
                         {"metric: link_utilisation, of: 'nmu9.*', at_most: 100 %", false},
                         {"metric: footprint, at_most: 1 GiB", false},
                         {"metric: summary, of: no.such.path, at_most: 1", false}});
  EXPECT_EQ(ran.status, 5);
  for (const char* part :
       {"no finished collective is called 'al_reduce'; near: all_reduce", "no link is called 'nmu9.*'",
        "no tensors were followed (key `run.footprint`)", "no number is called 'no.such.path'"})
    EXPECT_NE(ran.out.find(part), std::string::npos) << part << "\n" << ran.out;
}

TEST_F(Expect, NothingToCompareIsAnErrorBeforeTheRun) {
  Ran ran = run_traces(kMachine, {"--check"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"--check", "has no key `expect`"})) << ran.err;
  ran = check({{"metric: idle, of: 'rank[0', at_most: 5 %", false}});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"machine.yaml:6: key `expect[0]`", "rank[0"})) << ran.err;
  ran = weft({"validate", at("machine.yaml")});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"machine.yaml:6: key `expect[0]`"})) << ran.err;
}

TEST_F(Expect, WithoutCheckTheEntriesDoNothing) {
  const Ran ran = run_traces(std::string(kMachine) + "expect: [{metric: time, at_most: 1 ps}]\n");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out.find("checks"), std::string::npos);
}

TEST_F(Expect, ARunThatStallsMeetsNothing) {
  // Each waits for the other's message before it sends its own.
  std::vector<Nodes> ranks(4);
  for (uint32_t r = 0; r < 2; ++r) {
    PbNode send = trace::test::send(2, 1 - r, 1000, 7);
    send.add_data_deps(1);
    ranks[r] = {trace::test::receive(1, 1 - r, 1000, 7), send};
  }
  traces(ranks);
  const Ran ran = check({{"metric: time, at_least: 0 ns", false}});
  EXPECT_EQ(ran.status, 4) << ran.err;
  EXPECT_NE(ran.out.find("the run did not finish"), std::string::npos) << ran.out;
}

TEST_F(Expect, JobsAreCheckedByTheirNames) {
  const std::string text = std::string(kMachine) + "jobs:\n  - {name: fast, trace: a, npus: [0, 1]}\n" +
                           "  - {name: slow, trace: b, npus: [2, 3]}\nexpect:\n";
  for (const char* const name : {"a", "b"})
    for (int r = 0; r < 2; ++r)
      trace::test::write_trace(at(std::string(name) + "." + std::to_string(r) + ".et"),
                               {comp(1, {}, name[0] == 'a' ? 1000 : 9000)});
  const auto run = [&](const std::string& entries) {
    return weft({"run", config(text + entries), "--check", "--out", at("out")});
  };
  const Ran good =
      run("  - {metric: compute, job: fast, at_most: 2 ms}\n  - {metric: time, job: slow, at_least: 8 ms}\n"
          "  - {metric: time, equals: 9 ms}\n");
  EXPECT_EQ(good.status, 0) << good.out << good.err;
  const Ran bad =
      run("  - {metric: compute, at_most: 2 ms}\n  - {metric: time, job: 'none*', at_most: 1 s}\n");
  EXPECT_EQ(bad.status, 5) << bad.out;
  EXPECT_NE(bad.out.find("slow: rank"), std::string::npos) << bad.out;
  EXPECT_NE(bad.out.find("no job is called 'none*'; there are fast slow"), std::string::npos) << bad.out;
  // A job's own configuration can be run again, and jobs may come as files.
  EXPECT_EQ(weft({"run", at("out/fast/effective.yaml"), "--out", at("again")}).status, 0);
  const std::string machine =
      std::string(kMachine) + "expect:\n  - {metric: compute, job: 'job?', at_most: 10 ms}\n";
  for (const char* const name : {"a", "b"})
    write(at(std::string("job_") + name + ".yaml"), std::string("weft: 1\nworkload: {trace: ") + name +
                                                        ", npus: " + (name[0] == 'a' ? "[0, 1]" : "[2, 3]") +
                                                        "}\n");
  const Ran files = weft({"run", config(machine), "--job", at("job_a.yaml"), "--job", at("job_b.yaml"),
                          "--check", "--out", at("files")});
  EXPECT_NE(files.out.find("no job is called 'job?'; there are job_a job_b"), std::string::npos)
      << files.out << files.err;
  EXPECT_EQ(weft({"run", config(std::string(kMachine) + "expect: [{metric: time, job: x, at_most: 1 s}]\n"),
                  "--trace", at("a"), "--check", "--out", at("none")})
                .says({"there are no `jobs`"}),
            true);
}

}  // namespace
}  // namespace weft::test
