// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What `weft validate` refuses is what `weft run` and `weft collective` refuse, in the same words, before
// anything runs.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/job_folder.h"

namespace weft::test {
namespace {

namespace fs = std::filesystem;
using trace::test::attribute;
using trace::test::collective;
using trace::test::comp;
using trace::test::make;
using trace::test::PbNode;
using trace::test::write_trace;

constexpr auto kAllReduce = ChakraProtoMsg::ALL_REDUCE;
const char kMachine[] = "weft: 1\ntopology:\n  notation: Ring(4)\n  dimensions: [{bandwidth: 50 GB/s}]\n";

class Validate : public JobFolder {
 protected:
  void SetUp() override {
    config(kMachine);
    traces({comp(1), collective(2, kAllReduce, 4096)});
  }

  /// The same nodes on every rank.
  void traces(const Nodes& nodes, uint32_t ranks = 4) const {
    JobFolder::traces(std::vector<Nodes>(ranks, nodes));
  }

  static std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
  Ran validate(const std::vector<std::string>& more = {}) const {
    return weft(joined({"validate", at("machine.yaml"), "--trace", at("t")}, more));
  }
  Ran run(const std::vector<std::string>& more = {}) const {
    return weft(joined({"run", at("machine.yaml"), "--trace", at("t"), "--out", at("out")}, more));
  }
  /// validate and run, with the same status and the same words, which hold these.
  void expect_refused(int status, const std::vector<std::string>& parts,
                      const std::vector<std::string>& more = {}) const {
    const Ran a = validate(more);
    const Ran b = run(more);
    EXPECT_EQ(a.status, status) << a.err;
    EXPECT_EQ(b.status, status) << b.err;
    EXPECT_EQ(a.err, b.err);
    EXPECT_EQ(a.out, "");
    for (const std::string& part : parts)
      EXPECT_NE(a.err.find(part), std::string::npos) << "no \"" << part << "\" in: " << a.err;
    EXPECT_FALSE(fs::exists(at("out"))) << "nothing was run";
  }
};

TEST_F(Validate, TheGoodCaseIsGood) {
  const Ran ran = validate();
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(ran.out.find("valid; Ring(4), 4 NPUs; traces "), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("\nmemory: about "), std::string::npos) << ran.out;
  EXPECT_EQ(run().status, 0);
}

/// What a model says only when it is made is said by both, too.
TEST_F(Validate, ParametersThatAModelRefuses) {
  struct Case {
    std::vector<std::string> sets;
    std::vector<std::string> says;
  };
  const std::string pool =
      "memory.pool={nodes: 4, groups: 4, out_switches: 1, group_bandwidth: 64 GB/s, "
      "out_node_bandwidth: 64 GB/s, in_node_bandwidth: 64 GB/s, group_memory: ";
  const std::string host = "memory.host={bandwidth: 64 GB/s, link_bandwidth: 64 GB/s, implementation: ";
  for (const Case& c : {
           Case{{"hbm.implementation=cxl(lanes=0)"}, {"hbm.implementation", "lanes"}},
           Case{{"hbm.implementation=bandwidth(lanes=4)"}, {"hbm.implementation", "lanes"}},
           Case{{"hbm.model=banked", "hbm.scheduler=first_ready(bank_queue=9999)"}, {"bank_queue=9999"}},
           Case{{"hbm.model=banked", "hbm.page_policy=capped(rows=2)"}, {"hbm.page_policy", "rows"}},
           Case{{"remote_memory={bandwidth: 9 GB/s, latency: 0 ns, implementation: \"cxl(preset=cxl9)\"}"},
                {"remote_memory.implementation", "cxl9"}},
           Case{{pool + "\"cxl(lanes=0)\"}"}, {"memory.pool.group_memory", "lanes"}},
           Case{{host + "\"cxl(lanes=0)\"}"}, {"memory.host.implementation", "lanes"}},
           Case{{"npu.implementation=model(slots=3)"}, {"npu.implementation", "slots"}},
           Case{{"nmu.implementation=model(slots=3)"}, {"nmu.implementation", "slots"}},
           Case{{"topology.notation=Switch(4)", "topology.dimensions[0].implementation=crossbar(ways=3)"},
                {"topology.dimensions[0].implementation", "ways"}},
           Case{{"implementations=[{modules: hbm2, implementation: \"cxl(lanes=0)\"}]"},
                {"implementations[0]", "lanes"}},
           Case{{"implementations=[{modules: npu1, binding: \"remote(socket=a)\"}]"},
                {"implementations[0]", "the program of npu1 runs in another process", "weft_net_open()"}},
       }) {
    SCOPED_TRACE(c.sets.back());
    std::vector<std::string> sets;
    for (const std::string& set : c.sets) sets = joined(sets, {"--set", set});
    const Ran a = validate(sets);
    const Ran b = run(sets);
    EXPECT_EQ(a.status, 2) << a.err;
    EXPECT_EQ(b.status, 2) << b.err;
    EXPECT_EQ(a.err, b.err);
    for (const std::string& part : c.says) EXPECT_NE(a.err.find(part), std::string::npos) << a.err;
  }
  EXPECT_EQ(validate({"--set", "hbm.implementation=cxl(lanes=8)"}).status, 0);
}

TEST_F(Validate, AlgorithmsThatLackTheOperation) {
  struct Case {
    const char *set, *says;
  };
  for (const Case& c :
       {Case{"collectives.gather=double_binary_tree", "double_binary_tree has no gather; use ring or direct"},
        Case{"collectives.all_to_all=halving_doubling",
             "halving_doubling has no all_to_all; use direct or ring"},
        Case{"collectives.all_to_all=one_halving_doubling",
             "one_halving_doubling has no all_to_all; use one_direct or one_ring"},
        Case{"collectives.scatter=one_double_binary_tree", "one_double_binary_tree has no scatter"},
        Case{"collectives.reduce_scatter=[double_binary_tree]",
             "double_binary_tree has no reduce_scatter"}}) {
    expect_refused(2, {c.says}, {"--set", c.set});
    const Ran other = weft({"collective", at("machine.yaml"), "--size", "1KiB", "--set", c.set});
    EXPECT_EQ(other.status, 2);
    EXPECT_NE(other.err.find(c.says), std::string::npos) << other.err;
    // A dimension of one NPU has no phase, whatever its algorithm.
    EXPECT_EQ(
        weft({"validate", at("machine.yaml"), "--set", c.set, "--set", "topology.notation=Ring(1)"}).status,
        0);
  }
  write(at("machine.yaml"), std::string(kMachine) +
                                "collectives:\n  rules:\n    - {operation: all_gather, algorithms: "
                                "double_binary_tree}\n");
  expect_refused(2, {"machine.yaml:7", "collectives.rules[0].algorithms", "has no all_gather"});
  write(at("machine.yaml"),
        std::string(kMachine) + "collectives:\n  rules:\n    - {name: x*, algorithms: double_binary_tree}\n");
  EXPECT_EQ(validate().status, 0) << "its collectives may be all-reduces";
}

TEST_F(Validate, TakesTracesGroupsAndStrictnessAsRunDoes) {
  write(at("groups.json"), "{\"pair\": [0, 9]}");
  expect_refused(3, {"groups.json", "9"}, {"--groups", at("groups.json")});
  PbNode dangling = comp(7);
  dangling.add_data_deps(999);
  traces({comp(1), dangling});
  EXPECT_EQ(validate().status, 0);
  expect_refused(3, {"999"}, {"--strict"});
  PbNode grouped = collective(2, kAllReduce, 4096);
  auto* name = grouped.add_attr();
  name->set_name("pg_name");
  name->set_string_val("pair");
  traces({grouped});
  expect_refused(3, {"\"pair\" is unknown"});
  write(at("groups.json"), "{\"pair\": [0, 1, 2, 3]}");
  EXPECT_EQ(validate({"--groups", at("groups.json")}).status, 0);
}

TEST_F(Validate, RemoteMemoryThatIsNotThere) {
  PbNode load = make(5, "load", ChakraProtoMsg::MEM_LOAD_NODE);
  attribute(load, "tensor_size", 4096);
  attribute(load, "is_remote", 1);
  traces({comp(1), load});
  expect_refused(2, {at("t.0.et"), "node 5", "the configuration has none; add `remote_memory:"});
  EXPECT_EQ(validate({"--set", "remote_memory.bandwidth=10 GB/s"}).status, 0);
}

TEST_F(Validate, MoreThanTheMemoryHolds) {
  PbNode load = make(5, "load", ChakraProtoMsg::MEM_LOAD_NODE);
  attribute(load, "tensor_size", int64_t{1} << 40);
  traces({load});
  expect_refused(3, {"node 5", "more than hbm.capacity"}, {"--set", "hbm.capacity=1 GiB"});
}

TEST_F(Validate, SizesThatAreNoWholeElements) {
  traces({collective(2, kAllReduce, 4098)});
  EXPECT_EQ(validate().status, 0);
  expect_refused(3, {"node 2", "4098 B are not a whole number of fp32 elements"},
                 {"--set", "run.data=functional"});
  EXPECT_EQ(validate({"--set", "run.data=functional", "--set", "run.element=bf16"}).status, 0);
  // All sizes are looked at before the first one runs.
  const Ran ran =
      weft({"collective", at("machine.yaml"), "--sizes", "4KiB,4098B", "--data", "fp32", "--out", at("out")});
  EXPECT_EQ(ran.status, 2);
  EXPECT_NE(ran.err.find("collective 2 (all_reduce): 4098 B are not a whole number"), std::string::npos)
      << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_FALSE(fs::exists(at("out")));
}

TEST_F(Validate, DimensionsThatTheTopologyDoesNotHave) {
  PbNode node = collective(2, kAllReduce, 4096);
  auto* list = node.add_attr();
  list->set_name("involved_dim");
  list->mutable_bool_list()->add_values(true);
  list->mutable_bool_list()->add_values(false);
  traces({node});
  expect_refused(3, {"node 2", "involved_dim has 2 entries and the topology 1 dimensions"});
}

TEST_F(Validate, ProgramsOfOtherOperations) {
  expect_refused(3, {"collectives.gather", "programs/none.0.et"},
                 {"--set", "collectives.gather=custom:programs/none"});
}

TEST_F(Validate, PacketNetworksThatCannotBe) {
  const std::vector<std::string> packet = {"--set", "topology.dimensions[*].fidelity=packet"};
  EXPECT_EQ(validate(packet).status, 0);
  expect_refused(2, {"latencies of the links at packet fidelity"},
                 joined(packet, {"--set", "topology.dimensions[*].latency=1 s", "--set",
                                 "topology.notation=Ring(4000)"}));
  expect_refused(2, {"resumes at", "larger buffers"},
                 joined(packet, {"--set", "packet.flow_control=pfc", "--set", "packet.buffer_flits=64",
                                 "--set", "packet.pfc_xon=63"}));
}

TEST_F(Validate, WaveformsThatEndBeforeTheyBegin) {
  expect_refused(2, {"the waveform would begin at"},
                 {"--set", "output.waves_from=2 us", "--set", "output.waves_to=1 us"});
  expect_refused(2, {"the selection of --waves"}, {"--set", "output.waves='nmu{0,1'"});
}

TEST_F(Validate, CollectivesBeyondTime) {
  const Ran ran = weft({"collective", at("machine.yaml"), "--sizes", "1KiB,8000PiB", "--set",
                        "topology.dimensions[*].bandwidth=1 MB/s", "--fidelity", "analytical"});
  EXPECT_EQ(ran.status, 3);
  EXPECT_NE(ran.err.find("collective 2 (all_reduce)"), std::string::npos) << ran.err;
  EXPECT_EQ(ran.out, "") << "not even the first size is run";
}

}  // namespace
}  // namespace weft::test
