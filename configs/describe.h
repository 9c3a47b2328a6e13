// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The machine in words and as a drawing.

#ifndef WEFT_CONFIGS_DESCRIBE_H
#define WEFT_CONFIGS_DESCRIBE_H

#include <cstdint>
#include <string>

#include "configs/config.h"

namespace weft {

/// Directed links of a physical dimension in the whole machine, as a run has them (links_per_npu parallel
/// ones count as one): Ring 2n; Mesh 2(n-1); FullyConnected n(n-1); Switch 2n, and n at analytical fidelity.
uint64_t dimension_links(const Config& config, size_t dimension);

/// Bytes per second, in one direction, over the smallest cut of a dimension into halves, of the whole
/// machine; 0 for a dimension of one NPU. For an odd size the halves differ by one.
double dimension_bisection(const Config& config, size_t dimension);

/// The notation; "Graph" of a graph, which has none.
std::string machine_name(const Config& config);

/// NPUs, dimensions, bandwidths per link and NPU, bisection, links, latencies, memory; several lines.
std::string describe_text(const Config& config);

/// Graphviz. Up to kDrawnNpus NPUs every NPU, switch and link is drawn; beyond that one box a dimension, and
/// the drawing says so.
constexpr uint32_t kDrawnNpus = 64;
std::string describe_dot(const Config& config);

}  // namespace weft

#endif
