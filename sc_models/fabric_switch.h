// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The switch of one line of a Switch dimension: a non-blocking crossbar whose output ports are FIFO links. A
// message is forwarded when its tail (store-and-forward) or head (cut-through) is there. A switch with a
// collective unit hands it what is addressed to it; results leave by the same output ports.

#ifndef WEFT_SC_MODELS_FABRIC_SWITCH_H
#define WEFT_SC_MODELS_FABRIC_SWITCH_H

#include <memory>
#include <vector>

#include "configs/blueprint/geometry.h"
#include "configs/config.h"
#include "sc_models/activation_wheel.h"
#include "sc_models/switch_unit.h"
#include "tlm_interconnect/ports/link.h"
#include "tlm_interconnect/ports/timed_queue.h"
#include "tlm_interconnect/protocol/fabric_protocol.h"

namespace weft {

class FabricSwitch final : public sc_core::sc_module,
                           public Component,
                           private fabric::FabricEndpoint,
                           private Wakeable,
                           private UnitPorts {
 public:
  /// `base`: the NPU at coordinate 0 of its line. `unit`: it has a collective unit; null: none.
  FabricSwitch(sc_core::sc_module_name name, uint32_t dimension, uint32_t base, const FabricContext& fabric,
               fabric::LinkType& link_type, const UnitContext* unit = nullptr);

  /// Bound by the line's NMUs in the order of their coordinates.
  fabric::fabric_multi_target_socket socket;

  std::vector<fabric::Link>& links() { return out_; }
  const std::vector<fabric::Link>& links() const { return out_; }
  /// The link to the NPU at a coordinate.
  LinkReport report(uint32_t port) const;
  const UnitModel* unit() const { return unit_.get(); }
  size_t in_flight() const { return queue_.size(); }
  uint64_t activations() const { return activations_; }
  /// Without its collective unit.
  void count(Counters& counters) const override;
  void for_each_link(const LinkVisitor& visit) const override;
  LinkPlace link_place() const override { return LinkPlace::crossbars; }

 private:
  struct Arrived {
    Picoseconds tail = 0;
    fabric::PacketRef packet = fabric::kNoPacket;
  };
  void receive(const fabric::Transfer& transfer) override;
  void activate(Picoseconds now) override;
  Picoseconds send(uint32_t port, fabric::PacketRef result, uint32_t block, Picoseconds now) override;

  uint32_t dimension_;
  uint32_t base_;
  const Geometry& geometry_;
  fabric::PacketPool& pool_;
  bool cut_through_;
  std::vector<fabric::Link> out_;
  fabric::TimedQueue<Arrived, uint64_t> queue_;
  uint32_t arrivals_ = 0;
  uint64_t activations_ = 0;
  std::unique_ptr<UnitModel> unit_;
};

}  // namespace weft

#endif
