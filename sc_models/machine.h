// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Builds the machine a configuration describes: NMUs, switches and direct fabrics, joined by TLM sockets, and
// NPUs with their memories when a trace drives them. One Machine is one sc_module; it never calls sc_start.

#ifndef WEFT_SC_MODELS_MACHINE_H
#define WEFT_SC_MODELS_MACHINE_H

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "configs/blueprint/geometry.h"
#include "configs/config.h"
#include "sc_models/activation_wheel.h"
#include "sc_models/component.h"
#include "sc_models/folded_crossbar.h"
#include "sc_models/library_runs.h"
#include "sc_models/link_cuts.h"
#include "sc_models/link_report.h"
#include "sc_models/memory_target.h"
#include "sc_models/module_choices.h"
#include "sc_models/nmu.h"
#include "sc_models/nmu_tap.h"
#include "sc_models/npu_model.h"
#include "sc_models/npu_wheel.h"
#include "sc_models/packet_fabric.h"
#include "sc_models/part_links.h"
#include "sc_models/pool/memory_pool.h"
#include "sc_models/settled_call.h"
#include "sc_models/switch_model.h"
#include "sc_models/switch_ways.h"
#include "sc_models/tiers/memory_tiers.h"
#include "sc_models/unit_model.h"
#include "sc_models/wheel_alarm.h"
#include "tlm_interconnect/fabric/message_images.h"
#include "tlm_interconnect/fabric/mirror_fabric.h"
#include "tlm_interconnect/fabric/neighbour_mirror.h"
#include "vcd/probe_hub.h"
#include "workload/graph/folding.h"

namespace weft {

struct DramDevice;

class Machine : public sc_core::sc_module {
 public:
  struct Options {
    bool npus = false;                       ///< build NPUs and their memories (a trace will drive them)
    bool memory_pool = false;                ///< build the memory pool and the hosts without NPUs, too
    vcd::ProbeHub* probes = nullptr;         ///< where modules declare their signals; null: nowhere
    bool footprint = false;                  ///< with a signal for the bytes that tensors take
    insight::CausalLog* causes = nullptr;    ///< where modules tell what caused what; null: nowhere
    BoundaryListener* boundaries = nullptr;  ///< who records what crosses boundaries; null: nobody
    /// Each of these ranks stands for others that make the same calls at the same times. Mirrors hand back to
    /// it what it sends in symmetric collectives (CollectivePlan::asymmetry). On `analytical` dimensions, and
    /// on Switch dimensions at `message` fidelity. Empty: every rank is built.
    std::vector<uint32_t> mirrored;
    /// .. and what they send each other.
    std::vector<graph::Folding::Image> images;
    /// Of `mirrored`, those that run collectives with each other, ascending. On Switch dimensions at
    /// `message` fidelity.
    std::vector<uint32_t> joined;
    /// For SystemC modules of others (cosim/tlm/mm_to_link.h); not with `mirrored`.
    struct External {
      std::vector<uint32_t> nmus;  ///< ranks by whose NMUs others send, too: they have a tap
      std::vector<uint32_t> hbms;  ///< ranks whose HBM keeps bytes and has a socket for others, to be bound
    };
    External external;
    /// With `mirrored`: the ranks that are built beside them and reach each other, ascending.
    std::vector<uint32_t> whole;
    /// Only these ranks are built, ascending, which reach each other; empty: all. On Switch dimensions at
    /// `message` fidelity. Not with `mirrored`.
    std::vector<uint32_t> only;
    /// The machine is one part of a larger one, which other processes simulate (docs/parts.md): it has the
    /// NPUs that are in it. Null: all. Not with `mirrored`, nor with what parts_refusal() names. Outlives the
    /// machine.
    PartBorder* part = nullptr;
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
  NmuModel& nmu(uint32_t rank) { return *nmus_[rank]; }
  const NmuModel& nmu(uint32_t rank) const { return *nmus_[rank]; }
  /// The NMU as this library's class, which folding needs. Throws std::bad_cast if it is of another model;
  /// ranks do not fold then (Config::replaces_modules).
  Nmu& own_nmu(uint32_t rank) { return dynamic_cast<Nmu&>(*nmus_[rank]); }
  const Nmu& own_nmu(uint32_t rank) const { return dynamic_cast<const Nmu&>(*nmus_[rank]); }
  NpuModel& npu(uint32_t rank) { return *npu_modules_[rank]; }
  const NpuModel& npu(uint32_t rank) const { return *npu_modules_[rank]; }
  /// Of Options::External. Throws std::out_of_range for a rank that was not named there.
  NmuTap& tap(uint32_t rank) { return *taps_.at(rank); }
  bool has_taps() const { return !taps_.empty(); }
  tlm::tlm_target_socket<32>& hbm_socket(uint32_t rank) { return *hbm_sockets_.at(rank); }
  /// Bytes that this rank's memories have moved.
  uint64_t memory_bytes(uint32_t rank) const;
  const fabric::PacketPool& pool() const { return pool_; }
  fabric::PacketPool& pool() { return pool_; }
  /// Where its modules tell what caused what. Null: nowhere.
  insight::CausalLog* causes() const { return pool_.causes(); }
  const LinkCuts& cuts() const { return cuts_; }
  /// Null: there is none.
  MemoryPool* memory_pool() { return memory_pool_.get(); }
  /// What runs collectives in place of the NMUs (`collectives.library`). Null: the NMUs run them.
  LibraryRuns* library() { return library_.get(); }
  /// Host memory and NVMe. Null: there are none.
  MemoryTiers* memory_tiers() { return tiers_.get(); }
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
  /// Options::only is set.
  bool partial() const { return partial_; }
  /// Ranks that stand for others.
  const std::vector<uint32_t>& mirrored() const { return mirrored_; }
  /// What is called in the part `starts` of an instant in which request_starts() was called; empty: nothing.
  void on_starts(std::function<void()> call) { on_starts_ = std::move(call); }
  void request_starts() { starts_.request(); }
  /// For one job at a time.
  WheelAlarm& alarm() { return *alarm_; }
  /// So many numbers for collectives that no other job on this machine has: the first one.
  uint32_t take_streams(uint32_t count);

