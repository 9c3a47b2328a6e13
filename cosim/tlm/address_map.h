// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Which addresses of SystemC modules of others are in which memory of a machine.

#ifndef WEFT_COSIM_TLM_ADDRESS_MAP_H
#define WEFT_COSIM_TLM_ADDRESS_MAP_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "configs/config.h"

namespace weft::cosim {

/// A memory of the machine: what stands behind the NMU of a rank (its HBM, or what a LinkToMm leads to), or a
/// group of the memory pool.
struct MappedMemory {
  enum class Kind : uint8_t { rank, group };
  Kind kind = Kind::rank;
  uint32_t number = 0;

  static MappedMemory of_rank(uint32_t rank) { return {Kind::rank, rank}; }
  static MappedMemory of_group(uint32_t group) { return {Kind::group, group}; }
  std::string text() const;  ///< "the memory of rank 3", "memory group 1"
};

class AddressMap {
 public:
  /// Addresses [base, base + size) are in `memory` from its address `offset` on. Throws UserError(usage) for
  /// a size of 0, a range that passes the end of the addresses, and one that overlaps another.
  void add(uint64_t base, uint64_t size, const MappedMemory& memory, uint64_t offset = 0);
  /// .. are in several memories in turns, `granularity` bytes in each. `size` is a multiple of the number of
  /// memories times `granularity`. Throws the same.
  void interleave(uint64_t base, uint64_t size, const std::vector<MappedMemory>& memories,
                  uint64_t granularity, uint64_t offset = 0);

  /// Throws UserError(usage) for memories that a machine of this configuration does not have, and ranges that
  /// they have no room for. `capacity`: of the memory at a rank, bytes; 0: unlimited.
  void check(const Config& config, const std::function<uint64_t(uint32_t rank)>& capacity) const;

  struct Place {
    MappedMemory memory;
    uint64_t address = 0;  ///< in the memory
    uint64_t bytes = 0;    ///< up to where the addresses go on in it; 0: nothing is there
  };
  Place find(uint64_t address) const;

  /// Every memory that an address is in, each once.
  std::vector<MappedMemory> memories() const;

 private:
  struct Range {
    uint64_t base = 0;
    uint64_t last = 0;  ///< address
    std::vector<MappedMemory> memories;
    uint64_t granularity = 0;
    uint64_t offset = 0;
    std::string text() const;
  };
  void insert(Range range);

  std::vector<Range> ranges_;  ///< ascending
};

}  // namespace weft::cosim

#endif
