/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Weft authors */
/* All-reduces of floats one after the other, as examples/emulation/mpi/allreduce.c: allreduce LARGEST REPETITIONS */

#include <stdio.h>
#include <stdlib.h>

#include "nccl_types.h"

#define NEED(call) \
  if ((call) != ncclSuccess) return 1

int main(int argc, char** argv) {
  const long largest = argc > 1 ? atol(argv[1]) : 4096;
  const int repetitions = argc > 2 ? atoi(argv[2]) : 1;
  float* const data = calloc((size_t)largest, 1);
  const cudaStream_t stream = (cudaStream_t)0x10;
  ncclUniqueId id;
  ncclComm_t comm;
  NEED(ncclGetUniqueId(&id));
  NEED(ncclCommInitRank(&comm, atoi(getenv("WORLD_SIZE")), id, atoi(getenv("RANK"))));
  for (long bytes = 4; bytes <= largest; bytes *= 2) {
    for (int i = 0; i < repetitions; ++i) {
      NEED(ncclAllReduce(data, data, (size_t)(bytes / 4), ncclFloat32, ncclSum, comm, stream));
      NEED(weftNcclStreamSynchronize(stream));
    }
  }
  NEED(ncclCommDestroy(comm));
  free(data);
  return 0;
}
