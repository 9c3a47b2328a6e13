// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/paper/outcome.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "configs/types.h"
#include "sc_main/output_folder.h"
#include "sc_main/paper/table.h"
#include "sc_main/sweep/expression.h"
#include "sc_main/sweep/point_result.h"
#include "sc_main/sweep/quantity.h"
#include "sc_main/sweep/words.h"

namespace weft::paper {
namespace {

using sweep::Cell;
using sweep::Expression;

const std::string* find(const Named& named, const std::string& name) {
  const auto found =
      std::find_if(named.begin(), named.end(), [&](const auto& entry) { return entry.first == name; });
  return found == named.end() ? nullptr : &found->second;
}

std::string substituted(const std::string& text, const Named& words, const std::string& origin) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (text.compare(i, 2, "${") != 0) {
      out += text[i++];
      continue;
    }
    const size_t end = text.find('}', i);
    const std::string name = text.substr(i + 2, end == text.npos ? text.npos : end - i - 2);
    const std::string* value = find(words, name);
    if (end == text.npos || value == nullptr)
      throw UserError(ExitCode::usage,
                      fmt::format("{}: '{}': there is no variable `{}` here; vary it, or look it up", origin,
                                  text, name));
    out += *value;
    i = end + 1;
  }
  return out;
}

/// Every combination of the variables' values.
std::vector<Named> combinations(const std::vector<Variable>& variables) {
  std::vector<Named> all{{}};
  for (const Variable& variable : variables) {
    std::vector<Named> longer;
    for (const Named& before : all) {
      for (const std::string& value : variable.values) {
        longer.push_back(before);
        longer.back().emplace_back(variable.name, value);
      }
    }
    all = std::move(longer);
  }
  return all;
}

std::string name_of(const Run& run, const Named& variables) {
  if (run.vary.empty()) return run.name;
  std::vector<std::string> values;
  for (const Variable& variable : run.vary) values.push_back(*find(variables, variable.name));
  return fmt::format("{}[{}]", run.name, fmt::join(values, ", "));
}

/// Evaluates an expression by the values that `value_of` knows; throws for one without value.
template <typename ValueOf>
Cell evaluated(const std::string& text, const std::string& origin, const ValueOf& value_of) {
  try {
    const Expression expression(text);
    std::vector<Cell> cells;
    for (const std::string& name : expression.names()) {
      const std::optional<std::string> value = value_of(name);
      if (!value) throw UserError(ExitCode::usage, fmt::format("'{}': there is no value `{}`", text, name));
      cells.push_back(Cell::of(*value));
    }
    if (!expression.aggregates().empty())
      throw UserError(ExitCode::usage, fmt::format("'{}': lowest() and highest() are not known here", text));
    Cell cell = expression.evaluate(cells);
    if (cell.empty()) throw UserError(ExitCode::usage, fmt::format("'{}' has no value", text));
    return cell;
  } catch (const UserError& e) {
    throw UserError(ExitCode::usage, fmt::format("{}: {}", origin, e.what()));
  }
}

std::string shown(const Cell& cell) {
  if (!cell.number) return cell.text;
  return fmt::format("{:.7g}", *cell.number);
}

/// All values that expectations can name: "run[..].value", derived ones.
class Values {
 public:
  explicit Values(const std::vector<Point>& points) {
    for (const Point& point : points)
      for (const auto& [name, value] : point.values) values_[point.name + "." + name] = value;
  }
  void add(const std::string& name, const std::string& value) { values_[name] = value; }
  std::optional<std::string> operator()(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::nullopt : std::optional<std::string>(found->second);
  }

 private:
  std::map<std::string, std::string> values_;
};

Verdict judged(const Expectation& e, const Named& words, const Values& values) {
  const auto text = [&](const std::string& written) { return substituted(written, words, e.origin); };
  Verdict verdict;
  verdict.name = text(e.name);
  verdict.status = e.status;
  verdict.note = e.note;
  if (!e.relation.empty()) {
    verdict.wanted = text(e.relation);
    verdict.holds = evaluated(verdict.wanted, e.origin, values).number.value_or(0) != 0;
    verdict.measured = verdict.holds ? "holds" : "does not hold";
    return verdict;
  }
  const Cell value = evaluated(text(e.value), e.origin, values);
  verdict.measured = shown(value);
  if (e.is.empty()) return verdict;
  const Cell is = evaluated(text(e.is), e.origin, values);
  if (!value.number || !is.number)
    throw UserError(ExitCode::usage, fmt::format("{}: `value` and `is` must be numbers", e.origin));
  double off = *is.number == 0 ? 0 : (*value.number / *is.number - 1) * 100;
  if (std::abs(off) < 0.005) off = 0;
  verdict.measured += *is.number == 0 ? "" : fmt::format(" ({:+.2f} %)", off);
  if (e.tolerance.empty()) {
    verdict.wanted = shown(is);
    return verdict;
  }
  std::string number = text(e.tolerance);
  const bool relative = !number.empty() && number.back() == '%';
  if (relative) number = std::string(sweep::trimmed(std::string_view(number).substr(0, number.size() - 1)));
  const std::optional<double> limit = sweep::quantity(number);
  if (!limit)
    throw UserError(ExitCode::usage, fmt::format("{}: tolerance '{}': give a number, or per cent as in 0.5 %",
                                                 e.origin, e.tolerance));
  const double allowed = relative ? *limit / 100 * std::abs(*is.number) : *limit;
  verdict.holds = std::abs(*value.number - *is.number) <= allowed * (1 + 1e-12);
  verdict.wanted = fmt::format("{} ± {}", shown(is), text(e.tolerance));
  return verdict;
}

}  // namespace

