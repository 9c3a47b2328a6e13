// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "sc_main/command_trace_convert.h"
#include "workload/convert/from_flexflow.h"

namespace weft::cli {
namespace {

class FlexFlowConverter final : public TraceConverter {
 public:
  const char* name() const override { return "flexflow"; }
  const char* description() const override { return "a FlexFlow task graph in Graphviz form"; }
  void add_options(CLI::App& group) override {
    group.add_option("--time-unit", unit_, "Unit of the graph's run times: ns, us, ms (default) or s")
        ->type_name("UNIT");
  }
  convert::Report convert(const ConvertRequest& request) override {
    const convert::FlexFlowGraph graph =
        convert::read_flexflow(only_input(request, name()), convert::flexflow_unit(unit_));
    return convert::from_flexflow(graph, convert::output_prefix(request.out, name_of(request), graph.ranks));
  }

 private:
  std::string unit_ = "ms";
};

}  // namespace

std::unique_ptr<TraceConverter> make_flexflow_converter() {
  return std::make_unique<FlexFlowConverter>();
}

}  // namespace weft::cli
