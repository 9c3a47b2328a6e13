// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/graph/rank_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "configs/printable.h"
#include "workload/graph/compute_cost.h"

namespace weft::graph {

const char* to_string(RankState state) {
  static const char* const names[kRankStates] = {"idle", "communication", "remote_memory", "local_memory",
                                                 "compute"};
  return names[static_cast<int>(state)];
}

namespace {

const char* name_of_memory(trace::Location location) {
  static const char* const names[trace::kLocations] = {"memory", "remote memory", "host memory", "NVMe"};
  return names[static_cast<int>(location)];
}

}  // namespace

RankEngine::RankEngine(uint32_t rank, const NpuConfig& npu, trace::Feeder& feeder, RankServices& services)
    : rank_(rank), npu_(npu), feeder_(feeder), services_(services) {
  cpu_.count = npu.cpu_slots;
  compute_.count = npu.compute_slots;
}

void RankEngine::start() {
  pump();
}

void RankEngine::wake(uint32_t token) {
  complete(token, WaitsFor::time);
}
void RankEngine::memory_done(trace::NodeIndex node) {
  complete(node, WaitsFor::memory);
}
void RankEngine::collective_done(trace::NodeIndex node) {
  complete(node, WaitsFor::collective);
}
void RankEngine::send_done(trace::NodeIndex node) {
  complete(node, WaitsFor::send);
}
void RankEngine::receive_done(trace::NodeIndex node) {
  complete(node, WaitsFor::receive);
}

void RankEngine::release() {
  if (holds_ == 0) throw std::logic_error("RankEngine::release without hold");
  --holds_;
  pump();
}

bool RankEngine::finished() const {
  return feeder_.finished_count() == feeder_.node_count();
}

bool RankEngine::rests() const {
  bool rests = holds_ == 0 && done_.empty();
  active_.for_each([&](trace::NodeIndex, const Active& active) {
    rests = rests && (active.waits_for == WaitsFor::time || active.waits_for == WaitsFor::receive);
  });
  return rests;
}

void RankEngine::adopt(const RankEngine& like, const RankImage& image) {
  if (!active_.empty() || !like.rests())
    throw std::logic_error("RankEngine::adopt while something is under way");
  like.active_.for_each([&](trace::NodeIndex index, const Active& active) {
    active_.insert(index, active).node = &image.node(index);
  });
  const auto adopt_slots = [&](Slots& own, const Slots& others) {
    own.count = others.count;
    own.busy = others.busy;
    own.waiting.clear();
    for (const trace::Node* const node : others.waiting) own.waiting.push_back(&image.node(node->index));
  };
  adopt_slots(cpu_, like.cpu_);
  adopt_slots(compute_, like.compute_);
  for (const auto& [number, slots] : like.streams_) adopt_slots(streams_[number], slots);
  if (like.layers_) layers_ = std::make_unique<LayerClock>(*like.layers_);
  outstanding_ = like.outstanding_;
  spent_ = like.spent_;
  state_ = like.state_;
  since_ = like.since_;
  communicating_ = like.communicating_;
  communicating_since_ = like.communicating_since_;
  finished_at_ = like.finished_at_;
  costless_ = like.costless_;
  first_costless_ = like.first_costless_;
}

Categories RankEngine::categories(Picoseconds end) const {
  if (end < since_)
    throw std::logic_error("RankEngine::categories of a time before the last change of state");
  auto spent = spent_;
  spent[static_cast<int>(state_)] += end - since_;
  const auto of = [&](RankState state) { return spent[static_cast<int>(state)]; };
  return {of(RankState::compute), of(RankState::local_memory), of(RankState::remote_memory),
          of(RankState::communication), of(RankState::idle)};
}

Picoseconds RankEngine::communicating(Picoseconds end) const {
  const bool now = outstanding_[static_cast<int>(RankState::communication)] != 0;
  return communicating_ + (now ? end - communicating_since_ : 0);
}

void RankEngine::set_observer(RankObserver* observer) {
  observer_ = observer;
  if (observer_ == nullptr) return;
  told_index_ = ~trace::NodeIndex{0};
  told_id_ = kNoNode;
  told_state_ = RankState::idle;
  observer_->rank_changed(rank_, told_state_, told_id_);
  notify();
}

// Chains of nodes that take no time, and services that answer at once, come back here as entries of done_,
// never as deeper calls.
void RankEngine::pump() {
  if (holds_ > 0) return;
  struct Guard {
    uint32_t& holds;
    explicit Guard(uint32_t& h) : holds(h) { ++holds; }
    ~Guard() { --holds; }
  };
  {
    const Guard guard(holds_);
    do {
      for (const trace::NodeIndex node : done_) {
        if (listener_ != nullptr) listener_->node_finished(node, services_.now());
        feeder_.finished(node);
      }
      if (!done_.empty()) finished_at_ = services_.now();
      done_.clear();
      while (const trace::Node* node = feeder_.take_ready()) admit(*node);
      start_compute(cpu_);
      start_compute(compute_);
      for (auto& stream : streams_) start_compute(stream.second);
    } while (!done_.empty());
  }
  if (observer_ != nullptr) notify();
}

RankEngine::Slots& RankEngine::slots_of(const trace::Node& node) {
  if (node.has_stream) return streams_[node.stream];
  return node.is_cpu_op ? cpu_ : compute_;
}

void RankEngine::admit(const trace::Node& node) {
  if (causes_) causes_->ready(node, services_.now());
  switch (node.type) {
    case trace::NodeType::comp:
      slots_of(node).waiting.push_back(&node);
      return;
    case trace::NodeType::mem_load:
    case trace::NodeType::mem_store: {
      const RankState state =
          node.location == trace::Location::local ? RankState::local_memory : RankState::remote_memory;
      if (node.tensor_size == 0) {
        start_timed(node, state, node.has_duration ? node.duration : 0);
        return;
      }
      activate(node, state, WaitsFor::memory);
      services_.start_memory(node);
      return;
    }
    case trace::NodeType::comm_coll:
      if (!node.has_comm_type) break;
      activate(node, RankState::communication, WaitsFor::collective);
      services_.start_collective(node);
      return;
    case trace::NodeType::comm_send:
      activate(node, RankState::communication, WaitsFor::send);
      services_.start_send(node);
      return;
    case trace::NodeType::comm_recv:
      activate(node, RankState::communication, WaitsFor::receive);
      services_.start_receive(node);
      return;
    case trace::NodeType::metadata:
      if (node.delay == 0) break;
      start_timed(node, RankState::communication, node.delay);
      return;
    default:
      throw UserError(
          ExitCode::trace,
          fmt::format("{}: its type is {}, which cannot be executed; give it one of Chakra's node types 1 "
                      "(METADATA) to 7 (COMM_COLL)",
                      where(node), trace::to_string(node.type)));
  }
  pass(node);
}

/// It takes no time.
void RankEngine::pass(const trace::Node& node) {
  if (causes_) causes_->passed(node, services_.now());
  done_.push_back(node.index);
}

void RankEngine::start_compute(Slots& slots) {
  while (slots.busy < slots.count && !slots.waiting.empty()) {
    const trace::Node& node = *slots.waiting.pop_front();
    const ComputeCost cost = compute_cost(node, npu_);
    if (!cost.known && costless_++ == 0) first_costless_ = node.id;
    if (cost.time > 0 && services_.takes_compute(node, cost.time)) {
      ++slots.busy;
      activate(node, RankState::compute, WaitsFor::time);
      continue;
    }
    const Picoseconds time = cost.time > 0 ? services_.compute_time(node, cost.time) : 0;
    if (time > 0) ++slots.busy;
    start_timed(node, RankState::compute, time);
  }
}

void RankEngine::start_timed(const trace::Node& node, RankState state, Picoseconds duration) {
  if (duration == 0) {
    pass(node);
    return;
  }
  const Picoseconds now = services_.now();
  if (duration >= kNever - now)
    throw UserError(
        ExitCode::trace,
        fmt::format("{}: it would end after the last picosecond that simulated time can hold (213 days); "
                    "check its duration_micros, num_ops and tensor_size, and npu.peak and "
                    "npu.memory_bandwidth",
                    where(node)));
  activate(node, state, WaitsFor::time);
  services_.schedule(now + duration, node.index);
}

void RankEngine::activate(const trace::Node& node, RankState state, WaitsFor waits_for) {
  const Picoseconds now = services_.now();
  LayerClock::Ticket ticket;
  if (layers_) ticket = layers_->started(node, state, now);
  if (listener_ != nullptr) listener_->node_started(node.index, now);
  if (causes_) causes_->started(node, now);
  active_.insert(node.index, Active{&node, now, state, waits_for, ticket});
  count(state, 1);
}

void RankEngine::complete(trace::NodeIndex index, WaitsFor waits_for) {
  const Active* const found = active_.find(index);
  if (found == nullptr || found->waits_for != waits_for)
    throw std::logic_error(fmt::format(
        "rank {}: a call-back for the node at index {}, which does not wait for it", rank_, index));
  const Active active = *found;
  active_.erase(index);
  if (layers_) layers_->ended(active.ticket, active.state, services_.now());
  count(active.state, -1);
  if (causes_) causes_->ended(*active.node, active.state, active.since, services_.now());
  if (active.state == RankState::compute) --slots_of(*active.node).busy;
  done_.push_back(index);
  pump();
}

void RankEngine::count(RankState state, int change) {
  uint32_t& outstanding = outstanding_[static_cast<int>(state)];
  const bool before = outstanding != 0;
  outstanding += static_cast<uint32_t>(change);
  if (state == RankState::communication && before != (outstanding != 0)) {
    if (before) {
      communicating_ += services_.now() - communicating_since_;
    } else {
      communicating_since_ = services_.now();
    }
  }
  int top = kRankStates - 1;
  while (top > 0 && outstanding_[top] == 0) --top;
  const auto next = static_cast<RankState>(top);
  if (next == state_) return;
  const Picoseconds now = services_.now();
  spent_[static_cast<int>(state_)] += now - since_;
  since_ = now;
  state_ = next;
}

// The node that stands for the state stays the same as long as it is outstanding; after it the one that is
// first in the file, so that waveforms do not depend on the order of a hash map.
void RankEngine::notify() {
  trace::NodeIndex index = ~trace::NodeIndex{0};
  uint64_t id = kNoNode;
  const Active* const told = active_.find(told_index_);
  if (told != nullptr && told->state == state_) {
    index = told_index_;
    id = told_id_;
  } else if (state_ != RankState::idle) {
    active_.for_each([&](trace::NodeIndex candidate, const Active& active) {
      if (active.state != state_ || candidate > index) return;
      index = candidate;
      id = active.node->id;
    });
  }
  if (state_ == told_state_ && id == told_id_) return;
  told_state_ = state_;
  told_index_ = index;
  told_id_ = id;
  observer_->rank_changed(rank_, told_state_, told_id_);
}

std::string RankEngine::where(const trace::Node& node) const {
  return fmt::format("rank {}, node {} \"{}\" ({})", rank_, node.id, printable(node.name),
                     trace::to_string(node.type));
}

std::string RankEngine::describe(trace::NodeIndex node) const {
  const Active* const active = active_.find(node);
  return active == nullptr ? fmt::format("rank {}", rank_) : where(*active->node);
}

std::vector<Stall> RankEngine::describe_stall(size_t limit) const {
  std::vector<Stall> stalls;

  const auto add = [&](const trace::Node& node, WaitsFor waits_for, const std::string& what) {
    Stall stall;
    stall.rank = rank_;
    stall.node = node.id;
    stall.name = node.name;
    stall.waits_for = waits_for;
    stall.peer = node.peer;
    stall.tag = node.tag;
    stall.group = node.pg_name;
    stall.ordinal = node.ordinal;
    stall.text = where(node) + " " + what;
    stalls.push_back(std::move(stall));
  };

  std::vector<trace::NodeIndex> started;
  started.reserve(active_.size());
  active_.for_each([&](trace::NodeIndex index, const Active&) { started.push_back(index); });
  std::sort(started.begin(), started.end());
  for (const trace::NodeIndex index : started) {
    if (stalls.size() == limit) break;
    const Active& active = *active_.find(index);
    const trace::Node& node = *active.node;
    std::string what;
    switch (active.waits_for) {
      case WaitsFor::time:
        what = "waits for the end of its duration";
        break;
      case WaitsFor::memory:
        what = fmt::format("waits for its {} access of {} bytes", name_of_memory(node.location),
                           node.tensor_size);
        break;
      case WaitsFor::collective:
        what = fmt::format("waits for {} number {} of group \"{}\" ({} bytes): every member must join it",
                           weft::to_string(node.op), node.ordinal, node.pg_name, node.comm_size);
        break;
      case WaitsFor::send:
        what = fmt::format("waits for the last of {} bytes to leave for rank {}, tag {}", node.comm_size,
                           node.peer, node.tag);
        break;
      case WaitsFor::receive:
        what = fmt::format("waits for a message of {} bytes from rank {}, tag {}", node.comm_size, node.peer,
                           node.tag);
        break;
      case WaitsFor::slot:
      case WaitsFor::dependency:
        break;
    }
    add(node, active.waits_for, fmt::format("{} since {} ps", what, active.since));
  }

  const auto add_waiting = [&](const Slots& slots, const std::string& what) {
    for (const trace::Node* node : slots.waiting) {
      if (stalls.size() == limit) break;
      add(*node, WaitsFor::slot,
          fmt::format("waits for a {}: {} of {} are busy", what, slots.busy, slots.count));
    }
  };
  add_waiting(cpu_, "CPU slot");
  add_waiting(compute_, "compute slot");
  for (const auto& [number, slots] : streams_) add_waiting(slots, fmt::format("stream {}", number));

  for (const trace::Feeder::Blocked& blocked : feeder_.blocked(limit)) {
    Stall stall;
    stall.rank = rank_;
    stall.node = blocked.id;
    stall.name = blocked.name;
    stall.waits_for = WaitsFor::dependency;
    stall.dependency = blocked.waits_for_id;
    stall.text = fmt::format("rank {}, node {} \"{}\" waits for node {} \"{}\", on which it depends", rank_,
                             blocked.id, printable(blocked.name), blocked.waits_for_id,
                             printable(blocked.waits_for_name));
    stalls.push_back(std::move(stall));
  }
  return stalls;
}

}  // namespace weft::graph
