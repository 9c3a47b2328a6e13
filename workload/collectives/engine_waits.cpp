// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The part of a collective engine that is about chunks that wait: what it tells SlotWaits, which starts that
// one decides, the last resort, and the report of a stall.

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "workload/collectives/engine.h"

namespace weft::collectives {

void CollectiveEngine::message_awaited(NpuId source, bool awaited) {
  if (waits_ == nullptr) return;
  if (awaited) {
    waits_->message_awaited(rank_, source, port_.now());
  } else {
    waits_->message_came(rank_, source, port_.now());
  }
}

void CollectiveEngine::adopt(const CollectiveEngine& like, const std::function<NpuId(NpuId)>& image) {
  for (size_t q = 0; q < queues_.size(); ++q) queues_[q].gathered_last = like.queues_[q].gathered_last;
  position_ = like.position_;
  issued_ = like.issued_;
  out_of_order_ = like.out_of_order_;
  if (waits_ == nullptr) return;
  for (const uint32_t source : waits_->awaited_by(index(like.rank_)))
    waits_->message_awaited(rank_, image(NpuId{source}), port_.now());
}

void CollectiveEngine::current_chunks(std::vector<CurrentChunk>& out) const {
  for (const auto& active : actives_) {
    if (active->unfinished == 0 || active->shared == nullptr) continue;
    const CollectivePlan& plan = *active->plan;
    for (uint32_t c = 0; c < active->chunks.size(); ++c) {
      const Chunk& chunk = active->chunks[c];
      if (chunk.status == Status::finished) continue;
      CurrentChunk current;
      current.phase = chunk.phase;
      if (chunk.status == Status::not_issued) {
        Chunk next = chunk;
        skip_phases(*active, next);
        current.phase = next.phase;
        current.state = CurrentChunk::State::not_issued;
      }
      if (current.phase == plan.phases().size()) continue;  // not issued, and it takes part in none
      if (chunk.decided || chunk.status == Status::starting || chunk.status == Status::running) {
        current.state = CurrentChunk::State::holds;
      }
      current.collective = active->shared;
      current.chunk = c;
      current.first_phase = chunk.first_phase;
      current.queue = plan.queue(c, current.phase);
      current.index = active->shared->index(active->views, c, current.phase);
      out.push_back(current);
    }
  }
}

void CollectiveEngine::start_beyond(const SharedCollective& collective, uint32_t chunk, Picoseconds at) {
  Active& active = *find(collective.stream());
  active.chunks[chunk].decided = true;
  skip_phases(active, active.chunks[chunk]);
  const Decided decided{at, collective.stream(), chunk, active.chunks[chunk].phase};
  decided_.insert(std::upper_bound(decided_.begin(), decided_.end(), decided,
                                   [](const Decided& a, const Decided& b) {
                                     return std::tie(a.at, a.stream, a.chunk) <
                                            std::tie(b.at, b.stream, b.chunk);
                                   }),
                  decided);
  unsettled_ = true;
  port_.schedule(at, take_token({}));
}

/// Starts what SlotWaits has decided for now, unless it has got a slot by itself.
void CollectiveEngine::start_decided() {
  while (!decided_.empty() && decided_.front().at <= port_.now()) {
    const Decided due = decided_.front();
    decided_.erase(decided_.begin());
    Active* active = find(due.stream);
    if (active == nullptr) continue;
    const Chunk& chunk = active->chunks[due.chunk];
    if (!chunk.decided || chunk.phase != due.phase) continue;
    if (chunk.status == Status::not_issued) issue(*active, due.chunk);
    Queue& queue = queue_of(*active, due.chunk, due.phase);
    const auto entry =
        std::find_if(queue.waiting.begin() + static_cast<std::ptrdiff_t>(queue.head), queue.waiting.end(),
                     [&](const Waiting& w) { return w.active == active && w.chunk == due.chunk; });
    queue.waiting.erase(entry);
    if (queue.running.size() >= slots_) ++out_of_order_;
    begin(*active, due.chunk, queue);
  }
}

/// The dispatcher issues this chunk, whether its turn has come or not.
void CollectiveEngine::issue(Active& active, uint32_t chunk) {
  undispatched_.erase(std::find_if(undispatched_.begin(), undispatched_.end(), [&](const Waiting& w) {
    return w.active == &active && w.chunk == chunk;
  }));
  ++in_first_phase_;
  enqueue(active, chunk);
}

uint32_t CollectiveEngine::rescue() {
  uint32_t started = 0;
  for (Queue& queue : queues_) {
    if (queue.head == queue.waiting.size()) continue;
    const Waiting next = queue.waiting[queue.head++];
    ++out_of_order_;
    begin(*next.active, next.chunk, queue);
    ++started;
  }
  settled();
  return started;
}

std::vector<std::string> CollectiveEngine::describe_waits(size_t limit) const {
  std::vector<std::string> lines;
  for (const auto& active : actives_) {
    if (active->unfinished == 0) continue;
    const CollectivePlan& plan = *active->plan;
    for (uint32_t c = 0; c < active->chunks.size() && lines.size() < limit; ++c) {
      const Chunk& chunk = active->chunks[c];
      if (chunk.status == Status::finished) continue;
      const PhasePlan& phase = plan.phases(c)[chunk.phase];
      const Axis& axis = plan.axes()[phase.axis];
      const std::string where =
          fmt::format("collective {} ({}, {} B, group `{}`) chunk {} phase {} ({} {} on {})", active->stream,
                      to_string(plan.request().op), plan.request().bytes, plan.request().group->name, c,
                      chunk.phase, phase.algorithm->name(), to_string(phase.op),
                      axis.dimension == Axis::kFlat ? std::string("the whole group")
                                                    : fmt::format("dimension {}", axis.dimension));
      if (chunk.status != Status::running) {
        lines.push_back(where + (chunk.status == Status::not_issued ? " waits for the dispatcher"
                                                                    : " waits for a slot of its queue"));
        continue;
      }
      const PhaseShape shape = plan.shape(active->views, chunk.phase, chunk.reverse, c);
      std::string peers;
      int named = 0;
      for (uint32_t i = 0; i < shape.n && named < 4; ++i) {
        if (i == shape.me || !phase.algorithm->expects(shape, chunk.round, i)) continue;
        peers += fmt::format("{}{}", named++ == 0 ? "" : ", ", active->views[phase.axis].rank(i));
      }
      lines.push_back(fmt::format("{} round {} of {} waits for {} message(s) of rank(s) {}", where,
                                  chunk.round, chunk.rounds, chunk.waiting_for, peers));
    }
  }
  return lines;
}

}  // namespace weft::collectives
