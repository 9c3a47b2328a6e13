// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/packet/buffer_meter.h"

#include <algorithm>

namespace weft::packet {

uint32_t BufferMeter::Run::up_to(Ticks t) const {
  if (first > t) return 0;
  if (stride == 0 || t >= last()) return count;
  return static_cast<uint32_t>((t - first) / stride + 1);
}

uint32_t BufferMeter::Run::take(Ticks t) {
  const uint32_t n = up_to(t);
  first += static_cast<Ticks>(n) * stride;
  count -= n;
  return n;
}

void BufferMeter::Runs::add(Ticks first, uint32_t count, Ticks stride, Ticks settled) {
  if (count == 0) return;
  Run run{first, count, stride, added_};
  const Ticks last = run.last();
  total_ += count;
  added_ += count;
  if (total_ == count) end_ = settled;  // all before it are gone
  if (first < end_) overlap_end_ = std::max({overlap_end_, end_, last});
  end_ = std::max(end_, last);
  Run* newest = !waiting_.empty() ? &waiting_.back() : !begun_.empty() ? &begun_.back() : nullptr;
  if (newest != nullptr && newest->stride == stride &&
      newest->first + static_cast<Ticks>(newest->count) * stride == first) {
    newest->count += count;
    return;
  }
  waiting_.push_back(run);
  for (uint32_t i = waiting_.size() - 1; i > 0 && waiting_[i - 1].first > first; --i) {
    std::swap(waiting_[i - 1], waiting_[i]);
    waiting_[i - 1].before = waiting_[i].before;
    waiting_[i].before += count;
  }
}

int64_t BufferMeter::Runs::take(Ticks t) {
  int64_t taken = 0;
  if (!begun_.empty()) {
    for (Run& run : begun_) taken += run.take(t);
    begun_.erase(std::remove_if(begun_.begin(), begun_.end(), [](const Run& run) { return run.count == 0; }),
                 begun_.end());
  }
  while (!waiting_.empty() && waiting_.front().first <= t) {
    Run& run = waiting_.front();
    taken += run.take(t);
    if (run.count != 0) begun_.push_back(run);
    waiting_.pop_front();
  }
  total_ -= taken;
  return taken;
}

// The number of waiting runs that begin up to and including `t`.
uint32_t BufferMeter::Runs::first_after(Ticks t) const {
  uint32_t low = 0;
  uint32_t high = waiting_.size();
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (waiting_[middle].first <= t) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

int64_t BufferMeter::Runs::up_to(Ticks t, bool in_order) const {
  if (total_ == 0) return 0;
  if (t >= end_) return total_;
  int64_t n = 0;
  for (const Run& run : begun_) n += run.up_to(t);
  if (!in_order) {
    for (uint32_t i = 0; i < waiting_.size() && waiting_[i].first <= t; ++i) n += waiting_[i].up_to(t);
    return n;
  }
  const uint32_t runs = first_after(t);
  if (runs == 0) return n;
  const Run& last = waiting_[runs - 1];
  return n + static_cast<int64_t>(last.before - waiting_.front().before) + last.up_to(t);
}

Ticks BufferMeter::Runs::time_of(int64_t n) const {
  auto left = static_cast<uint64_t>(n - 1);
  for (const Run& run : begun_) {
    if (left < run.count) return run.first + static_cast<Ticks>(left) * run.stride;
    left -= run.count;
  }
  left += waiting_.front().before;
  uint32_t low = 0;
  uint32_t high = waiting_.size() - 1;
  while (low < high) {  // the last one that begins at or before it
    const uint32_t middle = low + (high - low + 1) / 2;
    if (waiting_[middle].before <= left) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  const Run& run = waiting_[low];
  return run.first + static_cast<Ticks>(left - run.before) * run.stride;
}

void BufferMeter::Runs::write(StateRecord& state) const {
  state.number(begun_.size() + waiting_.size());
  const auto put = [&](const Run& run) {
    state.time(run.first);
    state.number(run.stride);
    state.number(run.count);
  };
  for (const Run& run : begun_) put(run);
  for (uint32_t i = 0; i < waiting_.size() && !state.differs(); ++i) put(waiting_[i]);
}

void BufferMeter::Runs::shift(Ticks by) {
  for (Run& run : begun_) run.first += by;
  for (uint32_t i = 0; i < waiting_.size(); ++i) waiting_[i].first += by;
  end_ += by;
  overlap_end_ += by;
}

void BufferMeter::settle(Ticks t) {
  if (t <= settled_) return;
  settled_ = t;
  if (arrivals_.total() != 0) level_ += arrivals_.take(t);
  if (departures_.total() != 0) level_ -= departures_.take(t);
}

int64_t BufferMeter::occupancy(Ticks t) const {
  return level_ + arrivals_.up_to(t, false) - departures_.up_to(t, false);
}

// From one change to the next, up to and including `end`; stretches in which the level cannot be reached at
// one go.
template <bool kAtLeast>
Ticks BufferMeter::scan(int64_t wanted, Ticks end) const {
  coming_ = arrivals_.begun_;
  going_ = departures_.begun_;
  uint32_t next_arrival = 0;
  uint32_t next_departure = 0;
  int64_t level = level_;
  const auto begin = [](std::vector<Run>& runs, const Ring<Run, 2>& waiting, uint32_t& next, Ticks t) {
    while (next < waiting.size() && waiting[next].first <= t) runs.push_back(waiting[next++]);
  };
  const auto up_to = [](const std::vector<Run>& runs, Ticks t) {
    int64_t n = 0;
    for (const Run& run : runs) n += run.up_to(t);
    return n;
  };
  const auto take = [](std::vector<Run>& runs, Ticks t) {
    int64_t taken = 0;
    bool done = false;
    for (Run& run : runs) {
      taken += run.take(t);
      done = done || run.count == 0;
    }
    if (done)
      runs.erase(std::remove_if(runs.begin(), runs.end(), [](const Run& run) { return run.count == 0; }),
                 runs.end());
    return taken;
  };
  const auto first_of = [](const Ring<Run, 2>& waiting, uint32_t next) {
    return next < waiting.size() ? waiting[next].first : kNever;
  };
  for (;;) {
    Ticks t =
        std::min(first_of(arrivals_.waiting_, next_arrival), first_of(departures_.waiting_, next_departure));
    for (const Run& run : coming_) t = std::min(t, run.first);
    for (const Run& run : going_) t = std::min(t, run.first);
    if (t == kNever || t > end) return kNever;
    begin(coming_, arrivals_.waiting_, next_arrival, t);
    begin(going_, departures_.waiting_, next_departure, t);
    // Until the next run begins these are all.
    const Ticks more =
        std::min(first_of(arrivals_.waiting_, next_arrival), first_of(departures_.waiting_, next_departure));
    const Ticks until = std::min(more == kNever ? kNever : more - 1, end);
    const int64_t extreme = kAtLeast ? level + up_to(coming_, until) : level - up_to(going_, until);
    if (kAtLeast ? extreme < wanted : extreme > wanted) {
      level += take(coming_, until) - take(going_, until);
      if (until == end) return kNever;
      continue;
    }
    level += take(coming_, t) - take(going_, t);
    if (kAtLeast ? level >= wanted : level <= wanted) return t;
  }
}

Ticks BufferMeter::when_at_least(int64_t level) const {
  if (level_ >= level) return settled_;
  if (level_ + arrivals_.total() < level) return kNever;
  const bool in_order = arrivals_.sequential(settled_);
  if (!in_order) return scan<true>(level, kNever);
  if (departures_.total() != 0) {
    // The level may fall, too, up to here.
    const Ticks end = departures_.end();
    if (level_ + arrivals_.up_to(end, true) >= level) {
      const Ticks t = scan<true>(level, end);
      if (t != kNever) return t;
    }
  }
  const int64_t needed = level - (level_ - departures_.total());
  return needed > arrivals_.total() ? kNever : arrivals_.time_of(needed);
}

Ticks BufferMeter::when_at_most(int64_t level) const {
  if (level_ <= level) return settled_;
  if (level_ - departures_.total() > level) return kNever;
  return scan<false>(level, departures_.end());
}

void BufferMeter::write(StateRecord& state) {
  if (state.now() > 0) settle(state.now() - 1);
  state.number(static_cast<uint64_t>(level_));
  arrivals_.write(state);
  departures_.write(state);
}

void BufferMeter::shift(Ticks by) {
  settled_ += by;
  arrivals_.shift(by);
  departures_.shift(by);
}

}  // namespace weft::packet
