// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Times of one-dimensional collectives, to the picosecond: the closed forms where
// sizes divide, and where they do not, a step model (who sends what is the algorithm's; links, switches,
// ports, endpoint delays and reductions are written again here, in exact rationals). Every case is a Machine;
// all run in one simulation.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "sc_models/machine.h"
#include "tests/support/isolated.h"

namespace weft {
namespace {

using collectives::Algorithm;
using collectives::PhaseShape;
using collectives::Round;
using collectives::Split;

constexpr Wide kSecond = 1'000'000'000'000ull;

struct Spec {
  DimensionKind kind = DimensionKind::ring;
  uint32_t n = 2;
  Fidelity fidelity = Fidelity::message;
  Switching switching = Switching::store_and_forward;
  Rate rate;
  Picoseconds latency = 0;
  Picoseconds endpoint = 0;
  Rate reduction;  ///< 0: none
  std::string algorithm;
  CollectiveOp op = CollectiveOp::all_reduce;
  uint64_t bytes = 0;
  uint32_t chunks = 1;

  std::string name() const {
    return std::string(to_string(kind)) + "(" + std::to_string(n) + ") " + to_string(fidelity) + " " +
           to_string(switching) + " " + algorithm + " " + to_string(op) + " " + std::to_string(bytes) +
           " B in " + std::to_string(chunks) + ", e " + std::to_string(endpoint) + ", reduction " +
           std::to_string(reduction.bytes_per_second) + ", rate " + std::to_string(rate.bytes_per_second) +
           "/" + std::to_string(rate.divisor);
  }
};

uint64_t ceil_time(uint64_t bytes, Rate rate) {
  const Wide n = static_cast<Wide>(bytes) * rate.divisor * kSecond;
  return static_cast<uint64_t>(n / rate.bytes_per_second + (n % rate.bytes_per_second != 0 ? 1 : 0));
}

// ---- closed forms
// ------------------------------------------------------------------------------------------------

/// One chunk of S bytes; every size involved divides.
Picoseconds closed_form(const Spec& s, uint64_t bytes) {
  const uint64_t n = s.n;
  const uint64_t hops = s.kind == DimensionKind::switch_ ? 2 : 1;
  const Picoseconds e = s.endpoint;
  auto x = [&](uint64_t m) {
    const uint64_t ser = ceil_time(m, s.rate);
    const bool every_hop = s.fidelity == Fidelity::message && s.switching == Switching::store_and_forward;
    return hops * s.latency + (every_hop ? hops : 1) * ser;
  };
  auto red = [&](uint64_t m) {
    return s.reduction.bytes_per_second == 0 ? 0 : ceil_time(3 * m, s.reduction);
  };
  const uint64_t block = bytes / n;
  if (s.algorithm == "ring") {
    switch (s.op) {
      case CollectiveOp::all_gather:
        return e + (n - 1) * (x(bytes) + e);
      case CollectiveOp::reduce_scatter:
        return e + (n - 1) * (x(block) + e + red(block));
      case CollectiveOp::all_reduce:
        return e + 2 * (n - 1) * (x(block) + e) + (n - 1) * red(block);
      default:
        return e + n * (n - 1) / 2 * (x(block) + e);
    }
  }
  if (s.algorithm == "direct") {
    // One port: its n - 1 messages leave one after the other.
    auto serial = [&](uint64_t m) {
      return s.kind == DimensionKind::switch_ ? (n - 2) * ceil_time(m, s.rate) : 0;
    };
    switch (s.op) {
      case CollectiveOp::all_gather:
        return 2 * e + x(bytes) + serial(bytes);
      case CollectiveOp::reduce_scatter:
        return 2 * e + x(block) + red(block) + serial(block);
      case CollectiveOp::all_reduce:
        return 3 * e + 2 * x(block) + red(block) + 2 * serial(block);
      default:
        return 2 * e + x(block) + serial(block);
    }
  }
  Picoseconds scatter = e;
  Picoseconds gather = 0;
  for (uint64_t m = bytes / 2, shard = bytes; m >= block && m > 0; m /= 2, shard *= 2) {
    scatter += x(m) + e + red(m);
    gather += (s.op == CollectiveOp::all_gather ? x(shard) : x(m)) + e;
    if (m == block) break;
  }
  if (s.op == CollectiveOp::reduce_scatter) return scatter;
  if (s.op == CollectiveOp::all_gather) return e + gather;
  return scatter + gather;
}

// ---- step model
// --------------------------------------------------------------------------------------------------

/// A link in exact time: numerators over the rate's bytes_per_second.
struct ExactLink {
  Wide free = 0;
  struct Slot {
    Picoseconds start = 0;
    Picoseconds end = 0;
  };
  Slot take(Picoseconds ready, uint64_t bytes, Rate rate, Picoseconds tail) {
    const Wide unit = rate.bytes_per_second;
    const Wide start = ready > static_cast<Picoseconds>(free / unit) ? ready * unit : free;
    free = start + static_cast<Wide>(bytes) * rate.divisor * kSecond;
    Slot slot{static_cast<Picoseconds>(start / unit), static_cast<Picoseconds>((free + unit - 1) / unit)};
    if (slot.end < tail) {
      slot.end = tail;
      free = tail * unit;
    }
    return slot;
  }
  /// Whole picoseconds for each message.
  Slot take_whole(Picoseconds ready, uint64_t bytes, Rate rate) {
    const Wide unit = rate.bytes_per_second;
    const Picoseconds start = std::max(ready, static_cast<Picoseconds>(free / unit));
    const Picoseconds end = start + ceil_time(bytes, rate);
    free = static_cast<Wide>(end) * unit;
    return {start, end};
  }
};

class StepModel {
 public:
  explicit StepModel(const Spec& s) : s_(s), algorithm_(*collectives::find_algorithm(s.algorithm)) {}

