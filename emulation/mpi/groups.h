// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// MPI_Group: a list of ranks of the world. The library's own groups hold this process only.

#ifndef WEFT_EMULATION_MPI_GROUPS_H
#define WEFT_EMULATION_MPI_GROUPS_H

#include <cstdint>
#include <vector>

#include "emulation/mpi/mpi_shim.h"

namespace weft::mpi {

/// The members of a communicator, as ranks of the world.
std::vector<int> world_ranks(MPI_Comm comm);
/// The group's members as ranks of a communicator. Ends the process if one is no member.
std::vector<int32_t> members_in(const char* call, MPI_Group group, weft_comm comm);
/// MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL.
int compare(const std::vector<int>& one, const std::vector<int>& other);

}  // namespace weft::mpi

#endif
