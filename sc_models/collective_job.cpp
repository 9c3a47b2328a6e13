// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/collective_job.h"
#include "configs/blueprint/carrier.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "workload/collectives/elements.h"
#include "workload/collectives/whole_elements.h"
#include "workload/graph/folding.h"

namespace weft {
namespace {

const collectives::Group kWorldGroup;  // plans keep its address

/// What messages about a collective without a trace begin with.
std::string collective_name(const Config& config, size_t number, CollectiveOp op) {
  return fmt::format("{}: collective {} ({})", config.file.empty() ? "configuration" : config.file, number,
                     to_string(op));
}

}  // namespace

CollectiveJob::CollectiveJob(Machine& machine, std::shared_ptr<collectives::PlanBuilder> plans)
    : Job(machine, std::move(plans)) {
  if (machine.folded() && machine.mirrored() != std::vector<uint32_t>{0})
    throw std::logic_error("the machine was built for a job that folds otherwise");
  machine.attach(*this);
  before_ = counted();
}

CollectiveJob::~CollectiveJob() {
  machine_.detach();
}

Machine::Options CollectiveJob::machine_options(vcd::ProbeHub* probes, bool folded) {
  Machine::Options options;
  options.probes = probes;
  if (folded) options.mirrored = {0};
  return options;
}

std::string CollectiveJob::not_foldable(collectives::PlanBuilder& plans, CollectiveOp op, uint64_t bytes) {
  const Config& config = plans.config();
  if (std::string why = graph::folding_refusal(config); !why.empty()) return why;
  for (size_t d = 0; d < config.dimensions.size(); ++d) {
    if (config.dimensions[d].size > 1 && carrier_of(config.dimensions[d]) != Carrier::direct)
      return fmt::format("dimension {} is not analytical", d);
  }
  if (graph::FidelityRules(config).may_lift(op)) return "a fidelity rule may be for it";
  if (config.collectives.library.on()) return {};
  return plan_of(plans, op, bytes)->asymmetry(config);
}

void CollectiveJob::check(collectives::PlanBuilder& plans, CollectiveOp op, uint64_t bytes, uint32_t root,
                          size_t number) {
  const auto where = [&] { return collective_name(plans.config(), number, op); };
  collectives::CollectiveRequest request;
  request.op = op;
  request.bytes = bytes;
  collectives::set_elements(plans.config(), request, ExitCode::usage, where);
  bound_in_time(plans.config(), *plan_of(plans, op, bytes, root), 0, where);
}

std::shared_ptr<const collectives::CollectivePlan> CollectiveJob::plan_of(collectives::PlanBuilder& plans,
                                                                          CollectiveOp op, uint64_t bytes,
                                                                          uint32_t root) {
  collectives::CollectiveRequest request;
  request.op = op;
  request.bytes = bytes;
  request.group = &kWorldGroup;
  request.root = root;
  const RunConfig& run = plans.config().run;
  if (run.data != "none" && op != CollectiveOp::barrier) {
    const uint32_t size = collectives::element_bytes(collectives::element_type(run.element));
    if (bytes % size == 0) request.element_bytes = size;  // else start() refuses it
  }
  collectives::Rules(plans.config(), plans).apply(request, {}, 0);
  return plans.plan(request);
}

void CollectiveJob::start(CollectiveOp op, uint64_t bytes, uint32_t root) {
  collectives::CollectiveRequest request;
  request.op = op;
  request.bytes = bytes;
  request.group = &kWorldGroup;
  request.root = root;
  const std::string where = collective_name(config_, rows_.size() + 1, op);
  collectives::set_elements(config_, request, ExitCode::usage, [&] { return where; });
  rules_->apply(request, {}, 0);
  rules_->delay(request, rules_->delays().next(0, {op, bytes, {}, {}, {}}));
  const auto plan = plans_->plan(request);
  const uint32_t stream = machine_.take_streams(1);
  if (rows_.empty()) first_stream_ = stream;
  const auto number = static_cast<uint32_t>(rows_.size() + 1);
  rows_.push_back(
      make_row(config_, *plan, number, sc_core::sc_time_stamp().value() - origin_, [&] { return where; }));
  const uint32_t rule = machine_.fidelity().for_collective(op, sc_core::sc_time_stamp().value());
  const uint8_t plane = machine_.fidelity().plane_of(rule);
  rows_.back().fidelity_rule = rule;
  if (machine_.library() != nullptr) {
    start_library(stream, plan, plane);
    return;
  }
  if (machine_.folded()) {
    const std::string why =
        machine_.data() != nullptr ? std::string("its messages carry data") : plan->asymmetry(config_);
    if (!why.empty())
      throw std::logic_error("a folded job was given a collective that does not fold: " + why);
    machine_.nmu(0).start_collective(stream, plan);
    return;
  }
  for (uint32_t r = 0; r < machine_.npus(); ++r)
    if (simulated(r)) machine_.nmu(r).start_collective(stream, plan, 0, plane);
}

void CollectiveJob::start_library(uint32_t stream,
                                  const std::shared_ptr<const collectives::CollectivePlan>& plan,
                                  uint8_t plane) {
  LibraryRuns& runs = *machine_.library();
  const library::LibraryPlan& work = runs.calls().plan(*plan, 0);
  tell_library_plan(work, work.time(runs.calls().parameters()), rows_.back());
  const uint32_t members = machine_.folded() ? 1 : machine_.npus();
  for (uint32_t r = 0; r < members; ++r)
    runs.start({stream, r, plan, plane, machine_.folded()},
               [this, r](const collectives::CollectiveDone& done) { collective_done(NpuId{r}, done); });
}

/// Whose part of a collective this machine runs.
uint32_t CollectiveJob::members_here() const {
  if (machine_.part_links() == nullptr) return machine_.npus();
  uint32_t members = 0;
  for (uint32_t r = 0; r < machine_.npus(); ++r) members += simulated(r) ? 1 : 0;
  return members;
}

bool CollectiveJob::finished() const {
  const uint32_t members = members_here();
  return std::all_of(rows_.begin(), rows_.end(),
                     [&](const CollectiveRow& r) { return r.members_done == members; });
}

uint64_t CollectiveJob::done_count() const {
  uint64_t done = 0;
  for (const CollectiveRow& row : rows_) done += row.members_done;
  return done;
}

uint64_t CollectiveJob::total_count() const {
  return rows_.size() * members_here();
}

void CollectiveJob::collective_done(NpuId rank, const collectives::CollectiveDone& done) {
  if (insight::CausalLog* const causes = machine_.causes(); causes != nullptr)
    causes->ended(index(rank), causes->because(), done.finished);
  CollectiveRow& row = rows_[done.stream - first_stream_];
  // A folded job hears of rank 0 and counts it for all.
  for (uint32_t i = machine_.folded() ? machine_.npus() : 1; i > 0; --i) book_.record(done, row);
}

std::string CollectiveJob::stalled_ranks() const {
  std::string report =
      fmt::format("stalled at {} ps: nothing moves any more and {} of {} ranks have not finished\n",
                  sc_core::sc_time_stamp().value(), total_count() - done_count(), total_count());
  uint32_t shown = 0;
  for (uint32_t r = 0; r < machine_.npus() && shown < 16; ++r) {
    if (!simulated(r)) continue;
    for (const std::string& line : machine_.nmu(r).describe_waits(4)) {
      report += fmt::format("  rank {}: {}\n", r, line);
      ++shown;
    }
    if (machine_.library() == nullptr) continue;
    for (const std::string& line : machine_.library()->describe_waits(r, 4)) {
      report += fmt::format("  rank {}: {}\n", r, line);
      ++shown;
    }
  }
  return report;
}

Job::Counts CollectiveJob::counted() const {
  Counts counts;
  for (uint32_t r = 0; r < machine_.npus(); ++r)
    if (simulated(r)) count(counts, r, 1);
  return counts;
}

RunResult CollectiveJob::own_result() const {
  RunResult result;
  result.collectives = rows_;
  for (const CollectiveRow& row : rows_) {
    if (row.members_done != 0) result.time = std::max(result.time, row.finished);
    result.lower_bound = std::max(result.lower_bound, row.lower_bound);
  }
  result.folded = machine_.folded();
  const Counts counts = since(counted());
  result.messages = counts.messages * (result.folded ? machine_.npus() : 1);
  result.out_of_order_starts = counts.out_of_order_starts;
  result.memory_bytes = counts.memory_bytes;
  add_findings(result);
  add_fidelity_results(result, {});
  return result;
}

}  // namespace weft
