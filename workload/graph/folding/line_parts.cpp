// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/graph/folding/line_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "configs/blueprint/shape.h"

namespace weft::graph {
namespace {

/// Of two ascending lists.
size_t common(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  std::vector<uint32_t> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both.size();
}

uint32_t place_of(const std::vector<uint32_t>& members, uint32_t coordinate) {
  return static_cast<uint32_t>(std::lower_bound(members.begin(), members.end(), coordinate) -
                               members.begin());
}

}  // namespace

bool LineParts::any_part(const RankUse& use, uint32_t d) {
  return links_ && std::any_of(use.groups.begin(), use.groups.end(), [&](trace::GroupId group) {
           const GroupShape& shape = shapes_.of(group);
           return shape.regular && shape.coordinates[d].size() > 1;
         });
}

std::vector<uint32_t> LineParts::members(trace::GroupId group, uint32_t d) {
  const GroupShape& shape = shapes_.of(group);
  if (!shape.coordinates[d].empty()) return shape.coordinates[d];
  std::vector<uint32_t> all(config_.dimensions[d].size);
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

void LineParts::compare(uint32_t rank, Digest& digest, RankUse& use) {
  for (uint32_t d = 0; d < config_.dimensions.size(); ++d) {
    const Shape shape(config_.dimensions[d]);
    if (shape.has_switches() || config_.dimensions[d].size <= 2 || !any_part(use, d)) continue;
    std::vector<std::vector<uint32_t>> lines;  // of the groups
    for (const trace::GroupId g : use.groups) {
      std::vector<uint32_t> line = members(g, d);
      if (!shapes_.of(g).regular || line.size() <= 1) continue;
      const auto known = std::find(lines.begin(), lines.end(), line);
      digest.add(static_cast<uint64_t>(known - lines.begin()));
      if (known != lines.end()) continue;
      // The rank itself is in both. Links of pairs are of two members alone, those of neighbours of all.
      for (const std::vector<uint32_t>& other : lines)
        if (!shape.joins_pairs() || common(line, other) > 1)
          use.refuse(fmt::format(
              "groups of different members share links of dimension {}, of which one is a part", d));
      lines.push_back(std::move(line));
    }
    for (const Peer& peer : use.peers)
      if (ways_.coordinate(rank, d) != ways_.coordinate(peer.rank, d))
        use.refuse(fmt::format(
            "point-to-point messages go along dimension {}, of which a communicator group is a part", d));
  }
}

std::vector<std::vector<uint32_t>> LineParts::images(uint32_t rank, const RankUse& use, uint32_t first,
                                                     const RankUse& like, uint32_t exchanges) {
  std::vector<std::vector<uint32_t>> images;
  for (uint32_t d = 0; d < config_.dimensions.size(); ++d) {
    if (!Shape(config_.dimensions[d]).joins_pairs() || !any_part(use, d)) continue;
    const uint32_t n = config_.dimensions[d].size;
    constexpr uint32_t kNone = ~0u;
    std::vector<uint32_t> image(n, kNone);
    std::vector<bool> taken(n, false);
    for (size_t i = 0; i < use.groups.size(); ++i) {
      if (!shapes_.of(use.groups[i]).regular) continue;
      const std::vector<uint32_t> here = members(use.groups[i], d);
      const std::vector<uint32_t> there = members(like.groups[i], d);
      const auto m = static_cast<uint32_t>(here.size());
      if (m <= 1) continue;
      const uint32_t from = place_of(here, ways_.coordinate(rank, d));
      const uint32_t to = place_of(there, ways_.coordinate(first, d));
      const bool exchange = (exchanges >> d & 1) != 0 && (m & (m - 1)) == 0;
      for (uint32_t k = 0; k < m; ++k) {
        image[here[k]] = there[exchange ? k ^ from ^ to : (k + m - from + to) % m];
        taken[image[here[k]]] = true;
      }
    }
    // Links that nobody uses.
    uint32_t next = 0;
    image[ways_.coordinate(rank, d)] = ways_.coordinate(first, d);
    taken[ways_.coordinate(first, d)] = true;
    for (uint32_t& to : image) {
      if (to != kNone) continue;
      while (taken[next]) ++next;
      to = next;
      taken[next] = true;
    }
    images.resize(config_.dimensions.size());
    images[d] = std::move(image);
  }
  return images;
}

}  // namespace weft::graph
