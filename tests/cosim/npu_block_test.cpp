// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// NPUs whose nodes a block runs: a model behind that border against the model without one, and the command
// unit of examples/rtl/npu_timer in a job.

#include "cosim/blocks/rtl_npu.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "sc_models/plugin.h"
#include "tests/support/isolated.h"
#include "tests/support/small_machine.h"
#include "tests/support/solo_job.h"
#include "tests/trace/trace_files.h"

extern "C" void weft_plugin_register(weft::PluginRegistry& registry);  // of the example

namespace weft::cosim {
namespace {

using trace::test::PbNode;

constexpr uint64_t kNode = 100;

/// Hands every node over and gives it back when the model would have ended it.
class Behind final : public Npu {
 public:
  Behind(sc_core::sc_module_name name, const NpuContext& context) : Npu(name, context) {
    SC_HAS_PROCESS(Behind);
    SC_METHOD(give_back);
    sensitive << due_;
    dont_initialize();
  }

 private:
  bool takes_compute(const trace::Node& node, Picoseconds time) override {
    const Picoseconds at = sc_core::sc_time_stamp().value() + time;
    nodes_.emplace(at, &node);
    due_.notify(sc_core::sc_time::from_value(nodes_.begin()->first - (at - time)));
    return true;
  }
  bool takes_memory(const trace::Node& node) override {
    start_access(node);
    return true;
  }
  void give_back() {
    const Picoseconds now = sc_core::sc_time_stamp().value();
    while (!nodes_.empty() && nodes_.begin()->first <= now) {
      const trace::Node& node = *nodes_.begin()->second;
      nodes_.erase(nodes_.begin());
      compute_done(node);
    }
    if (!nodes_.empty()) due_.notify(sc_core::sc_time::from_value(nodes_.begin()->first - now));
  }
  std::multimap<Picoseconds, const trace::Node*> nodes_;
  sc_core::sc_event due_{"due"};
};

using Ranks = std::vector<std::vector<PbNode>>;

PbNode access(uint64_t id, bool store, int64_t bytes, std::initializer_list<uint64_t> deps = {}) {
  PbNode node =
      trace::test::make(id, fmt::format("access{}", id),
                        store ? ChakraProtoMsg::MEM_STORE_NODE : ChakraProtoMsg::MEM_LOAD_NODE, deps);
  trace::test::attribute(node, "tensor_size", bytes);
  return node;
}

/// What the job did, in words; or its error. `npu`: the model of NPU 3; "": this library's.
std::string outcome(const Ranks& ranks, const std::string& npu, const std::string& modules = "npu3") {
  trace::test::TempFolder folder;
  for (size_t r = 0; r < ranks.size(); ++r)
    trace::test::write_trace(folder / fmt::format("t.{}.et", r), ranks[r]);
  const std::string stem = folder / "t";
  const auto result = test::isolated([&] {
    npu_models().add({"behind", "of this test", "a plugin",
                      [](sc_core::sc_module_name name, const NpuContext& context, Parameters&) {
                        return std::make_unique<Behind>(name, context);
                      }});
    PluginRegistry registry("npu_timer.so");
    weft_plugin_register(registry);
    Config config = test::ring_4_switch_2();
    config.npu.compute_slots = 2;
    config.hbm.bandwidth = {400'000'000'000ull, 1};
    config.hbm.latency = 100'000;
    if (!npu.empty()) {
      ModuleChoice choice;
      choice.modules = modules;
      choice.implementation = npu;
      choice.origin = "key";
      config.implementations.push_back(choice);
    }
    try {
      const trace::JobTrace traces = trace::open_job(stem, config.npus(), "", false);
      test::SoloTraceJob job("job", config, traces);
      job.start();
      if (!test::run_to_the_end(job)) return "stalled: " + job.stall_report();
      const RunResult r = job.result();
      std::string text = std::to_string(r.time);
      for (const RankRow& row : r.ranks)
        text += fmt::format("\n{}: {} {} {} {} {} {}", row.rank, row.finished, row.time.compute,
                            row.time.local_memory, row.time.communication, row.time.idle, row.communicating);
      for (const std::string& line : r.broken_invariants) text += "\nbroken: " + line;
      return text;
    } catch (const UserError& e) {
      return std::string("error: ") + e.what();
    }
  });
  EXPECT_EQ(result.status, 0) << result.text;
  return result.text;
}

Picoseconds time_of(const std::string& outcome) {
  EXPECT_TRUE(!outcome.empty() && outcome.find_first_not_of("0123456789") == outcome.find('\n')) << outcome;
  EXPECT_EQ(outcome.find("broken"), std::string::npos) << outcome;
  return outcome.empty() || outcome[0] < '0' || outcome[0] > '9' ? 0 : std::stoull(outcome);
}

/// Compute on slots and the CPU, accesses and collectives, that wait for each other.
Ranks drawn(uint64_t seed) {
  std::mt19937_64 random(seed);
  Ranks ranks;
  for (uint32_t r = 0; r < 8; ++r) {
    std::vector<PbNode> nodes;
    for (uint64_t id = 1; id <= 40; ++id) {
      PbNode node;
      if (id % 10 == 0) {
        node = trace::test::collective(id, ChakraProtoMsg::ALL_REDUCE, 100'000);
      } else if (const uint64_t kind = random() % 4; kind < 2) {
        node = access(id, kind == 1, 1 + static_cast<int64_t>(random() % 1'000'000));
      } else {
        node = trace::test::comp(id, {}, 1 + random() % 5);
        if (kind == 3) {
          auto* a = node.add_attr();
          a->set_name("is_cpu_op");
          a->set_bool_val(true);
        }
      }
      const uint64_t before = id % 10 == 0 ? id - 1 : id - 1 - random() % 3;
      if (id > 3) node.add_data_deps(before);
      nodes.push_back(node);
    }
    ranks.push_back(nodes);
  }
  return ranks;
}

/// NPU 3 has these nodes, the others one of 1 us.
Ranks of_npu_3(const std::vector<PbNode>& nodes) {
  Ranks ranks(8, {trace::test::comp(1)});
  ranks[3] = nodes;
  return ranks;
}

std::vector<PbNode> chain(uint64_t length) {
  std::vector<PbNode> nodes;
  for (uint64_t i = 0; i < length; ++i) {
    nodes.push_back(trace::test::comp(kNode + i, {}, 3));
    if (i != 0) nodes.back().add_data_deps(kNode + i - 1);
  }
  return nodes;
}

TEST(RtlNpu, TheModelBehindTheBorderIsTheModel) {
  for (const uint64_t seed : {1, 2, 3, 4, 5}) {
    const Ranks ranks = drawn(seed);
    const std::string plain = outcome(ranks, "");
    EXPECT_GT(time_of(plain), 40'000'000u);
    EXPECT_EQ(outcome(ranks, "plugin:behind"), plain) << seed;
    EXPECT_EQ(outcome(ranks, "plugin:behind", "npu*"), plain) << seed;
  }
}

TEST(RtlNpu, ACommandTakesItsCyclesAndTheHandshakes) {
  // Four beats, one edge to see that it is over, one for the answer, one for the next command.
  constexpr Picoseconds kOverhead = 7;
  for (const Picoseconds period : {1000, 4000}) {
    const std::string model = fmt::format("rtl:npu_timer(period={} ps)", period);
    const Picoseconds cycles = (3'000'000 + period - 1) / period;
    const Picoseconds two = time_of(outcome(of_npu_3(chain(2)), model));
    const Picoseconds nine = time_of(outcome(of_npu_3(chain(9)), model));
    EXPECT_EQ(nine - two, 7 * (cycles + kOverhead) * period);
  }
}

TEST(RtlNpu, AccessesAreIssuedByTheBlock) {
  std::vector<PbNode> nodes;
  for (uint64_t id = 0; id < 100; ++id) nodes.push_back(access(kNode + id, id % 2 == 1, 4096));
  const Ranks ranks = of_npu_3(nodes);
  const Picoseconds plain = time_of(outcome(ranks, ""));
  // A hundred commands, more than there are tags, of four beats each.
  const Picoseconds block = time_of(outcome(ranks, "rtl:npu_timer(period=10 ns)"));
  EXPECT_GT(block, 400 * 10'000u);
  EXPECT_LT(block, 400 * 10'000u + plain + 1'000'000u);
  EXPECT_EQ(time_of(outcome(ranks, "rtl:npu_timer(period=10 ns, memory=model)")), plain);
}

TEST(RtlNpu, AGatedClockChangesNoTime) {
  for (const uint64_t seed : {1, 2}) {
    const Ranks ranks = drawn(seed);
    const std::string free = outcome(ranks, "rtl:npu_timer(clock=free)");
    EXPECT_GT(time_of(free), 40'000'000u);
    EXPECT_NE(free, outcome(ranks, ""));
    EXPECT_EQ(outcome(ranks, "rtl:npu_timer(clock=gated)"), free);
    EXPECT_EQ(outcome(ranks, "rtl:npu_timer"), free);
  }
}

TEST(RtlNpu, FaultsAndMistakesAreTold) {
  const auto says = [](const std::string& text, const std::vector<std::string>& parts) {
    for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  says(outcome(of_npu_3(chain(2)), "rtl:npu_timer(bug=1, patience=100)"),
       {"stalled: ", "npu3: its RTL has not answered 1 commands", "comp100", "answers tag",
        "of which there is no command"});
  says(outcome(of_npu_3(chain(2)), "rtl:npu_timer(bug=2, patience=100)"),
       {"stalled: ", "npu3: its RTL has not answered 1 commands", "comp100"});
  // Eight commands fill the block: the ninth waits for TREADY.
  std::vector<PbNode> many;
  for (uint64_t id = 0; id < 12; ++id) many.push_back(access(kNode + id, false, 64));
  says(outcome(of_npu_3(many), "rtl:npu_timer(bug=2, patience=100)"),
       {"has not answered 12 commands", "pins s_cmd", "TVALID", "waits for", "TREADY"});
  says(outcome(of_npu_3(chain(1)), "rtl:npu_timer(memory=none)"), {"it can be `block` or `model`"});
  says(outcome(of_npu_3(chain(1)), "rtl:behind"), {"is no RTL"});
  says(outcome(of_npu_3(chain(1)), "rtl:npu_timer", "nmu3"), {"applies to no module"});
}

}  // namespace
}  // namespace weft::cosim
