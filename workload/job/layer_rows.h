// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_WORKLOAD_JOB_LAYER_ROWS_H
#define WEFT_WORKLOAD_JOB_LAYER_ROWS_H

#include <utility>
#include <vector>

#include "workload/graph/layers.h"
#include "workload/job/rows.h"

namespace weft {

/// A row for every layer that a node with time or a collective belongs to: by iteration, then by name with
/// its numbers in numerical order. `engines`: each with the number of ranks it stands for. `end`: the time up
/// to which layers that are still at work count.
std::vector<LayerRow> layer_rows(const graph::LayerTable& table,
                                 const std::vector<std::pair<const graph::RankEngine*, uint32_t>>& engines,
                                 const std::vector<CollectiveRow>& collectives, Picoseconds end);

}  // namespace weft

#endif
