// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A network as Chakra traces of data-parallel training steps (DLRM: with all-to-alls of its embedding).

#ifndef WEFT_WORKLOAD_GENERATE_MODELS_TRACE_FORM_H
#define WEFT_WORKLOAD_GENERATE_MODELS_TRACE_FORM_H

#include <cstdint>
#include <string>
#include <vector>

#include "workload/generate/models/model.h"

namespace weft::generate {

struct TraceForm {
  /// Values of `bucket`: an all-reduce for each layer, or one for all.
  static constexpr uint64_t kLayer = 0;
  static constexpr uint64_t kAll = ~uint64_t{0};

  uint32_t ranks = 8;
  uint32_t steps = 1;
  uint64_t bucket = uint64_t{25} << 20;  ///< bytes at which a bucket of gradients is closed
  bool overlap = true;                   ///< false: compute waits for every collective
  bool async = false;     ///< the update of a step waits for the all-reduces of the step before it
  bool in_order = false;  ///< a collective waits for the one before it, as on a stream of NCCL
};

/// Bytes of the all-reduces of a step, in the order in which they are issued.
std::vector<uint64_t> step_buckets(const Model& model, const TraceForm& form);

struct WrittenModel {
  std::string prefix;
  uint64_t nodes = 0;  ///< of all ranks
  uint64_t bytes = 0;  ///< of all files
};

/// Writes <out>/<name>.<rank>.et for every rank; the folder is created. All ranks have the same trace.
/// Compute nodes have m, n, k, num_ops and tensor_size, and all nodes the attribute iteration. Throws
/// UserError(usage) for what does not fit, UserError(internal) when writing fails.
WrittenModel write_traces(const Model& model, const TraceForm& form, const std::string& out,
                          const std::string& name);

}  // namespace weft::generate

#endif
