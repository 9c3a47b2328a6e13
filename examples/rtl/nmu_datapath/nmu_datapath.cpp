// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// An NMU with the datapath of nmu_datapath.sv: implementation: rtl:nmu_datapath.
// Parameter `bug` seeds a fault.

#include "nmu_datapath.h"

#include "cosim/blocks/rtl_nmu.h"
#include "sc_models/plugin.h"

class NmuDatapath final : public weft::cosim::RtlNmu {
 public:
  NmuDatapath(sc_core::sc_module_name name, weft::NpuId rank, const weft::NmuContext& context,
              weft::Parameters& parameters)
      : RtlNmu(name, rank, context, parameters), rtl_("rtl") {
    clock().clock(rtl_.clk);
    clock().reset(rtl_.rst_n);
    clock().qactive(rtl_.active);
    ties_.constant(rtl_.cfg_bug, parameters.integer("bug", "0"));
    segmentation(WEFT_STREAM_PINS(rtl_, s_msg), WEFT_STREAM_PINS(rtl_, m_seg));
    reassembly(WEFT_STREAM_PINS(rtl_, s_seg), WEFT_STREAM_PINS(rtl_, m_msg), 16);
  }

 private:
  Vnmu_datapath rtl_;
  weft::cosim::PinTies ties_;
};

WEFT_PLUGIN(registry) {
  registry.rtl().add_nmu(
      "nmu_datapath", "segments of 16 beats of 64 bytes, 256 messages at once",
      [](sc_core::sc_module_name name, weft::NpuId rank, const weft::NmuContext& context,
         weft::Parameters& p) { return std::make_unique<NmuDatapath>(name, rank, context, p); });
}
