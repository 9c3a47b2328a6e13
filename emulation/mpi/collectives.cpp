// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Collectives, blocking and not. Each start_*() joins one; the MPI functions below wait for it, or hand out a
// request.

#include <memory>

#include "emulation/mpi/mpi_shim.h"

namespace weft::mpi {
namespace {

/// Parts of a buffer, one a member.
struct Parts {
  const int* counts = nullptr;  ///< null: `count` each
  const int* places = nullptr;  ///< in elements' extents; null: one after the other
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;

  int at(int member) const { return counts == nullptr ? count : counts[member]; }
  uint64_t bytes(int member) const { return bytes_of(type, static_cast<uint64_t>(at(member))); }
  /// The part's beginning in the program's buffer.
  char* begin(const void* buffer, int member) const {
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    PMPI_Type_get_extent(type, &lower, &extent);
    const int64_t place = places != nullptr ? places[member] : static_cast<int64_t>(count) * member;
    return static_cast<char*>(const_cast<void*>(buffer)) + place * extent;
  }
  /// The parts lie one after the other without gaps.
  bool dense(int members) const {
    if (!contiguous(type)) return false;
    int64_t next = 0;
    for (int m = 0; m < members && places != nullptr; ++m) {
      if (at(m) != 0 && places[m] != next) return false;
      next += at(m);
    }
    return true;
  }
  std::vector<uint64_t> all_bytes(int members) const {
    std::vector<uint64_t> list;
    for (int m = 0; m < members; ++m) list.push_back(bytes(m));
    return list;
  }
};

/// What is sent: `members` parts of the program's buffer, in one piece.
const void* gathered(const char* call, Request& request, const void* from, const Parts& parts, int members) {
  if (from == nullptr || parts.dense(members)) return from;
  for (int m = 0; m < members; ++m)
    pack(call, parts.begin(from, m), parts.at(m), parts.type, request.send_copy);
  return request.send_copy.data();
}

/// Where what is received goes first: to its place, or to a copy that is taken apart in the end.
void* scattered(Request& request, void* to, const Parts& parts, int members) {
  if (to == nullptr || parts.dense(members)) return to;
  uint64_t bytes = 0;
  for (int m = 0; m < members; ++m) {
    request.parts.push_back({parts.begin(to, m), parts.at(m), parts.type, bytes});
    bytes += parts.bytes(m);
  }
  request.receive_copy.resize(bytes);
  return request.receive_copy.data();
}

weft_coll_args arguments(const char* call, const Communicator& c, weft_operation operation) {
  weft_coll_args args;
  weft_coll_init(&args);
  args.comm = c.id;
  args.operation = operation;
  args.type = WEFT_BYTE;
  args.element_bytes = 1;
  args.name = call;
  return args;
}

void join(const char* call, Request& request, const weft_coll_args& args) {
  check(call, weft_coll(session(), &args, &request.id));
}

/// Elements that are reduced. What Weft cannot reckon with is opaque: with `--data functional` the program's
/// library combines the contributions of all members.
void set_elements(weft_coll_args& args, MPI_Datatype type, MPI_Op op) {
  args.type = element_of(type);
  args.reduction = reduction_of(op);
  args.element_bytes = args.type == WEFT_BYTE ? static_cast<uint32_t>(bytes_of(type, 1)) : 0;
  if (args.type == WEFT_BYTE) args.reduction = WEFT_USER;
  if (args.reduction == WEFT_USER && weft_data_mode(session()) == WEFT_DATA_FUNCTIONAL)
    args.reduction = WEFT_GATHERED;
}

/// Where the result of a reduction of `count` elements goes; of gathered ones all contributions come first.
void* reduced(const char* call, Request& request, const weft_coll_args& args, void* to, int count,
              MPI_Datatype type, MPI_Op op, const Communicator& c) {
  const Parts one{nullptr, nullptr, count, type};
  if (to == nullptr || args.reduction != WEFT_GATHERED) return scattered(request, to, one, 1);
  constexpr uint64_t kMost = uint64_t{1} << 30;
  const uint64_t bytes = one.bytes(0) * static_cast<uint64_t>(c.size);
  if (bytes > kMost)
    die(call,
        "an operation or a type of the program's own, and " + std::to_string(bytes) +
            " B of contributions: with --data functional each rank combines them itself, and at most 1 GiB; "
            "--data mirror or dummy needs no such room");
  request.fold = {op, type, count, c.size, to};
  request.receive_copy.resize(bytes);
  return request.receive_copy.data();
}

void start_barrier(const char* call, Request& request, const Communicator& c) {
  join(call, request, arguments(call, c, WEFT_BARRIER));
}

void start_bcast(const char* call, Request& request, void* data, int count, MPI_Datatype type, int root,
                 const Communicator& c) {
  weft_coll_args args = arguments(call, c, WEFT_BROADCAST);
  const Parts one{nullptr, nullptr, count, type};
  args.root = root;
  args.count = one.bytes(0);
  if (c.rank == root) {
    args.send = gathered(call, request, data, one, 1);
    args.receive = const_cast<void*>(args.send);
  } else {
    args.receive = scattered(request, data, one, 1);
  }
  join(call, request, args);
}

/// All-reduce, and reduce to a root.
void start_reduce(const char* call, Request& request, weft_operation operation, const void* from, void* to,
                  int count, MPI_Datatype type, MPI_Op op, int root, const Communicator& c) {
  weft_coll_args args = arguments(call, c, operation);
  const Parts one{nullptr, nullptr, count, type};
  const bool gets = operation == WEFT_ALL_REDUCE || c.rank == root;
  set_elements(args, type, op);
  args.root = root;
  args.count = static_cast<uint64_t>(count);
  args.send = gathered(call, request, from == MPI_IN_PLACE ? to : from, one, 1);
  if (gets) args.receive = reduced(call, request, args, to, count, type, op, c);
  join(call, request, args);
}

/// `counts` null: `count` for each.
void start_reduce_scatter(const char* call, Request& request, const void* from, void* to, const int* counts,
                          int count, MPI_Datatype type, MPI_Op op, const Communicator& c) {
  weft_coll_args args = arguments(call, c, WEFT_REDUCE_SCATTER);
  set_elements(args, type, op);
  args.count = static_cast<uint64_t>(count);
  const Parts all{counts, nullptr, count, type};
  if (counts != nullptr) {
    request.counts.assign(counts, counts + c.size);
    args.counts = request.counts.data();
  }
  // Input parts lie one after the other whatever their counts.
  int elements = 0;
  for (int m = 0; m < c.size; ++m) elements += all.at(m);
  const Parts input{nullptr, nullptr, elements, type};
  args.send = gathered(call, request, from == MPI_IN_PLACE ? to : from, input, 1);
  args.receive = reduced(call, request, args, to, all.at(c.rank), type, op, c);
  join(call, request, args);
}

void start_allgather(const char* call, Request& request, const void* from, int count, MPI_Datatype type,
                     void* to, const Parts& into, const Communicator& c) {
  weft_coll_args args = arguments(call, c, WEFT_ALL_GATHER);
  args.count = into.bytes(c.rank);
  if (into.counts != nullptr) {
    request.counts = into.all_bytes(c.size);
    args.counts = request.counts.data();
  }
  const Parts own = from == MPI_IN_PLACE ? Parts{nullptr, nullptr, into.at(c.rank), into.type}
                                         : Parts{nullptr, nullptr, count, type};
  args.send = gathered(call, request, from == MPI_IN_PLACE ? into.begin(to, c.rank) : from, own, 1);
  args.receive = scattered(request, to, into, c.size);
  join(call, request, args);
}

void start_gather(const char* call, Request& request, const void* from, int count, MPI_Datatype type,
                  void* to, const Parts& into, int root, const Communicator& c) {
  weft_coll_args args = arguments(call, c, WEFT_GATHER);
  const bool gets = c.rank == root;
  args.root = root;
  const bool in_place = gets && from == MPI_IN_PLACE;
  const Parts own =
      in_place ? Parts{nullptr, nullptr, into.at(root), into.type} : Parts{nullptr, nullptr, count, type};
  args.count = own.bytes(0);
  args.send = gathered(call, request, in_place ? into.begin(to, root) : from, own, 1);
  if (gets) {
    if (into.counts != nullptr) {
      request.counts = into.all_bytes(c.size);
      args.counts = request.counts.data();
    }
    args.receive = scattered(request, to, into, c.size);
  }
  join(call, request, args);
}

void start_scatter(const char* call, Request& request, const void* from, const Parts& out, void* to,
                   int count, MPI_Datatype type, int root, const Communicator& c) {
  weft_coll_args args = arguments(call, c, WEFT_SCATTER);
  args.root = root;
  const bool gives = c.rank == root;
  // In place the root's own part stays where it is; its copy goes nowhere.
  const bool in_place = gives && to == MPI_IN_PLACE;
  const Parts own =
      in_place ? Parts{nullptr, nullptr, out.at(root), out.type} : Parts{nullptr, nullptr, count, type};
  args.count = own.bytes(0);
  if (gives) {
    args.send = gathered(call, request, from, out, c.size);
    if (out.counts != nullptr) {
      request.counts = out.all_bytes(c.size);
      args.counts = request.counts.data();
    } else {
      args.count = out.bytes(0);
    }
  }
  if (in_place) {
    request.receive_copy.resize(own.bytes(0));
    args.receive = request.receive_copy.data();
  } else {
    args.receive = scattered(request, to, own, 1);
  }
  join(call, request, args);
}

void start_alltoall(const char* call, Request& request, const void* from, const Parts& out, void* to,
                    const Parts& into, const Communicator& c) {
  weft_coll_args args = arguments(call, c, WEFT_ALL_TO_ALL);
  const bool in_place = from == MPI_IN_PLACE;
  const Parts& given = in_place ? into : out;
  args.count = given.bytes(0);
  if (into.counts != nullptr) {
    request.counts = given.all_bytes(c.size);
    request.receive_counts = into.all_bytes(c.size);
    args.counts = request.counts.data();
    args.receive_counts = request.receive_counts.data();
  }
  args.send = gathered(call, request, in_place ? to : from, given, c.size);
  args.receive = scattered(request, to, into, c.size);
  join(call, request, args);
}

Parts uniform(int count, MPI_Datatype type) {
  return {nullptr, nullptr, count, type};
}

}  // namespace
}  // namespace weft::mpi

