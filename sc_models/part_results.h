// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What one part of a machine has to say at the end of a run, and how the parts' answers become one: sums,
// least and greatest, in the order of the whole machine. A run in one process goes the same way, with one
// part.

#ifndef WEFT_SC_MODELS_PART_RESULTS_H
#define WEFT_SC_MODELS_PART_RESULTS_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sc_models/machine.h"
#include "sc_models/run_result.h"

namespace weft {

/// Of a job's ranks in one part.
struct JobPart {
  std::vector<RankRow> ranks;
  uint64_t costless_nodes = 0;
  uint64_t messages = 0;
  uint64_t out_of_order_starts = 0;
  uint64_t memory_bytes = 0;
  uint32_t simulated_ranks = 0;
  uint64_t repeated_collectives = 0;
  uint64_t repeats_under_way = 0;  ///< .. that have not ended
  /// Ascending by (started, stream). `named_by`: the rank whose node has given the row its name.
  struct Collectives {
    std::vector<CollectiveRow> rows;
    std::vector<uint32_t> named_by;
  };
  Collectives collectives;
  std::vector<LayerRow> layers;          ///< of the ranks' nodes, without the collectives
  std::vector<IterationRow> iterations;  ///< ascending
  std::vector<FootprintRow> footprint;
  std::vector<std::string> unmatched_rules;  ///< as Job::unmatched_rules()
};

/// .. of the machine.
struct MachinePart {
  Machine::Totals totals;
  std::map<Machine::LinkAt, LinkRow> links;
  std::vector<std::string> unbalanced;  ///< Machine::unbalanced_modules()
};

LinkRow link_row(const LinkReport& report);
MachinePart part_of(const Machine& machine);

/// Adds what the other part says.
void merge(JobPart& into, JobPart&& other);
void merge(MachinePart& into, MachinePart&& other);

/// Adds what is the machine's (add_machine_results()) from its parts.
void add_machine_parts(RunResult& result, const Machine& machine, MachinePart&& parts);

}  // namespace weft

#endif
