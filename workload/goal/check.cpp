// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "configs/types.h"
#include "workload/goal/program.h"

namespace weft::goal {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw UserError(ExitCode::trace, what);
}

/// Where each operation's dependencies begin in a list that is sorted by `after`.
struct Before {
  std::vector<uint32_t> first;
  std::vector<uint32_t> operations;
};

Before before_of(const RankProgram& rank) {
  Before b;
  b.first.assign(rank.operations.size() + 1, 0);
  for (const Dependency& d : rank.dependencies) ++b.first[d.after + 1];
  for (size_t i = 1; i < b.first.size(); ++i) b.first[i] += b.first[i - 1];
  b.operations.resize(rank.dependencies.size());
  std::vector<uint32_t> next(b.first.begin(), b.first.end() - 1);
  for (const Dependency& d : rank.dependencies) b.operations[next[d.after]++] = d.before;
  return b;
}

void check_circles(const Program& program, uint32_t r) {
  const RankProgram& rank = program.ranks[r];
  const auto n = static_cast<uint32_t>(rank.operations.size());
  std::vector<uint32_t> unmet(n), first(n + 1), after(rank.dependencies.size());
  for (const Dependency& d : rank.dependencies) {
    ++unmet[d.after];
    ++first[d.before + 1];
  }
  for (uint32_t i = 0; i < n; ++i) first[i + 1] += first[i];
  std::vector<uint32_t> next(first.begin(), first.end() - 1);
  for (const Dependency& d : rank.dependencies) after[next[d.before]++] = d.after;
  std::vector<uint32_t> ready;
  for (uint32_t i = 0; i < n; ++i)
    if (unmet[i] == 0) ready.push_back(i);
  uint32_t done = 0;
  while (!ready.empty()) {
    const uint32_t i = ready.back();
    ready.pop_back();
    ++done;
    for (uint32_t k = first[i]; k < first[i + 1]; ++k)
      if (--unmet[after[k]] == 0) ready.push_back(after[k]);
  }
  if (done == n) return;

  // Back along unmet dependencies from any blocked operation one comes into a circle.
  const Before before = before_of(rank);
  std::vector<uint32_t> position(n, ~0u), way;
  uint32_t i = 0;
  while (unmet[i] == 0) ++i;
  while (position[i] == ~0u) {
    position[i] = static_cast<uint32_t>(way.size());
    way.push_back(i);
    uint32_t k = before.first[i];
    while (unmet[before.operations[k]] == 0) ++k;
    i = before.operations[k];
  }
  std::string circle;
  constexpr size_t kShown = 8;
  for (size_t k = position[i]; k < way.size() && k < position[i] + kShown; ++k) {
    const std::string_view label = rank.label(way[k]);
    circle +=
        fmt::format("{}{}", circle.empty() ? "" : " waits for ",
                    label.empty() ? fmt::format("operation {}", way[k]) : std::string(label.substr(0, 60)));
  }
  const std::string_view label = rank.label(i);
  fail(fmt::format("{}: its dependencies go in a circle: {} waits for {}{}; take one of them out",
                   program.where(r, i), circle, way.size() - position[i] > kShown ? ".. waits for " : "",
                   label.empty() ? fmt::format("operation {}", i) : std::string(label.substr(0, 60))));
}

/// The messages to one rank and its receives.
class Matching {
 public:
  Matching(const Program& program, uint32_t rank) : program_(program), rank_(rank) {}

  void add(uint32_t source, uint32_t i) { sends_[{source, op(source, i).tag}].emplace_back(source, i); }

  void check(uint64_t& larger, std::string& first_larger) {
    collect();
    for (auto& [channel, receives] : exact_) {
      auto& sends = sends_[channel];
      if (receives.size() > sends.size())
        fail(
            fmt::format("{}: this receive has no send: rank {} sends {} with that tag to rank {}, and {} "
                        "receives expect them; add the send or take the receive out",
                        program_.where(rank_, receives[sends.size()]), channel.first, messages(sends.size()),
                        rank_, receives.size()));
      check_sizes(channel, receives, sends, larger, first_larger);
      left_[channel] = sends.size() - receives.size();
    }
    for (const auto& [channel, sends] : sends_)
      if (exact_.count(channel) == 0) left_[channel] = sends.size();
    check_wildcards();
  }

 private:
  using Channel = std::pair<uint32_t, uint32_t>;  // source, tag

  const Operation& op(uint32_t rank, uint32_t i) const { return program_.ranks[rank].operations[i]; }
  static std::string messages(uint64_t n) { return fmt::format("{} {}", n, n == 1 ? "message" : "messages"); }

  void collect() {
    const RankProgram& rank = program_.ranks[rank_];
    for (uint32_t i = 0; i < rank.operations.size(); ++i) {
      const Operation& o = rank.operations[i];
      if (o.kind != Kind::receive) continue;
      if (o.peer != kAny && o.tag != kAny) {
        exact_[{o.peer, o.tag}].push_back(i);
      } else {
        wild_[{o.peer, o.tag}].push_back(i);
      }
    }
  }

