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

TimeOverflow::TimeOverflow()
    : UserError(ExitCode::trace,
                "something would end after the last picosecond that simulated time can hold (213 days)") {}

UserError TimeOverflow::of(const std::string& what, const std::string& remedy) const {
  return {code(),
          what + " would end after the last picosecond that simulated time can hold (213 days); " + remedy};
}

void time_overflow() {
  throw TimeOverflow();
}

void count_overflow() {
  throw UserError(
      ExitCode::trace,
      "one link would carry more bytes than 64 bits can count; use smaller sizes or fewer of them");
}

}  // namespace weft
