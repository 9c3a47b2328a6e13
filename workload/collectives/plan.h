// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A collective's plan: its chunks and phases on the machine's dimensions, the same object for every rank.
// Immutable; made by a PlanBuilder from the configuration and a request.

#ifndef WEFT_WORKLOAD_COLLECTIVES_PLAN_H
#define WEFT_WORKLOAD_COLLECTIVES_PLAN_H

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "configs/blueprint/shape.h"
#include "configs/config.h"
#include "workload/collectives/algorithm.h"

namespace weft::collectives {

/// The ranks of a communicator, in the order of their indices within it. `ranks` empty: every rank of the
/// machine.
struct Group {
  uint32_t id = 0;
  std::string name;
  std::vector<uint32_t> ranks;

  uint32_t size(uint32_t npus) const { return ranks.empty() ? npus : static_cast<uint32_t>(ranks.size()); }
};

/// Settings of some collectives in place of the configuration's (`collectives.rules`, a node's `algorithm`).
struct PlanSettings {
  std::vector<std::string> algorithms;   ///< one a dimension; empty: the configuration's
  std::optional<CollectiveOrder> order;  ///< empty: the configuration's
  std::optional<uint32_t> chunks;        ///< empty: the configuration's
  std::string origin;                    ///< where they stand, to begin a message with
  Picoseconds delay = 0;                 ///< CollectivePlan::delay()

  bool operator<(const PlanSettings& o) const {
    return std::tie(algorithms, order, chunks, origin, delay) <
           std::tie(o.algorithms, o.order, o.chunks, o.origin, o.delay);
  }
};

/// What is asked of a plan. Sizes as in collectives.md: AR, broadcast, reduce the buffer of each rank; RS and
/// A2A each rank's input; AG and gather each rank's shard; scatter the root's buffer.
struct CollectiveRequest {
  CollectiveOp op = CollectiveOp::all_reduce;
  uint64_t bytes = 0;
  const Group* group = nullptr;
  uint32_t involved_dimensions = ~0u;  ///< bit d: dimension d takes part
  uint32_t root = 0;                   ///< rank in the machine; of rooted operations
  uint32_t element_bytes = 1;          ///< blocks differ by at most one element
  uint32_t settings = 0;               ///< of PlanBuilder::settings(); 0: the configuration's
};

/// One direction in which the members of a group are lined up: the coordinates that occur in a dimension, or
/// a flat list: of the ranks of a group that is no product of coordinate sets, or of all members for an
/// algorithm that runs the whole operation.
struct Axis {
  static constexpr uint32_t kFlat = ~0u;
  uint32_t dimension = 0;        ///< kFlat: `values` are ranks (from `base`, if it spans dimensions)
  uint32_t stride = 1;           ///< ranks from one coordinate to the next
  uint32_t size = 1;             ///< members along the axis
  std::vector<uint32_t> values;  ///< coordinates (or ranks) by index; empty: coordinate i is index i
  uint32_t spans = 0;            ///< kFlat, bit d: it runs over dimension d, and `values` ascend
  uint32_t crosses = 0;          ///< bit d: members differ in dimension d, so that messages may use its links

