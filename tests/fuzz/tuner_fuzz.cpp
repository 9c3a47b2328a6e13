// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Overrides of a communication library's tuner: what is accepted matches at most one line a call.

#include "tests/fuzz/fuzz.h"
#include "workload/library/overrides.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace weft;
  const std::string text(reinterpret_cast<const char*>(data), size);
  fuzz::tolerate([&] {
    const library::Overrides overrides = library::Overrides::parse(text, "tuner.csv");
    for (int op = 0; op < library::kLibraryOps; ++op) {
      for (const uint64_t bytes : {uint64_t{1}, uint64_t{65536}, ~uint64_t{0}}) {
        const library::Forced forced = overrides.find(static_cast<library::LibraryOp>(op), bytes, 2, 16);
        fuzz::expect(!forced.line.empty() || (!forced.algorithm && !forced.protocol && forced.channels == 0),
                     "something is forced by no line");
        fuzz::expect(forced.line.empty() || !overrides.empty(), "a line of an empty file");
      }
    }
  });
  return 0;
}
