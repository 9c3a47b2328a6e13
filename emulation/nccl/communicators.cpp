// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Communicators and unique ids.

#include <algorithm>
#include <cstring>
#include <memory>

#include "emulation/nccl/nccl_shim.h"

namespace weft::nccl {
namespace {

/// Ids are counted: the n-th is the same on every rank.
uint32_t ids = 0;

void set_members(ncclComm& comm, weft_comm id) {
  comm.id = id;
  comm.rank = weft_comm_rank(session(), id);
  comm.size = weft_comm_size(session(), id);
}

/// Makes a communicator by `make`, at once or, if the configuration says so, when its state is asked for.
template <typename Make>
ncclResult_t create(const char* call, ncclComm_t* made, const ncclConfig_t* config, Make make) {
  if (made == nullptr) return fail(call, ncclInvalidArgument, "the new communicator's pointer is null");
  if (session() == nullptr) return ncclSystemError;
  auto own = std::make_unique<ncclComm>();
  ncclComm* const comm = own.get();
  const auto begin = [call, comm, make]() -> ncclResult_t {
    weft_comm id = WEFT_COMM_NULL;
    if (const ncclResult_t r = check(call, make(&id)); r != ncclSuccess) return r;
    set_members(*comm, id);
    return ncclSuccess;
  };
  if (config != nullptr && config->blocking == 0) {
    own->begin = begin;
    *made = own.release();
    return ncclInProgress;
  }
  if (const ncclResult_t r = begin(); r != ncclSuccess) return r;
  *made = own->id == WEFT_COMM_NULL ? nullptr : own.release();
  return ncclSuccess;
}

ncclResult_t end(const char* call, ncclComm_t comm) {
  if (comm == nullptr) return ncclSuccess;
  ncclResult_t result = ncclSuccess;
  if (!comm->begin && comm->id != WEFT_COMM_NULL) {
    result = synchronize_all(call);
    if (result == ncclSuccess) result = check(call, weft_comm_free(session(), comm->id));
  }
  delete comm;
  return result;
}

const unsigned char* bytes_of(const ncclUniqueId& id) {
  return reinterpret_cast<const unsigned char*>(id.internal);
}

}  // namespace

ncclResult_t check_usable(const char* call, ncclComm_t comm) {
  if (comm == nullptr) return fail(call, ncclInvalidArgument, "the communicator is null");
  if (comm->begin)
    return fail(call, ncclInvalidUsage,
                "the communicator is still being made; ask ncclCommGetAsyncError until it is ncclSuccess");
  if (comm->revoked) return fail(call, ncclInvalidUsage, "the communicator was revoked; destroy it");
  return ncclSuccess;
}

}  // namespace weft::nccl

using namespace weft::nccl;

WEFT_NCCL ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  if (id == nullptr) return fail("ncclGetUniqueId", ncclInvalidArgument, "the id's pointer is null");
  if (session() == nullptr) return ncclSystemError;
  return check("ncclGetUniqueId",
               weft_unique_id(session(), ids++, reinterpret_cast<unsigned char*>(id->internal)));
}

WEFT_NCCL ncclResult_t ncclCommGetUniqueId(ncclComm_t comm, ncclUniqueId* id) {
  if (const ncclResult_t r = check_usable("ncclCommGetUniqueId", comm); r != ncclSuccess) return r;
  return ncclGetUniqueId(id);
}

WEFT_NCCL ncclResult_t ncclCommInitRankConfig(ncclComm_t* made, int n, ncclUniqueId id, int rank,
                                              ncclConfig_t* config) {
  const char* const call = "ncclCommInitRank";
  if (n < 1 || rank < 0 || rank >= n)
    return fail(call, ncclInvalidArgument,
                "rank " + std::to_string(rank) + " of " + std::to_string(n) + " does not exist");
  return create(call, made, config, [call, n, id, rank](weft_comm* comm) {
    return weft_comm_unique(session(), bytes_of(id), static_cast<uint32_t>(n), static_cast<uint32_t>(rank),
                            call, comm);
  });
}

WEFT_NCCL ncclResult_t ncclCommInitRank(ncclComm_t* made, int n, ncclUniqueId id, int rank) {
  return ncclCommInitRankConfig(made, n, id, rank, nullptr);
}

WEFT_NCCL ncclResult_t ncclCommInitRankScalable(ncclComm_t* made, int n, int rank, int count,
                                                ncclUniqueId* list, ncclConfig_t* config) {
  if (count < 1 || list == nullptr)
    return fail("ncclCommInitRankScalable", ncclInvalidArgument, "there is no unique id");
  return ncclCommInitRankConfig(made, n, list[0], rank, config);
}

