// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/config.h"

#include "configs/blueprint/shape.h"

namespace weft {

std::string print_dimension(const DimensionConfig& dimension) {
  return Shape(dimension).name();
}

const char* to_string(ReductionKind kind) {
  static const char* const names[] = {"none", "bandwidth", "hbm"};
  return names[static_cast<int>(kind)];
}

const char* to_string(CollectiveOrder order) {
  static const char* const names[] = {"baseline", "local_bw_aware", "round_robin", "themis", "themis_flex"};
  return names[static_cast<int>(order)];
}

const char* to_string(CollectiveScheduling scheduling) {
  static const char* const names[] = {"lifo", "fifo", "priority"};
  return names[static_cast<int>(scheduling)];
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
