// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What is kept of a point that has run.

#ifndef WEFT_SC_MAIN_SWEEP_POINT_RESULT_H
#define WEFT_SC_MAIN_SWEEP_POINT_RESULT_H

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::sweep {

/// Names and texts, in the order of the command's output.
using Values = std::vector<std::pair<std::string, std::string>>;

struct PointResult {
  size_t point = 0;
  int exit_code = 0;  ///< 128 + n: ended by signal n
  Values values;
  std::string error;  ///< in one line; empty with exit code 0

  bool done() const { return exit_code == 0; }
};

/// All scalars of a JSON document by their paths, `a.b[0].c`: numbers as they are written, texts without
/// quotes, a null as "". The first of equal paths counts. Throws UserError(internal) for a text that is no
/// JSON.
Values flatten_json(std::string_view json);

/// The messages of a failed command in one line: from the first error on, without the program's name.
std::string error_text(std::string_view standard_error);

/// The last word of the path says that the value differs from run to run: wall-clock time, memory.
bool differs_by_run(std::string_view name);

}  // namespace weft::sweep

#endif
