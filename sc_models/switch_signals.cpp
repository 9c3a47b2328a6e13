// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/switch_signals.h"

#include <algorithm>

namespace weft {

SwitchSignals::SwitchSignals(vcd::ProbeHub& probes, const std::string& name, size_t ports)
    : inputs_(ports), granted_(ports) {
  const auto keep = [this](const vcd::Probe& probe) {
    any_ = any_ || probe;
    probe.set(0, 0);
    return probe;
  };
  for (size_t p = 0; p < ports; ++p) {
    const std::string in = name + ".in" + std::to_string(p);
    inputs_[p].queue = keep(probes.number(in + ".queue", 32));
    inputs_[p].head = keep(probes.number(in + ".head", 32));
    inputs_[p].state =
        SwitchInputState(keep(probes.enumeration(in + ".state", {"idle", "waiting", "sending"})));
    granted_[p] = keep(probes.number(name + ".out" + std::to_string(p) + ".input", 16));
  }
}

void SwitchSignals::arrives(fabric::PacketRef message, uint32_t input, Picoseconds head,
                            uint32_t destination) {
  Input& in = inputs_[input];
  in.queue.add({head}, 1);
  in.state.arrives(head);
  if (in.held.empty()) in.head.set(head, destination);
  in.held.push_back({message, destination, head});
  came_by_[message] = input;
}

void SwitchSignals::forwarded(fabric::PacketRef message, uint32_t output, Picoseconds now,
                              const fabric::Link::Slot& slot) {
  const auto found = came_by_.find(message);
  if (found == came_by_.end()) return;  // made here
  const uint32_t input = found->second;
  came_by_.erase(found);
  granted_[output].set(slot.start, input);
  Input& in = inputs_[input];
  in.queue.add({slot.end}, -1);
  in.state.leaves(now, slot.start, slot.end);
  const auto held = std::find_if(in.held.begin(), in.held.end(),
                                 [&](const Input::Held& h) { return h.message == message; });
  const bool first = held == in.held.begin();
  in.held.erase(held);
  if (first && !in.held.empty())
    in.head.set(std::max(now, in.held.front().head), in.held.front().destination);
}

}  // namespace weft
