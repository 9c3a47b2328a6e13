// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Collectives with real data and no simulation kernel: engines on a network that delivers in any order. What
// arrives when must not matter.

#include "workload/collectives/data_check.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <random>

#include "tests/data/cases.h"
#include "workload/collectives/elements.h"
#include "workload/collectives/engine.h"

namespace weft::collectives {
namespace {

using test::DataCase;
using test::GroupShape;

/// All ranks of a machine on a network without time: messages in flight are delivered one by one, picked at
/// random.
class Machine {
 public:
  using Tamper = std::function<void(const Message&, uint32_t source, Payload&)>;

  Machine(DataCase& c, uint64_t order) : case_(c), plans_(c.config), random_(order) {
    context_ = DataContext::make(c.config);
    check_ = std::make_unique<DataCheck>(*context_);
    c.request.group = &c.group;
    plan_ = plans_.plan(c.request);
    const uint32_t npus = c.config.npus();
    for (uint32_t r = 0; r < npus; ++r) ports_.push_back(std::make_unique<Port>(*this, r));
    for (uint32_t r = 0; r < npus; ++r) {
      engines_.push_back(std::make_unique<CollectiveEngine>(
          NpuId{r}, c.config, *ports_[r], [this, r](const CollectiveDone& done) { finished(r, done); },
          context_.get()));
    }
  }

  DataContext& context() { return *context_; }
  Tamper tamper;
  double tolerance = 0;

  /// Empty, or a line for every rank with wrong data.
  std::string run() {
    std::vector<uint32_t> members = case_.group.ranks;
    if (case_.group.ranks.empty()) {
      members.resize(case_.config.npus());
      for (uint32_t r = 0; r < members.size(); ++r) members[r] = r;
    }
    std::shuffle(members.begin(), members.end(), random_);
    // Some ranks start when others are well on their way.
    size_t started = 0;
    uint32_t idle = 0;
    while (started < members.size() || !flying_.empty() || !wakes_.empty() || idle < 2) {
      if (started < members.size() && (random_() % 3 == 0 || (flying_.empty() && wakes_.empty()))) {
        const uint32_t rank = members[started++];
        engines_[rank]->start(1, plan_);
        engines_[rank]->settled();
        continue;
      }
      if (!wakes_.empty() && (random_() & 1 || flying_.empty())) {
        const auto [rank, token] = wakes_.back();
        wakes_.pop_back();
        engines_[rank]->wake(token);
        engines_[rank]->settled();
        continue;
      }
      if (!flying_.empty()) {
        const size_t i = random_() % flying_.size();
        const Flying message = flying_[i];
        flying_[i] = flying_.back();
        flying_.pop_back();
        deliver(message);
        continue;
      }
      ++idle;
      for (const auto& engine : engines_) {
        if (engine->rescue()) idle = 0;
      }
    }
    if (!plan_->empty() && done_ != plan_->members()) {
      return fmt::format("{} of {} ranks finished", done_, plan_->members());
    }
    if (wrong_.empty() && context_->payloads().live() != 0) {
      return fmt::format("{} payloads are left", context_->payloads().live());
    }
    return wrong_;
  }

  uint64_t elements() const { return check_->elements(); }
  const std::vector<std::vector<std::byte>>& outputs() const { return outputs_; }
  const CollectivePlan& plan() const { return *plan_; }

 private:
  struct Flying {
    uint32_t source;
    Message message;
  };
  class Port final : public MessagePort {
   public:
    Port(Machine& machine, uint32_t rank) : machine_(machine), rank_(rank) {}
    Picoseconds now() const override { return 0; }
    void submit(const Message& message) override { machine_.submitted(rank_, message); }
    void schedule(Picoseconds, uint32_t token) override { machine_.wakes_.emplace_back(rank_, token); }

   private:
    Machine& machine_;
    uint32_t rank_;
  };

