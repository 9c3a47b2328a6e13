// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/programs/program_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>

namespace weft::library {
namespace {

/// What the links took for the bytes of a message, without its way.
Picoseconds carried(const TimeSplit& split) {
  return split.queue + split.serialise;
}

}  // namespace

bool ProgramEngine::Event::before(const Event& o) const {
  return std::tie(at, order, kind, number) < std::tie(o.at, o.order, o.kind, o.number);
}

ProgramEngine::ProgramEngine(ProgramHost& host, uint32_t npus, collectives::DataContext* data,
                             insight::CausalLog* causes)
    : host_(host), data_(data), causes_(causes), npus_(npus), parts_(npus) {}

uint32_t ProgramEngine::place(const Running& call, uint32_t member) const {
  const uint32_t ranks = call.call.program->ranks();
  return member < ranks ? call.call.npus[member] : npus_ + call.call.switches[member - ranks];
}

ProgramEngine::~ProgramEngine() = default;

void ProgramEngine::push(const Event& event) {
  events_.push_back(event);
  std::push_heap(events_.begin(), events_.end(), [](const Event& a, const Event& b) { return b.before(a); });
}

ProgramEngine::Event ProgramEngine::event(const Running& call, EventKind kind, uint32_t number,
                                          Picoseconds at, Picoseconds now) const {
  Event e;
  e.at = at;
  e.order = call.order;
  e.number = number;
  e.call = call.number;
  e.kind = kind;
  e.since = now;
  if (causes_ != nullptr) e.cause = causes_->because();
  return e;
}

uint32_t ProgramEngine::open(Call call) {
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(calls_.size()));
    calls_.emplace_back();
  }
  auto running = std::make_unique<Running>();
  running->number = free_.back();
  free_.pop_back();
  const Program& program = *call.program;
  running->order = static_cast<uint64_t>(call.stream) << 32 | call.npus.front();
  for (const Send& send : program.sends()) running->waits.push_back(send.waits);
  running->lanes.resize(program.lanes());
  for (uint32_t l = 0; l < program.lanes(); ++l) running->lanes[l].next = program.lane_begin(l);
  running->members.resize(program.members());
  running->left = program.ranks();
  running->call = std::move(call);
  for (uint32_t m = 0; m < program.members(); ++m) {
    Member& member = running->members[m];
    member.left = program.work(m);
    if (parts_.size() <= place(*running, m)) parts_.resize(place(*running, m) + size_t{1});
    parts_[place(*running, m)].push_back({running->number, m});
    if (m < program.ranks()) continue;
    member.started = true;  // a switch is always there
    if (data_ == nullptr || running->call.plan->request().op == CollectiveOp::barrier) continue;
    member.data = std::make_unique<ProgramData>(*data_, program);
    member.data->load();
  }
  const uint32_t number = running->number;
  calls_[number] = std::move(running);
  ++running_;
  return number;
}

void ProgramEngine::start(uint32_t number, uint32_t member, Picoseconds joined, Picoseconds now,
                          Picoseconds at) {
  Running& call = *calls_[number];
  call.members[member].joined = joined;
  push(event(call, EventKind::start, member, at, now));
}

ProgramEngine::Running& ProgramEngine::find(uint32_t place, uint32_t stream) {
  for (const Part& part : parts_[place])
    if (calls_[part.call]->call.stream == stream) return *calls_[part.call];
  throw std::logic_error(fmt::format("{} {} got a message of collective {}, which does not run there",
                                     place < npus_ ? "NPU" : "switch", place < npus_ ? place : place - npus_,
                                     stream));
}

void ProgramEngine::completed_at_switch(uint32_t number, const Completion& completion, Picoseconds now) {
  completed(npus_ + number, completion, now);
}

