// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The NPU of one rank: runs a trace's nodes (graph::RankEngine) on its compute slots, its memories and its
// NMU. Models that change how long compute takes derive from it.

#ifndef WEFT_SC_MODELS_NPU_H
#define WEFT_SC_MODELS_NPU_H

#include <memory>
#include <optional>
#include <systemc>

#include "configs/fifo.h"
#include "configs/flat_map.h"
#include "sc_models/npu_model.h"
#include "sc_models/npu_wheel.h"
#include "tlm_interconnect/ports/timed_queue.h"

namespace weft {

class Npu : public NpuModel,
            private NpuWheel::Client,
            private NmuClient,
            private PoolClient,
            private graph::RankServices,
            private graph::RankObserver {
 public:
  Npu(sc_core::sc_module_name name, const NpuContext& context);
  ~Npu() override;

  MemoryDma& memory() final { return memory_; }
  MemoryDma* remote_memory() final { return remote_.get(); }

  void load(trace::Feeder& feeder, JobHost& host, const RankMap& ranks, graph::LayerTable* layers) final;
  void unload() final;
  void set_listener(graph::NodeListener* listener) final { engine_->set_listener(listener); }
  void start() final;
  bool watch_nodes(NodeWatch& watch) final {
    watch_ = &watch;
    return true;
  }
  bool run_node(const trace::Node& node, Picoseconds time) final;

  void add_footprint_signal(vcd::ProbeHub& probes) final;
  void show_footprint(Picoseconds now, uint64_t bytes) final { footprint_probe_.set(now + origin_, bytes); }
  bool shows_footprint() const final { return static_cast<bool>(footprint_probe_); }

  bool loaded() const final { return host_ != nullptr; }
  bool finished() const final { return engine_ && engine_->finished(); }
  const graph::RankEngine* engine() const final { return engine_.get(); }
  const graph::P2pMatcher& matcher() const final { return matcher_; }

  void collective_done(trace::NodeIndex node) final;

  /// Nothing is under way but compute, delays that end later, and receives that wait for their message.
  bool rests() const {
    return engine_ && engine_->rests() && !held_ && sending_.empty() && pending_.empty() &&
           queue_.next() > machine_now();
  }
  /// Has done what `like` has, the NPU of a rank of the same job with the same program, which rests and has
  /// not accessed a memory. Nothing has started here. Its NMU adopts for itself.
  void adopt(const Npu& like, const graph::RankImage& image);

  uint64_t activations() const { return activations_; }
  void count(Counters& counters) const override { counters.activations += activations_; }

 protected:
  // RankServices, for models that derive from this one. What it answers must follow from the node, the rank
  // and the configuration, not from the simulated time or the order of calls: then results are repeatable.
  Picoseconds compute_time(const trace::Node& /*node*/, Picoseconds time) override { return time; }
  // For models that run nodes in a block of their own. True: the node is the block's, which answers later. A
  // compute node is then over with compute_done(); the access of a memory node begins with start_access().
  // References are valid until then.
  bool takes_compute(const trace::Node& /*node*/, Picoseconds /*time*/) override { return false; }
  virtual bool takes_memory(const trace::Node& /*node*/) { return false; }
  void compute_done(const trace::Node& node);
  void start_access(const trace::Node& node);
  /// "rank 3, node 7 "gemm" (COMP)", of a node that has started.
  std::string describe(const trace::Node& node) const;
  NpuId npu() const { return npu_; }
  const Config& config() const { return config_; }

 private:
  // NmuClient
  void collective_done(NpuId npu, const collectives::CollectiveDone& done) override;
  void message_injected(NpuId npu, NpuId destination, const MessageId& id) override;
  void message_arrived(NpuId npu, const Completion& completion) override;
  // PoolClient
  void pool_done(uint32_t token, Picoseconds at) override { access_done(token, at); }
  bool tensor_loaded(uint64_t bytes, const std::string& wrong) override {
    if (host_ != nullptr) host_->tensor_loaded(rank_, bytes, wrong);
    return host_ != nullptr;
  }
  // RankServices
  Picoseconds now() const final { return machine_now() - origin_; }
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
  // NpuWheel::Client
  void run_due() final;
  void prepare() const final;
  void push(Picoseconds at, uint32_t kind, uint32_t token);
  void access_done(uint32_t token, Picoseconds at);
  void ask_memory(const trace::Node& node);
  void carry_bytes(MemoryDma& dma, uint64_t number);

  enum Due : uint32_t { kNode, kMemory, kSend };
  /// A message that its NMU has not got yet.
  struct Pending {
    NpuId peer{};
    MessageId id;
    uint64_t bytes = 0;
    SendStart start;
  };
  void send_later(const Pending& pending);
  void send_next();

  // What every activation touches: with the Client they are what NpuWheel fetches ahead.
  NpuId npu_;
  uint32_t rank_ = 0;  ///< of the job
  const Config& config_;
  FabricService& nmu_;
  JobHost* host_ = nullptr;
  std::unique_ptr<graph::RankEngine> engine_;
  Picoseconds origin_ = 0;  ///< the machine's time when the job's clock began
  uint64_t pushed_ = 0;
  uint64_t activations_ = 0;
  bool held_ = false;
  fabric::TimedQueue<uint32_t, uint64_t> queue_;
  const RankMap* ranks_ = nullptr;
  insight::CausalLog* causes_;
  graph::P2pMatcher matcher_;
  FlatMap<uint64_t, Fifo<trace::NodeIndex>> sending_;  ///< by destination NPU and tag, in order
  Fifo<Pending> pending_;                              ///< in the order in which they are sent
  Picoseconds last_send_ = 0;                          ///< of them
  MemoryDma memory_;
  std::unique_ptr<MemoryDma> remote_;
  PoolAccess* pool_;
  TierAccess* tiers_;
  NodeWatch* watch_ = nullptr;                ///< null: nobody records the nodes
  std::unique_ptr<WatchedServices> watched_;  ///< with a watch: of the job
  std::unique_ptr<NpuWheel> own_wheel_;       ///< null: the machine's
  vcd::Probe state_probe_;
  vcd::Probe node_probe_;
  vcd::Probe footprint_probe_;
};

}  // namespace weft

#endif
