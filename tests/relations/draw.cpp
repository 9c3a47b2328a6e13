// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tests/relations/draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace weft::relations {
namespace {

const char* const kOps[] = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all",
                            "broadcast",  "reduce",     "gather",         "scatter"};

std::string draw_bandwidth(Random& random, bool odd) {
  switch (random.below(odd ? 6 : 4)) {
    case 0:
      return "100 GB/s";
    case 1:
      return fmt::format("{} GB/s", 1u << random.below(10));
    case 2:
    case 3:
      return fmt::format("{} GB/s", random.between(1, 400));
    case 4:
      return fmt::format("{}/{} GiB/s", random.between(10, 900), random.between(2, 15));
    default:
      return fmt::format("{} MB/s", random.between(100, 999999));
  }
}

std::string draw_latency(Random& random) {
  switch (random.below(5)) {
    case 0:
      return "0 ns";
    case 1:
      return fmt::format("{} ps", random.between(1, 5000000));
    case 2:
      return fmt::format("{} ns", random.between(1, 50));
    default:
      return fmt::format("{} ns", random.between(1, 40) * 50);
  }
}

struct Shape {
  const char* notation;
  uint32_t leaves;
};
constexpr Shape kTrees[] = {{"FatTree(k=2,n=2)", 4},
                            {"FatTree(k=2,n=3)", 8},
                            {"Clos(hosts=2,leaves=2,spines=2)", 4},
                            {"Clos(hosts=2,leaves=3,spines=2)", 6},
                            {"Clos(hosts=3,leaves=2,spines=1)", 6}};

void draw_links(Random& random, const MachineLimits& limits, const std::string& fidelity, Dimension& d) {
  d.keys["bandwidth"] = draw_bandwidth(random, limits.odd_rates);
  if (random.chance(85)) d.keys["latency"] = draw_latency(random);
  if (random.chance(15)) d.keys["links_per_npu"] = std::to_string(random.between(2, 3));
  d.keys["fidelity"] = fidelity;
  if (random.chance(60)) d.keys["switching"] = random.pick({"cut_through", "store_and_forward"});
}

std::vector<uint32_t> all_ranks(const Machine& machine) {
  std::vector<uint32_t> ranks(machine.npus());
  std::iota(ranks.begin(), ranks.end(), 0u);
  return ranks;
}

/// Sizes that are multiples of it divide over chunks, members and elements.
uint64_t machine_unit(const Machine& machine) {
  return 4 * uint64_t{machine.npus()} * std::max<uint64_t>(1, number(machine.get("collectives.chunks", "4")));
}

class JobDraw {
 public:
  JobDraw(Random& random, const Machine& machine, const JobLimits& limits)
      : random_(random),
        machine_(machine),
        limits_(limits),
        ranks_(limits.ranks.empty() ? all_ranks(machine) : limits.ranks) {}

  Job job() {
    const uint64_t count = random_.between(2, limits_.works);
    while (job_.works.size() < count) add();
    return std::move(job_);
  }

 private:
  void add() {
    Work work;
    const uint64_t which = random_.below(10);
    if (which < 2 && limits_.computes) {
      work.kind = Work::Kind::compute;
      work.ranks = some();
      work.amount = random_.below(limits_.micros + 1);
    } else if (which < 3 && limits_.memory) {
      work.kind = random_.chance(50) ? Work::Kind::load : Work::Kind::store;
      work.ranks = some();
      work.amount = draw_bytes(random_, limits_.bytes);
    } else if (which < 5 && limits_.messages && ranks_.size() > 1) {
      work.kind = Work::Kind::message;
      const uint32_t source = random_.pick(ranks_);
      uint32_t destination = source;
      while (destination == source) destination = random_.pick(ranks_);
      work.ranks = {source, destination};
      work.amount = draw_bytes(random_, limits_.bytes);
    } else if (!collective(work)) {
      return;
    }
    work.name = fmt::format("w{}", job_.works.size());
    wait(work);
    job_.works.push_back(std::move(work));
  }

  bool collective(Work& work) {
    work.kind = Work::Kind::collective;
    work.op = limits_.ops.empty() ? draw_op(random_) : random_.pick(limits_.ops);
    work.amount = draw_bytes(random_, limits_.bytes);
    const uint64_t kind = random_.below(10);
    if (kind < 3 && limits_.all_ranks && limits_.ranks.empty()) {
      work.ranks = ranks_;
    } else if (kind < 5 && limits_.any_group && ranks_.size() > 2) {
      work.ranks = some();
      if (work.ranks.size() < 2) return false;
      work.group = fmt::format("g{}", job_.groups.size());
      job_.groups[work.group] = work.ranks;
    } else {
      const uint32_t mask = 1 + static_cast<uint32_t>(random_.below((1u << machine_.dimensions.size()) - 1));
      const uint32_t rank = random_.pick(ranks_);
      work.ranks = line(machine_, rank, mask);
      const auto outside = [this](uint32_t r) {
        return std::find(ranks_.begin(), ranks_.end(), r) == ranks_.end();
      };
      if (std::any_of(work.ranks.begin(), work.ranks.end(), outside)) return false;
      if (work.ranks.size() < 2) return false;
      work.group = line_group(job_, machine_, rank, mask);
    }
    work.root = random_.pick(work.ranks);
    return true;
  }

