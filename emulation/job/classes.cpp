// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "emulation/job/classes.h"

#include <fmt/format.h>

#include <algorithm>

#include "configs/types.h"

namespace weft::emulation {

Classes::Classes(const Config& config, uint32_t world, const std::vector<uint32_t>& real) : real_(real) {
  if (!config.environment) return;
  for (const EmulatedClass& entry : config.environment->classes) {
    if (!is_real(entry.real))
      throw UserError(ExitCode::usage,
                      fmt::format("{}: rank {} is not real; name one of --real (environment.real)",
                                  entry.origin, entry.real));
    for (const uint32_t rank : entry.ranks) {
      if (rank >= world)
        throw UserError(ExitCode::usage, fmt::format("{}: the job has no rank {}: they are 0 to {}",
                                                     entry.origin, rank, world - 1));
      if (!named_.emplace(rank, entry.real).second)
        throw UserError(ExitCode::usage, fmt::format("{}: rank {} is in two entries of `environment.classes`",
                                                     entry.origin, rank));
    }
  }
}

bool Classes::is_real(uint32_t rank) const {
  return std::binary_search(real_.begin(), real_.end(), rank);
}

uint32_t Classes::representative(uint32_t rank) const {
  if (is_real(rank)) return rank;
  const auto named = named_.find(rank);
  if (named != named_.end()) return named->second;
  const auto above = std::upper_bound(real_.begin(), real_.end(), rank);
  return above == real_.begin() ? real_.front() : *(above - 1);
}

}  // namespace weft::emulation
