// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The entries of `topology.dimensions`: links, collective units, levels of trees.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "configs/blueprint/shape.h"
#include "configs/loading/resolution.h"
#include "configs/notation.h"
#include "configs/packet_timing.h"
#include "configs/tree.h"
#include "configs/tree_notation.h"
#include "configs/units.h"

namespace weft::loading {
namespace {

constexpr Picoseconds kLongestLatency = 1'000'000'000'000;  // as the keys of `latency` say

/// Makes dimension d a tree with the levels that an entry describes.
void resolve_levels(Resolution& r, size_t d, size_t entry) {
  DimensionConfig& dimension = r.config.dimensions[d];
  const TreeNotation& tree = *r.trees[d];
  const RawConfig::Levels& raw = r.raw.levels[entry];
  const std::string name = fmt::format("{}[{}].levels", kDimensionsPath, entry);
  const size_t wanted = tree.levels() - 1;
  if (raw.values.size() != wanted &&
      (raw.values.size() > 1 || (raw.values.size() == 1 && wanted == 0 && r.raw.dimensions.size() > 1))) {
    r.errors.add(raw.origin, name,
                 fmt::format("has {} entries, but {} has {} level{} above the links of its NPUs; write {}",
                             raw.values.size(), print_tree_notation(tree), wanted, wanted == 1 ? "" : "s",
                             wanted == 0 ? "none" : fmt::format("{} entries, or one for all", wanted)));
    return;
  }
  std::vector<TreeLevel> above;
  for (size_t l = 0; l < wanted; ++l) {
    TreeLevel level{dimension.bandwidth,      dimension.latency,         dimension.links_per_npu,
                    dimension.credit_latency, dimension.flit_error_rate, dimension.replay};
    above.push_back(level);
    if (raw.values.empty()) continue;
    const size_t i = raw.values.size() == 1 ? 0 : l;
    if (raw.values[i].count(find_key(std::string(kLevelPrefix) + "bandwidth")) != 0) level.count = 1;
    for (const auto& [key, written] : raw.values[i]) key->set(level, written.value);
    if (level.bandwidth.bytes_per_second > std::numeric_limits<uint64_t>::max() / level.count)
      r.errors.add(raw.origins[i], fmt::format("{}[{}].bandwidth", name, i),
                   fmt::format("'{}' times count ({}) is too large or has too many digits to be held "
                               "exactly; write a rounder bandwidth or fewer links",
                               print_bandwidth(level.bandwidth), level.count));
    above.back() = level;
  }
  make_tree(dimension, tree, std::move(above));
}

void check_unit(Resolution& r, const DimensionConfig& dimension, const RawValues& raw, size_t entry,
                const std::string& name) {
  const CollectiveUnitConfig& unit = dimension.collective_unit;
  if (!Shape(dimension).has_switches() || unit.buffer == 0 || unit.buffer >= unit.segment) return;
  const KeySpec* const buffer = find_key("topology.dimensions[].collective_unit.buffer");
  const KeySpec* const segment = find_key("topology.dimensions[].collective_unit.segment");
  const auto at = raw.find(buffer);
  r.errors.add(at != raw.end() ? at->second.origin : r.raw.dimension_origins[entry],
               name + ".collective_unit.buffer",
               fmt::format("'{}' holds no segment ({}); make the buffer as large, or set "
                           "`collective_unit.segment` smaller",
                           print_value(*buffer, unit.buffer), print_value(*segment, unit.segment)));
}

void check_queues(Resolution& r, const DimensionConfig& dimension, const RawValues& raw, size_t entry,
                  const std::string& name) {
  if (dimension.phase_queues == PhaseQueues::shared) return;
  const bool neighbours = Shape(dimension).joins_neighbours();
  const uint32_t queues = dimension.queues != 0 ? dimension.queues
                          : neighbours          ? r.config.collectives.queues_per_dimension
                                                : 1;
  if (queues % 2 == 0) return;
  const auto at = raw.find(find_key("topology.dimensions[].phase_queues"));
  r.errors.add(
      at != raw.end() ? at->second.origin : r.raw.dimension_origins[entry], name + ".phase_queues",
      fmt::format("'split' needs an even number of queues, and the dimension has {}; set `queues: 2`",
                  queues));
}

const RawValue* written_in(const RawValues& raw, const char* key) {
  const auto at = raw.find(find_key(std::string("topology.dimensions[].") + key));
  return at == raw.end() ? nullptr : &at->second;
}

/// A switch's own latency becomes a part of its two hops'.
void resolve_router(Resolution& r, DimensionConfig& dimension, const RawValues& raw, bool crossbar,
                    const std::string& name) {
  const RawValue* const router = written_in(raw, "router_latency");
  if (router == nullptr) return;
  const auto time = std::get<Picoseconds>(router->value);
  const std::string key = name + ".router_latency";
  const std::string value = print_time(time);
  if (!crossbar) {
    if (time != 0 && (r.tree || dimension.size > 1))
      r.errors.add(router->origin, key,
                   fmt::format("'{}' is of a Switch, and the dimension is {}; add it to the `latency` of {}",
                               value, r.tree ? print_tree_notation(*r.tree) : print_dimension(dimension),
                               r.tree || dimension.kind == DimensionKind::switch_ ? "the levels of its links"
                                                                                  : "a hop"));
    return;
  }
  if (time % 2 != 0) {
    r.errors.add(router->origin, key,
                 fmt::format("'{}' is an odd number of ps, of which half goes to each hop; write {} or {}",
                             value, print_time(time - 1), print_time(time + 1)));
    return;
  }
  const Picoseconds hop = dimension.latency + time / 2;
  if (hop > kLongestLatency) {
    r.errors.add(
        router->origin, key,
        fmt::format("half of '{}' and `latency` ({}) are more than {}, the longest latency of a hop; "
                    "write less",
                    value, print_time(dimension.latency), print_time(kLongestLatency)));
    return;
  }
  dimension.latency = hop;
}

/// Where links are no dimensions' own, or collectives plan on other ones, a dimension's ends are not known.
void check_ends(Resolution& r, const DimensionConfig& dimension, const RawValues& raw,
                const std::string& name) {
  const RawValue* const logical = r.find("topology.logical");
  if (!r.tree && logical == nullptr) return;
  const auto refuse = [&](const char* key) {
    const RawValue* const written = written_in(raw, key);
    if (written == nullptr) return;
    r.errors.add(
        written->origin, fmt::format("{}.{}", name, key),
        fmt::format("is for machines whose collectives plan on the dimensions of their links, and {}; "
                    "remove it, or set `nmu.endpoint_delay` for all messages",
                    r.tree ? fmt::format("'{}' stands alone and is a graph", r.config.notation)
                           : fmt::format("`topology.logical` (at {}) has others", logical->origin)));
  };
  if (dimension.nic_latency != 0) refuse("nic_latency");
  if (dimension.endpoint_delay != kNever) refuse("endpoint_delay");
}

/// Packets of a dimension's own.
void check_packets(Resolution& r, const DimensionConfig& dimension, const RawValues& raw,
                   const std::string& name) {
  if (r.tree) {
    for (const char* key : {"packet_size", "phit_size", "header_efficiency"}) {
      const RawValue* const written = written_in(raw, key);
      if (written == nullptr) continue;
      r.errors.add(written->origin, fmt::format("{}.{}", name, key),
                   fmt::format("is of a dimension, and '{}' stands alone and is a graph; set `packet.{}`",
                               r.config.notation, key));
    }
  }
  const RawValue* const efficiency = written_in(raw, "header_efficiency");
  if (efficiency != nullptr && dimension.header_efficiency != 1 && r.config.packet.header_bytes != 0)
    r.errors.add(
        efficiency->origin, name + ".header_efficiency",
        fmt::format("given beside `packet.header` ({}), which would count headers twice; keep one of "
                    "the two",
                    print_size(r.config.packet.header_bytes)));
}

/// The bandwidth of a link, of which an entry has one of two keys: the value that was written, or null after
/// an error, which has been reported.
const RawValue* resolve_bandwidth(Resolution& r, DimensionConfig& dimension, size_t entry,
                                  const std::string& name) {
  const RawValues& raw = r.raw.dimensions[entry];
  const std::set<const KeySpec*>& broken = r.raw.broken_dimensions[entry];
  const KeySpec* const link = find_key("topology.dimensions[].bandwidth");
  const KeySpec* const per_npu = find_key("topology.dimensions[].bandwidth_per_npu");
  const bool has_link = raw.count(link) != 0;
  const bool has_per_npu = raw.count(per_npu) != 0;
  if (has_link && has_per_npu) {
    r.errors.add(raw.at(per_npu).origin, name + ".bandwidth_per_npu",
                 fmt::format("given ({}) beside `bandwidth` ({}, at {}); keep one of the two",
                             print_value(*per_npu, raw.at(per_npu).value),
                             print_value(*link, raw.at(link).value), raw.at(link).origin));
    return nullptr;
  }
  if (!has_link && !has_per_npu) {
    if (broken.count(link) == 0 && broken.count(per_npu) == 0)
      r.errors.add(r.raw.dimension_origins[entry], name + ".bandwidth",
                   "missing; add `bandwidth` (per link and direction) or `bandwidth_per_npu`, for example "
                   "`bandwidth: 100 GB/s`");
    return nullptr;
  }
  if (has_link) return &raw.at(link);
  const Rate total = std::get<Rate>(raw.at(per_npu).value);
  const uint64_t links =
      uint64_t{Shape(dimension).links_at_once(
          dimension.size, neighbour_links_used(dimension, r.config.collectives.queues_per_dimension))} *
      dimension.links_per_npu;
  try {
    dimension.bandwidth = divided(total, links);
    parse_value(*link, print_bandwidth(dimension.bandwidth));  // one link obeys the range of `bandwidth`
  } catch (const UserError& error) {
    r.errors.add(raw.at(per_npu).origin, name + ".bandwidth_per_npu",
                 fmt::format("{} over {} links an NPU: for one link, {}", print_bandwidth(total), links,
                             error.what()));
    return nullptr;
  }
  return &raw.at(per_npu);
}

void resolve_dimension(Resolution& r, size_t d, size_t entry) {
  const RawValues& raw = r.raw.dimensions[entry];
  const std::string name = fmt::format("{}[{}]", kDimensionsPath, entry);
  DimensionConfig& dimension = r.config.dimensions[d];
  for (const KeySpec& key : keys()) {
    if (!key.is_of<DimensionConfig>()) continue;
    const auto it = raw.find(&key);
    if (it != raw.end())
      key.set(dimension, it->second.value);
    else if (!key.optional)
      key.set(dimension, default_of(key));
  }
  check_queues(r, dimension, raw, entry, name);
  resolve_router(r, dimension, raw,
                 dimension.kind == DimensionKind::switch_ && !r.tree && !r.trees[d].has_value(), name);
  check_ends(r, dimension, raw, name);
  check_packets(r, dimension, raw, name);
  const RawValue* const written = resolve_bandwidth(r, dimension, entry, name);
  if (written == nullptr) return;
  const bool tree = !r.tree && r.trees[d].has_value();
  const bool crossbar = Shape(dimension).has_switches() && !tree;
  if (!crossbar) dimension.collective_unit = {};
  // Without a `segment`, units at packet fidelity combine packet by packet.
  if (crossbar && dimension.fidelity == Fidelity::packet &&
      raw.count(find_key("topology.dimensions[].collective_unit.segment")) == 0) {
    dimension.collective_unit.segment =
        std::max<uint64_t>(64, packet_of(r.config.packet, dimension).packet_bytes);
  }
  check_unit(r, dimension, raw, entry, name);
  if (dimension.bandwidth.bytes_per_second > std::numeric_limits<uint64_t>::max() / dimension.links_per_npu)
    r.errors.add(
        written->origin,
        name + (raw.count(find_key("topology.dimensions[].bandwidth")) == 0 ? ".bandwidth_per_npu"
                                                                            : ".bandwidth"),
        fmt::format(
            "'{}' times links_per_npu ({}) is too large or has too many digits to be held exactly; write a "
            "rounder bandwidth or fewer links",
            print_bandwidth(dimension.bandwidth), dimension.links_per_npu));
  else if (tree)
    resolve_levels(r, d, entry);
}

}  // namespace

void resolve_dimensions(Resolution& r) {
  const size_t entries = r.raw.dimensions.size();
  if (r.raw.dimensions_origin.empty()) {
    r.errors.add(r.end, kDimensionsPath,
                 "missing; add a list with one mapping a dimension or one for all, for example "
                 "`dimensions: [{bandwidth: 100 GB/s, latency: 500 ns}]`");
    return;
  }
  if (entries == 0) return;  // reported by the reader
  if (entries != 1 && entries != r.config.dimensions.size()) {
    r.errors.add(
        r.raw.dimensions_origin, kDimensionsPath,
        fmt::format(
            "has {} entries, but the notation '{}' has {} dimensions; write {} entries, or one for all",
            entries, r.config.notation, r.config.dimensions.size(), r.config.dimensions.size()));
    return;
  }
  for (size_t d = 0; d < r.config.dimensions.size(); ++d) resolve_dimension(r, d, entries == 1 ? 0 : d);
  if (r.tree) return;
  for (size_t entry = 0; entry < entries; ++entry) {
    const std::string& origin = r.raw.levels[entry].origin;
    if (origin.empty()) continue;
    // One entry stands for all dimensions; --set may have made copies of it.
    bool used = false;
    for (size_t d = 0; d < r.trees.size(); ++d)
      used = used || (r.trees[d].has_value() && r.raw.levels[entries == 1 ? 0 : d].origin == origin);
    if (used) continue;
    r.errors.add(origin, fmt::format("{}[{}].levels", kDimensionsPath, entry),
                 entries == 1 ? fmt::format("is for trees of switches, and '{}' has none; remove it",
                                            r.config.notation)
                              : fmt::format("is for trees of switches, and dimension {} is {}; remove it",
                                            entry, print_dimension(r.config.dimensions[entry])));
  }
}

}  // namespace weft::loading
