// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What a machine and its jobs ask of an NPU. Npu is the NPU of this library; plugins bring others
// (plugin.h). A model that only changes how long compute takes derives from Npu; one that does everything
// itself derives from NpuModel.

#ifndef WEFT_SC_MODELS_NPU_MODEL_H
#define WEFT_SC_MODELS_NPU_MODEL_H

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <systemc>

#include "configs/config.h"
#include "configs/implementation.h"
#include "configs/named_registry.h"
#include "sc_models/component.h"
#include "sc_models/fabric_service.h"
#include "sc_models/memory_dma.h"
#include "sc_models/node_watch.h"
#include "sc_models/pool/pool_access.h"
#include "sc_models/tiers/tier_access.h"
#include "vcd/probe_hub.h"
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
  Picoseconds delay = 0;    ///< before the NMU has it: a communication library's launch and latency
};

/// What an NPU asks of the job that it runs a rank of. Ranks are those of the job.
class JobHost {
 public:
  virtual ~JobHost() = default;
  /// The rank's part of the node's collective, for its NMU. Nothing: the job starts it itself.
  virtual std::optional<CollectiveStart> start_collective(uint32_t rank, const trace::Node& node) = 0;
  /// The rank's part is over; NpuModel::collective_done() follows.
  virtual void collective_done(uint32_t rank, const collectives::CollectiveDone& done) = 0;
  virtual SendStart start_send(uint32_t rank, const trace::Node& node, const MessageId& id) = 0;
  /// Who takes part in an in-switch access to the memory pool.
  virtual PoolMembers pool_members(uint32_t rank, const trace::Node& node) = 0;
  /// A point-to-point message is here. Its source is a rank of the job.
  virtual void message_arrived(uint32_t rank, const Completion& completion) = 0;
  /// `run.data: functional`: a tensor that the rank loaded was compared. `wrong`: what was wrong; empty:
  /// nothing.
  virtual void tensor_loaded(uint32_t /*rank*/, uint64_t /*bytes*/, const std::string& /*wrong*/) {}
};

class NpuWheel;

/// What an NPU is made of. All outlives it.
struct NpuContext {
  NpuId npu;
  const Config& config;
  FabricService& nmu;
  vcd::ProbeHub* probes = nullptr;       ///< null: nobody looks
  PoolAccess* pool = nullptr;            ///< where remote accesses go; null: to remote_memory()
  TierAccess* tiers = nullptr;           ///< host memory and NVMe; null: there are none
  insight::CausalLog* causes = nullptr;  ///< where its nodes tell what caused them; null: nowhere
  NpuWheel* wheel = nullptr;             ///< runs Weft's own NPUs; null: the NPU makes one of its own
};

class NpuModel : public sc_core::sc_module, public Component {
 public:
  ~NpuModel() override;

  /// To be bound to the rank's HBM and, if the configuration has one, its remote memory.
  virtual MemoryDma& memory() = 0;
  virtual MemoryDma* remote_memory() = 0;

  /// Gives the NPU the trace of a rank, before start(). The job's clock begins now. All outlive the job.
  /// `ranks`: where the job's ranks are. `layers`: its time is kept by layer, too. Throws std::logic_error
  /// when it has a trace.
  virtual void load(trace::Feeder& feeder, JobHost& host, const RankMap& ranks,
                    graph::LayerTable* layers) = 0;
  /// The job is over, and nothing of it is under way: another one may be loaded.
  virtual void unload() = 0;
  /// .. hears of every node of the loaded trace, before start(). Null: nobody.
  virtual void set_listener(graph::NodeListener* listener) = 0;
  virtual void start() = 0;

  /// Before load(): the watch sees the nodes that the NPU computes, loads and stores. False: the model tells
  /// nothing.
  virtual bool watch_nodes(NodeWatch&) { return false; }
  /// Runs one node without a job, now; its answer goes to the watch, and nothing is moved. `time`: as
  /// NodeWatch::started(). False: the model cannot.
  virtual bool run_node(const trace::Node& /*node*/, Picoseconds /*time*/) { return false; }

  // For waveforms, where the model has a signal for it: the bytes that the rank's tensors take from `now` on
  // (time of the job's clock). The signal is added before the simulation.
  virtual void add_footprint_signal(vcd::ProbeHub&) {}
  virtual void show_footprint(Picoseconds /*now*/, uint64_t /*bytes*/) {}
  virtual bool shows_footprint() const { return false; }

  /// It has a job.
  virtual bool loaded() const = 0;
  virtual bool finished() const = 0;
  /// The order of the rank's nodes and the account of its time; null before load().
  virtual const graph::RankEngine* engine() const = 0;
  virtual const graph::P2pMatcher& matcher() const = 0;

  /// From the job: the node's collective is over.
  virtual void collective_done(trace::NodeIndex node) = 0;

 protected:
  explicit NpuModel(sc_core::sc_module_name name);
};

using NpuMaker = std::function<std::unique_ptr<NpuModel>(sc_core::sc_module_name name,
                                                         const NpuContext& context, Parameters& parameters)>;

/// The models of NPUs there are, by the names that `npu.implementation` takes.
NamedRegistry<NpuMaker>& npu_models();

/// An NPU of the model that `implementation` names. `owner` begins messages: the key. Errors:
/// UserError(usage) for a name or parameter that there is not, and for whatever the model throws.
std::unique_ptr<NpuModel> make_npu(const std::string& implementation, const std::string& owner,
                                   const std::string& name, const NpuContext& context);

}  // namespace weft

#endif
