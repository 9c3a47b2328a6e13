// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/memory_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "configs/blueprint/carrier.h"
#include "configs/describe.h"
#include "sc_main/console.h"
#include "sc_main/decimal.h"
#include "workload/graph/folding.h"

namespace weft::cli {
namespace {

constexpr size_t kMostParts = 3;
constexpr double kSmallShare = 0.02;  // smaller parts are not named

std::string remedies(const Config& config) {
  std::string text;
  const std::string unfolded = graph::folding_refusal(config);
  if (!unfolded.empty())
    text += fmt::format("let ranks fold, which they do not here because {} (docs/folding.md), ", unfolded);
  const auto coarse = [](const DimensionConfig& d) {
    return d.size <= 1 || carrier_of(d) == Carrier::direct;
  };
  const auto& dimensions = config.fabric_dimensions();
  if (!std::all_of(dimensions.begin(), dimensions.end(), coarse)) text += "use `fidelity: analytical`, ";
  if (config.run.data != "none") text += "use `run.data: none` or a smaller size, ";
  return text + "use fewer NPUs";
}

}  // namespace

MemoryRoom::MemoryRoom(bool force) : force_(force), available_(available_memory()) {
  if (!available_.what.empty()) available_.bytes += resident_memory();
}

void MemoryRoom::check(const Config& config, const MemoryEstimate& estimate) const {
  check(fmt::format("{}: {} ({} NPUs)", config.file.empty() ? "configuration" : config.file,
                    machine_name(config), grouped(config.npus())),
        estimate, [&] { return remedies(config); });
}

void MemoryRoom::check(const std::string& name, const MemoryEstimate& estimate,
                       const std::function<std::string()>& remedies) const {
  if (available_.what.empty() || estimate.bytes() <= static_cast<double>(available_.bytes)) return;
  const std::string what =
      fmt::format("{} would need {} of memory, and there is {}", name, memory_text(estimate), text());
  if (force_) {
    warn(what + "; going on because of --force");
    return;
  }
  throw UserError(ExitCode::trace, fmt::format("{}; {}, or go on with --force", what, remedies()));
}

std::string MemoryRoom::text() const {
  if (available_.what.empty()) return {};
  return fmt::format("{} {}", memory_size(static_cast<double>(available_.bytes)), available_.what);
}

std::string memory_size(double bytes) {
  const double mib = bytes / (1 << 20);
  if (mib >= 1024) return fmt::format("{:.1f} GiB", mib / 1024);
  return mib >= 10 ? fmt::format("{:.0f} MiB", mib) : fmt::format("{:.1f} MiB", mib);
}

std::string memory_text(const MemoryEstimate& estimate) {
  std::string parts;
  for (size_t i = 0; i < std::min(kMostParts, estimate.parts.size()); ++i) {
    const MemoryEstimate::Part& part = estimate.parts[i];
    if (i != 0 && part.bytes < kSmallShare * estimate.bytes()) break;
    parts += fmt::format("{}{} {}", i == 0 ? "" : ", ", part.what, memory_size(part.bytes));
  }
  return fmt::format("about {} ({})", memory_size(estimate.bytes()), parts);
}

}  // namespace weft::cli
