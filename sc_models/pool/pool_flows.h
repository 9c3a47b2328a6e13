// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The memory pool at `analytical` fidelity: every access is a flow, spread evenly over the groups, and flows
// share links and groups max-min fair. There are no chunks: a time is that of the bottleneck alone, without
// the first chunk's way through the other hops.

#ifndef WEFT_SC_MODELS_POOL_POOL_FLOWS_H
#define WEFT_SC_MODELS_POOL_POOL_FLOWS_H

#include <utility>
#include <vector>

#include "sc_models/pool/pool_access_state.h"
#include "tlm_interconnect/ports/timed_queue.h"

namespace weft {

/// A flow's rate was limited by a resource from `from` to `to`. Alone there its bytes would have taken
/// `alone`.
struct FlowUse {
  uint32_t resource = 0;
  Picoseconds from = 0;
  Picoseconds to = 0;
  Picoseconds alone = 0;
};

class PoolFlows final : private Wakeable {
 public:
  explicit PoolFlows(PoolContext& context);

  /// A transfer begins at `at` (>= now): a load, or a store, of one NPU or of all.
  void add(PoolTransfer& transfer, Picoseconds at);

  /// What a directed link (2 x link, and 1 more from `b` to `a`) and a group have carried.
  Wide link_bytes(uint32_t directed) const { return carried_[directed]; }
  Wide group_bytes(uint32_t group, bool store) const { return carried_[group_at(group, store)]; }
  uint64_t activations() const { return activations_; }

 private:
  struct Flow {
    uint32_t transfer = 0;
    std::vector<std::pair<uint32_t, double>> uses;  ///< resource, and bytes there for a byte of the tensor
    double left = 0;                                ///< bytes
    double rate = 0;                                ///< bytes a picosecond
    Picoseconds latency = 0;
    uint32_t limit = 0;         ///< the resource that sets its rate
    std::vector<FlowUse> past;  ///< kept for the causal log
  };

  uint32_t group_at(uint32_t group, bool store) const {
    return 2 * static_cast<uint32_t>(context_.layout.links().size()) + 2 * group + (store ? 1 : 0);
  }
  Flow flow_of(const PoolTransfer& transfer);
  void put(Flow& flow, const PoolTransfer& transfer, uint32_t group, uint64_t bytes, uint64_t tensor);
  void activate(Picoseconds now) override;
  void finish(const Flow& flow, Picoseconds now);
  void share();
  /// What the flow has done since `from`, for the causal log.
  void note(Flow& flow, Picoseconds from, Picoseconds now) const;

  PoolContext& context_;
  std::vector<double> capacity_;  ///< bytes a picosecond, by resource
  std::vector<Wide> carried_;
  std::vector<Flow> flows_;
  std::vector<Flow> coming_;
  fabric::TimedQueue<uint32_t, uint64_t> starts_;
  uint64_t started_ = 0;
  Picoseconds last_ = 0;
  uint64_t activations_ = 0;
};

}  // namespace weft

#endif
