// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The packet-level router: input-queued, virtual channels, credits. A PacketWheel runs it; it works on
// bursts of flits and sleeps between the cycles in which something can change.
//
// Why a burst may be sent at once: a flit sent at cycle t is seen by the next router at t + (switch_alloc +
// traversal) cycles + link latency, a credit by the previous one after a cycle + link latency + credit
// processing. All that a router needs to know about the cycles up to now + the shortest of these (its
// lookahead) has therefore been told it by now, and it may decide them in one activation. The result is that
// of a flit-by-flit model, not an approximation, and does not depend on the order in which routers run.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_ROUTER_H
#define WEFT_TLM_INTERCONNECT_PACKET_ROUTER_H

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "tlm_interconnect/border/flit_crossing.h"
#include "tlm_interconnect/packet/buffer_meter.h"
#include "tlm_interconnect/packet/burst_watch.h"
#include "tlm_interconnect/packet/clock_edges.h"
#include "tlm_interconnect/packet/ecn_marker.h"
#include "tlm_interconnect/packet/flit_queue.h"
#include "tlm_interconnect/packet/link_port.h"
#include "tlm_interconnect/packet/packet_config.h"
#include "tlm_interconnect/packet/packet_wheel.h"
#include "tlm_interconnect/packet/pause_account.h"
#include "tlm_interconnect/packet/port_set.h"
#include "tlm_interconnect/packet/random.h"
#include "tlm_interconnect/packet/router_probes.h"
#include "tlm_interconnect/packet/state_tape.h"
#include "tlm_interconnect/packet/ticks.h"
#include "tlm_interconnect/packet/vc_names.h"
#include "tlm_interconnect/packet/waiting_packets.h"
#include "tlm_interconnect/policies/allocation/allocator.h"
#include "tlm_interconnect/policies/routing/routing_policy.h"
#include "tlm_interconnect/policies/selection/selection_policy.h"

namespace weft::packet {

/// One port of a router or NI, as the network builder resolves it.
struct PortConfig {
  std::string name;
  LinkEnd end = LinkEnd::initiator;
  Ticks latency = 0;  ///< of the link, this way
  Ticks credit_latency = 0;
  Ticks flit_time = 0;      ///< how long a flit occupies the link
  uint32_t depth = 0;       ///< flits per VC of this port's own input buffer
  uint32_t peer_depth = 0;  ///< flits per VC at the other end
  double flit_error = 0;    ///< chance that a flit sent from here is damaged and its burst sent again
  Ticks replay = 0;         ///< what a repetition costs
  Ticks lookahead = 0;      ///< soonest a transfer sent by the peer now can concern this end
  bool on_cycle = true;     ///< every time of every link of the network is a multiple of the cycle
  // Priority flow control, as masks of virtual networks:
  uint32_t pauses = 0;     ///< whose sender this end pauses
  uint32_t paused_by = 0;  ///< that the other end may pause
  uint32_t xoff = 0;       ///< flits in this port's buffers of one of them
  uint32_t xon = 0;
};

class NetworkInterface;
class PacketTrains;
struct QuietHop;

/// What has left by an output.
struct OutputLoad {
  uint64_t packets = 0;  ///< whole ones: their tails
  uint64_t flits = 0;
  uint64_t bytes = 0;     ///< of messages, in the packets
  uint64_t messages = 0;  ///< whose last packet is among them
};

/// An input of a joint train.
struct JointInput {
  uint32_t input = 0;
  uint32_t output = 0;  ///< that its packets leave by; if there are several, one of them
  bool alone = false;   ///< all its packets are of one message, and more come
  /// They are of messages of one interface, which come one after the other; or of one that has been sent.
  bool in_turn = false;
  VcMask fed = 0;  ///< if so: by which VCs more may come
};

/// Whole periods of a joint train.
struct JointPeriods {
  Ticks period = 0;
  uint64_t number = 0;
};

/// What they bring to an output.
struct JointLoad {
  uint64_t packets = 0;
  uint64_t flits = 0;
  uint64_t bytes = 0;  ///< of messages
  Wide queued = 0;     ///< ticks that packets wait for others
};

/// What whole periods of a train carry.
struct TrainLoad {
  uint64_t packets = 0;
  uint64_t flits = 0;
  uint64_t bytes = 0;  ///< of messages
  Ticks period = 0;
  uint64_t periods = 0;
  const StateRecord::Queue* queues = nullptr;     ///< by VC: how one period changes the queues of the input
  const StateRecord::Credits* credits = nullptr;  ///< .. and the credits of the output
};

/// What the routers of a network share. All but `config` outlives them.
struct RouterContext {
  const PacketConfig& config;
  const RoutingPolicy& routing;
  const std::string& selection;  ///< name of the policy that chooses among equal routes
  fabric::PacketPool& pool;
  PacketWheel& wheel;  ///< runs them
  uint32_t ranks = 0;  ///< destinations; 0: not told
};

class Router final : public sc_core::sc_module, public WheelModule, private OutputView {
 public:
  Router(sc_core::sc_module_name name, uint32_t id, const std::vector<PortConfig>& ports,
         const RouterContext& network);
  ~Router() override;

