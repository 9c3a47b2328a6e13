// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A memory whose times are those of an RTL controller: it gets each access as a request on an AXI4-Stream
// port and answers it on another. Bytes are kept beside the RTL (MemoryTarget); its answer says when an
// access is done.
//
// A request is one frame of 16 bytes, its beats as wide as the block's: 8 bytes address, 7 bytes length in
// bytes, 1 byte 1 for a write; TID is a tag. The answer is one frame with that TID.

#ifndef WEFT_COSIM_BLOCKS_RTL_MEMORY_H
#define WEFT_COSIM_BLOCKS_RTL_MEMORY_H

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "cosim/axis/stream_master.h"
#include "cosim/axis/stream_pins.h"
#include "cosim/axis/stream_slave.h"
#include "cosim/blocks/block_faults.h"
#include "cosim/clock/block_clock.h"
#include "sc_models/memory_model.h"
#include "sc_models/memory_target.h"

namespace weft::cosim {

class RtlMemory : public MemoryTarget {
 public:
  ~RtlMemory() override;

  Picoseconds busy() const override { return busy_; }
  std::string stall_text() const override;
  void find_unbalanced(std::vector<std::string>& lines) const override;

 protected:
  /// Reads the parameters of the block's clock (read_clock); `defaults` hold where one is absent.
  RtlMemory(sc_core::sc_module_name name, const MemoryContext& context, Parameters& parameters,
            const BlockClock::Options& defaults = {});

  BlockClock& clock() { return clock_; }
  /// In the constructor: the port that takes requests and the one that answers them.
  void connect(StreamPins requests, StreamPins answers);

 private:
  struct Open {
    bool used = false;
    Ticket ticket = 0;
    Picoseconds at = 0;
  };
  struct Waiting {
    Ticket ticket = 0;
    Access access;
    Picoseconds at = 0;
  };
  void before_end_of_elaboration() override;
  void begin(Ticket ticket, const Access& access, Picoseconds at) override;
  void send(uint32_t tag, const Waiting& request);
  void answered(const StreamFrame& frame, Picoseconds last);

  BlockClock clock_;
  std::unique_ptr<StreamMaster> requests_;
  std::unique_ptr<StreamSlave> answers_;
  std::vector<Open> open_;  ///< by tag
  std::deque<Waiting> waiting_;
  uint32_t opened_ = 0;
  Picoseconds began_ = 0;
  Picoseconds busy_ = 0;
  FaultList faults_;
};

}  // namespace weft::cosim

#endif
