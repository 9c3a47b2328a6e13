// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The window on a trace file: blocks of it, kept within a budget, from which nodes are read again in any
// order.

#ifndef WEFT_WORKLOAD_TRACE_NODE_CACHE_H
#define WEFT_WORKLOAD_TRACE_NODE_CACHE_H

#include <cstdint>
#include <memory>
#include <vector>

#include "workload/trace/file_pool.h"

namespace weft::trace {

/// Clock-replaced blocks. A file smaller than the budget ends up wholly in memory. For a larger one, a block
/// is loaded at its second recent touch; the first reads only the bytes asked for, so that an order that
/// jumps all over the file costs one small read a node instead of one block.
class NodeCache {
 public:
  NodeCache(std::shared_ptr<FilePool> pool, FilePool::FileId file, uint64_t file_bytes,
            uint64_t budget_bytes);

  /// `size` bytes at `offset`, valid until the next call.
  const uint8_t* fetch(uint64_t offset, size_t size);

  /// Resident bytes: blocks, tables, scratch.
  uint64_t memory_bytes() const;
  uint64_t block_bytes() const { return uint64_t{1} << block_shift_; }

 private:
  static constexpr uint32_t kAbsent = ~uint32_t{0};
  struct Slot {
    std::unique_ptr<uint8_t[]> data;
    uint32_t block = kAbsent;
    bool touched = false;
  };

  const uint8_t* load(uint32_t block);
  bool touched_recently(uint32_t block);

  std::shared_ptr<FilePool> pool_;
  FilePool::FileId file_;
  uint64_t file_bytes_;
  unsigned block_shift_ = 16;
  uint32_t max_slots_ = 1;
  uint32_t hand_ = 0;
  bool holds_all_ = false;
  std::vector<uint32_t> slot_of_block_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> recent_;  ///< blocks touched while absent; empty: all blocks fit
  uint32_t next_recent_ = 0;
  std::vector<uint8_t> scratch_;
  uint32_t last_block_ = kAbsent;
  const uint8_t* last_data_ = nullptr;
};

}  // namespace weft::trace

#endif
