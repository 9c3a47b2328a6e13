// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/sweep/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "configs/types.h"
#include "sc_main/sweep/range.h"
#include "sc_main/sweep/words.h"

namespace weft::sweep {
namespace {

constexpr const char* kExample =
    "write for example --vary npu.compute_slots=1,2,4, --vary 'hbm.bandwidth=\"1 TB/s\",\"2 TB/s\"' or "
    "--vary "
    "'collectives.chunks=range(1, 64, x2)'";

[[noreturn]] void fail(const std::string& text, const std::string& what) {
  throw UserError(ExitCode::usage, fmt::format("--vary '{}': {}; {}", shortened(text), what, kExample));
}

/// "range" for "range( .. )"; "" for a plain value.
std::string_view function_of(std::string_view item) {
  for (const std::string_view name : {"range", "log"})
    if (item.size() > name.size() + 1 && item.substr(0, name.size()) == name && item.back() == ')') {
      std::string_view rest = item.substr(name.size());
      while (rest.front() == ' ') rest.remove_prefix(1);
      if (rest.front() == '(') return name;
    }
  return {};
}

void add_item(const std::string& text, std::string_view item, size_t number,
              std::vector<std::string>& values) {
  const std::string_view function = function_of(item);
  if (function.empty()) {
    if (item.empty())
      fail(text, fmt::format("value {} is empty; remove the comma, or write '' for an empty value", number));
    values.push_back(unquoted(item));
    return;
  }
  const size_t open = item.find('(');
  const std::string_view inside = item.substr(open + 1, item.size() - open - 2);
  try {
    const std::vector<std::string> more =
        function == "log" ? log_values(inside, kMostPoints) : range_values(inside, kMostPoints);
    values.insert(values.end(), more.begin(), more.end());
  } catch (const UserError& e) {
    fail(text, fmt::format("{}: {}", item, e.what()));
  }
}

void check_values(const std::string& text, const std::string& name, const std::vector<std::string>& values) {
  if (values.size() > kMostPoints) fail(text, fmt::format("more than {} values", kMostPoints));
  std::vector<std::string> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    fail(text, fmt::format("`{}` has the value '{}' twice; each point runs once", name, shortened(*twice)));
}

/// A step of a path: the word, and what is in the brackets behind it.
struct Step {
  std::string_view word, index;
};

std::vector<Step> steps_of(std::string_view key) {
  std::vector<Step> steps;
  while (true) {
    const size_t dot = key.find('.');
    const std::string_view part = key.substr(0, dot);
    const size_t bracket = part.find('[');
    const bool indexed = bracket != part.npos && part.back() == ']';
    steps.push_back({part.substr(0, bracket),
                     indexed ? part.substr(bracket + 1, part.size() - bracket - 2) : std::string_view()});
    if (dot == key.npos) return steps;
    key.remove_prefix(dot + 1);
  }
}

}  // namespace

Axis parse_vary(const std::string& text) {
  Axis axis;
  axis.text = text;
  std::vector<std::string> parts;
  try {
    parts = split_outside(text, ';');
  } catch (const UserError& e) {
    fail(text, e.what());
  }
  for (const std::string& part : parts) {
    const size_t equals = part.find('=');
    if (equals == part.npos || equals == 0)
      fail(text,
           parts.size() == 1 ? "not of the form KEY=VALUES" : "a part between semicolons is not KEY=VALUES");
    const std::string name(trimmed(std::string_view(part).substr(0, equals)));
    if (name.empty() || name == "--") fail(text, "a key is missing before `=`");
    if (name.front() == '-' && !is_option(name))
      fail(text, fmt::format("`{}` is a short option; write its long name, as in --size", name));
    std::vector<std::string> values;
    size_t number = 0;
    for (const std::string& item : split_outside(part.substr(equals + 1), ','))
      add_item(text, trimmed(item), ++number, values);
    check_values(text, name, values);
    if (!axis.names.empty() && values.size() != axis.size())
      fail(text, fmt::format("`{}` has {} and `{}` has {} values; keys that vary together need equally many",
                             axis.names.front(), axis.size(), name, values.size()));
    axis.names.push_back(name);
    axis.values.push_back(std::move(values));
  }
  return axis;
}

std::string table_path(const std::string& key) {
  std::string path;
  for (const Step& step : steps_of(key)) {
    path.append(path.empty() ? "" : ".").append(step.word);
    if (!step.index.empty()) path += "[]";
  }
  return path;
}

bool keys_overlap(const std::string& a, const std::string& b) {
  if (is_option(a) || is_option(b)) return a == b;
  const std::vector<Step> first = steps_of(a);
  const std::vector<Step> second = steps_of(b);
  for (size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
    if (first[i].word != second[i].word) return false;
    const auto any = [](const Step& step) { return step.index.empty() || step.index == "*"; };
    if (first[i].index != second[i].index && !any(first[i]) && !any(second[i])) return false;
  }
  return true;
}

Grid::Grid(std::vector<Axis> axes) : axes_(std::move(axes)) {
  for (const Axis& axis : axes_) {
    if (points_ > kMostPoints / axis.size())
      throw UserError(
          ExitCode::usage,
          fmt::format("the lists of --vary make more than {} points; shorten one, let keys vary together "
                      "(--vary 'a=1,2; b=3,4'), or sweep in parts",
                      kMostPoints));
    points_ *= axis.size();
    for (const std::string& name : axis.names) {
      for (const std::string& other : names_) {
        if (!keys_overlap(name, other)) continue;
        throw UserError(
            ExitCode::usage,
            name == other
                ? fmt::format("--vary: `{}` is varied twice; put all its values into one list", name)
                : fmt::format(
                      "--vary: `{}` and `{}` set the same; vary one of them, or give whole values to one",
                      other, name));
      }
      names_.push_back(name);
    }
  }
}

std::vector<std::string> Grid::values(size_t point) const {
  std::vector<std::string> values(names_.size());
  size_t end = names_.size();
  for (size_t a = axes_.size(); a-- > 0;) {
    const Axis& axis = axes_[a];
    end -= axis.names.size();
    for (size_t i = 0; i < axis.names.size(); ++i) values[end + i] = axis.values[i][point % axis.size()];
    point /= axis.size();
  }
  return values;
}

std::string Grid::describe(size_t point) const {
  const std::vector<std::string> of = values(point);
  std::string text;
  for (size_t i = 0; i < of.size(); ++i)
    text += fmt::format("{}{}={}", i == 0 ? "" : ", ", names_[i], shortened(of[i]));
  return text;
}

}  // namespace weft::sweep
