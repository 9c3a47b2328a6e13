// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/packet/ecn_marker.h"

#include <algorithm>

#include "tlm_interconnect/packet/random.h"

namespace weft::packet {

EcnMarker::EcnMarker(const EcnConfig& config, uint64_t seed, uint32_t router, uint32_t outputs,
                     uint32_t virtual_networks)
    : config_(config),
      seed_(seed),
      router_(router),
      networks_(virtual_networks),
      outputs_(outputs),
      queues_(static_cast<size_t>(outputs) * virtual_networks) {}

double EcnMarker::probability(const EcnConfig& config, uint64_t bytes) {
  if (bytes <= config.k_min) return 0;
  if (bytes > config.k_max) return 1;
  return config.p_max * static_cast<double>(bytes - config.k_min) /
         static_cast<double>(config.k_max - config.k_min);
}

void EcnMarker::arrives(uint32_t output, uint32_t network, Ticks first, uint32_t flits, Ticks stride) {
  BufferMeter& meter = queue(output, network);
  const Ticks settled = meter.settled();
  if (first <= settled) {
    // Here for a while, but bound for this output only now.
    const auto late = static_cast<uint32_t>(std::min<Ticks>(flits, (settled - first) / stride + 1));
    meter.arrive(settled + 1, late, 0);
    first += static_cast<Ticks>(late) * stride;
    flits -= late;
  }
  meter.arrive(first, flits, stride);
}

// What leaves in the cycle that is looked at still counts: the order in which its grants are made does not
// matter.
void EcnMarker::leaves(uint32_t output, uint32_t network, Ticks first, uint32_t flits, Ticks stride) {
  queue(output, network).depart(first + 1, flits, stride);
}

uint64_t EcnMarker::queued(uint32_t output, uint32_t network, Ticks t) {
  BufferMeter& meter = queue(output, network);
  meter.settle(t);
  return static_cast<uint64_t>(meter.occupancy(t));
}

void EcnMarker::restart() {
  queues_ = std::vector<BufferMeter>(queues_.size());
  for (Output& output : outputs_) output.begun = 0;
}

bool EcnMarker::marks(uint32_t output, uint32_t network, Ticks t) {
  Output& out = outputs_[output];
  const uint64_t number = out.begun++;
  const uint64_t flits = queued(output, network, t);
  out.longest = std::max(out.longest, flits);
  const double chance = probability(config_, flits * config_.flit_bytes);
  if (!(chance > 0)) return false;
  // By the number of the packet, so that no draw depends on another.
  const uint64_t place = hash64(~hash64(seed_) ^ hash64(uint64_t{router_} << 32 | output));
  const uint64_t draw = hash64(place ^ number);
  if (unit_of(draw) >= chance) return false;
  ++out.marked;
  return true;
}

}  // namespace weft::packet