using namespace weft::mpi;

// A collective and its I-version: MPI_Allreduce, MPI_Iallreduce. PARAMETERS: as in the standard, without the
// communicator and the request; ARGUMENTS: the same names. START joins it, with `call`, `request` and `c` at
// hand.
#define WEFT_LIST(...) __VA_ARGS__
#define WEFT_PAIR(name, lower, PARAMETERS, ARGUMENTS, START)                            \
  WEFT_MPI int MPI_##name(WEFT_LIST PARAMETERS, MPI_Comm comm) {                        \
    const Communicator* const c = find(comm);                                           \
    if (c == nullptr) return PMPI_##name(WEFT_LIST ARGUMENTS, comm);                    \
    const char* const call = "MPI_" #name;                                              \
    Request request;                                                                    \
    START;                                                                              \
    return wait_now(call, request);                                                     \
  }                                                                                     \
  WEFT_MPI int MPI_I##lower(WEFT_LIST PARAMETERS, MPI_Comm comm, MPI_Request* handle) { \
    const Communicator* const c = find(comm);                                           \
    if (c == nullptr) return PMPI_I##lower(WEFT_LIST ARGUMENTS, comm, handle);          \
    const char* const call = "MPI_I" #lower;                                            \
    auto own = std::make_unique<Request>();                                             \
    Request& request = *own;                                                            \
    START;                                                                              \
    return hand_out(call, own.release(), handle);                                       \
  }

