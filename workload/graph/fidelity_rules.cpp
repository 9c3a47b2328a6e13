// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/graph/fidelity_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "configs/blueprint/carrier.h"
#include "configs/packet_timing.h"
#include "configs/rules_text.h"
#include "configs/units.h"
#include "workload/collectives/in_switch.h"
#include "workload/collectives/rules.h"
#include "workload/graph/layers.h"

namespace weft::graph {
namespace {

constexpr uint32_t kMostPlanes = 128;

bool small(char c) {
  return c >= 'a' && c <= 'z';
}
bool capital(char c) {
  return c >= 'A' && c <= 'Z';
}

std::optional<uint64_t> number(std::string_view digits) {
  uint64_t value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (result.ec != std::errc() || result.ptr == digits.data()) return std::nullopt;
  return value;
}

std::vector<Fidelity> fidelities(const Config& config) {
  std::vector<Fidelity> result;
  for (const DimensionConfig& d : config.fabric_dimensions()) result.push_back(d.fidelity);
  return result;
}

}  // namespace

std::optional<uint64_t> iteration_of(std::string_view name) {
  if (const std::string told = layer_of(name).iteration; !told.empty()) return number(told);
  for (size_t at = 0; at < name.size(); ++at) {
    if (at > 0) {
      const char before = name[at - 1];
      if (capital(before) || (small(before) && !capital(name[at]))) continue;
    }
    for (const std::string_view word : {"iteration", "iter", "step"}) {
      if (name.size() - at < word.size()) continue;
      const bool alike = std::equal(word.begin(), word.end(), name.begin() + static_cast<std::ptrdiff_t>(at),
                                    [](char w, char c) { return w == (capital(c) ? c - 'A' + 'a' : c); });
      if (!alike) continue;
      std::string_view rest = name.substr(at + word.size());
      if (!rest.empty() && std::string_view(" _-=:#.").find(rest[0]) != std::string_view::npos)
        rest.remove_prefix(1);
      if (const auto value = number(rest)) return value;
    }
  }
  return std::nullopt;
}

std::optional<uint64_t> iteration_of(const trace::Node& node) {
  if (node.has_iteration) return node.iteration;
  return iteration_of(std::string_view(node.name));
}

FidelityRules::FidelityRules(const Config& config)
    : config_(config), rules_(config.fidelity_rules), matched_(config.fidelity_rules.size(), false) {
  if (config.graph != nullptr && !rules_.empty()) {
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: the links of a graph have one fidelity; remove the rules", rules_.front().origin));
  }
  const bool library = config.collectives.library.on();
  bool programs = library && carries_messages(config);
  for (const FidelityRule& rule : rules_) {
    auto lifted = std::make_unique<Config>(config);
    std::vector<DimensionConfig>& dimensions =
        config.physical.empty() ? lifted->dimensions : lifted->physical;
    for (uint32_t d = 0; d < dimensions.size(); ++d)
      dimensions[d].fidelity = fidelity_by(rule, dimensions[d], d);
    const bool sends = carries_messages(*lifted);
    if (!library) check_units(rule, *lifted);
    by_iteration_ = by_iteration_ || rule.iteration.has_value();
    const std::vector<Fidelity> wanted = fidelities(*lifted);
    uint32_t p = 0;
    while (p < planes() && fidelities(plane(p)) != wanted) ++p;
    if (p == kMostPlanes) {
      throw UserError(ExitCode::usage,
                      fmt::format("{}: rules ask for more than {} combinations of fidelities; give fewer",
                                  rule.origin, kMostPlanes));
    }
    if (p == planes()) planes_.push_back(std::move(lifted));
    plane_of_.push_back(static_cast<uint8_t>(p));
    if (!library || programs || !sends) continue;
    unit_plane_ = p;
    programs = true;
  }
}

bool FidelityRules::units_on(uint32_t p, uint32_t d) const {
  const Config& own = plane(p);
  const Config& units = plane(unit_plane_);
  const Carrier carrier = carrier_of(units.fabric_dimensions()[d]);
  if (carrier_of(own.fabric_dimensions()[d]) != carrier) return false;
  if (carrier != Carrier::packets) return true;
  // The packet network that the dimension is in, too.
  const auto region_of = [d](const Config& config) {
    for (std::vector<uint32_t>& region : packet_regions(config))
      if (std::find(region.begin(), region.end(), d) != region.end()) return std::move(region);
    return std::vector<uint32_t>{};
  };
  return region_of(own) == region_of(units);
}

/// Collective units are built once: at one fidelity, and in one packet network.
void FidelityRules::check_units(const FidelityRule& rule, const Config& lifted) const {
  for (uint32_t d = 0; d < lifted.fabric_dimensions().size(); ++d) {
    const Fidelity wanted = lifted.fabric_dimensions()[d].fidelity;
    const Fidelity fidelity = config_.fabric_dimensions()[d].fidelity;
    if (wanted == fidelity || !collectives::uses_unit(config_, d)) continue;
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: it takes dimension {} to {} fidelity, and switches reduce there (in_switch) at {} "
                    "fidelity only; name other `dimensions`, or another algorithm than in_switch",
                    rule.origin, d, to_string(wanted), to_string(fidelity)));
  }
  const auto own = packet_regions(config_);
  for (const std::vector<uint32_t>& region : packet_regions(lifted)) {
    if (std::find(own.begin(), own.end(), region) != own.end()) continue;
    for (const uint32_t d : region) {
      if (!collectives::uses_unit(config_, d)) continue;
      throw UserError(
          ExitCode::usage,
          fmt::format("{}: dimension {}, in which switches reduce (in_switch), would be in another packet "
                      "network (adjacent dimensions at packet fidelity are one); name other `dimensions`, or "
                      "another algorithm than in_switch",
                      rule.origin, d));
    }
  }
}

