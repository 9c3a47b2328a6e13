/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Weft authors */
/* All-to-alls one after the other; the bytes are those for one peer. */

#include "bench.h"

int main(int argc, char** argv) {
  const struct bench b = bench_begin(&argc, &argv, "all-to-all");
  char* const from = bench_memory((size_t)b.largest * (size_t)b.ranks);
  char* const to = bench_memory((size_t)b.largest * (size_t)b.ranks);
  for (long bytes = 1; bytes <= b.largest; bytes *= 2) {
    double begin = 0;
    const int warm_up = bench_warm_up(bytes);
    for (int i = -warm_up; i < b.repetitions; ++i) {
      if (i == 0) begin = MPI_Wtime();
      MPI_Alltoall(from, (int)bytes, MPI_CHAR, to, (int)bytes, MPI_CHAR, MPI_COMM_WORLD);
    }
    bench_line(&b, bytes, (MPI_Wtime() - begin) / b.repetitions);
  }
  free(from);
  free(to);
  return MPI_Finalize();
}
