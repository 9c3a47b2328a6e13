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
  int64_t take(Time now);

  /// The first step after the last take(); kNever: none.
  Time next() const;

 private:
  /// What is left of some steps. Thousands wait at a time, so it is small.
  struct Run {
    Time begin;      ///< of the first of them, of those that are taken already, too (ps)
    uint64_t first;  ///< as in Steps, and so on
    uint64_t stride;
    uint32_t count;  ///< 0: none; `stride` is 0, too
    uint32_t per_picosecond;
    int32_t by;

    int64_t take(uint64_t moment);
  };
  /// In order of `begin`. Memory is used again as soon as the line is empty.
  struct Line {
    std::vector<Run> runs;
    size_t head = 0;
    // Of the last run, which was stored long ago and far away:
    Time last_begin = 0;
    uint64_t last_goes_on = 0;  ///< where its next step would be
    bool empty() const { return head == runs.size(); }
    void insert(const Steps& steps, int by);
    bool extend(const Steps& steps, int by);
    int64_t take(Time now);
    Time next(Time taken) const;
    void shorten();
  };

  Line lines_[2];  ///< upwards, downwards
  Time taken_ = 0;
};

}  // namespace weft::vcd

#endif
