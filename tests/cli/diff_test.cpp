// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `weft diff`: what is equal is equal, what differs is all there with the files' values, the largest
// difference is the first, and the order of the two results only turns the signs.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/support/job_folder.h"

namespace weft::test {
namespace {

using Json = nlohmann::json;
using trace::test::collective;
using trace::test::comp;

constexpr const char* kMachine =
    "weft: 1\n"
    "topology:\n"
    "  notation: Ring(4)\n"
    "  dimensions: [{bandwidth: 50 GB/s, latency: 500 ns, fidelity: message}]\n";

class Diff : public JobFolder {
 protected:
  void SetUp() override {
    std::vector<Nodes> ranks;
    for (uint32_t r = 0; r < 4; ++r) {
      trace::test::PbNode reduce = collective(2, ChakraProtoMsg::ALL_REDUCE, 400000);
      reduce.add_data_deps(1);
      ranks.push_back({comp(1, {}, 10 * (r + 1)), reduce, collective(3, ChakraProtoMsg::ALL_GATHER, 40000),
                       comp(4, {2}, 70)});
    }
    traces(ranks);
  }
  void run(const std::string& out, const std::vector<std::string>& sets = {}) const {
    std::vector<std::string> arguments = {"run", config(kMachine), "--trace", at("t"), "--out", at(out)};
    for (const std::string& set : sets) arguments.insert(arguments.end(), {"--set", set});
    const Ran ran = weft(arguments);
    ASSERT_EQ(ran.status, 0) << ran.err;
  }
  Json diff(const std::string& a, const std::string& b, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"diff", at(a), at(b), "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran ran = weft(arguments);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return Json::parse(ran.out);
  }
};

const Json& kind(const Json& diff, const std::string& name) {
  for (const Json& k : diff.at("kinds"))
    if (k.at("kind") == name) return k;
  throw std::runtime_error("no kind " + name);
}

TEST_F(Diff, AColumnOrAFigureThatOneResultLacksIsADifference) {
  run("a");
  run("b");
  EXPECT_EQ(weft({"diff", at("a"), at("b"), "--check"}).status, 0);
  const std::string table = read(at("b/collectives.csv"));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = table;
    changed.replace(changed.find(from), from.size(), to);
    write(at("b/collectives.csv"), changed);
  };
  with("queue_ns", "kueue_ns");
  const Ran column = weft({"diff", at("a"), at("b"), "--check"});
  EXPECT_NE(column.status, 0);
  EXPECT_TRUE(column.says({}) && column.out.find("column queue_ns of collectives.csv") != std::string::npos)
      << column.out;
  // The first row ends with `,bytes,ranks,chunks,start,..`: its start is left empty.
  const size_t row = table.find('\n') + 1;
  const std::string line = table.substr(row, table.find('\n', row) - row);
  size_t start = 0;
  for (int commas = 0; commas < 7; ++commas) start = line.find(',', start) + 1;
  std::string changed = line;
  changed.erase(start, changed.find(',', start) - start);
  with(line, changed);
  const Ran figure = weft({"diff", at("a"), at("b"), "--check"});
  EXPECT_NE(figure.status, 0);
  EXPECT_NE(figure.out.find(": start"), std::string::npos) << figure.out;
}

TEST_F(Diff, AResultEqualsItself) {
  run("a");
  run("b");
  const Ran ran = weft({"diff", at("a"), at("b"), "--check"});
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_NE(ran.out.find("the results and their configurations are equal"), std::string::npos) << ran.out;
  EXPECT_TRUE(diff("a", "b").at("equal").get<bool>());
}

TEST_F(Diff, EveryCellThatDiffersIsThereOnce) {
  run("a");
  run("b", {"topology.dimensions[0].bandwidth=25 GB/s"});
  const Json both = diff("a", "b");
  EXPECT_FALSE(both.at("equal").get<bool>());
  ASSERT_EQ(both.at("configuration").size(), 1u) << both.at("configuration");
  EXPECT_EQ(both.at("configuration")[0].at("key"), "topology.dimensions[0].bandwidth");
  const struct {
    const char *kind, *file, *name;
    std::vector<const char*> columns;
  } sheets[] = {{"rank",
                 "ranks.csv",
                 "rank",
                 {"time_ns", "compute_ns", "local_memory_ns", "remote_memory_ns", "communication_ns",
                  "communicating_ns", "idle_ns"}},
                {"link", "links.csv", "name", {"busy_ns", "queued_ns", "bytes"}}};
  for (const auto& sheet : sheets) {
    const auto a = read_csv(at(std::string("a/") + sheet.file));
    const auto b = read_csv(at(std::string("b/") + sheet.file));
    ASSERT_EQ(a.size(), b.size());
    std::multiset<std::string> expected;
    uint64_t equal = 0;
    for (size_t i = 0; i < a.size(); ++i)
      for (const char* const column : sheet.columns) {
        if (a[i].at(column) == b[i].at(column))
          ++equal;
        else
          expected.insert(a[i].at(sheet.name) + ": " + std::to_string(std::stod(a[i].at(column))) + " " +
                          std::to_string(std::stod(b[i].at(column))));
      }
    ASSERT_FALSE(expected.empty());
    std::multiset<std::string> found;
    const Json& rows = kind(both, sheet.kind);
    for (const Json& d : rows.at("differences"))
      found.insert(d.at("row").get<std::string>() + ": " + std::to_string(d.at("a").get<double>()) + " " +
                   std::to_string(d.at("b").get<double>()));
    EXPECT_EQ(found, expected);
    EXPECT_EQ(rows.at("equal").get<uint64_t>(), equal);
  }
}

TEST_F(Diff, TheLargestIsFirstAndTheOrderTurnsTheSigns) {
  run("a");
  run("b", {"topology.dimensions[0].latency=5 us"});
  const Json forth = diff("a", "b");
  const Json back = diff("b", "a");
  double last = HUGE_VAL;
  for (const Json& k : forth.at("kinds")) {
    const Json& list = k.at("differences");
    const auto by = [](const Json& d) {
      return std::fabs(d.at("b").get<double>() - d.at("a").get<double>());
    };
    const Json& other = kind(back, k.at("kind")).at("differences");
    ASSERT_EQ(list.size(), other.size());
    for (size_t i = 0; i < list.size(); ++i) {
      EXPECT_EQ(list[i].at("a"), other[i].at("b"));
      EXPECT_EQ(list[i].at("row"), other[i].at("row"));
      const std::string figure = list[i].at("figure");
      const bool time = figure.size() > 3 && figure.substr(figure.size() - 3) == "_ns";
      if (i > 0 && time) {
        EXPECT_LE(by(list[i]), by(list[i - 1]));
      }
    }
    if (k.at("kind") == "summary" || list.empty()) continue;
    EXPECT_LE(by(list[0]), last) << "kinds by their largest difference";
    last = by(list[0]);
  }
}

TEST_F(Diff, SmallDifferencesCountAsEqualBelowTheThreshold) {
  run("a");
  run("b", {"topology.dimensions[0].latency=501 ns"});
  EXPECT_EQ(weft({"diff", at("a"), at("b"), "--check"}).status, 5);
  // One figure of a copy, a hundredth more.
  std::filesystem::copy(at("a"), at("c"));
  const std::string summary = read(at("a/summary.json"));
  const std::string messages = "\"messages\": 108,";
  ASSERT_NE(summary.find(messages), std::string::npos) << summary;
  write(at("c/summary.json"),
        std::string(summary).replace(summary.find(messages), messages.size(), "\"messages\": 109,"));
  EXPECT_EQ(weft({"diff", at("a"), at("c"), "--check", "--threshold", "0.9 %"}).status, 5);
  EXPECT_EQ(weft({"diff", at("a"), at("c"), "--check", "--threshold", "1 %"}).status, 0);
  const Json all = diff("a", "b");
  const Json some = diff("a", "b", {"--threshold", "20 %"});
  for (const Json& k : all.at("kinds")) {
    const Json& other = kind(some, k.at("kind"));
    EXPECT_EQ(k.at("differences").size(),
              other.at("differences").size() + other.at("below_threshold").get<size_t>());
  }
}

TEST_F(Diff, RowsOfOneOnlyAreNamed) {
  run("a");
  config(kMachine);
  const Ran ran = weft({"run", at("machine.yaml"), "--trace", at("t"), "--out", at("b"), "--set",
                        "topology.notation=Switch(4)"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const Json both = diff("a", "b");
  const Json& links = kind(both, "link");
  EXPECT_EQ(links.at("only_a").size(), read_csv(at("a/links.csv")).size());
  EXPECT_EQ(links.at("only_b").size(), read_csv(at("b/links.csv")).size());
  EXPECT_EQ(weft({"diff", at("a"), at("b"), "--check", "--threshold", "99 %"}).status, 5);
}

TEST_F(Diff, WhatCannotBeComparedIsSaid) {
  run("a");
  Ran ran = weft({"diff", at("a"), at("nothing")});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"nothing", "no such folder"})) << ran.err;
  ran = weft({"diff", at("a"), at("a"), "--threshold", "soon"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"--threshold 'soon'", "0.5 %"})) << ran.err;
  ran = weft({"diff", at("a"), at("a"), "--rows", "0"});
  EXPECT_EQ(ran.status, 2) << ran.err;
  std::filesystem::create_directory(at("jobs"));
  write(at("jobs/summary.json"),
        R"({"weft_summary": 1, "finished": true, "time_ns": 1, "jobs": [{"name": "x"}]})");
  ran = weft({"diff", at("a"), at("jobs")});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"several jobs"})) << ran.err;
}

}  // namespace
}  // namespace weft::test
