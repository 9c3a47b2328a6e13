// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Sums over a run's results that summary.json and the text for people share.

#ifndef WEFT_SC_MAIN_RESULT_SUMS_H
#define WEFT_SC_MAIN_RESULT_SUMS_H

#include <array>
#include <vector>

#include "sc_models/run_result.h"
#include "workload/graph/rank_engine.h"

namespace weft::cli {

/// A part of a rank's time.
struct Category {
  const char* key;
  const char* words;
  Picoseconds graph::Categories::*time;
};

inline constexpr std::array<Category, 5> kCategories = {{
    {"compute_ns", "compute", &graph::Categories::compute},
    {"local_memory_ns", "exposed local memory", &graph::Categories::local_memory},
    {"remote_memory_ns", "exposed remote memory", &graph::Categories::remote_memory},
    {"communication_ns", "exposed communication", &graph::Categories::communication},
    {"idle_ns", "idle", &graph::Categories::idle},
}};

/// Sums over the collectives of one operation.
struct Operation {
  uint64_t count = 0;
  uint64_t unfinished = 0;
  Wide bytes = 0;
  Wide time = 0;
  Wide queue = 0;
  Wide network = 0;
  Wide lower_bound = 0;
  double bus_bytes = 0;  ///< bus bandwidth x time
  std::vector<LayerRow::Phase> phases;

  /// Weighted by time: all bytes over all time.
  double algorithm_bandwidth() const { return time == 0 ? 0 : static_cast<double>(bytes) / seconds(); }
  double bus_bandwidth() const { return time == 0 ? 0 : bus_bytes / seconds(); }
  double efficiency() const {
    return time == 0 ? 1 : static_cast<double>(lower_bound) / static_cast<double>(time);
  }
  double seconds() const { return static_cast<double>(time) * 1e-12; }
};

/// By CollectiveOp.
std::array<Operation, kCollectiveOps> by_operation(const RunResult& result);

struct LinkSums {
  Wide bytes = 0;
  Wide busy = 0;
  Picoseconds busiest = 0;
  uint64_t pauses = 0;
  Wide paused = 0;
  uint64_t overruns = 0;
};

/// Over all link directions.
LinkSums sum_links(const RunResult& result);

/// 0 of a total of 0.
inline double fraction(Picoseconds part, Picoseconds total) {
  return total == 0 ? 0 : static_cast<double>(part) / static_cast<double>(total);
}

}  // namespace weft::cli

#endif
