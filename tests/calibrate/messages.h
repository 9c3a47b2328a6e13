// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_TESTS_CALIBRATE_MESSAGES_H
#define WEFT_TESTS_CALIBRATE_MESSAGES_H

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "configs/types.h"

namespace weft::calibrate {

/// The message of the UserError(usage) that `call` throws; "" if it throws none.
inline std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::usage) << e.what();
    return e.what();
  }
  return "";
}

inline testing::AssertionResult says(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    if (message.find(part) == std::string::npos)
      return testing::AssertionFailure() << "\"" << part << "\" is not in: " << message;
  return testing::AssertionSuccess();
}

}  // namespace weft::calibrate

#endif
