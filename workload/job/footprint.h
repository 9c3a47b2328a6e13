// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// How many bytes of an NPU's HBM the tensors of its rank take, over the time of a run.

#ifndef WEFT_WORKLOAD_JOB_FOOTPRINT_H
#define WEFT_WORKLOAD_JOB_FOOTPRINT_H

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "configs/types.h"
#include "workload/graph/rank_engine.h"
#include "workload/job/tensor_plan.h"

namespace weft {

/// What one rank's tensors took. Times are of the job's clock, ps.
struct FootprintRow {
  uint32_t rank = 0;
  bool estimated = false;  ///< the trace has no tensors: told by formula (TensorPlan)
  uint64_t tensors = 0;
  uint64_t initial_bytes = 0;  ///< of tensors that are there from the beginning
  uint64_t peak_bytes = 0;
  Picoseconds peak_at = 0;         ///< first time
  uint64_t capacity = 0;           ///< of the HBM; 0: unlimited
  Picoseconds over_from = kNever;  ///< first time above the capacity
  Picoseconds over_for = 0;        ///< how long, summed
  std::string over_node;           ///< that made it so, in words; empty: the initial tensors alone
  struct Large {
    std::string name;
    uint64_t bytes = 0;
  };
  std::vector<Large> largest;  ///< tensors at the peak, largest first
};

/// "rank 3: its tensors take up to 33.1 GiB at 1.25 ms, 1.1 GiB more than ..": of the rank that is most above
/// its capacity, and how many others are. Empty: none is.
std::string over_capacity_text(const std::vector<FootprintRow>& rows);

/// Follows one rank's nodes. `plan` and `index` outlive it.
class Footprint final : public graph::NodeListener {
 public:
  /// `capacity`: bytes; 0: unlimited.
  Footprint(const TensorPlan& plan, const trace::TraceIndex& index, uint64_t capacity);

  /// Called with the bytes when they change; for waveforms.
  void on_change(std::function<void(Picoseconds now, uint64_t bytes)> call);

  uint64_t bytes() const { return bytes_; }
  /// Up to `end`.
  FootprintRow row(Picoseconds end) const;

 private:
  void node_started(trace::NodeIndex node, Picoseconds now) override;
  void node_finished(trace::NodeIndex node, Picoseconds now) override;
  void add(uint32_t tensor);
  void settle(Picoseconds now, trace::NodeIndex cause);
  std::vector<uint32_t> largest_now() const;

  const TensorPlan& plan_;
  const trace::TraceIndex& index_;
  const uint64_t capacity_;
  std::function<void(Picoseconds, uint64_t)> changed_;
  std::vector<uint32_t> left_;                        ///< by tensor: nodes that have it and have not ended
  std::set<std::pair<uint64_t, uint32_t>> resident_;  ///< (bytes, tensor)
  std::vector<bool> is_resident_;
  uint64_t bytes_ = 0;
  uint64_t told_ = 0;
  uint64_t peak_ = 0;
  Picoseconds peak_at_ = 0;
  bool at_peak_ = false;  ///< nothing has gone since the peak
  std::vector<uint32_t> largest_;
  Picoseconds over_from_ = kNever;
  Picoseconds over_since_ = kNever;  ///< kNever: not over now
  Picoseconds over_for_ = 0;
  trace::NodeIndex over_node_ = trace::kNoNode;
};

}  // namespace weft

#endif