std::vector<std::vector<std::string>> preparation_of(const Figure& figure, const std::string& folder,
                                                     const std::string& work) {
  const Named words{{"dir", folder}, {"shared", work}};
  std::vector<std::vector<std::string>> commands;
  for (const auto& command : figure.prepare) {
    commands.emplace_back();
    for (const std::string& word : command)
      commands.back().push_back(substituted(word, words, figure.path + ": prepare"));
  }
  return commands;
}

std::vector<Point> points_of(const Figure& figure, const std::string& folder, const std::string& work) {
  std::vector<Point> points;
  for (size_t r = 0; r < figure.runs.size(); ++r) {
    const Run& run = figure.runs[r];
    for (Named variables : combinations(run.vary)) {
      Point point;
      point.run = r;
      point.name = name_of(run, variables);
      for (const Lookup& lookup : run.lookups)
        variables.emplace_back(lookup.name, substituted(*find(lookup.values, *find(variables, lookup.by)),
                                                        {{"dir", folder}, {"shared", work}}, run.origin));
      point.variables = variables;
      Named words = variables;
      words.emplace_back("dir", folder);
      words.emplace_back("shared", work);
      words.emplace_back("work", fmt::format("{}/{}", work, points.size()));
      const auto add = [&](const std::vector<std::string>& command) {
        point.commands.emplace_back();
        for (const std::string& word : command)
          point.commands.back().push_back(substituted(word, words, run.origin));
      };
      for (const auto& command : run.before) add(command);
      point.table.by = run.table.by;
      point.table.file = substituted(run.table.file, words, run.origin);
      for (const auto& [column, value] : run.table.where)
        point.table.where.emplace_back(column, substituted(value, words, run.origin));
      add(run.command);
      std::vector<std::string>& last = point.commands.back();
      if (std::find(last.begin(), last.end(), "--json") == last.end()) last.emplace_back("--json");
      points.push_back(std::move(point));
    }
  }
  return points;
}

void take_values(const Figure& figure, Point& point, const std::string& json) {
  const Run& run = figure.runs[point.run];
  std::map<std::string, std::string> known;
  for (const auto& [name, value] : sweep::flatten_json(json)) known.emplace(name, value);
  if (!point.table.file.empty())
    for (const auto& [name, value] : table_values(point.table)) known[name] = value;
  for (const auto& [name, value] : point.variables) known[name] = value;
  for (const auto& [name, expression] : run.values) {
    const Cell cell = evaluated(expression, run.origin, [&](const std::string& wanted) {
      const auto found = known.find(wanted);
      return found == known.end() ? std::nullopt : std::optional<std::string>(found->second);
    });
    point.values[name] = cell.number ? sweep::number_text(*cell.number) : cell.text;
    known[name] = point.values[name];  // later ones may use it
  }
}

bool Outcome::holds() const {
  return errors.empty() && std::all_of(verdicts.begin(), verdicts.end(),
                                       [](const Verdict& v) { return v.holds || !v.checked(); });
}

Outcome judge(const Figure& figure, const std::vector<Point>& points) {
  Outcome outcome;
  for (const Point& point : points)
    if (!point.error.empty()) outcome.errors.push_back(fmt::format("{}: {}", point.name, point.error));
  Values values(points);
  const auto guarded = [&](const auto& work) {
    try {
      work();
    } catch (const UserError& e) {
      // Without the values of points that failed nothing else is news.
      if (outcome.errors.empty()) outcome.errors.emplace_back(e.what());
    }
  };
  for (const auto& [name, expression] : figure.derived) {
    guarded([&, &name = name, &expression = expression] {
      const Cell cell = evaluated(expression, figure.path + ": derived." + name, values);
      outcome.derived.emplace_back(name, shown(cell));
      values.add(name, cell.number ? sweep::number_text(*cell.number) : cell.text);
    });
  }
  for (const Expectation& e : figure.expect)
    for (const Named& words : combinations(e.each))
      guarded([&] { outcome.verdicts.push_back(judged(e, words, values)); });
  return outcome;
}

std::string csv_of(const Figure& figure, const std::vector<Point>& points) {
  std::vector<std::string> columns;
  const auto add = [&](const std::string& name) {
    if (std::find(columns.begin(), columns.end(), name) == columns.end()) columns.push_back(name);
  };
  for (const Run& run : figure.runs)
    for (const Variable& variable : run.vary) add(variable.name);
  for (const Run& run : figure.runs)
    for (const auto& [name, expression] : run.values) add(name);
  std::string out = "run";
  for (const std::string& column : columns) out += "," + cli::csv_field(column);
  out += "\n";
  for (const Point& point : points) {
    out += cli::csv_field(figure.runs[point.run].name);
    for (const std::string& column : columns) {
      const std::string* variable = find(point.variables, column);
      const auto value = point.values.find(column);
      out += "," + cli::csv_field(value != point.values.end() ? value->second
                                  : variable != nullptr       ? *variable
                                                              : "");
    }
    out += "\n";
  }
  return out;
}

}  // namespace weft::paper
