// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/goal/loggops.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <queue>
#include <utility>

#include "configs/stop.h"

namespace weft::goal {
namespace {

constexpr uint32_t kNone = ~0u;

enum class What : uint8_t { begin, arrive, take };

/// Something that happens at `at` at `rank`. `order` says who is first at one instant: whoever became ready,
/// or was sent, first.
struct Event {
  Picoseconds at;
  uint64_t order;
  uint32_t rank;
  uint32_t operation;  ///< begin: any; take: the receive; arrive: the send's
  uint32_t source;     ///< arrive, take: rank of the send
  uint32_t send;       ///< take
  What what;
};

struct Later {
  bool operator()(const Event& a, const Event& b) const {
    return a.at != b.at ? a.at > b.at : a.order > b.order;
  }
};

/// Time with one thing or more under way: intervals come in ascending order of their begins.
class Cover {
 public:
  void add(Picoseconds from, Picoseconds to) {
    if (to <= end_) return;
    sum_ += to - std::max(from, end_);
    end_ = to;
  }
  Picoseconds sum() const { return sum_; }

 private:
  Picoseconds sum_ = 0, end_ = 0;
};

class Machine {
 public:
  Machine(const Program& program, const LogGpConfig& p, bool keep_matches)
      : program_(program),
        p_(p),
        per_byte_(parse_time_per_byte(p.G)),
        overhead_per_byte_(parse_time_per_byte(p.O)),
        keep_matches_(keep_matches) {
    ranks_.reserve(program.ranks.size());
    for (uint32_t r = 0; r < program.ranks.size(); ++r) ranks_.emplace_back(program.ranks[r]);
    result_.ranks.resize(program.ranks.size());
  }

  LogGopsResult run() {
    for (uint32_t r = 0; r < ranks_.size(); ++r)
      for (uint32_t i = 0; i < ranks_[r].unmet.size(); ++i)
        if (ranks_[r].unmet[i] == 0) push({0, 0, r, i, 0, 0, What::begin});
    while (!events_.empty()) {
      check_stop();
      const Event event = events_.top();
      events_.pop();
      ++result_.events;
      in_time([&] { handle(event); }, [&] { return program_.where(event.rank, event.operation); },
              "check the durations of the program and `loggp`");
    }
    finish();
    return std::move(result_);
  }

 private:
  struct Arrived {
    uint32_t source;
    uint32_t send;
  };

  struct Rank {
    explicit Rank(const RankProgram& program)
        : unmet(program.operations.size()),
          ready(program.operations.size()),
          first(program.operations.size() + 1),
          waiting(program.dependencies.size()) {
      uint32_t cpus = 1, nics = 1;
      for (const Operation& op : program.operations) {
        cpus = std::max<uint32_t>(cpus, op.cpu + 1u);
        nics = std::max<uint32_t>(nics, op.nic + 1u);
      }
      cpu.resize(cpus);
      out.resize(nics);
      in.resize(nics);
      for (const Dependency& d : program.dependencies) {
        ++unmet[d.after];
        ++first[d.before + 1];
      }
      for (size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
      std::vector<uint64_t> next(first.begin(), first.end() - 1);
      for (const Dependency& d : program.dependencies) waiting[next[d.before]++] = {d.after, d.start};
    }
    std::vector<uint32_t> unmet;
    std::vector<Picoseconds> ready;  ///< of each operation: the last dependency that was met
    std::vector<uint64_t> first;
    std::vector<std::pair<uint32_t, bool>> waiting;  ///< operation, and whether it waits for the start only
    std::vector<Picoseconds> cpu, out, in;           ///< when each is free
    std::deque<uint32_t> posted;                     ///< receives without a message, in order
    std::deque<Arrived> unexpected;                  ///< messages without a receive, in order
    std::vector<std::pair<Picoseconds, Picoseconds>> computed, communicated;  ///< not yet summed up
    uint64_t done = 0;
  };

  const Operation& op(uint32_t rank, uint32_t i) const { return program_.ranks[rank].operations[i]; }

  void push(Event event) {
    event.order = order_++;
    events_.push(event);
  }
  /// Tries again when what it needs is free, and keeps its place among those that wait.
  void again(Event event, Picoseconds at) {
    event.at = at;
    events_.push(event);
  }

