// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `weft run --check`: the results of a run against the entries of `expect`.

#ifndef WEFT_SC_MAIN_EXPECT_CHECKS_H
#define WEFT_SC_MAIN_EXPECT_CHECKS_H

#include <functional>
#include <string>
#include <vector>

#include "configs/config.h"
#include "configs/expectation.h"
#include "sc_models/run_result.h"
#include "vcd/glob.h"

namespace weft::cli {

/// The results of one job, or of the machine.
struct CheckedResults {
  std::string job;  ///< its name; empty: the machine's, or those of a machine with one job
  const RunResult& result;
  bool finished = true;
  std::function<std::string()> summary;  ///< makes its summary.json, where an entry asks for it
};

/// What became of one entry.
struct CheckOutcome {
  std::string name;
  std::string origin;  ///< where the entry stands: "machine.yaml:12: key `expect[0]`"
  std::string bound;   ///< "<= 1.2 ms", ">= 80 GB/s", "= 1 ms +- 2 %"
  std::string figure;  ///< "1.25 ms"; empty: there is none
  std::string row;     ///< of the figure: "job.nmu0.d0_to1"; empty: of no single row
  uint64_t rows = 0;   ///< that were compared
  bool met = false;
  std::string reason;  ///< why it is not met, in a sentence; empty: it is
};

/// The entries of `expect`, ready to compare.
class Checks {
 public:
  /// Errors: UserError(usage) for a pattern that cannot be read.
  explicit Checks(const Config& config);

  bool empty() const { return entries_.empty(); }

  /// One outcome an entry. `jobs` are those on the machine; of a machine with one job, that of its results.
  /// What is not finished has met nothing.
  std::vector<CheckOutcome> compare(const CheckedResults& machine, const std::vector<CheckedResults>& jobs);

 private:
  struct Entry {
    Expectation expectation;
    std::string of;  ///< as written
    std::string origin;
    std::string job;
    vcd::Glob rows, jobs;
  };
  struct Figure {
    std::string row;
    double value;
  };
  CheckOutcome compare(Entry& entry, const CheckedResults& machine, const std::vector<CheckedResults>& jobs);
  /// Those that the entry selects. `others`: names of those that it does not.
  std::vector<Figure> figures(Entry& entry, const CheckedResults& results, bool whole_machine,
                              std::vector<std::string>& others) const;

  std::vector<Entry> entries_;
};

bool all_met(const std::vector<CheckOutcome>& outcomes);

/// A table for people, and a line for each entry that is not met.
std::string checks_text(const std::vector<CheckOutcome>& outcomes);
/// checks.csv.
std::string checks_csv(const std::vector<CheckOutcome>& outcomes);
/// junit.xml: one test suite, a test case an entry (the schema that Jenkins, GitLab and GitHub's actions
/// read).
std::string checks_junit(const std::vector<CheckOutcome>& outcomes, const std::string& suite);

}  // namespace weft::cli

#endif