  LinkPort& port(uint32_t index) { return links_[index]; }
  uint32_t ports() const { return static_cast<uint32_t>(ports_.size()); }
  uint32_t vcs() const { return vcs_; }

  // -- read by the network's checks and reports
  uint32_t id() const { return id_; }
  uint64_t activations() const { return activations_; }
  uint64_t packets() const { return packets_; }  ///< packet-hops: tails sent
  uint64_t retries(uint32_t output) const { return ports_[output].retries; }
  /// Pauses of one output, over its virtual networks: those in force by now, and for how long.
  PauseAccount::Figures pauses(uint32_t output) const;
  bool paused(uint32_t output, uint32_t virtual_network) const;
  /// Packets that found no room at the other end although they were not to be paused: a lossless link would
  /// have dropped them. Here they waited for a credit.
  uint64_t overruns(uint32_t output) const { return ports_[output].overruns; }
  /// Virtual networks of an output that may be paused, as a mask.
  uint32_t paused_by(uint32_t output) const { return ports_[output].paused_by; }
  uint64_t flits_sent(uint32_t output) const { return ports_[output].flits; }
  uint64_t packets_sent(uint32_t output) const { return ports_[output].packets; }
  /// ECN: packets marked at an output, and the longest queue that one found there, in flits.
  uint64_t packets_marked(uint32_t output) const { return ecn_ ? ecn_->marked(output) : 0; }
  uint64_t longest_queue(uint32_t output) const { return ecn_ ? ecn_->longest(output) : 0; }
  /// Messages whose last packet has gone.
  uint64_t messages_sent(uint32_t output) const { return ports_[output].messages; }
  /// Bytes of messages in whole packets.
  uint64_t payload_sent(uint32_t output) const { return ports_[output].payload; }
  /// Time that packets waited here because others used this output, summed: whenever another input had it
  /// last, from when the next flit could have gone (it has come and passed the stages, and what came by the
  /// same input before it has gone) until it goes.
  Picoseconds queued(uint32_t output) const {
    return saturated((ports_[output].queued + kTicksPerPicosecond - 1) / kTicksPerPicosecond);
  }
  Picoseconds busy(uint32_t output) const {
    return picoseconds(ports_[output].flits * ports_[output].flit_time);
  }
  /// How long a flit occupies the link of an output.
  Ticks flit_time(uint32_t output) const { return ports_[output].flit_time; }
  /// Flits of one input VC that have been announced and not yet sent on.
  uint32_t pending(uint32_t input, uint32_t vc) const { return inputs_[input * vcs_ + vc].pending; }
  /// Credits of one output VC, here or on their way.
  int64_t credits(uint32_t output, uint32_t vc) const {
    return outputs_[output * vcs_ + vc].credit.outstanding();
  }

  /// What the head of an input VC waits for; used to explain a stall.
  struct Waiting {
    fabric::PacketRef packet = fabric::kNoPacket;  ///< none: the VC is empty
    uint32_t port = 0;                             ///< output it wants
    VcMask vc_mask = 0;                            ///< VCs it may take there
    bool holds_vc = false;                         ///< it has `vc` and waits for credits or flits
    uint32_t vc = 0;
    uint32_t sent = 0;  ///< flits sent on already
    uint32_t packet_flits = 0;
    uint32_t flits_here = 0;
    uint32_t virtual_network = 0;
  };
  Waiting waiting(uint32_t input, uint32_t vc) const;
  /// Input VC (port x VCs + VC) that holds an output VC, or ~0.
  uint32_t holder(uint32_t output, uint32_t vc) const { return outputs_[output * vcs_ + vc].owner; }

  /// As it was in the beginning, with a clock edge at `now`; what has been counted stays. No packet may be
  /// here or on its way.
  void restart(Ticks now);

