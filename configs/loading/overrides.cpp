// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/loading/overrides.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "configs/document.h"
#include "configs/keys.h"
#include "configs/loading/errors.h"
#include "configs/tree_notation.h"
#include "configs/units.h"

namespace weft::loading {
namespace {

/// One step of a path: a key, and optionally an index into the list it holds.
struct Step {
  std::string key;
  enum class Index { none, one, all } kind = Index::none;
  size_t index = 0;
};

std::vector<Step> parse_path(const Override& o) {
  std::vector<Step> steps;
  const auto bad = [&o](const std::string& what) {
    fail(fmt::format("{}: key `{}`: {}; write for example `npu.peak` or `topology.dimensions[0].latency`",
                     o.origin, o.path, what));
  };
  std::istringstream parts(o.path);
  std::string part;
  if (o.path.empty() || o.path.back() == '.') bad("a word is missing");
  while (std::getline(parts, part, '.')) {
    Step step;
    const size_t bracket = part.find('[');
    step.key = part.substr(0, bracket);
    if (step.key.empty()) bad("a word is missing");
    if (bracket != std::string::npos) {
      if (part.back() != ']') bad("`]` is missing");
      const std::string inside = part.substr(bracket + 1, part.size() - bracket - 2);
      if (inside == "*") {
        step.kind = Step::Index::all;
      } else if (!inside.empty() && inside.size() <= 6 &&
                 std::all_of(inside.begin(), inside.end(), [](char c) { return c >= '0' && c <= '9'; })) {
        step.kind = Step::Index::one;
        step.index = std::stoul(inside);
      } else {
        bad(fmt::format("'{}' is no index", inside));
      }
    }
    steps.push_back(step);
  }
  return steps;
}

/// The path of the table for a path of steps: indices become [].
std::string table_path(const std::vector<Step>& steps) {
  std::string out;
  for (const Step& s : steps) {
    out += (out.empty() ? "" : ".") + s.key;
    if (s.kind != Step::Index::none) out += "[]";
  }
  return out;
}

DocumentNode& child(DocumentNode& map, const std::string& key, const std::string& origin) {
  if (DocumentNode* found = map.find(key)) return *found;
  map.entries.push_back({key, origin, {}});
  map.entries.back().value.origin = origin;
  return map.entries.back().value;
}

/// How many dimensions the notation in the tree has; nothing when it has none or is wrong (reported later).
std::optional<size_t> dimensions_of(const DocumentNode& root) {
  const DocumentNode* topology = root.find("topology");
  const DocumentNode* notation = topology != nullptr ? topology->find("notation") : nullptr;
  if (notation == nullptr || notation->kind != DocumentNode::Kind::scalar) return std::nullopt;
  try {
    return link_entries(notation->scalar);
  } catch (const UserError&) {
    return std::nullopt;
  }
}

void remove(DocumentNode& map, const std::string& key) {
  map.entries.erase(std::remove_if(map.entries.begin(), map.entries.end(),
                                   [&](const DocumentEntry& e) { return e.key == key; }),
                    map.entries.end());
}

void set_at(DocumentNode& node, const std::vector<Step>& steps, size_t at, const DocumentNode& value,
            const Override& o, std::optional<size_t> dimensions) {
  const auto bad = [&o](const std::string& what) {
    fail(fmt::format("{}: key `{}`: {}", o.origin, o.path, what));
  };
  if (node.kind == DocumentNode::Kind::null) node.kind = DocumentNode::Kind::map;
  if (node.kind == DocumentNode::Kind::sequence)
    bad(fmt::format("`{0}` is a list; write `{0}[0]` for its first entry or `{0}[*]` for all",
                    steps[at - 1].key));
  if (node.kind != DocumentNode::Kind::map)
    bad(fmt::format("`{}` cannot be set inside {}; set the whole key instead", steps[at].key,
                    describe_node(node)));
  const Step& step = steps[at];
  const bool last = at + 1 == steps.size();
  DocumentNode& target = child(node, step.key, o.origin);
  if (step.kind == Step::Index::none) {
    if (!last) return set_at(target, steps, at + 1, value, o, dimensions);
    target = value;
    for (DocumentEntry& e : node.entries)
      if (e.key == step.key) e.origin = o.origin;
    if (step.key == "bandwidth" && at > 0 && steps[at - 1].key == "dimensions")
      remove(node, "bandwidth_per_npu");
    if (step.key == "bandwidth_per_npu") remove(node, "bandwidth");
    return;
  }
  if (target.kind == DocumentNode::Kind::null) target.kind = DocumentNode::Kind::sequence;
  if (target.kind != DocumentNode::Kind::sequence)
    bad(fmt::format("`{}` is {}, not a list, so it has no `[]`; set the whole key instead", step.key,
                    describe_node(target)));
  std::vector<size_t> which;
  if (step.kind == Step::Index::all) {
    for (size_t i = 0; i < target.items.size(); ++i) which.push_back(i);
    if (which.empty()) bad(fmt::format("the list `{}` is empty; give it entries first", step.key));
  } else {
    // An index means a dimension, also where one entry stands for all of them.
    if (step.key == "dimensions" && target.items.size() == 1 && dimensions && *dimensions > 1)
      target.items.resize(*dimensions, DocumentNode(target.items.front()));
    if (step.index > target.items.size() || (step.index == target.items.size() && !target.items.empty()))
      bad(fmt::format("index {} is beyond the list's {} entries; allowed: 0 to {}", step.index,
                      target.items.size(), target.items.empty() ? 0 : target.items.size() - 1));
    if (target.items.empty()) {
      target.items.emplace_back();
      target.items.back().origin = o.origin;
    }
    which.push_back(step.index);
  }
  for (size_t i : which) {
    if (last)
      target.items[i] = value;
    else
      set_at(target.items[i], steps, at + 1, value, o, dimensions);
  }
}

}  // namespace

void apply_override(DocumentNode& root, const Override& o) {
  const std::vector<Step> steps = parse_path(o);
  // Texts are taken as they are: `*` and `[` are no YAML in a glob or a path.
  const KeySpec* key = find_key(table_path(steps));
  DocumentNode value;
  if (key != nullptr && (key->type == ValueType::text || key->type == ValueType::path)) {
    value.kind = DocumentNode::Kind::scalar;
    value.scalar = o.value;
    value.origin = o.origin;
  } else {
    value = read_value(o.value, o.origin);
  }
  set_at(root, steps, 0, value, o, dimensions_of(root));
}

}  // namespace weft::loading
