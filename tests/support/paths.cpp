// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
#include "tests/support/paths.h"

#include <cstdlib>

namespace weft::test {

std::string source_dir() {
  return WEFT_SOURCE_DIR;
}

std::string data_dir() {
  const char* from_environment = std::getenv("WEFT_DATA_DIR");
  return from_environment != nullptr ? from_environment : WEFT_DATA_DIR;
}

bool in_ci() {
  const char* ci = std::getenv("CI");
  return ci != nullptr && std::string(ci) == "true";
}

}  // namespace weft::test
