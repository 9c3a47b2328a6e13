// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Bad configurations, traces and groups as `weft run` reports them: status, place, value, remedy; and nothing
// is run.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>

#include "tests/support/job_folder.h"

namespace weft::test {
namespace {

namespace fs = std::filesystem;
using trace::test::collective;
using trace::test::comp;
using trace::test::PbNode;
using trace::test::receive;
using trace::test::send;
using trace::test::write_trace;
constexpr auto kAllReduce = ChakraProtoMsg::ALL_REDUCE;

const char kTopology[] = "weft: 1\ntopology:\n  notation: Ring(2)\n  dimensions:\n";
const char kDimension[] = "    - {bandwidth: 50 GB/s, latency: 500 ns}\n";

class BadInput : public JobFolder {
 protected:
  /// Two ranks with these nodes on a ring of two.
  Ran run(const Nodes& rank0, const Nodes& rank1, std::vector<std::string> more = {}) const {
    traces({rank0, rank1});
    return run_files(std::move(more));
  }
  Ran run_files(std::vector<std::string> more = {}) const {
    return run_traces(std::string(kTopology) + kDimension, more);
  }

  void expect(const Ran& ran, int status, const std::vector<std::string>& parts) const {
    EXPECT_EQ(ran.status, status) << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(ran.err.find("weft: error: "), 0u) << ran.err;
    for (const std::string& part : parts)
      EXPECT_NE(ran.err.find(part), std::string::npos) << "no \"" << part << "\" in: " << ran.err;
    EXPECT_FALSE(fs::exists(at("out"))) << "nothing was run";
  }
};

TEST_F(BadInput, TheGoodCaseIsGood) {
  const Ran ran = run({comp(1), collective(2, kAllReduce, 1000), send(3, 1, 10, 0)},
                      {comp(1), collective(2, kAllReduce, 1000), receive(3, 0, 10, 0)});
  EXPECT_EQ(ran.status, 0) << ran.err;
}

TEST_F(BadInput, ConfigurationsNameLineKeyValueAndWhatIsAllowed) {
  struct Case {
    std::string text;
    std::vector<std::string> parts;
  };
  const std::string good = std::string(kTopology) + kDimension;
  for (const Case& c : std::vector<Case>{
           {good + "npu: {peek: 3 TFLOPS}\n", {":6", "npu", "peek", "peak"}},
           {std::string(kTopology) + "    - {bandwidth: 50}\n", {":5", "bandwidth", "'50'", "GB/s"}},
           {std::string(kTopology) + "    - {bandwidth: 50 GB}\n", {":5", "bandwidth", "50 GB", "GB/s"}},
           {std::string(kTopology) + "    - {bandwidth: 0 GB/s}\n", {":5", "bandwidth", "0 GB/s"}},
           {std::string(kTopology) + "    - {bandwidth: -5 GB/s}\n", {":5", "bandwidth", "-5 GB/s"}},
           {std::string(kTopology) + "    - {bandwidth: 1e40 GB/s}\n", {":5", "bandwidth", "1e40 GB/s"}},
           {std::string(kTopology) + "    - {bandwidth: 50 GB/s, latency: 5 years}\n",
            {":5", "latency", "5 years", "ns"}},
           {std::string(kTopology) + kDimension + kDimension,
            {"topology.dimensions", "2 entries", "1 dimensions"}},
           {"weft: 1\ntopology:\n  notation: Ring(2\n  dimensions:\n" + std::string(kDimension),
            {":3", "Ring(2"}},
           {"weft: 2\n" + good.substr(8), {":1", "weft", "2"}},
           {good + "collectives: {all_reduce: halving_doubling}\ntopology: {}\n", {"topology"}},
           {"weft: [1\n", {"machine.yaml"}},
           {"", {"empty"}},
           {std::string(kTopology) + kDimension + "collectives: {chunks: 0}\n",
            {":6", "collectives.chunks", "0"}}}) {
    const Ran ran = weft({"run", config(c.text), "--trace", at("t"), "--out", at("out")});
    expect(ran, 2, c.parts);
    EXPECT_TRUE(ran.says({at("machine.yaml")})) << ran.err;
  }
  Ran ran = weft({"run", at("absent.yaml")});
  expect(ran, 2, {"absent.yaml", "no such"});
  ran = weft({"run",
              config("weft: 1\ntopology:\n  notation: Ring(6)\n  dimensions:\n" + std::string(kDimension) +
                     "collectives: {all_reduce: halvingdoubling}\n"),
              "--trace", at("t"), "--out", at("out")});
  expect(ran, 2, {":6", "collectives.all_reduce", "halvingdoubling", "halving_doubling", "ring"});
}

TEST_F(BadInput, NoTraceIsConfigured) {
  expect(weft({"run", config(std::string(kTopology) + kDimension), "--out", at("out")}), 2,
         {"machine.yaml", "workload.trace", "--trace"});
}

TEST_F(BadInput, FewerAndMoreTracesThanNpus) {
  expect(run_files(), 3, {at("t.0.et"), "0 found"});
  write_trace(at("t.0.et"), {comp(1)});
  expect(run_files(), 3, {at("t.1.et"), "1 trace files", "2 NPUs"});
  write_trace(at("t.1.et"), {comp(1)});
  write_trace(at("t.2.et"), {comp(1)});
  expect(run_files(), 3, {at("t.2.et"), "3 trace files", "2 NPUs"});
}

TEST_F(BadInput, TruncatedCorruptAndForeignFiles) {
  write_trace(at("t.0.et"), {comp(1), comp(2), comp(3)});
  write_trace(at("t.1.et"), {comp(1), comp(2), comp(3)});
  const std::string whole = read(at("t.1.et"));
  for (const size_t cut : {size_t{1}, size_t{5}, whole.size() / 2}) {
    write(at("t.1.et"), whole.substr(0, whole.size() - cut));
    expect(run_files(), 3, {at("t.1.et")});
  }
  write(at("t.1.et"), "{\"schema\": \"1.0.2-chakra.0.0.4\", \"nodes\": []}");
  expect(run_files(), 3, {at("t.1.et")});
  write(at("t.1.et"), std::string(100, '\xff'));
  expect(run_files(), 3, {at("t.1.et")});
  write(at("t.1.et"), std::string("\x89PNG\r\n\x1a\n") + std::string(64, '\0'));
  expect(run_files(), 3, {at("t.1.et")});
}

TEST_F(BadInput, DuplicateIdsAndCycles) {
  expect(run({comp(1)}, {comp(4), comp(5), comp(4)}), 3, {at("t.1.et"), "4", "rank 1"});
  expect(run({comp(1, {3}), comp(2, {1}), comp(3, {2})}, {comp(1)}), 3, {at("t.0.et"), "rank 0", "cycle"});
}

TEST_F(BadInput, DanglingDependenciesAreAWarningOrWithStrictAnError) {
  const Ran strict = run({comp(1, {99})}, {comp(1)}, {"--strict"});
  expect(strict, 3, {at("t.0.et"), "99", "strict"});
  const Ran lenient = run({comp(1, {99})}, {comp(1)});
  EXPECT_EQ(lenient.status, 0) << lenient.err;
  EXPECT_TRUE(lenient.says({"warning", at("t.0.et"), "99"})) << lenient.err;
  EXPECT_NE(read(at("out/summary.json")).find("99"), std::string::npos);
}

TEST_F(BadInput, CollectivesThatDoNotAgree) {
  expect(run({collective(1, kAllReduce, 100)}, {comp(1)}), 3,
         {at("t.1.et"), "rank 1", "never joins", "all_reduce of 100 bytes", at("t.0.et")});
  expect(run({collective(1, kAllReduce, 100)}, {collective(1, kAllReduce, 200)}), 3,
         {at("t.0.et"), at("t.1.et"), "100 bytes", "200 bytes"});
  expect(run({collective(1, kAllReduce, 100)}, {collective(1, ChakraProtoMsg::ALL_GATHER, 100)}), 3,
         {"all_reduce", "all_gather", at("t.1.et")});
}

TEST_F(BadInput, SendsAndReceivesThatDoNotMatch) {
  expect(run({comp(1)}, {receive(2, 0, 64, 5)}), 3,
         {at("t.1.et"), "a receive without a send", "64 bytes", "rank 0", "tag 5"});
  expect(run({send(2, 1, 64, 5)}, {comp(1)}), 3, {at("t.0.et"), "a send without a receive", "tag 5"});
  expect(run({send(2, 1, 64, 5)}, {receive(2, 0, 65, 5)}), 3, {"64 bytes", "65 bytes", at("t.1.et")});
  expect(run({send(2, 7, 64, 5)}, {comp(1)}), 3, {at("t.0.et"), "comm_dst", "7", "2 NPUs"});
}

TEST_F(BadInput, Groups) {
  expect(run({collective(1, kAllReduce, 100, "9")}, {comp(1)}), 3,
         {at("t.0.et"), "\"9\"", "unknown", "workload.groups"});
  expect(run({comp(1)}, {comp(1)}, {"--groups", at("absent.json")}), 3, {at("absent.json")});
  write(at("g.json"), "{\"1\": [0, 1,");
  expect(run({comp(1)}, {comp(1)}, {"--groups", at("g.json")}), 3, {at("g.json")});
  write(at("g.json"), "{\"1\": [0, 5]}");
  expect(run({comp(1)}, {comp(1)}, {"--groups", at("g.json")}), 3, {at("g.json"), "5"});
  write(at("g.json"), "{\"1\": [1]}");
  expect(run({collective(1, kAllReduce, 100, "1")}, {comp(1)}, {"--groups", at("g.json")}), 3,
         {at("t.0.et"), "\"1\"", "rank 0"});
}

TEST_F(BadInput, AGroupWithARankTwice) {
  write(at("g.json"), "{\"1\": [0, 1, 0]}");
  expect(run({comp(1)}, {comp(1)}, {"--groups", at("g.json")}), 3,
         {at("g.json"), "group \"1\" lists rank 0 twice", "every member once"});
}

TEST_F(BadInput, AGraphThatIsNotConnected) {
  const std::string text =
      "weft: 1\ntopology:\n  graph:\n    npus: 5\n    links:\n"
      "      - {from: npu0, to: npu1..npu2, bandwidth: 50 GB/s}\n      - {from: npu3, to: npu4, bandwidth: "
      "50 GB/s}\n";
  for (const char* command : {"run", "validate", "describe"}) {
    expect(weft({command, config(text)}), 2,
           {"machine.yaml:3: key `topology.graph`: the graph is not connected", "{npu0, npu1, npu2}",
            "{npu3, npu4}", "add links"});
  }
  // One way only is not connected, either.
  const Ran ran =
      weft({"validate", config("weft: 1\ntopology:\n  graph:\n    npus: 2\n    links:\n"
                               "      - {from: npu0, to: npu1, bandwidth: 1 GB/s, bidirectional: false}\n")});
  expect(ran, 2, {"machine.yaml:3", "topology.graph", "npu1", "npu0"});
}

TEST_F(BadInput, AMappingThatIsNoBijection) {
  const auto with = [&](const std::string& mapping) {
    return weft({"validate", config("weft: 1\ntopology:\n  notation: Ring(4)\n  mapping: " + mapping +
                                    "\n  dimensions:\n" + kDimension)});
  };
  expect(with("[0, 1, 1, 3]"), 2,
         {"machine.yaml:4: key `topology.mapping`: NPU 1 is given to rank 1 and to rank 2"});
  expect(with("[0, 1, 2]"), 2, {"machine.yaml:4", "has 3 entries for 4 ranks", "rank 3 has no NPU"});
  expect(with("[0, 1, 2, 4]"), 2, {"machine.yaml:4", "topology.mapping", "4", "0 to 3"});
  expect(with("[0..3, 0]"), 2, {"machine.yaml:4", "topology.mapping"});
  EXPECT_EQ(with("[3..0]").status, 0);
}

TEST_F(BadInput, AnAlgorithmOnADimensionItCannotRunOn) {
  const std::string two =
      "weft: 1\ntopology:\n  notation: Ring(2)_Switch(1)\n  dimensions:\n" + std::string(kDimension);
  write_trace(at("t.0.et"), {collective(1, ChakraProtoMsg::ALL_TO_ALL, 100)});
  write_trace(at("t.1.et"), {collective(1, ChakraProtoMsg::ALL_TO_ALL, 100)});
  const Ran ran = weft({"run", config(two + "collectives: {all_to_all: [halving_doubling, default]}\n"),
                        "--trace", at("t"), "--out", at("out")});
  EXPECT_EQ(ran.status, 2) << ran.err;
  EXPECT_TRUE(ran.says({"machine.yaml", "key `collectives.all_to_all`", "dimension 0 (Ring(2))",
                        "halving_doubling has no all_to_all", "use direct or ring"}))
      << ran.err;
  const Ran gather = weft({"collective", "--topology", "Ring(4)_Switch(4)", "--bandwidth", "1 GB/s", "--size",
                           "1MiB", "--op", "all_gather", "--algorithm", "ring,double_binary_tree"});
  EXPECT_EQ(gather.status, 2);
  EXPECT_TRUE(gather.says(
      {"collectives.all_gather", "dimension 1 (Switch(4))", "double_binary_tree has no all_gather"}))
      << gather.err;
}

TEST_F(BadInput, RemoteMemoryThatTheMachineDoesNotHave) {
  PbNode load = trace::test::make(1, "load", ChakraProtoMsg::MEM_LOAD_NODE);
  trace::test::attribute(load, "tensor_size", 4096);
  trace::test::attribute(load, "is_remote", 1);
  const Ran ran = run({load}, {comp(1)});
  EXPECT_EQ(ran.status, 2) << ran.err;
  EXPECT_TRUE(ran.says({at("t.0.et"), "rank 0", "node 1", "remote_memory: {bandwidth"})) << ran.err;
}

TEST_F(BadInput, ZeroBytesAndFewerBytesThanChunksAreNoErrors) {
  const Ran ran = run({collective(1, kAllReduce, 0), collective(2, kAllReduce, 3), send(3, 1, 0, 1)},
                      {collective(1, kAllReduce, 0), collective(2, kAllReduce, 3), receive(3, 0, 0, 1)},
                      {"--set", "collectives.chunks=4"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(ran.says({"warning", "chunks"})) << ran.err;
}

TEST_F(BadInput, SpecialFilesAreRefusedByEveryReader) {
  const std::string machine = config(std::string(kTopology) + kDimension);
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  fs::create_symlink(at("loop"), at("loop"));
  write_trace(at("t.0.et"), {comp(1)});
  write_trace(at("t.1.et"), {comp(1)});
  const std::string table = std::string(
      "weft: 1\ntopology:\n  graph: {npus: 2, links: [{from: npu0, to: npu1, bandwidth: 1 "
      "GB/s, latency: 1 us}]}\n  routing: table\n  routes_file: ");
  const std::vector<std::string> collective = {"collective", "--op", "all_reduce",
                                               "--size",     "1MiB", "--config"};
  const std::vector<std::string> traffic = {"traffic", "--topology", "Ring(4)", "--pattern"};
  const std::string long_name(300, 'n');
  for (const auto& [path, word] :
       std::vector<std::pair<std::string, std::string>>{{"/dev/zero", "is a device"},
                                                        {at("pipe"), "is a pipe"},
                                                        {at(""), "is a folder"},
                                                        {at("loop"), "loop of symbolic links"},
                                                        {at(long_name), "too long"}}) {
    SCOPED_TRACE(path);
    const bool usage = word == "too long" || word == "loop of symbolic links";
    for (const char* command : {"run", "validate", "describe", "traffic"})
      expect(weft({command, path}), 2, {word});
    auto with = collective;
    with.push_back(path);
    expect(weft(with), 2, {word});
    with = traffic;
    with.push_back(path);
    expect(weft(with), 2, {"--pattern", word});
    expect(weft({"run", machine, "--trace", at("t"), "--groups", path, "--out", at("out")}), usage ? 2 : 3,
           {word});
    write(at("table.yaml"), table + "'" + path + "'\n");
    expect(weft({"validate", at("table.yaml")}), 2, {"topology.routes_file", word});
    expect(weft({"trace", "info", path}), usage ? 2 : 3, {word});
  }
  for (const auto& [path, word] : std::vector<std::pair<std::string, std::string>>{
           {"/dev/zero", "is a device"}, {at("pipe"), "is a pipe"}, {at("loop"), "loop of symbolic links"}}) {
    SCOPED_TRACE(path);
    const int status = word == "loop of symbolic links" ? 2 : 3;
    fs::remove(at("t.1.et"));
    fs::create_symlink(path, at("t.1.et"));
    expect(weft({"run", machine, "--trace", at("t"), "--out", at("out")}), status, {at("t.1.et"), word});
    fs::remove(at("p.0.et"));
    fs::create_symlink(path, at("p.0.et"));
    expect(weft({"collective", "--topology", "Ring(2)", "--bandwidth", "1 GB/s", "--op", "all_reduce",
                 "--size", "1MiB", "--algorithm", "custom:" + at("p")}),
           status, {at("p.0.et"), word});
  }
}

TEST_F(BadInput, WhatAlwaysFailsIsFoundByValidate) {
  write_trace(at("t.0.et"), {comp(1)});
  write_trace(at("t.1.et"), {comp(1), trace::test::make(9, "odd", ChakraProtoMsg::INVALID_NODE)});
  const std::string machine = config(std::string(kTopology) + kDimension);
  for (const char* command : {"run", "validate"})
    expect(weft({command, machine, "--set", "workload.trace=" + at("t")}), 3,
           {at("t.1.et"), "rank 1", "node 9", "INVALID"});
  expect(weft({"validate",
               config(std::string(kTopology) + kDimension + "collectives: {all_reduce: 'custom:p'}\n")}),
         3, {"machine.yaml", "collectives.all_reduce", at("p.0.et"), "no such"});
}

TEST_F(BadInput, AFolderInPlaceOfAPrefix) {
  write_trace(at("t.0.et"), {comp(1)});
  write_trace(at("t.1.et"), {comp(1)});
  const std::string machine = config(std::string(kTopology) + kDimension);
  expect(weft({"run", machine, "--trace", at(""), "--out", at("out")}), 3,
         {"is a folder", "Give that", at("t")});
  // The input side of a name that no file can have.
  expect(weft({"run", machine, "--trace", at(std::string(300, 'x')) + "/t", "--out", at("out")}), 2,
         {"File name too long"});
  expect(weft({"run", machine, "--trace", at(std::string(300, 'x')), "--out", at("out")}), 2,
         {"too long", "shorter prefix"});
}

TEST_F(BadInput, CustomProgramsThatReduceWhatIsOnlyMoved) {
  PbNode out = send(1, 1, 0, 7);
  trace::test::attribute(out, "block_first", 0);
  trace::test::attribute(out, "block_count", 2);
  PbNode in = receive(2, 0, 0, 7);
  trace::test::attribute(in, "reduce", 1);
  write_trace(at("b.0.et"), {out});
  write_trace(at("b.1.et"), {in});
  for (const char* data : {"none", "int32"})
    expect(weft({"collective", "--topology", "Ring(2)", "--bandwidth", "1 GB/s", "--op", "broadcast",
                 "--size", "1MiB", "--algorithm", "custom:" + at("b"), "--data", data}),
           3, {at("b"), "member 0 to member 1 is reduced", "broadcast reduces nothing"});
}

}  // namespace
}  // namespace weft::test
