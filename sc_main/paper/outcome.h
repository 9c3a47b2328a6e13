// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The points of a figure's runs, their values when they have run, and what these say of the paper.

#ifndef WEFT_SC_MAIN_PAPER_OUTCOME_H
#define WEFT_SC_MAIN_PAPER_OUTCOME_H

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sc_main/paper/definition.h"

namespace weft::paper {

/// One point of a run.
struct Point {
  size_t run = 0;
  Named variables;                                 ///< and lookups
  std::vector<std::vector<std::string>> commands;  ///< the last one gives JSON
  Table table;                                     ///< of the run, for this point
  std::string name;                                ///< "run", or "run[value, value]"
  std::string error;                               ///< why it failed; empty: it has not
  std::map<std::string, std::string> values;       ///< by name; filled when it has run
};

/// The figure's commands for all runs. Throws as points_of().
std::vector<std::vector<std::string>> preparation_of(const Figure& figure, const std::string& folder,
                                                     const std::string& work);

/// Every point of the runs. `folder`: of the figure's file, what `${dir}` stands for; `work`: of its files,
/// `${shared}`, and with the point's number `${work}`. Throws UserError(usage) for unknown `${..}`.
std::vector<Point> points_of(const Figure& figure, const std::string& folder, const std::string& work);

/// Gives the point its values out of its command's JSON. Throws UserError(usage) for an expression that is
/// wrong or has no value.
void take_values(const Figure& figure, Point& point, const std::string& json);

/// What became of an expectation, or of one of `each`.
struct Verdict {
  std::string name;
  Status status = Status::claim;
  std::string measured;  ///< as text
  std::string wanted;    ///< "4392.85 +- 0.15 %", or the condition
  std::string note;
  bool holds = true;

  bool checked() const { return status == Status::given || status == Status::claim; }
};

struct Outcome {
  Named derived;
  std::vector<Verdict> verdicts;
  std::vector<std::string> errors;  ///< of points and expressions
  bool holds() const;
};

Outcome judge(const Figure& figure, const std::vector<Point>& points);

/// The rows of the points as comma-separated values: run, variables, values.
std::string csv_of(const Figure& figure, const std::vector<Point>& points);

}  // namespace weft::paper

#endif
