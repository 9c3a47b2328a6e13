// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/loading/resolver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "configs/algorithms.h"
#include "configs/blueprint/shape.h"
#include "configs/document.h"
#include "configs/dram_spec.h"
#include "configs/graph.h"
#include "configs/graph_reader.h"
#include "configs/input_file.h"
#include "configs/keys.h"
#include "configs/loader.h"
#include "configs/loading/implementations.h"
#include "configs/loading/jobs.h"
#include "configs/loading/plugins.h"
#include "configs/notation.h"
#include "configs/tree.h"
#include "configs/tree_notation.h"
#include "configs/units.h"

namespace weft::loading {
namespace {

/// A default of the table: written as a user would write it.
Value default_of(const KeySpec& key) {
  if (key.type == ValueType::algorithms) return std::string();
  if (key.type == ValueType::reduction) return ReductionSetting{};
  if (key.type == ValueType::paths) return std::vector<std::string>{};
  return parse_value(key, key.fallback == "\"\"" ? "" : key.fallback);
}

class Resolver {
 public:
  Resolver(const RawConfig& raw, std::string file, Errors& errors)
      : raw_(raw), file_(std::move(file)), end_(file_.empty() ? "configuration" : file_), errors_(errors) {}

  Config resolve() {
    config_.file = file_;
    resolve_topology();
    for (const KeySpec& key : keys())
      if (key.is_of<Config>() && key.type != ValueType::algorithms) resolve_key(key);
    if (!config_.dimensions.empty() && raw_.graph == nullptr) resolve_dimensions();
    if (tree_) resolve_tree();
    if (!config_.dimensions.empty()) {
      resolve_logical();
      for (const KeySpec& key : keys())
        if (key.is_of<Config>() && key.type == ValueType::algorithms) resolve_algorithms(key);
      resolve_rules();
      resolve_fidelity_rules();
      resolve_jobs(raw_, config_, errors_);
    }
    resolve_packet();
    resolve_hbm();
    check_implementations(config_, raw_, end_, errors_);
    check_relations();
    errors_.check();
    return config_;
  }

 private:
  const RawValue* find(const KeySpec& key) const {
    const auto it = raw_.values.find(&key);
    return it == raw_.values.end() ? nullptr : &it->second;
  }

  const RawValue* find(const char* path) const { return find(*find_key(path)); }

  void report(const std::string& origin, const std::string& key, const std::string& what) {
    errors_.add(origin, key, what);
  }

  void resolve_topology() {
    const RawValue* const notation = find("topology.notation");
    if (raw_.graph != nullptr) return resolve_graph(notation);
    if (notation == nullptr && raw_.broken.count(find_key("topology.notation")) == 0)
      errors_.add(end_, "topology.notation",
                  fmt::format("missing; add it: {}, or describe the machine by `topology.graph`",
                              allowed_values(*find_key("topology.notation"))));
    if (notation != nullptr && is_tree_notation(std::get<std::string>(notation->value))) {
      tree_ = parse_tree_notation(std::get<std::string>(notation->value));
      // The entries describe the links level by level; resolve_tree() makes the machine of them.
      config_.dimensions.assign(tree_->levels(), DimensionConfig{});
      for (DimensionConfig& level : config_.dimensions) level.kind = DimensionKind::switch_;
      return;
    }
    for (const char* path : {"topology.routing", "topology.routes_file"})
      if (const RawValue* raw = find(path))
        errors_.add(raw->origin, path,
                    "is for `topology.graph` and trees that stand alone; messages on a notation's dimensions "
                    "take the dimensions in order, and the trees among them by `ecmp`; remove it");
    if (raw_.routes != nullptr)
      errors_.add(raw_.routes->origin, "topology.routes", "is for `topology.graph`; remove it");
    if (notation != nullptr)
      for (const NotationDimension& d : parse_notation(std::get<std::string>(notation->value))) {
        DimensionConfig dimension;
        dimension.kind = d.kind;
        dimension.size = d.size;
        config_.dimensions.push_back(dimension);
        trees_.push_back(d.tree);
      }
  }

  void resolve_graph(const RawValue* notation) {
    const auto reporter = [this](const std::string& origin, const std::string& key, const std::string& what) {
      report(origin, key, what);
    };
    if (notation != nullptr)
      errors_.add(
          raw_.graph->origin, kGraphPath,
          fmt::format("given beside `topology.notation` (at {}); keep one of the two", notation->origin));
    if (!raw_.dimensions_origin.empty())
      errors_.add(
          raw_.dimensions_origin, kDimensionsPath,
          "given beside `topology.graph`, whose links have their own bandwidths; remove one of the two");
    std::optional<GraphSpec> spec = read_graph(*raw_.graph, reporter);
    if (!make_graph(std::move(spec), raw_.graph->origin, kGraphPath)) return;
    DimensionConfig all;
    all.kind = DimensionKind::ring;
    all.size = config_.graph->npus();
    config_.dimensions.push_back(nominal(all));
  }

