// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The network messaging unit of one NPU: its fabric ports (which hold the links' timing), its collective
// engine and its point-to-point messages. Run by the wheel: everything that becomes due later waits in one
// queue. Models that change when messages leave derive from it.

#ifndef WEFT_SC_MODELS_NMU_H
#define WEFT_SC_MODELS_NMU_H

#include <deque>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <unordered_map>
#include <vector>

#include "configs/blueprint/geometry.h"
#include "configs/blueprint/link_images.h"
#include "configs/config.h"
#include "configs/end_delays.h"
#include "configs/graph.h"
#include "configs/large_pages.h"
#include "sc_models/full_exchanges.h"
#include "sc_models/message_copies.h"
#include "sc_models/nmu_model.h"
#include "tlm_interconnect/fabric/direct_fabric.h"
#include "tlm_interconnect/ports/last_link.h"
#include "tlm_interconnect/ports/link.h"
#include "tlm_interconnect/ports/timed_queue.h"
#include "tlm_interconnect/protocol/fabric_protocol.h"
#include "workload/collectives/engine.h"
#include "workload/seam.h"

namespace weft {

class Nmu : public NmuModel, private Wakeable, public MessagePort {
 public:
  Nmu(sc_core::sc_module_name name, NpuId rank, const NmuContext& context);
  ~Nmu() override;

  static void* operator new(std::size_t size, std::align_val_t) { return LargePages::allocate(size); }
  static void operator delete(void* memory, std::size_t size, std::align_val_t) noexcept {
    LargePages::release(memory, size);
  }

  /// A fabric port of this NMU: the links it sends on and its end, of either kind, of what joins it to its
  /// peer.
  class alignas(64) Port final : public fabric::FabricEndpoint {
   public:
    void receive(const fabric::Transfer& transfer) override { nmu->receive(*this, transfer); }
    void send(fabric::Transfer& transfer);
    /// The peer's interface, once bound (sc_port's own look-up costs two cache lines a message). Fatal when
    /// it is bound to none.
    void resolve();
    fabric::Link& link(uint32_t i) { return i == 0 ? first : more[i - 1]; }
    const fabric::Link& link(uint32_t i) const { return i == 0 ? first : more[i - 1]; }
    uint32_t links() const { return more_links + 1; }
    /// It has so many links.
    void send_on(uint32_t links, fabric::LinkType& link_type);
    /// Does link i carry what the NPU at `place` sends, of which this NMU is or tells? Of a graph, a one-way
    /// link's receiving end does not; at the ends of a Mesh nothing leads on.
    bool sends(uint32_t i, uint32_t place) const;

    /// Analytical: link i of those that end here.
    fabric::LastLink& last(uint32_t i) { return last_links[i]; }
    const fabric::LastLink& last(uint32_t i) const { return last_links[i]; }
    uint32_t lasts() const { return last_count; }
    /// Where the next message over it probably goes: what is to be fetched of the receiver.
    void fetch_peer() const;
    /// Analytical: so many links end here that messages queue for.
    void expect_on(uint32_t links, fabric::LinkType& link_type);
    enum class Analytical : uint8_t { no, pairs, shared };
    /// Which of the last links a message from that NMU takes: those of `pairs` are known by their other end.
    uint32_t last_of(const fabric::Packet& packet, uint32_t link) const {
      return analytical == Analytical::pairs ? nmu->pair_link(dimension, packet.source) : link;
    }

    // With the base class, one line with what every message reads; `first` is the next one.
    Nmu* nmu = nullptr;
    fabric::fabric_fw_if* forward = nullptr;  ///< this side is the initiator
    union {
      fabric::fabric_bw_if* backward = nullptr;  ///< this side is the target
      fabric::DirectFabric* direct;              ///< analytical: what `forward` is; null: a mirror
    };
    union {
      const void* peer_hint = nullptr;  ///< where the peer NMU keeps what a message touches: only prefetched
      fabric::LastLink*
          last_links;  ///< analytical; ring and mesh: ascending, descending; FullyConnected: one a
                       ///< peer; null: only neighbours' messages end here, and nobody waits
    };
    uint32_t neighbour = ~0u;  ///< ring and mesh: the rank at the other side, if only this port leads there
    uint16_t dimension = 0;
    uint8_t number = 0;
    Analytical analytical = Analytical::no;  ///< at this fidelity; `pairs`: a link for every peer

    fabric::Link first;

