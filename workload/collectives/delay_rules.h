// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What-if delays: the entries of `collectives.rules` that have a `delay`.

#ifndef WEFT_WORKLOAD_COLLECTIVES_DELAY_RULES_H
#define WEFT_WORKLOAD_COLLECTIVES_DELAY_RULES_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "configs/config.h"

namespace weft::collectives {

/// Do the rule's conditions on operation, name, group and size hold? `group`: the communicator group's name;
/// "" and "0" are the group of all ranks. `node_name`: of the trace node, empty without one.
bool meets(const CollectiveRule& rule, CollectiveOp op, uint64_t bytes, std::string_view group,
           std::string_view node_name);

class DelayRules {
 public:
  /// A collective that is about to start.
  struct Call {
    CollectiveOp op = CollectiveOp::all_reduce;
    uint64_t bytes = 0;      ///< as CollectiveRequest::bytes
    std::string_view group;  ///< the communicator group's name; "" and "0": all ranks
    std::string_view name;   ///< of the trace node, or of the call
    std::optional<uint64_t> iteration;
  };

  /// `rules` outlive the object.
  explicit DelayRules(const std::vector<CollectiveRule>& rules);

  /// Some rule has a delay.
  bool any() const { return any_; }
  /// The delay of the next collective of a communicator, in picoseconds; 0: none. Call it once for each
  /// collective, in the order of the communicator's sequence: occurrences are counted here. `communicator`:
  /// a number that the group has to itself.
  Picoseconds next(uint32_t communicator, const Call& call);
  /// The rule has delayed a collective.
  bool matched(size_t rule) const { return matched_[rule]; }

 private:
  const std::vector<CollectiveRule>& rules_;
  bool any_ = false;
  std::vector<bool> matched_;
  std::map<std::pair<uint32_t, size_t>, uint64_t> met_;  ///< by communicator and rule: the others held
};

}  // namespace weft::collectives

#endif
