// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_WORKLOAD_JOB_LAYER_ROWS_H
#define WEFT_WORKLOAD_JOB_LAYER_ROWS_H

#include <utility>
#include <vector>

#include "workload/graph/layers.h"
#include "workload/job/rows.h"

namespace weft {

/// What the nodes of some ranks have done by layer, without their collectives. `engines`: each with the
/// number of ranks it stands for. `end`: the time up to which layers that are still at work count.
std::vector<LayerRow> layer_rows(const graph::LayerTable& table,
                                 const std::vector<std::pair<const graph::RankEngine*, uint32_t>>& engines,
                                 Picoseconds end);
/// A row for every layer that a node with time or a collective belongs to: by iteration, then by name with
/// its numbers in numerical order. `of_nodes`: of all ranks; a layer may have several, which add up.
std::vector<LayerRow> layer_rows(std::vector<LayerRow>&& of_nodes,
                                 const std::vector<CollectiveRow>& collectives);

/// A row for every iteration that a node with time belongs to, in their numerical order.
std::vector<IterationRow> iteration_rows(
    const graph::LayerTable& table, const std::vector<std::pair<const graph::RankEngine*, uint32_t>>& engines,
    Picoseconds end);

}  // namespace weft

#endif