WEFT_MPI int MPI_Barrier(MPI_Comm comm) {
  const Communicator* const c = find(comm);
  if (c == nullptr) return PMPI_Barrier(comm);
  Request request;
  start_barrier("MPI_Barrier", request, *c);
  return wait_now("MPI_Barrier", request);
}

WEFT_MPI int MPI_Ibarrier(MPI_Comm comm, MPI_Request* handle) {
  const Communicator* const c = find(comm);
  if (c == nullptr) return PMPI_Ibarrier(comm, handle);
  auto request = std::make_unique<Request>();
  start_barrier("MPI_Ibarrier", *request, *c);
  return hand_out("MPI_Ibarrier", request.release(), handle);
}

WEFT_PAIR(Bcast, bcast, (void* data, int count, MPI_Datatype type, int root), (data, count, type, root),
          start_bcast(call, request, data, count, type, root, *c))
WEFT_PAIR(Allreduce, allreduce, (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op),
          (from, to, count, type, op),
          start_reduce(call, request, WEFT_ALL_REDUCE, from, to, count, type, op, 0, *c))
WEFT_PAIR(Reduce, reduce, (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root),
          (from, to, count, type, op, root),
          start_reduce(call, request, WEFT_REDUCE, from, to, count, type, op, root, *c))
WEFT_PAIR(Reduce_scatter, reduce_scatter,
          (const void* from, void* to, const int counts[], MPI_Datatype type, MPI_Op op),
          (from, to, counts, type, op),
          start_reduce_scatter(call, request, from, to, counts, 0, type, op, *c))
