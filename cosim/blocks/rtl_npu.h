// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// An NPU whose work is run by RTL. The trace's order of nodes, the rank's account of time, collectives and
// messages are this library's (Npu); when a compute node is over, and when a memory access begins, is the
// RTL's business. The bytes of an access go over the NPU's memories as before.
//
// A command is one frame of 32 bytes on an AXI4-Stream port, its beats as wide as the block's; TID is a tag:
//
//   bytes 0      0: compute, 1: load, 2: store
//         1      compute: 0 an operation of the NPU, 1 one of the CPU. Access: trace::Location (0 local,
//                1 remote, 2 host, 3 NVMe)
//         2..7   the node's id in the trace, its lowest 48 bits
//         8..15  compute: FLOP (0: the trace does not say)
//        16..23  bytes: what a compute node touches, or what is to be moved
//        24..31  compute: edges of the block's clock that the model would take, rounded up; else 0
//
// The answer is one frame with the command's TID; its payload is ignored. It says that a compute node is over
// when its last beat has been taken, and that the access of a load or store begins then. Answers may come in
// any order. As many commands are in the block at a time as there are tags; others wait, in order.
//
// A model derives from it, makes the verilated module, and gives its pins by connect().

#ifndef WEFT_COSIM_BLOCKS_RTL_NPU_H
#define WEFT_COSIM_BLOCKS_RTL_NPU_H

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "cosim/axis/stream_master.h"
#include "cosim/axis/stream_pins.h"
#include "cosim/axis/stream_slave.h"
#include "cosim/blocks/block_faults.h"
#include "cosim/clock/block_clock.h"
#include "sc_models/npu.h"

namespace weft::cosim {

class RtlNpu : public Npu {
 public:
  ~RtlNpu() override;

  std::string stall_text() const override;
  void find_unbalanced(std::vector<std::string>& lines) const override;

 protected:
  /// Reads the parameters of the block's clock (read_clock); `defaults` hold where one is absent.
  RtlNpu(sc_core::sc_module_name name, const NpuContext& context, Parameters& parameters,
         const BlockClock::Options& defaults = {});

  BlockClock& clock() { return clock_; }
  /// In the constructor: the port that takes commands and the one that answers them.
  void connect(StreamPins commands, StreamPins answers);
  /// In the constructor: loads and stores are not the block's.
  void compute_only() { compute_only_ = true; }

 private:
  struct Command {
    const trace::Node* node = nullptr;  ///< null: the tag is free
    Picoseconds time = 0;               ///< of a compute node: what the model takes
  };
  void before_end_of_elaboration() override;
  Picoseconds compute_time(const trace::Node& node, Picoseconds time) final;
  bool takes_compute(const trace::Node& node, Picoseconds time) final;
  bool takes_memory(const trace::Node& node) final;
  void take(const Command& command);
  void send(uint32_t tag, const Command& command);
  void answered(const StreamFrame& frame, Picoseconds last);

  BlockClock clock_;
  bool compute_only_ = false;
  std::unique_ptr<StreamMaster> commands_;
  std::unique_ptr<StreamSlave> answers_;
  std::vector<Command> open_;    ///< by tag
  std::deque<uint32_t> free_;    ///< tags
  std::deque<Command> waiting_;  ///< for a tag
  FaultList faults_;
};

}  // namespace weft::cosim

#endif
