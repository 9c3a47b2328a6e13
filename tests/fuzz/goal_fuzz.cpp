// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A GOAL program, text or binary: what is accepted runs with LogGOPS.

#include "tests/fuzz/fuzz.h"
#include "workload/goal/loggops.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace weft;
  static const fuzz::Folder folder;
  folder.write("p.goal", std::string(reinterpret_cast<const char*>(data), size));
  fuzz::tolerate([&] {
    const goal::Program program = goal::read_program(folder.file("p.goal"));
    const goal::LogGopsResult run = goal::run_loggops(program, LogGpConfig(), true);
    fuzz::expect(run.ranks.size() == program.ranks.size(), "a rank has no times");
    fuzz::expect(run.matches.size() <= run.messages, "more messages were received than sent");
    fuzz::expect(!run.stall.empty() || run.matches.size() == run.messages,
                 "a message is lost and nothing stalls");
  });
  return 0;
}
