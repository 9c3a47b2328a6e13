// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/trace_index.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "tests/trace/trace_files.h"
#include "workload/trace/dependency_walk.h"
#include "workload/trace/longest_path.h"
#include "workload/trace/position_list.h"
#include "workload/trace/trace_info.h"

namespace weft::trace::test {
namespace {

class TraceIndexTest : public ::testing::Test {
 protected:
  TraceIndex open(const std::vector<PbNode>& nodes, bool strict = false) {
    offsets_ = write_trace(path_, nodes);
    TraceIndex::Options options;
    options.strict = strict;
    return TraceIndex(path_, 5, options);
  }

  TempFolder folder_;
  std::string path_ = folder_ / "t.5.et";
  std::vector<uint64_t> offsets_;
};

TEST_F(TraceIndexTest, FindsEveryIdAndNoOther) {
  std::mt19937_64 random(3);
  for (const int kind : {0, 1, 2}) {  // dense, ascending with gaps, random order over all 64 bits
    std::set<uint64_t> unique;
    while (unique.size() < 2000)
      unique.insert(kind == 0 ? unique.size() + 10 : kind == 1 ? random() % 9000 : random());
    std::vector<uint64_t> ids(unique.begin(), unique.end());
    if (kind == 2) std::shuffle(ids.begin(), ids.end(), random);
    std::vector<PbNode> nodes;
    for (uint64_t id : ids) nodes.push_back(comp(id));
    const TraceIndex index = open(nodes);
    for (NodeIndex i = 0; i < ids.size(); ++i) {
      ASSERT_EQ(index.find(ids[i], static_cast<NodeIndex>(random() % ids.size())), i);
      ASSERT_EQ(index.id(i), ids[i]);
      ASSERT_EQ(index.offset(i), offsets_[i]);
    }
    for (int k = 0; k < 5000; ++k) {
      const uint64_t id = kind == 2 ? random() : random() % 9100;
      if (unique.count(id) == 0) {
        ASSERT_EQ(index.find(id, static_cast<NodeIndex>(random() % ids.size())), kNoNode);
      }
    }
  }
}

TEST_F(TraceIndexTest, AtMost32BytesANodeWithItsWalk) {
  for (const bool sorted : {true, false}) {
    std::vector<PbNode> nodes;
    for (uint64_t i = 0; i < 20000; ++i)
      nodes.push_back(comp(sorted ? i : i ^ 1, {i ^ 1 ^ (sorted ? 1 : 0) ? i / 2 : 0}));
    nodes[0] = comp(sorted ? 0 : 1);
    if (!sorted) nodes[1] = comp(0);
    const TraceIndex index = open(nodes);
    NodeCache cache = index.open_cache(1 << 20);
    const DependencyWalk walk(index, cache);
    EXPECT_LE(index.memory_bytes(), TraceIndex::kBytesPerNode * nodes.size() + 64);
    EXPECT_LE(index.memory_bytes() + walk.memory_bytes(), 32 * nodes.size());
  }
}

TEST_F(TraceIndexTest, DuplicateIdsNameBothPlaces) {
  expect_error(
      [&] {
        open({comp(1), comp(7), comp(7)});
      },
      {path_, "rank 5", "node id 7", "number 2 of the file", "number 3 (byte", "used twice"});
  expect_error(
      [&] {
        open({comp(7), comp(1), comp(9), comp(7)});
      },
      {"node id 7", "number 1 of the file", "number 4 (byte", "byte " + std::to_string(offsets_[0])});
}

TEST_F(TraceIndexTest, DanglingDependenciesAreCountedOrRefused) {
  std::vector<PbNode> nodes = {comp(10, {3}), comp(20, {10, 15}), comp(30, {99})};
  const TraceIndex index = open(nodes);
  EXPECT_EQ(index.stats().dangling, 3u);
  ASSERT_EQ(index.warnings().size(), 1u);
  EXPECT_NE(index.warnings()[0].text.find("3 dependencies"), std::string::npos);
  EXPECT_NE(index.warnings()[0].text.find("node 10 -> 3"), std::string::npos);
  expect_error([&] { open(nodes, true); }, {path_, "rank 5", "3 dependencies", "node 10 -> 3",
                                            "node 20 -> 15", "node 30 -> 99", "strict"});
  // The same in an order that does not ascend.
  std::swap(nodes[0], nodes[2]);
  EXPECT_EQ(open(nodes).stats().dangling, 3u);
  EXPECT_EQ(open(nodes).stats().forward_references, 1u);
}

TEST_F(TraceIndexTest, CyclesNameTheirNodes) {
  expect_error(
      [&] {
        open({comp(1), comp(2, {1, 4}), comp(3, {2}), comp(4, {3}), comp(5, {4})});
      },
      {path_, "rank 5", "cyclic", "3 nodes", "node 2 \"comp2\"", "node 3 \"comp3\"", "node 4 \"comp4\"",
       "remove"});
  expect_error([&] { open({comp(1), comp(2, {2})}); }, {"cyclic", "node 2 \"comp2\"", "itself"});
  // Control dependencies order nodes as data dependencies do.
  PbNode a = comp(1), b = comp(2);
  a.add_ctrl_deps(2);
  b.add_ctrl_deps(1);
  expect_error([&] { open({a, b}); }, {"cyclic", "2 nodes", "node 1", "node 2"});
  // A long one is not listed whole.
  std::vector<PbNode> ring;
  for (uint64_t i = 0; i < 1000; ++i) ring.push_back(comp(i, {(i + 1) % 1000}));
  expect_error([&] { open(ring); }, {"1000 nodes", "992 more"});
}

TEST_F(TraceIndexTest, ControlDependenciesOfAnotherNumberingDoNotCloseCycles) {
  // As PyTorch's converter leaves them: one names no node, another a later node that depends on this one.
  std::vector<PbNode> nodes = {comp(1), comp(2, {1}), comp(3, {2})};
  nodes[0].add_ctrl_deps(1000);
  nodes[1].add_ctrl_deps(3);
  nodes[2].add_ctrl_deps(1);
  const TraceIndex index = open(nodes);
  EXPECT_EQ(index.control_order(), ControlOrder::backward);
  EXPECT_TRUE(index.file_ordered());
  EXPECT_EQ(index.stats().ignored_control, 1u);
  // What counts as met is told with the cycle that it would close.
  ASSERT_EQ(index.warnings().size(), 2u);
  EXPECT_EQ(index.warnings()[1].kind, TraceWarning::Kind::stale_control);
  for (const char* part : {"close a cycle of 2 nodes", "node 2 \"comp2\"", "node 3 \"comp3\"", "1 of them",
                           "remove one dependency"})
    EXPECT_NE(index.warnings()[1].text.find(part), std::string::npos) << index.warnings()[1].text;
  expect_error([&] { open(nodes, true); }, {"node 1 -> 1000"});
  // A cycle of data dependencies stays one.
  nodes[0].add_data_deps(3);
  expect_error([&] { open(nodes); }, {"cyclic", "3 nodes"});
}

TEST_F(TraceIndexTest, OrdinalsCountAGroupsCollectivesByAscendingId) {
  using ChakraProtoMsg::ALL_REDUCE;
  const TraceIndex index =
      open({collective(50, ALL_REDUCE, 1, "a"), collective(20, ALL_REDUCE, 1),
            collective(40, ALL_REDUCE, 1, "a"), collective(30, ALL_REDUCE, 1, "0"),
            make(1, "wrapper", ChakraProtoMsg::COMM_COLL_NODE), collective(10, ALL_REDUCE, 1, "a")});
  const uint32_t expected[] = {2, 0, 1, 1, 0, 0};
  for (NodeIndex i = 0; i < 6; ++i) EXPECT_EQ(index.ordinal(i), expected[i]) << i;
}

TEST_F(TraceIndexTest, OddTracesGiveWarnings) {
  EXPECT_EQ(open({}).warnings().at(0).kind, TraceWarning::Kind::empty);
  PbNode unsized = make(3, "c", ChakraProtoMsg::COMM_COLL_NODE);
  attribute(unsized, "comm_type", 0);
  const auto warnings = open({make(1, "x", ChakraProtoMsg::INVALID_NODE), unsized}).warnings();
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_NE(warnings[0].text.find("no type"), std::string::npos);
  EXPECT_NE(warnings[1].text.find("no comm_size"), std::string::npos);
  PbNode untyped = make(4, "c", ChakraProtoMsg::COMM_COLL_NODE);
  attribute(untyped, "comm_size", 8);
  const auto no_type = open({untyped}).warnings();
  ASSERT_EQ(no_type.size(), 1u);
  EXPECT_EQ(no_type[0].kind, TraceWarning::Kind::no_operation);
  for (const char* part : {path_.c_str(), "rank 5", "1 collectives", "comm_size", "no comm_type", "node 4"})
    EXPECT_NE(no_type[0].text.find(part), std::string::npos) << no_type[0].text;
  // A wrapper of the CPU has none either, and is no oddity.
  attribute(untyped, "is_cpu_op", 1);
  EXPECT_TRUE(open({untyped}).warnings().empty());
}

TEST_F(TraceIndexTest, MessagesAndAccessesWithoutASizeGiveAWarning) {
  PbNode out = make(1, "out", ChakraProtoMsg::COMM_SEND_NODE);
  attribute(out, "comm_dst", 1);
  PbNode in = make(2, "in", ChakraProtoMsg::COMM_RECV_NODE);
  attribute(in, "comm_src", 1);
  PbNode load = make(3, "load", ChakraProtoMsg::MEM_LOAD_NODE);
  PbNode store = make(4, "store", ChakraProtoMsg::MEM_STORE_NODE);
  const auto warnings = open({out, in, load, store}).warnings();
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_EQ(warnings[0].kind, TraceWarning::Kind::unsized_message);
  EXPECT_EQ(warnings[0].count, 2u);
  for (const char* part : {path_.c_str(), "rank 5", "2 sends and receives", "comm_size", "node 1"})
    EXPECT_NE(warnings[0].text.find(part), std::string::npos) << warnings[0].text;
  EXPECT_EQ(warnings[1].kind, TraceWarning::Kind::unsized_access);
  EXPECT_EQ(warnings[1].count, 2u);
  for (const char* part : {path_.c_str(), "rank 5", "2 memory accesses", "tensor_size", "node 3"})
    EXPECT_NE(warnings[1].text.find(part), std::string::npos) << warnings[1].text;
  // A size of 0 is one, and a recorded duration is the time of an access.
  attribute(out, "comm_size", 0);
  attribute(in, "comm_size", 0);
  attribute(load, "tensor_size", 0);
  store.set_duration_micros(3);
  EXPECT_TRUE(open({out, in, load, store}).warnings().empty());
}

TEST_F(TraceIndexTest, CorruptNodeAndChangedFile) {
  write_trace(path_, {comp(1), comp(2)});
  const std::string content = slurp(path_);
  spit(path_, content + std::string("\x03\x0a\x7f\x01", 4));
  expect_error([&] { TraceIndex(path_, 5, {}); },
               {path_, "rank 5", "byte " + std::to_string(content.size()), "node number 3", "corrupt"});

  const TraceIndex index = open({comp(1), comp(2)});
  std::string changed = content;
  changed[offsets_[1]] = 2;
  spit(path_, changed);
  NodeCache cache = index.open_cache(1 << 20);
  Node node;
  expect_error([&] { index.decode(cache, 1, node); }, {path_, "changed while"});
}

// Against a plain computation on random graphs, in and out of file order.
TEST_F(TraceIndexTest, LongestPath) {
  std::mt19937_64 random(11);
  for (const bool shuffled : {false, true}) {
    const uint64_t n = 800;
    std::vector<PbNode> nodes;
    std::vector<uint64_t> finish(n), length(n);
    uint64_t longest = 0;
    for (uint64_t i = 0; i < n; ++i) {
      PbNode node = comp(i * 3, {}, 1 + random() % 100);
      uint64_t start = 0;
      for (uint64_t k = i == 0 ? 0 : random() % 4; k > 0; --k) {
        const uint64_t p = random() % i;
        node.add_data_deps(p * 3);
        start = std::max(start, finish[p]);
      }
      finish[i] = start + node.duration_micros() * 1000000;
      longest = std::max(longest, finish[i]);
      nodes.push_back(node);
    }
    if (shuffled) std::shuffle(nodes.begin(), nodes.end(), random);
    const TraceIndex index = open(nodes);
    EXPECT_EQ(index.file_ordered(), !shuffled);
    const LongestPath path = longest_path(
        index, [](const Node& node) { return node.duration; }, 1 << 16);
    EXPECT_EQ(path.time, longest);
    EXPECT_EQ(finish[path.last_id / 3], longest);
    EXPECT_GT(path.nodes, 1u);
    EXPECT_EQ(index.id(path.first), path.first_id);
  }
}

TEST_F(TraceIndexTest, InfoCountsWhatIsThere) {
  using namespace ChakraProtoMsg;
  PbNode load = make(7, "l", MEM_LOAD_NODE, {5});
  attribute(load, "tensor_size", 64);
  PbNode flop = comp(8, {7}, 0);
  attribute(flop, "num_ops", 1000);
  PbNode wide = collective(3, ALL_GATHER, 500);
  wide.add_data_deps(1);
  write_trace(path_, {comp(1, {}, 4), comp(2, {1}, 6), wide, collective(4, ALL_GATHER, 700, "g"),
                      send(5, 1, 10, 0), receive(6, 1, 20, 0), load, flop});
  const TraceInfo info = trace_info(path_);
  EXPECT_EQ(info.rank, 5u);
  EXPECT_EQ(info.nodes, 8u);
  EXPECT_EQ(info.nodes_by_type[4], 3u);
  const auto& gather = info.collectives[static_cast<size_t>(CollectiveOp::all_gather)];
  EXPECT_EQ(gather.count, 2u);
  EXPECT_EQ(gather.bytes, 1200u);
  EXPECT_EQ(info.sends.bytes, 10u);
  EXPECT_EQ(info.receives.bytes, 20u);
  EXPECT_EQ(info.memory_loads.bytes, 64u);
  EXPECT_EQ(info.flops, 1000.0);
  EXPECT_EQ(info.compute_duration, 10000000u);
  EXPECT_EQ(info.groups.at("").bytes, 500u);
  EXPECT_EQ(info.groups.at("g").bytes, 700u);
  EXPECT_EQ(info.longest_time.time, 10000000u);
  EXPECT_EQ(info.longest_time.first_id, 1u);
  EXPECT_EQ(info.longest_time.last_id, 2u);
  EXPECT_EQ(info.most_nodes.nodes, 3u);
  EXPECT_EQ(info.most_nodes.last_id, 8u);
  const TraceInfo sum = total({info, info});
  EXPECT_EQ(sum.nodes, 16u);
  EXPECT_EQ(sum.groups.at("g").count, 2u);
  EXPECT_EQ(sum.longest_time.time, info.longest_time.time);
  EXPECT_NE(to_text({info, info}).find("total of 2 files"), std::string::npos);
  const std::string json = to_json({info});
  EXPECT_NE(json.find("\"all_gather\""), std::string::npos);
  EXPECT_NE(json.find("\"dangling_dependencies\": 0"), std::string::npos);
}

}  // namespace
TEST(PositionList, HoldsEveryNumberUpToItsSizeInTheFewestBytes) {
  for (const uint32_t n : {1u, 65534u, 65535u, 70000u}) {
    PositionList list;
    list.reset(n);
    EXPECT_EQ(list.bytes(), n * (n < 65535 ? 2 : 4));
    for (uint32_t i = 0; i < n; ++i) {
      EXPECT_EQ(list[i], 0u);
      list.set(i, n - i);
    }
    for (uint32_t i = 0; i < n; ++i) ASSERT_EQ(list[i], n - i);
    list.reset(0);
    EXPECT_EQ(list.bytes(), 0u);
  }
}

}  // namespace weft::trace::test
