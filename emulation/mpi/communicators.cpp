// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Communicators and Cartesian topologies. An emulated communicator is a duplicate of the library's, with an
// attribute that tells which it is.

#include <algorithm>
#include <memory>

#include "emulation/mpi/groups.h"
#include "emulation/mpi/mpi_shim.h"

namespace weft::mpi {
namespace {

int keyval = MPI_KEYVAL_INVALID;

int forget(MPI_Comm, int, void* value, void*) {
  delete static_cast<Communicator*>(value);
  return MPI_SUCCESS;
}

void attach(MPI_Comm comm, weft_comm id) {
  auto own = std::make_unique<Communicator>();
  own->id = id;
  own->rank = weft_comm_rank(session(), id);
  own->size = weft_comm_size(session(), id);
  PMPI_Comm_set_attr(comm, keyval, own.release());
}

/// The handle of a new communicator: a duplicate of its parent's, with the program's attributes if `copies`.
Communicator* make(MPI_Comm parent, bool copies, weft_comm id, MPI_Comm* made) {
  if (id == WEFT_COMM_NULL) {
    *made = MPI_COMM_NULL;
    return nullptr;
  }
  PMPI_Comm_dup(copies ? parent : MPI_COMM_SELF, made);
  attach(*made, id);
  return find(*made);
}

weft_comm create(const char* call, weft_comm parent, const std::vector<int32_t>& ranks) {
  weft_comm id = WEFT_COMM_NULL;
  check(call, weft_comm_create(session(), parent, ranks.data(), static_cast<uint32_t>(ranks.size()), &id));
  return id;
}

}  // namespace

Communicator* find(MPI_Comm comm) {
  if (session() == nullptr || comm == MPI_COMM_NULL) return nullptr;
  void* value = nullptr;
  int flag = 0;
  PMPI_Comm_get_attr(comm, keyval, &value, &flag);
  return flag != 0 ? static_cast<Communicator*>(value) : nullptr;
}

void begin_communicators() {
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, nullptr);
  attach(MPI_COMM_WORLD, WEFT_COMM_WORLD);
}

}  // namespace weft::mpi

using namespace weft::mpi;

WEFT_MPI int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  const Communicator* const c = find(comm);
  if (c == nullptr) return PMPI_Comm_rank(comm, rank);
  *rank = c->rank;
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Comm_size(MPI_Comm comm, int* size) {
  const Communicator* const c = find(comm);
  if (c == nullptr) return PMPI_Comm_size(comm, size);
  *size = c->size;
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  const Communicator* const c = find(comm);
  if (c == nullptr) return PMPI_Comm_dup(comm, made);
  Communicator* const own = make(comm, true, create("MPI_Comm_dup", c->id, {}), made);
  own->dims = c->dims;
  own->periods = c->periods;
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made) {
  return find(comm) == nullptr ? PMPI_Comm_dup_with_info(comm, info, made) : MPI_Comm_dup(comm, made);
}

WEFT_MPI int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made) {
  const Communicator* const c = find(comm);
  if (c == nullptr && session() == nullptr) return PMPI_Comm_create(comm, group, made);
  if (c == nullptr) die("MPI_Comm_create", "its communicator is MPI_COMM_SELF's; use MPI_Comm_dup");
  const std::vector<int32_t> ranks = members_in("MPI_Comm_create", group, c->id);
  if (ranks.empty()) {
    *made = MPI_COMM_NULL;
    return MPI_SUCCESS;
  }
  make(comm, false, create("MPI_Comm_create", c->id, ranks), made);
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made) {
  return find(comm) == nullptr ? PMPI_Comm_create_group(comm, group, tag, made)
                               : MPI_Comm_create(comm, group, made);
}

WEFT_MPI int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  const Communicator* const c = find(comm);
  if (c == nullptr) return PMPI_Comm_split(comm, color, key, made);
  weft_comm id = WEFT_COMM_NULL;
  check("MPI_Comm_split",
        weft_comm_split(session(), c->id, color == MPI_UNDEFINED ? WEFT_UNDEFINED : color, key, &id));
  make(comm, false, id, made);
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  const Communicator* const c = find(comm);
  if (c == nullptr) return PMPI_Comm_split_type(comm, type, key, info, made);
  const char* const call = "MPI_Comm_split_type";
  if (type == MPI_UNDEFINED) {
    *made = MPI_COMM_NULL;
    return MPI_SUCCESS;
  }
  if (type != MPI_COMM_TYPE_SHARED) die(call, "only MPI_COMM_TYPE_SHARED is emulated: the ranks of one node");
  if (key != 0 && key != c->rank)
    die(call, "the key of an emulated rank cannot be known; give all ranks the key 0, or their rank");
  // The ranks of this one's node, as machine.yaml has them.
  const int per_node = std::max(1, weft_local_size(session()));
  const int node = weft_comm_world_rank(session(), c->id, c->rank) / per_node;
  std::vector<int32_t> ranks;
  for (int w = node * per_node; w < (node + 1) * per_node; ++w) {
    const int member = weft_comm_member(session(), c->id, w);
    if (member >= 0) ranks.push_back(member);
  }
  std::sort(ranks.begin(), ranks.end());
  make(comm, false, create(call, c->id, ranks), made);
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Comm_free(MPI_Comm* comm) {
  if (const Communicator* const c = find(*comm)) check("MPI_Comm_free", weft_comm_free(session(), c->id));
  return PMPI_Comm_free(comm);
}

