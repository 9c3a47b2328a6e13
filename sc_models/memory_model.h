// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Memories made by the names that `hbm.implementation` and `remote_memory.implementation` take.

#ifndef WEFT_SC_MODELS_MEMORY_MODEL_H
#define WEFT_SC_MODELS_MEMORY_MODEL_H

#include <functional>
#include <memory>
#include <string>

#include "configs/implementation.h"
#include "configs/named_registry.h"
#include "sc_models/hbm.h"
#include "sc_models/memory_target.h"

namespace weft {

/// What a memory is made of. A model uses what it needs of the figures.
struct MemoryContext {
  MemoryTiming figures;             ///< bandwidth, latency, capacity and efficiency of the configuration
  uint32_t sockets = 1;             ///< initiators
  vcd::ProbeHub* probes = nullptr;  ///< null: nobody looks
};

using MemoryMaker = std::function<std::unique_ptr<MemoryTarget>(
    sc_core::sc_module_name name, const MemoryContext& context, Parameters& parameters)>;

/// The memory models there are; `banked` is chosen by `hbm.model`.
NamedRegistry<MemoryMaker>& memory_models();

/// A memory of the model that `implementation` names. `owner` begins messages: the key. Errors:
/// UserError(usage) for a name or parameter that there is not, and for whatever the model throws.
std::unique_ptr<MemoryTarget> make_memory(const std::string& implementation, const std::string& owner,
                                          const char* name, const MemoryContext& context);

}  // namespace weft

#endif
