// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/pool/private_memories.h"

#include <fmt/format.h>

#include "sc_models/hbm.h"
#include "sc_models/memory_model.h"

namespace weft {

PrivateMemories::PrivateMemories(sc_core::sc_module_name name, const Config& config)
    : sc_core::sc_module(name), clients_(config.npus()) {
  const RemoteMemoryConfig& remote = *config.remote_memory;
  const std::string model =
      remote.implementation == kDefaultMemoryModel ? "bandwidth" : remote.implementation;
  for (uint32_t u = 0; u < config.npus(); ++u) {
    const MemoryTiming timing{remote.bandwidth, remote.latency, 0, 1.0};
    memories_.push_back(make_memory(model, "remote_memory.implementation", fmt::format("remote{}", u).c_str(),
                                    {timing, 1, nullptr}));
    dmas_.push_back(std::make_unique<MemoryDma>(
        fmt::format("dma{}", u).c_str(), config.hbm.outstanding, 0,
        [this, u](uint32_t token, Picoseconds at) { clients_[u]->pool_done(token, at); },
        [u](uint32_t) { return fmt::format("NPU {}", u); }));
    dmas_.back()->socket.bind(memories_.back()->socket(0));
  }
}

PrivateMemories::~PrivateMemories() = default;

void PrivateMemories::start(uint32_t npu, uint32_t token, PoolOperation operation, uint64_t bytes,
                            PoolClient& client, const PoolMembers&) {
  clients_[npu] = &client;
  dmas_[npu]->start(token, stores(operation), bytes);
}

}  // namespace weft
