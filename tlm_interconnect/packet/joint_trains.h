// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Joint trains: messages that share ports are not simulated packet by packet as long as they stream.
//
// Messages that meet at a port, those that meet these at another port, and so on, are a group. Nobody else
// uses the ports on its ways. So the group is a closed system, as one message alone is (packet_trains.h): its
// interfaces, the inputs and outputs of routers on its ways, the receiving interfaces. It becomes periodic,
// too. The group is observed in steps, and its state is recorded when one of its interfaces, the leader,
// begins a packet. When a record comes again, what lies between the two repeats until one of the messages
// ends or somebody else comes. All of the group is then set aside, and resumed as a train is.
//
// Where messages come faster than the port that they share can take them, the queues before it grow until the
// credits are used up; and before that the ways of messages are not full. Queues and credits may drift, as
// those of a message alone may (packet_trains.h), if all packets of the queue are of one message. All else
// comes again word by word, but for what follows.
//
// Packets of a message that has been sent belong to the group, too, as long as they are on its ways. Where
// they wait before the next message of their interface the queue has fewer of them and more of the others
// from period to period, and where nothing comes behind them it gets shorter. A period repeats until two of
// them are left.
//
// What decides whose turn it is at a shared output is part of a record: the arbiters' pointers. So is what
// tells how long packets wait there. The time that they wait is added for each period.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_JOINT_TRAINS_H
#define WEFT_TLM_INTERCONNECT_PACKET_JOINT_TRAINS_H

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tlm_interconnect/packet/packet_train.h"
#include "tlm_interconnect/packet/state_record.h"
#include "tlm_interconnect/packet/ticks.h"

namespace weft::packet {

class PacketTrains;

/// A group of messages.
struct JointTrain {
  /// What the interface of a message sends: it; or another one of the group, which comes behind it; or
  /// nothing.
  enum class Sends : uint8_t { it, another, nothing };
  struct Member {
    PacketTrain* train = nullptr;  ///< of its interface
    uint32_t message = 0;
    Sends sends = Sends::it;
    bool is_sent() const { return sends != Sends::it; }  ///< .. entirely
    std::vector<TrainHop> path;
    NetworkInterface* to = nullptr;
    bool stands = true;                        ///< the one message that is written for its interface
    size_t sender = 0;                         ///< number of its interface among those of the group
    uint64_t begun = 0;                        ///< packets, when the record was made
    uint64_t packets = 0;                      ///< that begin in a period
    uint64_t hops = 0;                         ///< of its packets, in a period
    uint64_t delivered = 0;                    ///< packets that arrive in a period
    std::vector<TrainArrivals::Burst> bursts;  ///< what arrives in a period
  };
  struct Turn {
    uint32_t input = 0;
    uint32_t output = 0;
    bool shared = false;   ///< the output has other inputs, too
    uint64_t packets = 0;  ///< a period
    Ticks gone = 0;        ///< Router::gone() when the record was made
    bool moves = false;    ///< .. and in a period it moves by that
  };
  /// The ports of one router.
  struct Place {
    Router* router = nullptr;
    std::vector<JointInput> inputs;
    std::vector<uint32_t> outputs;
    size_t first_input = 0;   ///< inputs of the places before this one
    size_t first_output = 0;  ///< the same
    std::vector<Turn> turns;  ///< pairs of them that packets pass
    /// By output, how long packets have waited for each other. Observed: up to the record. Set aside: in a
    /// period.
    std::vector<Wide> queued;
    Ticks undecided = 0;  ///< at set-aside: from here on its cycles have not been run
  };
  std::vector<Member> members;  ///< the leader first
  size_t interfaces = 0;        ///< that send them, or have sent them
  std::vector<Place> places;
  std::vector<NetworkInterface*> receivers;
  uint64_t fingerprint = 0;  ///< of its messages
  bool carried = false;
  bool grows = false;  ///< carried: a queue grows
  bool fills = false;  ///< .. or something on the way is not looked at yet
  bool recorded = false;
  uint64_t window = 0;         ///< how many of the leader's packets to compare with one record
  uint64_t observed_from = 0;  ///< in the leader's packets
  uint64_t compare_from = 0;   ///< the same
  uint64_t failed = 0;         ///< comparisons with it that were not cheap
  uint64_t others = 0;         ///< packets of others since the leader's last one
  Ticks record_from = 0;       ///< before it a record would hold what had been decided ahead
  Ticks time_of_record = 0;
  std::vector<uint64_t> record;
  std::vector<TrainArrivals::Burst> bursts;
  // How a period changes the queues, by place, input and VC; and the credits, of all members' interfaces by
  // VC, then by place, output and VC.
  std::vector<StateRecord::Queue> queues;
  std::vector<StateRecord::Credits> credits;
  Ticks since = 0;  ///< set aside then
  Ticks first = 0;  ///< cycle in which the leader's first packet begins
  Ticks period = 0;
  uint64_t repeats = 0;

