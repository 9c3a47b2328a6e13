// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/dependency_walk.h"

#include <stdexcept>

namespace weft::trace {
namespace {

constexpr size_t kFewDependencies = 8;

}  // namespace

DependencyWalk::DependencyWalk(const TraceIndex& index, NodeCache& cache)
    : index_(index),
      cache_(cache),
      program_(index.decoded()),
      communication_(index.size()),
      others_(index.size()) {
  if (program_ == nullptr) {
    first_.reset(index.size());
    next_.reset(index.size());
  }
  finished_.reset((static_cast<size_t>(index.size()) + 63) / 64);
}

uint64_t DependencyWalk::random() {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return random_;
}

// Each of many dependencies that ends asks again. An unmet one is then looked for at random first, which
// takes a logarithmic number of looks on average, whatever the order in which they end.
bool DependencyWalk::met(NodeIndex i) {
  const NodeIndex* const dependencies = program_->dependencies(i);
  const uint32_t count = program_->dependency_count(i);
  if (count > kFewDependencies) {
    for (uint32_t looks = 0; looks < count; ++looks)
      if (!finished(dependencies[random() % count])) return false;
  }
  for (uint32_t k = 0; k < count; ++k)
    if (!finished(dependencies[k])) return false;
  return true;
}

// The dependency watched decides how often a node's edges are read again. Producers mostly finish in file
// order, so the last in the file is the best guess; with many dependencies a guess that is always wrong would
// cost their square, so there the choice is random (and the same in every run): a logarithmic number of looks
// on average.
bool DependencyWalk::watch_or_ready(NodeIndex i) {
  if (index_.has_no_dependency(i)) return true;
  if (program_ != nullptr) return met(i);
  index_.dependencies(cache_, i, scratch_);
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
      if (random() % unmet == 0) watched = p;
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
  if (program_ != nullptr) {
    const NodeIndex* const dependents = program_->dependents(i);
    const uint32_t count = program_->dependent_count(i);
    // Ascending: those from the cursor on are looked at when it comes to them.
    for (uint32_t k = 0; k < count && dependents[k] < cursor_; ++k)
      if (met(dependents[k])) make_ready(dependents[k], i);
    return;
  }
  uint32_t waiter = first_[i];
  first_.set(i, 0);
  while (waiter != 0) {
    const NodeIndex w = waiter - 1;
    waiter = next_[w];
    if (!index_.has_one_dependency(w) && !watch_or_ready(w)) continue;
    make_ready(w, i);
  }
}

void DependencyWalk::adopt(const DependencyWalk& like) {
  if ((program_ == nullptr) != (like.program_ == nullptr))
    throw std::logic_error("DependencyWalk::adopt of a walk that keeps other things");
  cursor_ = like.cursor_;
  finished_count_ = like.finished_count_;
  finished_.copy(like.finished_);
  communication_.copy(like.communication_);
  others_.copy(like.others_);
  released_by_ = like.released_by_;
  first_.copy(like.first_);
  next_.copy(like.next_);
  random_ = like.random_;
}

void DependencyWalk::make_ready(NodeIndex i, NodeIndex released_by) {
  ready_set(i).insert(i);
  if (!released_by_.empty()) released_by_[i] = released_by;
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
