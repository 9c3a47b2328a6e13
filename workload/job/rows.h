// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What the results of a job say, row by row.

#ifndef WEFT_WORKLOAD_JOB_ROWS_H
#define WEFT_WORKLOAD_JOB_ROWS_H

#include <cstdint>
#include <string>
#include <vector>

#include "configs/config.h"
#include "workload/graph/fidelity_rules.h"
#include "workload/graph/rank_engine.h"
#include "workload/job/interned_text.h"
#include "workload/seam.h"

namespace weft {

/// One collective that ran. Times are of the job's clock, ps.
struct CollectiveRow {
  uint32_t stream = 0;  ///< its number: of a trace trace::CollectiveNumbers', else as started
  CollectiveOp op = CollectiveOp::all_reduce;
  InternedText group;  ///< communicator group, "" for all ranks
  InternedText name;   ///< of the trace node of the lowest rank that has started it; "" without a trace
  uint64_t bytes = 0;  ///< comm_size
  uint32_t ranks = 0;
  uint32_t chunks = 0;
  Picoseconds started = kNever;  ///< first member
  Picoseconds finished = 0;      ///< last member
  Picoseconds lower_bound = 0;   ///< physics: ports, cuts and latency
  uint64_t messages = 0;
  Wide message_bytes = 0;
  TimeSums split;  ///< summed over the messages
  struct Phase {
    InternedText what;  ///< "reduce_scatter d0 ring"; chunks in different orders: "reduce_scatter d0|d1 ring"
    InternedText operation;  ///< "reduce_scatter"
    InternedText dimension;  ///< "0", "0|1", "group": a flat line of members
    InternedText algorithm;
    Wide queue = 0;  ///< mean over ranks of the sum over chunks
    Wide network = 0;
  };
  std::vector<Phase> phases;
  uint32_t members_done = 0;
  uint32_t fidelity_rule = graph::FidelityRules::kNone;  ///< that was for it
  // Of a communication library's plan (`collectives.library`); else empty.
  InternedText algorithm;  ///< "ring"
  InternedText protocol;   ///< "LL128"
  uint32_t channels = 0;
  uint32_t folded_members = 0;  ///< of them, those whose part was told from another rank's

  Picoseconds time() const { return finished - started; }
  /// nccl-tests' conventions, bytes per second; 0 when no time passed.
  double algorithm_bandwidth() const;
  double bus_bandwidth() const;
  double efficiency() const;
};

/// One layer of the model (workload/graph/layers.h): its nodes' time, summed over the ranks that have any,
/// and its collectives.
struct LayerRow {
  std::string iteration;  ///< empty: the names have none
  std::string layer;      ///< empty: nodes whose names have none
  uint32_t ranks = 0;
  uint64_t nodes = 0;
  Wide compute = 0;
  Wide local_memory = 0;   ///< not hidden
  Wide remote_memory = 0;  ///< not hidden
  Wide communication = 0;  ///< not hidden: exposed
  uint64_t collectives = 0;
  Wide bytes = 0;            ///< comm_size
  Wide collective_time = 0;  ///< of those that finished
  struct Phase {
    Wide queue = 0;  ///< as CollectiveRow::Phase, over the collectives
    Wide network = 0;
  };
  std::vector<Phase> phases;
};

/// One training iteration: its nodes' time, summed over the ranks that have any.
struct IterationRow {
  uint64_t iteration = 0;
  Picoseconds started = kNever;  ///< its first node, of any rank
  Picoseconds finished = 0;      ///< its last one
  uint32_t ranks = 0;
  uint64_t nodes = 0;  ///< that take time or communicate
  Wide compute = 0;
  Wide local_memory = 0;   ///< not hidden
  Wide remote_memory = 0;  ///< not hidden
  Wide communication = 0;  ///< not hidden: exposed
};

struct RankRow {
  uint32_t rank = 0;
  graph::Categories time;         ///< adds up to the job's time
  Picoseconds finished = 0;       ///< its own last node
  Picoseconds communicating = 0;  ///< with communication under way, hidden or not
};

/// What a rule of `topology.fidelity_rules` was for.
struct FidelityUse {
  uint32_t rule = graph::FidelityRules::kNone;  ///< kNone: what no rule was for
  uint64_t collectives = 0;                     ///< that have started
  uint64_t messages = 0;                        ///< delivered: those of finished collectives, point to point
};

}  // namespace weft

#endif
