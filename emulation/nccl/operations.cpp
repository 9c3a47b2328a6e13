// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Collectives, sends and receives.

#include <cstring>
#include <utility>

#include "emulation/nccl/nccl_shim.h"

namespace weft::nccl {
namespace {

/// Weft's name of a type; WEFT_BYTE: opaque.
weft_type type_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
      return WEFT_INT8;
    case ncclUint8:
      return WEFT_UINT8;
    case ncclInt32:
      return WEFT_INT32;
    case ncclUint32:
      return WEFT_UINT32;
    case ncclInt64:
      return WEFT_INT64;
    case ncclUint64:
      return WEFT_UINT64;
    case ncclFloat16:
      return WEFT_FLOAT16;
    case ncclFloat32:
      return WEFT_FLOAT32;
    case ncclFloat64:
      return WEFT_FLOAT64;
    case ncclBfloat16:
      return WEFT_BFLOAT16;
    default:
      return WEFT_BYTE;
  }
}

/// Of one element, also of the 8-bit floats.
uint64_t size_of(ncclDataType_t type) {
  return weft_type_bytes(type_of(type));
}

weft_reduction reduction_of(ncclRedOp_t op) {
  switch (op) {
    case ncclProd:
      return WEFT_PROD;
    case ncclMax:
      return WEFT_MAX;
    case ncclMin:
      return WEFT_MIN;
    case ncclAvg:
      return WEFT_AVG;
    default:
      return WEFT_SUM;
  }
}

template <typename T>
void multiply(std::vector<uint8_t>& elements, const std::vector<uint8_t>& scalar) {
  T factor;
  std::memcpy(&factor, scalar.data(), sizeof factor);
  for (size_t at = 0; at + sizeof(T) <= elements.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, elements.data() + at, sizeof value);
    value = static_cast<T>(value * factor);
    std::memcpy(elements.data() + at, &value, sizeof value);
  }
}

/// False: no arithmetic for the type.
bool scale(std::vector<uint8_t>& elements, const Scaling& by) {
  switch (by.type) {
    case ncclInt32:
      multiply<int32_t>(elements, by.scalar);
      return true;
    case ncclUint32:
      multiply<uint32_t>(elements, by.scalar);
      return true;
    case ncclInt64:
      multiply<int64_t>(elements, by.scalar);
      return true;
    case ncclUint64:
      multiply<uint64_t>(elements, by.scalar);
      return true;
    case ncclFloat32:
      multiply<float>(elements, by.scalar);
      return true;
    case ncclFloat64:
      multiply<double>(elements, by.scalar);
      return true;
    default:
      return false;
  }
}

struct Call {
  const char* name;
  weft_operation operation;
  const void* from;
  void* to;
  size_t count;
  ncclDataType_t type;
  int root = 0;
  uint64_t contributed = 0;  ///< elements, where the operation reduces
};

/// `op`: of operations that reduce; null: it does not.
ncclResult_t collective(Call call, const ncclRedOp_t* op, ncclComm_t comm, cudaStream_t stream) {
  if (const ncclResult_t r = check_usable(call.name, comm); r != ncclSuccess) return r;
  if (call.root < 0 || call.root >= comm->size)
    return fail(
        call.name, ncclInvalidArgument,
        "root " + std::to_string(call.root) + " of " + std::to_string(comm->size) + " does not exist");
  weft_coll_args args;
  weft_coll_init(&args);
  args.comm = comm->id;
  args.operation = call.operation;
  args.type = type_of(call.type);
  args.element_bytes = args.type == WEFT_BYTE ? 1 : 0;
  args.root = call.root;
  args.count = call.count;
  args.receive = call.to;
  args.send = call.from;
  args.name = call.name;
  args.stream = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(stream) >> 4);
  std::shared_ptr<std::vector<uint8_t>> scaled;
  if (op != nullptr) {
    args.reduction = args.type == WEFT_BYTE ? WEFT_USER : reduction_of(*op);
    if (*op >= ncclNumOps) {
      const Scaling* const by = scaling_of(*op);
      if (by == nullptr)
        return fail(call.name, ncclInvalidArgument, "the reduction operation does not exist");
      if (by->type != call.type)
        return fail(call.name, ncclInvalidArgument, "the operation was made for another data type");
      const auto* const data = static_cast<const uint8_t*>(call.from);
      scaled = std::make_shared<std::vector<uint8_t>>(data, data + call.contributed * size_of(call.type));
      if (!scale(*scaled, *by))
        return fail(call.name, ncclInvalidUsage,
                    "pre-multiplied sums have 32 and 64 bit integers and floats only");
      args.send = scaled->data();
    }
  }
  return submit({call.name, stream,
                 [args](weft_request* request) { return weft_coll(session(), &args, request); },
                 std::move(scaled)});
}

