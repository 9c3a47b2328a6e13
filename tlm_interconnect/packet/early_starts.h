// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Messages that follow others and are set aside at their first packet all the same. When a message begins,
// the last packets of others are often still on its path: further on than its own first packet will be before
// they have left. What matters at a router is what is there when that packet comes. So a message that would
// be known on an idle path (known_starts.h) is set aside at once, and each router on its way takes part from
// the cycle on in which the first packet would come. Until then it goes on working for others, and decides
// nothing beyond that cycle. Then it must hold no packet of others for these ports, every port must be free
// when the packet needs it, whose turn it is must be as for the message that was learnt, and there must be so
// many credits that those which are still on their way do not matter. Otherwise the message is resumed: it is
// simulated from its beginning up to then, which nobody has seen yet.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_EARLY_STARTS_H
#define WEFT_TLM_INTERCONNECT_PACKET_EARLY_STARTS_H

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "tlm_interconnect/packet/known_start.h"
#include "tlm_interconnect/packet/packet_train.h"
#include "tlm_interconnect/packet/ticks.h"

namespace weft::packet {

class PacketTrains;

class EarlyStarts {
 public:
  explicit EarlyStarts(PacketTrains& trains) : trains_(trains) {}

  /// A message is about to begin its first packet, at cycle `t`; `left`: its packets but for the last one.
  /// True: it is set aside.
  bool begin(PacketTrain& train, uint64_t left, Ticks t);
  /// gone: it is no longer what it was. delayed: something delays it. unknown: nothing does, but for credits
  /// perhaps; it goes on in a way that is not known.
  enum class Takes : uint8_t { part, gone, delayed, unknown };
  /// Its first packet would come to the next router on its way, or comes there if it is learnt. The router
  /// has decided nothing from then on.
  Takes take_part(PacketTrain& train);

  /// A message is about to be learnt that begins at `t` on an idle path. False: what was there before it has
  /// an effect.
  bool quiet(PacketTrain& train, Ticks t);
  /// From then on no credits of others are on their way to any hop.
  static Ticks credits_are_back(const PacketTrain& train);
  /// .. has been learnt, or one that follows others. Null: it may have missed credits of others.
  std::unique_ptr<QuietPath> learnt(const PacketTrain& train) const;
  /// Two of its packets have asked a router for VCs in one cycle: which is granted to which is not known of
  /// others.
  static bool contested(const PacketTrain& train);
  void keep(const std::shared_ptr<KnownStart>& start);
  void clear() { starts_.clear(); }

 private:
  bool interface_is_quiet(PacketTrain& train, Ticks t);
  bool hop_is_quiet(PacketTrain& train, size_t hop, bool announced);
  void begin_early(PacketTrain& train, uint64_t left) const;
  static void write_comings(PacketTrain& train, Ticks t);
  static bool fits(const PacketTrain& train, const KnownStart& start);
  bool choose(PacketTrain& train);
  void count_credits(PacketTrain& train, size_t link, Ticks t) const;
  bool complete(const PacketTrain& train) const;
  bool make_room(const TrainHop& hop);

  PacketTrains& trains_;
  static constexpr size_t kMostAlike = 256;
  /// By hash of QuietPath::key; those that were used last come first.
  std::unordered_map<uint64_t, std::vector<std::shared_ptr<KnownStart>>> starts_;
  std::vector<uint64_t> key_;  ///< of the interface that was looked at last
};

}  // namespace weft::packet

#endif
