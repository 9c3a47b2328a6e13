// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tests/programs/program_rig.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "configs/loader.h"
#include "workload/collectives/elements.h"
#include "workload/programs/make_program.h"

namespace weft::test {
namespace {

using library::LibraryPlan;

/// Any number of ranks; only what data look like is taken from it.
Config config_of(uint32_t ranks) {
  return parse_config(fmt::format("weft: 1\ntopology: {{notation: FullyConnected({}), dimensions: "
                                  "[{{bandwidth: 50 GB/s}}]}}\n",
                                  ranks),
                      "rig.yaml");
}

LibraryPlan plan_of(const ProgramCase& of) {
  library::LibraryMachine machine = of.machine;
  if (of.algorithm != "-1" || of.protocol != "-1") {
    machine.overrides = testing::TempDir() + "program_rig.csv";
    std::ofstream file(machine.overrides);
    for (const char* name : {"allreduce", "allgather", "reducescatter", "broadcast", "reduce"})
      file << name << ",-1,-1," << of.algorithm << "," << of.protocol << ",-1,-1,-1\n";
  }
  const library::CommunicationLibrary communication(machine);
  LibraryPlan plan = communication.plan(
      {*library::library_op(of.op), library::nccl_bytes(of.op, of.bytes, machine.ranks()), {}});
  if (!of.small_chunks || plan.algorithm == library::LibraryAlgorithm::none) return plan;
  const uint64_t around = std::max<uint64_t>(1, plan.loop_bytes / std::max<uint64_t>(1, plan.chunk_bytes));
  plan.channels = std::min(plan.channels, 3u);
  plan.chunk_bytes = 64;
  plan.least_slice = 8;
  plan.loop_bytes = around * plan.chunk_bytes;
  return plan;
}

class Rig final : public library::ProgramHost {
 public:
  Rig(const LinkTime& link, uint32_t npus, uint32_t gpus, collectives::DataContext* data)
      : engine(*this, npus, data, nullptr), link_(link), gpus_(gpus), nodes_(npus / gpus), data_(data) {}

  void submit(uint32_t npu, const Message& message) override {
    Completion completion;
    completion.id = message.id;
    completion.source = NpuId{npu};
    completion.bytes = message.bytes;
    completion.data = message.data;
    completion.submitted = now_;
    const Picoseconds time = link_(message);
    completion.split.serialise = time;
    // Switches of nodes have the numbers of these; those of the network follow, by places in the node.
    const uint32_t peer = index(message.peer);
    const uint32_t to = peer == kUnitPeer         ? kUnitPeer + npu / gpus_
                        : (peer & kUnitPeer) != 0 ? kUnitPeer + nodes_ + npu % gpus_
                                                  : peer;
    on_links_.emplace(now_ + time, std::make_pair(to, completion));
  }
  void submit_from_switch(uint32_t node, const Message& message) override {
    submit(kUnitPeer + node, message);
  }
  void member_done(uint32_t, uint32_t, const collectives::CollectiveDone& done) override {
    ++finished;
    last = std::max(last, done.finished);
    if (!done.data) return;
    if (!check_) check_ = std::make_unique<collectives::DataCheck>(*data_);
    const std::string line = check_->check(*done.data);
    if (wrong.empty()) wrong = line;
  }
  void run() {
    while (true) {
      const Picoseconds arrival = on_links_.empty() ? kNever : on_links_.begin()->first;
      const Picoseconds next = std::min(arrival, engine.next());
      if (next == kNever) return;
      now_ = next;
      while (!on_links_.empty() && on_links_.begin()->first <= now_) {
        const auto [npu, completion] = on_links_.begin()->second;
        on_links_.erase(on_links_.begin());
        if (npu >= kUnitPeer) {
          engine.completed_at_switch(npu - kUnitPeer, completion, now_);
        } else {
          engine.completed(npu, completion, now_);
        }
      }
      engine.advance(now_);
    }
  }
  uint64_t elements() const { return check_ ? check_->elements() : 0; }

