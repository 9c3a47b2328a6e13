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
      dimensions_(static_cast<uint32_t>(config.dimensions.size())),
      config_(config),
      reasons_(ranks.size()) {
  for (uint32_t r = 0; r < ranks.size(); ++r)
    for (uint32_t k = 0; k < ranks[r].peers.size(); ++k) places_[key(r, ranks[r].peers[k].rank)] = k;
  refine();
  find_reasons();
  check_links();
}

/// Splits classes until no rank can tell another one of its class from itself.
void Partition::refine() {
  Numbers first;
  for (const RankUse& rank : ranks_) colours_.push_back(first.of(rank.digest));
  size_t classes = first.size();
  while (!places_.empty()) {
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
    }
  }
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
