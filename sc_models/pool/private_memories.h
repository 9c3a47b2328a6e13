// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `remote_memory`: a memory of each NPU's own, asked as a pool is, so that `weft pool` measures it too
// (ZeRO-Infinity).

#ifndef WEFT_SC_MODELS_POOL_PRIVATE_MEMORIES_H
#define WEFT_SC_MODELS_POOL_PRIVATE_MEMORIES_H

#include <memory>
#include <vector>

#include "configs/config.h"
#include "sc_models/memory_dma.h"
#include "sc_models/memory_target.h"
#include "sc_models/pool/pool_access.h"

namespace weft {

class PrivateMemories final : public sc_core::sc_module, public PoolAccess {
 public:
  /// `config` has a remote_memory.
  PrivateMemories(sc_core::sc_module_name name, const Config& config);
  ~PrivateMemories() override;

  void start(uint32_t npu, uint32_t token, PoolOperation operation, uint64_t bytes, PoolClient& client,
             const PoolMembers& members = nullptr) override;

  uint64_t bytes(uint32_t npu) const { return memories_[npu]->bytes(); }

 private:
  std::vector<std::unique_ptr<MemoryTarget>> memories_;
  std::vector<std::unique_ptr<MemoryDma>> dmas_;
  std::vector<PoolClient*> clients_;  ///< of the access under way
};

}  // namespace weft

#endif
