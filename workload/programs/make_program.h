// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// From the plan of a call to its program (program.h).

#ifndef WEFT_WORKLOAD_PROGRAMS_MAKE_PROGRAM_H
#define WEFT_WORKLOAD_PROGRAMS_MAKE_PROGRAM_H

#include "workload/programs/channel_orders.h"
#include "workload/programs/program.h"

namespace weft::library {

/// Switches that reduce for programs.
struct Reducers {
  bool nodes = false;    ///< each node has one
  bool network = false;  ///< .. and the network, which joins the nodes' GPUs of one place
};

/// `op`: of the call; the library's own operation
/// does not tell gather and scatter from all_to_all. At least two members, at least one byte. Throws
/// UserError(usage) if there is no program.
Program make_program(const LibraryPlan& plan, CollectiveOp op, const LibraryParameters& parameters,
                     const LibraryMachine& machine, const Team& team, Buffers buffers, Reducers reducers);

}  // namespace weft::library

#endif
