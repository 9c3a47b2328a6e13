// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Why a job of traces is not finished: what each rank waits for, and the cycle if there is one.

#include <fmt/format.h>

#include <algorithm>

#include "configs/printable.h"
#include "sc_models/trace_job.h"

namespace weft {
namespace {

/// Follows the first wait of each rank: the cycle in which a chain of them ends, "" if none does.
std::string wait_cycle(const std::map<uint32_t, std::vector<uint32_t>>& waits) {
  for (const auto& start : waits) {
    std::vector<uint32_t> chain{start.first};
    for (;;) {
      const auto next = waits.find(chain.back());
      if (next == waits.end() || next->second.empty()) break;
      const uint32_t rank = next->second.front();
      const auto seen = std::find(chain.begin(), chain.end(), rank);
      if (seen != chain.end()) {
        std::string text = "  cycle: rank ";
        for (auto it = seen; it != chain.end(); ++it) text += fmt::format("{} waits for rank ", *it);
        return text + fmt::format("{}\n", rank);
      }
      chain.push_back(rank);
    }
  }
  return "";
}

}  // namespace

std::string TraceJob::stalled_nodes(Waits& waits, uint32_t& stalled) const {
  constexpr size_t kLinesARank = 6;
  constexpr uint32_t kRanks = 8;
  std::string report;
  for (uint32_t r = 0; r < ranks_.ranks(); ++r) {
    if (!simulated(r)) continue;
    const NpuModel& of = npu(r);
    if (of.finished()) continue;
    stalled += folding_.times(r);
    for (const graph::Stall& stall : of.engine()->describe_stall(kLinesARank)) {
      if (stall.waits_for == graph::Stall::WaitsFor::receive ||
          stall.waits_for == graph::Stall::WaitsFor::send) {
        waits[r].push_back(stall.peer);
      }
      if (stalled <= kRanks) report += "  " + stall.text + "\n";
    }
    if (stalled > kRanks) continue;
    for (const std::string& line : machine_.nmu(ranks_.npu(r)).describe_waits(kLinesARank)) {
      report += fmt::format("  rank {}: {}\n", r, line);
    }
    if (machine_.library() != nullptr)
      for (const std::string& line : machine_.library()->describe_waits(ranks_.npu(r), kLinesARank))
        report += fmt::format("  rank {}: {}\n", r, line);
    for (const auto& unmatched : of.matcher().unmatched(kLinesARank)) report += "  " + unmatched.text + "\n";
  }
  return report;
}

/// Members of a collective that have reached it wait for those that have not.
std::string TraceJob::stalled_collectives(Waits& waits) const {
  std::string report;
  for (const CollectiveRow& row : collectives().rows) {
    if (row.members_done == row.ranks) continue;
    std::string missing;
    uint32_t named = 0;
    std::vector<uint32_t> absent;
    std::vector<uint32_t> present;
    for (const auto& group : groups_) {
      if (group.name != row.group.str()) continue;
      const uint32_t size = group.size(ranks_.ranks());
      for (uint32_t i = 0; i < size; ++i) {
        const uint32_t rank = group.ranks.empty() ? i : ranks_.rank(group.ranks[i]);
        if (!simulated(rank)) continue;
        (running_.find(part_key(rank, row.stream)) != nullptr ? present : absent).push_back(rank);
      }
      break;
    }
    for (const uint32_t rank : present) waits[rank].insert(waits[rank].end(), absent.begin(), absent.end());
    for (const uint32_t rank : absent) {
      if (npu(rank).finished() || row.members_done != 0) continue;
      missing += fmt::format("{}{}", named == 0 ? "" : ", ", rank);
      if (++named == 8) break;
    }
    if (named != 0) {
      report += fmt::format(
          "  collective {} (`{}`, {} of {} B, group `{}`): rank(s) {} have not reached it\n", row.stream,
          printable(row.name.str()), to_string(row.op), row.bytes, printable(row.group.str()), missing);
    }
  }
  return report;
}

std::string TraceJob::stalled_ranks() const {
  Waits waits;
  uint32_t stalled = 0;
  std::string report = stalled_nodes(waits, stalled);
  report += stalled_collectives(waits);
  report += wait_cycle(waits);
  return fmt::format(
             "stalled at {} ps: nothing moves any more and {} of {} ranks have not finished ({} of {} "
             "nodes)\n",
             sc_core::sc_time_stamp().value(), stalled, ranks_.ranks(), done_count(), total_count()) +
         report;
}

}  // namespace weft
