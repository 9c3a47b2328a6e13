// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/command_emulate.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "configs/blueprint/carrier.h"
#include "configs/effective.h"
#include "configs/npu_list.h"
#include "configs/units.h"
#include "emulation/environment/delay_plugin.h"
#include "emulation/environment/delay_table.h"
#include "emulation/environment/full_fabric.h"
#include "emulation/environment/idle_times.h"
#include "emulation/environment/restricted_fabric.h"
#include "emulation/job/capture.h"
#include "emulation/job/job.h"
#include "emulation/server/discovery.h"
#include "emulation/server/recording.h"
#include "emulation/server/server.h"
#include "emulation/shims/shims.h"
#include "sc_main/console.h"
#include "sc_main/emulate_results.h"
#include "sc_main/interruption.h"
#include "sc_main/memory_check.h"
#include "sc_main/output_folder.h"
#include "sc_main/simulation.h"
#include "sc_main/text_options.h"
#include "sc_main/workload.h"
#include "sc_models/memory_estimate.h"
#include "workload/graph/folding.h"

namespace weft::cli {
namespace {

struct EmulateOptions {
  WorkloadOptions workload;
  std::string world, real, clock = "virtual", compute = "cpu", compute_scale = "1", data = "mirror", capture,
                           out;
  std::string time_limit;
  std::string discover;
  std::string at_once;
  std::string shim = "auto";
  bool preload_children = false;
  bool json = false;
  std::vector<std::string> command;
};

[[noreturn]] void refuse(const std::string& text) {
  throw UserError(ExitCode::usage, text);
}

std::vector<std::string> items_of(const std::string& text) {
  std::vector<std::string> items;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    items.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return items;
}

std::vector<uint32_t> real_ranks(const EmulateOptions& options, const Config& config) {
  std::vector<uint32_t> real = config.environment->real;
  if (!options.real.empty()) {
    try {
      real = expand_npus(items_of(options.real), config.npus());
    } catch (const UserError& e) {
      refuse(fmt::format("--real {}: {}; the ranks are 0 to {}", options.real, e.what(), config.npus() - 1));
    }
  }
  if (real.empty())
    refuse("no rank is real: name those that are processes, --real 0,8 (or `environment.real`)");
  std::sort(real.begin(), real.end());
  return real;
}

/// `cpu`, `wall`, `fixed:10us`, `table:F.csv`.
void set_compute(const EmulateOptions& options, emulation::Welcome& welcome) {
  const std::string& text = options.compute;
  const auto after = [&](const char* word) { return text.substr(std::string(word).size()); };
  if (text == "cpu") {
    welcome.compute = static_cast<uint32_t>(emulation::ComputeKind::cpu);
  } else if (text == "wall") {
    welcome.compute = static_cast<uint32_t>(emulation::ComputeKind::wall);
  } else if (text.rfind("fixed:", 0) == 0) {
    welcome.compute = static_cast<uint32_t>(emulation::ComputeKind::fixed);
    try {
      const std::string time = after("fixed:");
      welcome.fixed = static_cast<int64_t>(time == "0" ? 0 : parse_time(time));
    } catch (const UserError& e) {
      refuse(fmt::format("--compute {}: {}", text, e.what()));
    }
  } else if (text.rfind("table:", 0) == 0) {
    welcome.compute = static_cast<uint32_t>(emulation::ComputeKind::table);
    welcome.table = std::filesystem::absolute(after("table:")).string();
    if (!std::filesystem::is_regular_file(welcome.table))
      refuse(fmt::format("--compute {}: there is no such file; its lines are `rank,call,ps`", text));
  } else {
    refuse(fmt::format("--compute '{}' is not one of cpu, wall, fixed:TIME and table:FILE", text));
  }
  try {
    welcome.scale = parse_number(options.compute_scale);
  } catch (const UserError& e) {
    refuse(fmt::format("--compute-scale: {}", e.what()));
  }
  if (welcome.scale > 1e9)
    refuse(fmt::format("--compute-scale {}: give a number from 0 to 1e9", options.compute_scale));
  const bool measured = text == "cpu" || text == "wall";
  if (welcome.scale != 1 && !measured)
    refuse(
        fmt::format("--compute-scale {}: multiplies measured times, and --compute {} measures none; leave "
                    "one of the two out",
                    options.compute_scale, text));
}

emulation::JobSettings job_settings(const EmulateOptions& options, const Config& config) {
  emulation::JobSettings job;
  job.world = config.npus();
  if (!options.world.empty() && parse_whole("--world", options.world, 1, 1u << 24) != job.world)
    refuse(
        fmt::format("--world {}: the machine {} has {} NPUs, and every rank needs one; change the machine or "
                    "leave --world out",
                    options.world, config.file, job.world));
  job.real = real_ranks(options, config);
  if (options.clock != "virtual" && options.clock != "wall")
    refuse(fmt::format("--clock '{}' is not one of virtual and wall", options.clock));
  job.wall = options.clock == "wall";
  const std::vector<std::string> modes{"dummy", "mirror", "functional"};
  const auto mode = std::find(modes.begin(), modes.end(), options.data);
  if (mode == modes.end())
    refuse(fmt::format("--data '{}' is not one of dummy, mirror and functional", options.data));
  job.data = static_cast<uint32_t>(mode - modes.begin());
  emulation::Welcome& welcome = job.welcome;
  welcome.clock = job.wall ? 1 : 0;
  welcome.data = job.data;
  welcome.poll_cost = static_cast<int64_t>(config.environment->poll_cost);
  welcome.ranks_per_node =
      config.dimensions.size() > 1 && config.graph == nullptr ? config.dimensions[0].size : 1;
  welcome.node_prefix = "node";
  set_compute(options, welcome);
  return job;
}

/// Restricted: a large machine is measured from one rank, if it can be.
bool folds(const Config& config) {
  constexpr uint32_t kMostWhole = 2048;
  constexpr uint32_t kMostWithRings = 16384;  // at message fidelity; some 7 KB a rank
  const bool rings = std::any_of(config.dimensions.begin(), config.dimensions.end(), [](const auto& d) {
    return d.size > 1 && carrier_of(d) == Carrier::neighbours;
  });
  return config.environment->detail != "full" && config.npus() > (rings ? kMostWithRings : kMostWhole) &&
         graph::folding_refusal(config).empty();
}

void check_config(const Config& config, const MemoryRoom& room) {
  check_run(config);
  const auto not_with = [&](const std::string& key, const std::string& remedy) {
    refuse(fmt::format("{}: `weft emulate` cannot go with {}; {}", config.file, key, remedy));
  };
  if (config.collectives.library.on())
    not_with("`collectives.library`", "remove the key, and name algorithms");
  if (config.run.data != "none")
    not_with("`run.data`", "use --data functional, which carries the program's data");
  if (!config.jobs.empty()) not_with("`jobs`", "remove them");
  if (config.environment->detail != "full" && config.environment->skew != 0)
    not_with("`environment.skew` at `environment.detail: restricted`", "use `detail: full`");
  if (config.environment->delay == "table" &&
      (config.environment->detail == "full" || config.environment->delay_table.empty()))
    not_with("`environment.delay: table`", "set `delay_table`, and `detail: restricted`");
  if (config.environment->delay == "plugin" &&
      (config.environment->detail == "full" || config.environment->delay_plugin.empty()))
    not_with("`environment.delay: plugin`", "set `delay_plugin`, and `detail: restricted`");
  if (!folds(config)) room.check(config, machine_memory(config, config.npus(), 0, false));
}

class Emulation {
 public:
  Emulation(const EmulateOptions& options, const Config& config)
      : options_(options), config_(config), settings_(job_settings(options, config)) {}

