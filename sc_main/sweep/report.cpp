// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/sweep/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "sc_main/console.h"
#include "sc_main/decimal.h"
#include "sc_main/output_folder.h"
#include "sc_main/sweep/words.h"
#include "sc_main/table.h"

namespace weft::sweep {
namespace {

constexpr size_t kMostShown = 20;
constexpr size_t kMostFailures = 5;

/// Each expression, and what it is of.
std::vector<std::pair<const Expression*, std::string>> expressions(const Formulas& formulas) {
  std::vector<std::pair<const Expression*, std::string>> all;
  for (const DerivedColumn& d : formulas.derived)
    all.emplace_back(&d.expression, fmt::format("--column `{}`", d.name));
  if (!formulas.objective) return all;
  for (const Objective::Goal& goal : formulas.objective->goals)
    all.emplace_back(&goal.expression, "--objective");
  for (const Expression& e : formulas.objective->constraints) all.emplace_back(&e, "--objective");
  return all;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string goal_name(const Objective::Goal& goal) {
  return goal.expression.text();
}

std::string best_text(const TableOfPoints& table, const Grid& grid, const Formulas& formulas,
                      const Ranking& ranking) {
  const Objective& objective = *formulas.objective;
  std::string head = fmt::format("objective {}: ", objective.text);
  if (ranking.best.empty()) return head + "no point meets it\n";
  head += fmt::format("{} of {}{}\n",
                      objective.goals.size() > 1 ? fmt::format("the Pareto front, {}", ranking.best.size())
                      : ranking.best.size() == 1 ? "the best"
                                                 : fmt::format("{} equally good points", ranking.best.size()),
                      ranking.feasible, objective.constraints.empty() ? " points" : " points that meet it");
  std::vector<std::string> names = {"point"};
  names.insert(names.end(), grid.names().begin(), grid.names().end());
  for (const Objective::Goal& goal : objective.goals) names.push_back(shortened(goal_name(goal)));
  std::vector<const DerivedColumn*> more;
  for (const DerivedColumn& d : formulas.derived)
    if (!contains(names, d.name)) more.push_back(&d);
  for (const DerivedColumn* d : more) names.push_back(d->name);
  cli::Table rows(names);
  for (size_t i = 0; i < std::min(ranking.best.size(), kMostShown); ++i) {
    const size_t p = ranking.best[i];
    std::vector<std::string> row = {std::to_string(p + 1)};
    for (const std::string& value : grid.values(p)) row.push_back(shortened(value));
    for (const Objective::Goal& goal : objective.goals)
      row.push_back(table.value(goal.expression, p, "").text);
    for (const DerivedColumn* d : more) row.push_back(table.value(d->expression, p, "").text);
    rows.row(std::move(row));
  }
  std::string text = head + rows.str(2);
  if (ranking.best.size() > kMostShown)
    text += fmt::format("  .. and {} more\n", ranking.best.size() - kMostShown);
  return text;
}

void write_file(const std::string& path, const std::string& text) {
  cli::ResultFile file(path);
  file.append(text);
  file.close();
}

/// The failures, each reason with the first point that has it.
std::string failures_text(const Grid& grid, const std::vector<PointResult>& results) {
  std::vector<std::pair<const PointResult*, size_t>> reasons;
  for (const PointResult& r : results) {
    if (r.done()) continue;
    const auto it = std::find_if(reasons.begin(), reasons.end(), [&](const auto& other) {
      return other.first->error == r.error && other.first->exit_code == r.exit_code;
    });
    if (it == reasons.end())
      reasons.emplace_back(&r, 0);
    else
      ++it->second;
  }
  std::string text;
  for (size_t i = 0; i < std::min(reasons.size(), kMostFailures); ++i) {
    const auto [first, more] = reasons[i];
    text += fmt::format("\n  point {} ({}): exit code {}: {}{}", first->point + 1,
                        grid.describe(first->point), first->exit_code, shortened(first->error),
                        more == 0 ? "" : fmt::format(" (and {} more points)", more));
  }
  return text;
}

}  // namespace

std::vector<std::string> Formulas::foreign_names(const Grid& grid) const {
  std::vector<std::string> names;
  std::vector<std::string> own = grid.names();
  for (const DerivedColumn& d : derived) own.push_back(d.name);
  for (const auto& [expression, what] : expressions(*this))
    for (const std::string& name : expression->names())
      if (!contains(own, name) && !contains(names, name)) names.push_back(name);
  return names;
}

Formulas parse_formulas(const SweepOptions& options) {
  Formulas formulas;
  for (const std::string& text : options.columns) formulas.derived.push_back(parse_column(text));
  if (!options.objective.empty()) formulas.objective = parse_objective(options.objective);
  return formulas;
}

std::vector<std::string> missing_names(const Formulas& formulas, const Grid& grid, const ConfigValues& config,
                                       const PointResult& first) {
  std::vector<std::string> columns = {"point", "exit_code"};
  columns.insert(columns.end(), grid.names().begin(), grid.names().end());
  for (const DerivedColumn& d : formulas.derived) columns.push_back(d.name);
  for (const auto& [path, text] : first.values) columns.push_back(path);
  std::vector<std::string> lines;
  for (const auto& [expression, what] : expressions(formulas)) {
    for (const std::string& name : expression->names()) {
      if (config.count(name) != 0) continue;
      try {
        if (!resolve_column(name, columns, what).empty()) continue;
        lines.push_back(
            fmt::format("{}: point {}: {}", what, first.point + 1, unknown_column(name, columns)));
      } catch (const UserError& e) {
        lines.emplace_back(e.what());
      }
    }
  }
  return lines;
}

ExitCode report(const SweepOptions& options, const Grid& grid, const std::vector<PointResult>& results,
                const ConfigValues& config, const Formulas& formulas) {
  std::optional<UserError> wrong;
  std::string best;
  try {
    TableOfPoints table(grid, results, config, formulas.derived);
    if (formulas.objective) {
      const Ranking ranking = rank_points(table, *formulas.objective);
      best = best_text(table, grid, formulas, ranking);
      std::vector<std::string> marks;
      for (const Standing standing : ranking.standings)
        marks.push_back(standing_text(standing, *formulas.objective));
      table.mark("objective", std::move(marks));
    }
    write_file(options.out, table.csv(options.timings));
  } catch (const cli::FileError&) {
    throw;
  } catch (const UserError& e) {
    wrong.emplace(e);
    write_file(options.out, TableOfPoints(grid, results, config, {}).csv(options.timings));
  }
  const auto failed = static_cast<size_t>(
      std::count_if(results.begin(), results.end(), [](const PointResult& r) { return !r.done(); }));
  cli::print(fmt::format("{} points of {} by `weft {}`: {} done, {} failed\n", cli::grouped(results.size()),
                         options.config, options.command, cli::grouped(results.size() - failed),
                         cli::grouped(failed)));
  cli::print(best + fmt::format("results {}\n", options.out));
  if (failed != 0)
    cli::note(fmt::format("weft: error: {} of {} points failed; the column `error` of {} says why{}", failed,
                          results.size(), options.out, failures_text(grid, results)));
  // Where no point has results, nobody knows which columns there would be.
  if (wrong && failed != results.size())
    throw UserError(wrong->code(),
                    fmt::format("{}. {} has all points without it, and the same command with a "
                                "mended formula runs none of them again",
                                wrong->what(), options.out));
  return failed == 0 ? ExitCode::done : ExitCode::internal;
}

}  // namespace weft::sweep
