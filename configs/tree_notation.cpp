// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/tree_notation.h"

#include <fmt/format.h>

#include <array>
#include <cctype>

#include "configs/notation.h"

namespace weft {
namespace {

struct Form {
  TreeNotation::Kind kind;
  std::string_view word, short_word;
  std::array<std::string_view, 3> names;
  size_t count;
  const char* example;
};

constexpr Form kForms[] = {
    {TreeNotation::Kind::fat_tree, "FatTree", "FT", {"k", "n", ""}, 2, "FatTree(k=4,n=3)"},
    {TreeNotation::Kind::clos,
     "Clos",
     "Clos",
     {"hosts", "leaves", "spines"},
     3,
     "Clos(hosts=8,leaves=4,spines=2)"},
};

constexpr uint64_t kMaxTreeNumber = 99999999;  // what tree_notation_pattern() takes

const Form* form_of(std::string_view text) {
  const std::string_view word = text.substr(0, text.find('('));
  for (const Form& form : kForms)
    if (same_word(word, form.word) || same_word(word, form.short_word)) return &form;
  return nullptr;
}

[[noreturn]] void fail(std::string_view text, const Form& form, const std::string& what) {
  throw UserError(ExitCode::usage, fmt::format("'{}': {}; write it like `{}`", text, what, form.example));
}

uint64_t power(uint64_t base, uint32_t exponent, uint64_t most) {
  uint64_t value = 1;
  for (uint32_t i = 0; i < exponent; ++i) {
    value *= base;
    if (value > most) return most + 1;
  }
  return value;
}

std::string level_name(uint32_t level, uint32_t position) {
  return level == 0 ? fmt::format("leaf{}", position) : fmt::format("level{}_{}", level, position);
}

}  // namespace

uint32_t TreeNotation::npus() const {
  return kind == Kind::clos ? hosts * leaves : static_cast<uint32_t>(power(k, n, kMaxNpus));
}

bool is_tree_notation(std::string_view text) {
  return form_of(text) != nullptr && text.find('_') == std::string_view::npos;
}

bool is_tree_word(std::string_view word) {
  return form_of(word) != nullptr;
}

TreeNotation parse_tree_notation(std::string_view text, uint64_t most_nodes) {
  const Form* const form = form_of(text);
  if (form == nullptr)
    throw UserError(ExitCode::usage, fmt::format("'{}' is no tree; write `{}` or `{}`", text,
                                                 kForms[0].example, kForms[1].example));
  std::string plain;
  for (const char c : text)
    if (std::isspace(static_cast<unsigned char>(c)) == 0) plain += c;
  const size_t open = plain.find('(');
  if (open == std::string::npos || plain.find(')') != plain.size() - 1)
    fail(text, *form, "its numbers stand in one pair of brackets at the end");
  std::string_view left = std::string_view(plain).substr(open + 1, plain.size() - open - 2);
  std::array<uint32_t, 3> values{};
  for (size_t i = 0; i < form->count; ++i) {
    std::string_view one = left.substr(0, left.find(','));
    left.remove_prefix(std::min(left.size(), one.size() + 1));
    size_t place = i;
    if (const size_t sign = one.find('='); sign != std::string_view::npos) {
      const std::string_view name = one.substr(0, sign);
      for (place = 0; place < form->count; ++place)
        if (same_word(name, form->names[place])) break;
      if (place == form->count) fail(text, *form, fmt::format("unknown name '{}'", name));
      one.remove_prefix(sign + 1);
    }
    uint64_t value = 0;
    bool good = !one.empty();
    for (const char c : one) {
      good = good && c >= '0' && c <= '9';
      // It stays above every limit once it is.
      if (good && value <= kMaxTreeNumber) value = value * 10 + static_cast<uint64_t>(c - '0');
    }
    if (!good) fail(text, *form, fmt::format("'{}' is not a number for `{}`", one, form->names[place]));
    if (value > kMaxTreeNumber)
      fail(text, *form,
           fmt::format("`{}` is {}, more than the {} that are possible", form->names[place], one,
                       kMaxTreeNumber));
    if (value == 0) fail(text, *form, fmt::format("`{}` is 0", form->names[place]));
    if (values[place] != 0) fail(text, *form, fmt::format("`{}` is given twice", form->names[place]));
    values[place] = static_cast<uint32_t>(value);
  }
  if (!left.empty()) fail(text, *form, fmt::format("'{}' is left over", left));
  TreeNotation tree;
  tree.kind = form->kind;
  uint64_t nodes = 0;
  if (form->kind == TreeNotation::Kind::fat_tree) {
    tree.k = values[0];
    tree.n = values[1];
    if (tree.k < 2) fail(text, *form, "`k` is less than 2");
    const uint64_t npus = power(tree.k, tree.n, most_nodes);
    nodes = npus + (npus > most_nodes ? 0 : tree.n * (npus / tree.k));
  } else {
    tree.hosts = values[0];
    tree.leaves = values[1];
    tree.spines = values[2];
    nodes = uint64_t{tree.hosts} * tree.leaves + tree.leaves + tree.spines;
    if (tree.spines + uint64_t{tree.hosts} > kMaxSwitchPorts || tree.leaves > kMaxSwitchPorts)
      fail(text, *form, fmt::format("a switch has more than {} ports", kMaxSwitchPorts));
  }
  if (nodes > most_nodes) fail(text, *form, fmt::format("it has more than {} NPUs and switches", most_nodes));
  return tree;
}

size_t link_entries(std::string_view notation) {
  return is_tree_notation(notation) ? parse_tree_notation(notation).levels()
                                    : parse_notation(notation).size();
}

std::string print_tree_notation(const TreeNotation& tree) {
  return tree.kind == TreeNotation::Kind::clos
             ? fmt::format("Clos(hosts={},leaves={},spines={})", tree.hosts, tree.leaves, tree.spines)
             : fmt::format("FatTree(k={},n={})", tree.k, tree.n);
}

GraphSpec tree_graph(const TreeNotation& tree, const std::vector<DimensionConfig>& levels) {
  GraphSpec spec;
  spec.npus = tree.npus();
  spec.fidelity = levels.front().fidelity;
  spec.switching = levels.front().switching;
  spec.implementation = levels.front().implementation;
  spec.npus_forward = false;
  spec.routing = "ecmp";
  const auto join = [&](uint32_t from, uint32_t to, uint32_t level) {
    GraphLink link;
    link.from = from;
    link.to = to;
    link.bandwidth = levels[level].bandwidth;
    link.latency = levels[level].latency;
    link.count = levels[level].links_per_npu;
    link.credit_latency = levels[level].credit_latency;
    link.flit_error_rate = levels[level].flit_error_rate;
    link.replay = levels[level].replay;
    spec.links.push_back(link);
  };
  const uint32_t first = spec.npus;  // of the switches
  if (tree.kind == TreeNotation::Kind::clos) {
    for (uint32_t i = 0; i < tree.leaves; ++i) spec.switches.push_back(fmt::format("leaf{}", i));
    for (uint32_t i = 0; i < tree.spines; ++i) spec.switches.push_back(fmt::format("spine{}", i));
    for (uint32_t npu = 0; npu < spec.npus; ++npu) join(npu, first + npu / tree.hosts, 0);
    for (uint32_t leaf = 0; leaf < tree.leaves; ++leaf)
      for (uint32_t spine = 0; spine < tree.spines; ++spine)
        join(first + leaf, first + tree.leaves + spine, 1);
    return spec;
  }
  const uint32_t k = tree.k;
  const uint32_t width = spec.npus / k;  // switches a level
  for (uint32_t level = 0; level < tree.n; ++level)
    for (uint32_t i = 0; i < width; ++i) spec.switches.push_back(level_name(level, i));
  for (uint32_t npu = 0; npu < spec.npus; ++npu) join(npu, first + npu / k, 0);
  // A switch's position has n - 1 digits of base k. Between level l and l + 1 those switches are joined whose
  // positions differ at most in digit l.
  uint32_t step = 1;
  for (uint32_t level = 0; level + 1 < tree.n; ++level) {
    for (uint32_t i = 0; i < width; ++i) {
      const uint32_t base = i - i / step % k * step;
      for (uint32_t j = 0; j < k; ++j)
        join(first + level * width + i, first + (level + 1) * width + base + j * step, level + 1);
    }
    step *= k;
  }
  return spec;
}

std::string tree_notation_pattern() {
  return R"(([Ff][Tt]|[Ff]at[Tt]ree)\( *([Kk] *= *)?[0-9]{1,8} *, *([Nn] *= *)?[0-9]{1,8} *\)|)"
         R"([Cc]los\( *([a-z]+ *= *)?[0-9]{1,8}( *, *([a-z]+ *= *)?[0-9]{1,8}){2} *\))";
}

}  // namespace weft
