// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Builds the machine a configuration describes: NMUs, switches and direct fabrics, joined by TLM sockets, and
// NPUs with their memories when a trace drives them. One Machine is one sc_module; it never calls sc_start.

#ifndef WEFT_SC_MODELS_MACHINE_H
#define WEFT_SC_MODELS_MACHINE_H

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "configs/blueprint/geometry.h"
#include "configs/config.h"
#include "configs/dram_spec.h"
#include "sc_models/activation_wheel.h"
#include "sc_models/analytical_switch.h"
#include "sc_models/banked_hbm.h"
#include "sc_models/component.h"
#include "sc_models/fabric_switch.h"
#include "sc_models/hbm.h"
#include "sc_models/link_cuts.h"
#include "sc_models/nmu.h"
#include "sc_models/npu.h"
#include "sc_models/packet_fabric.h"
#include "sc_models/packet_switch.h"
#include "sc_models/pool/memory_pool.h"
#include "sc_models/settled_call.h"
#include "sc_models/switch_model.h"
#include "sc_models/switch_ways.h"
#include "tlm_interconnect/fabric/direct_fabric.h"
#include "tlm_interconnect/fabric/mirror_fabric.h"
#include "vcd/waves.h"

namespace weft {

/// One direction of one link as the results name it.
struct LinkReport {
  std::string name;  ///< hierarchical, of the sending port
  std::string to;    ///< the module at the other side
  uint32_t dimension = 0;
  Fidelity fidelity = Fidelity::message;  ///< what it carries, or carries it as
  const fabric::Link* link = nullptr;     ///< null at packet fidelity
  uint64_t bytes = 0;                     ///< packet fidelity: on the wire, headers and padding included
  uint64_t messages = 0;
  uint64_t packets = 0;  ///< packet fidelity
  uint64_t marked = 0;   ///< packets of these that ECN has marked at this link
  Picoseconds busy = 0;
  Picoseconds queued = 0;  ///< time that messages (packet fidelity: packets) waited for it, summed
  // Priority flow control, at packet fidelity: of the sender.
  uint64_t pauses = 0;
  Picoseconds paused = 0;
  uint64_t overruns = 0;  ///< packets that found a full buffer without having been paused
};

class Machine : public sc_core::sc_module {
 public:
  struct Options {
    bool npus = false;            ///< build NPUs and their memories (a trace will drive them)
    bool memory_pool = false;     ///< build the memory pool without NPUs, too
    vcd::Waves* waves = nullptr;  ///< where modules register their signals; null: nowhere
    bool footprint = false;       ///< with a signal for the bytes that tensors take
    /// Ranks that stand for others which do alike: what they send comes back to them from mirrors. For
    /// symmetric collectives at `analytical` fidelity (CollectivePlan::asymmetry). Empty: every rank is
    /// built.
    std::vector<uint32_t> mirrored;
    /// With `mirrored`: the ranks that are built beside them and reach each other, ascending.
    std::vector<uint32_t> whole;
  };

  /// `config` must outlive the machine.
  Machine(sc_core::sc_module_name name, const Config& config, const Options& options);
  /// .. `client` hears of every NMU's events.
  Machine(sc_core::sc_module_name name, const Config& config, NmuClient& client, const Options& options);
  ~Machine() override;

  const Config& config() const { return config_; }
  uint32_t npus() const { return geometry_.npus(); }
  bool folded() const { return folded_; }
  /// Of the fabric, with the ranks' places.
  const Geometry& geometry() const { return geometry_; }
  Nmu& nmu(uint32_t rank) { return *nmus_[rank]; }
  const Nmu& nmu(uint32_t rank) const { return *nmus_[rank]; }
  Npu& npu(uint32_t rank) { return *npu_modules_[rank]; }
  const Npu& npu(uint32_t rank) const { return *npu_modules_[rank]; }
  /// Bytes that this rank's memories have moved.
  uint64_t memory_bytes(uint32_t rank) const;
  const fabric::PacketPool& pool() const { return pool_; }
  const LinkCuts& cuts() const { return cuts_; }
  /// Null: there is none.
  MemoryPool* memory_pool() { return memory_pool_.get(); }
  /// The rules of `topology.fidelity_rules`, and the planes that messages can be on.
  graph::FidelityRules& fidelity() { return fidelity_; }
  const graph::FidelityRules& fidelity() const { return fidelity_; }
  /// Data-carrying mode (`run.data: functional`): the payloads and inputs; null otherwise.
  collectives::DataContext* data() const { return data_.get(); }

