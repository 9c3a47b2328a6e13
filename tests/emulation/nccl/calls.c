/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Weft authors */
/*
 * Every call of NCCL's interface in host mode, checked by the program itself. All ranks are real and data is
 * functional. Prints "ok" on rank 0; each error is a line.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nccl_types.h"

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
#define OK(call)                                                                                \
  do {                                                                                          \
    const ncclResult_t result_ = (call);                                                        \
    if (result_ != ncclSuccess) {                                                               \
      printf("rank %d, line %d: %s: %s\n", rank, __LINE__, #call, ncclGetErrorString(result_)); \
      ++wrong;                                                                                  \
    }                                                                                           \
  } while (0)

enum { kCount = 6, kMost = 16 };
static const cudaStream_t kStream = (cudaStream_t)0x10;
static const cudaStream_t kOther = (cudaStream_t)0x20;
static float from[kCount * kMost];
static float to[kCount * kMost];

static void collectives(ncclComm_t comm) {
  const float sum = 100.0f * (float)(ranks * (ranks - 1) / 2);
  for (int i = 0; i < kCount * ranks; ++i) from[i] = (float)(100 * rank + i);
  OK(ncclAllReduce(from, to, kCount, ncclFloat32, ncclSum, comm, kStream));
  OK(weftNcclStreamSynchronize(kStream));
  for (int i = 0; i < kCount; ++i) CHECK(to[i] == sum + (float)(ranks * i));
  OK(ncclAllReduce(from, to, kCount, ncclFloat32, ncclAvg, comm, kStream));
  OK(weftNcclStreamSynchronize(kStream));
  for (int i = 0; i < kCount; ++i) CHECK(to[i] == (sum + (float)(ranks * i)) / (float)ranks);
  memcpy(to, from, sizeof to);
  OK(ncclBroadcast(from, to, kCount, ncclFloat32, 1, comm, kStream));
  OK(weftNcclStreamSynchronize(kStream));
  for (int i = 0; i < kCount; ++i) CHECK(to[i] == (float)(100 + i));
  memcpy(to, from, sizeof to);
  OK(ncclBcast(to, kCount, ncclFloat32, 2, comm, kStream));
  OK(weftNcclStreamSynchronize(kStream));
  for (int i = 0; i < kCount; ++i) CHECK(to[i] == (float)(200 + i));
  memset(to, 0, sizeof to);
  OK(ncclReduce(from, to, kCount, ncclFloat32, ncclMax, 1, comm, kStream));
  OK(weftNcclStreamSynchronize(kStream));
  for (int i = 0; i < kCount; ++i) CHECK(to[i] == (rank == 1 ? (float)(100 * (ranks - 1) + i) : 0));
  OK(ncclAllGather(from, to, kCount, ncclFloat32, comm, kStream));
  OK(weftNcclStreamSynchronize(kStream));
  for (int r = 0; r < ranks; ++r)
    for (int i = 0; i < kCount; ++i) CHECK(to[r * kCount + i] == (float)(100 * r + i));
  OK(ncclReduceScatter(from, to, kCount, ncclFloat32, ncclSum, comm, kStream));
  OK(weftNcclStreamSynchronize(kStream));
  for (int i = 0; i < kCount; ++i) CHECK(to[i] == sum + (float)(ranks * (kCount * rank + i)));
  OK(ncclAlltoAll(from, to, kCount, ncclFloat32, comm, kStream));
  OK(weftNcclStreamSynchronize(kStream));
  for (int r = 0; r < ranks; ++r)
    for (int i = 0; i < kCount; ++i) CHECK(to[r * kCount + i] == (float)(100 * r + kCount * rank + i));
  memset(to, 0, sizeof to);
  OK(ncclGather(from, to, kCount, ncclFloat32, 0, comm, kStream));
  OK(weftNcclStreamSynchronize(kStream));
  for (int r = 0; r < ranks; ++r) CHECK(to[r * kCount] == (rank == 0 ? (float)(100 * r) : 0));
  OK(ncclScatter(from, to, kCount, ncclFloat32, 1, comm, kStream));
  OK(weftNcclStreamSynchronize(kStream));
  for (int i = 0; i < kCount; ++i) CHECK(to[i] == (float)(100 + kCount * rank + i));
  float scalar = 0.5f;
  ncclRedOp_t half;
  OK(ncclRedOpCreatePreMulSum(&half, &scalar, ncclFloat32, ncclScalarHostImmediate, comm));
  OK(ncclAllReduce(from, to, kCount, ncclFloat32, half, comm, kStream));
  OK(weftNcclStreamSynchronize(kStream));
  for (int i = 0; i < kCount; ++i) CHECK(to[i] == (sum + (float)(ranks * i)) / 2);
  OK(ncclRedOpDestroy(half, comm));
  CHECK(ncclAllReduce(from, to, kCount, ncclFloat32, half, comm, kStream) == ncclInvalidArgument);
}

static void groups(ncclComm_t comm) {
  const int next = (rank + 1) % ranks;
  const int before = (rank + ranks - 1) % ranks;
  /* A ring of sends and receives: without the group each rank would wait for the next one. */
  OK(ncclGroupStart());
  OK(ncclSend(from, kCount, ncclFloat32, next, comm, kStream));
  OK(ncclRecv(to, kCount, ncclFloat32, before, comm, kStream));
  OK(ncclGroupEnd());
  OK(weftNcclStreamSynchronize(kStream));
  CHECK(to[0] == (float)(100 * before) && to[kCount - 1] == (float)(100 * before + kCount - 1));
  /* Groups within groups, and a simulated one, which runs nothing. */
  OK(ncclGroupStart());
  OK(ncclGroupStart());
  OK(ncclAllReduce(from, to, kCount, ncclFloat32, ncclMin, comm, kStream));
  OK(ncclGroupEnd());
  OK(ncclAllReduce(from, to + kCount, kCount, ncclFloat32, ncclMax, comm, kOther));
  OK(ncclGroupEnd());
  OK(weftNcclStreamSynchronize(kStream));
  OK(weftNcclStreamSynchronize(kOther));
  CHECK(to[1] == 1 && to[kCount] == (float)(100 * (ranks - 1)));
  ncclSimInfo_t info = {sizeof info, 0, 0, 0};
  OK(ncclGroupStart());
  OK(ncclAllReduce(from, to, kCount, ncclFloat32, ncclSum, comm, kStream));
  OK(ncclGroupSimulateEnd(&info));
  CHECK(info.estimatedTime < 0);
  CHECK(ncclGroupEnd() == ncclInvalidUsage);
}

