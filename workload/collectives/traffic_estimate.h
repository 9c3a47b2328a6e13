// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_WORKLOAD_COLLECTIVES_TRAFFIC_ESTIMATE_H
#define WEFT_WORKLOAD_COLLECTIVES_TRAFFIC_ESTIMATE_H

#include "configs/config.h"
#include "workload/collectives/plan.h"

namespace weft::collectives {

/// What the members of a plan deliver to each other, each message counted once.
struct TrafficEstimate {
  double messages = 0;
  double bytes = 0;
};

/// Exact where every member does alike, else the mean of some members times all of them: for telling how far
/// a run is.
TrafficEstimate estimate_traffic(const Config& config, const CollectivePlan& plan);

}  // namespace weft::collectives

#endif
