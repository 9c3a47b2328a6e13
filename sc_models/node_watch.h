// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The compute nodes and memory accesses of an NPU, for who records them.

#ifndef WEFT_SC_MODELS_NODE_WATCH_H
#define WEFT_SC_MODELS_NODE_WATCH_H

#include "configs/types.h"
#include "workload/graph/rank_services.h"
#include "workload/trace/node.h"

namespace weft {

class NodeWatch {
 public:
  virtual ~NodeWatch() = default;
  /// The node starts now. `time`: what the trace and the roofline say of a compute node; 0 of an access.
  virtual void started(const trace::Node& node, Picoseconds time) = 0;
  /// .. is answered: a compute node is over at `at` (>= now, absolute), an access goes to its memory.
  virtual void answered(const trace::Node& node, Picoseconds at) = 0;
};

/// What a rank asks of its NPU, with a watch in between. What an NPU's block answers later, the NPU tells
/// itself.
class WatchedServices final : public graph::RankServices {
 public:
  /// `origin`: the machine's time when the rank's clock began. All outlive the object.
  WatchedServices(graph::RankServices& services, NodeWatch& watch, Picoseconds origin)
      : services_(services), watch_(watch), origin_(origin) {}

  Picoseconds now() const override { return services_.now(); }
  void schedule(Picoseconds at, uint32_t token) override { services_.schedule(at, token); }
  bool takes_compute(const trace::Node& node, Picoseconds time) override {
    watch_.started(node, time);
    return services_.takes_compute(node, time);
  }
  Picoseconds compute_time(const trace::Node& node, Picoseconds time) override {
    const Picoseconds taken = services_.compute_time(node, time);
    watch_.answered(node, later(origin_ + now(), taken));
    return taken;
  }
  void start_memory(const trace::Node& node) override {
    watch_.started(node, 0);
    services_.start_memory(node);
  }
  void start_collective(const trace::Node& node) override { services_.start_collective(node); }
  void start_send(const trace::Node& node) override { services_.start_send(node); }
  void start_receive(const trace::Node& node) override { services_.start_receive(node); }

 private:
  graph::RankServices& services_;
  NodeWatch& watch_;
  const Picoseconds origin_;
};

}  // namespace weft

#endif
