// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Options that say what part of a run, and how much of it, a file records.

#ifndef WEFT_SC_MAIN_TIME_WINDOW_H
#define WEFT_SC_MAIN_TIME_WINDOW_H

#include <string>

#include "configs/types.h"

namespace weft::cli {

/// "FROM:TO", either of which may be left out: `from` is then 0, and `to` 0, which means the end of the run.
/// Throws UserError(usage) that names the option.
void parse_window(const char* option, const std::string& text, Picoseconds& from, Picoseconds& to);

/// A size that the key allows. Throws UserError(usage) that names the option.
uint64_t parse_budget(const char* option, const char* key, const std::string& text);

}  // namespace weft::cli

#endif
