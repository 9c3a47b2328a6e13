// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/command_collective.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "configs/blueprint/carrier.h"
#include "configs/describe.h"
#include "configs/graph.h"
#include "configs/packet_timing.h"
#include "configs/units.h"
#include "sc_main/collective_options.h"
#include "sc_main/console.h"
#include "sc_main/decimal.h"
#include "sc_main/interruption.h"
#include "sc_main/json_text.h"
#include "sc_main/memory_check.h"
#include "sc_main/nccl_tests_text.h"
#include "sc_main/parts/parts_run.h"
#include "sc_main/plan_text.h"
#include "sc_main/record_block.h"
#include "sc_main/results.h"
#include "sc_main/simulation.h"
#include "sc_main/size_list.h"
#include "sc_main/table.h"
#include "sc_main/text_options.h"
#include "sc_main/train_results.h"
#include "sc_main/workload.h"
#include "sc_models/collective_job.h"
#include "sc_models/foreign_blocks.h"
#include "sc_models/machine_check.h"
#include "workload/collectives/data_layout.h"
#include "workload/collectives/program_check.h"
#include "workload/collectives/traffic_estimate.h"

namespace weft::cli {
namespace {

const char* size_meaning(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::all_gather:
    case CollectiveOp::gather:
      return "each rank's shard (algbw counts all n shards, as nccl-tests does)";
    case CollectiveOp::reduce_scatter:
      return "each rank's input";
    case CollectiveOp::all_to_all:
      return "each rank's send buffer";
    case CollectiveOp::scatter:
      return "the root's buffer";
    case CollectiveOp::barrier:
      return "of no meaning for a barrier";
    default:
      return "each rank's buffer";
  }
}

struct Measured {
  CollectiveRow row;
  uint64_t messages = 0;
  uint64_t events = 0;
  uint64_t elements = 0;  ///< compared with the definition
  double wall_s = 0;
};

std::string to_json(const std::vector<Measured>& results, bool phases, const Config& config,
                    const Machine::Congestion& congestion) {
  const bool data = config.run.data != "none";
  JsonText json;
  json.begin_object();
  json.key("results").begin_array();
  for (const Measured& m : results) {
    json.begin_object();
    json.key("bytes").number(m.row.bytes);
    json.key("chunks").number(uint64_t{m.row.chunks});
    json.key("time_ns").number(nanoseconds(m.row.time()));
    json.key("algbw_GBps").number(m.row.algorithm_bandwidth() / 1e9);
    json.key("busbw_GBps").number(m.row.bus_bandwidth() / 1e9);
    json.key("efficiency").number(m.row.efficiency());
    if (by_library(m.row)) {
      json.key("algo").text(m.row.algorithm.str());
      json.key("proto").text(m.row.protocol.str());
      json.key("channels").number(uint64_t{m.row.channels});
    }
    json.key("messages").number(m.messages);
    json.key("events").number(m.events);
    json.key("wall_s").number(fmt::format("{:.6f}", m.wall_s));
    if (data) json.key("elements_verified").number(m.elements);
    if (phases) {
      json.key("phases").begin_array();
      for (const CollectiveRow::Phase& phase : m.row.phases) {
        json.begin_object();
        json.key("what").text(phase.what.str());
        json.key("queue_ns").number(nanoseconds(phase.queue));
        json.key("network_ns").number(nanoseconds(phase.network));
        json.end_object();
      }
      json.end_array();
    }
    json.end_object();
  }
  json.end_array();
  json.key("finished").boolean(!interrupted());
  if (!results.empty()) {
    json.key("operation").text(to_string(results.front().row.op));
    json.key("ranks").number(uint64_t{results.front().row.ranks});
  }
  add_congestion(json, config, congestion);
  json.end_object();
  return json.str();
}

/// Of what a communication library has planned: its plan stands in place of messages and events.
std::string library_table(const std::vector<Measured>& results) {
  Table table({"# size", "bytes", "time (us)", "algbw (GB/s)", "busbw (GB/s)", "algo", "proto", "channels"});
  for (const Measured& m : results)
    table.row({readable_size(m.row.bytes), std::to_string(m.row.bytes),
               fmt::format("{:.3f}", static_cast<double>(m.row.time()) / 1e6),
               fmt::format("{:.3f}", m.row.algorithm_bandwidth() / 1e9),
               fmt::format("{:.3f}", m.row.bus_bandwidth() / 1e9), m.row.algorithm,
               m.row.channels == 0 ? "-" : m.row.protocol.str(), std::to_string(m.row.channels)});
  return table.str();
}

std::string to_table(const std::vector<Measured>& results) {
  if (!results.empty() && by_library(results.front().row)) return library_table(results);
  Table table({"# size", "bytes", "time (us)", "algbw (GB/s)", "busbw (GB/s)", "efficiency", "messages",
               "events", "wall (s)"});
  for (const Measured& m : results) {
    const auto us = static_cast<double>(m.row.time()) / 1e6;
    table.row({readable_size(m.row.bytes), std::to_string(m.row.bytes), fmt::format("{:.3f}", us),
               fmt::format("{:.3f}", m.row.algorithm_bandwidth() / 1e9),
               fmt::format("{:.3f}", m.row.bus_bandwidth() / 1e9), fmt::format("{:.4f}", m.row.efficiency()),
               std::to_string(m.messages), std::to_string(m.events), fmt::format("{:.3f}", m.wall_s)});
  }
  return table.str();
}

/// What a size is going to take, for the progress line.
struct Ahead {
  double messages = 0;
  double work = 0;  ///< messages and, at packet fidelity, packets
};

Ahead look_ahead(const Config& config, collectives::PlanBuilder& plans, CollectiveOp op, uint64_t bytes,
                 uint32_t root, bool folded) {
  const collectives::TrafficEstimate all =
      collectives::estimate_traffic(config, *CollectiveJob::plan_of(plans, op, bytes, root));
  const double share = folded ? 1.0 / config.npus() : 1.0;
  Ahead ahead;
  ahead.messages = all.messages * share;
  ahead.work = ahead.messages;
  if (carries_packets(config)) ahead.work += all.bytes * share / static_cast<double>(smallest_packet(config));
  return ahead;
}

/// Runs one size after the other on the same machine, each as if it were alone: the one before it has left
/// nothing behind.
class Runner {
 public:
  /// `ahead`: the work of every size. `parts`: null: one process runs all.
  Runner(CollectiveJob& job, CollectiveOp op, uint32_t root, std::vector<Ahead> ahead, PartsRun* parts)
      : job_(job), op_(op), root_(root), parts_(parts), ahead_(std::move(ahead)) {
    for (const Ahead& a : ahead_) all_ += a.work;
  }

