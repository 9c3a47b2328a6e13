// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Chakra traces with other compute times and message sizes.

#ifndef WEFT_WORKLOAD_CONVERT_SCALE_TRACES_H
#define WEFT_WORKLOAD_CONVERT_SCALE_TRACES_H

#include <cstdint>
#include <string>

namespace weft::convert {

struct TraceScales {
  double compute = 1;  ///< of recorded durations, num_ops and tensor_size of compute nodes
  double comm = 1;     ///< of comm_size; the result is cut to whole bytes
};

/// Writes OUT.<rank>.et of every PREFIX.<rank>.et, from rank 0 on without a gap; everything else stays as it
/// is. Returns how many there were. Durations are exact to the picosecond (attribute `duration_ps`). Throws
/// UserError(trace) for files that are no traces, and for values that do not fit 63 bits.
uint32_t scale_traces(const std::string& prefix, const std::string& out, const TraceScales& scales);

}  // namespace weft::convert

#endif
