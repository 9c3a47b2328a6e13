// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

namespace weft::collectives {
namespace {

struct Sent {
  uint32_t from = 0;
  const RoundSend* send = nullptr;
};

/// Something that happens to one message's block.
struct Event {
  uint32_t message = 0;
  bool arrives = false;
  uint32_t step = 0;  ///< arrivals of one round of one member have one step
};

/// A set of members.
class Set {
 public:
  explicit Set(uint32_t n) : words_((n + 63) / 64, 0) {}
  void clear() { std::fill(words_.begin(), words_.end(), 0); }
  void add(uint32_t i) { words_[i / 64] |= 1ull << (i % 64); }
  bool has(uint32_t i) const { return words_[i / 64] >> (i % 64) & 1; }
  bool empty() const {
    return std::all_of(words_.begin(), words_.end(), [](uint64_t w) { return w == 0; });
  }
  bool operator==(const Set& o) const { return words_ == o.words_; }
  bool operator!=(const Set& o) const { return words_ != o.words_; }
  /// First member of both, ~0u if there is none.
  uint32_t common(const Set& o) const {
    for (size_t w = 0; w < words_.size(); ++w) {
      if (const uint64_t both = words_[w] & o.words_[w]; both != 0) return first(w, both);
    }
    return ~0u;
  }
  /// First member of this that is not in the other.
  uint32_t beyond(const Set& o) const {
    for (size_t w = 0; w < words_.size(); ++w) {
      if (const uint64_t rest = words_[w] & ~o.words_[w]; rest != 0) return first(w, rest);
    }
    return ~0u;
  }
  void join(const Set& o) {
    for (size_t w = 0; w < words_.size(); ++w) words_[w] |= o.words_[w];
  }

 private:
  static uint32_t first(size_t w, uint64_t bits) {
    return static_cast<uint32_t>(w * 64) + static_cast<uint32_t>(__builtin_ctzll(bits));
  }
  std::vector<uint64_t> words_;
};

class Proof {
 public:
  Proof(const PhaseRounds& rounds, CollectiveOp op, uint32_t root, uint32_t* block)
      : rounds_(rounds), op_(op), root_(root), n_(static_cast<uint32_t>(rounds.size())), wrong_(block) {}

  std::string run() {
    if (std::string why = order(); !why.empty()) return why;
    if (std::string why = reduced(); !why.empty()) return why;
    by_block();
    if (op_ == CollectiveOp::all_to_all) {
      for (uint32_t b = 0; b < n_; ++b) {
        if (std::string why = items(b); !why.empty()) return at(b, why);
      }
      return {};
    }
    std::vector<bool> passed(n_, false);
    for (uint32_t b = 0; b < n_; ++b) {
      if (std::string why = contributions(b, passed); !why.empty()) return at(b, why);
    }
    if (op_ == CollectiveOp::barrier) {
      const auto stuck = std::find(passed.begin(), passed.end(), false);
      if (stuck != passed.end()) {
        return fmt::format(
            "member {} leaves the barrier without having heard of every other member in any one block",
            stuck - passed.begin());
      }
    }
    return {};
  }

 private:
  std::string at(uint32_t block, std::string why) const {
    if (wrong_ != nullptr) *wrong_ = block;
    return why;
  }

