// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Where one NMU stands for many: what each of its messages is to the NMU that receives it. A message of a
// collective comes back to its sender, as what a peer sends at the same time. A point-to-point message goes
// to the NMU that stands for its receiver, as the message of that NMU's own peer.

#ifndef WEFT_TLM_INTERCONNECT_FABRIC_MESSAGE_IMAGES_H
#define WEFT_TLM_INTERCONNECT_FABRIC_MESSAGE_IMAGES_H

#include <cstdint>
#include <stdexcept>
#include <unordered_map>

#include "tlm_interconnect/protocol/packet_pool.h"

namespace weft::fabric {

class MessageImages {
 public:
  using Test = bool (*)(const Packet& packet);
  /// `point_to_point`: the message is no collective's.
  explicit MessageImages(Test point_to_point) : point_to_point_(point_to_point) {}

  struct Image {
    uint32_t source = 0;
    uint32_t destination = 0;
  };
  /// Of point-to-point messages from one rank, which is built, to another one, which may not be. No two of
  /// them have the same image.
  void add(uint32_t from, uint32_t to, const Image& image) {
    images_[key(from, to)] = image;
    receivers_[key(image.source, image.destination)] = to;
  }

  /// The message as its receiver is to see it.
  void apply(Packet& packet) const {
    if (!point_to_point_(packet)) {
      const uint32_t peer = packet.destination;  // by symmetry; which one of them does not matter
      packet.destination = packet.source;
      packet.source = peer;
      return;
    }
    const auto image = images_.find(key(packet.source, packet.destination));
    if (image == images_.end()) throw std::logic_error("a folded rank sends to one that is not its peer");
    packet.source = image->second.source;
    packet.destination = image->second.destination;
  }
  /// To whom the sender has sent a point-to-point message that is an image by now.
  uint32_t receiver(const Packet& packet) const {
    return receivers_.at(key(packet.source, packet.destination));
  }

 private:
  static uint64_t key(uint32_t a, uint32_t b) { return uint64_t{a} << 32 | b; }

  Test point_to_point_;
  std::unordered_map<uint64_t, Image> images_;
  std::unordered_map<uint64_t, uint32_t> receivers_;  ///< by image
};

}  // namespace weft::fabric

#endif
