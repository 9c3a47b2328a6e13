// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Sends, receives and probes.

#include <memory>

#include "emulation/mpi/mpi_shim.h"

namespace weft::mpi {
namespace {

int peer_of(int rank) {
  if (rank == MPI_PROC_NULL) return WEFT_NOBODY;
  return rank == MPI_ANY_SOURCE ? WEFT_ANY_SOURCE : rank;
}

int tag_of(int tag) {
  return tag == MPI_ANY_TAG ? WEFT_ANY_TAG : tag;
}

int send_now(const char* call, const void* from, int count, MPI_Datatype type, int peer, int tag,
             const Communicator& comm, weft_send_mode mode) {
  Request request;
  start_send(call, request, from, count, type, peer, tag, comm.id, mode);
  return wait_now(call, request);
}

int send_later(const char* call, const void* from, int count, MPI_Datatype type, int peer, int tag,
               const Communicator& comm, weft_send_mode mode, MPI_Request* handle) {
  auto request = std::make_unique<Request>();
  start_send(call, *request, from, count, type, peer, tag, comm.id, mode);
  return hand_out(call, request.release(), handle);
}

/// A buffered send: over at once for the program, whose buffer is copied.
void send_aside(const char* call, const void* from, int count, MPI_Datatype type, int peer, int tag,
                const Communicator& comm) {
  auto request = std::make_unique<Request>();
  pack(call, from, count, type, request->send_copy);
  check(call, weft_send(session(), comm.id, peer_of(peer), tag, request->send_copy.data(),
                        request->send_copy.size(), WEFT_SEND_STANDARD, call, &request->id));
  let_go(request.release());
}

int prepare(const char* call, const Request::Again& again, MPI_Request* handle) {
  auto request = std::make_unique<Request>();
  request->persistent = true;
  request->again = again;
  return hand_out(call, request.release(), handle);
}

}  // namespace

void start_send(const char* call, Request& request, const void* from, int count, MPI_Datatype type, int peer,
                int tag, weft_comm comm, weft_send_mode mode) {
  const void* data = from;
  uint64_t bytes = bytes_of(type, static_cast<uint64_t>(count));
  if (!contiguous(type)) {
    pack(call, from, count, type, request.send_copy);
    data = request.send_copy.data();
    bytes = request.send_copy.size();
  }
  request.receives = false;
  request.over = false;
  request.peer = peer;
  check(call, weft_send(session(), comm, peer_of(peer), tag, data, bytes, mode, call, &request.id));
}

void start_receive(const char* call, Request& request, void* to, int count, MPI_Datatype type, int peer,
                   int tag, weft_comm comm) {
  void* data = to;
  const uint64_t bytes = bytes_of(type, static_cast<uint64_t>(count));
  if (!contiguous(type)) {
    request.receive_copy.resize(bytes);
    request.parts.push_back({to, count, type, 0});
    data = request.receive_copy.data();
  }
  request.receives = true;
  request.over = false;
  request.peer = peer;
  check(call, weft_recv(session(), comm, peer_of(peer), tag_of(tag), data, bytes, call, &request.id));
}

}  // namespace weft::mpi

using namespace weft::mpi;

// A send, its I-version and its persistent version.
#define WEFT_SENDS(name, iname, init, mode)                                                                  \
  WEFT_MPI int MPI_##name(const void* from, int count, MPI_Datatype type, int peer, int tag,                 \
                          MPI_Comm comm) {                                                                   \
    const Communicator* const c = find(comm);                                                                \
    if (c == nullptr) return PMPI_##name(from, count, type, peer, tag, comm);                                \
    return send_now("MPI_" #name, from, count, type, peer, tag, *c, mode);                                   \
  }                                                                                                          \
  WEFT_MPI int MPI_##iname(const void* from, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, \
                           MPI_Request* handle) {                                                            \
    const Communicator* const c = find(comm);                                                                \
    if (c == nullptr) return PMPI_##iname(from, count, type, peer, tag, comm, handle);                       \
    return send_later("MPI_" #iname, from, count, type, peer, tag, *c, mode, handle);                        \
  }                                                                                                          \
  WEFT_MPI int MPI_##init(const void* from, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,  \
                          MPI_Request* handle) {                                                             \
    const Communicator* const c = find(comm);                                                                \
    if (c == nullptr) return PMPI_##init(from, count, type, peer, tag, comm, handle);                        \
    return prepare("MPI_" #init, {true, from, nullptr, count, type, peer, tag, c->id, mode, "MPI_" #init},   \
                   handle);                                                                                  \
  }
WEFT_SENDS(Send, Isend, Send_init, WEFT_SEND_STANDARD)
WEFT_SENDS(Ssend, Issend, Ssend_init, WEFT_SEND_SYNCHRONOUS)
WEFT_SENDS(Rsend, Irsend, Rsend_init, WEFT_SEND_STANDARD)
#undef WEFT_SENDS

