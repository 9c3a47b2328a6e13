// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/time_window.h"

#include <fmt/format.h>

#include <string_view>
#include <variant>

#include "configs/keys.h"
#include "configs/units.h"

namespace weft::cli {

void parse_window(const char* option, const std::string& text, Picoseconds& first, Picoseconds& last) {
  const size_t colon = text.find(':');
  const auto fail = [&](const std::string& what) {
    throw UserError(ExitCode::usage, fmt::format("{} '{}': {}; write for example \"1 us:20 us\", "
                                                 "\"1 us:\" or \":20 us\"",
                                                 option, text, what));
  };
  if (colon == std::string::npos) fail("no colon between the first and the last time");
  try {
    const std::string from = text.substr(0, colon);
    const std::string to = text.substr(colon + 1);
    first = from.empty() ? 0 : parse_time(from);
    last = to.empty() ? 0 : parse_time(to);
    if (!to.empty() && last == 0) fail("it ends at 0, so nothing would be recorded");
  } catch (const UserError& e) {
    if (std::string_view(e.what()).substr(0, 2) == "--") throw;
    fail(e.what());
  }
}

uint64_t parse_budget(const char* option, const char* key, const std::string& text) {
  try {
    return std::get<uint64_t>(parse_value(*find_key(key), text));
  } catch (const UserError& e) {
    throw UserError(ExitCode::usage, fmt::format("{}: {}", option, e.what()));
  }
}

}  // namespace weft::cli
