// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/node_cache.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace weft::trace {

NodeCache::NodeCache(std::shared_ptr<FilePool> pool, FilePool::FileId file, uint64_t file_bytes,
                     uint64_t budget_bytes)
    : pool_(std::move(pool)), file_(file), file_bytes_(file_bytes) {
  // Blocks of 64 KiB; smaller ones when only a few would fit, larger ones when their table alone would grow.
  while (block_shift_ > 12 && (budget_bytes >> block_shift_) < 8) --block_shift_;
  while ((file_bytes >> block_shift_) > (uint64_t{1} << 22)) ++block_shift_;
  const uint64_t blocks = (file_bytes + block_bytes() - 1) >> block_shift_;
  max_slots_ = static_cast<uint32_t>(
      std::clamp<uint64_t>(budget_bytes >> block_shift_, 1, std::max<uint64_t>(blocks, 1)));
  holds_all_ = max_slots_ >= blocks;
  slot_of_block_.assign(blocks, kAbsent);
  constexpr size_t kRecent = 64;
  if (!holds_all_) recent_.assign(kRecent, kAbsent);
}

bool NodeCache::touched_recently(uint32_t block) {
  if (std::find(recent_.begin(), recent_.end(), block) != recent_.end()) return true;
  recent_[next_recent_] = block;
  next_recent_ = (next_recent_ + 1) % recent_.size();
  return false;
}

const uint8_t* NodeCache::load(uint32_t block) {
  uint32_t slot = slot_of_block_[block];
  if (slot == kAbsent) {
    if (slots_.size() < max_slots_) {
      slot = static_cast<uint32_t>(slots_.size());
      slots_.emplace_back();
    } else {
      while (slots_[hand_].touched) {
        slots_[hand_].touched = false;
        hand_ = (hand_ + 1) % max_slots_;
      }
      slot = hand_;
      hand_ = (hand_ + 1) % max_slots_;
      slot_of_block_[slots_[slot].block] = kAbsent;
    }
    Slot& s = slots_[slot];
    const uint64_t at = static_cast<uint64_t>(block) << block_shift_;
    const auto size = static_cast<size_t>(std::min(block_bytes(), file_bytes_ - at));
    if (s.data == nullptr) s.data.reset(new uint8_t[holds_all_ ? size : block_bytes()]);
    pool_->read(file_, at, s.data.get(), size);
    s.block = block;
    slot_of_block_[block] = slot;
  }
  slots_[slot].touched = true;
  return slots_[slot].data.get();
}

const uint8_t* NodeCache::fetch(uint64_t offset, size_t size) {
  const auto first = static_cast<uint32_t>(offset >> block_shift_);
  const auto last = static_cast<uint32_t>((offset + (size == 0 ? 0 : size - 1)) >> block_shift_);
  const uint64_t start = static_cast<uint64_t>(first) << block_shift_;
  if (first == last) {
    if (first == last_block_) return last_data_ + (offset - start);
    if (slot_of_block_[first] != kAbsent || holds_all_ || touched_recently(first)) {
      last_data_ = load(first);
      last_block_ = first;
      return last_data_ + (offset - start);
    }
  }
  if (scratch_.size() < size) scratch_.resize(size);
  if (first == last || last - first > 1) {
    // Not in a block worth keeping, or larger than one: exactly these bytes.
    pool_->read(file_, offset, scratch_.data(), size);
    return scratch_.data();
  }
  // Across one border. The two halves are copied one after the other: loading the second may replace the
  // first.
  const uint64_t border = start + block_bytes();
  const auto head = static_cast<size_t>(border - offset);
  last_block_ = kAbsent;
  const uint64_t pieces[2][2] = {{offset, head}, {border, size - head}};
  for (const auto& piece : pieces) {
    const auto block = static_cast<uint32_t>(piece[0] >> block_shift_);
    uint8_t* to = scratch_.data() + (piece[0] - offset);
    const auto n = static_cast<size_t>(piece[1]);
    if (slot_of_block_[block] != kAbsent || holds_all_ || touched_recently(block)) {
      std::memcpy(to, load(block) + (piece[0] & (block_bytes() - 1)), n);
    } else {
      pool_->read(file_, piece[0], to, n);
    }
  }
  return scratch_.data();
}

uint64_t NodeCache::memory_bytes() const {
  return slots_.size() * (block_bytes() + sizeof(Slot)) + slot_of_block_.capacity() * sizeof(uint32_t) +
         scratch_.capacity();
}

}  // namespace weft::trace
