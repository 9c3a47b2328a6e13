// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_TESTS_SUPPORT_DRAWN_CASES_H
#define WEFT_TESTS_SUPPORT_DRAWN_CASES_H

#include <cstdint>
#include <cstdlib>
#include <string>

namespace weft::test {

/// How many cases a test of random ones draws: as many as the environment variable says, else `count`. A
/// build with sanitizers draws a fifth of these; such tests have the label `drawn`, so that the release suite
/// runs them, too.
inline uint32_t drawn_cases(const char* variable, uint32_t count) {
  if (const char* const more = std::getenv(variable)) return static_cast<uint32_t>(std::stoul(more));
#ifdef __SANITIZE_ADDRESS__
  return (count + 4) / 5;
#else
  return count;
#endif
}

}  // namespace weft::test

#endif
