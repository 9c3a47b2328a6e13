// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Finds `custom:` programs that are missing, unreadable or wrong before anything runs.

#ifndef WEFT_WORKLOAD_COLLECTIVES_PROGRAM_CHECK_H
#define WEFT_WORKLOAD_COLLECTIVES_PROGRAM_CHECK_H

#include "configs/config.h"
#include "workload/trace/workload_check.h"

namespace weft::collectives {

/// Reads all programs that the configuration names: of its operations and of its rules. Which groups use them
/// is not known here, so programs for fewer members than the machine has NPUs are taken as they are; they
/// must agree with each other and, for an operation without a root, do what it is defined to do. Throws
/// UserError(trace) that names the key, the file and the node.
void check_programs(const Config& config);

/// The same of the programs that nodes of a trace name in their attribute `algorithm`; names file, rank and
/// node.
void check_programs(const Config& config, const trace::JobTrace& traces);

}  // namespace weft::collectives

#endif
