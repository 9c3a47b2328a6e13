// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/record/replay.h"

#include <fmt/format.h>

#include <utility>

namespace weft::cosim {

std::string describe(const Difference& difference) {
  return fmt::format("at {:.6f} us ({} ps), link {}: {}: {}", static_cast<double>(difference.at) / 1e6,
                     difference.at, difference.port, difference.message, difference.what);
}

void check_kind(const Recording& recording, const std::string& kind, const std::string& level) {
  const RecordingHeader& header = recording.header;
  if (header.kind != kind)
    throw UserError(ExitCode::usage, fmt::format("the recording is of the {} '{}', not of a {}; record a {}",
                                                 header.kind, header.block, kind, kind));
  if (header.level != level)
    throw UserError(
        ExitCode::usage,
        fmt::format("the recording of '{}' is at `{}` fidelity; a {} is replayed at `{}` fidelity",
                    header.block, header.level, kind, level));
}

NpuId numbered(const Recording& recording, const std::string& kind) {
  const std::string& block = recording.header.block;
  const std::string digits = block.rfind(kind, 0) == 0 ? block.substr(kind.size()) : std::string();
  if (digits.empty() || digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string::npos)
    throw UserError(
        ExitCode::usage,
        fmt::format("the recording names its block '{}', and a name such as {}3 is needed", block, kind));
  return NpuId{static_cast<uint32_t>(std::stoul(digits))};
}

void ReplayReport::differs(Picoseconds at, uint32_t port, const RecordedEvent& event, std::string what) {
  if (count_++ != 0 && at >= first_.at) return;
  first_.at = at;
  first_.port = port < recording_.header.ports.size() ? recording_.header.ports[port].name : "?";
  first_.message = describe_event(event, recording_.collectives);
  first_.what = std::move(what);
}

}  // namespace weft::cosim
