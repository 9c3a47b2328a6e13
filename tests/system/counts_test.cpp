// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The machine does the work that the algorithms ask for: messages, bytes on every link, and activations
// against the algorithms' own count, so that no speed comes from work not done.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/isolated.h"
#include "tests/support/solo_job.h"

namespace weft {
namespace {

using collectives::AxisView;
using collectives::PhaseShape;
using collectives::Round;
using collectives::Split;

struct Dimension {
  DimensionKind kind;
  uint32_t size;
};

Config machine(const std::vector<Dimension>& dimensions, Fidelity fidelity) {
  Config config;
  for (const Dimension& dimension : dimensions) {
    DimensionConfig d;
    d.kind = dimension.kind;
    d.size = dimension.size;
    d.bandwidth = {100'000'000'000ull, 1};
    d.latency = 500'000;
    d.fidelity = fidelity;
    config.dimensions.push_back(d);
  }
  return config;
}

/// What the algorithms send, message by message, and where it goes.
struct Expected {
  uint64_t messages = 0;
  uint64_t bytes = 0;
  uint64_t crossings = 0;  ///< links crossed, summed
  std::map<std::string, uint64_t> link_bytes;
};

/// Names as Machine gives them: the links of a route, in dimension order.
void cross(const Config& config, const Geometry& geometry, uint32_t from, uint32_t to, uint64_t bytes,
           bool reverse, Expected& e) {
  uint32_t at = from;
  for (uint32_t d = 0; d < geometry.dimensions(); ++d) {
    const uint32_t n = geometry.size(d);
    const uint32_t target = geometry.coordinate(to, d);
    const uint32_t here = geometry.coordinate(at, d);
    if (here == target) continue;
    auto link = [&](const std::string& name) {
      e.link_bytes[name] += bytes;
      ++e.crossings;
    };
    const std::string nmu = "job.nmu";
    const std::string dim = ".d" + std::to_string(d);
    switch (config.dimensions[d].kind) {
      case DimensionKind::switch_: {
        link(nmu + std::to_string(at) + dim + "_up");
        const uint32_t next = geometry.with_coordinate(at, d, target);
        if (config.dimensions[d].fidelity == Fidelity::message) {
          link("job.switch" + std::to_string(d) + "_" + std::to_string(geometry.line(at, d)) + ".to" +
               std::to_string(next));
        }
        at = next;
        break;
      }
      case DimensionKind::fully_connected: {
        const uint32_t next = geometry.with_coordinate(at, d, target);
        link(nmu + std::to_string(at) + dim + "_to" + std::to_string(next));
        at = next;
        break;
      }
      default: {
        const uint32_t up = (target + n - here) % n;
        bool down = up * 2 > n || (up * 2 == n && reverse);
        if (config.dimensions[d].kind == DimensionKind::mesh) down = target < here;
        if (config.dimensions[d].fidelity == Fidelity::analytical) {
          link(nmu + std::to_string(at) + dim + (down ? "_minus" : "_plus"));
          at = geometry.with_coordinate(at, d, target);
          break;
        }
        for (uint32_t c = here; c != target; c = (c + (down ? n - 1 : 1)) % n) {
          const uint32_t hop = geometry.with_coordinate(at, d, c);
          link(nmu + std::to_string(hop) + dim + (down ? "_minus" : "_plus"));
        }
        at = geometry.with_coordinate(at, d, target);
        break;
      }
    }
  }
}

Expected count(const Config& config, const collectives::CollectivePlan& plan) {
  const Geometry geometry(config);
  Expected e;
  std::vector<AxisView> views;
  Round round;
  for (uint32_t r = 0; r < geometry.npus(); ++r) {
    plan.views(r, views);
    for (uint32_t p = 0; p < plan.phases().size(); ++p) {
      if (!plan.participates(views, p)) continue;
      const auto& phase = plan.phases()[p];
      const uint32_t d = plan.axes()[phase.axis].dimension;
      const bool ring = config.dimensions[d].kind == DimensionKind::ring ||
                        config.dimensions[d].kind == DimensionKind::mesh;
      for (uint32_t c = 0; c < plan.chunks(); ++c) {
        const bool reverse = ring && c % config.collectives.queues_per_dimension % 2 == 1;
        const PhaseShape shape = plan.shape(views, p, reverse, c);
        const Split split = plan.split(views, c, p);
        for (uint32_t k = 0; k < phase.algorithm->rounds(shape); ++k) {
          phase.algorithm->round(shape, k, round);
          for (const auto& send : round.sends) {
            uint64_t bytes = 0;
            send.blocks.for_each(shape.n, [&](uint32_t b) { bytes += split.size(b); });
            ++e.messages;
            e.bytes += bytes;
            cross(config, geometry, r, views[phase.axis].rank(send.to), bytes, reverse, e);
          }
        }
      }
    }
  }
  return e;
}

class Counts : public ::testing::TestWithParam<Fidelity> {};

TEST_P(Counts, MessagesBytesOfEveryLinkAndActivations) {
  using K = DimensionKind;
  const std::vector<std::vector<Dimension>> machines = {
      {{K::ring, 8}},
      {{K::ring, 4}, {K::ring, 4}, {K::ring, 2}},
      {{K::ring, 4}, {K::fully_connected, 3}, {K::switch_, 4}},
      {{K::mesh, 5}, {K::switch_, 3}},
      {{K::switch_, 8}},
      {{K::fully_connected, 7}},
  };
  for (const auto& dimensions : machines) {
    for (const CollectiveOp op :
         {CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::all_to_all,
          CollectiveOp::broadcast, CollectiveOp::gather, CollectiveOp::barrier}) {
      for (const char* algorithm : {"", "direct"}) {
        const auto result = test::isolated([&] {
          Config config = machine(dimensions, GetParam());
          config.collectives.queues_per_dimension = 2;
          config.collectives.chunks = 5;
          config.collectives.algorithms[static_cast<int>(op)].assign(dimensions.size(), algorithm);
          test::SoloCollectiveJob job("job", config);
          const uint64_t bytes = 100'003;
          const uint32_t root = config.npus() - 1;
          job.start(op, bytes, root);
          sc_core::sc_start();
          const RunResult run = job.result();
          collectives::Group world;
          collectives::PlanBuilder plans(config);
          const auto plan = plans.plan({op, bytes, &world, ~0u, root, 1});
          const Expected e = count(config, *plan);
          std::string text;
          if (!job.finished()) text += job.stall_report();
          for (const std::string& broken : run.broken_invariants) text += broken + "\n";
          auto same = [&](const char* what, uint64_t is, uint64_t should) {
            if (is != should)
              text += std::string(what) + ": " + std::to_string(is) + " instead of " +
                      std::to_string(should) + "\n";
          };
          same("messages", run.messages, e.messages);
          same("messages of the collective", run.collectives[0].messages, e.messages);
          same("bytes of the collective", run.collectives[0].message_bytes, e.bytes);
          uint64_t crossings = 0;
          std::map<std::string, uint64_t> seen;
          for (const LinkRow& link : run.links) {
            crossings += link.messages;
            if (link.bytes != 0) seen[link.name] = link.bytes;
          }
          same("links crossed", crossings, e.crossings);
          auto wanted = e.link_bytes;
          for (auto it = wanted.begin(); it != wanted.end();)
            it = it->second == 0 ? wanted.erase(it) : std::next(it);
          if (seen != wanted) text += "bytes per link differ\n";
          // A module wakes at most once for each thing that becomes due: a message at each hop (twice where
          // analytical ports take turns), an NMU's start; never without one.
          const uint64_t things = GetParam() == Fidelity::message ? e.crossings : 2 * e.messages;
          if (run.events > things + config.npus())
            text += "activations: " + std::to_string(run.events) + " for " + std::to_string(things) + "\n";
          // .. and every NMU that receives at different times wakes for each: no result without its events.
          if (run.events < config.npus()) text += "no events\n";
          return text;
        });
        EXPECT_EQ(result.status, 0) << result.text;
        EXPECT_EQ(result.text, "") << to_string(op) << " " << algorithm << " on " << dimensions.size()
                                   << " dims, first " << to_string(dimensions[0].kind);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Fidelities, Counts, ::testing::Values(Fidelity::message, Fidelity::analytical),
                         [](const auto& param) { return std::string(to_string(param.param)); });

/// A ring's messages never share a time: one activation each, exactly.
TEST(CountsExact, OneActivationAMessage) {
  const auto result = test::isolated([] {
    Config config = machine({{DimensionKind::ring, 8}}, Fidelity::message);
    config.collectives.chunks = 4;
    test::SoloCollectiveJob job("job", config);
    job.start(CollectiveOp::all_reduce, 8 * 4 * 1024);
    sc_core::sc_start();
    const RunResult run = job.result();
    const uint64_t messages = 4 * 8 * 14;
    std::string text;
    if (run.messages != messages) text += "messages " + std::to_string(run.messages);
    // .. and one a member for the start.
    if (run.events != messages + 8) text += "events " + std::to_string(run.events);
    for (const LinkRow& link : run.links) {
      const bool up = link.name.find("_plus") != std::string::npos;
      if (link.bytes != (up ? 4u * 14 * 1024 : 0u))
        text += link.name + " " + std::to_string(link.bytes) + "\n";
      if (link.busy != link.bytes * 10) text += link.name + " busy " + std::to_string(link.busy) + "\n";
    }
    return text;
  });
  EXPECT_EQ(result.text, "");
}

TEST(CountsExact, TheTorusOfTheSpeedGate) {
  // 16 x 16 x 16 scaled down to 4 x 4 x 4: per NPU and chunk 2 (3 + 3) + 6 messages of the ring.
  const auto result = test::isolated([] {
    Config config = machine({{DimensionKind::ring, 4}, {DimensionKind::ring, 4}, {DimensionKind::ring, 4}},
                            Fidelity::message);
    config.collectives.chunks = 4;
    test::SoloCollectiveJob job("job", config);
    job.start(CollectiveOp::all_reduce, 1 << 20);
    sc_core::sc_start();
    const RunResult run = job.result();
    std::string text;
    if (run.messages != 64u * 4 * 18) text += "messages " + std::to_string(run.messages) + "\n";
    if (run.collectives[0].message_bytes != 64ull * 2 * ((1 << 20) - (1 << 14))) text += "bytes\n";
    return text;
  });
  EXPECT_EQ(result.text, "");
}

}  // namespace
}  // namespace weft
