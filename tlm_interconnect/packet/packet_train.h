// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What packet trains know of one interface: the way of its message, when to look for a train, what it may
// cost, and the train itself (packet_trains.h).

#ifndef WEFT_TLM_INTERCONNECT_PACKET_PACKET_TRAIN_H
#define WEFT_TLM_INTERCONNECT_PACKET_PACKET_TRAIN_H

#include <cstdint>
#include <memory>
#include <vector>

#include "tlm_interconnect/packet/known_start.h"
#include "tlm_interconnect/packet/network_interface.h"
#include "tlm_interconnect/packet/router.h"
#include "tlm_interconnect/packet/state_record.h"
#include "tlm_interconnect/packet/ticks.h"
#include "tlm_interconnect/packet/train_counts.h"

namespace weft::packet {

struct JointTrain;

/// One router on the way of a message.
struct TrainHop {
  Router* router;
  uint32_t input;
  uint32_t output;
  Ticks undecided;    ///< at set-aside: from here on its cycles have not been run
  bool bubble;        ///< its packets go on only where there is room for another one (RouteCandidate)
  Ticks comes = 0;    ///< set aside early: its first flit, not before that
  bool exact = true;  ///< .. but just then
};
/// What was there on the way of a message when its first packet came.
struct EarlyStart {
  std::vector<uint64_t> key;       ///< QuietPath::key
  uint64_t hash = 0;               ///< .. of it
  uint64_t left = 0;               ///< packets of the message at its beginning, but for the last one
  std::vector<QuietHop> hops;      ///< those that take part
  std::vector<uint64_t> contests;  ///< Router::contests() of these
  std::vector<Wide> queued;        ///< Router::queued_ticks()
  std::vector<int32_t> lacking;    ///< credits, by link and place of the VC
};

/// What is known of the messages of one interface, for packet trains.
struct PacketTrain {
  /// As known_starts.h tells: it waits for its path to clear, is learnt, is at its last packet, has been
  /// sent. joined: it belongs to a group, which is observed or carried.
  enum class Phase : uint8_t { idle, observed, clears, learns, ends, empties, carried, joined, resuming };
  Phase phase = Phase::idle;
  uint32_t message = 0;
  uint8_t virtual_network = 0;
  NetworkInterface* from = nullptr;
  NetworkInterface* to = nullptr;
  uint32_t destination = 0;
  uint8_t path_network = 0;
  std::vector<TrainHop> path;  ///< empty: not found yet
  bool possible = true;        ///< there may be trains on it
  bool any_vc = false;        ///< .. and its packets may take every VC of their virtual network on every link
  uint64_t first_full = 0;    ///< packets that have begun, at least, when the path is filled with them
  std::vector<Ticks> timing;  ///< of its links
  Ticks loop = 0;             ///< until credits are back, on the longest link
  Ticks settles = 0;          ///< for so long nothing is recorded
  uint64_t words = 0;         ///< of a record, about
  uint64_t begun = 0;         ///< packets of the message that began ordinarily
  uint64_t settled = 0;       ///< packets, about, after which messages from here recur
  uint64_t ahead = 0;         ///< packets within the routers' lookahead
  uint64_t clears_within = 0;  ///< packets, until what was sent before has left, if nobody else sends
  bool fresh = true;           ///< no part of this message has gone by train
  uint64_t record_at = 0;      ///< packet of this message from which on records are made
  uint64_t next_try = 0;       ///< in packets begun
  TrainReason waits_for = TrainReason::filling;  ///< until next_try
  uint64_t retry = 0;                            ///< packets to wait after a disturbance
  uint64_t window = 0;                           ///< how many packets to compare with one record
  int64_t balance = 0;                           ///< what may be spent, in words of a record
  bool advanced = false;                         ///< it has been given something in advance
  uint64_t packets_of_message = 0;               ///< for which it pays when it is first seen
  uint64_t paid_until = 0;                       ///< packet of the message for which it has paid last
  uint64_t left_alone = 0;  ///< so many packets of it go one by one, and nobody asks again why
  TrainReason left_alone_as = TrainReason::last;  ///< .. the reason
  uint32_t unclear = 0;          ///< so many times in a row its path has not cleared in time, up to a most
  uint32_t passes_over = 0;      ///< for so many messages it does not wait for that
  uint32_t not_taken = 0;        ///< set aside early: hops at the end of the path that take no part yet
  uint32_t takes = 0;            ///< .. and the VC by which the first packet comes there
  EarlyStart early;              ///< .. and what has been found on the others
  uint32_t early_failed = 0;     ///< so many times in a row that was in vain, up to a most
  uint32_t early_passes = 0;     ///< for so many messages it is not tried
  JointTrain* group = nullptr;   ///< joined
  uint64_t unsettled = 0;        ///< fingerprint of the group in which nothing recurred last
  uint64_t unsettled_until = 0;  ///< .. until it is looked for again, in packets begun
  // Observed:
  uint64_t observed_from = 0;  ///< in packets begun
  Ticks record_from = 0;       ///< before it a record would hold what had been decided ahead
  bool recorded = false;
  // The record and what has arrived since.
  uint64_t packet_of_record = 0;
  uint64_t compare_from = 0;  ///< in packets begun
  uint64_t failed = 0;        ///< comparisons with it that were not cheap
  uint64_t searched = 0;      ///< spent on it since observed_from
  Ticks time_of_record = 0;
  std::vector<uint64_t> record;
  std::vector<VcNames> names;  ///< of the record, by link
  std::vector<TrainArrivals::Burst> bursts;
  std::unique_ptr<LearntStart> learnt;  ///< learns
  // Set aside:
  Ticks since = 0;  ///< when
  Ticks first = 0;  ///< cycle in which its first packet begins
  Ticks period = 0;
  uint64_t packets = 0;  ///< per period
  uint64_t rounds = 1;   ///< after so many periods that were observed every VC has its own name
  uint64_t repeats = 0;
  uint64_t delivered = 0;             ///< packets that arrive per period
  bool fills = false;                 ///< something on the way is not looked at
  Ticks until = 0;                    ///< it ends
  std::shared_ptr<KnownStart> start;  ///< what is known of it; null: nothing, it recurred
  std::vector<OutputLoad> loads;      ///< before it began, by hop
  bool all_sent = false;              ///< while it is resumed
  bool disturbed = false;             ///< somebody else comes, maybe at its very end
  /// What of its message is set aside: packets that recur; all that is left, which is known; that, with all
  /// packets sent; the way of those that are sent.
  enum class Aside : uint8_t { stream, whole, whole_sent, emptying };
  Aside aside = Aside::stream;
  // How a period changes the queues, by hop and VC, and the credits, of the interface and then by hop and
  // VC.
  std::vector<StateRecord::Queue> queues;
  std::vector<StateRecord::Credits> credits;
};

}  // namespace weft::packet

#endif
