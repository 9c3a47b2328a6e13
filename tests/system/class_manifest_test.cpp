// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Manifests of classes: one program a class tells what a trace a rank does.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/system/folding_jobs.h"
#include "workload/generate/llm.h"
#include "workload/trace/class_manifest.h"

namespace weft {
namespace {

using test::dimension;
using test::Random;
using trace::test::TempFolder;

generate::LlmConfig random_model(Random& random) {
  generate::LlmConfig model;
  model.tp = static_cast<uint32_t>(random.pick(1, 2, 4));
  model.dp = static_cast<uint32_t>(random.pick(1, 2, 4));
  model.pp = static_cast<uint32_t>(random.pick(1, 2, 4));
  model.layers = model.pp * static_cast<uint32_t>(random.pick(1, 2));
  model.hidden = 512;
  model.seq = 128;
  model.vocab = 1024;
  model.microbatches = static_cast<uint32_t>(random.pick(1, 2, 4));
  model.batch = uint64_t{model.dp} * model.microbatches;
  model.zero = static_cast<uint32_t>(random.below(4));
  model.sequence_parallel = random.below(2) == 0;
  const char* orders[] = {"tp,dp,pp", "tp,pp,dp", "pp,tp,dp"};
  model.order = orders[random.below(3)];
  return model;
}

/// A dimension for each coordinate that has more than one value, or one for all.
Config machine_of(Random& random, const generate::LlmConfig& model) {
  Config config;
  const bool one = random.below(2) == 0;
  const Fidelity fidelity = random.below(2) == 0 ? Fidelity::analytical : Fidelity::message;
  uint32_t all = 1;
  for (size_t i = 0; i < model.order.size(); i += 3) {
    const std::string axis = model.order.substr(i, 2);
    const uint32_t size = axis == "tp" ? model.tp : axis == "dp" ? model.dp : model.pp;
    all *= size;
    if (!one && size > 1) config.dimensions.push_back(dimension(DimensionKind::switch_, size));
  }
  if (config.dimensions.empty()) config.dimensions.push_back(dimension(DimensionKind::switch_, all));
  for (DimensionConfig& d : config.dimensions) d.fidelity = fidelity;
  config.npu.peak_flops = 100e12;
  return config;
}

std::string outcome(const Config& config, const std::string& prefix, const std::string& groups, bool fold) {
  const auto result = test::isolated([&] {
    const trace::JobTrace traces = trace::open_job(prefix, config.npus(), groups, true);
    test::SoloTraceJob job("job", config, traces, fold);
    job.start();
    test::run_to_the_end(job);
    return job.finished() ? test::told(job.result()) : job.stall_report();
  });
  return result.status == 0 ? result.text : "failed: " + result.text;
}

/// Up to two ranks whose compute is slower, or faster.
void slow_down(Random& random, generate::LlmConfig& model) {
  const uint32_t ranks = model.tp * model.dp * model.pp;
  for (uint64_t i = 1 + random.below(2); i > 0; --i)
    model.slow[static_cast<uint32_t>(random.below(ranks))] = random.pick(1500000, 1000001, 3333333, 700000);
}

TEST(ClassManifests, TellWhatTracesOfAllRanksDo) {
  for (uint32_t seed = 0; seed < 32; ++seed) {
    Random random(seed);
    generate::LlmConfig model = random_model(random);
    if (seed % 2 == 1) slow_down(random, model);
    const Config config = machine_of(random, model);
    if (config.npus() < 2) continue;
    TempFolder folder;
    const auto ranks = generate::generate_llm(model, folder / "ranks", "llm");
    model.classes = true;
    const auto classes = generate::generate_llm(model, folder / "classes", "llm");
    EXPECT_EQ(ranks.nodes, classes.nodes);
    EXPECT_EQ(ranks.flop, classes.flop);
    const std::string expected = outcome(config, ranks.prefix, ranks.groups_file, false);
    EXPECT_EQ(expected.find("failed"), std::string::npos) << expected;
    EXPECT_EQ(expected, outcome(config, classes.prefix, "", false)) << "seed " << seed;
    EXPECT_EQ(expected, outcome(config, classes.prefix, "", true)) << "seed " << seed;
    if (HasFailure()) break;
  }
}

/// Runs a job of a manifest with folding or without.
struct Told {
  std::string text;
  uint32_t simulated = 0;
};
Told told(const Config& config, const std::string& prefix, bool fold) {
  const auto result = test::isolated([&] {
    const trace::JobTrace traces = trace::open_job(prefix, config.npus(), "", true);
    test::SoloTraceJob job("job", config, traces, fold);
    job.start();
    test::run_to_the_end(job);
    if (!job.finished()) return job.stall_report();
    const RunResult r = job.result();
    return fmt::format("{}\n{}", r.simulated_ranks, test::told(r));
  });
  if (result.status != 0) return {"failed: " + result.text, 0};
  const size_t end = result.text.find('\n');
  return {result.text.substr(end + 1), static_cast<uint32_t>(std::stoul(result.text.substr(0, end)))};
}

TEST(ClassManifests, JobsWithStragglersAreToldToThePicosecond) {
  uint32_t folded = 0;
  uint32_t whole = 0;
  for (uint32_t seed = 1000; seed < 1300; ++seed) {
    Random random(seed);
    generate::LlmConfig model = random_model(random);
    const Config config = machine_of(random, model);
    if (config.npus() < 2) continue;
    if (seed % 4 != 0) slow_down(random, model);
    model.classes = true;
    TempFolder folder;
    const auto made = generate::generate_llm(model, folder / "classes", "llm");
    const Told fold = told(config, made.prefix, true);
    ASSERT_NE(fold.simulated, 0u) << fold.text;
    EXPECT_EQ(fold.text, told(config, made.prefix, false).text) << "seed " << seed;
    ++(fold.simulated < config.npus() ? folded : whole);
    if (HasFailure()) break;
  }
  EXPECT_GT(folded, 20u);
  EXPECT_GT(whole, 100u);
}

TEST(ClassManifests, ASlowRankTakesItsFactor) {
  generate::LlmConfig model;
  model.layers = 2;
  model.hidden = 256;
  model.seq = 64;
  model.vocab = 512;
  model.dp = 2;
  model.batch = 2;
  model.classes = true;
  Config config;
  config.dimensions.push_back(dimension(DimensionKind::switch_, 2));
  config.npu.peak_flops = 100e12;
  Picoseconds compute[2];
  for (const bool slow : {false, true}) {
    if (slow) model.slow[1] = 1500000;
    TempFolder folder;
    const auto made = generate::generate_llm(model, folder / "x", "llm");
    const trace::JobTrace traces = trace::open_job(made.prefix, 2, "", true);
    for (uint32_t r = 0; r < 2; ++r) {
      compute[r] = 0;
      trace::NodeCache cache = traces.index(r).open_cache(1 << 20);
      trace::Node node;
      for (trace::NodeIndex i = 0; i < traces.index(r).size(); ++i) {
        traces.index(r).decode(cache, i, node);
        if (node.type == trace::NodeType::comp) compute[r] += node.num_ops;
      }
    }
    EXPECT_EQ(compute[1], slow ? compute[0] * 3 / 2 : compute[0]);
  }
}

/// What is said of a manifest.
std::string refusal(const std::string& text) {
  TempFolder folder;
  const std::string path = folder / "x.classes.json";
  trace::test::spit(path, text);
  try {
    trace::ClassManifest::load(path);
  } catch (const UserError& e) {
    const std::string what = e.what();
    return what.substr(what.find(": ") + 2);
  }
  return "fine";
}

std::string manifest(const std::string& axes, const std::string& groups, const std::string& classes,
                     const std::string& ranks = "4") {
  return R"({"weft_classes": 1, "ranks": )" + ranks + R"(, "axes": [)" + axes + R"(], "groups": {)" + groups +
         R"(}, "classes": [)" + classes + "]}";
}

TEST(ClassManifests, ErrorsNameTheKeyAndWhatToDo) {
  const std::string axes = R"({"name": "a", "size": 2, "stride": 1}, {"name": "b", "size": 2, "stride": 2})";
  const std::string groups = R"("a": {"axes": ["a"], "counted": ["b"], "first": 1})";
  const std::string classes = R"({"program": "p0.et", "at": {"b": 0}}, {"program": "p1.et", "at": {"b": 1}})";
  EXPECT_EQ(refusal(manifest(axes, groups, classes)), "fine");
  EXPECT_EQ(refusal("{"), "it is not JSON; write it with `weft generate llm --classes`");
  EXPECT_EQ(refusal(manifest(axes, groups, classes, "5")),
            "`ranks` is 5, and the sizes of `axes` make 4; they must agree");
  EXPECT_EQ(
      refusal(manifest(R"({"name": "a", "size": 2, "stride": 1}, {"name": "b", "size": 2, "stride": 3})",
                       groups, classes)),
      "axis `b`: its stride is 3, and 2 is the one that leaves no rank out");
  EXPECT_EQ(refusal(manifest(axes, R"("a": {"axes": ["a"], "counted": [], "first": 1})", classes)),
            "groups.a: `axes` and `counted` together must name every axis");
  EXPECT_EQ(refusal(manifest(axes, R"("a": {"axes": ["c"], "counted": [], "first": 1})", classes)),
            "groups.a: \"c\" is no axis of the manifest");
  EXPECT_EQ(refusal(manifest(axes, groups, R"({"program": "p0.et", "at": {"b": 0}})")),
            "rank 2 is in no class; add one");
  EXPECT_EQ(refusal(manifest(axes, groups, classes + R"(, {"program": "p.et", "at": {"a": 1}})")),
            "classes[2]: rank 1 is in classes[0], too");
  EXPECT_EQ(refusal(manifest(axes, groups, R"({"program": "p0.et", "at": {"b": 2}})")),
            "classes[0]: `b` is 2; a whole number from 0 to 1 is wanted");
  EXPECT_EQ(refusal(manifest(axes, groups, R"({"at": {}})")), "classes[0] has no `program`; add it");
  const std::string whole = manifest(axes, groups, classes);
  EXPECT_EQ(refusal(whole.substr(0, whole.size() - 1) + ", \"ranks\": 4}"),
            "the key \"ranks\" is there twice in one object; remove one");
  EXPECT_EQ(refusal(manifest(axes, groups + ", " + groups, classes)),
            "the key \"a\" is there twice in one object; remove one");
  const size_t deep = 1000000;
  EXPECT_EQ(refusal(manifest(axes, groups, classes, std::string(deep, '[') + std::string(deep, ']'))),
            "its values are nested deeper than in any manifest; write it with `weft generate llm --classes`");
  const auto slow = [&](const std::string& entries) {
    return refusal(whole.substr(0, whole.size() - 1) + ", \"slow\": " + entries + "}");
  };
  EXPECT_EQ(slow(R"([{"rank": 3, "compute": 1.5}])"), "fine");
  EXPECT_EQ(slow("7"), "`slow` is no list of ranks");
  EXPECT_EQ(slow(R"([{"rank": 4, "compute": 1.5}])"),
            "slow[0]: `rank` is 4; a whole number from 0 to 3 is wanted");
  EXPECT_EQ(slow(R"([{"rank": 3, "compute": 0}])"),
            "slow[0]: `compute` is 0; a number from 0.001 to 1000 is wanted, by which compute takes longer");
  EXPECT_EQ(slow(R"([{"rank": 3, "compute": 2}, {"rank": 3, "compute": 2}])"),
            "slow[1]: rank 3 is in `slow` twice");
}

TEST(ClassManifests, AProgramThatDoesNotFitItsPeersIsRefused) {
  generate::LlmConfig model;
  model.pp = 2;
  model.dp = 2;
  model.layers = 2;
  model.hidden = 256;
  model.seq = 64;
  model.vocab = 512;
  model.microbatches = 2;
  model.batch = 4;
  model.classes = true;
  TempFolder folder;
  const auto made = generate::generate_llm(model, folder / "x", "llm");
  model.microbatches = 1;
  const auto other = generate::generate_llm(model, folder / "y", "llm");
  std::filesystem::copy_file(other.prefix + ".stage1.et", made.prefix + ".stage1.et",
                             std::filesystem::copy_options::overwrite_existing);
  try {
    trace::open_job(made.prefix, 4, "", true);
    FAIL();
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("a send without a receive"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace weft
