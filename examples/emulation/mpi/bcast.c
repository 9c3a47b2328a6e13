/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Weft authors */
/* Broadcasts from rank 0 one after the other. */

#include "bench.h"

int main(int argc, char** argv) {
  const struct bench b = bench_begin(&argc, &argv, "broadcast");
  char* const data = bench_memory((size_t)b.largest);
  for (long bytes = 1; bytes <= b.largest; bytes *= 2) {
    double begin = 0;
    const int warm_up = bench_warm_up(bytes);
    for (int i = -warm_up; i < b.repetitions; ++i) {
      if (i == 0) begin = MPI_Wtime();
      MPI_Bcast(data, (int)bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
    }
    bench_line(&b, bytes, (MPI_Wtime() - begin) / b.repetitions);
  }
  free(data);
  return MPI_Finalize();
}
