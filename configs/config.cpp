// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/config.h"

#include <algorithm>

#include "configs/blueprint/shape.h"

namespace weft {

std::string print_dimension(const DimensionConfig& dimension) {
  return Shape(dimension).name();
}

uint32_t neighbour_links_used(const DimensionConfig& dimension, uint32_t queues_per_dimension) {
  if (dimension.direction == RingDirection::one_way) return 1;
  return dimension.queues != 0 ? std::min(dimension.queues, 2u) : queues_per_dimension;
}

const char* to_string(ReductionKind kind) {
  static const char* const names[] = {"none", "bandwidth", "hbm"};
  return names[static_cast<int>(kind)];
}

const char* to_string(CollectiveOrder order) {
  static const char* const names[] = {"baseline", "local_bw_aware", "round_robin",
                                      "themis",   "themis_flex",    "enhanced"};
  return names[static_cast<int>(order)];
}

const char* to_string(CollectiveScheduling scheduling) {
  static const char* const names[] = {"lifo", "fifo", "priority"};
  return names[static_cast<int>(scheduling)];
}

const char* to_string(SchedulingScope scope) {
  static const char* const names[] = {"every_phase", "issue"};
  return names[static_cast<int>(scope)];
}

const char* to_string(RingDirection direction) {
  static const char* const names[] = {"both", "one_way"};
  return names[static_cast<int>(direction)];
}

const char* to_string(PhaseQueues queues) {
  static const char* const names[] = {"shared", "split"};
  return names[static_cast<int>(queues)];
}

const char* to_string(DimensionScheduling scheduling) {
  static const char* const names[] = {"fifo", "rg", "smallest_first", "less_remaining_phase_first"};
  return names[static_cast<int>(scheduling)];
}

const char* to_string(FlitSwitchingKind kind) {
  static const char* const names[] = {"packet_held", "flit_interleaved"};
  return names[static_cast<int>(kind)];
}

const char* to_string(PacketForwarding forwarding) {
  static const char* const names[] = {"hardware", "software"};
  return names[static_cast<int>(forwarding)];
}

const char* to_string(FlowControl control) {
  static const char* const names[] = {"credits", "pfc", "auto"};
  return names[static_cast<int>(control)];
}

const char* to_string(PacketInjection injection) {
  static const char* const names[] = {"normal", "aggressive"};
  return names[static_cast<int>(injection)];
}

}  // namespace weft
