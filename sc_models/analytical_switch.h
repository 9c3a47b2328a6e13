// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A switch of a Switch dimension at `analytical` fidelity, where messages between NMUs pass it as a mere
// latency: the place of its collective unit, and of the output ports that the unit's results leave by. A
// member of its dimension's DirectFabric beside the NMUs.

#ifndef WEFT_SC_MODELS_ANALYTICAL_SWITCH_H
#define WEFT_SC_MODELS_ANALYTICAL_SWITCH_H

#include <memory>
#include <vector>

#include "sc_models/switch_unit.h"

namespace weft {

class AnalyticalSwitch final : public sc_core::sc_module,
                               public Component,
                               private fabric::FabricEndpoint,
                               private UnitPorts {
 public:
  /// `base`: the NPU at coordinate 0 of its line.
  AnalyticalSwitch(sc_core::sc_module_name name, uint32_t dimension, uint32_t base,
                   const FabricContext& fabric, fabric::LinkType& link_type, const UnitContext& context);

  /// To the DirectFabric.
  fabric::fabric_initiator_socket socket;

  std::vector<fabric::Link>& links() { return out_; }
  const std::vector<fabric::Link>& links() const { return out_; }
  const UnitModel& unit() const { return *unit_; }
  /// Without its collective unit.
  void count(Counters& counters) const override;
  void for_each_link(const LinkVisitor& visit) const override;
  LinkPlace link_place() const override { return LinkPlace::units; }

 private:
  void receive(const fabric::Transfer& transfer) override { unit_->receive(transfer); }
  Picoseconds send(uint32_t port, fabric::PacketRef result, uint32_t block, Picoseconds now) override;

  LinkReport report(uint32_t port) const;

  uint32_t dimension_;
  uint32_t base_;
  const Geometry& geometry_;
  fabric::PacketPool& pool_;
  std::vector<fabric::Link> out_;
  std::unique_ptr<UnitModel> unit_;
};

}  // namespace weft

#endif
