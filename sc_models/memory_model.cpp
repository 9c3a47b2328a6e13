// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/memory_model.h"

#include "sc_models/cxl/cxl_memory.h"
#include "sc_models/make_model.h"

namespace weft {

NamedRegistry<MemoryMaker>& memory_models() {
  static NamedRegistry<MemoryMaker> registry = [] {
    NamedRegistry<MemoryMaker> r("memory model");
    r.add({"bandwidth", "latency + bytes / (efficiency x bandwidth)", "weft",
           [](sc_core::sc_module_name name, const MemoryContext& context, Parameters&) {
             return std::make_unique<Hbm>(name, context.figures, context.sockets, context.probes);
           }});
    r.add({"cxl", "a CXL link with a Type-3 device: cxl(preset=cxl2_x16, switches=1), docs/cxl.md", "weft",
           make_cxl_memory});
    return r;
  }();
  return registry;
}

std::unique_ptr<MemoryTarget> make_memory(const std::string& implementation, const std::string& owner,
                                          const char* name, const MemoryContext& context) {
  return make_model(
      memory_models(), implementation, owner, name,
      [&](const MemoryMaker& make, Parameters& parameters) { return make(name, context, parameters); });
}

}  // namespace weft
