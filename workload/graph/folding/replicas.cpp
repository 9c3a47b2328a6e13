// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/graph/folding/replicas.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "workload/graph/folding/components.h"

namespace weft::graph {
namespace {

using trace::GroupId;

constexpr uint32_t kNowhere = ~0u;

class Finder {
 public:
  Finder(const Config& config, const trace::JobTrace& traces, const std::vector<RankUse>& ranks)
      : config_(config),
        traces_(traces),
        groups_(traces.groups()),
        numbers_(traces.collectives()),
        ranks_(ranks),
        late_(groups_.size(), 2),
        apart_(groups_.size(), false),
        replica_place_(ranks.size()) {
    for (const RankUse& use : ranks_) {
      for (size_t k = 0; k < use.groups.size(); ++k) {
        double& late = late_[use.groups[k]];
        late = std::min(late, use.nodes == 0 ? 0 : static_cast<double>(use.first_uses[k]) / use.nodes);
        // Lines share their group's number, and roots may have other places in other groups.
        if ((use.group_uses[k] & (RankUse::kLines | RankUse::kRooted)) != 0) apart_[use.groups[k]] = true;
      }
    }
  }

  /// Where groups that are first used after this part of their members' nodes join replicas.
  Replicas find(double after) {
    Replicas found;
    found.joins.resize(groups_.size());
    found.alike = 1;
    for (GroupId g = 0; g < groups_.size(); ++g) {
      found.joins[g] = apart_[g] || late_[g] >= after;
      if (found.joins[g] && late_[g] <= 1) found.alike = std::min(found.alike, late_[g]);
    }
    find_parts(found);
    if (found.ranks.size() < 2) return {};
    find_units(found);
    return found;
  }

 private:
  using Ranks = std::vector<uint32_t>;

  /// Ranks that communicate, but for collectives that join replicas.
  std::vector<Ranks> components(const Replicas& found) const {
    const auto n = static_cast<uint32_t>(ranks_.size());
    Components components(n);
    std::vector<bool> seen(groups_.size(), false);
    for (uint32_t r = 0; r < n; ++r) {
      for (const Peer& peer : ranks_[r].peers) components.join(r, peer.rank);
      for (const GroupId g : ranks_[r].groups) {
        if (found.joins[g] || seen[g]) continue;
        seen[g] = true;
        for (const uint32_t member : groups_.ranks(g)) components.join(r, member);
      }
    }
    std::vector<Ranks> parts;
    std::vector<uint32_t> part_of(n, kNowhere);
    for (uint32_t r = 0; r < n; ++r) {
      uint32_t& part = part_of[components.find(r)];
      if (part == kNowhere) {
        part = static_cast<uint32_t>(parts.size());
        parts.emplace_back();
      }
      parts[part].push_back(r);
    }
    return parts;
  }

  void find_parts(Replicas& found) {
    const std::vector<Ranks> parts = components(found);
    std::map<std::vector<Digest::Value>, std::vector<const Ranks*>> alike;
    for (const Ranks& part : parts) {
      std::vector<Digest::Value> key;
      bool refused = false;
      for (const uint32_t r : part) {
        key.push_back(ranks_[r].digest);
        key.push_back(ranks_[r].labels);
        refused = refused || ranks_[r].accesses_memory || ranks_[r].misfit;
      }
      if (!refused) alike[std::move(key)].push_back(&part);
    }
    for (const auto& [key, members] : alike) {
      if (members.size() < 2) continue;
      Replicas these;
      these.joins = found.joins;
      for (const Ranks* const part : members) add(these, *part);
      if (these.ranks.size() >= 2 && these.others() > found.others()) {
        found.ranks = std::move(these.ranks);
        found.groups = std::move(these.groups);
      }
    }
  }

  /// The groups of a part that do not join it to others, by its ranks and their first use.
  std::vector<GroupId> own_groups(const Replicas& found, const Ranks& part) const {
    std::vector<GroupId> own;
    for (const uint32_t r : part)
      for (const GroupId g : ranks_[r].groups)
        if (!found.joins[g] && groups_.ranks(g).front() == r) own.push_back(g);
    return own;
  }

  /// If it does as the first one does.
  void add(Replicas& found, const Ranks& part) {
    std::vector<GroupId> groups = own_groups(found, part);
    if (!found.ranks.empty() && !corresponds(found, found.ranks.front(), part)) return;
    if (!found.groups.empty() && !corresponds(found.groups.front(), groups)) return;
    found.ranks.push_back(part);
    found.groups.push_back(std::move(groups));
  }

