// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Gives a fuzz target every input of its corpus: whole configurations and traces, and what was found by
// fuzzing.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/fuzz/fuzz.h"
#include "tests/support/paths.h"

namespace weft::fuzz {
namespace {

TEST(Corpus, EveryInputIsReadOrRefused) {
  std::vector<std::filesystem::path> inputs;
  for (const auto& entry : std::filesystem::directory_iterator(
           (weft::test::source_dir() + "/tests/fuzz/corpus/") + WEFT_FUZZ_TARGET))
    inputs.push_back(entry.path());
  std::sort(inputs.begin(), inputs.end());
  EXPECT_GE(inputs.size(), 3u);
  for (const auto& input : inputs) {
    SCOPED_TRACE(input.filename().string());
    std::ifstream in(input, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    EXPECT_EQ(LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()), 0);
  }
}

}  // namespace
}  // namespace weft::fuzz
