// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tests/relations/relation.h"

namespace weft::relations {
namespace {

bool power_of_two(uint32_t n) {
  return (n & (n - 1)) == 0;
}

/// In which all members do alike.
std::string symmetric_algorithm(Random& random, const Dimension& dimension, const std::string& op) {
  if (power_of_two(dimension.size) && op != "all_to_all" && random.chance(50)) return "halving_doubling";
  return random.pick({"default", "ring", "direct"});
}

/// Ring, FullyConnected and Switch fold, a Switch of three NPUs with its default algorithm does not; neither
/// does Mesh.
Machine draw_foldable(Random& random) {
  MachineLimits machine;
  machine.kinds = {"Ring", "FullyConnected", "Switch"};
  machine.fidelities = {"analytical"};
  Machine out = draw_machine(random, machine);
  for (Dimension& d : out.dimensions)
    while ((d.kind == "Switch" || random.chance(30)) && !power_of_two(d.size)) --d.size;
  CollectiveLimits limits;
  limits.algorithms = false;
  limits.side_by_side = random.chance(25);
  draw_collective_keys(random, out, limits);
  if (random.chance(40))
    out.keys["collectives.reduction"] = fmt::format("{{bandwidth: {} GB/s}}", random.between(1, 40) * 100);
  for (const char* op : {"all_reduce", "all_gather", "reduce_scatter", "all_to_all"}) {
    if (!random.chance(50)) continue;
    std::string list;
    for (const Dimension& d : out.dimensions)
      list += (list.empty() ? "" : ", ") + symmetric_algorithm(random, d, op);
    out.keys[std::string("collectives.") + op] = "[" + list + "]";
  }
  return out;
}

/// A size that divides evenly over members and chunks, as folding wants it.
uint64_t even_bytes(Random& random, const Machine& machine) {
  const uint64_t chunks = number(machine.get("collectives.chunks", "4"));
  return uint64_t{machine.npus()} * std::max<uint64_t>(chunks, 1) * random.between(1, 4096) * 4;
}

Case draw_collectives(Random& random) {
  Case c;
  c.machine = draw_foldable(random);
  c.collective.emplace();
  c.collective->op = random.pick({"all_reduce", "all_gather", "reduce_scatter", "all_to_all"});
  c.collective->bytes = even_bytes(random, c.machine);
  return c;
}

void check_collectives(const Case& c, Bench& bench) {
  const CollectiveResult folded = bench.collective(c.machine, *c.collective);
  if (!folded.folded) throw Skipped{"it does not fold"};
  const CollectiveResult whole = bench.collective(c.machine, *c.collective, "machine", {"--no-fold"});
  require_same_time(folded.time, whole.time, "the folded collective takes another time", "folded and not");
  require(folded.messages == whole.messages, "the folded collective has other messages",
          fmt::format("folded {}, not {}", folded.messages, whole.messages));
}

/// The same steps on all ranks: compute, or a collective of every line along some dimensions.
void add_step(Random& random, const Machine& machine, Job& job, std::vector<std::vector<size_t>>& steps) {
  std::vector<size_t> now;
  std::vector<size_t> after;
  if (!steps.empty() && random.chance(80))
    after = steps[random.chance(70) ? steps.size() - 1 : random.below(steps.size())];
  Work work;
  work.name = fmt::format("s{}", steps.size());
  work.after = after;
  if (random.chance(25)) {
    work.ranks.resize(machine.npus());
    std::iota(work.ranks.begin(), work.ranks.end(), 0u);
    work.amount = random.below(100);
    now.push_back(job.works.size());
    job.works.push_back(work);
  } else {
    work.kind = Work::Kind::collective;
    work.op = random.pick({"all_reduce", "all_gather", "reduce_scatter", "all_to_all"});
    work.amount = even_bytes(random, machine);
    const uint32_t mask = 1 + static_cast<uint32_t>(random.below((1u << machine.dimensions.size()) - 1));
    for (uint32_t r = 0; r < machine.npus(); ++r) {
      work.ranks = line(machine, r, mask);
      if (work.ranks.front() != r) continue;
      work.group = line_group(job, machine, r, mask);
      work.root = r;
      now.push_back(job.works.size());
      job.works.push_back(work);
    }
  }
  steps.push_back(now);
}

Case draw_jobs(Random& random) {
  Case c;
  c.machine = draw_foldable(random);
  c.job.emplace();
  std::vector<std::vector<size_t>> steps;
  const bool straggler = random.chance(15);
  if (straggler) {
    Work late;
    late.name = "late";
    late.ranks = {static_cast<uint32_t>(random.below(c.machine.npus()))};
    late.amount = random.between(1, 200);
    c.job->works.push_back(late);
    steps.push_back({0});
  }
  for (uint64_t n = random.between(1, 6); n-- > 0;) add_step(random, c.machine, *c.job, steps);
  return c;
}

/// A table without some columns, its rows in an order of their own.
std::string rows_without(const Rows& rows, const std::vector<std::string>& columns) {
  std::vector<std::string> lines;
  for (auto row : rows) {
    for (const std::string& column : columns) row.erase(column);
    std::string line;
    for (const auto& [column, cell] : row) line += fmt::format("{}={} ", column, cell);
    lines.push_back(line + "\n");
  }
  std::sort(lines.begin(), lines.end());
  return fmt::format("{}", fmt::join(lines, ""));
}

void check_jobs(const Case& c, Bench& bench) {
  const RunResults folded = bench.run(c.machine, *c.job);
  if (!folded.folded())
    throw Skipped{"nothing folds: " + folded.summary.at("folding").at("not_folded").dump()};
  const RunResults whole = bench.run_files("machine.yaml", "job", "out_whole", {"--no-fold"});
  require_same_time(folded.time, whole.time, "the folded job takes another time", "folded and not");
  const auto same = [&](const std::string& file, const std::vector<std::string>& but) {
    require_equal(rows_without(bench.csv(folded.folder + file), but),
                  rows_without(bench.csv(whole.folder + file), but),
                  "the folded job's " + file.substr(1) + " differs", file.substr(1) + " folded and not");
  };
  same("/ranks.csv", {});
  same("/links.csv", {});
  same("/collectives.csv", {"stream", "folded_ranks"});
  same("/phases.csv", {"stream"});
  auto a = folded.summary;
  auto b = whole.summary;
  for (const char* key : {"events", "folded", "folding", "wall_s", "peak_rss_MiB"})
    a.erase(key), b.erase(key);
  require_equal(a.dump(1), b.dump(1), "the folded job's summary differs", "summary.json folded and not");
}

}  // namespace

Relation fold_collectives() {
  return {"fold_collectives", "a folded collective takes the time of the one that is not", draw_collectives,
          check_collectives};
}

Relation fold_jobs() {
  return {"fold_jobs", "a folded job gives the results of the one that is not", draw_jobs, check_jobs};
}

}  // namespace weft::relations
