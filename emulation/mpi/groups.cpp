// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "emulation/mpi/groups.h"

#include <algorithm>
#include <map>

namespace weft::mpi {
namespace {

/// Handles that no library gives: only functions of this file see them.
constexpr uintptr_t kFirst = 0x5eed0000;
std::map<uintptr_t, std::vector<int>> groups;

MPI_Group keep(std::vector<int> ranks) {
  if (ranks.empty()) return MPI_GROUP_EMPTY;
  const uintptr_t number = groups.empty() ? kFirst : std::max(kFirst, groups.rbegin()->first + 16);
  groups[number] = std::move(ranks);
  return handle_of<MPI_Group>(number);
}

const std::vector<int>& ranks_of(const char* call, MPI_Group group) {
  static const std::vector<int> none;
  if (group == MPI_GROUP_EMPTY) return none;
  const auto it = groups.find(number_of(group));
  if (it == groups.end()) die(call, "the group is none that Weft has made, or it was freed");
  return it->second;
}

int place(const std::vector<int>& ranks, int rank) {
  const auto it = std::find(ranks.begin(), ranks.end(), rank);
  return it == ranks.end() ? MPI_UNDEFINED : static_cast<int>(it - ranks.begin());
}

/// The ranks that (first, last, stride) triplets name.
std::vector<int> unfold(int n, int ranges[][3]) {
  std::vector<int> ranks;
  for (int i = 0; i < n; ++i) {
    const int stride = ranges[i][2];
    for (int r = ranges[i][0]; stride > 0 ? r <= ranges[i][1] : stride < 0 && r >= ranges[i][1]; r += stride)
      ranks.push_back(r);
  }
  return ranks;
}

std::vector<int> chosen(const char* call, const std::vector<int>& from, const std::vector<int>& places) {
  std::vector<int> ranks;
  for (const int p : places) {
    if (p < 0 || static_cast<size_t>(p) >= from.size())
      die(call, "rank " + std::to_string(p) + " is not in the group of " + std::to_string(from.size()));
    ranks.push_back(from[static_cast<size_t>(p)]);
  }
  return ranks;
}

std::vector<int> others(const std::vector<int>& from, const std::vector<int>& without) {
  std::vector<int> ranks;
  for (const int r : from)
    if (place(without, r) == MPI_UNDEFINED) ranks.push_back(r);
  return ranks;
}

}  // namespace

std::vector<int> world_ranks(MPI_Comm comm) {
  const Communicator* const c = find(comm);
  if (c == nullptr) return {weft_rank(session())};
  std::vector<int> ranks;
  for (int r = 0; r < c->size; ++r) ranks.push_back(weft_comm_world_rank(session(), c->id, r));
  return ranks;
}

std::vector<int32_t> members_in(const char* call, MPI_Group group, weft_comm comm) {
  std::vector<int32_t> members;
  for (const int r : ranks_of(call, group)) {
    members.push_back(weft_comm_member(session(), comm, r));
    if (members.back() < 0)
      die(call, "rank " + std::to_string(r) + " of the world is in the group, and not in the communicator");
  }
  return members;
}

int compare(const std::vector<int>& one, const std::vector<int>& other) {
  if (one == other) return MPI_IDENT;
  std::vector<int> a = one;
  std::vector<int> b = other;
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b ? MPI_SIMILAR : MPI_UNEQUAL;
}

}  // namespace weft::mpi

using namespace weft::mpi;

WEFT_MPI int MPI_Comm_group(MPI_Comm comm, MPI_Group* group) {
  if (session() == nullptr) return PMPI_Comm_group(comm, group);
  *group = keep(world_ranks(comm));
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Group_size(MPI_Group group, int* size) {
  if (session() == nullptr) return PMPI_Group_size(group, size);
  *size = static_cast<int>(ranks_of("MPI_Group_size", group).size());
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Group_rank(MPI_Group group, int* rank) {
  if (session() == nullptr) return PMPI_Group_rank(group, rank);
  *rank = place(ranks_of("MPI_Group_rank", group), weft_rank(session()));
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Group_translate_ranks(MPI_Group from, int n, const int ranks[], MPI_Group to, int out[]) {
  if (session() == nullptr) return PMPI_Group_translate_ranks(from, n, ranks, to, out);
  const char* const call = "MPI_Group_translate_ranks";
  for (int i = 0; i < n; ++i)
    out[i] = ranks[i] == MPI_PROC_NULL
                 ? MPI_PROC_NULL
                 : place(ranks_of(call, to), chosen(call, ranks_of(call, from), {ranks[i]})[0]);
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Group_compare(MPI_Group one, MPI_Group other, int* result) {
  if (session() == nullptr) return PMPI_Group_compare(one, other, result);
  *result = compare(ranks_of("MPI_Group_compare", one), ranks_of("MPI_Group_compare", other));
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Group_union(MPI_Group one, MPI_Group other, MPI_Group* made) {
  if (session() == nullptr) return PMPI_Group_union(one, other, made);
  std::vector<int> ranks = ranks_of("MPI_Group_union", one);
  const std::vector<int> more = others(ranks_of("MPI_Group_union", other), ranks);
  ranks.insert(ranks.end(), more.begin(), more.end());
  *made = keep(std::move(ranks));
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Group_intersection(MPI_Group one, MPI_Group other, MPI_Group* made) {
  if (session() == nullptr) return PMPI_Group_intersection(one, other, made);
  const std::vector<int>& ranks = ranks_of("MPI_Group_intersection", one);
  *made = keep(others(ranks, others(ranks, ranks_of("MPI_Group_intersection", other))));
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Group_difference(MPI_Group one, MPI_Group other, MPI_Group* made) {
  if (session() == nullptr) return PMPI_Group_difference(one, other, made);
  *made = keep(others(ranks_of("MPI_Group_difference", one), ranks_of("MPI_Group_difference", other)));
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group* made) {
  if (session() == nullptr) return PMPI_Group_incl(group, n, ranks, made);
  const char* const call = "MPI_Group_incl";
  *made = keep(chosen(call, ranks_of(call, group), {ranks, ranks + n}));
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group* made) {
  if (session() == nullptr) return PMPI_Group_excl(group, n, ranks, made);
  const char* const call = "MPI_Group_excl";
  const std::vector<int>& all = ranks_of(call, group);
  *made = keep(others(all, chosen(call, all, {ranks, ranks + n})));
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group* made) {
  if (session() == nullptr) return PMPI_Group_range_incl(group, n, ranges, made);
  const char* const call = "MPI_Group_range_incl";
  *made = keep(chosen(call, ranks_of(call, group), unfold(n, ranges)));
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group* made) {
  if (session() == nullptr) return PMPI_Group_range_excl(group, n, ranges, made);
  const char* const call = "MPI_Group_range_excl";
  const std::vector<int>& all = ranks_of(call, group);
  *made = keep(others(all, chosen(call, all, unfold(n, ranges))));
  return MPI_SUCCESS;
}

WEFT_MPI int MPI_Group_free(MPI_Group* group) {
  if (session() == nullptr) return PMPI_Group_free(group);
  groups.erase(number_of(*group));
  *group = MPI_GROUP_NULL;
  return MPI_SUCCESS;
}
