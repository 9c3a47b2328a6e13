// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What a switch asks of its collective unit. SwitchUnit is the unit of this library; plugins bring others
// (plugin.h). A model that only changes times derives from SwitchUnit.

#ifndef WEFT_SC_MODELS_UNIT_MODEL_H
#define WEFT_SC_MODELS_UNIT_MODEL_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "configs/blueprint/geometry.h"
#include "configs/config.h"
#include "configs/implementation.h"
#include "configs/named_registry.h"
#include "sc_models/activation_wheel.h"
#include "sc_models/component.h"
#include "tlm_interconnect/protocol/fabric_protocol.h"
#include "vcd/probe_hub.h"
#include "workload/collectives/data.h"
#include "workload/collectives/in_switch.h"

namespace weft {

/// The output ports that a unit sends its results to: those of the switch it is in.
class UnitPorts {
 public:
  virtual ~UnitPorts() = default;
  /// Sends `result`, whose receiver is at the port, now. Returns when its last byte has left (>= now);
  /// kNever: UnitModel::left(block) will tell.
  virtual Picoseconds send(uint32_t port, fabric::PacketRef result, uint32_t block, Picoseconds now) = 0;
};

/// What the switches of a machine share. All of it outlives them.
struct FabricContext {
  const Config& config;
  const Geometry& geometry;
  fabric::PacketPool& pool;
  ActivationWheel& wheel;
};

/// What the units of a machine share, and their model.
struct UnitContext {
  collectives::UnitDirectory& directory;
  collectives::DataContext* data = nullptr;  ///< null: sizes only
  vcd::ProbeHub* probes = nullptr;           ///< null: nobody looks
  std::string implementation = kDefaultUnitModel;
  std::string owner = "collective_unit.implementation";  ///< begins messages: the key
};

/// One unit.
struct UnitPlace {
  uint32_t dimension = 0;  ///< of the switch that it is in
  const FabricContext& fabric;
  const UnitContext& context;
  UnitPorts& ports;  ///< of that switch
};

class UnitModel : public sc_core::sc_module, public Component {
 public:
  ~UnitModel() override;

  /// A packet that is addressed to a unit (kUnitPeer) comes over its sender's input port.
  static bool addressed(const fabric::Packet& packet) { return (packet.destination & kUnitPeer) != 0; }
  void receive(const fabric::Transfer& transfer) {
    receive(transfer.packet, transfer.first, transfer.first + transfer.flit_time, 0);
  }
  /// .. whose first and last byte come at `head` and `tail` (>= now); `before`:
  /// CollectiveUnit::Contribution's.
  virtual void receive(fabric::PacketRef packet, Picoseconds head, Picoseconds tail, Picoseconds before) = 0;
  /// Of a result that UnitPorts::send could not tell the end of: its last byte leaves at `when` (>= now).
  virtual void left(uint32_t block, Picoseconds when) = 0;
  /// For the stall report: what it waits for, a line a block (at most `limit`).
  virtual std::vector<std::string> describe_waits(size_t) const { return {}; }

 protected:
  explicit UnitModel(sc_core::sc_module_name name);
};

using UnitMaker = std::function<std::unique_ptr<UnitModel>(sc_core::sc_module_name name,
                                                           const UnitPlace& place, Parameters& parameters)>;

/// The models of collective units there are, by the names that `collective_unit.implementation` takes.
NamedRegistry<UnitMaker>& unit_models();

/// A unit of the model that its context names. Errors: UserError(usage) for a name or parameter that there is
/// not, and for whatever the model throws.
std::unique_ptr<UnitModel> make_unit(const char* name, const UnitPlace& place);

}  // namespace weft

#endif
