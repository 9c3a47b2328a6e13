// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Host memory and NVMe, asked as a pool is, so that `weft pool` measures them too.

#ifndef WEFT_SC_MAIN_TIER_POOL_H
#define WEFT_SC_MAIN_TIER_POOL_H

#include <cstdint>

#include "configs/config.h"
#include "sc_models/pool/pool_access.h"
#include "sc_models/tiers/tier_access.h"
#include "workload/pool/closed_form.h"
#include "workload/trace/node.h"

namespace weft::cli {

class TierPool final : public PoolAccess {
 public:
  /// `tiers` outlives the object.
  TierPool(TierAccess& tiers, trace::Location place) : tiers_(tiers), place_(place) {}

  void start(uint32_t npu, uint32_t token, PoolOperation operation, uint64_t bytes, PoolClient& client,
             const PoolMembers&) override {
    tiers_.start(npu, token, place_, stores(operation), bytes, client);
  }

 private:
  TierAccess& tiers_;
  trace::Location place_;
};

/// `bytes` of each of the NPUs 0 to npus - 1, all at once. The busiest host decides: its memory serves its
/// NPUs in turns, and so does each link.
pool::ClosedForm tier_form(const Config& config, trace::Location place, bool store, uint64_t bytes,
                           uint32_t npus);

}  // namespace weft::cli

#endif
