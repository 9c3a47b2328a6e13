// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/graph/folding/own_links.h"

#include <algorithm>
#include <cstdint>

namespace weft::graph {
namespace {

using trace::GroupId;

/// Whose messages a rank's links of each dimension carry.
class LinkUsers {
 public:
  LinkUsers(const Config& config, size_t ranks)
      : dimensions_(config.dimensions), users_(ranks * config.dimensions.size(), kNobody) {}

  void add(GroupId group, const std::vector<uint32_t>& members) {
    const uint32_t spans = spanned(members);
    for (const uint32_t r : members) add(r, spans, group);
  }
  /// A message between the two.
  void add(uint32_t one, uint32_t other) {
    const uint32_t spans = spanned({one, other});
    add(one, spans, kMany);
    add(other, spans, kMany);
  }
  bool only(GroupId group, const std::vector<uint32_t>& members) const {
    const uint32_t spans = spanned(members);
    return std::all_of(members.begin(), members.end(), [&](uint32_t r) {
      for (size_t d = 0; d < dimensions_.size(); ++d)
        if ((spans >> d & 1) != 0 && users_[r * dimensions_.size() + d] != group) return false;
      return true;
    });
  }

 private:
  static constexpr GroupId kNobody = ~GroupId{0};
  static constexpr GroupId kMany = kNobody - 1;

  /// The dimensions in which some of them differ, bits.
  uint32_t spanned(const std::vector<uint32_t>& members) const {
    uint32_t spans = 0;
    uint32_t stride = 1;
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      const uint32_t size = dimensions_[d].size;
      const auto at = [&](uint32_t r) { return r / stride % size; };
      if (std::any_of(members.begin(), members.end(), [&](uint32_t r) { return at(r) != at(members[0]); }))
        spans |= 1u << d;
      stride *= size;
    }
    return spans;
  }
  void add(uint32_t rank, uint32_t spans, GroupId user) {
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      if ((spans >> d & 1) == 0) continue;
      GroupId& of = users_[rank * dimensions_.size() + d];
      of = of == kNobody || of == user ? user : kMany;
    }
  }

  const std::vector<DimensionConfig>& dimensions_;
  std::vector<GroupId> users_;  ///< by rank and dimension
};

}  // namespace

std::vector<bool> own_links(const Config& config, const trace::Groups& groups,
                            const std::vector<RankUse>& ranks) {
  constexpr uint8_t kUnfit = RankUse::kLines | RankUse::kRooted | RankUse::kAtOnce;
  std::vector<uint8_t> uses(groups.size(), 0);
  std::vector<uint32_t> users(groups.size(), 0);
  for (const RankUse& use : ranks) {
    if (use.misfit) return {};
    for (size_t k = 0; k < use.groups.size(); ++k) {
      uses[use.groups[k]] |= use.group_uses[k];
      ++users[use.groups[k]];
    }
  }
  LinkUsers links(config, ranks.size());
  for (uint32_t r = 0; r < ranks.size(); ++r)
    for (const Peer& peer : ranks[r].peers) links.add(r, peer.rank);
  for (GroupId g = 0; g < groups.size(); ++g)
    if (users[g] != 0) links.add(g, groups.ranks(g));
  std::vector<bool> own(groups.size(), false);
  for (GroupId g = 0; g < groups.size(); ++g) {
    const std::vector<uint32_t>& members = groups.ranks(g);
    own[g] =
        users[g] == members.size() && members.size() > 1 && (uses[g] & kUnfit) == 0 && links.only(g, members);
  }
  if (std::find(own.begin(), own.end(), true) == own.end()) own.clear();
  return own;
}

}  // namespace weft::graph
