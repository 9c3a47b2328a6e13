// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "emulation/client/weft_comm.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "emulation/client/buffers.h"
#include "emulation/client/session.h"
#include "emulation/protocol/elements.h"

using weft::emulation::CallError;
using weft::emulation::CommHow;
using weft::emulation::CommNew;
using weft::emulation::CommView;
using weft::emulation::Finished;
using weft::emulation::Session;
using weft::emulation::WaitHow;

struct weft_session {
  explicit weft_session(const weft_options& options) : session(options) {}
  Session session;
};

namespace {

/// f() under the session's lock; its exceptions become codes.
template <typename F>
int call(weft_session* s, F&& f) {
  if (s == nullptr) return WEFT_ERROR_ARGUMENT;
  const std::lock_guard<std::mutex> lock(s->session.mutex());
  if (s->session.dead() != 0) return s->session.dead();
  try {
    return f(s->session);
  } catch (const CallError& e) {
    return s->session.failed(e);
  } catch (const std::bad_alloc&) {
    return s->session.failed(CallError(WEFT_ERROR_MEMORY, "no memory"));
  } catch (const std::exception& e) {
    return s->session.failed(CallError(WEFT_ERROR_PROTOCOL, e.what()));
  }
}

int need(bool holds, const char* what) {
  if (!holds) throw CallError(WEFT_ERROR_ARGUMENT, what);
  return WEFT_OK;
}

/// The program's list of requests, and where each stands in it.
struct Requests {
  std::vector<uint64_t> numbers;
  std::vector<uint32_t> places;

  Requests(uint32_t n, const weft_request* requests) {
    need(n == 0 || requests != nullptr, "the list of requests is null");
    for (uint32_t i = 0; i < n; ++i) {
      if (requests[i] == WEFT_REQUEST_NULL) continue;
      numbers.push_back(requests[i]);
      places.push_back(i);
    }
  }
  uint32_t place(uint64_t number) const {
    const auto found = std::find(numbers.begin(), numbers.end(), number);
    return places[static_cast<size_t>(found - numbers.begin())];
  }
};

void empty_status(weft_status& status) {
  status = weft_status{};
  status.source = WEFT_ANY_SOURCE;
  status.tag = WEFT_ANY_TAG;
}

int all(weft_session* s, bool blocking, uint32_t n, weft_request* requests, int* done,
        weft_status* statuses) {
  return call(s, [&](Session& session) {
    const Requests list(n, requests);
    if (statuses != nullptr) std::for_each(statuses, statuses + n, empty_status);
    if (done != nullptr) *done = 1;
    if (list.numbers.empty()) return static_cast<int>(WEFT_OK);
    const std::vector<Finished> finished = session.complete(WaitHow::all, blocking, list.numbers);
    if (finished.empty()) {
      if (done != nullptr) *done = 0;
      return static_cast<int>(WEFT_OK);
    }
    int code = WEFT_OK;
    for (const Finished& f : finished) {
      const uint32_t place = list.place(f.request);
      requests[place] = WEFT_REQUEST_NULL;
      if (statuses != nullptr) statuses[place] = status_of(f);
      if (code == WEFT_OK) code = f.error;
    }
    return code;
  });
}

int any(weft_session* s, bool blocking, uint32_t n, weft_request* requests, int* done, int* which,
        weft_status* status) {
  return call(s, [&](Session& session) {
    need(which != nullptr, "`which` is null");
    const Requests list(n, requests);
    if (status != nullptr) empty_status(*status);
    *which = -1;
    if (done != nullptr) *done = 1;
    if (list.numbers.empty()) return static_cast<int>(WEFT_OK);
    const std::vector<Finished> finished = session.complete(WaitHow::any, blocking, list.numbers);
    if (finished.empty()) {
      if (done != nullptr) *done = 0;
      return static_cast<int>(WEFT_OK);
    }
    const uint32_t place = list.place(finished.front().request);
    requests[place] = WEFT_REQUEST_NULL;
    *which = static_cast<int>(place);
    if (status != nullptr) *status = status_of(finished.front());
    return finished.front().error;
  });
}

int some(weft_session* s, bool blocking, uint32_t n, weft_request* requests, uint32_t* count, int* which,
         weft_status* statuses) {
  return call(s, [&](Session& session) {
    need(which != nullptr && count != nullptr, "`count` or `which` is null");
    const Requests list(n, requests);
    *count = 0;
    if (list.numbers.empty()) return static_cast<int>(WEFT_OK);
    int code = WEFT_OK;
    for (const Finished& f : session.complete(WaitHow::some, blocking, list.numbers)) {
      const uint32_t place = list.place(f.request);
      requests[place] = WEFT_REQUEST_NULL;
      which[*count] = static_cast<int>(place);
      if (statuses != nullptr) statuses[*count] = status_of(f);
      ++*count;
      if (code == WEFT_OK) code = f.error;
    }
    return code;
  });
}

int make(weft_session* s, weft_comm* comm, const CommNew& message) {
  return call(s, [&](Session& session) {
    need(comm != nullptr, "`comm` is null");
    *comm = session.comm_new(message);
    return static_cast<int>(WEFT_OK);
  });
}

const CommView* view_of(const weft_session* s, weft_comm comm) {
  return s == nullptr ? nullptr : s->session.comm(comm);
}

}  // namespace

