// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What sampled collectives (sc_models/sampled_collectives.h) have saved, and by how much it may be wrong.

#ifndef WEFT_WORKLOAD_JOB_SAMPLED_FIGURES_H
#define WEFT_WORKLOAD_JOB_SAMPLED_FIGURES_H

#include <algorithm>
#include <cstdint>

#include "configs/types.h"
#include "workload/job/sampled_times.h"

namespace weft {

struct SampledFigures {
  bool on = false;
  uint64_t simulated = 0;    ///< collectives
  uint64_t with_others = 0;  ///< of these, those that were not alone
  uint64_t given = 0;        ///< collectives that were given their time
  uint64_t met = 0;          ///< of these, those that others met
  uint64_t messages = 0;     ///< not simulated
  SampledError worst;        ///< of the times given, of the group with the largest error
  Picoseconds time = 0;      ///< time given, of the rank with the most

  /// Of a job's time, the share that was given, at most 1.
  double share(Picoseconds of) const {
    return of == 0 ? 0 : std::min(1.0, static_cast<double>(time) / static_cast<double>(of));
  }
  /// By what share a job's time may be off.
  double time_error(Picoseconds of) const { return worst.error() * share(of); }
};

}  // namespace weft

#endif
