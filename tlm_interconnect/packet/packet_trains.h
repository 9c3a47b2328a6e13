// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Packet trains: a long message that streams without contention is not simulated packet by packet.
//
// While nobody else uses the ports on its path a message is a closed system: its NI, one input and one output
// of each router on the way, the receiving NI. Finite and deterministic, it becomes periodic. So its state is
// recorded whenever a packet begins; when a record equals an earlier one, everything between the two repeats
// for as long as whole packets are left and nobody interferes. While it is observed its NI begins no packet
// ahead of time and its routers decide one cycle at a time: a record then holds nothing that was decided for
// the future, and its period is that of the traffic. The path is then set aside: no module on it
// does anything for this message. The train is resumed when it ends, or when a head is announced that wants
// one of its outputs, or when something else is to be sent by its NI:
//   - the whole periods that have passed are added to every time and counter of the path;
//   - what is left of the period up to now is run packet by packet, by the same code, on these ports only.
// A stream may also recur but for what drifts: where an interface is faster than a router, or a link than the
// next one, a queue grows and the credits for it get fewer. As long as every packet comes before its turn and
// there are more credits than a packet takes, no decision depends on either. So a period in which that holds
// repeats until the credits are nearly used up. Resumed, the queue is lengthened by the packets that have
// come meanwhile.
// Nor does anybody look at a queue whose first flit has not come, or at credits on their way where there are
// enough. While these only get more at their end, a stream repeats from its first packets on, until the first
// of them comes. Resumed, what was added in a period is added for each. Where there would be enough credits
// even if none came, it does not matter when they come, either.
//
// All modules hand out the VCs of a virtual network in turn. So states are compared but for whose turn it is
// (VcNames): a stream that comes into the same state with other VCs goes on alike, and after some periods
// each VC has its own turn again. Those periods are one of the train.
//
// A message that begins on an idle path, or finds it clear later, in the same state as one before it goes on
// like that one to its end (KnownStarts). So does one whose path is clear in time, hop by hop (EarlyStarts).
//
// A train is resumed before the other packet can have any effect (a transfer concerns its receiver no sooner
// than the receiver's lookahead), so every arrival is the one of the packet-by-packet simulation, not near
// it.
//
// To look for a train, to set one aside and to resume it take work that is lost where packets of others come
// in between again and again. Each interface has an account of that work: every message that begins pays a
// little in for its packets, packets that went by train pay most of what they saved, and without a balance
// nothing is looked for. So trains cost a few per cent at most. What is looked for, and when, never changes a
// result.
//
// Not carried: packets of a PacketSource, routes that are drawn, adaptive routing, links with flit errors,
// networks with ECN (a mark is drawn for each packet), links with a border (LinkJoiner).

#ifndef WEFT_TLM_INTERCONNECT_PACKET_PACKET_TRAINS_H
#define WEFT_TLM_INTERCONNECT_PACKET_PACKET_TRAINS_H

#include <cstdint>
#include <memory>
#include <vector>

#include "tlm_interconnect/packet/clock_edges.h"
#include "tlm_interconnect/packet/early_starts.h"
#include "tlm_interconnect/packet/joint_trains.h"
#include "tlm_interconnect/packet/known_starts.h"
#include "tlm_interconnect/packet/network_interface.h"
#include "tlm_interconnect/packet/packet_train.h"
#include "tlm_interconnect/packet/router.h"
#include "tlm_interconnect/packet/state_record.h"
#include "tlm_interconnect/packet/ticks.h"
#include "tlm_interconnect/packet/topology.h"
#include "tlm_interconnect/packet/train_counts.h"

namespace weft::packet {

class PacketTrains {
 public:
  using Reason = TrainReason;
  using Counters = TrainCounts;

  PacketTrains(const PacketTopology& topology, const std::vector<std::unique_ptr<Router>>& routers,
               const std::vector<std::unique_ptr<NetworkInterface>>& nis, MessagePool& messages,
               fabric::PacketPool& pool, Ticks cycle);
  ~PacketTrains();

  /// The NI is about to begin a packet of the message at the front of a queue, at cycle `t`. True: from this
  /// packet on it goes by train; the NI does nothing until it is resumed.
  bool carry(NetworkInterface& ni, uint32_t virtual_network, Ticks t) {
    PacketTrain* const train = trains_[ni.number()].get();
    if (train == nullptr || train->left_alone == 0 || train->virtual_network != virtual_network ||
        !ni.goes_on_with(virtual_network, train->message))
      return decide(ni, virtual_network, t);
    --train->left_alone;
    ++train->begun;
    return ordinary(train->left_alone_as);
  }
  /// Brings the train of an interface up to now and makes it ordinary packets again. Not from inside a cycle
  /// of a router or NI.
  void resume(uint32_t ni);
  /// Somebody else comes to the train's path: what has been observed is worthless, and if it has been set
  /// aside it must be resumed before any module on its path next works. True: it has.
  bool disturb(uint32_t ni);
  /// An interface has sent the last flit of a message, in cycle `t`.
  void last_sent(uint32_t ni, Ticks t);
  /// All packets of a message have been announced at the receiver.
  void arrived(uint32_t message) { starts_.arrived(message); }
  /// That an interface is to run.
  Ticks next_cycle(uint32_t ni) const { return nis_[ni]->next_cycle(); }
  /// The first packet of a message that was set aside early would come to the next router on its way now.
  /// That router is about to run, and every module is between two cycles.
  void take_part(uint32_t ni);
  /// A router is about to run, and every module is between two cycles.
  void look() { starts_.look(); }
  /// A clock edge is at `now`, and nothing is on its way (see PacketNetwork::restart()).
  void restart(Ticks now);
  /// Every train that is under way, so that counters are up to date.
  void resume_all();

