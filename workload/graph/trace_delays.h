// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The what-if delays of a job's collectives, known before it runs.

#ifndef WEFT_WORKLOAD_GRAPH_TRACE_DELAYS_H
#define WEFT_WORKLOAD_GRAPH_TRACE_DELAYS_H

#include <cstdint>
#include <unordered_map>

#include "configs/types.h"
#include "workload/collectives/delay_rules.h"
#include "workload/trace/workload_check.h"

namespace weft::graph {

/// By CollectiveNumbers::number(): the delays of those collectives that have one. The nodes of a group's
/// first member tell names and iterations, and the occurrences in the order of their ordinals.
using TraceDelays = std::unordered_map<uint32_t, Picoseconds>;

/// Reads the traces once more if `rules` have delays, else nothing.
TraceDelays trace_delays(const trace::JobTrace& traces, collectives::DelayRules& rules);

}  // namespace weft::graph

#endif
