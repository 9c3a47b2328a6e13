// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The network interface between whoever has something to send (an NMU, a traffic generator) and the packet
// network: it cuts messages into packets, packets into flits, injects them under back-pressure and puts them
// together again.
//
// Sending: submit() a message, or a packet of one's own; or give it a PacketSource, from which it takes a
// packet when it is free (an infinite source queue that costs no memory). One packet at a time, one flit per
// flit time; its VC is the next in turn that is free and has a credit. Receiving: the sink is told as soon as
// the time is known, which is before it has come: `at` lies in the future.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_NETWORK_INTERFACE_H
#define WEFT_TLM_INTERCONNECT_PACKET_NETWORK_INTERFACE_H

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <systemc>
#include <vector>

#include "tlm_interconnect/packet/burst_watch.h"
#include "tlm_interconnect/packet/clock_edges.h"
#include "tlm_interconnect/packet/flit_queue.h"
#include "tlm_interconnect/packet/interface_probes.h"
#include "tlm_interconnect/packet/link_port.h"
#include "tlm_interconnect/packet/message_pool.h"
#include "tlm_interconnect/packet/packet_config.h"
#include "tlm_interconnect/packet/packet_wheel.h"
#include "tlm_interconnect/packet/pause_account.h"
#include "tlm_interconnect/packet/random.h"
#include "tlm_interconnect/packet/reaction_point.h"
#include "tlm_interconnect/packet/router.h"
#include "tlm_interconnect/packet/state_tape.h"
#include "tlm_interconnect/packet/ticks.h"
#include "tlm_interconnect/packet/topology.h"
#include "tlm_interconnect/packet/vc_names.h"

namespace weft::packet {

/// How a message becomes packets: payload per packet and flit, and what a packet carries besides.
struct Segmentation {
  uint32_t packet_bytes = 256;  ///< payload of a full packet
  uint32_t flit_bytes = 16;
  uint32_t header_bytes = 0;  ///< per packet, on the wire

  uint32_t flits(uint64_t payload) const {
    const uint64_t wire = payload + header_bytes;
    return wire == 0 ? 1 : static_cast<uint32_t>((wire + flit_bytes - 1) / flit_bytes);
  }
  /// Of a message.
  uint64_t packets(uint64_t payload) const {
    return std::max<uint64_t>(1, (payload + packet_bytes - 1) / packet_bytes);
  }
};

/// What a packet train brought: the bursts of one period, the same again every `period`, `repeats` times.
struct TrainArrivals {
  struct Burst {
    Ticks first = 0;  ///< in the first of the periods
    uint32_t flits = 0;
    Ticks flit_time = 0;
    bool tail = false;     ///< its last flit ends a packet
    uint32_t message = 0;  ///< handle
  };
  const fabric::Packet& packet;  ///< they are all like this one
  uint32_t packet_flits = 0;
  const std::vector<Burst>& bursts;
  Ticks period = 0;
  uint64_t repeats = 0;
};

/// Who gets what arrives. The calls may come before `at`, never after, except packet_arrives() and
/// flits_arrive() of packet trains (see takes_trains()). None may keep the packet: its reference goes back to
/// the pool when the call returns.
class PacketSink {
 public:
  virtual ~PacketSink() = default;
  /// True: packets to this sink may come as trains. What a train brings is reported when it ends or is split,
  /// after it has arrived, but with the times at which it did. The last packet of a message and the message
  /// itself are always reported in time.
  virtual bool takes_trains() const { return false; }
  /// What a train brought; unless overridden, packet by packet.
  virtual void train_arrives(const TrainArrivals& train);
  /// The last flit of a packet arrives at `at`.
  virtual void packet_arrives(const fabric::Packet& packet, uint32_t flits, Ticks at) = 0;
  /// `flits` flits arrive, the first at `first`, one every `flit_time`.
  virtual void flits_arrive(uint32_t /*flits*/, Ticks /*first*/, Ticks /*flit_time*/) {}
  /// The last flit of a message leaves its NI at `at` (reported to the sender's sink).
  virtual void message_sent(const Message& /*message*/, Picoseconds /*at*/) {}
  /// The last flit of a message's last packet arrives at `at`.
  virtual void message_arrives(const Message& message, Picoseconds at) = 0;
};

/// Packets on demand.
class PacketSource {
 public:
  struct Spec {
    Ticks ready = 0;  ///< when it came into being: not before the one before it
    uint32_t destination = 0;
    uint32_t flits = 1;
    uint64_t bytes = 0;
    uint64_t id = 0;
    uint8_t virtual_network = 0;
  };
  virtual ~PacketSource() = default;
  /// The next packet; false: there is none any more.
  virtual bool next(Spec& spec) = 0;
};

/// Who brings a congestion notification (DCQCN's CNP) from the interface that received marked packets to the
/// one that sent them.
class NotificationCarrier {
 public:
  /// It leaves interface `from` at `at` for the sender of `packet`, interface packet.interface.
  virtual void carry_notification(uint32_t from, const fabric::Packet& packet, Ticks at) = 0;

