// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "emulation/environment/restricted_fabric.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace weft::emulation {

/// What a real rank's engine sees of the fabric. What it sends needs no event: IdleTimes knows what follows.
class RestrictedFabric::Port final : public MessagePort {
 public:
  Port(RestrictedFabric& fabric, uint32_t rank) : fabric_(fabric), rank_(rank) {}
  Picoseconds now() const override { return fabric_.now_; }
  void submit(const weft::Message&) override {}
  void schedule(Picoseconds at, uint32_t token) override {
    Event event;
    event.at = at;
    event.kind = Kind::wake;
    event.rank = rank_;
    event.value = token;
    fabric_.push(event);
  }

 private:
  RestrictedFabric& fabric_;
  uint32_t rank_;
};

/// Hears when engines begin phases.
class RestrictedFabric::Listener final : public insight::ActivityListener {
 public:
  explicit Listener(RestrictedFabric& fabric) : fabric_(fabric) {}
  void node_began(const Node&) override {}
  void node_ended(uint32_t, uint32_t, Picoseconds) override {}
  void collective_began(const Part&) override {}
  void collective_ended(uint32_t, uint32_t, Picoseconds) override {}
  void phase_began(const Phase& phase) override {
    fabric_.phase_began(phase.npu, phase.stream, phase.chunk << 8 | phase.phase);
  }
  void phase_ended(const Phase&) override {}
  void submitted(uint32_t) override {}
  void crossed(const Crossing&) override {}
  void entered(uint32_t, uint32_t, uint32_t, uint64_t, Picoseconds) override {}
  void delivered(const Delivery&) override {}
  void combined(uint32_t, uint32_t, Picoseconds) override {}

 private:
  RestrictedFabric& fabric_;
};

RestrictedFabric::RestrictedFabric(const Config& config, const Classes& classes, IdleTimes& idle)
    : classes_(classes),
      idle_(idle),
      phases_(std::make_unique<Listener>(*this)),
      log_(std::make_unique<insight::CausalLog>(0)),
      chain_(idle) {
  log_->listen(phases_.get());
  for (const uint32_t rank : classes.real()) {
    RankState& state = ranks_[rank];
    state.port = std::make_unique<Port>(*this, rank);
    state.engine = std::make_unique<collectives::CollectiveEngine>(
        NpuId{rank}, config, *state.port,
        [this, rank](const collectives::CollectiveDone& done) { engine_done(rank, done); });
    state.engine->keep_causes(log_.get());
  }
}

RestrictedFabric::~RestrictedFabric() = default;

void RestrictedFabric::push(Event event) {
  event.order = order_++;
  events_.push(event);
}

Picoseconds RestrictedFabric::next() const {
  if (unsettled_) return now_;
  return events_.empty() ? kNever : std::max(now_, events_.top().at);
}

void RestrictedFabric::settle() {
  unsettled_ = false;
  for (auto& [rank, state] : ranks_) state.engine->settled();
}

void RestrictedFabric::run_to(Picoseconds t) {
  told_ = false;
  while (!told_) {
    if (chain_.stale()) measure_chain();
    const Picoseconds at = next();
    if (at > t) {
      now_ = std::max(now_, t);
      return;
    }
    now_ = at;
    while (!events_.empty() && events_.top().at <= now_) {
      const Event event = events_.top();
      events_.pop();
      if (event.kind == Kind::arrival) {
        if (arrives(event)) ranks_.at(event.rank).engine->completed(event.completion);
      } else if (event.kind == Kind::wake) {
        ranks_.at(event.rank).engine->wake(event.value);
      } else if (event.kind == Kind::left) {
        listener_->message_left(event.value);
      } else {
        listener_->message_there(event.value, event.completion);
      }
      told_ = told_ || event.kind >= Kind::left;
    }
    settle();
  }
}

bool RestrictedFabric::rescue() {
  uint32_t started = 0;
  for (auto& [rank, state] : ranks_) started += state.engine->rescue();
  return started != 0;
}

