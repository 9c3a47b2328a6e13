// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/generate/parameter_checks.h"

#include <fmt/format.h>

#include "configs/types.h"

namespace weft::generate {

void ParameterChecks::refuse(const std::string& message) const {
  throw UserError(ExitCode::usage, fmt::format("weft generate {}: {}", generator_, message));
}

void ParameterChecks::range(const char* what, uint64_t value, uint64_t low, uint64_t high) const {
  if (value < low || value > high)
    refuse(fmt::format("{} is {}; it must be between {} and {}", what, value, low, high));
}

void ParameterChecks::multiple(const char* what, uint64_t value, const char* of, uint64_t n) const {
  if (value % n == 0) return;
  const uint64_t below = value / n * n;
  const uint64_t above = below + n;
  if (below == 0)
    refuse(fmt::format("{} is {}, which is not a multiple of {} ({}); use {}", what, value, of, n, above));
  refuse(fmt::format("{} is {}, which is not a multiple of {} ({}); use {} or {}", what, value, of, n, below,
                     above));
}

void ParameterChecks::experts_somewhere(const char* what, uint64_t every, uint64_t layers) const {
  if (every == 0) refuse(fmt::format("{} is 0; give 1 (every layer has experts) or more", what));
  if (every > layers)
    refuse(fmt::format(
        "{0} is {1}, but the model has {2} layer{3}, so none would have experts; give layers {1} or "
        "more, or a {0} {4}",
        what, every, layers, layers == 1 ? "" : "s",
        layers == 1 ? std::string("of 1") : fmt::format("between 1 and {}", layers)));
}

}  // namespace weft::generate
