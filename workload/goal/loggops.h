// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The LogGOPS model of communication (T. Hoefler, T. Schneider, A. Lumsdaine, "LogGOPSim", HPDC LSAP 2010) on
// a GOAL program, with the rules that docs/goal.md lists. It has no links and no kernel: processors, network
// interfaces and matching only.

#ifndef WEFT_WORKLOAD_GOAL_LOGGOPS_H
#define WEFT_WORKLOAD_GOAL_LOGGOPS_H

#include <cstdint>
#include <string>
#include <vector>

#include "configs/loggp.h"
#include "configs/types.h"
#include "workload/goal/program.h"

namespace weft::goal {

/// A message and the receive that took it.
struct Match {
  uint32_t source = 0;
  uint32_t send = 0;
  uint32_t destination = 0;
  uint32_t receive = 0;
};

struct RankTimes {
  Picoseconds end = 0;            ///< of its last operation
  Picoseconds compute = 0;        ///< some processor is in a calc
  Picoseconds communication = 0;  ///< some processor sends or receives, and none computes
  Picoseconds communicating = 0;  ///< some processor sends or receives
  Picoseconds busiest_calc = 0;   ///< calcs of one processor, summed
};

struct LogGopsResult {
  Picoseconds time = 0;
  std::vector<RankTimes> ranks;
  uint64_t messages = 0;
  uint64_t events = 0;
  std::vector<Match> matches;  ///< in the order of matching, if they were asked for
  /// Empty, or what each rank that cannot go on waits for.
  std::string stall;
};

/// Runs the program, which check_program() has passed. Throws UserError(trace) if time does not fit.
LogGopsResult run_loggops(const Program& program, const LogGpConfig& parameters, bool keep_matches = false);

}  // namespace weft::goal

#endif
