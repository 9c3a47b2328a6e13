// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Ranks of a job that are alike at first: when one of them can stand for others, and how these take over its
// state.

#include <algorithm>

#include "sc_models/npu.h"
#include "sc_models/trace_job.h"

namespace weft {

bool TraceJob::splits() const {
  if (folding_.replicas().empty() || !ranks_.whole() || sampled_ != nullptr || mirrored_ != nullptr ||
      p2p_data_ != nullptr)
    return false;
  if (machine_.causes() != nullptr || machine_.library() != nullptr || !keeps_replicas() ||
      follows_tensors(*checked_))
    return false;
  return config_.nmu.injection_queue == 0 && config_.nmu.injection_bandwidth.bytes_per_second == 0;
}

/// Ranks that are alike are in the same part of the machine.
bool TraceJob::keeps_replicas() const {
  const PartLinks* const links = machine_.part_links();
  if (links == nullptr) return true;
  const auto& replicas = folding_.replicas().ranks;
  const auto part_of = [links](uint32_t rank) { return links->part_of(rank); };
  return std::all_of(replicas.begin(), replicas.end(), [&](const std::vector<uint32_t>& ranks) {
    return std::equal(ranks.begin(), ranks.end(), replicas.front().begin(),
                      [&](uint32_t a, uint32_t b) { return part_of(a) == part_of(b); });
  });
}

Machine::Options TraceJob::scout_options(const graph::CheckedJob& checked) {
  Machine::Options options = machine_options();
  options.only = checked.folding().replicas().ranks.front();
  return options;
}

Splitting& TraceJob::split() {
  SplitHost& host = *this;
  splitting_ =
      std::make_unique<Splitting>("splitting", machine_, host, traces_.groups(), folding_.replicas());
  return *splitting_;
}

bool TraceJob::rests(uint32_t rank) const {
  return dynamic_cast<const Npu&>(npu(rank)).rests() && machine_.own_nmu(ranks_.npu(rank)).rests();
}

void TraceJob::adopt(uint32_t rank, uint32_t like, const std::function<uint32_t(uint32_t)>& image) {
  feeders_[rank]->adopt(*feeders_[like]);
  orders_.adopt(rank, like);
  const graph::RankImage as{
      image, [&](trace::NodeIndex i) -> const trace::Node& { return feeders_[rank]->taken(i); }};
  dynamic_cast<Npu&>(npu(rank)).adopt(dynamic_cast<const Npu&>(npu(like)), as);
  const uint32_t to = ranks_.npu(rank);
  const uint32_t from = ranks_.npu(like);
  machine_.own_nmu(to).adopt(machine_.own_nmu(from),
                             [&](NpuId npu) { return NpuId{ranks_.npu(image(ranks_.rank(index(npu))))}; });
  for (uint32_t d = 0; d < config_.dimensions.size(); ++d)
    if (config_.dimensions[d].size > 1) machine_.link_to(to, d) = machine_.link_to(from, d);
}

void TraceJob::adopt_collectives(trace::GroupId group, trace::GroupId like,
                                 const std::function<uint32_t(uint32_t)>& image) {
  const trace::CollectiveNumbers& numbers = traces_.collectives();
  const uint32_t count = numbers.of_group(like);
  for (uint32_t ordinal = 0; ordinal < count; ++ordinal) {
    const uint32_t from = row_of_[numbers.number(like, ordinal) - 1];
    if (from == 0) continue;
    const uint32_t number = numbers.number(group, ordinal);
    rows_.push_back(rows_[from - 1]);
    rows_.back().stream = number;
    rows_.back().group = groups_[group].name;
    named_by_.push_back(image(named_by_[from - 1]));
    row_of_[number - 1] = static_cast<uint32_t>(rows_.size());
  }
}

}  // namespace weft
