// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/command_import.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "configs/input_file.h"
#include "configs/loader.h"
#include "sc_main/command_run.h"
#include "sc_main/console.h"
#include "sc_main/decimal.h"
#include "sc_main/import/import_files.h"
#include "sc_main/import/input_keys.h"
#include "sc_main/import/rendezvous.h"
#include "sc_main/import/stat_rows.h"
#include "sc_main/text_options.h"
#include "sc_models/run_result.h"
#include "workload/convert/scale_traces.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::trunc);
  file << text;
  file.close();
  if (!file)
    throw UserError(ExitCode::usage,
                    fmt::format("{}: cannot be written; choose another place, or make room", path));
}

std::string absolute(const std::string& path) {
  return path.empty() ? path : fs::absolute(path).lexically_normal().string();
}

struct ImportCommand {
  import::ImportOptions files;
  std::vector<std::string> paths;  ///< by position
  std::string out = "machine.yaml";
  bool strict = false;
};

std::string names_of(const import::ImportOptions& files) {
  std::string names;
  for (const std::string* path :
       {&files.network, &files.system, &files.memory, &files.groups, &files.logical})
    if (!path->empty()) names += (names.empty() ? "" : ", ") + fs::path(*path).filename().string();
  return names;
}

void add_file_options(CLI::App& command, import::ImportOptions& files) {
  command.add_option("--network-configuration", files.network, "Network file")->type_name("FILE");
  command.add_option("--system-configuration", files.system, "System file")->type_name("FILE");
  command.add_option("--remote-memory-configuration", files.memory, "Remote memory file (2.x)")
      ->type_name("FILE");
  command.add_option("--comm-group-configuration", files.groups, "Communicator groups (2.x); `empty`: none")
      ->type_name("FILE");
  command.add_option("--logical-topology-configuration", files.logical, "Logical topology (2.x)")
      ->type_name("FILE");
  command.add_option("--num-queues-per-dim", files.queues, "Queues of a dimension")
      ->check(CLI::Range(1, 64))
      ->type_name("N");
  command.add_flag(
      "--congestion-aware", files.aware,
      "The network back end is Analytical_Congestion_Aware: `message` fidelity, store and forward");
  command.add_flag("--approximate", files.approximate, "Take an approximation where there is one: LogGP's G");
}

/// Keys of system files, or parts of them, that no other file has.
constexpr std::array<const char*, 9> kSystemWords{
    "-implementation", "scheduling-policy",       "endpoint-delay", "preferred-dataset-splits",
    "active-chunks",   "collective-optimization", "local-mem-bw",   "peak-perf",
    "roofline-enabled"};

/// What kind of file stands at a position, by its keys.
void sort_by_content(ImportCommand& command) {
  for (const std::string& path : command.paths) {
    import::ImportOptions& files = command.files;
    static const InputKind kind{"input", ExitCode::usage, "check the path; it is an input file of ASTRA-sim",
                                uint64_t{64} << 20};
    const std::string text = read_input(path, kind);
    const auto has = [&](const char* word) { return text.find(word) != std::string::npos; };
    std::string& place = has("memory-type")                                           ? files.memory
                         : has("logical-dims")                                        ? files.logical
                         : std::any_of(kSystemWords.begin(), kSystemWords.end(), has) ? files.system
                                                                                      : files.network;
    if (!place.empty())
      throw UserError(ExitCode::usage,
                      fmt::format("{} and {} are both the same kind of file; give one of them, or name "
                                  "them by options",
                                  place, path));
    place = path;
  }
}

/// Throws what the loader says of the machine, with a remedy.
void check_yaml(const std::string& yaml, const std::string& path) {
  try {
    parse_config(yaml, path);
  } catch (const UserError& e) {
    throw UserError(
        e.code(), fmt::format("the machine that was imported is none that Weft can run; it is written, mend "
                              "it there: {}",
                              e.what()));
  }
}