WEFT_MPI int MPI_Comm_compare(MPI_Comm one, MPI_Comm other, int* result) {
  const Communicator* const a = find(one);
  const Communicator* const b = find(other);
  if (a == nullptr && b == nullptr) return PMPI_Comm_compare(one, other, result);
  if (one == other) {
    *result = MPI_IDENT;
    return MPI_SUCCESS;
  }
  const std::vector<int> first = world_ranks(one);
  const std::vector<int> second = world_ranks(other);
  const int order = compare(first, second);
  *result = order == MPI_IDENT ? MPI_CONGRUENT : order;
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Cart_create(MPI_Comm comm, int n, const int dims[], const int periods[], int reorder,
                             MPI_Comm* made) {
  const Communicator* const c = find(comm);
  if (c == nullptr) return PMPI_Cart_create(comm, n, dims, periods, reorder, made);
  weft_comm id = WEFT_COMM_NULL;
  check("MPI_Cart_create", weft_comm_cart(session(), c->id, static_cast<uint32_t>(n), dims, periods, &id));
  if (Communicator* const own = make(comm, false, id, made)) {
    own->dims.assign(dims, dims + n);
    own->periods.assign(periods, periods + n);
  }
  return MPI_SUCCESS;
}

namespace {

/// The Cartesian communicator; ends the process if it is none.
Communicator& cart(const char* call, MPI_Comm comm) {
  Communicator* const c = find(comm);
  if (c == nullptr || c->dims.empty()) die(call, "the communicator has no Cartesian topology");
  return *c;
}

std::vector<int> coordinates(const Communicator& c, int rank) {
  std::vector<int> at(c.dims.size());
  for (size_t d = c.dims.size(); d-- > 0;) {
    at[d] = rank % c.dims[d];
    rank /= c.dims[d];
  }
  return at;
}

/// MPI_PROC_NULL outside of a dimension that is not periodic.
int rank_at(const Communicator& c, std::vector<int> at) {
  int rank = 0;
  for (size_t d = 0; d < c.dims.size(); ++d) {
    if (c.periods[d] != 0)
      at[d] = (at[d] % c.dims[d] + c.dims[d]) % c.dims[d];
    else if (at[d] < 0 || at[d] >= c.dims[d])
      return MPI_PROC_NULL;
    rank = rank * c.dims[d] + at[d];
  }
  return rank;
}

}  // namespace

WEFT_MPI int MPI_Cartdim_get(MPI_Comm comm, int* n) {
  if (find(comm) == nullptr) return PMPI_Cartdim_get(comm, n);
  *n = static_cast<int>(cart("MPI_Cartdim_get", comm).dims.size());
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Cart_get(MPI_Comm comm, int n, int dims[], int periods[], int coords[]) {
  if (find(comm) == nullptr) return PMPI_Cart_get(comm, n, dims, periods, coords);
  const Communicator& c = cart("MPI_Cart_get", comm);
  const std::vector<int> at = coordinates(c, c.rank);
  for (size_t d = 0; d < std::min(c.dims.size(), static_cast<size_t>(n)); ++d) {
    dims[d] = c.dims[d];
    periods[d] = c.periods[d];
    coords[d] = at[d];
  }
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Cart_coords(MPI_Comm comm, int rank, int n, int coords[]) {
  if (find(comm) == nullptr) return PMPI_Cart_coords(comm, rank, n, coords);
  const Communicator& c = cart("MPI_Cart_coords", comm);
  if (rank < 0 || rank >= c.size) die("MPI_Cart_coords", "rank " + std::to_string(rank) + " is no member");
  const std::vector<int> at = coordinates(c, rank);
  std::copy_n(at.begin(), std::min(at.size(), static_cast<size_t>(n)), coords);
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Cart_rank(MPI_Comm comm, const int coords[], int* rank) {
  if (find(comm) == nullptr) return PMPI_Cart_rank(comm, coords, rank);
  const Communicator& c = cart("MPI_Cart_rank", comm);
  *rank = rank_at(c, {coords, coords + c.dims.size()});
  if (*rank == MPI_PROC_NULL) die("MPI_Cart_rank", "a coordinate is outside of a dimension without period");
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Cart_shift(MPI_Comm comm, int direction, int by, int* source, int* destination) {
  if (find(comm) == nullptr) return PMPI_Cart_shift(comm, direction, by, source, destination);
  const Communicator& c = cart("MPI_Cart_shift", comm);
  if (direction < 0 || static_cast<size_t>(direction) >= c.dims.size())
    die("MPI_Cart_shift", "direction " + std::to_string(direction) + " does not exist");
  const auto d = static_cast<size_t>(direction);
  std::vector<int> at = coordinates(c, c.rank);
  at[d] += by;
  *destination = rank_at(c, at);
  at[d] -= 2 * by;
  *source = rank_at(c, at);
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Cart_sub(MPI_Comm comm, const int keeps[], MPI_Comm* made) {
  if (find(comm) == nullptr) return PMPI_Cart_sub(comm, keeps, made);
  const Communicator& c = cart("MPI_Cart_sub", comm);
  const std::vector<int> own = coordinates(c, c.rank);
  std::vector<int32_t> ranks;
  for (int r = 0; r < c.size; ++r) {
    const std::vector<int> at = coordinates(c, r);
    bool in = true;
    for (size_t d = 0; d < at.size(); ++d) in = in && (keeps[d] != 0 || at[d] == own[d]);
    if (in) ranks.push_back(r);
  }
  Communicator* const sub = make(comm, false, create("MPI_Cart_sub", c.id, ranks), made);
  for (size_t d = 0; d < c.dims.size(); ++d) {
    if (keeps[d] == 0) continue;
    sub->dims.push_back(c.dims[d]);
    sub->periods.push_back(c.periods[d]);
  }
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Topo_test(MPI_Comm comm, int* status) {
  const Communicator* const c = find(comm);
  if (c == nullptr) return PMPI_Topo_test(comm, status);
  *status = c->dims.empty() ? MPI_UNDEFINED : MPI_CART;
  return MPI_SUCCESS;
}
