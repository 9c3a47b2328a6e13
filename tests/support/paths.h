// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Where the checkout and the golden data are. Absent data: tests are skipped, except in CI. Only paths.cpp is
// compiled with these paths, so all other objects are the same in every checkout.

#ifndef WEFT_TESTS_SUPPORT_PATHS_H
#define WEFT_TESTS_SUPPORT_PATHS_H

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace weft::test {

/// The top of the checkout.
std::string source_dir();

/// WEFT_DATA_DIR of the environment, else the build's.
std::string data_dir();

bool in_ci();

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
