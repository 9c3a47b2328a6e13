// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The report of ASTRA-sim 1.0 for one rank: of every layer and pass its compute, its communication and how
// long the program waited for that.

#ifndef WEFT_WORKLOAD_TEXT_LAYER_TIMES_H
#define WEFT_WORKLOAD_TEXT_LAYER_TIMES_H

#include <vector>

#include "workload/graph/rank_services.h"
#include "workload/text/training_loop.h"

namespace weft::text {

/// Sums over the passes of a training loop, ps.
struct LayerTime {
  uint32_t layer = 0;
  Pass pass = Pass::forward;
  Picoseconds compute = 0;
  Picoseconds communication = 0;  ///< from the issue until done with its update
  Picoseconds exposed = 0;        ///< of it, while the program waited for nothing else
};

/// Listens to a rank that runs the loop.
class LayerTimes final : public graph::NodeListener {
 public:
  /// The loop outlives the object.
  explicit LayerTimes(const TrainingLoop& loop);

  void node_started(trace::NodeIndex node, Picoseconds now) override { started_[node] = now; }
  void node_finished(trace::NodeIndex node, Picoseconds now) override { finished_[node] = now; }

  /// Layer by layer, each with its three passes. What has not finished does not count.
  std::vector<LayerTime> rows(uint32_t layers) const;

 private:
  const TrainingLoop& loop_;
  std::vector<Picoseconds> started_, finished_;  ///< by node; kNever: not yet
};

}  // namespace weft::text

#endif
