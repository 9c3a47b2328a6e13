// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The rows of a sweep: what was varied, what came out, and what is derived from both.

#ifndef WEFT_SC_MAIN_SWEEP_TABLE_OF_POINTS_H
#define WEFT_SC_MAIN_SWEEP_TABLE_OF_POINTS_H

#include <map>
#include <string>
#include <vector>

#include "sc_main/sweep/axis.h"
#include "sc_main/sweep/expression.h"
#include "sc_main/sweep/point_result.h"

namespace weft::sweep {

/// `--column NAME=EXPRESSION`.
struct DerivedColumn {
  std::string name;
  Expression expression;
};

/// Errors: UserError(usage).
DerivedColumn parse_column(const std::string& text);

/// Values of the configuration that expressions ask for and that are not varied: by name, one a point.
using ConfigValues = std::map<std::string, std::vector<std::string>>;

/// All rows, in the order of the points; every point has one.
class TableOfPoints {
 public:
  /// `results`: of all points, in their order; all must outlive the table. Derived columns may use those
  /// before them. Errors: UserError(usage) for a name that no column has, with the nearest ones.
  TableOfPoints(const Grid& grid, const std::vector<PointResult>& results, const ConfigValues& config,
                const std::vector<DerivedColumn>& derived);

  size_t points() const { return results_.size(); }
  const PointResult& result(size_t point) const { return results_[point]; }
  /// The value of an expression in a point. Errors as above, with `what` in front: what the expression is of.
  Cell value(const Expression& expression, size_t point, const std::string& what) const;
  /// Adds a column of texts, one a point, behind the derived ones.
  void mark(std::string name, std::vector<std::string> texts);

  /// The whole table as CSV. `timings`: with what differs from run to run, in the last columns.
  std::string csv(bool timings) const;

 private:
  struct Column {
    std::string name;
    std::vector<std::string> texts;  ///< one a point
  };

  void add_results();
  void add(std::string name, std::vector<std::string> texts) {
    columns_.push_back({std::move(name), std::move(texts)});
    over_points_.clear();
  }
  Cell over_points(const Aggregate& aggregate, const std::string& what) const;
  /// Where the values of a name are. Throws.
  const std::vector<std::string>& find(const std::string& name, const std::string& what) const;

  const Grid& grid_;
  const std::vector<PointResult>& results_;
  const ConfigValues& config_;
  std::vector<Column> columns_;
  std::vector<std::string> marks_;
  mutable std::map<std::string, Cell> over_points_;  ///< what aggregates were found to be
};

/// A cell of a CSV file, in quotes if need be (RFC 4180).
std::string csv_cell(std::string_view text);

/// The column that a name means: itself, or the only one that ends with it behind a dot. "" if there is none.
/// Errors: UserError(usage) if there are several.
std::string resolve_column(const std::string& name, const std::vector<std::string>& columns,
                           const std::string& what);

/// ": there is no column `tiem_ns` (did you mean `time_ns`?); .."
std::string unknown_column(const std::string& name, const std::vector<std::string>& columns);

}  // namespace weft::sweep

#endif
