// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/sweep/table_of_points.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "configs/keys.h"
#include "configs/types.h"
#include "sc_main/sweep/words.h"

namespace weft::sweep {
namespace {

constexpr size_t kShownNames = 12;

/// `long` ends with `.short`.
bool ends_with_word(const std::string& name, const std::string& end) {
  return name.size() > end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0 &&
         name[name.size() - end.size() - 1] == '.';
}

}  // namespace

DerivedColumn parse_column(const std::string& text) {
  const size_t equals = text.find('=');
  const std::string name(trimmed(std::string_view(text).substr(0, equals)));
  if (equals == text.npos || name.empty())
    throw UserError(ExitCode::usage,
                    fmt::format("--column '{}': not of the form NAME=EXPRESSION; write for example "
                                "--column 'cost=0.5*npu.compute_slots + 2'",
                                shortened(text)));
  try {
    return {name, Expression(std::string_view(text).substr(equals + 1))};
  } catch (const UserError& e) {
    throw UserError(e.code(), fmt::format("--column `{}`: {}", shortened(name), e.what()));
  }
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string resolve_column(const std::string& name, const std::vector<std::string>& columns,
                           const std::string& what) {
  if (std::find(columns.begin(), columns.end(), name) != columns.end()) return name;
  std::vector<std::string> found;
  for (const std::string& column : columns)
    if (ends_with_word(column, name)) found.push_back(column);
  if (found.size() < 2) return found.empty() ? "" : found.front();
  const size_t all = found.size();
  found.resize(std::min(all, kShownNames));
  throw UserError(ExitCode::usage,
                  fmt::format("{}: `{}` may be any of `{}`{}; write the whole name", what, name,
                              fmt::join(found, "`, `"), all > found.size() ? " .." : ""));
}

std::string unknown_column(const std::string& name, const std::vector<std::string>& columns) {
  std::string near = nearest_name(name, columns);
  if (near.empty()) {
    // By its last word: `tiem_ns` is near `results[0].time_ns`.
    std::vector<std::string> words;
    for (const std::string& column : columns) words.push_back(column.substr(column.rfind('.') + 1));
    const std::string word = nearest_name(name.substr(name.rfind('.') + 1), words);
    const auto it = std::find(words.begin(), words.end(), word);
    if (!word.empty()) near = columns[static_cast<size_t>(it - words.begin())];
  }
  std::vector<std::string> shown = columns;
  shown.resize(std::min(shown.size(), kShownNames));
  return fmt::format("there is no column and no key `{}`{}; columns are `{}`{}", shortened(name),
                     near.empty() ? "" : fmt::format(" (did you mean `{}`?)", near), fmt::join(shown, "`, `"),
                     shown.size() < columns.size() ? " .." : "");
}

TableOfPoints::TableOfPoints(const Grid& grid, const std::vector<PointResult>& results,
                             const ConfigValues& config, const std::vector<DerivedColumn>& derived)
    : grid_(grid), results_(results), config_(config) {
  add("point", {});
  for (const std::string& name : grid.names()) add(name, {});
  add("exit_code", {});
  for (const PointResult& r : results) {
    columns_[0].texts.push_back(std::to_string(r.point + 1));
    const std::vector<std::string> values = grid.values(r.point);
    for (size_t i = 0; i < values.size(); ++i) columns_[1 + i].texts.push_back(values[i]);
    columns_.back().texts.push_back(std::to_string(r.exit_code));
  }
  add_results();
  for (const DerivedColumn& d : derived) {
    const std::string what = fmt::format("--column `{}`", d.name);
    for (const Column& c : columns_)
      if (c.name == d.name)
        throw UserError(ExitCode::usage,
                        fmt::format("{}: there is a column of that name; give it another", what));
    std::vector<std::string> texts;
    for (size_t p = 0; p < results.size(); ++p) texts.push_back(value(d.expression, p, what).text);
    add(d.name, std::move(texts));
  }
}

void TableOfPoints::add_results() {
  std::unordered_map<std::string, size_t> where;
  const size_t before = columns_.size();
  for (size_t p = 0; p < results_.size(); ++p) {
    for (const auto& [path, text] : results_[p].values) {
      const auto [it, fresh] = where.emplace(path, columns_.size());
      if (fresh) {
        // A key that is varied and a result may have one name.
        const auto same = [&name = path](const Column& c) { return c.name == name; };
        const bool taken =
            std::any_of(columns_.begin(), columns_.begin() + static_cast<std::ptrdiff_t>(before), same);
        add(taken ? "result." + path : path, std::vector<std::string>(results_.size()));
      }
      columns_[it->second].texts[p] = text;
    }
  }
}

const std::vector<std::string>& TableOfPoints::find(const std::string& name, const std::string& what) const {
  for (const Column& c : columns_)
    if (c.name == name) return c.texts;
  if (const auto it = config_.find(name); it != config_.end()) return it->second;
  std::vector<std::string> names;
  for (const Column& c : columns_) names.push_back(c.name);
  const std::string column = resolve_column(name, names, what);
  if (column.empty())
    throw UserError(ExitCode::usage, fmt::format("{}: {}", what, unknown_column(name, names)));
  return find(column, what);
}

Cell TableOfPoints::value(const Expression& expression, size_t point, const std::string& what) const {
  std::vector<Cell> cells;
  for (const std::string& name : expression.names()) cells.push_back(Cell::of(find(name, what)[point]));
  std::vector<Cell> aggregates;
  for (const Aggregate& aggregate : expression.aggregates())
    aggregates.push_back(over_points(aggregate, what));
  return expression.evaluate(cells, aggregates);
}

Cell TableOfPoints::over_points(const Aggregate& aggregate, const std::string& what) const {
  const auto [it, fresh] = over_points_.emplace((aggregate.lowest ? "<" : ">") + aggregate.of.text(), Cell());
  if (!fresh) return it->second;
  std::optional<double> best;
  for (size_t p = 0; p < results_.size(); ++p) {
    if (!results_[p].done()) continue;
    const std::optional<double> number = value(aggregate.of, p, what).number;
    if (number && (!best || (aggregate.lowest ? *number < *best : *number > *best))) best = number;
  }
  if (best) it->second = Cell::of(*best);
  return it->second;
}

void TableOfPoints::mark(std::string name, std::vector<std::string> texts) {
  marks_.push_back(name);
  add(std::move(name), std::move(texts));
}

std::string TableOfPoints::csv(bool timings) const {
  std::vector<const Column*> order;
  const auto marked = [this](const Column& c) {
    return std::find(marks_.begin(), marks_.end(), c.name) != marks_.end();
  };
  for (const Column& c : columns_)
    if (!differs_by_run(c.name) && !marked(c)) order.push_back(&c);
  for (const Column& c : columns_)
    if (marked(c)) order.push_back(&c);
  Column errors{"error", {}};
  for (const PointResult& r : results_) errors.texts.push_back(r.error);
  order.push_back(&errors);
  for (const Column& c : columns_)
    if (timings && differs_by_run(c.name)) order.push_back(&c);
  std::string out;
  for (const Column* c : order) out.append(out.empty() ? "" : ",").append(csv_cell(c->name));
  out += '\n';
  for (size_t p = 0; p < results_.size(); ++p) {
    for (size_t i = 0; i < order.size(); ++i) {
      if (i != 0) out += ',';
      out += csv_cell(order[i]->texts[p]);
    }
    out += '\n';
  }
  return out;
}

}  // namespace weft::sweep
