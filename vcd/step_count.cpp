// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "vcd/step_count.h"

#include <algorithm>

namespace weft::vcd {
namespace {

/// What is between two picoseconds is at the later one.
Time in_picoseconds(uint64_t moment, uint64_t per_picosecond) {
  return (moment + per_picosecond - 1) / per_picosecond;
}

}  // namespace

StepCount::Span StepCount::span_of(const Steps& steps) {
  return {in_picoseconds(steps.first, steps.per_picosecond),
          in_picoseconds(steps.first + (steps.count - 1) * steps.stride, steps.per_picosecond)};
}

void StepCount::Line::insert(const Run& run) {
  auto place = runs.size();
  while (place != head && runs[place - 1].next > run.next) --place;
  if (place == runs.size())
    runs.push_back(run);
  else
    runs.insert(runs.begin() + static_cast<std::ptrdiff_t>(place), run);
}

void StepCount::Line::pop() {
  if (++head == runs.size()) {
    runs.clear();
    head = 0;
  } else if (head >= 64 && 2 * head >= runs.size()) {
    runs.erase(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(head));
    head = 0;
  }
}

void StepCount::add(const Steps& steps, const Span& span, int by) {
  waiting_[by < 0 ? 1 : 0].insert(
      {span.first, steps.first, span.last, steps.stride, by, steps.per_picosecond, steps.count});
}

int64_t StepCount::take(Time now) {
  int64_t sum = 0;
  for (Line& waiting : waiting_) {
    for (; !waiting.empty() && waiting.runs[waiting.head].next <= now; waiting.pop()) {
      const Run& run = waiting.runs[waiting.head];
      if (run.last <= now)
        sum += run.by * static_cast<int64_t>(run.count);
      else
        begun_.push_back(run);
    }
  }
  for (size_t i = 0; i < begun_.size();) {
    Run& run = begun_[i];
    if (run.last <= now) {
      sum += run.by * static_cast<int64_t>(run.count);
      run = begun_.back();
      begun_.pop_back();
      continue;
    }
    // A step is at the later of two picoseconds, so it is due if its moment is not after now.
    const uint64_t moment = now * run.per_picosecond;
    if (run.first <= moment) {
      const uint64_t span = moment - run.first;
      const uint64_t n = span < run.stride ? 1 : span / run.stride + 1;
      sum += run.by * static_cast<int64_t>(n);
      run.first += n * run.stride;
      run.count -= static_cast<uint32_t>(n);
    }
    ++i;
  }
  return sum;
}

Time StepCount::next() const {
  Time next = kNever;
  for (const Line& waiting : waiting_)
    if (!waiting.empty()) next = std::min(next, waiting.runs[waiting.head].next);
  for (const Run& run : begun_) next = std::min(next, in_picoseconds(run.first, run.per_picosecond));
  return next;
}

}  // namespace weft::vcd
