// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/member_begins.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace weft::collectives {
namespace {

constexpr uint64_t kMostSteps = 500'000'000;  ///< of a search, some nanoseconds each

/// A chunk on one line.
struct Line {
  std::vector<uint32_t> missing;  ///< ranks
  std::vector<uint32_t> begun;    ///< .. while some are missing
};

struct Event {
  enum class Kind : uint8_t { came, begun, awaited };
  Moment at = 0;
  Kind kind = Kind::begun;
  uint32_t rank = 0;
  uint32_t other = 0;  ///< the line, or the source
};

/// The ranks and open chunks of one instant.
class Rings {
 public:
  Rings(std::vector<Line> lines, const std::vector<uint32_t>& part_of, bool several)
      : lines_(std::move(lines)),
        part_of_(part_of),
        several_(several),
        holds_(part_of.size()),
        waits_(part_of.size()),
        wanted_(part_of.size()),
        seen_ranks_{std::vector<uint64_t>(part_of.size()), std::vector<uint64_t>(part_of.size())},
        seen_lines_(lines_.size(), 0) {}

  void apply(const Event& event) {
    if (event.kind == Event::Kind::begun) return begun(event.rank, event.other);
    std::vector<uint32_t>& sources = waits_[event.rank];
    if (event.kind == Event::Kind::awaited) {
      sources.push_back(event.other);
      ++wanted_[event.other];
      return;
    }
    --wanted_[event.other];
    *std::find(sources.begin(), sources.end(), event.other) = sources.back();
    sources.pop_back();
  }

  /// Something of the rank leads back to it, through an open chunk and ranks of another part.
  bool ring_at(uint32_t rank) {
    if (wanted_[rank] == 0) return false;
    ++round_;
    bool back = false;
    bool others = false;
    reached_ = {{rank, false}};
    for (size_t i = 0; i < reached_.size(); ++i) {
      const Reached at = reached_[i];
      const auto reach = [&](uint32_t next, bool by_chunk) {
        ++steps_;
        back = back || (next == rank && by_chunk);
        uint64_t& seen = seen_ranks_[by_chunk ? 1 : 0][next];
        if (seen == round_) return;
        seen = round_;
        others = others || part_of_[next] != part_of_[rank];
        reached_.push_back({next, by_chunk});
      };
      for_each_after(at, reach);
    }
    return back && others && (several_ || others_lead_back(rank));
  }
  uint64_t steps() const { return steps_; }

 private:
  struct Reached {
    uint32_t rank = 0;
    bool by_chunk = false;  ///< a chunk is on the way there
  };
  template <typename F>
  void for_each_after(const Reached& at, F&& reach) {
    for (const uint32_t line : holds_[at.rank]) {
      if (seen_lines_[line] == round_) continue;
      seen_lines_[line] = round_;
      for (const uint32_t missing : lines_[line].missing) reach(missing, true);
    }
    for (const uint32_t source : waits_[at.rank]) reach(source, at.by_chunk);
  }

  /// From one of the ranks of other parts that have been reached there is a way to this one.
  bool others_lead_back(uint32_t rank) {
    ++round_;
    std::vector<Reached> from;
    for (const Reached& at : reached_)
      if (part_of_[at.rank] != part_of_[rank]) from.push_back({at.rank, true});
    bool back = false;
    for (size_t i = 0; i < from.size() && !back; ++i) {
      for_each_after(Reached(from[i]), [&](uint32_t next, bool) {
        ++steps_;
        back = back || next == rank;
        if (seen_ranks_[1][next] == round_) return;
        seen_ranks_[1][next] = round_;
        from.push_back({next, true});
      });
    }
    return back;
  }

