// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/dependency_walk.h"

namespace weft::trace {

DependencyWalk::DependencyWalk(const TraceIndex& index, NodeCache& cache)
    : index_(index), cache_(cache), communication_(index.size()), others_(index.size()) {
  first_.reset(index.size());
  next_.reset(index.size());
  finished_.reset((static_cast<size_t>(index.size()) + 63) / 64);
}

// The dependency watched decides how often a node's edges are read again. Producers mostly finish in file
// order, so the last in the file is the best guess; with many dependencies a guess that is always wrong would
// cost their square, so there the choice is random (and the same in every run): a logarithmic number of looks
// on average.
bool DependencyWalk::watch_or_ready(NodeIndex i) {
  if (index_.has_no_dependency(i)) return true;
  index_.dependencies(cache_, i, scratch_);
  constexpr size_t kFewDependencies = 8;
  const bool choose_last = scratch_.size() <= kFewDependencies;
  NodeIndex watched = kNoNode;
  uint64_t unmet = 0;
  index_.for_each_dependency(i, scratch_, [&](NodeIndex p) {
    if (finished(p)) return;
    ++unmet;
    if (watched == kNoNode) {
      watched = p;
    } else if (choose_last) {
      if (p > watched) watched = p;
    } else {
      random_ ^= random_ << 13;
      random_ ^= random_ >> 7;
      random_ ^= random_ << 17;
      if (random_ % unmet == 0) watched = p;
    }
  });
  if (watched == kNoNode) return true;
  next_.set(i, first_[watched]);
  first_.set(watched, i + 1);
  return false;
}

NodeIndex DependencyWalk::take(bool communication_only) {
  const uint64_t c = communication_.smallest();
  const uint64_t o = communication_only ? ReadySet::kEmpty : others_.smallest();
  if (c != ReadySet::kEmpty || o != ReadySet::kEmpty) {
    // Everything ready lies before the cursor, so the lowest here is the lowest of all.
    const uint64_t lowest = c < o ? c : o;
    (c < o ? communication_ : others_).erase(lowest);
    return static_cast<NodeIndex>(lowest);
  }
  while (cursor_ < index_.size()) {
    const NodeIndex i = cursor_++;
    if (!watch_or_ready(i)) continue;
    if (!communication_only || communicates(index_.type(i))) return i;
    others_.insert(i);
  }
  return kNoNode;
}

void DependencyWalk::finish(NodeIndex i) {
  finished_[i / 64] |= uint64_t{1} << (i % 64);
  ++finished_count_;
  uint32_t waiter = first_[i];
  first_.set(i, 0);
  while (waiter != 0) {
    const NodeIndex w = waiter - 1;
    waiter = next_[w];
    if (!index_.has_one_dependency(w) && !watch_or_ready(w)) continue;
    ready_set(w).insert(w);
    if (!released_by_.empty()) released_by_[w] = i;
  }
}

void DependencyWalk::release() {
  first_.reset(0);
  next_.reset(0);
  communication_ = ReadySet(0);
  others_ = ReadySet(0);
}

NodeIndex DependencyWalk::unmet_dependency(NodeIndex i) {
  index_.dependencies(cache_, i, scratch_);
  NodeIndex unmet = kNoNode;
  index_.for_each_dependency(i, scratch_, [&](NodeIndex p) {
    if (unmet == kNoNode && !finished(p)) unmet = p;
  });
  return unmet;
}

uint64_t DependencyWalk::memory_bytes() const {
  return first_.bytes() + next_.bytes() + finished_.bytes() + communication_.memory_bytes() +
         others_.memory_bytes();
}

}  // namespace weft::trace
