// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The process as its user sees it: what goes to the standard output and error, how long it took, how it ends.

#ifndef WEFT_SC_MAIN_CONSOLE_H
#define WEFT_SC_MAIN_CONSOLE_H

#include <functional>
#include <string>
#include <string_view>

#include "configs/types.h"

namespace weft::cli {

/// Results. Failures are found by leave().
void print(std::string_view text);
/// Everything else: messages, progress. A line break is added if there is none.
void note(std::string_view text);
void warn(std::string_view text);
/// The results of a run: the table; with `json` the summary, and the table goes to the standard error.
void print_results(const std::string& table, bool json, const std::function<std::string()>& summary);

/// Wall-clock seconds since the process began.
double wall_seconds();
/// The largest resident set so far, MiB.
double peak_rss_MiB();

/// Flushes the standard output and ends the process without destructors of static objects: SystemC's
/// registries remove modules one by one, in linear time each. `code` becomes `internal`, with a message, when
/// the output could not be written.
[[noreturn]] void leave(ExitCode code);

}  // namespace weft::cli

#endif
