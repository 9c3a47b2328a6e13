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

  /// The moments of a run, in picoseconds.
  struct Span {
    Time first = 0;
    Time last = 0;
  };
  static Span span_of(const Steps& steps);

  /// The count changes by `by` at each of the steps, of which there is at least one.
  void add(const Steps& steps, const Span& span, int by);

  /// The sum of the steps up to `now`, which are forgotten. `now` does not go backwards.
  int64_t take(Time now);

  /// The first step after the last take(); kNever: none.
  Time next() const;

 private:
  /// What is left of some steps.
  struct Run {
    Time next;       ///< of the first of them (ps)
    uint64_t first;  ///< as in Steps, and so on
    Time last;       ///< of the last of them (ps)
    uint64_t stride;
    int64_t by;
    uint64_t per_picosecond;
    uint32_t count;
  };
  /// In order of their first steps. Memory is used again as soon as the line is empty.
  struct Line {
    std::vector<Run> runs;
    size_t head = 0;
    bool empty() const { return head == runs.size(); }
    void insert(const Run& run);
    void pop();
  };

  std::vector<Run> begun_;
  Line waiting_[2];  ///< upwards, downwards
};

}  // namespace weft::vcd

#endif
