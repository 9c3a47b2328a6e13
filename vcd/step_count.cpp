// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "vcd/step_count.h"

#include <algorithm>

namespace weft::vcd {
namespace {

constexpr uint32_t kLongest = ~uint32_t{0};

}  // namespace

/// The last run goes on with these steps, as those of packets do that follow each other without a gap.
inline bool StepCount::Line::extend(const Steps& steps, int by) {
  Run& last = runs.back();
  if (last.count == 0 || last.stride != steps.stride || last.by != by ||
      last.per_picosecond != steps.per_picosecond || last.count > kLongest - steps.count)
    return false;
  last.count += steps.count;
  last_goes_on += steps.count * steps.stride;
  return true;
}

void StepCount::Line::insert(const Steps& steps, int by) {
  if (steps.first == last_goes_on && !empty() && extend(steps, by)) return;
  const Run run{steps.begin, steps.first, steps.stride, steps.count, steps.per_picosecond, by};
  if (empty() || last_begin <= run.begin) {
    runs.push_back(run);
    last_begin = run.begin;
    last_goes_on = run.first + run.count * run.stride;
    return;
  }
  auto place = runs.size() - 1;
  while (place != head && runs[place - 1].begin > run.begin) --place;
  runs.insert(runs.begin() + static_cast<std::ptrdiff_t>(place), run);
}

/// The sum of its steps up to `moment`, which are forgotten.
inline int64_t StepCount::Run::take(uint64_t moment) {
  if (first + (count - 1) * stride <= moment) {
    const int64_t sum = int64_t{by} * count;
    count = 0;
    stride = 0;
    return sum;
  }
  if (first > moment) return 0;
  const uint64_t span = moment - first;
  const uint64_t n = span < stride ? 1 : span / stride + 1;
  first += n * stride;
  count -= static_cast<uint32_t>(n);
  return by * static_cast<int64_t>(n);
}

int64_t StepCount::Line::take(Time now) {
  int64_t sum = 0;
  size_t done = 0;  // behind one that is not
  Run* const end = runs.data() + runs.size();
  Run* run = runs.data() + head;
  // Those of one line seldom overlap: most often the first one that has begun is the only one.
  for (; run != end && run->begin <= now; ++run) {
    // A step is at the later of two picoseconds, so it is due if its moment is not after now.
    sum += run->take(now * run->per_picosecond);
    if (run->count != 0) continue;
    if (run == runs.data() + head)
      ++head;
    else
      ++done;
  }
  // Runs behind one that lasts long are not to be looked at again and again.
  if (done >= 8 && 2 * done >= static_cast<size_t>(run - runs.data()) - head) {
    const auto begun = runs.begin() + (run - runs.data());
    const auto first = runs.begin() + static_cast<std::ptrdiff_t>(head);
    runs.erase(std::remove_if(first, begun, [](const Run& r) { return r.count == 0; }), begun);
    return sum;
  }
  if (head >= 64 || run == end) shorten();
  return sum;
}

void StepCount::Line::shorten() {
  while (!empty() && runs[head].count == 0) ++head;
  if (empty()) {
    runs.clear();
    head = 0;
  } else if (head >= 64 && 2 * head >= runs.size()) {
    runs.erase(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(head));
    head = 0;
  }
}

Time StepCount::Line::next(Time taken) const {
  Time next = kNever;
  for (size_t i = head; i < runs.size(); ++i) {
    const Run& run = runs[i];
    if (run.begin > taken) return std::min(next, run.begin);
    if (run.count != 0) next = std::min(next, Steps::in_picoseconds(run.first, run.per_picosecond));
  }
  return next;
}

int64_t StepCount::take(Time now) {
  taken_ = now;
  return lines_[0].take(now) + lines_[1].take(now);
}

Time StepCount::next() const {
  return std::min(lines_[0].next(taken_), lines_[1].next(taken_));
}

}  // namespace weft::vcd