  /// Call at elaboration. True if anything of this router is selected.
  bool record(vcd::ProbeHub& probes);
  /// .. of the link that leaves by an output, by the name that results give it. `messages`: whose handles are
  /// the messages' id_low.
  bool record_link(vcd::ProbeHub& probes, uint32_t output, const std::string& link,
                   const fabric::PacketPool* messages);

  /// Tells of what leaves by an output. At elaboration.
  void watch(uint32_t output, BurstWatch& watch) {
    watches_.resize(ports_.size());
    watches_[output] = &watch;
  }

  /// What stands at a link's other end tells later than a router does. At elaboration.
  void limit_lookahead(Ticks most) { lookahead_ = std::min(lookahead_, most); }
  /// An interface that is near, where the other ports are far. What it sends now concerns this router after
  /// its `lookahead`, and what it sends next as long after its link is free again.
  struct Near {
    const NetworkInterface* interface;
    Ticks lookahead;
  };
  /// All that are near, and the lookahead of the other ports.
  void set_near(std::vector<Near> near, Ticks others);
  /// More has left by an output than this router sent: by a block in its place, or in a train.
  void carried(uint32_t output, const OutputLoad& load) {
    Port& port = ports_[output];
    port.flits += load.flits;
    port.packets += load.packets;
    port.messages += load.messages;
    port.payload += load.bytes;
    packets_ += load.packets;
  }

  /// A block stands in the place of this router. Nobody knows what its inputs wait for, so there are no
  /// signals of that. At elaboration.
  void give_place() { gave_place_ = true; }
  /// What has come to the block, or left it (`sent`), by a port. For waveforms.
  void crossed(uint32_t port, const fabric::FlitCrossing& crossing, bool sent);

