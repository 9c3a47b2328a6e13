// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Two results of `weft run`, figure by figure.

#ifndef WEFT_SC_MAIN_REPORT_COMPARISON_H
#define WEFT_SC_MAIN_REPORT_COMPARISON_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sc_main/report/result_folder.h"

namespace weft::report {

/// One figure of both results.
struct Difference {
  std::string row;     ///< "rank 3", "all_reduce layer0.grad", "nmu0.d0_to1"
  std::string figure;  ///< "compute", "queue", "busy", "bytes": as the column, without its unit
  bool time = false;   ///< in ns
  double a = 0;
  double b = 0;

  double by() const { return b - a; }
  /// by() as a part of a; nothing when a is 0.
  std::optional<double> change() const;
};

/// The rows of one kind: ranks, layers, collectives, links ..
struct ComparedRows {
  std::string kind;                         ///< "rank"
  uint64_t equal = 0;                       ///< figures that are
  std::vector<Difference> differences;      ///< those above the threshold, the largest first
  uint64_t below = 0;                       ///< figures that differ by less than the threshold
  std::vector<std::string> only_a, only_b;  ///< rows, columns and single figures that the other lacks
};

/// A key of effective.yaml that is not the same. Empty: the other has it only.
struct ChangedKey {
  std::string key, a, b;
};

struct Comparison {
  Difference time;  ///< end to end
  std::vector<ChangedKey> configuration;
  std::vector<ComparedRows> rows;  ///< the kind with the largest difference first, the summary last
  bool equal() const;
};

/// `threshold`: part of the larger value below which a figure counts as the same. Figures that tell of the
/// run's cost (wall-clock time, memory) and where files are are left out. Errors: UserError(usage), of
/// ResultFolder.
Comparison compare(const ResultFolder& a, const ResultFolder& b, double threshold);

}  // namespace weft::report

#endif