  Picoseconds run() {
    const uint32_t n = s_.n;
    if (s_.bytes == 0) return 0;
    const auto chunks = static_cast<uint32_t>(std::min<uint64_t>(s_.chunks, s_.bytes));
    for (uint32_t c = 0; c < chunks; ++c) {
      const uint64_t each = s_.bytes / chunks;
      sizes_.push_back(c + 1 == chunks ? s_.bytes - each * (chunks - 1) : each);
    }
    members_.resize(n);
    for (uint32_t i = 0; i < n; ++i) push(s_.endpoint, {i, false, {}});
    for (uint32_t i = 0; i < n; ++i) members_[i].starting = true;
    while (!queue_.empty()) {
      const auto first = *queue_.begin();
      queue_.erase(queue_.begin());
      now_ = std::get<0>(first.first);
      const Due& due = first.second;
      if (due.at_switch) {
        if (due.message.last_link == kNoLink) {
          leave_switch(due.message);
        } else {
          take_last_link(due.message);
        }
      } else if (due.message.bytes == kStart) {
        members_[due.member].starting = false;
        enter(due.member);
      } else if (const Picoseconds carried = full_exchange(due.message); carried > now_) {
        push(carried, due);
      } else {
        Member& m = members_[due.member];
        ++m.arrived[{due.message.chunk, due.message.round}];
        advance(due.member);
      }
    }
    for (const Member& m : members_) {
      if (m.chunk != sizes_.size()) return kNever;
    }
    return last_;
  }

 private:
  static constexpr uint64_t kStart = ~0ull;
  static constexpr uint32_t kNoLink = ~0u;
  struct Flight {
    uint32_t from = 0;
    uint32_t to = 0;
    uint32_t chunk = 0;
    uint32_t round = 0;
    uint64_t bytes = kStart;
    bool reduce = false;
    Picoseconds tail = 0;
    uint32_t last_link = kNoLink;  ///< analytical: the receiver's, not taken yet
  };
  struct Due {
    uint32_t member = 0;
    bool at_switch = false;  ///< or, at analytical fidelity, at the last link
    Flight message;
  };
  struct Member {
    uint32_t chunk = 0;
    uint32_t round = 0;
    uint32_t needs = 0;
    bool starting = false;
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> arrived;
    std::map<std::pair<uint32_t, uint32_t>, Picoseconds> entered;
  };