  bool corresponds(const Replicas& found, const Ranks& first, const Ranks& part) {
    for (uint32_t i = 0; i < first.size(); ++i) {
      replica_place_[first[i]] = i;
      replica_place_[part[i]] = i;
    }
    for (uint32_t i = 0; i < first.size(); ++i) {
      // What has been fed of a trace is kept in another way where it is decoded.
      const bool decoded = traces_.index(first[i]).decoded() != nullptr;
      if (decoded != (traces_.index(part[i]).decoded() != nullptr)) return false;
      if (!corresponds(found, ranks_[first[i]], ranks_[part[i]])) return false;
    }
    uint32_t stride = 1;
    for (const DimensionConfig& d : config_.dimensions) {
      if (!lies_alike(first, part, stride, d.size)) return false;
      stride *= d.size;
    }
    return true;
  }

  bool corresponds(const Replicas& found, const RankUse& one, const RankUse& other) const {
    if (one.groups.size() != other.groups.size() || one.peers.size() != other.peers.size()) return false;
    for (size_t k = 0; k < one.peers.size(); ++k)
      if (replica_place_[one.peers[k].rank] != replica_place_[other.peers[k].rank]) return false;
    for (size_t k = 0; k < one.groups.size(); ++k) {
      if (found.joins[one.groups[k]] != found.joins[other.groups[k]]) return false;
      if (found.joins[one.groups[k]]) continue;
      const Ranks& members = groups_.ranks(one.groups[k]);
      const Ranks& others = groups_.ranks(other.groups[k]);
      if (members.size() != others.size()) return false;
      for (size_t m = 0; m < members.size(); ++m)
        if (replica_place_[members[m]] != replica_place_[others[m]]) return false;
    }
    return true;
  }

  /// Ranks take collectives that tie by their numbers, which must be in the same order.
  bool corresponds(const std::vector<GroupId>& one, const std::vector<GroupId>& other) const {
    if (one.size() != other.size()) return false;
    const auto before = [&](GroupId a, GroupId b) { return numbers_.number(a, 0) < numbers_.number(b, 0); };
    std::vector<size_t> order(one.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return before(one[a], one[b]); });
    return std::is_sorted(order.begin(), order.end(),
                          [&](size_t a, size_t b) { return before(other[a], other[b]); });
  }

  /// Along one dimension ranks of the parts have the same order, and the same of them have one coordinate.
  static bool lies_alike(const Ranks& first, const Ranks& part, uint32_t stride, uint32_t size) {
    const auto at = [&](uint32_t rank) { return rank / stride % size; };
    std::vector<uint32_t> order(first.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return at(first[a]) < at(first[b]); });
    for (size_t i = 1; i < order.size(); ++i) {
      const bool farther = at(first[order[i - 1]]) < at(first[order[i]]);
      const uint32_t before = at(part[order[i - 1]]);
      const uint32_t here = at(part[order[i]]);
      if (farther ? before >= here : before != here) return false;
    }
    return true;
  }

  void find_units(Replicas& found) const {
    const Ranks& first = found.ranks.front();
    Components components(static_cast<uint32_t>(first.size()));
    const auto place_of = [&](uint32_t rank) {
      return static_cast<uint32_t>(std::lower_bound(first.begin(), first.end(), rank) - first.begin());
    };
    for (const GroupId g : found.groups.front())
      for (const uint32_t r : groups_.ranks(g))
        components.join(place_of(groups_.ranks(g).front()), place_of(r));
    std::vector<uint32_t> unit_of(first.size(), kNowhere);
    for (uint32_t i = 0; i < first.size(); ++i) {
      uint32_t& unit = unit_of[components.find(i)];
      if (unit == kNowhere) {
        unit = static_cast<uint32_t>(found.units.size());
        found.units.emplace_back();
      }
      found.units[unit].places.push_back(i);
    }
    for (uint32_t k = 0; k < found.groups.front().size(); ++k) {
      const GroupId g = found.groups.front()[k];
      found.units[unit_of[components.find(place_of(groups_.ranks(g).front()))]].groups.push_back(k);
    }
  }

  const Config& config_;
  const trace::JobTrace& traces_;
  const trace::Groups& groups_;
  const trace::CollectiveNumbers& numbers_;
  const std::vector<RankUse>& ranks_;
  std::vector<double> late_;  ///< by group: the part of a member's nodes before its first use; 2: unused
  std::vector<bool> apart_;   ///< by group: it always joins
  std::vector<uint32_t> replica_place_;  ///< by rank: in the part that is looked at, or the first one
};

}  // namespace

Replicas find_replicas(const Config& config, const trace::JobTrace& traces,
                       const std::vector<RankUse>& ranks) {
  Finder finder(config, traces, ranks);
  Replicas best;
  for (const double after : {0.75, 0.5, 0.25, 0.1, 0.0}) {
    Replicas found = finder.find(after);
    if (found.alike * static_cast<double>(found.others()) > best.alike * static_cast<double>(best.others()))
      best = std::move(found);
  }
  return best;
}

}  // namespace weft::graph