  // -- used by PacketTrains
  void set_trains(PacketTrains* trains) { trains_ = trains; }
  /// VCs of a virtual network at any port.
  VcMask vc_mask(uint32_t virtual_network) const;
  /// Where a packet goes, if that depends on nothing but the query.
  bool certain_route(const RouteQuery& query, RouteCandidate& route);
  /// Flits that leave by an output may come damaged and be sent again.
  bool damages(uint32_t output) const { return ports_[output].flit_error > 0; }
  static constexpr uint32_t kFree = ~0u;
  /// The interface whose train has reserved it, or kFree.
  uint32_t reserved_input(uint32_t input) const {
    return reserved_inputs_.empty() ? kFree : reserved_inputs_[input];
  }
  uint32_t reserved_output(uint32_t output) const {
    return reserved_outputs_.empty() ? kFree : reserved_outputs_[output];
  }
  /// From now on counts the packets that wait here, until many have left and nobody has asked for any.
  /// `looked_at` grows by the packets that this took a look at. False: routes are adaptive.
  bool count_waiting(uint64_t& looked_at);
  /// True: `input` holds packets of one message only and nobody else has, holds or will ask for `output` with
  /// a packet that is announced already. Not without count_waiting().
  bool exclusive(uint32_t input, uint32_t output, uint32_t message);
  /// Neither has any packets, nor will get one that has been announced already.
  bool idle(uint32_t input, uint32_t output);
  /// All packets that want the output are at the input, and if there are any, it had the output last.
  bool keeps(uint32_t input, uint32_t output);
  /// Either has priority flow control.
  bool pauses(uint32_t input, uint32_t output) const;
  /// Until released, a head announced at an input that is not reserved, and that may want an output that is,
  /// disturbs the train of the interface.
  void reserve_input(uint32_t input, uint32_t interface);
  void reserve_output(uint32_t output, uint32_t interface);
  void release_input(uint32_t input) { reserved_inputs_[input] = kFree; }
  void release_output(uint32_t output);
  /// Between the two calls it decides nothing beyond the next packet of an interface, so that its state holds
  /// nothing of the future when that begins. kFree: it decides one cycle at a time. Each train that is
  /// observed calls them. Results are the same.
  void begin_steps(uint32_t interface) { steps_.push_back(interface); }
  void end_steps(uint32_t interface) { steps_.erase(std::find(steps_.begin(), steps_.end(), interface)); }
  /// How far ahead it decides otherwise.
  Ticks lookahead() const { return lookahead_; }
  /// The VCs of the link that leaves by an output. `turn`: first the one that the first VC of the input took
  /// last.
  VcNames names(uint32_t input, uint32_t output, const VcNames& from, bool turn) const;
  /// `from`, `to`: the VCs of both links, `turned`: those of the first one have not the names of the record.
  /// `counts`: how many packets have come late, too.
  void write_state(uint32_t input, uint32_t output, const VcNames& from, const VcNames& to, bool turned,
                   bool counts, StateRecord& state);
  /// Writes the state of an input and an output that deal only with each other, or brings it back, where both
  /// are set aside and without packets.
  void move_state(uint32_t input, uint32_t output, const VcNames& from, const VcNames& to, StateTape& tape);
  /// Takes away all packets of an input that is set aside, and adds them to `packets`.
  void clear(uint32_t input, uint32_t output, std::vector<fabric::PacketRef>& packets);
  OutputLoad load(uint32_t output) const;
  /// The last flit that left by an output came by that input.
  bool had_last(uint32_t input, uint32_t output) const { return ports_[output].last_input == input; }
  /// The first cycle that has not been decided; everybody has decided those before `now`.
  Ticks undecided(Ticks now) const { return on_cycle(std::max(decided_, now)); }
  /// A message that has been set aside comes here no sooner than `t`, by the train of an interface. From
  /// that cycle on nothing is decided before PacketTrains::take_part() has been called.
  void expect(Ticks t, uint32_t interface);
  void expect_no_more(uint32_t interface);
  /// .. on_cycle() of it.
  Ticks cycle_of(Ticks t) const { return on_cycle(t); }
  /// A flit that comes at `t`, the first of a packet, leaves by an output and is at the other end no sooner.
  Ticks soonest(Ticks t, uint32_t output) const {
    return on_cycle(t) + route_time_ + vc_alloc_time_ + ports_[output].flit_delay;
  }
  struct Coming {
    Ticks first;     ///< flit, at the soonest
    bool exact;      ///< .. or just then
    Ticks packet;    ///< no packet comes sooner than that after the one before it
    bool announced;  ///< some are here already
  };
  /// Packets are coming, the first one by the VC `vc`, to an input and an output that are idle(), or, if they
  /// have been announced, exclusive() to them: nothing that was here before them delays any. Adds the VCs of
  /// the output to `names`, whose last ones are those of the input; `vc` becomes that by which the first
  /// packet leaves.
  bool quiet(uint32_t input, uint32_t output, const Coming& coming, std::vector<VcNames>& names, uint32_t& vc,
             QuietHop& hop) const;
  /// How often two packets of an input have asked for VCs in one cycle.
  uint64_t contests(uint32_t input) const { return ports_[input].contests; }
  CreditAccount& credit(uint32_t output, uint32_t vc) { return outputs_[output * vcs_ + vc].credit; }
  /// Stops working on an input.
  void set_aside(uint32_t input);
  /// As if whole periods had passed.
  void shift(uint32_t input, uint32_t output, const TrainLoad& load);
  /// Cycles of some inputs alone, run one by one without an activation; then it works on as before.
  void begin_replay(const uint32_t* inputs, size_t count, Ticks from);
  Ticks next_cycle() const { return next_; }
  void replay_cycle();
  void end_replay(const uint32_t* inputs, size_t count);
  // .. and joint trains:
  /// Adds those whose packets have been announced at an input and have not yet gone entirely. Neither this
  /// nor the next one without count_waiting().
  void owners_at(uint32_t input, std::vector<PacketOwner>& owners, uint64_t& looked_at) const;
  /// Adds the inputs with packets that will leave by an output. False: not all have been found, because there
  /// are too many for a group, or because the output of some will be drawn.
  bool inputs_for(uint32_t output, std::vector<uint32_t>& inputs, uint64_t& looked_at) const;
  /// Some packet of the message is at the input. Not without count_waiting().
  bool has_at(uint32_t input, const PacketOwner& owner) const;
  /// Of an input VC: whose packets come first, and last. Not without count_waiting().
  WaitingPackets::Line line(uint32_t input, uint32_t vc) const { return waiting_packets_.line(input, vc); }
  /// Everything that decides what they will do.
  void write_joint(const std::vector<JointInput>& inputs, const std::vector<uint32_t>& outputs,
                   StateRecord& state);
  /// .. about packets from an input to an output that has several inputs (`shared`), or has not.
  void write_turn(uint32_t input, uint32_t output, bool shared, StateRecord& state) const;
  Wide queued_ticks(uint32_t output) const { return ports_[output].queued; }
  /// As if whole periods had passed. `queues`, `credits`: by VC, how one period changes them.
  void shift_input(const JointInput& input, const JointPeriods& passed, const StateRecord::Queue* queues);
  void shift_output(uint32_t output, const JointPeriods& passed, const JointLoad& load,
                    const StateRecord::Credits* credits);
  /// The last flit from an input to an output had gone then when another input had its turn.
  Ticks gone(uint32_t input, uint32_t output) const { return gone_[input * ports() + output]; }
  void shift_turn(uint32_t input, uint32_t output, Ticks by) { gone_[input * ports() + output] += by; }
  /// All cycles before this have been decided.
  Ticks decided() const { return decided_; }

