// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The packets that have been announced to a router and have not left it entirely, counted: how many, whose,
// and which output they will leave by. Packet trains ask for that often, and queues may be long; so it is
// kept up to date with each packet that comes or leaves.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_WAITING_PACKETS_H
#define WEFT_TLM_INTERCONNECT_PACKET_WAITING_PACKETS_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tlm_interconnect/packet/flit_queue.h"

namespace weft::packet {

/// Who sends a packet: the interface, and the handle of its message.
struct PacketOwner {
  uint32_t interface = 0;
  uint32_t message = 0;

  bool operator==(const PacketOwner& other) const {
    return interface == other.interface && message == other.message;
  }
};

class WaitingPackets {
 public:
  bool counting() const { return !outputs_.empty(); }
  /// With no packets.
  void begin(uint32_t ports, uint32_t vcs) {
    ports_ = ports;
    vcs_ = vcs;
    queues_ = std::vector<Queue>(size_t{ports} * vcs);
    outputs_.assign(ports, 0);
    ways_.assign(size_t{ports} * ports, 0);
  }
  void end() { outputs_.clear(); }

  /// Packets of one message come to an input VC, behind those that are there.
  void come(uint32_t input, uint32_t vc, const PacketOwner& owner, uint32_t packets = 1) {
    Queue& queue = queues_[input * vcs_ + vc];
    if (queue.runs.empty() || !(queue.runs.back().owner == owner)) queue.runs.push_back({owner, 0});
    queue.runs.back().packets += packets;
    queue.packets += packets;
  }
  /// The first packet of an input VC has left, or the first so many of one owner.
  void leave(uint32_t input, uint32_t vc, uint32_t packets = 1) {
    Queue& queue = queues_[input * vcs_ + vc];
    queue.packets -= packets;
    if ((queue.runs.front().packets -= packets) == 0) queue.runs.pop_front();
  }
  /// None are left at an input, and none of them wants the output any more.
  void clear(uint32_t input, uint32_t output) {
    for (uint32_t v = 0; v < vcs_; ++v) {
      Queue& queue = queues_[input * vcs_ + v];
      queue.runs.clear();
      queue.packets = 0;
    }
    outputs_[output] -= way(input, output);
    way(input, output) = 0;
  }
  /// Packets at an input that will leave by the output: so many more, or (negative) fewer.
  void want(uint32_t input, uint32_t output, int32_t more) {
    way(input, output) += static_cast<uint32_t>(more);
    outputs_[output] += static_cast<uint32_t>(more);
  }
  /// Packets that may leave by the output: theirs will be drawn.
  void may_want(uint32_t output, int32_t more) { outputs_[output] += static_cast<uint32_t>(more); }

  uint32_t at(uint32_t input) const {
    uint32_t n = 0;
    for (uint32_t v = 0; v < vcs_; ++v) n += queues_[input * vcs_ + v].packets;
    return n;
  }
  /// Calls f(owner) for the packets of an input: once for all that follow each other in a VC and have the
  /// same owner.
  template <typename F>
  void for_each_owner(uint32_t input, F&& f) const {
    for (uint32_t v = 0; v < vcs_; ++v) {
      const Queue& queue = queues_[input * vcs_ + v];
      for (uint32_t k = 0; k < queue.runs.size(); ++k) f(queue.runs[k].owner);
    }
  }
  /// All packets of an input are of that message.
  bool only(uint32_t input, uint32_t message) const {
    for (uint32_t v = 0; v < vcs_; ++v) {
      const Queue& queue = queues_[input * vcs_ + v];
      if (queue.runs.size() > 1) return false;
      if (queue.runs.size() == 1 && queue.runs.front().owner.message != message) return false;
    }
    return true;
  }
  /// The packets of an input VC that are not empty: of how many owners one after the other; the first and the
  /// last of these, and their packets.
  struct Line {
    uint32_t owners = 0;
    PacketOwner first;
    uint32_t of_first = 0;
    PacketOwner last;
    uint32_t of_last = 0;
    uint32_t packets = 0;  ///< of all
  };
  Line line(uint32_t input, uint32_t vc) const {
    const Queue& queue = queues_[input * vcs_ + vc];
    if (queue.runs.empty()) return {};
    const Run& first = queue.runs.front();
    const Run& last = queue.runs[queue.runs.size() - 1];
    return {queue.runs.size(), first.owner, first.packets, last.owner, last.packets, queue.packets};
  }
  /// Those that will, or may, leave by an output.
  uint32_t wanting(uint32_t output) const { return outputs_[output]; }
  /// .. that will, and are at that input.
  uint32_t wanting_from(uint32_t input, uint32_t output) const {
    return ways_[size_t{output} * ports_ + input];
  }

 private:
  /// Packets that follow each other and have the same owner.
  struct Run {
    PacketOwner owner;
    uint32_t packets;
  };
  /// Of one input VC, in the order in which they came and will leave.
  struct Queue {
    Ring<Run, 2> runs;
    uint32_t packets = 0;
  };

  uint32_t& way(uint32_t input, uint32_t output) { return ways_[size_t{output} * ports_ + input]; }

  uint32_t ports_ = 0;
  uint32_t vcs_ = 0;
  std::vector<Queue> queues_;      ///< input x VCs + VC
  std::vector<uint32_t> outputs_;  ///< by output; empty: nothing is counted
  std::vector<uint32_t> ways_;     ///< output x ports + input
};

}  // namespace weft::packet

#endif
