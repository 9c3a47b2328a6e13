// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Between what and what the time of a collective must lie on a machine.

#ifndef WEFT_WORKLOAD_COLLECTIVES_BOUNDS_H
#define WEFT_WORKLOAD_COLLECTIVES_BOUNDS_H

#include "configs/config.h"
#include "workload/collectives/plan.h"

namespace weft::collectives {

/// What no execution can beat, whatever the schedule: the bytes each member must send or receive over its
/// ports, the bytes that must cross a cut between the slices of each dimension, and the latency to the
/// farthest member. Ports count as the algorithm may use them: a Ring dimension that runs `ring` has
/// as many directions as its queues have, any other two. What members must send goes through their DMA
/// (nmu.injection_bandwidth). Switches that reduce (in_switch) spare an all-reduce all
/// bytes but the contribution out of and the result into every member. On a graph, or where ranks or
/// dimensions are remapped, the ports of an NPU are all its physical links.
Picoseconds lower_bound(const Config& config, const CollectivePlan& plan);

/// What no execution exceeds that has the machine to itself and whose members begin at once: every chunk,
/// phase, round and message one after the other, each message as if alone. Of a phase whose members do the
/// like on links that are alike, one member's messages; of others those of all members of a line. kNever:
/// there is no such bound, because links err or senders slow down for marks (DCQCN).
Picoseconds serial_time(const Config& config, const CollectivePlan& plan);

/// All messages of all members one after the other, each as if alone; kNever as above. What a collective adds
/// to a job at most: what some members do before the others begin can hold up what these wait for, and does
/// not make the rest shorter. (docs/collective_waits.md, "Upper bounds")
Picoseconds serial_time_apart(const Config& config, const CollectivePlan& plan);

/// A point-to-point message of `bytes` alone on the machine, injection and endpoint delays included; kNever
/// as above.
Picoseconds message_time(const Config& config, uint32_t source, uint32_t destination, uint64_t bytes);

/// The least latency of any link; 0 where there is none.
Picoseconds nearest_link(const Config& config);

/// The largest latency of a dimension's links: how long a chunk waits at most before it starts beyond the
/// slots.
Picoseconds slowest_link(const Config& config);

}  // namespace weft::collectives

#endif
