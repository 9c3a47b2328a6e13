// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "configs/loader.h"
#include "configs/packet_timing.h"
#include "configs/types.h"
#include "tests/relations/relation.h"

namespace weft::relations {
namespace {

/// Levers are moved by so many ten-thousandths. Where a hundredth changes the order of two messages on a
/// link, which is no matter of the first order, a smaller step does not.
constexpr uint64_t kSteps[] = {100, 1};

Case draw(Random& random) {
  Case c;
  MachineLimits machine;
  machine.npus = 12;
  machine.fidelities = {"analytical", "message", "packet"};
  machine.one_fidelity = true;
  c.machine = draw_machine(random, machine);
  draw_collective_keys(random, c.machine, {});
  JobLimits job;
  job.bytes = 64 << 10;
  c.job = draw_job(random, c.machine, job);
  // So that a hundredth of a time is a whole number of microseconds.
  for (Work& work : c.job->works)
    if (work.kind == Work::Kind::compute) work.amount = std::max<uint64_t>(1, work.amount / 10) * 100;
  c.choices["lever"] = random.below(1000);
  return c;
}

uint64_t sum_of(const nlohmann::json& terms) {
  uint64_t sum = 0;
  for (const auto& [key, value] : terms.items()) sum += value.get<uint64_t>();
  return sum;
}

/// The pieces of critical_path.csv follow each other without a gap, and every sum of the file is theirs.
void check_sums(const RunResults& run, const nlohmann::json& path, const Rows& pieces) {
  const uint64_t time = path["time_ps"];
  require(time == run.time, "the critical path is not as long as the run",
          fmt::format("{} and {} ps", time, run.time));
  require(sum_of(path["terms"]) == time, "the terms of the critical path do not add up",
          path["terms"].dump());
  uint64_t at = 0;
  std::map<std::string, uint64_t> terms;
  for (const auto& piece : pieces) {
    const uint64_t from = std::stoull(piece.at("from_ps"));
    const uint64_t to = std::stoull(piece.at("to_ps"));
    require(from == at && to > from, "a piece of the critical path does not begin where the last one ended",
            fmt::format("{} ps, then {} to {} ps", at, from, to));
    terms[piece.at("term") + "_ps"] += to - from;
    at = to;
  }
  require(at == time, "the pieces of the critical path end early", fmt::format("{} of {} ps", at, time));
  for (const auto& [term, part] : path["terms"].items())
    require(terms[term] == part.get<uint64_t>(), "a term is not the sum of its pieces", term);
  require(path["terms"]["unrecorded_ps"] == 0, "the log forgot the beginning of a short run", "");
}

/// "50 GB/s" and the like in the smallest unit, `parts` ten-thousandths of it.
std::string scaled(const std::string& value, uint64_t parts) {
  static const std::map<std::string, std::pair<uint64_t, std::string>> units = {
      {"GB/s", {1'000'000'000, "B/s"}},
      {"MB/s", {1'000'000, "B/s"}},
      {"GiB/s", {1ull << 30, "B/s"}},
      {"MiB/s", {1ull << 20, "B/s"}},
      {"B/s", {1, "B/s"}},
      {"TB/s", {1'000'000'000'000, "B/s"}},
      {"ns", {1000, "ps"}},
      {"us", {1'000'000, "ps"}},
      {"ps", {1, "ps"}}};
  const size_t blank = value.find(' ');
  const auto unit = units.find(value.substr(blank + 1));
  if (blank == std::string::npos || unit == units.end() || value.find_first_of("./") < blank)
    throw Skipped{"a value in other units: " + value};
  return fmt::format(
      "{} {}", static_cast<uint64_t>(weft::Wide{std::stoull(value)} * unit->second.first * parts / 10'000),
      unit->second.second);
}

struct Tried {
  Machine machine;
  Job job;
};

/// The case with a lever moved. Skipped: the lever is none of the configuration's keys.
Tried moved(const Case& c, const std::string& lever, uint64_t step) {
  Tried tried{c.machine, *c.job};
  if (lever == "compute") {
    for (Work& work : tried.job.works)
      if (work.kind == Work::Kind::compute) work.amount -= work.amount / 100;
    return tried;
  }
  const size_t dimension = lever.find(" of dimension ");
  if (dimension == std::string::npos) throw Skipped{"not one key: " + lever};
  const size_t d = std::stoul(lever.substr(dimension + 14));
  Settings& keys = tried.machine.dimensions[d].keys;
  if (lever.rfind("bandwidth", 0) == 0) {
    const char* const key = keys.count("bandwidth") != 0 ? "bandwidth" : "bandwidth_per_npu";
    if (keys.count(key) == 0) throw Skipped{"the bandwidth is not a key"};
    keys[key] = scaled(keys[key], 10'000 + step);
  } else {
    keys["latency"] = scaled(keys.count("latency") != 0 ? keys["latency"] : "500 ns", 10'000 - step);
  }
  return tried;
}

/// Time on the path that a lever of one dimension moves: also that of ways over several dimensions at once.
/// In a packet network the time in routers and interfaces has the time of a flit on each link in it.
uint64_t moves(const nlohmann::json& levers, const std::string& lever, bool packets) {
  const size_t of = lever.find(" of dimension ");
  uint64_t sum = 0;
  for (const auto& one : levers) {
    const std::string name = one["lever"];
    const size_t its = name.find(" of dimension ");
    bool same = name == lever;
    if (of != std::string::npos && its != std::string::npos) {
      const std::string list = "+" + name.substr(its + 14) + "+";
      const bool kind = name.substr(0, its) == lever.substr(0, of) || (packets && lever[0] == 'b');
      same = kind && list.find("+" + lever.substr(of + 14) + "+") != std::string::npos;
    }
    if (same) sum += one["on_path_ps"].get<uint64_t>();
  }
  return sum;
}

/// The longest clock period of the machine's packet networks, in ps, rounded up; 0: there is none.
uint64_t clock_period(const std::string& file) {
  const Config config = load_config(file);
  Ticks longest = 0;
  for (const std::vector<uint32_t>& region : packet_regions(config))
    longest = std::max(longest, router_cycle(config.packet, flit_times(config, region)));
  return (longest + kTicksPerPicosecond - 1) / kTicksPerPicosecond;
}

void check(const Case& c, Bench& bench) {
  const RunResults plain = bench.run(c.machine, *c.job, "plain");
  const RunResults run = bench.run(c.machine, *c.job, "path", {"--critical-path"});
  require(plain.time == run.time, "asking for the critical path changes the run",
          fmt::format("{} and {} ps", plain.time, run.time));
  const auto file = nlohmann::json::parse(bench.read(run.folder + "/critical_path.json"));
  const nlohmann::json& path = file["paths"][0];
  check_sums(run, path, bench.csv(run.folder + "/critical_path.csv"));

  // A chunk that was started beyond the slots began when somebody decided so: the log does not know why then.
  if (path["terms"]["wait_ps"] != 0) return;
  const nlohmann::json& levers = path["what_if"]["levers"];
  // One that has a key.
  size_t number = c.choice("lever") % levers.size();
  const auto has_key = [&](const std::string& name) {
    const size_t of = name.find(" of dimension ");
    if (name.find(" of routers of ") != std::string::npos) return false;
    return name == "compute" || (of != std::string::npos && name.find('+') == std::string::npos);
  };
  while (!has_key(levers[number]["lever"])) number = (number + 1) % levers.size();
  const nlohmann::json& lever = levers[number];
  const bool packets = c.machine.dimensions.front().keys.at("fidelity") == "packet";
  const uint64_t on_path = moves(levers, lever["lever"], packets);
  const uint64_t clock = clock_period(bench.folder() + "/" + run.folder + "/effective.yaml");
  const std::string name = lever["lever"];
  std::string found;
  for (const uint64_t step : kSteps) {
    if (name == "compute" && step != kSteps[0]) break;
    const Tried tried = moved(c, name, step);
    const RunResults quick = bench.run(tried.machine, tried.job, "quick", {}, "quick_job");
    // Its part of what is on the path, a tenth more, and what rounding can do: to whole picoseconds, and of
    // what comes to a router to the next edge of its clock. Where edges are moves with the clock and with
    // what came before, so that each piece may wait for almost a period more or less.
    const uint64_t rounding = (2 + clock) * path["pieces"].get<uint64_t>() + 2;
    const uint64_t most = on_path * step / 9'000 + rounding;
    found.clear();
    if (quick.time + most < run.time) {
      found = "a lever does more than what it moves of the critical path";
    } else if (lever["falls_ps"].get<uint64_t>() * step > 10'000 * rounding && quick.time >= run.time) {
      found = "a lever on the critical path does nothing";
    }
    if (found.empty()) return;
    found += fmt::format("|{}: {} ps on the path; {} ps, then {} ps", name, on_path, run.time, quick.time);
  }
  const size_t bar = found.find('|');
  require(false, found.substr(0, bar), found.substr(bar + 1));
}

}  // namespace

Relation critical_path() {
  return {"critical_path",
          "the critical path adds up to the run, and what it names is what makes the run faster", draw,
          check};
}

}  // namespace weft::relations
