// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/command_replay.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "configs/stop.h"
#include "configs/units.h"
#include "cosim/record/block_recorder.h"
#include "cosim/record/memory_replay.h"
#include "cosim/record/nmu_replay.h"
#include "cosim/record/npu_replay.h"
#include "cosim/record/router_replay.h"
#include "cosim/record/switch_replay.h"
#include "sc_main/console.h"
#include "sc_main/decimal.h"
#include "sc_main/interruption.h"
#include "sc_main/simulation.h"
#include "sc_main/text_options.h"
#include "sc_models/plugin.h"

namespace weft::cli {
namespace {

struct ReplayCommand {
  std::string file;
  std::string implementation;
  std::string block;
  std::string tolerance = "0 ps";
  std::vector<std::string> plugins;
};

/// Until nothing moves any more, or a signal comes.
void run_to_the_end() {
  do {
    // To the next event at least: where there is none within the time, it does not go on.
    const auto next =
        sc_core::sc_pending_activity() ? sc_core::sc_time_to_pending_activity() : sc_core::SC_ZERO_TIME;
    advance(std::max(next, sc_core::sc_time(1, sc_core::SC_SEC)), sc_core::SC_EXIT_ON_STARVATION);
  } while (sc_core::sc_pending_activity() && !stop_requested());
  accept_stop();
}

/// The testbench of the kind of block that was recorded.
cosim::BlockReplay* make_bench(const ReplayCommand& options, const cosim::Recording& recording,
                               const cosim::ReplayOptions& how) {
  const std::string& kind = recording.header.kind;
  const auto make = [&](auto make_model) {
    return [&options, make_model](const char* name, auto place) {
      return make_model(options.implementation, "--implementation", name, std::move(place));
    };
  };
  if (kind == "switch") return new cosim::SwitchReplay("replay", recording, make(&make_switch), how);
  if (kind == "router") return new cosim::RouterReplay("replay", recording, make(&make_router), how);
  if (kind == "nmu") {
    const auto make_one = [&options](const char* name, NpuId rank, const NmuContext& context) {
      return make_nmu(options.implementation, "--implementation", name, rank, context);
    };
    return new cosim::NmuReplay("replay", recording, make_one, how);
  }
  if (kind == "npu") {
    const auto make_one = [&options](const char* name, const NpuContext& context) {
      return make_npu(options.implementation, "--implementation", name, context);
    };
    return new cosim::NpuReplay("replay", recording, make_one, how);
  }
  if (kind == "memory") {
    const cosim::MemoryReplay::Make none;
    return new cosim::MemoryReplay(
        "replay", recording, options.implementation == kDefaultMemoryModel ? none : make(&make_memory), how);
  }
  throw UserError(
      ExitCode::usage,
      fmt::format("the recording is of a {}, '{}', which this program does not replay; it replays "
                  "switches, routers, NPUs, NMUs and memories",
                  kind, recording.header.block));
}

ExitCode replay(const ReplayCommand& options) {
  cosim::ReplayOptions how;
  try {
    how.tolerance = parse_time(options.tolerance);
  } catch (const UserError& e) {
    throw UserError(ExitCode::usage, fmt::format("--tolerance: {}", e.what()));
  }
  for (const std::string& plugin : options.plugins)
    load_plugin(std::filesystem::absolute(plugin).lexically_normal().string(), "--plugin");
  const cosim::Recording recording = cosim::read_recording(options.file);
  const cosim::RecordingHeader& header = recording.header;
  if (!options.block.empty() && cosim::block_name(options.block) != header.block)
    throw UserError(ExitCode::usage, fmt::format("{}: is a recording of the {} '{}', not of '{}'",
                                                 options.file, header.kind, header.block, options.block));
  set_up_kernel();
  std::unique_ptr<cosim::BlockReplay, NoTeardown> bench;
  try {
    bench.reset(make_bench(options, recording, how));
    run_to_the_end();
  } catch (const UserError& e) {
    throw UserError(e.code(), fmt::format("{}: {}", options.file, e.what()));
  }
  if (interrupted()) {
    note(fmt::format("weft: error: {} at {}", interruption_text(),
                     readable_time(sc_core::sc_time_stamp().value())));
    return interruption_code();
  }
  bench->finish();
  const cosim::ReplayReport& report = bench->report();
  print(fmt::format(
      "{} {} ({}) by {}: {} {} in, {} of {} answers as recorded{}\n", header.kind, header.block, options.file,
      options.implementation, grouped(bench->driven()), bench->unit(), grouped(report.agreed()),
      grouped(bench->expected()),
      report.faults() == 0 ? "" : fmt::format(", {} faults on its pins", grouped(report.faults()))));
  if (report.first() == nullptr && report.told().empty()) return ExitCode::done;
  if (report.first() != nullptr) print("first difference " + cosim::describe(*report.first()) + "\n");
  for (const std::string& line : report.told()) print(line + "\n");
  if (report.differences() > 1) print(fmt::format("{} differences in all\n", grouped(report.differences())));
  const std::string stalled = bench->stall_text();
  if (!stalled.empty()) note("weft: " + stalled);
  note(fmt::format("weft: error: '{}' does not do what '{}' did in {}", options.implementation, header.block,
                   options.file));
  return ExitCode::internal;
}

}  // namespace

void add_replay_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<ReplayCommand>();
  CLI::App* command =
      app.add_subcommand("replay", "Run one block alone on a recording, and compare its answers");
  command->add_option("FILE", options->file, "A recording (`weft run --record BLOCK`)")->required();
  TextOptions add(*command);
  add("--implementation", options->implementation, "NAME",
      "The block: a model with its parameters, rtl:NAME(parameter=value) for RTL of a plugin");
  command->get_option("--implementation")->required();
  command->add_option("--plugin", options->plugins, "Plugin that brings the model; repeatable")
      ->type_name("FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add("--tolerance", options->tolerance, "TIME",
      "Answers may come so much earlier or later than recorded (default: 0 ps)");
  add("--block", options->block, "BLOCK", "Refuse a recording of another block");
  command->footer(
      "Exit codes: 0 all answers are as recorded, 1 some are not.\n\n"
      "Examples:\n"
      "  weft run machine.yaml --record switch0_1 --out out\n"
      "  weft replay out/switch0_1.rec --plugin my_switch.so --implementation rtl:my_switch\n"
      "  weft replay out/switch0_1.rec --implementation crossbar --tolerance \"10 ns\"\n"
      "  weft replay out/packet0_0.router5.rec --plugin my_router.so --implementation rtl:my_router\n"
      "  weft replay out/nmu3.rec --plugin my_nmu.so --implementation rtl:my_nmu\n"
      "  weft replay out/npu3.rec --plugin my_npu.so --implementation rtl:my_npu\n"
      "  weft replay out/hbm3.rec --implementation auto");
  command->callback([options, &action] { action = [options] { return replay(*options); }; });
}

}  // namespace weft::cli
