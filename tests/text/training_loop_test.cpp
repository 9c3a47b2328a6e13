// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The training loops by themselves: a machine on which every collective takes the same time, any number at
// once. The times were computed by an independent interpreter of the loops of ASTRA-sim 1.0.

#include <fmt/format.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "tests/support/paths.h"
#include "workload/graph/issue_orders.h"
#include "workload/graph/rank_engine.h"
#include "workload/text/text_job.h"
#include "workload/text/text_trace.h"

namespace weft::text {
namespace {

/// Times of the collectives after forward, input and weight gradient, ps.
using Times = std::array<Picoseconds, kPasses>;
constexpr Picoseconds kUs = 1000000;
constexpr Picoseconds kNs = 1000;

/// Hardware without any network: a collective ends a fixed time after its start.
class FixedTimes final : public graph::RankServices {
 public:
  FixedTimes(const TrainingLoop& loop, const Times& times) : loop_(loop), times_(times) {}

  Picoseconds now() const override { return now_; }
  void schedule(Picoseconds at, uint32_t token) override {
    at_time(at, [this, token] { engine->wake(token); });
  }
  void start_collective(const trace::Node& node) override {
    const Picoseconds time = times_[static_cast<size_t>(loop_.nodes.at(node.index).pass)];
    at_time(now_ + time, [this, i = node.index] { engine->collective_done(i); });
  }
  void start_memory(const trace::Node&) override { FAIL() << "no loop accesses memory"; }
  void start_send(const trace::Node&) override { FAIL() << "no loop sends messages"; }
  void start_receive(const trace::Node&) override { FAIL() << "no loop receives messages"; }

  void run() {
    while (!events_.empty()) {
      const auto it = events_.begin();
      now_ = it->first.first;
      const auto action = std::move(it->second);
      events_.erase(it);
      action();
    }
  }

  graph::RankEngine* engine = nullptr;

 private:
  void at_time(Picoseconds at, std::function<void()> action) {
    events_.emplace(std::make_pair(at, sequence_++), std::move(action));
  }

