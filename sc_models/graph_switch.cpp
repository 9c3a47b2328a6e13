// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/graph_switch.h"

#include <string>

#include "sc_models/message_bits.h"
#include "sc_models/message_time.h"

namespace weft {

GraphSwitch::GraphSwitch(sc_core::sc_module_name name, uint32_t node, const Graph& graph, const Line& line,
                         Switching switching, const std::vector<fabric::LinkType*>& link_types,
                         fabric::PacketPool& pool, ActivationWheel& wheel)
    : sc_core::sc_module(name),
      node_(node),
      graph_(graph),
      line_(line),
      pool_(pool),
      cut_through_(switching == Switching::cut_through),
      ports_(graph.ports(node).size()) {
  const auto& ends = graph.ports(node);
  for (uint32_t p = 0; p < ends.size(); ++p) {
    Port& port = ports_[p];
    port.owner = this;
    port.number = p;
    port.link = fabric::Link(*link_types[ends[p].link]);
    const std::string socket_name = "g" + std::to_string(p);
    if (ends[p].at_from) {
      port.initiator = std::make_unique<fabric::fabric_initiator_socket>(socket_name.c_str());
      port.initiator->bind(static_cast<fabric::fabric_bw_if&>(port));
    } else {
      port.target = std::make_unique<fabric::fabric_target_socket>(socket_name.c_str());
      port.target->bind(static_cast<fabric::fabric_fw_if&>(port));
    }
  }
  wheel.add(*this);
}

void GraphSwitch::receive(Port& port, const fabric::Transfer& transfer) {
  const Picoseconds tail = transfer.first + transfer.flit_time;
  const Picoseconds time = cut_through_ ? transfer.first : tail;
  // Equal times are served in the order of the ports, whichever process ran first.
  queue_.push(time, static_cast<uint64_t>(port.number) << 32 | arrivals_++, {tail, transfer.packet});
  if (!running()) wake_at(time);
}

void GraphSwitch::activate(Picoseconds now) {
  ++activations_;
  while (queue_.next() <= now) {
    const Arrived arrived = queue_.pop().payload;
    fabric::Packet& packet = pool_[arrived.packet];
    Port& port =
        ports_[graph_.next_port(node_, line_.node(packet.destination),
                                Graph::flow(packet.source, packet.destination, flow_id(packet.id_low)))];
    message_in_time(name(), packet, [&] {
      const fabric::Link::Slot slot = port.link.occupy(now, packet.bytes, arrived.tail, packet.id_low);
      packet.queued += slot.start - now;
      packet.latency += port.link.latency();
      fabric::Transfer transfer;
      transfer.leave(slot.start, port.link.latency(), slot.end - slot.start);
      transfer.packet = arrived.packet;
      fabric::FabricPhase phase = fabric::FabricPhase::transfer;
      sc_core::sc_time zero;
      if (port.initiator) {
        (*port.initiator)->nb_transport_fw(transfer, phase, zero);
      } else {
        (*port.target)->nb_transport_bw(transfer, phase, zero);
      }
    });
  }
  wake_at(queue_.next());
}

}  // namespace weft
