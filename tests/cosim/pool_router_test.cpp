// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Borders in the links of a memory pool at packet fidelity, and RTL (examples/rtl/mesh_router) in the place
// of its switches.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sc_models/link_cuts.h"
#include "sc_models/module_choices.h"
#include "sc_models/plugin.h"
#include "tests/support/isolated.h"
#include "tests/support/pool_bench.h"

extern "C" void weft_plugin_register(weft::PluginRegistry& registry);  // of the example

namespace weft {
namespace {

constexpr PoolOperation kOperations[] = {PoolOperation::load, PoolOperation::store,
                                         PoolOperation::gather_load, PoolOperation::scatter_store};

/// Four NPUs in two nodes, with two groups. Switches: in0, in1 and out0.
Config small(const std::string& cut_links) {
  std::string more = "packet: {vcs: 4, buffer_flits: 16}\n";
  if (!cut_links.empty()) more += "run: {cut_links: \"" + cut_links + "\"}\n";
  return test::pool_config(
      4,
      {"nodes: 2", "groups: 2", "out_switches: 1", "group_bandwidth: 64 GB/s", "out_node_bandwidth: 64 GB/s",
       "in_node_bandwidth: 64 GB/s", "chunk: 1 KiB", "fidelity: packet"},
      more);
}

struct Outcome {
  Picoseconds time = 0;
  uint64_t cut = 0;
  uint64_t crossed = 0;
  std::string links;  ///< what each has carried
  std::string error;
};

/// `blocks`: an entry of `implementations`, of these modules; "": none.
Outcome run(PoolOperation operation, uint64_t bytes, uint32_t npus, const std::string& cut_links,
            const std::string& modules = {}, const std::string& implementation = "rtl:mesh_router") {
  const test::Isolated result = test::isolated([&] {
    try {
      PluginRegistry registry("mesh_router.so");
      weft_plugin_register(registry);
      Config config = small(cut_links);
      if (!modules.empty()) {
        ModuleChoice choice;
        choice.modules = modules;
        choice.implementation = implementation;
        choice.origin = "key";
        config.implementations.push_back(choice);
      }
      fabric::PacketPool packets;
      ActivationWheel wheel("wheel");
      ModuleChoices choices(config);
      LinkCuts cuts(config, choices, packets, nullptr, nullptr);
      MemoryPool pool("pool", config, packets, wheel, MemoryPool::SharedLink(), &choices, nullptr, nullptr,
                      &cuts);
      choices.check_joined();
      PoolRun access;
      access.start(pool, operation, bytes, npus);
      sc_core::sc_start();
      if (!access.finished()) return "!stalled: " + pool.stall_text();
      std::vector<std::string> broken;
      pool.find_unbalanced(broken);
      Counters counters;
      pool.count(counters);
      if (!broken.empty()) return "!" + broken.front();
      if (counters.in_flight != 0) return fmt::format("!{} are left", counters.in_flight);
      std::string text = fmt::format("{} {} {}", access.time(), cuts.cut(), cuts.crossed());
      pool.for_each_link([&](const LinkReport& link) {
        text += fmt::format("\n{} {} {}", link.name, link.bytes, link.messages);
      });
      return text;
    } catch (const UserError& e) {
      return std::string("!") + e.what();
    }
  });
  Outcome o;
  const size_t line = result.text.find('\n');
  if (result.status != 0 || line == std::string::npos || result.text[0] == '!') {
    o.error = result.text.empty() ? "nothing" : result.text;
    return o;
  }
  if (std::sscanf(result.text.c_str(), "%lu %lu %lu", &o.time, &o.cut, &o.crossed) != 3)
    o.error = result.text;
  o.links = result.text.substr(line);
  return o;
}

TEST(PoolBorders, CutLinksChangeNoTime) {
  for (const PoolOperation operation : kOperations) {
    const Outcome plain = run(operation, 64 << 10, 4, "");
    const Outcome cut = run(operation, 64 << 10, 4, "pool.*");
    EXPECT_EQ(plain.error + cut.error, "");
    EXPECT_EQ(cut.time, plain.time) << to_string(operation);
    EXPECT_EQ(cut.links, plain.links) << to_string(operation);
    EXPECT_EQ(plain.cut, 0u);
    EXPECT_GT(cut.cut, 8u);
    EXPECT_GT(cut.crossed, 100u);
  }
}

TEST(PoolBorders, RtlInThePlaceOfASwitch) {
  for (const char* const modules : {"pool.in0", "pool.out0", "pool.in*, pool.out0"}) {
    for (const PoolOperation operation : kOperations) {
      const auto where = fmt::format("{} {}", modules, to_string(operation));
      // Nothing else is under way: to the picosecond.
      const bool alone = operation == PoolOperation::load || operation == PoolOperation::store;
      const Outcome model = run(operation, 512, 1, "");
      const Outcome rtl = run(operation, 512, 1, "", modules);
      if (alone) {
        EXPECT_EQ(model.error + rtl.error, "") << where;
        EXPECT_EQ(rtl.time, model.time) << where;
        EXPECT_EQ(rtl.links, model.links) << where;
      }
      const Outcome many = run(operation, 32 << 10, 4, "");
      const Outcome many_rtl = run(operation, 32 << 10, 4, "", modules);
      EXPECT_EQ(many.error + many_rtl.error, "") << where;
      EXPECT_EQ(many_rtl.links, many.links) << where;
      EXPECT_NEAR(static_cast<double>(many_rtl.time), static_cast<double>(many.time),
                  0.1 * static_cast<double>(many.time))
          << where;
    }
  }
}

TEST(PoolBorders, MistakesAreTold) {
  EXPECT_NE(run(PoolOperation::load, 512, 1, "", "pool.in7").error.find("applies to no router"),
            std::string::npos);
}

}  // namespace
}  // namespace weft
