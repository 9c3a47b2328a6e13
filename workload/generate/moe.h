// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// One training step of a mixture of experts whose experts live in remote memory, as Chakra traces: the case
// of ASTRA-sim 2.0's disaggregated memory (IEEE ISPASS 2023, V.B; docs/moe.md says what the paper gives and
// what is fitted).

#ifndef WEFT_WORKLOAD_GENERATE_MOE_H
#define WEFT_WORKLOAD_GENERATE_MOE_H

#include <cstdint>
#include <string>

#include "workload/trace/node.h"

namespace weft::generate {

/// The model: `layers` blocks of attention (weights hidden x 4 hidden) and an FFN (2 x hidden x ffn). Every
/// `moe_every`-th block has `experts` FFNs in place of one. Each rank has experts / expert_parallel of them,
/// and of each 1 / slices. Norms, biases, embedding and router are left out.
struct MoeConfig {
  uint32_t expert_parallel = 128;  ///< ranks that share out the experts of a layer
  uint32_t slices = 2;  ///< ranks that share one expert's weights; ranks = expert_parallel x slices
  uint32_t layers = 30;
  uint32_t moe_every = 2;
  uint32_t experts = 128;
  uint64_t hidden = 8192;
  uint64_t ffn = 0;       ///< 0: 4 x hidden
  uint32_t top_k = 1;     ///< experts a token
  double capacity = 1;    ///< tokens that an expert takes, over the mean
  uint64_t tokens = 640;  ///< of a rank, a step
  uint32_t dtype_bytes = 2;
  uint32_t prefetch = 4;          ///< loads of experts that run ahead of their use
  uint32_t optimizer_bytes = 14;  ///< loaded, and stored, for each parameter of an expert
  uint32_t dense_shards = 8;      ///< ranks that share the gradients of the dense part
  bool recompute = true;          ///< the backward pass runs the forward pass of an expert again
  trace::Location location = trace::Location::remote;  ///< of experts and optimizer state
};

struct MoeSummary {
  uint32_t ranks = 0;
  uint64_t groups = 0;
  uint64_t nodes = 0;              ///< of all ranks
  uint64_t bytes = 0;              ///< of all trace files
  uint64_t parameters = 0;         ///< of the model
  uint64_t expert_parameters = 0;  ///< of a rank
  uint64_t dense_parameters = 0;   ///< of the model
  uint64_t expert_load_bytes = 0;  ///< of a rank, one layer, one pass
  uint64_t loaded_bytes = 0;       ///< of a rank, the step
  uint64_t stored_bytes = 0;       ///< of a rank, the step
  uint64_t all_to_all_bytes = 0;   ///< of a rank, one all-to-all
  uint64_t all_to_alls = 0;        ///< of a rank, the step
  std::string prefix;              ///< <out>/<name>
  std::string groups_file;         ///< <out>/<name>.groups.json
};

/// Throws UserError(usage) when the parameters do not fit each other; the message says what to change.
void validate(const MoeConfig& config);

/// What generate_moe() would write, without nodes, bytes and names.
MoeSummary describe_moe(const MoeConfig& config);

/// Writes <out>/<name>.<rank>.et for every rank and <out>/<name>.groups.json; `out` is created. The same
/// parameters give the same bytes. Errors as generate_llm().
///
/// Rank = expert index x slices + slice. Groups "1" .. "slices": the ranks of one slice, for the all-to-alls;
/// then "slices + 1" ..: the ranks r of equal r % dense_shards, for the gradients of the dense part.
///
/// The program of a rank: forward through all blocks, backward through all, then the optimizer. An expert's
/// weights are loaded before each use; the load of a use waits only for the end of the use `prefetch` before
/// it. A block of experts: all-to-all, experts, all-to-all; backward the same with twice the work, after the
/// forward pass again (`recompute`): 2 and 4 all-to-alls. Gradients of experts are stored after their
/// backward; the optimizer loads and stores `optimizer_bytes` a parameter, layer after layer, with the same
/// prefetch. Gradients of the dense part are all-reduced as they come: 1 / dense_shards of them a rank.
MoeSummary generate_moe(const MoeConfig& config, const std::string& out, const std::string& name);

}  // namespace weft::generate

#endif