void RestrictedFabric::make_groups(const std::shared_ptr<Operation>& shared, uint32_t first) {
  Operation& operation = *shared;
  const collectives::CollectivePlan& plan = *operation.start.plan;
  std::map<uint32_t, Group> by_leader;
  std::vector<uint32_t> real_members;
  for (const uint32_t rank : classes_.real())
    if (plan.member_index(rank) != ~0u) real_members.push_back(rank);
  const Picoseconds delay = operation.start.delay;
  const bool chained = chain_.add(shared, now_, ranks_.at(first).open == 0, operations_.size() == 1);
  for (const std::shared_ptr<Operation>& dropped : chain_.take_dropped()) leave_chain(*dropped);
  operation.apart = delay != 0 || (!chained && real_members.size() > 1 &&
                                   std::any_of(real_members.begin(), real_members.end(),
                                               [this](uint32_t rank) { return followers_busy(rank); }));
  const auto add = [&](uint32_t rank) {
    const uint32_t leader = classes_.representative(rank);
    const bool member = plan.member_index(leader) != ~0u;
    // Followers of a rank that is no member join with the first that does.
    const uint32_t key = member ? leader : ~0u;
    const bool apart = operation.apart && !classes_.is_real(rank);
    Group& group = by_leader[apart && member ? leader | 1u << 31 : key];
    group.members.push_back(rank);
    group.leaders = member ? std::vector<uint32_t>{leader} : real_members;
    group.delay = apart ? delay : 0;
  };
  if (real_members.size() == 1 && delay == 0) {
    // One group of all: no list of the whole world is made.
    by_leader[0].leaders = real_members;
  } else {
    const std::vector<uint32_t>& ranks = plan.request().group->ranks;
    for (uint32_t m = 0; m < plan.members(); ++m) add(ranks.empty() ? m : ranks[m]);
  }
  for (auto& [leader, group] : by_leader) operation.groups.push_back(std::move(group));
}

uint32_t RestrictedFabric::begin(const Start& start) {
  const uint32_t number = next_operation_++;
  auto shared = std::make_shared<Operation>();
  operations_[number] = shared;
  Operation& operation = *shared;
  operation.number = number;
  operation.start = start;
  for (const uint32_t rank : classes_.real())
    if (start.plan->member_index(rank) != ~0u) ++operation.left;
  return number;
}

void RestrictedFabric::join(uint32_t number, uint32_t rank) {
  const std::shared_ptr<Operation> shared = operations_.at(number);
  Operation& operation = *shared;
  if (operation.groups.empty()) make_groups(shared, rank);
  for (Group& group : operation.groups)
    if (group.joined == kNever &&
        std::find(group.leaders.begin(), group.leaders.end(), rank) != group.leaders.end()) {
      const bool followers =
          operation.apart && group.leaders.front() == rank && !classes_.is_real(group.members.front());
      group.joined = now_ + group.delay;
      if (followers && !operation.chained && followers_busy(rank))
        group.joined = std::max(group.joined, ranks_.at(rank).followers_done);
      group.lag = group.joined - now_;
    }
  if (operation.chained) {
    chain_.joined();
  } else {
    measure_exactly(operation);
    note_ends(operation);
    schedule(number, operation, operation.exact != nullptr);
  }
  ++ranks_.at(rank).open;
  unsettled_ = true;
  ranks_.at(rank).engine->start(number, operation.start.plan, operation.start.priority);
}

bool RestrictedFabric::followers_busy(uint32_t rank) const {
  const RankState& state = ranks_.at(rank);
  return state.open == 0 && state.followers_done > now_;
}

void RestrictedFabric::note_ends(Operation& operation) {
  const std::vector<Group>& groups = operation.groups;
  if (std::any_of(groups.begin(), groups.end(), [](const Group& group) { return group.joined == kNever; }))
    return;
  const bool together = all_at_once(operation);
  if (!together && operation.exact == nullptr) return;
  const std::vector<Picoseconds>& ends = together ? idle_.ends(operation.start.plan) : operation.exact_ends;
  const Picoseconds from = together ? groups.front().joined : operation.first;
  if (ends.empty()) return;
  operation.last_end = from + *std::max_element(ends.begin(), ends.end());
  // With several phases or chunks the next collective begins before this one has ended.
  const collectives::CollectivePlan& plan = *operation.start.plan;
  if (groups.size() < 2 || plan.chunks() != 1 || plan.phases().size() != 1) return;
  for (const Group& group : groups) {
    for (const uint32_t rank : group.members) {
      if (classes_.is_real(rank)) continue;
      Picoseconds& done = ranks_.at(classes_.representative(rank)).followers_done;
      done = std::max(done, from + ends[rank]);
    }
  }
}

/// The times of collectives that meet.
void RestrictedFabric::measure_chain() {
  chain_.measure();
  for (const auto& operation : chain_.collectives())
    if (operations_.count(operation->number) != 0) schedule(operation->number, *operation, true);
}

/// Its times are its own from now on, as if it met no other collective.
void RestrictedFabric::leave_chain(Operation& operation) {
  operation.chained = false;
  operation.exact = nullptr;
  operation.keeps.reset();
  if (operations_.count(operation.number) == 0) return;
  measure_exactly(operation);
  note_ends(operation);
  schedule(operation.number, operation, true);
}

