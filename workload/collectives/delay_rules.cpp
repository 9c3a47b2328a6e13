// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/delay_rules.h"

#include <algorithm>

#include "workload/collectives/rules.h"

namespace weft::collectives {

bool meets(const CollectiveRule& rule, CollectiveOp op, uint64_t bytes, std::string_view group,
           std::string_view node_name) {
  const bool world = group.empty() || group == "0";
  if (!rule.group.empty() && (world ? rule.group != "0" : rule.group != group)) return false;
  if (rule.operation && *rule.operation != op) return false;
  if (rule.min_bytes && bytes < *rule.min_bytes) return false;
  if (rule.max_bytes && bytes > *rule.max_bytes) return false;
  return rule.name.empty() || matches(rule.name, node_name);
}

DelayRules::DelayRules(const std::vector<CollectiveRule>& rules)
    : rules_(rules),
      any_(std::any_of(rules.begin(), rules.end(),
                       [](const CollectiveRule& rule) { return rule.delay.has_value(); })),
      matched_(rules.size(), false) {}

Picoseconds DelayRules::next(uint32_t communicator, const Call& call) {
  if (!any_) return 0;
  std::optional<size_t> first;
  // Every rule counts, also behind the one that applies.
  for (size_t i = 0; i < rules_.size(); ++i) {
    const CollectiveRule& rule = rules_[i];
    if (!rule.delay || !meets(rule, call.op, call.bytes, call.group, call.name)) continue;
    if (rule.iteration && rule.iteration != call.iteration) continue;
    if (rule.occurrence && ++met_[{communicator, i}] != *rule.occurrence) continue;
    if (!first) first = i;
  }
  if (!first) return 0;
  matched_[*first] = true;
  return *rules_[*first].delay;
}

}  // namespace weft::collectives
