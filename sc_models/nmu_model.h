// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What a machine asks of an NMU: the sockets of its links, the seam to its NPU, and what it has counted. Nmu
// is the NMU of this library; plugins bring others (plugin.h). A model that only changes when messages leave
// derives from Nmu; one that does everything itself derives from NmuModel.

#ifndef WEFT_SC_MODELS_NMU_MODEL_H
#define WEFT_SC_MODELS_NMU_MODEL_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "configs/blueprint/geometry.h"
#include "configs/config.h"
#include "configs/implementation.h"
#include "configs/named_registry.h"
#include "sc_models/activation_wheel.h"
#include "sc_models/component.h"
#include "sc_models/fabric_service.h"
#include "sc_models/memory_dma.h"
#include "sc_models/packet_fabric.h"
#include "tlm_interconnect/fabric/message_images.h"
#include "tlm_interconnect/ports/link.h"
#include "tlm_interconnect/protocol/fabric_protocol.h"
#include "vcd/probe_hub.h"
#include "workload/collectives/data.h"
#include "workload/collectives/in_switch.h"
#include "workload/collectives/slot_waits.h"
#include "workload/graph/fidelity_rules.h"
#include "workload/seam.h"

namespace weft {

/// Rate and latency of the links of a machine: by link of its graph, or by dimension.
std::vector<fabric::LinkType> link_types_of(const Config& config);

/// What the NMUs of a machine share. All outlives them.
struct NmuContext {
  const Config& config;
  const Geometry& geometry;                   ///< of the fabric
  std::vector<fabric::LinkType>& link_types;  ///< by dimension, or by link of the graph
  fabric::PacketPool& pool;
  ActivationWheel& wheel;
  vcd::ProbeHub* probes = nullptr;                 ///< null: nowhere
  collectives::DataContext* data = nullptr;        ///< null: messages carry sizes only
  collectives::UnitDirectory* units = nullptr;     ///< null: no switch has a collective unit
  const graph::FidelityRules* fidelity = nullptr;  ///< null: everything is on plane 0
  collectives::SlotWaits* waits = nullptr;         ///< null: this NMU stands for others
  const fabric::MessageImages* images = nullptr;   ///< of what it sends, if it stands for others; null: none
};

/// An NMU's end of a link: one of the two. Neither: nothing is there.
struct LinkSocket {
  fabric::fabric_initiator_base* initiator = nullptr;
  fabric::fabric_target_base* target = nullptr;
};

/// Which end of its links an NMU is asked for.
struct LinkEndAt {
  uint32_t dimension = 0;   ///< of a graph: the number of the node's port
  bool descending = false;  ///< Ring and Mesh at `message` fidelity: the end towards smaller coordinates
  uint32_t plane = 0;       ///< FidelityRules
};

/// Sees what passes between an NMU and whoever sends by it: its collectives, its NPU, a library's programs.
class MessageWatch {
 public:
  virtual ~MessageWatch() = default;
  /// A message of this NPU is handed over, now; it may leave at `ready` (>= now).
  virtual void handed_over(fabric::PacketRef message, Picoseconds ready) = 0;
  /// One for it is whole and its endpoint delay is over, now. A reduction in memory has not begun.
  virtual void delivered(fabric::PacketRef message) = 0;
};

class NmuModel : public sc_core::sc_module, public FabricService, public Component {
 public:
  ~NmuModel() override;

  NpuId rank() const { return model_rank_; }
  void detach() override = 0;  // sc_object has a function of this name, too
  virtual bool attached() const = 0;
  virtual Picoseconds now() const = 0;

  /// The socket of a link's end, to be bound by the machine. Ring and Mesh at `message` fidelity: the upward
  /// end is the initiator, the descending one a target. Elsewhere all links of a dimension are behind one
  /// initiator; of a graph each is that of the link's direction.
  virtual LinkSocket end(const LinkEndAt& at) = 0;
  /// The link that it sends on by that end, to be shared with a memory pool. Null: it is not shared.
  virtual fabric::Link* link(const LinkEndAt&) { return nullptr; }
  /// Dimensions at packet fidelity: their networks, to be joined before the simulation starts, once for every
  /// plane that uses them.
  virtual void join(PacketFabric& fabric, uint32_t plane) = 0;
  /// Takes the messages of a communication library's programs from now on: those that arrive here are told
  /// to `sink`. Null: this model carries none.
  virtual MessagePort* carry_programs(MessageSink&) { return nullptr; }
  /// Messages of the program with this stream travel on that plane (FidelityRules) until it is taken back.
  /// Only for a model that carries programs.
  virtual void put_program_on_plane(uint32_t, uint8_t) {}
  virtual void take_program_back(uint32_t) {}
  /// Tells `watch` of all messages from now on, before the first one. False: this model does not.
  virtual bool watch_messages(MessageWatch&) { return false; }
  /// Reductions go through memory (`reduction: hbm`): the DMA to be bound to it; nullptr otherwise.
  virtual MemoryDma* memory() { return nullptr; }

  // No effect on results: where it keeps what a message to it touches, so that it can be fetched ahead; and
  // the NMU at the other side of a link.
  virtual const void* hot() const { return nullptr; }
  virtual void hint(const LinkEndAt&, const NmuModel&) {}

  /// Starts chunks that wait for a slot, when nothing moves any more (see CollectiveEngine::rescue). Returns
  /// how many.
  virtual uint32_t rescue() { return 0; }
  /// For the stall report: what its collectives wait for, at most `limit` lines.
  virtual std::vector<std::string> describe_waits(size_t) const { return {}; }
  virtual uint64_t messages_delivered() const = 0;
  virtual uint64_t out_of_order_starts() const { return 0; }

  LinkPlace link_place() const override { return LinkPlace::nmus; }

 protected:
  NmuModel(sc_core::sc_module_name name, NpuId rank);

 private:
  NpuId model_rank_;
};

using NmuMaker = std::function<std::unique_ptr<NmuModel>(sc_core::sc_module_name name, NpuId rank,
                                                         const NmuContext& context, Parameters& parameters)>;

/// The models of NMUs there are, by the names that `nmu.implementation` takes.
NamedRegistry<NmuMaker>& nmu_models();

/// An NMU of the model that `implementation` names. `owner` begins messages: the key. Errors:
/// UserError(usage) for a name or parameter that there is not, and for whatever the model throws.
std::unique_ptr<NmuModel> make_nmu(const std::string& implementation, const std::string& owner,
                                   const std::string& name, NpuId rank, const NmuContext& context);

}  // namespace weft

#endif
