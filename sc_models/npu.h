// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The NPU of one rank: runs a trace's nodes (graph::RankEngine) on its compute slots, its memories and its
// NMU.

#ifndef WEFT_SC_MODELS_NPU_H
#define WEFT_SC_MODELS_NPU_H

#include <deque>
#include <memory>
#include <optional>
#include <systemc>
#include <unordered_map>

#include "configs/config.h"
#include "sc_models/component.h"
#include "sc_models/fabric_service.h"
#include "sc_models/memory_dma.h"
#include "sc_models/pool/pool_access.h"
#include "tlm_interconnect/ports/timed_queue.h"
#include "vcd/waves.h"
#include "workload/graph/p2p_matcher.h"
#include "workload/graph/rank_engine.h"
#include "workload/job/rank_map.h"

namespace weft {

/// This rank's part of a collective, as its NMU starts it.
struct CollectiveStart {
  uint32_t stream = 0;  ///< on the machine: the same number on every member
  std::shared_ptr<const collectives::CollectivePlan> plan;
  int32_t priority = 0;
  uint8_t plane = 0;  ///< graph::FidelityRules
};

/// How a point-to-point message goes.
struct SendStart {
  uint32_t data = kNoData;  ///< its payload
  uint8_t plane = 0;        ///< graph::FidelityRules
};

/// What an NPU asks of the job that it runs a rank of. Ranks are those of the job.
class JobHost {
 public:
  virtual ~JobHost() = default;
  /// The rank's part of the node's collective, for its NMU. Nothing: the job starts it itself.
  virtual std::optional<CollectiveStart> start_collective(uint32_t rank, const trace::Node& node) = 0;
  /// The rank's part is over; Npu::collective_done() follows.
  virtual void collective_done(uint32_t rank, const collectives::CollectiveDone& done) = 0;
  virtual SendStart start_send(uint32_t rank, const trace::Node& node, const MessageId& id) = 0;
  /// A point-to-point message is here. Its source is a rank of the job.
  virtual void message_arrived(uint32_t rank, const Completion& completion) = 0;
};

class Npu : public sc_core::sc_module,
            public Component,
            private NmuClient,
            private PoolClient,
            private graph::RankServices,
            private graph::RankObserver {
 public:
  /// `pool`: where remote accesses go; null: to remote_memory().
  Npu(sc_core::sc_module_name name, NpuId npu, const Config& config, FabricService& nmu, vcd::Waves* waves,
      PoolAccess* pool = nullptr);
  ~Npu() override;

  /// To be bound to the rank's HBM and, if the configuration has one, its remote memory.
  MemoryDma& memory() { return memory_; }
  MemoryDma* remote_memory() { return remote_.get(); }

  /// Gives the NPU the trace of a rank, before start(). The job's clock begins now. All outlive the job.
  /// `ranks`: where the job's ranks are. `layers`: its time is kept by layer, too. Throws std::logic_error
  /// when it has a trace.
  void load(trace::Feeder& feeder, JobHost& host, const RankMap& ranks, graph::LayerTable* layers = nullptr);
  /// The job is over, and nothing of it is under way: another one may be loaded.
  void unload();
  /// .. hears of every node of the loaded trace, before start(). Null: nobody.
  void set_listener(graph::NodeListener* listener) { engine_->set_listener(listener); }
  void start();
  /// Before the simulation: a signal for show_footprint().
  void add_footprint_signal(vcd::Waves& waves);
  /// For waveforms: the bytes that the rank's tensors take from now on (time of the job's clock).
  void show_footprint(Picoseconds now, uint64_t bytes) { footprint_probe_.set(now + origin_, bytes); }
  bool shows_footprint() const { return static_cast<bool>(footprint_probe_); }

  /// It has a job.
  bool loaded() const { return host_ != nullptr; }
  bool finished() const { return engine_ && engine_->finished(); }
  const graph::RankEngine* engine() const { return engine_.get(); }
  const graph::P2pMatcher& matcher() const { return matcher_; }

  /// From the job: the node's collective is over.
  void collective_done(trace::NodeIndex node);

  uint64_t activations() const { return activations_; }
  void count(Counters& counters) const override { counters.activations += activations_; }

 private:
  // NmuClient
  void collective_done(NpuId npu, const collectives::CollectiveDone& done) override;
  void message_injected(NpuId npu, NpuId destination, const MessageId& id) override;
  void message_arrived(NpuId npu, const Completion& completion) override;
  // PoolClient
  void pool_done(uint32_t token, Picoseconds at) override { push(at, kMemory, token); }
  // RankServices
  Picoseconds now() const override { return machine_now() - origin_; }
  void schedule(Picoseconds at, uint32_t token) override;
  void start_memory(const trace::Node& node) override;
  void start_collective(const trace::Node& node) override;
  void start_send(const trace::Node& node) override;
  void start_receive(const trace::Node& node) override;
  // RankObserver
  void rank_changed(uint32_t rank, graph::RankState state, uint64_t node_id) override;

  static Picoseconds machine_now() { return sc_core::sc_time_stamp().value(); }
  /// Opens the batch of this instant: everything that happens at one time is in before anything new starts.
  void hold();
  void process();
  void push(Picoseconds at, uint32_t kind, uint32_t token);

  enum Due : uint32_t { kNode, kMemory };

  NpuId npu_;
  const Config& config_;
  FabricService& nmu_;
  JobHost* host_ = nullptr;
  const RankMap* ranks_ = nullptr;
  uint32_t rank_ = 0;       ///< of the job
  Picoseconds origin_ = 0;  ///< the machine's time when the job's clock began
  MemoryDma memory_;
  std::unique_ptr<MemoryDma> remote_;
  PoolAccess* pool_;
  std::unique_ptr<graph::RankEngine> engine_;
  graph::P2pMatcher matcher_;
  std::unordered_map<uint64_t, std::deque<trace::NodeIndex>>
      sending_;  ///< by destination NPU and tag, in order
  fabric::TimedQueue<uint32_t, uint64_t> queue_;
  uint64_t pushed_ = 0;
  sc_core::sc_event wake_;
  Picoseconds wake_at_ = kNever;
  bool held_ = false;
  uint64_t activations_ = 0;
  vcd::Probe state_probe_;
  vcd::Probe node_probe_;
  vcd::Probe footprint_probe_;
};

}  // namespace weft

#endif
