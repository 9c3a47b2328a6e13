// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `nic_latency`, `router_latency` and `endpoint_delay` of a dimension: closed forms of collectives and of
// messages at every fidelity, folded and whole; what cannot be is refused.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "configs/effective.h"
#include "configs/loader.h"
#include "tests/support/isolated.h"
#include "tests/support/machine.h"
#include "tests/support/solo_job.h"

namespace weft {
namespace {

using test::BareMachine;

Config machine(const std::string& notation, const std::vector<std::string>& dimensions,
               const std::string& more = "") {
  std::string text = "weft: 1\ntopology:\n  notation: " + notation + "\n  dimensions:\n";
  for (const std::string& d : dimensions) text += "    - {" + d + "}\n";
  return parse_config(text + more, "machine.yaml");
}

/// The time of a collective, of every rank for itself; then that of one rank that stands for all.
std::string expect_time(const Config& config, CollectiveOp op, uint64_t bytes, Picoseconds want) {
  BareMachine whole("whole", config);
  std::string wrong = whole.run(op, bytes);
  if (whole.time != want) wrong += fmt::format("{} ps, not {}\n", whole.time, want);
  return wrong;
}

/// .. in a process of its own.
Picoseconds time_of(const Config& config, CollectiveOp op, uint64_t bytes) {
  const test::Isolated result = test::isolated([&] {
    BareMachine whole("whole", config);
    const std::string wrong = whole.run(op, bytes);
    return wrong + std::to_string(whole.time);
  });
  EXPECT_EQ(result.status, 0) << result.text;
  EXPECT_NE(result.text, "0");
  EXPECT_EQ(result.text.find_first_not_of("0123456789"), std::string::npos) << result.text;
  return result.status == 0 ? std::strtoull(result.text.c_str(), nullptr, 10) : 0;
}

const char* const kFidelities[] = {"analytical", "message", "packet"};

/// Every round of a ring pays the link, the interfaces of both ends and the endpoint.
TEST(EndDelays, RoundsOfARing) {
  for (const char* fidelity : {"analytical", "message"}) {
    for (const auto& [n, nic, endpoint] :
         std::vector<std::array<int, 3>>{{4, 0, -1}, {4, 70, -1}, {4, 70, 25}, {5, 33, 0}, {2, 9, 4}}) {
      const int e = endpoint < 0 ? 10 : endpoint;
      const Config config = machine(
          fmt::format("Ring({})", n),
          {fmt::format("bandwidth: 10 GB/s, latency: 100 ns, fidelity: {}, nic_latency: {} ns{}", fidelity,
                       nic, endpoint < 0 ? "" : fmt::format(", endpoint_delay: {} ns", endpoint))},
          "nmu: {endpoint_delay: 10 ns}\ncollectives: {chunks: 1, all_reduce: ring}\n");
      const auto want = static_cast<Picoseconds>(1000 * (e + 2 * (n - 1) * (1200 + 100 + e + 2 * nic)));
      const uint64_t bytes = 12000 * static_cast<uint64_t>(n);
      EXPECT_SILENT(
          test::isolated([&] { return expect_time(config, CollectiveOp::all_reduce, bytes, want); }));
    }
  }
}

/// A message of many hops pays the interfaces once, not at each hop.
TEST(EndDelays, FarMessages) {
  for (const char* fidelity : kFidelities) {
    for (const char* notation : {"Ring(8)", "Mesh(6)"}) {
      Picoseconds times[2] = {};
      for (const int nic : {0, 64})
        times[nic / 64] = time_of(
            machine(notation,
                    {fmt::format("bandwidth: 16 GB/s, latency: 100 ns, fidelity: {}, nic_latency: {} ns",
                                 fidelity, nic)},
                    "collectives: {chunks: 1, all_to_all: direct}\n"),
            CollectiveOp::all_to_all, 65536);
      EXPECT_EQ(times[1], times[0] + 128000) << fidelity << " " << notation;
    }
  }
}

/// Every phase pays what its own dimension says.
TEST(EndDelays, TwoDimensions) {
  for (const char* fidelity : {"analytical", "message"}) {
    const Config config = machine(
        "Ring(4)_Switch(2)",
        {fmt::format(
             "bandwidth: 8 GB/s, latency: 50 ns, fidelity: {}, nic_latency: 3 ns, endpoint_delay: 10 ns",
             fidelity),
         fmt::format(
             "bandwidth: 4 GB/s, latency: 300 ns, fidelity: {}, nic_latency: 40 ns, router_latency: 26 ns",
             fidelity)},
        "nmu: {endpoint_delay: 7 ns}\ncollectives: {chunks: 1, order: local_bw_aware, all_reduce: ring, "
        "all_gather: ring, reduce_scatter: ring}\n");
    // 64000 B: reduce-scatter and all-gather of quarters, an all-reduce of a quarter in halves.
    const Picoseconds ring = 10 + 3 * (2000 + 50 + 10 + 6);
    const Picoseconds across = 7 + 2 * (2000 + 600 + 26 + 7 + 80);
    EXPECT_SILENT(test::isolated(
        [&] { return expect_time(config, CollectiveOp::all_reduce, 64000, 1000 * (2 * ring + across)); }));
    if (std::string(fidelity) != "analytical") continue;
    EXPECT_SILENT(test::isolated([&]() -> std::string {
      test::SoloCollectiveJob job("job", config, true);
      job.start(CollectiveOp::all_reduce, 64000);
      test::run_to_the_end(job);
      const RunResult result = job.result();
      return result.time == 1000 * (2 * ring + across) ? "" : fmt::format("folded: {} ps\n", result.time);
    }));
  }
}

/// A router is the switch's share of its two hops, and what is written has the sum.
TEST(EndDelays, Routers) {
  for (const char* fidelity : kFidelities) {
    const std::string more = "collectives: {chunks: 2, all_reduce: direct}\n";
    const std::string base = fmt::format("bandwidth: 16 GB/s, fidelity: {}, latency: ", fidelity);
    const Config own = machine("Switch(4)", {base + "100 ns, router_latency: 26 ns"}, more);
    const Picoseconds want =
        time_of(machine("Switch(4)", {base + "113 ns"}, more), CollectiveOp::all_reduce, 1 << 20);
    EXPECT_EQ(time_of(own, CollectiveOp::all_reduce, 1 << 20), want) << fidelity;
    const Config written = parse_config(effective_yaml(own), "effective.yaml");
    EXPECT_EQ(time_of(written, CollectiveOp::all_reduce, 1 << 20), want) << fidelity;
  }
}

/// Packets: every round of a ring is later by two interfaces and the endpoint, whole cycles here.
TEST(EndDelays, Packets) {
  const auto time = [](int nic, int endpoint) {
    return time_of(
        machine("Ring(4)",
                {fmt::format("bandwidth: 16 GB/s, latency: 100 ns, fidelity: packet, nic_latency: {} ns, "
                             "endpoint_delay: {} ns",
                             nic, endpoint)},
                "collectives: {chunks: 1, all_reduce: ring}\n"),
        CollectiveOp::all_reduce, 65536);
  };
  const Picoseconds none = time(0, 0);
  EXPECT_EQ(time(50, 0), none + 6 * 100'000);
  EXPECT_EQ(time(0, 20), none + 7 * 20'000);
}

/// From rank to rank: the endpoint of the first dimension, that and the interfaces of the last one.
TEST(EndDelays, Messages) {
  for (const char* fidelity : {"analytical", "message"}) {
    EXPECT_SILENT(test::isolated([&] {
      const std::string base = fmt::format("bandwidth: 1 GB/s, fidelity: {}, ", fidelity);
      BareMachine m("m", machine("FullyConnected(2)_FullyConnected(2)",
                                 {base + "latency: 100 ns, nic_latency: 3 ns, endpoint_delay: 11 ns",
                                  base + "latency: 200 ns, nic_latency: 40 ns, endpoint_delay: 23 ns"}));
      std::string wrong;
      const Picoseconds wants[] = {0, 11 + 1100 + 6 + 11, 23 + 1200 + 80 + 23, 11 + 1300 + 80 + 23};
      for (uint32_t to = 1; to < 4; ++to) {
        const Picoseconds time = m.send(0, to, 1000);
        if (time != 1000 * wants[to]) wrong += fmt::format("to {}: {} ps, not {} ns\n", to, time, wants[to]);
        if (collectives::message_time(m.config, 0, to, 1000) < time) wrong += "the bound above is less\n";
        const TimeSplit& split = m.arrivals.back().split;
        if (split.queue != 0 || split.serialise > 1'000'000 + 11'000 + 23'000) wrong += "the split\n";
      }
      return wrong;
    }));
  }
}

TEST(EndDelays, Refusals) {
  const std::string base = "bandwidth: 10 GB/s, latency: 100 ns, ";
  const struct {
    const char* notation;
    std::string dimension;
    const char* more;
    std::vector<const char*> words;
  } cases[] = {
      {"Ring(4)", base + "router_latency: 4 ns", "", {"router_latency", "Ring(4)", "`latency` of a hop"}},
      {"Switch(4)", base + "router_latency: 5 ps", "", {"router_latency", "odd number", "4 ps or 6 ps"}},
      {"Switch(4)",
       "bandwidth: 10 GB/s, latency: 1 s, router_latency: 2 ns",
       "",
       {"router_latency", "longest latency"}},
      {"Switch(4)", base + "nic_latency: -1 ns", "", {"nic_latency"}},
      {"Ring(4)",
       base + "nic_latency: 4 ns",
       "  logical: Ring(2)_Ring(2)\n",
       {"nic_latency", "topology.logical"}},
      {"Ring(4)",
       base + "endpoint_delay: 4 ns",
       "  logical: Ring(2)_Ring(2)\n",
       {"endpoint_delay", "topology.logical"}},
      {"Clos(hosts=2,leaves=2,spines=2)", base + "nic_latency: 4 ns", "", {"nic_latency", "is a graph"}},
      {"Clos(hosts=2,leaves=2,spines=2)",
       base + "router_latency: 4 ns",
       "",
       {"router_latency", "the levels"}}};
  for (const auto& c : cases) {
    try {
      machine(c.notation, {c.dimension}, c.more);
      ADD_FAILURE() << c.notation << " " << c.dimension;
    } catch (const UserError& e) {
      for (const char* word : c.words)
        EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
    }
  }
  EXPECT_SILENT(test::isolated([&]() -> std::string {
    BareMachine m(
        "m", machine("Switch(4)", {base + "nic_latency: 4 ns"}, "collectives: {all_reduce: in_switch}\n"));
    try {
      m.run(CollectiveOp::all_reduce, 4096);
    } catch (const UserError& e) {
      return std::string(e.what()).find("in_switch knows no `nic_latency`") != std::string::npos ? ""
                                                                                                 : e.what();
    }
    return "in_switch ran";
  }));
}

}  // namespace
}  // namespace weft
