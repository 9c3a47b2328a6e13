// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Open-loop packet source of one rank.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_TRAFFIC_SOURCE_H
#define WEFT_TLM_INTERCONNECT_PACKET_TRAFFIC_SOURCE_H

#include "tlm_interconnect/packet/network_interface.h"
#include "tlm_interconnect/packet/traffic_pattern.h"

namespace weft::packet {

class TrafficSource final : public PacketSource {
 public:
  struct Load {
    double rate = 0;        ///< packets a cycle, in (0, 1]
    bool periodic = false;  ///< one packet every 1 / rate cycles from a random phase; else Bernoulli trials
    uint32_t flits = 1;     ///< of a packet
    Ticks cycle = 1;
  };
  TrafficSource(const TrafficPattern& pattern, uint32_t rank, const Load& load, uint64_t seed);
  bool next(Spec& spec) override;

  /// Creation time of the newest packet given out.
  Ticks newest() const { return newest_; }
  /// Packets given out that were created in [from, to).
  void count_between(Ticks from, Ticks to) {
    from_ = from;
    to_ = to;
  }
  uint64_t counted() const { return counted_; }

 private:
  const TrafficPattern& pattern_;
  const uint32_t rank_;
  const double rate_;
  const double log_miss_;  ///< ln(1 - rate)
  const bool periodic_;
  const uint32_t flits_;
  const Ticks cycle_;
  Random random_;
  uint64_t cycle_of_next_ = 0;
  double due_ = 0;
  Ticks newest_ = 0;
  uint64_t number_ = 0;
  Ticks from_ = 0;
  Ticks to_ = 0;
  uint64_t counted_ = 0;
};

}  // namespace weft::packet

#endif