 private:
  static constexpr size_t kCacheLine = 64;

  struct Endpoint final : fabric::FabricEndpoint {
    Endpoint(Router& r, uint32_t i) : FabricEndpoint(kTicksPerPicosecond), router(r), index(i) {}
    void receive(const fabric::Transfer& transfer) override { router.receive(index, transfer); }
    Router& router;
    uint32_t index;
  };

  struct KnownWay;

  // The routers of a large network do not fit into the caches. A packet's hop spends most of its time waiting
  // for these three. So each begins a cache line, and a Port has first what every burst needs.
  struct alignas(kCacheLine) InputVc {
    Ring<FlitRun, 2> queue;
    Ticks ready = 0;            ///< the next stage (VC or switch allocation) not before
    Ticks free_at = 0;          ///< the tail before has left
    Ticks eligible = 0;         ///< the head could go if it were alone
    Ticks closed_until = 0;     ///< no output (VC) can be taken before that ..
    uint64_t closed_since = 0;  ///< .. unless its output's openings (or, without a route, all) are more now
    VcMask out_mask = 0;        ///< of the output, that the packet may take
    fabric::PacketRef packet = fabric::kNoPacket;       ///< at the front
    fabric::PacketRef last_packet = fabric::kNoPacket;  ///< newest announced
    uint32_t last_next = 0;                             ///< its next flit to be announced; 0: complete
    uint32_t packet_flits = 0;
    uint32_t sent = 0;
    uint32_t pending = 0;
    uint32_t out_port = 0;
    uint32_t out_vc = 0;
    uint32_t virtual_network = 0;
    uint32_t late = 0;  ///< packets that had not come entirely when their turn came, modulo 2^32
    bool routed = false;
    bool bubble = false;   ///< may enter a ring only if a packet's space stays free
    bool drawn = false;    ///< the output was drawn among several
    bool last = false;     ///< the message's last packet
    bool overrun = false;  ///< this packet has been counted as one
  };

  struct alignas(kCacheLine) OutputVc {
    CreditAccount credit;
    Ticks free_at = 0;  ///< the last tail has left
    uint32_t owner = kFree;
    bool draining = false;  ///< release_on_credit: waits for its credits
    bool watched = false;   ///< somebody waits for a credit not yet on its way
  };

  struct alignas(kCacheLine) Port {
    // Its input:
    Ticks input_busy = 0;     ///< the crossbar input is taken until then
    Ticks credit_delay = 0;   ///< switch allocation to the credit at the other end
    VcMask va_mask = 0;       ///< input VCs that wait for an output VC
    VcMask sa_mask = 0;       ///< input VCs that have one
    VcMask held_mask = 0;     ///< input VCs whose burst may go on without arbitration
    uint32_t vc_pointer = 0;  ///< round-robin among the VCs of this input
    uint32_t depth = 0;
    uint32_t pauses = 0;     ///< as PortConfig
    uint32_t paused_by = 0;  ///< the same
    // Its output:
    Ticks output_busy = 0;
    Ticks flit_time = 0;
    Ticks flit_delay = 0;   ///< switch allocation to the other end
    VcMask owned = 0;       ///< output VCs that have an owner
    uint64_t openings = 0;  ///< as Router::openings_, of this output
    Ticks all_free = 0;     ///< at no time before this are all others free; the last OutputVc::free_at
    Ticks last_end = 0;     ///< of the last flit that left by this output
    uint64_t flits = 0;
    // .. and of whole packets:
    Wide queued = 0;  ///< ticks: their sum is more than 64 bits hold, perhaps
    uint64_t packets = 0;
    uint64_t messages = 0;
    uint64_t payload = 0;  ///< bytes
    double flit_error = 0;
    uint32_t last_input = kFree;  ///< where the last flit that left by this output came in
    bool aside = false;           ///< a train is on this input
    // Seldom:
    Ticks latency = 0;         ///< of the link
    Ticks credit_latency = 0;  ///< the same
    Ticks replay = 0;
    uint64_t retries = 0;
    uint64_t contests = 0;
    uint64_t flits_before = 0;  ///< of the flits, those before the network was last restarted
    uint64_t overruns = 0;
    uint32_t xoff = 0;
    uint32_t xon = 0;
  };