  void begun(uint32_t rank, uint32_t number) {
    Line& line = lines_[number];
    std::vector<uint32_t>& missing = line.missing;
    *std::find(missing.begin(), missing.end(), rank) = missing.back();
    missing.pop_back();
    if (line.begun.empty()) {
      for (const uint32_t member : missing) ++wanted_[member];
    } else {
      --wanted_[rank];
    }
    if (!missing.empty()) {
      holds_[rank].push_back(number);
      line.begun.push_back(rank);
      return;
    }
    for (const uint32_t member : line.begun) {
      std::vector<uint32_t>& held = holds_[member];
      held.erase(std::find(held.begin(), held.end(), number));
    }
    line.begun = {};
  }

  std::vector<Line> lines_;
  const std::vector<uint32_t>& part_of_;
  const bool several_;
  std::vector<std::vector<uint32_t>> holds_;  ///< open lines that it has begun, by rank
  std::vector<std::vector<uint32_t>> waits_;  ///< ranks, by rank
  std::vector<uint32_t> wanted_;         ///< open lines that miss it, and waits for its messages, by rank
  std::vector<uint64_t> seen_ranks_[2];  ///< by Reached::by_chunk
  std::vector<uint64_t> seen_lines_;
  std::vector<Reached> reached_;
  uint64_t round_ = 0;
  uint64_t steps_ = 0;
};

}  // namespace

void MemberBegins::awaited(uint32_t rank, uint32_t source, Picoseconds now) {
  waiting_[uint64_t{rank} << 32 | source].push_back(waits_.size());
  waits_.push_back({rank, source, now, kNever});
}

void MemberBegins::came(uint32_t rank, uint32_t source, Picoseconds now) {
  const auto at = waiting_.find(uint64_t{rank} << 32 | source);
  waits_[at->second.front()].to = now;
  at->second.erase(at->second.begin());
  if (at->second.empty()) waiting_.erase(at);
}

Picoseconds ring_of_ranks(std::vector<MemberBegin> begins, const std::vector<RankWait>& waits,
                          const std::vector<uint32_t>& part_of, bool several) {
  std::sort(begins.begin(), begins.end(), [](const MemberBegin& a, const MemberBegin& b) {
    return std::tie(a.collective, a.index, a.rank) < std::tie(b.collective, b.index, b.rank);
  });
  std::vector<Line> lines;
  std::vector<Event> events;
  for (size_t first = 0, end = 0; first < begins.size(); first = end) {
    bool open = false;  // some have begun it before others
    for (end = first; end < begins.size() && begins[end].collective == begins[first].collective &&
                      begins[end].index == begins[first].index;
         ++end)
      open = open || !(begins[end].at == begins[first].at);
    if (!open) continue;
    const auto line = static_cast<uint32_t>(lines.size());
    lines.emplace_back();
    for (size_t i = first; i < end; ++i) {
      lines.back().missing.push_back(begins[i].rank);
      events.push_back({begins[i].at, Event::Kind::begun, begins[i].rank, line});
    }
  }
  for (const RankWait& wait : waits) {
    if (wait.from >= wait.to) continue;
    events.push_back({wait.from, Event::Kind::awaited, wait.rank, wait.source});
    if (wait.to != kNever) events.push_back({wait.to, Event::Kind::came, wait.rank, wait.source});
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::tie(a.at, a.kind, a.rank, a.other) < std::tie(b.at, b.kind, b.rank, b.other);
  });
  Rings rings(std::move(lines), part_of, several);
  for (size_t first = 0, end = 0; first < events.size(); first = end) {
    for (; end < events.size() && events[end].at == events[first].at; ++end) rings.apply(events[end]);
    // A new ring passes a rank that has just begun something, or waits.
    for (size_t i = first; i < end; ++i) {
      const Event& event = events[i];
      const bool again = i != first && events[i - 1].kind == event.kind && events[i - 1].rank == event.rank;
      if (event.kind == Event::Kind::came || again) continue;
      if (rings.ring_at(event.rank) || rings.steps() > kMostSteps) return event.at.at;
    }
  }
  return kNever;
}

}  // namespace weft::collectives
