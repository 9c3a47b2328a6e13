// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/workload_check.h"

#include "tests/trace/trace_files.h"

namespace weft::trace::test {
namespace {

using ChakraProtoMsg::ALL_GATHER;
using ChakraProtoMsg::ALL_REDUCE;
using ChakraProtoMsg::BARRIER;
using ChakraProtoMsg::BROADCAST;

class WorkloadCheck : public ::testing::Test {
 protected:
  // One vector of nodes a rank; opens them with as many NPUs.
  JobTrace open(const std::vector<std::vector<PbNode>>& ranks, const std::string& groups = "") {
    for (size_t r = 0; r < 8; ++r) std::filesystem::remove(file(r));
    for (size_t r = 0; r < ranks.size(); ++r) write_trace(file(r), ranks[r]);
    std::string groups_file;
    if (!groups.empty()) {
      groups_file = folder_ / "groups.json";
      spit(groups_file, groups);
    }
    return open_job(prefix_, static_cast<uint32_t>(ranks.size()), groups_file, false);
  }

  std::string file(size_t rank) const { return prefix_ + "." + std::to_string(rank) + ".et"; }

  TempFolder folder_;
  std::string prefix_ = folder_ / "job";
};

TEST_F(WorkloadCheck, AConsistentJobOpens) {
  const JobTrace job =
      open({{comp(1), collective(2, ALL_REDUCE, 100), collective(3, ALL_GATHER, 8, "a"), send(4, 1, 10, 3)},
            {collective(20, ALL_REDUCE, 100, "0"), receive(21, 0, 10, 3), collective(40, ALL_GATHER, 8, "a")},
            {collective(1, ALL_REDUCE, 100)}},
           R"({"a": [1, 0]})");
  EXPECT_EQ(job.npus(), 3u);
  EXPECT_EQ(job.node_count(), 8u);
  EXPECT_TRUE(job.warnings().empty());
  const auto feeder = job.feeder(1);
  EXPECT_EQ(feeder->take_ready()->ordinal, 0u);
}

TEST_F(WorkloadCheck, TraceFilesAndNpusMustAgree) {
  const std::vector<PbNode> nodes = {comp(1)};
  for (size_t r : {0, 1, 2, 3}) write_trace(file(r), nodes);
  spit(folder_ / "job.json", "{}");
  spit(folder_ / "job.x.et", "");
  EXPECT_NO_THROW(open_job(prefix_, 4, "", false));
  expect_error([&] { open_job(prefix_, 2, "", false); },
               {prefix_, "4 trace files", file(3), "only 2 NPUs", "topology of 4 NPUs"});
  expect_error([&] { open_job(prefix_, 6, "", false); },
               {prefix_, "4 trace files", "6 NPUs", file(4), "missing"});
  std::filesystem::remove(file(1));
  expect_error([&] { open_job(prefix_, 4, "", false); }, {file(1), "missing"});
  expect_error([&] { open_job(folder_ / "other", 4, "", false); }, {"other", "0 found, 4 needed", prefix_});
  expect_error([&] { open_job(file(0), 4, "", false); }, {"one rank's file", "Say " + prefix_});
  expect_error([&] { open_job(folder_ / "no/job", 4, "", false); }, {"no", "does not exist"});
  expect_error([&] { open_job("", 4, "", false); }, {"workload.trace is empty"});
}

TEST_F(WorkloadCheck, AFolderIsNoPrefix) {
  const std::string inner = folder_ / "inner";
  std::filesystem::create_directory(inner);
  for (const std::string& given : {inner, inner + "/", inner + "/."})
    expect_error([&] { open_job(given, 1, "", false); },
                 {given, "is a folder", "The folder is empty", "<prefix>.<rank>.et"});
  spit(inner + "/notes.txt", "x");
  spit(inner + "/trace.json", "x");
  for (const std::string& given : {inner, inner + "/"})
    expect_error([&] { open_job(given, 1, "", false); },
                 {given, "is a folder", "2 other entries (notes.txt, trace.json)", "llm.0.et"});
  expect_error([&] { open_job(inner + "/llm", 1, "", false); },
               {"llm.0.et (0 found", "notes.txt, trace.json"});
  write_trace(inner + "/llm.0.et", {comp(1)});
  for (const std::string& given : {inner, inner + "/"})
    expect_error([&] { open_job(given, 1, "", false); },
                 {given, "is a folder", "prefix " + inner + "/llm. Give that"});
  write_trace(inner + "/big.0.et", {comp(1)});
  expect_error([&] { open_job(inner, 1, "", false); },
               {"prefixes " + inner + "/big, " + inner + "/llm. Give one of them"});
  EXPECT_NO_THROW(open_job(inner + "/llm", 1, "", false));
  // A folder beside traces of its name does not hide them.
  write_trace(inner + ".0.et", {comp(1)});
  EXPECT_NO_THROW(open_job(inner, 1, "", false));
}

TEST_F(WorkloadCheck, ANodeWithoutATypeIsFoundBeforeTheRun) {
  expect_error(
      [&] {
        open({{comp(1)}, {comp(1), make(7, "odd", ChakraProtoMsg::INVALID_NODE)}});
      },
      {file(1), "rank 1", "node 7 \"odd\"", "INVALID", "cannot be executed"});
}

TEST_F(WorkloadCheck, UnknownGroupAndNotAMember) {
  expect_error(
      [&] {
        open({{collective(7, ALL_REDUCE, 8, "tp")}, {comp(1)}}, R"({"dp": [0, 1]})");
      },
      {file(0), "rank 0", "node 7", "\"tp\"", "unknown", "\"dp\"", "workload.groups"});
  expect_error(
      [&] {
        open({{comp(1)}, {collective(7, ALL_REDUCE, 8, "tp")}}, R"({"tp": [0]})");
      },
      {file(1), "rank 1", "node 7", "\"tp\"", "member", "members: 0"});
}

TEST_F(WorkloadCheck, ARankThatNeverJoins) {
  // The later rank misses its last one.
  expect_error(
      [&] {
        open({{collective(1, ALL_REDUCE, 8), collective(2, ALL_GATHER, 16)}, {collective(1, ALL_REDUCE, 8)}});
      },
      {file(1), "rank 1 never joins", "number 2", "all_gather of 16 bytes", file(0), "node 2", "Add it"});
  // The first rank misses it.
  expect_error(
      [&] {
        open({{collective(1, ALL_REDUCE, 8)}, {collective(1, ALL_REDUCE, 8), collective(9, ALL_GATHER, 16)}});
      },
      {file(0), "rank 0 never joins", "number 2", file(1), "node 9"});
  // One is missing in the middle: that one is named, not the mismatch it causes.
  expect_error(
      [&] {
        open({{collective(1, ALL_REDUCE, 8), collective(2, ALL_GATHER, 16), collective(3, ALL_REDUCE, 32)},
              {collective(1, ALL_REDUCE, 8), collective(3, ALL_REDUCE, 32)}});
      },
      {"rank 1 never joins", "number 2", "all_gather of 16 bytes", "node 2"});
  // A member without any collective at all, and in a group of the file.
  expect_error(
      [&] {
        open({{comp(1)}, {collective(4, ALL_REDUCE, 8, "g")}, {comp(1)}}, R"({"g": [2, 1]})");
      },
      {file(2), "rank 2 never joins", "\"g\"", "node 4"});
}

TEST_F(WorkloadCheck, MismatchedOperationSizeRootAndDimensions) {
  expect_error(
      [&] {
        open({{collective(1, ALL_REDUCE, 8)}, {collective(5, ALL_GATHER, 8)}});
      },
      {file(1), "rank 1", "node 5", "all_gather", "rank 0", "all_reduce", file(0), "node 1", "agree"});
  expect_error(
      [&] {
        open({{collective(1, ALL_REDUCE, 1000)}, {comp(1)}, {collective(5, ALL_REDUCE, 999)}});
      },
      {"never joins"});
  expect_error(
      [&] {
        open({{collective(1, ALL_REDUCE, 1000)}, {collective(5, ALL_REDUCE, 999)}});
      },
      {"node 5", "999 bytes", "node 1", "1000 bytes"});
  EXPECT_NO_THROW(open({{collective(1, BARRIER, 0)}, {collective(5, BARRIER, 4)}}));

  PbNode a = collective(1, BROADCAST, 8), b = collective(2, BROADCAST, 8);
  attribute(b, "comm_root", 1);
  expect_error([&] { open({{a}, {b}}); }, {"node 2", "root 1", "root 0", "node 1"});
  attribute(a, "root_rank", 1);
  EXPECT_NO_THROW(open({{a}, {b}}));
  PbNode c = collective(3, BROADCAST, 8, "g");
  attribute(c, "root", 2);
  expect_error(
      [&] {
        open({{c}, {c}, {comp(1)}}, R"({"g": [0, 1]})");
      },
      {"node 3", "root", "rank 2", "not in group"});

  PbNode d = collective(1, ALL_REDUCE, 8);
  auto* dims = d.add_attr();
  dims->set_name("involved_dim");
  dims->mutable_bool_list()->add_values(true);
  expect_error(
      [&] {
        open({{d}, {collective(2, ALL_REDUCE, 8)}});
      },
      {"involved_dim [true]", "involved_dim []"});
}

// Ids need not ascend in the file: the n-th in ascending id is what counts.
TEST_F(WorkloadCheck, CollectivesMatchByAscendingId) {
  EXPECT_NO_THROW(open({{collective(1, ALL_REDUCE, 8), collective(2, ALL_GATHER, 16)},
                        {collective(20, ALL_GATHER, 16), collective(10, ALL_REDUCE, 8)},
                        {collective(20, ALL_GATHER, 16), collective(10, ALL_REDUCE, 8)}}));
  expect_error(
      [&] {
        open({{collective(20, ALL_GATHER, 16), collective(10, ALL_REDUCE, 8)},
              {collective(10, ALL_GATHER, 16), collective(20, ALL_REDUCE, 8)}});
      },
      {"node 10", "number 1 of group", "all_gather", "all_reduce"});
}

// All ranks' first, then by the names of the groups; the order of the groups in their file says nothing.
TEST_F(WorkloadCheck, CollectivesAreNumberedByGroupAndOrdinal) {
  const std::vector<std::vector<PbNode>> ranks(
      2, {collective(1, ALL_REDUCE, 8, "g10"), collective(2, ALL_GATHER, 8, "g2"), collective(3, BARRIER, 0),
          collective(4, ALL_REDUCE, 8, "g10"), collective(5, BARRIER, 0)});
  for (const char* groups :
       {R"({"g10": [0, 1], "g2": [1, 0], "idle": [0]})", R"({"idle": [0], "g2": [1, 0], "g10": [0, 1]})"}) {
    const JobTrace job = open(ranks, groups);
    const CollectiveNumbers& numbers = job.collectives();
    EXPECT_EQ(numbers.size(), 5u);
    EXPECT_EQ(numbers.number(kWorld, 0), 1u);
    EXPECT_EQ(numbers.number(kWorld, 1), 2u);
    EXPECT_EQ(numbers.number(*job.groups().find("g2"), 0), 3u);
    EXPECT_EQ(numbers.number(*job.groups().find("g10"), 0), 4u);
    EXPECT_EQ(numbers.number(*job.groups().find("g10"), 1), 5u);
  }
  const Groups all(2);
  EXPECT_EQ(CollectiveNumbers(all, {CollectiveNumbers::kMost}).size(), CollectiveNumbers::kMost);
  expect_error([&] { CollectiveNumbers(all, {CollectiveNumbers::kMost + 1}); }, {"2147483647 collectives"});
}

TEST_F(WorkloadCheck, SendsAndReceives) {
  EXPECT_NO_THROW(open({{send(1, 1, 10, 0), send(2, 1, 20, 0), receive(3, 1, 5, 7)},
                        {receive(1, 0, 20, 0), receive(2, 0, 10, 0), send(9, 0, 5, 7)}}));
  expect_error(
      [&] {
        open({{send(5, 1, 10, 3)}, {comp(1)}});
      },
      {file(0), "rank 0", "node 5", "send without a receive", "10 bytes", "rank 1", "tag 3", file(1)});
  expect_error(
      [&] {
        open({{comp(1)}, {send(5, 0, 10, 3)}});
      },
      {file(1), "node 5", "send without a receive"});
  expect_error(
      [&] {
        open({{receive(5, 1, 10, 3)}, {comp(1)}});
      },
      {file(0), "node 5", "receive without a send", "from rank 1", "tag 3"});
  expect_error([&] { open({{send(5, 1, 10, 3)}, {receive(6, 0, 10, 4)}}); }, {"without a"});
  expect_error(
      [&] {
        open({{send(5, 1, 10, 3)}, {receive(6, 0, 12, 3)}});
      },
      {file(0), "node 5", "10 bytes", "12 bytes", file(1), "node 6", "equal"});
  expect_error([&] { open({{send(5, 2, 10, 3)}, {comp(1)}}); }, {"node 5", "comm_dst is rank 2", "2 NPUs"});
  expect_error([&] { open({{receive(5, 9, 10, 3)}, {comp(1)}}); }, {"node 5", "comm_src is rank 9"});
  expect_error(
      [&] {
        open({{comp(1)}, {send(5, 1, 10, 3)}});
      },
      {"rank 1", "node 5", "own rank 1", "send to itself"});
}

TEST_F(WorkloadCheck, ANodeThatNamesAnotherRankAsItsOwnEnd) {
  const auto with = [](PbNode node, const char* name, int64_t rank) {
    attribute(node, name, rank);
    return node;
  };
  EXPECT_NO_THROW(
      open({{with(send(5, 1, 10, 3), "comm_src", 0)}, {with(receive(6, 0, 10, 3), "comm_dst", 1)}}));
  expect_error(
      [&] {
        open({{with(send(5, 1, 10, 3), "comm_src", 1)}, {receive(6, 0, 10, 3)}});
      },
      {file(0), "rank 0", "node 5", "comm_src is rank 1", "rank 1's trace"});
  expect_error(
      [&] {
        open({{send(5, 1, 10, 3)}, {with(receive(6, 0, 10, 3), "comm_dst", 0)}});
      },
      {file(1), "rank 1", "node 6", "comm_dst is rank 0"});
}

TEST_F(WorkloadCheck, AlgorithmsThatNodesNameAreKept) {
  const auto with = [](PbNode node, const char* algorithm) {
    auto* a = node.add_attr();
    a->set_name("algorithm");
    a->set_string_val(algorithm);
    return node;
  };
  const std::vector<PbNode> rank = {
      with(collective(1, ALL_REDUCE, 8), "ring"), with(collective(2, ALL_REDUCE, 9), "ring"),
      with(collective(3, ALL_GATHER, 8), "custom:p"), collective(4, ALL_REDUCE, 8)};
  const JobTrace job = open({rank, rank});
  ASSERT_EQ(job.own_algorithms().size(), 2u);
  EXPECT_EQ(job.own_algorithms()[0].algorithm, "ring");
  EXPECT_EQ(job.own_algorithms()[1].algorithm, "custom:p");
  EXPECT_EQ(job.own_algorithms()[1].members, 2u);
  EXPECT_NE(job.own_algorithms()[1].where.find("node 3"), std::string::npos);
}

TEST_F(WorkloadCheck, FilesWithTheSameBytesAreIndexedOnce) {
  const std::vector<PbNode> a = {comp(1), comp(2, {1}, 5), comp(3, {1, 2}), comp(7, {3, 1})};
  const std::vector<PbNode> b = {comp(1), comp(2, {1}, 6), comp(3, {1, 2}), comp(7, {3, 1})};  // as long
  const JobTrace job = open({a, b, a, {comp(1)}, b, a});
  const void* const of_a = job.index(2).program();
  const void* const of_b = job.index(4).program();
  ASSERT_NE(of_a, nullptr);
  ASSERT_NE(of_b, nullptr);
  EXPECT_NE(of_a, of_b);
  EXPECT_EQ(job.index(0).program(), of_a);
  EXPECT_EQ(job.index(5).program(), of_a);
  EXPECT_EQ(job.index(1).program(), of_b);
  EXPECT_EQ(job.index(3).program(), nullptr);
  // Messages name each rank's own file.
  NodeCache cache = job.index(5).open_cache(1 << 20);
  EXPECT_EQ(job.index(5).path(), file(5));
  EXPECT_NE(job.index(5).describe(cache, 1).find("rank 5"), std::string::npos);
  EXPECT_NE(job.index(5).describe(cache, 1).find(file(5)), std::string::npos);
}

TEST_F(WorkloadCheck, WhatIsDecodedOnceIsWhatTheFileSays) {
  std::vector<PbNode> nodes = {comp(4, {}, 3), comp(9, {4, 77}, 5), comp(2, {9, 4, 9}, 7)};
  nodes.push_back(collective(11, ALL_REDUCE, 1 << 20));
  nodes.back().set_name("a name that is longer than what a string holds inside");
  nodes.push_back(comp(3, {11, 2}));
  const JobTrace once = open({nodes, nodes});
  write_trace(file(7), nodes);
  const TraceIndex read(file(7), 1, {});
  const TraceIndex& kept = once.index(1);
  ASSERT_NE(kept.program(), nullptr);
  ASSERT_EQ(read.program(), nullptr);
  EXPECT_GT(once.index(0).memory_bytes(), read.memory_bytes());
  EXPECT_EQ(kept.memory_bytes(), 0u);
  NodeCache cache = read.open_cache(1 << 20);
  NodeCache unused = kept.open_cache(1 << 20);
  for (NodeIndex i = 0; i < read.size(); ++i) {
    Node expected;
    Node node;
    Dependencies of_file;
    Dependencies of_kept;
    read.decode(cache, i, expected, &of_file);
    kept.decode(unused, i, node, &of_kept);
    EXPECT_EQ(node.index, expected.index);
    EXPECT_EQ(node.id, expected.id);
    EXPECT_EQ(node.name, expected.name);
    EXPECT_EQ(node.duration, expected.duration);
    EXPECT_EQ(node.comm_size, expected.comm_size);
    EXPECT_EQ(node.ordinal, expected.ordinal);
    std::vector<NodeIndex> before[2];
    read.for_each_dependency(i, of_file, [&](NodeIndex p) { before[0].push_back(p); });
    kept.for_each_dependency(i, of_kept, [&](NodeIndex p) { before[1].push_back(p); });
    EXPECT_EQ(before[1], before[0]);
    // The same object is used for other traces, too.
    read.dependencies(cache, i, of_kept);
    before[1].clear();
    read.for_each_dependency(i, of_kept, [&](NodeIndex p) { before[1].push_back(p); });
    EXPECT_EQ(before[1], before[0]);
  }
  EXPECT_EQ(unused.memory_bytes(), kept.open_cache(1 << 20).memory_bytes()) << "the file was read";
}

TEST_F(WorkloadCheck, WarningsOfManyRanksAreOne) {
  std::vector<std::vector<PbNode>> ranks(6, {comp(1, {50}), comp(2, {60, 1})});
  const JobTrace job = open(ranks);
  ASSERT_EQ(job.warnings().size(), 1u);
  EXPECT_NE(job.warnings()[0].find("6 ranks"), std::string::npos);
  EXPECT_NE(job.warnings()[0].find("12 cases"), std::string::npos);
}

}  // namespace
}  // namespace weft::trace::test