extern "C" {

int weft_comm_version(void) {
  return WEFT_COMM_VERSION;
}

const char* weft_strerror(int code) {
  switch (code) {
    case WEFT_OK:
      return "no error";
    case WEFT_ERROR_ARGUMENT:
      return "wrong argument";
    case WEFT_ERROR_CONNECTION:
      return "no connection to weft emulate";
    case WEFT_ERROR_PROTOCOL:
      return "protocol error";
    case WEFT_ERROR_REFUSED:
      return "refused by weft emulate";
    case WEFT_ERROR_SHUTDOWN:
      return "the job was ended";
    case WEFT_ERROR_TRUNCATED:
      return "the message was longer than the receive";
    case WEFT_ERROR_MEMORY:
      return "no memory";
    case WEFT_ERROR_UNSUPPORTED:
      return "not supported";
    case WEFT_ERROR_NOT_EMULATED:
      return "not started by weft emulate";
    default:
      return "unknown error";
  }
}

void weft_options_init(weft_options* options) {
  if (options == nullptr) return;
  *options = weft_options{};
  options->size = sizeof *options;
  options->rank = -1;
  options->world = -1;
}

int weft_open(const weft_options* options, weft_session** session) {
  if (session == nullptr) return WEFT_ERROR_ARGUMENT;
  *session = nullptr;
  weft_options chosen;
  weft_options_init(&chosen);
  if (options != nullptr) {
    if (options->size < sizeof chosen) return WEFT_ERROR_ARGUMENT;
    chosen = *options;
  }
  try {
    *session = new weft_session(chosen);
  } catch (const std::exception&) {
    return WEFT_ERROR_MEMORY;
  }
  return call(*session, [](Session& s) {
    s.open();
    return static_cast<int>(WEFT_OK);
  });
}

int weft_bye(weft_session* session, int exit_status) {
  return call(session, [&](Session& s) {
    s.bye(exit_status);
    return static_cast<int>(WEFT_OK);
  });
}

void weft_close(weft_session* session) {
  delete session;
}

const char* weft_last_error(const weft_session* session) {
  return session == nullptr ? "" : session->session.last_error.c_str();
}

int weft_rank(const weft_session* session) {
  return session == nullptr ? -1 : session->session.rank();
}
int weft_world(const weft_session* session) {
  return session == nullptr ? -1 : session->session.world();
}

int weft_local_size(const weft_session* session) {
  return session == nullptr ? -1 : static_cast<int>(std::max(1u, session->session.welcome().ranks_per_node));
}

int weft_local_rank(const weft_session* session) {
  return session == nullptr ? -1 : weft_rank(session) % weft_local_size(session);
}

const char* weft_node_name(weft_session* session, int world_rank) {
  if (session == nullptr || world_rank < 0) return "";
  const std::lock_guard<std::mutex> lock(session->session.mutex());
  return session->session.node_name(static_cast<uint32_t>(world_rank / weft_local_size(session))).c_str();
}

weft_data weft_data_mode(const weft_session* session) {
  return session == nullptr ? WEFT_DATA_DUMMY : static_cast<weft_data>(session->session.welcome().data);
}
weft_clock weft_clock_kind(const weft_session* session) {
  return session == nullptr ? WEFT_CLOCK_VIRTUAL : static_cast<weft_clock>(session->session.welcome().clock);
}

int64_t weft_now(weft_session* session) {
  if (session == nullptr) return 0;
  const std::lock_guard<std::mutex> lock(session->session.mutex());
  return session->session.now();
}

int weft_compute(weft_session* session, int64_t ps) {
  return call(session, [&](Session& s) {
    s.compute(ps);
    return static_cast<int>(WEFT_OK);
  });
}

int weft_compute_work(weft_session* session, uint64_t flops, uint64_t bytes, const char* region) {
  return call(session, [&](Session& s) {
    s.compute_work(flops, bytes, region);
    return static_cast<int>(WEFT_OK);
  });
}

int weft_mark(weft_session* session, weft_mark_kind kind, int64_t number, int begin, const char* name) {
  return call(session, [&](Session& s) {
    s.mark(kind, number, begin != 0, name);
    return static_cast<int>(WEFT_OK);
  });
}

int weft_comm_create(weft_session* session, weft_comm parent, const int32_t* ranks, uint32_t n,
                     weft_comm* comm) {
  CommNew message;
  message.parent = parent;
  message.how = static_cast<uint32_t>(CommHow::ranks);
  if (ranks != nullptr) {
    message.values.assign(ranks, ranks + n);
    const CommView* of = view_of(session, parent);
    if (of != nullptr && comm != nullptr &&
        std::find(ranks, ranks + n, static_cast<int32_t>(of->my_rank)) == ranks + n) {
      *comm = WEFT_COMM_NULL;
      return WEFT_OK;
    }
  }
  return make(session, comm, message);
}

int weft_comm_split(weft_session* session, weft_comm parent, int32_t color, int32_t key, weft_comm* comm) {
  CommNew message;
  message.parent = parent;
  message.how = static_cast<uint32_t>(CommHow::split);
  message.color = color;
  message.key = key;
  return make(session, comm, message);
}

int weft_comm_cart(weft_session* session, weft_comm parent, uint32_t ndims, const int32_t* dims,
                   const int32_t* periods, weft_comm* comm) {
  if (dims == nullptr || periods == nullptr) return WEFT_ERROR_ARGUMENT;
  CommNew message;
  message.parent = parent;
  message.how = static_cast<uint32_t>(CommHow::cart);
  message.values.assign(dims, dims + ndims);
  message.values.insert(message.values.end(), periods, periods + ndims);
  return make(session, comm, message);
}

int weft_comm_unique(weft_session* session, const unsigned char id[WEFT_UNIQUE_ID_BYTES], uint32_t n,
                     uint32_t rank, const char* site, weft_comm* comm) {
  if (id == nullptr) return WEFT_ERROR_ARGUMENT;
  CommNew message;
  message.how = static_cast<uint32_t>(CommHow::unique);
  message.n = n;
  message.rank = rank;
  message.id.assign(reinterpret_cast<const char*>(id), WEFT_UNIQUE_ID_BYTES);
  if (site != nullptr) message.site = site;
  return make(session, comm, message);
}

int weft_unique_id(weft_session* session, uint32_t ordinal, unsigned char id[WEFT_UNIQUE_ID_BYTES]) {
  return call(session, [&](Session&) {
    need(id != nullptr, "`id` is null");
    std::memset(id, 0, WEFT_UNIQUE_ID_BYTES);
    std::memcpy(id, "weft", 4);
    std::memcpy(id + 8, &ordinal, sizeof ordinal);
    return static_cast<int>(WEFT_OK);
  });
}

int weft_comm_free(weft_session* session, weft_comm comm) {
  return call(session, [&](Session& s) {
    s.comm_free(comm);
    return static_cast<int>(WEFT_OK);
  });
}

int weft_comm_rank(const weft_session* session, weft_comm comm) {
  const CommView* view = view_of(session, comm);
  return view == nullptr ? -1 : static_cast<int>(view->my_rank);
}
int weft_comm_size(const weft_session* session, weft_comm comm) {
  const CommView* view = view_of(session, comm);
  return view == nullptr ? -1 : static_cast<int>(view->count);
}
int weft_comm_world_rank(const weft_session* session, weft_comm comm, int rank) {
  const CommView* view = view_of(session, comm);
  if (view == nullptr || rank < 0 || static_cast<uint32_t>(rank) >= view->count) return -1;
  return static_cast<int>(view->world_rank(static_cast<uint32_t>(rank)));
}
int weft_comm_member(const weft_session* session, weft_comm comm, int world_rank) {
  const CommView* view = view_of(session, comm);
  return view == nullptr || world_rank < 0 ? -1 : view->member(static_cast<uint32_t>(world_rank));
}

uint32_t weft_type_bytes(weft_type type) {
  return weft::emulation::bytes_of_type(type);
}

void weft_coll_init(weft_coll_args* args) {
  if (args == nullptr) return;
  *args = weft_coll_args{};
  args->size = sizeof *args;
}

int weft_coll(weft_session* session, const weft_coll_args* args, weft_request* request) {
  return call(session, [&](Session& s) {
    need(args != nullptr && request != nullptr, "`args` or `request` is null");
    *request = s.coll(*args);
    return static_cast<int>(WEFT_OK);
  });
}

int weft_coll_wait(weft_session* session, const weft_coll_args* args) {
  weft_request request = WEFT_REQUEST_NULL;
  const int code = weft_coll(session, args, &request);
  return code != WEFT_OK ? code : weft_wait(session, &request, nullptr);
}

int weft_send(weft_session* session, weft_comm comm, int peer, int tag, const void* buffer, uint64_t bytes,
              weft_send_mode mode, const char* name, weft_request* request) {
  return call(session, [&](Session& s) {
    need(request != nullptr, "`request` is null");
    *request = s.send(comm, peer, tag, buffer, bytes, mode, name);
    return static_cast<int>(WEFT_OK);
  });
}

int weft_recv(weft_session* session, weft_comm comm, int peer, int tag, void* buffer, uint64_t bytes,
              const char* name, weft_request* request) {
  return call(session, [&](Session& s) {
    need(request != nullptr, "`request` is null");
    *request = s.recv(comm, peer, tag, buffer, bytes, name);
    return static_cast<int>(WEFT_OK);
  });
}

int weft_probe(weft_session* session, weft_comm comm, int peer, int tag, int blocking, int* found,
               weft_status* status) {
  return call(session, [&](Session& s) {
    const bool there = s.probe(comm, peer, tag, blocking != 0, status);
    if (found != nullptr) *found = there ? 1 : 0;
    return static_cast<int>(WEFT_OK);
  });
}

int weft_wait_all(weft_session* session, uint32_t n, weft_request* requests, weft_status* statuses) {
  return all(session, true, n, requests, nullptr, statuses);
}
int weft_wait_any(weft_session* session, uint32_t n, weft_request* requests, int* which,
                  weft_status* status) {
  return any(session, true, n, requests, nullptr, which, status);
}
int weft_wait_some(weft_session* session, uint32_t n, weft_request* requests, uint32_t* count, int* which,
                   weft_status* statuses) {
  return some(session, true, n, requests, count, which, statuses);
}
int weft_test_all(weft_session* session, uint32_t n, weft_request* requests, int* done,
                  weft_status* statuses) {
  return all(session, false, n, requests, done, statuses);
}
int weft_test_any(weft_session* session, uint32_t n, weft_request* requests, int* done, int* which,
                  weft_status* status) {
  return any(session, false, n, requests, done, which, status);
}
int weft_test_some(weft_session* session, uint32_t n, weft_request* requests, uint32_t* count, int* which,
                   weft_status* statuses) {
  return some(session, false, n, requests, count, which, statuses);
}
int weft_wait(weft_session* session, weft_request* request, weft_status* status) {
  return weft_wait_all(session, 1, request, status);
}
int weft_test(weft_session* session, weft_request* request, int* done, weft_status* status) {
  return weft_test_all(session, 1, request, done, status);
}

}  // extern "C"
