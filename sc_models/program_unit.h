// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The reducing part of a switch as programs of a communication library use it (NVLS, SHARP): the place where
// their messages to the switch end and where its own begin. What is combined, and when it is sent, the
// program says (library::ProgramEngine).

#ifndef WEFT_SC_MODELS_PROGRAM_UNIT_H
#define WEFT_SC_MODELS_PROGRAM_UNIT_H

#include <cstdint>

#include "sc_models/unit_model.h"
#include "tlm_interconnect/ports/timed_queue.h"
#include "workload/seam.h"

namespace weft {

class ProgramUnit final : public UnitModel, private Wakeable {
 public:
  ProgramUnit(sc_core::sc_module_name name, const UnitPlace& place);

  /// Of the switch that it is in.
  uint32_t dimension() const { return dimension_; }
  /// Who hears of messages that have come to the switch. It outlives the unit's last message.
  void hear(MessageSink& sink) { sink_ = &sink; }
  /// Sends from the switch to the NPU Message::peer of its line, now.
  void send(const Message& message);

  using UnitModel::receive;
  void receive(fabric::PacketRef packet, Picoseconds head, Picoseconds tail, Picoseconds before) override;
  void left(uint32_t, Picoseconds) override {}
  void count(Counters& counters) const override;

 private:
  void activate(Picoseconds now) override;

  uint32_t dimension_;
  const Geometry& geometry_;
  fabric::PacketPool& pool_;
  UnitPorts& ports_;
  MessageSink* sink_ = nullptr;
  /// Messages that are coming: by the time of their last byte, then in the order in which they were sent.
  fabric::TimedQueue<fabric::PacketRef, uint64_t> queue_;
  uint64_t arrivals_ = 0;
  uint64_t activations_ = 0;
  uint32_t sent_ = 0;
  uint64_t bytes_in_ = 0;
  uint64_t bytes_out_ = 0;
};

}  // namespace weft

#endif
