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
  classes_.push_back({of_class, 1, {}});
  return static_cast<uint32_t>(classes_.size() - 1);
}

/// Two bins become one.
void Overview::widen() {
  width_ *= 2;
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
  }
}

void Overview::add(uint32_t number, Picoseconds begin, Picoseconds end, Picoseconds busy, uint64_t bytes) {
  while (end / width_ >= most_) widen();
  std::vector<Bin>& bins = classes_[number].bins;
  const auto last = static_cast<size_t>(end / width_);
  if (bins.size() <= last) bins.resize(last + 1);
  const auto whole = static_cast<double>(end - begin);
  for (auto b = static_cast<size_t>(begin / width_); b <= last; ++b) {
    const Picoseconds from = std::max<Picoseconds>(begin, b * width_);
    const Picoseconds to = std::min<Picoseconds>(end, (b + 1) * width_);
    const double share = whole > 0 ? static_cast<double>(to - from) / whole : 1;
    bins[b].busy += share * static_cast<double>(busy);
    bins[b].bytes += share * static_cast<double>(bytes);
  }
}

}  // namespace weft::timeline
