// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/weft_process.h"
#include "tests/support/golden_collectives.h"
#include "tests/support/paths.h"
#include "tests/trace/trace_files.h"
#include "tests/vcd/vcd_parser.h"
#include "workload/trace/chakra_stream.h"

namespace weft::test {
namespace {

using nlohmann::json;
using Arguments = std::vector<std::string>;

Ran collective(Arguments more) {
  more.insert(more.begin(), "collective");
  return weft(more);
}

json results(Arguments more) {
  more.emplace_back("--json");
  const Ran ran = collective(more);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return json::parse(ran.out)["results"];
}

/// time_ns of the one result, as it is written.
std::string time_text(const Ran& ran) {
  const size_t begin = ran.out.find("\"time_ns\": ") + 11;
  return ran.out.substr(begin, ran.out.find(',', begin) - begin);
}

TEST(Collective, TheIssuesExample) {
  const Ran ran = collective({"--topology", "Ring(4)_FullyConnected(8)_Switch(4)", "--bandwidth",
                              "200 GB/s,100 GB/s,50 GB/s", "--latency", "500 ns,500 ns,1 us", "--op",
                              "all_reduce", "--size", "1 GiB", "--chunks", "64"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.err, "");
  EXPECT_NE(ran.out.find("busbw"), std::string::npos);
  EXPECT_NE(ran.out.find("1073741824"), std::string::npos);
}

TEST(Collective, TellsItsPhases) {
  vcd::test::TemporaryFolder folder;
  // Two chunks of 500,000 B. Ring(2): half of it, 5 us + 0.5 us; Switch(2): half of that, two hops of 2.5 us
  // + 0.5 us, twice for the all-reduce; then the ring again.
  const Ran ran =
      collective({"--topology", "Ring(2)_Switch(2)", "--bandwidth", "50 GB/s", "--size", "1MB", "--chunks",
                  "2", "--switching", "store_and_forward", "--phases", "--json", "--out", folder.file("o")});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(json::parse(ran.out)["results"][0]["phases"], json::parse(R"([
    {"what": "reduce_scatter d0 ring", "queue_ns": 5500, "network_ns": 11000},
    {"what": "all_reduce d1 halving_doubling", "queue_ns": 6500, "network_ns": 24000},
    {"what": "all_gather d0 ring", "queue_ns": 0, "network_ns": 11000}])"));
  EXPECT_NE(ran.err.find("P1 all_reduce d1 halving_doubling"), std::string::npos) << ran.err;
  EXPECT_EQ(
      read(folder.file("o/phases.csv")),
      "stream,op,group,name,iteration,layer,phase,what,phase_op,dimension,algorithm,queue_ns,network_ns\n"
      "1,all_reduce,,,,,P0,reduce_scatter d0 ring,reduce_scatter,0,ring,5500,11000\n"
      "1,all_reduce,,,,,P1,all_reduce d1 halving_doubling,all_reduce,1,halving_doubling,6500,24000\n"
      "1,all_reduce,,,,,P2,all_gather d0 ring,all_gather,0,ring,0,11000\n");
  EXPECT_NE(read(folder.file("o/collectives.csv")).find("1,all_reduce,,,1000000,4,2,0,"), std::string::npos);
}

TEST(Collective, CarriesData) {
  const Arguments machine = {
      "--topology", "Ring(3)_Switch(4)", "--bandwidth", "50 GB/s", "--size", "960 B", "--chunks", "2"};
  const auto with = [&](Arguments more) {
    more.insert(more.begin(), machine.begin(), machine.end());
    return collective(more);
  };
  for (const char* op : {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce",
                         "gather", "scatter"}) {
    for (const char* element : {"fp32", "bf16", "int32"}) {
      const uint64_t size = std::string(element) == "bf16" ? 2 : 4;
      const std::string name = op;
      const uint64_t outputs = name == "all_gather"                           ? 12 * 12
                               : name == "reduce" || name == "reduce_scatter" ? 1
                               : name == "scatter"                            ? 1
                               : name == "gather"                             ? 12
                                                                              : 12;
      const Ran ran = with({"--op", op, "--data", element, "--reduce", "max", "--json"});
      ASSERT_EQ(ran.status, 0) << op << ran.err;
      EXPECT_EQ(json::parse(ran.out)["results"][0]["elements_verified"], outputs * 960 / size) << op;
      EXPECT_NE(ran.err.find(std::string(element) + " elements compared with the definition of " + op),
                std::string::npos)
          << ran.err;
      // Time is that of a run without data: the sizes divide.
      EXPECT_EQ(time_text(ran), time_text(with({"--op", op, "--json"}))) << op;
    }
  }
  EXPECT_FALSE(json::parse(with({"--json"}).out)["results"][0].contains("elements_verified"));
  Ran ran = with({"--data", "fp64"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"--data fp64", "fp32", "bf16", "int32"})) << ran.err;
  ran = with({"--reduce", "max"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"--reduce max", "--data"})) << ran.err;
  ran = with({"--data", "fp32", "--reduce", "mean"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"--reduce mean", "sum", "max", "min"})) << ran.err;
  ran = collective({"--topology", "Ring(4)", "--bandwidth", "1 GB/s", "--size", "10 B", "--data", "fp32"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"10 B are not a whole number of fp32 elements"})) << ran.err;
}

