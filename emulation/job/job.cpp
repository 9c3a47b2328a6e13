// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Ranks and time.

#include "emulation/job/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "emulation/client/weft_comm.h"
#include "emulation/job/capture.h"
#include "workload/graph/compute_cost.h"

namespace weft::emulation {
namespace {

const char* const kMarkKinds[] = {"iteration", "region", "warm-up"};
constexpr Picoseconds kLatest = Picoseconds{1} << 62;  ///< 53 days: later sums would not fit

}  // namespace

Job::Job(const Config& config, JobSettings settings, Fabric& fabric, SendBytes send, Capture* capture)
    : config_(config),
      settings_(std::move(settings)),
      fabric_(fabric),
      send_(std::move(send)),
      capture_(capture),
      classes_(config, settings_.world, settings_.real),
      communicators_(config, settings_.world, settings_.real),
      plans_(config),
      rules_(config, plans_) {
  fabric.listen(*this);
  for (const uint32_t rank : settings_.real) {
    ranks_[rank];
    report_.ranks[rank];
  }
}

Job::~Job() = default;

template <typename Answer>
void Job::reply(uint32_t rank, uint64_t request, Picoseconds time, const Answer& message) {
  std::vector<uint8_t> bytes;
  write_frame(bytes, request, static_cast<int64_t>(time), message);
  send_(rank, bytes);
}

void Job::join(uint32_t rank, const Hello& hello, SharedView memory) {
  Rank& state = of(rank);
  static const char* const kShims[] = {"c", "mpi", "torch", "nccl"};
  state.status = Status::running;
  state.memory = std::move(memory);
  report_.ranks[rank].shim = hello.shim < 4 ? kShims[hello.shim] : "?";
  if (!hello.shim_version.empty()) report_.ranks[rank].shim += " " + hello.shim_version;
  if (settings_.wall) state.time = settings_.wall_clock();
  constexpr uint64_t kHello = 1;
  state.last_request = kHello;
  reply(rank, kHello, state.time, settings_.welcome);
}

void Job::take(uint32_t rank, const Frame& frame) {
  Rank& state = of(rank);
  const FrameType type = frame.head.type;
  if (!known(type) && (frame.head.flags & kOptional) != 0) return;
  const auto wrong = [&](const std::string& what) {
    return ProtocolError(
        fmt::format("{}; its last good request was {} ({})", what, state.last_request, state.last_call));
  };
  if (type > FrameType::bye || type == FrameType::hello)
    throw wrong(type == FrameType::hello ? "a second HELLO"
                                         : fmt::format("{} is no frame of a client", to_string(type)));
  if (state.status == Status::ended) throw wrong(fmt::format("{} after BYE", to_string(type)));
  if (state.status != Status::running)
    throw wrong(fmt::format("{} while it waits for an answer", to_string(type)));
  if (frame.head.t < 0 || (!settings_.wall && static_cast<Picoseconds>(frame.head.t) < state.time))
    throw wrong(fmt::format("{} at {} ps, and the rank was at {} ps before", to_string(type), frame.head.t,
                            state.time));
  if (static_cast<Picoseconds>(frame.head.t) > kLatest)
    throw wrong(
        fmt::format("{} at {} ps, and a job ends before {} ps", to_string(type), frame.head.t, kLatest));
  const auto time = std::max(static_cast<Picoseconds>(frame.head.t), state.time);
  if (settings_.heard) settings_.heard(rank, frame, time - state.time);
  state.time = time;
  const bool flops = type == FrameType::compute && read_message<Compute>(frame).ps < 0;
  if (type == FrameType::wait || type == FrameType::test || type == FrameType::probe ||
      type == FrameType::comm_new || type == FrameType::bye || flops)
    state.status = Status::waiting;
  if (type == FrameType::coll || type == FrameType::send || type == FrameType::recv)
    ++state.since_communicator;
  else if (type == FrameType::comm_new)
    state.since_communicator = 0;
  state.last_call = to_string(type);
  state.last_request = frame.head.request;
  state.calls.push_back({time, frame});
}

bool Job::ended() const {
  return std::all_of(ranks_.begin(), ranks_.end(),
                     [](const auto& r) { return r.second.status == Status::ended; });
}

bool Job::settled(uint64_t calls) const {
  return std::all_of(ranks_.begin(), ranks_.end(), [calls](const auto& r) {
    return r.second.status == Status::ended || r.second.since_communicator >= calls;
  });
}

bool Job::ended(uint32_t rank) const {
  return ranks_.at(rank).status == Status::ended;
}

void Job::lost(uint32_t rank, const std::string& how) {
  const Rank& state = of(rank);
  if (state.status == Status::ended) return;
  throw JobError({}, fmt::format("rank {} {} at {} ps without BYE; its last good request was {} ({})", rank,
                                 how, state.time, state.last_request, state.last_call));
}

Picoseconds Job::due() const {
  Picoseconds next = fabric_.next();
  if (!later_joins_.empty()) next = std::min(next, later_joins_.top().time);
  if (!later_sends_.empty()) next = std::min(next, later_sends_.top().time);
  for (const auto& [rank, state] : ranks_)
    if (!state.calls.empty()) next = std::min(next, state.calls.front().time);
  return next;
}

void Job::advance(Picoseconds wall) {
  while (step(wall)) {
  }
  if (settings_.wall && wall != kNever && wall > fabric_.now()) {
    // Nothing is left to do before `wall`.
    fabric_.run_to(wall);
    now_ = fabric_.now();
    wake_ranks();
  }
}

/// One instant. False: real ranks must say more first, or all is done.
bool Job::step(Picoseconds wall) {
  const Picoseconds t = std::max(due(), fabric_.now());
  bool anybody = false;
  for (const auto& [rank, state] : ranks_) {
    anybody = anybody || state.status != Status::ended;
    // It may still do something at its time.
    if (!settings_.wall && (state.status == Status::running || state.status == Status::absent) &&
        t >= state.time)
      return false;
  }
  if (due() == kNever) {
    if (!anybody || settings_.wall) return false;
    if (fabric_.rescue()) return true;
    deadlock();
  }
  if (t > wall) return false;
  const Picoseconds first = due();
  if (fabric_.next() <= t) {
    fabric_.run_to(t);
    now_ = fabric_.now();
    wake_ranks();
    return true;
  }
  if (first > fabric_.now()) fabric_.run_to(t);
  now_ = fabric_.now();
  apply_joins();
  for (auto& [rank, state] : ranks_) {
    while (!state.calls.empty() && state.calls.front().time <= now_) {
      const Call call = std::move(state.calls.front());
      state.calls.pop_front();
      try {
        apply(rank, call);
      } catch (const ProtocolError& e) {
        throw JobError({rank}, fmt::format("rank {} broke the protocol weft-comm/{}: {}", rank,
                                           kProtocolVersion, e.what()));
      }
    }
  }
  wake_ranks();
  return true;
}

void Job::apply(uint32_t rank, const Call& call) {
  switch (call.frame.head.type) {
    case FrameType::coll:
      return apply_coll(rank, call);
    case FrameType::send:
      return apply_send(rank, call);
    case FrameType::recv:
      return apply_recv(rank, call);
    case FrameType::wait:
      return apply_wait(rank, call, false);
    case FrameType::test:
      return apply_wait(rank, call, true);
    case FrameType::probe:
      return apply_probe(rank, call);
    case FrameType::compute:
      return apply_compute(rank, call);
    case FrameType::mark:
      return apply_mark(rank, call);
    case FrameType::comm_new:
      return make_communicator(rank, call);
    case FrameType::comm_free:
      return communicators_.release(rank, read_message<CommFree>(call.frame).id);
    case FrameType::bye:
      return apply_bye(rank, call);
    default:
      throw ProtocolError(to_string(call.frame.head.type) + " cannot be handled");
  }
}

/// Of a collective or message that begins.
Job::Request& Job::new_request(uint32_t rank, const Call& call) {
  const uint64_t number = call.frame.head.request;
  const auto [request, fresh] = of(rank).requests.emplace(number, Request{});
  if (!fresh)
    throw ProtocolError(fmt::format("{} with the number of request {}, which is open",
                                    to_string(call.frame.head.type), number));
  return request->second;
}

void Job::apply_wait(uint32_t rank, const Call& call, bool test) {
  Rank& state = of(rank);
  const Wait wait = test ? static_cast<Wait>(read_message<Test>(call.frame)) : read_message<Wait>(call.frame);
  const std::string name = to_string(call.frame.head.type);
  if (wait.how > static_cast<uint32_t>(WaitHow::some))
    throw ProtocolError(fmt::format("{} of kind {}, which does not exist", name, wait.how));
  std::set<uint64_t> seen;
  for (const uint64_t request : wait.requests) {
    if (state.requests.count(request) == 0)
      throw ProtocolError(fmt::format("{} for request {}, which does not exist, or is over", name, request));
    if (!seen.insert(request).second)
      throw ProtocolError(fmt::format("{} for request {} twice", name, request));
  }
  if (test) {
    const Picoseconds after = now_ + static_cast<Picoseconds>(settings_.welcome.poll_cost);
    answer(rank, call.frame.head.request, after, satisfied(state, wait));
    return;
  }
  if (capture_ != nullptr) capture_->pause(rank, now_);
  state.waits = true;
  state.wait = wait;
  state.wait_request = call.frame.head.request;
  state.wait_since = now_;
  try_wake(rank);
}

std::vector<uint64_t> Job::satisfied(const Rank& state, const Wait& wait) const {
  std::vector<uint64_t> done;
  for (const uint64_t request : wait.requests)
    if (state.requests.at(request).done) done.push_back(request);
  const auto how = static_cast<WaitHow>(wait.how);
  if (how == WaitHow::all && done.size() != wait.requests.size()) return {};
  if (how == WaitHow::any && done.size() > 1) {
    const auto time = [&](uint64_t request) { return state.requests.at(request).finished.t; };
    const uint64_t first = *std::min_element(done.begin(), done.end(),
                                             [&](uint64_t a, uint64_t b) { return time(a) < time(b); });
    done = {first};
  }
  return done;
}

void Job::answer(uint32_t rank, uint64_t request, Picoseconds time, const std::vector<uint64_t>& finished) {
  Rank& state = of(rank);
  Done done;
  for (const uint64_t number : finished) {
    Request& over = state.requests.at(number);
    if (over.has_data && over.receive_offset != kNoBuffer) {
      const uint64_t bytes = std::min<uint64_t>(over.data.size(), over.room);
      state.memory.write(over.receive_offset, over.data.data(), bytes);
      over.finished.data |= 1;
    }
    over.finished.request = number;
    done.finished.push_back(over.finished);
    state.requests.erase(number);
  }
  if (capture_ != nullptr) capture_->waited(rank, time, finished);
  reply(rank, request, time, done);
  run_on(rank, time);
}

void Job::run_on(uint32_t rank, Picoseconds time) {
  Rank& state = of(rank);
  state.status = Status::running;
  state.time = time;
}

bool Job::try_wake(uint32_t rank) {
  Rank& state = of(rank);
  if (state.probes) {
    const Posted wanted{0, state.probe.comm, state.probe.peer, state.probe.tag, 0};
    if (find_arrived(rank, wanted) == 0) return false;
    Call again;
    again.time = now_;
    again.frame.head.type = FrameType::probe;
    again.frame.head.request = state.wait_request;
    std::vector<uint8_t> bytes;
    write_frame(bytes, state.wait_request, static_cast<int64_t>(now_), state.probe);
    again.frame.fields.assign(bytes.begin() + kHeadBytes, bytes.end());
    state.probes = false;
    report_.ranks[rank].waiting += now_ - state.wait_since;
    apply_probe(rank, again);
    return true;
  }
  if (!state.waits) return false;
  const std::vector<uint64_t> done = satisfied(state, state.wait);
  if (done.empty() && !state.wait.requests.empty()) return false;
  state.waits = false;
  report_.ranks[rank].waiting += now_ - state.wait_since;
  if (settings_.wall && now_ > state.wait_since) {
    const Picoseconds wall = settings_.wall_clock();
    report_.lateness.push_back(wall > now_ ? wall - now_ : 0);
  }
  answer(rank, state.wait_request, now_, done);
  return true;
}

void Job::wake_ranks() {
  if (!failure_.empty()) throw JobError({failed_rank_}, failure_);
  for (auto& entry : ranks_) try_wake(entry.first);
}

void Job::finish(uint32_t rank, uint64_t request) {
  Request& over = of(rank).requests.at(request);
  over.done = true;
  over.finished.t = static_cast<int64_t>(now_);
  CallRow& row = report_.calls[over.row];
  row.finished = now_;
  row.injected = static_cast<Picoseconds>(over.finished.injected);
  report_.ranks[rank].injected += row.injected;
  report_.time = std::max(report_.time, now_);
}

void Job::apply_compute(uint32_t rank, const Call& call) {
  const auto work = read_message<Compute>(call.frame);
  if (work.ps >= 0) return;  // the rank's own time says it
  Picoseconds time = 0;
  if (config_.npu.peak_flops > 0) time = std::max(time, graph::time_of(work.flops, config_.npu.peak_flops));
  if (config_.npu.memory_bandwidth > 0)
    time = std::max(time, graph::time_of(work.bytes, config_.npu.memory_bandwidth));
  if (time > kLatest || (work.flops != 0 && config_.npu.peak_flops <= 0 && config_.npu.memory_bandwidth <= 0))
    throw JobError({rank},
                   fmt::format("rank {} computes {} operations{}{}, and `npu.peak` of the machine does not "
                               "say how long that takes, or it takes longer than a job can",
                               rank, work.flops, work.region.empty() ? "" : " in ", work.region));
  reply(rank, call.frame.head.request, now_ + time, Done{});
  run_on(rank, now_ + time);
}

void Job::apply_mark(uint32_t rank, const Call& call) {
  const auto mark = read_message<Mark>(call.frame);
  if (mark.kind > 2) throw ProtocolError(fmt::format("MARK of kind {}, which does not exist", mark.kind));
  const std::string name = mark.name.empty() ? kMarkKinds[mark.kind] : mark.name;
  std::vector<IterationRow>& rows = report_.iterations;
  if (mark.begin != 0) {
    rows.push_back({rank, mark.number, name, now_, kNever});
    return;
  }
  const auto open = std::find_if(rows.rbegin(), rows.rend(), [&](const IterationRow& row) {
    return row.rank == rank && row.number == mark.number && row.name == name && row.end == kNever;
  });
  if (open == rows.rend())
    throw JobError({rank}, fmt::format("rank {} ends {} {}, which has not begun", rank, name, mark.number));
  open->end = now_;
}

void Job::make_communicator(uint32_t rank, const Call& call) {
  of(rank).status = Status::making;
  const auto answers =
      communicators_.create(rank, call.frame.head.request, now_, read_message<CommNew>(call.frame));
  for (const Communicators::Answer& answer : answers) {
    reply(answer.rank, answer.request, now_, answer.comm);
    run_on(answer.rank, now_);
  }
}

const Communicator& Job::communicator(uint32_t rank, uint32_t id, const char* call) {
  const Communicator* comm = communicators_.find(id, rank);
  if (comm == nullptr)
    throw JobError({rank},
                   fmt::format("rank {}: {} on communicator {}, of which it is no member", rank, call, id));
  ++report_.communicators[id];
  return *comm;
}

void Job::apply_bye(uint32_t rank, const Call& call) {
  Rank& state = of(rank);
  const auto bye = read_message<Bye>(call.frame);
  const size_t open = static_cast<size_t>(std::count_if(state.requests.begin(), state.requests.end(),
                                                        [](const auto& r) { return !r.second.done; }));
  if (open != 0 && bye.status == 0) {
    const CallRow* row = nullptr;
    for (const auto& [number, request] : state.requests)
      if (!request.done && row == nullptr) row = &report_.calls[request.row];
    throw JobError({rank},
                   fmt::format("rank {} says BYE with {} requests that are not over; the first is {}{}{} "
                               "(communicator {}) since {} ps{}; wait for it first",
                               rank, open, row->call, row->operation.empty() ? "" : " ", row->operation,
                               row->comm, row->issued, unmatched(rank)));
  }
  if (capture_ != nullptr) capture_->pause(rank, now_);
  state.status = Status::ended;
  report_.ranks[rank].end = now_;
  report_.time = std::max(report_.time, now_);
  reply(rank, call.frame.head.request, now_, Done{});
}

std::string Job::describe() const {
  std::string text;
  for (const auto& [rank, state] : ranks_) {
    const char* what = "computes";
    if (state.status == Status::ended) what = "has ended";
    if (state.status == Status::absent) what = "has not said HELLO";
    text += fmt::format("  rank {} ", rank);
    if (state.status == Status::waiting && state.probes) {
      text += fmt::format("waits since {} ps in PROBE\n", state.wait_since);
      continue;
    }
    if (state.status == Status::making) {
      text += fmt::format("waits since {} ps for a communicator\n", state.time);
      continue;
    }
    if (state.status != Status::waiting || !state.waits) {
      text += fmt::format("{} at {} ps\n", what, state.time);
      continue;
    }
    text += fmt::format("waits since {} ps for", state.wait_since);
    uint32_t shown = 0;
    for (const uint64_t number : state.wait.requests) {
      const auto request = state.requests.find(number);
      if (request == state.requests.end() || request->second.done || ++shown > 4) continue;
      const CallRow& row = report_.calls[request->second.row];
      if (row.sequence >= 0)
        text += fmt::format(" {} number {} on communicator {},", row.operation, row.sequence, row.comm);
      else
        text += fmt::format(" {} {} {} (tag {}, communicator {}),", row.call,
                            row.call == std::string("send") ? "to" : "from",
                            row.peer < 0 ? std::string("any rank") : std::to_string(row.peer),
                            row.tag < 0 ? std::string("any") : std::to_string(row.tag), row.comm);
    }
    text.back() = '\n';
  }
  return text;
}

void Job::deadlock() {
  std::string text =
      fmt::format("deadlock at {} ps: every real rank waits, and nothing is left to happen\n", now_);
  text += describe() + unjoined() + communicators_.unresolved();
  std::vector<uint32_t> waiting;
  for (const auto& [rank, state] : ranks_)
    if (state.status != Status::ended) {
      waiting.push_back(rank);
      text += unmatched(rank);
    }
  throw JobError(waiting, text + fabric_.explain_stall());
}

}  // namespace weft::emulation
