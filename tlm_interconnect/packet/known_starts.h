// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Messages that begin alike. On an idle path nothing but the state of the path, and the length of the
// message, decides what happens to it. So the second one is observed from its first packet on, and what it
// does is learnt: how the path is filled, from where on the stream recurs, and in which state. A message that
// begins in the same state, but for the time and for which VC's turn it is, is set aside at its first packet.
// Resumed before the stream recurs, it is simulated from its beginning. Later the state that was learnt is
// brought back, and it is a train like others (packet_trains.h).
//
// Most messages of a collective follow others, whose last packets are still on the path. Such a message is
// simulated until these have left. From the first packet on that finds the path clear it is a closed system,
// as on an idle path. That packet is its beginning then, and its own packets on the path are part of the
// state.
//
// A message that ends before its stream has recurred is learnt up to its last packet.
//
// When all has been sent the path empties. That, too, is learnt, from the next message on: its state shortly
// before the last packet arrives. After that the path of others is set aside when their last packet has been
// sent.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_KNOWN_STARTS_H
#define WEFT_TLM_INTERCONNECT_PACKET_KNOWN_STARTS_H

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tlm_interconnect/packet/packet_train.h"
#include "tlm_interconnect/packet/ticks.h"
#include "tlm_interconnect/packet/train_costs.h"

namespace weft::packet {

class PacketTrains;

class KnownStarts {
 public:
  explicit KnownStarts(PacketTrains& trains) : trains_(trains) {}

  /// A message is about to begin its first packet, at cycle `t`; `left`: its packets but for the last one.
  /// True: it is set aside, from now on observed, or waits for its path to clear. False: there is nothing to
  /// be gained.
  bool begin(PacketTrain& train, uint64_t left, Ticks t);
  /// One that was set aside early has been resumed, because others were still on its path.
  void failed_early(PacketTrain& train);
  /// It begins in a way that is not known, but nothing has delayed it so far. True: it is learnt.
  bool learn_early(PacketTrain& train);
  /// One is set aside at train.first, with `left` packets but for the last one, that goes on as train.start
  /// says.
  void plan(PacketTrain& train, uint64_t left);
  /// The same for a later packet of one that waits.
  bool begin_later(PacketTrain& train, uint64_t left, Ticks t);
  /// The same for a later packet of one that is learnt. True: it is set aside.
  bool carry(PacketTrain& train, uint64_t left, Ticks t);
  /// Its routers count whose packets they have, and its state can be saved.
  bool can_be_saved(PacketTrain& train);
  /// So many packet-hops have gone by train.
  void saved(uint64_t hops) { for_waiting_ += static_cast<int64_t>(hops * costs::kForWaiting); }
  /// It waits no longer. `cleared`: its path has.
  void stop_waiting(PacketTrain& train, bool cleared);
  /// It is observed no longer.
  void stop_learning(PacketTrain& train);
  /// One that was set aside where it is known from is so far that its stream recurs: brings that state back.
  void bring_back(PacketTrain& train);
  /// Its train is over, but for the last packet. True: its path stays reserved.
  bool ends(PacketTrain& train);
  /// .. and its last packet has been sent, in cycle `t`.
  void last_sent(PacketTrain& train, Ticks t);
  /// One that was set aside where it is known from has ended. True: its last packet has been sent, too, as is
  /// known, and it stays set aside while its path empties.
  bool goes_to_the_end(PacketTrain& train);
  /// .. and its path empties. Called between cycles, and when a message has been announced to its end.
  void look();
  void arrived(uint32_t message);
  /// Somebody comes there before that.
  void stop_looking(PacketTrain& train);
  /// A path that empties has been set aside: brings it up to now.
  void resume_emptied(PacketTrain& train);
  /// Nothing that has been learnt stays.
  void clear();

 private:
  bool idle(PacketTrain& train);
  bool waits(PacketTrain& train, uint64_t left, Ticks t);
  bool cleared(PacketTrain& train);
  bool starts(PacketTrain& train, uint64_t left, Ticks t);
  void write_key(const PacketTrain& train, Ticks t);
  std::shared_ptr<KnownStart> find(uint64_t hash, const PackedNumbers& key) const;
  bool comes_again(uint64_t hash);
  /// Those that follow others in that way, to learn them was in vain: another key stands for that.
  void note_in_vain(uint64_t hash) { keys_.insert(~hash); }
  bool is_in_vain(uint64_t hash) const { return keys_.count(~hash) != 0; }
  void keep(uint64_t hash, std::shared_ptr<KnownStart> start);
  void begin_to_learn(PacketTrain& train, PackedNumbers key, uint64_t hash, Ticks t);
  bool recurs(PacketTrain& train, Ticks t);
  void wait(PacketTrain& train, uint64_t packets, uint64_t ahead, Ticks t);
  void note(PacketTrain& train, Ticks t);
  bool comes_again(PacketTrain& train, Ticks t);
  void write(PacketTrain& train, Ticks t);
  void learn(PacketTrain& train, Ticks t);
  void learn_in_vain(PacketTrain& train);
  /// True: the last packet has not arrived yet.
  bool save(PacketTrain& train, Ticks reference, Ticks t, PathState& state);
  void take_packets_away(PacketTrain& train);
  void restore(PacketTrain& train, Ticks reference, const PathState& state);
  void bring(PacketTrain& train, const std::vector<TrainArrivals::Burst>& bursts,
             const std::vector<TrainArrivals::Burst>& announced);
  bool may_empty(const PacketTrain& train) const;
  /// When its last packet is sent, about, or its path empties: the reference of what is known of that.
  static Ticks over(const PacketTrain& train) {
    return train.first + train.start->begun.time + train.repeats * train.period;
  }
  void bring_all(PacketTrain& train);

  /// Of what is known; the states of emptying paths come to it.
  static constexpr size_t kMostBytes = 64 << 20;
  static constexpr size_t kMostKeys = 1 << 20;
  PacketTrains& trains_;
  int64_t for_waiting_ = costs::kWaitsInAdvance;  ///< what messages that wait may still cost, in words
  std::unordered_multimap<uint64_t, std::shared_ptr<KnownStart>> starts_;  ///< by hash of the key
  size_t bytes_ = 0;                                                       ///< of all of them
  std::unordered_set<uint64_t> keys_;  ///< hashes of those that have come once
  /// .. of those that are being learnt: one message of a kind at a time.
  std::unordered_set<uint64_t> learning_;
  PacketNumbers places_;  ///< for the tape that is written
  // How its path empties is learnt; null: that of none.
  PacketTrain* looks_at_ = nullptr;
  size_t seen_arrivals_ = 0;         ///< bursts, by the last look
  uint64_t look_at_left_ = 0;        ///< it is looked at when no more packets than this are to arrive
  std::unique_ptr<PathState> seen_;  ///< then
};

}  // namespace weft::packet

#endif
