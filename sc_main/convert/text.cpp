// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "configs/config.h"
#include "configs/notation.h"
#include "sc_main/command_trace_convert.h"
#include "sc_main/console.h"
#include "sc_main/decimal.h"
#include "sc_main/text_options.h"
#include "workload/text/text_files.h"
#include "workload/text/text_job.h"

namespace weft::cli {
namespace {

struct ConvertOptions {
  std::string topology;
  uint32_t ranks = 0;
  TextWorkloadConfig text;
};

/// NPUs of each dimension.
std::vector<uint32_t> sizes_of(const ConvertOptions& options) {
  std::vector<uint32_t> sizes;
  uint64_t npus = 1;
  if (options.topology.empty()) {
    if (options.ranks == 0)
      throw UserError(ExitCode::usage,
                      "--topology and --ranks are both missing; give the machine of the traces as "
                      "--topology \"Ring(4)_Switch(2)\", or their number as --ranks 8");
    if (options.ranks > kMaxNpus)
      throw UserError(ExitCode::usage,
                      fmt::format("--ranks is {}; give at most {}", options.ranks, kMaxNpus));
    return {options.ranks};
  }
  for (const NotationDimension& dimension : parse_notation(options.topology)) {
    sizes.push_back(dimension.size);
    npus *= dimension.size;
  }
  if (options.ranks != 0 && options.ranks != npus)
    throw UserError(ExitCode::usage,
                    fmt::format("--ranks is {}, but --topology {} has {} NPUs; leave --ranks out, or "
                                "make them equal",
                                options.ranks, options.topology, npus));
  return sizes;
}

convert::Report convert_text(ConvertOptions options, const ConvertRequest& request) {
  options.text.file = only_input(request, "text");
  options.text.file = std::filesystem::absolute(options.text.file).lexically_normal().string();
  const std::string name =
      request.name.empty() ? std::filesystem::path(options.text.file).stem().string() : request.name;
  const text::TextJob job = text::make_text_job(options.text, sizes_of(options), "weft trace convert");
  for (const std::string& warning : job.file.warnings) warn(warning);
  const text::WrittenTraces written = text::write_traces(job, request.out, name);
  uint64_t rounded = 0;
  for (const text::LoopNode& node : job.loop.nodes)
    if (node.kind == text::LoopNode::Kind::compute && node.time % 1000000 != 0) ++rounded;
  if (rounded > 0)
    warn(fmt::format(
        "{} of {} nodes of a rank are no whole microseconds: `duration_micros` is rounded, `duration_ps`, "
        "which Weft reads, is exact",
        grouped(rounded), grouped(written.nodes_a_rank)));
  print(fmt::format("{}.0.et .. {}.{}.et: {} ranks, {} nodes each, {} bytes; {} of {} layers, {} passes\n",
                    written.prefix, written.prefix, written.ranks - 1, grouped(written.ranks),
                    grouped(written.nodes_a_rank), grouped(written.bytes), text::to_string(job.file.loop),
                    job.file.layers.size(), options.text.passes));
  if (!written.groups.empty())
    print(fmt::format("{}: a dimension is split; run with --groups\n", written.groups));
  return {};  // it is told
}

class TextConverter final : public TraceConverter {
 public:
  const char* name() const override { return "text"; }
  const char* description() const override { return "a text workload of ASTRA-sim 1.0"; }
  void add_options(CLI::App& group) override {
    group.add_option("--ranks", options_.ranks, "Number of ranks; without --topology one dimension")
        ->type_name("N");
    group
        .add_option("--topology", options_.topology,
                    "The dimensions of the machine, for example Ring(4)_Switch(2)")
        ->type_name("NOTATION");
    group.add_option("--passes", options_.text.passes, "Passes of the training loop (default: 1)")
        ->type_name("N")
        ->check(CLI::Range(1u, 1000000u));
    group.add_option("--compute-scale", options_.text.compute_scale, "As `workload.compute_scale`")
        ->check(check_scale);
    group.add_option("--comm-scale", options_.text.comm_scale, "As `workload.comm_scale`")
        ->check(check_scale);
    group.add_option("--clock", options_.text.clock, "As `workload.clock` (default: 1 GHz)");
    group.add_option("--update", options_.text.update, "As `workload.update`")
        ->check(CLI::IsMember({"total", "per_kib"}));
    group.add_option("--state-cycles", options_.text.state_cycles, "As `workload.state_cycles`")
        ->check(CLI::Range(uint64_t{0}, uint64_t{1000000000}));
    group.add_option("--priorities", options_.text.priorities, "As `workload.priorities`")
        ->check(CLI::IsMember({"file_1.0", "system"}));
    group
        .add_option("--model-parallel-dimensions", options_.text.model_dimensions,
                    "As `workload.model_parallel_dimensions`: 0,1")
        ->delimiter(',');
  }
  convert::Report convert(const ConvertRequest& request) override { return convert_text(options_, request); }

 private:
  ConvertOptions options_;
};

}  // namespace

std::unique_ptr<TraceConverter> make_text_converter() {
  return std::make_unique<TextConverter>();
}

}  // namespace weft::cli
