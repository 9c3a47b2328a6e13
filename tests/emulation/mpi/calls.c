/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Weft authors */
/*
 * Every call that the MPI shims emulate, checked by the program itself. All ranks are real and data is
 * functional, so that each result must be what MPI defines. Prints "ok" on rank 0; each error is a line.
 */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank;
static int ranks;
static int wrong;

#define CHECK(condition)                                                     \
  do {                                                                       \
    if (!(condition)) {                                                      \
      printf("rank %d, line %d: %s is false\n", rank, __LINE__, #condition); \
      ++wrong;                                                               \
    }                                                                        \
  } while (0)

enum { kCount = 5, kMost = 16 };

static void reductions(void) {
  int from[kCount * kMost];
  int to[kCount * kMost];
  for (int i = 0; i < kCount * ranks; ++i) from[i] = 100 * rank + i;
  const int sum = 100 * ranks * (ranks - 1) / 2;
  MPI_Allreduce(from, to, kCount, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < kCount; ++i) CHECK(to[i] == sum + ranks * i);
  memcpy(to, from, sizeof to);
  MPI_Allreduce(MPI_IN_PLACE, to, kCount, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  for (int i = 0; i < kCount; ++i) CHECK(to[i] == 100 * (ranks - 1) + i);
  memset(to, 0, sizeof to);
  MPI_Reduce(from, to, kCount, MPI_INT, MPI_MIN, 1, MPI_COMM_WORLD);
  for (int i = 0; i < kCount; ++i) CHECK(to[i] == (rank == 1 ? i : 0));
  MPI_Reduce_scatter_block(from, to, kCount, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < kCount; ++i) CHECK(to[i] == sum + ranks * (kCount * rank + i));
  int counts[kMost];
  int before = 0;
  for (int r = 0; r < ranks; ++r) counts[r] = 1 + r % 3;
  for (int r = 0; r < rank; ++r) before += counts[r];
  MPI_Reduce_scatter(from, to, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < counts[rank]; ++i) CHECK(to[i] == sum + ranks * (before + i));
  double d = rank + 0.5;
  MPI_Allreduce(MPI_IN_PLACE, &d, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  CHECK(d == ranks * (ranks - 1) / 2.0 + 0.5 * ranks);
  MPI_Request request;
  MPI_Iallreduce(from, to, kCount, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(request == MPI_REQUEST_NULL);
  for (int i = 0; i < kCount; ++i) CHECK(to[i] == sum + ranks * i);
}

/* One that does not commute: maps x -> a x + b, first those of the lower ranks. */
static void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  const long* first = in;
  long* second = inout;
  for (int i = 0; i < *count; ++i) {
    const long a = first[2 * i], b = first[2 * i + 1];
    second[2 * i + 1] += second[2 * i] * b;
    second[2 * i] *= a;
  }
}

/* By operations and on types that Weft does not know. */
static void own_reductions(void) {
  struct {
    double value;
    int place;
  } from[2] = {{rank == 2 ? -5.0 : rank, rank}, {rank, 10 + rank}}, to[2];
  MPI_Allreduce(from, to, 2, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
  CHECK(to[0].value == -5 && to[0].place == 2 && to[1].value == 0 && to[1].place == 10);
  MPI_Reduce(from, to, 2, MPI_DOUBLE_INT, MPI_MAXLOC, 1, MPI_COMM_WORLD);
  if (rank == 1) CHECK(to[1].value == ranks - 1 && to[1].place == 9 + ranks);
  double complex_from[2] = {1 + rank, rank};
  double complex_to[2];
  MPI_Allreduce(complex_from, complex_to, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
  CHECK(complex_to[0] == ranks + ranks * (ranks - 1) / 2 && complex_to[1] == ranks * (ranks - 1) / 2);
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_LONG, &pair);
  MPI_Type_commit(&pair);
  MPI_Op op;
  MPI_Op_create(compose, 0, &op);
  long a = 1, b = 0; /* all maps, one after the other */
  for (int r = 0; r < ranks; ++r) {
    b = (2 + r) * b + 3 * r + 1;
    a *= 2 + r;
  }
  long map[2] = {2 + rank, 3 * rank + 1};
  MPI_Request request;
  MPI_Iallreduce(MPI_IN_PLACE, map, 1, pair, op, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(map[0] == a && map[1] == b);
  long maps[2 * kMost];
  for (int r = 0; r < ranks; ++r) {
    maps[2 * r] = 2 + rank;
    maps[2 * r + 1] = 3 * rank + 1 + r;
  }
  long own[2];
  MPI_Reduce_scatter_block(maps, own, 1, pair, op, MPI_COMM_WORLD);
  b = 0;
  for (int r = 0; r < ranks; ++r) b = (2 + r) * b + 3 * r + 1 + rank;
  CHECK(own[0] == a && own[1] == b);
  MPI_Op_free(&op);
  MPI_Type_free(&pair);
}

static void gathers(void) {
  int from[kCount * kMost];
  int to[kCount * kMost];
  int counts[kMost];
  int places[kMost];
  for (int r = 0; r < ranks; ++r) {
    counts[r] = 1 + r % 3;
    places[r] = (ranks - 1 - r) * kCount; /* backwards, with gaps */
  }
  for (int i = 0; i < kCount * ranks; ++i) from[i] = 1000 * rank + i;
  MPI_Allgather(from, kCount, MPI_INT, to, kCount, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r)
    for (int i = 0; i < kCount; ++i) CHECK(to[r * kCount + i] == 1000 * r + i);
  memset(to, 0, sizeof to);
  for (int i = 0; i < kCount; ++i) to[rank * kCount + i] = 7 * rank + i;
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, to, kCount, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r)
    for (int i = 0; i < kCount; ++i) CHECK(to[r * kCount + i] == 7 * r + i);
  memset(to, 0, sizeof to);
  MPI_Allgatherv(from, counts[rank], MPI_INT, to, counts, places, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r)
    for (int i = 0; i < kCount; ++i) CHECK(to[places[r] + i] == (i < counts[r] ? 1000 * r + i : 0));
  memset(to, 0, sizeof to);
  MPI_Gather(from, kCount, MPI_INT, to, kCount, MPI_INT, 2, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r) CHECK(to[r * kCount] == (rank == 2 ? 1000 * r : 0));
  memset(to, 0, sizeof to);
  MPI_Gatherv(from, counts[rank], MPI_INT, to, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
  for (int r = 0; r < ranks && rank == 0; ++r) CHECK(to[places[r]] == 1000 * r);
  memset(to, 0, sizeof to);
  MPI_Scatter(from, kCount, MPI_INT, to, kCount, MPI_INT, 1, MPI_COMM_WORLD);
  for (int i = 0; i < kCount; ++i) CHECK(to[i] == 1000 + kCount * rank + i);
  MPI_Scatterv(from, counts, places, MPI_INT, to, counts[rank], MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < counts[rank]; ++i) CHECK(to[i] == places[rank] + i);
  MPI_Bcast(rank == 3 % ranks ? from : to, kCount, MPI_INT, 3 % ranks, MPI_COMM_WORLD);
  for (int i = 0; i < kCount; ++i) CHECK((rank == 3 % ranks ? from : to)[i] == 1000 * (3 % ranks) + i);
}

static void all_to_alls(void) {
  int from[kCount * kMost];
  int to[kCount * kMost];
  int counts[kMost];
  int places[kMost];
  int to_counts[kMost];
  int to_places[kMost];
  for (int i = 0; i < kCount * ranks; ++i) from[i] = 1000 * rank + i;
  MPI_Alltoall(from, kCount, MPI_INT, to, kCount, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r)
    for (int i = 0; i < kCount; ++i) CHECK(to[r * kCount + i] == 1000 * r + kCount * rank + i);
  for (int r = 0; r < ranks; ++r) {
    counts[r] = (rank + r) % kCount;
    to_counts[r] = (rank + r) % kCount;
    places[r] = r * kCount;
    to_places[r] = (ranks - 1 - r) * kCount;
  }
  memset(to, 0, sizeof to);
  MPI_Request request;
  MPI_Ialltoallv(from, counts, places, MPI_INT, to, to_counts, to_places, MPI_INT, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int r = 0; r < ranks; ++r)
    for (int i = 0; i < kCount; ++i)
      CHECK(to[to_places[r] + i] == (i < to_counts[r] ? 1000 * r + rank * kCount + i : 0));
}

static void messages(void) {
  const int next = (rank + 1) % ranks;
  const int before = (rank + ranks - 1) % ranks;
  int out[4] = {rank, rank + 1, rank + 2, rank + 3};
  int in[8] = {0};
  static char buffered[4096];
  MPI_Status status;
  int count = 0;
  MPI_Sendrecv(out, 4, MPI_INT, next, 5, in, 8, MPI_INT, before, 5, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(status.MPI_SOURCE == before && status.MPI_TAG == 5 && count == 4 && in[3] == before + 3);
  /* Requests in every way of waiting. */
  MPI_Request requests[4];
  MPI_Status statuses[4];
  memset(in, 0, sizeof in);
  for (int i = 0; i < 2; ++i) MPI_Irecv(in + 4 * i, 4, MPI_INT, before, 10 + i, MPI_COMM_WORLD, requests + i);
  for (int i = 0; i < 2; ++i) MPI_Isend(out, 4, MPI_INT, next, 11 - i, MPI_COMM_WORLD, requests + 2 + i);
  MPI_Waitall(4, requests, statuses);
  CHECK(statuses[0].MPI_TAG == 10 && statuses[1].MPI_TAG == 11 && in[0] == before && in[4] == before);
  for (int i = 0; i < 4; ++i) CHECK(requests[i] == MPI_REQUEST_NULL);
  for (int i = 0; i < 2; ++i)
    MPI_Irecv(in + 4 * i, 4, MPI_INT, MPI_ANY_SOURCE, 20 + i, MPI_COMM_WORLD, requests + i);
  for (int i = 0; i < 2; ++i) MPI_Issend(out, 4, MPI_INT, next, 20 + i, MPI_COMM_WORLD, requests + 2 + i);
  int done = 0;
  int which = -1;
  int list[4];
  MPI_Waitany(2, requests, &which, &status);
  CHECK(which >= 0 && which < 2 && status.MPI_SOURCE == before && requests[which] == MPI_REQUEST_NULL);
  for (int left = 3; left > 0; left -= done) {
    MPI_Waitsome(4, requests, &done, list, statuses);
    CHECK(done >= 1 && done <= left);
    if (done < 1) break;
  }
  /* Polling comes to an end. */
  MPI_Irecv(in, 4, MPI_INT, before, 30, MPI_COMM_WORLD, requests);
  MPI_Send(out, 4, MPI_INT, next, 30, MPI_COMM_WORLD);
  for (done = 0; !done;) MPI_Test(requests, &done, &status);
  CHECK(requests[0] == MPI_REQUEST_NULL && status.MPI_TAG == 30);
  MPI_Isend(out, 1, MPI_INT, next, 31, MPI_COMM_WORLD, requests);
  for (done = 0; !done;) MPI_Iprobe(before, 31, MPI_COMM_WORLD, &done, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(count == 1);
  MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  CHECK(status.MPI_SOURCE == before && status.MPI_TAG == 31);
  MPI_Recv(in, 1, MPI_INT, before, 31, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (done = 0; !done;) MPI_Testall(1, requests, &done, statuses);
  /* Persistent, buffered, nobody, and a type with gaps. */
  MPI_Send_init(out, 4, MPI_INT, next, 40, MPI_COMM_WORLD, requests);
  MPI_Recv_init(in, 4, MPI_INT, before, 40, MPI_COMM_WORLD, requests + 1);
  for (int i = 0; i < 3; ++i) {
    out[0] = 10 * i + rank;
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, statuses);
    CHECK(in[0] == 10 * i + before && statuses[1].MPI_SOURCE == before);
  }
  MPI_Request_free(requests);
  MPI_Request_free(requests + 1);
  MPI_Recv(in, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
  CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
  MPI_Buffer_attach(buffered, sizeof buffered);
  MPI_Bsend(out, 4, MPI_INT, next, 50, MPI_COMM_WORLD);
  MPI_Recv(in, 4, MPI_INT, before, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  void* attached = NULL;
  MPI_Buffer_detach(&attached, &count);
  int grid[12];
  int column[3] = {-1, -1, -1};
  for (int i = 0; i < 12; ++i) grid[i] = 100 * rank + i;
  MPI_Datatype type;
  MPI_Type_vector(3, 1, 4, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Isend(grid + 1, 1, type, next, 60, MPI_COMM_WORLD, requests);
  MPI_Recv(column, 3, MPI_INT, before, 60, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(requests, MPI_STATUS_IGNORE);
  CHECK(column[0] == 100 * before + 1 && column[2] == 100 * before + 9);
  MPI_Isend(column, 3, MPI_INT, before, 61, MPI_COMM_WORLD, requests);
  memset(grid, 0, sizeof grid);
  MPI_Recv(grid + 2, 1, type, next, 61, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(requests, MPI_STATUS_IGNORE);
  CHECK(grid[2] == 100 * rank + 1 && grid[10] == 100 * rank + 9 && grid[3] == 0);
  MPI_Type_free(&type);
}

static void communicators(void) {
  MPI_Comm half;
  MPI_Comm again;
  MPI_Comm cart;
  int size = 0;
  int me = -1;
  int sum = rank;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_size(half, &size);
  MPI_Comm_rank(half, &me);
  CHECK(size == (ranks + 1 - rank % 2) / 2 && me == rank / 2);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, half);
  int expected = 0;
  for (int r = rank % 2; r < ranks; r += 2) expected += r;
  CHECK(sum == expected);
  MPI_Comm_dup(half, &again);
  int result = 0;
  MPI_Comm_compare(half, again, &result);
  CHECK(result == MPI_CONGRUENT);
  MPI_Comm_free(&half);
  MPI_Barrier(again);
  MPI_Comm_free(&again);
  CHECK(again == MPI_COMM_NULL);
  MPI_Group world;
  MPI_Group some;
  MPI_Comm made;
  int ranges[1][3] = {{ranks - 1, 0, -1}};
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_range_incl(world, 1, ranges, &some);
  MPI_Group_rank(some, &me);
  CHECK(me == ranks - 1 - rank);
  MPI_Comm_create(MPI_COMM_WORLD, some, &made);
  MPI_Comm_rank(made, &me);
  CHECK(me == ranks - 1 - rank);
  int zero = 0;
  int place = -1;
  MPI_Group_translate_ranks(world, 1, &zero, some, &place);
  CHECK(place == ranks - 1);
  MPI_Group_free(&some);
  MPI_Group_free(&world);
  MPI_Comm_free(&made);
  const int dims[2] = {2, ranks / 2};
  const int periods[2] = {0, 1};
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
  if (cart != MPI_COMM_NULL) {
    int at[2];
    int source = 0;
    int destination = 0;
    MPI_Cart_coords(cart, rank, 2, at);
    CHECK(at[0] == rank / dims[1] && at[1] == rank % dims[1]);
    MPI_Cart_shift(cart, 0, 1, &source, &destination);
    CHECK(destination == (at[0] == 0 ? rank + dims[1] : MPI_PROC_NULL));
    MPI_Cart_shift(cart, 1, 1, &source, &destination);
    CHECK(destination == at[0] * dims[1] + (at[1] + 1) % dims[1]);
    MPI_Comm row;
    const int keeps[2] = {0, 1};
    MPI_Cart_sub(cart, keeps, &row);
    MPI_Comm_size(row, &size);
    CHECK(size == dims[1]);
    MPI_Comm_free(&row);
    MPI_Comm_free(&cart);
  }
  int self = 0;
  MPI_Comm_size(MPI_COMM_SELF, &self);
  CHECK(self == 1);
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &size);
  CHECK(size >= 1 && size <= ranks);
  MPI_Barrier(node);
  MPI_Comm_free(&node);
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  CHECK(provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const double began = MPI_Wtime();
  reductions();
  own_reductions();
  gathers();
  all_to_alls();
  messages();
  communicators();
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_Wtime() > began);
  int all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && all == 0) printf("ok\n");
  MPI_Finalize();
  return wrong != 0;
}
