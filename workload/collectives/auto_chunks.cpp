// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/auto_chunks.h"

#include <algorithm>
#include <optional>

#include "configs/end_delays.h"
#include "configs/tree.h"
#include "workload/collectives/in_switch.h"
#include "workload/collectives/sample.h"

namespace weft::collectives {
namespace {

/// Rounds that are looked at; those of longer algorithms are alike, and these stand for them.
constexpr uint32_t kRounds = 4096;

/// How messages travel along an axis.
struct Ways {
  double latency = 0;         ///< of a hop; Switch: of the way through it
  double ps_per_byte = 0;     ///< of a link
  std::optional<Shape> line;  ///< where NPUs are joined to their neighbours
  bool pairs = false;         ///< a link to every peer
  uint32_t ports = 0;         ///< dimensions whose links it uses
};

double ps_per_byte(Rate rate) {
  return rate.bytes_per_second == 0 ? 0 : 1e12 / rate.value();
}

Ways ways_of(const Config& config, const Axis& axis, bool to_neighbour) {
  Ways ways;
  if (axis.dimension != Axis::kFlat) {
    const DimensionConfig& d = config.dimensions[axis.dimension];
    const Shape shape(d);
    ways = {static_cast<double>(step_latency(d)), ps_per_byte(d.link_rate()), {}, shape.joins_pairs(), 1};
    // Two NPUs have one wire each way, whatever joins them: there is no long way round and no second
    // direction.
    if (shape.joins_neighbours()) {
      if (d.size == 2) {
        ways.pairs = true;
      } else {
        ways.line = shape;
      }
    }
    return ways;
  }
  // A line that runs over several dimensions: the slowest links, the longest way.
  for (uint32_t d = 0; d < config.dimensions.size(); ++d) {
    const DimensionConfig& dimension = config.dimensions[d];
    if ((axis.crosses >> d & 1) == 0) continue;
    const auto latency = static_cast<double>(step_latency(dimension));
    ++ways.ports;
    ways.latency = to_neighbour ? std::max(ways.latency, latency) : ways.latency + latency;
    ways.ps_per_byte = std::max(ways.ps_per_byte, ps_per_byte(dimension.link_rate()));
  }
  return ways;
}

EndDelays ends_of(const Config& config, const Axis& axis) {
  return axis.dimension != Axis::kFlat ? end_delays(config, config.dimensions[axis.dimension])
                                       : most_end_delays(config);
}

uint32_t hops(const Ways& ways, const Axis& axis, uint32_t from, uint32_t to) {
  return ways.line ? ways.line->hops(axis.value(from), axis.value(to)) : 1;
}

/// A member's phase, every round as long as its links are busy with it.
class MemberCost {
 public:
  MemberCost(const Config& config, const Axis& axis, const PhasePlan& phase)
      : config_(config),
        axis_(axis),
        ring_(phase.algorithm == ring_algorithm()),
        ways_(ways_of(config, axis, ring_)),
        start_(static_cast<double>(ends_of(config, axis).start)),
        end_(static_cast<double>(ends_of(config, axis).end)) {}

  AxisCost of(const PhasePlan& phase, CollectiveOp op, const Split& split, uint32_t me) const {
    const PhaseShape shape{op, axis_.size, me, phase.root, false, 0};
    const uint32_t rounds = phase.algorithm->rounds(shape);
    AxisCost cost;
    Round round;
    const uint32_t looked = for_each_sample(rounds, kRounds, [&](uint32_t r) {
      phase.algorithm->round(shape, r, round);
      add(round, split, me, cost);
    });
    const double each = looked == 0 ? 0 : static_cast<double>(rounds) / looked;
    cost.latency = cost.latency * each + start_;
    cost.serialisation *= each;
    cost.way *= each;
    cost.step = ways_.latency + end_;
    if (rooted(op)) one_way(phase, split, rounds, cost);
    return cost;
  }