  const TrainingLoop& loop_;
  Times times_;
  Picoseconds now_ = 0;
  uint64_t sequence_ = 0;
  std::map<std::pair<Picoseconds, uint64_t>, std::function<void()>> events_;
};

/// When rank 0 has run the file, in ns.
uint64_t end_of(const TextFile& file, uint32_t passes, const Times& times, uint64_t state_cycles = 0) {
  LoopOptions options;
  options.passes = passes;
  options.state_cycles = state_cycles;
  const std::vector<uint32_t> sizes = {4, 2, 2};
  const TrainingLoop loop = make_loop(file, sizes, options);
  const trace::JobTrace job = trace::open_job(encode(file, loop, sizes));
  FixedTimes machine(loop, times);
  const auto feeder = job.feeder(0);
  const NpuConfig npu;
  graph::RankEngine engine(0, npu, *feeder, machine);
  machine.engine = &engine;
  engine.start();
  machine.run();
  EXPECT_TRUE(engine.finished());
  EXPECT_EQ(engine.finished_at() % kNs, 0u);
  return engine.finished_at() / kNs;
}

struct Row {
  const char* file;
  const char* as;  ///< another header; null: the file's
  uint64_t compute, no_time, one_pass, two_passes, uneven, cycles;
};

constexpr Row kRows[] = {
    {"microAllReduce", nullptr, 0, 5, 20005, 20005, 70005, 5},
    {"microAllToAll", nullptr, 0, 5, 20005, 20005, 70005, 5},
    {"Resnet50_DataParallel", nullptr, 1082450, 1085679, 1105679, 2211358, 2311358, 1085840},
    {"MLP_HybridParallel_Data_Model", nullptr, 236649, 247766, 445833, 891666, 887666, 247784},
    {"MLP_HybridParallel_Model_Data", nullptr, 236649, 247766, 445833, 891666, 887666, 247784},
    {"sample_per_layer_parallel_HybridCustomized", nullptr, 236649, 247017, 411823, 823646, 833646, 247035},
    {"MLP_ModelParallel", nullptr, 195206, 203094, 403177, 806354, 702354, 203112},
    {"MLP_ModelParallel", "DISTRIBUTED_INFERENCE", 78883, 86771, 206771, 413542, 209542, 86777},
    {"Transformer_HybridParallel", nullptr, 548942542, 548942690, 549242690, 1098465372, 1098106070,
     548942859},
    {"Transformer_HybridParallel_Fwd_In_Bckwd", nullptr, 635387508, 635387618, 635607618, 1271215236,
     1270975236, 635387697},
    {"DLRM_HybridParallel", nullptr, 51378, 51378, 83195, 154795, 240294, 51401},
    {"DLRM_HybridParallel", "HYBRID_DLRM_ENHANCED", 51378, 51378, 83195, 153192, 240294, 51401},
};

TextFile file_of(const Row& row) {
  const std::string path = fmt::format("{}/text_workloads/{}.txt", test::data_dir(), row.file);
  TextFile file = read_text_file(path);
  for (int i = 0; row.as != nullptr && i < kLoops; ++i)
    if (to_string(static_cast<Loop>(i)) == std::string(row.as)) file.loop = static_cast<Loop>(i);
  return file;
}

TEST(TrainingLoop, TakesTheTimesOfTheGoldenTable) {
  WEFT_NEEDS_DATA();
  for (const Row& row : kRows) {
    SCOPED_TRACE(fmt::format("{} as {}", row.file, row.as == nullptr ? "it is" : row.as));
    const TextFile file = file_of(row);
    const Times same = {20 * kUs, 20 * kUs, 20 * kUs};
    EXPECT_EQ(end_of(file, 1, {0, 0, 0}), row.no_time);
    EXPECT_EQ(end_of(file, 1, same), row.one_pass);
    EXPECT_EQ(end_of(file, 2, same), row.two_passes);
    EXPECT_EQ(end_of(file, 2, {3 * kUs, 30 * kUs, 70 * kUs}), row.uneven);
    EXPECT_EQ(end_of(file, 1, {0, 0, 0}, 1), row.cycles);
    Picoseconds compute = 0;
    const TrainingLoop loop = make_loop(file, {4, 2, 2}, LoopOptions{});
    for (const LoopNode& node : loop.nodes)
      if (node.kind == LoopNode::Kind::compute) compute += node.time;
    EXPECT_EQ(compute / kNs, row.compute);
  }
}

constexpr const char* kTwoLayers =
    "a -1 10 ALLREDUCE 100 20 ALLREDUCE 200 40 ALLREDUCE 400 3\n"
    "b -1 100 ALLREDUCE 100 200 ALLREDUCE 200 400 ALLREDUCE 400 5\n";

TextFile two_layers(const std::string& header) {
  return parse_text(header + "\n2\n" + kTwoLayers, "two.txt");
}

TEST(TrainingLoop, DataParallelWithoutCommunicationTakesOneCycleAfterEveryState) {
  // sum(F + 1) + sum(W + 1) + sum over i >= 1 of (I + 1), on one NPU, where nothing is sent.
  LoopOptions options;
  options.state_cycles = 1;
  const TrainingLoop loop = make_loop(two_layers("DATA"), {1}, options);
  Picoseconds sum = 0;
  for (const LoopNode& node : loop.nodes) {
    EXPECT_EQ(node.kind, LoopNode::Kind::compute);
    sum += node.time;
  }
  EXPECT_EQ(sum, (10 + 100 + 40 + 400 + 200 + 5) * kNs);
}

/// Each collective of the loop as "layer pass: dimensions or block".
std::map<std::string, std::string> spans(const TextFile& file, const std::vector<uint32_t>& sizes,
                                         const LoopOptions& options = {}) {
  std::map<std::string, std::string> out;
  for (const LoopNode& node : make_loop(file, sizes, options).nodes)
    if (node.kind == LoopNode::Kind::collective)
      out[fmt::format("{} {}", node.layer, to_string(node.pass))] =
          node.span.block != 0 ? fmt::format("{} {}", node.span.across ? "across" : "within", node.span.block)
                               : fmt::format("{:03b}", node.span.dimensions);
  return out;
}

TEST(TrainingLoop, CommunicatesOverTheDimensionsOfItsType) {
  using Map = std::map<std::string, std::string>;
  EXPECT_EQ(spans(two_layers("DATA"), {4, 2, 2}),
            (Map{{"0 weight_gradient", "111"}, {"1 weight_gradient", "111"}}));
  EXPECT_EQ(spans(two_layers("MODEL"), {4, 2, 2}),
            (Map{{"0 forward", "111"}, {"1 forward", "111"}, {"1 input_gradient", "111"}}));
  const Map data_model = {{"0 forward", "001"},
                          {"1 forward", "001"},
                          {"1 input_gradient", "001"},
                          {"0 weight_gradient", "110"},
                          {"1 weight_gradient", "110"}};
  EXPECT_EQ(spans(two_layers("HYBRID_DATA_MODEL"), {4, 2, 2}), data_model);
  LoopOptions given;
  given.model_dimensions = {0};
  EXPECT_EQ(spans(two_layers("HYBRID_MODEL_DATA"), {4, 2, 2}, given), data_model);
  // A dimension of one NPU alone carries nothing.
  EXPECT_EQ(spans(two_layers("HYBRID_DATA_MODEL"), {1, 4}),
            (Map{{"0 weight_gradient", "010"}, {"1 weight_gradient", "010"}}));
  EXPECT_EQ(
      spans(two_layers("HYBRID_TRANSFORMER model_parallel_NPU_group: 8"), {4, 2, 2}).at("0 input_gradient"),
      "011");
  EXPECT_EQ(
      spans(two_layers("HYBRID_TRANSFORMER model_parallel_NPU_group: 2"), {4, 2, 2}).at("0 input_gradient"),
      "within 2");
  EXPECT_EQ(
      spans(two_layers("HYBRID_TRANSFORMER model_parallel_NPU_group: 2"), {4, 2, 2}).at("0 weight_gradient"),
      "across 2");
  EXPECT_EQ(spans(two_layers("HYBRID_TRANSFORMER"), {4, 2, 2}).at("0 forward"), "101");
  EXPECT_EQ(spans(two_layers("HYBRID_TRANSFORMER model_parallel_NPU_group: 1"), {4, 2, 2}).count("0 forward"),
            0u);
}

TEST(TrainingLoop, RefusesModelGroupsThatDoNotFit) {
  const auto error = [](const std::string& header, const std::vector<uint32_t>& sizes) -> std::string {
    try {
      make_loop(two_layers(header), sizes, LoopOptions{});
    } catch (const UserError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(error("HYBRID_TRANSFORMER model_parallel_NPU_group: 32", {4, 4}).find("has 16 NPUs"),
            std::string::npos);
  EXPECT_NE(error("HYBRID_TRANSFORMER model_parallel_NPU_group: 6", {4, 4}).find("fraction"),
            std::string::npos);
  EXPECT_NE(error("HYBRID_TRANSFORMER model_parallel_NPU_group: 12", {4, 4}).find("fraction"),
            std::string::npos);
}

TEST(TrainingLoop, ScalesCutToWholeNumbersAndUpdatesMayBePerKib) {
  LoopOptions options;
  options.compute_scale = 0.25;
  options.comm_scale = 10.5;
  options.update_per_kib = true;
  const TrainingLoop loop = make_loop(two_layers("DATA"), {4}, options);
  std::map<uint32_t, uint64_t> compute, bytes, update;
  for (const LoopNode& node : loop.nodes) {
    if (node.kind == LoopNode::Kind::compute && node.pass == Pass::forward) compute[node.layer] = node.time;
    if (node.kind == LoopNode::Kind::collective) bytes[node.layer] = node.bytes;
    if (node.kind == LoopNode::Kind::delay) update[node.layer] = node.time;
  }
  EXPECT_EQ(compute, (std::map<uint32_t, uint64_t>{{0, 2 * kNs}, {1, 25 * kNs}}));
  EXPECT_EQ(bytes, (std::map<uint32_t, uint64_t>{{0, 4200}, {1, 4200}}));
  EXPECT_EQ(update, (std::map<uint32_t, uint64_t>{{0, 12 * kNs}, {1, 20 * kNs}}));  // 3 and 5 x 4200 / 1024
}

TEST(TrainingLoop, AsksForThePrioritiesOfTheFile) {
  const auto orders = [](const std::string& header, bool file) {
    LoopOptions options;
    options.file_priorities = file;
    std::map<std::string, std::string> out;
    for (const LoopNode& node : make_loop(two_layers(header), {4, 2}, options).nodes)
      if (node.kind == LoopNode::Kind::collective)
        out[fmt::format("{} {}", node.layer, to_string(node.pass))] = trace::to_string(node.order);
    return out;
  };
  EXPECT_EQ(orders("DATA", true).at("0 weight_gradient"), "system");
  const auto hybrid = orders("HYBRID_DATA_MODEL", true);
  EXPECT_EQ(hybrid.at("0 forward"), "system");
  EXPECT_EQ(hybrid.at("1 input_gradient"), "lifo");
  EXPECT_EQ(hybrid.at("1 weight_gradient"), "fifo");
  EXPECT_EQ(orders("HYBRID_DATA_MODEL", false).at("1 weight_gradient"), "system");
  EXPECT_EQ(orders("HYBRID_DLRM 0", false).at("0 input_gradient"), "highest");
}

TEST(IssueOrders, FirstBeforeAllAndLastAfterAll) {
  using trace::IssueOrder;
  for (const auto scheduling : {CollectiveScheduling::lifo, CollectiveScheduling::fifo}) {
    graph::IssueOrders orders(scheduling);
    const auto issue = [&](IssueOrder order) { return orders.priority(7, order, 5); };
    EXPECT_EQ(issue(IssueOrder::none), 0);
    const int32_t a = issue(IssueOrder::fifo), b = issue(IssueOrder::lifo), c = issue(IssueOrder::highest);
    const int32_t d = issue(IssueOrder::lifo), e = issue(IssueOrder::fifo), f = issue(IssueOrder::highest);
    const int32_t g = issue(IssueOrder::system);
    EXPECT_GT(c, f);  // of the highest, the first stays first
    EXPECT_GT(f, d);
    EXPECT_GT(d, b);
    EXPECT_GT(b, a);
    EXPECT_GT(a, e);
    if (scheduling == CollectiveScheduling::lifo)
      EXPECT_GT(g, d);
    else
      EXPECT_LT(g, e);
    EXPECT_EQ(orders.priority(8, IssueOrder::lifo, 5), b);  // each rank counts by itself
  }
  graph::IssueOrders own(CollectiveScheduling::priority);
  EXPECT_EQ(own.priority(0, IssueOrder::lifo, 5), 5);
}

TEST(TrainingLoop, ClocksHaveAUnit) {
  EXPECT_EQ(parse_clock("1.41 GHz", ""), 1.41e9);
  EXPECT_EQ(parse_clock("800MHz", ""), 8e8);
  for (const char* wrong : {"1", "GHz", "-1 GHz", "0 Hz", "1 ns", "nan GHz", "2000 GHz", "1 GHz x"})
    EXPECT_THROW(parse_clock(wrong, "key"), UserError) << wrong;
}

}  // namespace
}  // namespace weft::text