  /// `client` hears of the events of every NMU that is built.
  void attach(NmuClient& client);
  /// Nobody hears any more.
  void detach();
  /// The rank has modules of its own.
  bool built(uint32_t rank) const { return rank < nmus_.size() && nmus_[rank] != nullptr; }
  /// Ranks that stand for others.
  const std::vector<uint32_t>& mirrored() const { return mirrored_; }
  /// What is called in the part `starts` of an instant in which request_starts() was called; empty: nothing.
  void on_starts(std::function<void()> call) { on_starts_ = std::move(call); }
  void request_starts() { starts_.request(); }
  /// So many numbers for collectives that no other job on this machine has: the first one.
  uint32_t take_streams(uint32_t count);

  /// Starts chunks that wait for slots when nothing moves any more (CollectiveEngine::rescue). True if there
  /// was one: run the simulation again. Each use is a line of slot_warnings(): times then depend on the rest
  /// of the machine.
  bool rescue();
  /// About chunks that were started beyond the slots, and about uses of rescue(). `beyond`: how many such
  /// starts there were.
  std::vector<std::string> slot_warnings(uint64_t beyond) const;

  /// The packet networks are as they were in the beginning, but for what has been counted
  /// (PacketNetwork::restart()). Call between two steps of the simulation, when nothing is on its way.
  void restart_networks();

  /// The links of a rank's ports, in and out, as they are now.
  std::vector<fabric::Link> links(uint32_t rank) const;
  /// `rank` has used its links of these dimensions as `like` has since they were `before`. `exchanges`:
  /// CollectivePlan::LinkImages.
  void adopt_links(uint32_t rank, uint32_t like, const std::vector<fabric::Link>& before, uint32_t dimensions,
                   uint32_t exchanges);

  /// Calls f(LinkReport) for every link direction, in a fixed order.
  template <typename F>
  void for_each_link(F&& f) const {
    for (const auto& nmu : nmus_) {
      if (nmu) for_each_link_as(nmu->rank(), nmu->rank(), 0, f);
    }
    for_each_switch_link(f);
  }
  /// .. that rank sends on, told from a built one that does alike. `exchanges`: Folding::Class's.
  template <typename F>
  void for_each_link_as(NpuId rank, NpuId built, uint32_t exchanges, F&& f) const {
    const Nmu& nmu = *nmus_[index(built)];
    for (const Nmu::Port& port : nmu.ports()) {
      if (port.nmu == nullptr) continue;
      for (uint32_t i = 0; i < port.links(); ++i) {
        if (port.sends(i, geometry_.place(index(rank)))) f(report(nmu, rank, port, i, exchanges));
      }
    }
  }
  template <typename F>
  void for_each_switch_link(F&& f) const {
    for (size_t s = 0; s < switches_.size(); ++s) {
      const auto& links = switches_[s]->links();
      for (uint32_t i = 0; i < links.size(); ++i) f(report(s, i));
    }
    for (const auto& s : analytical_switches_) {
      for (uint32_t i = 0; i < s.module->links().size(); ++i) f(report(s, i));
    }
    for (const PlacedSwitch& s : placed_switches_) {
      for (const SwitchModel::Port& port : s.module->ports()) {
        if (s.graph == nullptr || s.graph->ports(s.node)[port.number].sends) f(report(s, port));
      }
    }
    if (memory_pool_) {
      memory_pool_->for_each_link([&](const std::string& link_name, const std::string& to,
                                      const fabric::Link& l) { f(report(link_name, to, l)); });
    }
    for (const auto& p : packets_) {
      p->for_each_link([&](const PacketFabric::LinkUse& use) {
        LinkReport link;
        link.fidelity = Fidelity::packet;
        link.name = use.name;
        link.to = use.to;
        link.dimension = use.dimension;
        link.bytes = use.bytes;
        link.packets = use.packets;
        link.marked = use.marked;
        link.messages = use.messages;
        link.busy = use.busy;
        link.queued = use.queued;
        link.pauses = use.pauses.pauses;
        link.paused = picoseconds(use.pauses.time);
        link.overruns = use.overruns;
        f(link);
      });
    }
  }