  /// Switches level by level, from the entries of `topology.dimensions`.
  void resolve_tree() {
    std::vector<DimensionConfig> levels = std::move(config_.dimensions);
    config_.dimensions.clear();
    for (size_t entry = 0; entry < raw_.levels.size(); ++entry)
      if (!raw_.levels[entry].origin.empty())
        errors_.add(
            raw_.levels[entry].origin, fmt::format("{}[{}].levels", kDimensionsPath, entry),
            fmt::format("is for a tree that is a dimension among others; '{}' stands alone: write its "
                        "levels as {} entries of `dimensions`, from the NPUs up",
                        config_.notation, levels.size()));
    if (!errors_.empty()) return;
    for (size_t level = 1; level < levels.size(); ++level)
      if (levels[level].fidelity != levels[0].fidelity || levels[level].switching != levels[0].switching ||
          levels[level].implementation != levels[0].implementation)
        return errors_.add(
            raw_.dimension_origins[level], fmt::format("{}[{}]", kDimensionsPath, level),
            "a tree has one `fidelity`, one `switching` and one `implementation`; write the same "
            "in every entry");
    for (size_t level = 0; level < levels.size(); ++level)
      if (levels[level].flow_control != FlowControl::automatic)
        return errors_.add(raw_.dimension_origins[level],
                           fmt::format("{}[{}].flow_control", kDimensionsPath, level),
                           "all links of a tree go by `packet.flow_control`; set that, and leave this out");
    const RawValue* const notation = find("topology.notation");
    if (const RawValue* const routing = find("topology.routing");
        routing != nullptr && std::get<std::string>(routing->value) == "table")
      return errors_.add(routing->origin, "topology.routing",
                         "a tree has no table; describe the machine by `topology.graph`, or use `ecmp` or "
                         "`shortest_path`");
    if (!make_graph(tree_graph(*tree_, levels), notation->origin, "topology.notation")) return;
    config_.levels = std::move(levels);
    DimensionConfig all;
    all.kind = DimensionKind::switch_;
    all.size = config_.graph->npus();
    config_.dimensions.push_back(nominal(all));
    if (config_.logical.empty()) config_.logical = fmt::format("Switch({})", all.size);
  }

  /// Adds what `topology` says of routing, and makes config_.graph; false: reported.
  bool make_graph(std::optional<GraphSpec> spec, const std::string& origin, const char* key) {
    const auto reporter = [this](const std::string& where, const std::string& name, const std::string& what) {
      report(where, name, what);
    };
    const auto wrong = [this](const std::string& where, const std::string& name, const std::string& what) {
      errors_.add(where, name, what);
      return false;
    };
    const RawValue* const routing = find("topology.routing");
    const RawValue* const file = find("topology.routes_file");
    const bool table = routing != nullptr && std::get<std::string>(routing->value) == "table";
    if ((raw_.routes != nullptr || file != nullptr) && !table &&
        raw_.broken.count(find_key("topology.routing")) == 0)
      return wrong(raw_.routes != nullptr ? raw_.routes->origin : file->origin,
                   raw_.routes != nullptr ? "topology.routes" : "topology.routes_file",
                   "is for `routing: table`; add that, or remove the routes");
    if (table && (raw_.routes != nullptr) == (file != nullptr))
      return wrong(routing->origin, "topology.routing",
                   fmt::format("'table' with {}; give `topology.routes` or `topology.routes_file`",
                               file != nullptr ? "both kinds of routes" : "no routes"));
    if (!spec) return false;
    if (routing != nullptr) spec->routing = std::get<std::string>(routing->value);
    if (raw_.routes != nullptr && !read_routes(raw_.routes->value, "topology.routes", *spec, reporter))
      return false;
    try {
      if (file != nullptr) {
        const std::string path = absolute_path(std::get<std::string>(file->value), file_);
        std::string text;
        try {
          text = read_input(path, kRoutesInput);
        } catch (const UserError& error) {
          return wrong(file->origin, "topology.routes_file", error.what());
        }
        if (!read_routes(read_document(text, path), "routes", *spec, reporter)) return false;
      }
      config_.graph = std::make_shared<const Graph>(std::move(*spec));
    } catch (const UserError& error) {
      return wrong(origin, key, error.what());
    }
    return true;
  }