  uint32_t value(uint32_t i) const { return values.empty() ? i : values[i]; }
  /// The rank at index i of the line whose coordinate 0 is rank `base`.
  uint32_t rank(uint32_t base, uint32_t i) const {
    return dimension == kFlat ? base + value(i) : base + value(i) * stride;
  }
};

/// A part of a line of `size` NPUs, as ascending coordinates: every n-th of all.
bool equally_spaced(const std::vector<uint32_t>& part, uint32_t size);
/// Its members are alike by their places in it: the axis is a whole line, any part of a Switch, or at
/// `analytical` fidelity any part of a FullyConnected and an equally spaced one of a Ring.
bool members_alike(const Config& config, const Axis& axis);

/// Scheduling queues of a dimension: its own `queues`, else `collectives.queues_per_dimension` where NPUs are
/// joined to their neighbours, so that there are two directions, and one elsewhere.
inline uint32_t queues_of(const Config& config, const DimensionConfig& dimension) {
  if (dimension.queues != 0) return dimension.queues;
  return Shape(dimension).joins_neighbours() ? config.collectives.queues_per_dimension : 1;
}
/// .. of an axis; a flat list has one.
inline uint32_t queues_of(const Config& config, const Axis& axis) {
  return axis.dimension == Axis::kFlat ? 1 : queues_of(config, config.dimensions[axis.dimension]);
}
/// The most that any dimension has.
uint32_t most_queues(const Config& config);
/// A rank's scheduling queues: as many for every dimension, and for flat lines.
inline size_t queue_count(const Config& config) {
  return (config.dimensions.size() + 1) * most_queues(config);
}

/// The queues that the chunks of a phase take turns in (`phase_queues`): `count` of them from `first` on.
struct PhaseQueueRange {
  uint32_t first = 0;
  uint32_t count = 1;
  uint32_t of(uint32_t chunk) const { return first + chunk % count; }
};
inline PhaseQueueRange queues_of_phase(const Config& config, const Axis& axis, CollectiveOp phase) {
  const uint32_t all = queues_of(config, axis);
  if (axis.dimension == Axis::kFlat || all < 2 ||
      config.dimensions[axis.dimension].phase_queues == PhaseQueues::shared)
    return {0, all};
  return {phase == CollectiveOp::all_gather ? all / 2 : 0, all / 2};
}
/// Does a queue go in the direction of descending coordinates? Every second one, unless the dimension is
/// `one_way`.
inline bool goes_down(const Config& config, const Axis& axis, uint32_t queue) {
  return (queue & 1) != 0 && axis.dimension != Axis::kFlat &&
         config.dimensions[axis.dimension].direction == RingDirection::both;
}
inline bool goes_down(const Config& config, const Axis& axis, CollectiveOp phase, uint32_t chunk) {
  return goes_down(config, axis, queues_of_phase(config, axis, phase).of(chunk));
}
/// Directions that the queues of a dimension go in.
inline uint32_t directions_of(const Config& config, const DimensionConfig& dimension) {
  return dimension.direction == RingDirection::both && queues_of(config, dimension) > 1 ? 2 : 1;
}

/// An axis as one rank sees it.
struct AxisView {
  const Axis* axis = nullptr;
  uint32_t base = 0;  ///< the rank at coordinate 0 of this rank's line; 0 for a flat list of ranks
  uint32_t me = 0;    ///< this rank's index along the axis

  uint32_t rank(uint32_t i) const { return axis->rank(base, i); }
};

struct PhasePlan {
  CollectiveOp op = CollectiveOp::all_reduce;
  uint16_t axis = 0;
  const Algorithm* algorithm = nullptr;
  uint32_t root = 0;         ///< index of the root along the axis
  Picoseconds duration = 0;  ///< of a full chunk alone, for schedulers that compare phases
  /// Full exchanges of the phase, by round; empty: there is none on a whole line of a Ring.
  std::vector<Exchange> exchanges;
  PhaseQueueRange queues;  ///< of a rank's scheduling queues, those of all dimensions together
};

class CollectivePlan {
 public:
  const CollectiveRequest& request() const { return request_; }
  const std::vector<Axis>& axes() const { return axes_; }
  /// The phases of a chunk, in order. Every chunk has as many; schedulers may order their dimensions
  /// differently.
  const std::vector<PhasePlan>& phases(uint32_t chunk = 0) const {
    return orders_[chunk < order_of_chunk_.size() ? order_of_chunk_[chunk] : 0];
  }
  /// The scheduling queue of a rank that a chunk is in during a phase, the same for all members.
  uint32_t queue(uint32_t chunk, uint32_t phase) const { return phases(chunk)[phase].queues.of(chunk); }
  /// The different lists of phases that occur.
  const std::vector<std::vector<PhasePlan>>& orders() const { return orders_; }
  uint32_t members() const { return members_; }
  /// Of one line: a collective restricted to some dimensions is one of its own on every line.
  uint64_t line_members() const {
    uint64_t members = 1;
    for (const Axis& axis : axes_) members *= axis.size;
    return members;
  }
  uint32_t chunks() const { return chunks_; }
  uint64_t chunk_bytes(uint32_t chunk) const {
    return chunk + 1 == chunks_ ? request_.bytes - base_chunk_ * (chunks_ - 1) : base_chunk_;
  }
  /// Fewer chunks than configured, because there were fewer elements.
  bool chunks_reduced() const { return chunks_reduced_; }
  /// The all-gathers of the chunk's all-reduce do not undo its reduce-scatters last to first (`themis_flex`).
  /// Any order gives every member everything; a member then holds the same pieces of the chunk in another
  /// nesting, which is why all pieces of such a chunk are of one size.
  bool rearranged(uint32_t chunk) const {
    return rearranged_[chunk < order_of_chunk_.size() ? order_of_chunk_[chunk] : 0];
  }
  /// Nothing to send: one member, or no bytes.
  bool empty() const { return orders_[0].empty(); }
  /// Each member waits so long before it begins (a what-if delay).
  Picoseconds delay() const { return delay_; }
  /// Of an all-reduce: every member needs what others have made of its own contribution, so that it ends two
  /// messages after its start at the earliest. The root of a tree, say, does not: it may come last and find
  /// everything there.
  bool brings_back() const;
  /// Some phase runs in_switch.
  bool uses_units() const { return uses_units_; }