  /// The buffers of one virtual network at one input with priority flow control.
  struct Level {
    BufferMeter meter;
    bool pausing = false;
    Ticks due = kNever;  ///< the cycle in which to look whether it has come to XOFF, or down to XON
    uint64_t pauses = 0;
  };

  void end_of_elaboration() override;
  void activate() override;
  void prepare(bool near) const override;
  void receive(uint32_t port, const fabric::Transfer& transfer);
  void receive_burst(uint32_t port, const fabric::Transfer& transfer);
  void receive_credit(uint32_t port, const fabric::Transfer& transfer);
  void receive_pause(uint32_t port, const fabric::Transfer& transfer);
  void wake(Ticks t) {
    if (t < next_) next_ = t;
  }
  void wake_and_notify(Ticks t);

  // The stages, in the order they run in a cycle.
  Ticks horizon(Ticks now) const;
  Ticks decidable(Ticks lookahead) const;
  void cycle(Ticks t);
  void continue_held(Ticks t);
  void hold(uint32_t port, uint32_t vc);
  /// The flit (counted from the first that left by this output) comes damaged and is sent again.
  bool damaged(uint32_t output, uint64_t flit) const;
  void allocate_switch(Ticks t);
  void allocate_switch(Ticks t, VcMask vcs);
  void allocate_vcs(Ticks t);