  /// `bytes` - 1 times so many attoseconds, in whole steps of the resolution.
  Picoseconds bytes_time(uint64_t bytes, uint64_t attoseconds) const {
    if (bytes <= 1) return 0;
    const Picoseconds time = within_time(Wide{bytes - 1} * attoseconds / 1000000);
    return time / p_.resolution * p_.resolution;
  }

  void met(uint32_t rank, uint32_t i, bool start, Picoseconds at) {
    Rank& r = ranks_[rank];
    for (uint64_t k = r.first[i]; k < r.first[i + 1]; ++k) {
      const auto& [after, of_start] = r.waiting[k];
      if (of_start != start) continue;
      r.ready[after] = std::max(r.ready[after], at);
      if (--r.unmet[after] == 0) push({r.ready[after], 0, rank, after, 0, 0, What::begin});
    }
  }
  void ended(uint32_t rank, uint32_t i, Picoseconds at) {
    Rank& r = ranks_[rank];
    ++r.done;
    result_.ranks[rank].end = std::max(result_.ranks[rank].end, at);
    met(rank, i, false, at);
  }

  void handle(const Event& event) {
    if (event.what == What::arrive) {
      arrive(event);
    } else if (event.what == What::take) {
      take(event);
    } else {
      switch (op(event.rank, event.operation).kind) {
        case Kind::calc:
          return calc(event);
        case Kind::send:
          return send(event);
        case Kind::receive:
          return receive(event);
      }
    }
  }

  void calc(const Event& event) {
    Rank& r = ranks_[event.rank];
    const Operation& o = op(event.rank, event.operation);
    if (r.cpu[o.cpu] > event.at) return again(event, r.cpu[o.cpu]);
    const Picoseconds end = later(event.at, times(o.size, 1000));
    r.cpu[o.cpu] = end;
    r.computed.emplace_back(event.at, end);
    met(event.rank, event.operation, true, event.at);
    ended(event.rank, event.operation, end);
  }

  void send(const Event& event) {
    Rank& r = ranks_[event.rank];
    const Operation& o = op(event.rank, event.operation);
    const Picoseconds free = std::max(r.cpu[o.cpu], r.out[o.nic]);
    if (free > event.at) return again(event, free);
    const Picoseconds on_cpu = later(later(event.at, p_.o), bytes_time(o.size, overhead_per_byte_));
    const Picoseconds on_wire = bytes_time(o.size, per_byte_);
    r.cpu[o.cpu] = on_cpu;
    r.out[o.nic] = later(later(event.at, p_.g), on_wire);
    r.communicated.emplace_back(event.at, on_cpu);
    ++result_.messages;
    met(event.rank, event.operation, true, event.at);
    push({later(later(on_cpu, p_.L), on_wire), 0, o.peer, event.operation, event.rank, 0, What::arrive});
    if (o.size <= p_.S) ended(event.rank, event.operation, on_cpu);
  }

  bool fits(const Operation& receive, uint32_t source, const Operation& send) const {
    return (receive.peer == kAny || receive.peer == source) &&
           (receive.tag == kAny || receive.tag == send.tag);
  }

  void receive(const Event& event) {
    Rank& r = ranks_[event.rank];
    met(event.rank, event.operation, true, event.at);
    const Operation& o = op(event.rank, event.operation);
    for (auto it = r.unexpected.begin(); it != r.unexpected.end(); ++it) {
      if (!fits(o, it->source, op(it->source, it->send))) continue;
      const Arrived message = *it;
      r.unexpected.erase(it);
      return match(
          {event.at, event.order, event.rank, event.operation, message.source, message.send, What::take});
    }
    r.posted.push_back(event.operation);
  }

  void arrive(const Event& event) {
    Rank& r = ranks_[event.rank];
    const Operation& message = op(event.source, event.operation);
    for (auto it = r.posted.begin(); it != r.posted.end(); ++it) {
      if (!fits(op(event.rank, *it), event.source, message)) continue;
      const uint32_t receive = *it;
      r.posted.erase(it);
      return match({event.at, event.order, event.rank, receive, event.source, event.operation, What::take});
    }
    r.unexpected.push_back({event.source, event.operation});
  }

