// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#ifndef WEFT_CONFIGS_LOGGP_H
#define WEFT_CONFIGS_LOGGP_H

#include <cstdint>
#include <string>
#include <string_view>

#include "configs/types.h"

namespace weft {

/// `loggp`: the parameters of the LogGOPS model. Defaults are those of the ATLAHS paper (2025) for AI on
/// GH200 nodes with 25 GB/s a NIC.
struct LogGpConfig {
  Picoseconds L = 3700000;        ///< latency
  Picoseconds o = 200000;         ///< overhead of a send or receive on its processor
  Picoseconds g = 5000;           ///< gap between messages of a network interface
  std::string G = "0.04 ns/B";    ///< gap per byte
  std::string O = "0 ns/B";       ///< overhead per byte
  uint64_t S = 0;                 ///< larger messages are sent by rendezvous
  Picoseconds resolution = 1000;  ///< G and O times a size are rounded down to a multiple of it
};

/// "0.04 ns/B", or a bandwidth ("25 GB/s"), in attoseconds per byte. Throws UserError(usage) that says what
/// is allowed.
uint64_t parse_time_per_byte(std::string_view text);

/// Throws UserError(usage) that names the key.
void check_loggp(const LogGpConfig& config);

}  // namespace weft

#endif
