// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Programs of communication libraries on the machines of configs/machines, with links at message and packet
// fidelity: alone they take what the closed forms say, with data they deliver what is defined, and calls that
// share links slow each other down.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "configs/loader.h"
#include "sc_models/library_runs.h"
#include "sc_models/machine.h"
#include "tests/programs/machine_text.h"
#include "tests/relations/random.h"
#include "tests/support/isolated.h"
#include "tests/support/solo_job.h"

namespace weft {
namespace {

using relations::Random;
using test::isolated;

constexpr uint64_t kMiB = 1 << 20;

/// A machine of configs/machines with all links at that fidelity; `more`: further keys of `collectives`, in
/// place of the first `library:`.
Config machine(const std::string& name, const std::string& fidelity, const std::string& more = "",
               const std::string& run = "") {
  std::string text = test::machine_text(name, fidelity);
  if (!more.empty()) test::replace_all(text, "library: nccl,", "library: nccl, " + more + ",");
  return parse_config(text + run, name + ".yaml");
}

/// A file of overrides that has every operation run by that algorithm and protocol.
std::string forced(const std::string& algorithm, const std::string& protocol) {
  const std::string path = testing::TempDir() + algorithm + "_" + protocol + ".csv";
  std::ofstream file(path);
  for (const char* op : {"allreduce", "allgather", "reducescatter", "broadcast", "reduce"})
    file << op << ",-1,-1," << (algorithm != "ring" && op != std::string("allreduce") ? "ring" : algorithm)
         << "," << protocol << ",-1,-1,-1\n";
  return "overrides: " + path;
}

struct Call {
  CollectiveOp op = CollectiveOp::all_reduce;
  uint64_t bytes = 0;
};

/// Runs the calls one after the other; a line for each that is farther than `limit` from its closed form.
std::string compare(const Config& config, const std::vector<Call>& calls, double limit) {
  test::SoloCollectiveJob job("job", config);
  collectives::PlanBuilder plans(config);  // it keeps its plans, which the library knows by their addresses
  std::string lines;
  for (const Call& call : calls) {
    job.start(call.op, call.bytes);
    if (!test::run_to_the_end(job)) return job.stalled_ranks();
    const CollectiveRow& row = job.last();
    library::LibraryCalls& of = job.machine().library()->calls();
    const auto plan = CollectiveJob::plan_of(plans, call.op, call.bytes);
    const double closed = of.plan(*plan, 0).time_us(of.parameters());
    const double time = static_cast<double>(row.finished - row.started) * 1e-6;
    if (std::abs(time / closed - 1) > limit)
      lines += fmt::format("{} of {} B by {} {}: {:.3f} us, closed form {:.3f} us\n", to_string(call.op),
                           call.bytes, row.algorithm.str(), row.protocol.str(), time, closed);
    if (row.messages == 0) lines += "no messages were sent\n";
  }
  for (const std::string& line : job.wrong_data()) lines += line + "\n";
  for (const std::string& line : job.machine().check_conservation()) lines += line + "\n";
  return lines;
}

std::vector<Call> sizes(const std::vector<CollectiveOp>& ops) {
  std::vector<Call> calls;
  for (const CollectiveOp op : ops)
    for (const uint64_t bytes : {uint64_t{1}, uint64_t{1000}, 64 * kMiB / 1024, kMiB + 12, 48 * kMiB})
      calls.push_back({op, bytes});
  return calls;
}

const std::vector<CollectiveOp> kRings = {CollectiveOp::all_reduce, CollectiveOp::all_gather,
                                          CollectiveOp::reduce_scatter, CollectiveOp::broadcast,
                                          CollectiveOp::reduce};

TEST(ProgramMachines, RingsAndTreesTakeTheClosedFormsAtMessageFidelity) {
  for (const char* name : {"dgx_h100", "dgx_h100_2node", "dgx_a100_2node"})
    for (const char* algorithm : {"ring", "tree"})
      for (const char* protocol : {"ll", "ll128", "simple"}) {
        SCOPED_TRACE(fmt::format("{} {} {}", name, algorithm, protocol));
        EXPECT_SILENT(isolated([&] {
          return compare(machine(name, "message", forced(algorithm, protocol)), sizes(kRings), 0.02);
        }));
      }
}

// The channels of a NIC alternate between the two trees. Else a node with two children sends three times the
// bytes of its NICs' share, and the NICs of another node idle.
TEST(ProgramMachines, BothTreesUseEachNicOfAnOddNumber) {
  for (const uint32_t nics : {3u, 5u, 7u})
    for (const uint32_t nodes : {4u, 5u})
      for (const char* protocol : {"ll128", "simple"}) {
        SCOPED_TRACE(fmt::format("{} NICs, {} nodes, {}", nics, nodes, protocol));
        EXPECT_SILENT(isolated([&] {
          std::string text = test::machine_text("dgx_h100_2node", "message");
          test::replace_all(text, "Switch(8)_Switch(2)", fmt::format("Switch({})_Switch({})", nics, nodes));
          test::replace_all(text, "nics_per_node: 8", fmt::format("nics_per_node: {}", nics));
          test::replace_all(text, "library: nccl,", "library: nccl, " + forced("tree", protocol) + ",");
          return compare(parse_config(text, "odd.yaml"), {{CollectiveOp::all_reduce, 48 * kMiB}}, 0.02);
        }));
      }
}

TEST(ProgramMachines, OwnPlansTakeTheClosedFormsAtMessageFidelity) {
  for (const char* name : {"dgx_1v", "mi300x", "mi300x_2node", "gcp_a3mega_2node", "ethernet_25g_pair"}) {
    SCOPED_TRACE(name);
    std::vector<Call> calls = sizes({CollectiveOp::all_to_all});
    for (const Call& call : sizes(kRings)) calls.push_back(call);
    EXPECT_SILENT(isolated([&] { return compare(machine(name, "message"), calls, 0.02); }));
  }
}

TEST(ProgramMachines, SwitchesThatReduceTakeTheClosedForms) {
  std::vector<Call> calls;
  for (const uint64_t bytes : {kMiB, 2 * kMiB, 100 * kMiB + 4, 1024 * kMiB})
    for (const CollectiveOp op :
         {CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::reduce_scatter})
      calls.push_back({op, op == CollectiveOp::all_gather ? bytes / 8 : bytes});
  for (const char* name : {"dgx_h100", "dgx_h200", "dgx_b200"}) {
    SCOPED_TRACE(name);
    EXPECT_SILENT(isolated([&] { return compare(machine(name, "message"), calls, 0.02); }));
  }
  for (const char* name : {"dgx_h100_2node", "dgx_b200_2node"}) {
    SCOPED_TRACE(name);
    EXPECT_SILENT(isolated([&] {
      return compare(machine(name, "message", forced("nvlstree", "simple")),
                     {{CollectiveOp::all_reduce, kMiB}, {CollectiveOp::all_reduce, 300 * kMiB}}, 0.02);
    }));
  }
}

/// Eight GPUs a node, whose network reduces; every all-reduce by that algorithm.
std::string reducing(const std::string& algorithm) {
  return "collnet: true, " + forced(algorithm, "simple");
}

TEST(ProgramMachines, SwitchesOfTheNetworkThatReduceTakeTheClosedForms) {
  std::vector<Call> calls;
  for (const uint64_t bytes : {uint64_t{1}, uint64_t{4004}, kMiB, 100 * kMiB + 4, 1024 * kMiB})
    calls.push_back({CollectiveOp::all_reduce, bytes});
  for (const char* name : {"dgx_h100_2node", "dgx_a100_2node"})
    for (const char* algorithm : {"nvls", "collnet_direct", "collnet_chain"}) {
      if (name == std::string("dgx_a100_2node") && algorithm == std::string("nvls")) continue;
      SCOPED_TRACE(fmt::format("{} {}", name, algorithm));
      EXPECT_SILENT(
          isolated([&] { return compare(machine(name, "message", reducing(algorithm)), calls, 0.02); }));
    }
}

TEST(ProgramMachines, SwitchesOfTheNetworkGatherAndScatter) {
  const std::string path = testing::TempDir() + "nvls_of_parts.csv";
  std::ofstream(path) << "allgather,-1,-1,nvls,simple,-1,-1,-1\nreducescatter,-1,-1,nvls,simple,-1,-1,-1\n";
  const std::string nvls = "collnet: true, overrides: " + path;
  for (const CollectiveOp op : {CollectiveOp::all_gather, CollectiveOp::reduce_scatter}) {
    std::vector<Call> calls;
    for (const uint64_t bytes : {uint64_t{1}, uint64_t{4004}, kMiB, 100 * kMiB + 4, 1024 * kMiB})
      calls.push_back({op, bytes});
    for (const char* name : {"dgx_h100_2node", "dgx_b200_2node"}) {
      SCOPED_TRACE(fmt::format("{} {}", name, to_string(op)));
      EXPECT_SILENT(isolated([&] {
        const Config config = machine(name, "message", nvls);
        test::SoloCollectiveJob job("first", config);
        job.start(op, kMiB);
        if (!test::run_to_the_end(job)) return job.stalled_ranks();
        return std::string(job.last().algorithm.str() == "nvls" ? "" : "it runs another algorithm");
      }));
      EXPECT_SILENT(isolated([&] { return compare(machine(name, "message", nvls), calls, 0.02); }));
    }
    const std::string run = "\nrun: {data: functional}\n";
    const std::vector<Call> small = {{op, 4}, {op, 60}, {op, 4004}, {op, 400004}};
    for (const char* fidelity : {"message", "packet"}) {
      SCOPED_TRACE(fmt::format("{} {}", to_string(op), fidelity));
      EXPECT_SILENT(
          isolated([&] { return compare(machine("dgx_h100_2node", fidelity, nvls, run), small, 1e9); }));
    }
  }
}

// An odd number of nodes: a ring comes back on another rail, over one more link of a node.
TEST(ProgramMachines, RingsOfFullyConnectedNodesThatChangeRailsTakeTheClosedForm) {
  for (const uint32_t gpus : {2, 3, 7}) {
    std::string text = test::machine_text("mi300x_2node", "message");
    test::replace_all(text, "FullyConnected(8)_Switch(2)", fmt::format("FullyConnected({})_Switch(3)", gpus));
    test::replace_all(text, "nics_per_node: 8", fmt::format("nics_per_node: {}", gpus));
    test::replace_all(text, "gpus_per_node: 8", fmt::format("gpus_per_node: {}", gpus));
    SCOPED_TRACE(fmt::format("{} GPUs a node", gpus));
    std::vector<Call> calls;
    for (const CollectiveOp op :
         {CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::broadcast})
      for (const uint64_t bytes : {kMiB + 1, 256 * kMiB + 3}) calls.push_back({op, bytes});
    EXPECT_SILENT(isolated([&] { return compare(parse_config(text, "odd.yaml"), calls, 0.02); }));
  }
}

TEST(ProgramMachines, SwitchesOfTheNetworkReduceData) {
  const std::string run = "\nrun: {data: functional}\n";
  std::vector<Call> calls;
  for (const uint64_t bytes : {uint64_t{4}, uint64_t{60}, uint64_t{4004}, uint64_t{400004}})
    calls.push_back({CollectiveOp::all_reduce, bytes});
  for (const char* algorithm : {"nvls", "collnet_direct", "collnet_chain"})
    for (const char* fidelity : {"message", "packet"}) {
      SCOPED_TRACE(fmt::format("{} {}", algorithm, fidelity));
      EXPECT_SILENT(isolated([&] {
        return compare(machine("dgx_h100_2node", fidelity, reducing(algorithm), run), calls, 1e9);
      }));
    }
}

TEST(ProgramMachines, CarryTheirDataOverLinks) {
  const std::string run = "\nrun: {data: functional}\n";
  std::vector<Call> calls;
  for (const CollectiveOp op : {CollectiveOp::all_reduce, CollectiveOp::all_gather,
                                CollectiveOp::reduce_scatter, CollectiveOp::broadcast, CollectiveOp::reduce,
                                CollectiveOp::all_to_all, CollectiveOp::gather, CollectiveOp::scatter})
    for (const uint64_t bytes : {uint64_t{4}, uint64_t{60}, uint64_t{4004}, uint64_t{40004}})
      calls.push_back({op, bytes});
  for (const char* name : {"dgx_h100", "dgx_h100_2node", "mi300x", "ethernet_25g_pair"})
    for (const char* fidelity : {"message", "packet"}) {
      SCOPED_TRACE(fmt::format("{} {}", name, fidelity));
      // Programs at packet fidelity cross routers, whose latencies the closed forms do not have.
      EXPECT_SILENT(isolated([&] { return compare(machine(name, fidelity, "", run), calls, 1e9); }));
    }
  EXPECT_SILENT(isolated([&] {
    return compare(machine("dgx_h100", "message", "", run), {{CollectiveOp::all_reduce, 4 * kMiB}}, 0.02);
  }));
  // An all-gather of this size goes straight to all others.
  EXPECT_SILENT(isolated([&] {
    return compare(machine("mi300x", "message", "", run), {{CollectiveOp::all_gather, 150004}}, 0.02);
  }));
}

/// Runs all-reduces of these groups, all begun at 0; the end of each, in ps.
std::vector<Picoseconds> together(const Config& config, const std::vector<std::vector<uint32_t>>& groups,
                                  uint64_t bytes) {
  Machine machine("machine", config, Machine::Options{});
  collectives::PlanBuilder plans(config);
  std::vector<std::unique_ptr<collectives::Group>> own;
  std::vector<Picoseconds> ends(groups.size(), 0);
  for (size_t g = 0; g < groups.size(); ++g) {
    own.push_back(std::make_unique<collectives::Group>(
        collectives::Group{static_cast<uint32_t>(g), fmt::format("g{}", g), groups[g]}));
    collectives::CollectiveRequest request;
    request.bytes = bytes;
    request.group = own.back().get();
    const auto plan = plans.plan(request);
    for (const uint32_t rank : groups[g])
      machine.library()->start({static_cast<uint32_t>(g + 1), rank, plan},
                               [&ends, g](const collectives::CollectiveDone& done) {
                                 ends[g] = std::max(ends[g], done.finished);
                               });
  }
  sc_core::sc_start();
  return ends;
}

std::string ends_of(const Config& config, const std::vector<std::vector<uint32_t>>& groups, uint64_t bytes) {
  return isolated([&] { return fmt::format("{}", fmt::join(together(config, groups, bytes), " ")); }).text;
}

TEST(ProgramMachines, CallsThatShareLinksSlowEachOtherAndOthersDoNot) {
  const Config config = machine("dgx_a100_2node", "message");
  std::vector<uint32_t> all(16);
  std::iota(all.begin(), all.end(), 0u);
  for (uint64_t i = 0; i < 6; ++i) {
    Random random(21, "contention", i);
    const uint64_t bytes = random.between(i < 3 ? 1 << 20 : 1 << 25, 1 << 26);
    SCOPED_TRACE(bytes);
    const uint64_t alone = std::stoull(ends_of(config, {all}, bytes));
    const std::string both = ends_of(config, {all, all}, bytes);
    const uint64_t first = std::stoull(both);
    const uint64_t second = std::stoull(both.substr(both.find(' ')));
    EXPECT_GE(first, alone);
    EXPECT_GE(second, alone);
    EXPECT_GT(std::max(first, second), bytes < 1 << 25 ? alone : alone + alone / 4) << "on the same rails";
  }
  // Pairs in one node on links of their own.
  const std::string pair = ends_of(config, {{0, 1}}, 8 * kMiB);
  EXPECT_EQ(ends_of(config, {{0, 1}, {2, 3}, {12, 13}}, 8 * kMiB), pair + " " + pair + " " + pair);
}

TEST(ProgramMachines, NodesAtAnalyticalFidelityAndANetworkOfMessages) {
  std::vector<Call> calls;
  for (const uint64_t bytes : {uint64_t{1000}, kMiB, 64 * kMiB})
    calls.push_back({CollectiveOp::all_reduce, bytes});
  std::string text = test::machine_text("dgx_h100_2node", "analytical");
  text.replace(text.rfind("fidelity: analytical"), 20, "fidelity: message");
  EXPECT_SILENT(isolated([&] { return compare(parse_config(text, "mixed.yaml"), calls, 0.02); }));
}

}  // namespace
}  // namespace weft
