// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_WORKLOAD_CONVERT_FROM_PYTORCH_H
#define WEFT_WORKLOAD_CONVERT_FROM_PYTORCH_H

#include <string>
#include <vector>

#include "workload/convert/trace_set.h"

namespace weft::convert {

struct PyTorchInput {
  std::vector<std::string> host;    ///< execution traces, of rank 0, 1, ..
  std::vector<std::string> kineto;  ///< of the same ranks; empty: none
  uint32_t replicate = 0;           ///< one rank's trace for so many; 0: each rank has its own
  uint32_t rank = 0;                ///< with `replicate`: the rank that was traced
  bool one_iteration = false;
  uint64_t iteration = 0;
  bool keep_all = false;  ///< also nodes that take no time
};

/// Writes OUT/NAME.<rank>.et and OUT/NAME.groups.json. Throws UserError: usage for inputs that do not fit
/// each other and groups that cannot be moved to other ranks, trace for what cannot be read.
Report from_pytorch(const PyTorchInput& input, const std::string& out, const std::string& name);

}  // namespace weft::convert

#endif