  /// Finds an order in which everything happens, or what never does.
  std::string order() {
    std::vector<std::vector<std::vector<uint32_t>>> arrived(n_);  // [member][round] messages
    std::vector<uint32_t> at(n_, 0);                              // round each member is in
    std::vector<bool> queued(n_, true);
    std::deque<uint32_t> ready;
    for (uint32_t i = 0; i < n_; ++i) {
      arrived[i].resize(rounds_[i].size());
      ready.push_back(i);
    }
    std::vector<bool> entered(n_, false);
    uint32_t step = 0;
    while (!ready.empty()) {
      const uint32_t i = ready.front();
      ready.pop_front();
      queued[i] = false;
      while (at[i] < rounds_[i].size()) {
        const Round& round = rounds_[i][at[i]];
        if (!entered[i]) {
          entered[i] = true;
          ++step;
          for (const RoundSend& send : round.sends) {
            if (send.to >= n_ || send.to == i) {
              return fmt::format("member {} sends to member {} of {}", i, send.to, n_);
            }
            if (send.at_round >= rounds_[send.to].size()) {
              return fmt::format("member {} sends a message to member {} that it never waits for", i,
                                 send.to);
            }
            const auto message = static_cast<uint32_t>(messages_.size());
            messages_.push_back({i, &send});
            events_.push_back({message, false, step});
            arrived[send.to][send.at_round].push_back(message);
            if (!queued[send.to] && send.to != i) {
              queued[send.to] = true;
              ready.push_back(send.to);
            }
          }
        }
        const auto& here = arrived[i][at[i]];
        if (here.size() < round.receives) break;
        if (here.size() > round.receives) {
          return fmt::format("member {} waits for {} message(s) in its round {} and gets {}", i,
                             round.receives, at[i], here.size());
        }
        ++step;
        for (const uint32_t message : here) events_.push_back({message, true, step});
        ++at[i];
        entered[i] = false;
      }
    }
    for (uint32_t i = 0; i < n_; ++i) {
      for (uint32_t r = 0; r < at[i]; ++r) {
        if (arrived[i][r].size() == rounds_[i][r].receives) continue;
        return fmt::format("member {} waits for {} message(s) in its round {} and gets {}", i,
                           rounds_[i][r].receives, r, arrived[i][r].size());
      }
      if (at[i] < rounds_[i].size()) {
        return fmt::format("member {} waits for ever for {} message(s) in its round {} of {}", i,
                           rounds_[i][at[i]].receives - arrived[i][at[i]].size(), at[i], rounds_[i].size());
      }
    }
    return {};
  }

  /// A message that is reduced, where the operation only moves data. Elements would be changed, even if every
  /// contribution came where it belongs: into a buffer that holds none.
  std::string reduced() const {
    switch (op_) {
      case CollectiveOp::all_gather:
      case CollectiveOp::gather:
      case CollectiveOp::broadcast:
      case CollectiveOp::scatter:
      case CollectiveOp::all_to_all:
        break;
      default:
        return {};
    }
    for (const Sent& m : messages_) {
      if (!m.send->reduce) continue;
      return fmt::format(
          "the message of member {} to member {} is reduced; {} reduces nothing: take `reduce` from its "
          "receive",
          m.from, m.send->to, to_string(op_));
    }
    return {};
  }

  /// Which events touch which block, in order.
  void by_block() {
    first_.assign(n_ + 1, 0);
    for (const Event& e : events_) {
      messages_[e.message].send->blocks.for_each(n_, [&](uint32_t b) { ++first_[b + 1]; });
    }
    for (uint32_t b = 0; b < n_; ++b) first_[b + 1] += first_[b];
    touching_.resize(first_[n_]);
    std::vector<size_t> next(first_.begin(), first_.end() - 1);
    for (uint32_t e = 0; e < events_.size(); ++e) {
      messages_[events_[e].message].send->blocks.for_each(n_, [&](uint32_t b) { touching_[next[b]++] = e; });
    }
    slot_.assign(messages_.size(), 0);
  }

  bool holds_at_first(uint32_t member, uint32_t block) const {
    switch (op_) {
      case CollectiveOp::all_gather:
      case CollectiveOp::gather:
        return member == block;
      case CollectiveOp::broadcast:
      case CollectiveOp::scatter:
        return member == root_;
      default:
        return true;
    }
  }

  /// What the member must hold in the end; false: anything.
  bool wanted(uint32_t member, uint32_t block, Set& set) const {
    set.clear();
    switch (op_) {
      case CollectiveOp::reduce_scatter:
        if (member != block) return false;
        break;
      case CollectiveOp::reduce:
        if (member != root_) return false;
        break;
      case CollectiveOp::all_gather:
        set.add(block);
        return true;
      case CollectiveOp::gather:
        set.add(block);
        return member == root_;
      case CollectiveOp::broadcast:
        set.add(root_);
        return true;
      case CollectiveOp::scatter:
        set.add(root_);
        return member == block;
      default:
        break;
    }
    for (uint32_t i = 0; i < n_; ++i) set.add(i);
    return true;
  }

