// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Calls that Weft does not emulate, refused by their names. Without mpi.h, so that each needs its name only:
// nothing looks at the arguments.

extern "C" void weft_mpi_refuse(const char* call);

#define REFUSE(name)                                             \
  extern "C" __attribute__((visibility("default"))) int name() { \
    weft_mpi_refuse(#name);                                      \
    return 1;                                                    \
  }

REFUSE(MPI_Scan)
REFUSE(MPI_Exscan)
REFUSE(MPI_Iscan)
REFUSE(MPI_Iexscan)
REFUSE(MPI_Alltoallw)
REFUSE(MPI_Ialltoallw)
REFUSE(MPI_Comm_idup)
REFUSE(MPI_Cancel)
REFUSE(MPI_Mprobe)
REFUSE(MPI_Improbe)
REFUSE(MPI_Win_create)
REFUSE(MPI_Win_allocate)
REFUSE(MPI_Win_allocate_shared)
REFUSE(MPI_Win_create_dynamic)
REFUSE(MPI_File_open)
REFUSE(MPI_File_delete)
REFUSE(MPI_Intercomm_create)
REFUSE(MPI_Intercomm_merge)
REFUSE(MPI_Comm_spawn)
REFUSE(MPI_Comm_spawn_multiple)
REFUSE(MPI_Comm_connect)
REFUSE(MPI_Comm_accept)
REFUSE(MPI_Comm_join)
REFUSE(MPI_Graph_create)
REFUSE(MPI_Dist_graph_create)
REFUSE(MPI_Dist_graph_create_adjacent)
REFUSE(MPI_Neighbor_allgather)
REFUSE(MPI_Neighbor_allgatherv)
REFUSE(MPI_Neighbor_alltoall)
REFUSE(MPI_Neighbor_alltoallv)
REFUSE(MPI_Neighbor_alltoallw)
REFUSE(MPI_Ineighbor_allgather)
REFUSE(MPI_Ineighbor_allgatherv)
REFUSE(MPI_Ineighbor_alltoall)
REFUSE(MPI_Ineighbor_alltoallv)
REFUSE(MPI_Ineighbor_alltoallw)
