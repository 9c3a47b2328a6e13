// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// From `topology` to the machine: its dimensions, its graph, or the graph of its tree; and what collectives
// plan on.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "configs/document.h"
#include "configs/graph.h"
#include "configs/graph_reader.h"
#include "configs/input_file.h"
#include "configs/loading/plugins.h"
#include "configs/loading/resolution.h"
#include "configs/notation.h"
#include "configs/tree.h"
#include "configs/tree_notation.h"

namespace weft::loading {
namespace {

/// A logical dimension with the rate of the machine's slowest link and the latency of its shortest one.
DimensionConfig nominal(const Resolution& r, DimensionConfig dimension) {
  bool first = true;
  const auto take = [&](Rate rate, Picoseconds latency) {
    if (first || rate.value() < dimension.bandwidth.value()) dimension.bandwidth = rate;
    if (first || latency < dimension.latency) dimension.latency = latency;
    first = false;
  };
  if (r.config.graph != nullptr) {
    for (const GraphLink& link : r.config.graph->spec().links) take(link.rate(), link.latency);
    dimension.fidelity = r.config.graph->spec().fidelity;
    dimension.switching = r.config.graph->spec().switching;
    if (first) dimension.bandwidth = {1, 1};  // one NPU: nothing ever travels
    return dimension;
  }
  dimension.fidelity = Fidelity::analytical;
  dimension.switching = r.config.physical.front().switching;
  for (const DimensionConfig& d : r.config.physical) {
    take(d.link_rate(), d.latency);
    for (uint32_t l = 1; d.tree != nullptr && l < d.tree->levels(); ++l)
      take(d.tree->level(l).rate(), d.tree->level(l).latency);
    dimension.fidelity = std::max(dimension.fidelity, d.fidelity);
  }
  return dimension;
}

/// Makes the graph with the routing that `topology` asks for. False: it is wrong, which has been reported.
bool make_graph(Resolution& r, std::optional<GraphSpec> spec, const std::string& origin, const char* key) {
  const ReportError reporter = r.reporter();
  const auto wrong = [&r](const std::string& where, const std::string& name, const std::string& what) {
    r.errors.add(where, name, what);
    return false;
  };
  const RawValue* const routing = r.find("topology.routing");
  const RawValue* const file = r.find("topology.routes_file");
  const bool table = routing != nullptr && std::get<std::string>(routing->value) == "table";
  if ((r.raw.routes != nullptr || file != nullptr) && !table &&
      r.raw.broken.count(find_key("topology.routing")) == 0)
    return wrong(r.raw.routes != nullptr ? r.raw.routes->origin : file->origin,
                 r.raw.routes != nullptr ? "topology.routes" : "topology.routes_file",
                 "is for `routing: table`; add that, or remove the routes");
  if (table && (r.raw.routes != nullptr) == (file != nullptr))
    return wrong(routing->origin, "topology.routing",
                 fmt::format("'table' with {}; give `topology.routes` or `topology.routes_file`",
                             file != nullptr ? "both kinds of routes" : "no routes"));
  if (!spec) return false;
  if (routing != nullptr) spec->routing = std::get<std::string>(routing->value);
  if (r.raw.routes != nullptr && !read_routes(r.raw.routes->value, "topology.routes", *spec, reporter))
    return false;
  try {
    if (file != nullptr) {
      const std::string path = absolute_path(std::get<std::string>(file->value), r.file);
      std::string text;
      try {
        text = read_input(path, kRoutesInput);
      } catch (const UserError& error) {
        return wrong(file->origin, "topology.routes_file", error.what());
      }
      if (!read_routes(read_document(text, path), "routes", *spec, reporter)) return false;
    }
    r.config.graph = std::make_shared<const Graph>(std::move(*spec));
  } catch (const UserError& error) {
    return wrong(origin, key, error.what());
  }
  return true;
}

void resolve_graph(Resolution& r, const RawValue* notation) {
  const ReportError reporter = r.reporter();
  if (notation != nullptr)
    r.errors.add(
        r.raw.graph->origin, kGraphPath,
        fmt::format("given beside `topology.notation` (at {}); keep one of the two", notation->origin));
  if (!r.raw.dimensions_origin.empty())
    r.errors.add(
        r.raw.dimensions_origin, kDimensionsPath,
        "given beside `topology.graph`, whose links have their own bandwidths; remove one of the two");
  std::optional<GraphSpec> spec = read_graph(*r.raw.graph, reporter);
  if (!make_graph(r, std::move(spec), r.raw.graph->origin, kGraphPath)) return;
  DimensionConfig all;
  all.kind = DimensionKind::ring;
  all.size = r.config.graph->npus();
  r.config.dimensions.push_back(nominal(r, all));
}

}  // namespace

void resolve_topology(Resolution& r) {
  const RawValue* const notation = r.find("topology.notation");
  if (r.raw.graph != nullptr) return resolve_graph(r, notation);
  if (notation == nullptr && r.raw.broken.count(find_key("topology.notation")) == 0)
    r.errors.add(r.end, "topology.notation",
                 fmt::format("missing; add it: {}, or describe the machine by `topology.graph`",
                             allowed_values(*find_key("topology.notation"))));
  if (notation != nullptr && is_tree_notation(std::get<std::string>(notation->value))) {
    r.tree = parse_tree_notation(std::get<std::string>(notation->value));
    // The entries describe the links level by level; resolve_tree() makes the machine of them.
    r.config.dimensions.assign(r.tree->levels(), DimensionConfig{});
    for (DimensionConfig& level : r.config.dimensions) level.kind = DimensionKind::switch_;
    return;
  }
  for (const char* path : {"topology.routing", "topology.routes_file"})
    if (const RawValue* raw = r.find(path))
      r.errors.add(raw->origin, path,
                   "is for `topology.graph` and trees that stand alone; messages on a notation's dimensions "
                   "take the dimensions in order, and the trees among them by `ecmp`; remove it");
  if (r.raw.routes != nullptr)
    r.errors.add(r.raw.routes->origin, "topology.routes", "is for `topology.graph`; remove it");
  if (notation != nullptr)
    for (const NotationDimension& d : parse_notation(std::get<std::string>(notation->value))) {
      DimensionConfig dimension;
      dimension.kind = d.kind;
      dimension.size = d.size;
      r.config.dimensions.push_back(dimension);
      r.trees.push_back(d.tree);
    }
}

void resolve_tree(Resolution& r) {
  std::vector<DimensionConfig> levels = std::move(r.config.dimensions);
  r.config.dimensions.clear();
  for (size_t entry = 0; entry < r.raw.levels.size(); ++entry)
    if (!r.raw.levels[entry].origin.empty())
      r.errors.add(r.raw.levels[entry].origin, fmt::format("{}[{}].levels", kDimensionsPath, entry),
                   fmt::format("is for a tree that is a dimension among others; '{}' stands alone: write its "
                               "levels as {} entries of `dimensions`, from the NPUs up",
                               r.config.notation, levels.size()));
  if (!r.errors.empty()) return;
  for (size_t level = 1; level < levels.size(); ++level)
    if (levels[level].fidelity != levels[0].fidelity || levels[level].switching != levels[0].switching ||
        levels[level].implementation != levels[0].implementation)
      return r.errors.add(
          r.raw.dimension_origins[level], fmt::format("{}[{}]", kDimensionsPath, level),
          "a tree has one `fidelity`, one `switching` and one `implementation`; write the same "
          "in every entry");
  for (size_t level = 0; level < levels.size(); ++level)
    if (levels[level].flow_control != FlowControl::automatic)
      return r.errors.add(r.raw.dimension_origins[level],
                          fmt::format("{}[{}].flow_control", kDimensionsPath, level),
                          "all links of a tree go by `packet.flow_control`; set that, and leave this out");
  const RawValue* const notation = r.find("topology.notation");
  if (const RawValue* const routing = r.find("topology.routing");
      routing != nullptr && std::get<std::string>(routing->value) == "table")
    return r.errors.add(routing->origin, "topology.routing",
                        "a tree has no table; describe the machine by `topology.graph`, or use `ecmp` or "
                        "`shortest_path`");
  if (!make_graph(r, tree_graph(*r.tree, levels), notation->origin, "topology.notation")) return;
  r.config.levels = std::move(levels);
  DimensionConfig all;
  all.kind = DimensionKind::switch_;
  all.size = r.config.graph->npus();
  r.config.dimensions.push_back(nominal(r, all));
  if (r.config.logical.empty()) r.config.logical = fmt::format("Switch({})", all.size);
}

void resolve_logical(Resolution& r) {
  const RawValue* const logical = r.find("topology.logical");
  const uint32_t npus = r.config.npus();
  if (logical != nullptr) {
    const auto& notation = std::get<std::string>(logical->value);
    std::vector<DimensionConfig> dimensions;
    uint64_t product = 1;
    const bool same = r.config.graph == nullptr && notation == r.config.notation;
    for (const NotationDimension& d : parse_notation(notation)) {
      if (d.tree && !same) {
        r.errors.add(logical->origin, "topology.logical",
                     fmt::format("'{}' is a tree of switches, and collectives plan on a Switch of as many "
                                 "NPUs; write Switch({}) in its place",
                                 print_tree_notation(*d.tree), d.size));
        return;
      }
      DimensionConfig dimension;
      dimension.kind = d.kind;
      dimension.size = d.size;
      dimensions.push_back(dimension);
      product *= d.size;
    }
    if (product != npus) {
      r.errors.add(logical->origin, "topology.logical",
                   fmt::format("'{}' has {} NPUs, but the machine has {}; make the sizes multiply to {}",
                               notation, product, npus, npus));
      return;
    }
    if (same) {
      r.config.logical.clear();  // nothing is remapped
    } else {
      if (r.config.graph == nullptr) r.config.physical = r.config.dimensions;
      for (DimensionConfig& d : dimensions) d = nominal(r, d);
      r.config.dimensions = dimensions;
    }
  }
  if (r.raw.mapping == nullptr) return;
  const auto mapping = read_mapping(*r.raw.mapping, npus, r.reporter());
  if (!mapping) return;
  for (uint32_t rank = 0; rank < npus; ++rank)
    if ((*mapping)[rank] != rank) r.config.mapping = *mapping;  // the identity needs none
}

}  // namespace weft::loading
