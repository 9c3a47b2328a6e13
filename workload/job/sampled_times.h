// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// How long the collectives of one kind take (the same group, operation and size), from some of them that were
// simulated: what sampled collectives (sc_models/sampled_collectives.h) take the times of the others from,
// and by how much these were off.

#ifndef WEFT_WORKLOAD_JOB_SAMPLED_TIMES_H
#define WEFT_WORKLOAD_JOB_SAMPLED_TIMES_H

#include <cstdint>
#include <vector>

#include "configs/types.h"

namespace weft {

/// Number, mean and variance of values (Welford, "Note on a Method for Calculating Corrected Sums of Squares
/// and Products", Technometrics 4, 1962).
class Moments {
 public:
  void add(double value) {
    ++count_;
    const double off = value - mean_;
    mean_ += off / static_cast<double>(count_);
    squares_ += off * (value - mean_);
  }
  uint64_t count() const { return count_; }
  double mean() const { return mean_; }
  /// Of the values; 0 of fewer than two.
  double variance() const { return count_ < 2 ? 0 : squares_ / static_cast<double>(count_ - 1); }

 private:
  uint64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

/// Of collectives that were not simulated, all together; times in picoseconds.
struct SampledError {
  double given = 0;      ///< sum of the times that they were given, from their last start to their last end
  double off = 0;        ///< what these should have been, less that, by the samples that came next
  double variance = 0;   ///< of `off`, as samples scatter
  double uncertain = 0;  ///< time in which other traffic met them, and of starts unlike those of all samples

  /// By how much `given` is off: what was found, three times its standard deviation and what is uncertain.
  double error() const;

  SampledError& operator+=(const SampledError& o) {
    given += o.given;
    off += o.off;
    variance += o.variance;
    uncertain += o.uncertain;
    return *this;
  }
};

class SampledTimes {
 public:
  /// Of members in the order of their starts, from the start of the last one on.
  using Times = std::vector<Picoseconds>;
  /// One collective that was simulated.
  struct Sample {
    Times waits;  ///< how long a member had waited when the last one started
    Times ends;   ///< until its end; 0: it had ended before
  };

  /// Enough samples: their mean is known to 1 % (standard error).
  bool known() const;
  void add(Sample sample);
  /// For members that had waited so long: the ends of one of the samples whose starts were alike, drawn; else
  /// of the nearest one. There must be a sample.
  Times give(const Times& waits);
  /// Collectives were given their time whose starts were unlike those of all samples: more of them are to be
  /// simulated.
  bool doubtful() const { return wanted_ != 0; }
  /// Others have met a collective that was given its time, for so long.
  void met(Picoseconds time) { error_.uncertain += static_cast<double>(time); }

  SampledError error() const;

 private:
  /// Given where no sample was alike.
  struct Unlike {
    Times waits;
    double time = 0;
    double uncertain = 0;
  };
  struct Near {
    double distance = 0;
    const Sample* sample = nullptr;
  };

  SampledError latest() const;
  double variance() const;
  double distance(const Times& a, const Times& b) const;
  bool alike(double distance) const;
  std::vector<Near> nearest(const Times& waits) const;

  std::vector<Sample> samples_;  ///< the latest
  uint64_t count_ = 0;           ///< of samples so far
  Moments times_;                ///< .. until the last end
  Moments misses_;               ///< of samples like earlier ones: their time, less the mean of those
  Moments squares_;              ///< .. of the ends of their members, the mean of the squares
  SampledError error_;           ///< of what has been compared
  std::vector<Unlike> unlike_;   ///< the latest of which no later sample has told
  uint32_t wanted_ = 0;          ///< samples, for these
  uint64_t given_ = 0;           ///< collectives, since the samples before
  double given_time_ = 0;        ///< .. in all
  double luck_ = 0;              ///< of it, what was drawn more than the means
  uint64_t draws_ = 0;
  Moments fresh_;  ///< misses since then
};

}  // namespace weft

#endif
