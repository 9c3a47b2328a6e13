// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/generate/llm.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "configs/types.h"
#include "workload/trace/chakra.pb.h"

namespace weft::generate {
namespace {

namespace fs = std::filesystem;
namespace pb = ChakraProtoMsg;

std::string slurp(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Trace {
  std::vector<pb::Node> nodes;
};

/// A reader of its own, so that the generator is not checked with the code it writes with.
Trace parse(const std::string& bytes) {
  Trace trace;
  size_t at = 0;
  bool metadata = true;
  while (at < bytes.size()) {
    uint64_t length = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<uint8_t>(bytes.at(at++));
      length |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) break;
    }
    const std::string body = bytes.substr(at, length);
    EXPECT_EQ(body.size(), length);
    at += length;
    if (metadata) {
      pb::GlobalMetadata global;
      EXPECT_TRUE(global.ParseFromString(body));
      EXPECT_FALSE(global.version().empty());
      metadata = false;
    } else {
      trace.nodes.emplace_back();
      EXPECT_TRUE(trace.nodes.back().ParseFromString(body));
    }
  }
  return trace;
}

const pb::AttributeProto* attribute(const pb::Node& node, const std::string& name) {
  for (const auto& attr : node.attr())
    if (attr.name() == name) return &attr;
  return nullptr;
}
int64_t int64(const pb::Node& node, const std::string& name) {
  const auto* attr = attribute(node, name);
  if (attr == nullptr || attr->value_case() != pb::AttributeProto::kInt64Val) {
    ADD_FAILURE() << node.name() << ": no int64 " << name;
    return -1;
  }
  return attr->int64_val();
}
int32_t int32(const pb::Node& node, const std::string& name) {
  const auto* attr = attribute(node, name);
  if (attr == nullptr || attr->value_case() != pb::AttributeProto::kInt32Val) {
    ADD_FAILURE() << node.name() << ": no int32 " << name;
    return -1;
  }
  return attr->int32_val();
}
std::string text(const pb::Node& node, const std::string& name) {
  const auto* attr = attribute(node, name);
  return attr == nullptr ? "" : attr->string_val();
}

class GenerateLlm : public ::testing::Test {
 protected:
  GenerateLlm() {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string(info->test_suite_name()) + "." + info->name();
    for (char& c : name)
      if (c == '/') c = '_';
    folder = fs::path(::testing::TempDir()) / ("weft." + std::to_string(getpid()) + "." + name);
    fs::remove_all(folder);
  }
  ~GenerateLlm() override { fs::remove_all(folder); }

  LlmSummary generate(const LlmConfig& config) {
    const LlmSummary summary = generate_llm(config, folder.string(), "llm");
    traces.clear();
    for (uint32_t r = 0; r < summary.ranks; ++r)
      traces.push_back(parse(slurp(folder / ("llm." + std::to_string(r) + ".et"))));
    const auto json = nlohmann::json::parse(slurp(summary.groups_file));
    groups = json.get<std::map<std::string, std::vector<uint32_t>>>();
    return summary;
  }

  /// The message of the error that `config` causes; nothing may be written.
  std::string refused(const LlmConfig& config) {
    try {
      generate_llm(config, folder.string(), "llm");
    } catch (const UserError& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_FALSE(fs::exists(folder));
      return error.what();
    }
    ADD_FAILURE() << "not refused";
    return "";
  }

