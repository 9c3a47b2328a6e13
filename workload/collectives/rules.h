// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `collectives.rules` and the algorithms that trace nodes ask for: which settings a collective's plan is made
// with.

#ifndef WEFT_WORKLOAD_COLLECTIVES_RULES_H
#define WEFT_WORKLOAD_COLLECTIVES_RULES_H

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "workload/collectives/delay_rules.h"
#include "workload/collectives/plan.h"
#include "workload/trace/node.h"

namespace weft::collectives {

/// `*` in the pattern stands for any text, `?` for one character, all others for themselves.
bool matches(std::string_view pattern, std::string_view text);

class Rules {
 public:
  /// Both outlive the object.
  Rules(const Config& config, PlanBuilder& plans);

  bool any() const { return !rules_.empty(); }

  /// The rule whose settings hold for a collective, ~0u: none. `node_name`: of the trace node, empty without
  /// one. Rules with a `delay` are none of these: see delays().
  uint32_t find(const CollectiveRequest& request, std::string_view node_name) const;

  /// Sets the request's settings to those of find(), and counts the match. A node's own algorithms (see
  /// parse_algorithms) come before the rule's; `origin` then says where they stand. Returns the rule's
  /// priority, else `priority`.
  int32_t apply(CollectiveRequest& request, std::string_view node_name, int32_t priority,
                const std::vector<std::string>& algorithms = {}, const std::string& origin = {});

  /// The same of a collective of a trace: with the node's own algorithms. `path`: of the rank's trace. Throws
  /// UserError(trace) that names file, rank and node.
  int32_t apply(CollectiveRequest& request, const trace::Node& node, uint32_t rank, const std::string& path);
  /// The plan of a request that apply() made from the node; what its own algorithms cannot do is told with
  /// file, rank and node.
  std::shared_ptr<const CollectivePlan> plan(const CollectiveRequest& request, const trace::Node& node,
                                             uint32_t rank, const std::string& path);

  /// The what-if delays of collectives.
  DelayRules& delays() { return delays_; }
  /// The request's plan begins so much later: picoseconds. After apply().
  void delay(CollectiveRequest& request, Picoseconds time);

  /// A line for every rule that neither apply() nor delays() found.
  std::vector<std::string> unmatched() const;

 private:
  const std::vector<CollectiveRule>& rules_;
  PlanBuilder& plans_;
  std::vector<uint32_t> settings_;  ///< of each rule
  std::vector<bool> matched_;
  DelayRules delays_;
};

/// The value of a node's attribute `algorithm`: one name, or one a dimension between commas. Paths of custom
/// programs are relative to `folder`. One name a dimension. Throws UserError(trace) that begins with `where`.
std::vector<std::string> parse_algorithms(const std::string& text, size_t dimensions,
                                          const std::string& folder, const std::string& where);

}  // namespace weft::collectives

#endif
