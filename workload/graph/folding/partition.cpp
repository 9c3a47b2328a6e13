// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/graph/folding/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace weft::graph {
namespace {

/// Numbers for values, from 0, by first use.
class Numbers {
 public:
  uint32_t of(const Digest::Value& value) {
    return numbers_.emplace(value, static_cast<uint32_t>(numbers_.size())).first->second;
  }
  size_t size() const { return numbers_.size(); }

 private:
  std::map<Digest::Value, uint32_t> numbers_;
};

/// How the ranks of a class use one FullyConnected dimension for messages to one peer.
struct Offsets {
  bool known = false;
  uint32_t shift = 0;
  uint32_t exchange = 0;
};

}  // namespace

Partition::Partition(const Config& config, const std::vector<RankUse>& ranks, Analysis& analysis)
    : ranks_(ranks),
      analysis_(analysis),
      ways_(config),
      mixed_(config, ranks, analysis.groups(), analysis.shapes()),
      dimensions_(static_cast<uint32_t>(config.dimensions.size())),
      config_(config),
      reasons_(ranks.size()),
      joined_(ranks.size(), false) {
  for (uint32_t r = 0; r < ranks.size(); ++r)
    for (uint32_t k = 0; k < ranks[r].peers.size(); ++k) places_[key(r, ranks[r].peers[k].rank)] = k;
  refine();
  find_reasons();
  check_mixed();
  check_links();
}

/// Splits classes until no rank can tell another one of its class from itself.
void Partition::refine() {
  Numbers first;
  for (const RankUse& rank : ranks_) colours_.push_back(first.of(rank.digest));
  size_t classes = first.size();
  while (mixed_.look(colours_) || !places_.empty()) {
    Numbers next;
    std::vector<uint32_t> finer;
    finer.reserve(ranks_.size());
    for (uint32_t r = 0; r < ranks_.size(); ++r) {
      Digest digest;
      digest.add(colours_[r]);
      for (const Peer& peer : ranks_[r].peers) {
        digest.add(colours_[peer.rank]);
        digest.add(place_at(r, peer.rank));
      }
      mixed_.describe(r, digest);
      finer.push_back(next.of(digest.value()));
    }
    colours_ = std::move(finer);
    if (next.size() == classes) return;
    classes = next.size();
  }
}

/// A component folds as a whole or not at all.
void Partition::find_reasons() {
  for (uint32_t r = 0; r < ranks_.size(); ++r) {
    std::string& why = reasons_[analysis_.components().find(r)];
    const uint32_t first = analysis_.members().find(r);
    if (!why.empty()) continue;
    if (!ranks_[r].reason.empty()) {
      why = ranks_[r].reason;
    } else if (ranks_[r].digest != ranks_[first].digest ||
               ranks_[r].groups.size() != ranks_[first].groups.size()) {
      why = "ranks that communicate with each other have different traces";
    } else if (colours_[r] != colours_[first]) {
      why = "ranks of one communicator group exchange point-to-point messages with ranks that differ";
    } else {
      why = mixed_.reason(r, colours_);
    }
  }
}

/// Of a class whose component has mixed groups the first rank is simulated, and must reach those of the other
/// classes: what joins it with others joins first ranks.
void Partition::check_mixed() {
  constexpr uint32_t kNone = ~0u;
  std::vector<uint32_t> firsts(ranks_.size(), kNone);  // by class
  std::vector<bool> single(ranks_.size(), true);       // likewise
  std::vector<Digest::Value> orders(ranks_.size());    // likewise
  for (uint32_t r = 0; r < ranks_.size(); ++r) {
    if (mixed_.any(r)) joined_[analysis_.components().find(r)] = true;
    uint32_t& first = firsts[colours_[r]];
    if (first != kNone) single[colours_[r]] = false;
    if (first == kNone) first = r;
  }
  std::vector<bool> some(ranks_.size(), false);  // by the component's lowest rank: some class has two ranks
  for (uint32_t r = 0; r < ranks_.size(); ++r) {
    if (!single[colours_[r]]) some[analysis_.components().find(r)] = true;
  }
  const auto component = [this](uint32_t r) { return analysis_.components().find(r); };
  std::map<uint32_t, std::string> refused;  // by class
  for (uint32_t r = 0; r < ranks_.size(); ++r) {
    if (!joined_[component(r)] || !reasons_[component(r)].empty()) continue;
    if (!some[component(r)]) {
      reasons_[component(r)] = mixed_.unlike(r);
      continue;
    }
    std::string why;
    const Digest::Value order = mixed_.order(r, why);
    if (firsts[colours_[r]] == r) {
      orders[colours_[r]] = order;
      if (why.empty() && !closed(r, firsts))
        why = "the groups of ranks that are otherwise identical do not correspond to each other";
    } else if (why.empty() && orders[colours_[r]] != order) {
      why = "messages of two groups that come at one instant are not taken in the same order at all ranks";
    }
    if (!why.empty()) refused.emplace(colours_[r], why);
  }
  for (uint32_t r = 0; r < ranks_.size() && !refused.empty(); ++r) {
    const auto why = refused.find(colours_[r]);
    if (why != refused.end() && reasons_[component(r)].empty()) reasons_[component(r)] = why->second;
  }
}

