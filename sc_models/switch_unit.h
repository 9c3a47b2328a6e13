// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The collective unit of one switch of a Switch dimension as a module: takes the contributions that the
// switch's ports hand over, and sends the results down its output ports. What a block is and who gets it
// follows from the collective's plan (UnitLayout); when, from the state machine (fabric::CollectiveUnit); in
// data-carrying mode the elements are reduced here, in the order of the contributors' indices.

#ifndef WEFT_SC_MODELS_SWITCH_UNIT_H
#define WEFT_SC_MODELS_SWITCH_UNIT_H

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "configs/blueprint/geometry.h"
#include "configs/config.h"
#include "sc_models/activation_wheel.h"
#include "tlm_interconnect/collective/collective_unit.h"
#include "tlm_interconnect/ports/link.h"
#include "tlm_interconnect/protocol/fabric_protocol.h"
#include "vcd/waves.h"
#include "workload/collectives/data.h"
#include "workload/collectives/in_switch.h"

namespace weft {

/// The output ports that a unit sends its results to: those of the switch it is in.
class UnitPorts {
 public:
  virtual ~UnitPorts() = default;
  /// Sends `result`, whose receiver is at the port, now. Returns when its last byte has left (>= now);
  /// kNever: SwitchUnit::left(block) will tell.
  virtual Picoseconds send(uint32_t port, fabric::PacketRef result, uint32_t block, Picoseconds now) = 0;
};

/// Puts a result on the link of its output port: its slot, and what is to be sent to the NMU at the port.
fabric::Link::Slot put_on_link(fabric::PacketPool& pool, fabric::PacketRef result, fabric::Link& link,
                               Picoseconds now, bool analytical, fabric::Transfer& transfer);

/// What the switches of a machine share. All of it outlives them.
struct FabricContext {
  const Config& config;
  const Geometry& geometry;
  fabric::PacketPool& pool;
  ActivationWheel& wheel;
};

/// What the units of a machine share.
struct UnitContext {
  collectives::UnitDirectory& directory;
  collectives::DataContext* data = nullptr;  ///< null: sizes only
  vcd::Waves* waves = nullptr;               ///< null: nobody looks
};

class SwitchUnit final : public sc_core::sc_module, private Wakeable, private fabric::CollectiveUnit::Output {
 public:
  /// Of the switch that joins the NPUs of dimension d. `ports` is that switch.
  SwitchUnit(sc_core::sc_module_name name, uint32_t dimension, const FabricContext& fabric,
             const UnitContext& context, UnitPorts& ports);
  ~SwitchUnit() override;

  /// A packet that is addressed to a unit (kUnitPeer) comes over its sender's input port.
  static bool addressed(const fabric::Packet& packet) { return (packet.destination & kUnitPeer) != 0; }
  void receive(const fabric::Transfer& transfer) {
    receive(transfer.packet, transfer.first, transfer.first + transfer.flit_time, 0);
  }
  /// .. whose first and last byte come at `head` and `tail` (>= now); `before`:
  /// CollectiveUnit::Contribution's.
  void receive(fabric::PacketRef packet, Picoseconds head, Picoseconds tail, Picoseconds before);
  /// Of a result that UnitPorts::send could not tell the end of: its last byte leaves at `when` (>= now).
  void left(uint32_t block, Picoseconds when);

  const fabric::CollectiveUnit& state() const { return unit_; }
  uint64_t messages_in() const { return total_.contributions; }
  uint64_t messages_out() const { return total_.results; }
  uint64_t bytes_in() const { return total_.bytes_in; }
  uint64_t bytes_out() const { return total_.bytes_out; }
  uint64_t activations() const { return activations_; }
  /// Phases under way.
  size_t in_flight() const { return phases_.size(); }

  /// What did not balance, one line each: phases that have ended with other contributions or results than
  /// their operation has.
  const std::vector<std::string>& broken() const { return broken_; }
  /// For the stall report: one line a block that is not sent (at most `limit`), and who is missing.
  std::vector<std::string> describe_waits(size_t limit) const;

 private:
  struct PhaseKey {
    uint32_t stream = 0;
    uint32_t chunk = 0;
    uint32_t phase = 0;
    bool operator<(const PhaseKey& o) const {
      return std::tie(stream, chunk, phase) < std::tie(o.stream, o.chunk, o.phase);
    }
  };
  /// A phase of which something has arrived.
  struct Phase {
    std::shared_ptr<const collectives::CollectivePlan> plan;
    collectives::AxisView view;  ///< of the line
    collectives::UnitLayout layout;
    collectives::UnitLayout::Totals expected;
    collectives::UnitLayout::Totals counted;
    uint64_t blocks_left = 0;
  };

  void activate(Picoseconds now) override;
  Picoseconds send(const fabric::CollectiveUnit::Result& result, Picoseconds now) override;
  Phase& phase_of(const MessageId& id, uint32_t source);
  uint32_t combine(const Phase& phase, const fabric::CollectiveUnit::Result& result);
  uint32_t port_of(const Phase& phase, uint32_t member) const;
  void close(const PhaseKey& key);
  uint32_t leave(const fabric::CollectiveUnit::BlockId& block);
  Picoseconds gone(uint32_t number, Picoseconds when);
  void probe(Picoseconds now);

  uint32_t dimension_;
  const Config& config_;
  const Geometry& geometry_;
  fabric::PacketPool& pool_;
  UnitContext context_;
  UnitPorts& ports_;
  fabric::CollectiveUnit unit_;
  std::map<PhaseKey, Phase> phases_;
  /// Blocks of whose results some are still leaving.
  struct Leaving {
    fabric::CollectiveUnit::BlockId block;
    uint32_t results = 0;
    Picoseconds last = 0;
  };
  std::vector<Leaving> leaving_;
  std::vector<uint32_t> free_;  ///< of those, the unused ones
  collectives::UnitLayout::Totals total_;
  uint64_t activations_ = 0;
  std::vector<std::string> broken_;
  struct Probes {
    vcd::Probe buffered;
    vcd::Probe blocks;
    vcd::Probe waiting;
  };
  std::unique_ptr<Probes> probes_;  ///< null: nobody looks
};

}  // namespace weft

#endif
