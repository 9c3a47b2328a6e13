// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/decimal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace weft::cli {
namespace {

std::string digits(Wide number) {
  std::string text;
  do {
    text += static_cast<char>('0' + static_cast<int>(number % 10));
    number /= 10;
  } while (number != 0);
  std::reverse(text.begin(), text.end());
  return text;
}

}  // namespace

std::string nanoseconds(Wide time) {
  std::string text = digits(time / 1000);
  auto rest = static_cast<unsigned>(time % 1000);
  if (rest == 0) return text;
  std::string decimals = fmt::format(".{:03}", rest);
  decimals.erase(decimals.find_last_not_of('0') + 1);
  return text + decimals;
}

std::string nanoseconds(Picoseconds time) {
  return nanoseconds(static_cast<Wide>(time));
}

std::string mean_nanoseconds(Wide sum, uint64_t count) {
  return count == 0 ? "0" : nanoseconds((sum + count / 2) / count);
}

std::string readable_time(Picoseconds time) {
  const auto ps = static_cast<double>(time);
  if (time >= 1000000000000) return fmt::format("{:.7g} s", ps / 1e12);
  if (time >= 1000000000) return fmt::format("{:.7g} ms", ps / 1e9);
  if (time >= 1000000) return fmt::format("{:.7g} us", ps / 1e6);
  return nanoseconds(time) + " ns";
}

std::string readable_size(uint64_t bytes) {
  static const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit < 6) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.4g} {}", value, units[unit]);
}

std::string grouped(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

std::string json_number(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "0";
}

}  // namespace weft::cli
