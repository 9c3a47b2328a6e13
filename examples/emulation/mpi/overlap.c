/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Weft authors */
/*
 * An all-reduce beside work: MPI_Iallreduce, work, MPI_Wait. The work is from nothing to twice the time of
 * the all-reduce alone. A line for each: bytes, work, all-reduce alone, both (us).
 *
 *     overlap [LARGEST [REPETITIONS]]
 */

#include "bench.h"

/* Works for so many seconds. Under Weft it only says so: the result does not depend on this computer. */
static void work(double seconds) {
  if (getenv("WEFT_SOCKET") != NULL) {
    MPI_Pcontrol(BENCH_COMPUTE, seconds);
    return;
  }
  const double end = MPI_Wtime() + seconds;
  volatile double sink = 0;
  while (MPI_Wtime() < end)
    for (int i = 0; i < 1000; ++i) sink = sink + i;
}

int main(int argc, char** argv) {
  const struct bench b = bench_begin(&argc, &argv, "all-reduce beside work: bytes, work, alone, both (us)");
  float* const from = bench_memory((size_t)b.largest);
  float* const to = bench_memory((size_t)b.largest);
  for (long bytes = 1 << 16; bytes <= b.largest; bytes *= 8) {
    const int count = (int)(bytes / 4);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    MPI_Allreduce(from, to, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    const double alone = MPI_Wtime() - begin;
    for (int part = 0; part <= 8; ++part) {
      double both = 0;
      for (int i = 0; i < b.repetitions; ++i) {
        MPI_Request request;
        MPI_Barrier(MPI_COMM_WORLD);
        begin = MPI_Wtime();
        MPI_Iallreduce(from, to, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
        work(alone * part / 4);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        both += MPI_Wtime() - begin;
      }
      if (b.rank == 0)
        printf("%-12ld %16.6f %16.6f %16.6f\n", bytes, alone * part / 4 * 1e6, alone * 1e6,
               both / b.repetitions * 1e6);
    }
  }
  free(from);
  free(to);
  return MPI_Finalize();
}
