// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "emulation/job/data.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>

#include "emulation/client/weft_comm.h"
#include "emulation/protocol/elements.h"

namespace weft::emulation {
namespace {

using Bytes = std::vector<uint8_t>;

uint64_t total(const std::vector<uint64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
}
uint64_t count_of(const Coll& call, uint32_t member) {
  return call.counts.empty() ? call.count : call.counts[member];
}
uint64_t offset_of(const Coll& call, uint32_t member) {
  return call.counts.empty()
             ? call.count * member
             : std::accumulate(call.counts.begin(), call.counts.begin() + member, uint64_t{0});
}

/// Bytes [skip, skip + bytes) of a contribution, with zeros behind its end.
void append_part(Bytes& out, const Bytes& from, uint64_t skip, uint64_t bytes) {
  const uint64_t begin = std::min<uint64_t>(skip, from.size());
  const uint64_t there = std::min<uint64_t>(bytes, from.size() - begin);
  const auto first = from.begin() + static_cast<std::ptrdiff_t>(begin);
  out.insert(out.end(), first, first + static_cast<std::ptrdiff_t>(there));
  out.resize(out.size() + (bytes - there));
}

/// Of every member the bytes [skip, skip + bytes) of its contribution, one after the other.
std::optional<Bytes> gathered(uint32_t members, const ContributionOf& of, uint64_t skip, uint64_t bytes) {
  Bytes all;
  for (uint32_t m = 0; m < members; ++m) {
    const Bytes* part = of(m);
    if (part == nullptr) return std::nullopt;
    append_part(all, *part, skip, bytes);
  }
  return all;
}

/// The reduction over all members of their bytes [skip, skip + bytes). Equal contributions, which emulated
/// ranks have, are combined at once.
std::optional<Bytes> reduced(const Coll& call, uint32_t members, const ContributionOf& of, uint64_t skip,
                             uint64_t bytes) {
  if (call.reduction == WEFT_GATHERED) return gathered(members, of, skip, bytes);
  if (!can_reduce(call.type, call.reduction)) return std::nullopt;
  std::map<const Bytes*, uint64_t> times;
  std::vector<const Bytes*> order;
  for (uint32_t m = 0; m < members; ++m) {
    const Bytes* part = of(m);
    if (part == nullptr) return std::nullopt;
    if (++times[part] == 1) order.push_back(part);
  }
  Bytes result;
  const uint64_t count = bytes / call.element_bytes;
  for (const Bytes* part : order) {
    Bytes own;
    append_part(own, *part, skip, bytes);
    replicate(call.type, call.reduction, own.data(), count, times[part]);
    if (result.empty())
      result = std::move(own);
    else
      combine(call.type, call.reduction, result.data(), own.data(), count);
  }
  if (call.reduction == WEFT_AVG) divide(call.type, result.data(), count, members);
  return result;
}

}  // namespace

std::optional<Bytes> collective_result(const Coll& call, uint32_t members, uint32_t me,
                                       const ContributionOf& of, const CallOf& call_of) {
  const uint64_t eb = call.element_bytes;
  const auto root = static_cast<uint32_t>(call.root);
  Bytes out;
  switch (call.operation) {
    case WEFT_ALL_REDUCE:
      return reduced(call, members, of, 0, call.count * eb);
    case WEFT_REDUCE:
      if (me != root) return std::nullopt;
      return reduced(call, members, of, 0, call.count * eb);
    case WEFT_REDUCE_SCATTER:
      return reduced(call, members, of, offset_of(call, me) * eb, count_of(call, me) * eb);
    case WEFT_ALL_GATHER:
    case WEFT_GATHER:
      if (call.operation == WEFT_GATHER && me != root) return std::nullopt;
      for (uint32_t m = 0; m < members; ++m) {
        const Bytes* part = of(m);
        if (part == nullptr) return std::nullopt;
        append_part(out, *part, 0, count_of(call, m) * eb);
      }
      return out;
    case WEFT_BROADCAST: {
      const Bytes* part = of(root);
      if (part == nullptr) return std::nullopt;
      append_part(out, *part, 0, call.count * eb);
      return out;
    }
    case WEFT_SCATTER: {
      const Bytes* part = of(root);
      if (part == nullptr) return std::nullopt;
      // Only the root knows unequal counts; another rank gives its own.
      const Coll* const given = call_of(root);
      if (given != nullptr && !given->counts.empty())
        append_part(out, *part, offset_of(*given, me) * eb,
                    std::min<uint64_t>(count_of(*given, me) * eb, part->size()));
      else
        append_part(out, *part, call.count * me * eb, call.count * eb);
      return out;
    }
    case WEFT_ALL_TO_ALL:
      for (uint32_t m = 0; m < members; ++m) {
        const Bytes* part = of(m);
        if (part == nullptr) return std::nullopt;
        const uint64_t count = call.receive_counts.empty() ? call.count : call.receive_counts[m];
        // The sender's counts say where in its buffer this member's part is.
        const Coll* const given = call_of(m);
        append_part(out, *part, offset_of(given != nullptr ? *given : call, me) * eb, count * eb);
      }
      return out;
    default:
      return std::nullopt;
  }
}

uint64_t contributed_bytes(const Coll& call, uint32_t members, uint32_t me) {
  const uint64_t eb = call.element_bytes;
  const uint64_t all = (call.counts.empty() ? call.count * members : total(call.counts)) * eb;
  switch (call.operation) {
    case WEFT_ALL_GATHER:
      return count_of(call, me) * eb;
    case WEFT_GATHER:
      return (static_cast<uint32_t>(call.root) == me ? count_of(call, me) : call.count) * eb;
    case WEFT_REDUCE_SCATTER:
    case WEFT_ALL_TO_ALL:
      return all;
    case WEFT_SCATTER:
      return static_cast<uint32_t>(call.root) == me ? all : 0;
    case WEFT_BROADCAST:
      return static_cast<uint32_t>(call.root) == me ? call.count * eb : 0;
    case WEFT_BARRIER:
      return 0;
    default:
      return call.count * eb;
  }
}

uint64_t received_bytes(const Coll& call, uint32_t members, uint32_t me) {
  const uint64_t eb = call.element_bytes;
  // All contributions, for the program to combine.
  const uint64_t times = call.reduction == WEFT_GATHERED ? members : 1;
  const bool is_root = static_cast<uint32_t>(call.root) == me;
  switch (call.operation) {
    case WEFT_ALL_REDUCE:
      return times * call.count * eb;
    case WEFT_REDUCE:
      return is_root ? times * call.count * eb : 0;
    case WEFT_REDUCE_SCATTER:
      return times * count_of(call, me) * eb;
    case WEFT_GATHER:
      if (!is_root) return 0;
      [[fallthrough]];
    case WEFT_ALL_GATHER:
      return (call.counts.empty() ? call.count * members : total(call.counts)) * eb;
    case WEFT_ALL_TO_ALL:
      return (call.receive_counts.empty() ? call.count * members : total(call.receive_counts)) * eb;
    case WEFT_SCATTER:
      return is_root ? count_of(call, me) * eb : call.count * eb;
    case WEFT_BARRIER:
      return 0;
    default:
      return call.count * eb;
  }
}

uint64_t plan_bytes(const Coll& call, uint32_t members) {
  const uint64_t eb = call.element_bytes;
  switch (call.operation) {
    case WEFT_ALL_GATHER:
    case WEFT_GATHER:
      return call.counts.empty() ? call.count * eb : (total(call.counts) + members - 1) / members * eb;
    case WEFT_REDUCE_SCATTER:
    case WEFT_ALL_TO_ALL:
    case WEFT_SCATTER:
      return (call.counts.empty() ? call.count * members : total(call.counts)) * eb;
    case WEFT_BARRIER:
      return 0;
    default:
      return call.count * eb;
  }
}

}  // namespace weft::emulation
