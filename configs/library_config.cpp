// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/library_config.h"

#include "configs/config.h"

namespace weft {

const char* to_string(LibraryKind kind) {
  static const char* const names[] = {"none", "nccl", "rccl"};
  return names[static_cast<int>(kind)];
}

const char* to_string(HostCpu host) {
  static const char* const names[] = {"intel", "amd", "arm"};
  return names[static_cast<int>(host)];
}

const char* to_string(NetworkKind network) {
  static const char* const names[] = {"rdma", "sockets"};
  return names[static_cast<int>(network)];
}

const char* to_string(NodeLinks links) {
  static const char* const names[] = {"auto", "none", "switched", "cube_mesh", "fully_connected", "pcie"};
  return names[static_cast<int>(links)];
}

std::optional<uint32_t> network_dimension(const Config& config) {
  if (config.graph != nullptr || config.dimensions.empty()) return std::nullopt;
  const uint32_t given = config.collectives.library.gpus_per_node;
  const uint32_t gpus = given != 0 ? given : config.dimensions[0].size;
  if (gpus == 1 && config.dimensions.size() == 1) return 0;
  if (gpus == config.dimensions[0].size && config.dimensions.size() == 2) return 1;
  return std::nullopt;
}

}  // namespace weft
