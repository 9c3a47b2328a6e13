// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// How much the links of a class carry over time, in a bounded number of bins: what a timeline of many links
// shows at a glance.

#ifndef WEFT_SC_MAIN_TIMELINE_OVERVIEW_H
#define WEFT_SC_MAIN_TIMELINE_OVERVIEW_H

#include <cstdint>
#include <string>
#include <vector>

#include "configs/types.h"

namespace weft::timeline {

/// Bins get wider as time goes on: `bins` at most, all of one width, from time 0 on.
class Overview {
 public:
  explicit Overview(uint32_t bins) : most_(bins), covered_(bins * width()) {}

  struct Bin {
    double busy = 0;  ///< ps of all links
    double bytes = 0;
  };
  struct Class {
    std::string name;  ///< "dimension 0"
    uint64_t links = 0;
    std::vector<Bin> bins;   ///< after settle()
    std::vector<Bin> steps;  ///< by how much whole bins have more than the one before
  };

  /// Number of the class with that name.
  uint32_t add_link(const std::string& of_class);
  /// A link of the class carries `bytes` evenly from `begin` to `end`, and counts as busy for `busy` of that.
  void add(uint32_t number, Picoseconds begin, Picoseconds end, Picoseconds busy, uint64_t bytes);
  /// The bins have everything that was added.
  void settle();
  const std::vector<Class>& classes() const { return classes_; }
  Picoseconds width() const { return Picoseconds{1000} << doublings_; }

 private:
  void widen();
  size_t bin_of(Picoseconds t) const { return static_cast<size_t>((t / 1000) >> doublings_); }

  const uint32_t most_;
  uint32_t doublings_ = 7;
  Picoseconds covered_ = 0;  ///< most_ * width()
  std::vector<Class> classes_;
};

}  // namespace weft::timeline

#endif