  /// The cut links of Options::part; null: the machine is whole.
  PartLinks* part_links() { return part_links_.get(); }
  /// .. and what must not have happened for the parts to do as the whole machine does (ring_of_parts()).
  const collectives::MemberBegins& member_begins() const { return slot_waits_.member_begins(); }

  /// SlotWaits::on_follow().
  void on_slot_search(std::function<void(uint32_t rank, uint32_t source)> call) {
    slot_waits_.on_follow(std::move(call));
  }

  /// Starts chunks that wait for slots when nothing moves any more (CollectiveEngine::rescue). True if there
  /// was one: run the simulation again. Each use is a line of slot_warnings(): times then depend on the rest
  /// of the machine.
  bool rescue();
  /// About chunks that were started beyond the slots, and about uses of rescue(). `beyond`: how many such
  /// starts there were.
  std::vector<std::string> slot_warnings(uint64_t beyond) const;

  /// Brings what packet networks have counted up to now (PacketNetwork::settle()). Call between two steps of
  /// the simulation, before results of an unfinished run are taken.
  void settle();
  /// Packet networks and memories are as they were in the beginning, but for what has been counted
  /// (PacketNetwork::restart(), MemoryTarget::restart()). Call between two steps of the simulation, when
  /// nothing is on its way.
  void restart();

  /// The links of a rank's ports, in and out, as they are now.
  std::vector<fabric::Link> links(uint32_t rank) const;
  /// `rank` has used its links of these dimensions as `like` has since they were `before`. `exchanges`:
  /// CollectivePlan::LinkImages.
  void adopt_links(uint32_t rank, uint32_t like, const std::vector<fabric::Link>& before, uint32_t dimensions,
                   uint32_t exchanges);

  /// The link by which the switch of a dimension sends to the rank, which is built and not folded. The
  /// dimension is a Switch at `message` fidelity.
  fabric::Link& link_to(uint32_t rank, uint32_t dimension);

  /// Calls visit(LinkReport) for every link direction, in a fixed order.
  void for_each_link(const Component::LinkVisitor& visit) const;
  /// .. with the place of each in that order. Of a machine in parts the places are those in the whole one;
  /// what several parts have an image of has the same place in all of them.
  struct LinkAt {
    uint32_t place = 0;   ///< LinkPlace
    uint32_t module = 0;  ///< there
    uint32_t link = 0;    ///< of the module
    bool operator<(const LinkAt& o) const {
      if (place != o.place) return place < o.place;
      return module != o.module ? module < o.module : link < o.link;
    }
  };
  void for_each_link_at(const std::function<void(const LinkAt&, const LinkReport&)>& visit) const;
  /// .. that `rank` sends on. `built` is the simulated rank that stands for it, `images` how.
  void for_each_link_as(NpuId rank, NpuId built, const LinkImages& images,
                        const Component::LinkVisitor& visit) const {
    own_nmu(index(built)).for_each_link_as(rank, images, visit);
  }
  /// .. of the host of `rank`, which does as that of `built` does.
  void for_each_host_link_as(NpuId rank, NpuId built, const Component::LinkVisitor& visit) const {
    if (tiers_ != nullptr && folded_) tiers_->for_each_link_as(index(rank), index(built), visit);
  }
  /// .. that no NMU sends on.
  void for_each_switch_link(const Component::LinkVisitor& visit) const;
  /// .. of all ranks of a folded machine. `built(rank)` is the simulated rank that stands for it.
  void for_each_switch_link_as(const std::function<uint32_t(uint32_t)>& built,
                               const Component::LinkVisitor& visit) const;

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
  /// The same in two: what the sum over all parts of a machine shows, and what each part shows.
  static std::vector<std::string> unbalanced_sums(const Totals& totals);
  std::vector<std::string> unbalanced_modules() const;
  /// Of all parts, when the run is over (Component::find_warnings).
  std::vector<std::string> warnings_of_modules() const;