  /// Which receive a message meets may depend on times. Sorted by size, each receive must be large enough.
  void check_sizes(const Channel& channel, const std::vector<uint32_t>& receives,
                   const std::vector<std::pair<uint32_t, uint32_t>>& sends, uint64_t& larger,
                   std::string& first_larger) {
    for (const auto& [peer_tag, list] : wild_)  // a wildcard may take any of them
      if ((peer_tag.first == kAny || peer_tag.first == channel.first) &&
          (peer_tag.second == kAny || peer_tag.second == channel.second))
        return;
    if (receives.size() != sends.size()) return;  // told below
    std::vector<std::pair<uint64_t, uint32_t>> wanted, sent;
    for (const uint32_t i : receives) wanted.emplace_back(op(rank_, i).size, i);
    for (const auto& [source, i] : sends) sent.emplace_back(op(source, i).size, i);
    std::sort(wanted.begin(), wanted.end());
    std::sort(sent.begin(), sent.end());
    for (size_t k = 0; k < wanted.size(); ++k) {
      if (wanted[k].first < sent[k].first)
        fail(
            fmt::format("{}: it receives {} B, but the message that is left for it has {} B ({}); make the "
                        "sizes equal",
                        program_.where(rank_, wanted[k].second), wanted[k].first, sent[k].first,
                        program_.where(channel.first, sent[k].second)));
      if (wanted[k].first > sent[k].first && larger++ == 0)
        first_larger = program_.where(rank_, wanted[k].second);
    }
  }

  void check_wildcards() {
    std::map<uint32_t, uint64_t> of_source, of_tag;
    uint64_t all = 0;
    for (const auto& [channel, n] : left_) {
      of_source[channel.first] += n;
      of_tag[channel.second] += n;
      all += n;
    }
    uint64_t receives = 0;
    const std::vector<uint32_t>* last = nullptr;
    for (const auto& [wanted, list] : wild_) {
      const uint64_t there = wanted.first != kAny    ? of_source[wanted.first]
                             : wanted.second != kAny ? of_tag[wanted.second]
                                                     : all;
      if (list.size() > there)
        fail(fmt::format(
            "{}: this receive has no send: {} of {} that fit it are left for {} such receives; add "
            "the send or take the receive out",
            program_.where(rank_, list[there]), there, messages(all), list.size()));
      receives += list.size();
      last = &list;
    }
    if (receives > all)
      fail(fmt::format(
          "{}: this receive has no send: {} are left for {} receives with wildcards of rank {}; add "
          "the send or take the receive out",
          program_.where(rank_, last->back()), messages(all), receives, rank_));
    if (receives == all) return;
    for (const auto& [channel, n] : left_) {
      if (n == 0) continue;
      const auto& sends = sends_[channel];
      const auto& [source, i] = sends[sends.size() - n];
      const bool maybe_taken = receives != 0;
      fail(fmt::format(
          "{}: this send has no receive: rank {} receives {} with that tag from rank {}{}; add the "
          "receive or take the send out",
          program_.where(source, i), rank_, messages(sends.size() - n), source,
          maybe_taken ? fmt::format(", and {} with wildcards for {} messages", receives, all) : ""));
    }
  }

  const Program& program_;
  uint32_t rank_;
  std::map<Channel, std::vector<std::pair<uint32_t, uint32_t>>> sends_;
  std::map<Channel, std::vector<uint32_t>> exact_;
  std::map<Channel, std::vector<uint32_t>> wild_;  ///< kAny for any
  std::map<Channel, uint64_t> left_;               ///< sends that no exact receive takes
};

}  // namespace

void check_program(const Program& program, std::vector<std::string>* warnings) {
  const auto ranks = static_cast<uint32_t>(program.ranks.size());
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> to(ranks);  // source, operation
  for (uint32_t r = 0; r < ranks; ++r) {
    check_circles(program, r);
    const std::vector<Operation>& operations = program.ranks[r].operations;
    for (uint32_t i = 0; i < operations.size(); ++i)
      if (operations[i].kind == Kind::send) to[operations[i].peer].emplace_back(r, i);
  }
  uint64_t larger = 0;
  std::string first_larger;
  for (uint32_t r = 0; r < ranks; ++r) {
    Matching matching(program, r);
    for (const auto& [source, i] : to[r]) matching.add(source, i);
    matching.check(larger, first_larger);
  }
  if (larger != 0 && warnings != nullptr)
    warnings->push_back(fmt::format("{}: the receive is larger than its message{}; the message's size counts",
                                    first_larger,
                                    larger == 1 ? "" : fmt::format(", and {} others are", larger - 1)));
}

}  // namespace weft::goal
