// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "sc_models/layer_rows.h"
#include "workload/collectives/bounds.h"
#include "workload/collectives/elements.h"
#include "workload/collectives/whole_elements.h"

namespace weft {
namespace {

double per_second(double bytes, Picoseconds time) {
  return time == 0 ? 0 : bytes / static_cast<double>(time) * 1e12;
}

/// The phase of that number; chunks whose orders differ are told together.
CollectiveRow::Phase describe_phase(const collectives::CollectivePlan& plan, size_t p) {
  std::vector<std::string> operations;
  std::vector<std::string> dimensions;
  std::vector<std::string> algorithms;
  const auto add = [](std::vector<std::string>& list, std::string text) {
    if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(std::move(text));
  };
  for (const auto& phases : plan.orders()) {
    const auto& phase = phases[p];
    const auto& axis = plan.axes()[phase.axis];
    add(operations, to_string(phase.op));
    add(dimensions,
        axis.dimension == collectives::Axis::kFlat ? std::string("group") : std::to_string(axis.dimension));
    add(algorithms, phase.algorithm->name());
  }
  std::sort(dimensions.begin(), dimensions.end());
  std::sort(algorithms.begin(), algorithms.end());
  CollectiveRow::Phase row;
  row.operation = fmt::format("{}", fmt::join(operations, "|"));
  row.dimension = fmt::format("{}", fmt::join(dimensions, "|"));
  row.algorithm = fmt::format("{}", fmt::join(algorithms, "|"));
  for (std::string& d : dimensions) {
    if (d != "group") d.insert(0, "d");
  }
  row.what = fmt::format("{} {} {}", row.operation, fmt::join(dimensions, "|"), row.algorithm);
  return row;
}

const collectives::Group kWorldGroup;  // plans keep its address

constexpr size_t kLines = 16;     // about wrong data in a result
constexpr size_t kUnitLines = 8;  // about collective units in a stall report

uint64_t key(uint32_t a, uint32_t b) {
  return static_cast<uint64_t>(a) << 32 | b;
}

System::Options options(vcd::Waves* waves, bool folded) {
  System::Options options;
  options.waves = waves;
  if (folded) options.mirrored = {0};
  return options;
}

System::Options options(vcd::Waves* waves, const graph::Folding& folding) {
  System::Options options;
  options.npus = true;
  options.waves = waves;
  options.mirrored = folding.representatives();
  options.whole = folding.whole();
  return options;
}

/// The lower bound. `where` begins the message of the UserError if it cannot end in simulated time.
Picoseconds bound_in_time(const Config& config, const collectives::CollectivePlan& plan, Picoseconds now,
                          const std::function<std::string()>& where) {
  Picoseconds bound = 0;
  in_time(
      [&] {
        bound = collectives::lower_bound(config, plan);
        return later(now, bound);
      },
      [&] {
        return fmt::format("{}: {} of {} B, which starts at {} ps,", where(), to_string(plan.request().op),
                           plan.request().bytes, now);
      },
      "use a smaller size or higher bandwidths");
  return bound;
}

/// What messages about a collective without a trace begin with.
std::string collective_name(const Config& config, size_t number, CollectiveOp op) {
  return fmt::format("{}: collective {} ({})", config.file.empty() ? "configuration" : config.file, number,
                     to_string(op));
}

/// A row for a collective that some member has reached first. `where` begins the message of the UserError if
/// it cannot end in simulated time.
CollectiveRow make_row(const Config& config, const collectives::CollectivePlan& plan, uint32_t stream,
                       const std::function<std::string()>& where) {
  CollectiveRow row;
  row.stream = stream;
  row.op = plan.request().op;
  row.group = plan.request().group->name;
  row.bytes = plan.request().bytes;
  row.ranks = plan.members();
  row.chunks = plan.empty() ? 0 : plan.chunks();
  row.started = sc_core::sc_time_stamp().value();
  row.lower_bound = bound_in_time(config, plan, row.started, where);
  for (size_t p = 0; p < plan.phases().size(); ++p) row.phases.push_back(describe_phase(plan, p));
  return row;
}

}  // namespace

double CollectiveRow::algorithm_bandwidth() const {
  if (op == CollectiveOp::barrier) return 0;  // it moves no bytes, whatever its size says
  // nccl-tests: the size of an all-gather is that of its output; a gather's and a scatter's that of the
  // root's buffer.
  const bool shards = op == CollectiveOp::all_gather || op == CollectiveOp::gather;
  return per_second(static_cast<double>(bytes) * (shards ? ranks : 1), time());
}

double CollectiveRow::bus_bandwidth() const {
  const double n = ranks;
  if (n < 2) return 0;
  switch (op) {
    case CollectiveOp::all_reduce:
      return algorithm_bandwidth() * 2 * (n - 1) / n;
    case CollectiveOp::all_gather:
    case CollectiveOp::reduce_scatter:
    case CollectiveOp::all_to_all:
    case CollectiveOp::gather:
    case CollectiveOp::scatter:
      return algorithm_bandwidth() * (n - 1) / n;
    case CollectiveOp::broadcast:
    case CollectiveOp::reduce:
      return algorithm_bandwidth();
    case CollectiveOp::barrier:
      return 0;
  }
  return 0;
}

double CollectiveRow::efficiency() const {
  return time() == 0 ? 1.0 : static_cast<double>(lower_bound) / static_cast<double>(time());
}

Job::Job(const char* name, const Config& config, const System::Options& options,
         std::shared_ptr<collectives::PlanBuilder> plans, std::shared_ptr<collectives::Rules> rules)
    : config_(config),
      plans_(plans != nullptr ? std::move(plans) : std::make_shared<collectives::PlanBuilder>(config)),
      rules_(rules != nullptr ? std::move(rules) : std::make_shared<collectives::Rules>(config, *plans_)) {
  system_ = std::make_unique<System>(name, config, *this, options);
}

Job::~Job() = default;

bool Job::rescue() {
  const uint32_t chunks = system_->rescue();
  if (chunks == 0) return false;
  rescues_.last = sc_core::sc_time_stamp().value();
  if (rescues_.times++ == 0) rescues_.first = rescues_.last;
  rescues_.chunks += chunks;
  return true;
}

void Job::record(NpuId, const collectives::CollectiveDone& done, CollectiveRow& row) {
  row.started = std::min(row.started, done.started);
  row.finished = std::max(row.finished, done.finished);
  row.messages += done.messages;
  row.message_bytes += done.bytes;
  row.split.add(done.split);
  for (size_t p = 0; p < done.phases.size(); ++p) {
    row.phases[p].queue += done.phases[p].queue;
    row.phases[p].network += done.phases[p].network;
  }
  ++row.members_done;
  if (done.data) verify(done, row);
  if (row.members_done == row.ranks) {
    for (auto& phase : row.phases) {
      phase.queue /= row.ranks;
      phase.network /= row.ranks;
    }
  }
}

void Job::verify(const collectives::CollectiveDone& done, const CollectiveRow& row) {
  auto& check = checks_.try_emplace(row.stream, *system_->data()).first->second;
  const std::string wrong = check.check(*done.data);
  if (!wrong.empty() && wrong_streams_.insert(row.stream).second && wrong_streams_.size() <= kLines) {
    wrong_data_.push_back(fmt::format("collective {} ({}, {} B, group `{}`) delivered wrong data: {}",
                                      row.stream, to_string(row.op), row.bytes, row.group, wrong));
  }
  // Wrong elements show where they end up; a rank that was told to do the impossible says where they began.
  if (!done.data->defect().empty() && defect_streams_.insert(row.stream).second &&
      defect_streams_.size() <= kLines) {
    wrong_data_.push_back(fmt::format("collective {} ({}, {} B, group `{}`): rank {}, {}", row.stream,
                                      to_string(row.op), row.bytes, row.group, done.data->rank(),
                                      done.data->defect()));
  }
  if (row.members_done != row.ranks) return;
  ++data_collectives_;
  data_elements_ += check.elements();
  checks_.erase(row.stream);
}

void Job::note_wrong_data(const std::string& line) {
  if (++wrong_lines_ <= kLines) wrong_data_.push_back(line);
}

void Job::add_machine_results(RunResult& result, const graph::Folding* folding) const {
  const System::Totals totals = system_->totals();
  result.messages = totals.messages_delivered;
  result.events = totals.activations;
  result.out_of_order_starts = totals.out_of_order_starts;
  result.memory_bytes = totals.memory_bytes;
  result.packet_hops = totals.packet_hops;
  result.flits = totals.flits;
  if (config_.packet.ecn.enabled) result.congestion = system_->congestion();
  if (folding == nullptr) result.links.reserve(totals.links);
  const auto add_link = [&](LinkReport report) {
    result.links.push_back({std::move(report.name), std::move(report.to), report.dimension, report.bytes,
                            report.messages, report.busy, report.queued, report.fidelity, report.packets,
                            report.marked, report.pauses, report.paused, report.overruns});
  };
  if (folding == nullptr) {
    system_->for_each_link(add_link);
  } else {
    for (uint32_t r = 0; r < system_->npus(); ++r) {
      const graph::Folding::Class* c = folding->of(r);
      const NpuId built{folding->representative(r)};
      system_->for_each_link_as(NpuId{r}, built, c == nullptr ? 0 : c->exchanges, add_link);
    }
    system_->for_each_switch_link(add_link);
    for (const graph::Folding::Class& c : folding->classes()) {
      const uint64_t others = c.ranks.size() - 1;
      const Nmu& nmu = system_->nmu(c.representative());
      result.messages += others * nmu.messages_delivered();
      result.out_of_order_starts += others * nmu.engine().out_of_order_starts();
      result.memory_bytes += others * system_->memory_bytes(c.representative());
    }
  }
  const auto overrun =
      std::max_element(result.links.begin(), result.links.end(),
                       [](const LinkRow& a, const LinkRow& b) { return a.overruns < b.overruns; });
  if (overrun != result.links.end() && overrun->overruns != 0) {
    uint64_t all = 0;
    for (const LinkRow& row : result.links) all += row.overruns;
    result.warnings.push_back(
        fmt::format("priority flow control: {} packets found a full buffer without having been paused (most, "
                    "{}, on {}); a lossless link would have dropped them, here they waited. Lower "
                    "`packet.pfc_xoff` or enlarge `packet.buffer_flits` (see `overruns` in links.csv)",
                    all, overrun->overruns, overrun->name));
  }
  result.broken_invariants = system_->check_conservation();
  result.data_collectives = data_collectives_;
  result.data_elements = data_elements_;
  result.broken_invariants.insert(result.broken_invariants.end(), wrong_data_.begin(), wrong_data_.end());
  if (wrong_lines_ > kLines) {
    result.broken_invariants.push_back(
        fmt::format("{} further messages delivered wrong data", wrong_lines_ - kLines));
  }
  if (wrong_streams_.size() > kLines) {
    result.broken_invariants.push_back(
        fmt::format("{} further collectives delivered wrong data", wrong_streams_.size() - kLines));
  }
  for (const CollectiveRow& row : result.collectives) {
    if (row.members_done == row.ranks && row.time() < row.lower_bound) {
      result.broken_invariants.push_back(fmt::format(
          "collective {} ({}, {} B, group `{}`) took {} ps, less than its physical lower bound of {} ps",
          row.stream, to_string(row.op), row.bytes, row.group, row.time(), row.lower_bound));
    }
  }
  for (const RankRow& rank : result.ranks) {
    if (rank.time.total() != result.time) {
      result.broken_invariants.push_back(
          fmt::format("rank {}: the categories add up to {} ps, the job took {} ps", rank.rank,
                      rank.time.total(), result.time));
    }
  }
  result.warnings.insert(result.warnings.end(), system_->warnings().begin(), system_->warnings().end());
  for (std::string& line : unmatched_rules()) result.warnings.push_back(std::move(line));
  for (std::string& line : slot_warnings(result.out_of_order_starts))
    result.warnings.push_back(std::move(line));
}

std::vector<std::string> Job::slot_warnings(uint64_t beyond) const {
  std::vector<std::string> lines;
  // What the last resort has started is told by its own line.
  beyond -= std::min(beyond, rescues_.chunks);
  if (beyond != 0) {
    lines.push_back(
        fmt::format("{} chunks were started beyond collectives.active_chunks_per_dimension, because ranks in "
                    "unequal situations had chosen different chunks and waited for each other",
                    beyond));
  }
  if (rescues_.times != 0) {
    lines.push_back(fmt::format(
        "nothing in the machine moved any more ({} time{}, first at {} ps, last at {} ps), and {} chunks "
        "that waited "
        "for a slot were then started beyond collectives.active_chunks_per_dimension: ranks wait in a circle "
        "of "
        "slots and of messages or dependencies of the workload, so times depend on work that is unrelated; "
        "raise "
        "collectives.active_chunks_per_dimension, or let all ranks reach collectives in one order",
        rescues_.times, rescues_.times == 1 ? "" : "s", rescues_.first, rescues_.last, rescues_.chunks));
  }
  return lines;
}

std::vector<std::string> Job::slot_warnings() const {
  return slot_warnings(system_->totals().out_of_order_starts);
}

void Job::add_fidelity_results(RunResult& result, const std::vector<uint64_t>& sends) const {
  const graph::FidelityRules& rules = system_->fidelity();
  if (!rules.any()) return;
  const auto count = static_cast<uint32_t>(config_.fidelity_rules.size());
  result.fidelity_uses.resize(count + size_t{1});
  for (uint32_t i = 0; i < count; ++i) {
    result.fidelity_uses[i + size_t{1}] = {i, 0, i < sends.size() ? sends[i] : 0};
  }
  for (const CollectiveRow& row : result.collectives) {
    const bool ruled = row.fidelity_rule != graph::FidelityRules::kNone;
    FidelityUse& use = result.fidelity_uses[ruled ? row.fidelity_rule + size_t{1} : 0];
    ++use.collectives;
    if (ruled) use.messages += row.messages;
  }
  uint64_t of_rules = 0;
  for (uint32_t i = 0; i < count; ++i) of_rules += result.fidelity_uses[i + size_t{1}].messages;
  result.fidelity_uses[0].messages = result.messages - std::min(result.messages, of_rules);
}

std::vector<std::string> Job::unmatched_rules() const {
  std::vector<std::string> lines = rules_->unmatched();
  for (std::string& line : system_->fidelity().unmatched()) lines.push_back(std::move(line));
  return lines;
}

CollectiveJob::CollectiveJob(const char* name, const Config& config, vcd::Waves* waves, bool folded,
                             std::shared_ptr<collectives::PlanBuilder> plans)
    : Job(name, config, options(waves, folded), std::move(plans)) {}

std::string CollectiveJob::not_foldable(collectives::PlanBuilder& plans, CollectiveOp op, uint64_t bytes) {
  const Config& config = plans.config();
  if (std::string why = graph::folding_refusal(config); !why.empty()) return why;
  if (graph::FidelityRules(config).may_lift(op)) return "a fidelity rule may be for it";
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
  const auto plan = plans_->plan(request);
  const auto stream = static_cast<uint32_t>(rows_.size() + 1);
  rows_.push_back(make_row(config_, *plan, stream, [&] { return where; }));
  const uint32_t rule = system_->fidelity().for_collective(op, sc_core::sc_time_stamp().value());
  const uint8_t plane = system_->fidelity().plane_of(rule);
  rows_.back().fidelity_rule = rule;
  if (system_->folded()) {
    const std::string why =
        system_->data() != nullptr ? std::string("its messages carry data") : plan->asymmetry(config_);
    if (!why.empty())
      throw std::logic_error("a folded job was given a collective that does not fold: " + why);
    system_->nmu(0).start_collective(stream, plan);
    return;
  }
  for (uint32_t r = 0; r < system_->npus(); ++r) system_->nmu(r).start_collective(stream, plan, 0, plane);
}

bool CollectiveJob::finished() const {
  return std::all_of(rows_.begin(), rows_.end(),
                     [](const CollectiveRow& r) { return r.members_done == r.ranks; });
}

uint64_t CollectiveJob::done_count() const {
  uint64_t done = 0;
  for (const CollectiveRow& row : rows_) done += row.members_done;
  return done;
}

uint64_t CollectiveJob::total_count() const {
  return rows_.size() * system_->npus();
}

void CollectiveJob::collective_done(NpuId rank, const collectives::CollectiveDone& done) {
  CollectiveRow& row = rows_[done.stream - 1];
  // A folded job hears of rank 0 and counts it for all.
  for (uint32_t i = system_->folded() ? system_->npus() : 1; i > 0; --i) record(rank, done, row);
}

void CollectiveJob::message_injected(NpuId, NpuId, const MessageId&) {}
void CollectiveJob::message_arrived(NpuId, const Completion&) {}

std::string CollectiveJob::stall_report() const {
  std::string report =
      fmt::format("stalled at {} ps: nothing moves any more and {} of {} ranks have not finished\n",
                  sc_core::sc_time_stamp().value(), total_count() - done_count(), total_count());
  uint32_t shown = 0;
  const uint32_t built = system_->folded() ? 1 : system_->npus();
  for (uint32_t r = 0; r < built && shown < 16; ++r) {
    for (const std::string& line : system_->nmu(r).engine().describe_waits(4)) {
      report += fmt::format("  rank {}: {}\n", r, line);
      ++shown;
    }
  }
  for (const std::string& line : system_->describe_unit_waits(kUnitLines)) report += "  " + line + "\n";
  return report + system_->explain_stall();
}

RunResult CollectiveJob::result() const {
  RunResult result;
  result.collectives = rows_;
  for (const CollectiveRow& row : rows_) {
    if (row.members_done != 0) result.time = std::max(result.time, row.finished);
    result.lower_bound = std::max(result.lower_bound, row.lower_bound);
  }
  result.folded = system_->folded();
  add_machine_results(result);
  if (result.folded) result.messages *= system_->npus();
  add_fidelity_results(result, {});
  return result;
}

TraceJob::TraceJob(const char* name, const Config& config, const trace::JobTrace& traces, vcd::Waves* waves,
                   bool fold)
    : TraceJob(name, config,
               std::make_unique<graph::CheckedJob>(
                   config, traces, graph::fold_job(config, traces, waves != nullptr && waves->on(), fold)),
               waves) {}

TraceJob::TraceJob(const char* name, const Config& config, std::unique_ptr<graph::CheckedJob> checked,
                   vcd::Waves* waves)
    : Job(name, config, options(waves, checked->folding()), checked->plans(), checked->rules()),
      checked_(std::move(checked)),
      folding_(checked_->folding()),
      traces_(checked_->traces()),
      groups_(checked_->groups()),
      row_of_(traces_.collectives().size()),
      feeders_(traces_.npus()) {
  if (system_->data() != nullptr) p2p_data_ = std::make_unique<collectives::P2pData>(*system_->data());
  for (uint32_t r = 0; r < system_->npus(); ++r) {
    if (!folding_.built(r)) continue;
    feeders_[r] = traces_.feeder(r);
    system_->npu(r).load(*feeders_[r], *this, &layers_);
    if (folding_.of(r) == nullptr && folding_.along_dimensions(r) && after_starts_ == nullptr) {
      after_starts_ = std::make_unique<SettledCall>(fmt::format("{}_starts", name).c_str(),
                                                    InstantPart::starts, [this] { start_held(); });
    }
  }
}

TraceJob::~TraceJob() = default;

void TraceJob::start() {
  for (uint32_t r = 0; r < system_->npus(); ++r) {
    if (folding_.built(r)) system_->npu(r).start();
  }
}

bool TraceJob::finished() const {
  for (uint32_t r = 0; r < system_->npus(); ++r) {
    if (folding_.built(r) && !system_->npu(r).finished()) return false;
  }
  return true;
}

uint64_t TraceJob::done_count() const {
  uint64_t done = 0;
  for (uint32_t r = 0; r < feeders_.size(); ++r) {
    if (feeders_[r]) done += feeders_[r]->finished_count() * folding_.times(r);
  }
  return done;
}

uint64_t TraceJob::total_count() const {
  return traces_.node_count();
}

CollectiveRow& TraceJob::start_row(uint32_t rank, trace::GroupId group, const trace::Node& node,
                                   const collectives::CollectivePlan& plan) {
  // A line of a dimension-restricted collective of all ranks is a collective of its own, but shares the plan
  // and needs no number of its own: its messages stay on the line.
  const uint32_t stream = traces_.collectives().number(group, node.ordinal);
  uint32_t& position = row_of_[stream - 1];
  if (position == 0) {
    rows_.push_back(make_row(config_, plan, stream, [&] {
      return fmt::format("{}: rank {}, node {} (`{}`)", traces_.index(rank).path(), rank, node.id, node.name);
    }));
    CollectiveRow& fresh = rows_.back();
    fresh.group = groups_[group].name;
    fresh.name = node.name;
    fresh.fidelity_rule =
        system_->fidelity().for_collective(node, groups_[group].name, sc_core::sc_time_stamp().value());
    named_by_.push_back(rank);
    position = static_cast<uint32_t>(rows_.size());
  } else if (rank < named_by_[position - 1]) {
    named_by_[position - 1] = rank;
    rows_[position - 1].name = node.name;
  }
  return rows_[position - 1];
}

std::vector<CollectiveRow> TraceJob::sorted_rows() const {
  std::vector<CollectiveRow> rows = rows_;
  std::sort(rows.begin(), rows.end(), [](const CollectiveRow& a, const CollectiveRow& b) {
    return a.started != b.started ? a.started < b.started : a.stream < b.stream;
  });
  return rows;
}

void TraceJob::start_collective(uint32_t rank, const trace::Node& node) {
  int32_t priority = 0;
  const collectives::CollectiveRequest wanted = checked_->request(rank, node, &priority);
  const auto plan = plans_->plan(wanted);
  const CollectiveRow& own = start_row(rank, wanted.group->id, node, *plan);
  const uint32_t number = own.stream;
  const uint8_t plane = system_->fidelity().plane_of(own.fidelity_rule);
  if (const auto* c = folding_.of(rank)) {
    for (const auto& share : c->like(wanted.group->id)) start_row(rank, share.group, node, *plan);
  }
  running_[key(rank, number)] = {node.index, wanted.group->id, node.ordinal};
  if (const auto before = held_of_.find(rank); before != held_of_.end()) {
    // Not alone: both in messages, in this order.
    Held& held = held_[before->second];
    system_->nmu(rank).start_collective(held.stream, std::move(held.plan), held.priority);
    held_of_.erase(before);
  } else if (after_starts_ && folding_.of(rank) == nullptr && folding_.along_dimensions(rank) && plane == 0 &&
             !plan->empty() && system_->npu(rank).engine()->active() == 1 &&
             mirrorable(*plan).dimensions != 0) {
    held_of_[rank] = held_.size();
    held_.push_back({rank, number, node.index, priority, plan});
    after_starts_->request();
    return;
  }
  system_->nmu(rank).start_collective(number, plan, priority, plane);
}

const TraceJob::Mirrorable& TraceJob::mirrorable(const collectives::CollectivePlan& plan) {
  const auto [it, fresh] = mirrorable_.try_emplace(&plan);
  Mirrorable& result = it->second;
  if (!fresh) return result;
  // Whether ranks take turns between kinds of phases is told by what they ran before, which the others of
  // such a collective would not have run.
  if (config_.collectives.dimension_scheduling == DimensionScheduling::rg) return result;
  if (!plan.asymmetry(config_).empty() || !plan.ties(config_).empty()) return result;
  const auto images = plan.link_images(config_);
  if ((images.exchanges & images.shifts) != 0) return result;
  for (const collectives::Axis& axis : plan.axes()) {
    // Others of the line may send along it.
    if (!axis.values.empty()) return result = Mirrorable{};
    result.dimensions |= 1u << axis.dimension;
    result.members *= axis.size;
  }
  result.exchanges = images.exchanges;
  return result;
}

void TraceJob::start_held() {
  const std::vector<Held> held = std::move(held_);
  held_.clear();
  // By collective and line; of a line by rank.
  std::map<std::pair<uint32_t, uint32_t>, std::vector<const Held*>> lines;
  for (const Held& start : held) {
    if (start.plan == nullptr) continue;  // it has not stayed alone
    uint32_t base = start.rank;
    for (const collectives::Axis& axis : start.plan->axes()) {
      base -= base / axis.stride % axis.size * axis.stride;
    }
    lines[{start.stream, base}].push_back(&start);
  }
  held_of_.clear();
  for (auto& [where, members] : lines) {
    std::sort(members.begin(), members.end(), [](const Held* a, const Held* b) { return a->rank < b->rank; });
    if (start_mirrored(members)) continue;
    for (const Held* start : members) {
      system_->nmu(start->rank).start_collective(start->stream, start->plan, start->priority);
    }
  }
}

/// True: all members start now, none has anything else to do until the collective ends, and it was started on
/// the first of them for all.
bool TraceJob::start_mirrored(const std::vector<const Held*>& members) {
  const Held& first = *members.front();
  const Mirrorable& how = mirrorable(*first.plan);
  if (members.size() != how.members) return false;
  for (const Held* member : members) {
    if (!system_->npu(member->rank).engine()->only_active(member->node)) return false;
    if (!system_->nmu(member->rank).quiet(how.dimensions)) return false;
  }
  Mirrored part;
  for (const Held* member : members) part.ranks.push_back(member->rank);
  part.before = system_->links(first.rank);
  part.dimensions = how.dimensions;
  part.exchanges = how.exchanges;
  mirrored_[key(first.rank, first.stream)] = std::move(part);
  system_->nmu(first.rank).start_mirrored(first.stream, first.plan);
  return true;
}

void TraceJob::mirrored_done(NpuId rank, const collectives::CollectiveDone& done, const Mirrored& part) {
  CollectiveRow& of = row(done.stream);
  system_->nmu(index(rank)).end_mirrored(done.stream);
  for (const uint32_t member : part.ranks) {
    if (member != index(rank)) {
      system_->adopt_links(member, index(rank), part.before, part.dimensions, part.exchanges);
      mirrored_messages_ += done.messages;
    }
    record(NpuId{member}, done, of);
    ++of.folded_members;
    const auto it = running_.find(key(member, done.stream));
    const trace::NodeIndex node = it->second.node;
    running_.erase(it);
    system_->npu(member).collective_done(node);
  }
}

void TraceJob::collective_done(NpuId rank, const collectives::CollectiveDone& done) {
  if (const auto mirrored = mirrored_.find(key(index(rank), done.stream)); mirrored != mirrored_.end()) {
    const Mirrored part = std::move(mirrored->second);
    mirrored_.erase(mirrored);
    mirrored_done(rank, done, part);
    return;
  }
  const auto it = running_.find(key(index(rank), done.stream));
  const Running part = it->second;
  running_.erase(it);
  if (const auto* c = folding_.of(index(rank))) {
    for (const auto& share : c->like(part.group)) {
      CollectiveRow& of = row(traces_.collectives().number(share.group, part.ordinal));
      for (uint32_t i = 0; i < share.ranks; ++i) record(rank, done, of);
      of.folded_members += share.ranks;
    }
  } else {
    record(rank, done, row(done.stream));
  }
  system_->npu(index(rank)).collective_done(part.node);
}

void TraceJob::message_injected(NpuId rank, NpuId destination, const MessageId& id) {
  system_->npu(index(rank)).message_injected(destination, id);
}

uint8_t TraceJob::send_plane(const trace::Node& node) {
  graph::FidelityRules& rules = system_->fidelity();
  if (!rules.any()) return 0;
  const uint32_t rule = rules.for_message(node, sc_core::sc_time_stamp().value());
  if (rule == graph::FidelityRules::kNone) return 0;
  ruled_sends_.resize(config_.fidelity_rules.size(), 0);
  ++ruled_sends_[rule];
  return rules.plane_of(rule);
}

uint32_t TraceJob::send_data(uint32_t rank, NpuId destination, const MessageId& id, uint64_t bytes) {
  return p2p_data_ ? p2p_data_->load(rank, index(destination), id, bytes) : kNoData;
}

void TraceJob::message_arrived(NpuId rank, const Completion& completion) {
  if (p2p_data_) {
    const std::string wrong = p2p_data_->check(index(rank), completion);
    if (!wrong.empty()) note_wrong_data(wrong);
  }
  system_->npu(index(rank)).message_arrived(completion);
}

std::string TraceJob::stall_report() const {
  constexpr size_t kLinesARank = 6;
  constexpr uint32_t kRanks = 8;
  std::string report;
  uint32_t stalled = 0;
  std::map<uint32_t, std::vector<uint32_t>> waits;  // rank -> ranks it waits for
  for (uint32_t r = 0; r < system_->npus(); ++r) {
    if (!folding_.built(r)) continue;
    const Npu& npu = system_->npu(r);
    if (npu.finished()) continue;
    stalled += folding_.times(r);
    for (const graph::Stall& stall : npu.engine()->describe_stall(kLinesARank)) {
      if (stall.waits_for == graph::Stall::WaitsFor::receive ||
          stall.waits_for == graph::Stall::WaitsFor::send) {
        waits[r].push_back(stall.peer);
      }
      if (stalled <= kRanks) report += "  " + stall.text + "\n";
    }
    if (stalled > kRanks) continue;
    for (const std::string& line : system_->nmu(r).engine().describe_waits(kLinesARank)) {
      report += fmt::format("  rank {}: {}\n", r, line);
    }
    for (const auto& unmatched : npu.matcher().unmatched(kLinesARank)) report += "  " + unmatched.text + "\n";
  }
  for (const std::string& line : system_->describe_unit_waits(kUnitLines)) report += "  " + line + "\n";
  // Members of a collective that have reached it wait for those that have not.
  for (const CollectiveRow& row : sorted_rows()) {
    if (row.members_done == row.ranks) continue;
    std::string missing;
    uint32_t named = 0;
    std::vector<uint32_t> absent;
    std::vector<uint32_t> present;
    for (const auto& group : groups_) {
      if (group.name != row.group) continue;
      const uint32_t size = group.size(system_->npus());
      for (uint32_t i = 0; i < size; ++i) {
        const uint32_t rank = group.ranks.empty() ? i : group.ranks[i];
        if (!folding_.built(rank)) continue;
        (running_.count(key(rank, row.stream)) != 0 ? present : absent).push_back(rank);
      }
      break;
    }
    for (const uint32_t rank : present) waits[rank].insert(waits[rank].end(), absent.begin(), absent.end());
    for (const uint32_t rank : absent) {
      if (system_->npu(rank).finished() || row.members_done != 0) continue;
      missing += fmt::format("{}{}", named == 0 ? "" : ", ", rank);
      if (++named == 8) break;
    }
    if (named != 0) {
      report +=
          fmt::format("  collective {} (`{}`, {} of {} B, group `{}`): rank(s) {} have not reached it\n",
                      row.stream, row.name, to_string(row.op), row.bytes, row.group, missing);
    }
  }
  // Follow the first wait of each rank: a chain, and the cycle if it closes.
  for (const auto& start : waits) {
    std::vector<uint32_t> chain{start.first};
    for (;;) {
      const auto next = waits.find(chain.back());
      if (next == waits.end() || next->second.empty()) break;
      const uint32_t rank = next->second.front();
      const auto seen = std::find(chain.begin(), chain.end(), rank);
      if (seen != chain.end()) {
        report += "  cycle: rank ";
        for (auto it = seen; it != chain.end(); ++it) report += fmt::format("{} waits for rank ", *it);
        report += fmt::format("{}\n", rank);
        chain.clear();
        break;
      }
      chain.push_back(rank);
    }
    if (chain.empty()) break;
  }
  return fmt::format(
             "stalled at {} ps: nothing moves any more and {} of {} ranks have not finished ({} of {} "
             "nodes)\n",
             sc_core::sc_time_stamp().value(), stalled, system_->npus(), done_count(), total_count()) +
         report + system_->explain_stall();
}

RunResult TraceJob::result() const {
  RunResult result;
  for (uint32_t r = 0; r < system_->npus(); ++r) {
    if (!folding_.built(r)) continue;
    result.time = std::max(result.time, system_->npu(r).engine()->finished_at());
    ++result.simulated_ranks;
  }
  if (!finished()) result.time = std::max<Picoseconds>(result.time, sc_core::sc_time_stamp().value());
  uint64_t costless = 0;
  std::vector<std::pair<const graph::RankEngine*, uint32_t>> engines;
  for (uint32_t r = 0; r < system_->npus(); ++r) {
    const graph::RankEngine& engine = *system_->npu(folding_.representative(r)).engine();
    result.ranks.push_back({r, engine.categories(result.time), engine.finished_at()});
    costless += engine.costless_nodes();
    if (folding_.built(r)) engines.emplace_back(&engine, folding_.times(r));
  }
  if (p2p_data_) result.data_messages = p2p_data_->messages();
  result.collectives = sorted_rows();
  result.layers = layer_rows(layers_, engines, result.collectives, result.time);
  result.nodes = total_count();
  result.lower_bound = checked_->lower_bound();
  for (const CollectiveRow& row : rows_) {
    if (row.members_done == row.ranks) result.lower_bound = std::max(result.lower_bound, row.lower_bound);
  }
  result.upper_bound = checked_->upper_bound();
  result.warnings = checked_->warnings();
  if (costless != 0) {
    result.warnings.push_back(
        fmt::format("{} COMP nodes have neither a recorded duration nor num_ops or tensor_size "
                    "(or npu.peak and npu.memory_bandwidth are off): they took no time",
                    costless));
  }
  add_machine_results(result, &folding_);
  for (const CollectiveRow& row : rows_) result.folded_collectives += row.folded_members == row.ranks ? 1 : 0;
  result.messages += mirrored_messages_;
  add_fidelity_results(result, ruled_sends_);
  result.folded =
      result.folded_collectives == rows_.size() && (!rows_.empty() || !folding_.classes().empty());
  result.unfolded = folding_.reasons();
  if (finished() && result.time < checked_->lower_bound()) {
    result.broken_invariants.push_back(fmt::format("the job took {} ps, less than its lower bound of {} ps",
                                                   result.time, checked_->lower_bound()));
  }
  // The upper bound is that of the dimensions' own fidelities.
  if (finished() && result.time > checked_->upper_bound() && system_->fidelity().planes() == 1) {
    result.warnings.push_back(fmt::format(
        "the job took {} ps, more than all its operations one after the other ({} ps); that bound "
        "should hold whatever the contention: please report it with effective.yaml and the traces",
        result.time, checked_->upper_bound()));
  }
  return result;
}

}  // namespace weft
