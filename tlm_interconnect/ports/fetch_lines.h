// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_TLM_INTERCONNECT_PORTS_FETCH_LINES_H
#define WEFT_TLM_INTERCONNECT_PORTS_FETCH_LINES_H

#include <cstddef>

namespace weft::fabric {

/// Asks the processor for `bytes` of memory, cache line by cache line. No effect on results.
inline void fetch_lines(const void* begin, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  for (std::size_t at = 0; at < bytes; at += kLine) __builtin_prefetch(static_cast<const char*>(begin) + at);
}

}  // namespace weft::fabric

#endif
