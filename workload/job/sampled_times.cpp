// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/job/sampled_times.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft {
namespace {

constexpr uint64_t kFewest = 4;  ///< samples
constexpr size_t kLatest = 16;   ///< are kept
constexpr double kKnown = 0.01;  ///< standard error of their mean, as a share of it
constexpr double kAlike = 0.05;  ///< by so much of a collective's time starts may differ

Picoseconds last(const SampledTimes::Sample& sample) {
  return *std::max_element(sample.ends.begin(), sample.ends.end());
}

Picoseconds difference(Picoseconds a, Picoseconds b) {
  return a > b ? a - b : b - a;
}

}  // namespace

double SampledError::error() const {
  return given <= 0 ? 0 : (std::abs(off) + 2 * std::sqrt(variance) + uncertain) / given;
}

bool SampledTimes::known() const {
  if (count_ < kFewest) return false;
  const double most = kKnown * times_.mean();
  return misses_.variance() <= most * most * static_cast<double>(count_);
}

/// A member that waits as long as the collective takes can do no more before the last one starts.
Picoseconds SampledTimes::effective(Picoseconds spread) const {
  return std::min(spread, static_cast<Picoseconds>(times_.mean()));
}

bool SampledTimes::alike(Picoseconds a, Picoseconds b) const {
  return static_cast<double>(difference(effective(a), effective(b))) <= kAlike * times_.mean();
}

SampledTimes::Nearest SampledTimes::nearest(Picoseconds spread) const {
  Nearest found;
  for (const Sample& sample : samples_) {
    const Sample*& one = effective(sample.spread) <= effective(spread) ? found.below : found.above;
    if (one == nullptr || difference(sample.spread, spread) < difference(one->spread, spread)) one = &sample;
  }
  return found;
}

/// By how much the nearest samples on both sides differ; where there is none on one side, by how much the
/// starts do.
double SampledTimes::uncertain(const Unlike& one) const {
  const Nearest found = nearest(one.spread);
  if (found.below != nullptr && found.above != nullptr)
    return static_cast<double>(difference(last(*found.below), last(*found.above)));
  const Sample& only = found.below != nullptr ? *found.below : *found.above;
  return static_cast<double>(difference(effective(only.spread), effective(one.spread)));
}

/// Of the samples whose starts were alike; empty: there are none.
std::vector<Picoseconds> SampledTimes::mean_ends(Picoseconds spread) const {
  std::vector<double> sums;
  uint64_t found = 0;
  for (const Sample& sample : samples_) {
    if (!alike(sample.spread, spread)) continue;
    sums.resize(sample.ends.size(), 0);
    ++found;
    for (size_t m = 0; m < sums.size(); ++m) sums[m] += static_cast<double>(sample.ends[m]);
  }
  std::vector<Picoseconds> ends;
  for (const double sum : sums)
    ends.push_back(static_cast<Picoseconds>(sum / static_cast<double>(found) + 0.5));
  return ends;
}

void SampledTimes::add(Sample sample) {
  const auto time = static_cast<double>(last(sample));
  const std::vector<Picoseconds> expected = mean_ends(sample.spread);
  if (!expected.empty()) {
    const double miss = time - static_cast<double>(*std::max_element(expected.begin(), expected.end()));
    misses_.add(miss);
    fresh_.add(miss);
  }
  times_.add(time);
  // Now it shows what those should have taken.
  const auto told = std::remove_if(unlike_.begin(), unlike_.end(), [&](const Unlike& one) {
    if (!alike(one.spread, sample.spread)) return false;
    error_.off += time - one.time;
    return true;
  });
  unlike_.erase(told, unlike_.end());
  if (samples_.size() < kLatest) {
    samples_.push_back(std::move(sample));
  } else {
    samples_[count_ % kLatest] = std::move(sample);
  }
  ++count_;
}

std::vector<Picoseconds> SampledTimes::give(Picoseconds spread) {
  if (fresh_.count() != 0) {
    error_ += latest();
    given_ = 0;
    given_time_ = 0;
    fresh_ = Moments();
  }
  std::vector<Picoseconds> ends = mean_ends(spread);
  if (ends.empty()) {
    const Nearest near = nearest(spread);
    const bool below = near.above == nullptr ||
                       (near.below != nullptr &&
                        difference(near.below->spread, spread) <= difference(near.above->spread, spread));
    const Sample& one = below ? *near.below : *near.above;
    unlike_.push_back({spread, static_cast<double>(last(one))});
    ++error_.collectives;
    error_.given += static_cast<double>(last(one));
    return one.ends;
  }
  ++given_;
  given_time_ += static_cast<double>(*std::max_element(ends.begin(), ends.end()));
  return ends;
}

/// What was given since the samples before. Not followed by samples, it is as far off as their mean may be.
SampledError SampledTimes::latest() const {
  SampledError error;
  if (given_ == 0) return error;
  const auto given = static_cast<double>(given_);
  error.collectives = given_;
  error.given = given_time_;
  error.off = given * fresh_.mean();
  const uint64_t samples = fresh_.count() != 0 ? fresh_.count() : std::min<uint64_t>(count_, kLatest);
  error.variance = given * given * misses_.variance() / static_cast<double>(samples);
  return error;
}

SampledError SampledTimes::error() const {
  SampledError sum = error_;
  sum += latest();
  for (const Unlike& one : unlike_) sum.uncertain += uncertain(one);
  return sum;
}

}  // namespace weft
