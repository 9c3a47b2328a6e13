// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `topology.graph`, `topology.routes` and `topology.mapping`: from YAML to a GraphSpec, and back.

#ifndef WEFT_CONFIGS_GRAPH_READER_H
#define WEFT_CONFIGS_GRAPH_READER_H

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "configs/document.h"
#include "configs/graph.h"

namespace weft {

/// Takes one error: where it was written, the key, and what is wrong.
using ReportError =
    std::function<void(const std::string& origin, const std::string& key, const std::string& what)>;

/// True, and reported: so many entries are wrong that entry `next` of `count` and those after it are not
/// read. Each may cost as much time as the graph is large.
bool stop_after(uint32_t wrong, const std::string& origin, const std::string& key, size_t next, size_t count,
                const ReportError& report);

/// Reads `topology.graph`, without routing. Nothing when there was an error, which has been reported.
std::optional<GraphSpec> read_graph(const DocumentEntry& entry, const ReportError& report);

/// Reads a list of routes for the graph into `spec.routes`; `key` names it in messages. False after errors.
bool read_routes(const DocumentNode& list, const std::string& key, GraphSpec& spec,
                 const ReportError& report);

/// Reads `topology.mapping`. Nothing when there was an error: an entry that is no NPU, one that comes twice
/// or is missing.
std::optional<std::vector<uint32_t>> read_mapping(const DocumentEntry& entry, uint32_t npus,
                                                  const ReportError& report);

/// The lines below `topology:` that read back to the same graph with its routing, indented by two.
std::string print_graph(const GraphSpec& spec);

}  // namespace weft

#endif
