// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A job's traces, checked against its machine before anything is built: every collective's plan, every memory
// access, the bounds of the job. A job that passes can begin.

#ifndef WEFT_WORKLOAD_GRAPH_CHECKED_JOB_H
#define WEFT_WORKLOAD_GRAPH_CHECKED_JOB_H

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "configs/config.h"
#include "workload/collectives/plan.h"
#include "workload/collectives/plan_size.h"
#include "workload/collectives/rules.h"
#include "workload/graph/fidelity_rules.h"
#include "workload/graph/folding.h"
#include "workload/graph/trace_delays.h"
#include "workload/job/rank_map.h"
#include "workload/trace/workload_check.h"

namespace weft::graph {

/// What a job needs besides its machine, for estimates of memory.
struct JobSize {
  double collectives = 0;  ///< rows of results
  double phases = 0;       ///< of these, summed
  collectives::PlanSize
      of_a_rank;          ///< the most that a built rank has at once: of its largest collective or message
  double data_bytes = 0;  ///< run.data: functional: elements that all ranks hold at once
};

class CheckedJob {
 public:
  /// Configuration and traces outlive the object. Throws UserError for a job that can never run: a collective
  /// without a plan, one whose ranks match different rules, sizes that are no whole elements, remote memory
  /// that the machine does not have, accesses larger than the memory, times beyond any clock.
  CheckedJob(const Config& config, const trace::JobTrace& traces, Folding folding);
  /// The same on a part of the machine. `ranks` has as many ranks as the traces.
  CheckedJob(const Config& config, const trace::JobTrace& traces, Folding folding, RankMap ranks);

  const Config& config() const { return config_; }
  const trace::JobTrace& traces() const { return traces_; }
  const Folding& folding() const { return folding_; }
  const std::shared_ptr<collectives::PlanBuilder>& plans() const { return plans_; }
  const std::shared_ptr<collectives::Rules>& rules() const { return rules_; }
  /// The place of the ranks on the machine.
  const RankMap& ranks() const { return ranks_; }
  /// By the traces' numbers. Their members are NPUs.
  const std::vector<collectives::Group>& groups() const { return groups_; }
  const JobSize& size() const { return size_; }

  /// The collective that a node starts, on the machine's NPUs. `priority`, if given: the collective's.
  collectives::CollectiveRequest request(uint32_t rank, const trace::Node& node,
                                         int32_t* priority = nullptr) const;

  Picoseconds lower_bound() const { return lower_bound_; }
  /// Of a run with so many starts beyond the slots: what Bounds::upper() says, and a link's latency for each.
  Picoseconds upper_bound(uint64_t out_of_order_starts) const;
  /// The traces' and those found here.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  /// With rules: the member that each collective was found at first (by its number), and its rules.
  struct Ruled {
    uint32_t rule = 0;
    uint32_t fidelity = 0;  ///< FidelityRules::fitting()
    uint32_t rank = 0;
    trace::NodeIndex node = 0;
  };
  std::string where(uint32_t rank, const trace::Node& node) const;
  void check_rules(uint32_t rank, const trace::Node& node);
  void check_memory(uint32_t rank, const trace::Node& node) const;
  void check_pool(uint32_t rank, const trace::Node& node) const;
  void check_tier(uint32_t rank, const trace::Node& node) const;
  /// The memory that the node accesses, in words.
  const char* memory_of(const trace::Node& node) const;
  Picoseconds access_time(uint32_t rank, const trace::Node& node) const;
  Picoseconds slow_access_time(uint32_t rank, const trace::Node& node) const;
  std::vector<uint32_t> times_looked_at() const;
  uint32_t groups_like(uint32_t rank, trace::GroupId group, uint32_t times) const;
  void look_through();
  void check_capacity();
  void measure(const collectives::CollectivePlan& plan, uint32_t times, uint32_t group_size,
               double& data_of_rank);

  const Config& config_;
  const trace::JobTrace& traces_;
  Folding folding_;
  RankMap ranks_;
  std::shared_ptr<collectives::PlanBuilder> plans_;
  std::shared_ptr<collectives::Rules> rules_;
  TraceDelays delays_;
  FidelityRules fidelity_;
  std::vector<collectives::Group> groups_;
  std::unordered_map<uint32_t, Ruled> ruled_;
  std::unordered_map<const collectives::CollectivePlan*, collectives::PlanSize> sizes_;
  JobSize size_;
  Picoseconds lower_bound_ = 0;
  Picoseconds upper_bound_ = 0;
  std::vector<std::string> warnings_;
};

/// The folding of a job on all NPUs: of no rank, if there is a reason, `whole`, to simulate each.
Folding fold_job(const Config& config, const trace::JobTrace& traces, const std::string& whole = "");

}  // namespace weft::graph

#endif
