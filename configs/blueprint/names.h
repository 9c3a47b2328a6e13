// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What the parts of the fabric are called in results, messages and waveforms: switches and NMUs, and the
// links that leave them. Places are NPUs of the fabric; names use the ranks that are there.

#ifndef WEFT_CONFIGS_BLUEPRINT_NAMES_H
#define WEFT_CONFIGS_BLUEPRINT_NAMES_H

#include <cstdint>
#include <string>

#include "configs/blueprint/geometry.h"
#include "configs/graph.h"

namespace weft {

/// "nmu7".
std::string nmu_name(const Geometry& geometry, uint32_t place);

/// The switch of the line that a place is on: "switch1_3". `suffix`: behind it, to tell the switches of a
/// dimension at several fidelities apart.
std::string switch_name(const Geometry& geometry, uint32_t dimension, uint32_t place,
                        const std::string& suffix = {});
/// .. of a tree, by its node: "switch1_3_leaf0".
std::string switch_name(const Geometry& geometry, uint32_t dimension, uint32_t place,
                        const std::string& suffix, uint32_t node);

/// A link by which the NPU at a place sends along a dimension, behind that NPU's name: "d0_plus", "d1_to7",
/// "d2_up".
std::string link_name(const Geometry& geometry, uint32_t dimension, uint32_t place, uint32_t link,
                      const std::string& suffix = {});
/// What is at its other end: an NMU or a switch.
std::string link_end(const Geometry& geometry, uint32_t dimension, uint32_t place, uint32_t link,
                     const std::string& suffix = {});

/// Tells the parallel links of a node of a graph apart: "" for the first one to that peer, then "_1", "_2".
std::string parallel_number(const Graph& graph, uint32_t node, uint32_t port);

}  // namespace weft

#endif