  std::vector<uint32_t> some() {
    std::vector<uint32_t> ranks = ranks_;
    if (random_.chance(30)) return ranks;
    random_.shuffle(ranks);
    ranks.resize(1 + random_.below(ranks.size()));
    std::sort(ranks.begin(), ranks.end());
    return ranks;
  }

  void wait(Work& work) {
    if (job_.works.empty() || !random_.chance(limits_.waits)) return;
    const size_t last = job_.works.size();
    if (random_.chance(40)) {
      work.after.push_back(last - 1);
    } else {
      for (size_t n = 1 + random_.below(2); n-- > 0;) {
        const size_t i = random_.below(last);
        if (std::find(work.after.begin(), work.after.end(), i) == work.after.end()) work.after.push_back(i);
      }
      std::sort(work.after.begin(), work.after.end());
    }
  }

  Random& random_;
  const Machine& machine_;
  const JobLimits& limits_;
  const std::vector<uint32_t> ranks_;
  Job job_;
};

/// Adds `more` as extra work.
void append(Job& job, const Job& more) {
  const size_t first = job.works.size();
  for (Work work : more.works) {
    work.name = "x" + work.name;
    work.extra = true;
    for (size_t& i : work.after) i += first;
    if (!work.group.empty()) {
      const std::string name = "x" + work.group;
      job.groups[name] = more.groups.at(work.group);
      work.group = name;
    }
    job.works.push_back(std::move(work));
  }
}

std::vector<uint32_t> slice(const Machine& machine, size_t dimension, uint32_t coordinate) {
  std::vector<uint32_t> ranks;
  for (uint32_t r = 0; r < machine.npus(); ++r)
    if (machine.coordinate(r, dimension) == coordinate) ranks.push_back(r);
  return ranks;
}

}  // namespace

Machine draw_machine(Random& random, const MachineLimits& limits) {
  Machine machine;
  const uint64_t count = random.between(1, limits.dimensions);
  const std::string common = random.pick(limits.fidelities);
  const uint32_t most = count == 1 ? 8 : count == 2 ? 6 : 4;
  do {
    machine.dimensions.clear();
    for (uint64_t i = 0; i < count; ++i) {
      Dimension d;
      d.kind = random.pick(limits.kinds);
      d.size = random.small(limits.smallest, std::max(most, limits.smallest));
      if (limits.trees && count > 1 && d.kind == "Switch" && random.chance(40)) {
        const Shape& shape = kTrees[random.below(std::size(kTrees))];
        d.kind = shape.notation;
        d.size = shape.leaves;
      }
      draw_links(random, limits, limits.one_fidelity ? common : random.pick(limits.fidelities), d);
      machine.dimensions.push_back(std::move(d));
    }
  } while (machine.npus() > limits.npus);
  return machine;
}

Job job_of(const Machine& machine, const Collective& collective) {
  Work work;
  work.kind = Work::Kind::collective;
  work.name = "c";
  work.op = collective.op;
  work.amount = work.op == "barrier" ? 0 : collective.bytes;
  work.root = collective.root;
  work.ranks.resize(machine.npus());
  std::iota(work.ranks.begin(), work.ranks.end(), 0u);
  Job job;
  job.works.push_back(std::move(work));
  return job;
}

std::string draw_algorithm(Random& random, const Dimension& dimension, const std::string& op,
                           bool in_switch) {
  std::vector<std::string> names = {"default", "ring", "direct"};
  const bool trees = op == "all_reduce" || op == "broadcast" || op == "reduce" || op == "barrier";
  if (op != "all_to_all") names.push_back("halving_doubling");
  if (trees) names.push_back("double_binary_tree");
  if (in_switch && dimension.kind == "Switch" && op != "all_to_all") names.push_back("in_switch");
  return random.pick(names);
}