  /// Why nothing moves any more in the machine: what collective units wait for, why packets do not move (with
  /// the cycle of buffers if there is one), what switches hold. Empty when nothing is held.
  std::string explain_stall() const;
  /// About the machine: buffers that are too small, what can deadlock.
  const std::vector<std::string>& warnings() const { return warnings_; }

  /// Calls f(const UnitModel&) for every collective unit.
  template <typename F>
  void for_each_unit(F&& f) const {
    for (const UnitModel* unit : units_) f(*unit);
  }
  /// For the stall report: what collective units wait for, a line a block (at most `limit`).
  std::vector<std::string> describe_unit_waits(size_t limit) const;

 private:
  void build_nmus(const std::vector<uint32_t>& built, const Options& options);
  void build_taps(const Options& options);
  /// What a client of the rank's NMU talks to.
  FabricService& service(uint32_t rank);
  void build_dimension(uint32_t plane, uint32_t dimension, vcd::ProbeHub* probes);
  void build_neighbours(uint32_t plane, uint32_t dimension);
  fabric::fabric_initiator_base& end_at_carrier(uint32_t plane, uint32_t dimension, uint32_t place);
  std::vector<std::string> wireless_links() const;
  void build_direct(uint32_t plane, uint32_t dimension, vcd::ProbeHub* probes);
  // Of a machine in parts.
  bool elsewhere(uint32_t place) const {
    return part_links_ != nullptr && !part_links_->own(geometry_.rank_at(place));
  }
  uint32_t part_of_place(uint32_t place) const { return part_links_->part_of(geometry_.rank_at(place)); }
  bool line_is_cut(uint32_t dimension, uint32_t base) const;
  bool line_is_here(uint32_t dimension, uint32_t base) const;
  bool dimension_is_cut(uint32_t dimension) const;
  Picoseconds latency_to_other_parts(uint32_t dimension) const;
  std::vector<uint32_t> parts_of_nodes(const Graph& graph, const GraphLine& line) const;
  /// A carrier for the NPUs that are built and `units` more members. Those in other parts are one more.
  fabric::DirectFabric& make_carrier(const std::string& name, uint32_t units, Picoseconds latency);
  std::vector<uint32_t> carrier_places() const;
  void join_far_members();
  void join_line_in_parts(uint32_t plane, uint32_t dimension, uint32_t base, SwitchModel& image);
  void build_mirrors(uint32_t dimension, const std::vector<uint32_t>& built);
  bool joined_here(uint32_t place, uint32_t next) const;
  void mirror_neighbours(uint32_t dimension, const std::vector<uint32_t>& ranks);
  void build_folded_switch(uint32_t dimension, const std::vector<uint32_t>& built);
  void build_switches(uint32_t plane, uint32_t dimension, vcd::ProbeHub* probes);
  std::string suffix(uint32_t plane, uint32_t dimension) const;
  /// The dimension's switches reduce on that plane.
  bool has_units(uint32_t plane, uint32_t dimension) const;
  BlockEnd nmu_end(uint32_t place) const;
  /// Of the unit of the switch with that name.
  UnitContext unit_context(uint32_t dimension, const std::string& switch_name, vcd::ProbeHub* probes);
  FabricContext fabric_context() { return {config_, geometry_, pool_, wheel_}; }
  void build_trees(uint32_t plane, uint32_t dimension);
  /// How the switches of a graph are made.
  struct SwitchKind {
    ModuleChoices::Chosen model;
    Switching switching = Switching::cut_through;
    std::string names;   ///< before their nodes' names
    uint32_t plane = 0;  ///< FidelityRules
  };
  using NpuSocket = std::function<LinkSocket(uint32_t node, uint32_t port)>;
  void join_switches(const Graph& graph, const GraphLine& line, const SwitchKind& kind,
                     const std::vector<fabric::LinkType*>& types, const NpuSocket& npu_end);
  void build_graph();
  void build_packets(vcd::ProbeHub* probes);
  void build_packet_switches(uint32_t plane, PacketFabric& fabric, vcd::ProbeHub* probes);
  NmuModel& at(uint32_t place) { return *nmus_[geometry_.rank_at(place)]; }
  std::unique_ptr<MemoryTarget> make_hbm(const std::string& name, uint32_t sockets, vcd::ProbeHub* probes);
  void build_npus(const Options& options, const std::vector<uint32_t>& built);
  void build_memory_pool(vcd::ProbeHub* probes);
  packet::PacketNetwork* pool_host();
  void build_memory_tiers(const std::vector<uint32_t>& built, vcd::ProbeHub* probes);
  fabric::Link* switch_link(const std::string& of_switch, uint32_t port);
  fabric::Link* shared_link(const pool::PoolLayout& layout, uint32_t node, uint32_t port);
  void observe_links(vcd::ProbeHub& probes);
  void tell_causes_of_links(insight::CausalLog& log);
  uint32_t image(uint32_t dimension, uint32_t rank, uint32_t link, uint32_t like, uint32_t exchanges) const;
  /// The name of the link by which the NPU at a place sends along a dimension.
  std::string link_name_at(uint32_t plane, uint32_t dimension, uint32_t place, uint32_t link) const;
  /// Keeps a part of the machine.
  template <typename Module>
  Module& own(std::unique_ptr<Module> module) {
    Module& part = *module;
    parts_.push_back(std::move(module));
    return part;
  }
  void add_unit(const UnitModel& unit) {
    components_.push_back(&unit);
    units_.push_back(&unit);
  }
  /// Of the switch of that NPU's line, for the programs of a communication library; null: there is none.
  ProgramUnit* program_unit(uint32_t dimension, uint32_t npu) const;

