// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What is known of messages that begin in the same state (known_starts.h), and what is noted while that is
// learnt. A message begins here with the packet from which on it is known: its first one, or that with which
// its path is clear.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_KNOWN_START_H
#define WEFT_TLM_INTERCONNECT_PACKET_KNOWN_START_H

#include <cstdint>
#include <memory>
#include <vector>

#include "configs/hash64.h"
#include "tlm_interconnect/packet/network_interface.h"
#include "tlm_interconnect/packet/packed_numbers.h"
#include "tlm_interconnect/packet/router.h"
#include "tlm_interconnect/packet/ticks.h"
#include "tlm_interconnect/packet/vc_names.h"

namespace weft::packet {

/// Of a state in words.
inline uint64_t hash_of(const std::vector<uint64_t>& words) {
  uint64_t hash = words.size();
  for (const uint64_t word : words) hash = hash64(hash ^ word);
  return hash;
}

/// The state of a path at some moment, in terms that hold for all messages that begin alike: times are
/// counted from a reference, VCs are named as they were before the first packet.
struct PathState {
  Ticks time = 0;
  Ticks until = 0;                ///< all routers had decided less than this
  std::vector<Ticks> undecided;   ///< by each router of the path: the first cycle that it had not decided
  PackedNumbers tape;             ///< a StateTape, whose times are counted from `time`
  std::vector<OutputLoad> loads;  ///< since before the message began, by hop
  PackedNumbers arrivals;         ///< bursts at the receiver
  uint64_t flits = 0;             ///< .. and how many flits these are
};

/// Of an input and an output of a router on which nothing that is there delays a packet: for each VC of the
/// input, by its place, which VC of the output it took last, and the other way round.
struct QuietHop {
  std::vector<uint64_t> taken;
  std::vector<uint64_t> given;
};

/// Of a message that was learnt, on which nothing that had been on its path before it had any effect.
struct QuietPath {
  std::vector<uint64_t> key;  ///< the message, the links, whose turn it was at the interface
  std::vector<QuietHop> hops;
  /// By link and place of the VC, until its stream recurred: the fewest credits, and whether it took that VC
  /// at all.
  std::vector<int32_t> fewest;
  std::vector<bool> used;

  size_t bytes() const {
    size_t words = key.size() + fewest.size();
    for (const QuietHop& hop : hops) words += hop.taken.size() + hop.given.size();
    return sizeof(*this) + sizeof(uint64_t) * words + hops.size() * sizeof(QuietHop);
  }
};

struct KnownStart {
  PackedNumbers key;     ///< the state before it begins, the links, the bytes that are left
  bool carries = false;  ///< false: nothing that begins so is worth while
  uint64_t packets = 0;  ///< before the train
  /// At the first packet of the train. The reference is the packet with which the message begins.
  PathState begun;
  // The train. The times of bursts are counted from its first packet.
  Ticks period = 1;
  uint64_t period_packets = 1;
  std::vector<TrainArrivals::Burst> bursts;
  /// When all has been sent and nearly all has arrived; null: not known yet. The reference is the packet with
  /// which the train was over.
  std::unique_ptr<PathState> emptied;
  // .. and counted from it, when the last packet was decided, and until when it took the link.
  Ticks last_sent = 0;
  Ticks last_busy = 0;
  bool empties = true;               ///< false: that is not worth while
  std::unique_ptr<QuietPath> quiet;  ///< null: it was not
};

/// While the beginning is learnt.
struct LearntStart {
  PackedNumbers key;
  uint64_t hash = 0;
  Ticks begin = 0;           ///< when
  uint64_t before = 0;       ///< packets of the message before that
  std::vector<Wide> queued;  ///< before it, by hop
  bool early = false;        ///< it follows others: it is not known by a key
  bool quiet = false;        ///< nothing that had been there before has any effect (PacketTrain::early)
  /// The state at the beginning of a packet.
  struct Moment {
    uint64_t packet = 0;
    Ticks time = 0;
    std::vector<uint64_t> words;
    std::vector<VcNames> names;
  };
  std::vector<uint64_t> hashes;  ///< of the states so far
  Moment noted;                  ///< to be compared with another
  uint64_t look_at = 0;          ///< .. that of this packet
  bool recurs = false;
  std::vector<size_t> arrived;                 ///< bursts by the beginning of a packet
  std::vector<TrainArrivals::Burst> arrivals;  ///< since the beginning
};

}  // namespace weft::packet

#endif