  void submitted(uint32_t source, const Message& message) {
    if (message.id.kind == MessageId::Kind::collective && case_.request.op != CollectiveOp::barrier) {
      EXPECT_NE(message.data, kNoData);
      Payload& payload = context_->payloads()[message.data];
      // The network is charged for what is carried.
      EXPECT_EQ(message.bytes, payload.bytes.size()) << case_.text();
      EXPECT_EQ(message.type, context_->type());
      if (tamper) tamper(message, source, payload);
    } else {
      EXPECT_EQ(message.data, kNoData);
    }
    flying_.push_back({source, message});
  }

  void deliver(const Flying& flying) {
    Completion completion;
    completion.id = flying.message.id;
    completion.source = NpuId{flying.source};
    completion.bytes = flying.message.bytes;
    completion.data = flying.message.data;
    CollectiveEngine& engine = *engines_[index(flying.message.peer)];
    engine.completed(completion);
    engine.settled();
  }

  void finished(uint32_t, const CollectiveDone& done) {
    ++done_;
    EXPECT_EQ(done.data == nullptr, plan_->empty() || case_.request.op == CollectiveOp::barrier);
    if (!done.data) return;
    const std::string wrong = check_->check(*done.data, tolerance);
    if (!wrong.empty()) wrong_ += (wrong_.empty() ? "" : "\n") + wrong;
    outputs_.resize(engines_.size());
    outputs_[done.data->rank()] = done.data->output();
  }

