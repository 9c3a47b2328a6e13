// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What packet trains (packet_trains.h) have carried, and why the other packets were simulated one by one.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_TRAIN_COUNTS_H
#define WEFT_TLM_INTERCONNECT_PACKET_TRAIN_COUNTS_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace weft::packet {

/// Why a packet of a message began ordinarily.
enum class TrainReason : uint8_t {
  last,       ///< too few are left
  never,      ///< the path is not certain, or routes are adaptive
  filling,    ///< too few are left to fill the path, or it is not looked at yet
  account,    ///< no balance
  company,    ///< others use the path, or did: it waits
  unsettled,  ///< nothing has recurred in time: it waits
  stepping,   ///< observed: what had been decided ahead comes to pass
  compared,   ///< observed: has not recurred yet
  replayed,   ///< what was begun of a period when a train was resumed
  count
};

/// Of one network, or summed over several.
struct TrainCounts {
  std::array<uint64_t, static_cast<size_t>(TrainReason::count)> ordinary{};  ///< packets, by reason
  uint64_t trains = 0;                                                       ///< set aside
  uint64_t splits = 0;                                                       ///< resumed before their end
  uint64_t growing = 0;  ///< set aside: those in which a queue grows
  uint64_t growing_splits = 0;
  uint64_t filling = 0;  ///< set aside: those of which something on its way is not looked at yet
  uint64_t filling_splits = 0;
  uint64_t joint = 0;  ///< set aside: groups of messages
  uint64_t joint_splits = 0;
  uint64_t joint_sent = 0;    ///< set aside: groups with a message that had been sent
  uint64_t known = 0;         ///< set aside: those that began like an earlier one, at their first packet
  uint64_t known_later = 0;   ///< .. at a later one, when the packets of others had left their path
  uint64_t early = 0;         ///< .. at their first packet, when packets of others were still there
  uint64_t early_failed = 0;  ///< .. of these, those whose path did not become clear in time
  uint64_t packets = 0;       ///< carried in trains
  uint64_t hops = 0;          ///< packet-hops of these
  uint64_t looks = 0;         ///< records made
  uint64_t work = 0;          ///< spent on all this, in words of a record

  uint64_t of(TrainReason why) const { return ordinary[static_cast<size_t>(why)]; }
  /// All packets of messages, of networks with trains.
  uint64_t all() const { return std::accumulate(ordinary.begin(), ordinary.end(), packets); }

  TrainCounts& operator+=(const TrainCounts& other) {
    for (size_t i = 0; i < ordinary.size(); ++i) ordinary[i] += other.ordinary[i];
    trains += other.trains;
    splits += other.splits;
    growing += other.growing;
    growing_splits += other.growing_splits;
    filling += other.filling;
    filling_splits += other.filling_splits;
    known += other.known;
    known_later += other.known_later;
    early += other.early;
    early_failed += other.early_failed;
    joint += other.joint;
    joint_splits += other.joint_splits;
    joint_sent += other.joint_sent;
    packets += other.packets;
    hops += other.hops;
    looks += other.looks;
    work += other.work;
    return *this;
  }
};

}  // namespace weft::packet

#endif
