// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "configs/graph_names.h"
#include "configs/graph_reader.h"
#include "configs/keys.h"

namespace weft {
namespace {

/// Links that one entry can describe: all their keys have the same values.
class SameKeys {
 public:
  SameKeys() {
    for (const KeySpec& key : keys())
      if (key.is_of<GraphLink>() && key.printed()) keys_.push_back(&key);
  }
  bool operator()(const GraphLink& a, const GraphLink& b) const {
    return std::all_of(keys_.begin(), keys_.end(),
                       [&](const KeySpec* key) { return key->get(a) == key->get(b); });
  }

 private:
  std::vector<const KeySpec*> keys_;
};

void print_links(const GraphSpec& spec, std::string& out) {
  if (spec.links.empty()) return;
  const SameKeys same;
  out += "    links:\n";
  for (size_t i = 0; i < spec.links.size();) {
    // As many links as one entry can describe: the nodes of one end follow each other, or those of both ends.
    const GraphLink& first = spec.links[i];
    std::string ends = fmt::format("from: {}, to: {}", range_text(spec, first.from, first.from),
                                   range_text(spec, first.to, first.to));
    size_t next = i + 1;
    for (const auto& [df, dt] : {std::pair{0u, 1u}, std::pair{1u, 0u}, std::pair{1u, 1u}}) {
      size_t j = i + 1;
      while (j < spec.links.size() && spec.links[j].from == first.from + df * (j - i) &&
             spec.links[j].to == first.to + dt * (j - i) && same(first, spec.links[j]))
        ++j;
      const GraphLink& last = spec.links[j - 1];
      const std::string from = range_text(spec, first.from, last.from);
      const std::string to = range_text(spec, first.to, last.to);
      if (j <= next || from.empty() || to.empty()) continue;
      next = j;
      ends = fmt::format("from: {}, to: {}{}", from, to, df == dt ? ", pattern: one_to_one" : "");
    }
    out += fmt::format("      - {{{}, {}}}\n", ends, print_entry(first, kGraphLinkPrefix));
    i = next;
  }
}

void print_routes(const GraphSpec& spec, std::string& out) {
  if (spec.routes.empty()) return;
  out += "  routes:\n";
  for (size_t i = 0; i < spec.routes.size();) {
    const GraphRoute& first = spec.routes[i];
    size_t j = i + 1;
    while (first.to != GraphRoute::kAnywhere && j < spec.routes.size() && spec.routes[j].at == first.at &&
           spec.routes[j].via == first.via && spec.routes[j].to == first.to + (j - i))
      ++j;
    const std::string to = first.to == GraphRoute::kAnywhere
                               ? ""
                               : fmt::format("to: {}, ", range_text(spec, first.to, spec.routes[j - 1].to));
    out += fmt::format("    - {{at: {}, {}via: {}}}\n", range_text(spec, first.at, first.at), to,
                       range_text(spec, first.via, first.via));
    i = j;
  }
}

}  // namespace

std::string print_graph(const GraphSpec& spec) {
  std::string out = "  graph:\n";
  for (const KeySpec& key : keys()) {
    if (!key.is_of<GraphSpec>()) continue;
    const Value value = key.get(spec);
    if (std::holds_alternative<std::monostate>(value)) continue;
    std::string text = print_value(key, value);
    if (key.type == ValueType::implementation) text = "\"" + spec.implementation + "\"";
    out += fmt::format("    {}: {}\n", key.path.substr(std::string(kGraphPrefix).size()), text);
  }
  print_links(spec, out);
  out += fmt::format("  routing: {}\n", spec.routing);
  print_routes(spec, out);
  return out;
}

}  // namespace weft
