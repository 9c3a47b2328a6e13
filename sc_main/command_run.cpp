// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/command_run.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "configs/effective.h"
#include "configs/loader.h"
#include "sc_main/console.h"
#include "sc_main/decimal.h"
#include "sc_main/output_folder.h"
#include "sc_main/results.h"
#include "sc_main/simulation.h"
#include "sc_main/text_options.h"
#include "sc_models/job.h"
#include "vcd/waves.h"
#include "workload/trace/workload_check.h"

namespace weft::cli {
namespace {

struct RunOptions {
  std::string config;
  std::vector<std::string> sets;
  std::string out, trace, groups, waves;
  bool has_out = false, has_waves = false, has_groups = false;
  bool strict = false;
  bool json = false;
  bool per_layer = false;
  bool no_fold = false;
  bool waves_flits = false;
};

std::string absolute(const std::string& path) {
  return path.empty() ? path : std::filesystem::absolute(path).lexically_normal().string();
}

Config load(const RunOptions& options) {
  Config config = load_config(options.config, options.sets);
  if (!options.trace.empty()) config.workload.trace = absolute(options.trace);
  if (options.has_groups) config.workload.groups = absolute(options.groups);
  if (options.has_out) config.output.dir = options.out;
  if (options.has_waves) config.output.waves = options.waves;
  if (options.strict) config.workload.strict = true;
  if (config.workload.trace.empty())
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: key `workload.trace` is not set, so there is nothing to run; set it to the prefix "
                    "of the traces (rank r reads PREFIX.r.et), in the file, with `--set "
                    "workload.trace=PREFIX` or with `--trace PREFIX`. `weft generate llm` makes traces",
                    options.config));
  return config;
}

/// Waves on the kernel's clock; off when nothing is selected.
std::unique_ptr<vcd::Waves> make_waves(const Config& config, const OutputFolder& folder, bool every_flit) {
  vcd::WavesOptions options;
  options.writer.every_step = every_flit;
  options.selection = config.output.waves;
  options.writer.path = folder.file("waves.vcd");
  options.writer.clock = [] { return sc_core::sc_time_stamp().value(); };
  return config.output.waves.empty() ? std::make_unique<vcd::Waves>() : std::make_unique<vcd::Waves>(options);
}

void close_waves(vcd::Waves& waves, Picoseconds end, std::vector<std::string>& warnings) {
  const vcd::VcdWriter* writer = waves.writer();
  // What is on its way at the end of the job (a credit, a resume) may have moved time beyond it.
  waves.close(std::max({end, Picoseconds{writer->now()}, Picoseconds{sc_core::sc_time_stamp().value()}}));
  if (writer->failure()) throw *writer->failure();
  if (writer->truncated())
    warnings.push_back(fmt::format("{} reached its budget of {} and ends at {}; select fewer signals",
                                   writer->options().path, readable_size(writer->options().max_bytes),
                                   readable_time(writer->truncated_at())));
}

std::string folding_text(const graph::Folding& folding) {
  size_t folded = 0;
  for (const auto& c : folding.classes()) folded += c.ranks.size();
  return fmt::format(
      "weft: folded: {} of {} ranks do as others do: {} are simulated for them (--no-fold to "
      "simulate each)",
      grouped(folded), grouped(folded + folding.whole().size()), grouped(folding.classes().size()));
}

