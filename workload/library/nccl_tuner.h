// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// NCCL's tuner: what it believes that a call takes with each algorithm and protocol (src/graph/tuning.cc).
// The believed time chooses; the time of the plan is another one (library_plan.h).

#ifndef WEFT_WORKLOAD_LIBRARY_NCCL_TUNER_H
#define WEFT_WORKLOAD_LIBRARY_NCCL_TUNER_H

#include <cstdint>
#include <string>

#include "workload/library/library_search.h"

namespace weft::library {

struct Estimate {
  double time_us = 0;
  double base_us = 0;
  double latency_us = 0;  ///< beside the base
  double bandwidth = 0;   ///< GB/s of the call's bytes; 0: the algorithm cannot be used
  double reached = 0;     ///< .. that NVLS, CollNet and PAT reach; some versions believe in more
};

/// 2(n-1) of an all-reduce, n-1 of an all-gather and a reduce-scatter, else n.
uint32_t ring_steps(LibraryOp op, uint32_t ranks);

/// Why the communicator cannot run the operation so; empty: it can.
std::string lacks(const Context& context, LibraryOp op, LibraryAlgorithm algorithm, Protocol protocol);

Estimate estimate(const Context& context, LibraryOp op, LibraryAlgorithm algorithm, Protocol protocol,
                  uint64_t bytes);

struct Choice {
  LibraryAlgorithm algorithm = LibraryAlgorithm::ring;
  Protocol protocol = Protocol::simple;
  Estimate estimate;
};

/// In the order in which NCCL compares them.
constexpr LibraryAlgorithm kTuned[] = {LibraryAlgorithm::tree,
                                       LibraryAlgorithm::ring,
                                       LibraryAlgorithm::collnet_direct,
                                       LibraryAlgorithm::collnet_chain,
                                       LibraryAlgorithm::nvls,
                                       LibraryAlgorithm::nvls_tree,
                                       LibraryAlgorithm::pat};

/// The smallest believed time of all that the communicator can run.
Choice choose(const Context& context, LibraryOp op, uint64_t bytes);

}  // namespace weft::library

#endif
