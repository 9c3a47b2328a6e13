// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What passes between an NMU and whoever sends by it, as crossings: a message that is handed over goes into
// the NMU, one that is delivered comes out. The messages themselves stay where they are.

#ifndef WEFT_SC_MODELS_MESSAGE_CROSSINGS_H
#define WEFT_SC_MODELS_MESSAGE_CROSSINGS_H

#include "sc_models/nmu_model.h"
#include "tlm_interconnect/border/crossing.h"

namespace weft {

class MessageCrossings final : public MessageWatch {
 public:
  /// `elements`: null where messages carry sizes only. `watch`: `forward` is into the NMU; `first` is when
  /// the message may leave, or now. All outlive the object.
  MessageCrossings(fabric::PacketPool& pool, fabric::CrossingElements* elements, fabric::CrossingWatch watch)
      : pool_(pool), elements_(elements), watch_(std::move(watch)) {}

  void handed_over(fabric::PacketRef message, Picoseconds ready) override {
    watch_(true, crossing(message, ready));
  }
  void delivered(fabric::PacketRef message) override {
    watch_(false, crossing(message, sc_core::sc_time_stamp().value()));
  }

 private:
  fabric::Crossing crossing(fabric::PacketRef message, Picoseconds first);

  fabric::PacketPool& pool_;
  fabric::CrossingElements* elements_;
  fabric::CrossingWatch watch_;
};

/// The message that an NMU was handed over when it told of `crossing`; `data`: its elements' new handle.
Message message_of(const fabric::Crossing& crossing, const Geometry& geometry, uint32_t data);
/// It is of a full exchange (FullExchanges), at whose end its receiver may hold it back.
bool of_full_exchange(const fabric::Crossing& crossing);
/// .. and from now on it is not.
void leave_full_exchange(fabric::Crossing& crossing);

}  // namespace weft

#endif
