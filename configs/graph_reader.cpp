// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/graph_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "configs/graph_names.h"
#include "configs/key_section.h"
#include "configs/keys.h"
#include "configs/npu_list.h"
#include "configs/units.h"

namespace weft {
namespace {

using Nodes = std::vector<uint32_t>;

[[noreturn]] void fail(const std::string& message) {
  throw UserError(ExitCode::usage, message);
}

std::vector<std::string> read_switches(const DocumentNode& node) {
  std::vector<std::string> out;
  const KeySpec& key = *find_key("topology.graph.switches");
  if (node.kind == DocumentNode::Kind::scalar) {
    const uint64_t count = parse_integer(node.scalar);
    if (count > kMaxGraphNodes)
      fail(fmt::format("'{}' is too large; allowed: {}", node.scalar, allowed_values(key)));
    for (uint64_t i = 0; i < count; ++i) out.push_back(fmt::format("sw{}", i));
    return out;
  }
  if (node.kind != DocumentNode::Kind::sequence)
    fail(fmt::format("is {}; allowed: {}", describe_node(node), allowed_values(key)));
  std::map<std::string, bool> seen;
  for (const DocumentNode& item : node.items) {
    if (item.kind != DocumentNode::Kind::scalar)
      fail(fmt::format("holds {}; allowed: {}", describe_node(item), allowed_values(key)));
    const NameRange range(item.scalar);
    for (uint64_t i = 0; i < range.size(); ++i) {
      const std::string name = range.name(i);
      const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
      const auto word = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
      if (name.empty() || name.size() > 64 || !letter(name[0]) ||
          !std::all_of(name.begin(), name.end(), word))
        fail(fmt::format("'{}' is no name; use letters, digits and `_`, a letter first", name.substr(0, 70)));
      if (is_npu_name(name))
        fail(fmt::format("'{}' is the name of an NPU; call the switch otherwise", shown_name(name)));
      if (!seen.emplace(name, true).second)
        fail(fmt::format("two switches are called '{}'; rename one", name));
      out.push_back(name);
      if (out.size() > kMaxGraphNodes) fail(fmt::format("more than {} switches", kMaxGraphNodes));
    }
  }
  return out;
}

/// Calls f(from, to) for each pair that an entry joins. Errors: fail().
template <typename F>
void join(const Nodes& from, const Nodes& to, bool one_to_one, bool bidirectional, const GraphSpec& spec,
          F&& f) {
  const auto pair = [&](uint32_t a, uint32_t b) {
    if (a == b) fail(fmt::format("joins {} to itself; a link needs two nodes", node_name(spec, a)));
    f(a, b);
  };
  if (one_to_one) {
    if (from.size() != to.size())
      fail(fmt::format("`pattern: one_to_one` with {} nodes in `from` and {} in `to`; give both as many",
                       from.size(), to.size()));
    for (size_t i = 0; i < from.size(); ++i) pair(from[i], to[i]);
    return;
  }
  if (from.size() > 1 && from == to) {  // a group among itself
    for (size_t i = 0; i < from.size(); ++i)
      for (size_t j = bidirectional ? i + 1 : 0; j < from.size(); ++j)
        if (i != j) pair(from[i], from[j]);
    return;
  }
  for (const uint32_t a : from)
    for (const uint32_t b : to) pair(a, b);
}

void read_link(const DocumentNode& node, const std::string& shown, const NodeNames& names, GraphSpec& spec,
               bool& good, const ReportError& report) {
  KeySection section(node, kGraphLinkPrefix, shown, report);
  const auto ends = [&](const char* name) -> Nodes {
    const DocumentEntry* entry = section.entry(name);
    if (entry == nullptr) return {};
    try {
      return names.read(entry->value);
    } catch (const UserError& e) {
      section.error(entry->origin, fmt::format("{}.{}", shown, name), e.what());
      return {};
    }
  };
  const Nodes from = ends("from");
  const Nodes to = ends("to");
  if (section.good()) {
    GraphLink link;
    section.fill(link);
    try {
      join(from, to, section.value<std::string>("pattern") == "one_to_one", link.bidirectional, spec,
           [&](uint32_t a, uint32_t b) {
             if (spec.links.size() >= kMaxGraphLinks) fail(fmt::format("more than {} links", kMaxGraphLinks));
             link.from = a;
             link.to = b;
             spec.links.push_back(link);
           });
    } catch (const UserError& e) {
      section.error(node.origin, shown, e.what());
    }
  }
  good = good && section.good();
}

}  // namespace

bool stop_after(uint32_t wrong, const std::string& origin, const std::string& key, size_t next, size_t count,
                const ReportError& report) {
  constexpr uint32_t kMostWrong = 20;
  if (wrong < kMostWrong) return false;
  report(
      origin, key,
      fmt::format("{} entries are wrong; the other {} are not read: mend these first", wrong, count - next));
  return true;
}

std::optional<GraphSpec> read_graph(const DocumentEntry& entry, const ReportError& report) {
  GraphSpec spec;
  KeySection section(entry.value, kGraphPrefix, kGraphPath, report);
  if (!section.has_value("npus")) return std::nullopt;
  spec.npus = static_cast<uint32_t>(section.value<uint64_t>("npus"));
  if (const DocumentEntry* switches = section.entry("switches")) {
    try {
      spec.switches = read_switches(switches->value);
    } catch (const UserError& e) {
      section.error(switches->origin, "topology.graph.switches", e.what());
      return std::nullopt;
    }
  }
  bool good = true;
  if (const DocumentEntry* links = section.entry("links")) {
    const std::string name = "topology.graph.links";
    if (links->value.kind != DocumentNode::Kind::sequence) {
      section.error(links->origin, name,
                    fmt::format("is {}; allowed: a list of mappings, for example `- {{from: npu0, to: sw0, "
                                "bandwidth: 50 GB/s, latency: 500 ns}}`",
                                describe_node(links->value)));
    } else {
      const NodeNames names(spec);
      const size_t count = links->value.items.size();
      uint32_t wrong = 0;
      for (size_t i = 0; i < count && !stop_after(wrong, links->origin, name, i, count, report); ++i) {
        bool right = true;
        read_link(links->value.items[i], fmt::format("{}[{}]", name, i), names, spec, right, report);
        wrong += right ? 0 : 1;
      }
      good = wrong == 0;
    }
  }
  if (!good || !section.good()) return std::nullopt;
  section.fill(spec);
  return spec;
}

std::optional<std::vector<uint32_t>> read_mapping(const DocumentEntry& entry, uint32_t npus,
                                                  const ReportError& report) {
  const std::string key = "topology.mapping";
  const auto bad = [&](const std::string& what) {
    report(entry.origin, key, what);
    return std::nullopt;
  };
  const std::string allowed =
      fmt::format("allowed: a list of all NPUs from 0 to {}, the first one that of rank 0", npus - 1);
  if (entry.value.kind != DocumentNode::Kind::sequence)
    return bad(fmt::format("is {}; {}", describe_node(entry.value), allowed));
  std::vector<std::string> items;
  for (const DocumentNode& item : entry.value.items) {
    if (item.kind != DocumentNode::Kind::scalar)
      return bad(fmt::format("holds {}; {}", describe_node(item), allowed));
    items.push_back(item.scalar);
  }
  std::vector<uint32_t> mapping;
  try {
    mapping = expand_npus(items, npus);
  } catch (const UserError& e) {
    return bad(fmt::format("{}; {}", e.what(), allowed));
  }
  if (mapping.size() != npus) {
    std::vector<bool> taken(npus, false);
    for (const uint32_t npu : mapping) taken[npu] = true;
    const auto missing = std::find(taken.begin(), taken.end(), false) - taken.begin();
    return bad(fmt::format("has {} entries for {} ranks: rank {} has no NPU, and NPU {} no rank; {}",
                           mapping.size(), npus, mapping.size(), missing, allowed));
  }
  return mapping;
}

}  // namespace weft
