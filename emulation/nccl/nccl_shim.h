// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What the files of libnccl.so.2 share. Host mode only (WEFT_NCCL_HOST=1): buffers are host memory. A stream
// is a queue in the process: what is put into it begins when all before it in the stream is over.

#ifndef WEFT_EMULATION_NCCL_NCCL_SHIM_H
#define WEFT_EMULATION_NCCL_NCCL_SHIM_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "emulation/nccl/nccl_types.h"
#include "weft_comm.h"

#define WEFT_NCCL extern "C" __attribute__((visibility("default")))

struct ncclComm {
  weft_comm id = WEFT_COMM_NULL;
  int rank = 0;
  int size = 0;
  std::function<ncclResult_t()>
      begin;  ///< non-blocking: makes it, when asked for its state; empty: it is made
  bool revoked = false;
};

namespace weft::nccl {

/// The process's session, opened at the first call; null: see the error.
weft_session* session();
/// Keeps the text for ncclGetLastError and prints it: "weft: rank 3: ncclSend: text". Returns `result`.
ncclResult_t fail(const char* call, ncclResult_t result, const std::string& text);
/// The same of a code of the session's; ncclSuccess for WEFT_OK.
ncclResult_t check(const char* call, int code);
const char* last_error();

/// Work on a stream.
struct Operation {
  const char* call = "";
  cudaStream_t stream = nullptr;
  std::function<int(weft_request*)> start;  ///< a code of weft_comm.h
  std::shared_ptr<void> keep;               ///< lives until the operation is over
};
/// Begins it, or puts it into the open group.
ncclResult_t submit(Operation operation);
/// Waits for all that is in a stream.
ncclResult_t synchronize(const char* call, cudaStream_t stream);
ncclResult_t synchronize_all(const char* call);

/// The communicator can be used: made, and not revoked.
ncclResult_t check_usable(const char* call, ncclComm_t comm);

/// An operation of ncclRedOpCreatePreMulSum.
struct Scaling {
  std::vector<uint8_t> scalar;  ///< one element, of `type`; empty: the operation does not exist
  ncclDataType_t type = ncclInt8;
};
const Scaling* scaling_of(ncclRedOp_t op);

}  // namespace weft::nccl

#endif
