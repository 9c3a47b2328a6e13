// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// One access of several NPUs at once: what `weft pool` runs.

#ifndef WEFT_SC_MODELS_POOL_POOL_RUN_H
#define WEFT_SC_MODELS_POOL_POOL_RUN_H

#include <algorithm>
#include <cstdint>
#include <systemc>

#include "sc_models/pool/pool_access.h"

namespace weft {

class PoolRun final : public PoolClient {
 public:
  /// NPUs 0 to npus - 1 begin now, each with `bytes`. The pool outlives the object.
  void start(PoolAccess& pool, PoolOperation operation, uint64_t bytes, uint32_t npus) {
    begin_ = sc_core::sc_time_stamp().value();
    last_ = begin_;
    left_ = npus;
    for (uint32_t u = 0; u < npus; ++u) pool.start(u, u, operation, bytes, *this);
  }
  bool finished() const { return left_ == 0; }
  uint32_t left() const { return left_; }
  /// Until the last NPU's end.
  Picoseconds time() const { return last_ - begin_; }

 private:
  void pool_done(uint32_t, Picoseconds at) override {
    last_ = std::max(last_, at);
    --left_;
  }

  Picoseconds begin_ = 0;
  Picoseconds last_ = 0;
  uint32_t left_ = 0;
};

}  // namespace weft

#endif
