// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/graph/layers.h"

#include <algorithm>
#include <array>
#include <optional>

#include "workload/graph/fidelity_rules.h"

namespace weft::graph {
namespace {

bool digit(char c) {
  return c >= '0' && c <= '9';
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), digit);
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

/// How long the beginning of `word` is that is one of `names`, perhaps `_` or `-`, and a number; 0: it is
/// none. `number`: where the number begins.
template <size_t N>
size_t numbered(const std::string& word, const std::array<std::string_view, N>& names, size_t& number) {
  size_t letters = 0;
  while (letters < word.size() && word[letters] >= 'a' && word[letters] <= 'z') ++letters;
  if (std::find(names.begin(), names.end(), std::string_view(word).substr(0, letters)) == names.end())
    return 0;
  number = letters;
  if (number < word.size() && (word[number] == '_' || word[number] == '-')) ++number;
  size_t end = number;
  while (end < word.size() && digit(word[end])) ++end;
  if (end == number || (end < word.size() && word[end] != '_' && word[end] != '-')) return 0;
  return end;
}

constexpr std::array<std::string_view, 8> kLayers = {"layer",       "layers",  "block",   "blocks",
                                                     "transformer", "encoder", "decoder", "h"};
constexpr std::array<std::string_view, 3> kIterations = {"iter", "iteration", "step"};
constexpr std::array<std::string_view, 2> kMicrobatches = {"mb", "microbatch"};
constexpr std::array<std::string_view, 4> kDirections = {"forward", "backward", "fwd", "bwd"};

}  // namespace

LayerName layer_of(std::string_view name) {
  constexpr std::string_view kShadow = "shadow_";
  if (name.substr(0, kShadow.size()) == kShadow) name.remove_prefix(kShadow.size());
  LayerName out;
  std::string_view first;   // the first word that is nothing else
  std::string_view before;  // the word before
  size_t words = 0;
  for (size_t at = 0; at <= name.size();) {
    const size_t end = std::min(name.find_first_of("./", at), name.size());
    std::string_view word = name.substr(at, end - at);
    at = end + 1;
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
      return digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || c == '@';
    });
    if (!plain) break;
    ++words;
    word = word.substr(0, word.find('@'));
    const std::string small = lower(word);
    size_t number = 0;
    if (const size_t length = numbered(small, kIterations, number); length == word.size() && length != 0) {
      out.iteration = word.substr(number);
    } else if (numbered(small, kMicrobatches, number) == word.size() && !word.empty()) {
    } else if (std::find(kDirections.begin(), kDirections.end(), small) != kDirections.end()) {
    } else if (const size_t layer = numbered(small, kLayers, number); layer != 0) {
      out.layer = word.substr(0, layer);
      return out;
    } else if (all_digits(word)) {
      if (!before.empty() && !all_digits(before)) {
        out.layer = std::string(before) + "." + std::string(word);
        return out;
      }
    } else if (first.empty()) {
      first = word;
    }
    before = word;
  }
  if (words > 1) out.layer = first;
  return out;
}

LayerTable::Ids LayerTable::ids(const trace::Node& node) {
  Ids ids = named(node.name);
  if (node.has_iteration) ids.iteration = iteration(node.iteration);
  return ids;
}

LayerTable::Ids LayerTable::named(const std::string& node_name) {
  const auto known = by_node_.find(node_name);
  if (known != by_node_.end()) return known->second;
  LayerName layer = layer_of(node_name);
  const auto [it, fresh] = ids_.try_emplace(layer, static_cast<uint32_t>(layers_.size()));
  if (fresh) layers_.push_back(std::move(layer));
  const std::optional<uint64_t> number = iteration_of(std::string_view(node_name));
  const Ids ids{it->second, number ? iteration(*number) : kNoIteration};
  constexpr size_t kKept = 1u << 16;
  if (by_node_.size() < kKept) by_node_.emplace(node_name, ids);
  return ids;
}

