// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_WORKLOAD_CONVERT_FROM_GOAL_H
#define WEFT_WORKLOAD_CONVERT_FROM_GOAL_H

#include <string>

#include "configs/loggp.h"
#include "workload/convert/trace_set.h"
#include "workload/goal/program.h"

namespace weft::convert {

/// Writes <prefix>.<rank>.et of every rank. A calc becomes a COMP node on the stream of its processor, sends
/// and receives COMM_SEND and COMM_RECV with their tags; `requires` becomes a data dependency, `irequires`
/// the dependencies of the other operation. Which message a receive with a wildcard takes is what the LogGOPS
/// run of the program says; such messages get a tag of their own, and so do those of different sizes with one
/// source, destination and tag, whose order depends on times. Throws UserError(trace) for a program that
/// cannot end.
Report from_goal(const goal::Program& program, const LogGpConfig& parameters, const std::string& prefix);

}  // namespace weft::convert

#endif
