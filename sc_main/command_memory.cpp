// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/command_memory.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "configs/keys.h"
#include "configs/loader.h"
#include "configs/units.h"
#include "sc_main/console.h"
#include "sc_main/decimal.h"
#include "sc_main/interruption.h"
#include "sc_main/json_text.h"
#include "sc_main/load_list.h"
#include "sc_main/memory_bench.h"
#include "sc_main/simulation.h"
#include "sc_main/size_list.h"
#include "sc_main/table.h"
#include "sc_main/text_options.h"

namespace weft::cli {
namespace {

constexpr uint64_t kMostBlock = 1ull << 30;
constexpr uint64_t kMostBlocks = 100000000;
/// Bursts that keep a window of 64 full, with those on their way back.
constexpr uint64_t kFullWindow = 96;

struct MemoryOptions {
  std::string config;
  std::vector<std::string> sets;
  std::string memory = "hbm";
  std::string pattern = "sequential", block = "64 B", load = "0.1:0.9:0.1";
  std::string stride, read_fraction, run, range;
  std::string stacks, channels, pseudo_channels, bank_groups, banks;
  std::string blocks, outstanding, seed;
  bool json = false;
};

[[noreturn]] void fail(const std::string& message) {
  throw UserError(ExitCode::usage, message);
}

uint64_t size(const char* option, const std::string& text, uint64_t least, uint64_t most) {
  uint64_t bytes = 0;
  try {
    bytes = parse_size_option(text);
  } catch (const UserError& e) {
    fail(fmt::format("{}: {}", option, e.what()));
  }
  if (bytes < least || bytes > most)
    fail(fmt::format("{} {}: give from {} to {}", option, text, readable_size(least), readable_size(most)));
  return bytes;
}

double fraction(const char* option, const std::string& text) {
  double value = -1;
  try {
    value = parse_number(text);
  } catch (const UserError& e) {
    fail(fmt::format("{}: {}; give a number from 0 (writes only) to 1 (reads only)", option, e.what()));
  }
  if (!(value >= 0 && value <= 1))
    fail(fmt::format("{} {}: give a number from 0 (writes only) to 1 (reads only)", option, text));
  return value;
}

MemoryPart part_of(const MemoryOptions& o) {
  const auto part = [](const char* option, const std::string& text) {
    return text.empty() ? 0 : static_cast<uint32_t>(parse_whole(option, text, 1, 65536));
  };
  MemoryPart p;
  p.stacks = part("--stacks", o.stacks);
  p.channels = part("--channels", o.channels);
  p.pseudo_channels = part("--pseudo-channels", o.pseudo_channels);
  p.bank_groups = part("--bank-groups", o.bank_groups);
  p.banks = part("--banks", o.banks);
  return p;
}

MemoryPattern pattern_of(const MemoryOptions& o, const MeasuredMemory& memory) {
  const std::vector<std::string> names = {"sequential", "random", "mixed"};
  if (std::find(names.begin(), names.end(), o.pattern) == names.end()) {
    const std::string near = nearest_name(o.pattern, names);
    fail(fmt::format("--pattern '{}': unknown{}; one of {}", o.pattern,
                     near.empty() ? "" : fmt::format(" (did you mean {}?)", near), fmt::join(names, ", ")));
  }
  MemoryPattern p;
  p.random = o.pattern != "sequential";
  p.reads = o.pattern == "mixed" ? 0.5 : 1;
  if (!o.read_fraction.empty()) p.reads = fraction("--read-fraction", o.read_fraction);
  p.block = size("--block", o.block, 1, kMostBlock);
  p.range = o.range.empty() ? memory.range : size("--range", o.range, 1, memory.range);
  p.stride = p.block;
  if (!o.stride.empty()) {
    if (p.random)
      fail(fmt::format("--stride {}: is of --pattern sequential; random blocks have none", o.stride));
    p.stride = size("--stride", o.stride, 1, memory.range);
  }
  if (!o.run.empty()) {
    if (p.random)
      fail(
          fmt::format("--run {}: is of --pattern sequential; for runs of bursts at random places make the "
                      "--block as long as the run",
                      o.run));
    p.run = parse_whole("--run", o.run, 1, kMostBlocks);
    if (o.read_fraction.empty()) p.reads = 0.5;
  }
  if (p.range < 2 * std::max(p.block, p.stride))
    fail(fmt::format("--block {}{}: two of them do not fit into {}; give smaller ones{}", o.block,
                     o.stride.empty() ? "" : " --stride " + o.stride, readable_size(p.range),
                     o.range.empty() ? "" : ", or a larger --range"));
  return p;
}

MemoryBench bench_of(const MemoryOptions& o, const MeasuredMemory& memory) {
  MemoryBench b;
  b.pattern = pattern_of(o, memory);
  b.loads = parse_loads(o.load, "fractions of the peak bandwidth");
  const uint64_t burst = memory.burst_bytes == 0 ? b.pattern.block : memory.burst_bytes;
  const uint64_t bursts = std::max<uint64_t>(60000, uint64_t{20000} * memory.windows);
  b.blocks = o.blocks.empty() ? std::max<uint64_t>(200, bursts * burst / std::max(b.pattern.block, burst))
                              : parse_whole("--blocks", o.blocks, 1, kMostBlocks);
  const uint64_t full = kFullWindow * memory.windows * burst / std::max(b.pattern.block, burst);
  // .. and what is under way in the latency.
  const auto way = static_cast<uint64_t>(4 * memory.peak * static_cast<double>(memory.latency) /
                                         static_cast<double>(b.pattern.block));
  b.outstanding =
      static_cast<uint32_t>(o.outstanding.empty() ? std::clamp<uint64_t>(full + way, 4, 1000000)
                                                  : parse_whole("--outstanding", o.outstanding, 1, 1000000));
  b.seed = o.seed.empty() ? 1 : parse_whole("--seed", o.seed, 0, ~uint64_t{0});
  return b;
}

std::string pattern_text(const MemoryPattern& p) {
  std::string text =
      fmt::format("{} blocks of {}", p.random ? "random" : "sequential", readable_size(p.block));
  if (p.stride != p.block) text += fmt::format(" every {}", readable_size(p.stride));
  if (p.reads >= 1) return text + ", reads";
  if (p.reads <= 0) return text + ", writes";
  text += fmt::format(", {:.4g} % reads", 100 * p.reads);
  return p.run != 0 ? text + fmt::format(" in runs of {} blocks", p.run) : text;
}

/// Of bytes a picosecond, without the noise of the last digits.
double GBps(double rate) {
  return std::round(rate * 1e9) / 1e6;
}

std::string memory_table(const MeasuredMemory& memory, const MemoryBench& b, const MemoryMeasurement& m) {
  std::string text =
      fmt::format("# {}, model {}: peak {:.6g} GB/s\n# {}; latency in ns; load in parts of the peak\n",
                  memory.title, memory.model, GBps(memory.peak), pattern_text(b.pattern));
  Table table({"# load", "bandwidth (GB/s)", "% of peak", "avg latency", "p50", "p99", ""});
  for (const MemoryPoint& p : m.points)
    table.row({json_number(p.load), fmt::format("{:.3f}", GBps(p.bandwidth)),
               fmt::format("{:.1f}", 100 * p.bandwidth / memory.peak),
               fmt::format("{:.1f}", p.avg_latency / 1000), fmt::format("{:.1f}", p.p50 / 1000),
               fmt::format("{:.1f}", p.p99 / 1000),
               p.load >= 1   ? "sustained"
               : p.saturated ? "saturated"
                             : ""});
  text += table.str();
  if (m.idle_latency > 0) text += fmt::format("# one read at a time: {:.1f} ns\n", m.idle_latency / 1000);
  return text + fmt::format("# {} {} in {:.2f} s\n", grouped(m.bursts),
                            memory.burst_bytes == 0 ? "blocks" : "bursts", m.wall_s);
}

std::string memory_json(const MeasuredMemory& memory, const MemoryMeasurement& m) {
  JsonText json;
  json.begin_object();
  json.key("memory").text(memory.title);
  json.key("model").text(memory.model);
  json.key("points").begin_array();
  for (const MemoryPoint& p : m.points) {
    json.begin_object();
    json.key("load").number(p.load);
    json.key("bandwidth_GBps").number(GBps(p.bandwidth));
    json.key("avg_latency_ns").number(p.avg_latency / 1000);
    json.key("p50_ns").number(p.p50 / 1000);
    json.key("p99_ns").number(p.p99 / 1000);
    json.key("blocks").number(p.blocks);
    json.key("saturated").boolean(p.saturated);
    json.end_object();
  }
  json.end_array();
  json.key("peak_GBps").number(GBps(memory.peak));
  if (m.idle_latency > 0) json.key("idle_latency_ns").number(m.idle_latency / 1000);
  json.key("bursts").number(m.bursts);
  json.key("finished").boolean(!interrupted());
  json.key("wall_s").number(fmt::format("{:.6f}", m.wall_s));
  json.end_object();
  return json.str();
}

ExitCode memory(const MemoryOptions& options) {
  const Config config = load_config(options.config, options.sets);
  const MeasuredMemory measured = measured_memory(options.memory, config, part_of(options));
  const MemoryBench bench = bench_of(options, measured);
  set_up_kernel();
  const MemoryMeasurement result = measure(measured, bench);
  accept_stop();
  const std::string table = memory_table(measured, bench, result);
  if (options.json) {
    note(table);
    print(memory_json(measured, result));
  } else {
    print(table);
  }
  std::vector<std::string> saturated;
  for (const MemoryPoint& p : result.points)
    if (p.saturated) saturated.push_back(json_number(p.load));
  if (!saturated.empty())
    warn(
        fmt::format("saturated at load {}: blocks come faster than the memory serves them, so their latency "
                    "grows with --blocks",
                    fmt::join(saturated, ", ")));
  if (interrupted()) {
    note(fmt::format("weft: error: {}: {} of {} loads are finished", interruption_text(),
                     result.points.size(), bench.loads.size()));
    return interruption_code();
  }
  return ExitCode::done;
}

}  // namespace

void add_memory_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<MemoryOptions>();
  MemoryOptions& o = *options;
  CLI::App* command = app.add_subcommand("memory", "Bandwidth and latency-load curve of a memory");
  TextOptions add(*command);
  add_config_option(*command, o.config, "The configuration, a YAML file", true);
  add_set_option(*command, o.sets, "Set a key of the configuration; repeatable");
  std::string memories;
  for (const auto& [name, text] : measured_memories())
    memories += fmt::format("{}{}: {}", memories.empty() ? "" : "; ", name, text);
  add("--memory", o.memory, "NAME", "Which one (default: hbm). " + memories);
  add("--pattern", o.pattern, "NAME",
      "sequential (default), random, or mixed: random with half of the blocks written");
  add("--block", o.block, "SIZE", "Bytes of an access (default: 64 B)");
  add("--load", o.load, "LOADS",
      "Fractions of the peak: FIRST:LAST:STEP or a list (default: 0.1:0.9:0.1). Below 1 blocks come at "
      "random "
      "times; at 1 as fast as the memory takes them");
  add("--read-fraction", o.read_fraction, "F",
      "Part of the blocks that is read (default: 1; mixed: 0.5). Sequential reads and writes are two "
      "streams");
  add("--run", o.run, "N",
      "Of sequential: one stream whose direction changes after N blocks read (default read fraction: 0.5)");
  add("--stride", o.stride, "SIZE", "Of sequential: from block to block (default: the block)");
  add("--range", o.range, "SIZE", "Addresses in use (default: the capacity of the part)");
  add("--stacks", o.stacks, "N", "Of model banked: stacks (default: 1)");
  add("--channels", o.channels, "N", "Channels of a stack (default: all)");
  add("--pseudo-channels", o.pseudo_channels, "N", "Pseudo-channels of a channel (default: all)");
  add("--bank-groups", o.bank_groups, "N", "Bank groups of a pseudo-channel (default: all)");
  add("--banks", o.banks, "N", "Banks of a bank group (default: all)");
  add("--blocks", o.blocks, "N",
      "Accesses of a load (default: as many as make 20,000 bursts a pseudo-channel, 60,000 at least)");
  add("--outstanding", o.outstanding, "N",
      "Blocks in flight at load 1 (default: as many as make 96 bursts a pseudo-channel)");
  add("--seed", o.seed, "N", "Of random places and times (default: 1)");
  command->add_flag("--json", o.json,
                    "Results as JSON on the standard output, the table on the standard error");
  command->footer(
      "Latency is from the creation of a block to its answer. Policies and refresh are keys: --set\n"
      "hbm.refresh=none, hbm.page_policy=closed, hbm.address_map=row_blocks ..\n\n"
      "Examples:\n"
      "  weft memory machine.yaml --pattern random --block \"64 B\" --load 0.1:0.9:0.1\n"
      "  weft memory machine.yaml --set hbm.model=banked --set hbm.preset=HBM2 --channels 1 \\\n"
      "    --pseudo-channels 1 --pattern mixed --read-fraction 0.67 --block \"32 B\" --load 1 --json");
  command->callback([options, &action] { action = [options] { return memory(*options); }; });
}

}  // namespace weft::cli
