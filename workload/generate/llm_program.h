// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The trace of one rank of a training step. Private to the generator.

#ifndef WEFT_WORKLOAD_GENERATE_LLM_PROGRAM_H
#define WEFT_WORKLOAD_GENERATE_LLM_PROGRAM_H

#include <cstdint>

#include "configs/types.h"
#include "workload/generate/llm_shape.h"
#include "workload/generate/trace_file.h"
#include "workload/trace/slowdown.h"

namespace weft::generate {

struct ProgramSize {
  uint64_t nodes = 0;
  Wide flop = 0;  ///< of matrix multiplications
};

/// Writes the program of the rank at `place`. Its groups are named by their numbers. `slowness`: of its
/// compute (trace/slowdown.h).
ProgramSize write_program(const LlmShape& shape, const Place& place, TraceFile& file,
                          uint64_t slowness = trace::kFullSpeed);

/// Writes the program of all ranks of a stage, as its first rank's. Its groups are named by their kinds.
ProgramSize write_stage_program(const LlmShape& shape, uint32_t p, TraceFile& file);

}  // namespace weft::generate

#endif
