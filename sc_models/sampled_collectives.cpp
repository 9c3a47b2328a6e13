// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/sampled_collectives.h"

#include <algorithm>

#include "configs/hash64.h"

namespace weft {
namespace {

constexpr double kShareInDoubt = 0.5;

Picoseconds now() {
  return sc_core::sc_time_stamp().value();
}

/// All members need something of all others, so that none ends before the last one starts.
bool of_all(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::all_reduce:
    case CollectiveOp::all_gather:
    case CollectiveOp::reduce_scatter:
    case CollectiveOp::all_to_all:
    case CollectiveOp::barrier:
      return true;
    default:
      return false;
  }
}

}  // namespace

SampledCollectives::SampledCollectives(sc_core::sc_module_name name, const Config& config,
                                       const std::vector<collectives::Group>& groups, Done done,
                                       insight::CausalLog* causes)
    : sc_module(name),
      config_(config),
      domains_(config),
      groups_(groups),
      done_(std::move(done)),
      causes_(causes),
      due_("due"),
      messages_(domains_.count()),
      streams_(domains_.count()) {
  figures_.on = true;
  SC_HAS_PROCESS(SampledCollectives);
  SC_METHOD(end_due);
  sensitive << due_;
  dont_initialize();
}

SampledCollectives::Kind& SampledCollectives::kind_of(const Part& part) {
  Kind*& known = kind_of_[{part.plan.get(), part.group}];
  if (known != nullptr) return *known;
  const collectives::Group& group = groups_[part.group];
  Kind& kind = *(known = &kinds_.emplace_back());
  kind.plan = part.plan;  // so that no other plan gets its address
  kind.group = part.group;
  kind.domains = domains_.of_group(group.ranks);
  kind.members = group.size(config_.npus());
  kind.sampled =
      part.plan->line_members() == kind.members && !part.plan->empty() && of_all(part.plan->request().op);
  return kind;
}

/// Is there enough to know, and is it not the turn of a sample? That is drawn for the collective's number.
bool SampledCollectives::worth(const Kind& kind, const Part& part, bool alone) const {
  if (!alone || !kind.sampled || !kind.times.known()) return false;
  const double drawn = unit_of(hash64(hash64(config_.run.seed) ^ part.stream));
  // A start unlike those of all samples may come again.
  const double share = config_.packet.sampling.share;
  return drawn >= (kind.times.doubtful() ? std::max(share, kShareInDoubt) : share);
}

SampledCollectives::Running& SampledCollectives::begin(const Part& part) {
  Kind& kind = kind_of(part);
  Running running;
  running.kind = &kind;
  running.alone = std::all_of(kind.domains.begin(), kind.domains.end(),
                              [&](uint32_t d) { return messages_[d] == 0 && streams_[d].empty(); });
  running.simulated = !worth(kind, part, running.alone);
  meet(kind.domains);
  for (const uint32_t d : kind.domains) streams_[d].push_back(part.stream);
  return running_[part.stream] = std::move(running);
}

bool SampledCollectives::start(const Part& part) {
  const auto at = running_.find(part.stream);
  Running& running = at != running_.end() ? at->second : begin(part);
  running.members.push_back({part.rank, now(), 0});
  running.last_start = now();
  if (running.simulated) return false;
  if (causes_ != nullptr) running.cause = causes_->because();
  if (running.members.size() == running.kind->members) give_times(part.stream, running);
  return true;
}

/// Puts the members in the order of their starts, those of one instant by rank.
SampledTimes::Times SampledCollectives::waits_of(Running& running) {
  std::sort(running.members.begin(), running.members.end(), [](const Member& a, const Member& b) {
    return a.started != b.started ? a.started < b.started : a.rank < b.rank;
  });
  SampledTimes::Times waits;
  for (const Member& member : running.members) waits.push_back(running.last_start - member.started);
  return waits;
}

/// The last member has started.
void SampledCollectives::give_times(uint32_t stream, Running& running) {
  const SampledTimes::Times ends = running.kind->times.give(waits_of(running));
  for (uint32_t m = 0; m < ends.size(); ++m) ends_.emplace(now() + ends[m], std::make_pair(stream, m));
  due_.notify(sc_core::sc_time::from_value(ends_.begin()->first - now()));
}

