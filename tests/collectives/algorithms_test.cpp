// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Every algorithm proven by moving blocks: a block is the count of contributions of each member, messages
// carry what the sender holds when it enters the round, and in the end everybody holds what the collective's
// definition says, each contribution exactly once. Beside it the bookkeeping that the engine relies on:
// rounds, receives, expects.

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "workload/collectives/algorithm.h"
#include "workload/collectives/proof.h"

namespace weft::collectives {
namespace {

constexpr CollectiveOp kOps[] = {
    CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::reduce_scatter,
    CollectiveOp::all_to_all, CollectiveOp::broadcast,  CollectiveOp::reduce,
    CollectiveOp::gather,     CollectiveOp::scatter,    CollectiveOp::barrier};

/// A phase of one group, all its members' rounds written out.
struct Program {
  const Algorithm* algorithm = nullptr;
  CollectiveOp op = CollectiveOp::all_reduce;
  uint32_t n = 0;
  uint32_t root = 0;
  bool reverse = false;
  std::vector<std::vector<Round>> rounds;  ///< [member][round]

  PhaseShape shape(uint32_t me) const { return {op, n, me, root, reverse, reverse ? 1u : 0u}; }
  std::string name() const {
    return std::string(algorithm->name()) + " " + to_string(op) + " n=" + std::to_string(n) +
           " root=" + std::to_string(root) + (reverse ? " reverse" : "");
  }
};

Program make(const Algorithm& algorithm, CollectiveOp op, uint32_t n, uint32_t root, bool reverse) {
  Program p{&algorithm, op, n, root, reverse, {}};
  for (uint32_t me = 0; me < n; ++me) {
    p.rounds.emplace_back();
    for (uint32_t r = 0; r < algorithm.rounds(p.shape(me)); ++r) {
      Round round;
      algorithm.round(p.shape(me), r, round);
      p.rounds.back().push_back(round);
    }
  }
  return p;
}

/// Calls f(program) for every algorithm, operation, size, root and direction that is not refused.
template <typename F>
void for_every_program(F&& f) {
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const CollectiveOp op : kOps) {
      for (uint32_t n = 2; n <= 17; ++n) {
        if (!algorithm->refuses(op, n).empty()) continue;
        for (uint32_t root = 0; root < (rooted(op) ? n : 1u); ++root) {
          for (const bool reverse : {false, true}) f(make(*algorithm, op, n, root, reverse));
        }
      }
    }
  }
}

/// Empty when the rounds fit together, else what does not.
std::string check_bookkeeping(const Program& p) {
  // (from, to) -> rounds of the receiver
  std::vector<std::vector<std::vector<uint32_t>>> due(p.n, std::vector<std::vector<uint32_t>>(p.n));
  for (uint32_t me = 0; me < p.n; ++me) {
    for (const Round& round : p.rounds[me]) {
      for (const RoundSend& send : round.sends) {
        if (send.to >= p.n || send.to == me) return "sends to " + std::to_string(send.to);
        if (send.at_round >= p.rounds[send.to].size()) return "a message for a round that never comes";
        if (send.blocks.count == 0 || send.blocks.count > p.n) return "a message of no blocks, or too many";
        std::set<uint32_t> distinct;
        send.blocks.for_each(p.n, [&](uint32_t block) { distinct.insert(block); });
        if (distinct.size() != send.blocks.count || *distinct.rbegin() >= p.n) return "blocks named twice";
        due[me][send.to].push_back(send.at_round);
      }
    }
  }
  for (uint32_t me = 0; me < p.n; ++me) {
    const auto rounds = static_cast<uint32_t>(p.rounds[me].size());
    for (uint32_t r = 0; r <= rounds; ++r) {
      uint32_t arriving = 0;
      for (uint32_t from = 0; from < p.n; ++from) {
        if (from == me) continue;
        bool later = false;
        for (const uint32_t at : due[from][me]) {
          arriving += at == r ? 1 : 0;
          later = later || at >= r;
        }
        if (p.algorithm->expects(p.shape(me), r, from) != later) {
          return "member " + std::to_string(me) + " in round " + std::to_string(r) +
                 (later ? " does not expect" : " expects") + " a message of " + std::to_string(from);
        }
      }
      if (r < rounds && arriving != p.rounds[me][r].receives) {
        return "member " + std::to_string(me) + " round " + std::to_string(r) + " waits for " +
               std::to_string(p.rounds[me][r].receives) + " messages and gets " + std::to_string(arriving);
      }
    }
  }
  return {};
}