ExitCode import_files(ImportCommand command) {
  sort_by_content(command);
  if (command.files.groups == "empty") command.files.groups.clear();
  const std::string names = names_of(command.files);
  if (names.empty())
    throw UserError(ExitCode::usage,
                    "no file to import; give a network file, a system file or others of ASTRA-sim");
  const import::Imported imported = import::import_all(command.files);
  const std::string yaml = imported.yaml(names);
  const fs::path folder = fs::path(command.out).parent_path();
  std::error_code ignored;
  if (!folder.empty()) fs::create_directories(folder, ignored);
  write_text(command.out, yaml);
  print(imported.report_text());
  const bool machine = !imported.dimensions.empty() || !imported.graph.empty();
  if (machine) check_yaml(yaml, command.out);
  print(fmt::format("{}{}\n", command.out,
                    machine ? "" : ": without a topology, since no network file was given"));
  if (!command.strict || imported.without_counterpart() == 0) return ExitCode::done;
  throw UserError(ExitCode::usage,
                  fmt::format("--strict: {} keys have no counterpart in Weft; see the report",
                              imported.without_counterpart()));
}

struct AstraCommand {
  import::ImportOptions files;
  std::string workload, logging, logging_folder, out;  ///< out: empty: import::default_out()
  import::StatRow stat;
  double compute_scale = 1, comm_scale = 1;
  bool apply_scales = false, rendezvous = false;
  uint32_t passes = 1;
  std::string units, links, bandwidth,
      latency;  ///< of 1.0's analytical command line, in place of the network file's
};

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> out;
  std::string entry;
  for (const char c : list + ",") {
    if (c != ',' && c != ' ' && c != '[' && c != ']') {
      entry += c;
      continue;
    }
    if (!entry.empty()) out.push_back(entry);
    entry.clear();
  }
  return out;
}

/// 1.0's options that override the network file: a copy of the file with other values.
std::string overridden_network(const AstraCommand& command, const fs::path& folder) {
  if (command.units.empty() && command.links.empty() && command.bandwidth.empty() && command.latency.empty())
    return command.files.network;
  import::Imported ignored;
  import::InputKeys keys(command.files.network, ignored);
  if (!keys.has("topologies-per-dim"))
    throw UserError(ExitCode::usage,
                    "--units-count, --links-count, --link-bandwidth and --link-latency are for analytical "
                    "network files of ASTRA-sim 1.0; leave them out");
  std::string json;
  const auto quoted = [](const std::vector<std::string>& values, bool list) {
    std::string text;
    for (const std::string& v : values) text += (text.empty() ? "" : ", ") + import::yaml_text(v);
    return list ? "[" + text + "]" : text;
  };
  std::vector<std::pair<std::string, std::string>> given = {{"units-count", command.units},
                                                            {"links-count", command.links},
                                                            {"link-bandwidth", command.bandwidth},
                                                            {"link-latency", command.latency}};
  for (const import::InputKey& key : keys.keys()) {
    std::string value = quoted(key.values, key.list);
    for (auto& [name, text] : given)
      if (name == key.name && !text.empty()) {
        value = quoted(split(text), true);
        text.clear();
      }
    json += fmt::format("{}  {}: {}", json.empty() ? "" : ",\n", import::yaml_text(key.name), value);
  }
  for (const auto& [name, text] : given)
    if (!text.empty()) json += fmt::format(",\n  {}: {}", import::yaml_text(name), quoted(split(text), true));
  const std::string path = (folder / "network.json").string();
  write_text(path, "{\n" + json + "\n}\n");
  return path;
}

