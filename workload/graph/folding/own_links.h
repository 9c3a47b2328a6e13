// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_WORKLOAD_GRAPH_FOLDING_OWN_LINKS_H
#define WEFT_WORKLOAD_GRAPH_FOLDING_OWN_LINKS_H

#include <vector>

#include "configs/config.h"
#include "workload/graph/folding/rank_use.h"
#include "workload/trace/groups.h"

namespace weft::graph {

/// By group: its collectives have the links of its members, in the dimensions that the group spans, to
/// themselves. No other group and no point-to-point message uses these, and no two of its own collectives run
/// at one time. Empty: no group is such. All dimensions are Switches, and messages of `ranks` do not pass
/// other ranks.
std::vector<bool> own_links(const Config& config, const trace::Groups& groups,
                            const std::vector<RankUse>& ranks);

}  // namespace weft::graph

#endif
