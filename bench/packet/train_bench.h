// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The messages of an all-reduce on one packet switch, with and without packet trains.

#ifndef WEFT_BENCH_PACKET_TRAIN_BENCH_H
#define WEFT_BENCH_PACKET_TRAIN_BENCH_H

#include <cstdint>
#include <string>

#include "configs/types.h"

namespace weft::bench {

struct TrainBench {
  uint64_t bytes = uint64_t{1} << 30;  ///< of the all-reduce, per rank
  uint32_t ranks = 72;
  std::string algorithm = "ring";  ///< ring | direct | halving_doubling (ranks a power of two)
  Picoseconds flit_time = 1000;    ///< of 64 B flits; the clock is 1 ns
};

/// Runs it both ways, each in a process of its own, and prints both. Not 0 if any time differs.
int compare_trains(const TrainBench& bench);

}  // namespace weft::bench

#endif
