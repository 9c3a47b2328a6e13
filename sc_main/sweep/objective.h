// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Which points of a sweep are the best.

#ifndef WEFT_SC_MAIN_SWEEP_OBJECTIVE_H
#define WEFT_SC_MAIN_SWEEP_OBJECTIVE_H

#include <string>
#include <vector>

#include "sc_main/sweep/expression.h"
#include "sc_main/sweep/table_of_points.h"

namespace weft::sweep {

struct Objective {
  struct Goal {
    bool least;  ///< the least is the best, else the most
    Expression expression;
  };
  std::string text;
  std::vector<Goal> goals;              ///< several: the points that no other is better than in all of them
  std::vector<Expression> constraints;  ///< 0 or without a value: not met
};

/// "min time_ns", "max busbw_GBps s.t. cost <= 100, npu.compute_slots >= 2", "min time_ns, min cost".
/// `subject to` and `where` are `s.t.`. Errors: UserError(usage).
Objective parse_objective(const std::string& text);

/// What a point is by the objective.
enum class Standing { failed, without_value, infeasible, feasible, best };

struct Ranking {
  std::vector<Standing> standings;  ///< one a point
  std::vector<size_t> best;         ///< by their first goal, then by number
  size_t feasible = 0;              ///< the best among them
};

/// Errors: UserError(usage) for a name that no column has.
Ranking rank_points(const TableOfPoints& table, const Objective& objective);

/// For the column of results: "best", "feasible", "infeasible" or "". With several goals the best are
/// "front".
std::string standing_text(Standing standing, const Objective& objective);

}  // namespace weft::sweep

#endif
