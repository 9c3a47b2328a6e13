// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/bounds.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "configs/dram_spec.h"
#include "configs/geometry.h"
#include "configs/graph.h"
#include "configs/packet_timing.h"
#include "configs/stop.h"
#include "configs/tree.h"
#include "workload/collectives/in_switch.h"

namespace weft::collectives {
namespace {

/// Bytes per second one NPU can send over dimension d in the phases of this plan.
double port_rate(const Config& config, const CollectivePlan& plan, const Axis& axis, size_t axis_index) {
  const DimensionConfig& d = config.dimensions[axis.dimension];
  const double link = d.link_rate().value();
  switch (d.kind) {
    case DimensionKind::ring:
    case DimensionKind::mesh: {
      bool only_ring = true;
      for (const PhasePlan& phase : plan.phases()) {
        if (phase.axis == axis_index) only_ring = only_ring && std::string(phase.algorithm->name()) == "ring";
      }
      const uint32_t directions = only_ring && d.kind == DimensionKind::ring && axis.values.empty()
                                      ? std::min(2u, config.collectives.queues_per_dimension)
                                      : 2;
      return link * directions;
    }
    case DimensionKind::fully_connected:
      return link * (d.size - 1);
    case DimensionKind::switch_:
      return link;
  }
  return link;
}

/// Latency from member `from` of the axis to the farthest one, by the shortest way.
Picoseconds farthest(const Geometry& geometry, const Axis& axis, uint32_t from) {
  Picoseconds latency = 0;
  for (uint32_t i = 0; i < axis.size; ++i) {
    latency = std::max(latency, geometry.latency(axis.dimension, axis.value(from), axis.value(i)));
  }
  return latency;
}

/// Throws TimeOverflow: what takes at least so long cannot run.
Picoseconds floor_time(double bytes, double rate) {
  if (bytes <= 0 || rate <= 0) return 0;
  const double time = std::floor(bytes / rate * 1e12 * (1 - 1e-12));
  if (time >= static_cast<double>(kNever)) time_overflow();
  return static_cast<Picoseconds>(time);
}

/// Bytes per bytes of request that the busiest group of members must send or receive, when n groups of
/// members stand against each other. `in_switch`: switches between the groups reduce and multicast, so that
/// an all-reduce needs no more than every member's contribution out and the result in.
double share(CollectiveOp op, double n, bool in_switch) {
  switch (op) {
    case CollectiveOp::all_reduce:
      return in_switch ? 1 : 2 * (n - 1) / n;
    case CollectiveOp::all_gather:
    case CollectiveOp::gather:
      return n - 1;
    case CollectiveOp::reduce_scatter:
    case CollectiveOp::all_to_all:
    case CollectiveOp::scatter:
      return (n - 1) / n;
    case CollectiveOp::broadcast:
    case CollectiveOp::reduce:
      return 1;
    case CollectiveOp::barrier:
      return 0;
  }
  return 0;
}

/// Does a phase of the plan on this axis run in_switch?
bool runs_in_switch(const CollectivePlan& plan, size_t axis) {
  if (!plan.uses_units()) return false;
  for (const PhasePlan& phase : plan.phases()) {
    if (phase.axis == axis && phase.algorithm->in_switch()) return true;
  }
  return false;
}

/// By how many bytes a member's share may be larger than bytes / members: an element a chunk and phase.
double unevenness(const CollectivePlan& plan, double members) {
  const CollectiveRequest& request = plan.request();
  const auto pieces = static_cast<uint64_t>(members) * plan.chunks() * request.element_bytes;
  if (request.bytes % pieces == 0) return 0;
  return static_cast<double>(plan.chunks()) * static_cast<double>(plan.axes().size()) * request.element_bytes;
}

/// The links of the machine as the bounds see them, for machines whose logical topology is not the physical
/// one.
class Machine {
 public:
  explicit Machine(const Config& config)
      : config_(config), geometry_(Geometry::of_fabric(config)), nearest_(kNever) {
    if (config.graph != nullptr) {
      for (const GraphLink& link : config.graph->spec().links) nearest_ = std::min(nearest_, link.latency);
    }
    for (const DimensionConfig& d : config.fabric_dimensions()) {
      if (d.size <= 1) continue;
      const uint32_t links = d.kind == DimensionKind::fully_connected ? d.size - 1
                             : d.kind == DimensionKind::switch_       ? 1
                                                                      : 2;
      ports_ += d.link_rate().value() * links;
      nearest_ = std::min(nearest_, d.latency);
    }
  }

