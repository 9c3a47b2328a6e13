// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/library_runs.h"

#include <algorithm>

namespace weft {
namespace {

Picoseconds now() {
  return sc_core::sc_time_stamp().value();
}

}  // namespace

LibraryRuns::LibraryRuns(sc_core::sc_module_name module_name, const Config& config,
                         insight::CausalLog* causes)
    : sc_core::sc_module(module_name),
      calls_(config),
      causes_(causes),
      complete_calls_("complete", InstantPart::starts, [this] { settled(); }),
      end_("end") {
  SC_HAS_PROCESS(LibraryRuns);
  SC_METHOD(finish);
  sensitive << end_;
  dont_initialize();
}

void LibraryRuns::start(const Part& part, const library::NpuOfRank& npu, Done done) {
  const Key key{part.stream, library::line_of(*part.plan, part.rank)};
  Call& call = joining_[key];
  if (call.plan == nullptr) {
    call.plan = part.plan;
    call.work = calls_.plan(*part.plan, part.rank, npu);
  }
  if (causes_ != nullptr) call.cause = causes_->because();
  call.members.push_back({part.rank, now(), std::move(done)});
  // Those of the member's line. Without anything to send nobody waits for others, as in the library.
  if (call.members.size() < call.work.ranks) return;
  complete_.push_back(key);
  complete_calls_.request();
}

/// Calls that are complete at one instant follow each other by their numbers, whichever was complete first.
void LibraryRuns::settled() {
  std::sort(complete_.begin(), complete_.end());
  for (const Key& key : complete_) {
    const auto at = joining_.find(key);
    const Call& call = at->second;
    const Picoseconds end = calls_.end_of(*call.plan, call.members.front().rank, call.work, now());
    ends_.emplace(std::make_pair(end, key), std::move(at->second));
    joining_.erase(at);
  }
  complete_.clear();
  if (!ends_.empty()) end_.notify(sc_core::sc_time::from_value(ends_.begin()->first.first - now()));
}

void LibraryRuns::finish() {
  while (!ends_.empty() && ends_.begin()->first.first <= now()) {
    const uint32_t stream = ends_.begin()->first.second.first;
    Call call = std::move(ends_.begin()->second);
    ends_.erase(ends_.begin());
    std::sort(call.members.begin(), call.members.end(),
              [](const Member& a, const Member& b) { return a.rank < b.rank; });
    for (const Member& member : call.members) {
      collectives::CollectiveDone done;
      done.stream = stream;
      done.started = member.joined;
      done.finished = now();
      done.plan = call.plan.get();
      if (causes_ != nullptr) causes_->because(call.cause);
      member.done(done);
    }
  }
  if (!ends_.empty()) end_.notify(sc_core::sc_time::from_value(ends_.begin()->first.first - now()));
}

}  // namespace weft
