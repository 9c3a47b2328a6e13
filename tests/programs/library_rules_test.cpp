// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A communication library and fidelity by rule: what a rule lifts runs as a program on those links, all else
// as the machine has it, and the calls of a communicator follow each other whichever they are.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "configs/loader.h"
#include "tests/programs/machine_text.h"
#include "tests/relations/random.h"
#include "tests/support/isolated.h"
#include "tests/support/solo_job.h"
#include "tests/trace/trace_files.h"

namespace weft {
namespace {

using Json = nlohmann::json;
using relations::Random;
using trace::test::PbNode;
using trace::test::TempFolder;
using Traces = std::vector<std::vector<PbNode>>;

/// A machine of configs/machines with all links at that fidelity and these rules.
Config machine(const std::string& name, const std::string& fidelity, const std::string& rules = "",
               const std::string& more = "") {
  std::string text = test::machine_text(name, fidelity);
  if (!rules.empty()) text.insert(text.find("\nnpu:") + 1, "  fidelity_rules: [" + rules + "]\n");
  return parse_config(text + more, name + ".yaml");
}

constexpr ChakraProtoMsg::CollectiveCommType kOps[] = {ChakraProtoMsg::ALL_REDUCE, ChakraProtoMsg::ALL_GATHER,
                                                       ChakraProtoMsg::REDUCE_SCATTER,
                                                       ChakraProtoMsg::ALL_TO_ALL, ChakraProtoMsg::BROADCAST};

/// Calls that overlap, join late and are launched together, of all ranks; a send from each to the next one.
/// Every third call is named `b..`, the others `a..`. `any_order`: ranks may join them in different orders.
Traces drawn_job(uint32_t ranks, uint64_t i, bool any_order = false) {
  Random shape(77, "library_rules", i);
  Traces traces(ranks);
  const auto calls = static_cast<uint32_t>(shape.between(4, 9));
  struct Call {
    size_t op;
    uint64_t bytes;
    bool after;  ///< the call before it
    bool late;   ///< ranks compute before it, each for a time of its own
  };
  std::vector<Call> list;
  for (uint32_t c = 0; c < calls; ++c)
    list.push_back({static_cast<size_t>(shape.between(0, 4)),
                    16 * ranks * (uint64_t{1} << shape.between(0, 12)), shape.between(0, 2) == 0,
                    shape.between(0, 2) == 0});
  for (uint32_t r = 0; r < ranks; ++r) {
    Random own(77, fmt::format("rank{}", r), i);
    uint64_t id = 1;
    uint64_t last = 0;
    uint64_t computed = 0;  // ranks compute one after the other, so that calls are joined in one order
    for (uint32_t c = 0; c < calls; ++c) {
      std::vector<uint64_t> after;
      if (list[c].after && last != 0) after = {last};
      if (!any_order && computed != 0) after.push_back(computed);
      if (list[c].late) {
        PbNode node = trace::test::comp(id++, {}, own.between(1, 40));
        for (const uint64_t d : after) node.add_data_deps(d);
        after = {node.id()};
        traces[r].push_back(node);
        computed = node.id();
      }
      if (!any_order && list[c].after && last != 0 && !list[c].late) computed = last;
      PbNode node = trace::test::collective(id++, kOps[list[c].op], list[c].bytes);
      node.set_name(fmt::format("{}{}", c % 3 == 2 ? "b" : "a", c));
      for (const uint64_t d : after) node.add_data_deps(d);
      traces[r].push_back(node);
      last = node.id();
    }
    traces[r].push_back(trace::test::receive(id++, (r + ranks - 1) % ranks, 4096, 1));
    traces[r].push_back(trace::test::send(id++, (r + 1) % ranks, 4096, 1));
  }
  return traces;
}

/// What a run of the job tells.
Json run(const Config& config, const Traces& traces) {
  const TempFolder folder;
  for (size_t r = 0; r < traces.size(); ++r)
    trace::test::write_trace(folder / fmt::format("job.{}.et", r), traces[r]);
  const auto result = test::isolated([&] {
    const auto open = trace::open_job(folder / "job", config.npus(), "", false);
    test::SoloTraceJob job("job", config, open);
    job.start();
    test::run_to_the_end(job);
    if (!job.finished()) return job.stall_report();
    const RunResult r = job.result();
    Json json = {{"time", r.time}, {"messages", r.messages}, {"broken", r.broken_invariants}};
    for (const CollectiveRow& row : r.collectives)
      json["collectives"][row.name.str()] = {row.started, row.finished, row.messages, row.algorithm,
                                             row.protocol};
    return json.dump();
  });
  if (result.status != 0) return {{"failed", result.text}};
  const Json json = Json::parse(result.text, nullptr, false);
  return json.is_discarded() ? Json{{"failed", result.text}} : json;
}

void expect_same(const Json& a, const Json& b) {
  ASSERT_FALSE(a.contains("failed")) << a;
  ASSERT_FALSE(b.contains("failed")) << b;
  EXPECT_TRUE(a["broken"].empty()) << a["broken"];
  EXPECT_EQ(a, b);
}

const char* const kMachines[] = {"dgx_h100", "dgx_h100_2node", "dgx_a100_2node", "mi300x_2node",
                                 "ethernet_25g_pair"};

TEST(LibraryRules, ARuleForAllIsTheMachineAtThatFidelity) {
  const char* const fidelities[] = {"analytical", "message", "packet"};
  uint64_t i = 0;
  for (const char* name : kMachines)
    for (const char* from : fidelities)
      for (const char* to : fidelities) {
        if (from == to) continue;
        // Packets of large calls take long: they are for one machine of each kind.
        if (to == fidelities[2] && name == std::string("dgx_a100_2node")) continue;
        // Switches that reduce (NVLS) do so at one fidelity.
        const std::string both = std::string(from) + to;
        if (std::string(name).rfind("dgx_h100", 0) == 0 && both.find("analytical") == std::string::npos)
          continue;
        SCOPED_TRACE(fmt::format("{} {} {}: job {}", name, from, to, i));
        const Config fine = machine(name, to);
        const Traces traces = drawn_job(fine.npus(), i++);
        expect_same(run(machine(name, from, fmt::format("{{fidelity: {}}}", to)), traces), run(fine, traces));
      }
}

TEST(LibraryRules, RulesThatMatchNothingChangeNothing) {
  for (uint64_t i = 0; i < 60; ++i) {
    const char* const name = kMachines[i % 5];
    const char* const from = i % 2 == 0 ? "analytical" : "message";
    SCOPED_TRACE(fmt::format("{} {}: job {}", name, from, i));
    const Config plain = machine(name, from);
    // Closed forms may be joined in any order.
    const Traces traces = drawn_job(plain.npus(), 100 + i, i % 4 == 0);
    const std::string rule =
        fmt::format("{{name: nothing, fidelity: {}}}", i % 2 == 0 ? "message" : "analytical");
    expect_same(run(machine(name, from, rule), traces), run(plain, traces));
  }
}

TEST(LibraryRules, CallsFollowEachOtherWhicheverTheyAre) {
  for (uint64_t i = 0; i < 30; ++i) {
    const char* const name = kMachines[i % 5];
    SCOPED_TRACE(fmt::format("{}: job {}", name, i));
    Random random(78, "turns", i);
    const Config ruled =
        machine(name, i % 2 == 0 ? "analytical" : "message",
                fmt::format("{{name: 'b*', fidelity: {}}}", i % 2 == 0 ? "message" : "analytical"));
    const uint64_t a = 16 * ruled.npus() * random.between(1, 20000),
                   b = 16 * ruled.npus() * random.between(1, 20000);
    const auto calls = [&](const std::vector<std::pair<const char*, uint64_t>>& list, bool chained) {
      Traces traces(ruled.npus());
      for (auto& trace : traces)
        for (uint64_t c = 0; c < list.size(); ++c) {
          PbNode node = trace::test::collective(c + 1, ChakraProtoMsg::ALL_REDUCE, list[c].second);
          node.set_name(fmt::format("{}{}", list[c].first, c));
          if (chained && c > 0) node.add_data_deps(c);
          trace.push_back(node);
        }
      return run(ruled, traces);
    };
    const Json alone_a = calls({{"a", a}}, false), alone_b = calls({{"b", b}}, false);
    ASSERT_FALSE(alone_a.contains("failed")) << alone_a;
    ASSERT_FALSE(alone_b.contains("failed")) << alone_b;
    const uint64_t ta = alone_a["time"], tb = alone_b["time"];
    const bool closed_a = alone_a["messages"] == 0;
    EXPECT_NE(closed_a, alone_b["messages"] == 0) << "one of them runs as messages";
    // A closed form begins when all members are there, and ends at one instant for all.
    const Json chain = calls({{"a", a}, {"b", b}, {"a", a}, {"b", b}, {"a", a}}, true);
    ASSERT_FALSE(chain.contains("failed")) << chain;
    EXPECT_EQ(chain["time"], 3 * ta + 2 * tb);
    // Launched together they pay for one launch, and still follow each other.
    const auto launch = static_cast<int64_t>(library::LibraryCalls(ruled).parameters().launch_us * 1e6);
    const Json group = calls({{"a", a}, {"b", b}}, false);
    ASSERT_FALSE(group.contains("failed")) << group;
    EXPECT_NEAR(group["time"].get<double>(), static_cast<double>(ta + tb) - static_cast<double>(launch), 2);
  }
}

TEST(LibraryRules, BadInputIsNamed) {
  const auto error = [](const std::string& name, const std::string& fidelity, const std::string& rules,
                        const std::string& more) {
    return test::isolated([&] {
             try {
               const Config config = machine(name, fidelity, rules, more);
               const Machine built("machine", config, Machine::Options{});
             } catch (const UserError& e) {
               return std::string(e.what());
             }
             return std::string("accepted");
           })
        .text;
  };
  const auto expect = [](const std::string& text, const std::vector<std::string>& words) {
    for (const std::string& word : words) EXPECT_NE(text.find(word), std::string::npos) << text;
  };
  EXPECT_EQ(error("dgx_a100_2node", "analytical",
                  "{fidelity: message, dimensions: [1]}, {name: b, fidelity: packet, dimensions: [1]}", ""),
            "accepted");
  const std::string data = "\nrun: {data: functional}\n";
  expect(error("dgx_a100_2node", "analytical", "{name: b, fidelity: message}", data),
         {"run.data", "where no rule", "fidelity: message"});
  expect(error("dgx_a100_2node", "message", "{name: b, fidelity: analytical}", data),
         {"run.data", "as a rule of `topology.fidelity_rules` has it"});
  EXPECT_EQ(error("dgx_a100_2node", "message", "{name: b, fidelity: packet, dimensions: [1]}", data),
            "accepted");
  // Switches reduce for the plans of one fidelity; others that do not need them run all the same.
  const auto all_reduce = [](uint64_t bytes) {
    return test::isolated([&] {
             try {
               const Config config = machine("dgx_h100", "message", "{fidelity: packet}");
               test::SoloCollectiveJob job("job", config);
               job.start(CollectiveOp::all_reduce, bytes);
               return std::string(test::run_to_the_end(job) ? "finished" : "stalled");
             } catch (const UserError& e) {
               return std::string(e.what());
             }
           })
        .text;
  };
  EXPECT_EQ(all_reduce(64 << 10), "finished");
  expect(all_reduce(64 << 20), {"all_reduce", "nvls", "topology.fidelity_rules", "collectives.overrides"});
}

TEST(LibraryRules, LiftedProgramsCarryTheirData) {
  const std::string data = "\nrun: {data: functional}\n";
  for (const char* name : {"dgx_h100_2node", "mi300x_2node"}) {
    SCOPED_TRACE(name);
    const std::string rule = name == std::string("mi300x_2node") ? "{fidelity: packet, operation: all_gather}"
                                                                 : "{fidelity: packet, dimensions: [1]}";
    EXPECT_SILENT(test::isolated([&] {
      const Config config = machine(name, "message", rule, data);
      test::SoloCollectiveJob job("job", config);
      std::string lines;
      for (const CollectiveOp op : {CollectiveOp::all_reduce, CollectiveOp::all_gather}) {
        job.start(op, 64 << 10);
        if (!test::run_to_the_end(job)) return job.stalled_ranks();
      }
      for (const std::string& line : job.wrong_data()) lines += line + "\n";
      for (const std::string& line : job.machine().check_conservation()) lines += line + "\n";
      return lines;
    }));
  }
}

}  // namespace
}  // namespace weft