    uint32_t lower_neighbour = ~0u;  ///< analytical ring and mesh: `neighbour` is the upper one
    uint32_t held = 0;               ///< own messages waiting or being sent (with an injection queue)
    bool descending = false;         ///< ring and mesh: towards smaller coordinates
    bool cut_through = false;        ///< what comes in is forwarded on its head
    uint8_t plane = 0;               ///< the first one that uses it; 0: at its dimension's own fidelity
    uint32_t more_links = 0;
    uint32_t last_count = 0;
    /// FullyConnected: one a further peer; analytical ring: descending; analytical graph: one a further port
    /// of the node.
    std::unique_ptr<fabric::Link[]> more;
    std::unique_ptr<fabric::LastLink[]> own_last_links;
    /// One of the two, until resolve(): what joins it to its peer.
    std::unique_ptr<fabric::fabric_initiator_end> initiator;
    std::unique_ptr<fabric::fabric_target_end> target;
  };

  /// The physical NPU that this rank is.
  uint32_t place() const { return place_; }
  using Ports = std::vector<Port, LargePageAllocator<Port>>;
  Ports& ports() { return ports_; }
  const Ports& ports() const { return ports_; }
  /// The port for dimension d (ring and mesh at message fidelity: one a direction), nullptr if it has none.
  /// `plane`: FidelityRules.
  Port* port(uint32_t dimension, bool descending = false, uint32_t plane = 0);
  Fidelity fidelity_of(const Port& port) const;

  // NmuModel
  LinkSocket end(const LinkEndAt& at) final;
  fabric::Link* link(const LinkEndAt& at) final;
  void join(PacketFabric& fabric, uint32_t plane) final;
  MessagePort* carry_programs(MessageSink& sink) final {
    programs_ = &sink;
    return this;
  }
  void put_program_on_plane(uint32_t stream, uint8_t plane) final { lift(stream, plane); }
  void take_program_back(uint32_t stream) final { put_back(stream); }
  bool watch_messages(MessageWatch& watch) final {
    message_watch_ = &watch;
    watched_ = submits_aside_ = true;
    return true;
  }
  MemoryDma* memory() final { return memory_.get(); }
  const void* hot() const final { return static_cast<const Wakeable*>(this); }
  void hint(const LinkEndAt& at, const NmuModel& peer) final;
  bool attached() const final { return client_ != nullptr; }
  uint32_t rescue() final { return engine_.rescue(); }
  std::vector<std::string> describe_waits(size_t limit) const final { return engine_.describe_waits(limit); }
  uint64_t messages_delivered() const final { return delivered_; }
  uint64_t out_of_order_starts() const final { return engine_.out_of_order_starts(); }

  // FabricService
  void attach(NmuClient& client) final;
  void detach() final { client_ = nullptr; }
  void start_collective(uint32_t stream, std::shared_ptr<const collectives::CollectivePlan> plan,
                        int32_t priority = 0, uint8_t plane = 0) final;
  void send(NpuId destination, uint32_t tag, uint32_t ordinal, uint64_t bytes, uint32_t data = kNoData,
            uint8_t plane = 0) final;
  void message_awaited(NpuId source, bool awaited) final { engine_.message_awaited(source, awaited); }

  /// The same for all members at once, which do alike (CollectivePlan::asymmetry): what this NMU sends comes
  /// back to it as what its peers send.
  void start_mirrored(uint32_t stream, std::shared_ptr<const collectives::CollectivePlan> plan);
  /// The collective that was mirrored is over.
  void end_mirrored(uint32_t stream);
  /// Nothing is due here, and no collective runs or has sent something here.
  bool rests() const { return queue_.empty() && tails_.empty() && engine_.rests(); }
  /// Has done what `like` has, the NMU of another rank; both rest. At `message` fidelity. `image`: the rank
  /// here in the place of one there.
  void adopt(const Nmu& like, const std::function<NpuId(NpuId)>& image);
  /// Messages that were not sent one by one (RepeatedCollectives).
  struct MessageCounts {
    uint64_t sent = 0;
    uint64_t sent_bytes = 0;
    uint64_t received = 0;
    uint64_t received_bytes = 0;
  };
  void count_messages(const MessageCounts& counts) {
    submitted_ += counts.sent;
    bytes_submitted_ += counts.sent_bytes;
    delivered_ += counts.received;
    bytes_delivered_ += counts.received_bytes;
  }
  /// Somebody looks at its single messages.
  bool watched() const { return watched_; }
  /// Tells of its point-to-point messages from now on; null: nobody. At `message` fidelity.
  void copy_messages(MessageCopies* copies) { copies_ = copies; }