  /// Empty when it stalled, or was interrupted.
  std::optional<Measured> run(uint64_t bytes) {
    const Machine::Totals before = job_.machine().totals();
    const auto begin = std::chrono::steady_clock::now();
    if (number_ > 0) job_.machine().restart();
    job_.start(op_, bytes, root_);
    const auto work = [&] {
      const Machine::Totals now = job_.machine().totals();
      Work far = progress(now.messages_delivered - before.messages_delivered);
      far.how = trains_share(now.trains);
      return far;
    };
    const auto done = [&] { return job_.finished(); };
    if (!(parts_ != nullptr ? parts_->simulate(job_.machine(), done, work)
                            : simulate(job_.machine(), done, work)))
      return {};
    passed_ += ahead_[number_++].work;
    Measured m;
    m.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const bool in_parts = parts_ != nullptr && parts_->border() != nullptr;
    PartsRun::Collective of_parts;
    if (in_parts) of_parts = parts_->collective(job_);
    m.row = in_parts ? of_parts.row : job_.last();
    const Machine::Totals after = in_parts ? of_parts.machine.totals : job_.machine().totals();
    const Machine::Totals& since = in_parts ? counted_ : before;
    // A folded job sends one rank's messages and answers for all of them.
    const uint64_t ranks = job_.machine().folded() ? job_.machine().npus() : 1;
    m.messages = (after.messages_delivered - since.messages_delivered) * ranks;
    m.events = after.activations - since.activations;
    counted_ = after;
    if (in_parts && !parts_->first()) return m;
    m.elements = job_.verified_elements() - elements_;
    elements_ = job_.verified_elements();
    std::vector<std::string> broken = Machine::unbalanced_sums(after);
    for (std::string& line : in_parts ? of_parts.machine.unbalanced : job_.machine().unbalanced_modules())
      broken.push_back(std::move(line));
    std::string bound = check_lower_bound(m.row);
    if (!bound.empty()) broken.push_back(std::move(bound));
    broken.insert(broken.end(), job_.wrong_data().begin(), job_.wrong_data().end());
    if (!broken.empty())
      throw UserError(ExitCode::internal,
                      fmt::format("the result of {} of {} bytes breaks invariants of the model; {}:\n  {}",
                                  to_string(op_), bytes,
                                  advice_on_broken_invariants(job_.machine().config(), "the command"),
                                  fmt::join(broken, "\n  ")));
    return m;
  }

