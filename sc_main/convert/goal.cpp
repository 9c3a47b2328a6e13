// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <CLI/CLI.hpp>

#include "sc_main/command_trace_convert.h"
#include "workload/convert/from_goal.h"

namespace weft::cli {
namespace {

class GoalConverter final : public TraceConverter {
 public:
  const char* name() const override { return "goal"; }
  const char* description() const override { return "a GOAL program, text or binary, as LogGOPSim reads it"; }
  convert::Report convert(const ConvertRequest& request) override {
    const goal::Program program = goal::read_program(only_input(request, name()));
    return convert::from_goal(
        program, LogGpConfig(),
        convert::output_prefix(request.out, name_of(request), static_cast<uint32_t>(program.ranks.size())));
  }
};

}  // namespace

std::unique_ptr<TraceConverter> make_goal_converter() {
  return std::make_unique<GoalConverter>();
}

}  // namespace weft::cli
