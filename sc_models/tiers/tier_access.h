// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What an NPU asks of host memory and NVMe.

#ifndef WEFT_SC_MODELS_TIERS_TIER_ACCESS_H
#define WEFT_SC_MODELS_TIERS_TIER_ACCESS_H

#include <cstdint>

#include "sc_models/pool/pool_access.h"
#include "workload/trace/node.h"

namespace weft {

class TierAccess {
 public:
  virtual ~TierAccess() = default;
  /// An access of `npu` begins now; `client` hears of its end as that of an access to a pool. `place`: host
  /// or nvme, which the configuration has. bytes > 0.
  virtual void start(uint32_t npu, uint32_t token, trace::Location place, bool store, uint64_t bytes,
                     PoolClient& client) = 0;
};

}  // namespace weft

#endif