 protected:
  ~NotificationCarrier() = default;
};

class PacketTrains;

/// What the interfaces of a network share. All but `config` and `segmentation` outlives them.
struct InterfaceContext {
  const PacketConfig& config;
  const Segmentation& segmentation;
  fabric::PacketPool& pool;
  MessagePool& messages;
  PacketWheel& wheel;               ///< runs them
  const GivenWays* ways = nullptr;  ///< PacketTopology::ways
};

class NetworkInterface final : public sc_core::sc_module, public WheelModule {
 public:
  NetworkInterface(sc_core::sc_module_name name, uint32_t rank, const PortConfig& port,
                   const InterfaceContext& network);

  LinkPort& port() { return link_; }
  uint32_t rank() const { return rank_; }
  /// Packets for the destination end here.
  bool ends(uint32_t destination) const {
    return (ways_ == nullptr ? destination : ways_->rank(destination)) == rank_;
  }

  void set_sink(PacketSink* sink) { sink_ = sink; }
  PacketSink* sink() const { return sink_; }
  /// Call before the simulation starts. The source must outlive it.
  void set_source(PacketSource* source);
  /// No packet of the source begins any more, but for those of cycles that may have been decided by now.
  void close_source();

  /// A whole message, sent packet by packet, in the order of submission within its virtual network (with
  /// interleave_messages, in turns). Its times
  /// may lie in the future
  /// (`submitted` at the earliest now) but must not decrease from call to call. Answers its handle.
  uint32_t submit(const Message& message);

  // -- read by checks and reports
  uint64_t flits_sent() const { return flits_sent_; }
  /// Tells of what it sends. At elaboration.
  void watch(BurstWatch& watch) { watch_ = &watch; }
  /// .. of what it receives.
  void watch_arrivals(ArrivalWatch& watch) { arrival_watch_ = &watch; }
  uint64_t flits_received() const { return flits_received_; }
  uint64_t packets_sent() const { return packets_sent_; }
  uint64_t packets_received() const { return packets_received_; }
  /// Bytes of messages in the packets that it has sent.
  uint64_t payload_sent() const { return payload_sent_; }
  /// Messages that have left entirely.
  uint64_t messages_sent() const { return messages_sent_; }
  /// Time that messages waited here for others, summed: for the first packet, and where others had their
  /// turns in between.
  Picoseconds queued() const { return saturated((queued_ + kTicksPerPicosecond - 1) / kTicksPerPicosecond); }
  /// Messages of which not every packet has been begun.
  uint64_t messages_open() const {
    uint64_t n = 0;
    for (const auto& queue : queues_) n += queue.size();
    return n;
  }
  uint64_t activations() const { return activations_; }
  /// Pauses by the router in force by now, over all virtual networks, and for how long.
  PauseAccount::Figures pauses() const;
  bool paused(uint32_t virtual_network) const;
  uint32_t paused_by() const { return paused_by_; }  ///< virtual networks that may be, as a mask
  /// As Router::overruns().
  uint64_t overruns() const { return overruns_; }
  /// As it was in the beginning, with a clock edge at `now`; what has been counted stays. Nothing may be on
  /// its way, and there is no source.
  void restart(Ticks now);
  bool idle() const { return packet_ == fabric::kNoPacket && messages_open() == 0; }
  int64_t credits(uint32_t vc) const { return out_[vc].outstanding(); }
  /// The packet that is being injected, or none, and how much of it is out.
  fabric::PacketRef injecting() const { return packet_; }
  uint32_t injecting_vc() const { return vc_; }
  uint32_t injected_flits() const { return sent_; }

