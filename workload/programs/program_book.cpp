// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/programs/program_book.h"

#include <algorithm>

namespace weft::library {
namespace {

constexpr uint64_t kMostKept = 1 << 21;  // messages: some 200 MB

}  // namespace

const ProgramBook::Work& ProgramBook::work(const std::shared_ptr<const collectives::CollectivePlan>& plan,
                                           uint32_t rank, Reducers reducers) {
  const Line line{plan.get(), line_of(*plan, rank), reducers.nodes, reducers.network};
  if (const auto known = works_.find(line); known != works_.end()) return known->second;
  Work work;
  work.npus = members_with(*plan, rank);
  work.program = std::make_shared<const Program>(make(plan, work, reducers));
  kept_ += work.program->sends().size();
  latest_.push_back(line);
  forget();
  return works_.emplace(line, std::move(work)).first->second;
}

/// Programs are large: those that were made first are made again when they are needed again.
void ProgramBook::forget() {
  while (kept_ > kMostKept && latest_.size() > 1) {
    const auto oldest = works_.find(latest_.front());
    kept_ -= oldest->second.program->sends().size();
    works_.erase(oldest);
    latest_.pop_front();
  }
}

Program ProgramBook::make(const std::shared_ptr<const collectives::CollectivePlan>& plan, const Work& work,
                          Reducers reducers) {
  const collectives::CollectiveRequest& request = plan->request();
  const LibraryPlan& call = calls_.plan(*plan, work.npus.front());
  const auto members = static_cast<uint32_t>(work.npus.size());
  const bool carries = data_ != nullptr && request.op != CollectiveOp::barrier;
  Buffers buffers;
  buffers.op = request.op;
  buffers.apart = request.op == CollectiveOp::all_to_all || request.op == CollectiveOp::gather ||
                  request.op == CollectiveOp::scatter;
  buffers.unit = carries ? request.element_bytes : 1;
  std::shared_ptr<const collectives::DataLayout> layout;
  if (carries) layout = data_->layout(plan, work.npus.front());
  Team team;
  std::vector<collectives::AxisView> views;
  for (uint32_t m = 0; m < members; ++m) {
    plan->views(work.npus[m], views);
    const std::vector<collectives::PhasePlan>& phases = plan->phases();
    if (std::all_of(phases.begin(), phases.end(),
                    [&](const collectives::PhasePlan& p) { return views[p.axis].me == p.root; }))
      team.root = m;
    team.npus.push_back(config_.mapping.empty() ? work.npus[m] : config_.mapping[work.npus[m]]);
    team.positions.push_back(layout == nullptr ? m : layout->position(layout->place(views)));
  }
  const collectives::Split split = collectives::Split::of(call.bytes, members, buffers.unit);
  for (uint32_t m = 0; m <= members; ++m) {
    const bool sharded = layout != nullptr && layout->sharded();
    buffers.shards.push_back(!sharded       ? split.offset(m)
                             : m == members ? layout->shard_offset(m - 1) + layout->shard_bytes(m - 1)
                                            : layout->shard_offset(m));
  }
  return make_program(call, request.op, calls_.parameters(), calls_.library().machine(), team,
                      std::move(buffers), reducers);
}

}  // namespace weft::library