  /// No collective runs and nothing is on the links of these dimensions (bits), either way.
  bool quiet(uint32_t dimensions) const;
  /// The links that `rank` sends on. This NMU stands for it: their figures are its own. `exchanges`:
  /// CollectivePlan::LinkImages.
  void for_each_link_as(NpuId rank, const LinkImages& images, const LinkVisitor& visit) const;

  // Component
  void count(Counters& counters) const override;
  void for_each_link(const LinkVisitor& visit) const override { for_each_link_as(rank_, {}, visit); }

  // MessagePort
  Picoseconds now() const final { return running() ? time_ : sc_core::sc_time_stamp().value(); }
  void submit(const Message& message) final;
  void schedule(Picoseconds at, uint32_t token) final;

  uint64_t messages_submitted() const { return submitted_; }
  uint64_t bytes_submitted() const { return bytes_submitted_; }
  uint64_t bytes_delivered() const { return bytes_delivered_; }
  uint64_t activations() const { return activations_; }
  /// Messages in this NMU: due later, or being forwarded.
  size_t in_flight() const { return queue_.size(); }

 protected:
  /// One message of this NPU that is about to leave.
  struct Departing {
    NpuId destination{};  ///< rank; of a message to a switch's collective unit kUnitPeer | dimension
    MessageId id;
    uint64_t bytes = 0;
    Picoseconds ready = 0;  ///< when it would leave, >= now
  };
  // For models that derive from this one:
  /// Call it in the constructor: departs() is asked for every message of this NPU, in the order in which they
  /// are handed over.
  void shape_departures();
  /// When the message leaves: at `ready` or later. What it waits counts as time in queues. Messages that it
  /// lets leave at one time leave in the order of the calls.
  virtual Picoseconds departs(const Departing& message) { return message.ready; }

  /// What messages pass between this NMU and its links, in time of its own: RTL. Not those of others that it
  /// forwards. At `message` fidelity.
  class Datapath {
   public:
    virtual ~Datapath() = default;
    /// A message of this NPU is ready to leave at `ready` (>= now). Answer by departed().
    virtual void outbound(fabric::PacketRef message, Picoseconds ready) = 0;
    /// One for it comes by a port, from `head` to `tail` (>= now). Answer by arrived().
    virtual void inbound(fabric::PacketRef message, uint32_t port, Picoseconds head, Picoseconds tail) = 0;
  };
  /// In the constructor; it outlives the NMU.
  void use_datapath(Datapath& datapath);
  /// The message goes to its link now; what it has waited since `ready` counts as time in queues.
  void departed(fabric::PacketRef message, Picoseconds ready);
  /// The message is whole, now.
  void arrived(fabric::PacketRef message, uint32_t port);
  fabric::Packet& packet(fabric::PacketRef ref) { return pool_[ref]; }

 private:
  void start_part(uint32_t stream, std::shared_ptr<const collectives::CollectivePlan> plan, int32_t priority,
                  uint8_t plane, bool for_all);

  // What is due is told by Order::due: a port's number for what that port received, or one of
  // these.
  enum Due : uint32_t {
    kWake = 0,
    kFirstPort = 1,
    kInject = 251,
    kReleased = 252,
    kReduced = 253,
    kSend = 254,
    kInjected = 255
  };
  struct Route {
    Picoseconds latency = 0;  ///< of this leg
    uint32_t destination = ~0u;
    uint32_t target = 0;  ///< DirectFabric: the rank where this leg ends
    uint32_t last = 0;    ///< analytical: Transfer::last_link
    uint16_t link = 0;
    uint8_t port = 0;
    uint8_t slowest = 0;        ///< analytical: the dimension whose rate bounds the leg
    uint8_t slowest_level = 0;  ///< .. and the level of its tree
    bool special = false;       ///< not just a link to be taken: analytical, or chosen message by message
    bool analytical = false;
    uint8_t packet = 0;    ///< packet fidelity: number of the PacketEnd + 1
    bool several = false;  ///< analytical: the leg crosses several dimensions or levels, slower ones perhaps
    uint8_t variant = 0;   ///< see variant_of()
  };
  /// What of a message but its destination decides on its way.
  static uint8_t variant_of(const fabric::Packet& packet);
  static constexpr uint32_t kRoutes = 16;

