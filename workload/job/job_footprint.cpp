// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/job/job_footprint.h"

namespace weft {

uint64_t result_bytes(CollectiveOp op, uint64_t bytes, uint32_t members) {
  switch (op) {
    case CollectiveOp::all_gather:
    case CollectiveOp::gather:
      return bytes > kNever / members ? kNever : bytes * members;
    case CollectiveOp::reduce_scatter:
    case CollectiveOp::scatter:
      return bytes / members;
    case CollectiveOp::barrier:
      return 0;
    default:
      return bytes;
  }
}

bool JobFootprint::follows(const trace::TraceIndex& index, const Config& config) {
  if (config.run.footprint == "auto") return index.stats().notes.tensor_lists != 0;
  return config.run.footprint == "on";
}

Footprint* JobFootprint::follow(const trace::TraceIndex& index, const Config& config,
                                const TensorPlan::ResultBytes& result_bytes) {
  if (!follows(index, config)) return nullptr;
  const bool named = index.stats().notes.tensor_lists != 0;
  auto& rank = ranks_[index.rank()];
  rank = std::make_unique<Rank>(named ? TensorPlan(index) : TensorPlan(index, result_bytes), index,
                                config.hbm.capacity);
  return &rank->footprint;
}

const Footprint* JobFootprint::of(uint32_t rank) const {
  const auto it = ranks_.find(rank);
  return it == ranks_.end() ? nullptr : &it->second->footprint;
}

}  // namespace weft