  void match(const Event& event) {
    if (keep_matches_) result_.matches.push_back({event.source, event.send, event.rank, event.operation});
    take(event);
  }

  void take(const Event& event) {
    Rank& r = ranks_[event.rank];
    const Operation& o = op(event.rank, event.operation);
    const Operation& message = op(event.source, event.send);
    const Picoseconds free = std::max(r.cpu[o.cpu], r.in[o.nic]);
    if (free > event.at) return again(event, free);
    const Picoseconds from_nic = later(event.at, p_.g);
    const Picoseconds end = later(later(from_nic, p_.o), bytes_time(message.size, overhead_per_byte_));
    r.in[o.nic] = from_nic;
    r.cpu[o.cpu] = end;
    r.communicated.emplace_back(event.at, end);
    if (message.size > p_.S) {
      Rank& sender = ranks_[event.source];
      sender.cpu[message.cpu] = std::max(sender.cpu[message.cpu], end);
      sender.out[message.nic] = std::max(sender.out[message.nic], from_nic);
      ended(event.source, event.send, end);
    }
    ended(event.rank, event.operation, end);
  }

  static Picoseconds busiest_calc(const RankProgram& rank) {
    Picoseconds sums[256] = {};
    for (const Operation& op : rank.operations)
      if (op.kind == Kind::calc) sums[op.cpu] = saturated(Wide{sums[op.cpu]} + Wide{op.size} * 1000);
    return *std::max_element(std::begin(sums), std::end(sums));
  }

  void finish() {
    for (uint32_t r = 0; r < ranks_.size(); ++r) {
      Rank& rank = ranks_[r];
      Cover compute, communicate, all;
      std::sort(rank.communicated.begin(), rank.communicated.end());
      for (const auto& [from, to] : rank.communicated) communicate.add(from, to);
      std::sort(rank.computed.begin(), rank.computed.end());
      for (const auto& [from, to] : rank.computed) compute.add(from, to);
      rank.communicated.insert(rank.communicated.end(), rank.computed.begin(), rank.computed.end());
      std::sort(rank.communicated.begin(), rank.communicated.end());
      for (const auto& [from, to] : rank.communicated) all.add(from, to);
      result_.ranks[r].compute = compute.sum();
      result_.ranks[r].communicating = communicate.sum();
      result_.ranks[r].busiest_calc = busiest_calc(program_.ranks[r]);
      result_.ranks[r].communication = all.sum() - compute.sum();
      result_.time = std::max(result_.time, result_.ranks[r].end);
      if (rank.done != rank.unmet.size()) tell_stall(r);
    }
  }

  void tell_stall(uint32_t r) {
    constexpr uint32_t kShown = 8;
    if (stalled_++ >= kShown) return;
    const Rank& rank = ranks_[r];
    std::string why = "a dependency, or a rendezvous that never ends";
    uint32_t i = kNone;
    if (!rank.posted.empty()) {
      i = rank.posted.front();
      why = "a message, which never comes";
    } else {
      if (!rank.unexpected.empty())
        result_.stall +=
            fmt::format("\n  rank {}: nobody has received {}", r,
                        program_.where(rank.unexpected.front().source, rank.unexpected.front().send));
      for (uint32_t k = 0; k < rank.unmet.size() && i == kNone; ++k)
        if (rank.unmet[k] != 0) i = k;
    }
    if (i == kNone) {
      result_.stall += fmt::format("\n  rank {}: a rendezvous never ends", r);
    } else {
      result_.stall += fmt::format("\n  {} waits for {}", program_.where(r, i), why);
    }
  }

  const Program& program_;
  const LogGpConfig& p_;
  const uint64_t per_byte_, overhead_per_byte_;
  const bool keep_matches_;
  std::vector<Rank> ranks_;
  std::priority_queue<Event, std::vector<Event>, Later> events_;
  uint64_t order_ = 0;
  uint32_t stalled_ = 0;
  LogGopsResult result_;
};

}  // namespace

LogGopsResult run_loggops(const Program& program, const LogGpConfig& parameters, bool keep_matches) {
  return Machine(program, parameters, keep_matches).run();
}

}  // namespace weft::goal
