// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/command_pool.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "configs/describe.h"
#include "configs/keys.h"
#include "configs/loader.h"
#include "configs/units.h"
#include "sc_main/console.h"
#include "sc_main/decimal.h"
#include "sc_main/interruption.h"
#include "sc_main/json_text.h"
#include "sc_main/memory_check.h"
#include "sc_main/simulation.h"
#include "sc_main/size_list.h"
#include "sc_main/table.h"
#include "sc_main/text_options.h"
#include "sc_main/tier_pool.h"
#include "sc_main/workload.h"
#include "sc_models/foreign_blocks.h"
#include "sc_models/machine_check.h"
#include "sc_models/memory_estimate.h"
#include "sc_models/pool/memory_pool.h"
#include "sc_models/pool/pool_run.h"
#include "sc_models/pool/private_memories.h"

namespace weft::cli {
namespace {

struct PoolOptions {
  std::string config;
  std::vector<std::string> sets;
  std::string tensor, chunk, op = "load", npus;
  std::string memory;  ///< empty: default_memory()
  bool formula = false;
  bool force = false;
  bool json = false;
};

struct Result {
  Picoseconds time = 0;
  pool::ClosedForm form;
  std::vector<pool::ClassLoad> loads;
  uint64_t events = 0;
  uint64_t messages = 0;
  uint64_t verified = 0;
  size_t sums = 0;
  double wall_s = 0;
};

PoolOperation operation_of(const std::string& text) {
  std::vector<std::string> names;
  for (int i = 0; i < kPoolOperations; ++i) {
    names.push_back(to_string(static_cast<PoolOperation>(i)));
    if (text == names.back()) return static_cast<PoolOperation>(i);
  }
  const std::string near = nearest_name(text, names);
  throw UserError(ExitCode::usage, fmt::format("--op '{}': unknown{}; one of {}", text,
                                               near.empty() ? "" : fmt::format(" (did you mean {}?)", near),
                                               fmt::join(names, ", ")));
}

uint64_t size_of(const char* option, const std::string& text) {
  try {
    return parse_size_option(text);
  } catch (const UserError& e) {
    throw UserError(ExitCode::usage, fmt::format("{}: {}", option, e.what()));
  }
}

uint32_t npus_of(const PoolOptions& options, const Config& config, PoolOperation operation) {
  if (options.npus.empty()) return config.npus();
  uint64_t npus = 0;
  try {
    npus = parse_integer(options.npus);
  } catch (const UserError& e) {
    throw UserError(ExitCode::usage, fmt::format("--npus: {}", e.what()));
  }
  if (npus == 0 || npus > config.npus() || (in_switch(operation) && npus != config.npus()))
    throw UserError(ExitCode::usage,
                    fmt::format("--npus {}: allowed: {}", npus,
                                in_switch(operation) ? fmt::format("{}, as a {} is of all NPUs",
                                                                   config.npus(), to_string(operation))
                                                     : fmt::format("1 to {}", config.npus())));
  return static_cast<uint32_t>(npus);
}

Picoseconds rounded(double time_ps) {
  return static_cast<Picoseconds>(time_ps + 0.5);
}

std::string to_json(const Result& result, bool formula, bool data) {
  JsonText json;
  json.begin_object();
  if (!formula) json.key("time_ns").number(nanoseconds(result.time));
  json.key("closed_form_ns").number(result.form.time_ps / 1000);
  json.key("closed_form_exact").boolean(result.form.exact);
  json.key("lower_bound_ns").number(result.form.least_ps / 1000);
  json.key("bottleneck").text(result.form.stages[result.form.bottleneck].name);
  json.key("chunks").number(result.form.chunks);
  json.key("bytes").begin_object();
  for (const pool::ClassLoad& load : result.loads) json.key(load.name).number(load.most);
  json.end_object();
  json.key("classes").begin_array();
  for (const pool::ClassLoad& load : result.loads) {
    json.begin_object();
    json.key("name").text(load.name);
    json.key("links").number(load.links);
    json.key("most_bytes").number(load.most);
    json.key("least_bytes").number(load.least);
    json.key("total_bytes").number(static_cast<uint64_t>(load.total));
    json.end_object();
  }
  json.end_array();
  if (!formula) {
    json.key("messages").number(result.messages);
    json.key("events").number(result.events);
    json.key("most_partial_sums").number(uint64_t{result.sums});
    if (data) json.key("bytes_verified").number(result.verified);
  }
  json.key("wall_s").number(fmt::format("{:.6f}", result.wall_s));
  json.end_object();
  return json.str();
}

std::string to_text(const Result& result, bool formula, bool data) {
  const pool::ClosedForm& form = result.form;
  Table table({"# links of", "links", "bytes a link, most", "least", "bytes in all", "busy (us)"});
  for (const pool::ClassLoad& load : result.loads) {
    const auto stage = std::find_if(form.stages.begin(), form.stages.end(),
                                    [&](const pool::ClosedForm::Stage& s) { return s.name == load.name; });
    table.row({load.name, std::to_string(load.links), std::to_string(load.most), std::to_string(load.least),
               fmt::format("{}", static_cast<uint64_t>(load.total)),
               stage == form.stages.end() ? std::string("-") : fmt::format("{:.3f}", stage->busy_ps / 1e6)});
  }
  std::string text = table.str();
  const double measured = static_cast<double>(result.time);
  if (!formula) text += fmt::format("# time: {}\n", readable_time(result.time));
  text += fmt::format(
      "# {}: {} ({} chunks{})", form.exact ? "closed form" : "closed form, an estimate",
      readable_time(rounded(form.time_ps)), form.chunks,
      formula ? std::string()
              : fmt::format("; the time is {:+.4f} % of it", (measured / form.time_ps - 1) * 100));
  text += fmt::format("\n# bottleneck: {}, {} alone\n", form.stages[form.bottleneck].name,
                      readable_time(rounded(form.least_ps)));
  if (result.sums != 0) text += fmt::format("# partial sums: {} chunks at most in one switch\n", result.sums);
  if (data && !formula)
    text += fmt::format("# data: {} B compared, all are right\n", grouped(result.verified));
  if (!formula) text += fmt::format("# {} messages, {} events\n", result.messages, result.events);
  return text;
}

/// Until the run is finished, interrupted or stalled.
bool finish(Machine& machine, const PoolRun& run, uint32_t npus) {
  return simulate(
      machine, [&] { return run.finished(); },
      [&] {
        Work work;
        work.done = npus - run.left();
        work.total = npus;
        work.unit = "NPUs";
        return work;
      });
}

/// `remote_memory`: bytes / bandwidth and one latency, of each NPU alone.
pool::ClosedForm private_form(const Config& config, uint64_t bytes, uint32_t npus) {
  const RemoteMemoryConfig& remote = *config.remote_memory;
  const auto time = static_cast<double>(any_transfer_time(bytes, remote.bandwidth));
  pool::ClosedForm form;
  form.stages.push_back({"remote_memory/npu", time, time});
  form.least_ps = time;
  form.time_ps = time + static_cast<double>(remote.latency);
  form.exact = remote.implementation == kDefaultMemoryModel;
  form.loads.push_back({"remote_memory/npu", config.npus(), static_cast<Wide>(bytes) * npus, bytes,
                        npus == config.npus() ? bytes : 0});
  return form;
}

/// Stalls and signals are told.
ExitCode measure(const Config& config, const std::string& memory, PoolOperation operation, uint64_t bytes,
                 uint32_t npus, Result& result) {
  set_up_kernel();
  std::unique_ptr<Machine, NoTeardown> machine;
  std::unique_ptr<PrivateMemories, NoTeardown> memories;
  std::unique_ptr<TierPool> tiers;
  {
    const StopAction leave_now([] {
      accept_stop();
      note(fmt::format("weft: error: {} while the machine was built: nothing has run", interruption_text()));
      leave(interruption_code());
    });
    Machine::Options options;
    options.memory_pool = true;
    machine.reset(new Machine("job", config, options));
    if (memory == "remote") memories.reset(new PrivateMemories("private", config));
    if (machine->memory_tiers() != nullptr)
      tiers = std::make_unique<TierPool>(*machine->memory_tiers(),
                                         memory == "nvme" ? trace::Location::nvme : trace::Location::host);
  }
  const auto begin = std::chrono::steady_clock::now();
  static PoolRun run;
  PoolAccess& access = memory == "pool"     ? static_cast<PoolAccess&>(*machine->memory_pool())
                       : memory == "remote" ? static_cast<PoolAccess&>(*memories)
                                            : *tiers;
  run.start(access, operation, bytes, npus);
  const bool done = finish(*machine, run, npus);
  result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!done && interrupted()) return interruption_code();
  if (!done) {
    note("weft: error: nothing moves any more, and the access is not complete:\n" + machine->explain_stall());
    return ExitCode::stall;
  }
  result.time = run.time();
  if (memories) {
    for (uint32_t u = 0; u < npus; ++u)
      if (memories->bytes(u) != bytes)
        throw UserError(
            ExitCode::internal,
            fmt::format("NPU {} moved {} B; please report this with the command", u, memories->bytes(u)));
    return ExitCode::done;
  }
  if (memory == "pool") {
    result.loads = machine->memory_pool()->loads(stores(operation));
    result.events = machine->memory_pool()->activations();
    result.messages = machine->memory_pool()->messages();
    result.sums = machine->memory_pool()->most_sums();
    result.verified = machine->memory_pool()->verified();
  } else {
    const Machine::Totals totals = machine->totals();
    result.events = totals.activations;
    result.messages = totals.link_messages;
  }
  const std::vector<std::string> broken = machine->check_conservation();
  if (!broken.empty())
    throw UserError(ExitCode::internal,
                    fmt::format("the result breaks invariants of the model; {}:\n  {}",
                                advice_on_broken_invariants(machine->config(), "the command"),
                                fmt::join(broken, "\n  ")));
  return ExitCode::done;
}

/// Which memory is measured: the one that is wanted, or that remote accesses of traces go to.
std::string memory_of(const Config& config, const PoolOptions& options) {
  const std::pair<const char*, bool> known[] = {{"pool", config.memory_pool.has_value()},
                                                {"remote", config.remote_memory.has_value()},
                                                {"host", config.host_memory.has_value()},
                                                {"nvme", config.nvme.has_value()}};
  std::vector<std::string> names;
  for (const auto& [name, there] : known) {
    names.emplace_back(name);
    if (options.memory.empty() ? there : options.memory == name && there) return name;
    if (options.memory == name)
      throw UserError(
          ExitCode::usage,
          fmt::format("{}: --memory {}: the configuration has none; add `{}`", options.config, name,
                      name == std::string("remote") ? "remote_memory" : std::string("memory.") + name));
  }
  if (options.memory.empty())
    throw UserError(ExitCode::usage,
                    fmt::format("{}: there is no key `memory.pool`, and `weft pool` measures a pool; add it "
                                "(docs/memory_pool.md)",
                                options.config));
  const std::string near = nearest_name(options.memory, names);
  throw UserError(ExitCode::usage, fmt::format("--memory '{}': unknown{}; one of {}", options.memory,
                                               near.empty() ? "" : fmt::format(" (did you mean {}?)", near),
                                               fmt::join(names, ", ")));
}

/// What memories without switches cannot do.
void check_memory(const std::string& memory, const PoolOptions& options, PoolOperation operation,
                  uint64_t bytes) {
  if (memory == "pool") return;
  if (in_switch(operation))
    throw UserError(ExitCode::usage,
                    fmt::format("{}: --op {}: the NPUs have remote memories of their own ({}), "
                                "without switches; use load or store, or add `memory.pool`",
                                options.config, to_string(operation),
                                memory == "remote" ? "`remote_memory`" : "`memory.host`"));
  if (bytes == 0)
    throw UserError(ExitCode::usage,
                    "--tensor: a tensor of 0 bytes moves nothing; give a size of 1 B or more");
}

void check_tier(const Config& config, const std::string& memory, uint64_t bytes) {
  const uint64_t capacity = memory == "host" ? config.host_memory->capacity : config.nvme->capacity;
  if (capacity != 0 && bytes > capacity)
    throw UserError(
        ExitCode::usage,
        fmt::format("--tensor: {} B is more than memory.{}.capacity ({} B); use a smaller tensor, or "
                    "raise memory.{}.capacity",
                    bytes, memory, capacity, memory));
}

/// How the accesses go.
std::string how_text(const Config& config, const std::string& memory) {
  if (memory == "pool")
    return fmt::format("chunks of {}, split {}", print_size(config.memory_pool->chunk),
                       to_string(config.memory_pool->split));
  if (memory == "remote") return "each from a remote memory of its own";
  const uint32_t hosts = config.host_memory->hosts(config.npus());
  return fmt::format("{} of {} host{}, chunks of {}", memory == "host" ? "host memory" : "NVMe", hosts,
                     hosts == 1 ? "" : "s",
                     print_size(memory == "host" ? config.host_memory->chunk : config.nvme->chunk));
}

ExitCode run_pool(const PoolOptions& options) {
  std::vector<std::string> sets = options.sets;
  if (!options.chunk.empty()) {
    const std::string memory = memory_of(load_config(options.config, sets), options);
    const std::string chunk = print_size(size_of("--chunk", options.chunk));
    if (memory != "remote") sets.push_back(fmt::format("memory.{}.chunk={}", memory, chunk));
  }
  const auto config = std::make_unique<Config>(load_config(options.config, sets));
  const std::string memory = memory_of(*config, options);
  const PoolOperation operation = operation_of(options.op);
  const uint64_t bytes = size_of("--tensor", options.tensor);
  check_memory(memory, options, operation, bytes);
  const uint32_t npus = npus_of(options, *config, operation);
  if (memory == "pool") pool::check_access(*config, operation, bytes, npus);
  if (memory == "host" || memory == "nvme") check_tier(*config, memory, bytes);
  MemoryRoom(options.force)
      .check(*config, memory == "pool" ? pool_memory(*config, operation, bytes, npus)
                                       : machine_memory(*config, config->npus(), 0, false));
  check_machine(*config);
  Result result;
  result.form = memory == "pool" ? pool::closed_form(*config, operation, bytes, npus)
                : memory == "remote"
                    ? private_form(*config, bytes, npus)
                    : tier_form(*config, memory == "nvme" ? trace::Location::nvme : trace::Location::host,
                                stores(operation), bytes, npus);
  result.loads = result.form.loads;
  for (const std::string& warning : result.form.warnings) warn(warning);
  ExitCode code = ExitCode::done;
  if (!options.formula) code = measure(*config, memory, operation, bytes, npus, result);
  if (code != ExitCode::done) return code;
  const bool data = config->run.data != "none" && memory == "pool";
  if (options.json) {
    print(to_json(result, options.formula, data));
  } else {
    const std::string how = how_text(*config, memory);
    print(fmt::format("# {} of {} by {} NPUs, {}\n{}", to_string(operation), readable_size(bytes), npus, how,
                      to_text(result, options.formula, data)));
  }
  return code;
}

}  // namespace