  DataCase& case_;
  PlanBuilder plans_;
  std::mt19937_64 random_;
  std::unique_ptr<DataContext> context_;
  std::unique_ptr<DataCheck> check_;
  std::shared_ptr<const CollectivePlan> plan_;
  std::vector<std::unique_ptr<Port>> ports_;
  std::vector<std::unique_ptr<CollectiveEngine>> engines_;
  std::vector<Flying> flying_;
  std::vector<std::pair<uint32_t, uint32_t>> wakes_;
  std::vector<std::vector<std::byte>> outputs_;
  std::string wrong_;
  uint32_t done_ = 0;
};

constexpr CollectiveOp kOps[] = {
    CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::reduce_scatter,
    CollectiveOp::all_to_all, CollectiveOp::broadcast,  CollectiveOp::reduce,
    CollectiveOp::gather,     CollectiveOp::scatter,    CollectiveOp::barrier};

std::vector<float> floats(const std::vector<std::byte>& bytes) {
  std::vector<float> out(bytes.size() / sizeof(float));
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

/// Input element e of rank r is 100 r + e.
class Numbered final : public InputSource {
 public:
  void fill(const InputKey& key, uint64_t first, uint64_t count, std::byte* out) const override {
    for (uint64_t k = 0; k < count; ++k) {
      const auto value = static_cast<float>(100 * key.rank + first + k);
      std::memcpy(out + k * sizeof value, &value, sizeof value);
    }
  }
};

DataCase simple(DimensionKind kind, std::vector<uint32_t> sizes) {
  DataCase c;
  c.config = test::machine(std::vector<DimensionKind>(sizes.size(), kind), sizes, Fidelity::analytical);
  c.group.id = 1;
  return c;
}

std::vector<std::vector<float>> outputs(DataCase& c, CollectiveOp op, uint64_t elements, uint32_t root = 0) {
  std::mt19937_64 random(1);
  test::set_request(c, op, elements, random);
  c.request.root = root;
  Machine machine(c, 99);
  machine.context().set_source(std::make_unique<Numbered>());
  EXPECT_EQ(machine.run(), "") << c.text();
  std::vector<std::vector<float>> out;
  for (const auto& bytes : machine.outputs()) out.push_back(floats(bytes));
  return out;
}

/// By hand, against numbers written down here: the definition's own test.
TEST(Definition, OfEveryOperation) {
  using Rows = std::vector<std::vector<float>>;
  DataCase c = simple(DimensionKind::ring, {3});
  c.config.collectives.chunks = 2;
  EXPECT_EQ(outputs(c, CollectiveOp::all_reduce, 4),
            (Rows{{300, 303, 306, 309}, {300, 303, 306, 309}, {300, 303, 306, 309}}));
  EXPECT_EQ(outputs(c, CollectiveOp::all_gather, 2),
            (Rows{{0, 1, 100, 101, 200, 201}, {0, 1, 100, 101, 200, 201}, {0, 1, 100, 101, 200, 201}}));
  EXPECT_EQ(outputs(c, CollectiveOp::reduce_scatter, 6), (Rows{{300, 303}, {306, 309}, {312, 315}}));
  EXPECT_EQ(outputs(c, CollectiveOp::all_to_all, 6),
            (Rows{{0, 1, 100, 101, 200, 201}, {2, 3, 102, 103, 202, 203}, {4, 5, 104, 105, 204, 205}}));
  EXPECT_EQ(outputs(c, CollectiveOp::broadcast, 3, 2),
            (Rows{{200, 201, 202}, {200, 201, 202}, {200, 201, 202}}));
  EXPECT_EQ(outputs(c, CollectiveOp::reduce, 2, 1), (Rows{{}, {300, 303}, {}}));
  EXPECT_EQ(outputs(c, CollectiveOp::gather, 2, 1), (Rows{{}, {0, 1, 100, 101, 200, 201}, {}}));
  EXPECT_EQ(outputs(c, CollectiveOp::scatter, 6, 2), (Rows{{200, 201}, {202, 203}, {204, 205}}));
}

TEST(Definition, ShardsFollowTheOrderOfTheCommunicatorOnEveryNumberOfDimensions) {
  using Rows = std::vector<std::vector<float>>;
  DataCase flat = simple(DimensionKind::ring, {4});
  DataCase square = simple(DimensionKind::ring, {2, 2});
  flat.config.collectives.chunks = 3;
  square.config.collectives.chunks = 3;
  for (const CollectiveOp op : {CollectiveOp::reduce_scatter, CollectiveOp::all_to_all,
                                CollectiveOp::all_gather, CollectiveOp::gather, CollectiveOp::scatter}) {
    EXPECT_EQ(outputs(flat, op, 12), outputs(square, op, 12)) << to_string(op);
  }
  // Ranks named in another order.
  square.group.ranks = {3, 1, 0, 2};
  EXPECT_EQ(outputs(square, CollectiveOp::reduce_scatter, 4), (Rows{{608}, {604}, {612}, {600}}));
  // What does not divide: the shards differ, and still follow one another.
  EXPECT_EQ(outputs(flat, CollectiveOp::scatter, 6, 1), (Rows{{100, 101, 102}, {103, 104, 105}, {}, {}}));
  EXPECT_EQ(outputs(square, CollectiveOp::all_gather, 1),
            (Rows{{300, 100, 0, 200}, {300, 100, 0, 200}, {300, 100, 0, 200}, {300, 100, 0, 200}}));
}

/// Every algorithm x operation x kind of dimension x group shape x odd size, up to four dimensions.
TEST(Collectives, EveryAlgorithmOperationTopologyAndShape) {
  std::mt19937_64 random(11);
  static const DimensionKind kKinds[] = {DimensionKind::ring, DimensionKind::fully_connected,
                                         DimensionKind::switch_, DimensionKind::mesh};
  const std::vector<std::vector<uint32_t>> sizes = {{2}, {5}, {8}, {4, 3}, {2, 2, 4}, {2, 3, 2, 2}};
  uint64_t runs = 0;
  uint64_t elements = 0;
  for (const CollectiveOp op : kOps) {
    for (const auto& shape : sizes) {
      for (const GroupShape group :
           {GroupShape::all, GroupShape::grid, GroupShape::line, GroupShape::irregular}) {
        for (const Algorithm* algorithm : all_algorithms()) {
          for (const uint64_t count : {1u, 3u, 7u, 64u, 101u}) {
            DataCase c;
            std::vector<DimensionKind> kinds;
            for (size_t d = 0; d < shape.size(); ++d) kinds.push_back(kKinds[(d + runs) % 4]);
            c.config = test::machine(kinds, shape, Fidelity::analytical);
            c.config.collectives.chunks = 4;
            c.config.collectives.active_chunks_per_dimension = 2;
            c.config.collectives.queues_per_dimension = 1 + runs % 2;
            c.config.collectives.order = static_cast<CollectiveOrder>(runs % kCollectiveOrders);
            c.config.collectives.algorithms[static_cast<int>(op)].assign(shape.size(), algorithm->name());
            c.group.id = 1;
            c.group.ranks = test::group_of(c.config, group, random);
            test::set_request(c, op, count, random);
            try {
              Machine machine(c, random());
              ASSERT_EQ(machine.run(), "") << c.text();
              elements += machine.elements();
              ++runs;
            } catch (const UserError& e) {
              // The algorithm cannot run on this number of members, and says so.
              ASSERT_NE(std::string(e.what()).find(algorithm->name()), std::string::npos) << e.what();
            }
          }
        }
      }
    }
  }
  EXPECT_GT(runs, 2000u);
  EXPECT_GT(elements, 500000u);
}

TEST(Collectives, RandomSystemsInRandomOrderOfDelivery) {
  std::mt19937_64 random(20240607);
  uint64_t elements = 0;
  uint32_t reached[kCollectiveOps] = {};
  for (uint32_t i = 0; i < 1000; ++i) {
    DataCase c = test::random_case(random, false);
    Machine machine(c, random());
    ASSERT_EQ(machine.run(), "") << "case " << i << ": " << c.text();
    if (machine.elements() != 0) ++reached[static_cast<int>(c.request.op)];
    elements += machine.elements();
  }
  for (int op = 0; op < kCollectiveOps; ++op) {
    if (static_cast<CollectiveOp>(op) != CollectiveOp::barrier) {
      EXPECT_GT(reached[op], 40u) << op;
    }
  }
  EXPECT_GT(elements, 1000000u);
}

/// The all-gathers of themis_flex in every order that its scheduler comes to, on two to four dimensions.
TEST(Collectives, GathersInAnOrderOfTheirOwnRestoreEverything) {
  std::mt19937_64 random(77);
  uint32_t rearranged = 0;
  uint32_t left_over = 0;
  for (uint32_t i = 0; i < 300; ++i) {
    static const DimensionKind kKinds[] = {DimensionKind::ring, DimensionKind::fully_connected,
                                           DimensionKind::switch_};
    const size_t dims = 2 + i % 3;
    std::vector<DimensionKind> kinds;
    std::vector<uint32_t> sizes;
    for (size_t d = 0; d < dims; ++d) {
      kinds.push_back(kKinds[random() % 3]);
      sizes.push_back(2 + static_cast<uint32_t>(random() % (dims == 4 ? 2 : 3)));
    }
    DataCase c;
    c.config = test::machine(kinds, sizes, Fidelity::analytical);
    for (DimensionConfig& d : c.config.dimensions) {
      d.bandwidth = {(1 + random() % 20) * 1000000000ull, 1};
      d.latency = 0;
    }
    auto& k = c.config.collectives;
    k.order = CollectiveOrder::themis_flex;
    k.dimension_scheduling = static_cast<DimensionScheduling>(random() % 4);
    k.chunks = 1 + static_cast<uint32_t>(random() % 9);
    k.active_chunks_per_dimension = 1 + static_cast<uint32_t>(random() % 3);
    c.config.run.element = i % 2 == 0 ? "fp32" : "bf16";
    // One in four: a dimension of trees, which stands between the two passes.
    if (i % 4 == 0) {
      k.algorithms[0].assign(dims, "");
      k.algorithms[0][random() % dims] = "double_binary_tree";
    }
    c.group.id = 1;
    if (i % 3 == 0) c.group.ranks = test::group_of(c.config, GroupShape::grid, random);
    // Half of the sizes divide.
    test::set_request(c, CollectiveOp::all_reduce, k.chunks * 1296 + (i % 2 == 0 ? 0 : random() % 100),
                      random);
    Machine machine(c, random());
    ASSERT_EQ(machine.run(), "") << c.text();
    if (machine.plan().empty()) continue;
    for (uint32_t chunk = 0; chunk < machine.plan().chunks(); ++chunk) {
      rearranged += machine.plan().rearranged(chunk) ? 1 : 0;
      left_over += machine.plan().rearranged(0) && !machine.plan().rearranged(chunk) ? 1 : 0;
    }
  }
  EXPECT_GT(rearranged, 100u);
  EXPECT_GT(left_over, 10u);
}

/// Any floats: within the rounding of the operations, and the same bits whatever the order of arrival.
class AnyFloats final : public InputSource {
 public:
  void fill(const InputKey& key, uint64_t first, uint64_t count, std::byte* out) const override {
    for (uint64_t k = 0; k < count; ++k) {
      const uint64_t hash = ((key.rank + 1) * 1000003ull + first + k) * 0x9e3779b97f4a7c15ull;
      const float value = static_cast<float>(static_cast<int64_t>(hash)) * 1e-16f;
      std::memcpy(out + k * sizeof value, &value, sizeof value);
    }
  }
};

TEST(Collectives, RandomFloatsAreWithinToleranceAndDoNotDependOnArrival) {
  std::mt19937_64 random(5);
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const CollectiveOp op :
         {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter, CollectiveOp::reduce}) {
      if (!algorithm->refuses(op, 8).empty()) continue;
      DataCase c = simple(DimensionKind::switch_, {8, 4});
      c.config.collectives.chunks = 3;
      c.config.collectives.order = algorithm->refuses(CollectiveOp::reduce_scatter, 8).empty()
                                       ? CollectiveOrder::local_bw_aware
                                       : CollectiveOrder::baseline;
      c.config.collectives.algorithms[static_cast<int>(op)].assign(2, algorithm->name());
      test::set_request(c, op, 200, random);
      std::vector<std::vector<std::byte>> first;
      for (uint64_t order = 0; order < 5; ++order) {
        Machine machine(c, order);
        machine.context().set_source(std::make_unique<AnyFloats>());
        machine.tolerance = 32 * 6e-8;
        ASSERT_EQ(machine.run(), "") << c.text();
        if (order == 0) first = machine.outputs();
        EXPECT_EQ(machine.outputs(), first) << c.text();
      }
      // The tolerance is no blank cheque: exact equality does not hold for such inputs.
      if (op == CollectiveOp::all_reduce && std::string(algorithm->name()) == "ring") {
        Machine machine(c, 1);
        machine.context().set_source(std::make_unique<AnyFloats>());
        EXPECT_NE(machine.run(), "");
      }
    }
  }
}

/// The direct algorithm's sum is the sum in index order, whoever computes it.
TEST(Collectives, DirectCombinesInContributorOrder) {
  DataCase c = simple(DimensionKind::fully_connected, {7});
  std::mt19937_64 random(5);
  test::set_request(c, CollectiveOp::all_reduce, 100, random);
  Machine machine(c, 3);
  machine.context().set_source(std::make_unique<AnyFloats>());
  EXPECT_EQ(machine.run(), "");  // bit by bit against the sum in order of position
}

// --- seeded defects: each must be found and named ------------------------------------------------------

TEST(Defects, AWrongBlockIndexIsNamed) {
  DataCase c = simple(DimensionKind::ring, {4});
  std::mt19937_64 random(5);
  test::set_request(c, CollectiveOp::all_gather, 8, random);
  Machine machine(c, 3);
  machine.tamper = [](const Message& message, uint32_t source, Payload& payload) {
    if (source == 1 && message.id.round == 0) payload.blocks.first = (payload.blocks.first + 1) % 4;
  };
  const std::string wrong = machine.run();
  EXPECT_NE(wrong.find("chunk 0, element 8 (from rank 1): expected"), std::string::npos) << wrong;
  EXPECT_NE(wrong.find("got nothing (the element was never written)"), std::string::npos) << wrong;
}

TEST(Defects, ASkippedReductionIsNamed) {
  for (const char* const type : {"fp32", "bf16", "int32"}) {
    DataCase c = simple(DimensionKind::switch_, {4, 2});
    c.config.run.element = type;
    c.config.collectives.chunks = 2;
    std::mt19937_64 random(5);
    test::set_request(c, CollectiveOp::all_reduce, 64, random);
    Machine machine(c, 3);
    bool once = true;
    machine.tamper = [&](const Message& message, uint32_t, Payload& payload) {
      if (message.op == ReduceOp::none || message.id.chunk != 1 || !once) return;
      once = false;
      std::fill(payload.bytes.begin(), payload.bytes.end(), std::byte{0});  // its contribution is lost
    };
    const std::string wrong = machine.run();
    EXPECT_NE(wrong.find("rank "), std::string::npos) << wrong;
    EXPECT_NE(wrong.find("chunk 1, element "), std::string::npos) << wrong;
    EXPECT_NE(wrong.find("expected "), std::string::npos) << wrong;
    EXPECT_NE(wrong.find("got "), std::string::npos) << wrong;
  }
}

TEST(Defects, AnOverwriteInsteadOfAReductionIsFound) {
  DataCase c = simple(DimensionKind::ring, {5});
  std::mt19937_64 random(5);
  test::set_request(c, CollectiveOp::reduce_scatter, 50, random);
  Machine machine(c, 3);
  machine.tamper = [&](const Message& message, uint32_t source, Payload& payload) {
    if (source == 2 && message.id.round == 1) payload.reduce = false;
  };
  EXPECT_NE(machine.run().find("element"), std::string::npos);
}

TEST(Defects, AWrongOriginInAnAllToAllIsFound) {
  DataCase c = simple(DimensionKind::ring, {4, 3});
  std::mt19937_64 random(5);
  test::set_request(c, CollectiveOp::all_to_all, 24, random);
  Machine machine(c, 3);
  machine.tamper = [&](const Message& message, uint32_t source, Payload& payload) {
    if (source == 2 && message.id.phase == 0 && message.id.round == 2) payload.origins[0] ^= 1;
  };
  EXPECT_NE(machine.run(), "");
}

TEST(Defects, APayloadThatDoesNotFitIsNamedAndNotApplied) {
  DataCase c = simple(DimensionKind::ring, {4});
  std::mt19937_64 random(5);
  test::set_request(c, CollectiveOp::all_reduce, 41, random);
  for (const uint32_t kind : {0u, 1u, 2u}) {
    Machine machine(c, 3);
    machine.tamper = [&](const Message& message, uint32_t source, Payload& payload) {
      if (source != 1 || message.id.round != 0) return;
      if (kind == 0) payload.bytes.resize(payload.bytes.size() + 4);
      if (kind == 1) payload.blocks.first = 1000000;
      if (kind == 2) payload.blocks.count = 3;
    };
    EXPECT_NE(machine.run().find("came from index 1"), std::string::npos) << kind;
  }
}

TEST(Defects, ElementsThatDoNotFillTheRequestAreRefused) {
  DataCase c = simple(DimensionKind::ring, {4});
  std::mt19937_64 random(5);
  test::set_request(c, CollectiveOp::all_reduce, 41, random);
  c.request.element_bytes = 1;
  Machine machine(c, 3);
  EXPECT_THROW(machine.run(), UserError);
}

}  // namespace
}  // namespace weft::collectives
