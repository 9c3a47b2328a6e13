/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Weft authors */
/* All-reduces of floats one after the other. */

#include "bench.h"

int main(int argc, char** argv) {
  const struct bench b = bench_begin(&argc, &argv, "all-reduce");
  float* const from = bench_memory((size_t)b.largest);
  float* const to = bench_memory((size_t)b.largest);
  for (long bytes = 4; bytes <= b.largest; bytes *= 2) {
    double begin = 0;
    const int warm_up = bench_warm_up(bytes);
    for (int i = -warm_up; i < b.repetitions; ++i) {
      if (i == 0) begin = MPI_Wtime();
      MPI_Allreduce(from, to, (int)(bytes / 4), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }
    bench_line(&b, bytes, (MPI_Wtime() - begin) / b.repetitions);
  }
  free(from);
  free(to);
  return MPI_Finalize();
}
