// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// MPI_Request, MPI_Wait* and MPI_Test*. A request is a generalised one of the library's, so that code which
// only keeps or compares it goes on working.

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "emulation/mpi/mpi_shim.h"

namespace weft::mpi {
namespace {

/// By the MPI_Request's number.
std::unordered_map<uintptr_t, Request*> requests;
std::vector<Request*> unwatched;

Request* find_request(MPI_Request handle) {
  const auto it = requests.find(number_of(handle));
  return it == requests.end() ? nullptr : it->second;
}

int query(void* state, MPI_Status* status) {
  fill(*static_cast<const Request*>(state), status);
  return MPI_SUCCESS;
}
int release(void* state) {
  delete static_cast<Request*>(state);
  return MPI_SUCCESS;
}
int cancel(void*, int) {
  return MPI_SUCCESS;
}

/// The call is over in simulated time: its data goes where it belongs.
void settle(Request& request) {
  for (const Part& part : request.parts) {
    if (part.count == 0) continue;
    int position = 0;
    const uint64_t bytes = bytes_of(part.type, static_cast<uint64_t>(part.count));
    const uint64_t there = request.receives ? std::min(bytes, request.status.bytes) : bytes;
    const int count = bytes == 0 ? 0 : static_cast<int>(static_cast<uint64_t>(part.count) * there / bytes);
    PMPI_Unpack(request.receive_copy.data() + part.from, static_cast<int>(there), &position, part.to, count,
                part.type, MPI_COMM_SELF);
  }
  if (request.fold.members != 0) combine(request.fold, request.receive_copy);
  request.fold = {};
  request.parts.clear();
  request.send_copy.clear();
  request.receive_copy.clear();
  request.over = true;
}

bool waits(const Request& request) {
  return request.id != WEFT_REQUEST_NULL;
}

/// The program hears of it: the handle goes, but for persistent requests.
int conclude(Request* request, MPI_Request* handle, MPI_Status* status) {
  if (!request->over) settle(*request);
  if (request->persistent) {
    fill(*request, status);
    request->over = false;
    request->status = {};
    return MPI_SUCCESS;
  }
  requests.erase(number_of(*handle));
  PMPI_Grequest_complete(*handle);
  return PMPI_Wait(handle, status);
}

void fill_empty(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = MPI_ANY_SOURCE;
  status->MPI_TAG = MPI_ANY_TAG;
  status->MPI_ERROR = MPI_SUCCESS;
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
}

MPI_Status* at(MPI_Status* statuses, int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
}

/// A list of the program's, sorted out.
struct List {
  std::vector<Request*> own;      ///< by index; null: not one of ours
  std::vector<weft_request> ids;  ///< by index
  std::vector<int> foreign;       ///< of the library
  bool any_waits = false;
  int over = -1;  ///< the first that is known to be over
  List(int n, const MPI_Request* handles) : own(static_cast<size_t>(n)), ids(static_cast<size_t>(n)) {
    for (int i = 0; i < n; ++i) {
      const auto k = static_cast<size_t>(i);
      own[k] = find_request(handles[i]);
      if (own[k] == nullptr) {
        if (handles[i] != MPI_REQUEST_NULL) foreign.push_back(i);
        continue;
      }
      ids[k] = own[k]->id;
      any_waits = any_waits || waits(*own[k]);
      if (own[k]->over && over < 0) over = i;
    }
  }
  /// What the session has finished is so in our book, too.
  void finished(size_t i, const weft_status& status) {
    own[i]->id = WEFT_REQUEST_NULL;
    own[i]->status = status;
    settle(*own[i]);
  }
};

}  // namespace

void fill_probed(const weft_status& from, int source, MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = source;
  status->MPI_TAG = from.tag;
  status->MPI_ERROR = MPI_SUCCESS;
  PMPI_Status_set_elements_x(status, MPI_BYTE, static_cast<MPI_Count>(from.bytes));
  PMPI_Status_set_cancelled(status, 0);
}

void fill(const Request& request, MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  if (!request.receives) return fill_empty(status);
  if (request.peer == MPI_PROC_NULL) {
    fill_empty(status);
    status->MPI_SOURCE = MPI_PROC_NULL;
    return;
  }
  fill_probed(request.status, request.status.source, status);
}

int wait_now(const char* call, Request& request, MPI_Status* status) {
  if (waits(request)) check(call, weft_wait(session(), &request.id, &request.status));
  settle(request);
  fill(request, status);
  return MPI_SUCCESS;
}

int hand_out(const char* call, Request* request, MPI_Request* handle) {
  if (PMPI_Grequest_start(query, release, cancel, request, handle) != MPI_SUCCESS)
    die(call, "the MPI library gave no request");
  requests[number_of(*handle)] = request;
  return MPI_SUCCESS;
}

void let_go(Request* request) {
  unwatched.push_back(request);
}

void finish_let_go(const char* call) {
  for (Request* const request : unwatched) {
    if (waits(*request)) check(call, weft_wait(session(), &request->id, &request->status));
    settle(*request);
    delete request;
  }
  unwatched.clear();
}

}  // namespace weft::mpi

