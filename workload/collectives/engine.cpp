// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "configs/end_delays.h"
#include "insight/activity_listener.h"
#include "workload/collectives/in_switch.h"

namespace weft::collectives {
namespace {

/// An empty table of early messages that takes more bytes is given back.
constexpr uint64_t kMostRoomForEarly = 4096;

}  // namespace

CollectiveEngine::CollectiveEngine(NpuId rank, const Config& config, MessagePort& port, Done done,
                                   DataContext* data, SlotWaits* waits)
    : port_(port),
      has_window_(config.collectives.direct_window != 0),
      rank_(rank),
      config_(config),
      done_(std::move(done)),
      slots_(config.collectives.active_chunks_per_dimension),
      queues_(queue_count(config)),
      data_(data),
      waits_(waits) {
  for (const DimensionConfig& d : config.dimensions)
    if (d.endpoint_delay != kNever) start_delays_.resize(config.dimensions.size());
  for (size_t d = 0; d < start_delays_.size(); ++d)
    start_delays_[d] = end_delays(config, config.dimensions[d]).start;
  if (waits_ != nullptr) waits_->add(rank_, *this);
}

CollectiveEngine::~CollectiveEngine() = default;

CollectiveEngine::Active* CollectiveEngine::find(uint32_t stream) {
  if (last_ != nullptr && last_stream_ == stream) return last_;
  const auto at = std::find(streams_.begin(), streams_.end(), stream);
  if (at == streams_.end()) return nullptr;
  last_ = actives_[static_cast<size_t>(at - streams_.begin())].get();
  last_stream_ = stream;
  last_chunks_ = last_->chunks.data();
  return last_;
}

CollectiveEngine::Queue& CollectiveEngine::queue_of(const Active& active, uint32_t chunk, uint32_t phase) {
  return queues_[active.plan->queue(chunk, phase)];
}

bool CollectiveEngine::reversed(const Active& active, uint32_t chunk, uint32_t phase) const {
  const PhasePlan& planned = active.plan->phases(chunk)[phase];
  return goes_down(config_, active.plan->axes()[planned.axis], planned.op, chunk);
}

void CollectiveEngine::start(uint32_t stream, std::shared_ptr<const CollectivePlan> plan, int32_t priority,
                             bool for_all) {
  const Picoseconds now = port_.now();
  if (causes_ != nullptr && causes_->listener() != nullptr) tell_start(stream, *plan, now);
  if (plan->empty()) {
    if (causes_ != nullptr && causes_->listener() != nullptr)
      causes_->listener()->collective_ended(index(rank_), stream, now);
    CollectiveDone done;
    done.stream = stream;
    done.started = done.finished = now;
    done.plan = plan.get();
    done_(done);
    return;
  }
  if (plan->delay() == 0) {
    begin_collective({stream, std::move(plan), priority, for_all, now});
    return;
  }
  const Picoseconds at = in_time([&] { return later(now, plan->delay()); },
                                 [&] { return fmt::format("rank {}: collective {}", index(rank_), stream); },
                                 "make the `delay` of `collectives.rules` shorter");
  ++active_count_;  // not idle
  Pending pending;
  if (causes_ != nullptr)
    pending.cause = causes_->stretch(insight::ActivityKind::endpoint, causes_->because(), index(rank_),
                                     stream + 1, now, at);
  const uint32_t token = take_token(pending);
  delayed_[token] = {stream, std::move(plan), priority, for_all, now};
  port_.schedule(at, token);
}

void CollectiveEngine::begin_collective(const Start& start) {
  const Picoseconds now = port_.now();
  const uint32_t stream = start.stream;
  auto place = std::find(streams_.begin(), streams_.end(), kNoStream);
  if (place == streams_.end()) {
    actives_.push_back(std::make_unique<Active>());
    place = streams_.insert(place, kNoStream);
  }
  *place = stream;
  Active* const active = actives_[static_cast<size_t>(place - streams_.begin())].get();
  *active = Active{};
  active->plan = start.plan;
  active->plan->views(index(rank_), active->views);
  active->chunks.resize(active->plan->chunks());
  active->phases.resize(active->plan->phases().size());
  if (data_ != nullptr && active->plan->request().op != CollectiveOp::barrier) {
    active->data =
        std::make_shared<CollectiveData>(*data_, stream, active->plan, index(rank_), active->views);
  }
  if (waits_ != nullptr && !start.for_all)
    active->shared = waits_->started(stream, active->plan, rank_, active->views);
  active->started = start.joined;
  active->sequence = issued_++;
  active->stream = stream;
  active->unfinished = active->plan->chunks();
  active->priority = start.priority;
  if (const Received* const early = early_received_.find(stream); early != nullptr) {
    active->received = *early;
    early_received_.erase(stream);
  }
  last_ = active;
  last_stream_ = stream;
  last_chunks_ = active->chunks.data();
  ++active_count_;
  const uint32_t chunks = active->unfinished;  // the last chunk may finish at once and the slot be used again
  if (config_.collectives.dispatch_threshold == 0) {
    for (uint32_t c = 0; c < chunks; ++c) enqueue(*active, c);
  } else {
    for (uint32_t c = 0; c < chunks; ++c) {
      active->chunks[c].status = Status::not_issued;
      const Waiting entry{key_of(*active), 0, now, stream, c, active};
      undispatched_.insert(std::upper_bound(undispatched_.begin(), undispatched_.end(), entry), entry);
    }
    if (active->shared != nullptr) waits_->came_up(rank_, now);
    dispatch();
  }
}

/// To the next phase that this rank takes part in.
void CollectiveEngine::skip_phases(const Active& active, Chunk& chunk) const {
  const auto phases = static_cast<uint32_t>(active.plan->phases().size());
  while (chunk.phase < phases && !active.plan->participates(active.views, chunk.phase)) ++chunk.phase;
}

void CollectiveEngine::enqueue(Active& active, uint32_t chunk_index) {
  Chunk& chunk = active.chunks[chunk_index];
  skip_phases(active, chunk);
  if (chunk.phase == active.plan->phases().size()) {
    chunk.status = Status::finished;
    if (active.data) active.data->finish_chunk(chunk_index);
    if (chunk.first_phase && config_.collectives.dispatch_threshold != 0)
      --in_first_phase_;  // it took part in none
    chunk.first_phase = false;
    finish_chunk(active);
    return;
  }
  chunk.status = Status::waiting;
  chunk.since = port_.now();
  Queue& queue = queue_of(active, chunk_index, chunk.phase);
  // With the scope `issue` the queues of the phases are served in order of arrival.
  const bool ordered = config_.collectives.scheduling_scope == SchedulingScope::every_phase;
  const Waiting entry{ordered ? key_of(active) : 0,
                      preference(active, chunk_index),
                      chunk.since,
                      active.stream,
                      chunk_index,
                      &active};
  if (queue.head == queue.waiting.size()) {
    queue.waiting.clear();
    queue.head = 0;
  }
  if (queue.waiting.empty() || !(entry < queue.waiting.back())) {
    queue.waiting.push_back(entry);
  } else {
    const auto first = queue.waiting.begin() + static_cast<std::ptrdiff_t>(queue.head);
    queue.waiting.insert(std::upper_bound(first, queue.waiting.end(), entry), entry);
  }
  mark(queue);
  if (active.shared != nullptr) waits_->came_up(rank_, chunk.since);
  if (causes_ != nullptr) {
    active.causes.resize(active.chunks.size());
    active.causes[chunk_index] = causes_->because();
  }
}

int64_t CollectiveEngine::key_of(const Active& active) const {
  // High priorities first; ~p orders like -p and has no overflow.
  const int64_t priority = static_cast<int64_t>(~active.priority) * (int64_t{1} << 32);
  const auto sequence = static_cast<int64_t>(active.sequence & 0x7fffffff);
  return config_.collectives.scheduling == CollectiveScheduling::lifo ? priority - sequence
                                                                      : priority + sequence;
}

uint64_t CollectiveEngine::preference(const Active& active, uint32_t chunk_index) const {
  const auto& phases = active.plan->phases(chunk_index);
  const uint32_t phase = active.chunks[chunk_index].phase;
  switch (config_.collectives.dimension_scheduling) {
    case DimensionScheduling::smallest_first:
      return phases[phase].duration;
    case DimensionScheduling::less_remaining_phase_first:
      return phases.size() - phase;
    default:
      return 0;
  }
}

void CollectiveEngine::dispatch() {
  const uint32_t threshold = config_.collectives.dispatch_threshold;
  while (in_first_phase_ < threshold && !undispatched_.empty()) {
    for (uint32_t i = 0; i < config_.collectives.dispatch_batch && !undispatched_.empty(); ++i) {
      const Waiting next = undispatched_.front();
      undispatched_.erase(undispatched_.begin());
      ++in_first_phase_;
      enqueue(*next.active, next.chunk);
    }
  }
}

void CollectiveEngine::mark(Queue& queue) {
  if (queue.dirty) return;
  queue.dirty = true;
  dirty_.push_back(&queue);
  unsettled_ = true;
}

void CollectiveEngine::settle() {
  if (!decided_.empty()) start_decided();
  // Starting a chunk can finish it (rounds without receives), which marks queues again: go on until none is
  // left.
  while (!dirty_.empty()) {
    const auto lowest = std::min_element(dirty_.begin(), dirty_.end());
    Queue* queue = *lowest;
    *lowest = dirty_.back();
    dirty_.pop_back();
    queue->dirty = false;
    serve(*queue);
  }
  unsettled_ = !decided_.empty();
}

void CollectiveEngine::serve(Queue& queue) {
  while (queue.head < queue.waiting.size() && queue.running.size() < slots_) {
    if (config_.collectives.dimension_scheduling == DimensionScheduling::rg) alternate(queue);
    const Waiting next = queue.waiting[queue.head++];
    begin(*next.active, next.chunk, queue);
  }
}

void CollectiveEngine::alternate(Queue& queue) {
  // The first waiting chunk of the other kind than the last one started, within the collective that is first.
  const auto gathers = [](const Waiting& w) {
    return w.active->plan->phases(w.chunk)[w.active->chunks[w.chunk].phase].op == CollectiveOp::all_gather;
  };
  for (size_t i = queue.head; i < queue.waiting.size(); ++i) {
    if (queue.waiting[i].rank_key != queue.waiting[queue.head].rank_key) break;
    if (gathers(queue.waiting[i]) == queue.gathered_last) continue;
    const Waiting chosen = queue.waiting[i];
    queue.waiting.erase(queue.waiting.begin() + static_cast<std::ptrdiff_t>(i));
    queue.waiting.insert(queue.waiting.begin() + static_cast<std::ptrdiff_t>(queue.head), chosen);
    break;
  }
  queue.gathered_last = gathers(queue.waiting[queue.head]);
}

/// For the causal log: the chunk goes on because it has come up now, or because a slot was freed.
void CollectiveEngine::resume(const Active& active, uint32_t chunk, const Queue& queue) {
  const Picoseconds now = port_.now();
  const bool freed = active.chunks[chunk].since != now && queue.freed_at == now;
  causes_->because(freed ? queue.freed : active.causes[chunk]);
}

/// To the log's listener.
void CollectiveEngine::tell_start(uint32_t stream, const CollectivePlan& plan, Picoseconds now) const {
  causes_->listener()->collective_began(
      {index(rank_), stream, to_string(plan.request().op), plan.request().bytes, now});
}

/// .. a chunk's phase begins or ends now.
void CollectiveEngine::tell_phase(const Active& active, uint32_t chunk_index, bool begins) const {
  const Chunk& chunk = active.chunks[chunk_index];
  const PhasePlan& phase = active.plan->phases(chunk_index)[chunk.phase];
  const insight::ActivityListener::Phase told{index(rank_),        active.stream,
                                              chunk_index,         chunk.phase,
                                              to_string(phase.op), active.plan->chunk_bytes(chunk_index),
                                              chunk.since,         port_.now()};
  if (begins) {
    causes_->listener()->phase_began(told);
  } else {
    causes_->listener()->phase_ended(told);
  }
}

void CollectiveEngine::begin(Active& active, uint32_t chunk_index, Queue& queue) {
  if (causes_ != nullptr) resume(active, chunk_index, queue);
  Chunk& chunk = active.chunks[chunk_index];
  const Picoseconds now = port_.now();
  PhaseTime& time = active.phases[chunk.phase];
  time.queue += now - chunk.since;
  ++time.chunks;
  if (causes_ != nullptr && causes_->listener() != nullptr) tell_phase(active, chunk_index, true);
  chunk.since = now;
  chunk.round = 0;
  chunk.split = active.plan->split(active.views, chunk_index, chunk.phase);
  if (active.data) active.data->begin_phase(chunk_index, chunk.phase);
  const PhasePlan& phase = active.plan->phases(chunk_index)[chunk.phase];
  chunk.reverse = reversed(active, chunk_index, chunk.phase);
  chunk.in_switch = phase.algorithm->in_switch();
  chunk.me = active.views[phase.axis].me;
  chunk.base = active.views[phase.axis].base;
  chunk.rounds =
      phase.algorithm->rounds(active.plan->shape(active.views, chunk.phase, chunk.reverse, chunk_index));
  queue.running.push_back({&active, chunk_index});
  position_.active_chunks++;
  if (chunk.decided) {
    chunk.decided = false;  // SlotWaits has counted it
  } else if (active.shared != nullptr) {
    waits_->begun(*active.shared, active.views, chunk_index, chunk.phase, rank_, now);
  }
  const Picoseconds delay = start_delay(active.plan->axes()[phase.axis]);
  if (delay == 0) {
    enter_round(active, chunk_index);
    return;
  }
  chunk.status = Status::starting;
  const Picoseconds entered = in_time([&] { return later(now, delay); },
                                      [&] {
                                        return fmt::format("rank {}: chunk {} of collective {}", index(rank_),
                                                           chunk_index, active.stream);
                                      },
                                      "cut the run into shorter ones");
  Pending pending{&active, chunk_index};
  if (causes_ != nullptr)
    pending.cause = causes_->stretch(insight::ActivityKind::endpoint, causes_->because(), index(rank_),
                                     active.stream + 1, now, entered);
  port_.schedule(entered, take_token(pending));
}

/// A flat line waits as long as the slowest dimension that it may use.
Picoseconds CollectiveEngine::start_delay(const Axis& axis) const {
  if (start_delays_.empty()) return config_.nmu.endpoint_delay;
  if (axis.dimension != Axis::kFlat) return start_delays_[axis.dimension];
  Picoseconds delay = 0;
  for (size_t d = 0; d < start_delays_.size(); ++d)
    if (axis.crosses >> d & 1) delay = std::max(delay, start_delays_[d]);
  return delay;
}

uint32_t CollectiveEngine::take_token(const Pending& pending) {
  if (free_tokens_.empty()) {
    pending_.push_back(pending);
    return static_cast<uint32_t>(pending_.size() - 1);
  }
  const uint32_t token = free_tokens_.back();
  free_tokens_.pop_back();
  pending_[token] = pending;
  return token;
}

void CollectiveEngine::wake(uint32_t token) {
  const Pending pending = pending_[token];
  free_tokens_.push_back(token);
  if (pending.active == nullptr) {
    if (auto delayed = delayed_.extract(token)) {
      if (causes_ != nullptr) causes_->because(pending.cause);
      --active_count_;  // begin_collective() counts it
      begin_collective(delayed.mapped());
    }
    return;
  }
  if (causes_ != nullptr) causes_->because(pending.cause);
  enter_round(*pending.active, pending.chunk);
}

void CollectiveEngine::enter_round(Active& active, uint32_t chunk_index) {
  Chunk& chunk = active.chunks[chunk_index];
  chunk.status = Status::running;
  const PhasePlan& phase = active.plan->phases(chunk_index)[chunk.phase];
  if (chunk.in_switch) {
    contribute(active, chunk_index);
    return;
  }
  const PhaseShape shape{
      phase.op, active.plan->axes()[phase.axis].size, chunk.me, phase.root, chunk.reverse, chunk_index};
  static thread_local Round round;  // scratch: nothing of it outlives an iteration below
  for (;;) {
    phase.algorithm->round(shape, chunk.round, round);
    chunk.waiting_for = round.receives;
    chunk.sent = static_cast<uint32_t>(round.sends.size());
    if (windowed(phase) && round.receives != 0) {
      chunk.sent = std::min(chunk.sent, config_.collectives.direct_window);
    }
    for (uint32_t i = 0; i < chunk.sent; ++i) send(active, chunk_index, round.sends[i], shape);
    position_.stream = active.stream;
    position_.phase = chunk.phase;
    position_.round = chunk.round;
    if (chunk.waiting_for != 0 && has_early_) {
      const uint32_t early = take_early(active, chunk_index, chunk.phase, chunk.round);
      chunk.waiting_for -= early;
      for (uint32_t i = 0; i < early && chunk.sent < round.sends.size(); ++i) {
        send(active, chunk_index, round.sends[chunk.sent++], shape);
      }
    }
    if (chunk.waiting_for != 0) return;
    if (active.data) apply_round(active, chunk_index);
    if (++chunk.round == chunk.rounds) break;
  }
  end_phase(active, chunk_index);
}

/// A phase with the switch's collective unit: all contributions now, and it is over with the last result.
void CollectiveEngine::contribute(Active& active, uint32_t chunk_index) {
  Chunk& chunk = active.chunks[chunk_index];
  const PhasePlan& phase = active.plan->phases(chunk_index)[chunk.phase];
  const UnitLayout layout = UnitLayout::of(config_, *active.plan, chunk_index, chunk.phase, chunk.split);
  chunk.waiting_for = layout.results(chunk.me);
  Message message;
  message.peer = NpuId{kUnitPeer | active.plan->axes()[phase.axis].dimension};
  for (uint64_t slot = 0; slot < layout.slots(); ++slot) {
    if (!layout.used(slot) || !layout.contributes(slot, chunk.me)) continue;
    const UnitLayout::Piece piece = layout.piece(slot);
    message.id = {active.stream, static_cast<uint16_t>(chunk_index), chunk.phase, MessageId::Kind::collective,
                  static_cast<uint32_t>(slot)};
    message.bytes = piece.bytes;
    if (active.data) {
      message.type = data_->type();
      message.data = active.data->gather(chunk_index, piece.offset, piece.bytes);
    }
    port_.submit(message);
  }
  position_.stream = active.stream;
  position_.phase = chunk.phase;
  position_.round = 0;
  if (chunk.waiting_for != 0 && has_early_) {
    chunk.waiting_for -= take_early(active, chunk_index, chunk.phase, 0);
  }
  if (chunk.waiting_for != 0) return;
  if (active.data) apply_round(active, chunk_index);
  ++chunk.round;
  end_phase(active, chunk_index);
}

bool CollectiveEngine::windowed(const PhasePlan& phase) const {
  return has_window_ && phase.algorithm == direct_algorithm();
}

void CollectiveEngine::send(const Active& active, uint32_t chunk_index, const RoundSend& send,
                            const PhaseShape& shape) {
  const Chunk& chunk = active.chunks[chunk_index];
  const Axis& axis = active.plan->axes()[active.plan->phases(chunk_index)[chunk.phase].axis];
  Message message;
  message.peer = NpuId{axis.rank(chunk.base, send.to)};
  message.id = {active.stream, static_cast<uint16_t>(chunk_index), chunk.phase, MessageId::Kind::collective,
                send.at_round};
  message.bytes = send.blocks.bytes(shape.n, chunk.split);
  message.op = send.reduce ? ReduceOp::sum : ReduceOp::none;
  message.symmetric = axis.values.empty();
  message.reverse = shape.reverse;
  if (active.data) {
    message.type = data_->type();
    if (send.reduce) message.op = data_->op();
    message.data = active.data->gather(chunk_index, send);
  }
  port_.submit(message);
}

void CollectiveEngine::apply_round(Active& active, uint32_t chunk_index) {
  const Chunk& chunk = active.chunks[chunk_index];
  const Wide key = early_key(active.stream, chunk_index, chunk.phase, chunk.round);
  const std::vector<uint32_t>* const payloads = payloads_.find(key);
  if (payloads == nullptr) return;
  active.data->apply(chunk_index, *payloads);
  payloads_.erase(key);
}

void CollectiveEngine::send_more(Active& active, uint32_t chunk_index) {
  // The window opens by one with every message received: each member sends and receives as many.
  Chunk& chunk = active.chunks[chunk_index];
  const PhasePlan& phase = active.plan->phases(chunk_index)[chunk.phase];
  const PhaseShape shape{
      phase.op, active.plan->axes()[phase.axis].size, chunk.me, phase.root, chunk.reverse, chunk_index};
  Round round;
  phase.algorithm->round(shape, chunk.round, round);
  if (chunk.sent < round.sends.size()) send(active, chunk_index, round.sends[chunk.sent++], shape);
}

void CollectiveEngine::completed(const Completion& completion) {
  if (completion.data != kNoData) {
    payloads_[early_key(completion.id.stream, completion.id.chunk, completion.id.phase, completion.id.round)]
        .push_back(completion.data);
  }
  Active* active = find(completion.id.stream);
  if (active == nullptr) {
    early_received_[completion.id.stream].add(completion);
    early(completion);
    return;
  }
  active->received.add(completion);
  Chunk& chunk = active->chunks[completion.id.chunk];
  if (chunk.status == Status::running && chunk.phase == completion.id.phase &&
      chunk.round == completion.id.round) {
    if (has_window_ && windowed(active->plan->phases(completion.id.chunk)[chunk.phase])) {
      send_more(*active, completion.id.chunk);
    }
    if (--chunk.waiting_for != 0) return;
    if (active->data) apply_round(*active, completion.id.chunk);
    if (++chunk.round == chunk.rounds) {
      end_phase(*active, completion.id.chunk);
    } else {
      enter_round(*active, completion.id.chunk);
    }
    return;
  }
  early(completion);
}

void CollectiveEngine::early(const Completion& completion) {
  ++early_[early_key(completion.id.stream, completion.id.chunk, completion.id.phase, completion.id.round)];
  has_early_ = true;
}

uint32_t CollectiveEngine::take_early(const Active& active, uint32_t chunk, uint32_t phase, uint32_t round) {
  const Wide key = early_key(active.stream, chunk, phase, round);
  const uint32_t* const found = early_.find(key);
  if (found == nullptr) return 0;
  const uint32_t count = *found;
  early_.erase(key);
  has_early_ = !early_.empty();
  if (!has_early_ && early_.memory_bytes() > kMostRoomForEarly) early_ = {};
  return count;
}

void CollectiveEngine::end_phase(Active& active, uint32_t chunk_index) {
  Chunk& chunk = active.chunks[chunk_index];
  active.phases[chunk.phase].network += port_.now() - chunk.since;
  if (causes_ != nullptr && causes_->listener() != nullptr) tell_phase(active, chunk_index, false);
  Queue& queue = queue_of(active, chunk_index, chunk.phase);
  for (size_t i = 0; i < queue.running.size(); ++i) {
    if (queue.running[i].active == &active && queue.running[i].chunk == chunk_index) {
      queue.running[i] = queue.running.back();
      queue.running.pop_back();
      break;
    }
  }
  position_.active_chunks--;
  if (causes_ != nullptr) {
    queue.freed = causes_->because();
    queue.freed_at = port_.now();
  }
  mark(queue);
  if (active.shared != nullptr)
    waits_->ended(*active.shared, active.views, chunk_index, chunk.phase, rank_, port_.now());
  if (active.data) active.data->end_phase(chunk_index);
  const bool first = config_.collectives.dispatch_threshold != 0 && chunk.first_phase;
  chunk.first_phase = false;
  ++chunk.phase;
  enqueue(active, chunk_index);
  if (first) {
    --in_first_phase_;
    dispatch();
  }
}

void CollectiveEngine::finish_chunk(Active& active) {
  if (--active.unfinished == 0) finish(active);
}

void CollectiveEngine::finish(Active& active) {
  --active_count_;
  if (last_ == &active) last_ = nullptr;
  *std::find(streams_.begin(), streams_.end(), active.stream) = kNoStream;
  if (causes_ != nullptr && causes_->listener() != nullptr)
    causes_->listener()->collective_ended(index(rank_), active.stream, port_.now());
  CollectiveDone done;
  done.stream = active.stream;
  done.started = active.started;
  done.finished = port_.now();
  done.plan = active.plan.get();
  done.phases = std::move(active.phases);
  done.messages = active.received.messages;
  done.bytes = active.received.bytes;
  done.split = active.received.split.sums();
  done.data = std::move(active.data);
  if (active.shared != nullptr) waits_->finished(*active.shared);
  const std::shared_ptr<const CollectivePlan> keep = std::move(active.plan);
  done_(done);
}

}  // namespace weft::collectives
