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
#include <unordered_map>
#include <vector>

#include "configs/config.h"
#include "workload/collectives/plan.h"
#include "workload/collectives/rules.h"
#include "workload/graph/fidelity_rules.h"
#include "workload/graph/folding/components.h"
#include "workload/graph/folding/group_shapes.h"
#include "workload/graph/folding/library_nodes.h"
#include "workload/graph/folding/line_parts.h"
#include "workload/graph/folding/peer_ways.h"
#include "workload/graph/folding/rank_use.h"
#include "workload/graph/trace_delays.h"
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
  /// Ranks that take part in collectives of lines with each other, not of whole groups.
  Components& members() { return members_; }
  const trace::Groups& groups() const { return traces_.groups(); }
  GroupShapes& shapes() { return shapes_; }
  /// All dimensions are Switches at `message` fidelity.
  bool only_switches() const { return only_switches_; }
  LineParts& parts() { return parts_; }

 private:
  struct Verdict {
    std::string reason;
    collectives::CollectivePlan::LinkImages images;
    bool along_dimensions = true;
    bool may_be_mixed = true;  ///< simulated ranks can run it among themselves (MixedGroups)
  };

  /// What a trace does, whichever rank it is of: groups and peers are numbers by first use.
  struct Program {
    struct Peer {
      trace::Node node;  ///< as it is written: some message to or from it
      bool receives = false;
    };
    Digest::Value digest;
    std::vector<trace::Node> groups;       ///< by place: a collective of it, as it is written
    std::vector<bool> at_once;             ///< by place: RankUse::kAtOnce
    std::vector<trace::Node> collectives;  ///< the different ones, as they are written
    std::vector<Peer> peers;               ///< by place
    uint64_t nodes = 0;
    Digest::Value labels;
    bool accesses_memory = false;
  };
  /// Collectives that cannot be told apart by their plan.
  using Kind =
      std::tuple<uint32_t, CollectiveOp, uint64_t, uint32_t, std::string, std::string, trace::NodeIndex>;
  struct Reading;

  const Program& program_of(uint32_t rank);
  Program read(uint32_t rank);
  void read_collective(Reading& reading);
  void read_message(Reading& reading);
  uint32_t involved(const trace::Node& node) const;
  trace::GroupId group_of(const trace::Node& node) const;
  collectives::CollectiveRequest request(uint32_t rank, const trace::Node& node);
  void fit_groups(uint32_t rank, const Program& program, Digest& digest, RankUse& use);
  void fit_peers(uint32_t rank, const Program& program, Digest& digest, RankUse& use);
  void fit_collective(uint32_t rank, const trace::Node& node, RankUse& use);
  const Verdict& judge(const GroupShape& shape, const collectives::CollectiveRequest& request,
                       const trace::Node& node, uint32_t rank, const std::string& path);
  bool may_be_mixed(const collectives::CollectivePlan& plan) const;
  bool spans_part_of_a_ring(const GroupShape& shape) const;
  void join_members(uint32_t rank, trace::GroupId group, uint32_t involved);

  const Config& config_;
  const trace::JobTrace& traces_;
  collectives::PlanBuilder plans_;
  collectives::Rules rules_;
  TraceDelays delays_;
  FidelityRules fidelity_;
  Components components_;
  Components members_;
  GroupShapes shapes_;
  PeerWays ways_;
  LibraryNodes nodes_;
  LineParts parts_;
  uint32_t all_dimensions_ = 0;
  bool stepwise_ = false;  ///< some dimension is not analytical
  bool only_switches_ = false;
  std::vector<collectives::Group> groups_;
  std::vector<uint32_t> places_;  ///< by group: which of its members' groups it is; the same for all of them
  bool by_node_ = false;          ///< rules may choose single nodes: no two ranks share a program
  Program last_;                  ///< of a rank that shares its program with no other
  std::unordered_map<const void*, Program> programs_;  ///< of those that do
  std::map<std::tuple<uint32_t, CollectiveOp, uint64_t, uint32_t, uint32_t>, Verdict> verdicts_;
  std::set<std::tuple<trace::GroupId, uint32_t, uint32_t>> joined_;
  std::map<std::tuple<trace::GroupId, uint32_t, uint32_t>, uint32_t> lines_;
};

}  // namespace weft::graph

#endif
