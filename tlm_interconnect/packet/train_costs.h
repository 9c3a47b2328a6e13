// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// How long packet trains are looked for, and what that may cost.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_TRAIN_COSTS_H
#define WEFT_TLM_INTERCONNECT_PACKET_TRAIN_COSTS_H

#include <cstdint>

namespace weft::packet::costs {

constexpr uint64_t kShortest = 16;  ///< packets for which a train is worth while
constexpr uint64_t kFirstTry = 1;   ///< packet from which on it may be observed
constexpr uint64_t kRetry = 16;     ///< packets to wait after a disturbance; doubles from one to the next
constexpr uint64_t kLongestRetry = 4096;
constexpr uint64_t kFirstWindow = 8;  ///< doubles until a period fits
constexpr uint64_t kLongestWindow = 4096;
constexpr uint32_t kMostUnclear = 6;  ///< times that the messages which do not wait for their path double
constexpr uint32_t kInVain = 4;       ///< early starts that may fail in a row before messages are not tried
constexpr uint32_t kMostTimesInVain = 3;  ///< times that the messages which are not tried then double
constexpr uint64_t kLongestSearch = 512;  ///< packets that are observed, beside two round trips

// The account of an interface, in words of a record: to write or compare one takes some 30 instructions, with
// all that belongs to it, to simulate a packet-hop 2,000 to 3,000.
constexpr uint64_t kInAdvance = 16384;
constexpr uint64_t kEarnedPerHop = 6;  ///< of a message that begins, for interfaces one more: 6 to 9 per cent
constexpr uint64_t kEarnedByTrain = 75;      ///< a packet-hop that went by train: most of what it saved
constexpr uint64_t kEarnedByBeginning = 10;  ///< a packet that began in a train, besides its hops
constexpr int64_t kMostEarned = 1 << 20;
constexpr uint64_t kPaidAtOnce = 1 << 15;     ///< packets for which a message pays when it begins
constexpr uint64_t kInstalment = 1 << 11;     ///< .. and again as it goes on
constexpr int64_t kLearnsOnCredit = 1 << 18;  ///< while a message is learnt from its first packet on
constexpr uint64_t kPartOnCredit = 64;  ///< of what a joint train could save at most one in so many parts
constexpr uint64_t kCountsFor = 512;    ///< packets for which a router counts after it was last asked
constexpr uint64_t kCountsForEach = 4;  ///< .. and for each that it had to look at when it began
constexpr uint64_t kWayOfHop = 100;     ///< to find the next router of a path
constexpr uint64_t kLookAtPacket = 4;   ///< whose it is
constexpr uint64_t kCompare = 4;        ///< besides the words
constexpr uint64_t kWordsOfPacket = 4;  ///< of a record, for each packet or its credits on the way
constexpr uint64_t kWordsOfHop = 20;    ///< .. and for each VC of a hop
constexpr uint64_t kLooks = 3;          ///< records that a search costs at least
constexpr uint64_t kSetAside = 2000;    ///< a train, and to resume it
constexpr uint64_t kStep = 10;          ///< a packet-hop that is simulated while its router decides in steps
// Messages that wait in steps for their path to clear are paid by the network: by a part of what all trains
// have saved, and something in advance.
constexpr int64_t kWaitsInAdvance = 1 << 15;
constexpr uint64_t kForWaiting = 18;   ///< of kEarnedByTrain
constexpr uint64_t kStepToWait = 100;  ///< what a packet-hop in steps takes longer than another one
constexpr uint64_t kLastLooks =
    4;  ///< packets that are to arrive, at each of which a path that empties is noted
/// After a comparison that failed the message (of a group: its leader) sends a packet for so many words that
/// it took: to look takes no longer than to simulate.
constexpr uint64_t kWordsToWait = 128;
constexpr uint64_t kSearchAtOnce = 16;  ///< records that one message alone may cost before it does so
constexpr uint64_t kMostMembers = 16;   ///< of a group of messages
/// A group in which nothing has recurred is looked at again after so many times the packets of that search:
/// its buffers may be full then.
constexpr uint64_t kSearchAgain = 4;

}  // namespace weft::packet::costs

#endif