WEFT_PAIR(Reduce_scatter_block, reduce_scatter_block,
          (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op), (from, to, count, type, op),
          start_reduce_scatter(call, request, from, to, nullptr, count, type, op, *c))
WEFT_PAIR(Allgather, allgather,
          (const void* from, int count, MPI_Datatype type, void* to, int to_count, MPI_Datatype to_type),
          (from, count, type, to, to_count, to_type),
          start_allgather(call, request, from, count, type, to, uniform(to_count, to_type), *c))
WEFT_PAIR(Allgatherv, allgatherv,
          (const void* from, int count, MPI_Datatype type, void* to, const int counts[], const int places[],
           MPI_Datatype to_type),
          (from, count, type, to, counts, places, to_type),
          start_allgather(call, request, from, count, type, to, {counts, places, 0, to_type}, *c))
WEFT_PAIR(Gather, gather,
          (const void* from, int count, MPI_Datatype type, void* to, int to_count, MPI_Datatype to_type,
           int root),
          (from, count, type, to, to_count, to_type, root),
          start_gather(call, request, from, count, type, to, uniform(to_count, to_type), root, *c))
WEFT_PAIR(Gatherv, gatherv,
          (const void* from, int count, MPI_Datatype type, void* to, const int counts[], const int places[],
           MPI_Datatype to_type, int root),
          (from, count, type, to, counts, places, to_type, root),
          start_gather(call, request, from, count, type, to, {counts, places, 0, to_type}, root, *c))
WEFT_PAIR(Scatter, scatter,
          (const void* from, int count, MPI_Datatype type, void* to, int to_count, MPI_Datatype to_type,
           int root),
          (from, count, type, to, to_count, to_type, root),
          start_scatter(call, request, from, uniform(count, type), to, to_count, to_type, root, *c))
WEFT_PAIR(Scatterv, scatterv,
          (const void* from, const int counts[], const int places[], MPI_Datatype type, void* to,
           int to_count, MPI_Datatype to_type, int root),
          (from, counts, places, type, to, to_count, to_type, root),
          start_scatter(call, request, from, {counts, places, 0, type}, to, to_count, to_type, root, *c))
WEFT_PAIR(Alltoall, alltoall,
          (const void* from, int count, MPI_Datatype type, void* to, int to_count, MPI_Datatype to_type),
          (from, count, type, to, to_count, to_type),
          start_alltoall(call, request, from, uniform(count, type), to, uniform(to_count, to_type), *c))
WEFT_PAIR(Alltoallv, alltoallv,
          (const void* from, const int counts[], const int places[], MPI_Datatype type, void* to,
           const int to_counts[], const int to_places[], MPI_Datatype to_type),
          (from, counts, places, type, to, to_counts, to_places, to_type),
          start_alltoall(call, request, from, {counts, places, 0, type}, to,
                         {to_counts, to_places, 0, to_type}, *c))