using namespace weft::mpi;

WEFT_MPI int MPI_Wait(MPI_Request* handle, MPI_Status* status) {
  Request* const request = find_request(*handle);
  if (request == nullptr) return PMPI_Wait(handle, status);
  if (waits(*request)) check("MPI_Wait", weft_wait(session(), &request->id, &request->status));
  return conclude(request, handle, status);
}

WEFT_MPI int MPI_Waitall(int n, MPI_Request* handles, MPI_Status* statuses) {
  List list(n, handles);
  if (list.any_waits) {
    std::vector<weft_status> done(static_cast<size_t>(n));
    std::vector<weft_request> ids = list.ids;
    check("MPI_Waitall", weft_wait_all(session(), static_cast<uint32_t>(n), ids.data(), done.data()));
    for (size_t i = 0; i < ids.size(); ++i)
      if (list.ids[i] != WEFT_REQUEST_NULL) list.finished(i, done[i]);
  }
  int result = MPI_SUCCESS;
  for (int i = 0; i < n; ++i) {
    Request* const own = list.own[static_cast<size_t>(i)];
    const int one = own != nullptr ? conclude(own, handles + i, at(statuses, i))
                                   : PMPI_Wait(handles + i, at(statuses, i));
    if (one != MPI_SUCCESS) result = one;
  }
  return result;
}

WEFT_MPI int MPI_Waitany(int n, MPI_Request* handles, int* which, MPI_Status* status) {
  List list(n, handles);
  if (list.over < 0 && !list.any_waits) return PMPI_Waitany(n, handles, which, status);
  for (const int i : list.foreign) {  // of this process alone: over, or never
    int done = 0;
    PMPI_Test(handles + i, &done, status);
    if (done == 0) continue;
    *which = i;
    return MPI_SUCCESS;
  }
  int index = list.over;
  if (index < 0) {
    weft_status done{};
    check("MPI_Waitany", weft_wait_any(session(), static_cast<uint32_t>(n), list.ids.data(), &index, &done));
    list.finished(static_cast<size_t>(index), done);
  }
  *which = index;
  return conclude(list.own[static_cast<size_t>(index)], handles + index, status);
}

