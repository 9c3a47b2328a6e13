// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/graph_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "configs/keys.h"
#include "configs/npu_list.h"
#include "configs/units.h"

namespace weft {
namespace {

using Nodes = std::vector<uint32_t>;

[[noreturn]] void fail(const std::string& message) {
  throw UserError(ExitCode::usage, message);
}

/// For messages: the beginning of a long one.
std::string shown_name(const std::string& name) {
  return name.size() > 60 ? name.substr(0, 60) + "..." : name;
}

/// A name that ends in a number, for ranges. No number: `digits` is empty.
struct Numbered {
  std::string prefix;
  std::string digits;
  uint64_t number = 0;
};

Numbered numbered(const std::string& name) {
  size_t at = name.size();
  while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9') --at;
  Numbered out{name.substr(0, at), name.substr(at), 0};
  if (out.digits.size() > 9) fail(fmt::format("'{}' has a number that is too long", shown_name(name)));
  if (!out.digits.empty()) out.number = std::stoull(out.digits);
  return out;
}

/// The nodes of `a..b`, or of one name. Names are made one at a time: a range of 8,192 names in a file of a
/// few bytes must not cost more than the nodes that exist.
class NameRange {
 public:
  /// Errors: fail().
  explicit NameRange(const std::string& text) : name_(text) {
    const size_t dots = text.find("..");
    if (dots == std::string::npos) return;
    const Numbered first = numbered(text.substr(0, dots));
    const Numbered last = numbered(text.substr(dots + 2));
    const bool leading_zero = (first.digits.size() > 1 && first.digits[0] == '0') ||
                              (last.digits.size() > 1 && last.digits[0] == '0');
    if (first.digits.empty() || last.digits.empty() || leading_zero || first.prefix != last.prefix)
      fail(fmt::format("'{}' is no range; write the same word with two numbers, for example `npu0..npu3`",
                       shown_name(text)));
    if (first.number > last.number) fail(fmt::format("the range '{}' runs backwards", shown_name(text)));
    if (last.number - first.number >= kMaxGraphNodes)
      fail(fmt::format("the range '{}' has more than {} nodes", shown_name(text), kMaxGraphNodes));
    name_ = first.prefix;
    first_ = first.number;
    size_ = last.number - first.number + 1;
    numbered_ = true;
  }
  uint64_t size() const { return size_; }
  std::string name(uint64_t i) const { return numbered_ ? fmt::format("{}{}", name_, first_ + i) : name_; }

