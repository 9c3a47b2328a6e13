// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/trace_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "configs/printable.h"
#include "workload/job/layer_rows.h"

namespace weft {

Machine::Options TraceJob::machine_options(const graph::CheckedJob& checked, vcd::ProbeHub* probes) {
  Machine::Options options = machine_options(probes);
  options.footprint = follows_tensors(checked);
  if (!checked.ranks().whole()) return options;
  options.mirrored = checked.folding().representatives();
  options.whole = checked.folding().whole();
  options.images = checked.folding().images();
  options.joined = checked.folding().joined();
  return options;
}

Machine::Options TraceJob::machine_options(vcd::ProbeHub* probes) {
  Machine::Options options;
  options.npus = true;
  options.probes = probes;
  return options;
}

bool TraceJob::follows_tensors(const graph::CheckedJob& checked) {
  for (uint32_t r = 0; r < checked.traces().npus(); ++r)
    if (JobFootprint::follows(checked.traces().index(r), checked.config())) return true;
  return false;
}

TraceJob::TraceJob(Machine& machine, std::unique_ptr<graph::CheckedJob> checked, bool in_parts)
    : Job(machine, checked->plans(), checked->rules()),
      checked_(std::move(checked)),
      folding_(checked_->folding()),
      traces_(checked_->traces()),
      ranks_(checked_->ranks()),
      groups_(checked_->groups()),
      first_stream_(machine.take_streams(traces_.collectives().size())),
      orders_(config_.collectives.scheduling),
      row_of_(traces_.collectives().size()),
      feeders_(traces_.npus()) {
  check_machine();
  // Rows are large: a vector that grows holds them twice while it moves them.
  if (folding_.classes().empty()) rows_.reserve(static_cast<size_t>(std::ceil(checked_->size().collectives)));
  if (machine_.data() != nullptr) p2p_data_ = std::make_unique<collectives::P2pData>(*machine_.data());
  for (uint32_t r = 0; r < ranks_.ranks(); ++r) {
    if (!simulated(r)) continue;
    feeders_[r] = traces_.feeder(r);
    npu(r).load(*feeders_[r], *this, ranks_, &layers_);
    if (mirrored_ == nullptr && !in_parts && MirroredStarts::fit(config_) && ranks_.whole() &&
        folding_.of(r) == nullptr && folding_.along_dimensions(r))
      mirrored_ = std::make_unique<MirroredStarts>(machine_);
  }
  if (config_.packet.sampling.enabled) {
    if (!ranks_.whole() || !folding_.classes().empty())
      throw std::logic_error("collectives of a job that shares its machine, or folds, are not sampled");
    sampled_ = std::make_unique<SampledCollectives>(
        "sampled_collectives", config_, groups_,
        [this](uint32_t rank, const collectives::CollectiveDone& done) { collective_done(rank, done); },
        machine_.causes());
  }
  if (mirrored_ == nullptr && sampled_ == nullptr && origin_ == 0 && ranks_.whole() &&
      folding_.has_own_links() && RepeatedCollectives::fit(machine_))
    find_repeating();
  if (config_.run.footprint != "off") follow_tensors();
  before_ = counted();
}

/// Groups with links of their own whose members are all in this part of the machine.
void TraceJob::find_repeating() {
  repeating_.resize(traces_.groups().size());
  for (trace::GroupId g = 0; g < repeating_.size(); ++g) {
    const std::vector<uint32_t>& members = traces_.groups().ranks(g);
    repeating_[g] = folding_.has_own_links(g) &&
                    std::all_of(members.begin(), members.end(), [this](uint32_t r) { return simulated(r); });
  }
  repeats_ = std::make_unique<RepeatedCollectives>(
      machine_,
      [this](uint32_t rank, const collectives::CollectiveDone& done) { collective_done(rank, done); });
}

bool TraceJob::listen(uint32_t rank, graph::NodeListener& listener) {
  if (footprint_.of(rank) != nullptr) return false;
  npu(rank).set_listener(&listener);
  return true;
}

void TraceJob::follow_tensors() {
  for (uint32_t r = 0; r < ranks_.ranks(); ++r) {
    if (!simulated(r)) continue;
    Footprint* const own =
        footprint_.follow(traces_.index(r), config_, [this, r](const trace::Node& node) -> uint64_t {
          const auto plan = plans_->plan(checked_->request(r, node));
          return result_bytes(node.op, node.comm_size, plan->members());
        });
    if (own == nullptr) continue;
    npu(r).set_listener(own);
    if (npu(r).shows_footprint())
      own->on_change([this, r](Picoseconds now, uint64_t bytes) { npu(r).show_footprint(now, bytes); });
  }
}

std::vector<FootprintRow> TraceJob::footprint_rows(Picoseconds end) const {
  std::vector<FootprintRow> rows;
  for (uint32_t r = 0; r < ranks_.ranks(); ++r) {
    const Footprint* const own = footprint_.of(folding_.representative(r));
    if (own == nullptr) continue;
    rows.push_back(own->row(end));
    rows.back().rank = r;
  }
  return rows;
}

void TraceJob::add_footprint(RunResult& result) const {
  std::string text = over_capacity_text(result.footprint);
  if (text.empty()) return;
  if (config_.hbm.over_capacity == "error")
    result.over_capacity = std::move(text);
  else if (config_.hbm.over_capacity == "warn")
    result.warnings.push_back(text + "; `hbm.over_capacity` can make this an error, or silent");
}

/// Before anything is attached, so that nothing is left attached when it throws.
void TraceJob::check_machine() const {
  if (!folding_.classes().empty() && !ranks_.whole())
    throw std::logic_error("a job on a part of a machine does not fold");
  if (machine_.mirrored() != folding_.representatives())
    throw std::logic_error("the machine was built for a job that folds otherwise");
  for (uint32_t r = 0; r < ranks_.ranks(); ++r) {
    if (!simulated(r)) continue;
    if (!machine_.built(ranks_.npu(r)))
      throw std::logic_error(fmt::format("rank {} has no NPU: the machine was built for another job", r));
    if (npu(r).loaded()) throw std::logic_error(fmt::format("{} has a job already", npu(r).name()));
  }
}

TraceJob::~TraceJob() {
  for (uint32_t r = 0; r < ranks_.ranks(); ++r) {
    if (simulated(r)) npu(r).unload();
  }
}

Job::Counts TraceJob::counted() const {
  Counts counts;
  for (uint32_t r = 0; r < ranks_.ranks(); ++r) {
    if (simulated(r)) count(counts, ranks_.npu(r), folding_.times(r));
  }
  return counts;
}

void TraceJob::start() {
  for (uint32_t r = 0; r < ranks_.ranks(); ++r) {
    if (simulated(r) && (splitting_ == nullptr || splitting_->begins(r))) npu(r).start();
  }
}

bool TraceJob::finished() const {
  for (uint32_t r = 0; r < ranks_.ranks(); ++r) {
    if (simulated(r) && !npu(r).finished()) return false;
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
  const uint32_t number = traces_.collectives().number(group, node.ordinal);
  uint32_t& position = row_of_[number - 1];
  if (position == 0) {
    const Picoseconds now = sc_core::sc_time_stamp().value();
    rows_.push_back(make_row(config_, plan, number, now - origin_, [&] {
      return fmt::format("{}: rank {}, node {} (`{}`)", traces_.index(rank).path(), rank, node.id,
                         printable(node.name));
    }));
    CollectiveRow& fresh = rows_.back();
    fresh.group = groups_[group].name;
    fresh.name = node.name;
    fresh.fidelity_rule = machine_.fidelity().for_collective(node, groups_[group].name, now);
    if (machine_.library() != nullptr) {
      library::LibraryCalls& calls = machine_.library()->calls();
      const library::LibraryPlan& work = calls.plan(plan, ranks_.npu(rank));
      tell_library_plan(work, work.time(calls.parameters()), fresh);
    }
    named_by_.push_back(rank);
    position = static_cast<uint32_t>(rows_.size());
    if (splitting_ != nullptr) splitting_->collective_begins(group);
  } else if (rank < named_by_[position - 1]) {
    named_by_[position - 1] = rank;
    rows_[position - 1].name = node.name;
  }
  return rows_[position - 1];
}

/// The group among these that the collective is of. Collectives are numbered group by group.
static trace::GroupId group_of(const trace::CollectiveNumbers& numbers,
                               const std::vector<trace::GroupId>& groups, uint32_t number) {
  const auto first = [&](trace::GroupId group) {
    const uint32_t of_group = numbers.number(group, 0);
    return of_group <= number ? of_group : 0;
  };
  return *std::max_element(groups.begin(), groups.end(),
                           [&](trace::GroupId a, trace::GroupId b) { return first(a) < first(b); });
}

namespace {

/// A row of the results. Rows are large and far apart: these are sorted in their place.
struct RowPlace {
  Picoseconds started;
  uint32_t stream;
  uint32_t row;
  trace::GroupId group;

  bool operator<(const RowPlace& other) const {
    return started != other.started ? started < other.started : stream < other.stream;
  }
};
constexpr trace::GroupId kOwn = ~trace::GroupId{0};  ///< the group that the row is of

}  // namespace

JobPart::Collectives TraceJob::collectives() const {
  std::vector<RowPlace> places;
  places.reserve(rows_.size());
  for (uint32_t i = 0; i < rows_.size(); ++i) {
    const auto* const c = folding_.of(named_by_[i]);
    if (c == nullptr) {
      places.push_back({rows_[i].started, rows_[i].stream, i, kOwn});
      continue;
    }
    // The class' other groups have done the same.
    const trace::CollectiveNumbers& numbers = traces_.collectives();
    const trace::GroupId own = group_of(numbers, c->own, rows_[i].stream);
    const uint32_t ordinal = rows_[i].stream - numbers.number(own, 0);
    for (const auto& share : c->like(own))
      places.push_back({rows_[i].started, numbers.number(share.group, ordinal), i, share.group});
  }
  std::sort(places.begin(), places.end());
  JobPart::Collectives all;
  all.rows.reserve(places.size());
  all.named_by.reserve(places.size());
  for (const RowPlace& place : places) {
    all.rows.push_back(rows_[place.row]);
    all.named_by.push_back(named_by_[place.row]);
    if (place.group == kOwn) continue;
    all.rows.back().stream = place.stream;
    all.rows.back().group = groups_[place.group].name;
  }
  return all;
}

JobPart::Collectives TraceJob::take_collectives() {
  if (!folding_.classes().empty()) return collectives();
  std::vector<RowPlace> places;
  places.reserve(rows_.size());
  for (uint32_t i = 0; i < rows_.size(); ++i) places.push_back({rows_[i].started, rows_[i].stream, i, kOwn});
  std::sort(places.begin(), places.end());
  // Cycle by cycle, in place: places[i].row is the row that belongs at i.
  for (uint32_t i = 0; i < places.size(); ++i) {
    if (places[i].row == i) continue;
    CollectiveRow first = std::move(rows_[i]);
    const auto first_named_by = named_by_[i];
    uint32_t at = i;
    while (places[at].row != i) {
      const uint32_t from = std::exchange(places[at].row, at);
      rows_[at] = std::move(rows_[from]);
      named_by_[at] = named_by_[from];
      at = from;
    }
    rows_[at] = std::move(first);
    named_by_[at] = first_named_by;
    places[at].row = at;
  }
  return {std::move(rows_), std::move(named_by_)};
}

std::optional<CollectiveStart> TraceJob::start_collective(uint32_t rank, const trace::Node& node) {
  CollectiveStart start;
  const collectives::CollectiveRequest wanted = checked_->request(rank, node, &start.priority);
  if (splitting_ != nullptr && !splitting_->starts(wanted.group->id)) return {};
  start.priority = orders_.priority(rank, node.order, start.priority);
  start.plan = plans_->plan(wanted);
  const CollectiveRow& own = start_row(rank, wanted.group->id, node, *start.plan);
  const uint32_t number = own.stream;
  start.stream = first_stream_ + number - 1;
  start.plane = machine_.fidelity().plane_of(own.fidelity_rule);
  running_[part_key(rank, number)] = {node.index, wanted.group->id, node.ordinal};
  if (machine_.library() != nullptr) {
    machine_.library()->start(
        {start.stream, ranks_.npu(rank), start.plan, start.plane, folding_.of(rank) != nullptr},
        [this, rank](const collectives::CollectiveDone& done) { collective_done(rank, done); });
    return {};
  }
  if (sampled_ && sampled_->start({start.stream, rank, start.plan, wanted.group->id})) return {};
  if (mirrored_ && !mirrored_->release(rank) && folding_.of(rank) == nullptr &&
      folding_.along_dimensions(rank) && mirrored_->hold(rank, node.index, start))
    return {};
  if (repeats_ && repeating_[wanted.group->id] && repeats_->hold(rank, start)) return {};
  return start;
}

/// The node's group; without one the ranks of the job.
PoolMembers TraceJob::pool_members(uint32_t, const trace::Node& node) {
  const trace::GroupId group = traces_.groups().find(node.pg_name).value_or(trace::kWorld);
  if (group == trace::kWorld && ranks_.whole()) return nullptr;
  PoolMembers& members = pool_members_[group];
  if (members == nullptr) {
    std::vector<uint32_t> npus;
    for (const uint32_t rank : traces_.groups().ranks(group)) npus.push_back(ranks_.npu(rank));
    std::sort(npus.begin(), npus.end());
    if (npus.size() == machine_.npus()) npus.clear();
    members = std::make_shared<const std::vector<uint32_t>>(std::move(npus));
  }
  return members;
}

void TraceJob::collective_done(uint32_t rank, const collectives::CollectiveDone& done) {
  const uint32_t number = done.stream - first_stream_ + 1;
  if (sampled_) sampled_->ended(rank, done);
  if (repeats_) repeats_->part_ended(rank, done);
  const auto finish = [&](uint32_t member) {
    const uint64_t key = part_key(member, number);
    const Running part = *running_.find(key);
    running_.erase(key);
    return part;
  };
  if (mirrored_) {
    const std::vector<uint32_t> members = mirrored_->end(rank, done);
    CollectiveRow& of = row(number);
    for (const uint32_t member : members) {
      book_.record(done, of);
      ++of.folded_members;
      npu(member).collective_done(finish(member).node);
    }
    if (!members.empty()) return;
  }
  const Running part = finish(rank);
  if (splitting_ != nullptr) splitting_->part_ends(part.group);
  if (const auto* c = folding_.of(rank)) {
    // One row for all groups of the class, until the results are told.
    const auto& shares = c->like(part.group);
    const auto own = std::find_if(shares.begin(), shares.end(),
                                  [&](const auto& share) { return share.group == part.group; });
    CollectiveRow& of = row(number);
    for (uint32_t i = 0; i < own->ranks; ++i) book_.record(done, of);
    of.folded_members += own->ranks;
  } else {
    book_.record(done, row(number));
  }
  npu(rank).collective_done(part.node);
}

uint8_t TraceJob::send_plane(const trace::Node& node) {
  graph::FidelityRules& rules = machine_.fidelity();
  if (!rules.any()) return 0;
  const uint32_t rule = rules.for_message(node, sc_core::sc_time_stamp().value());
  if (rule == graph::FidelityRules::kNone) return 0;
  ruled_sends_.resize(config_.fidelity_rules.size(), 0);
  ++ruled_sends_[rule];
  return rules.plane_of(rule);
}

SendStart TraceJob::start_send(uint32_t rank, const trace::Node& node, const MessageId& id) {
  SendStart start;
  if (splitting_ != nullptr) splitting_->sends(rank, node.peer);
  if (sampled_) sampled_->message_sent(rank, node.peer);
  if (p2p_data_) start.data = p2p_data_->load(rank, node.peer, id, node.comm_size);
  start.plane = send_plane(node);
  if (machine_.library() != nullptr)
    start.delay =
        machine_.library()->calls().send_delay(ranks_.npu(rank), ranks_.npu(node.peer), node.comm_size);
  return start;
}

void TraceJob::message_arrived(uint32_t rank, const Completion& completion) {
  if (splitting_ != nullptr) splitting_->arrived(rank);
  if (sampled_) sampled_->message_arrived(index(completion.source), rank);
  if (!p2p_data_) return;
  const std::string wrong = p2p_data_->check(rank, completion);
  if (!wrong.empty()) book_.note_wrong_message(wrong);
}

void TraceJob::tensor_loaded(uint32_t /*rank*/, uint64_t bytes, const std::string& wrong) {
  if (wrong.empty()) {
    ++tensors_;
    tensor_bytes_ += bytes;
  } else {
    book_.note_wrong_tensor(wrong);
  }
}

Picoseconds TraceJob::time() const {
  Picoseconds end = 0;
  for (uint32_t r = 0; r < ranks_.ranks(); ++r)
    if (simulated(r)) end = std::max(end, npu(r).engine()->finished_at());
  return finished() ? end : std::max<Picoseconds>(end, sc_core::sc_time_stamp().value() - origin_);
}

JobPart TraceJob::part_without_collectives(Picoseconds end) const {
  JobPart part;
  part.ranks.reserve(ranks_.ranks());
  std::vector<std::pair<const graph::RankEngine*, uint32_t>> engines;
  for (uint32_t r = 0; r < ranks_.ranks(); ++r) {
    const uint32_t representative = folding_.representative(r);
    if (!simulated(representative)) continue;
    const uint32_t told_from = splitting_ ? splitting_->stands_for(representative) : representative;
    const graph::RankEngine& engine = *npu(told_from).engine();
    part.ranks.push_back({r, engine.categories(end), engine.finished_at(), engine.communicating(end)});
    part.costless_nodes += engine.costless_nodes();
    if (r != representative) continue;
    ++part.simulated_ranks;
    engines.emplace_back(&engine, folding_.times(r));
  }
  const Counts counts = since(counted());
  part.messages =
      counts.messages + (mirrored_ ? mirrored_->messages() : 0) + (sampled_ ? sampled_->messages() : 0);
  part.out_of_order_starts = counts.out_of_order_starts;
  part.memory_bytes = counts.memory_bytes;
  if (repeats_) {
    part.repeated_collectives = repeats_->count();
    part.repeats_under_way = repeats_->under_way();
  }
  part.layers = layer_rows(layers_, engines, end);
  part.iterations = iteration_rows(layers_, engines, end);
  part.footprint = footprint_rows(end);
  part.unmatched_rules = unmatched_rules();
  return part;
}

JobPart TraceJob::part(Picoseconds end) const {
  JobPart part = part_without_collectives(end);
  part.collectives = collectives();
  return part;
}

RunResult TraceJob::own_result() const {
  const Picoseconds end = time();
  return own_result_of(part(end), end, finished());
}

RunResult TraceJob::take_own_result() {
  if (!finished()) return own_result();
  const Picoseconds end = time();
  JobPart part = part_without_collectives(end);
  part.collectives = take_collectives();
  return own_result_of(std::move(part), end, true);
}

RunResult TraceJob::own_result_of(JobPart&& parts, Picoseconds end, bool finished) const {
  RunResult result;
  result.time = end;
  result.simulated_ranks = parts.simulated_ranks;
  result.ranks = std::move(parts.ranks);
  result.messages = parts.messages;
  if (sampled_) result.sampled = sampled_->figures();
  result.out_of_order_starts = parts.out_of_order_starts;
  result.memory_bytes = parts.memory_bytes;
  if (p2p_data_) result.data_messages = p2p_data_->messages();
  result.data_tensors = tensors_;
  result.data_tensor_bytes = tensor_bytes_;
  result.collectives = std::move(parts.collectives.rows);
  result.layers = layer_rows(std::move(parts.layers), result.collectives);
  result.iterations = std::move(parts.iterations);
  result.nodes = total_count();
  result.warnings = checked_->warnings();
  if (result.sampled.given != 0 && result.out_of_order_starts != 0)
    result.warnings.push_back(fmt::format(
        "`packet.sampling`: {} chunks were started beyond the slots because ranks waited for each "
        "other, so that small differences can change which goes first: the job's time may be further "
        "off than the error told (docs/guide/sampled_collectives.md)",
        result.out_of_order_starts));
  if (parts.costless_nodes != 0) {
    result.warnings.push_back(
        fmt::format("{} COMP nodes have neither a recorded duration nor num_ops or tensor_size "
                    "(or npu.peak and npu.memory_bandwidth are off): they took no time",
                    parts.costless_nodes));
  }
  const auto& rows = result.collectives;
  for (const CollectiveRow& row : rows) result.folded_collectives += row.folded_members == row.ranks ? 1 : 0;
  result.repeated_collectives = parts.repeated_collectives;
  if (parts.repeats_under_way != 0)
    result.warnings.push_back(
        fmt::format("the run ended before {} repeated collectives did: their messages are not in the results "
                    "(--no-fold simulates each)",
                    parts.repeats_under_way));
  if (splitting_ != nullptr) {
    result.late_ranks = splitting_->late();
    result.split_at = splitting_->split_at() - origin_;
    if (splitting_->asleep() != 0)
      result.warnings.push_back(fmt::format(
          "the run ended while {} ranks were told from others (run.split): their collectives, messages "
          "and links are not in the results",
          splitting_->asleep()));
  }
  result.folded = result.folded_collectives == rows.size() && (!rows.empty() || !folding_.classes().empty());
  result.unfolded = folding_.reasons();
  add_findings(result);
  add_fidelity_results(result, ruled_sends_);
  add_bounds(result, finished);
  result.footprint = std::move(parts.footprint);
  add_footprint(result);
  return result;
}

void TraceJob::add_bounds(RunResult& result, bool finished) const {
  // The job's bounds are those of Weft's own NPUs and collectives.
  const bool own = !config_.replaces_modules() && !config_.collectives.library.on();
  if (own) result.lower_bound = checked_->lower_bound();
  for (const CollectiveRow& row : result.collectives) {
    if (row.members_done == row.ranks) result.lower_bound = std::max(result.lower_bound, row.lower_bound);
  }
  result.upper_bound = own ? checked_->upper_bound(result.out_of_order_starts) : kNever;
  if (!own) return;
  if (finished && result.time < checked_->lower_bound()) {
    result.broken_invariants.push_back(fmt::format("the job took {} ps, less than its lower bound of {} ps",
                                                   result.time, checked_->lower_bound()));
  }
  // The upper bound is that of the dimensions' own fidelities, and of a job that nobody else holds up.
  if (finished && result.time > result.upper_bound && machine_.fidelity().planes() == 1 && ranks_.whole()) {
    result.warnings.push_back(fmt::format(
        "the job took {} ps, more than all its operations one after the other ({} ps); that bound "
        "should hold whatever the contention: please report it with effective.yaml and the traces",
        result.time, result.upper_bound));
  }
}

}  // namespace weft
