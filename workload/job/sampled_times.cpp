// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/job/sampled_times.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft {
namespace {

constexpr uint64_t kFewest = 4;   ///< samples
constexpr size_t kLatest = 16;    ///< are kept
constexpr double kKnown = 0.01;   ///< standard error of their mean, as a share of it
constexpr double kAlike = 0.05;   ///< by so much of a collective's time starts may differ

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
  return times_.variance() <= most * most * static_cast<double>(count_);
}

void SampledTimes::add(Sample sample) {
  const auto time = static_cast<double>(last(sample));
  times_.add(time);
  fresh_.add(time);
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
  // A member that waits as long as the collective takes can do no more before the last one starts.
  const auto mean = static_cast<Picoseconds>(times_.mean());
  const auto alike = static_cast<Picoseconds>(kAlike * times_.mean());
  const Picoseconds own = std::min(spread, mean);
  std::vector<double> sums(samples_.front().ends.size(), 0);
  uint64_t found = 0;
  const Sample* below = nullptr;  // the nearest with starts closer together, and further apart
  const Sample* above = nullptr;
  for (const Sample& sample : samples_) {
    const Picoseconds of = std::min(sample.spread, mean);
    const Sample*& nearest = of <= own ? below : above;
    if (nearest == nullptr ||
        difference(of, own) < difference(std::min(nearest->spread, mean), own))
      nearest = &sample;
    if (difference(of, own) > alike) continue;
    ++found;
    for (size_t m = 0; m < sums.size(); ++m) sums[m] += static_cast<double>(sample.ends[m]);
  }
  const auto off = [&](const Sample* one) {
    return one == nullptr ? kNever : difference(std::min(one->spread, mean), own);
  };
  const Sample& nearest = off(below) <= off(above) ? *below : *above;
  std::vector<Picoseconds> ends = nearest.ends;
  if (found != 0) {
    for (size_t m = 0; m < sums.size(); ++m)
      ends[m] = static_cast<Picoseconds>(sums[m] / static_cast<double>(found) + 0.5);
  } else if (below != nullptr && above != nullptr) {
    error_.uncertain += static_cast<double>(difference(last(*below), last(*above)));
  } else {
    error_.uncertain += static_cast<double>(off(&nearest));
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
  if (fresh_.count() != 0) error.off = given * fresh_.mean() - given_time_;
  const uint64_t samples = fresh_.count() != 0 ? fresh_.count() : std::min<uint64_t>(count_, kLatest);
  error.variance = given * given * times_.variance() / static_cast<double>(samples);
  return error;
}

SampledError SampledTimes::error() const {
  SampledError sum = error_;
  sum += latest();
  return sum;
}

}  // namespace weft
