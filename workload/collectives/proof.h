// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Proves a phase by carrying it out on contributions instead of data: every block is a set of members, and in
// the end it must be the set that the definition of the collective names.

#ifndef WEFT_WORKLOAD_COLLECTIVES_PROOF_H
#define WEFT_WORKLOAD_COLLECTIVES_PROOF_H

#include <cstdint>
#include <string>
#include <vector>

#include "workload/collectives/algorithm.h"

namespace weft::collectives {

/// The rounds of a phase, all members' written out.
using PhaseRounds = std::vector<std::vector<Round>>;  // [member][round]

/// All rounds of an algorithm that does not refuse `op`.
PhaseRounds write_out(const Algorithm& algorithm, CollectiveOp op, uint32_t n, uint32_t root,
                      uint32_t variant = 0);

/// Empty when the rounds of n = rounds.size() members end (no member waits for a message that never comes,
/// and none comes that nobody waits for) and every member then holds what `op` is defined to give it:
///   all_reduce       every block with every member's contribution exactly once
///   reduce_scatter   member i: block i, likewise; reduce: the root all blocks
///   all_gather       every block b as member b had it; gather: at the root
///   broadcast        every block as the root had it; scatter: member i block i
///   all_to_all       member i one item of every other; block b of a message is the oldest item for member b
///                    that came here from elsewhere, else the sender's own
///   barrier          some block with every member's contribution: everybody has come
/// No message of all_gather, gather, broadcast, scatter and all_to_all is reduced.
/// Else one line: which member and block, and whose contribution is missing, double or too much. A message
/// holds what its sender has when it enters the round; two messages of one round may both be reduced into a
/// block, but nothing else may touch a block that one of them replaces.
/// Takes time in proportion to n/64 for every block of every message.
/// `block`, if given and there is one: the first block that is wrong; otherwise left as it is.
std::string disprove(const PhaseRounds& rounds, CollectiveOp op, uint32_t root, uint32_t* block = nullptr);

}  // namespace weft::collectives

#endif
