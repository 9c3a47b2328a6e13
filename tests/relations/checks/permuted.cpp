// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

// Ranks with other numbers. What is drawn has the same neighbours after the change: groups along one
// dimension, algorithms that go round (ring, and direct, which sends to the next member first), and sizes
// that divide, so that no member has a larger block than another. No two ranks' messages may ask for one link
// at one instant: the lower rank's would go first.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "tests/relations/relation.h"

namespace weft::relations {
namespace {

Machine draw_symmetric(Random& random, uint32_t dimensions) {
  MachineLimits limits;
  limits.kinds = {"Ring", "FullyConnected", "Switch"};
  limits.dimensions = dimensions;
  limits.npus = 18;
  Machine machine = draw_machine(random, limits);
  CollectiveLimits keys;
  keys.algorithms = false;
  keys.fixed_chunks = true;
  keys.side_by_side = false;
  keys.orders = false;
  draw_collective_keys(random, machine, keys);
  return machine;
}

constexpr const char* kOps[] = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all"};

/// Algorithms with which every link carries the messages of one sender only: no two senders can ask for a
/// link at one instant, where the lower rank's message would go first. With `direct` a switch's link to a
/// member carries those of all others; it is drawn (`alone`) where all members begin together.
void name_algorithms(Random& random, Machine& machine, bool alone) {
  for (const char* op : kOps) {
    std::string list;
    for (const Dimension& d : machine.dimensions) {
      const bool direct = d.kind == "FullyConnected" || (d.kind == "Switch" && alone && random.chance(50));
      list += (list.empty() ? "" : ", ") + std::string(direct ? "direct" : "ring");
    }
    machine.keys[std::string("collectives.") + op] = "[" + list + "]";
  }
}

/// A smaller case may have lost the names, or no longer be alone.
bool without_ties(const Machine& machine, const Job& job) {
  const bool alone = job.works.size() == 1;
  for (const char* op : kOps) {
    std::string list = machine.get(std::string("collectives.") + op, "");
    for (const Dimension& d : machine.dimensions) {
      list.erase(0, list.find_first_not_of("[, "));
      const std::string name = list.substr(0, list.find_first_of(",]"));
      list.erase(0, name.size());
      const bool direct = name == "direct" && (d.kind == "FullyConnected" || (d.kind == "Switch" && alone));
      if (!direct && (name != "ring" || d.kind == "FullyConnected")) return false;
    }
  }
  return true;
}

/// Compute on some ranks, collectives along one dimension, one after the other; messages to a neighbour.
Job draw_lines(Random& random, const Machine& machine, bool alone = false) {
  Job job;
  const uint64_t unit =
      4 * uint64_t{machine.npus()} * std::max<uint64_t>(1, number(machine.get("collectives.chunks", "4")));
  for (uint64_t n = alone ? 1 : random.between(2, 7); n-- > 0;) {
    Work work;
    work.name = fmt::format("w{}", job.works.size());
    if (!job.works.empty()) work.after = {job.works.size() - 1};
    const auto rank = static_cast<uint32_t>(random.below(machine.npus()));
    const auto dimension = static_cast<uint32_t>(random.below(machine.dimensions.size()));
    if (!alone && random.chance(25)) {
      work.ranks = {rank};
      work.amount = random.below(50);
    } else if (!alone && random.chance(20)) {
      work.kind = Work::Kind::message;
      const uint32_t size = machine.dimensions[dimension].size;
      work.ranks = {rank, machine.moved(rank, dimension, (machine.coordinate(rank, dimension) + 1) % size)};
      work.amount = random.between(1, 65536);
    } else {
      work.kind = Work::Kind::collective;
      work.op = kOps[random.below(std::size(kOps))];
      work.amount = unit * random.between(1, 64);
      work.ranks = line(machine, rank, 1u << dimension);
      work.group = line_group(job, machine, rank, 1u << dimension);
    }
    if (!work.ranks.empty()) job.works.push_back(std::move(work));
  }
  return job;
}

std::string times_of(Bench& bench, const RunResults& run) {
  std::string text = fmt::format("{} ps\n", run.time);
  std::vector<std::string> rows;
  for (const auto& row : bench.csv(run.folder + "/collectives.csv"))
    rows.push_back(fmt::format("{} {} {}\n", row.at("name"), row.at("start_ns"), row.at("end_ns")));
  std::sort(rows.begin(), rows.end());
  for (const auto& row : rows) text += row;
  return text;
}

/// The position of the last of two equal dimensions; 0 if there are none. `first` gets the other one.
size_t equal_to(const Machine& machine, size_t& first) {
  for (size_t b = machine.dimensions.size(); b-- > 1;) {
    for (first = 0; first < b; ++first)
      if (machine.dimensions[first].notation() == machine.dimensions[b].notation() &&
          machine.dimensions[first].keys == machine.dimensions[b].keys)
        return b;
  }
  return 0;
}

Case draw_equal(Random& random) {
  Case c;
  do {
    c.machine = draw_symmetric(random, 2);
    c.machine.dimensions.push_back(c.machine.dimensions[random.below(c.machine.dimensions.size())]);
  } while (c.machine.npus() > 27);
  // Equal dimensions have equal algorithms.
  for (const char* op : kOps)
    if (random.chance(50)) c.machine.keys[std::string("collectives.") + op] = random.pick({"ring", "direct"});
  c.job = draw_lines(random, c.machine);
  return c;
}

void check_equal(const Case& c, Bench& bench) {
  size_t a = 0;
  const size_t b = equal_to(c.machine, a);
  if (b == 0) throw Skipped{"no two dimensions are equal"};
  std::vector<uint32_t> to(c.machine.npus());
  for (uint32_t r = 0; r < to.size(); ++r)
    to[r] = c.machine.moved(c.machine.moved(r, a, c.machine.coordinate(r, b)), b, c.machine.coordinate(r, a));
  const RunResults one = bench.run(c.machine, *c.job, "machine", {"--no-fold"});
  const RunResults other = bench.run(c.machine, c.job->renumbered(to), "other", {"--no-fold"}, "other");
  require_equal(times_of(bench, one), times_of(bench, other), "equal dimensions cannot be exchanged",
                fmt::format("with dimensions {} and {} exchanged", a, b));
}

Case draw_rotated(Random& random) {
  Case c;
  c.machine = draw_symmetric(random, 3);
  const bool alone = random.chance(25);
  name_algorithms(random, c.machine, alone);
  c.job = draw_lines(random, c.machine, alone);
  for (size_t d = 0; d < c.machine.dimensions.size(); ++d)
    c.choices[fmt::format("by{}", d)] = random.below(c.machine.dimensions[d].size);
  c.choices["by0"] = random.between(1, c.machine.dimensions[0].size - 1);
  return c;
}

std::vector<uint32_t> rotation(const Case& c) {
  std::vector<uint32_t> to(c.machine.npus());
  for (uint32_t r = 0; r < to.size(); ++r) {
    to[r] = r;
    for (size_t d = 0; d < c.machine.dimensions.size(); ++d) {
      const uint64_t by = c.choice(fmt::format("by{}", d));
      to[r] = c.machine.moved(
          to[r], d, static_cast<uint32_t>((c.machine.coordinate(r, d) + by) % c.machine.dimensions[d].size));
    }
  }
  return to;
}

void check_rotated(const Case& c, Bench& bench) {
  if (!without_ties(c.machine, *c.job)) throw Skipped{"messages of two senders may ask for one link at once"};
  const RunResults one = bench.run(c.machine, *c.job, "machine", {"--no-fold"});
  const RunResults other =
      bench.run(c.machine, c.job->renumbered(rotation(c)), "other", {"--no-fold"}, "other");
  require_equal(times_of(bench, one), times_of(bench, other),
                "ranks of a symmetric machine cannot be exchanged", "with ranks exchanged");
  Machine mapped = c.machine;
  mapped.keys["topology.mapping"] = fmt::format("[{}]", fmt::join(rotation(c), ", "));
  const RunResults third = bench.run(mapped, *c.job, "mapped", {"--no-fold"}, "mapped");
  require_equal(times_of(bench, one), times_of(bench, third),
                "topology.mapping of a symmetric machine changes times", "without and with topology.mapping");
}

/// Messages and compute do not plan on dimensions, so that any placement can be undone. Each message starts
/// where the one before it ended: of two that reach a link at one instant the lower rank's goes first,
/// whatever its NPU is. There are no trees: which of several ways up a message takes follows from a hash of
/// the ranks' numbers.
Case draw_mapped(Random& random) {
  Case c;
  MachineLimits machine;
  machine.npus = 16;
  machine.fidelities = {"analytical", "message", "message", "packet"};
  c.machine = draw_machine(random, machine);
  c.job.emplace();
  auto rank = static_cast<uint32_t>(random.below(c.machine.npus()));
  for (uint64_t n = random.between(2, 8); n-- > 0;) {
    Work work;
    work.name = fmt::format("w{}", c.job->works.size());
    if (!c.job->works.empty()) work.after = {c.job->works.size() - 1};
    work.ranks = {rank};
    work.amount = random.below(50);
    if (random.chance(75)) {
      work.kind = Work::Kind::message;
      rank = static_cast<uint32_t>((rank + random.between(1, c.machine.npus() - 1)) % c.machine.npus());
      work.ranks.push_back(rank);
      work.amount = random.between(1, 65536);
    }
    c.job->works.push_back(std::move(work));
  }
  c.choices["permutation"] = random.between(1, 1u << 20);
  return c;
}

void check_mapped(const Case& c, Bench& bench) {
  std::vector<uint32_t> to(c.machine.npus());
  std::iota(to.begin(), to.end(), 0u);
  Random(c.choice("permutation")).shuffle(to);
  std::vector<uint32_t> npu_of(to.size());
  for (uint32_t r = 0; r < to.size(); ++r) npu_of[to[r]] = r;
  Machine mapped = c.machine;
  mapped.keys["topology.mapping"] = fmt::format("[{}]", fmt::join(npu_of, ", "));
  const RunResults one = bench.run(c.machine, *c.job);
  const RunResults other = bench.run(mapped, c.job->renumbered(to), "mapped", {}, "mapped");
  require_same_time(one.time, other.time, "other numbers on the same NPUs change the time",
                    "ranks as they are, and renumbered with topology.mapping");
  // Links are named after ranks, so only what they carried is compared.
  const auto links = [&](const RunResults& run) {
    std::vector<std::string> rows;
    for (const auto& row : bench.csv(run.folder + "/links.csv"))
      rows.push_back(fmt::format("{} {} {}\n", row.at("dimension"), row.at("bytes"), row.at("busy_ns")));
    std::sort(rows.begin(), rows.end());
    return fmt::format("{}", fmt::join(rows, ""));
  };
  require_equal(links(one), links(other), "other numbers on the same NPUs change the links", "links.csv");
}

}  // namespace

Relation equal_dimensions() {
  return {"equal_dimensions", "exchanging two equal dimensions changes no time", draw_equal, check_equal};
}
Relation rotated() {
  return {"rotated", "ranks of a symmetric machine may be exchanged, also by topology.mapping", draw_rotated,
          check_rotated};
}
Relation mapped() {
  return {"mapped", "ranks with other numbers on the same NPUs take the same time", draw_mapped,
          check_mapped};
}

}  // namespace weft::relations