  /// The VCs of the link that leaves by an output: first that which was taken last, if it was of that output.
  VcNames names_after(uint32_t last, uint32_t output, const VcNames& from) const;
  /// For a VC of any port, counted over all: its word among those of `port`.
  uint64_t word_of(uint32_t vc, uint32_t port, const VcNames& names) const;
  void meet_expected(Ticks now);
  uint32_t next_vc(uint32_t input, uint32_t output, uint32_t vc, const VcNames& from, Ticks t) const;
  void head_announced(uint32_t port, uint32_t vc, fabric::PacketRef packet);
  // The queues that ECN looks at.
  void count_arrival(uint32_t port, uint32_t vc, const fabric::Transfer& transfer);
  void count_front(uint32_t port, uint32_t vc);
  void mark_head(const InputVc& input, Ticks t);
  RouteQuery query_of(uint32_t port, uint32_t vc, fabric::PacketRef packet) const;
  /// Calls f(packet) for each packet of an input VC that has been announced and has not gone entirely, in
  /// order. Answers how many runs of flits it has looked at.
  template <typename F>
  static uint32_t for_each_packet(const InputVc& in, F&& f) {
    fabric::PacketRef packet = in.packet;
    if (packet != fabric::kNoPacket) f(packet);
    for (uint32_t k = 0; k < in.queue.size(); ++k) {
      if (in.queue[k].packet == packet) continue;
      packet = in.queue[k].packet;
      f(packet);
    }
    return in.queue.size();
  }
  /// Packets at the front of a queue that have come entirely by `t`, each in one run.
  uint32_t complete_packets(const InputVc& input, Ticks t) const;
  /// The last flit of a run came so long before `t` that no decision from then on depends on when.
  bool came_before(const FlitRun& run, Ticks t) const {
    return run.first + static_cast<Ticks>(run.flits - 1) * run.stride + 2 * cycle_ <= t;
  }
  // Priority flow control, in records of trains.
  void write_levels(uint32_t input, StateRecord& state);
  void write_pauses(uint32_t output, StateRecord& state);
  void shift_levels(uint32_t input, Ticks by);
  void write_joint_input(const JointInput& input, StateRecord& state);
  bool passes_on(const JointInput& input, uint32_t vc) const;
  void write_passing_on(const JointInput& input, uint32_t vc, bool late, StateRecord& state) const;
  void pass_on(uint32_t input, uint32_t vc, const StateRecord::Queue& queue, uint64_t periods);
  void write_joint_output(uint32_t output, StateRecord& state);
  void work_on(uint32_t input);
  void write_packet(const InputVc& input, StateRecord& state) const;
  void write_packet(const InputVc& input, uint32_t output, const VcNames& to, StateRecord& state) const;
  void move_input(uint32_t input, uint32_t output, uint32_t vc, const VcNames& to, StateTape& tape);
  void move_output(uint32_t input, uint32_t output, uint32_t vc, const VcNames& from, StateTape& tape);
  void pass_output_to(uint32_t input, uint32_t output);
  VcMask late_since_record(uint32_t input, bool turned, StateRecord& state) const;
  struct QueueWrite {
    bool may_grow;      ///< nothing has come late since the record, and all that come are of one message
    bool waits;         ///< .. and its first flit has not come
    bool with_message;  ///< it says whose the packets are; not where it may grow
  };
  bool write_queue(const InputVc& input, QueueWrite as, StateRecord& state) const;
  void write_run(const FlitRun& run, bool with_message, StateRecord& state) const;
  void write_what_stays(const InputVc& input, uint32_t size_before, StateRecord& state) const;
  /// The packet that begins at a run of the queue has come entirely before `t`. Answers its runs; 0: it has
  /// not.
  uint32_t runs_of_complete(const InputVc& input, uint32_t run, Ticks t) const;
  /// The first flit of its queue has not come, and nothing but that flit is waited for.
  bool waits(uint32_t input, uint32_t vc, Ticks now) const;
  fabric::PacketRef copy_of(fabric::PacketRef packet);
  /// The queue of an input VC gets so many packets more before a run, like one that has come entirely.
  /// Whoever looks at their arrival finds that it was before their turn.
  void put_in(uint32_t input, uint32_t vc, uint32_t place, FlitRun model, uint32_t packets);
  void announce(uint32_t input, uint32_t vc, uint32_t packets, Ticks period, uint64_t periods);
  /// As if whole periods had passed, of which each changes the queue as told.
  void shift_queue(uint32_t input, uint32_t vc, const StateRecord::Queue& queue, Ticks period,
                   uint64_t periods);
  /// The output that a packet will leave by; kFree: it is drawn.
  uint32_t way_of(uint32_t port, uint32_t vc, fabric::PacketRef packet);
  uint32_t find_way(uint32_t port, uint32_t vc, fabric::PacketRef packet);
  PacketOwner owner_of(fabric::PacketRef packet) const;
  /// These two answer as way_of(). `packets`: so many like that one.
  uint32_t count_ways(uint32_t port, uint32_t vc, fabric::PacketRef packet, int32_t change);
  uint32_t count_come(uint32_t port, uint32_t vc, fabric::PacketRef packet, uint32_t packets = 1);
  void keep_counting();
  void stop_counting();
  void start_head(uint32_t port, uint32_t vc);
  bool known_route(InputVc& input, uint32_t destination);
  void remember(const InputVc& input, uint32_t destination);
  /// Null: it is drawn; candidates_ has the ways.
  const KnownWay* known_way(const RouteQuery& query);
  bool any_open(Ticks t, Ticks& soonest);
  bool choose_route(uint32_t port, uint32_t vc, Ticks t, Ticks& soonest);
  void turn_to(uint32_t port, uint32_t vc, Ticks start);
  void send(uint32_t port, uint32_t vc, Ticks t);
  // For waveforms.
  void tell_cycle(Ticks t);
  fabric::Stall why_held(uint32_t port, uint32_t vc, Ticks t);
  // Priority flow control.
  Level& level(uint32_t input, uint32_t network) {
    return levels_[input * config_.virtual_networks + network];
  }
  bool may_begin(const InputVc& input, Ticks t);
  void missed_credit(InputVc& input);
  void predict(uint32_t input, uint32_t network);
  void look_at_levels(Ticks t);
  void pause(uint32_t input, uint32_t network, bool on, Ticks t);
  Ticks next_level(uint32_t input) const;
  uint32_t arrived_run(const InputVc& input, Ticks t, uint32_t wanted, Ticks stride) const;
  VcMask free_vcs(uint32_t port, VcMask mask, Ticks t, Ticks& soonest);
  VcMask with_bubble(const InputVc& input, VcMask free, Ticks t, Ticks& soonest);
  uint32_t free_credits(uint32_t port, VcMask vc_mask) override;
  Ticks on_cycle(Ticks t) const { return aligned_ ? t : edges_.from(t); }

