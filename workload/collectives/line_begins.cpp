// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/line_begins.h"

#include <algorithm>
#include <tuple>

namespace weft::collectives {
namespace {

/// Part `from` waits for part `to`, or no longer does.
struct Change {
  Moment at = 0;
  uint32_t from = 0;
  uint32_t to = 0;
  int by = 1;
};

class Arrows {
 public:
  explicit Arrows(uint32_t parts) : parts_(parts), count_(size_t{parts} * parts) {}

  void change(const Change& c) { count_[size_t{c.from} * parts_ + c.to] += c.by; }
  /// Some part waits for another one.
  bool any() const {
    return std::any_of(count_.begin(), count_.end(), [](int64_t n) { return n != 0; });
  }
  /// Some part waits for itself through others.
  bool ring() const {
    std::vector<uint32_t> waiting(parts_);  // 0: not seen, 1: on the way, 2: no ring from it
    for (uint32_t part = 0; part < parts_; ++part)
      if (waiting[part] == 0 && leads_back(part, waiting)) return true;
    return false;
  }

 private:
  bool leads_back(uint32_t part, std::vector<uint32_t>& seen) const {
    seen[part] = 1;
    for (uint32_t next = 0; next < parts_; ++next) {
      if (count_[size_t{part} * parts_ + next] == 0 || seen[next] == 2) continue;
      if (seen[next] == 1 || leads_back(next, seen)) return true;
    }
    seen[part] = 2;
    return false;
  }

  const uint32_t parts_;
  std::vector<int64_t> count_;
};

}  // namespace

PartBegins part_begins(const MemberBegins& of, const std::vector<uint32_t>& part_of) {
  PartBegins part;
  for (const MemberBegin& begin : of.begins())
    if (begin.crosses) part.lines.push_back({begin.collective, begin.index, begin.at, begin.at});
  std::sort(part.lines.begin(), part.lines.end(), [](const LineBegin& a, const LineBegin& b) {
    return std::tie(a.collective, a.index, a.first) < std::tie(b.collective, b.index, b.first);
  });
  size_t lines = 0;
  for (const LineBegin& line : part.lines) {
    LineBegin& before = part.lines[lines == 0 ? 0 : lines - 1];
    if (lines != 0 && before.collective == line.collective && before.index == line.index) {
      before.last = line.last;
    } else {
      part.lines[lines++] = line;
    }
  }
  part.lines.resize(lines);
  for (const RankWait& wait : of.waits())
    if (part_of[wait.source] != part_of[wait.rank]) part.waits.push_back({wait.source, wait.from, wait.to});
  return part;
}

Picoseconds ring_of_parts(const std::vector<PartBegins>& parts, const std::vector<uint32_t>& part_of,
                          bool several) {
  std::vector<Change> changes;
  const auto add = [&](uint32_t from, uint32_t to, Moment begin, Moment end) {
    if (!(begin < end) || from == to) return;
    changes.push_back({begin, from, to, 1});
    if (end.at != kNever) changes.push_back({end, from, to, -1});
  };
  struct Entry {
    LineBegin line;
    uint32_t part = 0;
  };
  std::vector<Entry> entries;
  for (uint32_t part = 0; part < parts.size(); ++part) {
    for (const LineBegin& line : parts[part].lines) entries.push_back({line, part});
    for (const MessageWait& wait : parts[part].waits) add(part, part_of[wait.source], wait.from, wait.to);
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.line.collective, a.line.index, a.part) <
           std::tie(b.line.collective, b.line.index, b.part);
  });
  for (size_t first = 0, end = 0; first < entries.size(); first = end) {
    const LineBegin& line = entries[first].line;
    while (end < entries.size() && entries[end].line.collective == line.collective &&
           entries[end].line.index == line.index)
      ++end;
    for (size_t a = first; a < end; ++a)
      for (size_t b = first; b < end; ++b)
        add(entries[a].part, entries[b].part, entries[a].line.first, entries[b].line.last);
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.at < b.at; });
  Arrows arrows(static_cast<uint32_t>(parts.size()));
  for (size_t first = 0, end = 0; first < changes.size(); first = end) {
    bool more = false;
    for (end = first; end < changes.size() && changes[end].at == changes[first].at; ++end) {
      arrows.change(changes[end]);
      more = more || changes[end].by > 0;
    }
    if (more && (several ? arrows.any() : arrows.ring())) return changes[first].at.at;
  }
  return kNever;
}

}  // namespace weft::collectives
