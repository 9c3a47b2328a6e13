// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/size_list.h"

#include <fmt/format.h>

#include "configs/units.h"

namespace weft::cli {
namespace {

constexpr const char* kExample = "write for example 64KiB:1GiB:x2, 1MiB:8MiB:+1MiB or \"1 MiB,10 MiB\"";

[[noreturn]] void fail(const std::string& text, const std::string& what) {
  throw UserError(ExitCode::usage, fmt::format("--sizes '{}': {}; {}", text, what, kExample));
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> items;
  for (;;) {
    const size_t end = text.find(separator);
    std::string_view item = text.substr(0, end);
    while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
    while (!item.empty() && item.back() == ' ') item.remove_suffix(1);
    items.emplace_back(item);
    if (end == std::string_view::npos) return items;
    text.remove_prefix(end + 1);
  }
}

uint64_t size(const std::string& text, const std::string& item) {
  try {
    return parse_size(item);
  } catch (const UserError& e) {
    fail(text, e.what());
  }
}

}  // namespace

std::vector<std::string> split_list(std::string_view text) {
  return split(text, ',');
}

std::vector<uint64_t> parse_sizes(const std::string& text) {
  std::vector<uint64_t> sizes;
  if (text.find(':') == std::string::npos) {
    for (const std::string& item : split_list(text)) sizes.push_back(size(text, item));
    return sizes;
  }
  const auto parts = split(text, ':');
  if (parts.size() != 3)
    fail(text, fmt::format("{} parts between colons where three are wanted", parts.size()));
  const uint64_t first = size(text, parts[0]);
  const uint64_t last = size(text, parts[1]);
  if (first > last) fail(text, "the first size is larger than the last");
  const std::string& step = parts[2];
  uint64_t factor = 1;
  uint64_t increment = 0;
  if (!step.empty() && (step[0] == 'x' || step[0] == '*')) {
    try {
      factor = parse_integer(step.substr(1));
    } catch (const UserError& e) {
      fail(text, fmt::format("the factor: {}", e.what()));
    }
    if (factor < 2) fail(text, "the factor must be 2 or more");
    if (first == 0) fail(text, "a first size of 0 times any factor stays 0");
  } else if (!step.empty() && step[0] == '+') {
    increment = size(text, step.substr(1));
    if (increment == 0) fail(text, "the increment must be more than 0");
  } else {
    fail(text, fmt::format("the step '{}' is neither a factor (x2) nor an increment (+64KiB)", step));
  }
  for (uint64_t s = first;;) {
    sizes.push_back(s);
    if (sizes.size() > kMaxSizes) fail(text, fmt::format("more than {} sizes", kMaxSizes));
    if (factor > 1 ? s > last / factor : last - s < increment) return sizes;
    s = s * factor + increment;
  }
}

}  // namespace weft::cli
