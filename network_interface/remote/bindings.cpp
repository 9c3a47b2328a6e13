// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "network_interface/remote/bindings.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <string>

#include "configs/implementation.h"
#include "sc_models/remote_npus.h"

namespace weft::network_interface {
namespace {

constexpr const char* kRank = "{rank}";

std::string socket_of(const Config& config, const RemoteNpu& npu, Parameters& parameters) {
  std::string socket = parameters.text("socket", "");
  if (socket.empty())
    parameters.refuse("socket",
                      fmt::format("is missing; name the Unix socket: remote(socket=host{}.sock)", kRank));
  const size_t at = socket.find(kRank);
  if (at != std::string::npos) socket.replace(at, std::string(kRank).size(), std::to_string(npu.npu));
  return (std::filesystem::path(config.file).parent_path() / socket).string();
}

ChannelOptions options_of(const Config& config, const RemoteNpu& npu) {
  Parameters parameters(parse_implementation(npu.implementation), npu.owner);
  ChannelOptions options;
  options.socket = socket_of(config, npu, parameters);
  const std::string side = parameters.text("weft", "listens");
  if (side != "listens" && side != "connects")
    parameters.refuse("weft", fmt::format("'{}' is not one of listens and connects", side));
  options.connects = side == "connects";
  options.latency = parameters.time("latency", "500 ns");
  if (options.latency == 0)
    parameters.refuse("latency", "is 0, and no side could run before the other; give more, such as 500 ns");
  options.sync_interval = parameters.time("sync_interval", "0 ns");
  if (options.sync_interval > options.latency)
    parameters.refuse("sync_interval", "is longer than the latency; give at most that");
  const Picoseconds patience = parameters.time("patience", "10 s");
  if (patience < 1000000000) parameters.refuse("patience", "is less than 1 ms; give more");
  options.patience = std::chrono::milliseconds(patience / 1000000000);
  parameters.finish();
  return options;
}

}  // namespace

std::vector<std::pair<uint32_t, ChannelOptions>> remote_bindings(const Config& config) {
  std::vector<std::pair<uint32_t, ChannelOptions>> bindings;
  std::map<std::string, uint32_t> rank_of;
  for (const RemoteNpu& npu : remote_npus(config)) {
    ChannelOptions options = options_of(config, npu);
    const auto [other, fresh] = rank_of.emplace(options.socket, npu.npu);
    if (!fresh)
      throw UserError(
          ExitCode::usage,
          fmt::format("{}: ranks {} and {} have one socket, {}; put {} into its name, which stands "
                      "for the rank",
                      npu.owner, other->second, npu.npu, options.socket, kRank));
    bindings.emplace_back(npu.npu, std::move(options));
  }
  return bindings;
}

}  // namespace weft::network_interface