  std::string contributions(uint32_t block, std::vector<bool>& passed) {
    std::vector<Set> held(n_, Set(n_));
    for (uint32_t i = 0; i < n_; ++i) {
      if (holds_at_first(i, block)) held[i].add(i);
    }
    std::vector<Set> flying;
    std::vector<uint32_t> free;
    uint32_t last_step = 0;
    bool last_replaced = false;
    for (size_t t = first_[block]; t < first_[block + 1]; ++t) {
      const Event& e = events_[touching_[t]];
      const Sent& m = messages_[e.message];
      if (!e.arrives) {
        if (held[m.from].empty()) {
          return fmt::format("member {} sends block {} to member {} and does not have it", m.from, block,
                             m.send->to);
        }
        if (free.empty()) {
          free.push_back(static_cast<uint32_t>(flying.size()));
          flying.emplace_back(n_);
        }
        slot_[e.message] = free.back();
        free.pop_back();
        flying[slot_[e.message]] = held[m.from];
        continue;
      }
      Set& mine = held[m.send->to];
      const Set& theirs = flying[slot_[e.message]];
      free.push_back(slot_[e.message]);
      if (last_step == e.step && (last_replaced || !m.send->reduce)) {
        return fmt::format(
            "block {} reaches member {} in two messages at once and one replaces what it has (the last is "
            "from "
            "member {}); their order decides the result: add a dependency",
            block, m.send->to, m.from);
      }
      last_step = e.step;
      last_replaced = !m.send->reduce;
      if (!m.send->reduce) {
        mine = theirs;
        continue;
      }
      if (const uint32_t twice = mine.common(theirs); twice != ~0u) {
        return fmt::format(
            "block {} at member {}: the contribution of member {} is reduced a second time (message from "
            "member {})",
            block, m.send->to, twice, m.from);
      }
      mine.join(theirs);
    }
    Set goal(n_);
    for (uint32_t i = 0; i < n_; ++i) {
      if (!wanted(i, block, goal)) continue;
      if (op_ == CollectiveOp::barrier) {
        if (held[i] == goal) passed[i] = true;
        continue;
      }
      if (held[i] == goal) continue;
      const uint32_t missing = goal.beyond(held[i]);
      if (missing != ~0u) {
        return fmt::format("block {} at member {}: the contribution of member {} is missing", block, i,
                           missing);
      }
      return fmt::format(
          "block {} at member {}: it holds a contribution of member {} that does not belong there", block, i,
          held[i].beyond(goal));
    }
    return {};
  }

  /// All-to-all: the items for one destination.
  std::string items(uint32_t destination) {
    std::vector<std::deque<uint32_t>> transit(n_);
    std::vector<bool> own(n_, true);
    std::vector<uint32_t> got(n_, 0);
    for (size_t t = first_[destination]; t < first_[destination + 1]; ++t) {
      const Event& e = events_[touching_[t]];
      const Sent& m = messages_[e.message];
      if (e.arrives) {
        if (m.send->to == destination) {
          ++got[slot_[e.message]];
        } else {
          transit[m.send->to].push_back(slot_[e.message]);
        }
      } else if (!transit[m.from].empty()) {
        slot_[e.message] = transit[m.from].front();
        transit[m.from].pop_front();
      } else if (own[m.from] && m.from != destination) {
        own[m.from] = false;
        slot_[e.message] = m.from;
      } else {
        return fmt::format("member {} sends block {} to member {} and has nothing left for member {}", m.from,
                           destination, m.send->to, destination);
      }
    }
    for (uint32_t source = 0; source < n_; ++source) {
      if (source != destination && got[source] != 1) {
        return fmt::format("block {} at member {}: the item of member {} is {}", destination, destination,
                           source, got[source] == 0 ? "missing" : "there more than once");
      }
    }
    return {};
  }

  const PhaseRounds& rounds_;
  CollectiveOp op_;
  uint32_t root_;
  uint32_t n_;
  uint32_t* wrong_;
  std::vector<Sent> messages_;
  std::vector<Event> events_;
  std::vector<size_t> first_;       ///< of a block in touching_
  std::vector<uint32_t> touching_;  ///< indices of events
  std::vector<uint32_t> slot_;      ///< of a message that is under way
};

}  // namespace

PhaseRounds write_out(const Algorithm& algorithm, CollectiveOp op, uint32_t n, uint32_t root,
                      uint32_t variant) {
  PhaseRounds rounds(n);
  for (uint32_t me = 0; me < n; ++me) {
    const PhaseShape shape{op, n, me, root, false, variant};
    rounds[me].resize(algorithm.rounds(shape));
    for (uint32_t r = 0; r < rounds[me].size(); ++r) algorithm.round(shape, r, rounds[me][r]);
  }
  return rounds;
}

std::string disprove(const PhaseRounds& rounds, CollectiveOp op, uint32_t root, uint32_t* block) {
  return Proof(rounds, op, root, block).run();
}

}  // namespace weft::collectives
