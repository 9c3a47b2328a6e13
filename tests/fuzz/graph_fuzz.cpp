// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The `graph:` of a configuration, with its routing: what is accepted prints to the same graph, and every NPU
// reaches every other.

#include "configs/graph.h"

#include "configs/graph_reader.h"
#include "configs/loader.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/large_machine.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace weft;
  // Every line one step in: the input is what stands below `topology:`.
  std::string text = "weft: 1\ntopology:\n  ";
  for (size_t i = 0; i < size; ++i) {
    text += static_cast<char>(data[i]);
    if (data[i] == '\n') text += "  ";
  }
  if (fuzz::large_machine(text)) return 0;
  Config config;
  if (!fuzz::tolerate([&] { config = parse_config(text, "graph.yaml"); }) || config.graph == nullptr)
    return 0;
  const Graph& graph = *config.graph;
  const std::string printed = print_graph(graph.spec());
  Config again;
  const bool read =
      fuzz::tolerate([&] { again = parse_config("weft: 1\ntopology:\n" + printed, "graph.yaml"); });
  fuzz::expect(read && again.graph != nullptr,
               "a graph that was accepted is refused as it is printed:\n" + printed);
  const std::string second = print_graph(again.graph->spec());
  fuzz::expect(second == printed, "a graph reads back as another:\n" + printed + "\nand then\n" + second);
  if (graph.npus() > 16) return 0;
  for (uint32_t from = 0; from < graph.npus(); ++from)
    for (uint32_t to = 0; to < graph.npus(); ++to)
      if (from != to) {
        const Graph::Path path = graph.path(from, to, Graph::flow(from, to, 1));
        fuzz::expect(path.hops > 0 && path.hops < graph.nodes(), "a way that is none");
      }
  return 0;
}
