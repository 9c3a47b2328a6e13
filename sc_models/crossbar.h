// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The crossbar: a switch of a Switch dimension, of an explicit graph, or of the tree that a line of a
// dimension has. Any number of ports; nothing inside it blocks; its outputs are FIFO links. A message is
// forwarded when its tail (store-and-forward) or head (cut-through) is there.

#ifndef WEFT_SC_MODELS_CROSSBAR_H
#define WEFT_SC_MODELS_CROSSBAR_H

#include "sc_models/switch_model.h"
#include "tlm_interconnect/ports/lookahead_queue.h"

namespace weft {

class Crossbar : public SwitchModel {
 public:
  Crossbar(sc_core::sc_module_name name, SwitchContext context) : SwitchModel(name, std::move(context)) {}

  size_t in_flight() const override { return queue_.size(); }

 protected:
  void arrive(const Arrival& arrival) override;

 private:
  struct Held {
    Picoseconds tail = 0;
    fabric::PacketRef packet = fabric::kNoPacket;
    uint32_t port = 0;  ///< by which it leaves
  };
  void work(Picoseconds now) override;

  static constexpr uint32_t kAhead = 8;
  fabric::LookaheadQueue<Held, uint64_t, kAhead> queue_;
  uint32_t arrivals_ = 0;
};

}  // namespace weft

#endif
