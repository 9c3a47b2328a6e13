// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The ways through switches: by the routes of a graph (the whole machine's, or a dimension's tree), and to
// the NPUs of one line of a Switch dimension.

#ifndef WEFT_SC_MODELS_SWITCH_WAYS_H
#define WEFT_SC_MODELS_SWITCH_WAYS_H

#include <string>
#include <utility>

#include "configs/blueprint/geometry.h"
#include "configs/graph.h"
#include "sc_models/message_bits.h"
#include "sc_models/switch_model.h"

namespace weft {

/// Which NPUs a graph's are: all of the machine, or those of a line of a dimension.
struct GraphLine {
  uint32_t dimension = 0;
  uint32_t base = 0;    ///< the line's NPU at coordinate 0
  uint32_t stride = 0;  ///< from one coordinate to the next; 0: all, under their own numbers
  uint32_t size = 1;

  uint32_t node(uint32_t npu) const { return stride == 0 ? npu : npu / stride % size; }
  uint32_t npu(uint32_t node) const { return stride == 0 ? node : base + node * stride; }
};

/// How results name the link that leaves a node of a graph at one of its ends.
struct GraphEnd {
  std::string link;  ///< behind the node's own name
  std::string to;    ///< what is at the other side
};
struct GraphEndAt {
  uint32_t node = 0;
  uint32_t end = 0;
};
/// `switches`: before the names of the graph's switches.
GraphEnd graph_end(const Graph& graph, const Geometry& geometry, const GraphLine& line,
                   const std::string& switches, const GraphEndAt& at);

/// Through `node` of `graph`, which outlives it, as `geometry` does. `switches`: before the names of the
/// graph's switches.
class GraphWays final : public SwitchWays {
 public:
  GraphWays(const Graph& graph, const Geometry& geometry, const GraphLine& line, std::string switches,
            uint32_t node)
      : graph_(graph), geometry_(geometry), line_(line), switches_(std::move(switches)), node_(node) {}
  bool sends(uint32_t port) const override { return graph_.ports(node_)[port].sends; }
  SwitchLink link(uint32_t port) const override;
  uint32_t output(const fabric::Packet& packet) const override {
    return graph_.next_port(node_, line_.node(packet.destination),
                            Graph::flow(packet.source, packet.destination, flow_id(packet.id_low)));
  }

 private:
  const Graph& graph_;
  const Geometry& geometry_;
  const GraphLine line_;
  const std::string switches_;
  const uint32_t node_;
};

/// The link that leaves the switch of a line by port c, to the NPU at coordinate c. `base`: the line's NPU at
/// coordinate 0.
SwitchLink line_link(const Geometry& geometry, uint32_t dimension, uint32_t base, uint32_t port);

/// Port c leads to the NPU at coordinate c of the dimension; of messages that could go on at one time the one
/// of the lowest sender is first. `geometry` outlives it.
class LineWays final : public SwitchWays {
 public:
  LineWays(const Geometry& geometry, uint32_t dimension, uint32_t base)
      : geometry_(geometry), dimension_(dimension), base_(base) {}
  SwitchLink link(uint32_t port) const override { return line_link(geometry_, dimension_, base_, port); }
  uint32_t output(const fabric::Packet& packet) const override {
    return geometry_.coordinate(packet.destination, dimension_);
  }
  uint32_t turn(uint32_t, const fabric::Packet& packet) const override { return packet.source; }

 private:
  const Geometry& geometry_;
  const uint32_t dimension_;
  const uint32_t base_;
};

}  // namespace weft

#endif
