// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Looks through the traces of a job, rank by rank: what each does, told so that ranks can be compared.

#ifndef WEFT_WORKLOAD_GRAPH_FOLDING_ANALYSIS_H
#define WEFT_WORKLOAD_GRAPH_FOLDING_ANALYSIS_H

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "configs/config.h"
#include "workload/collectives/plan.h"
#include "workload/collectives/rules.h"
#include "workload/graph/fidelity_rules.h"
#include "workload/graph/folding/components.h"
#include "workload/graph/folding/group_shapes.h"
#include "workload/graph/folding/peer_ways.h"
#include "workload/graph/folding/rank_use.h"
#include "workload/trace/workload_check.h"

namespace weft::graph {

class Analysis {
 public:
  /// Both outlive the object.
  Analysis(const Config& config, const trace::JobTrace& traces);

  /// Of every rank once, ascending. Throws UserError when a collective's plan cannot be made.
  RankUse look_through(uint32_t rank);

  /// Ranks that communicate.
  Components& components() { return components_; }
  /// Ranks that take part in collectives with each other.
  Components& members() { return members_; }

 private:
  struct Verdict {
    std::string reason;
    collectives::CollectivePlan::LinkImages images;
    bool along_dimensions = true;
  };

  void point_to_point(uint32_t rank, const trace::Node& node, Digest& digest, RankUse& use);
  void collective(uint32_t rank, const trace::Node& node, Digest& digest, RankUse& use);
  uint32_t place_of(trace::GroupId group, RankUse& use);
  const Verdict& judge(const GroupShape& shape, const collectives::CollectiveRequest& request,
                       const trace::Node& node, uint32_t rank, const std::string& path);
  void join_members(uint32_t rank, trace::GroupId group, uint32_t involved);

  const Config& config_;
  const trace::JobTrace& traces_;
  collectives::PlanBuilder plans_;
  collectives::Rules rules_;
  FidelityRules fidelity_;
  Components components_;
  Components members_;
  GroupShapes shapes_;
  PeerWays ways_;
  uint32_t all_dimensions_ = 0;
  bool stepwise_ = false;  ///< some dimension is not analytical
  std::vector<collectives::Group> groups_;
  std::vector<uint32_t> places_;  ///< by group: which of its members' groups it is; the same for all of them
  std::map<std::tuple<uint32_t, CollectiveOp, uint64_t, uint32_t, uint32_t>, Verdict> verdicts_;
  std::set<std::tuple<trace::GroupId, uint32_t, uint32_t>> joined_;
  std::map<std::tuple<trace::GroupId, uint32_t, uint32_t>, uint32_t> lines_;
};

}  // namespace weft::graph

#endif
