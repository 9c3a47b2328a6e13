// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Where the ranks of a job are: a job has ranks 0, 1, .., a machine has NPUs 0, 1, ..; several jobs may share
// one machine, each on NPUs of its own.

#ifndef WEFT_WORKLOAD_JOB_RANK_MAP_H
#define WEFT_WORKLOAD_JOB_RANK_MAP_H

#include <cstdint>
#include <vector>

namespace weft {

class RankMap {
 public:
  /// A job on all NPUs of the machine: rank r is NPU r.
  explicit RankMap(uint32_t npus) : ranks_(npus), whole_(true) {}
  /// Rank r is NPU `npus[r]`, of a machine with `machine` NPUs. Throws std::logic_error when an NPU is not on
  /// the machine or occurs twice.
  RankMap(std::vector<uint32_t> npus, uint32_t machine);

  uint32_t ranks() const { return ranks_; }
  /// Rank r is NPU r, and the machine has no other NPUs.
  bool whole() const { return whole_; }
  uint32_t npu(uint32_t rank) const { return whole_ ? rank : npu_of_[rank]; }
  /// Of an NPU of this job.
  uint32_t rank(uint32_t npu) const { return whole_ ? npu : rank_of_[npu]; }
  /// By rank; empty when whole().
  const std::vector<uint32_t>& npus() const { return npu_of_; }

 private:
  uint32_t ranks_ = 0;
  bool whole_ = false;
  std::vector<uint32_t> npu_of_;
  std::vector<uint32_t> rank_of_;  ///< by NPU
};

}  // namespace weft

#endif