  ExitCode run() {
    const emulation::Classes classes(config_, settings_.world, settings_.real);
    const OutputFolder folder(config_.output.dir,
                              {"summary.json", "calls.csv", "iterations.csv", "effective.yaml"});
    folder.write("effective.yaml", effective_yaml(config_));
    std::unique_ptr<emulation::Capture> capture;
    if (!options_.capture.empty())
      capture = std::make_unique<emulation::Capture>(options_.capture, settings_.world);
    set_up_kernel();
    const StopAction stop([] {});
    const emulation::KnownMembers members = discover();
    const emulation::Recordings recordings = record(members);
    make_fabric(classes);
    for (const std::string& warning : machine().warnings()) warn(warning);
    emulation::Outcome outcome;
    std::unique_ptr<emulation::Job> job;
    if (recordings.empty()) {
      emulation::Server server(settings_, server_settings(), [](const std::string& text) { note(text); });
      settings_.welcome.epoch = server.epoch();
      settings_.wall_clock = [&server] { return server.wall_clock(); };
      job =
          make_job(capture.get(), [&server](uint32_t rank, const auto& bytes) { server.send(rank, bytes); });
      job->know(members);
      outcome = server.run(*job);
    } else {
      emulation::Player player(recordings);
      job =
          make_job(capture.get(), [&player](uint32_t rank, const auto& bytes) { player.send(rank, bytes); });
      job->know(members);
      outcome = player.run(*job);
      job->report().warnings.push_back(fmt::format(
          "an approximation (--at-once {}): ranks ran one after another, and their calls and compute times "
          "together on the machine afterwards; times that the program prints are not the machine's",
          options_.at_once));
    }
    const bool stopped = interrupted();
    accept_stop();
    if (stopped) outcome = {interruption_code(), interruption_text()};
    return conclude(folder, *job, classes, capture.get(), outcome,
                    idle_ != nullptr ? idle_->activations() : machine_->totals().activations);
  }

