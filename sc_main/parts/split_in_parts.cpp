// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/parts/split_in_parts.h"

#include "sc_main/console.h"

namespace weft::cli {

SplitInParts::SplitInParts(PartsRun* parts, std::unique_ptr<graph::CheckedJob>& job, bool watched)
    : parts_(parts) {
  if (parts == nullptr || !parts->several() || watched || !parts->keeps_replicas()) return;
  if (SplitScout::pays(*job)) scout_.emplace(job, std::vector<Splitting::Limit>{}, [] {});
}

void SplitInParts::prepare(TraceJob& job) {
  if (!scout_ || !parts_->several()) return;
  const std::optional<Splitting::Plan> plan = scout_->plan();
  if (!plan || !job.splits()) return;
  Splitting& splitting = job.split();
  parts_->split_ranks(splitting);
  splitting.follow(
      *plan, [this](const Splitting::Limit&, const std::string& why) { parts_->give_up(why); }, [] {});
  if (parts_->first()) note(split_note(job, splitting, *plan));
}

}  // namespace weft::cli
