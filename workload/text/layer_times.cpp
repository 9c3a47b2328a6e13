// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/text/layer_times.h"

#include <algorithm>

namespace weft::text {

LayerTimes::LayerTimes(const TrainingLoop& loop)
    : loop_(loop), started_(loop.nodes.size(), kNever), finished_(loop.nodes.size(), kNever) {}

std::vector<LayerTime> LayerTimes::rows(uint32_t layers) const {
  std::vector<LayerTime> rows(size_t{layers} * kPasses);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].layer = static_cast<uint32_t>(i / kPasses);
    rows[i].pass = static_cast<Pass>(i % kPasses);
  }
  const auto row = [&](const LoopNode& node) -> LayerTime& {
    return rows[size_t{node.layer} * kPasses + static_cast<size_t>(node.pass)];
  };
  for (size_t i = 0; i < loop_.nodes.size(); ++i) {
    const LoopNode& node = loop_.nodes[i];
    if (finished_[i] == kNever) continue;
    // A delay begins where its collective ends.
    const Picoseconds begin = started_[i] == kNever ? finished_[i] : started_[i];
    (node.kind == LoopNode::Kind::compute ? row(node).compute : row(node).communication) +=
        finished_[i] - begin;
  }
  for (const LoopWait& wait : loop_.waits) {
    if (finished_[wait.done] == kNever) continue;
    Picoseconds since = 0;
    for (const uint32_t before : wait.since) since = std::max(since, finished_[before]);
    if (since < finished_[wait.done]) row(loop_.nodes[wait.done]).exposed += finished_[wait.done] - since;
  }
  return rows;
}

}  // namespace weft::text
