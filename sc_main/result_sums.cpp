// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/result_sums.h"

#include <algorithm>

#include "sc_main/results.h"

namespace weft::cli {

std::array<Operation, kCollectiveOps> by_operation(const RunResult& result) {
  std::array<Operation, kCollectiveOps> sums;
  for (const CollectiveRow& row : result.collectives) {
    Operation& sum = sums[static_cast<size_t>(row.op)];
    ++sum.count;
    if (!complete(row)) {
      ++sum.unfinished;
      continue;
    }
    sum.bytes += row.bytes;
    sum.time += row.time();
    sum.lower_bound += row.lower_bound;
    sum.bus_bytes += row.bus_bandwidth() * static_cast<double>(row.time()) * 1e-12;
    if (sum.phases.size() < row.phases.size()) sum.phases.resize(row.phases.size());
    for (size_t p = 0; p < row.phases.size(); ++p) {
      sum.queue += row.phases[p].queue;
      sum.network += row.phases[p].network;
      sum.phases[p].queue += row.phases[p].queue;
      sum.phases[p].network += row.phases[p].network;
    }
  }
  return sums;
}

LinkSums sum_links(const RunResult& result) {
  LinkSums sums;
  for (const LinkRow& link : result.links) {
    sums.bytes += link.bytes;
    sums.busy += link.busy;
    sums.busiest = std::max(sums.busiest, link.busy);
    sums.pauses += link.pauses;
    sums.paused += link.paused;
    sums.overruns += link.overruns;
  }
  return sums;
}

}  // namespace weft::cli