  /// Sums over all modules.
  using Totals = Counters;
  Totals totals() const;

  /// Packet fidelity with `packet.ecn`: what was marked, and the flows that DCQCN has slowed down.
  struct Congestion {
    uint64_t packet_hops = 0;
    uint64_t marked = 0;         ///< packet-hops
    uint64_t notifications = 0;  ///< sent to senders
    std::vector<PacketFabric::FlowUse> flows;
  };
  Congestion congestion() const;

  /// Broken conservation laws, one line each; empty when bytes, messages and packets balance. Call when
  /// nothing is in flight any more.
  std::vector<std::string> check_conservation() const;

  /// Why nothing moves any more in the machine: what collective units wait for, why packets do not move (with
  /// the cycle of buffers if there is one), what switches hold. Empty when nothing is held.
  std::string explain_stall() const;
  /// About the machine: buffers that are too small, what can deadlock.
  const std::vector<std::string>& warnings() const { return warnings_; }

  /// Calls f(const SwitchUnit&) for every collective unit.
  template <typename F>
  void for_each_unit(F&& f) const {
    for (const auto& s : switches_) {
      if (s->unit() != nullptr) f(*s->unit());
    }
    for (const auto& s : analytical_switches_) f(s.module->unit());
    for (const auto& s : packet_switches_) f(s->unit());
  }
  /// For the stall report: what collective units wait for, a line a block (at most `limit`).
  std::vector<std::string> describe_unit_waits(size_t limit) const;

 private:
  void build_dimension(uint32_t plane, uint32_t dimension, vcd::Waves* waves);
  void build_neighbours(uint32_t plane, uint32_t dimension);
  void build_direct(uint32_t plane, uint32_t dimension, vcd::Waves* waves);
  void build_switches(uint32_t plane, uint32_t dimension, vcd::Waves* waves);
  std::string suffix(uint32_t plane, uint32_t dimension) const;
  FabricContext fabric_context() { return {config_, geometry_, pool_, wheel_}; }
  void build_trees(uint32_t plane, uint32_t dimension);
  /// How the switches of a graph are made.
  struct SwitchKind {
    std::string implementation;
    std::string key;  ///< where that is written
    Switching switching = Switching::cut_through;
  };
  void join_switches(const Graph& graph, const GraphLine& line, const std::string& prefix,
                     const SwitchKind& kind, const std::vector<fabric::LinkType*>& types,
                     const std::function<Nmu::Port&(uint32_t, uint32_t)>& npu_port);
  void build_line_switches(uint32_t plane, uint32_t dimension);
  void build_graph();
  void build_packets(vcd::Waves* waves);
  void build_packet_switches(PacketFabric& fabric, vcd::Waves* waves);
  Nmu& at(uint32_t place) { return *nmus_[geometry_.rank_at(place)]; }
  std::unique_ptr<MemoryTarget> make_hbm(const std::string& name, uint32_t sockets, vcd::Waves* waves) const;
  void build_npus(const Options& options, const std::vector<uint32_t>& built);
  void build_memory_pool();
  fabric::Link* shared_link(const pool::PoolLayout& layout, uint32_t node, uint32_t port);
  void observe_links(vcd::Waves& waves);
  uint32_t image(uint32_t dimension, uint32_t rank, uint32_t link, uint32_t like, uint32_t exchanges) const;
  LinkReport report(const Nmu& nmu, NpuId rank, const Nmu::Port& port, uint32_t i, uint32_t exchanges) const;
  LinkReport report(size_t s, uint32_t i) const;
  /// Of a link of the memory pool.
  LinkReport report(const std::string& link_name, const std::string& to, const fabric::Link& link) const;
  struct LineSwitch {
    std::unique_ptr<AnalyticalSwitch> module;
    uint32_t dimension = 0;
    uint32_t base = 0;  ///< NPU at coordinate 0 of its line
  };
  LinkReport report(const LineSwitch& s, uint32_t i) const;
  /// A switch made by its model's name, and what it is of: a node of a graph or tree, or (null) the switch of
  /// a line of a Switch dimension.
  struct PlacedSwitch {
    std::unique_ptr<SwitchModel> module;
    const Graph* graph = nullptr;
    GraphLine line;
    uint32_t node = 0;
  };
  LinkReport report(const PlacedSwitch& s, const SwitchModel::Port& port) const;
  /// Of the link that an NMU sends on by a port with one link.
  std::string link_name_of(const Nmu::Port& port) const;
  /// Joins an NMU with a switch of a line, and names both directions.
  void join_line(Nmu::Port& port, fabric::fabric_target_base& target, const char* module);
  LinkReport report_end(const char* owner, const Graph& graph, const GraphLine& line,
                        const std::string& switch_prefix, uint32_t node, uint32_t end,
                        const fabric::Link& link) const;

