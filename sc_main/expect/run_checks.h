// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `--check` of `weft run`, from the options to the files.

#ifndef WEFT_SC_MAIN_EXPECT_RUN_CHECKS_H
#define WEFT_SC_MAIN_EXPECT_RUN_CHECKS_H

#include <string>
#include <vector>

#include "sc_main/expect/checks.h"
#include "sc_main/output_folder.h"

namespace weft::cli {

/// Without `--check` it does nothing.
class RunChecks {
 public:
  /// Errors: UserError(usage) when `on` and the configuration has no `expect`, and what Checks throws.
  RunChecks(const Config& config, bool on);

  /// Writes checks.csv and junit.xml. True if all is met, or nothing was to be compared.
  bool compare(const OutputFolder& folder, const CheckedResults& machine,
               const std::vector<CheckedResults>& jobs);
  /// " checks.csv junit.xml", or "".
  std::string files() const { return on_ ? " checks.csv junit.xml" : ""; }
  /// The table, on the standard error when the standard output has JSON.
  void tell(bool json) const;

 private:
  const bool on_;
  Checks checks_;
  std::string suite_;
  std::vector<CheckOutcome> outcomes_;
};

}  // namespace weft::cli

#endif
