// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A count that changes by runs of steps, which become known ahead of their time and in any order.

#ifndef WEFT_VCD_STEP_COUNT_H
#define WEFT_VCD_STEP_COUNT_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vcd/value.h"

namespace weft::vcd {

class StepCount {
 public:
  static constexpr Time kNever = ~Time{0};

  /// The count changes by `by` at each of the steps, of which there is at least one.
  void add(const Steps& steps, int by) { lines_[by < 0 ? 1 : 0].insert(steps, by); }

  /// The sum of the steps up to `now`, which are forgotten. `now` does not go backwards.
  int64_t take(Time now) {
    taken_ = now;
    return lines_[0].take(now) + lines_[1].take(now);
  }

  /// The first step after the last take(); kNever: none.
  Time next() const;

 private:
  /// What is left of some steps. Thousands wait at a time, so it is small.
  struct Run {
    Run(const Steps& steps, int each)
        : begin(steps.begin),
          first(steps.first),
          stride(steps.stride),
          count(steps.count),
          per_picosecond(steps.per_picosecond),
          by(each) {}

    Time begin;      ///< of the first of them, of those that are taken already, too (ps)
    uint64_t first;  ///< as in Steps, and so on
    uint64_t stride;
    uint32_t count;  ///< 0: none; `stride` is 0, too
    uint32_t per_picosecond;
    int32_t by;

    /// The sum of its steps up to `moment`, which are forgotten.
    int64_t take(uint64_t moment) {
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
  };
  /// In order of `begin`. Memory is used again as soon as the line is empty.
  struct Line {
    std::vector<Run> runs;
    size_t head = 0;
    // Of the last run, which was stored long ago and far away:
    Time last_begin = 0;
    uint64_t last_goes_on = 0;  ///< where its next step would be
    /// By addresses, as a size takes a division.
    bool empty() const { return runs.data() + head == runs.data() + runs.size(); }
    void insert(const Steps& steps, int by) {
      const bool none = empty();
      if (steps.first == last_goes_on && !none && extend(steps, by)) return;
      if (!none && last_begin > steps.begin) return insert_before(steps, by);
      runs.emplace_back(steps, by);
      last_begin = steps.begin;
      last_goes_on = steps.first + steps.count * steps.stride;
    }
    void insert_before(const Steps& steps, int by);
    /// The last run goes on with these steps, as those of packets do that follow each other without a gap.
    bool extend(const Steps& steps, int by) {
      Run& last = runs.back();
      if (last.count == 0 || last.stride != steps.stride || last.by != by ||
          last.per_picosecond != steps.per_picosecond || last.count > ~uint32_t{0} - steps.count)
        return false;
      last.count += steps.count;
      last_goes_on += steps.count * steps.stride;
      return true;
    }
    // Runs of one line seldom overlap: most often only the first one has begun.
    int64_t take(Time now) {
      Run* const run = runs.data() + head;
      const Run* const end = runs.data() + runs.size();
      if (run == end || run->begin > now) return 0;
      if (run + 1 != end && run[1].begin <= now) return take_several(now);
      // A step is at the later of two picoseconds, so it is due if its moment is not after now.
      const int64_t sum = run->take(now * run->per_picosecond);
      if (run->count == 0) {
        ++head;
        if (run + 1 == end || head >= 64) shorten();
      }
      return sum;
    }
    int64_t take_several(Time now);
    Time next(Time taken) const;
    void shorten();
  };

  Line lines_[2];  ///< upwards, downwards
  Time taken_ = 0;
};

}  // namespace weft::vcd

#endif