 private:
  std::string name_;  ///< of a range: without the number
  uint64_t first_ = 0;
  uint64_t size_ = 1;
  bool numbered_ = false;
};

bool is_npu_name(const std::string& name) {
  return name.size() > 3 && name.compare(0, 3, "npu") == 0 &&
         std::all_of(name.begin() + 3, name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// The keys of one mapping, checked against the rows of the table with `prefix`.
class Section {
 public:
  Section(const DocumentNode& map, std::string prefix, std::string shown, const ReportError& report)
      : prefix_(std::move(prefix)), shown_(std::move(shown)), report_(report), origin_(map.origin) {
    if (map.kind != DocumentNode::Kind::map) {
      error(map.origin, shown_,
            fmt::format("is {}; allowed: a mapping of {}", describe_node(map), children()));
      return;
    }
    for (const DocumentEntry& entry : map.entries) {
      const std::string name = shown_ + "." + entry.key;
      if (!seen_.emplace(entry.key, &entry).second) {
        error(entry.origin, name,
              fmt::format("written twice, first at {}; remove one of them", seen_[entry.key]->origin));
        continue;
      }
      const KeySpec* key =
          entry.key.find_first_of(".[]") == std::string::npos ? find_key(prefix_ + entry.key) : nullptr;
      const bool list = find_section(prefix_ + entry.key + "[]") != nullptr;
      if (key == nullptr && !list) {
        const std::string near = nearest_name(entry.key, names());
        error(entry.origin, name,
              fmt::format("unknown key '{}'{}; allowed here: {}", entry.key,
                          near.empty() ? "" : fmt::format(" (did you mean `{}`?)", near), children()));
        misspelt_.push_back(near);
        continue;
      }
      if (list || key->type == ValueType::nodes || key->type == ValueType::switches) {
        nodes_.emplace(entry.key, &entry);
        continue;
      }
      try {
        if (entry.value.kind != DocumentNode::Kind::scalar)
          fail(fmt::format("is {}; allowed: {}", describe_node(entry.value), allowed_values(*key)));
        values_[entry.key] = parse_value(*key, entry.value.scalar);
      } catch (const UserError& e) {
        error(entry.origin, name, e.what());
      }
    }
    for (const KeySpec& key : keys()) {
      const std::string name = own_name(key);
      if (name.empty() || seen_.count(name) != 0) continue;
      if (key.required) {
        if (std::find(misspelt_.begin(), misspelt_.end(), name) == misspelt_.end())
          error(origin_, shown_ + "." + name, fmt::format("missing; add it: {}", allowed_values(key)));
      } else if (!key.optional && key.type != ValueType::switches) {
        values_[name] = parse_value(key, key.fallback);
      }
    }
  }

  bool good() const { return good_; }
  void error(const std::string& origin, const std::string& key, const std::string& what) {
    good_ = false;
    report_(origin, key, what);
  }
  template <typename T>
  T value(const char* name) const {
    return std::get<T>(values_.at(name));
  }
  bool has_value(const char* name) const { return values_.count(name) != 0; }
  /// Sets the fields of an object that the section's keys name.
  template <typename Object>
  void fill(Object& object) const {
    for (const auto& [name, value] : values_)
      if (const KeySpec& key = *find_key(prefix_ + name); key.is_of<Object>()) key.set(object, value);
  }
  /// An entry that is no scalar of the table, or nullptr.
  const DocumentEntry* entry(const char* name) const {
    const auto it = nodes_.find(name);
    return it == nodes_.end() ? nullptr : it->second;
  }
  const std::string& shown() const { return shown_; }

 private:
  /// The name of a key directly in this mapping; "" of any other.
  std::string own_name(const KeySpec& key) const {
    if (key.path.compare(0, prefix_.size(), prefix_) != 0) return "";
    const std::string name = key.path.substr(prefix_.size());
    return name.find_first_of(".[") == std::string::npos ? name : "";
  }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const KeySpec& key : keys()) {
      if (key.path.compare(0, prefix_.size(), prefix_) != 0) continue;
      const std::string rest = key.path.substr(prefix_.size());
      const std::string name = rest.substr(0, rest.find_first_of(".["));
      if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
    }
    return out;
  }
  std::string children() const { return fmt::format("{}", fmt::join(names(), ", ")); }

  std::string prefix_;
  std::string shown_;
  const ReportError& report_;
  std::string origin_;
  bool good_ = true;
  std::map<std::string, const DocumentEntry*> seen_;
  std::map<std::string, const DocumentEntry*> nodes_;
  std::map<std::string, Value> values_;
  std::vector<std::string> misspelt_;
};

/// Names of nodes to numbers.
class NodeNames {
 public:
  explicit NodeNames(const GraphSpec& spec) : npus_(spec.npus) {
    for (uint32_t s = 0; s < spec.switches.size(); ++s) switches_[spec.switches[s]] = npus_ + s;
  }

  /// A node, a range or a list of them. Errors: fail().
  Nodes read(const DocumentNode& node) const {
    Nodes out;
    if (node.kind == DocumentNode::Kind::sequence) {
      for (const DocumentNode& item : node.items) {
        if (item.kind != DocumentNode::Kind::scalar)
          fail(fmt::format("holds {}; {}", describe_node(item), kWant));
        add(item.scalar, out);
      }
    } else if (node.kind == DocumentNode::Kind::scalar) {
      add(node.scalar, out);
    } else {
      fail(fmt::format("is {}; {}", describe_node(node), kWant));
    }
    if (out.empty()) fail(fmt::format("is an empty list; {}", kWant));
    Nodes sorted = out;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
      fail("names a node twice; name it once");
    return out;
  }

 private:
  static constexpr const char* kWant = "allowed: a node (`npu3`), a range (`npu0..npu3`) or a list of them";