uint32_t LayerTable::iteration(uint64_t number) {
  const auto [it, fresh] = iteration_ids_.try_emplace(number, static_cast<uint32_t>(iterations_.size()));
  if (fresh) iterations_.push_back(number);
  return it->second;
}

LayerClock::Ticket LayerClock::started(const trace::Node& node, RankState state, Picoseconds now) {
  const Ticket ticket{orders_++, table_.ids(node)};
  const LayerTable::Ids ids = ticket.ids;
  if (place_of_.size() <= ids.layer) place_of_.resize(ids.layer + size_t{1});
  if (place_of_[ids.layer] == 0) {
    times_.emplace_back();
    place_of_[ids.layer] = static_cast<uint32_t>(times_.size());
  }
  ++of_layer(ids.layer).nodes;
  if (ids.iteration != LayerTable::kNoIteration) {
    if (iterations_.size() <= ids.iteration) iterations_.resize(ids.iteration + size_t{1});
    IterationTime& iteration = iterations_[ids.iteration];
    ++iteration.nodes;
    iteration.first = std::min(iteration.first, now);
  }
  outstanding_[static_cast<size_t>(state)].add(ticket);
  advance(now);
  return ticket;
}

void LayerClock::Outstanding::end(uint64_t order) {
  const auto begin = tickets_.begin() + static_cast<ptrdiff_t>(oldest_);
  const auto at = std::lower_bound(begin, tickets_.end(), order,
                                   [](const Entry& entry, uint64_t n) { return entry.ticket.order < n; });
  at->ended = true;
  while (!empty() && tickets_[oldest_].ended) ++oldest_;
  // No more are moved than have ended since they were moved last.
  if (2 * oldest_ < tickets_.size()) return;
  tickets_.erase(tickets_.begin(), tickets_.begin() + static_cast<ptrdiff_t>(oldest_));
  oldest_ = 0;
}

void LayerClock::ended(const Ticket& ticket, RankState state, Picoseconds now) {
  outstanding_[static_cast<size_t>(state)].end(ticket.order);
  if (ticket.ids.iteration != LayerTable::kNoIteration) iterations_[ticket.ids.iteration].last = now;
  advance(now);
}

void LayerClock::advance(Picoseconds now) {
  auto top = static_cast<size_t>(kRankStates - 1);
  while (top > 0 && outstanding_[top].empty()) --top;
  const LayerTable::Ids ids = top == 0 ? LayerTable::Ids{} : outstanding_[top].oldest().ids;
  const auto state = static_cast<RankState>(top);
  if (state == state_ && ids.layer == ids_.layer && ids.iteration == ids_.iteration) return;
  if (state_ != RankState::idle) {
    of_layer(ids_.layer).spent[static_cast<size_t>(state_)] += now - since_;
    if (ids_.iteration != LayerTable::kNoIteration)
      iterations_[ids_.iteration].spent[static_cast<size_t>(state_)] += now - since_;
  }
  since_ = now;
  state_ = state;
  ids_ = ids;
}

std::vector<LayerTime> LayerClock::times(Picoseconds end) const {
  std::vector<LayerTime> out(place_of_.size());
  for (size_t layer = 0; layer < out.size(); ++layer)
    if (place_of_[layer] != 0) out[layer] = times_[place_of_[layer] - 1];
  if (state_ != RankState::idle) out[ids_.layer].spent[static_cast<size_t>(state_)] += end - since_;
  return out;
}

std::vector<IterationTime> LayerClock::iterations(Picoseconds end) const {
  std::vector<IterationTime> out = iterations_;
  if (state_ != RankState::idle && ids_.iteration != LayerTable::kNoIteration)
    out[ids_.iteration].spent[static_cast<size_t>(state_)] += end - since_;
  // What is outstanding has not ended yet.
  for (const Outstanding& outstanding : outstanding_)
    outstanding.for_each([&](const Ticket& ticket) {
      if (ticket.ids.iteration != LayerTable::kNoIteration) out[ticket.ids.iteration].last = end;
    });
  return out;
}

}  // namespace weft::graph
