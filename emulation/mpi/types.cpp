// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Data types and reductions in Weft's words.

#include <cstddef>

#include "emulation/mpi/mpi_shim.h"

namespace weft::mpi {
namespace {

weft_type integer(int bytes, bool is_signed) {
  switch (bytes) {
    case 1:
      return is_signed ? WEFT_INT8 : WEFT_UINT8;
    case 2:
      return is_signed ? WEFT_INT16 : WEFT_UINT16;
    case 4:
      return is_signed ? WEFT_INT32 : WEFT_UINT32;
    default:
      return is_signed ? WEFT_INT64 : WEFT_UINT64;
  }
}

}  // namespace

uint64_t bytes_of(MPI_Datatype type, uint64_t count) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return static_cast<uint64_t>(size) * count;
}

bool contiguous(MPI_Datatype type) {
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = 0;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  PMPI_Type_get_extent(type, &lower, &extent);
  if (lower != 0 || static_cast<uint64_t>(extent) != bytes_of(type, 1)) return false;
  if (combiner == MPI_COMBINER_NAMED) return true;
  // Others may be in another order.
  if (combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_DUP) return false;
  std::vector<int> i(static_cast<size_t>(integers) + 1);
  std::vector<MPI_Aint> a(static_cast<size_t>(addresses) + 1);
  std::vector<MPI_Datatype> t(static_cast<size_t>(types) + 1);
  PMPI_Type_get_contents(type, integers, addresses, types, i.data(), a.data(), t.data());
  const bool inner = contiguous(t[0]);
  PMPI_Type_get_envelope(t[0], &integers, &addresses, &types, &combiner);
  if (combiner != MPI_COMBINER_NAMED) PMPI_Type_free(&t[0]);
  return inner;
}

weft_type element_of(MPI_Datatype type) {
  if (type == MPI_DOUBLE) return WEFT_FLOAT64;
  if (type == MPI_FLOAT) return WEFT_FLOAT32;
  for (const MPI_Datatype own : {MPI_CHAR, MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG,
                                 MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_AINT, MPI_OFFSET})
    if (type == own) return integer(static_cast<int>(bytes_of(type, 1)), true);
  for (const MPI_Datatype own :
       {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG,
        MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T, MPI_C_BOOL})
    if (type == own) return integer(static_cast<int>(bytes_of(type, 1)), false);
  return WEFT_BYTE;
}

weft_reduction reduction_of(MPI_Op op) {
  if (op == MPI_SUM) return WEFT_SUM;
  if (op == MPI_PROD) return WEFT_PROD;
  if (op == MPI_MIN) return WEFT_MIN;
  if (op == MPI_MAX) return WEFT_MAX;
  if (op == MPI_BAND) return WEFT_BAND;
  if (op == MPI_BOR) return WEFT_BOR;
  if (op == MPI_BXOR) return WEFT_BXOR;
  if (op == MPI_LAND) return WEFT_LAND;
  if (op == MPI_LOR) return WEFT_LOR;
  if (op == MPI_LXOR) return WEFT_LXOR;
  return WEFT_USER;
}

void pack(const char* call, const void* from, int count, MPI_Datatype type, std::vector<uint8_t>& to) {
  if (count == 0) return;
  int room = 0;
  PMPI_Pack_size(count, type, MPI_COMM_SELF, &room);
  const size_t before = to.size();
  to.resize(before + static_cast<size_t>(room));
  int position = 0;
  if (PMPI_Pack(from, count, type, to.data() + before, room, &position, MPI_COMM_SELF) != MPI_SUCCESS)
    die(call, "the library could not pack the data type");
  to.resize(before + static_cast<size_t>(position));
}

void combine(const Fold& fold, const std::vector<uint8_t>& contributions) {
  if (fold.count == 0) return;
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  PMPI_Type_get_true_extent(fold.type, &lower, &extent);
  MPI_Aint from_first = 0;
  MPI_Aint stride = 0;
  PMPI_Type_get_extent(fold.type, &from_first, &stride);
  const uint64_t bytes = bytes_of(fold.type, static_cast<uint64_t>(fold.count));
  const auto room = static_cast<size_t>(extent + stride * (fold.count - 1));
  // As the program's buffers: the type's first byte may lie before or behind their beginning.
  std::vector<uint8_t> sum(room);
  std::vector<uint8_t> next(room);
  const auto unpacked = [&](std::vector<uint8_t>& elements, int member) {
    int position = 0;
    PMPI_Unpack(contributions.data() + static_cast<uint64_t>(member) * bytes, static_cast<int>(bytes),
                &position, elements.data() - lower, fold.count, fold.type, MPI_COMM_SELF);
  };
  // MPI's order: a0 op a1 op ..; the operation may not commute.
  unpacked(sum, fold.members - 1);
  for (int member = fold.members - 2; member >= 0; --member) {
    unpacked(next, member);
    PMPI_Reduce_local(next.data() - lower, sum.data() - lower, fold.count, fold.type, fold.op);
  }
  std::vector<uint8_t> packed;
  pack("MPI_Reduce_local", sum.data() - lower, fold.count, fold.type, packed);
  int position = 0;
  PMPI_Unpack(packed.data(), static_cast<int>(packed.size()), &position, fold.to, fold.count, fold.type,
              MPI_COMM_SELF);
}

}  // namespace weft::mpi
