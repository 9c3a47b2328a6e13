// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The collective unit of one switch of a Switch dimension as a module: takes the contributions that the
// switch's ports hand over, and sends the results down its output ports. What a block is and who gets it
// follows from the collective's plan (UnitLayout); when, from the state machine (fabric::CollectiveUnit); in
// data-carrying mode the elements are reduced here, in the order of the contributors' indices.

#ifndef WEFT_SC_MODELS_SWITCH_UNIT_H
#define WEFT_SC_MODELS_SWITCH_UNIT_H

#include <memory>
#include <string>
#include <vector>

#include "configs/blueprint/geometry.h"
#include "configs/config.h"
#include "sc_models/unit_blocks.h"
#include "sc_models/unit_model.h"
#include "tlm_interconnect/collective/collective_unit.h"
#include "tlm_interconnect/ports/link.h"
#include "tlm_interconnect/protocol/fabric_protocol.h"
#include "vcd/probe_hub.h"

namespace weft {

/// Puts a result on the link of its output port: its slot, and what is to be sent to the NMU at the port.
fabric::Link::Slot put_on_link(fabric::PacketPool& pool, fabric::PacketRef result, fabric::Link& link,
                               Picoseconds now, bool analytical, fabric::Transfer& transfer);

class SwitchUnit : public UnitModel, private Wakeable, private fabric::CollectiveUnit::Output {
 public:
  SwitchUnit(sc_core::sc_module_name name, const UnitPlace& place);
  ~SwitchUnit() override;

  using UnitModel::receive;
  /// A model that derives from this one may hand on a contribution with later times.
  void receive(fabric::PacketRef packet, Picoseconds head, Picoseconds tail, Picoseconds before) override;
  void left(uint32_t block, Picoseconds when) final;

  const fabric::CollectiveUnit& state() const { return unit_; }
  uint64_t messages_in() const { return blocks_.totals().contributions; }
  uint64_t messages_out() const { return blocks_.totals().results; }
  uint64_t bytes_in() const { return blocks_.totals().bytes_in; }
  uint64_t bytes_out() const { return blocks_.totals().bytes_out; }
  uint64_t activations() const { return activations_; }
  /// Phases under way.
  size_t in_flight() const { return blocks_.phases(); }

  void count(Counters& counters) const override;
  /// Phases that have ended with other contributions or results than their operation has, or not at all, and
  /// partial sums that were never sent.
  void find_unbalanced(std::vector<std::string>& lines) const override;
  /// For the stall report: one line a block that is not sent (at most `limit`), and who is missing.
  std::vector<std::string> describe_waits(size_t limit) const override;

 private:
  void activate(Picoseconds now) override;
  Picoseconds send(const fabric::CollectiveUnit::Result& result, Picoseconds now) override;
  void probe(Picoseconds now);

  Picoseconds latency_;
  UnitBlocks blocks_;
  fabric::CollectiveUnit unit_;
  uint64_t activations_ = 0;
  struct Probes {
    vcd::Probe buffered;
    vcd::Probe blocks;
    vcd::Probe waiting;
    vcd::Probe reducing;
    Picoseconds reduces_until = 0;  ///< as told
  };
  std::unique_ptr<Probes> probes_;  ///< null: nobody looks
};

}  // namespace weft

#endif
