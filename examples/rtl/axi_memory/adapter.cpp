// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Puts axi_memory.sv in place of an HBM: `implementation: rtl:axi_memory`.

#include <memory>

#include "axi_memory.h"
#include "configs/units.h"
#include "cosim/blocks/axi_memory.h"
#include "sc_models/plugin.h"

namespace {

class Controller final : public weft::cosim::AxiMemory {
 public:
  Controller(sc_core::sc_module_name name, const weft::MemoryContext& context, weft::Parameters& parameters)
      : AxiMemory(name, context, 1 << 20, weft::cosim::read_clock(parameters, clock_defaults())),
        rtl_("rtl") {
    clock().clock(rtl_.clk);
    clock().reset(rtl_.rst_n);
    clock().qactive(rtl_.qactive);
    attach(WEFT_AXI_PINS(rtl_, s_axi));
  }

 private:
  static weft::cosim::BlockClock::Options clock_defaults() {
    weft::cosim::BlockClock::Options options;
    options.period = weft::parse_time(kaxi_memory_period);
    return options;
  }

  Vaxi_memory rtl_;
};

}  // namespace

WEFT_PLUGIN(registry) {
  registry.rtl().add_memory(
      "axi_memory", "RTL: an AXI4 memory controller of 1 MiB, 64 B a nanosecond",
      [](sc_core::sc_module_name name, const weft::MemoryContext& context, weft::Parameters& parameters) {
        return std::make_unique<Controller>(name, context, parameters);
      });
}
