// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Session, errors, streams and groups.

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "emulation/nccl/nccl_shim.h"

namespace weft::nccl {
namespace {

std::recursive_mutex lock;
weft_session* open_session = nullptr;
bool tried = false;
bool shared = false;  ///< the session is the MPI shim's
std::string error;

struct Pending {
  weft_request request = WEFT_REQUEST_NULL;
  const char* call = "";
  std::shared_ptr<void> keep;
};
std::map<cudaStream_t, std::vector<Pending>> streams;
int depth = 0;  ///< of groups
std::vector<Operation> group;

void say_bye(int status, void*) {
  if (open_session == nullptr || shared) return;
  if (status == 0) synchronize_all("exit");
  weft_bye(open_session, status);
  weft_close(open_session);
  open_session = nullptr;
}

/// Under an MPI program both shims are one rank: they share its session.
weft_session* session_of_mpi() {
  using Get = weft_session* (*)();
  // A function's address from dlsym: POSIX has it so.
  Get get = nullptr;
  void* const symbol = dlsym(RTLD_DEFAULT, "weft_shim_session");
  std::memcpy(&get, &symbol, sizeof get);
  return get != nullptr ? get() : nullptr;
}

ncclResult_t start_all(std::vector<Operation> operations) {
  for (const Operation& operation : operations)
    if (const ncclResult_t r = synchronize(operation.call, operation.stream); r != ncclSuccess) return r;
  for (Operation& operation : operations) {
    Pending pending{WEFT_REQUEST_NULL, operation.call, std::move(operation.keep)};
    if (const ncclResult_t r = check(operation.call, operation.start(&pending.request)); r != ncclSuccess)
      return r;
    streams[operation.stream].push_back(std::move(pending));
  }
  return ncclSuccess;
}

}  // namespace

weft_session* session() {
  const std::lock_guard<std::recursive_mutex> guard(lock);
  if (tried) return open_session;
  tried = true;
  const char* const host = std::getenv("WEFT_NCCL_HOST");
  if (host == nullptr || std::strcmp(host, "1") != 0) {
    fail("libnccl", ncclSystemError,
         "this libnccl.so.2 is Weft's, and only its host mode is built: buffers in host memory, no CUDA; set "
         "WEFT_NCCL_HOST=1");
    return nullptr;
  }
  if ((open_session = session_of_mpi()) != nullptr) {
    shared = true;
    return open_session;
  }
  weft_options options;
  weft_options_init(&options);
  options.shim = WEFT_SHIM_NCCL;
  options.version = "host";
  const int code = weft_open(&options, &open_session);
  if (code != WEFT_OK) {
    const char* const text = open_session != nullptr ? weft_last_error(open_session) : "";
    fail("libnccl", ncclSystemError, *text != 0 ? text : weft_strerror(code));
    if (open_session != nullptr) weft_close(open_session);
    open_session = nullptr;
    return nullptr;
  }
  on_exit(say_bye, nullptr);
  return open_session;
}

ncclResult_t fail(const char* call, ncclResult_t result, const std::string& text) {
  error = std::string(call) + ": " + text;
  std::fprintf(stderr, "weft: rank %d: %s\n", open_session != nullptr ? weft_rank(open_session) : -1,
               error.c_str());
  return result;
}

ncclResult_t check(const char* call, int code) {
  if (code == WEFT_OK) return ncclSuccess;
  const char* const text = open_session != nullptr ? weft_last_error(open_session) : "";
  const std::string what = *text != 0 ? text : weft_strerror(code);
  switch (code) {
    case WEFT_ERROR_ARGUMENT:
      return fail(call, ncclInvalidArgument, what);
    case WEFT_ERROR_UNSUPPORTED:
      return fail(call, ncclInvalidUsage, what);
    case WEFT_ERROR_CONNECTION:
    case WEFT_ERROR_SHUTDOWN:
      return fail(call, ncclRemoteError, what);
    default:
      return fail(call, ncclInternalError, what);
  }
}

const char* last_error() {
  return error.c_str();
}

ncclResult_t synchronize(const char* call, cudaStream_t stream) {
  const std::lock_guard<std::recursive_mutex> guard(lock);
  const auto it = streams.find(stream);
  if (it == streams.end() || it->second.empty()) return ncclSuccess;
  const std::vector<Pending> pending = std::exchange(it->second, {});
  std::vector<weft_request> requests;
  for (const Pending& p : pending) requests.push_back(p.request);
  return check(call,
               weft_wait_all(session(), static_cast<uint32_t>(requests.size()), requests.data(), nullptr));
}

ncclResult_t synchronize_all(const char* call) {
  const std::lock_guard<std::recursive_mutex> guard(lock);
  for (const auto& stream : streams)
    if (const ncclResult_t r = synchronize(call, stream.first); r != ncclSuccess) return r;
  return ncclSuccess;
}

ncclResult_t submit(Operation operation) {
  const std::lock_guard<std::recursive_mutex> guard(lock);
  if (depth > 0) {
    group.push_back(std::move(operation));
    return ncclSuccess;
  }
  std::vector<Operation> one;
  one.push_back(std::move(operation));
  return start_all(std::move(one));
}

}  // namespace weft::nccl

using namespace weft::nccl;

WEFT_NCCL ncclResult_t ncclGroupStart() {
  const std::lock_guard<std::recursive_mutex> guard(lock);
  ++depth;
  return ncclSuccess;
}

WEFT_NCCL ncclResult_t ncclGroupEnd() {
  const std::lock_guard<std::recursive_mutex> guard(lock);
  if (depth == 0)
    return fail("ncclGroupEnd", ncclInvalidUsage, "there is no open group; call ncclGroupStart");
  if (--depth > 0) return ncclSuccess;
  return start_all(std::exchange(group, {}));
}

WEFT_NCCL ncclResult_t ncclGroupSimulateEnd(ncclSimInfo_t* info) {
  const std::lock_guard<std::recursive_mutex> guard(lock);
  if (depth == 0)
    return fail("ncclGroupSimulateEnd", ncclInvalidUsage, "there is no open group; call ncclGroupStart");
  if (--depth > 0) return ncclSuccess;
  // Nothing runs. How long it would take depends on the other ranks, which are not asked.
  group.clear();
  if (info != nullptr) info->estimatedTime = -1;
  return ncclSuccess;
}

WEFT_NCCL ncclResult_t weftNcclStreamSynchronize(cudaStream_t stream) {
  return synchronize("weftNcclStreamSynchronize", stream);
}