/// How often each member's contribution is in a block.
using Block = std::vector<uint32_t>;
/// All-to-all: the item that `source` has for `destination`.
using Item = std::pair<uint32_t, uint32_t>;

struct Envelope {
  uint32_t to = 0;
  uint32_t at_round = 0;
  bool reduce = false;
  std::vector<std::pair<uint32_t, Block>> blocks;
  std::vector<Item> items;
};

/// Runs the program; messages are delivered in random order.
class Mover {
 public:
  Mover(const Program& program, uint32_t seed) : p_(program), random_(seed) {
    const uint32_t n = p_.n;
    for (uint32_t i = 0; i < n; ++i) {
      Member m;
      m.blocks.assign(n, Block(n, 0));
      for (uint32_t b = 0; b < n; ++b) {
        const bool holds = p_.op == CollectiveOp::all_gather || p_.op == CollectiveOp::gather   ? b == i
                           : p_.op == CollectiveOp::broadcast || p_.op == CollectiveOp::scatter ? i == p_.root
                                                                                                : true;
        if (holds) m.blocks[b][i] = 1;
        if (b != i) m.own.insert({i, b});
      }
      members_.push_back(m);
    }
  }

  std::string run() {
    for (uint32_t i = 0; i < p_.n && error_.empty(); ++i) enter(i);
    while (error_.empty() && !flying_.empty()) {
      std::swap(flying_[random_() % flying_.size()], flying_.back());
      const Envelope envelope = flying_.back();
      flying_.pop_back();
      members_[envelope.to].arrived.push_back(envelope);
      while (error_.empty() && advance(envelope.to)) {
      }
    }
    if (!error_.empty()) return error_;
    for (uint32_t i = 0; i < p_.n; ++i) {
      const Member& m = members_[i];
      if (m.round != p_.rounds[i].size()) return "member " + std::to_string(i) + " never ends";
      if (!m.arrived.empty()) return "member " + std::to_string(i) + " got messages it never took";
      const std::string wrong = result(i);
      if (!wrong.empty()) return wrong;
    }
    return {};
  }

 private:
  struct Member {
    std::vector<Block> blocks;
    std::set<Item> own;         ///< all_to_all: not sent yet
    std::vector<Item> transit;  ///< all_to_all: for somebody else
    std::multiset<uint32_t> got;
    uint32_t round = 0;
    uint32_t received = 0;
    std::vector<Envelope> arrived;
  };

  void enter(uint32_t i) {
    Member& m = members_[i];
    m.received = 0;
    if (m.round == p_.rounds[i].size()) return;
    std::vector<Item> relayed;  // what this round brings in is for the next round
    for (const RoundSend& send : p_.rounds[i][m.round].sends) {
      Envelope e{send.to, send.at_round, send.reduce, {}, {}};
      send.blocks.for_each(p_.n, [&](uint32_t b) {
        if (p_.op == CollectiveOp::all_to_all) {
          e.items.push_back(take_item(i, b));
          return;
        }
        const Block& block = m.blocks[b];
        if (!send.reduce && std::count(block.begin(), block.end(), 0u) == static_cast<long>(p_.n)) {
          error_ =
              "member " + std::to_string(i) + " sends block " + std::to_string(b) + " that it does not have";
        }
        e.blocks.push_back({b, block});
      });
      flying_.push_back(e);
    }
    while (error_.empty() && advance(i)) {
    }
  }

  Item take_item(uint32_t i, uint32_t destination) {
    Member& m = members_[i];
    for (auto it = m.transit.begin(); it != m.transit.end(); ++it) {
      if (it->second != destination) continue;
      const Item item = *it;
      m.transit.erase(it);
      return item;
    }
    if (m.own.erase({i, destination}) == 0) {
      error_ = "member " + std::to_string(i) + " has nothing left for " + std::to_string(destination);
    }
    return {i, destination};
  }

