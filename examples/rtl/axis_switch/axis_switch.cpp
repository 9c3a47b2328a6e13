// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The switch of axis_switch.sv: implementation: rtl:axis_switch. Parameter `bug` seeds a fault.

#include "axis_switch.h"

#include "cosim/blocks/rtl_switch.h"
#include "sc_models/plugin.h"

class AxisSwitch final : public weft::cosim::RtlSwitch {
 public:
  AxisSwitch(sc_core::sc_module_name name, weft::SwitchContext context, weft::Parameters& parameters)
      : RtlSwitch(name, std::move(context), parameters), rtl_("rtl") {
    clock().clock(rtl_.clk);
    clock().reset(rtl_.rst_n);
    ties_.constant(rtl_.cfg_bug, parameters.integer("bug", "0"));
    for (int p = 0; p < 8; ++p)
      add_port(WEFT_STREAM_PINS_AT(rtl_, s_axis, p), WEFT_STREAM_PINS_AT(rtl_, m_axis, p));
  }

 private:
  Vaxis_switch rtl_;
  weft::cosim::PinTies ties_;
};

WEFT_PLUGIN(registry) {
  registry.rtl().add_switch(
      "axis_switch", "8 ports of 64 bytes, a round-robin arbiter for each output",
      [](sc_core::sc_module_name name, weft::SwitchContext context, weft::Parameters& p) {
        return std::make_unique<AxisSwitch>(name, std::move(context), p);
      });
}
