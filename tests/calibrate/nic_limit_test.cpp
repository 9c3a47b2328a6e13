// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Times that no parameter explains, because NICs forbid them.

#include "sc_main/calibrate/nic_limit.h"

#include <gtest/gtest.h>

#include "sc_main/machines/catalogue.h"
#include "tests/calibrate/messages.h"

namespace weft::calibrate {
namespace {

using library::CommunicationLibrary;
using library::LibraryMachine;
using library::LibraryOp;

constexpr uint64_t kGiB = 1 << 30;

LibraryPlan plan(const CommunicationLibrary& library, uint64_t bytes, LibraryOp op = LibraryOp::all_reduce) {
  return library.plan({op, bytes, {}});
}

TEST(NicLimit, IsWhatANodeSends) {
  const CommunicationLibrary a100(LibraryMachine::of(machines::load_machine("dgx_a100_2node")));
  // A ring of 16: 30/16 of the bytes leave a node, through eight NICs of 25 GB/s.
  EXPECT_NEAR(least_nic_time(plan(a100, kGiB), a100.machine()), 30.0 / 16 * kGiB * 1e-3 / 200, 1e-6);
  EXPECT_NEAR(least_nic_time(plan(a100, kGiB, LibraryOp::all_gather), a100.machine()),
              15.0 / 16 * kGiB * 1e-3 / 200, 1e-6);
  const CommunicationLibrary h100(LibraryMachine::of(machines::load_machine("dgx_h100_2node")));
  ASSERT_EQ(plan(h100, kGiB).algorithm, library::LibraryAlgorithm::nvls_tree);
  EXPECT_NEAR(least_nic_time(plan(h100, kGiB), h100.machine()), kGiB * 1e-3 / 400, 1e-6);
  const CommunicationLibrary one(LibraryMachine::of(machines::load_machine("dgx_h100")));
  EXPECT_EQ(least_nic_time(plan(one, kGiB), one.machine()), 0);
}

TEST(NicLimit, ItsOwnTimesAreWithinIt) {
  for (const char* name : {"dgx_a100_2node", "oci_a100_2node", "dgx_h100_2node", "gcp_a3mega_2node",
                           "aws_p5_2node", "dgx_1v_2node", "mi300x_2node"}) {
    const CommunicationLibrary library(LibraryMachine::of(machines::load_machine(name)));
    std::vector<FitRow> rows;
    for (const LibraryOp op : {LibraryOp::all_reduce, LibraryOp::all_gather, LibraryOp::reduce_scatter})
      for (uint64_t bytes = 1024; bytes <= 16 * kGiB; bytes *= 2) {
        const LibraryPlan of = plan(library, bytes, op);
        rows.push_back({bytes, of.time_us({0, 1, 1}), of});
      }
    EXPECT_EQ(faster_than_nics(rows, library.machine()), "") << name;
  }
}

TEST(NicLimit, NamesTheSizesAndWhatToDo) {
  const CommunicationLibrary a100(LibraryMachine::of(machines::load_machine("dgx_a100_2node")));
  std::vector<FitRow> rows;
  for (const auto& [bytes, us] :
       {std::pair<uint64_t, double>{kGiB / 2, 6070.5}, {kGiB, 9073.4}, {2 * kGiB, 17557}})
    rows.push_back({bytes, us, plan(a100, bytes)});
  const std::string text = faster_than_nics(rows, a100.machine());
  EXPECT_TRUE(says(text, {"from 1073741824 B on", "8 of 25 GB/s", "with ring", "collectives.overrides"}))
      << text;
  rows.resize(1);
  EXPECT_EQ(faster_than_nics(rows, a100.machine()), "");
}

}  // namespace
}  // namespace weft::calibrate
