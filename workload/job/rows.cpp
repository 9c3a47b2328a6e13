// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/job/rows.h"

namespace weft {
namespace {

double per_second(double bytes, Picoseconds time) {
  return time == 0 ? 0 : bytes / static_cast<double>(time) * 1e12;
}

}  // namespace

double CollectiveRow::algorithm_bandwidth() const {
  if (op == CollectiveOp::barrier) return 0;  // it moves no bytes, whatever its size says
  // nccl-tests: the size of an all-gather is that of its output; a gather's and a scatter's that of the
  // root's buffer.
  const bool shards = op == CollectiveOp::all_gather || op == CollectiveOp::gather;
  return per_second(static_cast<double>(bytes) * (shards ? ranks : 1), time());
}

double CollectiveRow::bus_bandwidth() const {
  const double n = ranks;
  if (n < 2) return 0;
  switch (op) {
    case CollectiveOp::all_reduce:
      return algorithm_bandwidth() * 2 * (n - 1) / n;
    case CollectiveOp::all_gather:
    case CollectiveOp::reduce_scatter:
    case CollectiveOp::all_to_all:
    case CollectiveOp::gather:
    case CollectiveOp::scatter:
      return algorithm_bandwidth() * (n - 1) / n;
    case CollectiveOp::broadcast:
    case CollectiveOp::reduce:
      return algorithm_bandwidth();
    case CollectiveOp::barrier:
      return 0;
  }
  return 0;
}

double CollectiveRow::efficiency() const {
  return time() == 0 ? 1.0 : static_cast<double>(lower_bound) / static_cast<double>(time());
}

}  // namespace weft
