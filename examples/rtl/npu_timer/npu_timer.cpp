// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// An NPU whose nodes npu_timer.sv runs: implementation: rtl:npu_timer.
// Parameter `memory`: `block` (loads and stores are commands, too) or `model`. `bug` seeds a fault.

#include "npu_timer.h"

#include <string>

#include "cosim/blocks/rtl_npu.h"
#include "sc_models/plugin.h"

class NpuTimer final : public weft::cosim::RtlNpu {
 public:
  NpuTimer(sc_core::sc_module_name name, const weft::NpuContext& context, weft::Parameters& parameters)
      : RtlNpu(name, context, parameters), rtl_("rtl") {
    clock().clock(rtl_.clk);
    clock().reset(rtl_.rst_n);
    clock().qactive(rtl_.active);
    ties_.constant(rtl_.cfg_bug, parameters.integer("bug", "0"));
    const std::string memory = parameters.text("memory", "block");
    if (memory != "block" && memory != "model")
      throw weft::UserError(weft::ExitCode::usage,
                            "npu_timer: `memory` is `" + memory + "`; it can be `block` or `model`");
    if (memory == "model") compute_only();
    connect(WEFT_STREAM_PINS(rtl_, s_cmd), WEFT_STREAM_PINS(rtl_, m_done));
  }

 private:
  Vnpu_timer rtl_;
  weft::cosim::PinTies ties_;
};

WEFT_PLUGIN(registry) {
  registry.rtl().add_npu(
      "npu_timer", "a command unit: eight commands at a time, answered by tag",
      [](sc_core::sc_module_name name, const weft::NpuContext& context, weft::Parameters& parameters) {
        return std::make_unique<NpuTimer>(name, context, parameters);
      });
}