  /// A logical dimension with the machine's slowest link and shortest latency: what planning may count on.
  DimensionConfig nominal(DimensionConfig dimension) const {
    bool first = true;
    const auto take = [&](Rate rate, Picoseconds latency) {
      if (first || rate.value() < dimension.bandwidth.value()) dimension.bandwidth = rate;
      if (first || latency < dimension.latency) dimension.latency = latency;
      first = false;
    };
    if (config_.graph != nullptr) {
      for (const GraphLink& link : config_.graph->spec().links) take(link.rate(), link.latency);
      dimension.fidelity = config_.graph->spec().fidelity;
      dimension.switching = config_.graph->spec().switching;
      if (first) dimension.bandwidth = {1, 1};  // one NPU: nothing ever travels
      return dimension;
    }
    dimension.fidelity = Fidelity::analytical;
    dimension.switching = config_.physical.front().switching;
    for (const DimensionConfig& d : config_.physical) {
      take(d.link_rate(), d.latency);
      for (uint32_t l = 1; d.tree != nullptr && l < d.tree->levels(); ++l)
        take(d.tree->level(l).rate(), d.tree->level(l).latency);
      dimension.fidelity = std::max(dimension.fidelity, d.fidelity);
    }
    return dimension;
  }

  void resolve_logical() {
    const RawValue* const logical = find("topology.logical");
    const uint32_t npus = config_.npus();
    if (logical != nullptr) {
      const auto& notation = std::get<std::string>(logical->value);
      std::vector<DimensionConfig> dimensions;
      uint64_t product = 1;
      const bool same = config_.graph == nullptr && notation == config_.notation;
      for (const NotationDimension& d : parse_notation(notation)) {
        if (d.tree && !same) {
          errors_.add(logical->origin, "topology.logical",
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
        errors_.add(logical->origin, "topology.logical",
                    fmt::format("'{}' has {} NPUs, but the machine has {}; make the sizes multiply to {}",
                                notation, product, npus, npus));
        return;
      }
      if (same) {
        config_.logical.clear();  // nothing is remapped
      } else {
        if (config_.graph == nullptr) config_.physical = config_.dimensions;
        for (DimensionConfig& d : dimensions) d = nominal(d);
        config_.dimensions = dimensions;
      }
    }
    if (raw_.mapping == nullptr) return;
    const auto mapping = read_mapping(*raw_.mapping, npus,
                                      [this](const std::string& origin, const std::string& key,
                                             const std::string& what) { report(origin, key, what); });
    if (!mapping) return;
    for (uint32_t r = 0; r < npus; ++r)
      if ((*mapping)[r] != r) config_.mapping = *mapping;  // the identity needs none
  }

  /// The notation whose dimensions the lists outside `topology` mean.
  std::string planned() const {
    if (!config_.logical.empty()) return config_.logical;
    return config_.graph != nullptr ? fmt::format("Ring({})", config_.graph->npus()) : config_.notation;
  }

  void resolve_key(const KeySpec& key) {
    const std::string parent = key.path.substr(0, key.path.find('.'));
    const SectionSpec* section = find_section(parent);
    if (section != nullptr && section->optional) {
      if (raw_.seen.count(section) == 0) return;
      if (!config_.remote_memory) config_.remote_memory.emplace();
    }
    if (const RawValue* raw = find(key)) {
      Value value = raw->value;
      if (key.type == ValueType::path) value = absolute_path(std::get<std::string>(value), file_);
      if (key.type == ValueType::paths)
        for (std::string& path : std::get<std::vector<std::string>>(value)) path = absolute_path(path, file_);
      key.set(config_, value);
    } else if (key.required) {
      if (raw_.broken.count(&key) == 0)
        errors_.add(
            end_, key.path,
            fmt::format("missing; add it: {}", key.path == "weft" ? fmt::format("`weft: {}`", kConfigVersion)
                                                                  : allowed_values(key)));
    } else if (!key.optional) {
      key.set(config_, default_of(key));
    }
  }

  void resolve_dimensions() {
    const size_t entries = raw_.dimensions.size();
    if (raw_.dimensions_origin.empty()) {
      errors_.add(end_, kDimensionsPath,
                  "missing; add a list with one mapping a dimension or one for all, for example "
                  "`dimensions: [{bandwidth: 100 GB/s, latency: 500 ns}]`");
      return;
    }
    if (entries == 0) return;  // reported by the reader
    if (entries != 1 && entries != config_.dimensions.size()) {
      errors_.add(
          raw_.dimensions_origin, kDimensionsPath,
          fmt::format(
              "has {} entries, but the notation '{}' has {} dimensions; write {} entries, or one for all",
              entries, config_.notation, config_.dimensions.size(), config_.dimensions.size()));
      return;
    }
    for (size_t d = 0; d < config_.dimensions.size(); ++d) resolve_dimension(d, entries == 1 ? 0 : d);
    if (tree_) return;
    for (size_t entry = 0; entry < entries; ++entry) {
      const std::string& origin = raw_.levels[entry].origin;
      if (origin.empty()) continue;
      // One entry stands for all dimensions; --set may have made copies of it.
      bool used = false;
      for (size_t d = 0; d < trees_.size(); ++d)
        used = used || (trees_[d].has_value() && raw_.levels[entries == 1 ? 0 : d].origin == origin);
      if (used) continue;
      errors_.add(origin, fmt::format("{}[{}].levels", kDimensionsPath, entry),
                  entries == 1 ? fmt::format("is for trees of switches, and '{}' has none; remove it",
                                             config_.notation)
                               : fmt::format("is for trees of switches, and dimension {} is {}; remove it",
                                             entry, print_dimension(config_.dimensions[entry])));
    }
  }

  /// Makes dimension d a tree, with the levels of an entry.
  void resolve_levels(size_t d, size_t entry) {
    DimensionConfig& dimension = config_.dimensions[d];
    const TreeNotation& tree = *trees_[d];
    const RawConfig::Levels& raw = raw_.levels[entry];
    const std::string name = fmt::format("{}[{}].levels", kDimensionsPath, entry);
    const size_t wanted = tree.levels() - 1;
    if (raw.values.size() != wanted &&
        (raw.values.size() > 1 || (raw.values.size() == 1 && wanted == 0 && raw_.dimensions.size() > 1))) {
      errors_.add(raw.origin, name,
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
        errors_.add(raw.origins[i], fmt::format("{}[{}].bandwidth", name, i),
                    fmt::format("'{}' times count ({}) is too large or has too many digits to be held "
                                "exactly; write a rounder bandwidth or fewer links",
                                print_bandwidth(level.bandwidth), level.count));
      above.back() = level;
    }
    make_tree(dimension, tree, std::move(above));
  }

  /// What follows from the device of model `banked`; what is given beside it must agree.
  void resolve_hbm() {
    HbmConfig& h = config_.hbm;
    if (!h.banked()) {
      for (const char* const path : kDramKeys) {
        if (const RawValue* const raw = find(path)) {
          errors_.add(
              raw->origin, path,
              "is of `hbm.model: banked`, and the model is `bandwidth`; set the model or take the key out");
        }
      }
      return;
    }
    const DramSpec spec = dram_spec(h);
    const Rate bandwidth{static_cast<uint64_t>(std::llround(spec.stack_peak() * h.stacks)), 1};
    const auto follows = [&](const char* path, bool equal, const std::string& value) {
      const RawValue* const raw = find(path);
      if (raw == nullptr || equal) return;
      errors_.add(
          raw->origin, path,
          fmt::format(
              "follows from the device of `hbm.model: banked`: {} of {} give {}; take the key out, or "
              "change `hbm.preset` or `hbm.stacks`",
              h.stacks, h.preset, value));
    };
    follows("hbm.bandwidth", h.bandwidth == bandwidth, print_value(*find_key("hbm.bandwidth"), bandwidth));
    follows("hbm.latency", h.latency == spec.least_latency(),
            print_value(*find_key("hbm.latency"), uint64_t{spec.least_latency()}));
    follows("hbm.efficiency", h.efficiency == 1.0, "1 (refresh and rows are simulated)");
    h.bandwidth = bandwidth;
    h.latency = spec.least_latency();
  }

  /// What the keys of `packet` say together. Whether it fits the topology is seen when that is built.
  void resolve_packet() {
    PacketFabricConfig& p = config_.packet;
    const auto complain = [&](const char* path, const std::string& what) {
      const RawValue* raw = find(path);
      errors_.add(raw != nullptr ? raw->origin : end_, path, what);
    };
    const RawValue* const bytes = find("packet.buffer");
    const RawValue* const flits = find("packet.buffer_flits");
    if (bytes != nullptr && flits != nullptr) {
      complain("packet.buffer",
               fmt::format("given beside `packet.buffer_flits` (at {}); keep one of the two", flits->origin));
    } else if (bytes != nullptr && p.flit_bytes != 0) {
      const uint64_t n = std::get<uint64_t>(bytes->value) / p.flit_bytes;
      const KeySpec* const key = find_key("packet.buffer_flits");
      if (n == 0 || n > std::stoull(key->max)) {
        complain("packet.buffer", fmt::format("'{}' is {} flits of {}; allowed: from 1 to {} flits",
                                              print_value(*find_key("packet.buffer"), bytes->value), n,
                                              print_size(p.flit_bytes), key->max));
      } else {
        p.buffer_flits = static_cast<uint32_t>(n);
      }
    }
    if (p.vcs * p.virtual_networks > 32) {
      complain(find("packet.virtual_networks") != nullptr ? "packet.virtual_networks" : "packet.vcs",
               fmt::format("{} virtual networks of {} VCs are {} VCs a port; at most 32 are possible",
                           p.virtual_networks, p.vcs, p.vcs * p.virtual_networks));
    }
    for (const auto& [path, network] :
         {std::pair<const char*, uint32_t>{"packet.collectives_network", p.collectives_network},
          std::pair<const char*, uint32_t>{"packet.point_to_point_network", p.point_to_point_network}}) {
      if (network >= p.virtual_networks) {
        complain(path, fmt::format("'{}' is no virtual network: `packet.virtual_networks` is {}; allowed: 0 "
                                   "to {}",
                                   network, p.virtual_networks, p.virtual_networks - 1));
      }
    }
    if (p.header_bytes != 0 && p.header_efficiency != 1) {
      complain("packet.header",
               "given beside `packet.header_efficiency`, which would count headers twice; keep one of the "
               "two");
    }
    if (p.vc_classes == "bubble" && !p.strict_cut_through) {
      complain("packet.vc_classes",
               "'bubble' needs `packet.strict_cut_through: true`: a packet must fit where it moves to");
    }
    if (p.ecn.k_min > p.ecn.k_max) {
      const bool low = find("packet.ecn.k_min") != nullptr;
      complain(low ? "packet.ecn.k_min" : "packet.ecn.k_max",
               fmt::format("a `k_min` of {} is above the `k_max` of {}; make {}", print_size(p.ecn.k_min),
                           print_size(p.ecn.k_max),
                           low ? "it smaller, or set `k_max`" : "it larger, or set `k_min`"));
    }
    if (p.dcqcn.enabled && !p.ecn.enabled) {
      complain("packet.dcqcn.enabled",
               "DCQCN reacts to packets that routers mark, and none does; add `packet.ecn.enabled: true`");
    }
    for (const uint32_t network : p.pfc_networks) {
      if (network >= p.virtual_networks) {
        complain("packet.pfc_networks",
                 fmt::format("'{}' is no virtual network: `packet.virtual_networks` is {}; allowed: 0 to {}",
                             network, p.virtual_networks, p.virtual_networks - 1));
      }
    }
    if (p.pfc_xoff != 0 && p.buffer_flits != 0 && p.pfc_xoff > p.buffer_flits) {
      complain("packet.pfc_xoff",
               fmt::format("'{}' flits are never reached: a buffer has {}; allowed: from 1 "
                           "to {}",
                           p.pfc_xoff, p.buffer_flits, p.buffer_flits));
    }
    if (p.pfc_xon != 0 && p.pfc_xoff != 0 && p.pfc_xon >= p.pfc_xoff) {
      complain(
          "packet.pfc_xon",
          fmt::format("'{}' flits are not below `packet.pfc_xoff` ({}): nothing would ever be paused for "
                      "long; allowed: below {}, or auto",
                      p.pfc_xon, p.pfc_xoff, p.pfc_xoff));
    }
    const bool any_pfc =
        p.flow_control == FlowControl::pfc ||
        std::any_of(config_.dimensions.begin(), config_.dimensions.end(),
                    [](const DimensionConfig& d) { return d.flow_control == FlowControl::pfc; });
    if (any_pfc && p.vc_classes == "bubble") {
      complain("packet.vc_classes",
               "'bubble' keeps a ring moving by the room it leaves free, and a pause stops packets that have "
               "room; use other classes, or `flow_control: credits`");
    }
    const uint64_t least = (p.packet_bytes + p.header_bytes + p.flit_bytes - 1) / p.flit_bytes;
    if (p.strict_cut_through && p.buffer_flits != 0 && p.buffer_flits < least) {
      complain(bytes != nullptr ? "packet.buffer" : "packet.buffer_flits",
               fmt::format("{} flits do not hold a packet of {}, which `packet.strict_cut_through` needs; "
                           "allowed: {} or more",
                           p.buffer_flits, least, least));
    }
  }

  void resolve_dimension(size_t d, size_t entry) {
    const RawValues& raw = raw_.dimensions[entry];
    const std::set<const KeySpec*>& broken = raw_.broken_dimensions[entry];
    const std::string name = fmt::format("{}[{}]", kDimensionsPath, entry);
    const KeySpec* const link = find_key("topology.dimensions[].bandwidth");
    const KeySpec* const per_npu = find_key("topology.dimensions[].bandwidth_per_npu");
    for (const KeySpec& key : keys()) {
      if (!key.is_of<DimensionConfig>()) continue;
      const auto it = raw.find(&key);
      if (it != raw.end())
        key.set(config_.dimensions[d], it->second.value);
      else if (!key.optional)
        key.set(config_.dimensions[d], default_of(key));
    }
    const bool has_link = raw.count(link) != 0;
    const bool has_per_npu = raw.count(per_npu) != 0;
    if (has_link && has_per_npu) {
      errors_.add(raw.at(per_npu).origin, name + ".bandwidth_per_npu",
                  fmt::format("given ({}) beside `bandwidth` ({}, at {}); keep one of the two",
                              print_value(*per_npu, raw.at(per_npu).value),
                              print_value(*link, raw.at(link).value), raw.at(link).origin));
      return;
    }
    if (!has_link && !has_per_npu) {
      if (broken.count(link) == 0 && broken.count(per_npu) == 0)
        errors_.add(raw_.dimension_origins[entry], name + ".bandwidth",
                    "missing; add `bandwidth` (per link and direction) or `bandwidth_per_npu`, for example "
                    "`bandwidth: "
                    "100 GB/s`");
      return;
    }
    DimensionConfig& dimension = config_.dimensions[d];
    if (has_per_npu) {
      const Rate total = std::get<Rate>(raw.at(per_npu).value);
      const uint64_t links =
          uint64_t{Shape(dimension).links_at_once(dimension.size, config_.collectives.queues_per_dimension)} *
          dimension.links_per_npu;
      try {
        dimension.bandwidth = divided(total, links);
        parse_value(*link, print_bandwidth(dimension.bandwidth));  // one link obeys the range of `bandwidth`
      } catch (const UserError& error) {
        errors_.add(raw.at(per_npu).origin, name + ".bandwidth_per_npu",
                    fmt::format("{} over {} links an NPU: for one link, {}", print_bandwidth(total), links,
                                error.what()));
        return;
      }
    }
    const bool tree = !tree_ && trees_[d].has_value();
    const bool crossbar = Shape(dimension).has_switches() && !tree;
    if (!crossbar) dimension.collective_unit = {};
    // Units at packet fidelity combine packet by packet, unless told otherwise.
    if (crossbar && dimension.fidelity == Fidelity::packet &&
        raw.count(find_key("topology.dimensions[].collective_unit.segment")) == 0) {
      dimension.collective_unit.segment = std::max<uint64_t>(64, config_.packet.packet_bytes);
    }
    check_unit(dimension, raw, entry, name);
    const auto& written = raw.at(has_per_npu ? per_npu : link);
    if (dimension.bandwidth.bytes_per_second > std::numeric_limits<uint64_t>::max() / dimension.links_per_npu)
      errors_.add(
          written.origin, name + (has_per_npu ? ".bandwidth_per_npu" : ".bandwidth"),
          fmt::format(
              "'{}' times links_per_npu ({}) is too large or has too many digits to be held exactly; write a "
              "rounder bandwidth or fewer links",
              print_bandwidth(dimension.bandwidth), dimension.links_per_npu));
    else if (tree)
      resolve_levels(d, entry);
  }

  void check_unit(const DimensionConfig& dimension, const RawValues& raw, size_t entry,
                  const std::string& name) {
    const CollectiveUnitConfig& unit = dimension.collective_unit;
    if (!Shape(dimension).has_switches() || unit.buffer == 0 || unit.buffer >= unit.segment) return;
    const KeySpec* const buffer = find_key("topology.dimensions[].collective_unit.buffer");
    const KeySpec* const segment = find_key("topology.dimensions[].collective_unit.segment");
    const auto at = raw.find(buffer);
    errors_.add(at != raw.end() ? at->second.origin : raw_.dimension_origins[entry],
                name + ".collective_unit.buffer",
                fmt::format("'{}' holds no segment ({}); make the buffer as large, or set "
                            "`collective_unit.segment` smaller",
                            print_value(*buffer, unit.buffer), print_value(*segment, unit.segment)));
  }

  /// Why dimension d has no switches that could run `in_switch`; empty: it has.
  std::string no_switch(size_t d) const {
    const DimensionConfig& dimension = config_.dimensions[d];
    if (!Shape(dimension).has_switches())
      return fmt::format("dimension {} is {}", d, print_dimension(dimension));
    if (dimension.tree != nullptr)
      return fmt::format("dimension {} is {}, a tree, whose switches have no collective units", d,
                         print_dimension(dimension));
    if (config_.remapped())
      return fmt::format("the {} does not say which switch joins the NPUs of logical dimension {}",
                         config_.graph != nullptr  ? "graph"
                         : config_.mapping.empty() ? "logical topology"
                                                   : "mapping",
                         d);
    return {};
  }

  void resolve_algorithms(const KeySpec& key) {
    const RawValue* raw = find(key);
    const RawValue value = raw != nullptr ? *raw : RawValue{default_of(key), end_};
    const auto op = static_cast<CollectiveOp>(key.index);
    if (const auto names = algorithm_list(value, key.path, op)) key.set(config_, *names);
  }

  /// One name a dimension, with absolute paths. `op`: the operation that they are for; nothing: any. Nothing
  /// after an error, which has been reported.
  std::optional<std::vector<std::string>> algorithm_list(const RawValue& raw, const std::string& path,
                                                         std::optional<CollectiveOp> op) {
    const size_t dimensions = config_.dimensions.size();
    std::vector<std::string> names;
    if (const auto* one = std::get_if<std::string>(&raw.value))
      names.assign(dimensions, *one);
    else
      names = std::get<std::vector<std::string>>(raw.value);
    if (names.size() != dimensions) {
      errors_.add(
          raw.origin, path,
          fmt::format(
              "has {} algorithms, but the notation '{}' has {} dimensions; write {} names in the list, "
              "or one name without a list for all",
              names.size(), planned(), dimensions, dimensions));
      return std::nullopt;
    }
    for (size_t d = 0; d < dimensions; ++d) {
      const AlgorithmInfo* info = find_algorithm(names[d]);
      if (info == nullptr) continue;
      if (info->argument != nullptr)
        names[d] =
            fmt::format("{}:{}", info->name, absolute_path(std::string(algorithm_argument(names[d])), file_));
    }
    for (size_t d = 0; op && d < dimensions; ++d) {
      const AlgorithmInfo* info = find_algorithm(names[d]);
      if (info == nullptr || config_.dimensions[d].size < 2) continue;
      const std::string why = lacking(*info, *op);
      if (why.empty()) continue;
      errors_.add(raw.origin, path,
                  fmt::format("dimension {} ({}): {}", d, print_dimension(config_.dimensions[d]), why));
      break;
    }
    for (size_t d = 0; d < dimensions; ++d) {
      if (names[d] != "in_switch" || config_.dimensions[d].size < 2) continue;
      const std::string why = no_switch(d);
      if (why.empty()) continue;
      errors_.add(raw.origin, fmt::format("{}[{}]", path, d),
                  fmt::format("'in_switch' needs a switch, and {}; write `{}` or another algorithm here", why,
                              kDefaultAlgorithm));
      break;
    }
    for (size_t d = 0; d < dimensions; ++d) {
      const AlgorithmInfo* info = find_algorithm(names[d]);
      if (info == nullptr || !info->whole) continue;
      const auto other =
          std::find_if(names.begin(), names.end(), [&](const std::string& name) { return name != names[d]; });
      if (other == names.end()) continue;
      const auto place = static_cast<size_t>(other - names.begin());
      errors_.add(raw.origin, fmt::format("{}[{}]", path, d),
                  fmt::format("'{}' runs the whole operation over all NPUs, but dimension {} has '{}'; write "
                              "`{}: {}`, or a per-dimension algorithm here",
                              names[d], place, other->empty() ? kDefaultAlgorithm : *other,
                              path.substr(path.rfind('.') + 1), names[d]));
      return std::nullopt;
    }
    return names;
  }

  void resolve_rules() {
    for (size_t i = 0; i < raw_.rules.values.size(); ++i) {
      const RawValues& raw = raw_.rules.values[i];
      const std::string path = fmt::format("{}[{}]", kRulesPath, i);
      CollectiveRule rule;
      rule.origin = fmt::format("{}: key `{}`", raw_.rules.origins[i], path);
      const auto get = [&](const char* name) -> const RawValue* {
        const auto it = raw.find(find_key(std::string(kRulePrefix) + name));
        return it == raw.end() ? nullptr : &it->second;
      };
      for (const auto& [key, written] : raw)
        if (key->type != ValueType::algorithms) key->set(rule, written.value);
      if (const RawValue* v = get("algorithms"))
        if (auto names = algorithm_list(*v, path + ".algorithms", rule.operation))
          rule.algorithms = std::move(*names);
      const bool complete = raw_.rules.broken.count(i) == 0;
      if (complete && get("algorithms") == nullptr && !rule.order && !rule.chunks && !rule.priority)
        errors_.add(raw_.rules.origins[i], path,
                    "sets nothing; add `algorithms`, `order`, `chunks` or `priority`, or remove the rule");
      config_.collectives.rules.push_back(std::move(rule));
    }
  }

  void resolve_fidelity_rules() {
    const RawConfig::Rules& rules = raw_.fidelity_rules;
    if (rules.values.empty()) return;
    if (config_.graph != nullptr) {
      errors_.add(rules.origins[0], kFidelityRulesPath,
                  "the links of a graph have one fidelity; remove the rules, or describe the machine by a "
                  "`notation` of dimensions");
      return;
    }
    for (size_t i = 0; i < rules.values.size(); ++i) {
      const RawValues& raw = rules.values[i];
      const std::string path = fmt::format("{}[{}]", kFidelityRulesPath, i);
      FidelityRule rule;
      rule.origin = fmt::format("{}: key `{}`", rules.origins[i], path);
      const auto get = [&](const char* name) -> const RawValue* {
        const auto it = raw.find(find_key(std::string(kFidelityRulePrefix) + name));
        return it == raw.end() ? nullptr : &it->second;
      };
      for (const auto& [key, written] : raw)
        if (key->type != ValueType::dimensions) key->set(rule, written.value);
      if (rule.point_to_point && !rule.group.empty())
        errors_.add(get("operation")->origin, path + ".operation",
                    "point-to-point messages have no group; remove `group` from the rule");
      if (const RawValue* v = get("to"); v != nullptr && rule.to <= rule.from)
        errors_.add(v->origin, path + ".to",
                    fmt::format("is {}, which is not after `from`, {}; make it later", print_time(rule.to),
                                print_time(rule.from)));
      if (get("fidelity") == nullptr) {
        if (rules.broken.count(i) == 0)
          errors_.add(rules.origins[i], path, "has no `fidelity`; add one of analytical, message, packet");
        continue;
      }
      resolve_dimensions_of(rule, get("dimensions"), path);
      config_.fidelity_rules.push_back(std::move(rule));
    }
  }

  void resolve_dimensions_of(FidelityRule& rule, const RawValue* raw, const std::string& path) {
    const std::vector<DimensionConfig>& dimensions = config_.fabric_dimensions();
    if (raw != nullptr) {
      for (const std::string& number : std::get<std::vector<std::string>>(raw->value)) {
        const auto d = static_cast<uint32_t>(std::stoul(number));
        if (d >= dimensions.size()) {
          errors_.add(raw->origin, path + ".dimensions",
                      fmt::format("there is no dimension {}; `{}` has {}, which count from 0", d,
                                  config_.notation, dimensions.size()));
          return;
        }
        rule.dimensions.push_back(d);
      }
      std::sort(rule.dimensions.begin(), rule.dimensions.end());
      rule.dimensions.erase(std::unique(rule.dimensions.begin(), rule.dimensions.end()),
                            rule.dimensions.end());
    }
  }

  void check_relations() {
    if (config_.npu.roofline && config_.npu.peak_flops == 0 && config_.npu.memory_bandwidth == 0 &&
        raw_.broken.empty()) {
      const RawValue* raw = find("npu.roofline");
      errors_.add(
          raw != nullptr ? raw->origin : end_, "npu.roofline",
          "'true' with neither `npu.peak` nor `npu.memory_bandwidth`; give at least one of them a value");
    }
  }

  const RawConfig& raw_;
  std::string file_;
  std::string end_;  ///< where missing keys are reported
  Errors& errors_;
  std::optional<TreeNotation> tree_;                ///< the notation is one
  std::vector<std::optional<TreeNotation>> trees_;  ///< by dimension, else
  Config config_;
};

}  // namespace

Config resolve(const RawConfig& raw, const std::string& file, Errors& errors) {
  return Resolver(raw, file, errors).resolve();
}

}  // namespace weft::loading
