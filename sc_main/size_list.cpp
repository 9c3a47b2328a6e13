// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/size_list.h"

#include <fmt/format.h>

#include <algorithm>

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
    return parse_size_option(item);
  } catch (const UserError& e) {
    fail(text, e.what());
  }
}

/// From `first` to `last`, each `factor` times the one before, plus `increment`; one more than kMaxSizes
/// where there would be more.
std::vector<uint64_t> stepped(uint64_t first, uint64_t last, uint64_t factor, uint64_t increment) {
  std::vector<uint64_t> sizes;
  for (uint64_t s = first;;) {
    sizes.push_back(s);
    if (sizes.size() > kMaxSizes || (factor > 1 ? s > last / factor : last - s < increment)) return sizes;
    s = s * factor + increment;
  }
}

}  // namespace

std::vector<std::string> split_list(std::string_view text) {
  return split(text, ',');
}

std::vector<uint64_t> parse_sizes(const std::string& text) {
  if (text.find(':') == std::string::npos) {
    std::vector<uint64_t> sizes;
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
  std::vector<uint64_t> steps = stepped(first, last, factor, increment);
  if (steps.size() > kMaxSizes) fail(text, fmt::format("more than {} sizes", kMaxSizes));
  return steps;
}

uint64_t parse_size_option(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  const char letter = text.empty() ? '\0' : text.back();
  const size_t unit = std::string_view("kmgt").find(static_cast<char>(letter | 0x20));
  const auto number = [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == ' '; };
  const std::string_view digits = text.substr(0, text.empty() ? 0 : text.size() - 1);
  if (letter == '\0' || unit == std::string_view::npos || digits.empty() ||
      !std::all_of(digits.begin(), digits.end(), number))
    return parse_size(text);
  return parse_size(fmt::format("{} {}iB", digits, "KMGT"[unit]));
}

std::vector<uint64_t> sizes_of(const SizeRange& range) {
  const auto wrong = [](const std::string& what) -> void {
    throw UserError(ExitCode::usage,
                    fmt::format("{}; write for example -b 8 -e 128M -f 2, as for nccl-tests", what));
  };
  const auto bytes = [&](const char* option, const std::string& text) -> uint64_t {
    try {
      const bool plain =
          !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
      return parse_size_option(plain ? text + " B" : text);
    } catch (const UserError& e) {
      wrong(fmt::format("{}: {}", option, e.what()));
    }
    return 0;
  };
  if (range.first.empty()) wrong("-e, -f and -i are of a range that begins with -b; give -b");
  if (range.last.empty() && !(range.factor.empty() && range.increment.empty()))
    wrong("-f and -i are of a range that ends with -e; give -e");
  if (!range.factor.empty() && !range.increment.empty())
    wrong("-f and -i were both given; keep one of the two");
  const uint64_t first = bytes("-b", range.first);
  if (range.last.empty()) return {first};
  const uint64_t last = bytes("-e", range.last);
  if (first > last) wrong(fmt::format("-b {} is more than -e {}", range.first, range.last));
  uint64_t factor = 1;
  uint64_t increment = range.factor.empty() ? uint64_t{1} << 20 : 0;
  if (!range.factor.empty()) {
    try {
      factor = parse_integer(range.factor);
    } catch (const UserError& e) {
      wrong(fmt::format("-f: {}", e.what()));
    }
    if (factor < 2) wrong(fmt::format("-f {}: the factor must be 2 or more", range.factor));
    if (first == 0) wrong(fmt::format("-b {}: 0 times any factor stays 0", range.first));
  } else if (!range.increment.empty()) {
    increment = bytes("-i", range.increment);
    if (increment == 0) wrong(fmt::format("-i {}: the increment must be more than 0", range.increment));
  }
  std::vector<uint64_t> sizes = stepped(first, last, factor, increment);
  if (sizes.size() > kMaxSizes) wrong(fmt::format("-b, -e and the step mean more than {} sizes", kMaxSizes));
  return sizes;
}

}  // namespace weft::cli
