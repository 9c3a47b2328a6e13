// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/types.h"

namespace weft {

const char* to_string(CollectiveOp op) {
  static const char* const names[kCollectiveOps] = {"all_reduce", "all_gather", "reduce_scatter",
                                                    "all_to_all", "broadcast",  "reduce",
                                                    "gather",     "scatter",    "barrier"};
  return names[static_cast<int>(op)];
}

const char* to_string(Fidelity fidelity) {
  static const char* const names[] = {"analytical", "message", "packet"};
  return names[static_cast<int>(fidelity)];
}

const char* to_string(Switching switching) {
  static const char* const names[] = {"store_and_forward", "cut_through"};
  return names[static_cast<int>(switching)];
}

const char* to_string(DimensionKind kind) {
  static const char* const names[] = {"Ring", "FullyConnected", "Switch", "Mesh"};
  return names[static_cast<int>(kind)];
}

}  // namespace weft
