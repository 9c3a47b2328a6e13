// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A Kineto trace: what ran when on the host's threads and on the GPU's streams.

#ifndef WEFT_WORKLOAD_CONVERT_PYTORCH_KINETO_H
#define WEFT_WORKLOAD_CONVERT_PYTORCH_KINETO_H

#include <cstdint>
#include <string>
#include <vector>

#include "workload/convert/pytorch/host_trace.h"
#include "workload/convert/pytorch/rank_graph.h"

namespace weft::convert::pytorch {

/// Times are picoseconds from the first event on.
struct Event {
  std::string name;
  Picoseconds begin = 0;
  Picoseconds duration = 0;
  int64_t thread = 0;
  int64_t record_function = 0;  ///< of an operator
  int64_t correlation = -1;
  int64_t stream = -1;
  int64_t waits_on_stream = -1;  ///< of a synchronisation
  int64_t waits_on_record = -1;  ///< correlation of the recording of the event that it waits for
  Communication communication;   ///< of a kernel of NCCL, if it says so itself

  Picoseconds end() const { return begin + duration; }
};

/// Each list by begins.
struct Kineto {
  std::vector<Event> operators;  ///< cpu_op, user_annotation
  std::vector<Event> steps;      ///< ProfilerStep
  std::vector<Event> calls;      ///< cuda_runtime, cuda_driver and their like
  std::vector<Event> kernels;    ///< kernel, gpu_memcpy, gpu_memset
  std::vector<Event> syncs;      ///< cuda_sync
};

/// Adds groups, counts and warnings to `graph`. Throws UserError(trace).
Kineto read_kineto(const std::string& path, RankGraph& graph);

}  // namespace weft::convert::pytorch

#endif
