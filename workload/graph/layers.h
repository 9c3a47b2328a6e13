// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Layers of a model: which layer a trace node belongs to, by its name, and where a rank's time went layer by
// layer.

#ifndef WEFT_WORKLOAD_GRAPH_LAYERS_H
#define WEFT_WORKLOAD_GRAPH_LAYERS_H

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "configs/types.h"
#include "workload/graph/rank_services.h"

namespace weft::graph {

/// What a node's name says. `iteration`: a number, or empty. `layer`: empty when the name has none.
///
/// Names are words between dots or slashes; reading ends at a word with other characters than letters,
/// digits,
/// `_`, `-` and `@`, and `@` ends a word. A leading `shadow_` does not count. Words that are passed over:
/// iterations (`iter3`, `iteration_3`, `step-3`), microbatches (`mb3`, `microbatch3`) and directions
/// (`forward`, `backward`, `fwd`, `bwd`). The layer is
///  - a word that begins with one of layer, layers, block, blocks, transformer, encoder, decoder, h and a
///  number:
///    `layer3`, `block_3`, of `layer3_attention` `layer3`;
///  - else a word and the number after it: `transformer.3`, `layers.3`;
///  - else, in a name of several words, the first one left: `embedding`, `optimizer`.
/// The first two are looked for in the whole name before the third is taken.
struct LayerName {
  std::string iteration;
  std::string layer;
  bool operator<(const LayerName& o) const {
    return iteration != o.iteration ? iteration < o.iteration : layer < o.layer;
  }
};
LayerName layer_of(std::string_view node_name);

/// The layers of a job, numbered in the order in which they turn up.
class LayerTable {
 public:
  uint32_t id(const std::string& node_name);
  const std::vector<LayerName>& layers() const { return layers_; }

 private:
  std::map<LayerName, uint32_t> ids_;
  std::vector<LayerName> layers_;
  std::unordered_map<std::string, uint32_t> by_node_;  ///< names that have been looked up: ranks share them
};

struct LayerTime {
  std::array<Picoseconds, kRankStates> spent{};  ///< by RankState; idle stays 0
  uint64_t nodes = 0;                            ///< that took time, or part in communication
};

/// The time of one rank by layer. At each instant the rank's time counts for one layer: that of the oldest
/// node outstanding among those that give the rank its state. Over all layers a state's times thus add up to
/// the rank's.
class LayerClock {
 public:
  explicit LayerClock(LayerTable& table) : table_(table) {}

  struct Ticket {
    uint64_t order = 0;
    uint32_t layer = 0;
  };
  Ticket started(const std::string& node_name, RankState state, Picoseconds now);
  void ended(const Ticket& ticket, RankState state, Picoseconds now);

  /// By layer id (shorter than the table when the last layers are not this rank's), up to `end`.
  std::vector<LayerTime> times(Picoseconds end) const;

 private:
  void advance(Picoseconds now);

  LayerTable& table_;
  std::array<std::set<std::pair<uint64_t, uint32_t>>, kRankStates> outstanding_;  ///< (order, layer)
  std::vector<LayerTime> times_;
  uint64_t orders_ = 0;
  RankState state_ = RankState::idle;
  uint32_t layer_ = 0;
  Picoseconds since_ = 0;
};

}  // namespace weft::graph

#endif
