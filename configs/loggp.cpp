// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/loggp.h"

#include <fmt/format.h>

#include <utility>

#include "configs/units.h"

namespace weft {
namespace {

constexpr uint64_t kAttosecondsPerPicosecond = 1000000;
constexpr uint64_t kMost = 1000ull * 1000 * 1000000;  // 1 us a byte: 1 MB/s

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw UserError(ExitCode::usage,
                  fmt::format("'{}' is no time per byte: {}; write for example `0.04 ns/B`, or "
                              "the bandwidth, `25 GB/s`",
                              text, why));
}

}  // namespace

uint64_t parse_time_per_byte(std::string_view text) {
  constexpr std::string_view kPerByte = "/B";
  const size_t slash = text.rfind(kPerByte);
  if (slash == std::string_view::npos || slash + kPerByte.size() != text.size()) {
    try {
      const Rate rate = parse_bandwidth(text);
      if (rate.bytes_per_second == 0) refuse(text, "a bandwidth of 0");
      constexpr Wide kSecond = Wide{1000000000000ull} * kAttosecondsPerPicosecond;
      const Wide each = kSecond * rate.divisor / rate.bytes_per_second;
      if (each > kMost) refuse(text, "more than 1 us/B");
      return static_cast<uint64_t>(each);
    } catch (const UserError& e) {
      refuse(text, e.what());
    }
  }
  // Six more decimals than times have: the number is read in a unit that is a million times as long.
  const std::string_view number = text.substr(0, slash);
  const size_t unit = number.find_first_of("pnum");
  const std::string amount(number.substr(0, unit));
  const std::string name(unit == std::string_view::npos ? "" : number.substr(unit));
  const char* const larger = name == "ps" ? "us" : name == "ns" ? "ms" : name == "us" ? "s" : nullptr;
  if (larger == nullptr) refuse(text, "its unit must be ps/B, ns/B or us/B");
  try {
    const Picoseconds scaled = parse_time(amount + larger);
    if (scaled > kMost) refuse(text, "more than 1 us/B");
    return scaled;
  } catch (const UserError& e) {
    refuse(text, e.what());
  }
}

void check_loggp(const LogGpConfig& config) {
  for (const auto& [key, text] : {std::pair{"G", &config.G}, std::pair{"O", &config.O}}) {
    try {
      parse_time_per_byte(*text);
    } catch (const UserError& e) {
      throw UserError(e.code(), fmt::format("key `loggp.{}`: {}", key, e.what()));
    }
  }
}

}  // namespace weft