  fs::path folder;
  std::vector<Trace> traces;
  std::map<std::string, std::vector<uint32_t>> groups;
};

LlmConfig small() {
  LlmConfig c;
  c.layers = 4;
  c.hidden = 256;
  c.seq = 64;
  c.batch = 16;
  c.vocab = 1024;
  c.heads = 4;
  return c;
}

// ---- what holds for every combination
// ------------------------------------------------------------------------------------

struct Case {
  uint32_t tp, dp, pp, microbatches;
  bool sequence_parallel;
  uint32_t zero;
  const char* order;
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << "tp" << c.tp << " dp" << c.dp << " pp" << c.pp << " mb" << c.microbatches << " sp"
             << c.sequence_parallel << " zero" << c.zero << " order " << c.order;
}

class Combination : public GenerateLlm, public ::testing::WithParamInterface<Case> {
 protected:
  static LlmConfig config() {
    const Case& k = GetParam();
    LlmConfig c = small();
    c.tp = k.tp;
    c.dp = k.dp;
    c.pp = k.pp;
    c.microbatches = k.microbatches;
    c.sequence_parallel = k.sequence_parallel;
    c.zero = k.zero;
    c.order = k.order;
    return c;
  }
};

TEST_P(Combination, DependenciesReferToEarlierNodes) {
  const LlmSummary summary = generate(config());
  uint64_t nodes = 0;
  for (const Trace& trace : traces) {
    uint64_t previous = 0;
    for (const pb::Node& node : trace.nodes) {
      ASSERT_EQ(node.id(), previous + 1);
      previous = node.id();
      for (const auto* deps : {&node.data_deps(), &node.ctrl_deps()})
        for (const uint64_t dep : *deps) {
          EXPECT_GE(dep, 1u);
          EXPECT_LT(dep, node.id());
        }
      EXPECT_FALSE(node.name().empty());
      ASSERT_NE(attribute(node, "is_cpu_op"), nullptr);
      EXPECT_EQ(attribute(node, "is_cpu_op")->value_case(), pb::AttributeProto::kBoolVal);
    }
    nodes += trace.nodes.size();
  }
  EXPECT_EQ(nodes, summary.nodes);
}

TEST_P(Combination, ComputeIsOneStream) {
  generate(config());
  for (const Trace& trace : traces) {
    uint64_t previous = 0;
    for (const pb::Node& node : trace.nodes) {
      if (node.type() != pb::COMP_NODE) continue;
      bool ordered = previous == 0;
      for (const auto* deps : {&node.data_deps(), &node.ctrl_deps()})
        for (const uint64_t dep : *deps) ordered = ordered || dep == previous;
      EXPECT_TRUE(ordered) << node.name();
      previous = node.id();
    }
  }
}

TEST_P(Combination, FlopEqualTheClosedForm) {
  const LlmConfig c = config();
  const LlmSummary summary = generate(c);
  // The literature's 72 B s L h^2 (1 + s / 6h + V / 12 L h) with a free ffn: 6 FLOP a parameter and token
  // without the embedding, which multiplies nothing, and 12 s h a layer and token for attention.
  const uint64_t tokens = c.batch * c.seq;
  const uint64_t ffn = 4 * c.hidden;
  const uint64_t layer = 4 * c.hidden * c.hidden + 2 * c.hidden * ffn;
  const uint64_t expected =
      6 * tokens * (c.layers * layer + c.vocab * c.hidden) + 12 * tokens * c.seq * c.hidden * c.layers;
  EXPECT_EQ(expected, 72 * tokens * c.layers * c.hidden * c.hidden +
                          12 * tokens * c.seq * c.hidden * c.layers + 6 * tokens * c.vocab * c.hidden);
  EXPECT_EQ(summary.flop, expected);
  EXPECT_EQ(summary.parameters, c.layers * layer + 2 * c.vocab * c.hidden);

  const uint64_t softmax = 3 * 5 * tokens * c.seq * c.heads * c.layers;
  uint64_t in_files = 0;
  for (const Trace& trace : traces)
    for (const pb::Node& node : trace.nodes)
      if (text(node, "op_type") == "GEMM" || text(node, "op_type") == "ATTENTION")
        in_files += static_cast<uint64_t>(int64(node, "num_ops"));
  EXPECT_EQ(in_files, expected + softmax);
}

TEST_P(Combination, EverySendHasItsReceive) {
  const LlmConfig c = config();
  generate(c);
  std::map<std::tuple<int, int, int>, int64_t> sends, receives;
  std::set<int> tags_of_senders;
  for (uint32_t r = 0; r < traces.size(); ++r) {
    for (const pb::Node& node : traces[r].nodes) {
      if (node.type() != pb::COMM_SEND_NODE && node.type() != pb::COMM_RECV_NODE) continue;
      const bool is_send = node.type() == pb::COMM_SEND_NODE;
      const int source = int32(node, "comm_src"), target = int32(node, "comm_dst"),
                tag = int32(node, "comm_tag");
      EXPECT_EQ(is_send ? source : target, static_cast<int>(r));
      EXPECT_NE(source, target);
      ASSERT_LT(static_cast<size_t>(std::max(source, target)), traces.size());
      EXPECT_TRUE((is_send ? sends : receives)
                      .emplace(std::tuple{source, target, tag}, int64(node, "comm_size"))
                      .second)
          << "tag " << tag << " twice between " << source << " and " << target;
    }
  }
  EXPECT_EQ(sends, receives);
  EXPECT_EQ(sends.size(), size_t{2} * (c.pp - 1) * c.microbatches * c.tp * c.dp);
}

TEST_P(Combination, MembersOfAGroupHaveItsCollectivesInTheSameOrder) {
  const LlmConfig c = config();
  generate(c);
  std::map<std::string, std::map<uint32_t, std::string>> sequences;
  for (uint32_t r = 0; r < traces.size(); ++r)
    for (const pb::Node& node : traces[r].nodes)
      if (node.type() == pb::COMM_COLL_NODE)
        sequences[text(node, "pg_name")][r] +=
            std::to_string(int64(node, "comm_type")) + ":" + std::to_string(int64(node, "comm_size")) + " ";
  EXPECT_EQ(groups.size(), (c.tp > 1 ? c.dp * c.pp : 0) + (c.dp > 1 ? c.tp * c.pp : 0));
  EXPECT_EQ(sequences.size(), groups.size());
  for (const auto& [name, members] : groups) {
    EXPECT_TRUE(members.size() == c.tp || members.size() == c.dp);
    ASSERT_EQ(sequences.count(name), 1u) << name;
    const auto& by_rank = sequences[name];
    EXPECT_EQ(by_rank.size(), members.size());
    for (const uint32_t rank : members) {
      ASSERT_EQ(by_rank.count(rank), 1u);
      EXPECT_EQ(by_rank.at(rank), by_rank.at(members[0]));
    }
  }
}

TEST_P(Combination, TheJobRunsToItsEnd) {
  // Every node of every rank in turn, as far as its dependencies, its group and its sender allow: no
  // deadlock.
  generate(config());
  struct State {
    std::vector<bool> done;
    size_t finished = 0;
  };
  std::vector<State> ranks(traces.size());
  for (size_t r = 0; r < traces.size(); ++r) ranks[r].done.resize(traces[r].nodes.size() + 1);
  std::map<std::pair<std::string, uint32_t>, uint32_t> joined;  // group, rank -> collectives joined
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> number;     // rank, node -> its number in the group
  std::set<std::tuple<int, int, int>> sent;
  const auto ready = [&](size_t r, const pb::Node& node) {
    for (const auto* deps : {&node.data_deps(), &node.ctrl_deps()})
      for (const uint64_t dep : *deps)
        if (!ranks[r].done[dep]) return false;
    return true;
  };
  bool progress = true;
  while (progress) {
    progress = false;
    for (uint32_t r = 0; r < traces.size(); ++r) {
      for (const pb::Node& node : traces[r].nodes) {
        if (ranks[r].done[node.id()] || !ready(r, node)) continue;
        bool done = true;
        if (node.type() == pb::COMM_COLL_NODE) {
          const std::string group = text(node, "pg_name");
          const auto key = std::make_pair(r, node.id());
          if (number.count(key) == 0) {
            number[key] = ++joined[{group, r}];
            progress = true;
          }
          for (const uint32_t member : groups.at(group))
            done = done && joined[{group, member}] >= number[key];
        } else if (node.type() == pb::COMM_RECV_NODE || node.type() == pb::COMM_SEND_NODE) {
          const std::tuple key{int32(node, "comm_src"), int32(node, "comm_dst"), int32(node, "comm_tag")};
          if (node.type() == pb::COMM_SEND_NODE)
            sent.insert(key);
          else
            done = sent.count(key) != 0;
        }
        if (!done) continue;
        ranks[r].done[node.id()] = true;
        ++ranks[r].finished;
        progress = true;
      }
    }
  }
  for (uint32_t r = 0; r < traces.size(); ++r)
    EXPECT_EQ(ranks[r].finished, traces[r].nodes.size()) << "rank " << r;
}

INSTANTIATE_TEST_SUITE_P(
    All, Combination,
    ::testing::Values(Case{1, 1, 1, 1, false, 0, "tp,dp,pp"}, Case{4, 1, 1, 1, false, 0, "tp,dp,pp"},
                      Case{1, 4, 1, 2, false, 0, "tp,dp,pp"}, Case{1, 1, 4, 8, false, 0, "tp,dp,pp"},
                      Case{1, 1, 4, 2, false, 0, "tp,dp,pp"}, Case{2, 2, 2, 4, false, 0, "tp,dp,pp"},
                      Case{2, 2, 2, 4, true, 0, "pp,dp,tp"}, Case{4, 2, 2, 2, true, 1, "dp,tp,pp"},
                      Case{2, 4, 2, 2, true, 2, "tp,pp,dp"}, Case{2, 2, 4, 4, false, 3, "tp,dp,pp"},
                      Case{1, 8, 1, 2, false, 3, "tp,dp,pp"}));

// ---- the parts
// ---------------------------------------------------------------------------------------------------------

/// Count and bytes of each kind of collective of `rank`, by group kind.
using Traffic = std::map<std::pair<std::string, int64_t>, std::pair<int, int64_t>>;
Traffic traffic(const Trace& trace, const std::string& group) {
  Traffic result;
  for (const pb::Node& node : trace.nodes) {
    if (node.type() != pb::COMM_COLL_NODE || text(node, "pg_name") != group) continue;
    auto& entry = result[{"", int64(node, "comm_type")}];
    ++entry.first;
    entry.second += int64(node, "comm_size");
  }
  return result;
}

TEST_F(GenerateLlm, TensorParallelTrafficEqualsTheClosedForm) {
  LlmConfig c = small();
  c.tp = 2;
  c.microbatches = 4;
  const int64_t tokens = 4 * 64, activation = tokens * 256 * 2;
  generate(c);
  // Two all-reduces a layer and direction, one for the embedding and one for the output layer's gradient; the
  // loss agrees on 4 and 8 bytes a token.
  Traffic t = traffic(traces[0], "1");
  ASSERT_EQ(t.size(), 1u);
  EXPECT_EQ((t[{"", pb::ALL_REDUCE}]),
            std::make_pair(4 * (4 * 4 + 2 + 2), 4 * ((4 * 4 + 2) * activation + 12 * tokens)));

  c.sequence_parallel = true;
  generate(c);
  t = traffic(traces[0], "1");
  const int pairs = 4 * (4 * 4 + 2);
  EXPECT_EQ((t[{"", pb::ALL_GATHER}]), std::make_pair(pairs, pairs * activation / 2));
  EXPECT_EQ((t[{"", pb::REDUCE_SCATTER}]), std::make_pair(pairs, pairs * activation));
  EXPECT_EQ((t[{"", pb::ALL_REDUCE}]), std::make_pair(4 * 2, 4 * 12 * tokens));
}

TEST_F(GenerateLlm, DataParallelTrafficFollowsZero) {
  LlmConfig c = small();
  c.dp = 4;
  c.microbatches = 2;
  const int64_t weights = 2 * (4 * int64_t{12} * 256 * 256 + 2 * 1024 * 256);  // bytes
  const int blocks = 4 + 2;
  const std::pair<int, int64_t> none{0, 0};
  struct {
    uint32_t zero;
    std::pair<int, int64_t> all_reduce, reduce_scatter, all_gather;
  } const expected[] = {{0, {blocks, weights}, none, none},
                        {1, none, {blocks, weights}, {blocks, weights / 4}},
                        {2, none, {2 * blocks, 2 * weights}, {blocks, weights / 4}},
                        {3, none, {2 * blocks, 2 * weights}, {0, 0}}};
  for (const auto& e : expected) {
    c.zero = e.zero;
    generate(c);
    Traffic t = traffic(traces[0], "1");
    EXPECT_EQ((t[{"", pb::ALL_REDUCE}]), e.all_reduce) << e.zero;
    EXPECT_EQ((t[{"", pb::REDUCE_SCATTER}]), e.reduce_scatter) << e.zero;
    if (e.zero == 3) {
      // Each block before its forward and its backward, except that the embedding has no use for its rows on
      // the way back.
      const int64_t embedding = 2 * 1024 * 256;
      EXPECT_EQ((t[{"", pb::ALL_GATHER}]),
                std::make_pair(2 * (2 * blocks - 1), 2 * (2 * weights - embedding) / 4));
    } else {
      EXPECT_EQ((t[{"", pb::ALL_GATHER}]), e.all_gather) << e.zero;
    }
  }
}

TEST_F(GenerateLlm, GradientsOverlapTheBackward) {
  LlmConfig c = small();
  c.dp = 2;
  generate(c);
  // Nothing but the optimizer waits for a gradient's all-reduce.
  std::set<uint64_t> reductions;
  for (const pb::Node& node : traces[0].nodes) {
    if (node.type() == pb::COMM_COLL_NODE) reductions.insert(node.id());
    if (node.type() != pb::COMP_NODE) continue;
    size_t waits = 0;
    for (const uint64_t dep : node.data_deps()) waits += reductions.count(dep);
    EXPECT_EQ(waits, text(node, "op_type") == "OPTIMIZER" ? reductions.size() : 0u) << node.name();
  }
  EXPECT_EQ(reductions.size(), 6u);
}

TEST_F(GenerateLlm, MicrobatchesFollow1F1B) {
  LlmConfig c = small();
  c.pp = 4;
  c.microbatches = 4;
  generate(c);
  const auto schedule = [&](uint32_t rank) {
    std::string tasks, last;
    for (const pb::Node& node : traces[rank].nodes) {
      if (node.type() != pb::COMP_NODE || node.name().substr(0, 2) != "mb") continue;
      const size_t dot = node.name().find('.');
      std::string task = node.name().substr(dot + 1, 1) + node.name().substr(2, dot - 2);
      if (task == last) continue;
      last = task;
      tasks += task + " ";
    }
    return tasks;
  };
  EXPECT_EQ(schedule(0), "f0 f1 f2 f3 b0 b1 b2 b3 ");
  EXPECT_EQ(schedule(1), "f0 f1 f2 b0 f3 b1 b2 b3 ");
  EXPECT_EQ(schedule(2), "f0 f1 b0 f2 b1 f3 b2 b3 ");
  EXPECT_EQ(schedule(3), "f0 b0 f1 b1 f2 b2 f3 b3 ");
}

TEST_F(GenerateLlm, RankLayoutFollowsTheOrder) {
  LlmConfig c = small();
  c.tp = 2;
  c.dp = 2;
  c.pp = 2;
  c.microbatches = 2;
  generate(c);
  using Members = std::vector<uint32_t>;
  EXPECT_EQ(groups.at("1"), (Members{0, 1}));
  EXPECT_EQ(groups.at("4"), (Members{6, 7}));
  EXPECT_EQ(groups.at("5"), (Members{0, 2}));
  EXPECT_EQ(groups.at("8"), (Members{5, 7}));
  c.order = "pp,dp,tp";
  generate(c);
  EXPECT_EQ(groups.at("1"), (Members{0, 4}));
  EXPECT_EQ(groups.at("5"), (Members{0, 2}));
}

TEST_F(GenerateLlm, WithoutGroupsTheFileIsAnEmptyObject) {
  generate(small());
  EXPECT_TRUE(groups.empty());
}

TEST_F(GenerateLlm, TheSameParametersGiveTheSameBytes) {
  LlmConfig c = small();
  c.tp = 2;
  c.dp = 2;
  c.pp = 2;
  c.microbatches = 2;
  const auto all = [&] {
    const LlmSummary summary = generate(c);
    std::string bytes = slurp(summary.groups_file);
    uint64_t size = 0;
    for (uint32_t r = 0; r < summary.ranks; ++r) {
      const std::string file = slurp(folder / ("llm." + std::to_string(r) + ".et"));
      size += file.size();
      bytes += file;
    }
    EXPECT_EQ(size, summary.bytes);
    return bytes;
  };
  const std::string first = all();
  EXPECT_EQ(first, all());
}

// ---- refusals
// ----------------------------------------------------------------------------------------------------------

TEST_F(GenerateLlm, ParametersThatDoNotFitAreRefusedWithARemedy) {
  const auto expect = [&](auto change, std::initializer_list<const char*> parts) {
    LlmConfig c = small();
    change(c);
    const std::string message = refused(c);
    for (const char* part : parts)
      EXPECT_NE(message.find(part), std::string::npos) << part << " in " << message;
  };
  expect([](LlmConfig& c) { c.tp = 0; }, {"tp is 0"});
  expect([](LlmConfig& c) { c.layers = 6, c.pp = 4; }, {"layers is 6", "pp (4)", "use 4 or 8"});
  expect([](LlmConfig& c) { c.tp = 3; }, {"hidden is 256", "tp (3)", "use 255 or 258"});
  expect([](LlmConfig& c) { c.tp = 8; }, {"heads is 4", "use 8"});
  expect([](LlmConfig& c) { c.heads = 3; }, {"hidden is 256", "heads (3)"});
  expect([](LlmConfig& c) { c.ffn = 1001, c.tp = 2; }, {"ffn is 1001"});
  expect([](LlmConfig& c) { c.vocab = 1023, c.tp = 2; }, {"vocab is 1023", "use 1022 or 1024"});
  expect([](LlmConfig& c) { c.batch = 6, c.microbatches = 4; },
         {"batch is 6", "dp x microbatches (4)", "use 4 or 8"});
  expect([](LlmConfig& c) { c.batch = 2, c.dp = 4; }, {"batch is 2", "use 4"});
  expect([](LlmConfig& c) { c.batch = 1, c.seq = 63, c.tp = 2, c.sequence_parallel = true; },
         {"63", "use 62 or 64"});
  expect([](LlmConfig& c) { c.zero = 4; }, {"zero is 4", "between 0 and 3"});
  expect([](LlmConfig& c) { c.dtype_bytes = 0; }, {"dtype_bytes is 0"});
  expect([](LlmConfig& c) { c.tp = c.dp = c.pp = 1024; }, {"ranks"});
  expect([](LlmConfig& c) { c.tp = c.dp = c.pp = UINT32_MAX; }, {"tp is"});
  expect([](LlmConfig& c) { c.hidden = 1 << 30, c.vocab = uint64_t{1} << 40, c.seq = uint64_t{1} << 40; },
         {"too large"});
  expect([](LlmConfig& c) { c.layers = 1000000, c.batch = c.microbatches = 1000000; }, {"nodes a rank"});
  expect([](LlmConfig& c) { c.dp = 2, c.slow[2] = 1500000; }, {"rank 2 is none of the job's 2"});
  for (const char* order :
       {"", "tp", "tp,dp", "tp,dp,dp", "tp,dp,pp,", "tp,dp,pp,tp", "tp dp pp", "TP,DP,PP"})
    expect([&](LlmConfig& c) { c.order = order; }, {"order is", "tp,dp,pp"});
}

TEST_F(GenerateLlm, AFolderThatCannotBeWrittenIsRefused) {
  fs::create_directories(folder);
  const fs::path file = folder / "file";
  std::ofstream(file) << "x";
  for (const fs::path& out : {file, file / "below"}) {
    try {
      generate_llm(small(), out.string(), "llm");
      FAIL() << out;
    } catch (const UserError& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_NE(std::string(error.what()).find(out.string()), std::string::npos) << error.what();
    }
  }
  for (const char* name : {"", "a/b"}) EXPECT_THROW(generate_llm(small(), folder.string(), name), UserError);
  fs::create_directories(folder / "llm.0.et");  // in the way of the file
  EXPECT_THROW(generate_llm(small(), folder.string(), "llm"), UserError);
}

TEST_F(GenerateLlm, AFileThatCannotGrowIsReportedAndLeavesNoHalfFile) {
  // As on a full disk, a write fails; here because no file may have more than 64 bytes.
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit little{64, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &little), 0);
  std::string what;
  ExitCode code = ExitCode::done;
  try {
    generate_llm(small(), folder.string(), "llm");
  } catch (const UserError& error) {
    what = error.what();
    code = error.code();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(code, ExitCode::internal);
  EXPECT_NE(what.find("llm.0.et"), std::string::npos) << what;
  EXPECT_NE(what.find("File too large"), std::string::npos) << what;
  EXPECT_FALSE(fs::exists(folder / "llm.0.et"));
}

TEST_F(GenerateLlm, ALinkInThePlaceOfAFileIsRefused) {
  for (const char* victim : {"llm.0.et", "llm.groups.json"}) {
    fs::remove_all(folder);
    fs::create_directories(folder);
    fs::create_symlink("/dev/null", folder / victim);
    try {
      generate_llm(small(), folder.string(), "llm");
      FAIL() << "a link was followed: " << victim;
    } catch (const UserError& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_NE(std::string(error.what()).find(victim), std::string::npos) << error.what();
    }
    EXPECT_TRUE(fs::is_symlink(folder / victim));
  }
}

TEST_F(GenerateLlm, TracesOfALargerJobInTheFolderAreRefused) {
  LlmConfig c = small();
  c.dp = 4;
  generate(c);
  c.dp = 2;
  try {
    generate_llm(c, folder.string(), "llm");
    FAIL() << "rank 2 of the older job would have been left";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("llm.2.et"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace weft::generate