  library::ProgramEngine engine;
  uint32_t finished = 0;
  Picoseconds last = 0;
  std::string wrong;

 private:
  const LinkTime& link_;
  uint32_t gpus_;  ///< of a node
  uint32_t nodes_;
  collectives::DataContext* data_;
  Picoseconds now_ = 0;
  std::multimap<Picoseconds, std::pair<uint32_t, Completion>> on_links_;
  std::unique_ptr<collectives::DataCheck> check_;
};

}  // namespace

std::string ProgramCase::text() const {
  return fmt::format("{} {} x {} of {}, {} {} B, root {}, {} {}", machine.gpu, machine.nodes,
                     machine.gpus_per_node, to_string(machine.links), to_string(op), bytes, root, algorithm,
                     protocol);
}

ProgramOutcome run_program(const ProgramCase& of, const LinkTime& link, bool data,
                           const std::vector<Picoseconds>& starts) {
  const LibraryPlan plan = plan_of(of);
  const uint32_t ranks = of.machine.ranks();
  ProgramOutcome out;
  if (plan.algorithm == library::LibraryAlgorithm::none) return out;
  const Config config = config_of(ranks);
  collectives::PlanBuilder builder(config);
  const collectives::Group world;
  collectives::CollectiveRequest request;
  request.op = of.op;
  request.bytes = of.bytes;
  request.group = &world;
  request.root = of.root;
  std::unique_ptr<collectives::DataContext> context;
  if (data) {
    request.element_bytes = 4;
    context = std::make_unique<collectives::DataContext>(ElementType::fp32, ReduceOp::sum, 7);
  }
  const auto whole = builder.plan(request);
  library::Team team;
  library::Buffers buffers;
  buffers.op = of.op;
  buffers.unit = request.element_bytes;
  buffers.apart =
      of.op == CollectiveOp::all_to_all || of.op == CollectiveOp::gather || of.op == CollectiveOp::scatter;
  team.root = of.root;
  const collectives::Split split = collectives::Split::of(plan.bytes, ranks, buffers.unit);
  std::shared_ptr<const collectives::DataLayout> layout;
  if (data) layout = context->layout(whole, 0);
  for (uint32_t m = 0; m < ranks; ++m) {
    team.npus.push_back(m);
    team.positions.push_back(m);
  }
  for (uint32_t m = 0; m <= ranks; ++m) {
    const bool sharded = layout != nullptr && layout->sharded();
    buffers.shards.push_back(!sharded     ? split.offset(m)
                             : m == ranks ? layout->shard_offset(m - 1) + layout->shard_bytes(m - 1)
                                          : layout->shard_offset(m));
  }
  auto program = std::make_shared<const library::Program>(
      library::make_program(plan, of.op, of.parameters, of.machine, team, std::move(buffers), {true, true}));
  out.sends = program->sends().size();
  Rig rig(link, ranks, of.machine.gpus_per_node, context.get());
  const uint32_t gpus = of.machine.gpus_per_node;
  std::vector<uint32_t> switches;
  for (const library::SwitchPlace& place : program->switches())
    switches.push_back(place.dimension == 0 ? place.member / gpus : of.machine.nodes + place.member % gpus);
  const uint32_t call = rig.engine.open({1, program, whole, team.npus, switches});
  for (uint32_t m = 0; m < ranks; ++m) rig.engine.start(call, m, 0, 0, starts.empty() ? 0 : starts[m]);
  rig.run();
  EXPECT_EQ(rig.finished, ranks) << of.text();
  EXPECT_TRUE(rig.engine.idle()) << of.text();
  if (data) {
    EXPECT_EQ(context->payloads().live(), 0u) << of.text();
  }
  out.time = rig.last;
  const LibraryParameters& p = of.parameters;
  out.work_us = plan.work_us(p) - plan.base_us * p.latency_scale -
                plan.network_share * (p.launch_us + p.latency_scale * (plan.base_us + plan.latency_us));
  out.wrong = rig.wrong;
  out.elements = rig.elements();
  return out;
}

}  // namespace weft::test