 private:
  /// Members of communicators, from a short run of all ranks.
  emulation::KnownMembers discover() const {
    if (options_.discover.empty()) return {};
    const uint64_t calls = parse_whole("--discover", options_.discover, 1, 1u << 20);
    try {
      return emulation::discover(config_, settings_, server_settings(), calls,
                                 [](const std::string& text) { note(text); });
    } catch (const UserError&) {
      if (!interrupted()) throw;
      accept_stop();
      throw UserError(interruption_code(), interruption_text());
    }
  }

  /// With --at-once below the number of real ranks: what they do. Else empty.
  emulation::Recordings record(const emulation::KnownMembers& members) const {
    if (options_.at_once.empty()) return {};
    const uint64_t at_once = parse_whole("--at-once", options_.at_once, 1, 1u << 16);
    if (at_once >= settings_.real.size()) return {};
    if (settings_.wall)
      refuse("--at-once needs --clock virtual: ranks that run one after another share no wall clock");
    try {
      return emulation::record(config_, settings_, server_settings(), static_cast<uint32_t>(at_once), members,
                               [](const std::string& text) { note(text); });
    } catch (const UserError&) {
      if (!interrupted()) throw;
      accept_stop();
      throw UserError(interruption_code(), interruption_text());
    }
  }

  std::unique_ptr<emulation::Job> make_job(emulation::Capture* capture,
                                           emulation::Job::SendBytes send) const {
    return std::make_unique<emulation::Job>(config_, settings_, *fabric_, std::move(send), capture);
  }

  void make_fabric(const emulation::Classes& classes) {
    const auto run = [](const sc_core::sc_time& by) { advance(by); };
    if (config_.environment->detail == "full") {
      machine_.reset(new Machine("job", config_, Machine::Options{}));
      fabric_ = std::make_unique<emulation::FullFabric>(*machine_, run);
      return;
    }
    idle_ = std::make_unique<emulation::IdleTimes>(config_, settings_.real, folds(config_), run);
    if (config_.environment->delay == "table")
      idle_->use(std::make_unique<emulation::DelayTable>(config_.environment->delay_table));
    if (config_.environment->delay == "plugin")
      idle_->use(std::make_unique<emulation::DelayPlugin>(config_.environment->delay_plugin));
    fabric_ = std::make_unique<emulation::RestrictedFabric>(config_, classes, *idle_);
  }
  const Machine& machine() const { return idle_ != nullptr ? idle_->machine() : *machine_; }

  emulation::ServerSettings server_settings() const {
    emulation::ServerSettings server;
    server.command = options_.command;
    server.variables = emulation::shim_variables(options_.shim, options_.command, options_.preload_children);
    server.ranks_per_node = settings_.welcome.ranks_per_node;
    if (!options_.time_limit.empty()) {
      try {
        server.time_limit = static_cast<double>(parse_time(options_.time_limit)) * 1e-12;
      } catch (const UserError& e) {
        refuse(fmt::format("--time-limit {}: {}", options_.time_limit, e.what()));
      }
      if (server.time_limit == 0) refuse("--time-limit 0: give a time, or leave it out for no limit");
    }
    return server;
  }

  ExitCode conclude(const OutputFolder& folder, emulation::Job& job, const emulation::Classes& classes,
                    emulation::Capture* capture, const emulation::Outcome& outcome, uint64_t events) {
    EmulationRecord record{
        config_,       job.report(), settings_.world,       options_.clock, config_.environment->detail,
        outcome.error, "",           job.report().warnings, events,         wall_seconds(),
        peak_rss_MiB()};
    std::string files = "summary.json effective.yaml calls.csv iterations.csv";
    if (capture != nullptr && outcome.error.empty()) {
      const emulation::Capture::Written written = capture->write(classes);
      record.capture = written.prefix;
      for (const std::string& warning : written.warnings) record.warnings.push_back(warning);
    }
    for (const std::string& warning : record.warnings) warn(warning);
    write_emulation(folder, record);
    std::string table = emulation_text(record);
    if (!record.capture.empty())
      table += fmt::format("capture  {0}.0.et to {0}.{1}.et: weft run {2} --trace {0}\n", record.capture,
                           settings_.world - 1, config_.file);
    table += fmt::format("results  {}: {}\n", folder.path(), files);
    print_results(table, options_.json, [&] { return emulation_json(record); });
    if (!outcome.error.empty()) note("weft: error: " + outcome.error);
    return outcome.code;
  }

