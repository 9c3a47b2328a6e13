// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/packet/traffic_source.h"

#include <cmath>

namespace weft::packet {

TrafficSource::TrafficSource(const TrafficPattern& pattern, uint32_t rank, const Load& load, uint64_t seed)
    : pattern_(pattern),
      rank_(rank),
      rate_(load.rate),
      log_miss_(rate_ < 1 ? std::log1p(-rate_) : 0),
      periodic_(load.periodic),
      flits_(load.flits),
      cycle_(load.cycle),
      random_(seed, (uint64_t{1} << 40) + rank) {
  due_ = random_.unit() / rate_;
}

bool TrafficSource::next(Spec& spec) {
  if (pattern_.silent(rank_)) return false;
  uint64_t at = cycle_of_next_;
  if (periodic_) {
    at = static_cast<uint64_t>(due_);
    due_ += 1 / rate_;
  } else if (rate_ < 1) {
    at += static_cast<uint64_t>(std::log(random_.unit()) / log_miss_);  // trials that failed
  }
  cycle_of_next_ = at + 1;
  spec.ready = at * cycle_;
  spec.destination = pattern_.draw(rank_, random_);
  spec.flits = flits_;
  spec.bytes = flits_;
  spec.id = (static_cast<uint64_t>(rank_) << 40) | number_++;
  newest_ = spec.ready;
  if (newest_ >= from_ && newest_ < to_) ++counted_;
  return true;
}

}  // namespace weft::packet
