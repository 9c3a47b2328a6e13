// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Which share of an NPU's links a plan can keep busy at once: a ring algorithm with one queue uses one
// direction of a bidirectional ring, and halving-doubling one of the pair links of a full connection.

#ifndef WEFT_WORKLOAD_COLLECTIVES_LINK_SHARE_H
#define WEFT_WORKLOAD_COLLECTIVES_LINK_SHARE_H

#include <cstdint>
#include <string>
#include <vector>

#include "workload/collectives/plan.h"

namespace weft::collectives {

struct LinkShare {
  struct Dimension {
    uint32_t dimension = 0;
    uint32_t links = 1;  ///< that lead out of an NPU
    uint32_t used = 0;   ///< of them at once, by the chunks that run in the dimension at once
    double rate = 0;     ///< B/s of a link
  };
  std::vector<Dimension> dimensions;  ///< those of the plan's group and operation
  double used = 0;                    ///< B/s out of an NPU that chunks can use at once
  double available = 0;               ///< B/s of all links out of an NPU in these dimensions

  double share() const { return available > 0 ? used / available : 1; }
};

/// From the messages of one member that stands for all. Empty for an empty plan, and where messages do not
/// travel on the plan's dimensions (a graph, a logical topology, a mapping) or not along them (a flat line).
LinkShare link_share(const Config& config, const CollectivePlan& plan);

/// A change of the configuration that lifts the share.
struct ShareRemedy {
  std::string keys;  ///< "`collectives.queues_per_dimension: 2`"
  double share = 0;  ///< with it
};

/// The change that lifts the share of the builder's plan most, the smallest of equals; none: `keys` is empty.
ShareRemedy share_remedy(const PlanBuilder& plans, const CollectivePlan& plan);

}  // namespace weft::collectives

#endif
