// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The hybrid cube mesh of a DGX-1V: eight GPUs, of which each has links to four others. NCCL has messages
// between the others pass one GPU (PATH_NVB in NVIDIA/nccl, src/graph/paths.cc), the one whose links are
// thickest, and among equals the first one found. It does not spread them.

#ifndef WEFT_WORKLOAD_LIBRARY_CUBE_MESH_H
#define WEFT_WORKLOAD_LIBRARY_CUBE_MESH_H

#include <cstdint>

#include "workload/library/communication_library.h"

namespace weft::library {

/// Links between two GPUs; 0: none.
uint32_t cube_mesh_links(uint32_t from, uint32_t to);
/// The GPU that a message passes on its way between two that have no link.
uint32_t cube_mesh_via(uint32_t from, uint32_t to);
/// Messages for each of its links that the busiest pair of GPUs carries in one direction, when so many GPUs
/// of a node each send one to every other: of more than four those of all eight, of three or four those of a
/// half, where all have links.
double cube_mesh_load(uint32_t gpus);

}  // namespace weft::library

#endif
