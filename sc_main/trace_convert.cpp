// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/trace_convert.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "configs/config.h"
#include "configs/notation.h"
#include "sc_main/console.h"
#include "sc_main/decimal.h"
#include "workload/text/text_files.h"
#include "workload/text/text_job.h"

namespace weft::cli {
namespace {

struct ConvertOptions {
  std::string from, topology, out, name;
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

ExitCode convert(ConvertOptions options) {
  options.text.file = std::filesystem::absolute(options.text.file).lexically_normal().string();
  if (options.name.empty()) options.name = std::filesystem::path(options.text.file).stem().string();
  const text::TextJob job = text::make_text_job(options.text, sizes_of(options), "weft trace convert");
  for (const std::string& warning : job.file.warnings) warn(warning);
  const text::WrittenTraces written = text::write_traces(job, options.out, options.name);
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
  return ExitCode::done;
}

}  // namespace

void add_convert_command(CLI::App& trace, Action& action) {
  auto options = std::make_shared<ConvertOptions>();
  CLI::App* command =
      trace.add_subcommand("convert", "Make Chakra traces of a text workload of ASTRA-sim 1.0");
  command->add_option("--from", options->from, "The format of FILE: text")
      ->type_name("FORMAT")
      ->required()
      ->check(CLI::IsMember({"text"}));
  command->add_option("FILE", options->text.file, "The text workload")->required();
  command->add_option("--ranks", options->ranks, "Number of ranks; without --topology one dimension")
      ->type_name("N");
  command
      ->add_option("--topology", options->topology,
                   "The dimensions of the machine, for example Ring(4)_Switch(2)")
      ->type_name("NOTATION");
  command->add_option("--passes", options->text.passes, "Passes of the training loop (default: 1)")
      ->type_name("N")
      ->check(CLI::Range(1u, 1000000u));
  command->add_option("--out", options->out, "Folder of the traces, which is created")
      ->type_name("DIR")
      ->required();
  command->add_option("--name", options->name, "The traces are NAME.RANK.et (default: the file's name)");
  command->add_option("--compute-scale", options->text.compute_scale, "As `workload.compute_scale`")
      ->check(CLI::Range(0.0, 1e9));
  command->add_option("--comm-scale", options->text.comm_scale, "As `workload.comm_scale`")
      ->check(CLI::Range(0.0, 1e9));
  command->add_option("--clock", options->text.clock, "As `workload.clock` (default: 1 GHz)");
  command->add_option("--update", options->text.update, "As `workload.update`")
      ->check(CLI::IsMember({"total", "per_kib"}));
  command->add_option("--state-cycles", options->text.state_cycles, "As `workload.state_cycles`")
      ->check(CLI::Range(uint64_t{0}, uint64_t{1000000000}));
  command->add_option("--priorities", options->text.priorities, "As `workload.priorities`")
      ->check(CLI::IsMember({"file_1.0", "system"}));
  command
      ->add_option("--model-parallel-dimensions", options->text.model_dimensions,
                   "As `workload.model_parallel_dimensions`: 0,1")
      ->delimiter(',');
  command->footer(
      "Examples:\n"
      "  weft trace convert --from text Resnet50_DataParallel.txt --topology \"Ring(4)_Switch(2)\" --out "
      "traces\n"
      "  weft run machine.yaml --trace traces/Resnet50_DataParallel");
  command->callback([options, &action] { action = [options] { return convert(*options); }; });
}

}  // namespace weft::cli
