// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A switch of an explicit graph, or of the tree that a line of a dimension has: any number of ports, each
// joined to an NPU or another switch, a non-blocking crossbar whose output ports are FIFO links, and the
// graph's routes. A message is forwarded when its tail (store-and-forward) or head (cut-through) is there.

#ifndef WEFT_SC_MODELS_GRAPH_SWITCH_H
#define WEFT_SC_MODELS_GRAPH_SWITCH_H

#include <memory>
#include <vector>

#include "configs/graph.h"
#include "sc_models/activation_wheel.h"
#include "tlm_interconnect/ports/link.h"
#include "tlm_interconnect/ports/timed_queue.h"
#include "tlm_interconnect/protocol/fabric_protocol.h"

namespace weft {

class GraphSwitch final : public sc_core::sc_module, private Wakeable {
 public:
  /// Which NPUs the graph's are: all of the machine, or those of a line of a dimension.
  struct Line {
    uint32_t dimension = 0;
    uint32_t base = 0;    ///< the line's NPU at coordinate 0
    uint32_t stride = 0;  ///< from one coordinate to the next; 0: all, under their own numbers
    uint32_t size = 1;

    uint32_t node(uint32_t npu) const { return stride == 0 ? npu : npu / stride % size; }
    uint32_t npu(uint32_t node) const { return stride == 0 ? node : base + node * stride; }
  };
  /// `node` of `graph`; `link_types` by the graph's links.
  GraphSwitch(sc_core::sc_module_name name, uint32_t node, const Graph& graph, const Line& line,
              Switching switching, const std::vector<fabric::LinkType*>& link_types, fabric::PacketPool& pool,
              ActivationWheel& wheel);

  /// One end of a link: the socket of its kind and the link that this switch sends on.
  class Port final : public fabric::FabricEndpoint {
   public:
    void receive(const fabric::Transfer& transfer) override { owner->receive(*this, transfer); }

    GraphSwitch* owner = nullptr;
    uint32_t number = 0;
    fabric::Link link;
    std::unique_ptr<fabric::fabric_initiator_socket> initiator;  ///< at the link's `from` end
    std::unique_ptr<fabric::fabric_target_socket> target;        ///< at its `to` end
  };

  uint32_t node() const { return node_; }
  const Graph& graph() const { return graph_; }
  const Line& line() const { return line_; }
  /// In the order of the graph's ports of this node.
  std::vector<Port>& ports() { return ports_; }
  const std::vector<Port>& ports() const { return ports_; }
  size_t in_flight() const { return queue_.size(); }
  uint64_t activations() const { return activations_; }

 private:
  struct Arrived {
    Picoseconds tail = 0;
    fabric::PacketRef packet = fabric::kNoPacket;
  };
  void receive(Port& port, const fabric::Transfer& transfer);
  void activate(Picoseconds now) override;

  uint32_t node_;
  const Graph& graph_;
  const Line line_;
  fabric::PacketPool& pool_;
  bool cut_through_;
  std::vector<Port> ports_;
  fabric::TimedQueue<Arrived, uint64_t> queue_;
  uint32_t arrivals_ = 0;
  uint64_t activations_ = 0;
};

}  // namespace weft

#endif