  /// Every member does alike at the same time with blocks of one size, on whole lines of rings, full
  /// connections and switches: one member tells all. Otherwise why not.
  std::string asymmetry(const Config& config) const;

  /// Of a plan without asymmetry: do members differ in what they do with their links, or can messages of
  /// different chunks reach a member at one instant from different peers? Such ties are broken by the peers'
  /// numbers, which is not alike for all members. Empty: neither, whatever other collectives of this kind run
  /// beside it.
  std::string ties(const Config& config) const;

  /// How members that do alike use the links of their FullyConnected dimensions. Bit d of `exchanges`: member
  /// i uses the link to member p as member j uses the one to p ^ i ^ j; of `shifts`: .. to p - i + j.
  /// Neither: all their links alike.
  /// Of `uneven`, a Ring: members send in different directions at one time.
  struct LinkImages {
    uint32_t exchanges = 0;
    uint32_t shifts = 0;
    uint32_t uneven = 0;
  };
  LinkImages link_images(const Config& config) const;
  /// All messages travel along one dimension each.
  bool along_dimensions() const;

  /// A rank's place on every axis. The rank must be a member.
  void views(uint32_t rank, std::vector<AxisView>& out) const;
  /// Index of a rank within the group, ~0u if it is no member.
  uint32_t member_index(uint32_t rank) const;

  /// Does the rank take part in the phase (rooted operations: only lines that hold or want data)?
  bool participates(const std::vector<AxisView>& views, uint32_t phase) const;
  /// The blocks of a chunk in a phase, at this rank.
  Split split(const std::vector<AxisView>& views, uint32_t chunk, uint32_t phase) const;
  PhaseShape shape(const std::vector<AxisView>& views, uint32_t phase, bool reverse,
                   uint32_t chunk = 0) const {
    const PhasePlan& p = phases(chunk)[phase];
    return {p.op, axes_[p.axis].size, views[p.axis].me, p.root, reverse, chunk};
  }

 private:
  friend class PlanBuilder;
  CollectiveRequest request_;
  std::vector<Axis> axes_;
  std::vector<std::vector<PhasePlan>> orders_{1};  ///< the different phase lists that occur
  std::vector<bool> rearranged_{false};            ///< by order
  std::vector<uint16_t> order_of_chunk_;           ///< empty: all chunks use the first
  std::vector<uint32_t> strides_;                  ///< of the machine's dimensions
  std::vector<uint32_t> sizes_;
  std::vector<uint32_t> ranks_;               ///< sorted members; empty: all
  std::shared_ptr<const Algorithm> program_;  ///< of a `custom` algorithm: keeps it alive
  uint32_t members_ = 1;
  uint32_t chunks_ = 1;
  uint64_t base_chunk_ = 0;
  Picoseconds delay_ = 0;
  bool chunks_reduced_ = false;
  bool uses_units_ = false;
};

/// Bytes of a barrier's tokens.
constexpr uint64_t kBarrierToken = 8;

/// Makes plans and keeps them: the same request gives the same object.
class PlanBuilder {
 public:
  explicit PlanBuilder(const Config& config);

