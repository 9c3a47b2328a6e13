// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Custom programs: written from every built-in algorithm and read back they are proven and move the same
// blocks; every defect is named.

#include "workload/collectives/custom.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "configs/config.h"
#include "tests/trace/trace_files.h"
#include "workload/collectives/plan.h"
#include "workload/collectives/program_check.h"
#include "workload/generate/collective.h"

namespace weft::collectives {
namespace {

using trace::test::attribute;
using trace::test::expect_error;
using trace::test::make;
using trace::test::PbNode;
using trace::test::TempFolder;
using trace::test::write_trace;

constexpr CollectiveOp kOps[] = {
    CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::reduce_scatter,
    CollectiveOp::all_to_all, CollectiveOp::broadcast,  CollectiveOp::reduce,
    CollectiveOp::gather,     CollectiveOp::scatter,    CollectiveOp::barrier};

/// (from, to, blocks, reduce) of every message, sorted.
std::vector<std::vector<uint32_t>> messages(const PhaseRounds& rounds) {
  std::vector<std::vector<uint32_t>> all;
  for (uint32_t m = 0; m < rounds.size(); ++m) {
    for (const Round& round : rounds[m]) {
      for (const RoundSend& s : round.sends) {
        all.push_back({m, s.to, s.reduce ? 1u : 0u});
        s.blocks.for_each(static_cast<uint32_t>(rounds.size()), [&](uint32_t b) { all.back().push_back(b); });
      }
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

TEST(Custom, BuiltInAlgorithmsSurviveTheWay) {
  const TempFolder folder;
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const CollectiveOp op : kOps) {
      for (const uint32_t n : {2u, 3u, 5u, 8u, 11u}) {
        if (!algorithm->refuses(op, n).empty()) continue;
        const uint32_t root = rooted(op) ? n - 2 : 0;
        SCOPED_TRACE(std::string(algorithm->name()) + " " + to_string(op) + " " + std::to_string(n));
        const auto summary =
            generate::generate_collective({op, algorithm->name(), n, root}, folder / "x", "p");
        const auto custom = CustomAlgorithm::load(summary.prefix, n);
        uint32_t block = ~0u;
        EXPECT_EQ(custom->disproof({op, n, 0, root, false, 0}, block), "");
        EXPECT_EQ(block, ~0u);
        const PhaseRounds mine = write_out(*custom, op, n, root);
        EXPECT_EQ(messages(mine), messages(write_out(*algorithm, op, n, root)));
        EXPECT_EQ(messages(mine).size(), summary.sends);
        for (uint32_t me = 0; me < n; ++me) {
          std::vector<std::vector<uint32_t>> due(n);
          for (uint32_t from = 0; from < n; ++from) {
            for (const Round& round : mine[from]) {
              for (const RoundSend& s : round.sends) {
                if (s.to == me) due[from].push_back(s.at_round);
              }
            }
          }
          for (uint32_t r = 0; r <= mine[me].size(); ++r) {
            for (uint32_t from = 0; from < n; ++from) {
              const bool later =
                  std::any_of(due[from].begin(), due[from].end(), [&](uint32_t at) { return at >= r; });
              EXPECT_EQ(custom->expects({op, n, me, root, false, 0}, r, from), later);
            }
          }
        }
      }
    }
  }
}

TEST(Custom, TheRingKeepsItsRounds) {
  const TempFolder folder;
  const auto summary =
      generate::generate_collective({CollectiveOp::all_reduce, "ring", 6, 0}, folder / "x", "ring");
  const auto custom = CustomAlgorithm::load(summary.prefix, 6);
  for (uint32_t me = 0; me < 6; ++me) {
    EXPECT_EQ(custom->rounds({CollectiveOp::all_reduce, 6, me, 0, false, 0}), 10u);
  }
}

PbNode send(uint64_t id, int64_t to, int64_t tag, int64_t first, int64_t count = 1,
            std::initializer_list<uint64_t> deps = {}) {
  PbNode node = make(id, "s", ChakraProtoMsg::COMM_SEND_NODE, deps);
  attribute(node, "comm_dst", to);
  attribute(node, "comm_tag", tag);
  attribute(node, "block_first", first);
  attribute(node, "block_count", count);
  return node;
}
PbNode receive(uint64_t id, int64_t from, int64_t tag, bool reduce,
               std::initializer_list<uint64_t> deps = {}) {
  PbNode node = make(id, "r", ChakraProtoMsg::COMM_RECV_NODE, deps);
  attribute(node, "comm_src", from);
  attribute(node, "comm_tag", tag);
  attribute(node, "reduce", reduce ? 1 : 0);
  return node;
}

/// Two members; what is wrong with their programs as an all-reduce.
class Pair {
 public:
  std::vector<PbNode> a, b;

  /// Each reduces the other's two blocks.
  static Pair exchange() {
    Pair p;
    p.a = {send(1, 1, 7, 0, 2), receive(2, 1, 7, true)};
    p.b = {send(10, 0, 7, 0, 2), receive(20, 0, 7, true)};
    return p;
  }
  uint32_t block = ~0u;  ///< of the last disproof()
  std::string disproof(CollectiveOp op = CollectiveOp::all_reduce) {
    block = ~0u;
    const auto custom = load();
    return custom->disproof({op, 2, 0, 0, false, 0}, block);
  }
  std::shared_ptr<const CustomAlgorithm> load() {
    write_trace(folder_->operator/("p.0.et"), a);
    write_trace(folder_->operator/("p.1.et"), b);
    return CustomAlgorithm::load(*folder_ / "p", 2);
  }

 private:
  std::shared_ptr<TempFolder> folder_ = std::make_shared<TempFolder>();
};

void expect_text(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << "no \"" << part << "\" in: " << text;
  }
}

TEST(Custom, WrongResultsNameMemberBlockAndContribution) {
  EXPECT_EQ(Pair::exchange().disproof(), "");
  Pair missing = Pair::exchange();
  missing.a[0] = send(1, 1, 7, 1, 1);  // block 0 is not sent
  expect_text(missing.disproof(), {"block 0 at member 1", "contribution of member 0 is missing"});
  Pair replaced = Pair::exchange();
  replaced.b[1] = receive(20, 0, 7, false);
  expect_text(replaced.disproof(), {"block 0 at member 1", "contribution of member 1 is missing"});
  Pair twice = Pair::exchange();
  twice.a.push_back(send(3, 1, 8, 1, 1, {2}));
  twice.b.push_back(receive(30, 0, 8, true, {20}));
  expect_text(twice.disproof(), {"block 1 at member 1", "contribution of member", "second time", "member 0"});
  EXPECT_EQ(twice.block, 1u);
  // Without reduction the same programs are no all-gather: each sends a block that it does not have.
  Pair moved = Pair::exchange();
  moved.a[1] = receive(2, 1, 7, false);
  moved.b[1] = receive(20, 0, 7, false);
  expect_text(moved.disproof(CollectiveOp::all_gather), {"does not have it"});
  expect_text(Pair::exchange().disproof(CollectiveOp::all_to_all), {"reduces nothing"});
  // Two messages at once, one of which replaces.
  Pair race = Pair::exchange();
  race.a.push_back(send(3, 1, 8, 1, 1));
  race.b.push_back(receive(30, 0, 8, false));
  expect_text(race.disproof(), {"block 1 reaches member 1 in two messages at once", "add a dependency"});
}

// Whatever the contributions: two members of which each has what it must have, and a receive that reduces.
TEST(Custom, OperationsThatMoveDataReduceNothing) {
  struct Case {
    CollectiveOp op;
    bool both;         ///< member 1 sends as well
    int64_t first[2];  ///< block that each sends
    int64_t count;
  };
  for (const Case& c :
       {Case{CollectiveOp::all_gather, true, {0, 1}, 1}, Case{CollectiveOp::all_to_all, true, {1, 0}, 1},
        Case{CollectiveOp::gather, false, {0, 1}, 1}, Case{CollectiveOp::broadcast, false, {0, 0}, 2},
        Case{CollectiveOp::scatter, false, {1, 0}, 1}}) {
    for (const bool reduce : {false, true}) {
      SCOPED_TRACE(std::string(to_string(c.op)) + (reduce ? " reduced" : ""));
      const uint32_t sender = c.op == CollectiveOp::gather ? 1 : 0;  // to root 0, or from it
      Pair p;
      auto& from = sender == 0 ? p.a : p.b;
      auto& to = sender == 0 ? p.b : p.a;
      from = {send(1, 1 - sender, 7, c.first[sender], c.count)};
      to = {receive(2, sender, 7, reduce)};
      if (c.both) {
        to.push_back(send(3, sender, 8, c.first[1 - sender], c.count));
        from.push_back(receive(4, 1 - sender, 8, reduce));
      }
      const std::string why = p.disproof(c.op);
      if (!reduce) {
        EXPECT_EQ(why, "");
      } else {
        expect_text(why, {"is reduced", to_string(c.op), "reduces nothing", "member"});
      }
    }
  }
}

TEST(Custom, ProgramsThatCannotRunAreNamed) {
  Pair deadlock = Pair::exchange();
  deadlock.a[0].add_data_deps(2);
  deadlock.b[0].add_data_deps(20);
  expect_error([&] { deadlock.load(); },
               {"deadlock", "send 1 of member 0", "receive 2 of member 0", "send 10 of member 1"});
  Pair self = Pair::exchange();
  self.a[1].add_ctrl_deps(2);
  expect_error([&] { self.load(); }, {"deadlock", "receive 2 of member 0"});
  Pair lonely = Pair::exchange();
  lonely.a.push_back(send(3, 1, 9, 0));
  expect_error([&] { lonely.load(); }, {"p.0.et", "node 3", "send to member 1 with tag 9 has no receive"});
  Pair waiting = Pair::exchange();
  waiting.b.push_back(receive(21, 0, 7, true));
  expect_error([&] { waiting.load(); }, {"p.1.et", "node 21", "has no send"});
  Pair id = Pair::exchange();
  id.a.push_back(receive(1, 1, 7, true));
  expect_error([&] { id.load(); }, {"p.0.et", "node 1", "second node has this id"});
  Pair dangling = Pair::exchange();
  dangling.a[0].add_data_deps(99);
  expect_error([&] { dangling.load(); }, {"p.0.et", "node 1", "depends on node 99"});
  Pair type = Pair::exchange();
  type.a.push_back(trace::test::comp(5));
  expect_error([&] { type.load(); }, {"node 5", "COMP_NODE"});
  Pair peer = Pair::exchange();
  peer.a[0] = send(1, 2, 7, 0);
  expect_error([&] { peer.load(); }, {"node 1", "`comm_dst` is 2", "0 to 1"});
  Pair own = Pair::exchange();
  own.a[0] = send(1, 0, 7, 0);
  expect_error([&] { own.load(); }, {"node 1", "`comm_dst` is 0"});
  Pair block = Pair::exchange();
  block.a[0] = send(1, 1, 7, 2);
  expect_error([&] { block.load(); }, {"node 1", "`block_first` is 2", "from 0 to 1"});
  Pair many = Pair::exchange();
  many.a[0] = send(1, 1, 7, 0, 3);
  expect_error([&] { many.load(); }, {"node 1", "`block_count` is 3"});
  Pair stride = Pair::exchange();
  attribute(stride.a[0], "block_stride", 2);
  expect_error([&] { stride.load(); }, {"node 1", "carries a block twice"});
  Pair blocks = Pair::exchange();
  attribute(blocks.a[0], "blocks", 4);
  expect_error([&] { blocks.load(); }, {"node 1", "`blocks` is 4", "2, the number of members"});
  Pair unnamed = Pair::exchange();
  unnamed.a[0].clear_attr();
  attribute(unnamed.a[0], "comm_dst", 1);
  attribute(unnamed.a[0], "comm_tag", 7);
  expect_error([&] { unnamed.load(); }, {"node 1", "block_first"});
  Pair other = Pair::exchange();
  attribute(other.b[1], "block_first", 1);
  expect_error([&] { other.load(); }, {"node 20", "a block keeps its number"});
  const TempFolder folder;
  expect_error([&] { CustomAlgorithm::load(folder / "nothing", 3); }, {"custom:", "nothing.0.et"});
}

TEST(Custom, IndependentChainsDoNotDeadlock) {
  // Member 0 waits for x and, independently, for z; member 1 sends z only after 0 has answered x. Rounds by
  // the dependencies of one member alone would put both waits in one round.
  Pair p;
  p.a = {receive(1, 1, 1, true), send(2, 1, 2, 0, 1, {1}), receive(3, 1, 3, true), send(4, 1, 4, 1, 1, {3})};
  p.b = {send(1, 0, 1, 0), receive(2, 0, 2, false, {1}), send(3, 0, 3, 1, 1, {2}), receive(4, 0, 4, false)};
  EXPECT_EQ(p.disproof(), "");
}

TEST(Custom, MetadataNodesOrder) {
  Pair p = Pair::exchange();
  p.a = {receive(2, 1, 7, true), make(5, "join", ChakraProtoMsg::METADATA_NODE, {2}),
         send(1, 1, 7, 0, 2, {5})};
  p.b = {send(10, 0, 7, 0, 2), receive(20, 0, 7, false)};
  EXPECT_EQ(p.disproof(), "");
  p.a[2].clear_data_deps();  // then it sends what it had at first
  expect_text(p.disproof(), {"block 0 at member 1", "member 1 is missing"});
}

TEST(Custom, TheConfigurationsProgramsAreCheckedBeforehand) {
  const TempFolder folder;
  Config config;
  DimensionConfig d;
  d.size = 4;
  d.bandwidth = {1000, 1};
  config.dimensions.push_back(d);
  config.file = "machine.yaml";
  auto& names = config.collectives.algorithms[static_cast<int>(CollectiveOp::all_gather)];
  EXPECT_NO_THROW(check_programs(config));
  names = {"custom:" + (folder / "absent")};
  expect_error([&] { check_programs(config); },
               {"machine.yaml: key `collectives.all_gather`", "absent.0.et", "no such"});
  const auto made =
      generate::generate_collective({CollectiveOp::all_gather, "direct", 4, 0}, folder / "x", "p");
  names = {"custom:" + made.prefix};
  EXPECT_NO_THROW(check_programs(config));
  auto& other = config.collectives.algorithms[static_cast<int>(CollectiveOp::all_reduce)];
  other = names;
  expect_error([&] { check_programs(config); }, {"collectives.all_reduce", "do not do what all_reduce"});
  other.clear();
  // For fewer members than there are NPUs: of a smaller group.
  config.dimensions[0].size = 8;
  EXPECT_NO_THROW(check_programs(config));
  trace::test::spit(made.prefix + ".2.et", "no trace");
  expect_error([&] { check_programs(config); }, {"p.2.et", "not a Chakra trace"});
  std::filesystem::remove(made.prefix + ".2.et");
  std::filesystem::create_directory(made.prefix + ".2.et");
  expect_error([&] { check_programs(config); }, {"p.2.et", "is a folder"});
  names.clear();
  CollectiveRule rule;
  rule.origin = "machine.yaml:9: key `collectives.rules[0]`";
  rule.algorithms = {"custom:" + (folder / "gone")};
  config.collectives.rules.push_back(rule);
  expect_error([&] { check_programs(config); }, {"machine.yaml:9", "collectives.rules[0]", "gone.0.et"});
}

TEST(Custom, ProgramsThatATraceNamesAreCheckedBeforehand) {
  const TempFolder folder;
  PbNode node = trace::test::collective(7, ChakraProtoMsg::ALL_REDUCE, 64);
  auto* a = node.add_attr();
  a->set_name("algorithm");
  a->set_string_val("custom:gone");
  for (const char* rank : {"t.0.et", "t.1.et"}) write_trace(folder / rank, {node});
  Config config;
  DimensionConfig d;
  d.size = 2;
  d.bandwidth = {1000, 1};
  config.dimensions.push_back(d);
  const trace::JobTrace job = trace::open_job(folder / "t", 2, "", false);
  expect_error([&] { check_programs(config, job); },
               {folder / "t.0.et", "node 7", folder / "gone.0.et", "no such"});
}

TEST(Custom, PlansRunThem) {
  const TempFolder folder;
  const auto summary =
      generate::generate_collective({CollectiveOp::all_reduce, "direct", 6, 0}, folder / "x", "p");
  Config config;
  for (const uint32_t size : {2u, 3u}) {
    DimensionConfig d;
    d.size = size;
    d.bandwidth = {1000, 1};
    config.dimensions.push_back(d);
  }
  auto& names = config.collectives.algorithms[static_cast<int>(CollectiveOp::all_reduce)];
  names.assign(2, "custom:" + summary.prefix);
  config.collectives.algorithms[static_cast<int>(CollectiveOp::reduce_scatter)] = names;
  PlanBuilder plans(config);
  const Group world;
  const Group half{1, "half", {0, 2, 4}};
  CollectiveRequest request{CollectiveOp::all_reduce, 600, &world, ~0u, 0, 1};
  const auto plan = plans.plan(request);
  ASSERT_EQ(plan->phases().size(), 1u);
  EXPECT_STREQ(plan->phases()[0].algorithm->name(), "custom");
  EXPECT_EQ(plan->axes()[0].size, 6u);
  request.op = CollectiveOp::reduce_scatter;  // the programs give all of them all blocks, so this holds too
  EXPECT_NO_THROW(plans.plan(request));
  request.op = CollectiveOp::all_reduce;
  request.group = &half;  // 3 of the 6 programs
  expect_error([&] { plans.plan(request); }, {"custom:", "for 3 members", "`blocks` is 6; it must be 3"});
}

TEST(Generate, RefusesWhatItCannotWrite) {
  const TempFolder folder;
  const auto run = [&](const generate::CollectiveProgram& p, const std::string& name = "p") {
    return [&folder, p, name] { generate::generate_collective(p, folder / "x", name); };
  };
  expect_error(run({CollectiveOp::all_reduce, "rign", 4, 0}), {"`rign`", "ring, direct"}, ExitCode::usage);
  expect_error(run({CollectiveOp::all_reduce, "ring", 1, 0}), {"2 or more"}, ExitCode::usage);
  expect_error(run({CollectiveOp::all_to_all, "halving_doubling", 4, 0}), {"use direct"}, ExitCode::usage);
  expect_error(run({CollectiveOp::broadcast, "ring", 4, 4}), {"root is 4", "0 to 3"}, ExitCode::usage);
  expect_error(run({CollectiveOp::broadcast, "ring", 4, 0}, "a/b"), {"`a/b`"}, ExitCode::usage);
}

}  // namespace
}  // namespace weft::collectives
