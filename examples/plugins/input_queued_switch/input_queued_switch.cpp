// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A switch with one FIFO queue an input. Only the message at the head of a queue can go on: if its output is
// busy, the messages behind it wait too, even for free outputs (head-of-line blocking). Every message takes
// `delay` from input to output.

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "sc_models/plugin.h"

namespace {

class InputQueuedSwitch final : public weft::SwitchModel {
 public:
  InputQueuedSwitch(sc_core::sc_module_name name, weft::SwitchContext context, weft::Parameters& parameters)
      : SwitchModel(name, std::move(context)),
        delay_(parameters.time("delay", "100 ns")),
        inputs_(ports().size()) {}

  size_t in_flight() const override { return held_; }

 private:
  struct Held {
    weft::Picoseconds ready = 0;
    weft::Picoseconds tail = 0;
    weft::fabric::PacketRef packet = weft::fabric::kNoPacket;
  };

  void arrive(const Arrival& arrival) override {
    inputs_[arrival.port].push_back({ready(arrival) + delay_, arrival.tail + delay_, arrival.packet});
    ++held_;
    if (!working()) wake_at(inputs_[arrival.port].front().ready);
  }

  void work(weft::Picoseconds now) override {
    weft::Picoseconds next = weft::kNever;
    // The input that goes first takes turns, so that none starves.
    const auto n = static_cast<uint32_t>(inputs_.size());
    for (uint32_t i = 0; i < n; ++i) {
      std::deque<Held>& input = inputs_[(first_ + i) % n];
      while (!input.empty()) {
        const Held& head = input.front();
        const uint32_t out = output(head.packet);
        const weft::Picoseconds free = ports()[out].link.free_at();
        if (head.ready > now || free > now) {
          next = std::min(next, std::max(head.ready, free));
          break;
        }
        forward(head.packet, out, now, head.tail);
        input.pop_front();
        --held_;
      }
    }
    first_ = (first_ + 1) % n;
    wake_at(next);
  }

  weft::Picoseconds delay_;
  std::vector<std::deque<Held>> inputs_;
  uint32_t first_ = 0;
  size_t held_ = 0;
};

}  // namespace

WEFT_PLUGIN(registry) {
  registry.add_switch(
      "input_queued", "one FIFO an input: a message whose output is busy blocks those behind it",
      [](sc_core::sc_module_name name, weft::SwitchContext context, weft::Parameters& parameters) {
        return std::make_unique<InputQueuedSwitch>(name, std::move(context), parameters);
      });
}