  PhaseShape shape(uint32_t me) const { return {s_.op, s_.n, me, 0, false}; }

  void push(Picoseconds at, const Due& due) {
    queue_.emplace(std::make_tuple(at, due.at_switch ? 0u : 1u, due.message.from, sequence_++), due);
  }

  void enter(uint32_t me) {
    Member& m = members_[me];
    Round round;
    algorithm_.round(shape(me), m.round, round);
    const uint64_t bytes = sizes_[m.chunk];
    const uint64_t small = s_.op == CollectiveOp::all_gather ? bytes : bytes / s_.n;
    const uint64_t larger = s_.op == CollectiveOp::all_gather ? 0 : bytes % s_.n;
    m.entered[{m.chunk, m.round}] = now_;
    for (const auto& send : round.sends) {
      Flight f{me, send.to, m.chunk, send.at_round, 0, send.reduce, 0};
      send.blocks.for_each(s_.n, [&](uint32_t b) { f.bytes += small + (b < larger ? 1 : 0); });
      transmit(f);
    }
    m.needs = round.receives;
    advance(me);
  }

  void advance(uint32_t me) {
    Member& m = members_[me];
    if (m.starting || m.chunk == sizes_.size()) return;
    const auto it = m.arrived.find({m.chunk, m.round});
    if ((it == m.arrived.end() ? 0 : it->second) < m.needs) return;
    if (++m.round < algorithm_.rounds(shape(me))) {
      enter(me);
      return;
    }
    last_ = std::max(last_, now_);
    m.round = 0;
    if (++m.chunk == sizes_.size()) return;
    m.starting = true;
    push(now_ + s_.endpoint, {me, false, {}});
  }

  void transmit(Flight f) {
    const uint32_t n = s_.n;
    const uint32_t up = (f.to + n - f.from) % n;
    const bool down = s_.kind == DimensionKind::ring && up * 2 > n;
    const uint32_t ring_hops = std::min(up, n - up);
    if (s_.fidelity == Fidelity::analytical) {
      const uint32_t hops = s_.kind == DimensionKind::switch_ ? 2
                            : s_.kind == DimensionKind::ring  ? ring_hops
                                                              : 1;
      const uint32_t port = s_.kind == DimensionKind::fully_connected ? f.to : down ? 1 : 0;
      const auto slot = out_[{f.from, port}].take_whole(now_, f.bytes, s_.rate);
      if (s_.kind == DimensionKind::fully_connected) {
        deliver(f, slot.end + s_.latency);
        return;
      }
      f.last_link = down ? 1 : 0;
      push(slot.start + hops * s_.latency, {f.to, true, f});
      return;
    }
    const uint32_t port = s_.kind == DimensionKind::fully_connected ? f.to : down ? 1 : 0;
    const auto slot = out_[{f.from, port}].take(now_, f.bytes, s_.rate, 0);
    f.tail = slot.end + s_.latency;
    if (s_.kind == DimensionKind::switch_) {
      push(s_.switching == Switching::cut_through ? slot.start + s_.latency : f.tail, {f.to, true, f});
    } else {
      deliver(f, f.tail);
    }
  }

  void leave_switch(const Flight& f) {
    const auto slot = in_[{f.to, 0}].take(now_, f.bytes, s_.rate, f.tail);
    deliver(f, slot.end + s_.latency);
  }

  Picoseconds after(const Flight& f) const {
    const bool charged = f.reduce && s_.reduction.bytes_per_second != 0;
    return s_.endpoint + (charged ? ceil_time(3 * f.bytes, s_.reduction) : 0);
  }

  void deliver(const Flight& f, Picoseconds tail) { push(tail + after(f), {f.to, false, f}); }

  /// Whose head would be there first if each were alone goes first.
  void take_last_link(Flight f) {
    const Picoseconds tail = in_[{f.to, f.last_link}].take_whole(now_, f.bytes, s_.rate).end;
    f.last_link = kNoLink;
    deliver(f, tail);
  }

