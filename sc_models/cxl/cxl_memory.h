// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A CXL Type-3 memory as a target of the base protocol: memory model `cxl` of `implementation:`.

#ifndef WEFT_SC_MODELS_CXL_CXL_MEMORY_H
#define WEFT_SC_MODELS_CXL_CXL_MEMORY_H

#include <algorithm>

#include "sc_models/cxl/cxl_link.h"
#include "sc_models/memory_model.h"

namespace weft {

class CxlMemory final : public MemoryTarget {
 public:
  CxlMemory(sc_core::sc_module_name name, const CxlConfig& config, const MemoryContext& context);

  const CxlLink& link() const { return link_; }
  Picoseconds busy() const override { return std::max(link_.busy_up(), link_.busy_down()); }

 private:
  void begin(Ticket ticket, const Access& access, Picoseconds at) override;

  CxlLink link_;
};

/// The maker of memory model `cxl`. Errors: UserError(usage) for parameters that cannot be, and for figures
/// of the configuration that contradict the link.
std::unique_ptr<MemoryTarget> make_cxl_memory(sc_core::sc_module_name name, const MemoryContext& context,
                                              Parameters& parameters);

}  // namespace weft

#endif