/// `weft generate collective`, what runs of it, and every way in which a program is wrong.
class CustomPrograms : public ::testing::Test {
 protected:
  std::string prefix(const std::string& name = "p") const { return folder_.file("x/" + name); }
  Ran generate(Arguments more) const {
    Arguments all = {"generate", "collective"};
    all.insert(all.end(), more.begin(), more.end());
    all.insert(all.end(), {"--out", folder_.file("x")});
    return weft(all);
  }
  Ran run(const std::string& op, Arguments more = {}) const {
    Arguments all = {"--topology",  "Ring(4)_Switch(2)",
                     "--bandwidth", "50 GB/s",
                     "--op",        op,
                     "--size",      "1 KiB",
                     "--chunks",    "1",
                     "--algorithm", "custom:" + prefix()};
    all.insert(all.end(), more.begin(), more.end());
    return collective(all);
  }
  /// Changes a node of a member's program.
  void change(uint32_t member, const std::function<bool(ChakraProtoMsg::Node&)>& node_changed) const {
    const std::string file = prefix() + "." + std::to_string(member) + ".et";
    std::vector<ChakraProtoMsg::Node> nodes;
    {
      trace::ChakraStream stream(file);
      ChakraProtoMsg::Node node;
      while (stream.next(node)) nodes.push_back(node);
    }
    bool any = false;
    for (auto& node : nodes) any = any || node_changed(node);
    ASSERT_TRUE(any);
    trace::test::write_trace(file, nodes);
  }
  static ChakraProtoMsg::AttributeProto* find(ChakraProtoMsg::Node& node, const char* name) {
    for (auto& a : *node.mutable_attr()) {
      if (a.name() == name) return &a;
    }
    return nullptr;
  }

  vcd::test::TemporaryFolder folder_;
};

TEST_F(CustomPrograms, AreWrittenAndRunWithData) {
  for (const char* op :
       {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "gather", "barrier"}) {
    const Ran made = generate({"direct", "Ring(4)_Switch(2)", "--op", op, "--name", "p"});
    ASSERT_EQ(made.status, 0) << made.err;
    EXPECT_NE(made.out.find(prefix() + ".[0-7].et: 8 members"), std::string::npos) << made.out;
    EXPECT_NE(made.out.find("--algorithm \"custom:" + prefix() + "\""), std::string::npos) << made.out;
    const Ran ran = run(op, {"--data", "int32", "--json"});
    ASSERT_EQ(ran.status, 0) << op << ": " << ran.err;
    if (std::string(op) != "barrier") {
      EXPECT_GE(json::parse(ran.out)["results"][0]["elements_verified"], 256) << op;
    }
    // The same messages as the algorithm itself.
    const Ran direct =
        collective({"--topology", "Ring(4)_Switch(2)", "--bandwidth", "50 GB/s", "--op", op, "--size",
                    "1 KiB", "--chunks", "1", "--algorithm", "one_direct", "--json"});
    EXPECT_EQ(json::parse(ran.out)["results"][0]["messages"],
              json::parse(direct.out)["results"][0]["messages"])
        << op;
  }
  ASSERT_EQ(generate({"ring", "5", "--name", "five"}).status, 0);
  EXPECT_TRUE(std::filesystem::exists(prefix("five") + ".4.et"));
  ASSERT_EQ(generate({"ring", "4"}).status, 0);
  EXPECT_TRUE(std::filesystem::exists(prefix("ring_all_reduce") + ".3.et"));
}

