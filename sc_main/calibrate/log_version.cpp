// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/calibrate/log_version.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "workload/library/communication_library.h"

namespace weft::calibrate {
namespace {

using Version = std::pair<unsigned long, unsigned long>;  // major, minor; {0, 0}: none

/// Codes have four digits up to 2.8 (2804), then five (21903).
constexpr unsigned long kLongCodes = 10000;

/// From the first digit on: "NCCL 2.26.2" is a version, too.
Version parse(const std::string& text) {
  const size_t begin = text.find_first_of("0123456789");
  if (begin == std::string::npos) return {0, 0};
  char* end = nullptr;
  const unsigned long first = std::strtoul(text.c_str() + begin, &end, 10);
  if (*end == '.') {
    const char* minor = end + 1;
    const unsigned long second = std::strtoul(minor, &end, 10);
    return end == minor ? Version{0, 0} : Version{first, second};
  }
  if (*end != '\0') return {0, 0};
  return first < kLongCodes ? Version{first / 1000, first / 100 % 10}
                            : Version{first / kLongCodes, first / 100 % 100};
}

}  // namespace

LogVersion version_of(const std::vector<Measurement>& tables, LibraryKind kind) {
  Version version{0, 0};
  std::string named;
  for (const Measurement& table : tables) {
    const Version own = parse(table.version);
    if (own == Version{0, 0}) continue;
    if (version != Version{0, 0} && own != version)
      return {"", fmt::format("the logs are of several versions of the library ({} and {}), and the newest "
                              "tables plan all of them; calibrate them apart, or set "
                              "`collectives.library_version`",
                              named, table.version)};
    version = own;
    named = table.version;
  }
  if (version == Version{0, 0}) return {};
  const std::vector<std::string> known = library::CommunicationLibrary::known_versions(kind);
  const Version taken = std::clamp(version, parse(known.front()), parse(known.back()));
  LogVersion of{fmt::format("{}.{}", taken.first, taken.second), ""};
  if (taken != version)
    of.note = fmt::format(
        "the logs are of version {} of the library, whose tables Weft does not have; it "
        "takes those of {}",
        named, of.version);
  return of;
}

}  // namespace weft::calibrate
