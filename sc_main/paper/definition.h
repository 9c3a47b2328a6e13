// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A figure or table of a paper as a file describes it: what to run, what to make of it, what the paper says.
// docs/guide/papers.md has the format.

#ifndef WEFT_SC_MAIN_PAPER_DEFINITION_H
#define WEFT_SC_MAIN_PAPER_DEFINITION_H

#include <string>
#include <utility>
#include <vector>

namespace weft::paper {

using Named = std::vector<std::pair<std::string, std::string>>;  ///< in the file's order

/// A word in `${..}` and the texts that it stands for, one after the other.
struct Variable {
  std::string name;
  std::vector<std::string> values;
};

/// A word in `${..}` that follows from a variable's value.
struct Lookup {
  std::string name;
  std::string by;  ///< a variable
  Named values;
};

/// A CSV file that a command wrote, for values that its JSON does not have.
struct Table {
  std::string file;  ///< empty: none
  Named where;       ///< only rows whose columns have these values
  std::string by;    ///< the column that names a row
};

/// A command at each point of its variables.
struct Run {
  std::string name;
  std::vector<Variable> vary;
  std::vector<Lookup> lookups;
  std::vector<std::vector<std::string>> before;  ///< commands that make files for it
  std::vector<std::string> command;              ///< gives JSON
  Table table;
  Named values;  ///< names, and expressions over the JSON, the table and the variables
  std::string origin;
};

enum class Status {
  given,   ///< the paper has the number; checked
  claim,   ///< the paper has the relation in words; checked
  fit,     ///< with values that the paper does not give; shown
  unknown  ///< the paper's own value is not published; shown
};
const char* to_string(Status status);

struct Expectation {
  std::string name;
  Status status = Status::claim;
  std::string value, is, tolerance;  ///< `value` is `is`, within `tolerance`: "0.5 %", or an absolute number
  std::string relation;              ///< in place of them: a condition
  std::vector<Variable> each;        ///< once for each of their values
  std::string note;
  std::string origin;
};

struct Plot {
  std::string kind = "lines";  ///< lines | bars | stack
  std::string title, x, series, x_label, y_label;
  std::vector<std::string> y;     ///< columns; several are series of their own
  std::vector<std::string> runs;  ///< empty: all
  Named where;                    ///< only points whose columns have these values
  bool log_x = false, log_y = false;
};

struct Figure {
  std::string id;     ///< the file's name without its end
  std::string path;   ///< of the file
  std::string paper;  ///< "ASTRA-sim 2.0, Table IV"
  std::string title;
  std::string about;
  bool fast = false;  ///< takes seconds
  std::vector<std::string> given, fitted, unknown;
  std::vector<std::vector<std::string>> prepare;  ///< commands that make files for all runs, in `${shared}`
  std::vector<Run> runs;
  Named derived;
  std::vector<Plot> plots;
  std::vector<Expectation> expect;
};

/// Throws UserError(usage) with file, line and key.
Figure read_figure(const std::string& path);

/// The figures of a folder, by name: its files that have the key `paper`.
std::vector<Figure> read_figures(const std::string& folder);

}  // namespace weft::paper

#endif
