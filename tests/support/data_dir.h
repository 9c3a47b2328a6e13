// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Where the golden data is: WEFT_DATA_DIR of the environment, else the build's. Absent: tests are skipped,
// except in CI.

#ifndef WEFT_TESTS_SUPPORT_DATA_DIR_H
#define WEFT_TESTS_SUPPORT_DATA_DIR_H

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace weft::test {

inline std::string data_dir() {
  const char* from_environment = std::getenv("WEFT_DATA_DIR");
  return from_environment != nullptr ? from_environment : WEFT_DATA_DIR;
}

inline bool in_ci() {
  const char* ci = std::getenv("CI");
  return ci != nullptr && std::string(ci) == "true";
}

}  // namespace weft::test

/// Ends the test as skipped (in CI: as failed) when the data folder is not there.
#define WEFT_NEEDS_DATA()                                                                 \
  do {                                                                                    \
    if (!std::filesystem::is_directory(::weft::test::data_dir())) {                       \
      if (::weft::test::in_ci()) FAIL() << "no data folder " << ::weft::test::data_dir(); \
      GTEST_SKIP() << "no data folder " << ::weft::test::data_dir();                      \
    }                                                                                     \
  } while (false)

#endif
