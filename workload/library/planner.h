// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// From a choice of algorithm and protocol to the work of a call: channels, chunks, slices and what they cost.
// Private to this folder.

#ifndef WEFT_WORKLOAD_LIBRARY_PLANNER_H
#define WEFT_WORKLOAD_LIBRARY_PLANNER_H

#include <cstdint>
#include <optional>

#include "workload/library/library_search.h"

namespace weft::library {

/// What an override asks for; what is empty is left to the library.
struct Forced {
  std::optional<LibraryAlgorithm> algorithm;
  std::optional<Protocol> protocol;
  uint32_t channels = 0;
  std::string line;  ///< "tuner.csv:3"
};

/// `bytes` > 0, at least two ranks. Throws UserError(usage) when what is forced cannot run.
LibraryPlan plan_nccl(const Context& context, LibraryOp op, uint64_t bytes, const Forced& forced);
LibraryPlan plan_rccl(const Context& context, LibraryOp op, uint64_t bytes, const Forced& forced);

/// Sends and receives between all ranks (all_to_all, all_gather), or from one to one.
LibraryPlan plan_point_to_point(const Context& context, LibraryOp op, uint64_t bytes);

/// Rings and trees, which both libraries have: the work of `plan`, whose operation, bytes, algorithm,
/// protocol, base and latency are set. `channels`: 0: chosen by size.
void lay_out_ring(const Context& context, LibraryPlan& plan, uint32_t channels);
void lay_out_tree(const Context& context, LibraryPlan& plan, uint32_t channels);
/// us of all hops of a chain through all ranks.
double chain_latency(const Context& context, Protocol protocol);
/// The plan of a call with what is known of it.
LibraryPlan begin_plan(const Context& context, LibraryOp op, uint64_t bytes);

}  // namespace weft::library

#endif