  const Config& config_;
  graph::FidelityRules fidelity_;
  Geometry geometry_;
  fabric::PacketPool pool_;
  std::unique_ptr<collectives::DataContext> data_;
  LinkCuts cuts_;
  std::unique_ptr<PartLinks> part_links_;  ///< null: the machine is whole
  std::vector<std::pair<fabric::DirectFabric*, Picoseconds>>
      far_members_;                                      ///< carriers, with their latencies
  std::map<const Component*, uint32_t> module_numbers_;  ///< in parts: of switches, in the whole machine
  uint32_t numbered_modules_ = 0;
  std::vector<fabric::LinkType> link_types_;  ///< by dimension, or by link of the graph
  std::vector<std::vector<fabric::LinkType>>
      level_types_;  ///< by dimension: of its tree's levels above the NPUs
  ActivationWheel wheel_;
  NpuWheel npu_wheel_;
  std::unique_ptr<WheelAlarm> alarm_;  ///< the last one on the wheel
  SettledCall end_of_instant_;
  SettledCall starts_;
  std::function<void()> on_starts_;
  collectives::SlotWaits slot_waits_;
  bool folded_ = false;
  bool partial_ = false;
  std::vector<uint32_t> mirrored_;
  fabric::MessageImages images_;
  std::vector<fabric::MirrorFabric::Line> mirrors_;               ///< by dimension
  std::vector<fabric::NeighbourMirror::Line> neighbour_mirrors_;  ///< the same, of Rings at message fidelity
  std::vector<const FoldedCrossbar*> folded_switches_;
  std::vector<std::vector<SwitchModel*>> line_switches_;  ///< by dimension and line, of plane 0
  std::vector<uint32_t> whole_;                           ///< ranks that reach each other
  ModuleChoices choices_;
  std::vector<std::unique_ptr<NmuModel>> nmus_;  ///< by rank; null: not built
  collectives::UnitDirectory directory_;
  std::vector<std::unique_ptr<PacketFabric>> packets_;
  std::vector<std::unique_ptr<sc_core::sc_module>> parts_;  ///< switches and carriers, as they were built
  std::vector<std::string> warnings_;
  std::vector<const Component*> components_;  ///< what counts or has links, in the order of building
  std::vector<const UnitModel*> units_;       ///< the same of collective units
  std::unique_ptr<MemoryPool> memory_pool_;
  std::unique_ptr<MemoryTiers> tiers_;
  std::unique_ptr<LibraryRuns> library_;
  std::vector<std::unique_ptr<NpuModel>> npu_modules_;
  std::shared_ptr<const DramDevice> dram_;  ///< of the HBMs, model `banked`
  std::vector<std::unique_ptr<MemoryTarget>> memories_;
  ExternalMessages external_messages_;
  std::map<uint32_t, std::unique_ptr<NmuTap>> taps_;  ///< by rank
  std::map<uint32_t, tlm::tlm_target_socket<32>*> hbm_sockets_;
  std::vector<uint32_t> memory_ranks_;  ///< whose they are, ascending
  std::vector<std::unique_ptr<fabric::LinkObserver>> observers_;
  std::vector<std::unique_ptr<sc_core::sc_module>> wire_recorders_;
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
