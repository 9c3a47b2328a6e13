// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Overrides of the tuner: which line holds for a call, and what is wrong with a line.

#include "workload/library/overrides.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/library/machines.h"
#include "tests/vcd/vcd_parser.h"

namespace weft::test {
namespace {

using library::Forced;
using library::LibraryAlgorithm;
using library::LibraryOp;
using library::Overrides;
using library::Protocol;

std::string refusal(const std::string& text) {
  try {
    Overrides::parse(text, "t.csv");
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::usage);
    return e.what();
  }
  return "accepted";
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Overrides, TheMatchingLineHolds) {
  const Overrides overrides = Overrides::parse(
      "# sizes in bytes\n"
      "collective,min_bytes,max_bytes,algorithm,protocol,channels,nodes,ranks\n"
      "allreduce,0,1023,tree,ll,2,-1,-1\n"
      " AllReduce , 1024, -1, ring, Simple, -1, 2, 16, -1, 0 \r\n"
      "all_gather,-1,-1,-1,LL128,-1,-1,-1\n",
      "t.csv");
  const Forced small = overrides.find(LibraryOp::all_reduce, 1023, 1, 8);
  EXPECT_EQ(small.algorithm, LibraryAlgorithm::tree);
  EXPECT_EQ(small.protocol, Protocol::ll);
  EXPECT_EQ(small.channels, 2u);
  EXPECT_EQ(small.line, "t.csv:3");
  EXPECT_EQ(overrides.find(LibraryOp::all_reduce, 1024, 2, 16).line, "t.csv:4");
  EXPECT_EQ(overrides.find(LibraryOp::all_reduce, 1024, 2, 8).line, "");
  EXPECT_EQ(overrides.find(LibraryOp::all_reduce, 1024, 1, 16).line, "");
  EXPECT_FALSE(overrides.find(LibraryOp::all_gather, 5, 1, 8).algorithm.has_value());
  EXPECT_EQ(overrides.find(LibraryOp::reduce, 5, 1, 8).line, "");
}

TEST(Overrides, LinesThatOverlapAreBothNamed) {
  const std::string text =
      "allreduce,0,1024,tree,ll,-1,-1,-1\n"
      "allgather,0,1024,ring,ll,-1,-1,-1\n"
      "allreduce,1024,2048,ring,ll,-1,2,-1\n";
  EXPECT_TRUE(says(refusal(text), "t.csv:3"));
  EXPECT_TRUE(says(refusal(text), "t.csv:1"));
  EXPECT_EQ(refusal("allreduce,0,9,tree,ll,-1,1,-1\nallreduce,0,9,tree,ll,-1,2,-1\n"), "accepted");
}

TEST(Overrides, MalformedLines) {
  EXPECT_TRUE(says(refusal("allreduce,0,1024,tree,ll,-1,-1\n"), "has 7 fields"));
  EXPECT_TRUE(says(refusal("allreduce,0,1,tree,ll,-1,-1,-1,1,1,1\n"), "has 11 fields"));
  EXPECT_TRUE(says(refusal("reduceall,0,1,tree,ll,-1,-1,-1\n"), "'reduceall'"));
  EXPECT_TRUE(says(refusal("alltoall,0,1,tree,ll,-1,-1,-1\n"), "'alltoall'"));
  EXPECT_TRUE(says(refusal("allreduce,2,1,tree,ll,-1,-1,-1\n"), "less than min_bytes"));
  EXPECT_TRUE(says(refusal("allreduce,0,1k,tree,ll,-1,-1,-1\n"), "max_bytes is '1k'"));
  EXPECT_TRUE(says(refusal("allreduce,0,1,trees,ll,-1,-1,-1\n"), "'trees' is no algorithm"));
  EXPECT_TRUE(says(refusal("allreduce,0,1,tree,l,-1,-1,-1\n"), "'l' is no protocol"));
  EXPECT_TRUE(says(refusal("allreduce,0,1,tree,ll,0,-1,-1\n"), "channels"));
  EXPECT_TRUE(says(refusal("allreduce,0,99999999999999999999,tree,ll,1,-1,-1\n"), "max_bytes"));
  EXPECT_TRUE(says(refusal("allreduce,-2,1,tree,ll,1,-1,-1\n"), "min_bytes"));
}

TEST(Overrides, ReplaceTheTunersChoice) {
  const vcd::test::TemporaryFolder folder;
  const std::string path = folder.path() + "/tuner.csv";
  FILE* file = fopen(path.c_str(), "w");
  fputs("allreduce,0,4194304,tree,simple,6,-1,-1\nallgather,0,-1,tree,ll,-1,-1,-1\n", file);
  fclose(file);
  library::LibraryMachine machine = one_node("H100");
  machine.overrides = path;
  const library::CommunicationLibrary library(machine);
  const library::LibraryPlan plan = library.plan({LibraryOp::all_reduce, 4194304, {}});
  EXPECT_EQ(plan.algorithm, LibraryAlgorithm::tree);
  EXPECT_EQ(plan.protocol, Protocol::simple);
  EXPECT_EQ(plan.channels, 6u);
  EXPECT_EQ(plan.tuned_by, path + ":1");
  EXPECT_EQ(library.plan({LibraryOp::all_reduce, 4194305, {}}).algorithm, LibraryAlgorithm::nvls);
  try {
    library.plan({LibraryOp::all_gather, 1, {}});
    FAIL();
  } catch (const UserError& e) {
    EXPECT_TRUE(says(e.what(), path + ":2"));
    EXPECT_TRUE(says(e.what(), "trees are for all_reduce"));
  }
}

}  // namespace
}  // namespace weft::test
