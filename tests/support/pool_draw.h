// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Memory pools drawn at random, and one access to each: its data, and its bytes by hand.

#ifndef WEFT_TESTS_SUPPORT_POOL_DRAW_H
#define WEFT_TESTS_SUPPORT_POOL_DRAW_H

#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

#include "tests/support/pool_bench.h"
#include "tests/support/pool_count.h"
#include "workload/pool/closed_form.h"

namespace weft::test {

struct Drawn {
  Config config;
  PoolOperation operation = PoolOperation::load;
  uint64_t bytes = 0;
  std::string text;
};

/// `packets`: at packet fidelity. Other draws do not depend on it.
inline Drawn draw_pool(uint32_t seed, bool packets) {
  std::mt19937 random(seed);
  const auto one_of = [&](const std::vector<std::string>& values) {
    return values[random() % values.size()];
  };
  const auto number = [&](const std::vector<uint32_t>& values) { return values[random() % values.size()]; };
  const std::string design = one_of({"hierarchical", "multi_level", "ring", "mesh"});
  uint32_t nodes = number({1, 2, 3, 4, 6});
  uint32_t groups = number({1, 2, 3, 5, 6, 7, 8});
  std::vector<std::string> keys = {"design: " + design};
  if (design == "hierarchical") keys.push_back(fmt::format("out_switches: {}", number({1, 2, 3, 4, 5})));
  if (design == "multi_level")
    keys.push_back("levels: \"" + one_of({"2", "3, 2", "2, 3 x 77 GB/s", "4, 2, 3", "1, 2"}) + "\"");
  if (design == "mesh" && number({0, 1}) == 0) keys.emplace_back("wraparound: true");
  if (design == "mesh" && number({0, 1, 2}) == 0) {
    const uint32_t width = number({1, 2, 3});
    const uint32_t height = number({1, 2, 3});
    nodes = width * height;
    groups = 2 * height;
    keys.push_back(fmt::format("shape: {}x{}", width, height));
    keys.emplace_back("placement: edge");
  }
  keys.push_back(fmt::format("nodes: {}", nodes));
  keys.push_back(fmt::format("groups: {}", groups));
  keys.push_back("split: " + one_of({"fluid", "whole"}));
  keys.push_back("striping: " + one_of({"latin", "hash", "offset"}));
  keys.push_back(fmt::format("chunk: {} B", number({64, 96, 256, 1000, 1024, 4096})));
  keys.push_back("buffer: " + one_of({"unlimited", "1", "2", "3"}));
  keys.push_back(fmt::format("group_bandwidth: {} GB/s", number({7, 50, 100, 333})));
  keys.push_back(fmt::format("out_node_bandwidth: {} GB/s", number({11, 64, 256})));
  keys.push_back(fmt::format("in_node_bandwidth: {} GB/s", number({5, 64, 256})));
  keys.push_back(fmt::format("latency: {} ns", number({0, 0, 13, 100})));
  keys.push_back(fmt::format("request_latency: {} ns", number({0, 50})));
  const bool analytical = random() % 5 == 0;
  if (packets || analytical) keys.push_back(std::string("fidelity: ") + (packets ? "packet" : "analytical"));
  Drawn drawn;
  const uint32_t npus = nodes * number({1, 2, 3, 4});
  drawn.operation = static_cast<PoolOperation>(random() % kPoolOperations);
  drawn.bytes = number({1, 3, 64, 100, 777, 1000, 4096, 5001, 20000, 33333});
  std::string more = "run: {data: functional}\n";
  if (packets)
    more += fmt::format(
        "packet: {{packet_size: {} B, flit_size: {} B, header: {} B, vcs: {}, buffer_flits: {}}}\n",
        number({64, 256, 300}), number({8, 16, 64}), number({0, 0, 8, 20}), number({2, 3, 4}),
        one_of({"auto", "auto", "2", "9"}));
  drawn.config = pool_config(npus, keys, more);
  drawn.text = fmt::format("seed {}: {} of {} B by {} NPUs: {}, {}", seed, to_string(drawn.operation),
                           drawn.bytes, npus, fmt::join(keys, ", "), more);
  return drawn;
}

/// "" or what is wrong. In a process of its own.
inline std::string run_drawn(const Drawn& drawn) {
  PoolBench bench(drawn.config);
  std::string wrong = bench.run(drawn.operation, drawn.bytes, drawn.config.npus());
  const uint64_t tensors = drawn.operation == PoolOperation::gather_load     ? drawn.config.npus()
                           : drawn.operation == PoolOperation::scatter_store ? 1
                                                                             : drawn.config.npus();
  const uint64_t each = in_switch(drawn.operation) ? drawn.bytes * drawn.config.npus() : drawn.bytes;
  if (wrong.empty() && bench.pool.verified() != tensors * each)
    wrong = fmt::format("{} B were compared", bench.pool.verified());
  const PoolCount hand(drawn.config, drawn.operation, drawn.bytes);
  const auto form = pool::closed_form(drawn.config, drawn.operation, drawn.bytes).loads;
  size_t i = 0;
  for (const pool::ClassLoad& load : bench.pool.loads(stores(drawn.operation))) {
    const auto it = hand.classes().find(load.name);
    const PoolCount::Class is =
        it == hand.classes().end() ? PoolCount::Class{} : it->second;  // a ring of neighbours carries nothing
    if (wrong.empty() && (load.total != is.total || load.most != is.most))
      wrong = fmt::format("{}: {} B on all, {} on one link; by hand {} and {}", load.name,
                          static_cast<uint64_t>(load.total), load.most, is.total, is.most);
    if (wrong.empty() && (form[i].total != load.total || form[i].most != load.most ||
                          form[i].least != load.least || form[i].links != load.links))
      wrong = fmt::format("{}: the closed form counts other bytes", load.name);
    ++i;
  }
  return wrong.empty() ? wrong : drawn.text + ": " + wrong;
}

}  // namespace weft::test

#endif
