// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What an NPU asks of the memory pool, and what it hears.

#ifndef WEFT_SC_MODELS_POOL_POOL_ACCESS_H
#define WEFT_SC_MODELS_POOL_POOL_ACCESS_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "configs/memory_pool.h"

namespace weft {

class PoolClient {
 public:
  virtual ~PoolClient() = default;
  /// The access `token` is complete at the absolute time `at` (>= now).
  virtual void pool_done(uint32_t token, Picoseconds at) = 0;
  /// `run.data: functional`: a tensor that was loaded from a host was compared. `wrong`: in words, with place
  /// and time; empty: nothing. False: nobody keeps that.
  virtual bool tensor_loaded(uint64_t /*bytes*/, const std::string& /*wrong*/) { return false; }
};

/// NPUs that take part in an in-switch access, ascending. Null: all of the machine.
using PoolMembers = std::shared_ptr<const std::vector<uint32_t>>;

class PoolAccess {
 public:
  virtual ~PoolAccess() = default;
  /// An access of `npu` begins now; `client` hears of its end. `bytes`: of its tensor; in-switch: of its
  /// shard. The n-th in-switch access of each of the same members is one access of all of them. Throws
  /// UserError for a tensor of no bytes, or one that does not fit.
  virtual void start(uint32_t npu, uint32_t token, PoolOperation operation, uint64_t bytes,
                     PoolClient& client, const PoolMembers& members = nullptr) = 0;
};

}  // namespace weft

#endif