  /// Takes what has arrived for the current round; true if the member entered the next one.
  bool advance(uint32_t i) {
    Member& m = members_[i];
    if (m.round == p_.rounds[i].size()) return false;
    for (size_t k = 0; k < m.arrived.size();) {
      if (m.arrived[k].at_round != m.round) {
        ++k;
        continue;
      }
      const Envelope e = m.arrived[k];
      m.arrived.erase(m.arrived.begin() + static_cast<std::ptrdiff_t>(k));
      ++m.received;
      for (const Item& item : e.items) {
        if (item.second == i) {
          m.got.insert(item.first);
        } else {
          m.transit.push_back(item);
        }
      }
      for (const auto& [b, contributions] : e.blocks) {
        for (uint32_t c = 0; c < p_.n; ++c) {
          m.blocks[b][c] = (e.reduce ? m.blocks[b][c] : 0) + contributions[c];
        }
      }
    }
    if (m.received < p_.rounds[i][m.round].receives) return false;
    ++m.round;
    enter(i);
    return false;  // enter() goes on by itself
  }

  std::string result(uint32_t i) const {
    const Member& m = members_[i];
    const Block everybody(p_.n, 1);
    for (uint32_t b = 0; b < p_.n; ++b) {
      Block wanted;
      switch (p_.op) {
        case CollectiveOp::all_reduce:
          wanted = everybody;
          break;
        case CollectiveOp::barrier:  // any block tells that everybody has come
          if (std::find(m.blocks.begin(), m.blocks.end(), everybody) == m.blocks.end()) wanted = everybody;
          break;
        case CollectiveOp::reduce_scatter:
          if (b == i) wanted = everybody;
          break;
        case CollectiveOp::reduce:
          if (i == p_.root) wanted = everybody;
          break;
        case CollectiveOp::all_gather:
        case CollectiveOp::gather:
          if (p_.op == CollectiveOp::all_gather || i == p_.root) {
            wanted.assign(p_.n, 0);
            wanted[b] = 1;
          }
          break;
        case CollectiveOp::broadcast:
        case CollectiveOp::scatter:
          if (p_.op == CollectiveOp::broadcast || b == i) {
            wanted.assign(p_.n, 0);
            wanted[p_.root] = 1;
          }
          break;
        case CollectiveOp::all_to_all:
          if (b != i && m.got.count(b) != 1) {
            return "member " + std::to_string(i) + " got " + std::to_string(m.got.count(b)) + " items of " +
                   std::to_string(b);
          }
          break;
      }
      if (!wanted.empty() && m.blocks[b] != wanted) {
        return "member " + std::to_string(i) + " block " + std::to_string(b) + " is wrong";
      }
    }
    if (p_.op == CollectiveOp::all_to_all && (!m.transit.empty() || !m.own.empty())) {
      return "member " + std::to_string(i) + " kept items";
    }
    return {};
  }

  const Program& p_;
  std::mt19937 random_;
  std::vector<Member> members_;
  std::vector<Envelope> flying_;
  std::string error_;
};

TEST(Algorithms, RoundsReceivesAndExpectsAgree) {
  size_t programs = 0;
  for_every_program([&](const Program& p) {
    ++programs;
    EXPECT_EQ(check_bookkeeping(p), "") << p.name();
  });
  EXPECT_GT(programs, 3000u);
}

TEST(Algorithms, EveryBlockEndsWhereTheDefinitionSays) {
  for_every_program([&](const Program& p) {
    for (uint32_t seed = 0; seed < 3; ++seed) EXPECT_EQ(Mover(p, seed).run(), "") << p.name();
  });
}