  // -- congestion control (ECN, DCQCN)
  /// `number`: of this interface in its network; a rank may have several.
  void set_notification_carrier(NotificationCarrier* carrier, uint32_t number) {
    carrier_ = carrier;
    number_ = number;
  }
  /// A notification for the flow from here to `destination` will arrive at `at`, at least lookahead() from
  /// now.
  void notify(uint32_t destination, Ticks at);
  Ticks lookahead() const { return lookahead_; }
  const Segmentation& segmentation() const { return segmentation_; }
  /// What stands at the link's other end tells later than a router does. At elaboration.
  void limit_lookahead(Ticks most) { lookahead_ = std::min(lookahead_, most); }
  /// From here into the network and through its first link: the first flit's time.
  Ticks flit_delay() const { return flit_delay_; }
  uint64_t marked_received() const { return marked_received_; }  ///< packets
  uint64_t notifications_sent() const { return notification_ ? notification_->sent() : 0; }
  /// By destination: every flow from here that was ever held back, up to now.
  std::map<uint32_t, FlowRecord> flow_records() const;
  uint64_t line_rate() const { return line_rate_; }  ///< bits a second

  // -- waveforms. Call at elaboration. True if anything is selected.
  bool record(vcd::ProbeHub& probes);
  /// .. of its link, by the name that results give it. `messages`: whose handles are the messages' id_low.
  bool record_link(vcd::ProbeHub& probes, const std::string& link, const fabric::PacketPool* messages);

