// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/blueprint/carrier.h"

#include <algorithm>
#include <vector>

#include "configs/blueprint/shape.h"

namespace weft {

Carrier carrier_of(const DimensionConfig& dimension) {
  if (dimension.fidelity == Fidelity::analytical) return Carrier::direct;
  if (dimension.fidelity == Fidelity::packet) return Carrier::packets;
  const Shape shape(dimension);
  if (shape.joins_neighbours()) return Carrier::neighbours;
  if (shape.joins_pairs()) return Carrier::pairs;
  return shape.has_crossbar() ? Carrier::crossbars : Carrier::switches;
}

Carrier carrier_of(const Graph& graph) {
  if (graph.spec().fidelity == Fidelity::analytical) return Carrier::direct;
  return graph.spec().fidelity == Fidelity::packet ? Carrier::packets : Carrier::switches;
}

Fidelity fidelity_by(const FidelityRule& rule, const DimensionConfig& dimension, uint32_t d) {
  const std::vector<uint32_t>& named = rule.dimensions;
  const bool lifts = named.empty() || std::find(named.begin(), named.end(), d) != named.end();
  return lifts && dimension.size > 1 ? rule.fidelity : dimension.fidelity;
}

bool carries_messages(const Config& config) {
  if (config.graph != nullptr) return carrier_of(*config.graph) != Carrier::direct;
  const std::vector<DimensionConfig>& dimensions = config.fabric_dimensions();
  return std::any_of(dimensions.begin(), dimensions.end(),
                     [](const DimensionConfig& d) { return d.size > 1 && carrier_of(d) != Carrier::direct; });
}

bool carries_messages(const Config& config, const FidelityRule& rule) {
  if (config.graph != nullptr) return carries_messages(config);  // refused later: a graph has no rules
  const std::vector<DimensionConfig>& dimensions = config.fabric_dimensions();
  for (uint32_t d = 0; d < dimensions.size(); ++d) {
    const Fidelity fidelity = fidelity_by(rule, dimensions[d], d);
    if (dimensions[d].size > 1 && fidelity != Fidelity::analytical) return true;
  }
  return false;
}

bool may_carry_messages(const Config& config) {
  const auto& rules = config.fidelity_rules;
  return carries_messages(config) || std::any_of(rules.begin(), rules.end(), [&](const FidelityRule& rule) {
           return carries_messages(config, rule);
         });
}

bool always_carries_messages(const Config& config) {
  const auto& rules = config.fidelity_rules;
  return carries_messages(config) && std::all_of(rules.begin(), rules.end(), [&](const FidelityRule& rule) {
           return carries_messages(config, rule);
         });
}

bool carries_packets(const Config& config) {
  if (config.graph != nullptr) return carrier_of(*config.graph) == Carrier::packets;
  const std::vector<DimensionConfig>& dimensions = config.fabric_dimensions();
  return std::any_of(dimensions.begin(), dimensions.end(), [](const DimensionConfig& d) {
    return d.size > 1 && carrier_of(d) == Carrier::packets;
  });
}

bool may_carry_packets(const Config& config) {
  const auto& rules = config.fidelity_rules;
  if (config.memory_pool && config.memory_pool->as_packets()) return true;
  return carries_packets(config) || std::any_of(rules.begin(), rules.end(), [](const FidelityRule& rule) {
           return rule.fidelity == Fidelity::packet;
         });
}

}  // namespace weft