  /// This NMU as the receiver of one region's messages.
  struct PacketEnd final : packet::PacketSink {
    PacketEnd(Nmu& n, PacketFabric& f, uint8_t p) : nmu(n), fabric(f), port(p) {}
    bool takes_trains() const override { return true; }
    void train_arrives(const packet::TrainArrivals&) override {}
    void packet_arrives(const fabric::Packet&, uint32_t, Ticks) override {}
    void message_sent(const packet::Message& message, Picoseconds at) override;
    void message_arrives(const packet::Message& message, Picoseconds at) override {
      nmu.receive_packets(*this, message, at);
    }
    Nmu& nmu;
    PacketFabric& fabric;
    uint8_t port;  ///< slot that counts the messages held (injection queue) and orders arrivals
  };

  /// Where a plane's dimensions are among the ports. Planes share what they have at the same fidelity.
  struct Plane {
    const std::vector<DimensionConfig>* dimensions = nullptr;
    std::vector<uint8_t> first_port;     ///< by dimension
    std::vector<uint8_t> packet_end_of;  ///< by dimension: number + 1 in packet_ends_; empty: none
  };
  void build_ports(std::vector<fabric::LinkType>& link_types);
  void build_dimension(uint32_t plane, uint32_t dimension, fabric::LinkType& link_type, size_t& next);
  void build_graph_ports(std::vector<fabric::LinkType>& link_types);
  void add_end(Port& port, bool is_target);
  void end_of_elaboration() override;
  void activate(Picoseconds now) final;
  template <bool kWatched>
  void work(Picoseconds now);
  void prepare(bool near) const final;
  void receive(Port& port, const fabric::Transfer& transfer);
  void receive_packets(PacketEnd& end, const packet::Message& message, Picoseconds at);
  void transmit_packets(fabric::PacketRef ref, const Route& leg, Picoseconds ready);
  template <bool kWatched>
  bool take_turn(Port& port, fabric::PacketRef ref);
  // For the causal log; causes_ is not null.
  void keep_causes(insight::CausalLog& log);
  uint32_t cause_link(const void* of, const std::string& name, const std::string& link_class);
  void tell_turn(const Port& port, fabric::PacketRef ref, uint32_t link, Picoseconds wait_of_head,
                 Picoseconds wait_of_tail);
  void tell_way(fabric::PacketRef ref, uint32_t to, const fabric::Transfer& transfer, Picoseconds latency);
  void tell_exchange(const Port& port, fabric::PacketRef ref, Picoseconds carried);
  void tell_delivery(fabric::PacketRef ref, Picoseconds reduce);
  /// A reduction in memory begins: what the memory works on. One of its accesses is over at `at`.
  insight::AccessPart tell_reduction(fabric::PacketRef ref);
  void tell_access(fabric::PacketRef ref, Picoseconds at);
  void tell_arrival(const PacketEnd& end, const packet::Message& message, Picoseconds at,
                    const PacketFabric::Unloaded& alone);
  uint32_t pair_link(uint32_t dimension, uint32_t source) const;
  bool end_exchange(uint32_t due, fabric::PacketRef ref);
  fabric::Transfer take_first(fabric::PacketRef ref, fabric::Link& link, Picoseconds latency, Rate rate,
                              Picoseconds head, Picoseconds tail);
  void transmit(fabric::PacketRef ref, Picoseconds head, Picoseconds tail);
  void transmit_special(fabric::PacketRef ref, const Route& leg, Picoseconds head, Picoseconds tail);
  void transmit_to_neighbour(fabric::PacketRef ref, Port& port, uint32_t link, Picoseconds head,
                             Picoseconds tail);
  void hand_over(fabric::PacketRef ref, Port& port, fabric::Transfer& transfer);
  void transmit_analytical(fabric::PacketRef ref, const Route& leg, Picoseconds head, Picoseconds tail);
  uint8_t mirror_flag(uint32_t stream) const;
  void transmit_over_graph(fabric::PacketRef ref, Picoseconds head, Picoseconds tail);
  void occupy_and_send(fabric::PacketRef ref, Port& port, fabric::Link& link, uint32_t target,
                       Picoseconds head, Picoseconds tail);
  uint8_t first_port(const fabric::Packet& packet);
  uint32_t last_port(const fabric::Packet& packet) const;
  LinkReport report(const Port& port, uint32_t link, NpuId rank, const LinkImages& images) const;
  /// When the message leaves, which would at `ready`.
  Picoseconds shaped(fabric::PacketRef ref, Picoseconds ready);
  void inject(fabric::PacketRef ref);
  void inject_next();
  /// Of what is due at one instant.
  struct Order {
    uint32_t due = 0;       ///< what it is: kWake .., or kFirstPort and the number of the port it came by
    uint32_t sender = 0;    ///< of what came by a port
    uint32_t sequence = 0;  ///< .. the sender's; else as it was pushed
    bool operator<(const Order& o) const {
      if (due != o.due) return due < o.due;
      return sender != o.sender ? sender < o.sender : sequence < o.sequence;
    }
  };
  void announce_injection(fabric::PacketRef ref, Picoseconds end);
  void deliver(fabric::PacketRef ref, Picoseconds reduce);
  void reduce_in_memory(fabric::PacketRef ref);
  void reduced_in_memory(fabric::PacketRef ref);
  void probe_state(Picoseconds t);
  /// Due is what came by a port.
  static bool received(uint32_t due) { return due >= kFirstPort && due < kInject; }
  /// The port by which the next message probably goes out: on a ring what comes in at one side makes the next
  /// one leave at the other.
  Port* opposite(uint32_t due) const { return port_ + ((due - kFirstPort) ^ opposite_); }
  NpuId receiver_of(const fabric::Packet& sent) const;
  void push(Picoseconds time, uint32_t due, uint32_t ref);
  void push_received(Picoseconds time, uint8_t port, fabric::PacketRef ref);
  void push_ordered(Picoseconds time, const Order& order, uint32_t ref);
  Picoseconds take_tail(fabric::PacketRef ref);
  const Route& route(uint32_t destination, uint8_t variant);
  Port* port_to_neighbour(uint32_t destination);
  Port* port_to_switch(const fabric::Packet& packet, uint32_t& target);
  void find_route(uint32_t destination, uint8_t variant, Route& route) const;
  void find_graph_route(uint32_t destination, Route& route) const;
  void find_unit_route(uint32_t dimension, Route& route) const;
  void find_packet_leg(uint32_t destination, uint32_t dimension, Route& route) const;
  void find_leg(uint32_t destination, Route& route) const;
  uint8_t plane_of(uint32_t stream) const;
  void lift(uint32_t stream, uint8_t plane);
  void put_back(uint32_t stream);
  Picoseconds reduction_time(uint64_t bytes);
  Picoseconds ready_at(const fabric::Packet& packet, Picoseconds tail);
  /// What the ends of a message that is for this NMU, and of one to that rank, add.
  EndDelays ends_of(const fabric::Packet& packet) const {
    return ends_.empty() ? EndDelays{endpoint_delay_, endpoint_delay_} : own_ends_of(packet);
  }
  EndDelays own_ends_of(const fabric::Packet& packet) const;
  Picoseconds start_delay_to(NpuId destination) const;
  template <typename F>
  decltype(auto) timed(const fabric::Packet& packet, F&& f);
  std::string describe(const fabric::Packet& packet) const;
  fabric::PacketRef make_packet(const Message& message, uint8_t flags);

