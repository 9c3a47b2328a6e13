// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/trace_feeder.h"

#include <stdexcept>

#include <fmt/format.h>

namespace weft::trace {
namespace {

uint64_t size_of(const Node& node) {
  return sizeof(Node) + node.name.capacity() + node.pg_name.capacity() + node.involved_dim.capacity() / 8;
}

bool limited(NodeType type) {
  return !DependencyWalk::communicates(type);
}

}  // namespace

TraceFeeder::TraceFeeder(const TraceIndex& index, const FeederBudget& budget)
    : index_(index), budget_(budget), cache_(index.open_cache(budget.cache_bytes)), walk_(index, cache_) {}

const Node* TraceFeeder::take_ready() {
  const NodeIndex i = walk_.take(limited_bytes_ >= budget_.taken_bytes);
  return i == kNoNode ? nullptr : &take(i);
}

const Node& TraceFeeder::take(NodeIndex i) {
  uint32_t s;
  if (free_.empty()) {
    s = static_cast<uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    s = free_.back();
    free_.pop_back();
  }
  Slot& slot = slots_[s];
  index_.decode(cache_, i, slot.node);
  slot.bytes = size_of(slot.node) + sizeof(Slot) - sizeof(Node);
  taken_bytes_ += slot.bytes;
  if (limited(slot.node.type)) limited_bytes_ += slot.bytes;
  taken_.insert(i, s);
  return slot.node;
}

void TraceFeeder::adopt(const TraceFeeder& like) {
  if (!taken_.empty() || walk_.finished_count() != 0)
    throw std::logic_error(fmt::format("{}: adopt(): nodes have been taken", index_.path()));
  walk_.adopt(like.walk_);
  like.taken_.for_each([this](NodeIndex i, uint32_t) { take(i); });
}

void TraceFeeder::finished(NodeIndex index) {
  const uint32_t* const place = taken_.find(index);
  if (place == nullptr) {
    throw std::logic_error(fmt::format("{}: finished(): position {} is not taken", index_.path(), index));
  }
  const uint32_t s = *place;
  taken_.erase(index);
  Slot& slot = slots_[s];
  taken_bytes_ -= slot.bytes;
  if (limited(slot.node.type)) limited_bytes_ -= slot.bytes;
  // Unusually long names must not stay behind in slots that are waiting for their next node.
  constexpr size_t kUsualName = 256;
  if (slot.node.name.capacity() > kUsualName) std::string().swap(slot.node.name);
  if (slot.node.pg_name.capacity() > kUsualName) std::string().swap(slot.node.pg_name);
  free_.push_back(s);
  walk_.finish(index);
  if (walk_.finished_count() == index_.size()) walk_.release();
}

std::vector<Feeder::Blocked> TraceFeeder::blocked(size_t limit) {
  std::vector<Blocked> result;
  for (NodeIndex i = 0; i < index_.size() && result.size() < limit; ++i) {
    if (walk_.finished(i) || taken_.find(i) != nullptr || walk_.ready(i) || index_.has_no_dependency(i))
      continue;
    const NodeIndex p = walk_.unmet_dependency(i);
    if (p == kNoNode) continue;
    result.push_back({index_.id(i), index_.node_name(cache_, i), index_.id(p), index_.node_name(cache_, p)});
  }
  return result;
}

uint64_t TraceFeeder::window_bytes() const {
  return cache_.memory_bytes() + taken_bytes_ + free_.size() * sizeof(Slot) +
         free_.capacity() * sizeof(uint32_t) + taken_.memory_bytes();
}

}  // namespace weft::trace
