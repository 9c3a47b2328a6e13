// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A version of a communication library, as far as its tables depend on it.

#ifndef WEFT_WORKLOAD_LIBRARY_LIBRARY_VERSION_H
#define WEFT_WORKLOAD_LIBRARY_LIBRARY_VERSION_H

#include <cstdint>
#include <optional>

namespace weft::library {

struct LibraryVersion {
  uint32_t major = 0, minor = 0;

  bool operator<(const LibraryVersion& o) const {
    return major != o.major ? major < o.major : minor < o.minor;
  }
  bool operator==(const LibraryVersion& o) const { return major == o.major && minor == o.minor; }
  bool operator!=(const LibraryVersion& o) const { return !(*this == o); }
};

/// The version that the text begins with ("2.27" of "2.27.3-1"); nothing if it begins with none. `rest` is
/// what follows it; the whole text, if there is none.
std::optional<LibraryVersion> leading_version(const char* text, const char*& rest);

}  // namespace weft::library

#endif
