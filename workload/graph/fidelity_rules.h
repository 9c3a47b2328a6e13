// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `topology.fidelity_rules`: which fidelity a collective or a point-to-point message gets when it starts.

#ifndef WEFT_WORKLOAD_GRAPH_FIDELITY_RULES_H
#define WEFT_WORKLOAD_GRAPH_FIDELITY_RULES_H

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/config.h"
#include "workload/trace/node.h"

namespace weft::graph {

/// The iteration in a node's name: as layer_of() reads it, else the number after the first word
/// `iteration`, `iter` or `step`, in letters of any case, with at most one of ` _-=:#.` between them. A word
/// begins after a character that is no letter, or with a capital after a small letter (`ProfilerStep#5`).
std::optional<uint64_t> iteration_of(std::string_view name);
/// The node's attribute `iteration`, else the number in its name.
std::optional<uint64_t> iteration_of(const trace::Node& node);

/// A fidelity plane is the machine at certain fidelities: plane 0 at its dimensions' own, every other one at
/// those that some rule asks for. Each message travels on one plane.
class FidelityRules {
 public:
  static constexpr uint32_t kNone = ~0u;

  /// `config` outlives the object. Throws UserError(usage) for a rule that changes a dimension in which
  /// switches reduce (in_switch), and when rules ask for more planes than messages can name.
  explicit FidelityRules(const Config& config);

  bool any() const { return !rules_.empty(); }
  uint32_t planes() const { return 1 + static_cast<uint32_t>(planes_.size()); }
  /// The configuration with the plane's fidelities.
  const Config& plane(uint32_t p) const { return p == 0 ? config_ : *planes_[p - 1]; }
  /// The switches of dimension d, which reduce (collectives::uses_unit), do so for messages of that plane.
  /// They are those of plane 0, and with a communication library those of the first plane that has programs:
  /// its collectives send messages only where some dimension is not analytical.
  bool units_on(uint32_t plane, uint32_t d) const;
  /// The plane of kNone is 0.
  uint8_t plane_of(uint32_t rule) const { return rule == kNone ? uint8_t{0} : plane_of_[rule]; }

  /// The number of the set of rules that may apply to the collective of `node` at some time; equal sets have
  /// the same number. All members' nodes must have the same one, so that it does not matter which of them
  /// starts first.
  uint32_t fitting(const trace::Node& node, std::string_view group);
  /// The first rule that is in only one of two different sets.
  uint32_t first_difference(uint32_t a, uint32_t b) const;
  bool in_set(uint32_t set, uint32_t rule) const;
  const std::string& origin(uint32_t rule) const { return rules_[rule].origin; }

  /// The rule that applies to a collective whose `node` starts now, or kNone. Counts as a match. `group`: its
  /// name.
  uint32_t for_collective(const trace::Node& node, std::string_view group, Picoseconds now);
  /// The same for a collective without a trace.
  uint32_t for_collective(CollectiveOp op, Picoseconds now);
  /// The same for the message of a send.
  uint32_t for_message(const trace::Node& node, Picoseconds now);

  /// True if some rule may move the node's collective to another plane.
  bool may_lift(const trace::Node& node, std::string_view group) const;
  bool may_lift(CollectiveOp op) const;

  /// A line for every rule that never applied.
  std::vector<std::string> unmatched() const;

 private:
  /// What rules compare.
  struct Subject {
    std::string_view name;
    std::string_view group;
    std::optional<CollectiveOp> op;  ///< nothing: a point-to-point message
    std::optional<uint64_t> iteration;
  };
  Subject subject(const trace::Node& node, std::string_view group) const;
  static bool fits(const FidelityRule& rule, const Subject& subject);
  uint32_t find(const Subject& subject, Picoseconds now);
  void check_units(const FidelityRule& rule, const Config& lifted) const;
  bool may_lift(const Subject& subject) const;

  const Config& config_;
  const std::vector<FidelityRule>& rules_;
  bool by_iteration_ = false;  ///< some rule asks for it
  std::vector<std::unique_ptr<const Config>> planes_;
  std::vector<uint8_t> plane_of_;  ///< by rule
  uint32_t unit_plane_ = 0;
  std::vector<bool> matched_;
  std::vector<std::vector<uint32_t>> sets_;  ///< of rules that fit some node; few
};

}  // namespace weft::graph

#endif
