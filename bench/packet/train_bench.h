// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Long messages on one packet network, with and without packet trains.

#ifndef WEFT_BENCH_PACKET_TRAIN_BENCH_H
#define WEFT_BENCH_PACKET_TRAIN_BENCH_H

#include <cstdint>
#include <string>

#include "configs/ticks.h"
#include "configs/types.h"

namespace weft::bench {

struct TrainBench {
  std::string notation = "Switch(72)";
  /// An all-reduce: ring | direct | halving_doubling (ranks a power of two). Or permutation: every rank sends
  /// to one other, drawn; incast: all send to rank 0.
  std::string traffic = "ring";
  uint64_t bytes = uint64_t{1} << 30;  ///< of the all-reduce per rank, or of a message
  uint32_t steps = ~0u;                ///< of the all-reduce at most, or messages of a rank
  uint32_t packet_bytes = 4096;
  Picoseconds latency = 50000;
  Ticks flit_time = ticks(1000);  ///< of 64 B flits
  Ticks cycle = ticks(1000);
  uint32_t vcs = 4;
  uint32_t buffer_flits = 256;
  bool pfc = false;  ///< priority flow control on every link
};

/// Runs it both ways, each in a process of its own, `pairs` times, and prints both. Not 0 if any time or
/// counter differs. `ratio`: of the processor times, with trains to without, if not null.
int compare_trains(const TrainBench& bench, uint32_t pairs, double* ratio = nullptr);

/// Cases in which trains help, and in which they cannot. `only`: the case of that number, from 1 on; 0: all.
int compare_all_trains(uint32_t pairs, uint32_t only = 0);

/// A permutation of long messages on a Clos network: priority flow control beside credits alone, both without
/// trains.
int compare_pfc(uint32_t pairs);

/// `jobs` networks, links and traffics, drawn from `seed`. `only`: that one of them, from 1 on; 0: all.
int compare_drawn_trains(uint32_t jobs, uint64_t seed, uint32_t pairs, uint32_t only);

}  // namespace weft::bench

#endif