void ProgramEngine::completed(uint32_t npu, const Completion& completion, Picoseconds now) {
  Running& call = find(npu, completion.id.stream);
  const Send& send = call.call.program->sends()[completion.id.round];
  const Price& price = call.call.program->price(send);
  const Picoseconds links = carried(completion.split);
  const Picoseconds more = links > price.carried ? links - price.carried : 0;
  const Picoseconds at = std::max(now, later(later(completion.submitted, price.flight), more));
  Member& member = call.members[send.to];
  ++member.messages;
  member.bytes += completion.bytes;
  member.split.add(completion.split);
  Event e = event(call, EventKind::arrival, completion.id.round, at, now);
  e.data = completion.data;
  push(e);
}

void ProgramEngine::advance(Picoseconds now) {
  while (!events_.empty() && events_.front().at <= now) {
    std::pop_heap(events_.begin(), events_.end(), [](const Event& a, const Event& b) { return b.before(a); });
    const Event event = events_.back();
    events_.pop_back();
    handle(event, now);
  }
}

void ProgramEngine::handle(const Event& event, Picoseconds now) {
  Running& call = *calls_[event.call];
  if (causes_ != nullptr) tell_wait(call, event);
  switch (event.kind) {
    case EventKind::arrival:
      arrive(call, event, now);
      break;
    case EventKind::end:
      call.call.program->for_each_after_end(event.number, [&](uint32_t send) { release(call, send, now); });
      break;
    case EventKind::start:
      begin(call, event.number, now);
      break;
    case EventKind::launch:
      launch(call, event.number, now);
      break;
    case EventKind::done:
      finish(call, event.number, now);
      break;
  }
}

/// What begins now does so because of what the event waited for.
void ProgramEngine::tell_wait(const Running& call, const Event& event) {
  const bool of_member = event.kind == EventKind::start || event.kind == EventKind::done;
  const Send* const send = of_member ? nullptr : &call.call.program->sends()[event.number];
  const uint32_t member = of_member ? event.number : event.kind == EventKind::arrival ? send->to : send->from;
  causes_->because(event.at > event.since
                       ? causes_->stretch(insight::ActivityKind::endpoint, event.cause,
                                          call.call.npus[member < call.call.npus.size() ? member : 0],
                                          call.call.stream + 1, event.since, event.at)
                       : event.cause);
}

void ProgramEngine::begin(Running& call, uint32_t m, Picoseconds now) {
  Member& member = call.members[m];
  member.started = true;
  if (data_ != nullptr && call.call.plan->request().op != CollectiveOp::barrier) {
    std::vector<collectives::AxisView> views;
    const uint32_t rank = call.call.npus[m];
    call.call.plan->views(rank, views);
    member.data = std::make_unique<ProgramData>(
        *data_, *call.call.program,
        std::make_shared<collectives::CollectiveData>(*data_, call.call.stream, call.call.plan, rank, views));
    member.data->load();
  }
  if (member.left == 0) return finish(call, m, now);
  call.call.program->for_each_lane(m, [&](uint32_t lane) { try_lane(call, lane, now); });
  const std::vector<Event> early = std::move(member.early);
  for (const Event& event : early) arrive(call, event, now);
}

void ProgramEngine::arrive(Running& call, const Event& event, Picoseconds now) {
  const Send& send = call.call.program->sends()[event.number];
  Member& member = call.members[send.to];
  if (!member.started) {
    member.early.push_back(event);
    return;
  }
  if (member.data) member.data->apply(send, event.data);
  call.call.program->for_each_after_arrival(event.number, [&](uint32_t next) { release(call, next, now); });
  count_down(call, send.to, now);
}

void ProgramEngine::release(Running& call, uint32_t send, Picoseconds now) {
  if (--call.waits[send] == 0) try_lane(call, call.call.program->sends()[send].lane, now);
}

/// Starts the lane's next message, or has it started when the lane is free.
void ProgramEngine::try_lane(Running& call, uint32_t number, Picoseconds now) {
  Lane& lane = call.lanes[number];
  const Program& program = *call.call.program;
  if (lane.queued || lane.next == program.lane_begin(number + 1)) return;
  const uint32_t send = program.order()[lane.next];
  if (call.waits[send] != 0 || !call.members[program.sends()[send].from].started) return;
  lane.queued = true;
  push(event(call, EventKind::launch, send, std::max(now, lane.free_at), now));
}