  const Counters& counters() const { return counters_; }
  /// Flits received by trains under way that are not yet counted anywhere.
  uint64_t flits_under_way() const;

 private:
  friend class EarlyStarts;
  friend class JointTrains;
  friend class KnownStarts;
  using Train = PacketTrain;
  using Hop = TrainHop;
  using Phase = PacketTrain::Phase;

  Ticks now() const;
  bool decide(NetworkInterface& ni, uint32_t virtual_network, Ticks t);
  /// Full packets of a message that have not begun, but for the last packet, which may be shorter.
  static uint64_t left(const NetworkInterface::Progress& progress);
  /// Of so many those that a train carries: a last packet that is shorter needs fewer credits to begin, where
  /// it needs them all.
  static uint64_t alike(const NetworkInterface& from, uint64_t left);
  /// How often a period may repeat until a VC has not enough credits for any packet left, whatever comes.
  /// False: not even now.
  static bool enough(const NetworkInterface& from, const StateRecord::Credits& credits, uint64_t& repeats);
  bool prepare(Train& train);
  bool find_path(Train& train, const Message& message);
  bool wait_for_instalment(Train& train, uint64_t left);
  bool leave_alone(Train& train, uint64_t packets, uint64_t left, Reason why);
  void begin_message(Train& train, const Message& message, uint32_t handle, uint64_t left);
  void measure_path(Train& train) const;
  static uint64_t words_of(const Train& train, uint64_t packets);
  /// Packets after a comparison that failed after so many words, until the next one. `failed` counts those
  /// that were not cheap.
  static uint64_t wait_after(uint64_t words, uint64_t& failed);
  Reason try_to_observe(Train& train, uint64_t left, Ticks t);
  bool count_company(Train& train);
  void first_record(Train& train, Ticks t);
  static uint32_t stepper(const Train& train);
  void begin_steps(Train& train, Ticks t);
  void end_steps(Train& train);
  bool meets_carried(const Train& train) const;
  bool reservable(const Train& train) const;
  static void reserve(const Train& train);
  bool recurs(Train& train, Ticks t, uint64_t& repeats);
  static void whole_rounds(Train& train);
  bool drifts(Train& train, uint64_t& repeats);
  /// From here on nothing on a path has been decided, its interface being about to decide on `t`.
  Ticks undecided(const Train& train, Ticks t) const;
  bool exclusive(Train& train);
  void earn(Train& train, uint64_t words) const;
  void spend(Train& train, uint64_t words);
  void observe(Train& train, Ticks t);
  void forget(Train& train);
  void back_off(Train& train, Reason why);
  void wait_for_company(Train& train);
  bool ordinary(Reason why) {
    ++counters_.ordinary[static_cast<size_t>(why)];
    return false;
  }
  /// What of a path: what decides about its packets; and how far ahead routers have decided; and what has
  /// been counted.
  enum class Write : uint8_t { state, state_and_horizon, all };
  void write_path(const Train& train, Write what);
  /// So many packets of it have arrived in so many periods, in each as `bursts` tell.
  void arrive(uint32_t message, NetworkInterface& to, const std::vector<TrainArrivals::Burst>& bursts,
              Ticks period, uint64_t packets, uint64_t periods);
  void replay_from(Train& train, Ticks first, Ticks shift, Ticks present);
  bool turned(const Train& train, size_t link) const;
  uint64_t rounds(const std::vector<VcNames>& earlier) const;
  void clear_drift(Train& train) const;
  static void note_settled(Train& train);
  static void replay(const std::vector<NetworkInterface*>& interfaces, const std::vector<Router*>& routers,
                     Ticks present);
  void set_aside(Train& train, Ticks t, uint64_t repeats);
  void stop_path(Train& train);
  void stop(Train& train);
  /// So many hops of a train that has been set aside take part.
  static size_t taken(const Train& train) { return train.path.size() - train.not_taken; }

  const PacketTopology& topology_;
  const std::vector<std::unique_ptr<Router>>& routers_;
  const std::vector<std::unique_ptr<NetworkInterface>>& nis_;
  MessagePool& messages_;
  const Ticks cycle_;
  ClockEdges edges_;
  std::vector<std::unique_ptr<Train>> trains_;  ///< by interface; made when first needed
  JointTrains joint_;
  StateRecord state_;
  Counters counters_;
  fabric::PacketPool& pool_;
  KnownStarts starts_;
  EarlyStarts early_;
  std::vector<VcNames> names_;  ///< of the state that was written last, by link of the path
};

}  // namespace weft::packet

#endif