  /// Bytes per second that can leave or enter a rank's NPU.
  double out_rate(uint32_t rank) const {
    return config_.graph != nullptr ? config_.graph->out_rate(geometry_.place(rank)) : ports_;
  }
  double in_rate(uint32_t rank) const {
    return config_.graph != nullptr ? config_.graph->in_rate(geometry_.place(rank)) : ports_;
  }
  /// Of any link.
  Picoseconds nearest() const { return nearest_; }
  /// Least latency from one rank to each of the others, whatever the way. `others(f)` calls f(other).
  template <typename Others>
  Picoseconds farthest(uint32_t rank, const Others& others) const {
    Picoseconds most = 0;
    if (config_.graph != nullptr) {
      const std::vector<Picoseconds> latency = config_.graph->latencies_from(geometry_.place(rank));
      others([&](uint32_t other) { most = std::max(most, latency[geometry_.place(other)]); });
      return most;
    }
    others([&](uint32_t other) {
      Picoseconds latency = 0;
      for (uint32_t d = 0; d < geometry_.dimensions(); ++d) {
        latency += geometry_.latency(d, geometry_.coordinate(geometry_.place(rank), d),
                                     geometry_.coordinate(geometry_.place(other), d));
      }
      most = std::max(most, latency);
    });
    return most;
  }

