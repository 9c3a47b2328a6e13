// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The routes of a graph with `routing: table`: from a list of a configuration, or of a file of routes.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "configs/graph_names.h"
#include "configs/graph_reader.h"
#include "configs/key_section.h"
#include "configs/keys.h"

namespace weft {
namespace {

constexpr size_t kMaxRoutes = size_t{1} << 24;

class RouteReader {
 public:
  RouteReader(const std::string& key, GraphSpec& spec, const ReportError& report)
      : key_(key),
        spec_(spec),
        report_(report),
        names_(spec),
        next_hops_(spec.npus + spec.switches.size()),
        neighbours_(next_hops_.size()) {
    for (const GraphLink& link : spec.links) {
      neighbours_[link.from].push_back(link.to);
      if (link.bidirectional) neighbours_[link.to].push_back(link.from);
    }
  }

  bool read(const DocumentNode& list) {
    uint32_t wrong = 0;
    const size_t count = list.items.size();
    for (size_t i = 0; i < count && !stop_after(wrong, list.origin, key_, i, count, report_); ++i) {
      KeySection section(list.items[i], kRoutePrefix, fmt::format("{}[{}]", key_, i), report_);
      read_route(section, list.items[i].origin, fmt::format("{}[{}]", key_, i));
      wrong += section.good() ? 0 : 1;
      if (stated_ > kMaxRoutes) return false;
    }
    return wrong == 0;
  }

 private:
  using Nodes = std::vector<uint32_t>;
  static constexpr uint32_t kNone = ~0u;

  void read_route(KeySection& section, const std::string& origin, const std::string& shown) {
    const Nodes at = nodes(section, shown, "at");
    Nodes to = nodes(section, shown, "to");
    const Nodes via = nodes(section, shown, "via");
    if (section.entry("to") == nullptr) to = {GraphRoute::kAnywhere};
    if (section.good() && via.size() != 1)
      section.error(origin, shown + ".via", "names several nodes; a message has one next node");
    for (size_t t = 0; section.good() && t < to.size(); ++t)
      if (to[t] != GraphRoute::kAnywhere && to[t] >= spec_.npus)
        section.error(origin, shown + ".to",
                      fmt::format("'{}' is a switch; messages go to NPUs", name(to[t])));
    stated_ += section.good() ? at.size() * to.size() : 0;
    if (stated_ > kMaxRoutes)
      return section.error(origin, shown, fmt::format("more than {} routes", kMaxRoutes));
    for (size_t a = 0; section.good() && a < at.size(); ++a) {
      const std::string what = add(at[a], to, via[0]);
      if (!what.empty()) section.error(origin, shown, what);
    }
  }

  Nodes nodes(KeySection& section, const std::string& shown, const char* what) const {
    const DocumentEntry* entry = section.entry(what);
    if (entry == nullptr) return {};
    try {
      return names_.read(entry->value);
    } catch (const UserError& e) {
      section.error(entry->origin, fmt::format("{}.{}", shown, what), e.what());
      return {};
    }
  }

  /// The routes from one node to some destinations. What is wrong; "": nothing.
  std::string add(uint32_t at, const Nodes& to, uint32_t via) {
    const Nodes& near = neighbours_[at];
    if (std::find(near.begin(), near.end(), via) == near.end())
      return fmt::format("there is no link from {} to {}; name a neighbour of {}", name(at), name(via),
                         name(at));
    for (const uint32_t t : to) {
      if (t == at) continue;  // in a range: nothing to route
      uint32_t& next = next_hop(at, t);
      if (next != kNone && next != via)
        return fmt::format("a second next hop at {} {}: {}, after {}; keep one", name(at),
                           t == GraphRoute::kAnywhere ? std::string("for all others") : "for " + name(t),
                           name(via), name(next));
      if (next == kNone) spec_.routes.push_back({at, t, via});
      next = via;
    }
    return "";
  }

  uint32_t& next_hop(uint32_t at, uint32_t to) {
    Nodes& hops = next_hops_[at];
    if (hops.empty()) hops.assign(spec_.npus + size_t{1}, kNone);
    return hops[to == GraphRoute::kAnywhere ? spec_.npus : to];
  }

  std::string name(uint32_t node) const { return node_name(spec_, node); }

  const std::string& key_;
  GraphSpec& spec_;
  const ReportError& report_;
  NodeNames names_;
  std::vector<Nodes> next_hops_;  ///< by node, then by destination: NPUs, then "all others"
  std::vector<Nodes> neighbours_;
  uint64_t stated_ = 0;  ///< routes so far
};

}  // namespace

bool read_routes(const DocumentNode& list, const std::string& key, GraphSpec& spec,
                 const ReportError& report) {
  if (list.kind != DocumentNode::Kind::sequence) {
    report(list.origin, key,
           fmt::format("is {}; allowed: a list of mappings, for example `- {{at: npu0, to: npu1..npu3, via: "
                       "sw0}}`",
                       describe_node(list)));
    return false;
  }
  return RouteReader(key, spec, report).read(list);
}

}  // namespace weft