  const EmulateOptions& options_;
  const Config& config_;
  emulation::JobSettings settings_;
  std::unique_ptr<Machine, NoTeardown> machine_;
  std::unique_ptr<emulation::IdleTimes> idle_;
  std::unique_ptr<emulation::Fabric> fabric_;
};

ExitCode emulate(const EmulateOptions& options) {
  if (options.command.empty())
    refuse("the program is missing: weft emulate machine.yaml --real 0 -- COMMAND...");
  Config config = load_workload(options.workload);
  if (!config.environment) {
    config.environment.emplace();
    config.environment->detail = "restricted";
  }
  if (!options.out.empty()) config.output.dir = options.out;
  const MemoryRoom room(options.workload.force);
  check_config(config, room);
  return Emulation(options, config).run();
}

}  // namespace

void add_emulate_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<EmulateOptions>();
  EmulateOptions& o = *options;
  CLI::App* command = app.add_subcommand(
      "emulate", "Run a real distributed program: a few ranks are processes, Weft simulates all others");
  TextOptions add(*command);
  add_config_option(*command, o.workload.config, "The machine", false);
  add_machine_option(*command, o.workload.machine);
  add_set_option(*command, o.workload.sets, "Set a key: --set environment.detail=full; repeatable");
  add_force_option(*command, o.workload.force);
  add("--world", o.world, "N", "Ranks of the job: must be the machine's NPUs (default)");
  add("--real", o.real, "LIST", "The ranks that are processes: 0,8 or 0..3 (environment.real)");
  add("--clock", o.clock, "CLOCK",
      "virtual (default): a rank's time grows by its compute time, results are deterministic for given "
      "compute; "
      "wall: simulated time follows the wall clock");
  add("--compute", o.compute, "HOW",
      "Compute time between two calls: cpu (default; CPU time of the process), wall, fixed:TIME, or "
      "table:FILE "
      "with lines `rank,call,ps`");
  add("--compute-scale", o.compute_scale, "X", "Measured compute times x X (default: 1)");
  add("--data", o.data, "MODE",
      "What receive buffers get: dummy (zeros), mirror (default: as if all others held what this rank holds) "
      "or "
      "functional (exact over real ranks)");
  add("--shim", o.shim, "SHIM",
      "What stands between the program and Weft: auto (default; by the libraries that it is linked with), "
      "ompi, "
      "mpich, nccl, torch (for python -m weft.run) or none");
  command->add_flag("--preload-children", o.preload_children, "What the program starts has the shim, too");
  add("--capture", o.capture, "DIR/NAME", "Write Chakra traces of all ranks, which `weft run` replays");
  command->add_flag(
      "--discover{16}", o.discover,
      "First start every rank for a moment, with zero data, and learn which ranks are in the "
      "communicators that it makes. It ends when each rank has made 16 calls since its last new "
      "communicator; --discover=N: N calls");
  add("--at-once", o.at_once, "N",
      "Run only so many real ranks at a time, one after another, and their recorded calls together "
      "afterwards");
  add("--time-limit", o.time_limit, "TIME", "Of the wall clock: ends the job with an error");
  add("--out", o.out, "DIR", "Folder of the results (output.dir; default: out)");
  command->add_flag("--json", o.json, "summary.json on the standard output, the table on the standard error");
  command->add_option("COMMAND", o.command, "After --: the program and its arguments")->type_name("");
  command->footer(
      "The program talks to Weft by libweft_comm (weft_comm.h). It is started once for each real rank, with "
      "WEFT_SOCKET,\n"
      "WEFT_RANK, WEFT_WORLD_SIZE and RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, "
      "MASTER_PORT.\n"
      "Exit code: that of the first rank that fails, 4 for a job that cannot be (calls that do not fit "
      "together, "
      "deadlock).\n\n"
      "Examples:\n"
      "  weft emulate machine.yaml --real 0 -- ./allreduce\n"
      "  weft emulate machine.yaml --real 0,8 --compute fixed:0 --capture traces/job -- ./train --steps 10\n"
      "  weft emulate machine.yaml --real 0,8 --clock wall --time-limit \"60 s\" -- ./server");
  command->callback([options, &action] { action = [options] { return emulate(*options); }; });
}

}  // namespace weft::cli