  /// Packet trains of all sizes that are finished, of all parts.
  const packet::TrainCounts& trains() const { return counted_.trains; }

 private:
  Work progress(uint64_t delivered) const {
    const Ahead& a = ahead_[number_];
    const auto messages = std::max<uint64_t>(1, static_cast<uint64_t>(a.messages));
    Work work;
    work.done = std::min(delivered, messages);
    work.total = messages;
    work.unit = "messages";
    if (ahead_.size() > 1) work.unit += fmt::format(" of size {} of {}", number_ + 1, ahead_.size());
    const double part = static_cast<double>(work.done) / static_cast<double>(messages);
    work.share = all_ == 0 ? part : (passed_ + part * a.work) / all_;
    return work;
  }

  CollectiveJob& job_;
  CollectiveOp op_;
  uint32_t root_;
  PartsRun* parts_;
  Machine::Totals counted_;  ///< of all parts, after the size before
  uint64_t elements_ = 0;
  std::vector<Ahead> ahead_;
  size_t number_ = 0;
  double passed_ = 0;
  double all_ = 0;
};

/// Of the plans: the chunks if they were chosen, and the links of the largest size.
std::string plan_lines(const Config& config, const CollectiveOptions& options, CollectiveOp op, uint32_t root,
                       const std::vector<Measured>& results) {
  std::string lines;
  if (by_library(results.front().row)) return "# library: " + library_text(config) + "\n";
  const auto automatic = [](const CollectiveRule& rule) { return rule.chunks == kAutoChunks; };
  const std::vector<CollectiveRule>& rules = config.collectives.rules;
  if (op != CollectiveOp::barrier &&
      (config.collectives.chunks == kAutoChunks || std::any_of(rules.begin(), rules.end(), automatic))) {
    std::vector<std::pair<uint64_t, uint32_t>> chunks;
    for (const Measured& m : results) chunks.emplace_back(m.row.bytes, m.row.chunks);
    lines += fmt::format("# chunks{}: {}\n", options.chunks == "auto" || rules.empty() ? " (auto)" : "",
                         chunks_text(chunks));
  }
  uint64_t largest = 0;
  for (const Measured& m : results) largest = std::max(largest, m.row.bytes);
  const std::string share = share_text(config, op, largest, root);
  if (!share.empty()) lines += fmt::format("# links: a plan can use {}\n", share);
  return lines;
}

/// The table, and what is to say below it.
std::string results_text(const Config& config, const CollectiveOptions& options, CollectiveOp op,
                         uint32_t root, const std::vector<Measured>& results,
                         const Machine::Congestion& congestion) {
  std::string text = to_table(results);
  if (config.run.data != "none" && !results.empty()) {
    uint64_t elements = 0;
    for (const Measured& m : results) elements += m.elements;
    text += fmt::format("# data: {} {} elements compared with the definition of {}{}: all are right\n",
                        grouped(elements), config.run.element, to_string(op),
                        collectives::reduces(op) ? fmt::format(" ({})", config.run.reduce) : "");
  }
  if (!results.empty()) text += plan_lines(config, options, op, root, results);
  if (config.packet.ecn.enabled) text += "# ecn: " + congestion_text(config, congestion) + "\n";
  if (options.phases) {
    for (const Measured& m : results)
      text += fmt::format("\n# {} bytes by phase: summed over the chunks, mean of the ranks\n{}", m.row.bytes,
                          phase_table(m.row));
  }
  return text;
}

std::string to_nccl_tests(const Config& config, CollectiveOp op, uint32_t root,
                          const std::vector<uint64_t>& sizes, const std::vector<Measured>& results,
                          bool finished) {
  std::vector<NcclTestsRow> rows;
  for (const Measured& m : results) rows.push_back({m.row, m.elements > 0});
  return nccl_tests_text(config, op, root, sizes, rows, finished);
}

/// What the run has found out about its configuration.
void warn_of(CollectiveJob& job) {
  const Machine& machine = job.machine();
  for (const std::string& line : job.unmatched_rules()) warn(line);
  for (const std::string& line : machine.fidelity().unmatched()) warn(line);
  for (const std::string& line : machine.slot_warnings(machine.totals().out_of_order_starts)) warn(line);
}

/// What runs the sizes in parts; null: nobody has asked for that.
std::unique_ptr<PartsRun> make_parts(const Config& config, const CollectiveOptions& options, bool folded,
                                     const std::vector<uint64_t>& sizes, uint32_t root) {
  if (!options.parts.asked()) return nullptr;
  if (!options.record.block.empty() || options.path.on || options.timeline.on)
    throw UserError(ExitCode::usage,
                    "--parts, --part-of: --record, --critical-path and --timeline are of one process; leave "
                    "one of them out");
  return std::make_unique<PartsRun>(
      config, options.parts, parts::RankLoads{},
      folded ? "the collective is folded: one rank is simulated for all (--no-fold simulates each)" : "",
      fmt::format("{} from rank {}, bytes {}", options.op, root, fmt::join(sizes, ", ")));
}

/// In the process of another part than the first.
void run_other_part(PartsRun& parts, const Config& config,
                    const std::shared_ptr<collectives::PlanBuilder>& plans,
                    const std::vector<uint64_t>& sizes, CollectiveOp op, uint32_t root) {
  set_up_kernel();
  Machine::Options of_machine = CollectiveJob::machine_options();
  of_machine.part = parts.border();
  const std::unique_ptr<Machine, NoTeardown> machine(new Machine("job", config, of_machine));
  const std::unique_ptr<CollectiveJob, NoTeardown> job(new CollectiveJob(*machine, plans));
  Runner runner(*job, op, root, std::vector<Ahead>(sizes.size()), &parts);
  for (const uint64_t bytes : sizes) {
    if (runner.run(bytes)) continue;
    parts.stall_report(*job);
    return;
  }
}

/// Switches take part in one of the sizes.
bool uses_units(collectives::PlanBuilder& plans, CollectiveOp op, const std::vector<uint64_t>& sizes,
                uint32_t root) {
  return std::any_of(sizes.begin(), sizes.end(), [&](uint64_t bytes) {
    return CollectiveJob::plan_of(plans, op, bytes, root)->uses_units();
  });
}

/// Throws UserError for what keeps one of the sizes from being run. True: they are folded.
bool check_collectives(const CollectiveOptions& options, collectives::PlanBuilder& plans, CollectiveOp op,
                       const std::vector<uint64_t>& sizes, uint32_t root) {
  const Config& config = plans.config();
  const MemoryRoom room(options.force);
  // The least that any folding needs: checked before any plan for a machine of that size is made.
  const bool may_fold =
      !options.no_fold && !carries_messages(config) && graph::folding_refusal(config).empty();
  room.check(config, machine_memory(config, may_fold ? 1 : config.npus(), may_fold ? 1 : 0, false));
  check_machine(config);
  bool folded = may_fold;
  collectives::PlanSize size;
  double data = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    CollectiveJob::check(plans, op, sizes[i], root, i + 1);
    folded = folded && CollectiveJob::not_foldable(plans, op, sizes[i]).empty();
    const auto plan = CollectiveJob::plan_of(plans, op, sizes[i], root);
    size.raise(collectives::plan_size(config, *plan));
    if (config.run.data != "none") data = std::max(data, collectives::data_footprint(*plan));
  }
  collectives::check_programs(config);
  room.check(config, collective_memory(config, folded, size, data));
  return folded;
}

