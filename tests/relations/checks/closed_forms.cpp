// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

// Ring with ring, FullyConnected with direct, Switch of a power of two with halving_doubling: the times and
// bytes that can be worked out on paper.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/relations/relation.h"

namespace weft::relations {
namespace {

Case draw(Random& random) {
  Case c;
  MachineLimits limits;
  limits.kinds = {"Ring", "FullyConnected", "Switch"};
  limits.dimensions = 1;
  limits.odd_rates = false;
  c.machine = draw_machine(random, limits);
  Dimension& d = c.machine.dimensions[0];
  while (d.kind == "Switch" && (d.size & (d.size - 1)) != 0) --d.size;
  d.keys.erase("links_per_npu");
  d.keys["bandwidth"] = fmt::format("{} GB/s", random.between(1, 400));
  d.keys["latency"] = fmt::format("{} ns", random.between(0, 2000));
  d.keys["switching"] = "cut_through";
  const uint64_t chunks = random.between(1, 6);
  c.machine.keys["collectives.chunks"] = std::to_string(chunks);
  if (random.chance(40)) c.machine.keys["nmu.endpoint_delay"] = fmt::format("{} ns", random.between(1, 100));
  if (random.chance(40))
    c.machine.keys["collectives.reduction"] =
        fmt::format("{{bandwidth: {} GB/s}}", random.between(100, 4000));
  c.collective.emplace();
  c.collective->op = random.pick({"all_reduce", "all_gather", "reduce_scatter"});
  c.collective->bytes = chunks * d.size * random.between(1, 20000);
  return c;
}

class Form {
 public:
  Form(const Case& c, uint64_t chunks)
      : n_(c.machine.dimensions[0].size),
        kind_(c.machine.dimensions[0].kind),
        ps_a_byte_(1000.0 / static_cast<double>(number(c.machine.dimensions[0].keys.at("bandwidth")))),
        latency_(static_cast<double>(number(c.machine.dimensions[0].keys.at("latency"))) * 1000),
        e_(static_cast<double>(number(c.machine.get("nmu.endpoint_delay", "0 ns"))) * 1000),
        s_(static_cast<double>(c.collective->bytes) / static_cast<double>(chunks)) {
    const std::string reduction = c.machine.get("collectives.reduction", "");
    const size_t at = reduction.find(": ");
    if (at != std::string::npos) red_ = 3000.0 / static_cast<double>(number(reduction.substr(at + 2)));
  }

  double time(const std::string& op) const {
    const double n = n_;
    const double block = s_ / n;
    if (kind_ == "Ring") {
      if (op == "all_gather") return e_ + (n - 1) * (x(s_) + e_);
      const double scatter = (n - 1) * (x(block) + e_ + red_ * block);
      return e_ + scatter + (op == "all_reduce" ? (n - 1) * (x(block) + e_) : 0);
    }
    if (kind_ == "FullyConnected") {
      if (op == "all_gather") return 2 * e_ + x(s_);
      const double scatter = 2 * e_ + x(block) + red_ * block;
      return scatter + (op == "all_reduce" ? e_ + x(block) : 0);
    }
    double out = e_;
    for (double k = 1, m = s_ / 2; k < n; k *= 2, m /= 2) {
      if (op == "all_gather") {
        out += x(k * s_) + e_;
      } else {
        out += x(m) + e_ + red_ * m + (op == "all_reduce" ? x(m) + e_ : 0);
      }
    }
    return out;
  }
  /// Bytes that all members together send.
  double bytes(const std::string& op) const {
    const double n = n_;
    return op == "all_gather" ? n * (n - 1) * s_ : (n - 1) * s_ * (op == "all_reduce" ? 2 : 1);
  }
  double steps() const { return 4.0 * n_; }

 private:
  double x(double m) const { return (kind_ == "Switch" ? 2 : 1) * latency_ + m * ps_a_byte_; }

  uint32_t n_;
  std::string kind_;
  double ps_a_byte_, latency_, e_, s_;
  double red_ = 0;
};

void check(const Case& c, Bench& bench) {
  const Dimension& d = c.machine.dimensions[0];
  if (c.machine.dimensions.size() != 1 || d.tree() || d.kind == "Mesh" || d.keys.count("latency") == 0 ||
      d.keys.at("latency").find(" ns") == std::string::npos ||
      d.keys.at("bandwidth").find(" GB/s") == std::string::npos)
    throw Skipped{"no form"};
  if (c.collective->op != "all_reduce" && c.collective->op != "all_gather" &&
      c.collective->op != "reduce_scatter")
    throw Skipped{"no form"};
  const uint64_t chunks = number(c.machine.get("collectives.chunks", "0"));
  if (chunks == 0 || c.collective->bytes % (chunks * d.size) != 0) throw Skipped{"the size does not divide"};
  const Form form(c, chunks);
  Job job;
  Work work;
  work.kind = Work::Kind::collective;
  work.name = "c";
  work.op = c.collective->op;
  work.amount = c.collective->bytes;
  work.ranks.resize(d.size);
  std::iota(work.ranks.begin(), work.ranks.end(), 0u);
  job.works.push_back(work);
  Machine machine = c.machine;
  machine.set_all("switching", "cut_through");
  const RunResults run = bench.run(machine, job);
  const double expected = static_cast<double>(chunks) * form.time(work.op);
  const double difference = std::abs(static_cast<double>(run.time) - expected);
  require(difference <= static_cast<double>(chunks) * form.steps(), "the time is not the closed form",
          fmt::format("{} ps, on paper {:.1f} ps", run.time, expected));
  const Rows rows = bench.csv(run.folder + "/collectives.csv");
  require(rows.size() == 1, "no row of the collective", "collectives.csv");
  const double sent = std::stod(rows[0].at("message_bytes"));
  require(sent == static_cast<double>(chunks) * form.bytes(work.op), "the bytes are not the closed form",
          fmt::format("{} B, on paper {} B", sent, static_cast<double>(chunks) * form.bytes(work.op)));
}

}  // namespace

Relation closed_forms() {
  return {"closed_forms", "time and bytes on one dimension are those of the closed forms", draw, check};
}

}  // namespace weft::relations
