// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/job/sampled_times.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "configs/hash64.h"

namespace weft {
namespace {

constexpr uint64_t kFewest = 4;  ///< samples
constexpr size_t kLatest = 32;   ///< are kept
constexpr double kKnown = 0.01;  ///< standard error of their mean, as a share of it
constexpr double kAlike = 0.02;  ///< by so much of a collective's time starts may differ
constexpr size_t kMostNear = 4;  ///< samples that are looked at for one collective
constexpr size_t kMostUnlike = 64;
constexpr uint32_t kForUnlike = 1;
constexpr uint32_t kMostWanted = 4;

double last(const SampledTimes::Times& ends) {
  return static_cast<double>(*std::max_element(ends.begin(), ends.end()));
}

}  // namespace

double SampledError::error() const {
  return given <= 0 ? 0 : (std::abs(off) + 3 * std::sqrt(variance) + uncertain) / given;
}

bool SampledTimes::known() const {
  if (count_ < kFewest) return false;
  const double most = kKnown * times_.mean();
  return variance() <= most * most * static_cast<double>(count_);
}

/// Of one sample: of its last end, or of all its ends, since the next collective begins with them. That of
/// few is known badly, and taken larger (about as Student's t has it).
double SampledTimes::variance() const {
  const auto n = static_cast<double>(std::max<uint64_t>(1, misses_.count()));
  return std::max(misses_.variance(), squares_.mean()) * (1 + 8 / n);
}

/// The largest of a member. One that has waited as long as the collective takes can do no more before the
/// last one starts.
double SampledTimes::distance(const Times& a, const Times& b) const {
  double most = 0;
  for (size_t m = 0; m < a.size(); ++m)
    most = std::max(most, std::abs(std::min(static_cast<double>(a[m]), times_.mean()) -
                                   std::min(static_cast<double>(b[m]), times_.mean())));
  return most;
}

bool SampledTimes::alike(double distance) const {
  return distance <= kAlike * times_.mean();
}

/// A few, the nearest first.
std::vector<SampledTimes::Near> SampledTimes::nearest(const Times& waits) const {
  std::vector<Near> found;
  for (const Sample& sample : samples_) found.push_back({distance(sample.waits, waits), &sample});
  std::stable_sort(found.begin(), found.end(),
                   [](const Near& a, const Near& b) { return a.distance < b.distance; });
  if (found.size() > kMostNear) found.resize(kMostNear);
  return found;
}

void SampledTimes::add(Sample sample) {
  const double time = last(sample.ends);
  Moments before;
  std::vector<Moments> ends(sample.ends.size());
  for (const Near& near : nearest(sample.waits)) {
    if (!alike(near.distance)) continue;
    before.add(last(near.sample->ends));
    for (size_t m = 0; m < ends.size(); ++m) ends[m].add(static_cast<double>(near.sample->ends[m]));
  }
  if (before.count() != 0) {
    misses_.add(time - before.mean());
    fresh_.add(time - before.mean());
    double squares = 0;
    for (size_t m = 0; m < ends.size(); ++m)
      squares += std::pow(static_cast<double>(sample.ends[m]) - ends[m].mean(), 2);
    squares_.add(squares / static_cast<double>(ends.size()));
  }
  times_.add(time);
  if (wanted_ != 0) --wanted_;
  // Now it shows what those should have taken.
  const auto told = std::remove_if(unlike_.begin(), unlike_.end(), [&](const Unlike& one) {
    if (!alike(distance(one.waits, sample.waits))) return false;
    error_.off += time - one.time;
    error_.uncertain -= one.uncertain;
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

SampledTimes::Times SampledTimes::give(const Times& waits) {
  if (fresh_.count() != 0) {
    error_ += latest();
    given_ = 0;
    given_time_ = 0;
    luck_ = 0;
    fresh_ = Moments();
  }
  const std::vector<Near> near = nearest(waits);
  size_t like = 0;
  Moments times;  // of those that are alike
  for (const Near& one : near) {
    if (!alike(one.distance)) continue;
    ++like;
    times.add(last(one.sample->ends));
  }
  // One as it was: were each member's end the mean, none would be as late as the last one is.
  const Sample& drawn = *near[like == 0 ? 0 : hash64(++draws_) % like].sample;
  const double time = last(drawn.ends);
  if (like != 0) {
    ++given_;
    given_time_ += time;
    luck_ += time - times.mean();
    return drawn.ends;
  }
  // As much as an end of the nearest ones differs. A single one tells nothing of that.
  double uncertain = near.size() > 1 ? 0 : std::min(near[0].distance, time);
  for (size_t m = 0; m < waits.size(); ++m) {
    const auto [least, most] = std::minmax_element(
        near.begin(), near.end(),
        [m](const Near& a, const Near& b) { return a.sample->ends[m] < b.sample->ends[m]; });
    uncertain = std::max(uncertain, static_cast<double>(most->sample->ends[m] - least->sample->ends[m]));
  }
  error_.given += time;
  error_.uncertain += uncertain;
  unlike_.push_back({waits, time, uncertain});
  wanted_ = std::min(wanted_ + kForUnlike, kMostWanted);
  if (unlike_.size() > kMostUnlike) unlike_.erase(unlike_.begin());
  return drawn.ends;
}

/// What was given since the samples before. Not followed by samples, it is as far off as their mean may be.
SampledError SampledTimes::latest() const {
  SampledError error;
  if (given_ == 0) return error;
  const auto given = static_cast<double>(given_);
  error.given = given_time_;
  error.off = given * fresh_.mean() - luck_;
  const uint64_t samples = fresh_.count() != 0 ? fresh_.count() : std::min<uint64_t>(count_, kLatest);
  error.variance = given * given * variance() / static_cast<double>(samples);
  return error;
}

SampledError SampledTimes::error() const {
  SampledError sum = error_;
  sum += latest();
  return sum;
}

}  // namespace weft