bool RestrictedFabric::all_at_once(const Operation& operation) const {
  return std::all_of(operation.groups.begin(), operation.groups.end(),
                     [&](const Group& group) { return group.joined == operation.groups.front().joined; });
}

/// In the measurement of the chain, which lacks what waits for members that have not joined; kBefore: not
/// there.
int64_t RestrictedFabric::in_chain(const Operation& operation, uint32_t rank, uint32_t key,
                                   const size_t* arrival) {
  const auto& phases = operation.exact->at(rank).phases;
  const auto phase = phases.find(key);
  if (phase == phases.end()) return kBefore;
  if (arrival == nullptr) return phase->second.begin;
  const std::vector<RankTimes::Arrival>& all =
      idle_.together(operation.start.plan).at(rank).phases.at(key).arrivals;
  const std::vector<RankTimes::Arrival>& known = phase->second.arrivals;
  if (known.size() == all.size()) return known[*arrival].at;
  const auto before = [](const RankTimes::Arrival& a, const RankTimes::Arrival& b) {
    return std::tie(a.round, a.source) < std::tie(b.round, b.source);
  };
  // The n-th of this round and source.
  const RankTimes::Arrival& wanted = all[*arrival];
  const auto n = &wanted - &*std::lower_bound(all.begin(), all.end(), wanted, before);
  const auto same = std::equal_range(known.begin(), known.end(), wanted, before);
  return n < same.second - same.first ? same.first[n].at : kBefore;
}

namespace {

/// A path (or how much later it is) may be below 0; a time is not. Errors: TimeOverflow when differences of
/// such times would not fit.
Picoseconds at(Picoseconds joined, int64_t path, int64_t late) {
  const auto size = [](int64_t value) {
    return value < 0 ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value);
  };
  Wide forwards = joined;
  Wide backwards = 0;
  for (const int64_t part : {path, late}) (part < 0 ? backwards : forwards) += size(part);
  if (forwards <= backwards) return 0;
  if (forwards - backwards > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) time_overflow();
  return static_cast<Picoseconds>(forwards - backwards);
}

}  // namespace

/// `shift`: by which the rank's phase has begun later than expected (0: asks for its begin). Emulated members
/// are as late, but those that have joined later have had time to catch up.
Picoseconds RestrictedFabric::time_of(Operation& operation, uint32_t rank, uint32_t key, int64_t shift,
                                      const size_t* arrival) {
  if (operation.chained) {
    const int64_t since = operation.exact == nullptr ? kBefore : in_chain(operation, rank, key, arrival);
    return since == kBefore ? kNever : operation.first + static_cast<Picoseconds>(since);
  }
  const auto of = [&](const OperationTimes& times) {
    const RankTimes::Phase& phase = times.at(rank).phases.at(key);
    return arrival == nullptr ? phase.begin : phase.arrivals[*arrival].at;
  };
  const std::vector<Group>& groups = operation.groups;
  const bool catches_up = shift > 0 && operation.apart;
  if (operation.exact != nullptr && !catches_up)
    return at(operation.first, std::max<int64_t>(0, of(*operation.exact)), shift);
  if (all_at_once(operation)) {
    if (groups.front().joined == kNever) return kNever;
    return at(groups.front().joined, std::max<int64_t>(0, of(idle_.together(operation.start.plan))), shift);
  }
  Picoseconds latest = 0;
  for (size_t g = 0; g < groups.size(); ++g) {
    const int64_t path =
        of(idle_.after(operation.start.plan, g << 1 | (operation.apart ? 1 : 0), groups[g].members));
    if (path == kBefore) continue;
    if (groups[g].joined == kNever) return kNever;
    latest = std::max(latest, at(groups[g].joined, path,
                                 std::max<int64_t>(0, shift - static_cast<int64_t>(groups[g].lag))));
  }
  return latest;
}

void RestrictedFabric::phase_began(uint32_t rank, uint32_t stream, uint32_t key) {
  Operation& operation = *operations_.at(stream);
  const OperationTimes& times = idle_.together(operation.start.plan);
  const Picoseconds expected = time_of(operation, rank, key, 0, nullptr);
  // On a machine with other collectives it begins later, or, where chunks take other turns, earlier.
  int64_t shift = expected == kNever ? 0 : static_cast<int64_t>(now_ - expected);
  if (operation.chained)
    shift = 0;
  else if (!all_at_once(operation))
    shift = std::max<int64_t>(0, shift);
  const auto phase = times.at(rank).phases.find(key);
  if (phase == times.at(rank).phases.end()) return;
  for (size_t a = 0; a < phase->second.arrivals.size(); ++a)
    operation.expected.push_back({rank, key, a, shift, 0, false});
  unsettled_ = true;
  if (!operation.chained || !chain_.stale()) schedule(stream, operation, false);
}

