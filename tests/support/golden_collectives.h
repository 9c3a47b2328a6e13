// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The measured collectives of golden/*.json (collectives, one_dimension_reduction, paper_systems).

#ifndef WEFT_TESTS_SUPPORT_GOLDEN_COLLECTIVES_H
#define WEFT_TESTS_SUPPORT_GOLDEN_COLLECTIVES_H

#include <cstdint>
#include <string>
#include <vector>

#include "configs/config.h"

namespace weft::test {

struct GoldenCollective {
  std::string id;
  CollectiveOp op = CollectiveOp::all_reduce;
  uint64_t bytes = 0;
  /// Dimensions (each with its bandwidth as a measured double, too), chunks, order, schedulers, algorithms of
  /// `op`, endpoint delay and reduction.
  Config config;
  std::vector<double> gib_per_second;  ///< of each dimension's links
  std::string scheduler;               ///< the program that measured it, where there were several
  std::string inter_dimension_scheduling;
  double time_ns = 0;
  double tolerance_ns = 0;  ///< 0.1 %, and the reference's whole nanoseconds a step and chunk
};

/// All cases of a file of the data folder ("collectives.json").
std::vector<GoldenCollective> read_golden_collectives(const std::string& file);

}  // namespace weft::test

#endif
