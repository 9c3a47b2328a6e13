// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A memory whose controller is RTL behind an AXI4 slave port.

#ifndef WEFT_COSIM_BLOCKS_AXI_MEMORY_H
#define WEFT_COSIM_BLOCKS_AXI_MEMORY_H

#include <memory>
#include <string>

#include "cosim/axi/axi_master.h"
#include "cosim/blocks/tlm_memory.h"
#include "cosim/clock/block_clock.h"

namespace weft::cosim {

/// Derive, make the verilated module in the constructor, bind its clock and reset to clock(), and hand over
/// its pins by attach(). Every access becomes bursts; it ends with the last response, at an edge.
class AxiMemory : public TlmMemory {
 public:
  ~AxiMemory() override;

  std::string stall_text() const override;

 protected:
  /// `capacity`: bytes of the RTL's memory. Errors: those of TlmMemory.
  AxiMemory(sc_core::sc_module_name name, const MemoryContext& context, uint64_t capacity,
            const BlockClock::Options& clock);

  BlockClock& clock() { return clock_; }
  void attach(AxiPins pins, AxiMaster::Options options = {});

 private:
  BlockClock clock_;
  std::unique_ptr<AxiMaster> axi_;
};

}  // namespace weft::cosim

#endif
