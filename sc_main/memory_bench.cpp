// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/memory_bench.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "configs/keys.h"
#include "configs/stop.h"
#include "sc_main/console.h"
#include "sc_main/interruption.h"
#include "sc_main/progress.h"
#include "sc_main/simulation.h"
#include "sc_models/banked_hbm.h"
#include "sc_models/cxl/cxl_link.h"
#include "sc_models/dram_policies.h"
#include "sc_models/memory_model.h"
#include "sc_models/tiers/memory_tiers.h"

namespace weft::cli {
namespace {

/// Addresses of a pseudo-channel where the capacity is unlimited.
constexpr uint64_t kRange = 512ull << 20;
constexpr double kSaturated = 0.95;  ///< a memory that takes less than this of what is offered is saturated

[[noreturn]] void fail(const std::string& text) {
  throw UserError(ExitCode::usage, text);
}

uint32_t part_of(const char* option, uint32_t wanted, uint32_t all, const std::string& of) {
  if (wanted == 0) return all;
  if (wanted > all) fail(fmt::format("{} {}: {} has {}; give from 1 to {}", option, wanted, of, all, all));
  return wanted;
}

MeasuredMemory banked(const Config& config, const MemoryPart& part) {
  DramSpec spec = make_dram_spec(config.hbm);
  const std::string name(spec.name);
  const uint32_t all = spec.channels * spec.pseudo_channels;
  spec.channels = part_of("--channels", part.channels, spec.channels, "a stack of " + name);
  spec.pseudo_channels =
      part_of("--pseudo-channels", part.pseudo_channels, spec.pseudo_channels, "a channel of " + name);
  spec.bank_groups =
      part_of("--bank-groups", part.bank_groups, spec.bank_groups, "a pseudo-channel of " + name);
  spec.banks_per_group = part_of("--banks", part.banks, spec.banks_per_group, "a bank group of " + name);
  const uint32_t stacks =
      part_of("--stacks", part.stacks == 0 ? 1 : part.stacks, config.hbm.stacks, "`hbm.stacks`");
  const auto device = make_dram_device(config.hbm, spec, stacks);
  MeasuredMemory m;
  const auto count = [](uint32_t n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  m.title = fmt::format("{}, {} of {} of {}", name, count(stacks, "stack"), count(spec.channels, "channel"),
                        count(spec.pseudo_channels, "pseudo-channel"));
  if (part.bank_groups != 0 || part.banks != 0)
    m.title += fmt::format(" with {} of {}", count(spec.bank_groups, "bank group"),
                           count(spec.banks_per_group, "bank"));
  m.model = "banked";
  m.peak = spec.stack_peak() * stacks * 1e-12;
  m.burst_bytes = spec.burst_bytes;
  m.windows = stacks * spec.channels * spec.pseudo_channels;
  const uint64_t each =
      config.hbm.capacity == 0 ? kRange : config.hbm.capacity / (uint64_t{config.hbm.stacks} * all);
  m.range = std::max<uint64_t>(each, uint64_t{spec.row_bytes} * spec.banks()) * m.windows;
  const Picoseconds interval = spec.per_bank_refresh ? spec.refi / spec.banks() : spec.refi;
  m.period = std::max<Picoseconds>(1, (interval + spec.clock - 1) / spec.clock) * spec.clock *
             (spec.per_bank_refresh ? spec.banks() : 1);
  m.make = [device, stacks](const char* module) {
    return std::make_unique<BankedHbm>(module, device, stacks, 0, 1, nullptr);
  };
  return m;
}

constexpr const char* kHbmKey = "hbm.implementation";

/// A memory of which the figures are all that is known.
MeasuredMemory by_figures(const std::string& title, const std::string& implementation, const char* key,
                          const MemoryTiming& timing, const MemoryPart& part) {
  if (part.given())
    fail(fmt::format(
        "--stacks, --channels, --pseudo-channels, --bank-groups and --banks are of `hbm.model: banked`{}",
        std::string_view(key) == kHbmKey ? "; set it (--set hbm.model=banked), or leave them out"
                                         : fmt::format(", and not of the {}; leave them out", title)));
  MeasuredMemory m;
  m.title = title;
  m.model = implementation == kDefaultMemoryModel ? "bandwidth" : implementation;
  m.peak = timing.bandwidth.value() * 1e-12;
  m.range = timing.capacity == 0 ? kRange : timing.capacity;
  m.latency = timing.latency;
  m.make = [model = m.model, key, timing](const char* module) {
    return make_memory(model, key, module, {timing, 1, nullptr});
  };
  return m;
}

MeasuredMemory hbm(const Config& config, const MemoryPart& part) {
  if (config.hbm.banked() && config.hbm.implementation == kDefaultMemoryModel) return banked(config, part);
  return by_figures("HBM of an NPU", config.hbm.implementation, kHbmKey, hbm_timing(config.hbm), part);
}

MeasuredMemory remote(const Config& config, const MemoryPart& part) {
  if (!config.remote_memory)
    fail(
        "--memory remote: the configuration has no remote memory; add `remote_memory: {bandwidth: ..., "
        "latency: ...}`");
  return by_figures("remote memory of an NPU", config.remote_memory->implementation,
                    "remote_memory.implementation",
                    {config.remote_memory->bandwidth, config.remote_memory->latency, 0, 1.0}, part);
}

/// A memory of a host or its drives, without the links to NPUs.
template <typename Tier>
MeasuredMemory tier(const std::optional<Tier>& of, trace::Location place, const MemoryPart& part) {
  const std::string name = trace::to_string(place);
  if (!of)
    fail(
        fmt::format("--memory {}: the configuration has no `memory.{}`; add it: `memory: {{{}: {{bandwidth: "
                    "..{}}}}}`",
                    name, name, name, place == trace::Location::host ? ", link_bandwidth: .." : ""));
  if (of->bandwidth.bytes_per_second == 0)
    fail(
        fmt::format("--memory {}: `memory.{}.bandwidth` is unlimited, and loads are parts of it; give it one "
                    "(--set memory.{}.bandwidth=\"200 GB/s\")",
                    name, name, name));
  MeasuredMemory m = by_figures(place == trace::Location::host ? "memory of a host" : "NVMe drives of a host",
                                of->implementation, nullptr,
                                {of->bandwidth, of->latency, of->capacity, of->efficiency}, part);
  m.make = [model = m.model, timing = MemoryTiming{of->bandwidth, of->latency, of->capacity, of->efficiency},
            key = fmt::format("memory.{}.implementation", name)](const char* module) {
    return make_memory(model, key, module, {timing, 1, nullptr});
  };
  return m;
}

MeasuredMemory host(const Config& config, const MemoryPart& part) {
  return tier(config.host_memory, trace::Location::host, part);
}

MeasuredMemory nvme(const Config& config, const MemoryPart& part) {
  return tier(config.nvme, trace::Location::nvme, part);
}

/// The memory of a group of the pool, without its links; by default the server of `group_bandwidth`.
MeasuredMemory group(const Config& config, const MemoryPart& part) {
  if (!config.memory_pool)
    fail(
        "--memory group: the configuration has no memory pool; add it: `memory: {pool: {groups: .., "
        "group_bandwidth: ..}}`");
  const MemoryPoolConfig& pool = *config.memory_pool;
  return by_figures("memory of a group of the pool", pool.group_memory, "memory.pool.group_memory",
                    {pool.group_rate(), 0, pool.capacity, 1.0}, part);
}

/// A CXL device of its own: `written` is the model with its parameters.
MeasuredMemory cxl_device(const std::string& written, const MemoryPart& part) {
  static const char* const owner = "--memory";
  const Implementation wanted = parse_implementation(written);
  Parameters parameters(wanted, owner);
  const CxlConfig link = cxl_config(parameters);
  parameters.finish();
  const MemoryTiming timing{{static_cast<uint64_t>(link.raw_bandwidth()), 1}, 0, 0, 1.0};
  MeasuredMemory m = by_figures(
      fmt::format("CXL device {}{}", link.preset,
                  link.switches == 0
                      ? std::string()
                      : fmt::format(" behind {} switch{}", link.switches, link.switches == 1 ? "" : "es")),
      print_implementation(wanted), owner, timing, part);
  m.latency = link.idle_latency();
  return m;
}

/// The configuration's memory of model `cxl`, or else one of the default preset.
MeasuredMemory cxl(const Config& config, const MemoryPart& part) {
  const auto is = [](const std::string& implementation) {
    return parse_implementation(implementation).model == "cxl";
  };
  if (config.remote_memory && is(config.remote_memory->implementation)) return remote(config, part);
  if (config.host_memory && is(config.host_memory->implementation)) return host(config, part);
  if (config.nvme && is(config.nvme->implementation)) return nvme(config, part);
  if (config.memory_pool && is(config.memory_pool->group_memory)) return group(config, part);
  if (is(config.hbm.implementation)) return hbm(config, part);
  return cxl_device("cxl", part);
}

/// One row for each word of `--memory`.
struct Row {
  const char* name;
  const char* description;
  MeasuredMemory (*make)(const Config& config, const MemoryPart& part);
};
constexpr Row kMemories[] = {
    {"hbm", "an NPU's HBM; of model banked one stack", hbm},
    {"remote", "an NPU's remote memory", remote},
    {"cxl", "the memory of model cxl, or a device by itself: cxl(preset=cxl3_x16)", cxl},
    {"group", "the memory of a group of the pool, without its links", group},
    {"host", "a host's memory, without its links", host},
    {"nvme", "a host's drives, without their links", nvme}};

MemoryPoint point_of(double load, const MeasuredMemory& memory, const MemoryBench& bench,
                     const MemoryTraffic& traffic) {
  MemoryPoint p;
  p.load = load;
  p.blocks = traffic.answered();
  const auto bytes = static_cast<double>(p.blocks) * static_cast<double>(bench.pattern.block);
  p.bandwidth = bytes / static_cast<double>(std::max<Picoseconds>(1, traffic.time()));
  std::vector<Picoseconds> sorted = traffic.latencies();
  const auto at = [&](double part) {
    const auto place =
        sorted.begin() + static_cast<std::ptrdiff_t>(static_cast<double>(sorted.size() - 1) * part);
    std::nth_element(sorted.begin(), place, sorted.end());
    return static_cast<double>(*place);
  };
  p.p50 = at(0.5);
  p.p99 = at(0.99);
  // The last block's latency is no time in which more could have come.
  const double arriving = std::max(1.0, static_cast<double>(traffic.time()) - p.p50);
  p.saturated = load < 1 && bytes / arriving < kSaturated * load * memory.peak;
  double sum = 0;
  for (const Picoseconds t : sorted) sum += static_cast<double>(t);
  p.avg_latency = sum / static_cast<double>(sorted.size());
  return p;
}

/// Reads, one at a time: made before the simulation, and run after the loads.
class IdleReads {
 public:
  IdleReads(const MeasuredMemory& memory, const MemoryBench& bench) {
    MemoryTraffic::Config c;
    c.pattern = bench.pattern;
    c.pattern.reads = 1;
    c.pattern.run = 0;
    c.outstanding = 1;
    c.blocks = kReads;
    c.seed = bench.seed;
    traffic_ =
        std::make_unique<MemoryTraffic>("idle_traffic", c).release();  // never taken down, as the others
    traffic_->socket.bind(memory.make("idle_memory").release()->socket(0));
  }
  /// The mean latency, in ps; 0 after a signal.
  double run() {
    traffic_->start(later(sc_core::sc_time_stamp().value(), 1));
    while (!traffic_->finished() && !stop_requested() && sc_core::sc_pending_activity())
      advance(sc_core::sc_time::from_value(1'000'000'000));
    return traffic_->finished() ? static_cast<double>(traffic_->time()) / kReads : 0;
  }

 private:
  static constexpr uint32_t kReads = 16;
  MemoryTraffic* traffic_;
};

}  // namespace

const std::vector<std::pair<std::string, std::string>>& measured_memories() {
  static const std::vector<std::pair<std::string, std::string>> names = [] {
    std::vector<std::pair<std::string, std::string>> all;
    for (const Row& row : kMemories) all.emplace_back(row.name, row.description);
    return all;
  }();
  return names;
}

MeasuredMemory measured_memory(const std::string& name, const Config& config, const MemoryPart& part) {
  if (name.rfind("cxl(", 0) == 0) return cxl_device(name, part);
  std::vector<std::string> names;
  for (const Row& row : kMemories) {
    if (name == row.name) return row.make(config, part);
    names.emplace_back(row.name);
  }
  const std::string near = nearest_name(name, names);
  fail(fmt::format("--memory '{}': unknown{}; one of {}", name,
                   near.empty() ? "" : fmt::format(" (did you mean {}?)", near), fmt::join(names, ", ")));
}

MemoryMeasurement measure(const MeasuredMemory& memory, const MemoryBench& bench) {
  struct Point {
    MemoryTarget* memory;
    MemoryTraffic* traffic;
  };
  std::vector<Point> points;  // never taken down: the process ends soon
  for (size_t i = 0; i < bench.loads.size(); ++i) {
    const std::string suffix = std::to_string(i);
    MemoryTraffic::Config c;
    c.pattern = bench.pattern;
    c.rate = bench.loads[i] < 1 ? bench.loads[i] * memory.peak : 0;
    c.outstanding = bench.outstanding;
    c.blocks = bench.blocks;
    c.seed = bench.seed;
    points.push_back({memory.make(("memory" + suffix).c_str()).release(),
                      std::make_unique<MemoryTraffic>(("traffic" + suffix).c_str(), c).release()});
    points.back().traffic->socket.bind(points.back().memory->socket(0));
  }
  std::optional<IdleReads> idle;
  if (memory.burst_bytes == 0) idle.emplace(memory, bench);
  MemoryMeasurement result;
  Progress progress(
      [](std::string_view text) {
        std::fwrite(text.data(), 1, text.size(), stderr);
        std::fflush(stderr);
      },
      isatty(STDERR_FILENO) == 1, "blocks");
  const double begin_s = wall_seconds();
  const double expected =
      static_cast<double>(bench.blocks) * static_cast<double>(bench.pattern.block) / memory.peak;
  const uint64_t bursts_of_block =
      memory.burst_bytes == 0 ? 1 : (bench.pattern.block + memory.burst_bytes - 1) / memory.burst_bytes;
  for (size_t i = 0; i < points.size(); ++i) {
    MemoryTraffic& traffic = *points[i].traffic;
    // The refreshes of each memory begin with the simulation: all points begin at the same place between two.
    const Picoseconds now = sc_core::sc_time_stamp().value();
    traffic.start(
        later(now / memory.period * memory.period + (now == 0 ? 0 : memory.period), memory.period / 2));
    const auto slice =
        sc_core::sc_time::from_value(static_cast<uint64_t>(std::clamp(expected / 16, 1e6, 1e15)));
    while (!traffic.finished() && !stop_requested()) {
      advance(slice);
      progress.update(wall_seconds() - begin_s, sc_core::sc_time_stamp().value(),
                      i * bench.blocks + traffic.answered(), points.size() * bench.blocks);
      if (!traffic.finished() && !sc_core::sc_pending_activity())
        throw UserError(
            ExitCode::internal,
            fmt::format("{}: the memory answers no more after {} of {} accesses; its model '{}' has "
                        "lost one",
                        points[i].memory->name(), traffic.answered(), bench.blocks, memory.model));
    }
    result.bursts += traffic.answered() * bursts_of_block;
    if (!traffic.finished()) break;
    result.points.push_back(point_of(bench.loads[i], memory, bench, traffic));
  }
  if (idle && result.points.size() == points.size()) result.idle_latency = idle->run();
  progress.end();
  result.wall_s = wall_seconds() - begin_s;
  return result;
}

}  // namespace weft::cli