 private:
  const Config& config_;
  Geometry geometry_;
  double ports_ = 0;
  Picoseconds nearest_;
};

/// The bound where links are not lined up with the dimensions that the plan knows: what each member's own
/// links and all members' links together must carry, and the latency to the farthest one.
Picoseconds links_bound(const Config& config, const CollectivePlan& plan) {
  const Machine machine(config);
  const CollectiveRequest& request = plan.request();
  const CollectiveOp op = request.op;
  const std::vector<uint32_t>& group = request.group->ranks;
  const auto ranks = [&](auto&& f) {
    for (uint32_t i = 0; i < plan.members(); ++i) f(group.empty() ? i : group[i]);
  };
  double members = 1;
  for (const Axis& axis : plan.axes()) members *= axis.size;
  const bool whole = members == plan.members();  // else every line is a collective of its own
  double least_out = 0;
  double least_in = 0;
  double all_out = 0;
  ranks([&](uint32_t rank) {
    const double out = machine.out_rate(rank);
    const double in = machine.in_rate(rank);
    least_out = all_out == 0 ? out : std::min(least_out, out);
    least_in = all_out == 0 ? in : std::min(least_in, in);
    all_out += out;
  });
  const double bytes = op == CollectiveOp::barrier ? 0 : static_cast<double>(request.bytes);
  const double uneven = unevenness(plan, members);
  const double others = std::max(0.0, bytes * (members - 1) / members - uneven);  // all shares but one's own
  double out = 0;    // bytes that every member sends
  double in = 0;     // bytes that every member receives
  double total = 0;  // bytes that the mean member sends
  switch (op) {
    case CollectiveOp::all_reduce:
      out = in = bytes;
      total = 2 * (members - 1) / members * bytes;
      break;
    case CollectiveOp::all_gather:
      out = bytes;
      in = total = (members - 1) * bytes;
      break;
    case CollectiveOp::reduce_scatter:
      out = others;
      total = (members - 1) / members * bytes;
      break;
    case CollectiveOp::all_to_all:
      out = in = total = others;
      break;
    case CollectiveOp::broadcast:
    case CollectiveOp::reduce:
      total = (members - 1) / members * bytes;
      break;
    case CollectiveOp::gather:
    case CollectiveOp::scatter:
    case CollectiveOp::barrier:
      break;
  }
  Picoseconds bound = floor_time(out, least_out);
  bound = std::max(bound, floor_time(in, least_in));
  bound = std::max(bound, floor_time(total * plan.members(), all_out));
  if (rooted(op) && whole) {
    const double root_in = machine.in_rate(request.root);
    const double root_out = machine.out_rate(request.root);
    if (op == CollectiveOp::gather) bound = std::max(bound, floor_time((members - 1) * bytes, root_in));
    if (op == CollectiveOp::scatter) bound = std::max(bound, floor_time(others, root_out));
    if (op == CollectiveOp::broadcast) bound = std::max(bound, floor_time(bytes, root_out));
    if (op == CollectiveOp::reduce) bound = std::max(bound, floor_time(bytes, root_in));
  }
  if (bound > 0) bound = later(bound, machine.nearest());
  // In most collectives every member depends on every other one; rooted ones start or end at the root.
  const bool from_any = !rooted(op);
  if (whole && (from_any || op == CollectiveOp::broadcast || op == CollectiveOp::scatter)) {
    const uint32_t from = from_any ? (group.empty() ? 0 : group[0]) : request.root;
    bound = std::max(bound, machine.farthest(from, ranks));
  }
  return later(std::max(bound, machine.nearest()), 2 * config.nmu.endpoint_delay);
}

/// A message alone on one link. At packet fidelity with its headers and the routers at both ends, which no
/// message takes longer for.
Wide hop_time(const Config& config, const DimensionConfig& dimension, uint64_t bytes) {
  const Rate rate = dimension.link_rate();
  if (dimension.fidelity != Fidelity::packet) return dimension.latency + any_transfer_time(bytes, rate);
  const PacketFabricConfig& p = config.packet;
  // The routers' clock is at most a flit's time here: links of other rates share it only if they are faster.
  Ticks flit = std::max(ticks(p.cycle), flit_time(p, rate));
  // .. or made a multiple of it.
  if (flit % kTicksPerPicosecond != 0) flit += flit / kTicksPerPicosecond;
  const uint64_t cycles = 2 * router_cycles(p) + 6;
  return dimension.latency +
         (static_cast<Wide>(message_flits(p, bytes) + cycles) * flit + kTicksPerPicosecond - 1) /
             kTicksPerPicosecond;
}

/// At least what a phase of in_switch takes if only one of its messages or pieces ever moves.
Wide unit_phase_time(const Config& config, const DimensionConfig& dimension, const UnitLayout& layout) {
  const UnitLayout::Totals totals = layout.totals();
  const Wide messages = totals.contributions + totals.results;
  const Wide inside = unit_serial_time(dimension, layout);
  if (dimension.fidelity == Fidelity::packet)
    return inside + messages * hop_time(config, dimension, layout.piece(0).bytes);  // none is larger
  return inside + messages * dimension.latency + messages +                         // rounding
         any_transfer_time(static_cast<Wide>(totals.bytes_in) + totals.bytes_out, dimension.link_rate());
}

/// A message that goes so many hops in a dimension, each on its own: in a tree up its levels and down again.
Wide way_time(const Config& config, const DimensionConfig& dimension, uint32_t hops, uint64_t bytes) {
  if (dimension.tree == nullptr) return hops == 0 ? 0 : hops * hop_time(config, dimension, bytes);
  Wide time = 0;
  for (uint32_t l = 0; l < hops / 2; ++l) time += 2 * hop_time(config, at_level(dimension, l), bytes);
  return time;
}

/// The longest way there is in every dimension, in hops.
std::vector<uint32_t> longest_ways(const Config& config) {
  const Geometry geometry(config);
  std::vector<uint32_t> ways(geometry.dimensions(), 0);
  for (uint32_t d = 0; d < ways.size(); ++d) {
    for (uint32_t c = 1; c < config.dimensions[d].size; ++c) {
      ways[d] = std::max(ways[d], geometry.hops(d, 0, c));
    }
  }
  return ways;
}

/// What must cross the links that lead out of the subtrees of a tree and into them. `root` is the root's
/// place on the axis.
Picoseconds subtrees_bound(const CollectivePlan& plan, const DimensionConfig& dimension, const Axis& axis,
                           uint32_t root, double members, double bytes) {
  const Tree& tree = *dimension.tree;
  const CollectiveOp op = plan.request().op;
  const double n = axis.size;
  const double slice = members / n;
  // Where shares are uneven those of some members may be smaller, by so much between two of them.
  const double less = unevenness(plan, members);
  Picoseconds bound = 0;
  for (uint32_t l = 1; l < tree.height(); ++l) {
    std::map<uint32_t, double> subtrees;  // their members on the axis
    for (uint32_t i = 0; i < axis.size; ++i) ++subtrees[axis.value(i) / tree.subtree(l)];
    const double groups = static_cast<double>(subtrees.size());
    if (groups < 2) continue;
    double most = 0;  // bytes in or out of one subtree, over all lines
    switch (op) {
      case CollectiveOp::all_gather:
        for (const auto& [subtree, m] : subtrees) most = std::max(most, std::max(n - m, m) * slice * bytes);
        break;
      case CollectiveOp::all_to_all:
        for (const auto& [subtree, m] : subtrees)
          most = std::max(most, m * slice * (n - m) * slice * (bytes / members - less));
        break;
      case CollectiveOp::gather:
      case CollectiveOp::scatter: {
        const double others = (n - subtrees[axis.value(root) / tree.subtree(l)]) * slice;
        most = others * (op == CollectiveOp::gather ? bytes : bytes / members - less);
        break;
      }
      default:
        // Within a subtree members may reduce and multicast among themselves.
        most = share(op, groups, false) * bytes;
        break;
    }
    const double rate = tree.level(l).rate().value() * tree.uplinks(l) * slice;
    if (most > 0)
      bound = std::max(bound, later(floor_time(most, rate), tree.latency(dimension.latency, l + 1)));
  }
  return bound;
}

/// message_time(), however long.
Wide any_message_time(const Config& config, uint32_t source, uint32_t destination, uint64_t bytes) {
  const Geometry geometry = Geometry::of_fabric(config);
  source = geometry.place(source);
  destination = geometry.place(destination);
  Wide time = 2 * config.nmu.endpoint_delay;
  if (config.graph != nullptr) {
    for (uint32_t node = source; node != destination;) {
      const Graph::Port& port = config.graph->ports(node)[config.graph->next_port(node, destination, 0)];
      const GraphLink& link = config.graph->link(port);
      DimensionConfig hop;
      hop.bandwidth = link.rate();
      hop.latency = link.latency;
      hop.fidelity = config.graph->spec().fidelity;
      time += hop_time(config, hop, bytes);
      node = port.peer;
    }
    return time;
  }
  for (uint32_t d = 0; d < geometry.dimensions(); ++d) {
    const uint32_t hops =
        geometry.hops(d, geometry.coordinate(source, d), geometry.coordinate(destination, d));
    if (hops == 0) continue;
    const DimensionConfig& dimension = config.fabric_dimensions()[d];
    time += way_time(config, dimension, hops, bytes);
  }
  return time;
}

}  // namespace

Picoseconds lower_bound(const Config& config, const CollectivePlan& plan) {
  if (plan.empty()) return 0;
  if (config.remapped()) return links_bound(config, plan);
  const Geometry geometry(config);
  const double bytes =
      plan.request().op == CollectiveOp::barrier ? 0 : static_cast<double>(plan.request().bytes);
  const CollectiveOp op = plan.request().op;
  double ports = 0;
  Picoseconds reach = 0;
  Picoseconds nearest = kNever;
  Picoseconds bound = 0;
  // A collective restricted to some dimensions is one of its own on every line.
  double members = 1;
  for (const Axis& axis : plan.axes()) members *= axis.size;
  // What a scatter's root keeps for itself may be the larger share where they are uneven.
  const double kept = op == CollectiveOp::scatter ? unevenness(plan, members) : 0;
  std::vector<AxisView> root;
  if (rooted(op)) plan.views(plan.request().root, root);
  for (size_t a = 0; a < plan.axes().size(); ++a) {
    const Axis& axis = plan.axes()[a];
    if (axis.dimension == Axis::kFlat) {
      // Any dimension may carry it.
      for (const DimensionConfig& d : config.dimensions) {
        if (d.size <= 1) continue;
        const uint32_t links = d.kind == DimensionKind::fully_connected ? d.size - 1
                               : d.kind == DimensionKind::switch_       ? 1
                                                                        : 2;
        ports += d.link_rate().value() * links;
        nearest = std::min(nearest, d.latency);
      }
      continue;
    }
    const DimensionConfig& dimension = config.dimensions[axis.dimension];
    const double rate = port_rate(config, plan, axis, a);
    ports += rate;
    const Picoseconds hop = dimension.latency * (dimension.kind == DimensionKind::switch_ ? 2 : 1);
    nearest = std::min(nearest, hop);
    // Rooted operations start or end at the root, the others must reach from end to end.
    reach += farthest(geometry, axis, rooted(op) ? root[a].me : 0);
    if (dimension.tree != nullptr && dimension.fidelity != Fidelity::analytical)
      bound =
          std::max(bound, subtrees_bound(plan, dimension, axis, rooted(op) ? root[a].me : 0, members, bytes));
    // The members at one coordinate of this dimension against all others. They may reduce or multicast among
    // themselves, so that only gathers and all-to-all grow with their number.
    const double slice = members / axis.size;
    double crossing = share(op, axis.size, runs_in_switch(plan, a)) * bytes - kept * slice;
    if (op == CollectiveOp::all_gather || op == CollectiveOp::gather || op == CollectiveOp::all_to_all) {
      crossing *= slice;
    }
    bound = std::max(bound, later(floor_time(crossing, rate * slice), bytes > 0 ? hop : 0));
  }
  const double all = share(op, members, plan.uses_units()) * bytes - kept;
  bound = std::max(bound, later(floor_time(all, ports), nearest));
  bound = std::max(bound, reach);
  return later(bound, 2 * config.nmu.endpoint_delay);
}

Picoseconds serial_time(const Config& config, const CollectivePlan& plan) {
  if (plan.empty()) return 0;
  const auto& group = plan.request().group->ranks;
  // Where all members do the like and have the like links, one stands for all; else some of them stand for
  // the rest, each as if alone.
  bool alike = !rooted(plan.request().op) && !config.remapped();
  bool flat = false;
  std::vector<AxisView> views;
  for (uint32_t p = 0; p < plan.phases().size(); ++p) {
    const Axis& axis = plan.axes()[plan.phases()[p].axis];
    alike = alike && plan.phases()[p].algorithm->symmetric(plan.phases()[p].op, axis.size) &&
            (axis.dimension != Axis::kFlat || axis.values.empty());
    // In a tree members' ways differ and meet at uplinks.
    for (uint32_t d = 0; d < config.dimensions.size(); ++d) {
      if (axis.dimension == Axis::kFlat || axis.dimension == d)
        alike = alike && config.dimensions[d].tree == nullptr;
    }
    flat = flat || axis.dimension == Axis::kFlat;
  }
  std::vector<uint32_t> ranks{group.empty() ? 0 : group[0]};
  if (!alike) {
    auto add = [&](uint32_t i) { ranks.push_back(group.empty() ? i : group[i]); };
    const uint32_t at = rooted(plan.request().op) ? std::max(plan.member_index(plan.request().root), 0u) : 0;
    for (const uint32_t step : {0u, 1u, 2u, plan.members() - 1}) add((at + step) % plan.members());
    // The inner members of trees and the partners of extra ones are everywhere.
    // Ways differ from member to member where links are not lined up with the dimensions.
    const uint32_t looked = config.remapped() ? 256 : 64;
    const uint32_t stride = (plan.members() + looked - 1) / looked | 1u;
    for (uint32_t i = 0; i < plan.members(); i += stride) add(i);
  }
  // On a flat line every hop may be the slowest there is; off the dimensions, messages' ways are looked up.
  flat = flat && !config.remapped();
  const std::vector<uint32_t> ways = flat ? longest_ways(config) : std::vector<uint32_t>{};
  auto time_of = [&](uint32_t from, uint32_t to, uint64_t bytes) -> Wide {
    if (!flat) return any_message_time(config, from, to, bytes);
    Wide time = 2 * config.nmu.endpoint_delay;
    for (size_t d = 0; d < ways.size(); ++d) {
      if (ways[d] == 0) continue;
      time += way_time(config, config.dimensions[d], ways[d], bytes);
    }
    return time;
  };
  Wide total = 0;
  Round round;
  for (const uint32_t rank : ranks) {
    Wide member = 0;
    plan.views(rank, views);
    // Chunks of one order of phases are alike, but for the last one.
    std::map<const std::vector<PhasePlan>*, Wide> known;
    for (uint32_t chunk = 0; chunk < plan.chunks(); ++chunk) {
      check_stop();
      const std::vector<PhasePlan>& phases = plan.phases(chunk);
      const auto same = known.find(&phases);
      if (chunk + 1 < plan.chunks() && same != known.end()) {
        member += same->second;
        continue;
      }
      Wide one = 0;
      for (uint32_t p = 0; p < phases.size(); ++p) {
        if (!plan.participates(views, p)) continue;
        const PhasePlan& phase = phases[p];
        const PhaseShape shape = plan.shape(views, p, false, chunk);
        const Split split = plan.split(views, chunk, p);
        one += config.nmu.endpoint_delay;
        if (phase.algorithm->in_switch()) {
          one += config.nmu.endpoint_delay +
                 unit_phase_time(config, config.dimensions[plan.axes()[phase.axis].dimension],
                                 UnitLayout::of(config, plan, chunk, p, split));
          continue;
        }
        for (uint32_t r = 0; r < phase.algorithm->rounds(shape); ++r) {
          phase.algorithm->round(shape, r, round);
          const uint32_t me = views[phase.axis].rank(shape.me);
          for (const RoundSend& send : round.sends) {
            const uint64_t bytes =
                send.blocks.bytes(shape.n, split) + split.unit;  // the largest member's blocks
            one += time_of(me, views[phase.axis].rank(send.to), bytes);
            if (send.reduce && config.collectives.reduction == ReductionKind::fixed_bandwidth) {
              one += any_transfer_time(3 * static_cast<Wide>(bytes), config.collectives.reduction_bandwidth);
            } else if (send.reduce && config.collectives.reduction == ReductionKind::hbm) {
              one += 3 * static_cast<Wide>(slowest_access(config.hbm, bytes));
            }
          }
        }
      }
      known[&phases] = one;
      member += one;
    }
    total = std::max(total, member);
  }
  return saturated(alike ? total : total * plan.members());
}

Picoseconds message_time(const Config& config, uint32_t source, uint32_t destination, uint64_t bytes) {
  return saturated(any_message_time(config, source, destination, bytes));
}

}  // namespace weft::collectives
