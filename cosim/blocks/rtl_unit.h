// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A collective unit whose sums are made by RTL: one AXI4-Stream input for each port of the switch, one
// output. What a block is, who contributes and who receives follows from the collective's plan, as in
// SwitchUnit; what is summed, and how long that takes, is the RTL's business.
//
// A block is one frame at each port that contributes. TUSER is the mask of these ports and TID the block's
// tag (it comes round); the payload is the elements, or a pattern of int32 where sizes only are simulated.
// The frames of a block are handed to the RTL when all of its contributions are under way, at all ports in
// the same order: so RTL that waits for all ports of a block cannot lock up. A beat is there when its bytes
// have arrived. The result is one frame with the block's tag. Each result is compared with what this library
// computes in the declared order (ascending contributors, workload/collectives/elements.h): the first wrong
// element ends the run, and the message says where it is.
//
// A model derives from it, makes the verilated module, and gives its pins:
//
//     MyUnit::MyUnit(sc_core::sc_module_name name, const weft::UnitPlace& place, weft::Parameters&
//     parameters)
//         : RtlUnit(name, place, weft::cosim::read_clock(parameters, {})), rtl_("rtl") {
//       clock().clock(rtl_.clk);
//       clock().reset(rtl_.rst_n);
//       for (uint32_t port = 0; port < 8; ++port) add_input(WEFT_STREAM_PINS_AT(rtl_, s_axis, port));
//       set_output(WEFT_STREAM_PINS(rtl_, m_axis));
//     }

#ifndef WEFT_COSIM_BLOCKS_RTL_UNIT_H
#define WEFT_COSIM_BLOCKS_RTL_UNIT_H

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cosim/axis/stream_master.h"
#include "cosim/axis/stream_slave.h"
#include "cosim/blocks/unit_timing.h"
#include "cosim/clock/block_clock.h"
#include "sc_models/activation_wheel.h"
#include "sc_models/unit_blocks.h"
#include "sc_models/unit_model.h"
#include "workload/seam.h"

namespace weft::cosim {

class RtlUnit : public UnitModel, private Wakeable {
 public:
  ~RtlUnit() override;

  using UnitModel::receive;
  void receive(fabric::PacketRef packet, Picoseconds head, Picoseconds tail, Picoseconds before) final;
  void left(uint32_t block, Picoseconds when) final;

  void count(Counters& counters) const override;
  void find_unbalanced(std::vector<std::string>& lines) const override;
  std::vector<std::string> describe_waits(size_t limit) const override;

 protected:
  /// Errors: UserError(usage) when elements are combined otherwise than by a sum.
  RtlUnit(sc_core::sc_module_name name, const UnitPlace& place, const BlockClock::Options& clock);

  BlockClock& clock() { return clock_; }
  /// The pins of the RTL's input of the next port.
  void add_input(StreamPins pins);
  void set_output(StreamPins pins);
  /// Writes a CSV file that says of every block when its result came, and when the model's had come. Errors:
  /// UserError(usage) when it cannot be written.
  void log_times(const std::string& file);
  /// What the RTL is to sum: run.element in data-carrying mode, else int32.
  ElementType element_type() const { return type_; }

 private:
  /// A block of which something has come.
  struct Block {
    std::vector<UnitBlocks::Contribution> arrived;  ///< by contributor
    size_t last = 0;                                ///< the one whose tail comes last
    std::vector<std::vector<uint8_t>> sent;         ///< what the RTL got, in the same order
    uint64_t tag = 0;
    bool in_rtl = false;
  };
  struct Done {
    UnitBlocks::BlockId block;
    std::vector<uint8_t> bytes;
  };

  void before_end_of_elaboration() override;
  void activate(Picoseconds now) override;
  void hand_over(const UnitBlocks::BlockId& id, Block& block);
  std::vector<uint8_t> payload(const UnitBlocks::BlockId& id,
                               const UnitBlocks::Contribution& contribution) const;
  void result(StreamFrame frame);
  void compare(const UnitBlocks::BlockId& id, Block& block, const std::vector<uint8_t>& bytes) const;
  std::string block_name(const UnitBlocks::BlockId& id) const;

  uint32_t ports_;
  fabric::CollectiveUnit::Parameters model_;  ///< the configuration's figures
  std::unique_ptr<UnitTiming> times_;         ///< null: not asked for
  UnitBlocks blocks_;
  ElementType type_ = ElementType::int32;
  BlockClock clock_;
  std::vector<std::unique_ptr<StreamMaster>> inputs_;
  std::unique_ptr<StreamSlave> output_;
  std::map<UnitBlocks::BlockId, Block> open_;
  std::map<uint64_t, UnitBlocks::BlockId> tags_;  ///< of blocks in the RTL
  std::deque<UnitBlocks::BlockId> untagged_;      ///< complete, while all tags are in use
  std::vector<Done> done_;
  uint64_t tags_in_all_ = 1;
  uint64_t next_tag_ = 0;
  uint64_t activations_ = 0;
};

}  // namespace weft::cosim

#endif