TEST(Algorithms, TheLibrarysProofAgrees) {
  for_every_program([&](const Program& p) { EXPECT_EQ(disprove(p.rounds, p.op, p.root), "") << p.name(); });
  // Larger groups, around powers of two.
  for (const Algorithm* algorithm : {halving_doubling_algorithm(), double_binary_tree_algorithm()}) {
    for (const CollectiveOp op : kOps) {
      for (const uint32_t n : {31u, 33u, 63u, 64u, 65u, 96u, 127u, 200u}) {
        if (!algorithm->refuses(op, n).empty()) continue;
        for (const uint32_t variant : {0u, 1u}) {
          const uint32_t root = rooted(op) ? n / 2 : 0;
          EXPECT_EQ(disprove(write_out(*algorithm, op, n, root, variant), op, root), "")
              << algorithm->name() << " " << to_string(op) << " " << n;
        }
      }
    }
  }
}

TEST(Algorithms, BothProofsAgreeOnDefects) {
  // One change to one message of a random program: both call it wrong, or neither does.
  std::mt19937 random(7);
  uint32_t wrong = 0;
  std::vector<Program> programs;
  for_every_program([&](const Program& p) {
    if (p.n <= 6 && p.op != CollectiveOp::barrier) programs.push_back(p);
  });
  for (uint32_t k = 0; k < 4000; ++k) {
    Program p = programs[random() % programs.size()];
    auto& member = p.rounds[random() % p.n];
    Round& round = member[random() % member.size()];
    if (round.sends.empty()) continue;
    RoundSend& send = round.sends[random() % round.sends.size()];
    // Not the round a message is for: two that replace one block in one round would depend on their order.
    if (p.op != CollectiveOp::all_to_all && random() % 3 == 0) {
      send.reduce = !send.reduce;
    } else if (random() % 4 == 0) {
      round.sends.erase(round.sends.begin());
    } else {
      send.blocks.first = (send.blocks.first + 1) % p.n;
    }
    const bool mover = !Mover(p, k).run().empty();
    const bool proof = !disprove(p.rounds, p.op, p.root).empty();
    // The library's proof refuses a few that end well: a contribution that is double for a while, or sent
    // before it is there.
    EXPECT_TRUE(proof || !mover) << p.name() << ": " << Mover(p, k).run();
    wrong += mover ? 1 : 0;
  }
  EXPECT_GT(wrong, 1500u);
}

TEST(Algorithms, TheProofSeesADefect) {
  // Without one of its messages, with a message too much, and with a block too few.
  Program p = make(*ring_algorithm(), CollectiveOp::all_reduce, 4, 0, false);
  Program missing = p;
  missing.rounds[1][2].sends.clear();
  EXPECT_NE(check_bookkeeping(missing), "");
  EXPECT_NE(Mover(missing, 1).run(), "");
  Program other_block = p;
  other_block.rounds[1][2].sends[0].blocks.first ^= 1;
  EXPECT_EQ(check_bookkeeping(other_block), "");
  EXPECT_NE(Mover(other_block, 1).run(), "");
  Program wrong_round = p;
  wrong_round.rounds[3][0].sends[0].at_round = 5;
  EXPECT_NE(check_bookkeeping(wrong_round), "");
  Program no_reduce = p;
  no_reduce.rounds[2][1].sends[0].reduce = false;
  EXPECT_NE(Mover(no_reduce, 1).run(), "");
}

/// Messages and blocks that all members send.
std::pair<uint64_t, uint64_t> traffic(const Program& p) {
  uint64_t messages = 0;
  uint64_t blocks = 0;
  for (const auto& member : p.rounds) {
    for (const Round& round : member) {
      for (const RoundSend& send : round.sends) {
        ++messages;
        blocks += send.blocks.count;
      }
    }
  }
  return {messages, blocks};
}

