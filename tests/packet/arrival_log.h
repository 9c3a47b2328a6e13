// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_TESTS_PACKET_ARRIVAL_LOG_H
#define WEFT_TESTS_PACKET_ARRIVAL_LOG_H

#include <map>
#include <systemc>
#include <vector>

#include "tlm_interconnect/packet/packet_network.h"

namespace weft::test {

/// Remembers everything, in the order of the messages' ids and of time.
class ArrivalLog final : public packet::PacketSink {
 public:
  bool takes_trains() const override { return true; }
  void packet_arrives(const fabric::Packet& packet, uint32_t count, Ticks at) override {
    packets[packet.id_low].push_back(hash64(at) ^ hash64(packet.bytes * 1000 + count) ^
                                     hash64(packet.source * 1000ull + packet.destination) ^
                                     hash64(packet.submitted));
  }
  void flits_arrive(uint32_t count, Ticks first, Ticks flit_time) override {
    for (uint32_t k = 0; k < count; ++k) flits += hash64(first + k * flit_time);
  }
  void message_sent(const packet::Message& message, Picoseconds at) override {
    late = late || at < sc_core::sc_time_stamp().value();
    sent[message.id_low] = at;
  }
  void message_arrives(const packet::Message& message, Picoseconds at) override {
    late = late || at < sc_core::sc_time_stamp().value();
    arrived[message.id_low] = at;
    injected[message.id_low] = message.injected;
  }

  /// Of all packets of a message, whatever their order.
  uint64_t digest(uint64_t message) {
    uint64_t all = 0;
    for (const uint64_t packet : packets[message]) all += packet;
    return all;
  }

  std::map<uint64_t, std::vector<uint64_t>> packets;
  std::map<uint64_t, Picoseconds> sent, arrived, injected;
  uint64_t flits = 0;
  bool late = false;
};

}  // namespace weft::test

#endif
