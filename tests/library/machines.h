// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Machines of the library's tests, from public facts.

#ifndef WEFT_TESTS_LIBRARY_MACHINES_H
#define WEFT_TESTS_LIBRARY_MACHINES_H

#include <string>

#include "workload/library/communication_library.h"

namespace weft::test {

inline library::LibraryMachine one_node(const std::string& gpu, const std::string& version = "") {
  library::LibraryMachine m;
  m.gpu = gpu;
  m.version = version;
  return m;
}

inline library::LibraryMachine nodes_of_8(const std::string& gpu, uint32_t nodes, uint32_t nics, double nic,
                                          const std::string& version = "") {
  library::LibraryMachine m = one_node(gpu, version);
  m.nodes = nodes;
  m.nics_per_node = nics;
  m.nic_bandwidth = nic;
  return m;
}

inline library::LibraryMachine dgx_1v() {
  library::LibraryMachine m = one_node("V100", "2.19");
  m.links = NodeLinks::cube_mesh;
  return m;
}

inline library::LibraryMachine mi300x(const std::string& gpu = "MI300X") {
  library::LibraryMachine m = one_node(gpu);
  m.kind = LibraryKind::rccl;
  m.links = NodeLinks::fully_connected;
  return m;
}

/// Two hosts with one V100 each, joined by 100 Gb/s Ethernet through host memory.
inline library::LibraryMachine socket_pair() {
  library::LibraryMachine m = nodes_of_8("V100", 2, 1, 12.5, "2.19");
  m.gpus_per_node = 1;
  m.links = NodeLinks::none;
  m.network = NetworkKind::sockets;
  return m;
}

}  // namespace weft::test

#endif
