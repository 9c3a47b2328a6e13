// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// How messages cross a dimension or a graph: its links at its fidelity. Modules, ports, routes, estimates and
// bounds ask for the carrier; it is chosen here alone.

#ifndef WEFT_CONFIGS_BLUEPRINT_CARRIER_H
#define WEFT_CONFIGS_BLUEPRINT_CARRIER_H

#include <cstdint>

#include "configs/config.h"
#include "configs/graph.h"

namespace weft {

enum class Carrier : uint8_t {
  direct,      ///< `analytical`: one hop to the receiver, whatever lies between
  neighbours,  ///< `message`: from NPU to NPU over the links of neighbours
  pairs,       ///< `message`: over the link of the two NPUs
  crossbars,   ///< `message`: through the one switch of a line
  switches,    ///< `message`: through the switches of a tree or a graph
  packets      ///< `packet`: a network of routers and interfaces
};

/// Of a line of the dimension that has more than one NPU.
Carrier carrier_of(const DimensionConfig& dimension);
Carrier carrier_of(const Graph& graph);

/// Of dimension d for the messages that the rule (`topology.fidelity_rules`) matches.
Fidelity fidelity_by(const FidelityRule& rule, const DimensionConfig& dimension, uint32_t d);

/// A dimension that has more than one NPU, or the graph, is not at `analytical` fidelity.
bool carries_messages(const Config& config);
/// .. or is not for the messages that the rule matches.
bool carries_messages(const Config& config, const FidelityRule& rule);
/// For some collectives; for all of them, whichever rules match.
bool may_carry_messages(const Config& config);
bool always_carries_messages(const Config& config);
/// A dimension that has more than one NPU, or the graph, is a packet network.
bool carries_packets(const Config& config);
/// .. or a rule (`topology.fidelity_rules`) makes one of it, or the memory pool is one.
bool may_carry_packets(const Config& config);

}  // namespace weft

#endif
