// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/graph_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "configs/keys.h"

namespace weft {
namespace {

constexpr const char* kWant = "allowed: a node (`npu3`), a range (`npu0..npu3`) or a list of them";

[[noreturn]] void fail(const std::string& message) {
  throw UserError(ExitCode::usage, message);
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

}  // namespace

std::string shown_name(const std::string& name) {
  return name.size() > 60 ? name.substr(0, 60) + "..." : name;
}

bool is_npu_name(const std::string& name) {
  return name.size() > 3 && name.compare(0, 3, "npu") == 0 &&
         std::all_of(name.begin() + 3, name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string node_name(const GraphSpec& spec, uint32_t node) {
  return node < spec.npus ? fmt::format("npu{}", node) : spec.switches[node - spec.npus];
}

std::string range_text(const GraphSpec& spec, uint32_t first, uint32_t last) {
  if (first == last) return node_name(spec, first);
  const std::string text = node_name(spec, first) + ".." + node_name(spec, last);
  try {
    const NameRange range(text);
    if (range.size() != last - first + 1) return "";
    for (uint32_t i = 0; i < range.size(); ++i)
      if (range.name(i) != node_name(spec, first + i)) return "";
  } catch (const UserError&) {
    return "";
  }
  return text;
}

NameRange::NameRange(const std::string& text) : name_(text) {
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

std::string NameRange::name(uint64_t i) const {
  return numbered_ ? fmt::format("{}{}", name_, first_ + i) : name_;
}

NodeNames::NodeNames(const GraphSpec& spec) : npus_(spec.npus) {
  for (uint32_t s = 0; s < spec.switches.size(); ++s) switches_[spec.switches[s]] = npus_ + s;
}

std::vector<uint32_t> NodeNames::read(const DocumentNode& node) const {
  std::vector<uint32_t> out;
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
  std::vector<uint32_t> sorted = out;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    fail("names a node twice; name it once");
  return out;
}

void NodeNames::add(const std::string& text, std::vector<uint32_t>& out) const {
  const NameRange range(text);
  for (uint64_t i = 0; i < range.size(); ++i) out.push_back(find(range.name(i)));
}

uint32_t NodeNames::find(const std::string& name) const {
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

}  // namespace weft
