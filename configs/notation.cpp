// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/notation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>

namespace weft {
namespace {

struct KindName {
  const char* name;
  DimensionKind kind;
};

constexpr KindName kKindNames[] = {
    {"Ring", DimensionKind::ring},
    {"R", DimensionKind::ring},
    {"FullyConnected", DimensionKind::fully_connected},
    {"FC", DimensionKind::fully_connected},
    {"Switch", DimensionKind::switch_},
    {"SW", DimensionKind::switch_},
    {"Mesh", DimensionKind::mesh},
    {"M", DimensionKind::mesh},
    // Machines of packages: rings inside a package and between packages, and switches that join packages.
    {"Local", DimensionKind::ring},
    {"Horizontal", DimensionKind::ring},
    {"Vertical", DimensionKind::ring},
    {"Global", DimensionKind::switch_},
};

const char* const kAllowed =
    "allowed: Ring(n), FullyConnected(n), Switch(n), Mesh(n) (short: R, FC, SW, M; of packages: Local, "
    "Horizontal, Vertical, Global), FatTree(k=,n=) or Clos(hosts=,leaves=,spines=), joined by `_`, innermost "
    "dimension first, for example `Ring(4)_FullyConnected(8)_Switch(4)`";

[[noreturn]] void fail(std::string_view text, size_t at, const std::string& what) {
  throw UserError(ExitCode::usage, fmt::format("'{}', column {}: {}; {}", text, at + 1, what, kAllowed));
}

const KindName* find_kind(std::string_view word) {
  for (const KindName& k : kKindNames)
    if (same_word(k.name, word)) return &k;
  return nullptr;
}

/// The number at `at` and the bracket behind it, which `at` then points beyond.
uint32_t parse_size(std::string_view text, size_t& at) {
  const size_t size_at = at;
  uint64_t size = 0;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
    size = size * 10 + static_cast<uint64_t>(text[at] - '0');
    if (size > kMaxNpus) fail(text, size_at, fmt::format("the size is larger than {} NPUs", kMaxNpus));
    ++at;
  }
  if (at == size_at) fail(text, at, "a size (a whole number of NPUs) is missing here");
  if (at == text.size() || text[at] != ')') fail(text, at, "')' must follow the size");
  if (size == 0) fail(text, size_at, "the size is 0; a dimension has at least 1 NPU");
  ++at;
  return static_cast<uint32_t>(size);
}

}  // namespace

bool same_word(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (std::tolower(static_cast<unsigned char>(a[i])) != std::tolower(static_cast<unsigned char>(b[i])))
      return false;
  return true;
}

std::vector<NotationDimension> parse_notation(std::string_view text) {
  std::vector<NotationDimension> out;
  if (text.empty()) fail(text, 0, "the notation is empty");
  uint64_t npus = 1;
  size_t at = 0;
  for (;;) {
    const size_t word_at = at;
    while (at < text.size() && std::isalpha(static_cast<unsigned char>(text[at]))) ++at;
    const std::string_view word = text.substr(word_at, at - word_at);
    if (word.empty()) fail(text, word_at, "a dimension's kind is missing here");
    const KindName* kind = find_kind(word);
    const bool tree = is_tree_word(word);
    if (kind == nullptr && !tree) fail(text, word_at, fmt::format("unknown kind '{}'", word));
    if (at == text.size() || text[at] != '(')
      fail(text, at, fmt::format("'(' and {} must follow '{}'", tree ? "its numbers" : "a size", word));
    const size_t size_at = ++at;
    NotationDimension dimension;
    if (tree) {
      at = std::min(text.find(')', at), text.size() - 1) + 1;
      dimension.tree = parse_tree_notation(text.substr(word_at, at - word_at));
      dimension.kind = DimensionKind::switch_;
      dimension.size = dimension.tree->npus();
    } else {
      dimension.kind = kind->kind;
      dimension.size = parse_size(text, at);
    }
    npus *= dimension.size;
    if (npus > kMaxNpus)
      fail(text, size_at, fmt::format("up to here the machine has {} NPUs, more than {}", npus, kMaxNpus));
    out.push_back(dimension);
    if (out.size() > kMaxDimensions)
      fail(text, word_at, fmt::format("more than {} dimensions", kMaxDimensions));
    if (at == text.size()) return out;
    if (text[at] != '_') fail(text, at, "'_' must follow a dimension");
    ++at;
  }
}

std::string print_notation(const std::vector<NotationDimension>& dimensions) {
  std::string out;
  for (const NotationDimension& d : dimensions) {
    out += out.empty() ? "" : "_";
    out += d.tree ? print_tree_notation(*d.tree) : fmt::format("{}({})", to_string(d.kind), d.size);
  }
  return out;
}

std::string notation_pattern(bool trees) {
  const std::string plain =
      R"(([Rr]|[Rr]ing|[Ff][Cc]|[Ff]ully[Cc]onnected|[Ss][Ww]|[Ss]witch|[Mm]|[Mm]esh|[Ll]ocal|[Hh]orizontal|[Vv]ertical|[Gg]lobal)\([0-9]{1,8}\))";
  const std::string dimension = trees ? fmt::format("({}|{})", plain, tree_notation_pattern()) : plain;
  return fmt::format("^{0}(_{0}){{0,{1}}}$", dimension, kMaxDimensions - 1);
}

}  // namespace weft