  /// docs/analytical.md, "Full exchanges on a Ring": when this message, if it is the round's last, is
  /// received.
  Picoseconds full_exchange(const Flight& f) {
    const uint32_t n = s_.n;
    if (s_.fidelity != Fidelity::analytical || s_.kind != DimensionKind::ring || s_.algorithm != "direct")
      return 0;
    const auto round = std::make_pair(f.chunk, f.round);
    if (members_[f.to].arrived[round] + 1 != n - 1) return 0;
    Picoseconds first = kNever;
    Picoseconds last = 0;
    for (const Member& m : members_) {
      const auto entered = m.entered.find(round);
      if (entered == m.entered.end()) return 0;
      first = std::min(first, entered->second);
      last = std::max(last, entered->second);
    }
    if (last != first && last - first >= s_.latency) return 0;
    uint64_t up = 0;
    uint64_t down = 0;
    for (uint32_t from = 0; from < n; ++from) {
      for (uint32_t hops = 1; hops < n; ++hops) {
        const uint32_t to = (from + hops) % n;
        const uint64_t bytes = block(f.chunk, gathers(f.round) ? from : to);
        const uint32_t away = (f.to + n - from) % n;  // upwards from the sender to this member
        if (2 * hops <= n && away >= 1 && away <= hops) up += bytes;
        if (2 * hops > n && away != 0 && n - away <= n - hops) down += bytes;
      }
    }
    return first + ceil_time(std::max(up, down), s_.rate) + s_.latency + after(f);
  }
  bool gathers(uint32_t round) const {
    return s_.op == CollectiveOp::all_gather || (s_.op == CollectiveOp::all_reduce && round == 1);
  }
  uint64_t block(uint32_t chunk, uint32_t b) const {
    const uint64_t bytes = sizes_[chunk];
    if (s_.op == CollectiveOp::all_gather) return bytes;
    return bytes / s_.n + (b < bytes % s_.n ? 1 : 0);
  }

