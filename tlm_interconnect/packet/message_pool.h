// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The messages of one packet network, between the interface that sends and the one that receives.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_MESSAGE_POOL_H
#define WEFT_TLM_INTERCONNECT_PACKET_MESSAGE_POOL_H

#include <cstdint>
#include <deque>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "configs/ticks.h"
#include "configs/types.h"
#include "tlm_interconnect/packet/ticks.h"

namespace weft::packet {

/// A message in the hands of the fabric. Its times, and those of the sink's calls about messages, are
/// picoseconds; packets and flits are in ticks.
struct Message {
  uint64_t bytes = 0;
  uint64_t id_low = 0;  ///< opaque, given back
  uint64_t id_high = 0;
  Picoseconds submitted = 0;  ///< when it was handed over
  Picoseconds injected = 0;   ///< when its first flit left
  uint32_t source = 0;
  uint32_t destination = 0;
  uint32_t data = 0;  ///< handle of the carried elements
  uint8_t virtual_network = 0;
  uint8_t flags = 0;
};

/// Of a network that several processes simulate: who tells the sender's process that a message has arrived.
class MessageEnds {
 public:
  virtual void ended(uint32_t handle) = 0;

 protected:
  ~MessageEnds() = default;
};

/// Handle 0 is none. Packets name their message by its handle. In a network in parts every part numbers what
/// is sent from there in a range of its own. A message that comes from another part is expected here under a
/// handle of this part; its packets have the sender's.
class MessagePool {
 public:
  struct Open {
    Message message;
    uint64_t left = 0;  ///< packets that have not been announced at the receiver
    Ticks last = 0;     ///< latest arrival so far
    Ticks gone = 0;     ///< end of its latest packet at the sender, where messages take turns
  };
  uint32_t acquire() {
    if (free_.empty()) {
      open_.emplace_back();
      if (open_.size() > most_) throw std::length_error("too many messages are on their way at once");
      return base_ + static_cast<uint32_t>(open_.size());
    }
    const uint32_t handle = free_.back();
    free_.pop_back();
    return handle;
  }
  void release(uint32_t handle) {
    (*this)[handle] = Open{};
    free_.push_back(handle);
  }
  Open& operator[](uint32_t handle) { return open_[handle - base_ - 1]; }
  uint64_t live() const { return open_.size() - free_.size(); }

  // -- of a network in parts
  /// Before the first message. `ends` outlives the pool's use.
  void divide(uint32_t part, uint32_t parts, MessageEnds& ends) {
    uint32_t bits = 32;
    while ((parts - 1) >> (32 - bits) != 0) --bits;
    most_ = (uint64_t{1} << bits) - 1;
    base_ = static_cast<uint32_t>(part * (most_ + 1));
    ends_ = &ends;
  }
  /// A message from another part, in so many packets, has the handle `sent_as` there.
  void expect(uint32_t sent_as, const Message& message, uint64_t packets) {
    const uint32_t handle = acquire();
    Open& open = (*this)[handle];
    open.message = message;
    open.left = packets;
    expected_[sent_as] = handle;
  }
  /// The handle of a packet's message that ends in this part.
  uint32_t here(uint32_t sent_as) const { return sent_as - base_ <= most_ ? sent_as : expected_.at(sent_as); }
  /// The part from which it comes.
  uint32_t sender(uint32_t sent_as) const { return static_cast<uint32_t>(sent_as / (most_ + 1)); }
  /// The message has arrived, and its handle here has been released.
  void ended(uint32_t sent_as) {
    expected_.erase(sent_as);
    ends_->ended(sent_as);
  }

 private:
  std::deque<Open> open_;
  std::vector<uint32_t> free_;
  uint32_t base_ = 0;
  uint64_t most_ = ~uint32_t{0};
  std::unordered_map<uint32_t, uint32_t> expected_;  ///< from other parts: handle here by that of the sender
  MessageEnds* ends_ = nullptr;
};

}  // namespace weft::packet

#endif