/// A text file of 1.0, or the prefix of traces.
bool is_text_workload(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

/// The prefix of traces; with --apply-scales that of scaled copies.
std::string scaled_workload(const AstraCommand& command, const fs::path& folder) {
  if (command.compute_scale == 1 && command.comm_scale == 1) return command.workload;
  if (!command.apply_scales) {
    warn(
        "--compute-scale and --comm-scale are read and not used by ASTRA-sim 2.x, nor here; --apply-scales "
        "runs scaled copies of the traces");
    return command.workload;
  }
  const fs::path copies = folder / "scaled";
  std::error_code error;
  fs::remove_all(copies, error);
  fs::create_directories(copies, error);
  const std::string prefix = (copies / fs::path(command.workload).filename()).string();
  if (convert::scale_traces(command.workload, prefix, {command.compute_scale, command.comm_scale}) == 0)
    throw UserError(ExitCode::trace,
                    fmt::format("--apply-scales: there is no trace {}.0.et; check --workload-configuration",
                                command.workload));
  return prefix;
}

void print_ranks(const RunResult& result) {
  std::string lines;
  for (const RankRow& row : result.ranks) {
    // ASTRA-sim's cycle is a nanosecond; its exposed communication is the time without compute.
    const Picoseconds compute = std::min(row.time.compute, row.finished);
    lines += fmt::format("sys[{}] finished, {} cycles, exposed communication {} cycles.\n", row.rank,
                         row.finished / 1000, (row.finished - compute) / 1000);
  }
  print(lines);
}

ExitCode astra(AstraCommand command) {
  import::ImportOptions& files = command.files;
  if (files.groups == "empty") files.groups.clear();
  for (const auto& [path, name] :
       {std::pair<const std::string&, const char*>{command.workload, "--workload-configuration"},
        {files.system, "--system-configuration"},
        {files.network, "--network-configuration"}})
    if (path.empty())
      throw UserError(ExitCode::usage,
                      fmt::format("{} is missing; ASTRA-sim needs workload, system and network", name));
  import::check_stat_row(command.stat);
  if (command.out.empty()) command.out = import::default_out(command.stat);
  std::error_code error;
  fs::create_directories(command.out, error);
  if (error)
    throw UserError(ExitCode::usage, fmt::format("{}: the folder cannot be created: {}; give --out another",
                                                 command.out, error.message()));
  const fs::path folder(command.out);
  files.network = overridden_network(command, folder);
  const bool text = is_text_workload(command.workload);
  import::Imported imported = import::import_all(files);
  if (text) {
    imported.set("workload.text", import::yaml_text(absolute(command.workload)));
    imported.set("workload.passes", std::to_string(command.passes));
    imported.set("workload.compute_scale", fmt::format("{}", command.compute_scale));
    imported.set("workload.comm_scale", fmt::format("{}", command.comm_scale));
  } else {
    if (command.passes != 1)
      warn("--num-passes is of text workloads, and is ignored: traces hold all that they run");
    imported.set("workload.trace", import::yaml_text(absolute(scaled_workload(command, folder))));
  }
  if (command.rendezvous && !import::add_rendezvous(imported))
    warn(
        "--rendezvous-protocol is ignored: its control messages are added to dimensions, and this machine is "
        "a graph or a tree");
  const std::string yaml = imported.yaml(names_of(files));
  const std::string machine = (folder / "machine.yaml").string();
  write_text(machine, yaml);
  write_text((folder / "import.txt").string(), imported.report_text());
  check_yaml(yaml, machine);
  for (const import::ReportRow& row : imported.report)
    if (row.verdict == import::Verdict::no_counterpart)
      warn(fmt::format("{}: key `{}: {}` has no counterpart: {}", row.where, row.key, row.value, row.why));
  for (const std::string& remark : imported.remarks) note("weft: note: " + remark);
  return run_file(machine, command.out, [&](const RunResult& result) {
    print_ranks(result);
    import::write_stat_row(command.stat, result);
  });
}

}  // namespace

