// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <gtest/gtest.h>

#include <systemc>

#include "tests/support/kernel_warnings.h"

namespace {

/// A test in which SystemC warns has failed.
class WarningsFail : public ::testing::EmptyTestEventListener {
  void OnTestEnd(const ::testing::TestInfo&) override {
    const std::string warnings = weft::test::take_kernel_warnings();
    if (!warnings.empty()) ADD_FAILURE() << warnings;
  }
};

}  // namespace

int sc_main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  ::testing::UnitTest::GetInstance()->listeners().Append(new WarningsFail);
  weft::test::keep_kernel_warnings();
  return RUN_ALL_TESTS();
}