WEFT_MPI int MPI_Bsend(const void* from, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm) {
  const Communicator* const c = find(comm);
  if (c == nullptr) return PMPI_Bsend(from, count, type, peer, tag, comm);
  send_aside("MPI_Bsend", from, count, type, peer, tag, *c);
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Ibsend(const void* from, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                        MPI_Request* handle) {
  const Communicator* const c = find(comm);
  if (c == nullptr) return PMPI_Ibsend(from, count, type, peer, tag, comm, handle);
  send_aside("MPI_Ibsend", from, count, type, peer, tag, *c);
  auto over = std::make_unique<Request>();
  over->over = true;
  return hand_out("MPI_Ibsend", over.release(), handle);
}

WEFT_MPI int MPI_Recv(void* to, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                      MPI_Status* status) {
  const Communicator* const c = find(comm);
  if (c == nullptr) return PMPI_Recv(to, count, type, peer, tag, comm, status);
  Request request;
  start_receive("MPI_Recv", request, to, count, type, peer, tag, c->id);
  return wait_now("MPI_Recv", request, status);
}

WEFT_MPI int MPI_Irecv(void* to, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                       MPI_Request* handle) {
  const Communicator* const c = find(comm);
  if (c == nullptr) return PMPI_Irecv(to, count, type, peer, tag, comm, handle);
  auto request = std::make_unique<Request>();
  start_receive("MPI_Irecv", *request, to, count, type, peer, tag, c->id);
  return hand_out("MPI_Irecv", request.release(), handle);
}

WEFT_MPI int MPI_Recv_init(void* to, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                           MPI_Request* handle) {
  const Communicator* const c = find(comm);
  if (c == nullptr) return PMPI_Recv_init(to, count, type, peer, tag, comm, handle);
  return prepare("MPI_Recv_init",
                 {false, nullptr, to, count, type, peer, tag, c->id, WEFT_SEND_STANDARD, "MPI_Recv_init"},
                 handle);
}

WEFT_MPI int MPI_Sendrecv(const void* from, int send_count, MPI_Datatype send_type, int destination,
                          int send_tag, void* to, int count, MPI_Datatype type, int source, int tag,
                          MPI_Comm comm, MPI_Status* status) {
  const Communicator* const c = find(comm);
  if (c == nullptr)
    return PMPI_Sendrecv(from, send_count, send_type, destination, send_tag, to, count, type, source, tag,
                         comm, status);
  const char* const call = "MPI_Sendrecv";
  Request receive;
  Request send;
  start_receive(call, receive, to, count, type, source, tag, c->id);
  start_send(call, send, from, send_count, send_type, destination, send_tag, c->id, WEFT_SEND_STANDARD);
  weft_request both[2] = {receive.id, send.id};
  weft_status statuses[2] = {};
  check(call, weft_wait_all(session(), 2, both, statuses));
  receive.id = send.id = WEFT_REQUEST_NULL;
  receive.status = statuses[0];
  wait_now(call, send);
  send.over = true;
  return wait_now(call, receive, status);
}

WEFT_MPI int MPI_Sendrecv_replace(void* data, int count, MPI_Datatype type, int destination, int send_tag,
                                  int source, int tag, MPI_Comm comm, MPI_Status* status) {
  if (find(comm) == nullptr)
    return PMPI_Sendrecv_replace(data, count, type, destination, send_tag, source, tag, comm, status);
  std::vector<uint8_t> copy;
  pack("MPI_Sendrecv_replace", data, count, type, copy);
  return MPI_Sendrecv(copy.data(), static_cast<int>(copy.size()), MPI_BYTE, destination, send_tag, data,
                      count, type, source, tag, comm, status);
}

WEFT_MPI int MPI_Probe(int peer, int tag, MPI_Comm comm, MPI_Status* status) {
  const Communicator* const c = find(comm);
  if (c == nullptr) return PMPI_Probe(peer, tag, comm, status);
  int found = 0;
  weft_status there{};
  check("MPI_Probe", weft_probe(session(), c->id, peer_of(peer), tag_of(tag), 1, &found, &there));
  fill_probed(there, peer == MPI_PROC_NULL ? peer : there.source, status);
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Iprobe(int peer, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  const Communicator* const c = find(comm);
  if (c == nullptr) return PMPI_Iprobe(peer, tag, comm, flag, status);
  weft_status there{};
  check("MPI_Iprobe", weft_probe(session(), c->id, peer_of(peer), tag_of(tag), 0, flag, &there));
  if (*flag != 0) fill_probed(there, peer == MPI_PROC_NULL ? peer : there.source, status);
  return MPI_SUCCESS;
}
