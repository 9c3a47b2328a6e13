// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The programs of a `custom:` collective of one to four members, and the proof for every operation and root.
// See split_files() for the input.

#include "tests/fuzz/fuzz.h"
#include "workload/collectives/custom.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace weft;
  using namespace weft::collectives;
  static const fuzz::Folder folder;
  const auto files = fuzz::split_files(data, size, 4);
  const auto n = static_cast<uint32_t>(files.size());
  for (uint32_t m = 0; m < n; ++m) folder.write("p." + std::to_string(m) + ".et", files[m]);
  fuzz::tolerate([&] {
    const auto programs = CustomAlgorithm::load(folder.file("p"), n);
    for (int op = 0; op < kCollectiveOps; ++op) {
      for (uint32_t root = 0; root < n; ++root) {
        uint32_t block = 0;
        static_cast<void>(programs->disproof({static_cast<CollectiveOp>(op), n, 0, root, false, 0}, block));
      }
    }
    PhaseRounds rounds = write_out(*programs, CollectiveOp::all_reduce, n, 0);
    uint64_t sends = 0;
    uint64_t receives = 0;
    for (const auto& member : rounds) {
      for (const Round& round : member) {
        sends += round.sends.size();
        receives += round.receives;
      }
    }
    fuzz::expect(sends == receives, "sends and receives differ");
  });
  return 0;
}
