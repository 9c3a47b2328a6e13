// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A memory pool without the rest of a machine, and one access to it.

#ifndef WEFT_TESTS_SUPPORT_POOL_BENCH_H
#define WEFT_TESTS_SUPPORT_POOL_BENCH_H

#include <fmt/format.h>

#include <string>
#include <vector>

#include "configs/loader.h"
#include "sc_models/pool/memory_pool.h"
#include "sc_models/pool/pool_run.h"
#include "tests/support/isolated.h"

namespace weft::test {

/// A configuration of so many NPUs with a pool: `keys` are lines of `memory.pool`, without the prefix.
inline Config pool_config(uint32_t npus, const std::vector<std::string>& keys, const std::string& more = {}) {
  std::string yaml = fmt::format(
      "weft: 1\ntopology: {{notation: {}({}), dimensions: [{{bandwidth: 100 GB/s, latency: 0 ns}}]}}\n{}"
      "memory:\n  pool:\n",
      npus == 1 ? "Ring" : "Switch", npus, more);
  for (const std::string& key : keys) yaml += "    " + key + "\n";
  return parse_config(yaml, "");
}

/// In a process of its own, as SystemC elaborates once a process.
struct PoolBench {
  explicit PoolBench(const Config& config)
      : wheel("wheel"), pool("pool", config, packets, wheel, MemoryPool::SharedLink()) {}

  /// "" or what is wrong.
  std::string run(PoolOperation operation, uint64_t bytes, uint32_t npus) {
    PoolRun access;
    access.start(pool, operation, bytes, npus);
    sc_core::sc_start();
    if (!access.finished()) return "stalled: " + pool.stall_text();
    time = access.time();
    std::vector<std::string> broken;
    pool.find_unbalanced(broken);
    Counters counters;
    pool.count(counters);
    if (packets.live() != 0) broken.push_back(fmt::format("{} packets are left", packets.live()));
    if (counters.in_flight != 0) broken.push_back(fmt::format("{} messages are left", counters.in_flight));
    return broken.empty() ? std::string() : broken.front();
  }

  fabric::PacketPool packets;
  ActivationWheel wheel;
  MemoryPool pool;
  Picoseconds time = 0;
};

/// Picoseconds of one access of all NPUs (or the first `npus`).
inline Picoseconds pool_time(const Config& config, PoolOperation operation, uint64_t bytes,
                             uint32_t npus = 0) {
  const Isolated result = isolated([&] {
    PoolBench bench(config);
    const std::string wrong = bench.run(operation, bytes, npus == 0 ? config.npus() : npus);
    return wrong.empty() ? std::to_string(bench.time) : "wrong: " + wrong;
  });
  if (result.status != 0 || result.text.rfind("wrong", 0) == 0) throw std::runtime_error(result.text);
  return std::stoull(result.text);
}

}  // namespace weft::test

#endif
