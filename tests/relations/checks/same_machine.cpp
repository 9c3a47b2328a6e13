// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

// One machine written in two ways.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tests/relations/relation.h"

namespace weft::relations {
namespace {

Case draw_collective_on(Random& random, const MachineLimits& machine, const CollectiveLimits& limits) {
  Case c;
  c.machine = draw_machine(random, machine);
  draw_collective_keys(random, c.machine, limits);
  c.collective = draw_collective(random, c.machine, 256 << 10);
  return c;
}

void require_same(Bench& bench, const Case& c, const Machine& other, const std::string& kind) {
  const CollectiveResult a = bench.collective(c.machine, *c.collective);
  const CollectiveResult b = bench.collective(other, *c.collective, "other");
  require_same_time(a.time, b.time, kind, fmt::format("{} and the other", c.machine.notation()));
  require(a.messages == b.messages, kind + " (messages)", fmt::format("{} and {}", a.messages, b.messages));
}

/// A list with one value a dimension, with "default" put in at `at`.
std::string with_default(const std::string& list, size_t at) {
  if (list.empty() || list.front() != '[') return list;
  std::string out = "[";
  std::string rest = list.substr(1, list.size() - 2);
  for (size_t i = 0;; ++i) {
    if (i == at) out += i == 0 ? "default" : ", default";
    if (rest.empty()) break;
    const size_t comma = rest.find(", ");
    out += (out == "[" ? "" : ", ") + rest.substr(0, comma);
    rest = comma == std::string::npos ? "" : rest.substr(comma + 2);
  }
  return out + "]";
}

Machine with_dimension(const Machine& machine, size_t at, const Dimension& dimension) {
  Machine out = machine;
  out.dimensions.insert(out.dimensions.begin() + static_cast<std::ptrdiff_t>(at), dimension);
  for (auto& [key, value] : out.keys)
    if (key.rfind("collectives.", 0) == 0) value = with_default(value, at);
  return out;
}

// round_robin and themis number the dimensions, so that one more changes their choice, and enhanced counts
// its scatter_dimensions.
Case draw_ones(Random& random) {
  MachineLimits machine;
  machine.npus = 24;
  machine.fidelities = {"analytical", "analytical", "message", "message"};
  Case c = draw_collective_on(random, machine, {});
  const std::string order = c.machine.get("collectives.order", "");
  if (order == "round_robin" || order == "enhanced") c.machine.keys.erase("collectives.order");
  c.choices["at"] = random.below(c.machine.dimensions.size() + 1);
  c.choices["kind"] = random.below(4);
  return c;
}

void check_ones(const Case& c, Bench& bench) {
  const char* const kinds[] = {"Ring", "FullyConnected", "Switch", "Mesh"};
  Dimension one;
  one.kind = kinds[c.choice("kind") % 4];
  one.size = 1;
  one.keys = {{"bandwidth", "100 GB/s"},
              {"fidelity", c.machine.dimensions[0].keys.count("fidelity") != 0
                               ? c.machine.dimensions[0].keys.at("fidelity")
                               : "message"}};
  const size_t at = std::min<size_t>(c.choice("at"), c.machine.dimensions.size());
  require_same(bench, c, with_dimension(c.machine, at, one), "a dimension of one NPU changes the time");
}

/// links_per_npu: k of bandwidth B, and one of k B.
Case draw_parallel(Random& random) {
  MachineLimits machine;
  machine.npus = 24;
  machine.fidelities = {"analytical", "analytical", "message", "message", "packet"};
  Case c = draw_collective_on(random, machine, {});
  for (Dimension& d : c.machine.dimensions)
    if (random.chance(60)) d.keys["links_per_npu"] = std::to_string(random.between(2, 5));
  c.machine.dimensions[0].keys["links_per_npu"] = std::to_string(random.between(2, 5));
  return c;
}

void check_parallel(const Case& c, Bench& bench) {
  Machine other = c.machine;
  bool differs = false;
  for (Dimension& d : other.dimensions) {
    const auto found = d.keys.find("links_per_npu");
    if (found == d.keys.end()) continue;
    differs = true;
    d.keys["bandwidth"] = times(d.keys["bandwidth"], number(found->second));
    d.keys.erase("links_per_npu");
  }
  if (!differs) throw Skipped{"no parallel links"};
  require_same(bench, c, other, "k links of bandwidth B are not one of k B");
}

/// Two NPUs are joined by one wire each way, whatever the dimension is called.
Case draw_pairs(Random& random) {
  MachineLimits machine;
  machine.npus = 16;
  machine.kinds = {"Ring", "FullyConnected", "Mesh"};
  machine.fidelities = {"analytical", "analytical", "message", "message"};
  CollectiveLimits limits;
  limits.algorithms = false;
  limits.side_by_side = false;
  Case c = draw_collective_on(random, machine, limits);
  const size_t d = random.below(c.machine.dimensions.size());
  c.machine.dimensions[d].size = 2;
  c.collective->root = 0;
  c.choices["dimension"] = d;
  c.choices["kind"] = random.below(2);
  std::string list;
  for (size_t i = 0; i < c.machine.dimensions.size(); ++i)
    list += (list.empty() ? "" : ", ") + std::string(random.pick({"ring", "direct"}));
  c.machine.keys["collectives." + c.collective->op] = "[" + list + "]";
  return c;
}

void check_pairs(const Case& c, Bench& bench) {
  const size_t d = std::min<size_t>(c.choice("dimension"), c.machine.dimensions.size() - 1);
  if (c.machine.dimensions[d].size != 2) throw Skipped{"no pair"};
  if (c.machine.keys.count("collectives." + c.collective->op) == 0) throw Skipped{"the defaults differ"};
  Machine other = c.machine;
  std::vector<std::string> kinds = {"Ring", "FullyConnected", "Mesh"};
  kinds.erase(std::find(kinds.begin(), kinds.end(), other.dimensions[d].kind));
  other.dimensions[d].kind = kinds[c.choice("kind") % kinds.size()];
  require_same(bench, c, other, "two NPUs are joined otherwise as Ring, FullyConnected and Mesh");
}

/// A job on the first ranks of a machine with one more dimension is the job alone.
Case draw_bigger(Random& random) {
  Case c;
  MachineLimits machine;
  machine.npus = 12;
  machine.dimensions = 2;
  machine.fidelities = {"analytical", "analytical", "message", "message", "packet"};
  c.machine = draw_machine(random, machine);
  draw_collective_keys(random, c.machine, {});
  JobLimits job;
  job.all_ranks = false;
  job.bytes = 64 << 10;
  c.job = draw_job(random, c.machine, job);
  c.choices["kind"] = random.below(4);
  c.choices["size"] = random.below(2);
  return c;
}

void check_bigger(const Case& c, Bench& bench) {
  const char* const kinds[] = {"Ring", "FullyConnected", "Switch", "Mesh"};
  Dimension more;
  more.kind = kinds[c.choice("kind") % 4];
  more.size = c.choice("size") == 0 ? 2 : 3;
  more.keys = {{"bandwidth", "50 GB/s"}, {"fidelity", "analytical"}};  // so that no packet network grows
  const Machine bigger = with_dimension(c.machine, c.machine.dimensions.size(), more);
  const RunResults alone = bench.run(c.machine, *c.job, "machine", {"--no-fold"});
  const RunResults within = bench.run(bigger, *c.job, "bigger", {"--no-fold"}, "bigger");
  const std::string kind = "a job takes another time on some ranks of a bigger machine";
  require_same_time(alone.time, within.time, kind, "alone and within");
  const auto told = [&](const RunResults& run) {
    std::string text;
    for (const auto& row : bench.csv(run.folder + "/ranks.csv")) {
      if (std::stoul(row.at("rank")) >= c.machine.npus()) continue;
      for (const auto& [column, cell] : row) text += column + "=" + cell + " ";
      text += "\n";
    }
    for (const auto& row : bench.csv(run.folder + "/collectives.csv"))
      text += row.at("name") + " " + row.at("start_ns") + " " + row.at("end_ns") + "\n";
    return text;
  };
  require_equal(told(alone), told(within), kind, "alone and within");
}

}  // namespace

Relation dimensions_of_one() {
  return {"dimensions_of_one", "a dimension of one NPU changes nothing", draw_ones, check_ones};
}
Relation parallel_links() {
  return {"parallel_links", "k parallel links of bandwidth B are one of k B", draw_parallel, check_parallel};
}
Relation pairs() {
  return {"pairs", "two NPUs are the same as Ring, FullyConnected and Mesh", draw_pairs, check_pairs};
}
Relation bigger_machine() {
  return {"bigger_machine", "a job on the first ranks of a bigger machine is the job alone", draw_bigger,
          check_bigger};
}

}  // namespace weft::relations