  const Spec& s_;
  const Algorithm& algorithm_;
  std::vector<uint64_t> sizes_;
  std::vector<Member> members_;
  std::map<std::pair<uint32_t, uint32_t>, ExactLink> out_;
  std::map<std::pair<uint32_t, uint32_t>, ExactLink> in_;
  std::map<std::tuple<Picoseconds, uint32_t, uint32_t, uint64_t>, Due> queue_;
  uint64_t sequence_ = 0;
  Picoseconds now_ = 0;
  Picoseconds last_ = 0;
};

// ---- the machine
// -------------------------------------------------------------------------------------------------

struct Case final : NmuClient {
  Spec spec;
  Config config;
  collectives::Group group;
  std::unique_ptr<collectives::PlanBuilder> plans;
  std::unique_ptr<Machine> system;
  Picoseconds finished = 0;
  uint32_t done = 0;
  void collective_done(NpuId, const collectives::CollectiveDone& d) override {
    ++done;
    finished = std::max(finished, d.finished);
  }
  void message_injected(NpuId, NpuId, const MessageId&) override {}
  void message_arrived(NpuId, const Completion&) override {}
};

std::unique_ptr<Case> make(const Spec& spec, size_t number) {
  auto c = std::make_unique<Case>();
  c->spec = spec;
  DimensionConfig d;
  d.kind = spec.kind;
  d.size = spec.n;
  d.bandwidth = spec.rate;
  d.latency = spec.latency;
  d.fidelity = spec.fidelity;
  d.switching = spec.switching;
  c->config.dimensions.push_back(d);
  c->config.collectives.chunks = spec.chunks;
  c->config.nmu.endpoint_delay = spec.endpoint;
  if (spec.reduction.bytes_per_second != 0) {
    c->config.collectives.reduction = ReductionKind::fixed_bandwidth;
    c->config.collectives.reduction_bandwidth = spec.reduction;
  }
  c->config.collectives.algorithms[static_cast<int>(spec.op)] = {spec.algorithm};
  c->system =
      std::make_unique<Machine>(("case" + std::to_string(number)).c_str(), c->config, *c, Machine::Options{});
  c->plans = std::make_unique<collectives::PlanBuilder>(c->config);
  collectives::CollectiveRequest request;
  request.op = spec.op;
  request.bytes = spec.bytes;
  request.group = &c->group;
  const auto plan = c->plans->plan(request);
  for (uint32_t r = 0; r < c->system->npus(); ++r) c->system->nmu(r).start_collective(1, plan);
  return c;
}

/// Runs all cases against `expected`; one line a difference, and at the end how many ran.
template <typename F>
std::string run(const std::vector<Spec>& specs, F&& expected) {
  std::vector<std::unique_ptr<Case>> cases;
  for (const Spec& spec : specs) cases.push_back(make(spec, cases.size()));
  sc_core::sc_start();
  std::string failures;
  size_t failed = 0;
  for (const auto& c : cases) {
    const Picoseconds wanted = expected(c->spec);
    std::string wrong;
    if (c->done != c->spec.n) wrong = "only " + std::to_string(c->done) + " members finished";
    if (c->finished != wanted) {
      wrong = std::to_string(c->finished) + " ps instead of " + std::to_string(wanted);
    }
    for (const std::string& broken : c->system->check_conservation()) wrong += " " + broken;
    if (c->system->totals().out_of_order_starts != 0) wrong += " chunks out of order";
    if (wrong.empty()) continue;
    if (++failed <= 12) failures += c->spec.name() + ": " + wrong + "\n";
  }
  if (failed != 0) failures += std::to_string(failed) + " of " + std::to_string(cases.size()) + " cases\n";
  return failures;
}

constexpr CollectiveOp kSymmetric[] = {CollectiveOp::all_reduce, CollectiveOp::all_gather,
                                       CollectiveOp::reduce_scatter, CollectiveOp::all_to_all};

/// Machines, algorithms and operations; `f` fills in sizes and adds.
template <typename F>
void for_every_machine(DimensionKind kind, F&& f) {
  struct How {
    Fidelity fidelity;
    Switching switching;
  };
  const How hows[] = {{Fidelity::analytical, Switching::store_and_forward},
                      {Fidelity::message, Switching::store_and_forward},
                      {Fidelity::message, Switching::cut_through}};
  for (const How& how : hows) {
    for (const char* algorithm : {"ring", "direct", "halving_doubling"}) {
      for (const CollectiveOp op : kSymmetric) {
        for (const Picoseconds endpoint : {0ull, 10'000ull}) {
          for (const Rate reduction : {Rate{0, 1}, Rate{1'600'000'000'000ull, 1}}) {
            Spec s;
            s.kind = kind;
            s.fidelity = how.fidelity;
            s.switching = how.switching;
            s.algorithm = algorithm;
            s.op = op;
            s.endpoint = endpoint;
            s.reduction = reduction;
            s.latency = 500'000;
            f(s);
          }
        }
      }
    }
  }
}

class ClosedForms : public ::testing::TestWithParam<DimensionKind> {};

TEST_P(ClosedForms, WhereSizesDivide) {
  const auto result = test::isolated([&] {
    std::vector<Spec> specs;
    for_every_machine(GetParam(), [&](Spec s) {
      const bool power = s.algorithm == "halving_doubling";
      if (power && s.op == CollectiveOp::all_to_all) return;
      // Over more than one link of a Ring the closed forms do not hold: see the step model.
      if (s.kind == DimensionKind::ring && s.algorithm != "ring") return;
      for (const uint32_t n : {2u, 3u, 4u, 5u, 7u, 8u}) {
        if (power && (n & (n - 1)) != 0) continue;
        s.n = n;
        for (const uint32_t chunks : {1u, 3u}) {
          s.chunks = chunks;
          // Whole picoseconds a byte, and rates that leave remainders (those back to back carry them: below).
          for (const Rate rate : {Rate{100'000'000'000ull, 1}, Rate{214'748'364'800ull, 7}}) {
            const bool whole = kSecond * rate.divisor % rate.bytes_per_second == 0;
            const bool back_to_back = s.kind == DimensionKind::switch_ && s.algorithm == "direct" &&
                                      s.fidelity == Fidelity::message;
            if (!whole && back_to_back) continue;
            s.rate = rate;
            for (const uint64_t block : {1ull, 1'000'003ull}) {
              s.bytes = block * n * chunks;
              specs.push_back(s);
            }
          }
        }
      }
    });
    return run(specs, [](const Spec& s) { return s.chunks * closed_form(s, s.bytes / s.chunks); });
  });
  EXPECT_EQ(result.status, 0) << result.text;
  EXPECT_EQ(result.text, "");
}

TEST_P(ClosedForms, StepsWhereSizesDoNotDivide) {
  const auto result = test::isolated([&] {
    std::vector<Spec> specs;
    size_t number = 0;
    for_every_machine(GetParam(), [&](Spec s) {
      const bool power = s.algorithm == "halving_doubling";
      if (power && s.op == CollectiveOp::all_to_all) return;
      // Several hops of a Ring are other tests' matter: routes_test.
      if (s.kind == DimensionKind::ring && s.algorithm != "ring" && s.fidelity == Fidelity::message) return;
      for (const uint32_t n : {2u, 3u, 4u, 5u, 6u, 7u, 8u}) {
        if (power && (n & (n - 1)) != 0) continue;
        s.n = n;
        for (const uint64_t bytes : {0ull, 1ull, 7ull, 1'000'003ull, 1'048'576ull}) {
          const uint32_t chunks[] = {1, 4, 9};
          const Rate rates[] = {{100'000'000'000ull, 1}, {214'748'364'800ull, 7}, {3'000'000'001ull, 1}};
          s.bytes = bytes;
          s.chunks = chunks[number % 3];
          s.rate = rates[number / 3 % 3];
          ++number;
          specs.push_back(s);
        }
      }
    });
    return run(specs, [](const Spec& s) { return StepModel(s).run(); });
  });
  EXPECT_EQ(result.status, 0) << result.text;
  EXPECT_EQ(result.text, "");
}

/// The ring's largest block is never held up, so that its closed forms hold with ceil(S / n) too.
TEST(ClosedFormsRing, LargestBlockDecides) {
  const auto result = test::isolated([] {
    std::vector<Spec> specs;
    for (const CollectiveOp op : {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter}) {
      for (const uint32_t n : {3u, 5u, 6u, 7u}) {
        for (const uint64_t bytes : {1ull, 7ull, 1'000ull, 1'000'003ull}) {
          Spec s;
          s.n = n;
          s.algorithm = "ring";
          s.op = op;
          s.bytes = bytes;
          s.rate = {3'000'000'001ull, 1};
          s.latency = 500'000;
          s.endpoint = 777;
          s.reduction = {1'600'000'000'000ull, 1};
          specs.push_back(s);
        }
      }
    }
    return run(specs, [](const Spec& s) { return closed_form(s, (s.bytes + s.n - 1) / s.n * s.n); });
  });
  EXPECT_EQ(result.status, 0) << result.text;
  EXPECT_EQ(result.text, "");
}

TEST(ClosedFormsModel, TheStepModelAgreesWithTheForms) {
  Spec s;
  s.n = 8;
  s.rate = {100'000'000'000ull, 1};
  s.latency = 500'000;
  s.endpoint = 10'000;
  s.reduction = {1'600'000'000'000ull, 1};
  s.bytes = 8 * 4096;
  for (const char* algorithm : {"ring", "direct", "halving_doubling"}) {
    for (const CollectiveOp op : kSymmetric) {
      s.algorithm = algorithm;
      s.op = op;
      s.kind = s.algorithm == "ring" ? DimensionKind::ring : DimensionKind::switch_;
      if (s.algorithm == "halving_doubling" && op == CollectiveOp::all_to_all) continue;
      EXPECT_EQ(StepModel(s).run(), closed_form(s, s.bytes)) << s.name();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, ClosedForms,
                         ::testing::Values(DimensionKind::ring, DimensionKind::fully_connected,
                                           DimensionKind::switch_),
                         [](const auto& param) { return std::string(to_string(param.param)); });

}  // namespace
}  // namespace weft
