// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What a run gives: of a job, and of the machine that it ran on.

#ifndef WEFT_SC_MODELS_RUN_RESULT_H
#define WEFT_SC_MODELS_RUN_RESULT_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sc_models/machine.h"
#include "tlm_interconnect/packet/train_counts.h"
#include "workload/graph/folding.h"
#include "workload/job/footprint.h"
#include "workload/job/rows.h"
#include "workload/job/sampled_figures.h"

namespace weft {

struct LinkRow {
  std::string name;  ///< hierarchical name of the sending port
  std::string to;    ///< the module at its other side
  uint32_t dimension = 0;
  uint64_t bytes = 0;
  uint64_t messages = 0;
  Picoseconds busy = 0;
  Picoseconds queued = 0;  ///< time that messages waited for it, summed
  Fidelity fidelity = Fidelity::message;
  uint64_t packets = 0;    ///< packet fidelity
  uint64_t marked = 0;     ///< packets of these that ECN has marked at this link
  uint64_t pauses = 0;     ///< priority flow control: of the sender
  Picoseconds paused = 0;  ///< how long they lasted
  uint64_t overruns = 0;   ///< packets that found a full buffer without having been paused
};

struct RunResult {
  Picoseconds time = 0;        ///< the last node (or collective) of the job
  std::vector<RankRow> ranks;  ///< empty without a trace
  std::vector<CollectiveRow> collectives;
  std::vector<LayerRow> layers;          ///< empty without a trace
  std::vector<IterationRow> iterations;  ///< empty where no node has one
  std::vector<LinkRow> links;
  std::vector<FidelityUse> fidelity_uses;  ///< no rule's first; empty: there are no rules
  uint64_t nodes = 0;
  uint64_t messages = 0;
  uint64_t events = 0;  ///< module activations
  uint64_t out_of_order_starts = 0;
  uint64_t memory_bytes = 0;
  uint64_t packet_hops = 0;                  ///< packet fidelity: packets times routers they left
  uint64_t flits = 0;                        ///< packet fidelity: that went through
  packet::TrainCounts trains;                ///< packet fidelity
  SampledFigures sampled;                    ///< packet.sampling
  Machine::Congestion congestion;            ///< packet fidelity with ECN
  Picoseconds lower_bound = 0;               ///< of the job: longest path, each rank's work
  Picoseconds upper_bound = 0;               ///< everything one after the other
  bool folded = false;                       ///< one member ran every collective for all of its members
  uint32_t simulated_ranks = 0;              ///< ranks with modules of their own
  uint64_t late_ranks = 0;                   ///< trace: that began in the state of others (Splitting)
  Picoseconds split_at = 0;                  ///< .. the last of them
  uint64_t folded_collectives = 0;           ///< trace: collectives all of whose members were folded
  uint64_t repeated_collectives = 0;         ///< trace: not simulated (RepeatedCollectives)
  std::map<std::string, uint32_t> unfolded;  ///< trace: why ranks were not folded, and how many
  uint64_t data_collectives =
      0;                       ///< run.data: functional: finished collectives whose every element was checked
  uint64_t data_messages = 0;  ///< point-to-point messages whose elements were compared with what was sent
  uint64_t data_elements = 0;  ///< output elements compared with the definition, over all ranks
  uint64_t data_tensors = 0;   ///< loads of NPUs whose bytes were compared with what was stored
  uint64_t data_tensor_bytes = 0;
  std::vector<FootprintRow> footprint;  ///< trace: of the ranks whose tensors were followed
  std::string
      over_capacity;  ///< `hbm.over_capacity: error`, and tensors take more than the HBM has: by how much
  std::vector<std::string> broken_invariants;
  size_t unbalanced = 0;  ///< the first of them: laws that hold when nothing is under way any more
  std::vector<std::string> warnings;
};

/// Takes the laws out that what is under way breaks, of a run that was interrupted.
void drop_unbalanced(RunResult& result);

/// Adds what is the machine's: links, events, traffic, what does not balance, warnings. `folding`: of the one
/// job on it; null: no rank stands for others, or all links are of built ranks.
void add_machine_results(RunResult& result, const Machine& machine, const graph::Folding* folding = nullptr);

}  // namespace weft

#endif