void draw_collective_keys(Random& random, Machine& machine, const CollectiveLimits& limits) {
  Settings& keys = machine.keys;
  if (limits.chunks == 1)
    keys["collectives.chunks"] = "1";
  else if (limits.fixed_chunks || random.chance(75))
    keys["collectives.chunks"] = std::to_string(random.between(1, limits.chunks));
  if (limits.side_by_side) {
    if (random.chance(35))
      keys["collectives.active_chunks_per_dimension"] = std::to_string(random.between(1, 3));
    if (random.chance(35)) keys["collectives.queues_per_dimension"] = "2";
    if (random.chance(10)) keys["collectives.direct_window"] = std::to_string(random.between(1, 3));
  }
  if (limits.orders) {
    if (random.chance(40))
      keys["collectives.order"] =
          random.pick({"baseline", "local_bw_aware", "enhanced", "round_robin", "themis", "themis_flex"});
    if (random.chance(40)) keys["collectives.scheduling"] = random.pick({"lifo", "fifo", "priority"});
    if (random.chance(25))
      keys["collectives.dimension_scheduling"] =
          random.pick({"fifo", "smallest_first", "less_remaining_phase_first"});
    if (random.chance(15)) {
      keys["collectives.dispatch_threshold"] = std::to_string(random.between(1, 4));
      if (random.chance(50)) keys["collectives.dispatch_batch"] = std::to_string(random.between(1, 3));
    }
  }
  for (const char* op : kOps) {
    if (!limits.algorithms || !random.chance(40)) continue;
    std::string list;
    for (const Dimension& d : machine.dimensions)
      list += (list.empty() ? "" : ", ") + draw_algorithm(random, d, op, limits.in_switch);
    keys[std::string("collectives.") + op] = "[" + list + "]";
  }
  if (limits.reduction && random.chance(25))
    keys["collectives.reduction"] = fmt::format("{{bandwidth: {} GB/s}}", random.between(1, 40) * 100);
  if (limits.endpoint && random.chance(30))
    keys["nmu.endpoint_delay"] = fmt::format("{} ps", random.between(1, 100) * 1000);
}

bool lockstep(const Machine& machine) {
  for (const Dimension& d : machine.dimensions) {
    const bool power = (d.size & (d.size - 1)) == 0;
    if (d.tree() || d.kind == "Mesh" || (d.kind == "Switch" && !power)) return false;
  }
  return true;
}

void draw_orderly_collective(Random& random, Case& c) {
  CollectiveLimits limits;
  limits.side_by_side = false;
  limits.in_switch = false;
  limits.orders = false;
  limits.fixed_chunks = true;
  const bool several = lockstep(c.machine) && random.chance(60);
  if (several)
    limits.algorithms = false;
  else
    limits.chunks = 1;
  draw_collective_keys(random, c.machine, limits);
  c.collective = draw_collective(random, c.machine);
  if (!several) return;
  c.collective->op = random.pick({"all_reduce", "all_gather", "reduce_scatter"});
  c.collective->root = 0;
  c.collective->bytes = machine_unit(c.machine) * random.between(1, 4096);
}

uint64_t draw_bytes(Random& random, uint64_t largest) {
  switch (random.below(5)) {
    case 0:
      return std::min(random.between(1, 256), largest);
    case 1:
    case 2:
      return std::min<uint64_t>(uint64_t{1} << random.between(6, 24), largest);
    default:
      return random.between(1, largest);
  }
}

std::string draw_op(Random& random) {
  // The operations of training come more often.
  return kOps[random.chance(60) ? random.below(4) : random.below(std::size(kOps))];
}

Collective draw_collective(Random& random, const Machine& machine, uint64_t largest) {
  Collective c;
  c.op = draw_op(random);
  c.bytes = draw_bytes(random, largest);
  if (rooted(c.op)) c.root = static_cast<uint32_t>(random.below(machine.npus()));
  return c;
}

std::vector<uint32_t> line(const Machine& machine, uint32_t rank, uint32_t mask) {
  std::vector<uint32_t> ranks;
  for (uint32_t r = 0; r < machine.npus(); ++r) {
    bool on = true;
    for (size_t d = 0; d < machine.dimensions.size(); ++d)
      on = on && ((mask >> d & 1) != 0 || machine.coordinate(r, d) == machine.coordinate(rank, d));
    if (on) ranks.push_back(r);
  }
  return ranks;
}

std::string line_group(Job& job, const Machine& machine, uint32_t rank, uint32_t mask) {
  const std::vector<uint32_t> ranks = line(machine, rank, mask);
  const std::string name = fmt::format("line{}_of_{}", mask, ranks.front());
  job.groups[name] = ranks;
  return name;
}

Job draw_job(Random& random, const Machine& machine, const JobLimits& limits) {
  return JobDraw(random, machine, limits).job();
}

Job draw_job_in_slices(Random& random, const Machine& machine, const JobLimits& limits) {
  const size_t dimension = random.below(machine.dimensions.size());
  JobLimits first = limits;
  first.ranks = slice(machine, dimension, 0);
  Job job = draw_job(random, machine, first);
  Random coordinate(random.below(1u << 30));
  JobLimits other = limits;
  other.ranks = slice(machine, dimension, coordinate.small(1, machine.dimensions[dimension].size - 1));
  append(job, draw_job(random, machine, other));
  return job;
}

}  // namespace weft::relations
