/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Weft authors */
/* Ranks 0 and 1 send a message to and fro; the time is one way's. Other ranks look on. */

#include "bench.h"

int main(int argc, char** argv) {
  const struct bench b = bench_begin(&argc, &argv, "ping-pong");
  char* const data = bench_memory((size_t)b.largest);
  for (long bytes = 1; bytes <= b.largest; bytes *= 2) {
    double begin = 0;
    const int warm_up = bench_warm_up(bytes);
    for (int i = -warm_up; i < b.repetitions; ++i) {
      if (i == 0) begin = MPI_Wtime();
      if (b.rank == 0) {
        MPI_Send(data, (int)bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(data, (int)bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else if (b.rank == 1) {
        MPI_Recv(data, (int)bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(data, (int)bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
      }
    }
    bench_line(&b, bytes, (MPI_Wtime() - begin) / b.repetitions / 2);
  }
  free(data);
  return MPI_Finalize();
}
