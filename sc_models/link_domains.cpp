// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/link_domains.h"

#include <algorithm>
#include <numeric>

#include "configs/blueprint/shape.h"

namespace weft {
namespace {

/// A larger group along several dimensions is taken to use all links of these.
constexpr size_t kMostPaired = 64;

}  // namespace

LinkDomains::LinkDomains(const Config& config) : geometry_(Geometry::of_fabric(config)) {
  if (config.graph != nullptr) {
    count_ = 1;
    return;
  }
  for (const DimensionConfig& dimension : config.fabric_dimensions()) {
    first_.push_back(count_);
    const Shape shape(dimension);
    of_npus_.push_back(shape.has_crossbar() || shape.joins_pairs());
    count_ += geometry_.npus();
  }
}

std::vector<uint32_t> LinkDomains::of_group(const std::vector<uint32_t>& npus) const {
  if (first_.empty()) return {0};
  std::vector<uint32_t> all;
  if (npus.empty()) {
    all.resize(geometry_.npus());
    std::iota(all.begin(), all.end(), 0);
  }
  const std::vector<uint32_t>& members = npus.empty() ? all : npus;
  std::vector<uint32_t> domains;
  std::vector<uint32_t> differ;  // dimensions in which they do
  const uint32_t first = geometry_.place(members.front());
  for (uint32_t d = 0; d < first_.size(); ++d) {
    const bool any = std::any_of(members.begin(), members.end(), [&](uint32_t npu) {
      return geometry_.coordinate(geometry_.place(npu), d) != geometry_.coordinate(first, d);
    });
    if (any) differ.push_back(d);
  }
  for (const uint32_t d : differ)
    for (const uint32_t npu : members) domains.push_back(domain(geometry_.place(npu), d));
  // What goes along several dimensions passes NPUs that may be no members.
  if (differ.size() > 1 && members.size() > kMostPaired) {
    for (const uint32_t d : differ)
      for (uint32_t place = 0; place < geometry_.npus(); ++place) domains.push_back(domain(place, d));
  } else if (differ.size() > 1) {
    for (const uint32_t a : members)
      for (const uint32_t b : members)
        for (const uint32_t one : of_message(a, b)) domains.push_back(one);
  }
  std::sort(domains.begin(), domains.end());
  domains.erase(std::unique(domains.begin(), domains.end()), domains.end());
  return domains;
}

/// Dimension by dimension, as routes are.
std::vector<uint32_t> LinkDomains::of_message(uint32_t from, uint32_t to) const {
  if (first_.empty()) return {0};
  std::vector<uint32_t> domains;
  uint32_t at = geometry_.place(from);
  const uint32_t end = geometry_.place(to);
  for (uint32_t d = 0; d < first_.size(); ++d) {
    const uint32_t next = geometry_.with_coordinate(at, d, geometry_.coordinate(end, d));
    if (next == at) continue;
    domains.push_back(domain(at, d));
    if (domain(next, d) != domains.back()) domains.push_back(domain(next, d));
    at = next;
  }
  return domains;
}

}  // namespace weft