bool Partition::closed(uint32_t rank, const std::vector<uint32_t>& firsts) const {
  const auto is_first = [&](uint32_t r) { return firsts[colours_[r]] == r; };
  for (const Peer& peer : ranks_[rank].peers) {
    if (!is_first(peer.rank)) return false;
  }
  for (const trace::GroupId g : ranks_[rank].groups) {
    const auto& members = mixed_.members(g);
    if (mixed_.mixed(g) && !std::all_of(members.begin(), members.end(), is_first)) return false;
  }
  return true;
}

/// FullyConnected: the links of a class' ranks must correspond to each other, for messages as for
/// collectives.
void Partition::check_links() {
  const uint32_t colours = colours_.empty() ? 0 : *std::max_element(colours_.begin(), colours_.end()) + 1;
  exchanges_.assign(colours, 0);
  std::vector<uint32_t> shifts(colours, 0);
  std::vector<uint32_t> no_shift(colours, 0);
  std::vector<uint32_t> no_exchange(colours, 0);
  std::map<std::pair<uint32_t, uint32_t>, Offsets> offsets;  // by colour, and peer and dimension
  for (uint32_t r = 0; r < ranks_.size(); ++r) {
    const uint32_t colour = colours_[r];
    exchanges_[colour] |= ranks_[r].exchanges;
    shifts[colour] |= ranks_[r].shifts;
    for (uint32_t k = 0; k < ranks_[r].peers.size(); ++k) {
      const uint32_t peer = ranks_[r].peers[k].rank;
      for (const uint32_t d : {ways_.first_dimension(r, peer), ways_.last_dimension(r, peer)}) {
        const DimensionConfig& dimension = config_.dimensions[d];
        if (!Shape(dimension).joins_pairs()) continue;
        const uint32_t here = ways_.coordinate(r, d);
        const uint32_t there = ways_.coordinate(peer, d);
        const uint32_t shift = (there + dimension.size - here) % dimension.size;
        Offsets& of = offsets[{colour, k * dimensions_ + d}];
        if (!of.known) of = {true, shift, here ^ there};
        if (of.shift != shift) no_shift[colour] |= 1u << d;
        if (of.exchange != (here ^ there) || (dimension.size & (dimension.size - 1)) != 0)
          no_exchange[colour] |= 1u << d;
      }
    }
  }
  for (uint32_t r = 0; r < ranks_.size(); ++r) {
    const uint32_t colour = colours_[r];
    const uint32_t free = no_shift[colour] & ~shifts[colour];  // .. and the links may be exchanged
    const uint32_t wrong = (no_shift[colour] & no_exchange[colour]) |
                           (no_exchange[colour] & exchanges_[colour]) | (no_shift[colour] & shifts[colour]);
    std::string& why = reasons_[analysis_.components().find(r)];
    if (wrong != 0 && why.empty())
      why = fmt::format(
          "point-to-point messages use the links of FullyConnected dimension {} differently at ranks that "
          "are "
          "otherwise identical",
          __builtin_ctz(wrong));
    if (wrong == 0) exchanges_[colour] |= free;
  }
}

std::vector<std::vector<uint32_t>> Partition::classes() {
  std::map<uint32_t, std::vector<uint32_t>> alike;
  for (uint32_t r = 0; r < ranks_.size(); ++r) {
    if (reason(r).empty()) alike[colours_[r]].push_back(r);
  }
  std::vector<std::vector<uint32_t>> classes;
  for (auto& entry : alike) {
    if (entry.second.size() > 1) classes.push_back(std::move(entry.second));
  }
  std::sort(classes.begin(), classes.end());
  return classes;
}

}  // namespace weft::graph
