// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Programs for the algorithm `custom`, written from one of the built-in algorithms: an example to start from.

#ifndef WEFT_WORKLOAD_GENERATE_COLLECTIVE_H
#define WEFT_WORKLOAD_GENERATE_COLLECTIVE_H

#include <cstdint>
#include <string>

#include "configs/types.h"

namespace weft::generate {

struct CollectiveProgram {
  CollectiveOp op = CollectiveOp::all_reduce;
  std::string algorithm = "ring";  ///< ring, direct, halving_doubling or double_binary_tree
  uint32_t members = 8;
  uint32_t root = 0;  ///< member index, of rooted operations
};

struct CollectiveProgramSummary {
  uint64_t nodes = 0;
  uint64_t sends = 0;
  std::string prefix;  ///< <out>/<name>: what follows `custom:`
};

/// Writes <out>/<name>.<member>.et for every member (format: docs/custom_collectives.md); `out` is created.
/// The programs do what the algorithm does for a chunk with an even number. Throws UserError(usage) for an
/// unknown algorithm, one that cannot run the operation, fewer than 2 members or a root that is none, and for
/// a folder that cannot be written; UserError(internal) when writing fails.
CollectiveProgramSummary generate_collective(const CollectiveProgram& program, const std::string& out,
                                             const std::string& name);

}  // namespace weft::generate

#endif