  // -- used by PacketTrains
  struct Progress {
    uint32_t message = 0;  ///< handle
    uint64_t bytes = 0;
    uint64_t cut = 0;           ///< made into packets so far
    uint32_t packet_bytes = 0;  ///< of a full packet
  };
  void set_trains(PacketTrains* trains) { trains_ = trains; }
  uint32_t number() const { return number_; }
  /// The next packet of a network is of this message, and not its first one.
  bool goes_on_with(uint32_t virtual_network, uint32_t message) const {
    const Queued& front = queues_[virtual_network].front();
    return front.message == message && front.cut != 0;
  }
  bool takes_trains() const { return sink_ == nullptr || sink_->takes_trains(); }
  /// Of the message at the front of a queue, which must not be empty.
  Progress progress(uint32_t virtual_network) const;
  bool begins_with_all_credits() const { return config_.strict_cut_through; }
  bool waits_for_all_credits() const { return config_.release_on_credit; }
  /// There is nothing to send in other virtual networks.
  bool sends_nothing_else(uint32_t virtual_network) const;
  /// .. in any.
  bool sends_nothing() const {
    return source_ == nullptr && !have_spec_ && packet_ == fabric::kNoPacket && messages_open() == 0;
  }
  Ticks cycle_time() const { return cycle_; }
  uint32_t packet_bytes_of_trains() const { return segmentation_.packet_bytes; }
  uint32_t packet_flits_of_trains() const { return segmentation_.flits(segmentation_.packet_bytes); }
  /// It is sending the message, or is about to.
  bool sends(uint32_t virtual_network, uint32_t message) const {
    const std::deque<Queued>& queue = queues_[virtual_network];
    return !queue.empty() && queue.front().message == message;
  }
  /// So far what it sends has been decided.
  Ticks busy_until() const { return busy_; }
  /// The VCs of its link. `turn`: the one that it has just chosen comes first; else they have their own
  /// names.
  VcNames names(uint32_t virtual_network, bool turn) const;
  void write_sender(StateRecord& state, const VcNames& names);
  /// Nothing that was sent before delays a packet that begins at `t`. `words`: whose turn it is.
  bool quiet(Ticks t, const VcNames& names, std::vector<uint64_t>& words) const;
  CreditAccount& credit(uint32_t vc) { return out_[vc]; }
  /// A flit that leaves at `t` is at the router then.
  Ticks soonest(Ticks t) const { return t + flit_delay_; }
  Ticks flit_time() const { return flit_time_; }
  /// The same, when it is not about to begin a packet, and nothing may drift.
  void write_at_any_time(StateRecord& state);
  void write_receiver(StateRecord& state, const VcNames& names) const;
  /// Of no packet of the virtual network a part has arrived, and the rest not.
  bool receives_nothing(uint32_t virtual_network) const;
  /// Writes the state, at the beginning of a packet, or brings it back. Before that: begun_by_train().
  void move_sender(const VcNames& names, StateTape& tape);
  void move_receiver(const VcNames& names, StateTape& tape);
  /// What packets of a message that it sends are like, and how the last one is known.
  StateTape::Models models(uint32_t message) const;
  static uint64_t last_of(uint32_t message) { return message | kLastPacket; }
  /// So many full packets of the message at the front have been sent, the first of them at `t`. Before
  /// move_sender().
  void begun_by_train(Ticks t, uint32_t virtual_network, uint64_t packets);
  /// .. after it: the next packet of the message is about to begin, and the VC for it is chosen again.
  void goes_on(uint32_t virtual_network, const VcNames& names);
  /// Notes what arrives from now on; null: no longer.
  void record_arrivals(std::vector<TrainArrivals::Burst>* bursts) { arrivals_ = bursts; }
  /// Whether it begins no packet ahead of time, so that its state holds nothing of the future.
  void step(bool on) { steps_ = on; }
  /// The message is all that is to be sent here.
  bool sends_only(uint32_t virtual_network, uint32_t message) const {
    return source_ == nullptr && !have_spec_ && packet_ == fabric::kNoPacket && messages_open() == 1 &&
           sends(virtual_network, message);
  }
  /// While it is set aside the message at the front is sent, from `t` on, and takes the link until `busy`:
  /// tells the sink. Its packets are counted by ended_by_train(), or when they are replayed. True: nobody has
  /// come.
  bool sent_by_train(Ticks t, uint32_t virtual_network, Ticks busy);
  /// Packets of the message at the front that have not begun.
  uint64_t packets_left(uint32_t virtual_network) const {
    const Queued& front = queues_[virtual_network].front();
    return segmentation_.packets(messages_[front.message].message.bytes - front.cut);
  }
  /// All packets of that message have been sent, the first of them at `t`. Before move_sender().
  void ended_by_train(Ticks t, uint32_t virtual_network);
  /// Sends nothing until resumed, at the latest at `until`.
  void set_aside(Ticks until);
  /// .. which is another time than before.
  void stay_aside(Ticks until);
  /// .. when it is not about to begin a packet.
  void set_aside_with_others(Ticks until);
  /// As if `packets` full packets of the message at the front had been sent in so many periods.
  /// `drift`: by VC, how one period changes the credits.
  void shift_sender(Ticks period, uint64_t periods, uint32_t virtual_network, uint64_t packets,
                    const StateRecord::Credits* drift);
  /// .. and no packet.
  void shift_credits(Ticks period, uint64_t periods, const StateRecord::Credits* drift);
  void arrived_by_train(const Message& message, uint32_t packet_flits,
                        const std::vector<TrainArrivals::Burst>& bursts, Ticks period, uint64_t repeats);
  /// Cycles that lie in the past, run one by one without an activation.
  void begin_replay(Ticks from);
  /// .. where it was when it was set aside with others, `shift` later.
  void begin_replay_with_others(Ticks shift);
  Ticks next_cycle() const { return next_; }
  void replay_cycle();
  void end_replay(Ticks present);

