// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A pool of a machine and a collective beside it, in a process of its own; and graphs whose links both share.

#ifndef WEFT_TESTS_SUPPORT_SHARED_POOL_H
#define WEFT_TESTS_SUPPORT_SHARED_POOL_H

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "configs/loader.h"
#include "sc_models/collective_job.h"
#include "sc_models/pool/pool_run.h"
#include "tests/support/isolated.h"

namespace weft::test {

constexpr PoolOperation kOperations[] = {PoolOperation::load, PoolOperation::store,
                                         PoolOperation::gather_load, PoolOperation::scatter_store};

struct Work {
  PoolOperation operation = PoolOperation::load;
  uint64_t bytes = 0;   ///< of each NPU; 0: no access
  uint64_t gather = 0;  ///< shard of an all-gather of all NPUs; 0: none
};

struct Outcome {
  Picoseconds access = 0;
  Picoseconds collective = 0;
  uint64_t verified = 0;
  std::string loads;  ///< bytes of the classes of links
  std::string links;  ///< in the results: name=bytes
  std::string wrong;
};

/// In a process of its own, as SystemC elaborates once a process.
inline Outcome run(const std::string& yaml, const Work& work) {
  const Config config = parse_config(yaml, "");
  const auto result = isolated([&] {
    Machine::Options options = CollectiveJob::machine_options();
    options.memory_pool = true;
    Machine machine("job", config, options);
    CollectiveJob job(machine);
    PoolRun access;
    if (work.bytes != 0) access.start(*machine.memory_pool(), work.operation, work.bytes, config.npus());
    if (work.gather != 0) job.start(CollectiveOp::all_gather, work.gather);
    sc_core::sc_start();
    if (!access.finished()) return "stalled: " + machine.memory_pool()->stall_text() + job.stall_report();
    if (work.gather != 0 && !job.finished()) return "stalled: " + job.stall_report();
    for (const std::string& line : job.result().broken_invariants) return "broken: " + line;
    std::string loads;
    for (const pool::ClassLoad& load : machine.memory_pool()->loads(stores(work.operation)))
      loads += fmt::format("{}:{}/{};", load.name, load.total, load.most);
    std::replace(loads.begin(), loads.end(), ' ', '_');
    std::string links = ".";
    machine.for_each_link(
        [&](const LinkReport& link) { links += fmt::format("{}={};", link.name, link.bytes); });
    return fmt::format("{} {} {} {} {}", access.time(),
                       work.gather != 0 ? job.last().finished - job.last().started : 0,
                       machine.memory_pool()->verified(), loads, links);
  });
  Outcome o;
  std::istringstream in(result.text);
  if (result.status != 0 || !(in >> o.access >> o.collective >> o.verified >> o.loads >> o.links))
    o.wrong = result.text.empty() ? "no result" : result.text;
  return o;
}

inline Outcome sound(const std::string& yaml, const Work& work) {
  Outcome o = run(yaml, work);
  EXPECT_EQ(o.wrong, "") << to_string(work.operation);
  return o;
}

/// Four NPUs at `sw0` and at `swm`, memory groups at one of these switches.
inline std::string graph_machine(const std::string& groups_at, const std::string& fidelity,
                                 const std::string& split = "whole") {
  return fmt::format(
      "weft: 1\n"
      "topology:\n"
      "  graph:\n"
      "    npus: 4\n"
      "    npus_forward: false\n"
      "    fidelity: {}\n"
      "    switches: [sw0, swm, memory0..memory3]\n"
      "    links:\n"
      "      - {{from: npu0..npu3, to: sw0, bandwidth: 100 GB/s, latency: 10 ns}}\n"
      "      - {{from: npu0..npu3, to: swm, bandwidth: 100 GB/s, latency: 1 us}}\n"
      "      - {{from: memory0..memory3, to: {}, bandwidth: 400 GB/s, latency: 10 ns}}\n"
      "collectives: {{chunks: 16}}\n"
      "memory: {{pool: {{design: graph, group_bandwidth: 400 GB/s, chunk: 64 KiB, split: {}, "
      "fidelity: {}}}}}\n",
      fidelity, groups_at, split, fidelity);
}

/// A ring of five switches, an NPU and a group at each: ways close a cycle of links.
inline std::string ring_machine(const std::string& fidelity, const std::string& more = {},
                                const std::string& split = "whole") {
  std::string links;
  for (int i = 0; i < 5; ++i) {
    for (const char* const end : {"npu", "memory"})
      links +=
          fmt::format("      - {{from: {}{}, to: s{}, bandwidth: 50 GB/s, latency: 10 ns}}\n", end, i, i);
    links +=
        fmt::format("      - {{from: s{}, to: s{}, bandwidth: 20 GB/s, latency: 10 ns}}\n", i, (i + 1) % 5);
  }
  return fmt::format(
      "weft: 1\n"
      "topology:\n"
      "  graph:\n"
      "    npus: 5\n"
      "    npus_forward: false\n"
      "    fidelity: {}\n"
      "    switches: [s0..s4, memory0..memory4]\n"
      "    links:\n"
      "{}"
      "{}"
      "memory: {{pool: {{design: graph, group_bandwidth: 40 GB/s, chunk: 1000 B, split: {}, "
      "fidelity: {}}}}}\n",
      fidelity, links, more, split, fidelity);
}

}  // namespace weft::test

#endif
