// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/tlm/address_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "configs/types.h"

namespace weft::cosim {

std::string MappedMemory::text() const {
  return fmt::format("{} {}", kind == Kind::rank ? "the memory of rank" : "memory group", number);
}

std::string AddressMap::Range::text() const {
  std::string where = memories.front().text();
  if (memories.size() > 1) where += fmt::format(" and {} others", memories.size() - 1);
  return fmt::format("0x{:x} .. 0x{:x} ({})", base, last, where);
}

void AddressMap::add(uint64_t base, uint64_t size, const MappedMemory& memory, uint64_t offset) {
  if (size == 0)
    throw UserError(ExitCode::usage,
                    fmt::format("address map: the range at 0x{:x} ({}) has no bytes; give it a "
                                "size",
                                base, memory.text()));
  insert({base, base + (size - 1), {memory}, size, offset});
}

void AddressMap::interleave(uint64_t base, uint64_t size, const std::vector<MappedMemory>& memories,
                            uint64_t granularity, uint64_t offset) {
  if (memories.empty() || granularity == 0 || size == 0 || size % granularity != 0 ||
      size / granularity % memories.size() != 0)
    throw UserError(
        ExitCode::usage,
        fmt::format("address map: the range at 0x{:x} has {} bytes in {} memories in turns of {}; "
                    "give it a multiple of their product",
                    base, size, memories.size(), granularity));
  insert({base, base + (size - 1), memories, granularity, offset});
}

void AddressMap::insert(Range range) {
  if (range.last < range.base)
    throw UserError(
        ExitCode::usage,
        fmt::format("address map: the range at 0x{:x} ({}) passes the end of the addresses; make it "
                    "smaller",
                    range.base, range.memories.front().text()));
  const auto next = std::find_if(ranges_.begin(), ranges_.end(),
                                 [&](const Range& other) { return other.last >= range.base; });
  if (next != ranges_.end() && next->base <= range.last)
    throw UserError(ExitCode::usage,
                    fmt::format("address map: {} overlaps {}; move one of them", range.text(), next->text()));
  ranges_.insert(next, std::move(range));
}

void AddressMap::check(const Config& config, const std::function<uint64_t(uint32_t rank)>& capacity) const {
  for (const Range& range : ranges_) {
    const uint64_t size = range.last - range.base + 1;
    for (const MappedMemory& memory : range.memories) {
      const bool group = memory.kind == MappedMemory::Kind::group;
      const uint64_t there = !group ? config.npus() : config.memory_pool ? config.memory_pool->groups : 0;
      if (memory.number >= there)
        throw UserError(ExitCode::usage,
                        fmt::format("address map: {}: there is no {}; the machine has {} {}", range.text(),
                                    memory.text(), there, group ? "memory groups" : "ranks"));
      const uint64_t room = group ? config.memory_pool->capacity : capacity(memory.number);
      const uint64_t in_each = size / range.memories.size();
      if (room != 0 && (range.offset > room || in_each > room - range.offset))
        throw UserError(
            ExitCode::usage,
            fmt::format("address map: {}: {} has {} bytes, and the range needs {} from 0x{:x} on; "
                        "make it smaller",
                        range.text(), memory.text(), room, in_each, range.offset));
    }
  }
}

AddressMap::Place AddressMap::find(uint64_t address) const {
  const auto range =
      std::find_if(ranges_.begin(), ranges_.end(), [&](const Range& r) { return r.last >= address; });
  if (range == ranges_.end() || range->base > address) return {};
  const uint64_t at = address - range->base;
  const uint64_t turn = at / range->granularity;
  const uint64_t in_turn = at % range->granularity;
  const uint64_t count = range->memories.size();
  return {range->memories[turn % count], range->offset + turn / count * range->granularity + in_turn,
          std::min(range->granularity - in_turn, range->last - address + 1)};
}

std::vector<MappedMemory> AddressMap::memories() const {
  std::map<std::pair<MappedMemory::Kind, uint32_t>, MappedMemory> all;
  for (const Range& range : ranges_)
    for (const MappedMemory& memory : range.memories) all[{memory.kind, memory.number}] = memory;
  std::vector<MappedMemory> found;
  for (const auto& [key, memory] : all) found.push_back(memory);
  return found;
}

}  // namespace weft::cosim