WEFT_MPI int MPI_Waitsome(int n, MPI_Request* handles, int* count, int* which, MPI_Status* statuses) {
  List list(n, handles);
  if (list.over < 0 && !list.any_waits) return PMPI_Waitsome(n, handles, count, which, statuses);
  std::vector<int> indices;
  if (list.any_waits) {
    std::vector<int> done(static_cast<size_t>(n));
    std::vector<weft_status> status(static_cast<size_t>(n));
    uint32_t found = 0;
    // One that is over already: the others are looked at only.
    const int code = list.over < 0 ? weft_wait_some(session(), static_cast<uint32_t>(n), list.ids.data(),
                                                    &found, done.data(), status.data())
                                   : weft_test_some(session(), static_cast<uint32_t>(n), list.ids.data(),
                                                    &found, done.data(), status.data());
    check("MPI_Waitsome", code);
    for (uint32_t k = 0; k < found; ++k) list.finished(static_cast<size_t>(done[k]), status[k]);
  }
  *count = 0;
  for (int i = 0; i < n; ++i) {
    Request* const own = list.own[static_cast<size_t>(i)];
    if (own == nullptr || !own->over) continue;
    conclude(own, handles + i, at(statuses, *count));
    which[(*count)++] = i;
  }
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Test(MPI_Request* handle, int* flag, MPI_Status* status) {
  Request* const request = find_request(*handle);
  if (request == nullptr) return PMPI_Test(handle, flag, status);
  *flag = 1;
  if (waits(*request)) {
    check("MPI_Test", weft_test(session(), &request->id, flag, &request->status));
    if (*flag == 0) return MPI_SUCCESS;
    request->id = WEFT_REQUEST_NULL;
  }
  return conclude(request, handle, status);
}

WEFT_MPI int MPI_Testall(int n, MPI_Request* handles, int* flag, MPI_Status* statuses) {
  List list(n, handles);
  *flag = 1;
  if (list.any_waits) {
    std::vector<weft_status> done(static_cast<size_t>(n));
    std::vector<weft_request> ids = list.ids;
    check("MPI_Testall", weft_test_all(session(), static_cast<uint32_t>(n), ids.data(), flag, done.data()));
    if (*flag == 0) return MPI_SUCCESS;
    for (size_t i = 0; i < ids.size(); ++i)
      if (list.ids[i] != WEFT_REQUEST_NULL) list.finished(i, done[i]);
  }
  for (const int i : list.foreign) {
    int done = 0;
    PMPI_Request_get_status(handles[i], &done, MPI_STATUS_IGNORE);
    if (done == 0) *flag = 0;
  }
  return *flag == 0 ? MPI_SUCCESS : MPI_Waitall(n, handles, statuses);
}

WEFT_MPI int MPI_Testany(int n, MPI_Request* handles, int* which, int* flag, MPI_Status* status) {
  List list(n, handles);
  if (list.over < 0 && !list.any_waits) return PMPI_Testany(n, handles, which, flag, status);
  int index = list.over;
  *flag = 1;
  if (index < 0) {
    weft_status done{};
    check("MPI_Testany",
          weft_test_any(session(), static_cast<uint32_t>(n), list.ids.data(), flag, &index, &done));
    if (*flag == 0) {
      *which = MPI_UNDEFINED;
      return MPI_SUCCESS;
    }
    list.finished(static_cast<size_t>(index), done);
  }
  *which = index;
  return conclude(list.own[static_cast<size_t>(index)], handles + index, status);
}

WEFT_MPI int MPI_Testsome(int n, MPI_Request* handles, int* count, int* which, MPI_Status* statuses) {
  List list(n, handles);
  if (list.over < 0 && !list.any_waits) return PMPI_Testsome(n, handles, count, which, statuses);
  if (list.any_waits) {
    std::vector<int> done(static_cast<size_t>(n));
    std::vector<weft_status> status(static_cast<size_t>(n));
    uint32_t found = 0;
    check("MPI_Testsome", weft_test_some(session(), static_cast<uint32_t>(n), list.ids.data(), &found,
                                         done.data(), status.data()));
    for (uint32_t k = 0; k < found; ++k) list.finished(static_cast<size_t>(done[k]), status[k]);
  }
  *count = 0;
  for (int i = 0; i < n; ++i) {
    Request* const own = list.own[static_cast<size_t>(i)];
    if (own == nullptr || !own->over) continue;
    conclude(own, handles + i, at(statuses, *count));
    which[(*count)++] = i;
  }
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Request_get_status(MPI_Request handle, int* flag, MPI_Status* status) {
  Request* const request = find_request(handle);
  if (request == nullptr) return PMPI_Request_get_status(handle, flag, status);
  *flag = 1;
  if (waits(*request)) {
    check("MPI_Request_get_status", weft_test(session(), &request->id, flag, &request->status));
    if (*flag == 0) return MPI_SUCCESS;
    request->id = WEFT_REQUEST_NULL;
    settle(*request);
  }
  fill(*request, status);
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Request_free(MPI_Request* handle) {
  Request* const request = find_request(*handle);
  if (request == nullptr) return PMPI_Request_free(handle);
  requests.erase(number_of(*handle));
  if (waits(*request)) {
    // It goes on; its buffers are the program's until MPI_Finalize.
    auto rest = std::make_unique<Request>();
    rest->id = request->id;
    rest->receives = request->receives;
    rest->send_copy = std::move(request->send_copy);
    rest->receive_copy = std::move(request->receive_copy);
    rest->parts = std::move(request->parts);
    rest->fold = request->fold;
    let_go(rest.release());
  }
  PMPI_Grequest_complete(*handle);
  return PMPI_Request_free(handle);
}

WEFT_MPI int MPI_Start(MPI_Request* handle) {
  Request* const request = find_request(*handle);
  if (request == nullptr) return PMPI_Start(handle);
  if (!request->persistent || waits(*request))
    die("MPI_Start", "the request is not a persistent one, or is still active; wait for it first");
  const Request::Again& again = request->again;
  if (again.sends)
    start_send(again.call, *request, again.from, again.count, again.type, again.peer, again.tag, again.comm,
               again.mode);
  else
    start_receive(again.call, *request, again.to, again.count, again.type, again.peer, again.tag, again.comm);
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Startall(int n, MPI_Request* handles) {
  for (int i = 0; i < n; ++i)
    if (const int e = MPI_Start(handles + i)) return e;
  return MPI_SUCCESS;
}
