// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Programs of communication libraries on the machines of configs/machines, with links at message and packet
// fidelity: alone they take what the closed forms say, with data they deliver what is defined, and calls that
// share links slow each other down.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "configs/loader.h"
#include "sc_models/library_runs.h"
#include "sc_models/machine.h"
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
  std::ifstream file(std::string(WEFT_MACHINES) + "/" + name + ".yaml");
  std::stringstream all;
  all << file.rdbuf();
  std::string text = all.str();
  const auto replace = [&text](const std::string& from, const std::string& to) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  };
  replace("fidelity: analytical", "fidelity: " + fidelity);
  if (!more.empty()) replace("library: nccl,", "library: nccl, " + more + ",");
  return parse_config(text + run, name + ".yaml");
}

/// A file of overrides that has every operation run by that algorithm and protocol.
std::string forced(const std::string& algorithm, const std::string& protocol) {
  const std::string path = testing::TempDir() + algorithm + "_" + protocol + ".csv";
  std::ofstream file(path);
  for (const char* op : {"allreduce", "allgather", "reducescatter", "broadcast", "reduce"})
    file << op << ",-1,-1," << (algorithm == "tree" && op != std::string("allreduce") ? "ring" : algorithm)
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
                           call.bytes, row.algorithm, row.protocol, time, closed);
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
        // A channel with LL reaches 16 GB/s on an A100, and with its flags 32: more than a port of 25 GB/s
        // has.
        const double limit =
            name == std::string("dgx_a100_2node") && protocol == std::string("ll") ? 0.035 : 0.02;
        EXPECT_SILENT(isolated([&] {
          return compare(machine(name, "message", forced(algorithm, protocol)), sizes(kRings), limit);
        }));
      }
}

TEST(ProgramMachines, OwnPlansTakeTheClosedFormsAtMessageFidelity) {
  for (const char* name : {"dgx_1v", "mi300x", "mi300x_2node", "gcp_a3mega_2node", "ethernet_25g_pair"}) {
    SCOPED_TRACE(name);
    // Of the cube mesh's GPUs half of the pairs have no link, which the closed form does not know.
    std::vector<Call> calls =
        name == std::string("dgx_1v") ? std::vector<Call>{} : sizes({CollectiveOp::all_to_all});
    if (name != std::string("gcp_a3mega_2node"))
      for (const Call& call : sizes(kRings)) calls.push_back(call);
    EXPECT_SILENT(isolated([&] { return compare(machine(name, "message"), calls, 0.02); }));
  }
}

}  // namespace
}  // namespace weft