void add_import_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<ImportCommand>();
  CLI::App* command = app.add_subcommand(
      "import", "Make a machine of ASTRA-sim's input files, and say what became of every key");
  command->add_option("FILE", options->paths,
                      "Network, system, memory and logical topology files, told apart by their keys");
  add_file_options(*command, options->files);
  command->add_option("--out", options->out, "The configuration to write (default: machine.yaml)")
      ->type_name("FILE");
  command->add_flag("--strict", options->strict, "Keys without counterpart are an error (exit code 2)");
  command->footer(
      "Examples:\n"
      "  weft import network.yml system.json --out machine.yaml\n"
      "  weft import garnet_torus.txt torus_sys.txt --strict");
  command->callback([options, &action] { action = [options] { return import_files(*options); }; });
}

void add_astra_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<AstraCommand>();
  CLI::App* command = app.add_subcommand("astra", "Run ASTRA-sim's command lines (2.x and 1.0) on its files");
  command
      ->add_option("--workload-configuration", options->workload,
                   "Prefix of Chakra traces, or a text workload of 1.0")
      ->type_name("PREFIX");
  add_file_options(*command, options->files);
  command
      ->add_option(
          "--out", options->out,
          "Folder of Weft's results, machine.yaml and import.txt (default: out; with --path its folder "
          "named as the run)")
      ->type_name("DIR");
  command->add_option("--num-passes", options->passes, "Passes of a text workload")
      ->check(CLI::Range(1u, 1000000u));
  command->add_option("--injection-scale", options->files.injection_scale, "Factor of endpoint-delay")
      ->check(check_scale);
  command
      ->add_option("--compute-scale", options->compute_scale,
                   "Factor of compute times of a text workload; of traces with --apply-scales")
      ->check(check_scale);
  command
      ->add_option("--comm-scale", options->comm_scale,
                   "Factor of sizes of a text workload; of traces with --apply-scales")
      ->check(check_scale);
  command->add_flag("--apply-scales", options->apply_scales,
                    "Run copies of the traces with both factors, which ASTRA-sim 2.x reads and does not use");
  command->add_option("--units-count", options->units, "NPUs of each dimension (1.0, analytical)")
      ->type_name("LIST");
  command->add_option("--links-count", options->links, "Links of each dimension (1.0, analytical)")
      ->type_name("LIST");
  command->add_option("--link-bandwidth", options->bandwidth, "GiB/s of each dimension (1.0, analytical)")
      ->type_name("LIST");
  command->add_option("--link-latency", options->latency, "ns of each dimension (1.0, analytical)")
      ->type_name("LIST");
  command
      ->add_option("--rendezvous-protocol", options->rendezvous,
                   "A send waits for a control message of 8192 B from its receiver (1.0)")
      ->expected(0, 1)
      ->default_str("true");
  for (const auto& [name, place] :
       {std::pair<const char*, std::string*>{"--logging-configuration", &options->logging},
        {"--logging-folder", &options->logging_folder}})
    command->add_option(name, *place, "Read and ignored: Weft writes its own results");
  command
      ->add_option(
          "--path", options->stat.path,
          "Folder of stat_rows.csv, a row for each run of a sweep; without --out also of the run's folder")
      ->type_name("DIR");
  command->add_option("--run-name", options->stat.run_name, "The run's name in stat_rows.csv (default: run)")
      ->type_name("NAME");
  command->add_option("--stat-row", options->stat.row, "The run's row in stat_rows.csv, from 0 (default: 0)")
      ->check(CLI::Range(uint64_t{0}, uint64_t{999999999}));
  command->add_option("--total-stat-rows", options->stat.total, "Rows of stat_rows.csv (default: 1)")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1000000000}));
  command->footer(
      "Examples:\n"
      "  weft astra --workload-configuration traces/llm --system-configuration sys.json \\\n"
      "      --network-configuration net.yml --remote-memory-configuration mem.json\n"
      "  weft astra --workload-configuration Resnet50_DataParallel.txt --system-configuration sys.txt \\\n"
      "      --network-configuration Torus3D.json --num-passes 2");
  command->callback([options, &action] { action = [options] { return astra(*options); }; });
}

}  // namespace weft::cli
