// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What the files of the MPI shims share. They are compiled once for Open MPI and once for MPICH, whose
// handles differ. A shim is preloaded into an MPI program under `weft emulate`: its MPI_* stand before the
// library's, which it uses by their PMPI_* names. The library runs as a singleton; communication goes to
// Weft.
//
// Outside of `weft emulate` (WEFT_SOCKET is not set) every call goes to the library.

#ifndef WEFT_EMULATION_MPI_MPI_SHIM_H
#define WEFT_EMULATION_MPI_MPI_SHIM_H

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "weft_comm.h"

#define WEFT_MPI extern "C" __attribute__((visibility("default")))

namespace weft::mpi {

/// Null before MPI_Init, after MPI_Finalize and outside of `weft emulate`.
weft_session* session();
/// Prints "weft: rank 3: MPI_Send: text", tells the server and ends the process. MPI's default for errors.
[[noreturn]] void die(const char* call, const std::string& text);
/// die() with the session's error if `code` is one.
void check(const char* call, int code);

/// A handle as a number, and back: a pointer (Open MPI) or an integer (MPICH).
template <typename Handle>
uintptr_t number_of(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>)
    return reinterpret_cast<uintptr_t>(handle);
  else
    return static_cast<uintptr_t>(static_cast<unsigned>(handle));
}
template <typename Handle>
Handle handle_of(uintptr_t number) {
  if constexpr (std::is_pointer_v<Handle>)
    return reinterpret_cast<Handle>(number);
  else
    return static_cast<Handle>(number);
}

// -- communicators.cpp

struct Communicator {
  weft_comm id = WEFT_COMM_WORLD;
  int rank = 0;
  int size = 1;
  std::vector<int> dims;  ///< of a Cartesian one; else empty
  std::vector<int> periods;
};
/// The emulated communicator behind a handle; null: the library's own (MPI_COMM_SELF and its duplicates).
Communicator* find(MPI_Comm comm);
/// MPI_COMM_WORLD becomes the emulated world.
void begin_communicators();

// -- types.cpp

/// The bytes of `count` elements.
uint64_t bytes_of(MPI_Datatype type, uint64_t count);
/// Elements lie one after the other without gaps, in order.
bool contiguous(MPI_Datatype type);
weft_type element_of(MPI_Datatype type);
weft_reduction reduction_of(MPI_Op op);
/// Appends the elements to `to` without gaps.
void pack(const char* call, const void* from, int count, MPI_Datatype type, std::vector<uint8_t>& to);
/// A reduction that the program's library does, by an operation or on a type that Weft does not know. Of each
/// member `count` elements are there, without gaps.
struct Fold {
  MPI_Op op = MPI_OP_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int count = 0;
  int members = 0;
  void* to = nullptr;
};

/// Combines the members' elements in the order of the members and puts the result into its place.
void combine(const Fold& fold, const std::vector<uint8_t>& contributions);

// -- requests.cpp

/// What is received in one piece and belongs elsewhere.
struct Part {
  void* to = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  uint64_t from = 0;  ///< in Request::receive_copy
};

/// A call until it is over.
struct Request {
  weft_request id = WEFT_REQUEST_NULL;
  bool receives = false;  ///< a receive: its status has a source
  bool over = false;      ///< known to be over; its MPI_Request is still there
  int peer = 0;           ///< as the program gave it
  weft_status status{};
  std::vector<uint8_t> send_copy;
  std::vector<uint8_t> receive_copy;
  std::vector<Part> parts;
  Fold fold;  ///< without members: none
  std::vector<uint64_t> counts;
  std::vector<uint64_t> receive_counts;
  // Persistent ones.
  bool persistent = false;
  struct Again {
    bool sends = false;
    const void* from = nullptr;
    void* to = nullptr;
    int count = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    int peer = 0;
    int tag = 0;
    weft_comm comm = 0;
    weft_send_mode mode = WEFT_SEND_STANDARD;
    const char* call = "";
  } again;
};

/// Waits for a call that blocks. MPI_SUCCESS.
int wait_now(const char* call, Request& request, MPI_Status* status = MPI_STATUS_IGNORE);
/// Gives the program an MPI_Request for it: a generalised request, which is the library's. Takes `request`.
int hand_out(const char* call, Request* request, MPI_Request* handle);
/// Nobody asks for it any more; MPI_Finalize waits for it. Takes `request`.
void let_go(Request* request);
void finish_let_go(const char* call);
/// The request's status in MPI's words.
void fill(const Request& request, MPI_Status* status);
void fill_probed(const weft_status& from, int source, MPI_Status* status);

// -- point_to_point.cpp

void start_send(const char* call, Request& request, const void* from, int count, MPI_Datatype type, int peer,
                int tag, weft_comm comm, weft_send_mode mode);
void start_receive(const char* call, Request& request, void* to, int count, MPI_Datatype type, int peer,
                   int tag, weft_comm comm);

}  // namespace weft::mpi

#endif
