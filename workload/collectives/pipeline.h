// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// How long a collective takes when every phase of a chunk lasts as long as it does alone: the job shop of the
// chunks on the queues of the dimensions, for schedulers that compare orders of phases before anything runs.

#ifndef WEFT_WORKLOAD_COLLECTIVES_PIPELINE_H
#define WEFT_WORKLOAD_COLLECTIVES_PIPELINE_H

#include "workload/collectives/plan.h"

namespace weft::collectives {

/// The time from the start to the end of the last chunk's last phase, by PhasePlan::duration, with
/// collectives.dimension_scheduling and queues_per_dimension. Chunks that are active at once in a queue share
/// its links, so the queue counts as one server; the dispatcher and other collectives are left out. An
/// estimate: exact for what is symmetric, analytical and has one active chunk a dimension.
Picoseconds pipeline_time(const Config& config, const CollectivePlan& plan);

}  // namespace weft::collectives

#endif