ExitCode run(const RunOptions& options) {
  const Config config = load(options);
  const trace::JobTrace traces =
      trace::open_job(config.workload.trace, config.npus(), config.workload.groups, config.workload.strict);
  const OutputFolder folder(config.output.dir,
                            {"summary.json", "ranks.csv", "collectives.csv", "phases.csv", "layers.csv",
                             "links.csv", "flows.csv", "waves.vcd", "waves.gtkw"});
  folder.write("effective.yaml", effective_yaml(config));
  for (const std::string& warning : traces.warnings()) warn(warning);

  set_up_kernel();
  std::vector<std::string> warnings;
  const std::unique_ptr<vcd::Waves> waves = make_waves(config, folder, options.waves_flits);
  auto job = std::make_unique<TraceJob>("job", config, traces, waves.get(), !options.no_fold);
  if (!job->folding().classes().empty()) note(folding_text(job->folding()));
  for (const std::string& warning : job->system().warnings()) warn(warning);
  if (waves->on()) {
    waves->begin();
    for (const std::string& pattern : waves->unmatched())
      warnings.push_back(fmt::format("--waves: the pattern '{}' matches no signal", pattern));
    for (const std::string& warning : warnings) warn(warning);
  }
  job->start();
  const bool finished = simulate(*job, "nodes");
  const RunResult result = job->result();
  const size_t told = warnings.size();
  for (const std::string& warning : result.warnings) warnings.push_back(warning);
  if (waves->on()) close_waves(*waves, result.time, warnings);
  for (size_t i = told; i < warnings.size(); ++i) {
    const auto told_early = [&](const std::vector<std::string>& early) {
      return std::find(early.begin(), early.end(), warnings[i]) != early.end();
    };
    if (!told_early(traces.warnings()) && !told_early(job->system().warnings())) warn(warnings[i]);
  }

  const RunRecord record{config,         result,         finished,         warnings,
                         wall_seconds(), peak_rss_MiB(), options.per_layer};
  write_results(folder, record);
  std::string files = "summary.json effective.yaml ranks.csv collectives.csv phases.csv layers.csv links.csv";
  if (config.packet.dcqcn.enabled) files += " flows.csv";
  if (waves->on()) files += " waves.vcd waves.gtkw";
  const std::string table = summary_text(record) + fmt::format("results  {}: {}\n", folder.path(), files);
  if (options.json) {
    print(summary_json(record));
    note(table);
  } else {
    print(table);
  }
  // Taking thousands of modules out of SystemC's registries is slow, and the process ends next.
  const std::string stall = finished ? "" : job->stall_report();
  static_cast<void>(job.release());
  if (!finished) {
    note("weft: error: " + stall);
    return ExitCode::stall;
  }
  if (!result.broken_invariants.empty()) {
    std::string lines =
        "weft: error: the results break invariants of the model; please report this with the configuration";
    for (const std::string& line : result.broken_invariants) lines += "\n  " + line;
    note(lines);
    return ExitCode::internal;
  }
  return ExitCode::done;
}

}  // namespace

void add_run_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Run the workload of a configuration and write its results");
  command->add_option("CONFIG", options->config, "The configuration, a YAML file")->required();
  add_set_option(*command, options->sets,
                 "Set a key of the configuration: --set npu.peak=\"3 TFLOPS\"; repeatable");
  auto* out = command->add_option("--out", options->out, "Folder of the results (output.dir; default: out)")
                  ->type_name("DIR");
  command->add_flag("--json", options->json,
                    "summary.json on the standard output, the table on the standard error");
  command->add_flag("--per-layer", options->per_layer,
                    "Every layer in the table; without it the longest ones (layers.csv has all)");
  auto* waves =
      command->add_option("--waves", options->waves, "Record these signals in waves.vcd (output.waves)")
          ->type_name("GLOB");
  command->add_flag("--waves-flits", options->waves_flits,
                    "At packet fidelity: flits and credits in waves.vcd flit by flit, not burst by burst");
  command
      ->add_option("--trace", options->trace,
                   "Prefix of the traces (workload.trace), from the working directory")
      ->type_name("PREFIX");
  auto* groups =
      command->add_option("--groups", options->groups, "Communicator groups (workload.groups), JSON")
          ->type_name("FILE");
  command->add_flag("--strict", options->strict,
                    "Dangling dependencies in a trace are errors (workload.strict)");
  command->add_flag("--no-fold", options->no_fold, "Simulate every rank, also those that do as others do");
  command->footer(
      "Examples:\n"
      "  weft run machine.yaml --out out\n"
      "  weft run machine.yaml --trace traces/llm --groups traces/llm.groups.json --out out\n"
      "  weft run machine.yaml --set collectives.chunks=16 --set "
      "'topology.dimensions[*].fidelity=analytical'\n"
      "  weft run machine.yaml --waves 'npu[0-3].*' --out out && gtkwave out/waves.gtkw\n"
      "  weft run machine.yaml --json | jq .time_ns");
  command->callback([options, out, waves, groups, &action] {
    options->has_out = out->count() != 0;
    options->has_waves = waves->count() != 0;
    options->has_groups = groups->count() != 0;
    action = [options] { return run(*options); };
  });
}

}  // namespace weft::cli
