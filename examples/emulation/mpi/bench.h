/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Weft authors */
/*
 * What the benchmarks of this folder share: sizes from 1 B to a largest one, a warm-up, repetitions, a table.
 *
 *     PROGRAM [LARGEST [REPETITIONS]]      bytes; 67108864 and 100
 */

#ifndef WEFT_EXAMPLES_BENCH_H
#define WEFT_EXAMPLES_BENCH_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct bench {
  int rank;
  int ranks;
  long largest;
  int repetitions;
};

static inline struct bench bench_begin(int* argc, char*** argv, const char* title) {
  struct bench b;
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &b.ranks);
  b.largest = *argc > 1 ? atol((*argv)[1]) : 64l << 20;
  b.repetitions = *argc > 2 ? atoi((*argv)[2]) : 100;
  if (b.rank == 0) printf("# %s, %d ranks\n%-12s %16s %16s\n", title, b.ranks, "# bytes", "us", "MB/s");
  return b;
}

/* A line of the table, on rank 0: seconds for one repetition of so many bytes. */
static inline void bench_line(const struct bench* b, long bytes, double seconds) {
  if (b->rank == 0)
    printf("%-12ld %16.6f %16.3f\n", bytes, seconds * 1e6, seconds > 0 ? (double)bytes / seconds / 1e6 : 0);
}

/* Ten calls to warm up; large messages need fewer. */
static inline int bench_warm_up(long bytes) {
  return bytes > 1 << 16 ? 2 : 10;
}

/* MPI_Pcontrol's level by which a program tells Weft that it computes for so many seconds. Elsewhere it does
 * nothing. */
#define BENCH_COMPUTE 7001

static inline void* bench_memory(size_t bytes) {
  void* const memory = calloc(bytes == 0 ? 1 : bytes, 1);
  if (memory == NULL) {
    fprintf(stderr, "no memory for %zu bytes\n", bytes);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return memory;
}

#endif
