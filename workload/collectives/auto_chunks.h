// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `chunks: auto`: into how many chunks a collective is split when the configuration does not say.
//
// More chunks overlap the dimensions better and pay the latency of every step again. Of the whole collective
// as one chunk, A_d is the latency of the steps in dimension d and V_d the serialisation of what the busiest
// member sends there. The number of chunks is
//   1. the largest C up to 4 for which V_d / C >= A_d, where d is the dimension in which a chunk of C takes
//      longest, A_d + V_d / C (the slowest dimension);
//   2. a larger one up to 4, if the pipeline of that many chunks takes less than 0.98 of the time of the
//   first:
//      T(C) = sum_d (A_d + P_d / C) + max_d (D_d(C) - A_d - P_d / C)
//      P_d: the serialisation and reductions on the way of a chunk; V_d but for operations with a root
//      D_d(C), the time of all chunks in d, where k_d of them run at once and w_d directions of links serve
//      them:
//        every member waits for the others   max(ceil(C / k_d) (A_d + P_d / C), L_d + V_d / w_d)
//        operations with a root              max(A_d + P_d / C + (C - 1) R_d, L_d + V_d)
//      with the latency L_d of one step; where there is a root data flows one way and the next chunk follows
//      on the heels of the last one, two endpoint delays R_d behind it.
// It depends on the plan alone (operation, bytes, group, dimensions, algorithms, configuration), so that all
// ranks agree, and not on the fidelity, so that fidelities can be compared.

#ifndef WEFT_WORKLOAD_COLLECTIVES_AUTO_CHUNKS_H
#define WEFT_WORKLOAD_COLLECTIVES_AUTO_CHUNKS_H

#include <cstdint>
#include <vector>

#include "workload/collectives/plan.h"

namespace weft::collectives {

/// `auto` never chooses more.
constexpr uint32_t kMostAutoChunks = 4;

/// What the phases of one axis take when the whole collective is one chunk (ps).
struct AxisCost {
  double latency = 0;        ///< A_d: of the steps, endpoint delays included
  double serialisation = 0;  ///< V_d: of what the busiest member sends
  double way = 0;            ///< P_d: serialisation and reductions from step to step
  double step = 0;           ///< L_d: latency of one step
  double again = 0;          ///< R_d: before the next chunk; of operations with a root
  bool one_way = false;      ///< the operation has a root
  uint32_t at_once = 1;      ///< k_d: chunks that run at once
  uint32_t directions = 1;   ///< w_d: of links that chunks take in turn
};

/// Of a plan that is laid out as one chunk; one entry an axis.
std::vector<AxisCost> axis_costs(const Config& config, const CollectivePlan& plan);

/// The time of the pipeline of so many chunks: T(C) above (ps).
double pipeline_estimate(const std::vector<AxisCost>& axes, uint32_t chunks);

/// The number of chunks by the rule above, 1 to kMostAutoChunks.
uint32_t auto_chunks(const std::vector<AxisCost>& axes);

}  // namespace weft::collectives

#endif