void add_pool_command(CLI::App& app, Action& action) {
  const auto options = std::make_shared<PoolOptions>();
  CLI::App* command = app.add_subcommand("pool", "Measure an access of all NPUs to the memory pool");
  add_config_option(*command, options->config, "The configuration, a YAML file with `memory.pool`", true);
  add_set_option(*command, options->sets, "Set a key of the configuration; repeatable");
  TextOptions add(*command);
  add("--tensor", options->tensor, "SIZE",
      "Bytes that every NPU loads or stores; gather_load, scatter_store: the shard that every NPU "
      "contributes "
      "(the gathered tensor is NPUs x SIZE)");
  command->get_option("--tensor")->required();
  add("--chunk", options->chunk, "SIZE",
      "Bytes of a chunk, in place of memory.pool.chunk (host, nvme: of theirs)");
  add("--op", options->op, "OP",
      "load, store, gather_load (every NPU gets the shards of all) or scatter_store (the sum of what all "
      "NPUs "
      "send is stored); default load");
  add("--memory", options->memory, "NAME",
      "pool, remote, host or nvme (default: what the configuration has, in this order)");
  add("--npus", options->npus, "N", "Only NPUs 0 to N-1 load or store; default all");
  command->add_flag("--formula", options->formula, "Only the closed form; nothing is simulated");
  add_force_option(*command, options->force);
  command->add_flag("--json", options->json, "Write JSON");
  command->footer(
      "Examples:\n"
      "  weft pool configs/papers/table5_hiermem_opt.yaml --tensor \"64 MiB\" --chunk \"64 KiB\"\n"
      "  weft pool machine.yaml --tensor \"1 MiB\" --op gather_load --json\n"
      "  weft pool machine.yaml --tensor \"64 MiB\" --set memory.pool.split=whole --set "
      "memory.pool.striping=hash");
  command->callback([options, &action] { action = [options] { return run_pool(*options); }; });
}

}  // namespace weft::cli