TEST(Algorithms, TrafficIsWhatTheTextbookSays) {
  using Pair = std::pair<uint64_t, uint64_t>;
  for (uint32_t n = 2; n <= 17; ++n) {
    auto of = [&](const Algorithm* a, CollectiveOp op) { return traffic(make(*a, op, n, 0, false)); };
    const uint64_t m = n - 1;
    EXPECT_EQ(of(ring_algorithm(), CollectiveOp::all_reduce), Pair(2 * n * m, 2 * n * m));
    EXPECT_EQ(of(ring_algorithm(), CollectiveOp::all_gather), Pair(n * m, n * m));
    EXPECT_EQ(of(ring_algorithm(), CollectiveOp::reduce_scatter), Pair(n * m, n * m));
    EXPECT_EQ(of(ring_algorithm(), CollectiveOp::all_to_all), Pair(n * n * m / 2, n * n * m / 2));
    EXPECT_EQ(of(ring_algorithm(), CollectiveOp::broadcast), Pair(n * m, n * m));
    EXPECT_EQ(of(ring_algorithm(), CollectiveOp::gather), Pair(n * m / 2, n * m / 2));
    EXPECT_EQ(of(direct_algorithm(), CollectiveOp::all_reduce), Pair(2 * n * m, 2 * n * m));
    EXPECT_EQ(of(direct_algorithm(), CollectiveOp::all_to_all), Pair(n * m, n * m));
    EXPECT_EQ(of(direct_algorithm(), CollectiveOp::broadcast), Pair(m, n * m));
    EXPECT_EQ(of(direct_algorithm(), CollectiveOp::scatter), Pair(m, m));
    EXPECT_EQ(of(halving_doubling_algorithm(), CollectiveOp::broadcast), Pair(m, n * m));
    EXPECT_EQ(of(halving_doubling_algorithm(), CollectiveOp::reduce), Pair(m, n * m));
    if ((n & m) == 0) {
      uint64_t l = 0;
      while (n >> (l + 1)) ++l;
      EXPECT_EQ(of(halving_doubling_algorithm(), CollectiveOp::all_reduce), Pair(2 * n * l, 2 * n * m));
      EXPECT_EQ(of(halving_doubling_algorithm(), CollectiveOp::reduce_scatter), Pair(n * l, n * m));
    } else {
      uint64_t p = 1;
      uint64_t l = 0;
      for (; 2 * p <= n; p *= 2) ++l;
      const uint64_t r = n - p;
      // Every step of the core moves n blocks less those that stay: in all, each core member but one sends or
      // receives each block once.
      EXPECT_EQ(of(halving_doubling_algorithm(), CollectiveOp::reduce_scatter),
                Pair(p * l + 2 * r, (p - 1) * n + r * n + r));
      EXPECT_EQ(of(halving_doubling_algorithm(), CollectiveOp::all_gather),
                Pair(p * l + 2 * r, (p - 1) * n + r + r * m));
      EXPECT_EQ(of(halving_doubling_algorithm(), CollectiveOp::all_reduce),
                Pair(2 * p * l + 2 * r, 2 * (p - 1) * n + 2 * r * n));
    }
    EXPECT_NE(halving_doubling_algorithm()->refuses(CollectiveOp::all_to_all, n), "");
    // Trees: every edge carries every block once a direction.
    for (const CollectiveOp op : {CollectiveOp::broadcast, CollectiveOp::reduce}) {
      EXPECT_EQ(of(double_binary_tree_algorithm(), op).second, n * m);
    }
    EXPECT_EQ(of(double_binary_tree_algorithm(), CollectiveOp::all_reduce).second, 2 * n * m);
    EXPECT_EQ(of(double_binary_tree_algorithm(), CollectiveOp::barrier), Pair(2 * m, 2 * m));
  }
}

