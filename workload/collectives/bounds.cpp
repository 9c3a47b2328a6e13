// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/collectives/bounds.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "configs/blueprint/blueprint.h"
#include "configs/blueprint/carrier.h"
#include "configs/dram_spec.h"
#include "configs/end_delays.h"
#include "configs/graph.h"
#include "configs/packet_timing.h"
#include "configs/stop.h"
#include "configs/tree.h"
#include "workload/collectives/in_switch.h"

namespace weft::collectives {
namespace {

Picoseconds both(const EndDelays& ends) {
  return ends.start + ends.end;
}

/// Bytes per second one NPU can send over dimension d in the phases of this plan.
double port_rate(const Config& config, const CollectivePlan& plan, const Axis& axis, size_t axis_index) {
  const DimensionConfig& d = config.dimensions[axis.dimension];
  const double link = d.link_rate().value();
  const Shape shape(d);
  if (!shape.wraps() || !axis.values.empty()) return link * shape.links();
  // On a whole Ring the ring algorithm sends in the directions that the queues have.
  for (const PhasePlan& phase : plan.phases()) {
    if (phase.axis == axis_index && std::string(phase.algorithm->name()) != "ring")
      return link * shape.links();
  }
  return link * std::min(shape.links(), directions_of(config, d));
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

/// What the busiest member's DMA needs for what it must send (nmu.injection_bandwidth).
Picoseconds injected(const Config& config, const CollectivePlan& plan, double members, double bytes) {
  const Rate rate = config.nmu.injection_bandwidth;
  if (rate.bytes_per_second == 0 || plan.uses_units()) return 0;
  double sent = 0;  // by the mean member, or by the root or each of the others
  switch (plan.request().op) {
    case CollectiveOp::all_reduce:
      sent = 2 * (members - 1) / members * bytes;
      break;
    case CollectiveOp::all_gather:
      sent = (members - 1) * bytes;
      break;
    case CollectiveOp::reduce_scatter:
    case CollectiveOp::all_to_all:
    case CollectiveOp::scatter:
      sent = (members - 1) / members * bytes - unevenness(plan, members);
      break;
    case CollectiveOp::broadcast:
    case CollectiveOp::gather:
    case CollectiveOp::reduce:
      sent = bytes;
      break;
    case CollectiveOp::barrier:
      break;
  }
  return floor_time(sent, rate.value());
}

/// The bound where links are not lined up with the dimensions that the plan knows: what each member's own
/// links and all members' links together must carry, and the latency to the farthest one.
Picoseconds links_bound(const Config& config, const CollectivePlan& plan) {
  const Blueprint machine(config);
  const Geometry& geometry = machine.geometry();
  const CollectiveRequest& request = plan.request();
  const CollectiveOp op = request.op;
  const std::vector<uint32_t>& group = request.group->ranks;
  const auto places = [&](auto&& f) {
    for (uint32_t i = 0; i < plan.members(); ++i) f(geometry.place(group.empty() ? i : group[i]));
  };
  const auto members = static_cast<double>(plan.line_members());
  const bool whole = members == plan.members();  // else every line is a collective of its own
  double least_out = 0;
  double least_in = 0;
  double all_out = 0;
  places([&](uint32_t place) {
    const double out = machine.out_rate(place);
    const double in = machine.in_rate(place);
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
    const double root_in = machine.in_rate(geometry.place(request.root));
    const double root_out = machine.out_rate(geometry.place(request.root));
    if (op == CollectiveOp::gather) bound = std::max(bound, floor_time((members - 1) * bytes, root_in));
    if (op == CollectiveOp::scatter) bound = std::max(bound, floor_time(others, root_out));
    if (op == CollectiveOp::broadcast) bound = std::max(bound, floor_time(bytes, root_out));
    if (op == CollectiveOp::reduce) bound = std::max(bound, floor_time(bytes, root_in));
  }
  bound = std::max(bound, injected(config, plan, members, bytes));
  if (bound > 0) bound = later(bound, machine.nearest());
  // In most collectives every member depends on every other one; rooted ones start or end at the root.
  const bool from_any = !rooted(op);
  if (whole && (from_any || op == CollectiveOp::broadcast || op == CollectiveOp::scatter)) {
    const uint32_t from = from_any ? (group.empty() ? 0 : group[0]) : request.root;
    bound = std::max(bound, machine.farthest(geometry.place(from), places));
  }
  return later(std::max(bound, machine.nearest()), both(least_end_delays(config)));
}

/// Time of a packet of n flits through one virtual channel of a link, in flit times, at worst: credits come
/// back after `loop`, and so does a pause where priority flow control stops the sender.
double packet_time(const PacketFabricConfig& p, double n, double loop, bool paused) {
  const double buffer = p.buffer_flits;  // 0: what covers the loop
  // A head takes its route and its channel when the packet before it has left.
  double time = n + std::max(1.0, static_cast<double>(p.route_cycles + p.vc_alloc_cycles));
  if (buffer != 0) time = std::max(time, n * loop / buffer + 1);
  if (p.strict_cut_through && buffer >= n) time = std::max(time, (loop + n) / std::floor(buffer / n));
  if (p.release_on_credit) time = std::max(time, n + loop * (buffer == 0 ? 1 : std::ceil(n / buffer)) + 2);
  return paused ? time + 2 * loop : time;
}

/// A message alone on one link. At packet fidelity with its headers, the routers at both ends and the gaps
/// that one virtual channel leaves between packets; no message takes longer for its flits.
Wide hop_time(const Config& config, const DimensionConfig& dimension, uint64_t bytes) {
  const Rate rate = dimension.link_rate();
  if (carrier_of(dimension) != Carrier::packets) return dimension.latency + any_transfer_time(bytes, rate);
  const PacketFabricConfig p = packet_of(config.packet, dimension);
  // The routers' clock is at most a flit's time here: links of other rates share it only if they are faster.
  Ticks flit = std::max(ticks(p.cycle), flit_time(p, rate));
  // .. or made a multiple of it.
  if (flit % kTicksPerPicosecond != 0) flit += flit / kTicksPerPicosecond;
  const uint64_t cycles = 2 * router_cycles(p) + 6;
  const Picoseconds back = dimension.credit_latency != 0 ? dimension.credit_latency : dimension.latency;
  const double loop = static_cast<double>(ticks(dimension.latency + back)) / static_cast<double>(flit) +
                      static_cast<double>(cycles + p.credit_cycles);
  const bool paused = p.pfc(dimension.flow_control);
  const double pause = paused ? static_cast<double>(ticks(p.pfc_delay)) / static_cast<double>(flit) : 0;
  const auto n = static_cast<double>(packet_flits(p));
  const double packets = std::ceil(static_cast<double>(message_flits(p, bytes)) / n);
  const double flits = static_cast<double>(message_flits(p, bytes) + cycles) +
                       packets * (packet_time(p, n, loop + pause, paused) - n);
  Wide time = dimension.latency +
              static_cast<Wide>(std::ceil(flits * static_cast<double>(flit) / kTicksPerPicosecond));
  if (p.forwarding == PacketForwarding::software) time += end_delays(config, dimension).end;
  return time;
}

/// At least what a phase of in_switch takes if only one of its messages or pieces ever moves.
Wide unit_phase_time(const Config& config, const DimensionConfig& dimension, const UnitLayout& layout) {
  const UnitLayout::Totals totals = layout.totals();
  const Wide messages = totals.contributions + totals.results;
  Wide inside = unit_serial_time(dimension, layout);
  if (config.nmu.injection_bandwidth.bytes_per_second != 0)
    inside += any_transfer_time(totals.bytes_in, config.nmu.injection_bandwidth) + totals.contributions;
  if (carrier_of(dimension) == Carrier::packets)
    return inside + messages * hop_time(config, dimension, layout.piece(0).bytes);  // none is larger
  return inside + messages * dimension.latency + messages +                         // rounding
         any_transfer_time(static_cast<Wide>(totals.bytes_in) + totals.bytes_out, dimension.link_rate());
}

/// A message that goes so many hops in a dimension, each on its own.
Wide way_time(const Config& config, const DimensionConfig& dimension, uint32_t hops, uint64_t bytes) {
  Wide time = 0;
  for_each_link_along(dimension, hops, [&](const DimensionConfig& link, uint32_t count) {
    time += count * hop_time(config, link, bytes);
  });
  return time;
}

/// The longest way there is in every dimension, in hops.
std::vector<uint32_t> longest_ways(const Config& config) {
  std::vector<uint32_t> ways;
  for (const DimensionConfig& dimension : config.dimensions) ways.push_back(Shape(dimension).diameter());
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
  const auto members = static_cast<double>(plan.line_members());
  // What a scatter's root keeps for itself may be the larger share where they are uneven.
  const double kept = op == CollectiveOp::scatter ? unevenness(plan, members) : 0;
  std::vector<AxisView> root;
  if (rooted(op)) plan.views(plan.request().root, root);
  for (size_t a = 0; a < plan.axes().size(); ++a) {
    const Axis& axis = plan.axes()[a];
    if (axis.dimension == Axis::kFlat) {
      // Any dimension in which members differ may carry it.
      for (uint32_t i = 0; i < config.dimensions.size(); ++i) {
        if ((axis.crosses >> i & 1) == 0) continue;
        const DimensionConfig& d = config.dimensions[i];
        ports += d.link_rate().value() * Shape(d).links();
        nearest = std::min(nearest, d.latency);
      }
      continue;
    }
    const DimensionConfig& dimension = config.dimensions[axis.dimension];
    const double rate = port_rate(config, plan, axis, a);
    ports += rate;
    const Picoseconds hop = nearest_latency(dimension);
    nearest = std::min(nearest, hop);
    // Rooted operations start or end at the root, the others must reach from end to end.
    reach += farthest(geometry, axis, rooted(op) ? root[a].me : 0);
    if (dimension.tree != nullptr && carrier_of(dimension) != Carrier::direct)
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
  bound = std::max(bound,
                   later(floor_time(share(op, members, plan.uses_units()) * bytes - kept, ports), nearest));
  bound = std::max(bound, later(injected(config, plan, members, bytes), nearest));
  bound = std::max(bound, reach);
  return later(bound, both(least_end_delays(config)));
}

namespace {

/// A message alone on the machine, from its NMU's first byte until the last one is at the receiver.
Wide flight_time(const Config& config, const Blueprint& machine, uint32_t source, uint32_t destination,
                 uint64_t bytes) {
  const Geometry& geometry = machine.geometry();
  Wide time = 0;
  if (config.nmu.injection_bandwidth.bytes_per_second != 0)
    time += any_transfer_time(bytes, config.nmu.injection_bandwidth);
  machine.for_each_link_on_way(
      geometry.place(source), geometry.place(destination),
      [&](const DimensionConfig& link, uint32_t count) { time += count * hop_time(config, link, bytes); });
  return time;
}

/// Adds up the messages of a plan, each as if alone.
class Serial {
 public:
  /// Whether all members begin at once: then lines and members that do the like do it at the same time.
  enum class Begin { together, apart };

  Serial(const Config& config, const CollectivePlan& plan, Begin begin)
      : config_(config), plan_(plan), begin_(begin), machine_(config), ways_(longest_ways(config)) {}

  Wide time() {
    // Chunks of one order of phases are alike, but for the last one.
    std::map<const std::vector<PhasePlan>*, Wide> known;
    Wide total = 0;
    for (uint32_t chunk = 0; chunk < plan_.chunks(); ++chunk) {
      check_stop();
      const std::vector<PhasePlan>& phases = plan_.phases(chunk);
      const auto same = known.find(&phases);
      if (chunk + 1 < plan_.chunks() && same != known.end()) {
        total += same->second;
        continue;
      }
      Wide one = 0;
      for (uint32_t p = 0; p < phases.size(); ++p) one += phase(chunk, p);
      known[&phases] = one;
      total += one;
    }
    return total;
  }

 private:
  /// All members of a line do the like on links of their own that are alike: each link carries as much as one
  /// member's messages need of all links together.
  bool alike(const PhasePlan& phase) const {
    const Axis& axis = plan_.axes()[phase.axis];
    if (config_.remapped() || rooted(phase.op) || !phase.algorithm->symmetric(phase.op, axis.size))
      return false;
    for (uint32_t d = 0; d < config_.dimensions.size(); ++d) {
      const DimensionConfig& dimension = config_.dimensions[d];
      if (dimension.size <= 1 || (axis.dimension != Axis::kFlat && axis.dimension != d)) continue;
      const Shape shape(dimension);
      if (!shape.difference().empty() || shape.tree() != nullptr) return false;
      if (shape.joins_neighbours() && !axis.values.empty()) return false;
    }
    return axis.dimension != Axis::kFlat || axis.values.empty();
  }

  /// Lines of one dimension have links of their own, unless the dimensions are not the machine's.
  Wide phase(uint32_t chunk, uint32_t p) {
    const Wide one = line(chunk, p);
    if (begin_ == Begin::together && !config_.remapped()) return one;
    return one * (plan_.members() / plan_.axes()[plan_.phases(chunk)[p].axis].size);
  }

  /// Of a line through the root, or of any: what its members do, one after the other.
  Wide line(uint32_t chunk, uint32_t p) {
    const std::vector<uint32_t>& group = plan_.request().group->ranks;
    const PhasePlan& phase = plan_.phases(chunk)[p];
    const Axis& axis = plan_.axes()[phase.axis];
    plan_.views(rooted(plan_.request().op) ? plan_.request().root : group.empty() ? 0 : group[0], views_);
    const uint32_t base = views_[phase.axis].base;
    if (phase.algorithm->in_switch() || alike(phase)) {
      const Wide one = member(axis.rank(base, 0), chunk, p);
      return begin_ == Begin::together ? one : one * axis.size;
    }
    // Of many members some are looked at, and the dearest of them stands for all: the root, its neighbours
    // and every so many-th.
    constexpr uint32_t kAll = 128;
    const uint32_t stride = axis.size <= kAll ? 1 : axis.size / kAll | 1u;
    Wide total = 0;
    Wide most = 0;
    const auto look = [&](uint32_t i) {
      const Wide time = member(axis.rank(base, i % axis.size), chunk, p);
      total += time;
      most = std::max(most, time);
    };
    for (uint32_t i = 0; i < axis.size; i += stride) look(i);
    if (stride != 1) {
      for (const uint32_t i : {phase.root, phase.root + 1, phase.root + 2, phase.root + axis.size - 1})
        look(i);
      total = most * axis.size;
    }
    return total;
  }

  Wide flight(uint32_t from, uint32_t to, uint64_t bytes, const Axis& axis) const {
    if (axis.dimension != Axis::kFlat || config_.remapped())
      return flight_time(config_, machine_, from, to, bytes);
    Wide time = 0;  // every hop of a flat line may be the longest there is
    if (config_.nmu.injection_bandwidth.bytes_per_second != 0)
      time += any_transfer_time(bytes, config_.nmu.injection_bandwidth);
    for (size_t d = 0; d < ways_.size(); ++d) {
      if (axis.crosses >> d & 1) time += way_time(config_, config_.dimensions[d], ways_[d], bytes);
    }
    return time;
  }

  /// One member's rounds.
  Wide member(uint32_t rank, uint32_t chunk, uint32_t p) {
    plan_.views(rank, views_);
    if (!plan_.participates(views_, p)) return 0;
    const PhasePlan& phase = plan_.phases(chunk)[p];
    const AxisView& view = views_[phase.axis];
    const PhaseShape shape = plan_.shape(views_, p, false, chunk);
    const Split split = plan_.split(views_, chunk, p);
    const EndDelays ends = view.axis->dimension != Axis::kFlat && !config_.remapped()
                               ? end_delays(config_, config_.dimensions[view.axis->dimension])
                               : most_end_delays(config_);
    if (phase.algorithm->in_switch()) {
      return both(ends) + unit_phase_time(config_, config_.dimensions[view.axis->dimension],
                                          UnitLayout::of(config_, plan_, chunk, p, split));
    }
    Wide time = ends.start;
    for (uint32_t r = 0; r < phase.algorithm->rounds(shape); ++r) {
      phase.algorithm->round(shape, r, round_);
      for (const RoundSend& send : round_.sends) {
        const uint64_t bytes = send.blocks.bytes(shape.n, split) +
                               (split.extra != 0 ? split.unit : 0);  // another line's may be larger
        time += flight(rank, view.rank(send.to), bytes, *view.axis) + ends.end;
        if (send.reduce && config_.collectives.reduction == ReductionKind::fixed_bandwidth) {
          time += any_transfer_time(3 * static_cast<Wide>(bytes), config_.collectives.reduction_bandwidth);
        } else if (send.reduce && config_.collectives.reduction == ReductionKind::hbm) {
          time += 3 * static_cast<Wide>(slowest_access(config_.hbm, bytes));
        }
      }
    }
    return time;
  }

  const Config& config_;
  const CollectivePlan& plan_;
  const Begin begin_;
  const Blueprint machine_;
  const std::vector<uint32_t> ways_;
  std::vector<AxisView> views_;
  Round round_;
};

/// Links that err send again, and senders that slow down for marks wait, for as long as chance will have it.
bool unbounded(const Config& config) {
  if (!carries_packets(config)) return false;
  bool errs = config.packet.dcqcn.enabled;
  if (config.graph != nullptr) {
    for (const GraphLink& link : config.graph->spec().links) errs = errs || link.flit_error_rate != 0;
    return errs;
  }
  for (const DimensionConfig& d : config.fabric_dimensions()) {
    if (d.size <= 1 || carrier_of(d) != Carrier::packets) continue;
    errs = errs || d.flit_error_rate != 0;
    for (uint32_t l = 1; d.tree != nullptr && l < d.tree->height(); ++l)
      errs = errs || d.tree->level(l).flit_error_rate != 0;
  }
  return errs;
}

Picoseconds serial(const Config& config, const CollectivePlan& plan, Serial::Begin begin) {
  if (plan.empty()) return 0;
  if (unbounded(config)) return kNever;
  Wide delay = plan.delay();
  if (begin == Serial::Begin::apart) delay *= plan.members();
  return saturated(Serial(config, plan, begin).time() + delay);
}

}  // namespace

Picoseconds serial_time(const Config& config, const CollectivePlan& plan) {
  return serial(config, plan, Serial::Begin::together);
}

Picoseconds serial_time_apart(const Config& config, const CollectivePlan& plan) {
  return serial(config, plan, Serial::Begin::apart);
}

Picoseconds message_time(const Config& config, uint32_t source, uint32_t destination, uint64_t bytes) {
  if (unbounded(config)) return kNever;
  return saturated(both(most_end_delays(config)) +
                   flight_time(config, Blueprint(config), source, destination, bytes));
}

Picoseconds nearest_link(const Config& config) {
  const Picoseconds nearest = Blueprint(config).nearest();
  return nearest == kNever ? 0 : nearest;
}

Picoseconds slowest_link(const Config& config) {
  Picoseconds slowest = 0;
  for (const DimensionConfig& d : config.dimensions) slowest = std::max(slowest, d.latency);
  return slowest;
}

}  // namespace weft::collectives
