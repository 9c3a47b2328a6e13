// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Fidelity by rule: what a rule lifts takes the time that it takes at the other fidelity, all else the time
// that it takes without rules.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/isolated.h"
#include "tests/support/solo_job.h"
#include "tests/trace/trace_files.h"
#include "workload/graph/fidelity_rules.h"

namespace weft {
namespace {

using Json = nlohmann::json;
using trace::test::attribute;
using trace::test::PbNode;
using trace::test::TempFolder;
using Shape = std::vector<std::pair<DimensionKind, uint32_t>>;

constexpr uint64_t kBytes = 64 << 10;

Config machine(const Shape& shape, Fidelity fidelity) {
  Config config;
  for (const auto& [kind, size] : shape) {
    DimensionConfig d;
    d.kind = kind;
    d.size = size;
    d.bandwidth = {160'000'000'000ull, 1};
    d.latency = 10'000;
    d.fidelity = fidelity;
    d.switching = Switching::store_and_forward;  // so that fidelities differ without contention
    config.dimensions.push_back(d);
  }
  config.collectives.chunks = 2;
  config.nmu.endpoint_delay = 2'000;
  return config;
}

FidelityRule rule(const std::string& name, Fidelity fidelity) {
  FidelityRule r;
  r.name = name;
  r.fidelity = fidelity;
  r.origin = "machine.yaml:7: key `topology.fidelity_rules[0]`";
  return r;
}

/// Three iterations of two all-reduces, one after the other, with computing between. `overlap`: the two of an
/// iteration at the same time. `messages`: and a message from every rank to the next one after them.
std::vector<std::vector<PbNode>> job(uint32_t ranks, bool overlap = false, bool messages = false) {
  std::vector<std::vector<PbNode>> traces(ranks);
  for (uint32_t r = 0; r < ranks; ++r) {
    uint64_t id = 1;
    std::vector<uint64_t> last;
    const auto add = [&](PbNode node, const std::vector<uint64_t>& after) {
      for (const uint64_t d : after) node.add_data_deps(d);
      traces[r].push_back(node);
      return node.id();
    };
    for (uint32_t i = 0; i < 3; ++i) {
      last = {add(trace::test::comp(id++, {}, 3), last)};
      std::vector<uint64_t> done;
      for (const char* layer : {"a", "b"}) {
        PbNode node = trace::test::collective(id++, ChakraProtoMsg::ALL_REDUCE, kBytes);
        node.set_name(fmt::format("iter{}.{}.gradients", i, layer));
        done.push_back(add(node, last));
        if (!overlap) last = {done.back()};
      }
      last = done;
      if (!messages) continue;
      PbNode receive = trace::test::receive(id++, (r + ranks - 1) % ranks, kBytes, i);
      PbNode send = trace::test::send(id++, (r + 1) % ranks, kBytes, i);
      send.set_name(fmt::format("iter{}.pass", i));
      const uint64_t got = add(receive, done);
      last = {got, add(send, done)};
    }
  }
  return traces;
}

/// What a run of the job tells, as JSON: by collective its time, and more.
Json run(const Config& config, const std::vector<std::vector<PbNode>>& traces, bool fold = false) {
  const TempFolder folder;
  for (size_t r = 0; r < traces.size(); ++r)
    trace::test::write_trace(folder / fmt::format("job.{}.et", r), traces[r]);
  const auto result = test::isolated([&] {
    const auto open = trace::open_job(folder / "job", config.npus(), "", false);
    test::SoloTraceJob job("job", config, open, fold);
    job.start();
    test::run_to_the_end(job);
    if (!job.finished()) return job.stall_report();
    const RunResult r = job.result();
    Json json = {{"time", r.time},
                 {"messages", r.messages},
                 {"warnings", r.warnings},
                 {"broken", r.broken_invariants},
                 {"data", r.data_collectives},
                 {"folded", r.folded_collectives},
                 {"ranks", r.simulated_ranks},
                 {"unfolded", r.unfolded}};
    json["links"] = Json::object();
    for (const CollectiveRow& row : r.collectives) {
      json["collectives"][row.name.str()] = row.time();
      json["started"][row.name.str()] = row.started;
      json["rule"][row.name.str()] = static_cast<int32_t>(row.fidelity_rule);
    }
    for (const FidelityUse& use : r.fidelity_uses) json["uses"].push_back({use.collectives, use.messages});
    for (const LinkRow& row : r.links) {
      const std::string fidelity = to_string(row.fidelity);
      json["links"][fidelity] = json["links"].value(fidelity, uint64_t{0}) + row.bytes;
      json["names"].push_back(row.name);
    }
    return json.dump();
  });
  if (result.status != 0) return {{"failed", result.text}};
  const Json json = Json::parse(result.text, nullptr, false);
  return json.is_discarded() ? Json{{"failed", result.text}} : json;
}

/// `lifted` has the time it has in `fine`, all others that in `plain`.
void expect_only(const Json& ruled, const Json& plain, const Json& fine, const std::string& lifted) {
  ASSERT_FALSE(ruled.contains("failed")) << ruled;
  ASSERT_FALSE(plain.contains("failed")) << plain;
  ASSERT_FALSE(fine.contains("failed")) << fine;
  EXPECT_TRUE(ruled["broken"].empty()) << ruled["broken"];
  EXPECT_TRUE(ruled["warnings"].empty()) << ruled["warnings"];
  EXPECT_EQ(ruled["messages"], plain["messages"]);
  EXPECT_NE(fine["collectives"][lifted], plain["collectives"][lifted]) << "the test tells nothing";
  for (const auto& [name, time] : plain["collectives"].items()) {
    EXPECT_EQ(ruled["collectives"][name], name == lifted ? fine["collectives"][name] : time) << name;
    EXPECT_EQ(ruled["rule"][name], name == lifted ? 0 : -1) << name;
  }
}

const std::vector<Shape> kShapes = {{{DimensionKind::ring, 4}},
                                    {{DimensionKind::mesh, 3}},
                                    {{DimensionKind::fully_connected, 4}},
                                    {{DimensionKind::switch_, 4}},
                                    {{DimensionKind::ring, 4}, {DimensionKind::switch_, 2}},
                                    {{DimensionKind::switch_, 2}, {DimensionKind::fully_connected, 3}}};

/// To finer and to coarser ones.
const std::pair<Fidelity, Fidelity> kPairs[] = {
    {Fidelity::message, Fidelity::packet},     {Fidelity::analytical, Fidelity::packet},
    {Fidelity::analytical, Fidelity::message}, {Fidelity::packet, Fidelity::message},
    {Fidelity::packet, Fidelity::analytical},  {Fidelity::message, Fidelity::analytical}};

TEST(FidelityRules, ARuleForAllIsTheMachineAtThatFidelity) {
  for (const Shape& shape : kShapes) {
    for (const auto& [from, to] : kPairs) {
      SCOPED_TRACE(fmt::format("{} {} dimensions, {} to {}", to_string(shape[0].first), shape.size(),
                               to_string(from), to_string(to)));
      Config ruled = machine(shape, from);
      ruled.fidelity_rules = {rule("", to)};
      const auto traces = job(ruled.npus(), true, true);
      const Json result = run(ruled, traces);
      const Json fine = run(machine(shape, to), traces);
      ASSERT_FALSE(result.contains("failed")) << result;
      ASSERT_FALSE(fine.contains("failed")) << fine;
      EXPECT_TRUE(result["broken"].empty()) << result["broken"];
      for (const char* what : {"time", "collectives", "started", "messages"})
        EXPECT_EQ(result[what], fine[what]) << what;
      EXPECT_EQ(result["links"][to_string(to)], fine["links"][to_string(to)]);
      EXPECT_EQ(result["links"][to_string(from)], 0);
      EXPECT_EQ(result["uses"][0], Json::parse("[0, 0]"));
    }
  }
}

TEST(FidelityRules, OneCollectiveOfOneIterationIsLiftedAndNothingElse) {
  for (const Shape& shape : kShapes) {
    if (shape[0].first == DimensionKind::mesh) continue;  // its ranks do not start together: nothing is alone
    for (const auto& [from, to] : kPairs) {
      SCOPED_TRACE(fmt::format("{} {} dimensions, {} to {}", to_string(shape[0].first), shape.size(),
                               to_string(from), to_string(to)));
      Config plain = machine(shape, from);
      const auto traces = job(plain.npus());
      Config ruled = plain;
      ruled.fidelity_rules = {rule("*.b.*", to)};
      ruled.fidelity_rules[0].iteration = 1;
      const Json result = run(ruled, traces);
      const Json before = run(plain, traces);
      const Json fine = run(machine(shape, to), traces);
      if (before["collectives"]["iter1.b.gradients"] == fine["collectives"]["iter1.b.gradients"]) {
        EXPECT_NE(to, Fidelity::packet);  // messages that do not contend are exact at analytical fidelity
      } else {
        expect_only(result, before, fine, "iter1.b.gradients");
      }
      const uint64_t one = fine["messages"].get<uint64_t>() / 6;
      EXPECT_EQ(result["uses"], Json::parse(fmt::format("[[5, {}], [1, {}]]", 5 * one, one)));
      const Json& wire = result["links"];
      EXPECT_EQ(wire[to_string(to)].get<uint64_t>() * 6, fine["links"][to_string(to)].get<uint64_t>());
      EXPECT_EQ(wire[to_string(from)].get<uint64_t>() * 6,
                before["links"][to_string(from)].get<uint64_t>() * 5);
      auto names = result["names"].get<std::vector<std::string>>();
      std::sort(names.begin(), names.end());
      EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end()) << "two links of one name";
    }
  }
}

TEST(FidelityRules, SomeDimensionsAreLiftedAndTheOthersAreTheSame) {
  const Shape shape = {{DimensionKind::ring, 4}, {DimensionKind::switch_, 2}, {DimensionKind::ring, 2}};
  for (const uint32_t d : {0u, 1u, 2u}) {
    Config plain = machine(shape, Fidelity::message);
    const auto traces = job(plain.npus());
    Config ruled = plain;
    ruled.fidelity_rules = {rule("iter1.b.gradients", Fidelity::packet)};
    ruled.fidelity_rules[0].dimensions = {d};
    Config fine = plain;
    fine.dimensions[d].fidelity = Fidelity::packet;
    expect_only(run(ruled, traces), run(plain, traces), run(fine, traces), "iter1.b.gradients");
  }
  // The same of packets: what is left of the network is a smaller one beside it.
  uint32_t told = 0;
  for (const uint32_t d : {0u, 1u, 2u}) {
    for (const Fidelity to : {Fidelity::message, Fidelity::analytical}) {
      const Config packets = machine(shape, Fidelity::packet);
      const auto traces = job(packets.npus());
      Config ruled = packets;
      ruled.fidelity_rules = {rule("iter1.b.gradients", to)};
      ruled.fidelity_rules[0].dimensions = {d};
      Config coarse = packets;
      coarse.dimensions[d].fidelity = to;
      const Json result = run(ruled, traces);
      const Json plain = run(packets, traces);
      const Json all = run(coarse, traces);
      ASSERT_FALSE(result.contains("failed")) << result;
      EXPECT_TRUE(result["broken"].empty()) << result["broken"];
      for (const auto& [name, time] : plain["collectives"].items())
        EXPECT_EQ(result["collectives"][name],
                  (name == "iter1.b.gradients" ? all : plain)["collectives"][name]);
      told += all["collectives"] != plain["collectives"] ? 1 : 0;
    }
  }
  EXPECT_GE(told, 3u);
  // A network of two dimensions beside the one of the first.
  Config plain = machine(shape, Fidelity::message);
  plain.dimensions[0].fidelity = Fidelity::packet;
  Config ruled = plain;
  ruled.fidelity_rules = {rule("iter0.a.gradients", Fidelity::packet)};
  const auto traces = job(plain.npus());
  expect_only(run(ruled, traces), run(plain, traces), run(machine(shape, Fidelity::packet), traces),
              "iter0.a.gradients");
}

TEST(FidelityRules, ATimeWindowIsDecidedWhenTheCollectiveStarts) {
  const Shape shape = {{DimensionKind::ring, 4}};
  const Config plain = machine(shape, Fidelity::message);
  const auto traces = job(plain.npus());
  const Json before = run(plain, traces);
  const Json fine = run(machine(shape, Fidelity::packet), traces);
  const std::string watched = "iter1.a.gradients";
  const auto start = before["started"][watched].get<Picoseconds>();
  Config ruled = plain;
  ruled.fidelity_rules = {rule("", Fidelity::packet)};
  ruled.fidelity_rules[0].from = start;
  ruled.fidelity_rules[0].to = start + 1;  // it ends much later
  expect_only(run(ruled, traces), before, fine, watched);
  // One picosecond beside it, nothing.
  for (const auto& [from, to] : {std::pair{start - 1, start}, {start + 1, start + 2}}) {
    ruled.fidelity_rules[0].from = from;
    ruled.fidelity_rules[0].to = to;
    const Json missed = run(ruled, traces);
    EXPECT_EQ(missed["collectives"], before["collectives"]);
    ASSERT_EQ(missed["warnings"].size(), 1u) << missed;
    const auto warning = missed["warnings"][0].get<std::string>();
    EXPECT_NE(warning.find("machine.yaml:7: key `topology.fidelity_rules[0]`: the rule"), std::string::npos);
    EXPECT_NE(warning.find("was for no collective and no message"), std::string::npos) << warning;
  }
}

TEST(FidelityRules, TheFirstThatFitsHoldsAndMayBeAnException) {
  const Config plain = machine({{DimensionKind::switch_, 4}}, Fidelity::message);
  const auto traces = job(plain.npus());
  Config ruled = plain;
  ruled.fidelity_rules = {rule("*.a.*", Fidelity::message), rule("iter2.*", Fidelity::packet),
                          rule("*.a.gradients", Fidelity::packet)};
  ruled.fidelity_rules[1].operation = CollectiveOp::all_reduce;
  ruled.fidelity_rules[1].group = "0";
  const Json result = run(ruled, traces);
  ASSERT_FALSE(result.contains("failed")) << result;
  EXPECT_EQ(result["rule"], Json::parse(R"({"iter0.a.gradients": 0, "iter0.b.gradients": -1,
      "iter1.a.gradients": 0, "iter1.b.gradients": -1, "iter2.a.gradients": 0, "iter2.b.gradients": 1})"));
  EXPECT_EQ(result["warnings"].size(), 1u);  // the third
  ruled.fidelity_rules = {rule("", Fidelity::packet)};
  ruled.fidelity_rules[0].group = "tensor";
  EXPECT_EQ(run(ruled, traces)["uses"][0][0], 6);
  ruled.fidelity_rules[0].group = "";
  ruled.fidelity_rules[0].operation = CollectiveOp::all_gather;
  EXPECT_EQ(run(ruled, traces)["uses"][0][0], 6);
}

TEST(FidelityRules, PointToPointMessagesAreLiftedOneByOne) {
  for (const Fidelity from : {Fidelity::message, Fidelity::analytical, Fidelity::packet}) {
    const Shape shape = {{DimensionKind::ring, 4}, {DimensionKind::switch_, 2}};
    Config plain = machine(shape, from);
    const auto traces = job(plain.npus(), false, true);
    const Json before = run(plain, traces);
    Config ruled = plain;
    ruled.fidelity_rules = {rule("", from == Fidelity::packet ? Fidelity::message : Fidelity::packet)};
    ruled.fidelity_rules[0].point_to_point = true;
    ruled.fidelity_rules[0].iteration = 2;
    const Json result = run(ruled, traces);
    ASSERT_FALSE(result.contains("failed")) << result;
    EXPECT_TRUE(result["broken"].empty()) << result["broken"];
    EXPECT_EQ(result["uses"][1], Json::parse("[0, 8]"));
    EXPECT_EQ(result["collectives"], before["collectives"]);
    EXPECT_EQ(result["started"], before["started"]);
    EXPECT_NE(result["time"], before["time"]);  // the last messages end the job
    ruled.fidelity_rules[0].iteration.reset();
    EXPECT_EQ(run(ruled, traces)["uses"][1], Json::parse("[0, 24]"));
  }
}

TEST(FidelityRules, WhatRunsAtTwoFidelitiesDoesNotContend) {
  // Two all-reduces at once: alone on their links, each takes the time that it takes alone.
  for (const Shape& shape : kShapes) {
    const auto with_slots = [&](Fidelity fidelity) {
      Config config = machine(shape, fidelity);
      config.collectives.active_chunks_per_dimension = 4;  // no chunk waits for another's slot
      return config;
    };
    const Config plain = with_slots(Fidelity::message);
    const auto alone = job(plain.npus());
    const auto both = job(plain.npus(), true);
    const Json slow = run(with_slots(Fidelity::packet), alone);
    const Json fast = run(plain, alone);
    Config ruled = plain;
    ruled.fidelity_rules = {rule("*.b.*", Fidelity::packet)};
    const Json result = run(ruled, both);
    ASSERT_FALSE(result.contains("failed")) << result;
    EXPECT_TRUE(result["broken"].empty()) << result["broken"];
    EXPECT_EQ(result["uses"][1][0], 3);
    const char* const message = "iter0.a.gradients";
    const char* const packet = "iter0.b.gradients";
    EXPECT_GT(run(plain, both)["collectives"][message], fast["collectives"][message]);
    EXPECT_EQ(result["collectives"][message], fast["collectives"][message]);
    EXPECT_EQ(result["collectives"][packet], slow["collectives"][packet]);
  }
}

TEST(FidelityRules, DataArriveWhole) {
  for (const Shape& shape : kShapes) {
    for (const Fidelity from : {Fidelity::message, Fidelity::analytical, Fidelity::packet}) {
      Config config = machine(shape, from);
      config.run.data = "functional";
      config.fidelity_rules = {rule("iter1.b.*", Fidelity::packet), rule("*.pass", Fidelity::packet),
                               rule("iter2.*", Fidelity::message)};
      config.fidelity_rules[1].dimensions = {0};
      const Json result = run(config, job(config.npus(), true, true));
      ASSERT_FALSE(result.contains("failed")) << result;
      EXPECT_TRUE(result["broken"].empty()) << result["broken"];
      EXPECT_EQ(result["data"], 6);
      EXPECT_EQ(result["uses"][1][0], 1);
      EXPECT_EQ(result["uses"][3][0], 2);
    }
  }
}

TEST(FidelityRules, TheOthersStillFold) {
  for (const Shape& shape : {kShapes[0], kShapes[3], kShapes[4]}) {
    Config config = machine(shape, Fidelity::analytical);
    const auto traces = job(config.npus());
    config.fidelity_rules = {rule("iter1.b.*", Fidelity::packet)};
    const Json whole = run(config, traces, false);
    const Json folded = run(config, traces, true);
    ASSERT_FALSE(folded.contains("failed")) << folded;
    EXPECT_EQ(folded["collectives"], whole["collectives"]);
    EXPECT_EQ(folded["messages"], whole["messages"]);
    EXPECT_EQ(folded["links"], whole["links"]);
    EXPECT_TRUE(folded["broken"].empty()) << folded["broken"];
    EXPECT_EQ(folded["unfolded"],
              Json({{"a fidelity rule may be for one of their collectives", config.npus()}}));
    EXPECT_EQ(folded["folded"], 5);
    // A rule that can be for none of them leaves the ranks folded.
    config.fidelity_rules[0].iteration = 7;
    EXPECT_EQ(run(config, traces, true)["ranks"], 1);
  }
}

TEST(FidelityRules, WhatRulesCannotDoIsRefused) {
  Config config = machine({{DimensionKind::switch_, 4}, {DimensionKind::ring, 2}}, Fidelity::message);
  config.fidelity_rules = {rule("*", Fidelity::packet)};
  config.collectives.algorithms[0] = {"in_switch", ""};
  const auto planes = [&] { graph::FidelityRules rules(config); };
  trace::test::expect_error(planes, {"machine.yaml:7", "takes dimension 0 to packet", "in_switch"},
                            ExitCode::usage);
  config.fidelity_rules[0].dimensions = {1};
  EXPECT_NO_THROW(planes());
  config.dimensions[0].fidelity = Fidelity::packet;
  trace::test::expect_error(planes, {"machine.yaml:7", "dimension 0", "another packet network", "in_switch"},
                            ExitCode::usage);
}

TEST(FidelityRules, ACollectiveBesidesOneInTheSwitch) {
  Config config = machine({{DimensionKind::switch_, 4}, {DimensionKind::ring, 2}}, Fidelity::message);
  config.collectives.algorithms[0] = {"in_switch", ""};
  config.run.data = "functional";
  config.fidelity_rules = {rule("iter1.b.*", Fidelity::packet)};
  config.fidelity_rules[0].dimensions = {1};
  const Json result = run(config, job(config.npus()));
  ASSERT_FALSE(result.contains("failed")) << result;
  EXPECT_TRUE(result["broken"].empty()) << result["broken"];
  EXPECT_EQ(result["data"], 6);
  EXPECT_EQ(result["uses"][1][0], 1);
}

TEST(FidelityRules, ACollectiveWithoutATraceIsLiftedByOperationAndTime) {
  const auto time = [](Config config) {
    const auto result = test::isolated([&] {
      test::SoloCollectiveJob job("job", config);
      job.start(CollectiveOp::all_reduce, kBytes);
      sc_core::sc_start();
      const RunResult r = job.result();
      return fmt::format("{} {} {}", r.time, r.broken_invariants.size(), r.warnings.size());
    });
    return result.text;
  };
  Config ruled = machine(kShapes[0], Fidelity::message);
  ruled.fidelity_rules = {rule("", Fidelity::packet)};
  ruled.fidelity_rules[0].operation = CollectiveOp::all_reduce;
  EXPECT_EQ(time(ruled), time(machine(kShapes[0], Fidelity::packet)));
  EXPECT_NE(time(ruled), time(machine(kShapes[0], Fidelity::message)));
}

TEST(FidelityRules, IterationsAreToldByAttributeOrName) {
  const std::vector<std::pair<const char*, int>> names = {{"iter3.layer2.allreduce", 3},
                                                          {"iteration 12", 12},
                                                          {"ProfilerStep#5", 5},
                                                          {"train/step_07/x", 7},
                                                          {"ITER=4", 4},
                                                          {"layer3", -1},
                                                          {"timestep3", -1},
                                                          {"biteration3", -1},
                                                          {"iterations", -1},
                                                          {"step", -1},
                                                          {"", -1},
                                                          {"iter", -1},
                                                          {"iter99999999999999999999999", -1}};
  for (const auto& [name, wanted] : names) {
    const auto told = graph::iteration_of(std::string_view(name));
    EXPECT_EQ(told ? static_cast<int>(*told) : -1, wanted) << name;
  }
  // The attribute comes before the name.
  const Config plain = machine(kShapes[0], Fidelity::message);
  auto traces = job(plain.npus());
  for (auto& trace : traces) {
    for (PbNode& node : trace) {
      if (node.name() == "iter0.b.gradients") attribute(node, "iteration", 41);
    }
  }
  Config ruled = plain;
  ruled.fidelity_rules = {rule("", Fidelity::packet)};
  ruled.fidelity_rules[0].iteration = 41;
  expect_only(run(ruled, traces), run(plain, traces), run(machine(kShapes[0], Fidelity::packet), traces),
              "iter0.b.gradients");
}

}  // namespace
}  // namespace weft