  // Touched by every message: with Wakeable and the first line of the engine they are what ActivationWheel
  // fetches. A job's NMUs do not fit a cache, so lines count, and what is rarely needed has a flag here.
  Picoseconds endpoint_delay_ = 0;
  std::vector<EndDelays> ends_;  ///< by physical dimension; empty: `endpoint_delay_` for all
  fabric::PacketPool& pool_;
  Port* port_ = nullptr;    ///< ports_.data()
  Port* likely_ = nullptr;  ///< where the next message probably goes out
  /// Those taken last, kRoutes of them; empty: none but to neighbours.
  std::vector<Route, LargePageAllocator<Route>> routes_;
  NpuId rank_;
  uint32_t place_ = 0;  ///< packets' destinations are places
  uint32_t pushed_ = 0;
  uint8_t opposite_ = 1;            ///< number ^ this: the port where a ring's next message goes out
  bool exchanges_in_full_ = false;  ///< exchanges_ may have something to do: sometimes, and now
  bool exchanging_ = false;
  bool placed_ = false;             ///< ranks are not their own places
  bool neighbours_ = false;         ///< some port has a Port::neighbour and is not analytical
  bool switches_only_ = false;      ///< every dimension has one port, to a switch at `message` fidelity
  bool reduces_ = false;            ///< reductions take time
  bool limited_injection_ = false;  ///< nmu.injection_queue or injection_bandwidth is set, or shaped_
  bool submits_aside_ = false;      ///< limited_injection_, or one of the watchers is not null
  bool cut_through_tails_ = false;  ///< tails_ is not empty
  bool on_graph_ = false;           ///< graph_ is not null
  bool in_memory_ = false;          ///< memory_ is not null
  bool watched_ = false;            ///< probes_, causes_ or message_watch_ is not null
  bool mirroring_ = false;          ///< mirrored_ is not empty
  bool lifting_ = false;            ///< lifted_ is not empty
  bool has_datapath_ = false;       ///< datapath_ is not null
  bool arrives_aside_ = false;      ///< has_datapath_, or probes_ is not null
  Picoseconds time_ = 0;            ///< of the activation, while running_
  uint64_t activations_ = 0;
  uint64_t submitted_ = 0;
  uint64_t delivered_ = 0;
  uint64_t bytes_submitted_ = 0;
  uint64_t bytes_delivered_ = 0;
  fabric::TimedQueue<uint32_t, Order> queue_;
  collectives::CollectiveEngine engine_;
  Ports ports_;
  std::unique_ptr<fabric::fabric_initiator_port> initiators_;  ///< of the ports' ends; null: there are none
  std::unique_ptr<fabric::fabric_target_port> targets_;        ///< likewise
  const Config& config_;
  const std::vector<DimensionConfig>& dimensions_;  ///< physical
  const Graph* graph_ = nullptr;                    ///< the fabric is a graph
  const Geometry& geometry_;                        ///< of the fabric
  NmuClient* client_ = nullptr;                     ///< null: nobody drives it
  MessageSink* programs_ = nullptr;                 ///< null: nobody sends their messages
  collectives::UnitDirectory* units_ = nullptr;     ///< null: no switch has a collective unit
  uint64_t reduction_bytes_ = 0;                    ///< cached: last size and its time
  Picoseconds reduction_time_ = 0;
  std::vector<Plane> planes_;
  struct Tail {
    fabric::PacketRef packet = fabric::kNoPacket;
    Picoseconds tail = 0;
  };
  std::vector<Tail> tails_;    ///< of messages forwarded on their heads
  fabric::LinkType dma_type_;  ///< nmu.injection_bandwidth
  fabric::Link dma_;
  std::unique_ptr<std::deque<fabric::PacketRef>>
      injection_;  ///< own messages in order, the first one waiting
                   ///< for its port; null: nothing limits them
  std::vector<std::unique_ptr<PacketEnd>> packet_ends_;
  std::unique_ptr<MemoryDma> memory_;
  FullExchanges exchanges_;
  std::vector<uint32_t> mirrored_;  ///< streams
  struct Lifted {
    uint32_t stream = 0;
    uint8_t plane = 0;
  };
  std::vector<Lifted> lifted_;    ///< running collectives and programs that are not on plane 0
  bool shaped_ = false;           ///< departs() says when messages leave
  Datapath* datapath_ = nullptr;  ///< null: messages go straight to the links
  const fabric::MessageImages* images_ = nullptr;  ///< null: messages go to whom they name
  struct Reducing {
    fabric::PacketRef packet = fabric::kNoPacket;
    Picoseconds began = 0;
    uint32_t accesses = 0;  ///< under way
  };
  std::vector<Reducing> reducing_;  ///< messages whose reduction is in memory
  struct Probes {
    vcd::Probe state;
    vcd::Probe outstanding;
    vcd::Probe collective;
    vcd::Probe phase;
    vcd::Probe round;
    vcd::Probe inject_queue;
    vcd::Probe receive_queue;
    std::vector<std::unique_ptr<fabric::LinkObserver>> departures;
  };
  class Departures;
  void declare_signals(vcd::ProbeHub& probes);
  bool arrive_aside(const fabric::Transfer& transfer, const Port& port);
  void tell_received(Picoseconds t);
  std::unique_ptr<Probes> probes_;         ///< null: nobody looks
  insight::CausalLog* causes_ = nullptr;   ///< null: nobody asks
  MessageWatch* message_watch_ = nullptr;  ///< null: nobody looks
  MessageCopies* copies_ = nullptr;        ///< null: the rank does for itself only
  struct Causes {
    std::unordered_map<const void*, uint32_t> links;  ///< of the log: last links and packet networks
    std::unique_ptr<fabric::LinkObserver> dma;
    struct Reduced {
      insight::ActivityId by = insight::kNoActivity;
      Picoseconds at = 0;
    };
    std::unordered_map<fabric::PacketRef, Reduced> reduced;  ///< the last access of reductions in memory
  };
  std::unique_ptr<Causes> cause_links_;
};

}  // namespace weft

#endif