static void communicators(ncclComm_t world) {
  ncclComm_t half = NULL;
  ncclComm_t second = NULL;
  ncclComm_t shrunk = NULL;
  ncclResult_t state = ncclSuccess;
  int count = 0;
  int me = -1;
  OK(ncclCommSplit(world, rank % 2, rank, &half, NULL));
  OK(ncclCommCount(half, &count));
  OK(ncclCommUserRank(half, &me));
  CHECK(count == (ranks + 1 - rank % 2) / 2 && me == rank / 2);
  /* A second communicator of all, made without blocking; both in use at once. */
  ncclUniqueId id;
  ncclConfig_t config = {sizeof config, 0, 0, 0};
  OK(ncclGetUniqueId(&id));
  CHECK(ncclCommInitRankConfig(&second, ranks, id, rank, &config) == ncclInProgress);
  CHECK(ncclCommCount(second, &count) == ncclInvalidUsage);
  do OK(ncclCommGetAsyncError(second, &state));
  while (state == ncclInProgress);
  CHECK(state == ncclSuccess);
  OK(ncclAllReduce(from, to, 1, ncclFloat32, ncclSum, half, kStream));
  OK(ncclAllReduce(from, to + 1, 1, ncclFloat32, ncclSum, second, kOther));
  OK(weftNcclStreamSynchronize(kOther));
  OK(weftNcclStreamSynchronize(kStream));
  CHECK(to[1] == 100.0f * (float)(ranks * (ranks - 1) / 2));
  if (rank != ranks - 1) {
    int last = ranks - 1;
    OK(ncclCommShrink(second, &last, 1, &shrunk, NULL, 0));
    OK(ncclCommCount(shrunk, &count));
    CHECK(count == ranks - 1);
    OK(ncclAllReduce(from, to, 1, ncclFloat32, ncclMax, shrunk, kStream));
    OK(weftNcclStreamSynchronize(kStream));
    CHECK(to[0] == 100.0f * (float)(ranks - 2));
    OK(ncclCommDestroy(shrunk));
  }
  OK(ncclCommRevoke(second, 0));
  CHECK(ncclAllReduce(from, to, 1, ncclFloat32, ncclSum, second, kStream) == ncclInvalidUsage);
  OK(ncclCommAbort(second));
  OK(ncclCommFinalize(half));
  OK(ncclCommDestroy(half));
}

static void the_rest(ncclComm_t comm) {
  int version = 0;
  int device = -1;
  void* memory = NULL;
  void* handle = NULL;
  ncclWindow_t window = NULL;
  uint64_t value = 1;
  OK(ncclGetVersion(&version));
  CHECK(version == NCCL_VERSION_CODE);
  OK(ncclCommCuDevice(comm, &device));
  CHECK(device >= 0);
  OK(ncclMemAlloc(&memory, 4096));
  OK(ncclCommRegister(comm, memory, 4096, &handle));
  OK(ncclCommDeregister(comm, handle));
  OK(ncclCommWindowRegister(comm, memory, 4096, &window, 0));
  OK(ncclCommWindowDeregister(comm, window));
  OK(ncclMemFree(memory));
  OK(ncclCommSuspend(comm, 0));
  OK(ncclCommResume(comm));
  OK(ncclCommMemStats(comm, 0, &value));
  CHECK(value == 0);
  CHECK(ncclSignal(0, 0, 0, 0, comm, kStream) == ncclInvalidUsage);
  CHECK(strstr(ncclGetLastError(comm), "ncclSignal") != NULL);
  CHECK(ncclSend(from, 1, ncclFloat32, ranks, comm, kStream) == ncclInvalidArgument);
  ncclComm_t several[2];
  CHECK(ncclCommInitAll(several, 2, NULL) == ncclInvalidUsage);
}

int main(void) {
  ncclUniqueId id;
  ncclComm_t comm = NULL;
  rank = atoi(getenv("RANK") != NULL ? getenv("RANK") : "0");
  ranks = atoi(getenv("WORLD_SIZE") != NULL ? getenv("WORLD_SIZE") : "1");
  OK(ncclGetUniqueId(&id));
  OK(ncclCommInitRank(&comm, ranks, id, rank));
  if (comm == NULL) return 1;
  collectives(comm);
  groups(comm);
  communicators(comm);
  the_rest(comm);
  int32_t all = wrong;
  OK(ncclAllReduce(&all, &all, 1, ncclInt32, ncclSum, comm, kStream));
  OK(weftNcclStreamSynchronize(kStream));
  OK(ncclCommDestroy(comm));
  if (rank == 0 && all == 0) printf("ok\n");
  return wrong != 0;
}
