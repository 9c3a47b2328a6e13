// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "configs/library_config.h"

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

}  // namespace weft
