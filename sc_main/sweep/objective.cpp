// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/sweep/objective.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "configs/types.h"
#include "sc_main/sweep/words.h"

namespace weft::sweep {
namespace {

constexpr const char* kExample =
    "write for example \"min time_ns\", \"min time_ns s.t. cost <= 100\" or \"min time_ns, min cost\"";

[[noreturn]] void fail(const std::string& text, const std::string& what) {
  throw UserError(ExitCode::usage, fmt::format("--objective '{}': {}; {}", shortened(text), what, kExample));
}

bool word_at(std::string_view text, size_t at, std::string_view word) {
  const auto in_name = [&](size_t i) {
    return i < text.size() && (text[i] == '_' || text[i] == '.' || (text[i] >= '0' && text[i] <= '9') ||
                               ((text[i] | 0x20) >= 'a' && (text[i] | 0x20) <= 'z'));
  };
  return text.substr(at, word.size()) == word && (at == 0 || !in_name(at - 1)) &&
         (word.back() == '.' || !in_name(at + word.size()));
}

/// Where the constraints begin, and how long the word for it is.
std::pair<size_t, size_t> find_constraints(std::string_view text) {
  char quote = '\0';
  for (size_t i = 0; i < text.size(); ++i) {
    if (quote != '\0') {
      if (text[i] == quote) quote = '\0';
      continue;
    }
    if (text[i] == '\'' || text[i] == '"' || text[i] == '`') quote = text[i];
    for (const std::string_view word : {"s.t.", "subject to", "such that", "where", "s.t"})
      if (word_at(text, i, word)) return {i, word.size()};
  }
  return {text.size(), 0};
}

Objective::Goal parse_goal(const std::string& text, std::string_view part) {
  part = trimmed(part);
  for (const bool least : {true, false}) {
    for (const std::string_view word : {least ? "minimize" : "maximize", least ? "min" : "max"}) {
      if (!word_at(part, 0, word)) continue;
      const std::string_view rest = trimmed(part.substr(word.size()));
      if (rest.empty()) fail(text, fmt::format("what is to be {}?", least ? "least" : "most"));
      return {least, Expression(rest)};
    }
  }
  fail(text, fmt::format("'{}' does not begin with min or max", shortened(part)));
}

/// In all goals `a` is at least as good as `b`, and in one better. Goals are to be least here.
bool dominates(const std::vector<double>& a, const std::vector<double>& b) {
  bool better = false;
  for (size_t g = 0; g < a.size(); ++g) {
    if (a[g] > b[g]) return false;
    better = better || a[g] < b[g];
  }
  return better;
}

/// The feasible points that none dominates. Those before a point in the order of all goals may dominate it,
/// those behind cannot.
std::vector<size_t> front(std::vector<size_t> points, const std::vector<std::vector<double>>& values) {
  std::sort(points.begin(), points.end(),
            [&](size_t a, size_t b) { return values[a] != values[b] ? values[a] < values[b] : a < b; });
  std::vector<size_t> best;
  for (const size_t p : points)
    if (std::none_of(best.begin(), best.end(), [&](size_t b) { return dominates(values[b], values[p]); }))
      best.push_back(p);
  return best;
}

}  // namespace

Objective parse_objective(const std::string& text) {
  Objective objective;
  objective.text = std::string(trimmed(text));
  const auto [end, word] = find_constraints(text);
  try {
    for (const std::string& part : split_outside(std::string_view(text).substr(0, end), ','))
      objective.goals.push_back(parse_goal(text, part));
    if (word != 0)
      for (const std::string& part : split_outside(std::string_view(text).substr(end + word), ','))
        objective.constraints.emplace_back(part);
  } catch (const UserError& e) {
    const std::string_view what = e.what();
    if (what.substr(0, 2) == "--") throw;
    fail(text, e.what());
  }
  return objective;
}

Ranking rank_points(const TableOfPoints& table, const Objective& objective) {
  Ranking ranking;
  std::vector<std::vector<double>> values(table.points());
  std::vector<size_t> feasible;
  const std::string what = "--objective";
  for (size_t p = 0; p < table.points(); ++p) {
    Standing standing = table.result(p).done() ? Standing::feasible : Standing::failed;
    // All of them in every point, so that an unknown name is found.
    for (const Expression& constraint : objective.constraints) {
      const Cell cell = table.value(constraint, p, what);
      if (standing == Standing::feasible && (!cell.number || *cell.number == 0))
        standing = Standing::infeasible;
    }
    for (const Objective::Goal& goal : objective.goals) {
      const Cell cell = table.value(goal.expression, p, what);
      if (!cell.number && standing != Standing::failed) standing = Standing::without_value;
      values[p].push_back(cell.number ? (goal.least ? *cell.number : -*cell.number) : 0);
    }
    if (standing == Standing::feasible) feasible.push_back(p);
    ranking.standings.push_back(standing);
  }
  ranking.feasible = feasible.size();
  ranking.best = front(std::move(feasible), values);
  for (const size_t p : ranking.best) ranking.standings[p] = Standing::best;
  return ranking;
}

std::string standing_text(Standing standing, const Objective& objective) {
  switch (standing) {
    case Standing::best:
      return objective.goals.size() > 1 ? "front" : "best";
    case Standing::feasible:
      return "feasible";
    case Standing::infeasible:
      return "infeasible";
    default:
      return "";
  }
}

}  // namespace weft::sweep
