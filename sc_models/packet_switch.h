// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The collective unit of one switch of a Switch dimension at packet fidelity: an endpoint of the packet
// network with an interface for every port of the switch's router. What an NPU contributes leaves the router
// at the interface that serves its port and is put together there; a result is a message, and new packets,
// for each of its receivers, sent from the interface that serves the receiver's port. So the unit itself is
// no bottleneck, and everything that comes and goes competes for the router's VCs, credits and outputs.

#ifndef WEFT_SC_MODELS_PACKET_SWITCH_H
#define WEFT_SC_MODELS_PACKET_SWITCH_H

#include <memory>
#include <vector>

#include "sc_models/packet_fabric.h"
#include "sc_models/switch_unit.h"

namespace weft {

class PacketSwitch final : public sc_core::sc_module, private UnitPorts {
 public:
  /// Of the switch that joins the NPUs of dimension d in the line that begins at place `base`.
  PacketSwitch(sc_core::sc_module_name name, uint32_t dimension, uint32_t base, const FabricContext& fabric,
               PacketFabric& packets, const UnitContext& context);

  const UnitModel& unit() const { return *unit_; }

 private:
  /// One of its interfaces.
  struct Lane final : packet::PacketSink {
    bool takes_trains() const override { return true; }
    void train_arrives(const packet::TrainArrivals&) override {}
    void packet_arrives(const fabric::Packet&, uint32_t, Ticks) override {}
    void message_sent(const packet::Message& message, Picoseconds at) override;
    void message_arrives(const packet::Message& message, Picoseconds at) override;
    PacketSwitch* owner = nullptr;
    packet::NetworkInterface* interface = nullptr;
    uint32_t place = 0;  ///< of the NPU at the port
  };
  Picoseconds send(uint32_t port, fabric::PacketRef result, uint32_t block, Picoseconds now) override;

  uint32_t dimension_;
  const Config& config_;
  PacketFabric& packets_;
  fabric::PacketPool& pool_;
  std::vector<Lane> lanes_;  ///< by port; sized once: sinks are known by address
  std::unique_ptr<UnitModel> unit_;
  uint32_t cause_link_ = 0;  ///< of the causal log, once it is known
};

}  // namespace weft

#endif