  /// VCs of a link.
  size_t vcs() const { return places[0].router->vcs(); }
  const StateRecord::Queue* queues_of(const Place& place, size_t input) const {
    return &queues[(place.first_input + input) * vcs()];
  }
  const StateRecord::Queue* queues_of(const Place& place, const TrainHop& hop) const {
    size_t input = 0;
    while (place.inputs[input].input != hop.input) ++input;
    return queues_of(place, input);
  }
  const StateRecord::Credits* credits_of(const Member& member) const {
    return &credits[member.sender * vcs()];
  }
  const StateRecord::Credits* credits_of(const Place& place, size_t output) const {
    return &credits[(interfaces + place.first_output + output) * vcs()];
  }
};

class JointTrains {
 public:
  explicit JointTrains(PacketTrains& trains) : trains_(trains) {}

  enum class Formed : uint8_t {
    yes,
    alone,  ///< only messages of its own interface are on the way
    later,  ///< one of the messages is about to end or has just begun, or little is left of one that was sent
    no      ///< there is a group that cannot be carried, or it is not worth while
  };
  /// Observes the group of a message from now on, if there is one.
  Formed form(PacketTrain& leader, Ticks t);
  /// A member is about to begin a packet at cycle `t`, and has so many full packets left but for the last.
  /// True: the group has been set aside.
  bool carry(PacketTrain& member, uint64_t left, Ticks t, TrainReason& why);
  /// Somebody else comes to a port of the group. True: it has been set aside, and must be resumed.
  bool disturb(PacketTrain& member);
  /// Brings a group that has been set aside up to now.
  void resume(PacketTrain& member);
  /// No longer a group: it goes on packet by packet.
  void dissolve(PacketTrain& member);
  void restart();

  /// Flits received by groups under way that are not yet counted anywhere.
  uint64_t flits_under_way() const;

 private:
  static void find_interfaces(JointTrain& group);
  Formed gather(PacketTrain& leader);
  Formed gather_at(Router& router, uint32_t input, uint32_t output);
  Formed add(const PacketOwner& owner);
  Formed add_sender(PacketTrain& train);
  Formed add_sent(PacketTrain& train, uint32_t message);
  bool has_found(const PacketTrain& train, uint32_t message) const;
  void spend(const JointTrain& group, uint64_t words);
  static int64_t balance(const JointTrain& group);
  static int64_t credit(const JointTrain& group);
  bool reservable() const;
  static JointTrain::Place& place_of(JointTrain& group, const TrainHop& hop);
  static JointTrain::Turn& turn_of(JointTrain::Place& place, const TrainHop& hop);
  static void lay_out(JointTrain& group);
  void observe(JointTrain& group, Ticks t);
  void write(JointTrain& group);
  bool drifts(JointTrain& group, Ticks t, uint64_t& repeats) const;
  static bool drifts(const NetworkInterface* sender, uint32_t flits, const StateRecord::Queue* queues,
                     const StateRecord::Credits* credits, size_t vcs, uint64_t& repeats);
  static bool count_packets(JointTrain& group);
  static int64_t more_than_come(const JointTrain::Place& place, const TrainHop& hop, uint32_t message,
                                const StateRecord::Queue* queues);
  bool set_aside(JointTrain& group, uint64_t left, Ticks t);
  void add_periods(JointTrain& group, uint64_t passed);
  void replay(JointTrain& group, Ticks shift, Ticks present);
  void resume(JointTrain& group);
  void dissolve(JointTrain& group);

  PacketTrains& trains_;
  std::vector<std::unique_ptr<JointTrain>> groups_;
  StateRecord state_;
  // Scratch of gather().
  using Port = std::pair<const Router*, uint32_t>;
  std::vector<JointTrain::Member> found_;
  std::vector<Port> seen_inputs_;
  std::vector<Port> seen_outputs_;
  std::vector<PacketOwner> owners_;
  std::vector<uint32_t> inputs_;
  uint64_t looked_at_ = 0;
};

}  // namespace weft::packet

#endif