 private:
  /// Of an operation with a root the members' rounds follow each other along chains and trees.
  void one_way(const PhasePlan& phase, const Split& split, uint32_t rounds, AxisCost& cost) const {
    const double n = axis_.size;
    const bool whole = phase.op == CollectiveOp::broadcast || phase.op == CollectiveOp::reduce;
    double steps = rounds;
    double blocks = 0;  // one after the other on the longest way; 0: those of one message
    if (ring_) {
      steps = n - 1;
      blocks = whole ? 2 * n - 2 : n - 1;
    } else if (phase.algorithm == direct_algorithm()) {
      steps = 1;
    } else if (phase.algorithm == halving_doubling_algorithm()) {
      steps = log2_floor(axis_.size - 1) + 1;
      blocks = whole ? steps * n : n - 1;
    } else if (phase.algorithm == double_binary_tree_algorithm()) {
      const uint32_t height = log2_floor(axis_.size - 1);
      steps = height + 1;
      blocks = n + height * std::max(1.0, n / (8 * std::max(1u, height)));
    }
    cost.latency = steps * (ways_.latency + end_) + start_;
    if (blocks == 0) blocks = whole ? n : 1;
    const double bytes = blocks * static_cast<double>(split.base);
    cost.way = std::max(cost.serialisation, bytes * ways_.ps_per_byte);
    if (phase.op == CollectiveOp::reduce && config_.collectives.reduction == ReductionKind::fixed_bandwidth)
      cost.way += 3 * bytes * ps_per_byte(config_.collectives.reduction_bandwidth);
    // A line over several dimensions has ports in each of them.
    if (axis_.dimension == Axis::kFlat) cost.serialisation /= ways_.ports;
    cost.again = start_ + end_;
    cost.one_way = true;
  }

  void add(const Round& round, const Split& split, uint32_t me, AxisCost& cost) const {
    const bool line = ways_.line.has_value();
    double sum = 0;
    double largest = 0;
    double loaded = 0;  // bytes times the links they cross
    double way = 0;
    bool reduces = false;
    for (const RoundSend& send : round.sends) {
      const auto bytes = static_cast<double>(send.blocks.bytes(axis_.size, split));
      const uint32_t far = hops(ways_, axis_, me, send.to);
      sum += bytes;
      largest = std::max(largest, bytes);
      loaded += bytes * far;
      // A ring that a Mesh closes the long way round takes that way once a turn.
      way = std::max(way, ring_ && line && axis_.values.empty() ? 1.0 : far);
      reduces = reduces || send.reduce;
    }
    if (ring_ && line && !ways_.line->wraps()) way = 2;
    if (round.sends.empty() && round.receives == 0) return;
    cost.latency += std::max(way, 1.0) * ways_.latency + end_;
    double busy = sum;
    if (ways_.pairs) busy = largest;            // a link to every peer
    if (line) busy = ring_ ? sum : loaded / 2;  // the others use both directions
    const double injected = sum * ps_per_byte(config_.nmu.injection_bandwidth);
    const double sending = std::max(busy * ways_.ps_per_byte, injected);
    cost.serialisation += sending;
    cost.way += sending;
    if (reduces && config_.collectives.reduction == ReductionKind::fixed_bandwidth)
      cost.way += 3 * largest * ps_per_byte(config_.collectives.reduction_bandwidth);
  }