constexpr std::initializer_list<const char*> kResultFiles = {
    "collectives.csv", "phases.csv", "flows.csv", "critical_path.json", "critical_path.csv", kTimelineFile};

/// The collectives of a command have no trace.
class SizeNames final : public PathNames {
 public:
  SizeNames(const CollectiveJob& job, CollectiveOp op) : job_(job), op_(op) {}
  PathNode node(uint32_t, uint32_t) const override { return {}; }
  PathCollective collective(uint32_t stream) const override {
    return {"", to_string(op_), stream - job_.first_stream() + 1, ""};
  }
  std::vector<insight::ActivityId> dependencies(uint32_t, uint32_t) const override { return {}; }

 private:
  const CollectiveJob& job_;
  const CollectiveOp op_;
};

void check_format(const CollectiveOptions& options, CollectiveOp op) {
  const bool nccl_tests = options.format == "nccl-tests";
  std::string wrong;
  if (!options.format.empty() && !nccl_tests && options.format != "table")
    wrong = "give table or nccl-tests";
  else if (nccl_tests && options.json)
    wrong = "--json was given, too; keep one of the two";
  else if (nccl_tests && op == CollectiveOp::barrier)
    wrong = "nccl-tests has no barrier; leave --format out";
  if (!wrong.empty()) throw UserError(ExitCode::usage, fmt::format("--format {}: {}", options.format, wrong));
}