  void add(const std::string& text, Nodes& out) const {
    const NameRange range(text);
    for (uint64_t i = 0; i < range.size(); ++i) out.push_back(find(range.name(i)));
  }
  uint32_t find(const std::string& name) const {
    if (is_npu_name(name)) {
      const Numbered n = numbered(name);
      if (n.number < npus_ && fmt::format("npu{}", n.number) == name) return static_cast<uint32_t>(n.number);
      fail(fmt::format("unknown node '{}'; the NPUs are npu0 to npu{}", shown_name(name), npus_ - 1));
    }
    const auto it = switches_.find(name);
    if (it != switches_.end()) return it->second;
    std::vector<std::string> names;
    for (const auto& s : switches_)
      if (names.size() < 1000) names.push_back(s.first);
    const std::string near = nearest_name(name, names);
    fail(fmt::format("unknown node '{}'{}; nodes are npu0 to npu{}{}", shown_name(name),
                     near.empty() ? "" : fmt::format(" (did you mean `{}`?)", near), npus_ - 1,
                     switches_.empty() ? ", and no switches are declared" : " and the names in `switches`"));
  }

  uint32_t npus_;
  std::map<std::string, uint32_t> switches_;
};

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
  const auto name = [&spec](uint32_t n) {
    return n < spec.npus ? fmt::format("npu{}", n) : spec.switches[n - spec.npus];
  };
  const auto pair = [&](uint32_t a, uint32_t b) {
    if (a == b) fail(fmt::format("joins {} to itself; a link needs two nodes", name(a)));
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
  Section section(node, kGraphLinkPrefix, shown, report);
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

/// Entry `next` of `count` is not read any more when so many before it are wrong: each can cost as much as
/// the graph is large.
bool stop_after(uint32_t wrong, const std::string& origin, const std::string& key, size_t next, size_t count,
                const ReportError& report) {
  constexpr uint32_t kMostWrong = 20;
  if (wrong < kMostWrong) return false;
  report(
      origin, key,
      fmt::format("{} entries are wrong; the other {} are not read: mend these first", wrong, count - next));
  return true;
}

/// Consecutive nodes as a range or a single name; "" when their names make no range.
std::string range_text(const GraphSpec& spec, uint32_t first, uint32_t last) {
  const auto name = [&spec](uint32_t n) {
    return n < spec.npus ? fmt::format("npu{}", n) : spec.switches[n - spec.npus];
  };
  if (first == last) return name(first);
  const std::string text = name(first) + ".." + name(last);
  try {
    const NameRange range(text);
    if (range.size() != last - first + 1) return "";
    for (uint32_t i = 0; i < range.size(); ++i)
      if (range.name(i) != name(first + i)) return "";
  } catch (const UserError&) {
    return "";
  }
  return text;
}

bool same_kind(const GraphLink& a, const GraphLink& b) {
  return a.bandwidth.bytes_per_second == b.bandwidth.bytes_per_second &&
         a.bandwidth.divisor == b.bandwidth.divisor && a.latency == b.latency && a.count == b.count &&
         a.bidirectional == b.bidirectional && a.credit_latency == b.credit_latency &&
         a.flit_error_rate == b.flit_error_rate && a.replay == b.replay;
}

}  // namespace

std::optional<GraphSpec> read_graph(const DocumentEntry& entry, const ReportError& report) {
  GraphSpec spec;
  Section section(entry.value, kGraphPrefix, kGraphPath, report);
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

bool read_routes(const DocumentNode& list, const std::string& key, GraphSpec& spec,
                 const ReportError& report) {
  if (list.kind != DocumentNode::Kind::sequence) {
    report(list.origin, key,
           fmt::format("is {}; allowed: a list of mappings, for example `- {{at: npu0, to: npu1..npu3, via: "
                       "sw0}}`",
                       describe_node(list)));
    return false;
  }
  constexpr size_t kMaxRoutes = size_t{1} << 24;
  const NodeNames names(spec);
  constexpr uint32_t kNone = ~0u;
  std::vector<std::vector<uint32_t>> known(spec.npus +
                                           spec.switches.size());  // by node, then NPU: the next hop
  const auto next_hop = [&](uint32_t at, uint32_t to) -> uint32_t& {
    if (known[at].empty()) known[at].assign(spec.npus + size_t{1}, kNone);
    return known[at][to == GraphRoute::kAnywhere ? spec.npus : to];
  };
  uint64_t stated = 0;
  std::vector<std::vector<uint32_t>> neighbours(spec.npus + spec.switches.size());
  for (const GraphLink& link : spec.links) {
    neighbours[link.from].push_back(link.to);
    if (link.bidirectional) neighbours[link.to].push_back(link.from);
  }
  const auto name = [&spec](uint32_t n) { return range_text(spec, n, n); };
  uint32_t wrong = 0;
  const size_t count = list.items.size();
  for (size_t i = 0; i < count && !stop_after(wrong, list.origin, key, i, count, report); ++i) {
    const DocumentNode& node = list.items[i];
    const std::string shown = fmt::format("{}[{}]", key, i);
    Section section(node, kRoutePrefix, shown, report);
    const auto read = [&](const char* what) -> Nodes {
      const DocumentEntry* entry = section.entry(what);
      if (entry == nullptr) return {};
      try {
        return names.read(entry->value);
      } catch (const UserError& e) {
        section.error(entry->origin, fmt::format("{}.{}", shown, what), e.what());
        return {};
      }
    };
    const Nodes at = read("at");
    Nodes to = read("to");
    const Nodes via = read("via");
    if (section.entry("to") == nullptr) to = {GraphRoute::kAnywhere};
    if (section.good() && via.size() != 1)
      section.error(node.origin, shown + ".via", "names several nodes; a message has one next node");
    for (size_t t = 0; section.good() && t < to.size(); ++t)
      if (to[t] != GraphRoute::kAnywhere && to[t] >= spec.npus)
        section.error(node.origin, shown + ".to",
                      fmt::format("'{}' is a switch; messages go to NPUs", name(to[t])));
    stated += section.good() ? at.size() * to.size() : 0;
    if (stated > kMaxRoutes) {
      section.error(node.origin, shown, fmt::format("more than {} routes", kMaxRoutes));
      return false;
    }
    for (size_t a = 0; section.good() && a < at.size(); ++a) {
      const auto& near = neighbours[at[a]];
      if (std::find(near.begin(), near.end(), via[0]) == near.end()) {
        section.error(node.origin, shown,
                      fmt::format("there is no link from {} to {}; name a neighbour of {}", name(at[a]),
                                  name(via[0]), name(at[a])));
        break;
      }
      for (const uint32_t t : to) {
        if (t == at[a]) continue;  // in a range: nothing to route
        uint32_t& next = next_hop(at[a], t);
        if (next != kNone && next != via[0]) {
          section.error(
              node.origin, shown,
              fmt::format("a second next hop at {} {}: {}, after {}; keep one", name(at[a]),
                          t == GraphRoute::kAnywhere ? std::string("for all others") : "for " + name(t),
                          name(via[0]), name(next)));
          break;
        }
        if (next == kNone) spec.routes.push_back({at[a], t, via[0]});
        next = via[0];
      }
    }
    wrong += section.good() ? 0 : 1;
  }
  return wrong == 0;
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
    uint32_t missing = 0;
    while (std::find(mapping.begin(), mapping.end(), missing) != mapping.end()) ++missing;
    return bad(fmt::format("has {} entries for {} ranks: rank {} has no NPU, and NPU {} no rank; {}",
                           mapping.size(), npus, mapping.size(), missing, allowed));
  }
  return mapping;
}

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
  if (!spec.links.empty()) out += "    links:\n";
  for (size_t i = 0; i < spec.links.size();) {
    // As many links as one entry can say: one end runs on, or both do.
    const GraphLink& first = spec.links[i];
    std::string ends = fmt::format("from: {}, to: {}", range_text(spec, first.from, first.from),
                                   range_text(spec, first.to, first.to));
    size_t next = i + 1;
    for (const auto& [df, dt] : {std::pair{0u, 1u}, std::pair{1u, 0u}, std::pair{1u, 1u}}) {
      size_t j = i + 1;
      while (j < spec.links.size() && same_kind(first, spec.links[j]) &&
             spec.links[j].from == first.from + df * (j - i) && spec.links[j].to == first.to + dt * (j - i))
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
  out += fmt::format("  routing: {}\n", spec.routing);
  if (spec.routes.empty()) return out;
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
  return out;
}

}  // namespace weft
