// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// SystemC elaborates once a process. isolated() runs a function in a child process and hands back the text it
// returns, so that one test executable can look at many systems.

#ifndef WEFT_TESTS_SUPPORT_ISOLATED_H
#define WEFT_TESTS_SUPPORT_ISOLATED_H

#include <functional>
#include <string>

namespace weft::test {

struct Isolated {
  std::string text;  ///< what the function returned
  int status = 0;    ///< exit status; 128 + n: killed by signal n
};

/// Runs `function` in a forked child. An exception's text comes back with status 99, and warnings of SystemC
/// with status 97 behind what the function returned.
Isolated isolated(const std::function<std::string()>& function);

}  // namespace weft::test

/// The function had nothing to say. (Include <gtest/gtest.h>.)
#define EXPECT_SILENT(result)           \
  do {                                  \
    const auto r_ = (result);           \
    EXPECT_EQ(r_.status, 0) << r_.text; \
    EXPECT_EQ(r_.text, "");             \
  } while (false)

#endif