 private:
  struct Endpoint final : fabric::FabricEndpoint {
    explicit Endpoint(NetworkInterface& n) : FabricEndpoint(kTicksPerPicosecond), ni(n) {}
    void receive(const fabric::Transfer& transfer) override { ni.receive(transfer); }
    NetworkInterface& ni;
  };
  struct InputVc {
    fabric::PacketRef packet = fabric::kNoPacket;
    uint32_t next = 0;
  };
  struct Queued {
    uint32_t message = 0;  ///< handle
    uint64_t cut = 0;      ///< bytes already made into packets
    Ticks handed_over = 0;
    Ticks turn = kNever;  ///< interleave_messages: when its latest packet began
  };

  /// What DCQCN lets go next: a message of a queue, a packet set aside, or the source's newest.
  struct Choice {
    enum class Kind : uint8_t { none, message, set_aside, source };
    Kind kind = Kind::none;
    uint32_t message = 0;      ///< place in its queue
    uint32_t destination = 0;  ///< of the packet
    uint32_t flits = 0;
  };
  /// A packet of the source whose flow is held back.
  struct SetAside {
    uint64_t number;  ///< in the order of the source
    PacketSource::Spec spec;
  };

  void end_of_elaboration() override;
  void activate() override;
  void cycle(Ticks t);
  void begin_packet(Ticks t);
  void begin_by_rate(Ticks t);
  Choice choose_by_rate(Ticks t, uint32_t virtual_network, bool only_known, bool& unknown);
  Choice choose_of_source(Ticks t, uint32_t virtual_network);
  /// The virtual network has something to send at `t` that it had before.
  bool known(uint32_t virtual_network, Ticks t) const;
  bool next_ready(uint32_t virtual_network, Ticks& ready, uint32_t& flits);
  bool choose_vc(Ticks t, uint32_t virtual_network, uint32_t flits);
  bool may_begin(Ticks t, uint32_t virtual_network);
  void missed_credit(uint32_t virtual_network);
  void receive_pause(const fabric::Transfer& transfer);
  void take_next(Ticks t, uint32_t virtual_network);
  void take_message(Ticks t, uint32_t virtual_network, uint32_t place);
  void begin_turn(Ticks t, const Queued& next);
  /// Payload of the message's next packet.
  uint64_t next_payload(const Queued& queued);
  /// What every packet of a message tells of it.
  static void describe(const Message& message, fabric::Packet& packet);
  /// Begins the packet that is to be sent.
  fabric::Packet& new_packet();
  void take_spec(const PacketSource::Spec& spec);
  void send(Ticks t);
  void tell_cycle(Ticks t);
  void tell_sent(const Message& message);
  void add_sent(uint32_t virtual_network, uint64_t packets, Ticks by);
  fabric::Stall why_held(uint32_t network, Ticks t);
  void receive(const fabric::Transfer& transfer);
  void arrived(fabric::PacketRef packet, uint32_t flits, Ticks at);
  void wake(Ticks t) {
    if (t < next_) next_ = t;
  }
  void wake_and_notify(Ticks t);
  /// Throws UserError where ticks might soon overflow.
  void check_time(Ticks t) const {
    if (t > ticks(kLongestTickTime)) too_late();
  }
  [[noreturn]] void too_late() const;
  /// The cycle in which the next flit may go.
  Ticks free_from() const { return edges_.before(busy_); }
  Ticks on_cycle(Ticks t) const { return edges_.from(t); }