ExitCode collective(const CollectiveOptions& options) {
  const CollectiveOp op = parse_operation("--op", options.op);
  check_format(options, op);
  const auto config = std::make_unique<Config>(make_config(options, op));
  set_timeline(options.timeline, config->output);
  if (config->output.timeline && options.out.empty())
    throw UserError(ExitCode::usage, fmt::format("{} needs a folder for its file; add --out DIR",
                                                 options.timeline.on ? "--timeline" : "`output.timeline`"));
  const uint32_t root = root_of(options.root, op, *config);
  const std::vector<uint64_t> sizes = all_sizes(options, op);
  for (const uint64_t bytes : sizes)
    if (op != CollectiveOp::barrier && bytes != 0 && bytes < config->collectives.chunks)
      warn(fmt::format("{} bytes are fewer than the {} chunks: one chunk a byte is used", bytes,
                       config->collectives.chunks));
  const std::string head = fmt::format("# {} on {} ({} NPUs); size: {}\n", to_string(op),
                                       machine_name(*config), grouped(config->npus()), size_meaning(op));
  const auto plans = std::make_shared<collectives::PlanBuilder>(*config);
  const bool folded = check_collectives(options, *plans, op, sizes, root);
  const std::unique_ptr<PartsRun> parts = make_parts(*config, options, folded, sizes, root);
  if (parts) parts->split([&] { run_other_part(*parts, *config, plans, sizes, op, root); });
  std::optional<OutputFolder> folder;
  if (!options.out.empty()) folder.emplace(options.out, kResultFiles);
  set_up_kernel();
  vcd::ProbeHub probes;
  std::optional<RunTimeline> timeline;
  // Without NPUs there are signals of few modules, and to declare all the others takes time.
  const bool signals = config->output.timeline && (config->collectives.reduction == ReductionKind::hbm ||
                                                   uses_units(*plans, op, sizes, root));
  if (folder) timeline.emplace(*config, *folder, signals ? &probes : nullptr);
  const std::unique_ptr<cosim::BlockRecorder> recorder = make_recorder(options.record, *config, options.out);
  if (folded)
    note("weft: folded: all ranks are identical; 1 rank is simulated for them (--no-fold simulates each)");
  const std::unique_ptr<insight::CausalLog> causes = make_causal_log(options.path);
  std::unique_ptr<Machine, NoTeardown> machine;
  std::unique_ptr<CollectiveJob, NoTeardown> job;
  {
    // Not by an exception, which would destroy the modules that are built.
    const StopAction leave_now([&timeline] {
      accept_stop();
      if (timeline) timeline->abandon();
      note(fmt::format("weft: error: {} while the machine was built: nothing has run", interruption_text()));
      leave(interruption_code());
    });
    Machine::Options of_machine = CollectiveJob::machine_options(probes.on() ? &probes : nullptr, folded);
    of_machine.boundaries = recorder.get();
    of_machine.causes = timeline ? timeline->join(causes.get()) : causes.get();
    if (parts) of_machine.part = parts->border();
    machine.reset(new Machine("job", *config, of_machine));
    job.reset(new CollectiveJob(*machine, plans));
  }
  if (recorder) recorder->begin();
  for (const std::string& warning : machine->warnings()) warn(warning);
  if (timeline) timeline->begin(folded ? 1 : config->npus(), config->npus());
  std::vector<Ahead> ahead;
  for (const uint64_t bytes : sizes) ahead.push_back(look_ahead(*config, *plans, op, bytes, root, folded));
  Runner runner(*job, op, root, std::move(ahead), parts.get());
  std::vector<Measured> results;
  const SizeNames names(*job, op);
  std::vector<PathReport> paths;
  ExitCode code = ExitCode::done;
  for (const uint64_t bytes : sizes) {
    const Picoseconds begin = sc_core::sc_time_stamp().value();
    if (causes != nullptr) causes->restart();
    std::optional<Measured> measured = runner.run(bytes);
    const std::string stall = measured ? std::string()
                              : parts  ? parts->stall_report(*job)
                                       : job->stall_report();
    if (!measured && interrupted()) {
      code = interruption_code();
      break;
    }
    if (!measured) {
      note("weft: error: " + stall);
      code = ExitCode::stall;
      break;
    }
    results.push_back(std::move(*measured));
    if (causes != nullptr)
      paths.push_back(make_path_report(*causes, names, begin, fmt::format("{} bytes", bytes)));
  }
  std::vector<std::string> missing;
  if (timeline) timeline->close(sc_core::sc_time_stamp().value(), missing);
  for (const std::string& line : missing) warn(line);
  warn_of(*job);
  Machine::Congestion congestion;
  if (config->packet.ecn.enabled) congestion = machine->congestion();
  std::string table = head + results_text(*config, options, op, root, results, congestion);
  const std::string trains = trains_text(runner.trains());
  if (!trains.empty()) table += "# trains: " + trains + "\n";
  if (parts) table += "# " + parts_text(parts->report());
  for (const PathReport& path : paths) table += critical_path_text(*causes, names, path);
  std::vector<CollectiveRow> rows;
  for (const Measured& m : results) rows.push_back(m.row);
  end_recording(recorder.get(), rows);
  if (folder) {
    write_collectives(*folder, rows);
    if (causes != nullptr) write_critical_path(*folder, *causes, names, paths);
    if (config->packet.dcqcn.enabled) write_flows(*folder, congestion);
  }
  std::string printed = table;
  if (options.format == "nccl-tests")
    printed = to_nccl_tests(*config, op, root, sizes, results, code == ExitCode::done);
  else if (options.json)
    printed = to_json(results, options.phases, *config, congestion);
  if (printed != table) note(table);
  print(printed);
  if (interrupted())
    note(fmt::format("weft: error: {} at {}: {} of {} sizes are finished", interruption_text(),
                     readable_time(sc_core::sc_time_stamp().value()), results.size(), sizes.size()));
  return timeline ? timeline->conclude(code) : code;
}

}  // namespace

