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

void EcnMarker::add(std::vector<Run>& runs, const Run& run) {
  if (!runs.empty()) {
    Run& last = runs.back();
    if (last.stride == run.stride && last.first + static_cast<Ticks>(last.flits) * last.stride == run.first) {
      last.flits += run.flits;
      return;
    }
  }
  runs.push_back(run);
}

// Takes the flits up to `t` out of the runs.
uint64_t EcnMarker::passed(std::vector<Run>& runs, Ticks t) {
  uint64_t flits = 0;
  for (size_t i = 0; i < runs.size();) {
    Run& run = runs[i];
    if (run.first > t) {
      ++i;
      continue;
    }
    const auto n = static_cast<uint32_t>(std::min<Ticks>(run.flits, (t - run.first) / run.stride + 1));
    flits += n;
    run.flits -= n;
    run.first += static_cast<Ticks>(n) * run.stride;
    if (run.flits == 0) {
      run = runs.back();
      runs.pop_back();
    } else {
      ++i;
    }
  }
  return flits;
}

void EcnMarker::arrives(uint32_t output, uint32_t network, Ticks first, uint32_t flits, uint32_t stride) {
  add(queue(output, network).arrivals, {first, flits, stride});
}

void EcnMarker::leaves(uint32_t output, uint32_t network, Ticks first, uint32_t flits, uint32_t stride) {
  add(queue(output, network).departures, {first, flits, stride});
}

// What leaves in this very cycle still counts: the order in which a cycle's grants are made does not matter.
uint64_t EcnMarker::queued(uint32_t output, uint32_t network, Ticks t) {
  Queue& q = queue(output, network);
  q.flits += passed(q.arrivals, t);
  if (t > 0) q.flits -= passed(q.departures, t - 1);
  return q.flits;
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
  if (static_cast<double>(draw >> 11) * 0x1.0p-53 >= chance) return false;
  ++out.marked;
  return true;
}

}  // namespace weft::packet
