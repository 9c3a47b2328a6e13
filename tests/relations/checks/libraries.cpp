// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

// Machines whose collectives a communication library runs (docs/libraries.md).

#include <fmt/format.h>

#include <algorithm>

#include "tests/relations/relation.h"

namespace weft::relations {
namespace {

/// Nodes of the library's GPUs, and up to two dimensions of network.
Machine draw_machine_of_library(Random& random, const std::string& fidelity) {
  Machine machine;
  const bool rccl = random.chance(30);
  const auto dimension = [&](const std::string& kind, uint32_t size, const std::string& bandwidth) {
    Dimension d;
    d.kind = kind;
    d.size = size;
    d.keys = {{"bandwidth", bandwidth}, {"fidelity", fidelity}};
    if (random.chance(70)) d.keys["latency"] = fmt::format("{} ns", random.below(900));
    if (random.chance(50)) d.keys["switching"] = "cut_through";
    machine.dimensions.push_back(d);
  };
  const uint32_t gpus = rccl ? 8 : random.pick({2u, 4u, 8u, 8u});
  dimension(rccl ? "FullyConnected" : "Switch", gpus, rccl ? "64 GB/s" : "450 GB/s");
  if (random.chance(75))
    dimension("Switch", random.pick({2u, 2u, 3u}), random.pick({"50 GB/s", "12.5 GB/s"}));
  if (machine.dimensions.size() == 2 && random.chance(30)) dimension("Switch", 2, "25 GB/s");
  machine.keys["collectives.library"] = rccl ? "rccl" : "nccl";
  machine.keys["collectives.gpu"] =
      rccl ? random.pick({"MI300X", "MI350X"}) : random.pick({"A100", "H100", "H200"});
  if (random.chance(40))
    machine.keys["collectives.parameters"] =
        fmt::format("{{launch: {} us, latency_scale: {}, bandwidth_scale: {}}}", random.between(1, 20),
                    random.pick({"0.5", "1", "1.7"}), random.pick({"0.8", "1", "1.25"}));
  return machine;
}

Case draw_collective_of_library(Random& random) {
  Case c;
  c.machine = draw_machine_of_library(random, random.pick({"analytical", "analytical", "message", "packet"}));
  c.collective = draw_collective(random, c.machine, 1 << 20);
  if (random.chance(5)) c.collective->op = "barrier";
  return c;
}

void check_same(const Case& c, Bench& bench) {
  const CollectiveResult command = bench.collective(c.machine, *c.collective);
  const CollectiveResult whole = bench.collective(c.machine, *c.collective, "machine", {"--no-fold"});
  require_same_time(command.time, whole.time, "a library's collective takes another time unfolded",
                    "as it is and with --no-fold");
  Job job = job_of(c.machine, *c.collective);
  const RunResults trace = bench.run(c.machine, job);
  require_same_time(command.time, trace.time, "a library's collective as a trace takes another time",
                    "weft collective and run");
  job.groups["all"] = job.works[0].ranks;
  job.works[0].group = "all";
  const RunResults listed = bench.run(c.machine, job, "listed", {}, "listed");
  require_same_time(command.time, listed.time, "a group of all ranks takes another time than all ranks",
                    "all ranks, and a group that lists them");
}

Case draw_job_of_library(Random& random) {
  Case c;
  c.machine =
      draw_machine_of_library(random, random.pick({"analytical", "analytical", "analytical", "message"}));
  JobLimits job;
  job.works = 10;
  job.bytes = 256 << 10;
  c.job = draw_job(random, c.machine, job);
  return c;
}

std::string times_of(Bench& bench, const RunResults& run) {
  std::vector<std::string> rows;
  for (const auto& row : bench.csv(run.folder + "/collectives.csv"))
    rows.push_back(fmt::format("{} {} {} {} {}\n", row.at("name"), row.at("start_ns"), row.at("end_ns"),
                               row.at("algo"), row.at("proto")));
  std::sort(rows.begin(), rows.end());
  std::string text = fmt::format("{} ps\n", run.time);
  for (const auto& row : rows) text += row;
  return text + bench.read(run.folder + "/ranks.csv");
}

void check_jobs(const Case& c, Bench& bench) {
  const RunResults first = bench.run(c.machine, *c.job);
  const RunResults whole = bench.run_files("machine.yaml", "job", "out_whole", {"--no-fold"});
  require_equal(times_of(bench, first), times_of(bench, whole), "a library's job takes other times unfolded",
                "as it is and with --no-fold");
  const RunResults again = bench.run_files("out_machine/effective.yaml", "", "out_again");
  require_equal(times_of(bench, first), times_of(bench, again), "effective.yaml gives other times",
                "collectives");
  const RunResults waves = bench.run_files("machine.yaml", "job", "out_waves", {"--waves", "*"});
  require_equal(times_of(bench, first), times_of(bench, waves), "waveforms change the times", "collectives");
}

Case draw_slices(Random& random) {
  Case c;
  do c.machine = draw_machine_of_library(random, random.pick({"analytical", "message"}));
  while (c.machine.dimensions.size() < 2);
  JobLimits job;
  job.works = 10;
  job.bytes = 256 << 10;
  c.job = draw_job_in_slices(random, c.machine, job);
  return c;
}

void check_slices(const Case& c, Bench& bench) {
  Machine machine = c.machine;
  machine.keys["npu.compute_slots"] = "64";
  const auto own = [](const Work& w) { return !w.extra; };
  if (std::all_of(c.job->works.begin(), c.job->works.end(), own)) throw Skipped{"nothing is extra"};
  if (std::none_of(c.job->works.begin(), c.job->works.end(), own)) throw Skipped{"all is extra"};
  const RunResults alone = bench.run(machine, c.job->without_extra(), "alone", {}, "alone");
  const RunResults with = bench.run(machine, *c.job);
  const auto told = [&](const RunResults& run) {
    std::vector<std::string> rows;
    for (const auto& row : bench.csv(run.folder + "/collectives.csv"))
      for (const Work& work : c.job->works)
        if (!work.extra && work.name == row.at("name"))
          rows.push_back(fmt::format("{} {} {}\n", row.at("name"), row.at("start_ns"), row.at("end_ns")));
    std::sort(rows.begin(), rows.end());
    return fmt::format("{}", fmt::join(rows, ""));
  };
  require_equal(told(alone), told(with), "a library's collective depends on others without a common link",
                "alone and with the other work");
}

/// On links a faster member may come earlier to a link, and another one later.
Case draw_closed_form(Random& random) {
  Case c;
  c.machine = draw_machine_of_library(random, "analytical");
  c.collective = draw_collective(random, c.machine, 1 << 20);
  return c;
}

/// Half the launch and latencies, twice the bandwidths.
void check_scales(const Case& c, Bench& bench) {
  const auto parameters = [&](const char* launch, const char* latency, const char* bandwidth) {
    Machine machine = c.machine;
    machine.keys["collectives.parameters"] =
        fmt::format("{{launch: {} us, latency_scale: {}, bandwidth_scale: {}}}", launch, latency, bandwidth);
    return bench.collective(machine, *c.collective).time;
  };
  const uint64_t slow = parameters("8", "1", "1");
  const uint64_t least =
      std::max({parameters("4", "1", "1"), parameters("8", "0.5", "1"), parameters("8", "1", "2")});
  require(least <= slow, "a library's collective is slower with a smaller cost",
          fmt::format("{} ps, then {} ps", slow, least));
}

}  // namespace

Relation library_collectives() {
  return {"library_collectives",
          "a library's collective is the same folded and not, as a command and as a trace",
          draw_collective_of_library, check_same};
}
Relation library_jobs() {
  return {"library_jobs",
          "a job on a library is the same folded and not, from effective.yaml and with waveforms",
          draw_job_of_library, check_jobs};
}
Relation library_unrelated() {
  return {"library_unrelated", "calls of a library that share no link change nothing for each other",
          draw_slices, check_slices};
}
Relation library_scales() {
  return {"library_scales", "a smaller launch, latency or time of bytes never makes a library's call slower",
          draw_closed_form, check_scales};
}

}  // namespace weft::relations