void add_collective_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<CollectiveOptions>();
  CollectiveOptions& o = *options;
  CLI::App* command = app.add_subcommand(
      "collective", "Time and bandwidth of one collective, as nccl-tests measures a real machine");
  TextOptions add(*command);
  add("--topology", o.topology, "NOTATION",
      "Dimensions, innermost first: Ring(4)_FullyConnected(8)_Switch(4)");
  add_config_option(*command, o.config,
                    "Take machine and collectives from a configuration, whose keys options replace (or a "
                    "notation, as --topology takes it)",
                    false);
  add_machine_option(*command, o.machine);
  add_set_option(*command, o.sets, "Set any other key: --set packet.packet_size=\"4 KiB\"; repeatable");
  add("--bandwidth", o.bandwidth, "LIST", "Of a link and direction, one value a dimension or one for all");
  add("--bandwidth-per-npu", o.bandwidth_per_npu, "LIST", "Of all links of an NPU in a dimension, instead");
  add("--latency", o.latency, "LIST", "Of a hop (default: 500 ns)");
  add("--links-per-npu", o.links_per_npu, "LIST", "Parallel links in place of each (default: 1)");
  add("--fidelity", o.fidelity, "LIST", "analytical, message (default) or packet");
  add("--switching", o.switching, "LIST", "cut_through (default) or store_and_forward");
  add("--op", o.op, "OP",
      "all_reduce (default), all_gather, reduce_scatter, all_to_all, broadcast, reduce, gather, scatter or "
      "barrier");
  add("--size", o.size, "SIZE", "Bytes, as Chakra's comm_size: \"1 GiB\", or 1G (a power of two)");
  add("--sizes", o.sizes, "SIZES", "Several: FIRST:LAST:xFACTOR, FIRST:LAST:+STEP or a list");
  add("-b,--minbytes", o.range.first, "SIZE",
      "Several, as nccl-tests: the first size, without a unit in bytes");
  add("-e,--maxbytes", o.range.last, "SIZE", "The last size");
  add("-f,--stepfactor", o.range.factor, "N", "Each size is N times the one before");
  add("-i,--stepbytes", o.range.increment, "SIZE", "Or so much more (default: 1 MiB)");
  add("--root", o.root, "RANK", "Of broadcast, reduce, gather and scatter (default: 0)");
  add("--algorithm", o.algorithm, "LIST",
      "ring, direct, halving_doubling, double_binary_tree, in_switch (Switch only) or default (Ring: ring, "
      "FullyConnected: direct, "
      "Switch: halving_doubling); or one name for the whole operation: one_ring, one_direct, "
      "one_halving_doubling, one_double_binary_tree or custom:PREFIX");
  add("--chunks", o.chunks, "N", "Chunks of a collective, or auto (default): as many, up to 4, as pay");
  add("--active-chunks", o.active_chunks, "N", "Chunks at once in a dimension (default: 1)");
  add("--queues", o.queues, "N", "Queues a dimension; 2: both directions of a ring (default: 1)");
  add("--order", o.order, "ORDER",
      "baseline, local_bw_aware (default), enhanced, round_robin, themis or themis_flex");
  add("--scheduling", o.scheduling, "NAME", "lifo (default), fifo or priority");
  add("--dimension-scheduling", o.dimension_scheduling, "NAME",
      "fifo (default), rg, smallest_first or less_remaining_phase_first");
  add("--reduction", o.reduction, "COST",
      "none (default), or the bandwidth of reducing a block: \"1600 GB/s\"");
  add("--endpoint-delay", o.endpoint_delay, "TIME",
      "Before the first send and after every receive (default: 0 ns)");
  command->add_flag("--no-fold", o.no_fold,
                    "Simulate every rank of a symmetric analytical collective instead of one for all");
  add_force_option(*command, o.force);
  add("--data", o.data, "ELEMENT",
      "Carry elements (fp32, bf16 or int32), compute with them, and compare every result with the "
      "definition");
  add("--reduce", o.reduce, "OP", "With --data: sum (default), max or min");
  command->add_flag("--phases", o.phases, "Queue and network time of every phase");
  add_parts_options(add, o.parts);
  add("--out", o.out, "DIR", "Write collectives.csv and phases.csv there");
  add_timeline_options(*command, add, o.timeline);
  add_critical_path_options(*command, add, o.path);
  add_record_options(add, o.record);
  command->add_flag("--json", o.json,
                    "Results as JSON on the standard output, the table on the standard error");
  add("--format", o.format, "FORMAT",
      "table (default), or nccl-tests: the lines that nccl-tests prints, for scripts that read them");
  command->footer(
      "Bandwidths follow nccl-tests: algbw = size / time (the size of an all-gather being that of its "
      "output), busbw =\n"
      "algbw x 2(n-1)/n for all_reduce, (n-1)/n for all_gather, reduce_scatter and all_to_all. Efficiency is "
      "the\n"
      "physical lower bound over the time.\n\n"
      "Examples:\n"
      "  weft collective --topology \"Ring(4)_FullyConnected(8)_Switch(4)\" --bandwidth \"200 GB/s,100 "
      "GB/s,50 GB/s\" \\\n"
      "    --latency \"500 ns\" --op all_reduce --size \"1 GiB\" --chunks 64\n"
      "  weft collective --topology \"Switch(8)\" --bandwidth \"450 GB/s\" --sizes 64KiB:1GiB:x2 --algorithm "
      "ring\n"
      "  weft collective --topology \"Ring(8)\" --bandwidth \"50 GB/s\" --op all_gather --size 1MiB "
      "--fidelity analytical \\\n"
      "    --json | jq .results[0].time_ns\n"
      "  weft collective --machine dgx_h100 -b 1K -e 1G -f 2 --format nccl-tests");
  command->callback([options, &action] { action = [options] { return collective(*options); }; });
}

}  // namespace weft::cli