  /// Throws UserError(usage) when an algorithm cannot run on a dimension it is configured for, and
  /// UserError(trace) when a custom program is malformed, deadlocks or does not do what the operation is
  /// defined to do.
  std::shared_ptr<const CollectivePlan> plan(const CollectiveRequest& request);

  /// A number for the settings: the same for the same ones.
  uint32_t settings(const PlanSettings& settings);
  const PlanSettings& settings(uint32_t id) const { return *settings_[id]; }

  const Config& config() const { return config_; }

 private:
  std::shared_ptr<CollectivePlan> build(const CollectiveRequest& request);
  void find_axes(CollectivePlan& plan) const;
  void flatten(CollectivePlan& plan) const;
  /// What holds for the plan: its settings, else the configuration's.
  const std::vector<std::string>& algorithms_of(const CollectiveRequest& request) const;
  CollectiveOrder order_of(const CollectiveRequest& request) const;
  /// "machine.yaml: key `collectives.all_reduce`", or where its settings stand.
  std::string origin_of(const CollectiveRequest& request) const;
  const std::string* whole_algorithm(const CollectiveRequest& request) const;
  std::shared_ptr<const Algorithm> custom(const CollectivePlan& plan, const std::string& name);
  [[noreturn]] void fail(const CollectivePlan& plan, const std::string& where, const std::string& why) const;
  void refuse_disproven(const CollectivePlan& plan, const PhasePlan& phase) const;
  void lay_out_phases(CollectivePlan& plan) const;
  void number_queues(CollectivePlan& plan) const;
  void check_segments(const CollectivePlan& plan) const;
  /// How the all-gathers of an all-reduce follow its reduce-scatters.
  enum class Gathers : uint8_t {
    backwards,  ///< last to first
    greedy,     ///< in an order of their own, as the loads are then
    levelling   ///< likewise, where that lowers the highest load
  };
  void find_exchanges(const CollectivePlan& plan, PhasePlan& phase) const;
  /// `final`: not only to look at; checked, and with durations if the schedulers want them.
  void order_phases(CollectivePlan& plan, Gathers policy, bool final = true) const;
  /// Of `chunks: auto`.
  uint32_t chosen_chunks(const CollectivePlan& plan) const;
  /// `order`: the axes as the data falls apart; `gathers`: as if they fell apart in the order in which the
  /// all-gathers put them together, last to first.
  std::vector<PhasePlan> phase_list(const CollectivePlan& plan, const std::vector<uint32_t>& order,
                                    const std::vector<uint32_t>& gathers, bool two_phases) const;
  /// The axes, least loaded first; `rather` instead unless the highest load after it is higher. Adds to
  /// `load`.
  std::vector<uint32_t> greedy_order(const CollectivePlan& plan, std::vector<double>& load,
                                     const std::vector<uint32_t>& rather = {}) const;
  Picoseconds phase_duration(const CollectivePlan& plan, const std::vector<PhasePlan>& phases,
                             uint32_t phase) const;
  const Algorithm* algorithm(const CollectivePlan& plan, CollectiveOp phase_op, const Axis& axis) const;

  const Config& config_;
  std::vector<uint32_t> strides_;
  std::map<PlanSettings, uint32_t> settings_ids_{{PlanSettings{}, 0}};
  std::vector<const PlanSettings*> settings_{&settings_ids_.begin()->first};
  using Key = std::tuple<uint32_t, CollectiveOp, uint64_t, uint32_t, uint32_t, uint32_t, uint32_t>;
  std::map<Key, std::shared_ptr<const CollectivePlan>> plans_;
  std::map<std::pair<std::string, uint32_t>, std::shared_ptr<const Algorithm>>
      programs_;  ///< prefix, members
};

}  // namespace weft::collectives

#endif
