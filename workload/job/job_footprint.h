// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The footprints of a job's ranks (`run.footprint`).

#ifndef WEFT_WORKLOAD_JOB_JOB_FOOTPRINT_H
#define WEFT_WORKLOAD_JOB_JOB_FOOTPRINT_H

#include <cstdint>
#include <map>
#include <memory>

#include "configs/config.h"
#include "workload/job/footprint.h"
#include "workload/job/tensor_plan.h"

namespace weft {

/// Bytes that a collective of `members` leaves on each of them (sizes as in CollectiveRequest).
uint64_t result_bytes(CollectiveOp op, uint64_t bytes, uint32_t members);

class JobFootprint {
 public:
  /// The rank's tensors are followed.
  static bool follows(const trace::TraceIndex& index, const Config& config);
  /// The footprint of a rank, from the beginning of the run; null: it is not followed. `index` outlives the
  /// object.
  Footprint* follow(const trace::TraceIndex& index, const Config& config,
                    const TensorPlan::ResultBytes& result_bytes);
  /// Null: it is not followed.
  const Footprint* of(uint32_t rank) const;

 private:
  struct Rank {
    explicit Rank(TensorPlan own, const trace::TraceIndex& index, uint64_t capacity)
        : plan(std::move(own)), footprint(plan, index, capacity) {}
    const TensorPlan plan;
    Footprint footprint;
  };
  std::map<uint32_t, std::unique_ptr<Rank>> ranks_;
};

}  // namespace weft

#endif