TEST_F(CustomPrograms, GenerateRefusesWhatCannotBe) {
  struct Case {
    Arguments arguments;
    Arguments parts;
  };
  for (const Case& c :
       std::vector<Case>{{{"rnig", "4"}, {"`rnig`", "ring, direct"}},
                         {{"ring", "1"}, {"2 or more"}},
                         {{"ring", "0"}, {"2 or more"}},
                         {{"ring", "100000"}, {"100000 members", "4096"}},
                         {{"ring", "99999999999999999999"}, {"MEMBERS"}},
                         {{"ring", "Rng(4)"}, {"MEMBERS", "Rng"}},
                         {{"double_binary_tree", "4", "--op", "all_gather"}, {"double_binary_tree"}},
                         {{"ring", "4", "--op", "allreduce"}, {"--op", "did you mean all_reduce"}},
                         {{"ring", "4", "--op", "broadcast", "--root", "4"}, {"root is 4", "0 to 3"}},
                         {{"ring", "4", "--root", "x"}, {"--root"}},
                         {{"ring", "4", "--name", "a/b"}, {"a/b"}}}) {
    const Ran ran = generate(c.arguments);
    EXPECT_EQ(ran.status, 2) << ran.err;
    EXPECT_TRUE(ran.says(c.parts)) << ran.err;
  }
}

TEST_F(CustomPrograms, AWrongBlockEndsWithItsElements) {
  ASSERT_EQ(generate({"ring", "8", "--name", "p"}).status, 0);
  // Member 3 sends block 5 in place of the one that is its turn.
  change(3, [](ChakraProtoMsg::Node& node) {
    auto* first = find(node, "block_first");
    if (first == nullptr || first->int64_val() == 5) return false;
    first->set_int64_val(5);
    return true;
  });
  Ran ran = run("all_reduce");
  EXPECT_EQ(ran.status, 3);
  EXPECT_TRUE(ran.says({prefix(), "do not do what all_reduce is defined to do", "block ", "member "}))
      << ran.err;
  EXPECT_EQ(ran.err.find("elements"), std::string::npos) << ran.err;
  ran = run("all_reduce", {"--data", "fp32"});
  EXPECT_EQ(ran.status, 3);
  // 256 elements in 8 blocks of 32: block 2, which member 3 was to send at first.
  EXPECT_TRUE(ran.says({"block 2 at member 0: the contribution of member 3 is missing",
                        "; block 2 of chunk 0 is the elements 64 to 95"}))
      << ran.err;
}

TEST_F(CustomPrograms, ADeadlockIsNamed) {
  ASSERT_EQ(generate({"ring", "8", "--name", "p"}).status, 0);
  // Every member waits for its first receive before its first send.
  for (uint32_t m = 0; m < 8; ++m) {
    uint64_t receive = 0;
    change(m, [&](ChakraProtoMsg::Node& node) {
      if (node.type() == ChakraProtoMsg::COMM_RECV_NODE && receive == 0) receive = node.id();
      return receive != 0;
    });
    change(m, [&](ChakraProtoMsg::Node& node) {
      if (node.type() != ChakraProtoMsg::COMM_SEND_NODE) return false;
      node.add_data_deps(receive);
      return true;
    });
    change(m, [&](ChakraProtoMsg::Node& node) {
      if (node.id() == receive) node.clear_data_deps();
      return node.id() == receive;
    });
  }
  const Ran ran = run("all_reduce");
  EXPECT_EQ(ran.status, 3);
  EXPECT_TRUE(ran.says({prefix(), "deadlock", "cycle", "of member"})) << ran.err;
}

TEST(Collective, JsonHasTheseKeysAndAllElseIsOnTheStandardError) {
  const Ran ran =
      collective({"--topology", "Ring(4)", "--bandwidth", "100 GB/s", "--size", "1 MiB", "--json"});
  EXPECT_EQ(ran.status, 0);
  const json parsed = json::parse(ran.out);
  ASSERT_EQ(parsed.size(), 4u);
  EXPECT_EQ(parsed["operation"], "all_reduce");
  EXPECT_EQ(parsed["ranks"], 4);
  EXPECT_EQ(parsed["finished"], true);
  ASSERT_EQ(parsed["results"].size(), 1u);
  std::vector<std::string> keys;
  for (const auto& item : parsed["results"][0].items()) {
    keys.push_back(item.key());
    EXPECT_TRUE(item.value().is_number()) << item.key();
  }
  EXPECT_EQ(keys, (std::vector<std::string>{"algbw_GBps", "busbw_GBps", "bytes", "chunks", "efficiency",
                                            "events", "messages", "time_ns", "wall_s"}));
  EXPECT_NE(ran.err.find("busbw"), std::string::npos) << "the table";
}

