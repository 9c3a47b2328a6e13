// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A routing table, a file of its own, for a small graph: what is accepted leads every message to its NPU.

#include "configs/document.h"
#include "configs/graph.h"
#include "configs/graph_reader.h"
#include "tests/fuzz/fuzz.h"

namespace {

/// A ring of four NPUs with a switch that joins all of them, and one behind it.
weft::GraphSpec small_graph() {
  weft::GraphSpec spec;
  spec.npus = 5;
  spec.switches = {"sw0", "leaf1"};
  spec.routing = "table";
  const auto join = [&](uint32_t from, uint32_t to) {
    weft::GraphLink link;
    link.from = from;
    link.to = to;
    link.bandwidth = {50000000000, 1};
    link.latency = 500000;
    spec.links.push_back(link);
  };
  for (uint32_t i = 0; i < 4; ++i) join(i, (i + 1) % 4);
  for (uint32_t i = 0; i < 4; ++i) join(i, 5);
  join(5, 6);
  join(6, 4);
  return spec;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace weft;
  const std::string text(reinterpret_cast<const char*>(data), size);
  fuzz::tolerate([&] {
    const DocumentNode table = read_document(text, "routes.yaml");
    GraphSpec spec = small_graph();
    uint64_t errors = 0;
    const bool good = read_routes(
        table, "routes", spec,
        [&](const std::string& origin, const std::string& key, const std::string& what) {
          fuzz::expect(!origin.empty() && !key.empty() && !what.empty(), "an error without a place");
          ++errors;
        });
    fuzz::expect(good == (errors == 0), "errors and result do not agree");
    if (!good) return;
    const Graph graph(std::move(spec));
    for (uint32_t from = 0; from < graph.npus(); ++from)
      for (uint32_t to = 0; to < graph.npus(); ++to)
        if (from != to)
          fuzz::expect(graph.path(from, to, 0).hops < graph.nodes(), "a way that is longer than the graph");
  });
  return 0;
}
