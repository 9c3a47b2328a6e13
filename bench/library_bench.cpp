// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What it costs to plan calls of a communication library: sizes and communicators that all differ, so that
// nothing is found in a cache.
//
//   library_bench [CALLS]

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "workload/library/communication_library.h"

namespace {

using namespace weft::library;
using Clock = std::chrono::steady_clock;

struct Case {
  const char* name;
  LibraryMachine machine;
};

std::vector<Case> cases() {
  LibraryMachine node;
  node.gpu = "H100";
  LibraryMachine nodes = node;
  nodes.nodes = 64;
  nodes.nic_bandwidth = 50;
  LibraryMachine amd;
  amd.kind = weft::LibraryKind::rccl;
  amd.gpu = "MI300X";
  amd.links = weft::NodeLinks::fully_connected;
  return {{"H100 x 8", node}, {"H100 x 512", nodes}, {"MI300X x 8", amd}};
}

double plan_all(const CommunicationLibrary& library, LibraryOp op, bool part, uint64_t calls) {
  const uint32_t nodes = library.machine().nodes;
  double sum = 0;
  for (uint64_t i = 0; i < calls; ++i) {
    LibraryCall call;
    call.op = op;
    call.bytes = 1 + i * 7919 % (uint64_t{1} << 30);
    if (part) call.ranks_of_nodes.assign(nodes, static_cast<uint32_t>(1 + i % 8));
    sum += library.plan(call).time_us(library.default_parameters());
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t calls = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100000;
  if (calls == 0) {
    std::fprintf(stderr, "library_bench: CALLS must be a number from 1 on\n");
    return 2;
  }
  std::printf("%-12s %-14s %-12s %s\n", "machine", "operation", "members", "us a plan");
  for (const Case& one : cases()) {
    const auto begin = Clock::now();
    const CommunicationLibrary library(one.machine);
    const double read = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
    for (const LibraryOp op : {LibraryOp::all_reduce, LibraryOp::all_gather, LibraryOp::all_to_all}) {
      for (const bool part : {false, true}) {
        const auto start = Clock::now();
        const double sum = plan_all(library, op, part, calls);
        const double us = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
        std::printf("%-12s %-14s %-12s %.3f%s\n", one.name, to_string(op), part ? "parts" : "all",
                    us / static_cast<double>(calls), sum > 0 ? "" : " (no time)");
      }
    }
    std::printf("%-12s tables, search: %.0f us, once\n", one.name, read);
  }
  return 0;
}