// Ring all-reduce, one chunk: e + 2(n-1)(L + m/B + e), m = S/n; 3 B at 7 GB/s is no whole number of
// picoseconds.
TEST(Collective, TimesAreExactPicoseconds) {
  const Ran ran =
      collective({"--topology", "Ring(4)", "--bandwidth", "7 GB/s", "--latency", "10 ns", "--endpoint-delay",
                  "1 ns", "--size", "12 B", "--chunks", "1", "--fidelity", "analytical", "--json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(time_text(ran), "69.574");  // 1 + 6 (10 + ceil(428.57 ps) + 1)
}

// 2(n-1) steps of S/n, each message on one link: the counts are the algorithm's own.
TEST(Collective, MessagesAndEventsAreTheAlgorithms) {
  const json r =
      results({"--topology", "Ring(8)", "--bandwidth", "50 GB/s", "--size", "1 MiB", "--chunks", "4"});
  EXPECT_EQ(r[0]["messages"], 8 * 2 * 7 * 4);
  EXPECT_GE(r[0]["events"], 8 * 2 * 7 * 4);
  const json d = results({"--topology", "FullyConnected(8)", "--bandwidth", "50 GB/s", "--size", "1 MiB",
                          "--chunks", "4", "--op", "all_to_all"});
  EXPECT_EQ(d[0]["messages"], 8 * 7 * 4);
}

TEST(Collective, BandwidthsFollowNcclTests) {
  const struct {
    const char* op;
    double size, factor;
  } cases[] = {{"all_reduce", 1, 2 * 3 / 4.0}, {"all_gather", 4, 3 / 4.0}, {"reduce_scatter", 1, 3 / 4.0},
               {"all_to_all", 1, 3 / 4.0},     {"broadcast", 1, 1},        {"reduce", 1, 1}};
  for (const auto& c : cases) {
    const json r =
        results({"--topology", "Ring(4)", "--bandwidth", "50 GB/s", "--size", "1 MB", "--op", c.op})[0];
    const double seconds = r["time_ns"].get<double>() * 1e-9;
    EXPECT_EQ(r["bytes"], 1000000);
    EXPECT_NEAR(r["algbw_GBps"].get<double>(), c.size * 1e6 / seconds / 1e9, 1e-6) << c.op;
    EXPECT_NEAR(r["busbw_GBps"].get<double>(), r["algbw_GBps"].get<double>() * c.factor, 1e-6) << c.op;
    EXPECT_GT(r["efficiency"], 0) << c.op;
    EXPECT_LE(r["efficiency"], 1) << c.op;
  }
}

TEST(Collective, EveryOperationRuns) {
  for (const char* op : {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce",
                         "gather", "scatter", "barrier"}) {
    for (const char* fidelity : {"message", "analytical"}) {
      Arguments arguments = {
          "--topology", "Ring(4)_Switch(2)", "--bandwidth", "50 GB/s,25 GB/s", "--size", "1 MiB", "--op",
          op,           "--fidelity",        fidelity};
      const std::string name = op;
      if (name == "broadcast" || name == "reduce" || name == "gather" || name == "scatter")
        arguments.insert(arguments.end(), {"--root", "3"});
      const json r = results(arguments);
      EXPECT_GT(r[0]["time_ns"], 0) << op;
      EXPECT_LE(r[0]["efficiency"], 1) << op;
    }
  }
  EXPECT_EQ(collective({"--topology", "Ring(4)", "--bandwidth", "1 GB/s", "--op", "barrier"}).status, 0)
      << "a barrier needs no size";
}

TEST(Collective, SizesRunOneAfterAnotherAndAreIndependent) {
  const json sweep =
      results({"--topology", "Ring(4)_Switch(4)", "--bandwidth", "50 GB/s", "--sizes", "64KiB:1MiB:x4"});
  ASSERT_EQ(sweep.size(), 3u);
  uint64_t bytes = 65536;
  for (const json& one : sweep) {
    const json alone = results({"--topology", "Ring(4)_Switch(4)", "--bandwidth", "50 GB/s", "--size",
                                std::to_string(bytes) + " B"})[0];
    EXPECT_EQ(one["bytes"], bytes);
    EXPECT_EQ(one["time_ns"], alone["time_ns"]);
    EXPECT_EQ(one["messages"], alone["messages"]);
    bytes *= 4;
  }
}

TEST(Collective, OneValueStandsForAllDimensions) {
  const Arguments rest = {"--topology", "Ring(2)_Ring(2)", "--size", "1 MiB"};
  const auto time = [&](Arguments more) {
    more.insert(more.end(), rest.begin(), rest.end());
    return results(more)[0]["time_ns"];
  };
  EXPECT_EQ(time({"--bandwidth", "50 GB/s"}), time({"--bandwidth", "50 GB/s, 50 GB/s"}));
  EXPECT_NE(time({"--bandwidth", "50 GB/s,25 GB/s"}), time({"--bandwidth", "50 GB/s"}));
  EXPECT_EQ(time({"--bandwidth", "50 GB/s", "--algorithm", "ring"}),
            time({"--bandwidth", "50 GB/s", "--algorithm", "ring,default"}));
  EXPECT_EQ(time({"--bandwidth", "50 GB/s", "--fidelity", "analytical"}),
            time({"--bandwidth", "50 GB/s", "--fidelity", "analytical,message"}));
}

TEST(Collective, EveryOptionHasItsEffect) {
  const Arguments base = {"--topology", "Ring(4)_Switch(4)", "--bandwidth", "50 GB/s", "--size", "1 MiB"};
  const auto time = [&](Arguments more) {
    const bool topology = !more.empty() && more[0] == "--topology";
    more.insert(more.end(), base.begin() + (topology ? 2 : 0), base.end());
    return results(more)[0]["time_ns"].get<double>();
  };
  const double plain = time({});
  EXPECT_GT(time({"--latency", "2 us"}), plain);
  EXPECT_GT(time({"--endpoint-delay", "100 ns"}), plain);
  EXPECT_GT(time({"--reduction", "1600 GB/s"}), plain);
  EXPECT_GT(time({"--reduction", "100 GB/s"}), time({"--reduction", "1600 GB/s"}));
  EXPECT_EQ(time({"--reduction", "none"}), plain);
  EXPECT_GT(time({"--topology", "Switch(4)", "--switching", "store_and_forward"}),
            time({"--topology", "Switch(4)"}));
  EXPECT_EQ(time({"--topology", "Switch(4)", "--switching", "cut_through"}),
            time({"--topology", "Switch(4)"}));
  EXPECT_LT(time({"--links-per-npu", "2"}), plain);
  EXPECT_GT(time({"--order", "baseline"}), plain);
  EXPECT_NE(time({"--chunks", "16"}), plain);
  EXPECT_NE(time({"--algorithm", "direct"}), plain);
  EXPECT_LT(time({"--queues", "2"}), plain);
  EXPECT_NE(time({"--active-chunks", "2"}), plain);
  EXPECT_EQ(time({"--scheduling", "fifo"}), plain) << "there is but one collective";
}

TEST(Collective, SetReachesEveryKey) {
  const Arguments base = {"--topology", "Switch(4)", "--bandwidth", "100 GB/s",
                          "--size",     "1 MiB",     "--chunks",    "1"};
  Arguments by_option = base, by_key = base, wrong = base;
  by_option.insert(by_option.end(), {"--algorithm", "ring", "--endpoint-delay", "10 ns"});
  by_key.insert(by_key.end(), {"--set", "collectives.all_reduce=ring", "--set", "nmu.endpoint_delay=10 ns"});
  EXPECT_EQ(results(by_key)[0]["time_ns"], results(by_option)[0]["time_ns"]);
  EXPECT_NE(results(by_key)[0]["time_ns"], results(base)[0]["time_ns"]);
  // It comes after the options.
  Arguments both = base, one = base;
  both.insert(both.end(), {"--latency", "1 us", "--set", "topology.dimensions[0].latency=2 us"});
  one.insert(one.end(), {"--latency", "2 us"});
  EXPECT_EQ(results(both)[0]["time_ns"], results(one)[0]["time_ns"]);
  wrong.insert(wrong.end(), {"--set", "packet.size=3"});
  const Ran ran = collective(wrong);
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(ran.says({"--set packet.size=3", "unknown key 'size'", "packet_size"})) << ran.err;
}

TEST(Collective, SizesAsNcclTestsWritesThem) {
  const Arguments base = {"Switch(4)", "--bandwidth", "100 GB/s"};
  const auto bytes = [&](const Arguments& more) {
    Arguments all = base;
    all.insert(all.end(), more.begin(), more.end());
    std::vector<uint64_t> sizes;
    for (const json& result : results(all)) sizes.push_back(result["bytes"]);
    return sizes;
  };
  EXPECT_EQ(bytes({"-b", "8", "-e", "64", "-f", "2"}), (std::vector<uint64_t>{8, 16, 32, 64}));
  EXPECT_EQ(bytes({"--minbytes", "1k", "--maxbytes", "4K", "--stepfactor", "4"}),
            (std::vector<uint64_t>{1024, 4096}));
  EXPECT_EQ(bytes({"-b1M", "-e3M"}), (std::vector<uint64_t>{1u << 20, 2u << 20, 3u << 20}));
  EXPECT_EQ(bytes({"-b", "1k", "-e", "3k", "-i", "1k"}), (std::vector<uint64_t>{1024, 2048, 3072}));
  EXPECT_EQ(bytes({"--size", "1M"}), (std::vector<uint64_t>{1u << 20}));
  EXPECT_EQ(bytes({"--sizes", "64k,1M"}), (std::vector<uint64_t>{65536, 1u << 20}));
  for (const Arguments& wrong : std::vector<Arguments>{
           {"-b", "8", "-e", "64", "--size", "1k"}, {"-e", "64"}, {"-b", "64", "-e", "8"}, {"-f", "2"}}) {
    Arguments all = base;
    all.insert(all.end(), wrong.begin(), wrong.end());
    const Ran ran = collective(all);
    EXPECT_EQ(ran.status, 2) << ran.out;
    EXPECT_TRUE(ran.says({"-b"})) << ran.err;
  }
}

TEST(Collective, RulesForNothingAreToldAsByRun) {
  vcd::test::TemporaryFolder folder;
  write(folder.file("m.yaml"),
        "weft: 1\ntopology:\n  notation: Ring(4)\n  dimensions: [{bandwidth: 1 GB/s}]\n  fidelity_rules:\n"
        "    - {operation: all_reduce, from: 1 s, fidelity: packet}\n"
        "    - {operation: all_reduce, fidelity: message}\n"
        "collectives:\n  rules:\n    - {name: 'grad*', chunks: 2}\n    - {group: '0', chunks: 3}\n");
  const Ran ran = collective({"--config", folder.file("m.yaml"), "--sizes", "1 KiB,2 KiB"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(
      ran.says({"warning: " + folder.file("m.yaml") +
                    ":6: key `topology.fidelity_rules[0]`: the rule (operation `all_reduce`, from `1 s`) was "
                    "for no collective and no message",
                "warning: " + folder.file("m.yaml") +
                    ":10: key `collectives.rules[0]`: the rule (name `grad*`) is for no collective: none "
                    "matches"}))
      << ran.err;
  EXPECT_EQ(ran.err.find("rules[1]"), std::string::npos) << ran.err;
  EXPECT_EQ(ran.err.find("key `collectives.rules[0]`"), ran.err.rfind("key `collectives.rules[0]`"))
      << "once";
}

TEST(Collective, ZeroBytesAndFewerBytesThanChunksAreNoErrors) {
  const Ran zero = collective({"--topology", "Ring(4)", "--bandwidth", "50 GB/s", "--size", "0 B", "--json"});
  EXPECT_EQ(zero.status, 0) << zero.err;
  EXPECT_EQ(json::parse(zero.out)["results"][0]["messages"], 0);
  EXPECT_EQ(json::parse(zero.out)["results"][0]["time_ns"], 0);
  const Ran few =
      collective({"--topology", "Ring(4)", "--bandwidth", "50 GB/s", "--size", "3 B", "--chunks", "8"});
  EXPECT_EQ(few.status, 0);
  EXPECT_TRUE(few.says({"warning", "3 bytes", "8 chunks"})) << few.err;
}

TEST(Collective, OneNpu) {
  EXPECT_EQ(collective({"--topology", "Ring(1)", "--bandwidth", "1 GB/s", "--size", "1 MiB"}).status, 0);
}

TEST(Collective, BadOptionsNameThemselvesTheValueAndWhatIsAllowed) {
  struct Case {
    Arguments arguments;
    std::vector<std::string> parts;
  };
  const std::vector<Case> cases = {
      {{"--op", "allreduce"}, {"--op 'allreduce'", "all_reduce", "barrier"}},
      {{"--size", "1"}, {"--size", "'1'", "MiB"}},
      {{"--size", "1 GB/s"}, {"--size", "1 GB/s"}},
      {{"--size", "-1 MiB"}, {"--size", "negative"}},
      {{"--size", ""}, {"--size"}},
      {{"--latency", "5"}, {"--latency 5", "unit", "ns"}},
      {{"--latency", "5 GB"}, {"--latency 5 GB", "5 GB"}},
      {{"--latency", "1 ns,2 ns,3 ns"}, {"--latency", "3 values", "2 dimensions"}},
      {{"--latency", "1 ns,"}, {"--latency", "empty value"}},
      {{"--algorithm", "ring,tree"}, {"--algorithm ring,tree", "tree", "halving_doubling"}},
      {{"--algorithm", "ring,ring,ring"}, {"--algorithm", "3 values", "2 dimensions"}},
      {{"--algorithm", "ring,one_ring"}, {"--algorithm", "whole operation", "all_reduce: one_ring"}},
      {{"--fidelity", "packets"}, {"--fidelity packets", "message"}},
      {{"--switching", "wormhole"}, {"--switching wormhole", "cut_through"}},
      {{"--order", "random"}, {"--order random", "baseline"}},
      {{"--chunks", "0"}, {"--chunks 0", "zero"}},
      {{"--chunks", "many"}, {"--chunks many"}},
      {{"--chunks", "99999999999999999999"}, {"--chunks"}},
      {{"--active-chunks", "0"}, {"--active-chunks 0"}},
      {{"--reduction", "fast"}, {"--reduction fast"}},
      {{"--reduction", "1600"}, {"--reduction 1600", "unit"}},
      {{"--endpoint-delay", "1 year"}, {"--endpoint-delay 1 year"}},
      {{"--op", "broadcast", "--root", "12"}, {"--root 12", "0 to 11"}},
      {{"--root", "1"}, {"--root 1", "all_reduce has no root"}},
      {{"--op", "gather", "--root", "x"}, {"--root", "x"}},
      {{"--sizes", "1KiB:1MiB:x2", "--size", "1 MiB"}, {"--size and --sizes"}},
      {{"--sizes", "1KiB:1MiB:2"}, {"--sizes", "x2"}},
      {{"--bandwidth-per-npu", "1 GB/s"}, {"--bandwidth and --bandwidth-per-npu"}},
      {{"--links-per-npu", "0"}, {"--links-per-npu 0"}}};
  for (const Case& c : cases) {
    Arguments arguments = {"--topology", "Ring(3)_Switch(4)", "--bandwidth", "50 GB/s"};
    arguments.insert(arguments.end(), c.arguments.begin(), c.arguments.end());
    if (c.arguments[0].find("--size") != 0) arguments.insert(arguments.end(), {"--size", "1 MiB"});
    arguments.emplace_back("--json");
    const Ran ran = collective(arguments);
    EXPECT_EQ(ran.status, 2) << c.arguments[0] << " " << c.arguments[1] << ": " << ran.err;
    EXPECT_EQ(ran.out, "") << c.arguments[0];
    EXPECT_TRUE(ran.says(c.parts)) << ran.err;
  }
  for (const Case& c :
       std::vector<Case>{{{"--topology", "Rong(4)", "--bandwidth", "1 GB/s"}, {"--topology", "Rong"}},
                         {{"--topology", "Ring(0)", "--bandwidth", "1 GB/s"}, {"--topology", "Ring(0)"}},
                         {{"--topology", "", "--bandwidth", "1 GB/s"}, {"--topology"}},
                         {{"--topology", "Ring(9999)_Ring(9999)", "--bandwidth", "1 GB/s"}, {"--topology"}},
                         {{"--topology", "Ring(4)"}, {"--bandwidth", "100 GB/s"}},
                         {{"--topology", "Ring(4)", "--bandwidth", "0 GB/s"}, {"--bandwidth 0 GB/s", "zero"}},
                         {{"--topology", "Ring(4)", "--bandwidth", "1e30 GB/s"}, {"--bandwidth 1e30 GB/s"}},
                         {{"--topology", "Ring(4)", "--bandwidth", "50"}, {"--bandwidth 50", "unit"}}}) {
    Arguments arguments = c.arguments;
    arguments.insert(arguments.end(), {"--size", "1 MiB"});
    const Ran ran = collective(arguments);
    EXPECT_EQ(ran.status, 2) << ran.err;
    EXPECT_TRUE(ran.says(c.parts)) << ran.err;
  }
}

// The library is held against all goldens elsewhere; here the way from the options to the machine is.
TEST(Collective, SomeGoldens) {
  WEFT_NEEDS_DATA();
  const auto joined = [](const auto& list, const auto& text) {
    std::string out;
    for (const auto& item : list) out += (out.empty() ? "" : ",") + text(item);
    return out;
  };
  const std::vector<GoldenCollective> goldens = read_golden_collectives("collectives.json");
  size_t tried = 0;
  for (size_t i = 0; i < goldens.size(); i += 17) {
    const GoldenCollective& g = goldens[i];
    if (std::any_of(g.gib_per_second.begin(), g.gib_per_second.end(),
                    [](double b) { return std::floor(b) != b; }))
      continue;
    ++tried;
    const auto& dimensions = g.config.dimensions;
    const CollectivesConfig& c = g.config.collectives;
    std::string topology;
    for (const DimensionConfig& d : dimensions)
      topology +=
          (topology.empty() ? "" : "_") + std::string(to_string(d.kind)) + "(" + std::to_string(d.size) + ")";
    const json r = results(
        {"--topology",
         topology,
         "--bandwidth",
         joined(g.gib_per_second,
                [](double b) { return std::to_string(static_cast<uint64_t>(b)) + " GiB/s"; }),
         "--latency",
         joined(dimensions, [](const DimensionConfig& d) { return std::to_string(d.latency) + " ps"; }),
         "--algorithm",
         joined(c.algorithms[static_cast<size_t>(g.op)], [](const std::string& name) { return name; }),
         "--op",
         to_string(g.op),
         "--size",
         std::to_string(g.bytes) + " B",
         "--chunks",
         std::to_string(c.chunks),
         "--active-chunks",
         std::to_string(c.active_chunks_per_dimension),
         "--order",
         to_string(c.order),
         "--reduction",
         c.reduction == ReductionKind::none ? "none" : "1600 GB/s",
         "--endpoint-delay",
         std::to_string(g.config.nmu.endpoint_delay) + " ps",
         "--fidelity",
         to_string(dimensions[0].fidelity),
         "--switching",
         "store_and_forward"});
    EXPECT_NEAR(r[0]["time_ns"].get<double>(), g.time_ns, g.tolerance_ns) << g.id;
  }
  EXPECT_GE(tried, 10u);
}

// A graph has no notation, and a stall no data that is right.
TEST(Collective, AGraphIsCalledOneAndAStallPraisesNoData) {
  const std::string graph = weft::test::source_dir() + "/configs/examples/hybrid_cube_mesh.yaml";
  EXPECT_EQ(collective({"--config", graph, "--size", "1 MiB"}).out.rfind("# all_reduce on Graph (8 NPUs)", 0),
            0u);
  EXPECT_NE(weft({"validate", graph}).out.find("valid; Graph, 8 NPUs"), std::string::npos);
  const Ran ran = collective({"--topology",  "Ring(8)",
                              "--bandwidth", "16 GB/s",
                              "--latency",   "0 ns",
                              "--fidelity",  "packet",
                              "--op",        "all_to_all",
                              "--algorithm", "direct",
                              "--size",      "1 MiB",
                              "--data",      "int32",
                              "--set",       "packet.vcs=1",
                              "--set",       "packet.vc_classes=none",
                              "--set",       "packet.buffer_flits=4"});
  EXPECT_EQ(ran.status, 4) << ran.err;
  EXPECT_EQ(ran.out.find("all are right"), std::string::npos) << ran.out;
}

}  // namespace
}  // namespace weft::test