  const Config& config_;
  const Axis& axis_;
  bool ring_;
  Ways ways_;
  double start_;
  double end_;
};

AxisCost unit_cost(const Config& config, const CollectivePlan& plan, uint32_t phase, const Split& split) {
  const DimensionConfig& d = config.dimensions[plan.axes()[plan.phases()[phase].axis].dimension];
  const UnitLayout layout = UnitLayout::of(config, plan, 0, phase, split);
  const Picoseconds fixed = 2 * d.latency + d.collective_unit.latency;
  AxisCost cost;
  cost.latency = static_cast<double>(fixed + end_delays(config, d).start + end_delays(config, d).end);
  cost.serialisation = static_cast<double>(unit_time(d, layout) - fixed);
  cost.way = cost.serialisation;
  cost.step = cost.latency;
  return cost;
}

AxisCost phase_cost(const Config& config, const CollectivePlan& plan, const std::vector<AxisView>& views,
                    uint32_t p) {
  const PhasePlan& phase = plan.phases()[p];
  const Axis& axis = plan.axes()[phase.axis];
  Split split = plan.split(views, 0, p);
  if (phase.algorithm->in_switch()) return unit_cost(config, plan, p, split);
  // Blocks of one size: which of them are larger by an element does not matter here.
  split = {split.base + (split.extra != 0 ? split.unit : 0), 0, split.unit};
  const bool brought = phase.algorithm != ring_algorithm() && phase.algorithm != direct_algorithm() &&
                       phase.algorithm != halving_doubling_algorithm() &&
                       phase.algorithm != double_binary_tree_algorithm();
  const CollectiveOp op = brought ? phase.op : sent_by_root(phase.op);
  const MemberCost member(config, axis, phase);
  // Where members differ some of them stand for the rest: the root, its neighbours and those at the ends.
  std::vector<uint32_t> members{phase.root % axis.size};
  if (!phase.algorithm->symmetric(phase.op, axis.size)) {
    for (const uint32_t i : {0u, 1u, 2u, axis.size / 2, axis.size / 2 + 1, axis.size - 1})
      members.push_back(i % axis.size);
    for (const uint32_t i : {1u, 2u, axis.size - 1}) members.push_back((phase.root + i) % axis.size);
  }
  AxisCost cost;
  for (const uint32_t me : members) {
    const AxisCost one = member.of(phase, op, split, me);
    cost.latency = std::max(cost.latency, one.latency);
    cost.serialisation = std::max(cost.serialisation, one.serialisation);
    cost.way = std::max(cost.way, one.way);
    cost.again = std::max(cost.again, one.again);
    cost.step = one.step;
    cost.one_way = one.one_way;
  }
  return cost;
}

}  // namespace

std::vector<AxisCost> axis_costs(const Config& config, const CollectivePlan& plan) {
  std::vector<AxisCost> axes(plan.axes().size());
  const std::vector<uint32_t>& group = plan.request().group->ranks;
  const bool root = rooted(plan.request().op);
  std::vector<AxisView> views;
  plan.views(root ? plan.request().root : group.empty() ? 0 : group[0], views);
  const CollectivesConfig& c = config.collectives;
  for (uint32_t p = 0; p < plan.phases().size(); ++p) {
    const uint32_t a = plan.phases()[p].axis;
    const AxisCost cost = phase_cost(config, plan, views, p);
    axes[a].latency += cost.latency;
    axes[a].serialisation += cost.serialisation;
    axes[a].way += cost.way;
    axes[a].step = cost.step;
    axes[a].again = cost.again;
    axes[a].one_way = cost.one_way;
    const Axis& axis = plan.axes()[a];
    axes[a].at_once = c.active_chunks_per_dimension * queues_of(config, axis);
    if (plan.phases()[p].algorithm == ring_algorithm())
      axes[a].directions =
          axis.dimension == Axis::kFlat ? 1 : directions_of(config, config.dimensions[axis.dimension]);
  }
  return axes;
}

double pipeline_estimate(const std::vector<AxisCost>& axes, uint32_t chunks) {
  double once = 0;
  double queue = 0;
  for (const AxisCost& axis : axes) {
    const double stage = axis.latency + axis.way / chunks;
    double turns = stage + (chunks - 1) * axis.again;
    double links = axis.step + axis.serialisation;
    if (!axis.one_way) {
      const uint32_t at_once = std::min(axis.at_once, chunks);
      turns = static_cast<double>((chunks + at_once - 1) / at_once) * stage;
      links = axis.step + axis.serialisation / std::min(axis.directions, chunks);
    }
    once += stage;
    queue = std::max(queue, std::max(turns, links) - stage);
  }
  return once + queue;
}

uint32_t auto_chunks(const std::vector<AxisCost>& axes) {
  const auto keeps = [&](uint32_t chunks) {
    const auto slowest =
        std::max_element(axes.begin(), axes.end(), [&](const AxisCost& a, const AxisCost& b) {
          return a.latency + a.serialisation / chunks < b.latency + b.serialisation / chunks;
        });
    return slowest->serialisation / chunks >= slowest->latency;
  };
  uint32_t first = 1;
  while (first < kMostAutoChunks && keeps(first + 1)) ++first;
  uint32_t best = first;
  double least = 0.98 * pipeline_estimate(axes, first);
  for (uint32_t more = first + 1; more <= kMostAutoChunks; ++more) {
    const double time = pipeline_estimate(axes, more);
    if (time >= least) continue;
    best = more;
    least = time;
  }
  return best;
}

}  // namespace weft::collectives
