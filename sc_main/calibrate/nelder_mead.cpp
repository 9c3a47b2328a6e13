// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/calibrate/nelder_mead.h"

#include <algorithm>
#include <cmath>

namespace weft::calibrate {
namespace {

class Simplex {
 public:
  Simplex(const std::function<double(const Point&)>& value, const Point& start, const Point& steps,
          const NelderMeadOptions& options)
      : value_(value), steps_(steps), options_(options) {
    add(start);
    for (size_t d = 0; d < start.size(); ++d) {
      Point corner = start;
      corner[d] += steps[d];
      add(std::move(corner));
    }
    sort();
  }

  Minimum search() {
    while (evaluations_ < options_.most_evaluations && !converged()) step();
    return {corners_.front().at, corners_.front().value, evaluations_};
  }

 private:
  struct Corner {
    Point at;
    double value;
  };

  double evaluate(const Point& at) {
    ++evaluations_;
    const double value = value_(at);
    return std::isnan(value) ? INFINITY : value;
  }
  void add(Point at) {
    const double value = evaluate(at);
    corners_.push_back({std::move(at), value});
  }
  void sort() {
    std::stable_sort(corners_.begin(), corners_.end(),
                     [](const Corner& a, const Corner& b) { return a.value < b.value; });
  }

  bool converged() const {
    const double best = corners_.front().value;
    if (!(corners_.back().value - best <= options_.tolerance * std::max(1.0, std::abs(best)))) return false;
    for (const Corner& corner : corners_)
      for (size_t d = 0; d < steps_.size(); ++d)
        if (std::abs(corner.at[d] - corners_.front().at[d]) > options_.size * steps_[d]) return false;
    return true;
  }

  /// The point at `factor` times the way from the middle of all others to the worst corner.
  Corner moved(double factor) {
    const size_t n = steps_.size();
    Point at(n, 0);
    for (size_t d = 0; d < n; ++d) {
      for (size_t i = 0; i < n; ++i) at[d] += corners_[i].at[d] / static_cast<double>(n);
      at[d] += factor * (corners_.back().at[d] - at[d]);
    }
    const double value = evaluate(at);
    return {std::move(at), value};
  }

  void step() {
    Corner reflected = moved(-1);
    const double worst = corners_.back().value;
    const double second = corners_[corners_.size() - 2].value;
    if (reflected.value < corners_.front().value) {
      Corner expanded = moved(-2);
      corners_.back() = expanded.value < reflected.value ? std::move(expanded) : std::move(reflected);
    } else if (reflected.value < second) {
      corners_.back() = std::move(reflected);
    } else {
      Corner contracted = moved(reflected.value < worst ? -0.5 : 0.5);
      if (contracted.value < std::min(reflected.value, worst))
        corners_.back() = std::move(contracted);
      else
        shrink();
    }
    sort();
  }

  void shrink() {
    for (size_t i = 1; i < corners_.size(); ++i) {
      for (size_t d = 0; d < steps_.size(); ++d)
        corners_[i].at[d] = (corners_[i].at[d] + corners_[0].at[d]) / 2;
      corners_[i].value = evaluate(corners_[i].at);
    }
  }

  const std::function<double(const Point&)>& value_;
  const Point steps_;
  const NelderMeadOptions options_;
  std::vector<Corner> corners_;
  uint32_t evaluations_ = 0;
};

}  // namespace

Minimum minimise(const std::function<double(const Point&)>& value, const Point& start, const Point& steps,
                 const NelderMeadOptions& options) {
  if (start.empty()) return {start, value(start), 1};
  return Simplex(value, start, steps, options).search();
}

}  // namespace weft::calibrate
