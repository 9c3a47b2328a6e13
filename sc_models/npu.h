// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The NPU of one rank: runs a trace's nodes (graph::RankEngine) on its compute slots, its memories and its
// NMU.

#ifndef WEFT_SC_MODELS_NPU_H
#define WEFT_SC_MODELS_NPU_H

#include <memory>
#include <systemc>

#include "configs/config.h"
#include "sc_models/memory_dma.h"
#include "sc_models/nmu.h"
#include "tlm_interconnect/ports/timed_queue.h"
#include "vcd/waves.h"
#include "workload/graph/p2p_matcher.h"
#include "workload/graph/rank_engine.h"

namespace weft {

/// Who knows the job: asked to start this rank's part of a collective of the trace.
class CollectiveHost {
 public:
  virtual ~CollectiveHost() = default;
  virtual void start_collective(uint32_t rank, const trace::Node& node) = 0;
  /// The plane (FidelityRules) of the message of a send that starts now.
  virtual uint8_t send_plane(const trace::Node& node) = 0;
  /// The payload that goes with a point-to-point message of the rank; kNoData: none.
  virtual uint32_t send_data(uint32_t rank, NpuId destination, const MessageId& id, uint64_t bytes) = 0;
};

class Npu : public sc_core::sc_module, private graph::RankServices, private graph::RankObserver {
 public:
  Npu(sc_core::sc_module_name name, NpuId rank, const Config& config, Nmu& nmu, vcd::Waves* waves);
  ~Npu() override;

  /// To be bound to the rank's HBM and, if the configuration has one, its remote memory.
  MemoryDma& memory() { return memory_; }
  MemoryDma* remote_memory() { return remote_.get(); }

  /// Gives the NPU its trace, once, before start(). All outlive it. `layers`: its time is kept by layer, too.
  void load(trace::Feeder& feeder, CollectiveHost& host, graph::LayerTable* layers = nullptr);
  void start();

  bool finished() const { return engine_ && engine_->finished(); }
  const graph::RankEngine* engine() const { return engine_.get(); }
  const graph::P2pMatcher& matcher() const { return matcher_; }

  // From the NMU, by way of the job.
  void collective_done(trace::NodeIndex node);
  void message_injected(NpuId destination, const MessageId& id);
  void message_arrived(const Completion& completion);

  uint64_t activations() const { return activations_; }

 private:
  // RankServices
  Picoseconds now() const override { return sc_core::sc_time_stamp().value(); }
  void schedule(Picoseconds at, uint32_t token) override;
  void start_memory(trace::NodeIndex node, bool store, bool remote, uint64_t bytes) override;
  void start_collective(const trace::Node& node) override;
  void start_send(const trace::Node& node) override;
  void start_receive(const trace::Node& node) override;
  // RankObserver
  void rank_changed(uint32_t rank, graph::RankState state, uint64_t node_id) override;

  /// Opens the batch of this instant: everything that happens at one time is in before anything new starts.
  void hold();
  void process();
  void push(Picoseconds at, uint32_t kind, uint32_t token);

  enum Due : uint32_t { kNode, kMemory };

  NpuId rank_;
  const Config& config_;
  Nmu& nmu_;
  CollectiveHost* host_ = nullptr;
  MemoryDma memory_;
  std::unique_ptr<MemoryDma> remote_;
  std::unique_ptr<graph::RankEngine> engine_;
  graph::P2pMatcher matcher_;
  std::unordered_map<uint64_t, std::deque<trace::NodeIndex>> sending_;  ///< by destination and tag, in order
  fabric::TimedQueue<uint32_t, uint64_t> queue_;
  uint64_t pushed_ = 0;
  sc_core::sc_event wake_;
  Picoseconds wake_at_ = kNever;
  bool held_ = false;
  uint64_t activations_ = 0;
  vcd::Probe state_probe_;
  vcd::Probe node_probe_;
};

}  // namespace weft

#endif
