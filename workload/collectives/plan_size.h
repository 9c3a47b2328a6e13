// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What a collective keeps in memory while it runs, for estimates.

#ifndef WEFT_WORKLOAD_COLLECTIVES_PLAN_SIZE_H
#define WEFT_WORKLOAD_COLLECTIVES_PLAN_SIZE_H

#include <algorithm>

#include "configs/config.h"
#include "workload/collectives/plan.h"

namespace weft::collectives {

/// Of one member.
struct PlanSize {
  double chunks = 0;    ///< that are kept until the collective ends
  double messages = 0;  ///< on their way at once, at most
  double bytes = 0;     ///< of these messages
  double blocks = 0;    ///< in_switch: that the collective units hold at once, shared out to the members

  /// The larger of both.
  void raise(const PlanSize& o) {
    chunks = std::max(chunks, o.chunks);
    messages = std::max(messages, o.messages);
    bytes = std::max(bytes, o.bytes);
    blocks = std::max(blocks, o.blocks);
  }
};

PlanSize plan_size(const Config& config, const CollectivePlan& plan);

}  // namespace weft::collectives

#endif
