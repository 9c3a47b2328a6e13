// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A FlexFlow task graph.

#include "tests/fuzz/fuzz.h"
#include "workload/convert/from_flexflow.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace weft;
  static const fuzz::Folder folder;
  folder.write("g.graph", std::string(reinterpret_cast<const char*>(data), size));
  fuzz::tolerate([&] {
    const convert::FlexFlowGraph graph =
        convert::read_flexflow(folder.file("g.graph"), convert::flexflow_unit("ms"));
    fuzz::expect(graph.ranks > 0 && !graph.tasks.empty(), "a graph without ranks is accepted");
    for (const auto& [from, to] : graph.edges)
      fuzz::expect(from < graph.tasks.size() && to < graph.tasks.size(), "an edge leads nowhere");
  });
  return 0;
}
