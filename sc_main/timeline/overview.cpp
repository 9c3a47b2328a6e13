// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/timeline/overview.h"

#include <algorithm>

namespace weft::timeline {

uint32_t Overview::add_link(const std::string& of_class) {
  for (uint32_t c = 0; c < classes_.size(); ++c) {
    if (classes_[c].name != of_class) continue;
    ++classes_[c].links;
    return c;
  }
  classes_.push_back({of_class, 1, {}, {}});
  return static_cast<uint32_t>(classes_.size() - 1);
}

void Overview::settle() {
  for (Class& of : classes_) {
    Bin more;
    for (size_t b = 0; b < of.steps.size(); ++b) {
      more.busy += of.steps[b].busy;
      more.bytes += of.steps[b].bytes;
      of.bins[b].busy += more.busy;
      of.bins[b].bytes += more.bytes;
      of.steps[b] = {};
    }
  }
}

/// Two bins become one.
void Overview::widen() {
  settle();
  ++doublings_;
  covered_ *= 2;
  for (Class& of : classes_) {
    for (size_t b = 0; b < of.bins.size(); b += 2) {
      Bin sum = of.bins[b];
      if (b + 1 < of.bins.size()) {
        sum.busy += of.bins[b + 1].busy;
        sum.bytes += of.bins[b + 1].bytes;
      }
      of.bins[b / 2] = sum;
    }
    of.bins.resize((of.bins.size() + 1) / 2);
    of.steps.resize(of.bins.size());
  }
}

void Overview::add(uint32_t number, Picoseconds begin, Picoseconds end, Picoseconds busy, uint64_t bytes) {
  while (end >= covered_) widen();
  Class& of = classes_[number];
  const size_t first = bin_of(begin);
  const size_t last = bin_of(end);
  const Picoseconds wide = width();
  if (of.bins.size() <= last) {
    of.bins.resize(last + 1);
    of.steps.resize(last + 1);
  }
  const auto all_busy = static_cast<double>(busy);
  const auto all_bytes = static_cast<double>(bytes);
  if (first == last) {
    of.bins[first].busy += all_busy;
    of.bins[first].bytes += all_bytes;
    return;
  }
  const double whole = 1 / static_cast<double>(end - begin);
  const auto add_share = [&](Bin& bin, double share) {
    bin.busy += share * all_busy;
    bin.bytes += share * all_bytes;
  };
  add_share(of.bins[first], static_cast<double>((first + 1) * wide - begin) * whole);
  add_share(of.bins[last], static_cast<double>(end - last * wide) * whole);
  if (last == first + 1) return;
  const double bin = static_cast<double>(wide) * whole;
  add_share(of.steps[first + 1], bin);
  add_share(of.steps[last], -bin);
}

}  // namespace weft::timeline
