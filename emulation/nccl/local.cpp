// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Calls that need nobody else: texts, memory, registrations, reduction operations; and those that Weft does
// not have.

#include <cstdlib>
#include <cstring>

#include "emulation/nccl/nccl_shim.h"

namespace weft::nccl {
namespace {

std::vector<Scaling> scalings;  ///< by op - ncclNumOps

ncclResult_t refuse(const char* call) {
  return fail(call, ncclInvalidUsage,
              "Weft does not emulate one-sided calls; use ncclSend and ncclRecv in a group");
}

}  // namespace

const Scaling* scaling_of(ncclRedOp_t op) {
  const auto i = static_cast<size_t>(op) - ncclNumOps;
  return i < scalings.size() && !scalings[i].scalar.empty() ? &scalings[i] : nullptr;
}

}  // namespace weft::nccl

using namespace weft::nccl;

WEFT_NCCL ncclResult_t ncclGetVersion(int* version) {
  if (version == nullptr) return fail("ncclGetVersion", ncclInvalidArgument, "the pointer is null");
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

WEFT_NCCL const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "a CUDA call failed";
    case ncclSystemError:
      return "a system call failed, or there is no emulation";
    case ncclInternalError:
      return "the emulation has ended with an error";
    case ncclInvalidArgument:
      return "an argument is wrong";
    case ncclInvalidUsage:
      return "a call is used wrongly, or is not emulated";
    case ncclRemoteError:
      return "another rank or the emulation has gone";
    case ncclInProgress:
      return "in progress";
  }
  return "unknown result";
}

WEFT_NCCL const char* ncclGetLastError(ncclComm_t) {
  return last_error();
}

WEFT_NCCL void ncclResetDebugInit() {}

WEFT_NCCL ncclResult_t ncclMemAlloc(void** memory, size_t bytes) {
  if (memory == nullptr) return fail("ncclMemAlloc", ncclInvalidArgument, "the pointer is null");
  *memory = std::malloc(bytes == 0 ? 1 : bytes);
  return *memory != nullptr ? ncclSuccess : fail("ncclMemAlloc", ncclSystemError, "there is no memory");
}

WEFT_NCCL ncclResult_t ncclMemFree(void* memory) {
  std::free(memory);
  return ncclSuccess;
}

WEFT_NCCL ncclResult_t ncclCommRegister(const ncclComm_t comm, void* buffer, size_t, void** handle) {
  if (const ncclResult_t r = check_usable("ncclCommRegister", comm); r != ncclSuccess) return r;
  if (handle == nullptr) return fail("ncclCommRegister", ncclInvalidArgument, "the handle's pointer is null");
  *handle = buffer;
  return ncclSuccess;
}

WEFT_NCCL ncclResult_t ncclCommDeregister(const ncclComm_t comm, void*) {
  return check_usable("ncclCommDeregister", comm);
}

WEFT_NCCL ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void* buffer, size_t, ncclWindow_t* window,
                                              int) {
  if (const ncclResult_t r = check_usable("ncclCommWindowRegister", comm); r != ncclSuccess) return r;
  if (window == nullptr)
    return fail("ncclCommWindowRegister", ncclInvalidArgument, "the window's pointer is null");
  *window = static_cast<ncclWindow_t>(buffer);
  return ncclSuccess;
}

WEFT_NCCL ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t) {
  return check_usable("ncclCommWindowDeregister", comm);
}

WEFT_NCCL ncclResult_t ncclCommSuspend(ncclComm_t comm, int) {
  if (const ncclResult_t r = check_usable("ncclCommSuspend", comm); r != ncclSuccess) return r;
  return synchronize_all("ncclCommSuspend");
}

WEFT_NCCL ncclResult_t ncclCommResume(ncclComm_t comm) {
  return check_usable("ncclCommResume", comm);
}

WEFT_NCCL ncclResult_t ncclCommMemStats(ncclComm_t comm, int, uint64_t* value) {
  if (const ncclResult_t r = check_usable("ncclCommMemStats", comm); r != ncclSuccess) return r;
  if (value == nullptr) return fail("ncclCommMemStats", ncclInvalidArgument, "the pointer is null");
  *value = 0;  // no memory of a GPU is used
  return ncclSuccess;
}

WEFT_NCCL ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t type,
                                                ncclScalarResidence_t, ncclComm_t comm) {
  const char* const call = "ncclRedOpCreatePreMulSum";
  if (const ncclResult_t r = check_usable(call, comm); r != ncclSuccess) return r;
  if (op == nullptr || scalar == nullptr) return fail(call, ncclInvalidArgument, "a pointer is null");
  static constexpr size_t kBytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  if (static_cast<size_t>(type) >= sizeof kBytes / sizeof kBytes[0])
    return fail(call, ncclInvalidArgument, "the data type does not exist");
  // Host mode: also a device's scalar is in host memory.
  const auto* const bytes = static_cast<const uint8_t*>(scalar);
  scalings.push_back({{bytes, bytes + kBytes[type]}, type});
  *op = static_cast<ncclRedOp_t>(ncclNumOps + scalings.size() - 1);
  return ncclSuccess;
}

WEFT_NCCL ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t) {
  if (scaling_of(op) == nullptr)
    return fail("ncclRedOpDestroy", ncclInvalidArgument, "the reduction operation does not exist");
  scalings[static_cast<size_t>(op) - ncclNumOps].scalar.clear();
  return ncclSuccess;
}

WEFT_NCCL ncclResult_t ncclPutSignal(const void*, size_t, ncclDataType_t, int, ncclWindow_t, size_t, int, int,
                                     unsigned int, ncclComm_t, cudaStream_t) {
  return refuse("ncclPutSignal");
}

WEFT_NCCL ncclResult_t ncclSignal(int, int, int, unsigned int, ncclComm_t, cudaStream_t) {
  return refuse("ncclSignal");
}

WEFT_NCCL ncclResult_t ncclWaitSignal(int, ncclWaitSignalDesc_t*, ncclComm_t, cudaStream_t) {
  return refuse("ncclWaitSignal");
}