ncclResult_t check_peer(const char* call, int peer, ncclComm_t comm) {
  if (const ncclResult_t r = check_usable(call, comm); r != ncclSuccess) return r;
  if (peer >= 0 && peer < comm->size) return ncclSuccess;
  return fail(call, ncclInvalidArgument,
              "peer " + std::to_string(peer) + " of " + std::to_string(comm->size) + " does not exist");
}

}  // namespace
}  // namespace weft::nccl

using namespace weft::nccl;

WEFT_NCCL ncclResult_t ncclAllReduce(const void* from, void* to, size_t count, ncclDataType_t type,
                                     ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return collective({"ncclAllReduce", WEFT_ALL_REDUCE, from, to, count, type, 0, count}, &op, comm, stream);
}

WEFT_NCCL ncclResult_t ncclBroadcast(const void* from, void* to, size_t count, ncclDataType_t type, int root,
                                     ncclComm_t comm, cudaStream_t stream) {
  return collective({"ncclBroadcast", WEFT_BROADCAST, from, to, count, type, root}, nullptr, comm, stream);
}

WEFT_NCCL ncclResult_t ncclBcast(void* buffer, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                                 cudaStream_t stream) {
  return collective({"ncclBcast", WEFT_BROADCAST, buffer, buffer, count, type, root}, nullptr, comm, stream);
}

WEFT_NCCL ncclResult_t ncclReduce(const void* from, void* to, size_t count, ncclDataType_t type,
                                  ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) {
  return collective({"ncclReduce", WEFT_REDUCE, from, to, count, type, root, count}, &op, comm, stream);
}

WEFT_NCCL ncclResult_t ncclAllGather(const void* from, void* to, size_t count, ncclDataType_t type,
                                     ncclComm_t comm, cudaStream_t stream) {
  return collective({"ncclAllGather", WEFT_ALL_GATHER, from, to, count, type}, nullptr, comm, stream);
}

WEFT_NCCL ncclResult_t ncclReduceScatter(const void* from, void* to, size_t count, ncclDataType_t type,
                                         ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  const uint64_t all = comm == nullptr ? 0 : count * static_cast<uint64_t>(comm->size);
  return collective({"ncclReduceScatter", WEFT_REDUCE_SCATTER, from, to, count, type, 0, all}, &op, comm,
                    stream);
}

WEFT_NCCL ncclResult_t ncclAlltoAll(const void* from, void* to, size_t count, ncclDataType_t type,
                                    ncclComm_t comm, cudaStream_t stream) {
  return collective({"ncclAlltoAll", WEFT_ALL_TO_ALL, from, to, count, type}, nullptr, comm, stream);
}

WEFT_NCCL ncclResult_t ncclGather(const void* from, void* to, size_t count, ncclDataType_t type, int root,
                                  ncclComm_t comm, cudaStream_t stream) {
  return collective({"ncclGather", WEFT_GATHER, from, to, count, type, root}, nullptr, comm, stream);
}

WEFT_NCCL ncclResult_t ncclScatter(const void* from, void* to, size_t count, ncclDataType_t type, int root,
                                   ncclComm_t comm, cudaStream_t stream) {
  return collective({"ncclScatter", WEFT_SCATTER, from, to, count, type, root}, nullptr, comm, stream);
}

WEFT_NCCL ncclResult_t ncclSend(const void* from, size_t count, ncclDataType_t type, int peer,
                                ncclComm_t comm, cudaStream_t stream) {
  const char* const call = "ncclSend";
  if (const ncclResult_t r = check_peer(call, peer, comm); r != ncclSuccess) return r;
  const weft_comm id = comm->id;
  const uint64_t bytes = count * size_of(type);
  return submit({call, stream,
                 [=](weft_request* request) {
                   return weft_send(session(), id, peer, 0, from, bytes, WEFT_SEND_STANDARD, call, request);
                 },
                 nullptr});
}

WEFT_NCCL ncclResult_t ncclRecv(void* to, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                                cudaStream_t stream) {
  const char* const call = "ncclRecv";
  if (const ncclResult_t r = check_peer(call, peer, comm); r != ncclSuccess) return r;
  const weft_comm id = comm->id;
  const uint64_t bytes = count * size_of(type);
  return submit(
      {call, stream,
       [=](weft_request* request) { return weft_recv(session(), id, peer, 0, to, bytes, call, request); },
       nullptr});
}
