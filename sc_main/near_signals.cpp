// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/near_signals.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "vcd/glob.h"

namespace weft::cli {
namespace {

constexpr size_t kShown = 5;

/// In lower case, with one # for every number and every set of characters; without * and ?.
std::string shape(std::string_view text) {
  std::string out;
  bool set = false;
  for (const char c : text) {
    if (c == '[') {
      set = true;
      if (out.empty() || out.back() != '#') out += '#';
    } else if (c == ']') {
      set = false;
    } else if (set || c == '*' || c == '?') {
      continue;
    } else if (c >= '0' && c <= '9') {
      if (out.empty() || out.back() != '#') out += '#';
    } else {
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return out;
}

/// Edit distance of `word` to that part of `text` which is nearest to it.
size_t distance(const std::string& word, const std::string& text) {
  std::vector<size_t> row(text.size() + 1, 0);  // it may begin anywhere
  for (size_t i = 1; i <= word.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= text.size(); ++j) {
      const size_t change = diagonal + (word[i - 1] == text[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
    }
  }
  return *std::min_element(row.begin(), row.end());  // .. and end anywhere
}

bool contains(const std::string& pattern, const std::string& name) {
  try {
    return vcd::Glob("*" + pattern + "*").matches(name);
  } catch (const vcd::GlobError&) {
    return false;
  }
}

}  // namespace

std::vector<std::string> near_signals(const std::string& pattern, const std::vector<std::string>& names) {
  const std::string wanted = shape(pattern);
  std::vector<std::pair<size_t, const std::string*>> ranked;
  for (const std::string& name : names)
    ranked.emplace_back(contains(pattern, name) ? 0 : 1 + distance(wanted, shape(name)), &name);
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> near;
  for (size_t i = 0; i < std::min(kShown, ranked.size()); ++i) near.push_back(*ranked[i].second);
  return near;
}

}  // namespace weft::cli
