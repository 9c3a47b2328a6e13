// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What the traces of a job keep in hosts' memories and on their drives, against the capacity of these.

#ifndef WEFT_WORKLOAD_TIERS_TIER_USE_H
#define WEFT_WORKLOAD_TIERS_TIER_USE_H

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "configs/config.h"
#include "workload/trace/trace_index.h"

namespace weft::tiers {

/// A tensor counts once, by its name, for each rank that loads it from a tier or stores it there. With
/// `run.footprint: on` a node without named tensors counts as a tensor of its own: an estimate.
class TierUse {
 public:
  explicit TierUse(const Config& config);

  /// False: no capacity is to be checked.
  bool wanted() const { return host_ || nvme_; }
  /// The trace of the rank on `npu`, which stands for `ranks` alike, each on a host of its own.
  void add(const trace::TraceIndex& index, uint32_t rank, uint32_t npu, uint32_t ranks = 1);
  /// Throws UserError(usage) when a tier that is too small has `over_capacity: error`; otherwise warnings.
  std::vector<std::string> check() const;

 private:
  struct Use {
    uint64_t bytes = 0;
    uint64_t tensors = 0;
    uint32_t hosts = 1;  ///< alike
    bool estimated = false;
    uint64_t largest = 0;
    std::string largest_name;
    uint32_t largest_rank = 0;
  };
  std::string text(trace::Location place, uint64_t capacity) const;

  const Config& config_;
  bool host_, nvme_, estimate_;
  std::map<std::pair<trace::Location, uint32_t>, Use> uses_;  ///< by tier and host
};

}  // namespace weft::tiers

#endif
