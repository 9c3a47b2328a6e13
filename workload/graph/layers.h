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
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "configs/types.h"
#include "workload/graph/rank_services.h"
#include "workload/trace/node.h"

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

/// The layers and the training iterations of a job, each numbered in the order in which they turn up.
class LayerTable {
 public:
  static constexpr uint32_t kNoIteration = ~uint32_t{0};
  struct Ids {
    uint32_t layer = 0;
    uint32_t iteration = kNoIteration;  ///< as iteration_of() (fidelity_rules.h) reads the node
  };
  Ids ids(const trace::Node& node);
  const std::vector<LayerName>& layers() const { return layers_; }
  const std::vector<uint64_t>& iterations() const { return iterations_; }

 private:
  Ids named(const std::string& node_name);
  uint32_t iteration(uint64_t number);

  std::map<LayerName, uint32_t> ids_;
  std::vector<LayerName> layers_;
  std::unordered_map<std::string, Ids> by_node_;  ///< names that have been looked up: ranks share them
  std::unordered_map<uint64_t, uint32_t> iteration_ids_;
  std::vector<uint64_t> iterations_;
};

struct LayerTime {
  std::array<Picoseconds, kRankStates> spent{};  ///< by RankState; idle stays 0
  uint64_t nodes = 0;                            ///< that took time, or part in communication
};

struct IterationTime : LayerTime {
  Picoseconds first = kNever;  ///< its first node began
  Picoseconds last = 0;        ///< the last one of those that have finished did so
};

/// The time of one rank by layer, and by iteration. At each instant the rank's time counts for one layer:
/// that of the oldest node outstanding among those that give the rank its state. Over all layers a state's
/// times thus add up to the rank's.
class LayerClock {
 public:
  explicit LayerClock(LayerTable& table) : table_(table) {}

  struct Ticket {
    uint64_t order = 0;
    LayerTable::Ids ids;
  };
  Ticket started(const trace::Node& node, RankState state, Picoseconds now);
  void ended(const Ticket& ticket, RankState state, Picoseconds now);

  /// By layer id (shorter than the table when the last layers are not this rank's), up to `end`.
  std::vector<LayerTime> times(Picoseconds end) const;
  /// By iteration id, as times().
  std::vector<IterationTime> iterations(Picoseconds end) const;

 private:
  /// The tickets of one state, oldest first. One that ends in the middle stays, marked, until it is the
  /// oldest.
  class Outstanding {
   public:
    void add(const Ticket& ticket) { tickets_.push_back({ticket, false}); }
    void end(uint64_t order);
    bool empty() const { return oldest_ == tickets_.size(); }
    const Ticket& oldest() const { return tickets_[oldest_].ticket; }
    template <typename F>
    void for_each(F&& f) const {
      for (size_t i = oldest_; i < tickets_.size(); ++i)
        if (!tickets_[i].ended) f(tickets_[i].ticket);
    }

   private:
    struct Entry {
      Ticket ticket;
      bool ended;
    };
    std::vector<Entry> tickets_;  ///< those before oldest_ have ended
    size_t oldest_ = 0;
  };

  void advance(Picoseconds now);
  LayerTime& of_layer(uint32_t layer) { return times_[place_of_[layer] - 1]; }

  LayerTable& table_;
  std::array<Outstanding, kRankStates> outstanding_;
  std::vector<uint32_t> place_of_;  ///< by layer: its place in times_ + 1; 0: no node of it has started here
  std::vector<LayerTime> times_;
  std::vector<IterationTime> iterations_;
  uint64_t orders_ = 0;
  RankState state_ = RankState::idle;
  LayerTable::Ids ids_;
  Picoseconds since_ = 0;
};

}  // namespace weft::graph

#endif
