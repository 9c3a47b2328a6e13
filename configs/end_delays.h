// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What the two ends of a message add to its time on the links: the endpoint delay, which steps of collectives
// pay once before a phase's first message and after each message that is received, and the latency of the
// network interfaces, which every message pays at both ends. A message pays those of the last dimension that
// it crosses.

#ifndef WEFT_CONFIGS_END_DELAYS_H
#define WEFT_CONFIGS_END_DELAYS_H

#include <algorithm>

#include "configs/config.h"

namespace weft {

struct EndDelays {
  Picoseconds start = 0;  ///< before a phase's first message, and before a point-to-point message
  Picoseconds end = 0;    ///< after the last byte: the endpoint's and the interfaces'
  bool operator==(const EndDelays& o) const { return start == o.start && end == o.end; }
};

inline EndDelays end_delays(const Config& config, const DimensionConfig& dimension) {
  const Picoseconds endpoint =
      dimension.endpoint_delay == kNever ? config.nmu.endpoint_delay : dimension.endpoint_delay;
  return {endpoint, endpoint + 2 * dimension.nic_latency};
}

/// Of the machine's own dimensions, each for itself: the least `start` and the least `end`.
inline EndDelays least_end_delays(const Config& config) {
  EndDelays least{kNever, kNever};
  for (const DimensionConfig& d : config.fabric_dimensions()) {
    if (d.size < 2) continue;
    const EndDelays own = end_delays(config, d);
    least = {std::min(least.start, own.start), std::min(least.end, own.end)};
  }
  return least.start == kNever ? EndDelays{config.nmu.endpoint_delay, config.nmu.endpoint_delay} : least;
}

/// .. and the most.
inline EndDelays most_end_delays(const Config& config) {
  EndDelays most{0, 0};
  bool any = false;
  for (const DimensionConfig& d : config.fabric_dimensions()) {
    if (d.size < 2) continue;
    any = true;
    const EndDelays own = end_delays(config, d);
    most = {std::max(most.start, own.start), std::max(most.end, own.end)};
  }
  return any ? most : EndDelays{config.nmu.endpoint_delay, config.nmu.endpoint_delay};
}

}  // namespace weft

#endif
