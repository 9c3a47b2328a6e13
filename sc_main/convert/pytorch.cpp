// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <CLI/CLI.hpp>

#include "sc_main/command_trace_convert.h"
#include "workload/convert/from_pytorch.h"

namespace weft::cli {
namespace {

class PyTorchConverter final : public TraceConverter {
 public:
  const char* name() const override { return "pytorch"; }
  const char* description() const override { return "PyTorch execution traces, one a rank"; }
  void add_options(CLI::App& group) override {
    group
        .add_option("--kineto", input_.kineto,
                    "The Kineto trace of the same rank; once for each execution trace")
        ->type_name("FILE")
        ->allow_extra_args(false);
    group.add_option("--replicate", input_.replicate, "Traces of N ranks from that of one")
        ->type_name("N")
        ->check(CLI::Range(1u, 1u << 20));
    group.add_option("--rank", input_.rank, "With --replicate: the rank that was traced (default: 0)")
        ->type_name("R");
    group.add_option("--iteration", iteration_, "Only the K-th ProfilerStep, from 0")->type_name("K");
    group.add_flag("--keep-all", input_.keep_all, "Write nodes that take no time, too");
    iteration_given_ = group.get_option("--iteration");
    iteration_given_->each([this](const std::string&) { input_.one_iteration = true; });
  }
  convert::Report convert(const ConvertRequest& request) override {
    input_.host = request.inputs;
    input_.iteration = iteration_;
    return convert::from_pytorch(input_, request.out, name_of(request));
  }

 private:
  convert::PyTorchInput input_;
  uint64_t iteration_ = 0;
  CLI::Option* iteration_given_ = nullptr;
};

}  // namespace

std::unique_ptr<TraceConverter> make_pytorch_converter() {
  return std::make_unique<PyTorchConverter>();
}

}  // namespace weft::cli
