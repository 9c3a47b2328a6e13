// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/calibrate/log_version.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include "workload/library/communication_library.h"
#include "workload/library/library_version.h"

namespace weft::calibrate {
namespace {

using library::LibraryVersion;

/// Codes have four digits up to 2.8 (2804), then five (21903).
constexpr uint32_t kLongCodes = 10000;
constexpr uint32_t kLeastCode = 100;  // less is no version

/// From the first digit on: "NCCL 2.26.2" is a version, too.
std::optional<LibraryVersion> parse(const std::string& text) {
  const size_t begin = text.find_first_of("0123456789");
  if (begin == std::string::npos) return std::nullopt;
  const char* rest = nullptr;
  if (const auto version = library::leading_version(text.c_str() + begin, rest)) return version;
  uint32_t code = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(rest, last, code);
  if (error != std::errc() || end != last || code < kLeastCode) return std::nullopt;
  return code < kLongCodes ? LibraryVersion{code / 1000, code / 100 % 10}
                           : LibraryVersion{code / kLongCodes, code / 100 % 100};
}

}  // namespace

LogVersion version_of(const std::vector<Measurement>& tables, LibraryKind kind) {
  std::optional<LibraryVersion> version;
  std::string named;
  for (const Measurement& table : tables) {
    const std::optional<LibraryVersion> own = parse(table.version);
    if (!own) continue;
    if (version && *own != *version)
      return {"", fmt::format("the logs are of several versions of the library ({} and {}), and the newest "
                              "tables plan all of them; calibrate them apart, or set "
                              "`collectives.library_version`",
                              named, table.version)};
    version = own;
    named = table.version;
  }
  if (!version) return {};
  const std::vector<std::string> known = library::CommunicationLibrary::known_versions(kind);
  const LibraryVersion taken = std::clamp(*version, *parse(known.front()), *parse(known.back()));
  LogVersion of{fmt::format("{}.{}", taken.major, taken.minor), ""};
  if (taken != *version)
    of.note = fmt::format(
        "the logs are of version {} of the library, whose tables Weft does not have; it "
        "takes those of {}",
        named, of.version);
  return of;
}

}  // namespace weft::calibrate