  const Config& config_;
  graph::FidelityRules fidelity_;
  Geometry geometry_;
  fabric::PacketPool pool_;
  std::unique_ptr<collectives::DataContext> data_;
  LinkCuts cuts_;
  std::vector<fabric::LinkType> link_types_;  ///< by dimension, or by link of the graph
  std::vector<std::vector<fabric::LinkType>>
      level_types_;  ///< by dimension: of its tree's levels above the NPUs
  ActivationWheel wheel_;
  SettledCall end_of_instant_;
  SettledCall starts_;
  std::function<void()> on_starts_;
  collectives::SlotWaits slot_waits_;
  bool folded_ = false;
  std::vector<uint32_t> mirrored_;
  std::vector<uint32_t> whole_;             ///< ranks that reach each other
  std::vector<std::unique_ptr<Nmu>> nmus_;  ///< by rank; null: not built
  collectives::UnitDirectory directory_;
  std::vector<std::unique_ptr<FabricSwitch>> switches_;
  std::vector<LineSwitch> analytical_switches_;  ///< where there are collective units
  std::vector<PlacedSwitch>
      placed_switches_;  ///< of the graph, of dimensions that are trees, of other models
  std::vector<uint32_t> switch_dimensions_;
  std::vector<uint32_t> switch_lines_;  ///< NPU at coordinate 0 of the switch's line
  std::vector<std::unique_ptr<PacketFabric>> packets_;
  std::vector<std::unique_ptr<PacketSwitch>> packet_switches_;  ///< where there are collective units
  std::vector<std::string> warnings_;
  std::vector<const Component*> components_;  ///< what has counters, in the order of building
  std::vector<std::unique_ptr<fabric::DirectFabric>> direct_;
  std::vector<std::unique_ptr<fabric::MirrorFabric>> mirrors_;
  std::unique_ptr<MemoryPool> memory_pool_;
  std::vector<std::unique_ptr<Npu>> npu_modules_;
  const DramSpec dram_;  ///< of the HBMs, model `banked`
  std::vector<std::unique_ptr<MemoryTarget>> memories_;
  std::vector<uint32_t> memory_ranks_;  ///< whose they are, ascending
  std::vector<std::unique_ptr<fabric::LinkObserver>> observers_;
  uint32_t streams_ = 0;  ///< numbers of collectives that are taken
  struct Rescues {
    uint64_t times = 0;
    uint64_t chunks = 0;
    Picoseconds first = 0;
    Picoseconds last = 0;
  };
  Rescues rescues_;
};

}  // namespace weft

#endif