  const PacketConfig config_;
  const uint32_t rank_;
  const uint32_t vcs_;
  const Ticks cycle_;
  ClockEdges edges_;
  const Ticks flit_delay_;
  const Ticks credit_delay_;
  const Ticks flit_time_;
  Ticks lookahead_;
  const bool take_turns_;  ///< among messages of several virtual networks, or of one
  const Segmentation segmentation_;
  const uint64_t line_rate_;  ///< bits a second
  fabric::PacketPool& pool_;
  MessagePool& messages_;
  const GivenWays* const ways_;
  Random shuffle_;
  Endpoint endpoint_;
  LinkPort link_;
  PacketSink* sink_ = nullptr;
  PacketSource* source_ = nullptr;
  Ticks source_ends_ = kNever;  ///< its packets begin before that

  // The packet on its way out.
  fabric::PacketRef packet_ = fabric::kNoPacket;
  uint32_t packet_flits_ = 0;
  uint32_t sent_ = 0;
  uint32_t vc_ = 0;
  uint32_t last_of_ = 0;           ///< message whose last packet this is, or none
  Ticks busy_ = 0;                 ///< the link is taken until then
  std::vector<uint32_t> last_vc_;  ///< per virtual network; ~0: none yet
  std::vector<CreditAccount> out_;
  VcMask watched_ = 0;                 ///< VCs whose next credit is waited for
  VcMask draining_ = 0;                ///< release_on_credit: VCs that wait for their credits
  const uint32_t paused_by_;           ///< PortConfig::paused_by
  std::vector<PauseAccount> pausing_;  ///< by virtual network; empty without priority flow control
  uint32_t overrun_ = 0;               ///< virtual networks whose next (or current) packet has been counted
  uint64_t overruns_ = 0;

  PacketSource::Spec spec_;
  bool have_spec_ = false;
  std::vector<std::deque<Queued>> queues_;  ///< per virtual network
  uint32_t last_network_ = 0;               ///< virtual networks take turns, packet by packet

  std::vector<InputVc> in_;

  // DCQCN; null: rates are not limited.
  std::unique_ptr<ReactionPoint> reaction_;
  std::unique_ptr<NotificationPoint> notification_;
  NotificationCarrier* carrier_ = nullptr;
  std::map<uint64_t, std::deque<SetAside>> set_aside_;  ///< by virtual network and destination
  uint64_t set_aside_packets_ = 0;
  uint64_t next_set_aside_ = 0;
  uint64_t marked_received_ = 0;

  std::unique_ptr<InterfaceProbes> probes_;  ///< null: nothing is recorded

  PacketTrains* trains_ = nullptr;
  uint32_t number_ = 0;
  std::vector<TrainArrivals::Burst>* arrivals_ = nullptr;
  bool steps_ = false;        ///< observed for a train: no packet begins ahead of time
  bool aside_ = false;        ///< its message is carried by a train
  bool interrupted_ = false;  ///< something else is to be sent
  bool told_ = false;         ///< its message has been sent, as the sink knows
  Ticks resume_ = 0;
  Ticks put_off_ = kNever;  ///< set aside with others: its next cycle
  Ticks notified_before_ = 0;

  Ticks next_ = kNever;
  Ticks notified_ = kNever;  ///< the cycle that it asked the wheel for
  uint64_t activations_ = 0;
  uint64_t flits_sent_ = 0;
  BurstWatch* watch_ = nullptr;            ///< null: nobody watches
  ArrivalWatch* arrival_watch_ = nullptr;  ///< null: nobody watches
  uint64_t flits_received_ = 0;
  uint64_t packets_sent_ = 0;
  uint64_t packets_received_ = 0;
  uint64_t messages_sent_ = 0;
  uint64_t payload_sent_ = 0;
  uint32_t last_message_ = 0;  ///< whose packet was the latest, or none
  Wide queued_ = 0;            ///< ticks
};

}  // namespace weft::packet

#endif
