// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The waveforms of a switch at `message` fidelity, whatever its model. Per input: the messages that came by
// it and have not left entirely (<switch>.in0.queue), and where the first of those goes that no output has
// taken (.in0.head), and what its messages do (.in0.state). Per output: the input whose message it sends
// (.out0.input).

#ifndef WEFT_SC_MODELS_SWITCH_SIGNALS_H
#define WEFT_SC_MODELS_SWITCH_SIGNALS_H

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "sc_models/switch_input_state.h"
#include "tlm_interconnect/ports/link.h"
#include "tlm_interconnect/protocol/packet_pool.h"
#include "vcd/probe_hub.h"

namespace weft {

class SwitchSignals {
 public:
  SwitchSignals(vcd::ProbeHub& probes, const std::string& name, size_t ports);
  /// True if anything is selected.
  bool any() const { return any_; }

  /// A message comes by an input; its head is there at `head` (>= now). `destination`: its NPU.
  void arrives(fabric::PacketRef message, uint32_t input, Picoseconds head, uint32_t destination);
  /// Output `output` takes the message now.
  void forwarded(fabric::PacketRef message, uint32_t output, Picoseconds now, const fabric::Link::Slot& slot);

 private:
  struct Input {
    vcd::Probe queue;
    vcd::Probe head;
    SwitchInputState state;
    struct Held {
      fabric::PacketRef message = fabric::kNoPacket;
      uint32_t destination = 0;
      Picoseconds head = 0;
    };
    std::deque<Held> held;  ///< that no output has taken
  };
  std::vector<Input> inputs_;
  std::vector<vcd::Probe> granted_;                          ///< by output
  std::unordered_map<fabric::PacketRef, uint32_t> came_by_;  ///< input of each message that is held
  bool any_ = false;
};

}  // namespace weft

#endif