  // Of every activation, kept together:
  Ticks next_ = kNever;      ///< next cycle to decide
  Ticks notified_ = kNever;  ///< the cycle that it asked the wheel for
  Ticks decided_ = 0;
  Ticks now_ = 0;             ///< the cycle being decided
  Ticks level_due_ = kNever;  ///< earliest Level::due
  Ticks expects_ = kNever;    ///< earliest Expected::cycle
  Ticks lookahead_ = 0;
  const Ticks cycle_;
  const Ticks route_time_;     ///< the stages, in ticks
  const Ticks vc_alloc_time_;  ///< the same
  const Ticks credit_time_;    ///< the same
  ClockEdges edges_;
  const uint32_t vcs_;
  const uint32_t quantum_;
  std::vector<Near> near_;  ///< empty: all ports are alike
  Ticks lookahead_of_others_ = 0;
  std::vector<uint32_t> steps_;  ///< interfaces whose trains are observed here
  uint32_t held_count_ = 0;
  const bool hold_;
  bool own_on_cycle_ = true;     ///< all times of its own links are multiples of the cycle
  const bool aligned_;           ///< every time on every link of the network is a multiple of the cycle
  const bool eager_;             ///< heads may wait for more than the one output they chose
  bool remembers_ways_ = false;  ///< they are certain
  const bool shuffles_;
  const bool strict_priority_;
  const bool strict_cut_through_;
  const bool release_on_credit_;
  PortSet va_ports_;
  PortSet sa_ports_;
  PortSet held_ports_;
  uint64_t openings_ =
      0;  ///< tails sent, and credits that somebody waited for without knowing when they come
  uint64_t activations_ = 0;
  uint64_t packets_ = 0;
  std::vector<Port> ports_;
  std::vector<InputVc> inputs_;
  std::vector<OutputVc> outputs_;
  std::vector<LinkPort> links_;
  std::vector<Ticks> gone_;  ///< per input x output: end of its last flit before another input had its turn
  fabric::PacketPool& pool_;
  /// An output and VCs there that packets are sent by.
  struct Way {
    VcMask vc_mask;
    uint32_t port;
  };
  static constexpr uint16_t kUnknownWay = 65535;
  /// Where routes depend on the destination alone: the different ones of those asked for so far, and by
  /// virtual network and destination which of them it is.
  std::vector<Way> ways_;
  std::vector<uint16_t> way_numbers_;
  uint32_t way_ranks_ = 0;  ///< destinations of one virtual network; 0: routes are not remembered
  const uint32_t id_;
  std::vector<uint32_t> disturbed_;  ///< trains to be resumed before the next cycle
  struct Expected {
    Ticks cycle;
    uint32_t interface;
  };
  std::vector<Expected> expected_;
  WaitingPackets waiting_packets_;
  uint64_t counts_until_ = 0;  ///< packets_ at which that ends, if no train needs it
  uint64_t counts_for_ = 0;    ///< packets, after somebody has asked
  struct LastWay {
    uint32_t source = kFree;
    uint32_t destination = kFree;
    uint32_t output = kFree;
  };
  std::vector<LastWay> last_ways_;        ///< by input VC, where they are certain
  std::vector<BurstWatch*> watches_;      ///< by output; empty: nobody watches
  std::unique_ptr<RouterProbes> probes_;  ///< null: nothing is recorded
  std::unique_ptr<EcnMarker> ecn_;        ///< null: nothing is marked
  SwitchRequests requests_;
  std::vector<SwitchRequest> grants_;
  std::vector<VcRequest> vc_requests_;
  std::unique_ptr<SwitchAllocator> switch_allocator_;
  std::unique_ptr<VcAllocator> vc_allocator_;

  const PacketConfig config_;
  const RoutingPolicy& routing_;
  const std::string selection_name_;
  std::unique_ptr<SelectionPolicy> selection_;
  Random random_;
  Random shuffle_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  PortSet granted_inputs_;  ///< strict_priority: in this cycle, by a virtual network that goes before
  std::vector<RouteCandidate> candidates_;

  // Priority flow control; empty where no link has it.
  std::vector<Level> levels_;          ///< input x virtual networks + virtual network
  std::vector<PauseAccount> pausing_;  ///< output x virtual networks + virtual network

  std::vector<uint32_t> counted_for_;  ///< ECN, per input VC: the output of its newest packet, kFree: unknown

  PacketTrains* trains_ = nullptr;
  std::vector<uint32_t> reserved_inputs_;   ///< interface of the train, or kFree
  std::vector<uint32_t> reserved_outputs_;  ///< the same
  uint32_t reserved_ = 0;                   ///< how many outputs
  /// Where a head goes, if that is certain: by input VC and flow, the newest in each place of a table.
  struct KnownWay {
    uint32_t input = kFree;
    uint32_t source = kFree;
    uint32_t destination = kFree;
    uint16_t virtual_network = 0;
    bool bubble = false;
    uint32_t output = kFree;
    VcMask vc_mask = 0;
  };
  static constexpr uint32_t kKnownWays = 256;
  std::vector<KnownWay> known_ways_;  ///< empty until one is asked for
  struct Live {
    PortSet va_ports, sa_ports, held_ports;
    uint32_t held_count = 0;
    Ticks next = kNever;
    Ticks notified = kNever;
  };
  Live live_;  ///< put away during a replay
  bool gave_place_ = false;
};

}  // namespace weft::packet

#endif