/// All groups have joined, at different times: what follows is simulated just so, if that is cheap.
void RestrictedFabric::measure_exactly(Operation& operation) {
  if (operation.exact != nullptr || all_at_once(operation)) return;
  std::vector<IdleTimes::Joins> joins;
  operation.first = kNever;
  for (const Group& group : operation.groups) {
    if (group.joined == kNever) return;
    operation.first = std::min(operation.first, group.joined);
  }
  for (size_t g = 0; g < operation.groups.size(); ++g) {
    const Group& group = operation.groups[g];
    joins.push_back({group.joined - operation.first, g << 1 | (operation.apart ? 1 : 0), &group.members});
  }
  std::stable_sort(joins.begin(), joins.end(),
                   [](const auto& a, const auto& b) { return a.offset < b.offset; });
  const IdleTimes::Exact* exact = idle_.exactly(operation.start.plan, joins);
  if (exact == nullptr) return;
  const auto kept = std::make_shared<IdleTimes::Exact>(*exact);
  operation.exact = &kept->times;
  operation.exact_ends = kept->ends;
  operation.keeps = kept;
}

void RestrictedFabric::schedule(uint32_t stream, Operation& operation, bool again) {
  std::vector<Expected>& all = operation.expected;
  while (operation.told < all.size() && all[operation.told].version != 0) ++operation.told;
  for (size_t i = again ? 0 : operation.told; i < all.size(); ++i) {
    Expected& e = all[i];
    if (e.there || (e.version != 0 && !again)) continue;
    const Picoseconds at = time_of(operation, e.rank, e.key, e.shift, &e.arrival);
    if (at == kNever) {
      if (e.version != 0) ++e.version;  // what has been told of it does not come
      continue;
    }
    const RankTimes::Arrival& arrival =
        idle_.together(operation.start.plan).at(e.rank).phases.at(e.key).arrivals[e.arrival];
    Event event;
    event.at = std::max(now_, at);
    event.kind = Kind::arrival;
    event.rank = e.rank;
    event.value = static_cast<uint32_t>(i);
    event.operation = stream;
    event.version = ++e.version;
    event.completion.id.stream = stream;
    event.completion.id.chunk = static_cast<uint16_t>(e.key >> 8);
    event.completion.id.phase = static_cast<uint8_t>(e.key & 255);
    event.completion.id.round = arrival.round;
    event.completion.source = NpuId{arrival.source};
    event.completion.bytes = arrival.bytes;
    event.completion.split.queue = arrival.queued;
    event.completion.split.reduce = arrival.reduce;
    push(event);
  }
}

/// Not one whose time has changed since.
bool RestrictedFabric::arrives(const Event& event) {
  const auto operation = operations_.find(event.operation);
  if (operation == operations_.end()) return false;
  Expected& expected = operation->second->expected[event.value];
  if (expected.there || expected.version != event.version) return false;
  expected.there = true;
  return true;
}

void RestrictedFabric::engine_done(uint32_t rank, const collectives::CollectiveDone& done) {
  told_ = true;
  const uint32_t stream = done.stream;
  Operation& operation = *operations_.at(stream);
  const bool last = --operation.left == 0;
  --ranks_.at(rank).open;
  listener_->operation_done(stream, rank, done);
  if (last) operations_.erase(stream);
}

void RestrictedFabric::send(uint32_t message, uint32_t source, uint32_t destination, uint64_t bytes) {
  const MessageTimes& times = idle_.message(source, destination, bytes);
  const Geometry& geometry = idle_.machine().geometry();
  uint32_t port = 0;  // messages of different dimensions leave and come by different ports
  while (port + 1 < geometry.dimensions() && geometry.coordinate(geometry.place(source), port) ==
                                                 geometry.coordinate(geometry.place(destination), port))
    ++port;
  Picoseconds& out = out_free_[{source, port}];
  const Picoseconds begin = std::max(now_, out);
  out = begin + times.left;
  Picoseconds& in = in_free_[{destination, port}];
  const Picoseconds there = std::max(begin + times.there, in + times.left);
  in = there;
  Event event;
  event.value = message;
  event.kind = Kind::left;
  event.at = out;
  push(event);
  event.kind = Kind::there;
  event.at = there;
  event.completion = times.completion;
  event.completion.split.queue += there - now_ - times.there;
  push(event);
}

}  // namespace weft::emulation
