// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The critical paths of the measured goldens: they add up to the time, and what they say of every phase of a
// chunk is its closed form, term by term: so many endpoint delays, so many latencies, so many bytes on a
// link, so many bytes reduced.

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "insight/critical_path.h"
#include "sc_models/machine.h"
#include "tests/support/golden_collectives.h"
#include "tests/support/isolated.h"
#include "tests/support/paths.h"

namespace weft {
namespace {

using insight::Term;
using test::GoldenCollective;

struct Case final : NmuClient {
  GoldenCollective golden;
  collectives::Group group;
  insight::CausalLog log{1ull << 30};
  std::unique_ptr<collectives::PlanBuilder> plans;
  std::shared_ptr<const collectives::CollectivePlan> plan;
  std::unique_ptr<Machine> machine;
  Picoseconds finished = 0;

  void collective_done(NpuId rank, const collectives::CollectiveDone& done) override {
    finished = std::max(finished, done.finished);
    log.ended(index(rank), log.because(), done.finished);
  }
  void message_injected(NpuId, NpuId, const MessageId&) override {}
  void message_arrived(NpuId, const Completion&) override {}
};

std::unique_ptr<Case> make(GoldenCollective golden, size_t number) {
  auto c = std::make_unique<Case>();
  c->golden = std::move(golden);
  const Config& config = c->golden.config;
  Machine::Options options;
  options.causes = &c->log;
  c->machine = std::make_unique<Machine>(("case" + std::to_string(number)).c_str(), config, *c, options);
  c->plans = std::make_unique<collectives::PlanBuilder>(config);
  collectives::CollectiveRequest request;
  request.op = c->golden.op;
  request.bytes = c->golden.bytes;
  request.group = &c->group;
  c->plan = c->plans->plan(request);
  for (uint32_t r = 0; r < c->machine->npus(); ++r) c->machine->nmu(r).start_collective(1, c->plan);
  return c;
}

/// What a phase is made of.
struct Form {
  uint64_t endpoints = 0;
  uint64_t latencies = 0;  ///< hops
  double bytes = 0;        ///< on links, one after the other
  double reduced = 0;
  uint64_t steps = 0;
};

/// One chunk's phase of `s` bytes, alone. False: there is no closed form.
bool closed_form(const collectives::PhasePlan& phase, const DimensionConfig& d, double s, Form& form) {
  const std::string name = phase.algorithm->name();
  const double n = d.size;
  const bool joined = d.kind == DimensionKind::switch_;
  const uint64_t hops = joined ? 2 : 1;
  // Each hop of a message stored and forwarded takes its bytes' time again.
  const double times = joined && d.fidelity == Fidelity::message ? 2 : 1;
  const bool reduces = phase.op == CollectiveOp::reduce_scatter || phase.op == CollectiveOp::all_reduce;
  const auto steps = [&](uint64_t count, double bytes) {
    form.steps += count;
    form.latencies += count * hops;
    form.bytes += static_cast<double>(count) * times * bytes;
    form.endpoints += count;
  };
  form = Form{};
  form.endpoints = 1;
  const uint64_t others = d.size - 1;
  if (name == "ring" && d.kind == DimensionKind::ring) {
    if (phase.op == CollectiveOp::all_gather) steps(others, s);
    if (phase.op == CollectiveOp::reduce_scatter) steps(others, s / n);
    if (phase.op == CollectiveOp::all_reduce) steps(2 * others, s / n);
    if (phase.op == CollectiveOp::all_to_all) steps(others * d.size / 2, s / n);
    if (reduces) form.reduced = static_cast<double>(others) * s / n;
    return true;
  }
  if (name == "direct" && (joined || d.kind == DimensionKind::fully_connected)) {
    const double block = phase.op == CollectiveOp::all_gather ? s : s / n;
    const uint64_t rounds = phase.op == CollectiveOp::all_reduce ? 2 : 1;
    steps(rounds, block);
    // Behind one port the messages to the others leave one after the other.
    if (joined) form.bytes += static_cast<double>(rounds) * (n - 2) * block;
    if (reduces) form.reduced = block;
    return true;
  }
  if (name == "halving_doubling" && d.kind != DimensionKind::ring && (d.size & (d.size - 1)) == 0) {
    uint64_t k = 0;
    for (uint64_t part = 2; part <= d.size; part *= 2, ++k) {
      if (phase.op == CollectiveOp::all_gather) {
        steps(1, s * static_cast<double>(part) / 2);
        continue;
      }
      steps(phase.op == CollectiveOp::all_reduce ? 2 : 1, s / static_cast<double>(part));
      form.reduced += s / static_cast<double>(part);
    }
    return phase.op != CollectiveOp::all_to_all;
  }
  return false;
}

double after(CollectiveOp op, double s, double n) {
  if (op == CollectiveOp::reduce_scatter) return s / n;
  return op == CollectiveOp::all_gather ? s * n : s;
}

std::string compare(const Case& c, const std::vector<insight::Piece>& path, uint32_t& forms) {
  std::map<uint32_t, std::map<Term, double>> found;
  for (const insight::Piece& piece : path) found[piece.step][piece.term] += static_cast<double>(piece.time());
  for (auto& [step, terms] : found) {
    const uint32_t chunk = step >> 8;
    double s = static_cast<double>(c.plan->chunk_bytes(chunk));
    const auto& phases = c.plan->phases(chunk);
    for (uint32_t p = 0; p < (step & 0xff); ++p)
      s = after(phases[p].op, s, c.plan->axes()[phases[p].axis].size);
    const collectives::PhasePlan& phase = phases[step & 0xff];
    const DimensionConfig& d = c.golden.config.dimensions[c.plan->axes()[phase.axis].dimension];
    Form form;
    if (!closed_form(phase, d, s, form)) continue;
    ++forms;
    const double byte = 1e12 / d.bandwidth.value();
    // Blocks may be a byte larger, and every message is rounded to picoseconds at every hop.
    const double slack = static_cast<double>(form.steps + d.size) * (2 * byte + 4);
    const double reduce =
        c.golden.config.collectives.reduction == ReductionKind::none
            ? 0
            : 3 * form.reduced * 1e12 / c.golden.config.collectives.reduction_bandwidth.value();
    const auto differs = [&](double ours, double theirs, double allowed) {
      return std::abs(ours - theirs) > allowed;
    };
    if (differs(terms[Term::endpoint],
                static_cast<double>(form.endpoints * c.golden.config.nmu.endpoint_delay), 0) ||
        differs(terms[Term::latency], static_cast<double>(form.latencies * d.latency), 0) ||
        differs(terms[Term::serialise] + terms[Term::queueing], form.bytes * byte, slack) ||
        differs(terms[Term::reduction], reduce, static_cast<double>(form.steps) * 4))
      return c.golden.id + " chunk " + std::to_string(chunk) + " phase " + std::to_string(step & 0xff) +
             " (" + phase.algorithm->name() + " " + to_string(phase.op) + "): endpoint " +
             std::to_string(terms[Term::endpoint]) + " latency " + std::to_string(terms[Term::latency]) +
             " links " + std::to_string(terms[Term::serialise] + terms[Term::queueing]) + " reduction " +
             std::to_string(terms[Term::reduction]) + "; closed form " +
             std::to_string(form.endpoints * c.golden.config.nmu.endpoint_delay) + " " +
             std::to_string(form.latencies * d.latency) + " " + std::to_string(form.bytes * byte) + " " +
             std::to_string(reduce) + "\n";
  }
  return "";
}

std::string check(const Case& c, uint32_t& forms) {
  const insight::PathEnd end = insight::end_of_path(c.log);
  const auto path = insight::critical_path(c.log, end.last, 0, c.finished);
  if (end.at != c.finished) return c.golden.id + ": the path ends at another time\n";
  Picoseconds at = 0;
  for (const insight::Piece& piece : path) {
    if (piece.from != at || piece.to <= piece.from)
      return c.golden.id + ": a gap at " + std::to_string(at) + "\n";
    if (piece.term == Term::wait || piece.term == Term::unrecorded)
      return c.golden.id + ": " + to_string(piece.term) + " at " + std::to_string(at) + "\n";
    at = piece.to;
  }
  if (at != c.finished) return c.golden.id + ": ends early\n";
  return compare(c, path, forms);
}

/// Checks the cases of a file that have at most so many NPUs. Ends with how many closed forms were compared.
std::string run_file(const std::string& file, uint32_t npus) {
  std::string failures;
  uint32_t forms = 0;
  std::vector<std::unique_ptr<Case>> cases;
  for (GoldenCollective& golden : test::read_golden_collectives(file))
    if (golden.config.npus() <= npus) cases.push_back(make(std::move(golden), cases.size()));
  sc_core::sc_start();
  for (const auto& c : cases) failures += check(*c, forms);
  return failures + std::to_string(cases.size()) + " cases, " + std::to_string(forms) + " phases";
}

TEST(GoldenPaths, Collectives) {
  WEFT_NEEDS_DATA();
  const auto result = test::isolated([] { return run_file("collectives.json", 256); });
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.text, "415 cases, 2948 phases");
}

TEST(GoldenPaths, OneDimensionWithReduction) {
  WEFT_NEEDS_DATA();
  const auto result = test::isolated([] { return run_file("one_dimension_reduction.json", 256); });
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.text, "307 cases, 751 phases");
}

TEST(GoldenPaths, PaperSystems) {
  WEFT_NEEDS_DATA();
  const auto result = test::isolated([] { return run_file("paper_systems.json", 512); });
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.text, "25 cases, 1730 phases");
}

}  // namespace
}  // namespace weft