FidelityRules::Subject FidelityRules::subject(const trace::Node& node, std::string_view group) const {
  Subject s{node.name, group, std::nullopt, std::nullopt};
  if (node.type == trace::NodeType::comm_coll) s.op = node.op;
  if (by_iteration_) s.iteration = iteration_of(node);
  return s;
}

bool FidelityRules::fits(const FidelityRule& rule, const Subject& s) {
  if (rule.point_to_point && s.op) return false;
  if (rule.operation && rule.operation != s.op) return false;
  if (!rule.group.empty()) {
    if (!s.op) return false;
    const bool world = s.group.empty() || s.group == "0";
    if (world ? rule.group != "0" : rule.group != s.group) return false;
  }
  if (rule.iteration && rule.iteration != s.iteration) return false;
  return rule.name.empty() || collectives::matches(rule.name, s.name);
}

uint32_t FidelityRules::find(const Subject& s, Picoseconds now) {
  for (uint32_t i = 0; i < rules_.size(); ++i) {
    if (now < rules_[i].from || now >= rules_[i].to || !fits(rules_[i], s)) continue;
    matched_[i] = true;
    return i;
  }
  return kNone;
}

bool FidelityRules::may_lift(const Subject& s) const {
  for (uint32_t i = 0; i < rules_.size(); ++i) {
    if (!fits(rules_[i], s)) continue;
    if (plane_of_[i] != 0) return true;
    if (rules_[i].from == 0 && rules_[i].to == kNever) return false;  // it comes before those that follow
  }
  return false;
}

uint32_t FidelityRules::fitting(const trace::Node& node, std::string_view group) {
  const Subject s = subject(node, group);
  std::vector<uint32_t> set;
  for (uint32_t i = 0; i < rules_.size(); ++i) {
    if (fits(rules_[i], s)) set.push_back(i);
  }
  const auto known = std::find(sets_.begin(), sets_.end(), set);
  const auto number = static_cast<uint32_t>(known - sets_.begin());
  if (known == sets_.end()) sets_.push_back(std::move(set));
  return number;
}

bool FidelityRules::in_set(uint32_t set, uint32_t rule) const {
  return std::binary_search(sets_[set].begin(), sets_[set].end(), rule);
}

uint32_t FidelityRules::first_difference(uint32_t a, uint32_t b) const {
  uint32_t rule = 0;
  while (rule < rules_.size() && in_set(a, rule) == in_set(b, rule)) ++rule;
  return rule;
}

uint32_t FidelityRules::for_collective(const trace::Node& node, std::string_view group, Picoseconds now) {
  return rules_.empty() ? kNone : find(subject(node, group), now);
}

uint32_t FidelityRules::for_collective(CollectiveOp op, Picoseconds now) {
  return find({"", "", op, std::nullopt}, now);
}

uint32_t FidelityRules::for_message(const trace::Node& node, Picoseconds now) {
  return rules_.empty() ? kNone : find(subject(node, ""), now);
}

bool FidelityRules::may_lift(const trace::Node& node, std::string_view group) const {
  return !rules_.empty() && may_lift(subject(node, group));
}

bool FidelityRules::may_lift(CollectiveOp op) const {
  return may_lift(Subject{"", "", op, std::nullopt});
}

std::vector<std::string> FidelityRules::unmatched() const {
  std::vector<std::string> lines;
  for (size_t i = 0; i < rules_.size(); ++i) {
    if (matched_[i]) continue;
    const std::string wants = conditions_text(rules_[i]);
    lines.push_back(
        fmt::format("{}: the rule{} was for no collective and no message: none matched when it started, or "
                    "earlier rules took them all",
                    rules_[i].origin, wants.empty() ? "" : " (" + wants + ")"));
  }
  return lines;
}

}  // namespace weft::graph
