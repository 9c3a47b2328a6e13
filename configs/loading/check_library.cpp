// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Relations between `collectives.library` and other keys. What only the library's tables know (its GPUs and
// versions) is checked where they are read.

#include <fmt/format.h>

#include <string>

#include "configs/blueprint/carrier.h"
#include "configs/graph.h"
#include "configs/loading/resolution.h"

namespace weft::loading {
namespace {

class LibraryRules {
 public:
  explicit LibraryRules(Resolution& r) : r_(r), library_(r.config.collectives.library) {}

  void check() {
    if (library_.gpu.empty())
      r_.complain(
          "collectives.gpu",
          fmt::format("is needed with `library: {}`; write the name of the GPU, for example {}",
                      to_string(library_.kind), library_.kind == LibraryKind::rccl ? "MI300X" : "H100"));
    check_graph("channels", "speed", library_.ring);
    check_graph("tree_channels", "tree_speed", library_.tree);
    check_graph("nvls_channels", "nvls_speed", library_.nvls);
    check_fidelity();
    if (!r_.config.collectives.rules.empty())
      r_.complain("collectives.library",
                  "the library plans all collectives, so that `collectives.rules` would not apply; "
                  "remove one of them (docs/libraries.md: overrides)");
  }

 private:
  void check_fidelity() {
    const std::string kind = to_string(library_.kind);
    if (r_.config.run.data == "none" || always_carries_messages(r_.config)) return;
    r_.complain(
        "run.data",
        fmt::format("is {}, but with `collectives.library: {}` and all dimensions at `analytical` "
                    "fidelity{} no messages are sent that could carry data; write `fidelity: message` "
                    "for a dimension, or `data: none`",
                    r_.config.run.data, kind,
                    carries_messages(r_.config) ? ", as a rule of `topology.fidelity_rules` has it,"
                    : r_.config.fidelity_rules.empty()
                        ? ""
                        : " where no rule of `topology.fidelity_rules` matches"));
  }
  void check_graph(const char* channels, const char* speed, const LibraryGraph& graph) {
    const bool has_speed = graph.speed.bytes_per_second != 0;
    if ((graph.channels != 0) == has_speed) return;
    const char* missing = has_speed ? channels : speed;
    r_.complain(fmt::format("collectives.graph.{}", has_speed ? speed : channels),
                fmt::format("needs `{}`, too: a graph is channels and the bandwidth of each", missing));
  }

  Resolution& r_;
  const LibraryConfig& library_;
};

}  // namespace

void check_library(Resolution& r) {
  if (r.config.collectives.library.on() && !r.config.dimensions.empty()) LibraryRules(r).check();
}

}  // namespace weft::loading
