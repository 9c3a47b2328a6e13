// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The router of mesh_router.sv stands for any router of a packet network with up to 8 ports and 4 virtual
// channels: implementation: rtl:mesh_router. Parameter `bug` seeds a fault.

#include "mesh_router.h"
#include "cosim/blocks/rtl_router.h"
#include "sc_models/plugin.h"

class MeshRouter final : public weft::cosim::RtlRouter {
 public:
  MeshRouter(sc_core::sc_module_name name, weft::RouterPlace place, weft::Parameters& parameters)
      : RtlRouter(name, std::move(place), parameters, {8, 4, 16, 16}), rtl_("rtl") {
    ties_.constant(rtl_.cfg_bug, parameters.integer("bug", "0"));
    connect(rtl_.clk, rtl_.rst_n, WEFT_ROUTER_PINS(rtl_));
  }

 private:
  Vmesh_router rtl_;
  weft::cosim::PinTies ties_;
};

WEFT_PLUGIN(registry) {
  registry.rtl().add_router("mesh_router", "input-queued, 4 virtual channels of 16 flits, credits",
                            [](sc_core::sc_module_name name, weft::RouterPlace place, weft::Parameters& p) {
                              return std::make_unique<MeshRouter>(name, std::move(place), p);
                            });
}
