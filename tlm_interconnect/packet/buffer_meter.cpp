// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/packet/buffer_meter.h"

#include <algorithm>

namespace weft::packet {

void BufferMeter::add(std::vector<Run>& runs, Ticks first, uint32_t count, Ticks stride) {
  if (count == 0) return;
  if (!runs.empty()) {
    Run& last = runs.back();
    if (last.stride == stride && last.first + static_cast<Ticks>(last.count) * stride == first) {
      last.count += count;
      return;
    }
  }
  runs.push_back({first, count, stride});
}

uint32_t BufferMeter::up_to(const Run& run, Ticks t) {
  if (run.first > t) return 0;
  if (run.stride == 0) return run.count;
  return static_cast<uint32_t>(std::min<Ticks>(run.count, (t - run.first) / run.stride + 1));
}

uint64_t BufferMeter::total(const std::vector<Run>& runs) {
  uint64_t n = 0;
  for (const Run& run : runs) n += run.count;
  return n;
}

// Removes what happens up to and including `t` and answers how much that was.
uint64_t BufferMeter::take(std::vector<Run>& runs, Ticks t) {
  uint64_t taken = 0;
  bool done = false;
  for (Run& run : runs) {
    const uint32_t n = up_to(run, t);
    taken += n;
    run.first += static_cast<Ticks>(n) * run.stride;
    run.count -= n;
    done = done || run.count == 0;
  }
  if (done) {
    runs.erase(std::remove_if(runs.begin(), runs.end(), [](const Run& run) { return run.count == 0; }),
               runs.end());
  }
  return taken;
}

void BufferMeter::settle(Ticks t) {
  if (t <= settled_) return;
  settled_ = t;
  level_ += static_cast<int64_t>(take(arrivals_, t)) - static_cast<int64_t>(take(departures_, t));
}

int64_t BufferMeter::occupancy(Ticks t) const {
  int64_t level = level_;
  for (const Run& run : arrivals_) level += up_to(run, t);
  for (const Run& run : departures_) level -= up_to(run, t);
  return level;
}

// From one change to the next. The runs are those of a link's latency, so there are few steps.
template <typename Reached>
Ticks BufferMeter::when(Reached reached) const {
  if (reached(level_)) return settled_;
  ahead_arrivals_ = arrivals_;
  ahead_departures_ = departures_;
  int64_t level = level_;
  for (;;) {
    Ticks t = kNever;
    for (const Run& run : ahead_arrivals_) t = std::min(t, run.first);
    for (const Run& run : ahead_departures_) t = std::min(t, run.first);
    if (t == kNever) return kNever;
    level +=
        static_cast<int64_t>(take(ahead_arrivals_, t)) - static_cast<int64_t>(take(ahead_departures_, t));
    if (reached(level)) return t;
  }
}

Ticks BufferMeter::when_at_least(int64_t level) const {
  // Most of the time it will not: no need to look at every flit.
  if (level_ + static_cast<int64_t>(total(arrivals_)) < level) return kNever;
  return when([level](int64_t now) { return now >= level; });
}

Ticks BufferMeter::when_at_most(int64_t level) const {
  if (level_ - static_cast<int64_t>(total(departures_)) > level) return kNever;
  return when([level](int64_t now) { return now <= level; });
}

int64_t BufferMeter::at_the_end() const {
  return level_ + static_cast<int64_t>(total(arrivals_)) - static_cast<int64_t>(total(departures_));
}

void BufferMeter::write(StateRecord& state) {
  if (state.now() > 0) settle(state.now() - 1);
  state.number(static_cast<uint64_t>(level_));
  for (const std::vector<Run>* runs : {&arrivals_, &departures_}) {
    state.number(runs->size());
    for (const Run& run : *runs) {
      state.time(run.first);
      state.number(run.stride);
      state.number(run.count);
    }
  }
}

void BufferMeter::shift(Ticks by) {
  settled_ += by;
  for (Run& run : arrivals_) run.first += by;
  for (Run& run : departures_) run.first += by;
}

}  // namespace weft::packet