void ProgramEngine::launch(Running& call, uint32_t number, Picoseconds now) {
  const Program& program = *call.call.program;
  const Send& send = program.sends()[number];
  Lane& lane = call.lanes[send.lane];
  Member& member = call.members[send.from];
  lane.queued = false;
  ++lane.next;
  lane.free_at = later(now, program.price(send).cost);
  member.busy_until = std::max(member.busy_until, lane.free_at);
  Message message;
  const uint32_t ranks = program.ranks();
  message.peer = NpuId{send.to < ranks ? call.call.npus[send.to]
                                       : kUnitPeer | program.switches()[send.to - ranks].dimension};
  message.id.kind = MessageId::Kind::program;
  message.id.stream = call.call.stream;
  message.id.chunk = send.channel;
  message.id.round = number;
  message.bytes = program.wire(send);
  if (member.data) message.data = member.data->gather(send);
  if (send.from < ranks) {
    host_.submit(call.call.npus[send.from], message);
  } else {
    host_.submit_from_switch(call.call.switches[send.from - ranks], message);
  }
  if (program.has_ends(number)) push(event(call, EventKind::end, number, lane.free_at, now));
  count_down(call, send.from, now);
  try_lane(call, send.lane, now);
}

void ProgramEngine::count_down(Running& call, uint32_t m, Picoseconds now) {
  Member& member = call.members[m];
  if (--member.left == 0 && m < call.call.program->ranks())
    push(event(call, EventKind::done, m, std::max(now, member.busy_until), now));
}

void ProgramEngine::forget(const Running& call, uint32_t member) {
  std::vector<Part>& parts = parts_[place(call, member)];
  parts.erase(std::find_if(parts.begin(), parts.end(), [&](const Part& p) { return p.call == call.number; }));
}

void ProgramEngine::finish(Running& call, uint32_t m, Picoseconds now) {
  Member& member = call.members[m];
  collectives::CollectiveDone done;
  done.stream = call.call.stream;
  done.started = member.joined;
  done.finished = now;
  done.plan = call.call.plan.get();
  done.messages = member.messages;
  done.bytes = member.bytes;
  done.split = member.split.sums();
  if (member.data) done.data = member.data->finish();
  member.data.reset();
  member.finished = true;
  const uint32_t number = call.number;
  forget(call, m);
  // The plan outlives what hears of it.
  const std::shared_ptr<const collectives::CollectivePlan> plan = call.call.plan;
  if (--call.left == 0) {
    for (uint32_t s = call.call.program->ranks(); s < call.members.size(); ++s) forget(call, s);
    calls_[number].reset();
    free_.push_back(number);
    --running_;
  }
  host_.member_done(number, m, done);
}

std::vector<std::string> ProgramEngine::describe_waits(uint32_t npu, size_t limit) const {
  std::vector<std::string> lines;
  for (const Part& part : parts_[npu]) {
    const Running& call = *calls_[part.call];
    const Member& member = call.members[part.member];
    if (lines.size() == limit) break;
    if (!member.started) {
      lines.push_back(
          fmt::format("collective {} ({}) has not begun here: its communicator's call before it "
                      "is not over",
                      call.call.stream, to_string(call.call.plan->request().op)));
      continue;
    }
    std::vector<uint32_t> absent;
    for (uint32_t m = 0; m < call.members.size(); ++m)
      if (!call.members[m].started) absent.push_back(call.call.npus[m]);
    lines.push_back(fmt::format("collective {} ({}): {} messages to send or receive{}", call.call.stream,
                                to_string(call.call.plan->request().op), member.left,
                                absent.empty()
                                    ? std::string{}
                                    : fmt::format("; {} members have not begun, the first is rank {}",
                                                  absent.size(), absent.front())));
  }
  return lines;
}

}  // namespace weft::library
