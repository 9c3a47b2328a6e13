// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Measured collectives without contention at packet fidelity: the golden time plus what packets cost. Of each
// message on the longest chain of messages that is the way through the routers (docs/packet_fabric.md) and
// the rounding of its bytes to flits, and of a flit's time to picoseconds.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "configs/packet_timing.h"
#include "tests/support/golden_collectives.h"
#include "tests/support/isolated.h"
#include "tests/support/paths.h"
#include "tests/support/solo_job.h"

namespace weft {
namespace {

using test::GoldenCollective;

bool power_of_two(uint32_t n) {
  return (n & (n - 1)) == 0;
}

/// Bytes of the messages that follow each other when one chunk of `bytes` (in the sense of the collective's
/// size) crosses the dimension.
std::vector<double> chain(const GoldenCollective& g, const DimensionConfig& d, double bytes) {
  const double n = d.size;
  const bool scatter = g.op == CollectiveOp::reduce_scatter || g.op == CollectiveOp::all_reduce;
  const bool gather = g.op == CollectiveOp::all_gather || g.op == CollectiveOp::all_reduce;
  const double block = g.op == CollectiveOp::all_gather ? bytes : bytes / n;
  std::vector<double> messages;
  switch (d.kind) {
    case DimensionKind::ring:
    case DimensionKind::mesh:
      messages.assign(static_cast<size_t>((scatter ? n - 1 : 0) + (gather ? n - 1 : 0)), block);
      break;
    case DimensionKind::fully_connected:
      messages.assign(g.op == CollectiveOp::all_reduce ? 2 : 1, block);
      break;
    case DimensionKind::switch_:
      for (uint32_t half = 1; half < d.size; half *= 2) {
        if (scatter) messages.push_back(half * block);
        if (gather) messages.push_back(half * block);
      }
      break;
  }
  return messages;
}

/// Do the collective's messages have their links to themselves, as the golden's had?
bool alone(const GoldenCollective& g, const DimensionConfig& d) {
  const bool all_to_all = g.op == CollectiveOp::all_to_all;
  switch (d.kind) {
    case DimensionKind::ring:
    case DimensionKind::mesh:
      return !all_to_all;  // which has messages of several hops
    case DimensionKind::fully_connected:
      return true;
    case DimensionKind::switch_:
      // Pairs, cut through the switch: the reference's queues take whole messages.
      return !all_to_all && power_of_two(d.size) && d.fidelity == Fidelity::analytical;
  }
  return false;
}

Config packets_of(const GoldenCollective& g) {
  Config config = g.config;
  config.packet.packet_bytes = 4096;
  config.packet.flit_bytes = 64;
  for (DimensionConfig& d : config.dimensions) d.fidelity = Fidelity::packet;
  return config;
}

/// What packets add to the golden's time if every message waits for the one before it, in ns.
struct Added {
  double way = 0;    ///< through routers, and rounding to flits
  double clock = 0;  ///< what comes between two cycles waits for the next one: less than this
};
Added added(const GoldenCollective& g) {
  const Config config = packets_of(g);
  const auto ps = [](Ticks t) { return static_cast<double>(t) / static_cast<double>(kTicksPerPicosecond); };
  const Ticks cycle = router_cycle(config.packet, flit_times(config, packet_regions(config).front()));
  const double stages = router_cycles(config.packet);
  Added sum;
  double chunk = static_cast<double>(g.bytes) / config.collectives.chunks;
  for (const DimensionConfig& d : config.dimensions) {
    const Ticks flit = flit_time(config.packet, d.link_rate());
    const bool is_switch = d.kind == DimensionKind::switch_;
    // A switch alone is one router, with the interfaces at its links; else NPUs have routers of their own.
    const bool one_router = is_switch && config.dimensions.size() == 1;
    const double hops = is_switch ? 2 : 1;
    double cycles = one_router ? stages : (hops + 1) * stages + 2;
    if (d.latency == 0) cycles += hops;
    const double slow = (hops + (one_router ? 0 : 1)) * ps(flit - cycle);
    for (const double bytes : chain(g, d, chunk)) {
      const auto flits =
          static_cast<double>(message_flits(config.packet, static_cast<uint64_t>(std::ceil(bytes))));
      sum.way += cycles * ps(cycle) + slow + flits * ps(flit) - bytes / d.link_rate().value() * 1e12;
      // At other rates than the clock's every router on the way decides at its next cycle.
      sum.clock += (flit == cycle ? 1 : hops + 2) * ps(cycle);
    }
    if (g.op == CollectiveOp::all_gather) chunk *= d.size;
    if (g.op == CollectiveOp::all_reduce || g.op == CollectiveOp::reduce_scatter) chunk /= d.size;
  }
  sum.way *= config.collectives.chunks / 1000.0;
  sum.clock *= config.collectives.chunks / 1000.0;
  return sum;
}

struct Case {
  GoldenCollective golden;
  std::unique_ptr<Config> config;
  std::unique_ptr<CollectiveJob> job;
};

/// Runs all cases side by side; a line a failure. `f`: what to say of a golden and its time in ns.
template <typename F>
std::string run(const std::vector<GoldenCollective>& goldens, F&& f) {
  std::vector<Case> cases;
  for (const GoldenCollective& g : goldens) {
    cases.push_back({g, std::make_unique<Config>(packets_of(g)), nullptr});
    cases.back().job = std::make_unique<test::SoloCollectiveJob>(fmt::format("case{}", cases.size()).c_str(),
                                                                 *cases.back().config);
    cases.back().job->start(g.op, g.bytes);
  }
  sc_core::sc_start();
  std::string failures;
  for (const Case& c : cases) {
    if (!c.job->finished()) {
      failures += c.golden.id + ": " + c.job->stall_report();
      continue;
    }
    for (const std::string& broken : c.job->result().broken_invariants)
      failures += c.golden.id + ": " + broken + "\n";
    failures += f(c.golden, static_cast<double>(c.job->last().time()) / 1000);
  }
  return failures;
}

std::vector<GoldenCollective> goldens_of(const char* file, bool one_dimension) {
  std::vector<GoldenCollective> result;
  for (GoldenCollective& g : test::read_golden_collectives(file)) {
    const auto& dimensions = g.config.dimensions;
    if ((dimensions.size() == 1) != one_dimension) continue;
    if (!std::all_of(dimensions.begin(), dimensions.end(),
                     [&](const DimensionConfig& d) { return alone(g, d); }))
      continue;
    // What all NPUs send. Larger ones are streams that repeat themselves.
    const uint64_t n = g.config.npus();
    if (g.bytes * n * (g.op == CollectiveOp::all_gather ? n : 1) > 8u << 20) continue;
    result.push_back(std::move(g));
  }
  return result;
}

std::string outside(const GoldenCollective& g, double time, double least, double most) {
  if (time >= least && time <= most) return {};
  return fmt::format("{}: {} ns, expected from {} to {}, golden {} +- {}\n", g.id, time, least, most,
                     g.time_ns, g.tolerance_ns);
}

/// One dimension: every message is alone on its way and its chain is the collective, so the time is the
/// golden's and the formula's, up to the golden's own tolerance (0.1 %, and whole nanoseconds of the
/// reference) and the clock.
TEST(GoldenPackets, OneDimensionIsTheGoldenAndTheWayThroughTheRouters) {
  WEFT_NEEDS_DATA();
  for (const char* file : {"collectives.json", "one_dimension_reduction.json"}) {
    const auto result = test::isolated([file] {
      const auto goldens = goldens_of(file, true);
      return fmt::format("{} cases\n", goldens.size()) +
             run(goldens, [&](const GoldenCollective& g, double time) {
               const Added a = added(g);
               return outside(g, time, g.time_ns + a.way - g.tolerance_ns,
                              g.time_ns + a.way + a.clock + g.tolerance_ns);
             });
    });
    EXPECT_EQ(result.status, 0) << result.text;
    EXPECT_EQ(result.text, std::string(file) == "collectives.json" ? "91 cases\n" : "75 cases\n") << file;
  }
}

/// Several dimensions: chunks are in all of them at a time, so the formula's sum is what packets add at most.
/// At several rates packets also wait for cycles one by one: twice the golden's tolerance.
TEST(GoldenPackets, DimensionsTogetherAddNoMoreThanOneAfterTheOther) {
  WEFT_NEEDS_DATA();
  const auto result = test::isolated([] {
    const auto goldens = goldens_of("collectives.json", false);
    return fmt::format("{} cases\n", goldens.size()) +
           run(goldens, [&](const GoldenCollective& g, double time) {
             const Added a = added(g);
             return outside(g, time, g.time_ns - g.tolerance_ns,
                            g.time_ns + a.way + a.clock + 2 * g.tolerance_ns);
           });
  });
  EXPECT_EQ(result.status, 0) << result.text;
  EXPECT_EQ(result.text, "73 cases\n");
}

}  // namespace
}  // namespace weft
