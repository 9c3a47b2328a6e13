// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A text workload of ASTRA-sim 1.0: read, made a training loop on a small machine, and opened as a job.

#include "tests/fuzz/fuzz.h"
#include "workload/text/text_trace.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace weft;
  using weft::fuzz::expect;
  const std::string text(reinterpret_cast<const char*>(data), size);
  fuzz::tolerate([&] {
    const text::TextFile file = text::parse_text(text, "workload.txt");
    expect(!file.layers.empty(), "a file without layers");
    const std::vector<uint32_t> sizes = {4, 2};
    text::LoopOptions options;
    options.passes = 2;
    const text::TrainingLoop loop = text::make_loop(file, sizes, options);
    for (size_t i = 0; i < loop.nodes.size(); ++i)
      for (const uint32_t before : loop.nodes[i].after) expect(before < i, "a node waits for a later one");
    const trace::JobTrace job = trace::open_job(text::encode(file, loop, sizes));
    expect(job.npus() == 8 && job.node_count() == 8 * loop.nodes.size(), "nodes are missing");
  });
  return 0;
}