WEFT_NCCL ncclResult_t ncclCommInitAll(ncclComm_t* comms, int n, const int*) {
  const char* const call = "ncclCommInitAll";
  if (n != 1)
    return fail(call, ncclInvalidUsage,
                "one process is one rank under `weft emulate`; use ncclCommInitRank in as many processes");
  return create(call, comms, nullptr, [](weft_comm* comm) {
    const int32_t own = weft_rank(session());
    return weft_comm_create(session(), WEFT_COMM_WORLD, &own, 1, comm);
  });
}

WEFT_NCCL ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* made,
                                     ncclConfig_t* config) {
  const char* const call = "ncclCommSplit";
  if (const ncclResult_t r = check_usable(call, comm); r != ncclSuccess) return r;
  const weft_comm parent = comm->id;
  return create(call, made, config, [parent, color, key](weft_comm* id) {
    return weft_comm_split(session(), parent, color == NCCL_SPLIT_NOCOLOR ? WEFT_UNDEFINED : color, key, id);
  });
}

WEFT_NCCL ncclResult_t ncclCommShrink(ncclComm_t comm, int* excluded, int n, ncclComm_t* made,
                                      ncclConfig_t* config, int) {
  const char* const call = "ncclCommShrink";
  if (const ncclResult_t r = check_usable(call, comm); r != ncclSuccess) return r;
  std::vector<int32_t> rest;
  for (int r = 0; r < comm->size; ++r)
    if (std::find(excluded, excluded + n, r) == excluded + n) rest.push_back(r);
  if (std::find(rest.begin(), rest.end(), comm->rank) == rest.end())
    return fail(call, ncclInvalidUsage, "this rank is excluded; only ranks that stay call it");
  const weft_comm parent = comm->id;
  return create(call, made, config, [parent, rest](weft_comm* id) {
    return weft_comm_create(session(), parent, rest.data(), static_cast<uint32_t>(rest.size()), id);
  });
}

WEFT_NCCL ncclResult_t ncclCommGrow(ncclComm_t comm, int n, const ncclUniqueId* id, int rank,
                                    ncclComm_t* made, ncclConfig_t* config) {
  const char* const call = "ncclCommGrow";
  if (id == nullptr)
    return fail(call, ncclInvalidUsage,
                "Weft needs the unique id on every rank, also on those that were members");
  if (comm != nullptr)
    if (const ncclResult_t r = check_usable(call, comm); r != ncclSuccess) return r;
  return ncclCommInitRankConfig(made, n, *id, comm != nullptr ? comm->rank : rank, config);
}

WEFT_NCCL ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  if (const ncclResult_t r = check_usable("ncclCommFinalize", comm); r != ncclSuccess) return r;
  return synchronize_all("ncclCommFinalize");
}

WEFT_NCCL ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  return end("ncclCommDestroy", comm);
}

WEFT_NCCL ncclResult_t ncclCommAbort(ncclComm_t comm) {
  return end("ncclCommAbort", comm);
}

WEFT_NCCL ncclResult_t ncclCommRevoke(ncclComm_t comm, int) {
  if (const ncclResult_t r = check_usable("ncclCommRevoke", comm); r != ncclSuccess) return r;
  const ncclResult_t result = synchronize_all("ncclCommRevoke");
  comm->revoked = true;
  return result;
}

WEFT_NCCL ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* state) {
  if (comm == nullptr || state == nullptr)
    return fail("ncclCommGetAsyncError", ncclInvalidArgument, "a pointer is null");
  *state = ncclSuccess;
  if (comm->begin) {
    const auto begin = comm->begin;
    *state = begin();
    if (*state == ncclSuccess) comm->begin = nullptr;
  }
  return ncclSuccess;
}

WEFT_NCCL ncclResult_t ncclCommCount(const ncclComm_t comm, int* count) {
  if (const ncclResult_t r = check_usable("ncclCommCount", comm); r != ncclSuccess) return r;
  *count = comm->size;
  return ncclSuccess;
}

WEFT_NCCL ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank) {
  if (const ncclResult_t r = check_usable("ncclCommUserRank", comm); r != ncclSuccess) return r;
  *rank = comm->rank;
  return ncclSuccess;
}

WEFT_NCCL ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device) {
  if (const ncclResult_t r = check_usable("ncclCommCuDevice", comm); r != ncclSuccess) return r;
  *device = weft_local_rank(session());
  return ncclSuccess;
}
