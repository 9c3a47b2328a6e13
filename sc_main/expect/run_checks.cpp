// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/expect/run_checks.h"

#include <fmt/format.h>

#include "sc_main/console.h"

namespace weft::cli {

RunChecks::RunChecks(const Config& config, bool on) : on_(on), checks_(config), suite_(config.file) {
  if (on && checks_.empty())
    throw UserError(
        ExitCode::usage,
        fmt::format("--check: {} has no key `expect`, so there is nothing to compare; add for example "
                    "`expect: [{{metric: time, at_most: 1 ms}}]`",
                    config.file));
}

bool RunChecks::compare(const OutputFolder& folder, const CheckedResults& machine,
                        const std::vector<CheckedResults>& jobs) {
  if (!on_) return true;
  outcomes_ = checks_.compare(machine, jobs);
  folder.write("checks.csv", checks_csv(outcomes_));
  folder.write("junit.xml", checks_junit(outcomes_, suite_));
  return all_met(outcomes_);
}

void RunChecks::tell(bool json) const {
  if (!on_) return;
  if (json)
    note(checks_text(outcomes_));
  else
    print("\n" + checks_text(outcomes_));
}

}  // namespace weft::cli
