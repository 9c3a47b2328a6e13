// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Explicit congestion notification at the outputs of one router. The queue of an output are the flits in the
// router's input buffers that will leave by it (per virtual network), as a switch counts them for its egress
// port. Whether a packet is marked is decided when its head starts on the output.
//
// Arrivals and departures are told ahead of their time, in any order, and counted as functions of time: the
// queue at a cycle, and the mark, depend neither on the length of bursts nor on the order of processes.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_ECN_MARKER_H
#define WEFT_TLM_INTERCONNECT_PACKET_ECN_MARKER_H

#include <cstdint>
#include <vector>

#include "tlm_interconnect/packet/buffer_meter.h"
#include "tlm_interconnect/packet/packet_config.h"
#include "tlm_interconnect/packet/ticks.h"

namespace weft::packet {

class EcnMarker {
 public:
  EcnMarker(const EcnConfig& config, uint64_t seed, uint32_t router, uint32_t outputs,
            uint32_t virtual_networks);

  /// Chance that a packet is marked that starts with `bytes` queued, its own included.
  static double probability(const EcnConfig& config, uint64_t bytes);

  /// `flits` flits for an output, one every `stride` from `first` (which may lie in the past), come into a
  /// buffer ..
  void arrives(uint32_t output, uint32_t network, Ticks first, uint32_t flits, Ticks stride);
  /// .. or leave it.
  void leaves(uint32_t output, uint32_t network, Ticks first, uint32_t flits, Ticks stride);
  /// Flits that have come by `t` and have not left before. Calls for one queue must not go back in time.
  uint64_t queued(uint32_t output, uint32_t network, Ticks t);

  /// Queues are empty, and packets are numbered from the beginning; what has been counted stays.
  void restart();

  /// Draws for the next packet that starts on an output, at `t`: true, it is marked.
  bool marks(uint32_t output, uint32_t network, Ticks t);
  uint64_t marked(uint32_t output) const { return outputs_[output].marked; }
  /// Most flits seen by a packet that started on the output.
  uint64_t longest(uint32_t output) const { return outputs_[output].longest; }

 private:
  struct Output {
    uint64_t begun = 0;  ///< packets: the number of the next
    uint64_t marked = 0;
    uint64_t longest = 0;
  };
  BufferMeter& queue(uint32_t output, uint32_t network) { return queues_[output * networks_ + network]; }

  const EcnConfig config_;
  const uint64_t seed_;
  const uint32_t router_;
  const uint32_t networks_;
  std::vector<Output> outputs_;
  std::vector<BufferMeter> queues_;
};

}  // namespace weft::packet

#endif