void SampledCollectives::end_due() {
  while (!ends_.empty() && ends_.begin()->first <= now()) {
    const auto [stream, m] = ends_.begin()->second;
    ends_.erase(ends_.begin());
    Running& running = running_.at(stream);
    const Member member = running.members[m];
    collectives::CollectiveDone done = running.kind->parts.at(member.rank);
    done.stream = stream;
    done.started = member.started;
    done.finished = now();
    figures_.messages += done.messages;
    if (given_of_.size() <= member.rank) given_of_.resize(member.rank + size_t{1}, 0);
    given_of_[member.rank] += now() - running.last_start;
    if (causes_ != nullptr) causes_->because(running.cause);
    running.last_end = now();
    if (++running.over == running.members.size()) over(stream, running);
    done_(member.rank, done);
  }
  if (!ends_.empty()) due_.notify(sc_core::sc_time::from_value(ends_.begin()->first - now()));
}

void SampledCollectives::ended(uint32_t rank, const collectives::CollectiveDone& done) {
  const auto at = running_.find(done.stream);
  if (at == running_.end() || !at->second.simulated) return;
  Running& running = at->second;
  const auto member = std::find_if(running.members.begin(), running.members.end(),
                                   [&](const Member& m) { return m.rank == rank; });
  member->ended = done.finished;
  running.last_end = std::max(running.last_end, done.finished);
  if (running.alone && running.kind->sampled) {
    collectives::CollectiveDone& part = running.kind->parts[rank];
    part = done;
    part.data = nullptr;
  }
  if (++running.over == running.kind->members) over(done.stream, running);
}

void SampledCollectives::over(uint32_t stream, Running& running) {
  Kind& kind = *running.kind;
  for (const uint32_t d : kind.domains) {
    std::vector<uint32_t>& streams = streams_[d];
    streams.erase(std::find(streams.begin(), streams.end(), stream));
  }
  if (!running.simulated) {
    ++figures_.given;
    if (running.met != kNever) {
      ++figures_.met;
      kind.times.met(running.last_end - std::max(running.met, running.last_start));
    }
  } else {
    ++figures_.simulated;
    if (running.alone && kind.sampled) {
      SampledTimes::Sample sample;
      sample.waits = waits_of(running);
      for (const Member& member : running.members)
        sample.ends.push_back(member.ended - std::min(member.ended, running.last_start));
      kind.times.add(std::move(sample));
    } else if (!running.alone) {
      ++figures_.with_others;
    }
  }
  running_.erase(stream);
}

/// Something begins in the domains: what is running there is not alone.
void SampledCollectives::meet(const std::vector<uint32_t>& domains) {
  for (const uint32_t d : domains) {
    for (const uint32_t stream : streams_[d]) {
      Running& running = running_.at(stream);
      running.alone = false;
      if (running.met == kNever) running.met = now();
    }
  }
}

void SampledCollectives::message_sent(uint32_t from, uint32_t to) {
  const std::vector<uint32_t> domains = domains_.of_message(from, to);
  meet(domains);
  for (const uint32_t d : domains) ++messages_[d];
}

void SampledCollectives::message_arrived(uint32_t from, uint32_t to) {
  for (const uint32_t d : domains_.of_message(from, to)) --messages_[d];
}

SampledFigures SampledCollectives::figures() const {
  SampledFigures figures = figures_;
  std::map<uint32_t, SampledError> groups;
  double most = 0;
  for (const Kind& kind : kinds_) {
    SampledError& of = groups[kind.group];
    of += kind.times.error();
    most = std::max(most, of.given);
  }
  // A group that was given little time has little to do with the run's.
  for (const auto& [group, error] : groups)
    if (error.given >= most / 10 && error.error() > figures.worst.error()) figures.worst = error;
  for (const Picoseconds time : given_of_) figures.time = std::max(figures.time, time);
  return figures;
}

}  // namespace weft
