// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/graph/folding/mixed_groups.h"

#include <algorithm>

#include "workload/graph/folding/peer_ways.h"

namespace weft::graph {

MixedGroups::MixedGroups(const Config& config, const std::vector<RankUse>& ranks, const trace::Groups& groups,
                         GroupShapes& shapes)
    : ranks_(ranks), shapes_(shapes), geometry_(Geometry::of_fabric(config)), members_(groups.size()) {
  for (const RankUse& use : ranks) {
    for (size_t i = 0; i < use.groups.size(); ++i) {
      Members& group = members_[use.groups[i]];
      group.apart = group.apart || (use.group_uses[i] & RankUse::kApart) != 0;
      group.together = group.together || (use.group_uses[i] & RankUse::kTogether) != 0;
      group.around = group.around || (use.group_uses[i] & RankUse::kAround) != 0;
      if ((use.group_uses[i] & RankUse::kShared) == 0 || !group.ranks.empty()) continue;
      group.ranks = groups.ranks(use.groups[i]);
      std::sort(group.ranks.begin(), group.ranks.end());
    }
  }
}

bool MixedGroups::look(const std::vector<uint32_t>& classes) {
  bool any = false;
  for (Members& group : members_) {
    if (group.ranks.empty()) continue;
    const uint32_t first = classes[group.ranks.front()];
    group.mixed = group.ranks.size() > 1 &&
                  (group.apart || std::any_of(group.ranks.begin(), group.ranks.end(),
                                              [&](uint32_t r) { return classes[r] != first; }));
    if (!group.mixed) continue;
    any = true;
    Digest digest;
    for (const uint32_t r : group.ranks) digest.add(classes[r]);
    group.classes = digest.value();
  }
  return any;
}

void MixedGroups::describe(uint32_t rank, Digest& digest) const {
  for (const trace::GroupId g : ranks_[rank].groups) {
    const Members& group = members_[g];
    digest.add(group.mixed ? 1 : 0);
    if (!group.mixed) continue;
    digest.add(group.classes);
    digest.add(static_cast<uint64_t>(std::lower_bound(group.ranks.begin(), group.ranks.end(), rank) -
                                     group.ranks.begin()));
  }
}

bool MixedGroups::any(uint32_t rank) const {
  const auto& groups = ranks_[rank].groups;
  return std::any_of(groups.begin(), groups.end(), [this](trace::GroupId g) { return members_[g].mixed; });
}

std::string MixedGroups::unlike(uint32_t rank) const {
  for (const trace::GroupId g : ranks_[rank].groups) {
    if (members_[g].mixed) return unlike_members(members_[g]);
  }
  return {};
}

std::string MixedGroups::unlike_members(const Members& group) const {
  const RankUse& first = ranks_[group.ranks.front()];
  for (const uint32_t r : group.ranks) {
    if (!ranks_[r].apart.empty()) return ranks_[r].apart;
  }
  // Without messages members differ through other groups.
  for (const uint32_t r : group.ranks) {
    if (ranks_[r].digest != first.digest || ranks_[r].peers.empty())
      return "ranks that communicate with each other have different traces";
  }
  return "ranks of one communicator group exchange point-to-point messages with ranks that differ";
}

std::string MixedGroups::reason(uint32_t rank, const std::vector<uint32_t>& classes) const {
  for (const trace::GroupId g : ranks_[rank].groups) {
    const Members& group = members_[g];
    if (!group.mixed && group.around) return kNoOrderOfMessages;
    if (!group.mixed) continue;
    if (group.together) return unlike_members(group);
    if (group.ranks.front() != rank) continue;  // once for all members
    std::vector<uint32_t> different;
    for (const uint32_t r : group.ranks) different.push_back(classes[r]);
    std::sort(different.begin(), different.end());
    if (std::adjacent_find(different.begin(), different.end()) != different.end())
      return "some members of a communicator group are alike, and others are not";
  }
  return {};
}

std::vector<uint32_t> MixedGroups::others(uint32_t rank, uint32_t dimension, const GroupShape& shape) const {
  const uint32_t own = geometry_.coordinate(rank, dimension);
  std::vector<uint32_t> all = shape.coordinates[dimension];
  for (uint32_t c = 0; shape.coordinates[dimension].empty() && c < geometry_.size(dimension); ++c)
    all.push_back(c);
  all.erase(std::remove(all.begin(), all.end(), own), all.end());
  return all;
}

Digest::Value MixedGroups::order(uint32_t rank, std::string& why) {
  Digest digest;
  const std::vector<trace::GroupId>& groups = ranks_[rank].groups;
  for (size_t i = 0; i < groups.size(); ++i) {
    // All of it is in the digest of a rank whose peers are behind or before all members.
    for (const Peer& peer : ranks_[rank].peers) {
      if (!mixed(groups[i]) || !peer.receives || (ranks_[rank].group_uses[i] & RankUse::kAround) == 0)
        continue;
      for (uint32_t d = 0; d < geometry_.dimensions(); ++d) {
        if (geometry_.coordinate(peer.rank, d) == geometry_.coordinate(rank, d)) continue;
        const std::vector<uint32_t> line = others(rank, d, shapes_.of(groups[i]));
        const uint32_t there = geometry_.coordinate(peer.rank, d);
        const auto at = std::lower_bound(line.begin(), line.end(), there);
        digest.add(static_cast<uint64_t>(at - line.begin()));
        digest.add(at != line.end() && *at == there ? 1 : 0);
      }
    }
    for (size_t j = 0; j < groups.size(); ++j) {
      const bool both = mixed(groups[j]);
      if (i == j || !mixed(groups[i]) || (both && j < i)) continue;
      const GroupShape& a = shapes_.of(groups[i]);
      const GroupShape& b = shapes_.of(groups[j]);
      for (uint32_t d = 0; d < geometry_.dimensions(); ++d) merge(rank, d, a, b, both, digest, why);
    }
  }
  return digest.value();
}

/// Senders are taken in the order of their numbers, so in that of their coordinates along the line. Which
/// member of a group whose members are alike sends at an instant is not the same for all of them: none of
/// the mixed group may be between two of these.
void MixedGroups::merge(uint32_t rank, uint32_t dimension, const GroupShape& a, const GroupShape& b,
                        bool both_mixed, Digest& digest, std::string& why) const {
  if (!a.regular || !b.regular) return;  // these do not fold
  const std::vector<uint32_t> of_a = others(rank, dimension, a);
  const std::vector<uint32_t> of_b = others(rank, dimension, b);
  if (of_a.empty() || of_b.empty()) return;
  const auto place = [&of_a](uint32_t c) {
    return static_cast<uint64_t>(std::lower_bound(of_a.begin(), of_a.end(), c) - of_a.begin());
  };
  if (both_mixed) {
    for (const uint32_t c : of_b) {
      digest.add(place(c));
      digest.add(std::binary_search(of_a.begin(), of_a.end(), c) ? 1 : 0);
    }
    return;
  }
  digest.add(place(of_b.front()));
  if (place(of_b.front()) != place(of_b.back() + 1))
    why =
        "collectives of two groups may send to a rank at one instant by one link, and their senders' numbers "
        "are not in the same order at all ranks";
}

}  // namespace weft::graph
