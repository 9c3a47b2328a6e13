// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/load_list.h"

#include <fmt/format.h>

#include <cmath>

#include "configs/units.h"
#include "sc_main/size_list.h"

namespace weft::cli {
namespace {

/// The option as it was given, for messages.
struct Given {
  const std::string& text;
  const char* unit;
};

[[noreturn]] void fail(const Given& given, const std::string& what) {
  throw UserError(ExitCode::usage,
                  fmt::format("--load '{}': {}; write for example 0.1:0.9:0.1, 0.05,0.2 or 0.3, {}",
                              given.text, what, given.unit));
}

double number(const Given& text, const std::string& item) {
  try {
    return parse_number(item);
  } catch (const UserError& e) {
    fail(text, e.what());
  }
}

double load(const Given& text, const std::string& item) {
  const double value = number(text, item);
  if (!(value >= kLeastLoad && value <= 1))
    fail(text, fmt::format("'{}' is not between {} and 1", item, kLeastLoad));
  return value;
}

}  // namespace

std::vector<double> parse_loads(const std::string& text, const char* unit) {
  const Given given{text, unit};
  std::vector<double> loads;
  if (text.find(':') == std::string::npos) {
    for (const std::string& item : split_list(text)) loads.push_back(load(given, item));
    if (loads.size() > kMaxLoads) fail(given, fmt::format("more than {} loads", kMaxLoads));
    return loads;
  }
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ':')
      parts.emplace_back();
    else if (c != ' ')
      parts.back() += c;
  }
  if (parts.size() != 3)
    fail(given, fmt::format("{} parts between colons where three are wanted", parts.size()));
  const double first = load(given, parts[0]);
  const double last = load(given, parts[1]);
  const double step = number(given, parts[2]);
  if (first > last) fail(given, "the first load is larger than the last");
  if (!(step > 0)) fail(given, "the step must be above 0");
  if ((last - first) / step >= static_cast<double>(kMaxLoads))
    fail(given, fmt::format("more than {} loads", kMaxLoads));
  // Each from the first, and rounded: sums of steps would show as 0.30000000000000004 and might miss the
  // last.
  for (uint32_t i = 0;; ++i) {
    const double value = std::round((first + i * step) * 1e12) / 1e12;
    if (value > last + 1e-9 * step) return loads;
    loads.push_back(value > last ? last : value);
  }
}

}  // namespace weft::cli
