// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "vcd/step_count.h"

#include <algorithm>

namespace weft::vcd {

void StepCount::Line::insert_before(const Steps& steps, int by) {
  auto place = runs.size() - 1;
  while (place != head && runs[place - 1].begin > steps.begin) --place;
  runs.insert(runs.begin() + static_cast<std::ptrdiff_t>(place), Run(steps, by));
}

int64_t StepCount::Line::take_several(Time now) {
  int64_t sum = 0;
  size_t done = 0;  // behind one that is not
  Run* const end = runs.data() + runs.size();
  Run* run = runs.data() + head;
  for (; run != end && run->begin <= now; ++run) {
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

Time StepCount::next() const {
  return std::min(lines_[0].next(taken_), lines_[1].next(taken_));
}

}  // namespace weft::vcd
