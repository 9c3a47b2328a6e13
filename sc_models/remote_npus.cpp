// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/remote_npus.h"

#include <fmt/format.h>

#include <utility>

#include "configs/implementation.h"
#include "sc_models/module_choices.h"

namespace weft {
namespace {

bool is_remote(const std::string& implementation) {
  return parse_implementation(implementation).model == kRemoteNpuModel;
}

}  // namespace

std::vector<RemoteNpu> remote_npus(const Config& config) {
  std::vector<RemoteNpu> found;
  if (config.implementations.empty()) return found;
  ModuleChoices choices(config);
  for (uint32_t npu = 0; npu < config.npus(); ++npu) {
    ModuleChoices::Chosen chosen = choices.of(ModuleKind::npu, fmt::format("npu{}", npu),
                                              {config.npu.implementation, "npu.implementation"});
    if (is_remote(chosen.implementation))
      found.push_back({npu, std::move(chosen.implementation), std::move(chosen.owner)});
  }
  return found;
}

void refuse_remote_npus(const Config& config) {
  const std::vector<RemoteNpu> remote = remote_npus(config);
  if (remote.empty()) return;
  throw UserError(
      ExitCode::usage,
      fmt::format("{}: the program of npu{} runs in another process (`{}`), and this command runs NPUs "
                  "itself; open the machine with weft_net_open() of libweft_net "
                  "(docs/guide/network_interface.md), or take the binding out",
                  remote.front().owner, remote.front().npu, kRemoteNpuModel));
}

}  // namespace weft