TEST(Algorithms, InnerMembersOfOneTreeAreLeavesOfTheOther) {
  const Algorithm& tree = *double_binary_tree_algorithm();
  for (uint32_t n = 2; n <= 300; n += n < 70 ? 1 : 23) {
    for (const CollectiveOp op : {CollectiveOp::all_reduce, CollectiveOp::broadcast, CollectiveOp::reduce}) {
      const uint32_t root = rooted(op) ? n / 3 : 0;
      std::vector<uint32_t> inner(n, 0);
      for (uint32_t variant = 0; variant < 2; ++variant) {
        for (uint32_t me = 0; me < n; ++me) {
          const PhaseShape shape{op, n, me, root, false, variant};
          std::set<uint32_t> neighbours;
          Round round;
          for (uint32_t other = 0; other < n; ++other) {
            if (other != me && tree.expects(shape, 0, other)) neighbours.insert(other);
          }
          uint32_t rounds = tree.rounds(shape);
          ASSERT_LE(rounds, 10u * 9 + 9) << n;  // logarithmic, whatever n
          for (uint32_t r = 0; r < rounds; ++r) {
            tree.round(shape, r, round);
            for (const RoundSend& send : round.sends) neighbours.insert(send.to);
          }
          ASSERT_LE(neighbours.size(), 3u);
          if (rooted(op) && me == root) {
            ASSERT_EQ(neighbours.size(), 1u);
          } else if (neighbours.size() > 1) {
            inner[me] |= 1u << (variant % 2);
          }
        }
      }
      for (uint32_t me = 0; me < n; ++me) {
        // The top of the tree has no neighbour above, and one child at most when it is the last position.
        ASSERT_NE(inner[me], 3u) << to_string(op) << " n=" << n << " member " << me;
      }
    }
  }
}

TEST(Algorithms, SplitLosesNoByte) {
  for (const uint32_t unit : {1u, 2u, 4u}) {
    for (uint32_t n = 1; n <= 17; ++n) {
      for (const uint64_t units : {0ull, 1ull, 5ull, 16ull, 17ull, 1000003ull, 1ull << 40}) {
        const Split split = Split::of(units * unit, n, unit);
        uint64_t total = 0;
        for (uint32_t b = 0; b < n; ++b) {
          EXPECT_EQ(split.offset(b), total);
          total += split.size(b);
          EXPECT_LE(split.size(b), split.base + unit);
          EXPECT_EQ(split.size(b) % unit, 0u);
        }
        EXPECT_EQ(total, units * unit);
        EXPECT_EQ((BlockSet{0, n, 1}.bytes(n, split)), total);
        for (uint32_t first = 0; first < n; ++first) {
          const BlockSet odd{first, (n + 1) / 2, 2};
          uint64_t sum = 0;
          std::set<uint32_t> seen;
          odd.for_each(n, [&](uint32_t b) {
            sum += split.size(b);
            seen.insert(b);
          });
          EXPECT_EQ(odd.bytes(n, split), sum);
        }
      }
    }
  }
}

TEST(Algorithms, ASetOfBlocksKnowsItsBytesWithoutCountingThem) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const auto n = static_cast<uint32_t>(1 + random() % 40);
    const BlockSet blocks{static_cast<uint32_t>(random() % n), static_cast<uint32_t>(random() % 60),
                          static_cast<uint32_t>(random() % 50)};
    const Split split = Split::of(4 * (random() % 5000), n, 4);
    uint64_t sum = 0;
    blocks.for_each(n, [&](uint32_t b) { sum += split.size(b); });
    ASSERT_EQ(blocks.bytes(n, split), sum)
        << n << ": " << blocks.first << " " << blocks.count << " " << blocks.stride;
  }
}

TEST(Algorithms, Registry) {
  EXPECT_EQ(find_algorithm("ring"), ring_algorithm());
  EXPECT_EQ(find_algorithm("nonsense"), nullptr);
  EXPECT_EQ(find_algorithm("one_ring"), nullptr);
  EXPECT_EQ(find_flat_algorithm("one_ring"), ring_algorithm());
  EXPECT_EQ(find_flat_algorithm("one_halving_doubling"), halving_doubling_algorithm());
  EXPECT_EQ(find_flat_algorithm("one_"), nullptr);
  EXPECT_EQ(find_flat_algorithm("ring"), nullptr);
  EXPECT_EQ(default_algorithm(Shape(DimensionKind::ring), CollectiveOp::all_reduce), ring_algorithm());
  EXPECT_EQ(default_algorithm(Shape(DimensionKind::fully_connected), CollectiveOp::all_reduce),
            direct_algorithm());
  EXPECT_EQ(default_algorithm(Shape(DimensionKind::switch_), CollectiveOp::all_reduce),
            halving_doubling_algorithm());
  EXPECT_EQ(default_algorithm(Shape(DimensionKind::switch_), CollectiveOp::all_to_all), direct_algorithm());
}

}  // namespace
}  // namespace weft::collectives
