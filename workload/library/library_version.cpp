// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/library/library_version.h"

#include <cctype>
#include <cstdlib>

namespace weft::library {

std::optional<LibraryVersion> leading_version(const char* text, const char*& rest) {
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  rest = text;
  if (!digit(*text)) return std::nullopt;
  char* end = nullptr;
  LibraryVersion version;
  version.major = static_cast<uint32_t>(std::strtoul(text, &end, 10));
  if (*end != '.' || !digit(end[1])) return std::nullopt;
  version.minor = static_cast<uint32_t>(std::strtoul(end + 1, &end, 10));
  rest = end;
  return version;
}

}  // namespace weft::library
