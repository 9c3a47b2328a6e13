// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// How a request becomes a plan: axes, algorithms, the order of phases, chunks.

#include "workload/collectives/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "configs/algorithms.h"
#include "configs/end_delays.h"
#include "configs/tree.h"
#include "workload/collectives/auto_chunks.h"
#include "workload/collectives/custom.h"
#include "workload/collectives/in_switch.h"
#include "workload/collectives/pipeline.h"

namespace weft::collectives {
namespace {

/// Of one phase of one chunk: more would be messages beyond any memory.
constexpr uint64_t kMaxSlots = 1u << 24;

}  // namespace

PlanBuilder::PlanBuilder(const Config& config) : config_(config) {
  uint32_t stride = 1;
  for (const DimensionConfig& d : config.dimensions) {
    strides_.push_back(stride);
    stride *= d.size;
  }
}

std::shared_ptr<const CollectivePlan> PlanBuilder::plan(const CollectiveRequest& request) {
  const Key key{request.group->id,
                request.op,
                request.bytes,
                request.involved_dimensions,
                rooted(request.op) ? request.root : 0,
                request.element_bytes,
                request.settings};
  auto& slot = plans_[key];
  if (!slot) slot = build(request);
  return slot;
}

uint32_t PlanBuilder::settings(const PlanSettings& settings) {
  const auto [it, fresh] = settings_ids_.try_emplace(settings, static_cast<uint32_t>(settings_.size()));
  if (fresh) settings_.push_back(&it->first);
  return it->second;
}

const std::vector<std::string>& PlanBuilder::algorithms_of(const CollectiveRequest& request) const {
  const PlanSettings& own = settings(request.settings);
  return own.algorithms.empty() ? config_.collectives.algorithms[static_cast<int>(request.op)]
                                : own.algorithms;
}

CollectiveOrder PlanBuilder::order_of(const CollectiveRequest& request) const {
  return settings(request.settings).order.value_or(config_.collectives.order);
}

std::string PlanBuilder::origin_of(const CollectiveRequest& request) const {
  const PlanSettings& own = settings(request.settings);
  if (!own.algorithms.empty()) return own.origin;
  return fmt::format("{}: key `collectives.{}`", config_.file.empty() ? "configuration" : config_.file,
                     to_string(request.op));
}

void PlanBuilder::find_axes(CollectivePlan& plan) const {
  const auto dims = static_cast<uint32_t>(config_.dimensions.size());
  const Group& group = *plan.request_.group;
  if (group.ranks.empty()) {
    for (uint32_t d = 0; d < dims; ++d) {
      if (config_.dimensions[d].size > 1 && (plan.request_.involved_dimensions >> d & 1)) {
        plan.axes_.push_back({d, strides_[d], config_.dimensions[d].size, {}, 0, 1u << d});
      }
    }
    return;
  }
  // Which coordinates occur in each dimension? If their product has as many points as the group has ranks,
  // the group is that product.
  std::vector<std::vector<uint32_t>> values(dims);
  uint64_t points = 1;
  for (uint32_t d = 0; d < dims; ++d) {
    std::vector<bool> seen(config_.dimensions[d].size, false);
    for (const uint32_t r : group.ranks) seen[r / strides_[d] % config_.dimensions[d].size] = true;
    for (uint32_t c = 0; c < seen.size(); ++c) {
      if (seen[c]) values[d].push_back(c);
    }
    points *= values[d].size();
  }
  if (points != group.ranks.size()) {
    uint32_t crosses = 0;
    for (uint32_t d = 0; d < dims; ++d) crosses |= values[d].size() > 1 ? 1u << d : 0;
    plan.axes_.push_back(
        {Axis::kFlat, 1, static_cast<uint32_t>(group.ranks.size()), group.ranks, 0, crosses});
    return;
  }
  for (uint32_t d = 0; d < dims; ++d) {
    const auto n = static_cast<uint32_t>(values[d].size());
    if (n <= 1 || !(plan.request_.involved_dimensions >> d & 1)) continue;
    const bool whole = n == config_.dimensions[d].size;
    plan.axes_.push_back({d, strides_[d], n, whole ? std::vector<uint32_t>{} : values[d], 0, 1u << d});
  }
}

const std::string* PlanBuilder::whole_algorithm(const CollectiveRequest& request) const {
  const auto& names = algorithms_of(request);
  for (const std::string& name : names) {
    const AlgorithmInfo* info = weft::find_algorithm(name);
    if (info == nullptr || !info->whole) continue;
    if (std::all_of(names.begin(), names.end(), [&](const std::string& n) { return n == name; }))
      return &name;
    throw UserError(ExitCode::usage,
                    fmt::format("{}: `{}` runs the whole operation; name it for all dimensions or for none",
                                origin_of(request), name));
  }
  return nullptr;
}

void PlanBuilder::flatten(CollectivePlan& plan) const {
  if (plan.axes_.size() < 2) return;  // flat already
  Axis flat{Axis::kFlat, 1, 1, {0}, 0, 0};
  for (const Axis& axis : plan.axes_) {
    flat.spans |= 1u << axis.dimension;
    flat.crosses |= axis.crosses;
    std::vector<uint32_t> values;
    values.reserve(flat.values.size() * axis.size);
    for (uint32_t i = 0; i < axis.size; ++i) {
      for (const uint32_t v : flat.values) values.push_back(v + axis.value(i) * axis.stride);
    }
    flat.values = std::move(values);
  }
  flat.size = static_cast<uint32_t>(flat.values.size());
  if (flat.size == config_.npus()) {
    flat.values.clear();
    flat.values.shrink_to_fit();
  }
  plan.axes_.assign(1, std::move(flat));
}

void PlanBuilder::fail(const CollectivePlan& plan, const std::string& where, const std::string& why) const {
  const std::string group = plan.request_.group->ranks.empty()
                                ? std::string{}
                                : fmt::format(" (communicator group `{}`)", plan.request_.group->name);
  throw UserError(ExitCode::usage, fmt::format("{}: {}{}: {}", origin_of(plan.request_), where, group, why));
}

std::shared_ptr<const Algorithm> PlanBuilder::custom(const CollectivePlan& plan, const std::string& name) {
  const std::string prefix(algorithm_argument(name));
  const uint32_t members = plan.axes_[0].size;
  auto& program = programs_[{prefix, members}];
  if (program == nullptr) program = CustomAlgorithm::load(prefix, members);
  return program;
}

const Algorithm* PlanBuilder::algorithm(const CollectivePlan& plan, CollectiveOp phase_op,
                                        const Axis& axis) const {
  if (const std::string* whole = whole_algorithm(plan.request_); whole != nullptr) {
    if (plan.program_ != nullptr) return plan.program_.get();
    const Algorithm* chosen = find_flat_algorithm(*whole);
    if (chosen == nullptr) fail(plan, "all dimensions", fmt::format("there is no algorithm `{}`", *whole));
    const std::string why = chosen->refuses(phase_op, axis.size);
    if (!why.empty()) fail(plan, fmt::format("`{}`", *whole), why);
    return chosen;
  }
  if (axis.dimension == Axis::kFlat) return ring_algorithm();
  const DimensionConfig& dimension = config_.dimensions[axis.dimension];
  const auto& names = algorithms_of(plan.request_);
  const std::string& name = axis.dimension < names.size() ? names[axis.dimension] : std::string{};
  const Algorithm* chosen = nullptr;
  if (name.empty()) {
    chosen = default_algorithm(Shape(dimension), phase_op);
    // The default must run whatever the group; a configured algorithm that cannot is the user's to change.
    if (!chosen->refuses(phase_op, axis.size).empty()) chosen = ring_algorithm();
    return chosen;
  }
  const std::string where = fmt::format("dimension {} ({})", axis.dimension, print_dimension(dimension));
  chosen = find_algorithm(name);
  if (chosen == nullptr) fail(plan, where, fmt::format("there is no algorithm `{}`", name));
  if (chosen->in_switch() && dimension.tree != nullptr) {
    fail(plan, where,
         "in_switch needs a Switch with one crossbar a line, and this is a tree of switches; use another "
         "algorithm");
  }
  if (chosen->in_switch() && (!Shape(dimension).has_crossbar() || config_.remapped())) {
    fail(plan, where,
         config_.remapped()
             ? "in_switch needs the switches of a Switch dimension, and ranks or dimensions are "
               "not where the physical ones are; use another algorithm"
             : "in_switch needs a Switch dimension; use another algorithm");
  }
  if (chosen->in_switch() && (dimension.endpoint_delay != kNever || dimension.nic_latency != 0)) {
    fail(plan, where,
         "in_switch knows no `nic_latency` and no `endpoint_delay` of a dimension; remove them (and set "
         "`nmu.endpoint_delay`, which it knows), or use another algorithm");
  }
  const std::string why = chosen->refuses(phase_op, axis.size);
  if (!why.empty()) fail(plan, where, why);
  return chosen;
}

void PlanBuilder::refuse_disproven(const CollectivePlan& plan, const PhasePlan& phase) const {
  const uint32_t n = plan.axes_[phase.axis].size;
  uint32_t block = ~0u;
  std::string why = phase.algorithm->disproof({phase.op, n, 0, phase.root, false, 0}, block);
  if (why.empty()) return;
  if (config_.run.data != "none" && block != ~0u && phase.op != CollectiveOp::barrier) {
    // With data the elements are known, too; a disproven algorithm covers the operation in one phase.
    const bool shards = phase.op == CollectiveOp::all_gather || phase.op == CollectiveOp::gather;
    const uint32_t unit = plan.request_.element_bytes;
    const uint64_t bytes = plan.chunk_bytes(0);
    const Split split = shards ? Split{bytes, 0, unit} : Split::of(bytes, n, unit);
    const uint64_t first = shards ? 0 : split.offset(block) / unit;
    why += split.size(block) == 0 ? fmt::format("; block {} of chunk 0 is empty", block)
                                  : fmt::format("; block {} of chunk 0 is the elements {} to {}{}", block,
                                                first, first + split.size(block) / unit - 1,
                                                shards ? fmt::format(" of member {}", block) : std::string{});
  }
  throw UserError(ExitCode::trace, why);
}

void PlanBuilder::find_exchanges(const CollectivePlan& plan, PhasePlan& phase) const {
  const Axis& axis = plan.axes_[phase.axis];
  if (axis.dimension == Axis::kFlat || !axis.values.empty()) return;
  if (!Shape(config_.dimensions[axis.dimension]).wraps()) return;
  const PhaseShape shape{phase.op, axis.size, 0, phase.root, false, 0};
  const uint32_t rounds = phase.algorithm->rounds(shape);
  for (uint32_t r = 0; r < rounds; ++r) {
    const Exchange exchange = phase.algorithm->exchange(shape, r);
    if (exchange == Exchange::none) continue;
    phase.exchanges.resize(rounds, Exchange::none);
    phase.exchanges[r] = exchange;
  }
}

std::vector<PhasePlan> PlanBuilder::phase_list(const CollectivePlan& plan, const std::vector<uint32_t>& order,
                                               const std::vector<uint32_t>& gathers, bool two_phases) const {
  std::vector<PhasePlan> phases;
  const auto add = [&](CollectiveOp op, uint32_t a) {
    PhasePlan phase{op, static_cast<uint16_t>(a), algorithm(plan, op, plan.axes_[a]), 0, 0, {}, {}};
    if (rooted(op)) {
      std::vector<AxisView> views;
      plan.views(plan.request_.root, views);
      phase.root = views[a].me;
    }
    phases.push_back(phase);
  };
  const size_t count = order.size();
  const CollectiveOp op = plan.request_.op;
  switch (op) {
    case CollectiveOp::reduce_scatter:
    case CollectiveOp::all_to_all:
    case CollectiveOp::scatter:
    case CollectiveOp::reduce:
    case CollectiveOp::barrier:
      for (const uint32_t a : order) add(op, a);
      break;
    case CollectiveOp::all_gather:
    case CollectiveOp::gather:
    case CollectiveOp::broadcast:
      for (size_t i = count; i-- > 0;) add(op, order[i]);
      break;
    case CollectiveOp::all_reduce:
      if (order_of(plan.request_) == CollectiveOrder::baseline) {
        for (const uint32_t a : order) add(op, a);
        break;
      }
      // Dimensions whose algorithm has no reduce-scatter (trees), and with `enhanced` all but the first ones,
      // run an all-reduce of their own between the two passes of the others, where the data is smallest: as
      // many phases in whichever order.
      {
        const bool enhanced = order_of(plan.request_) == CollectiveOrder::enhanced;
        const auto splits = [&](uint32_t a) {
          const Axis& axis = plan.axes_[a];
          if (enhanced && axis.dimension != Axis::kFlat &&
              axis.dimension >= config_.collectives.scatter_dimensions)
            return false;
          const Algorithm& chosen = *algorithm(plan, op, axis);
          return chosen.refuses(CollectiveOp::reduce_scatter, axis.size).empty() &&
                 chosen.refuses(CollectiveOp::all_gather, axis.size).empty();
        };
        std::vector<uint32_t> between;
        std::vector<uint32_t> scattered;
        for (const uint32_t a : order) (splits(a) ? scattered : between).push_back(a);
        if (between.empty() && !two_phases) {
          between.push_back(scattered.back());
          scattered.pop_back();
        }
        for (const uint32_t a : scattered) add(CollectiveOp::reduce_scatter, a);
        for (const uint32_t a : between) add(op, a);
        for (size_t i = count; i-- > 0;) {
          if (std::find(scattered.begin(), scattered.end(), gathers[i]) != scattered.end())
            add(CollectiveOp::all_gather, gathers[i]);
        }
      }
      break;
  }
  return phases;
}

std::vector<uint32_t> PlanBuilder::greedy_order(const CollectivePlan& plan, std::vector<double>& load,
                                                const std::vector<uint32_t>& rather) const {
  // Themis (collectives.md): the least loaded dimension first, where the chunk is largest; the load is time
  // over the aggregate bandwidth of an NPU. Small differences are not worth leaving the default order for.
  const auto count = static_cast<uint32_t>(plan.axes_.size());
  std::vector<uint32_t> order(count);
  std::vector<double> rate(count);
  for (uint32_t a = 0; a < count; ++a) {
    order[a] = a;
    const Axis& axis = plan.axes_[a];
    const DimensionConfig& d = config_.dimensions[axis.dimension == Axis::kFlat ? 0 : axis.dimension];
    const uint32_t links =
        Shape(d).links_at_once(axis.size, neighbour_links_used(d, config_.collectives.queues_per_dimension));
    rate[a] = d.link_rate().value() * links;
  }
  double whole = static_cast<double>(plan.base_chunk_);
  if (plan.request_.op == CollectiveOp::all_gather) whole *= plan.members_;
  const auto loaded = [&](const std::vector<uint32_t>& along) {
    std::vector<double> out = load;
    double size = whole;
    for (const uint32_t a : along) {
      const double n = plan.axes_[a].size;
      out[a] += (n - 1) / n * size / rate[a];
      size /= n;
    }
    return out;
  };
  const auto [least, most] = std::minmax_element(load.begin(), load.end());
  if (*most - *least >= whole / (16 * *std::max_element(rate.begin(), rate.end()))) {
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return load[a] < load[b]; });
  }
  const auto top = [](const std::vector<double>& l) { return *std::max_element(l.begin(), l.end()); };
  if (!rather.empty() && top(loaded(rather)) <= top(loaded(order))) order = rather;
  load = loaded(order);
  return order;
}

void PlanBuilder::order_phases(CollectivePlan& plan, Gathers policy, bool final) const {
  const auto count = static_cast<uint32_t>(plan.axes_.size());
  std::vector<uint32_t> ascending(count);
  for (uint32_t a = 0; a < count; ++a) ascending[a] = a;
  const CollectiveOp op = plan.request_.op;
  const CollectiveOrder order_policy = order_of(plan.request_);
  const bool themis = order_policy == CollectiveOrder::themis || order_policy == CollectiveOrder::themis_flex;
  const bool reorders =
      op == CollectiveOp::all_reduce || op == CollectiveOp::reduce_scatter || op == CollectiveOp::all_gather;
  plan.orders_.clear();
  plan.rearranged_.clear();
  plan.order_of_chunk_.clear();
  if (!reorders || count < 2 || (!themis && order_policy != CollectiveOrder::round_robin)) {
    // An algorithm that runs the whole operation has one phase whatever the order.
    const bool two_phases = themis && whole_algorithm(plan.request_) == nullptr;
    plan.orders_.push_back(phase_list(plan, ascending, ascending, two_phases));
    plan.rearranged_.push_back(false);
  } else {
    std::map<std::pair<std::vector<uint32_t>, std::vector<uint32_t>>, uint16_t> known;
    std::vector<double> load(count, 0.0);
    const uint64_t pieces = plan.request_.element_bytes * plan.line_members();
    for (uint32_t c = 0; c < plan.chunks_; ++c) {
      std::vector<uint32_t> order = ascending;
      if (themis) {
        order = greedy_order(plan, load);
      } else {
        std::rotate(order.begin(), order.begin() + c % count, order.end());
      }
      std::vector<uint32_t> gathers = order;
      if (policy != Gathers::backwards && plan.chunk_bytes(c) % pieces == 0) {
        gathers = greedy_order(plan, load, policy == Gathers::levelling ? order : std::vector<uint32_t>{});
      }
      const auto [it, fresh] =
          known.try_emplace({order, gathers}, static_cast<uint16_t>(plan.orders_.size()));
      if (fresh) {
        plan.orders_.push_back(phase_list(plan, order, gathers, themis));
        plan.rearranged_.push_back(order != gathers);
      }
      plan.order_of_chunk_.push_back(it->second);
    }
  }
  if (!final) return;
  for (auto& phases : plan.orders_) {
    for (PhasePlan& phase : phases) {
      refuse_disproven(plan, phase);
      find_exchanges(plan, phase);
      plan.uses_units_ = plan.uses_units_ || phase.algorithm->in_switch();
    }
  }
  if (plan.uses_units_) check_segments(plan);
  const bool wanted = order_policy == CollectiveOrder::themis_flex ||
                      config_.collectives.dimension_scheduling == DimensionScheduling::smallest_first;
  if (!wanted) return;
  for (auto& phases : plan.orders_) {
    for (uint32_t p = 0; p < phases.size(); ++p) phases[p].duration = phase_duration(plan, phases, p);
  }
}

void PlanBuilder::lay_out_phases(CollectivePlan& plan) const {
  order_phases(plan, Gathers::backwards);
  if (order_of(plan.request_) != CollectiveOrder::themis_flex ||
      plan.request_.op != CollectiveOp::all_reduce || plan.axes_.size() < 2) {
    return;
  }
  // Loads say nothing of the pipeline's start and end, where an order of its own can cost more than it
  // balances: the gathers go back as they came unless the whole is shorter otherwise.
  Picoseconds best = pipeline_time(config_, plan);
  for (const Gathers policy : {Gathers::greedy, Gathers::levelling}) {
    CollectivePlan other = plan;
    order_phases(other, policy);
    const Picoseconds time = pipeline_time(config_, other);
    if (time >= best) continue;
    best = time;
    plan = std::move(other);
  }
}

void PlanBuilder::check_segments(const CollectivePlan& plan) const {
  std::vector<AxisView> views;
  plan.views(plan.request_.group->ranks.empty() ? 0 : plan.request_.group->ranks[0], views);
  for (const uint32_t c : {0u, plan.chunks_ - 1}) {
    for (uint32_t p = 0; p < plan.phases(c).size(); ++p) {
      const PhasePlan& phase = plan.phases(c)[p];
      if (!phase.algorithm->in_switch()) continue;
      const uint64_t slots = UnitLayout::of(config_, plan, c, p, plan.split(views, c, p)).slots();
      if (slots <= kMaxSlots) continue;
      const uint32_t d = plan.axes_[phase.axis].dimension;
      fail(plan, fmt::format("dimension {} (Switch({}))", d, config_.dimensions[d].size),
           fmt::format("in_switch cuts a chunk into {} segments, more than {}; raise "
                       "topology.dimensions[{}].collective_unit.segment or collectives.chunks",
                       slots, kMaxSlots, d));
    }
  }
}

Picoseconds PlanBuilder::phase_duration(const CollectivePlan& plan, const std::vector<PhasePlan>& phases,
                                        uint32_t phase) const {
  // One member's rounds, each as long as its largest message; the split is that of the first chunk at member
  // 0.
  const PhasePlan& p = phases[phase];
  const Axis& axis = plan.axes_[p.axis];
  std::vector<AxisView> views;
  plan.views(plan.request_.group->ranks.empty() ? 0 : plan.request_.group->ranks[0], views);
  uint32_t chunk = 0;
  while (&plan.phases(chunk) != &phases && chunk + 1 < plan.chunks_) ++chunk;
  const Split split = plan.split(views, chunk, phase);
  const DimensionConfig& d = config_.dimensions[axis.dimension == Axis::kFlat ? 0 : axis.dimension];
  const EndDelays ends = end_delays(config_, d);
  if (p.algorithm->in_switch()) {
    return ends.start + ends.end + unit_time(d, UnitLayout::of(config_, plan, chunk, phase, split));
  }
  const PhaseShape shape{p.op, axis.size, views[p.axis].me, p.root, false};
  const Picoseconds latency = step_latency(d);
  Wide time = ends.start;
  Round round;
  for (uint32_t r = 0; r < p.algorithm->rounds(shape); ++r) {
    p.algorithm->round(shape, r, round);
    uint64_t largest = 0;
    bool reduces = false;
    for (const RoundSend& send : round.sends) {
      largest = std::max(largest, send.blocks.bytes(shape.n, split));
      reduces = reduces || send.reduce;
    }
    time += any_transfer_time(largest, d.link_rate()) + latency + ends.end;
    if (reduces && config_.collectives.reduction == ReductionKind::fixed_bandwidth) {
      time += any_transfer_time(3 * static_cast<Wide>(largest), config_.collectives.reduction_bandwidth);
    }
  }
  return saturated(time);
}

uint32_t PlanBuilder::chosen_chunks(const CollectivePlan& plan) const {
  CollectivePlan whole = plan;
  whole.chunks_ = 1;
  whole.base_chunk_ = whole.request_.bytes;
  order_phases(whole, Gathers::backwards, false);
  return auto_chunks(axis_costs(config_, whole));
}

std::shared_ptr<CollectivePlan> PlanBuilder::build(const CollectiveRequest& request) {
  auto plan = std::make_shared<CollectivePlan>();
  plan->request_ = request;
  plan->strides_ = strides_;
  for (const auto& d : config_.dimensions) plan->sizes_.push_back(d.size);
  plan->members_ = request.group->size(config_.npus());
  plan->delay_ = settings(request.settings).delay;
  plan->ranks_ = request.group->ranks;
  std::sort(plan->ranks_.begin(), plan->ranks_.end());
  const bool barrier = request.op == CollectiveOp::barrier;
  if (plan->members_ <= 1 || (request.bytes == 0 && !barrier)) return plan;
  const bool gathers = request.op == CollectiveOp::all_gather || request.op == CollectiveOp::gather;
  if (gathers && request.bytes > ~uint64_t{0} / plan->members_) {
    throw UserError(
        ExitCode::trace,
        fmt::format("{} of {} B from each of {} members: together they are more bytes than 64 bits "
                    "can count; use a smaller size",
                    to_string(request.op), request.bytes, plan->members_));
  }
  find_axes(*plan);
  if (plan->axes_.empty()) return plan;
  if (const std::string* whole = whole_algorithm(request); whole != nullptr) {
    flatten(*plan);
    if (!algorithm_argument(*whole).empty()) plan->program_ = custom(*plan, *whole);
  }
  // Fewer elements than chunks use fewer chunks; a remainder goes to the last one.
  uint64_t elements = std::max<uint64_t>(1, request.bytes / request.element_bytes);
  // With real elements a chunk of what is split into shards is a piece of every shard, so that shards which
  // divide evenly are equal, as the definition wants.
  uint32_t shards = 1;
  if (request.element_bytes > 1 &&
      (request.op == CollectiveOp::reduce_scatter || request.op == CollectiveOp::all_to_all ||
       request.op == CollectiveOp::scatter)) {
    shards = static_cast<uint32_t>(plan->line_members());
    if (elements % shards != 0) shards = 1;
    elements /= shards;
  }
  const uint32_t wanted = settings(request.settings).chunks.value_or(config_.collectives.chunks);
  const uint32_t chunks = barrier ? 1 : wanted != kAutoChunks ? wanted : chosen_chunks(*plan);
  plan->chunks_ = static_cast<uint32_t>(std::min<uint64_t>(chunks, elements));
  plan->chunks_reduced_ = wanted != kAutoChunks && plan->chunks_ < chunks;
  uint64_t base = elements / plan->chunks_;
  if (order_of(request) == CollectiveOrder::themis_flex && request.op == CollectiveOp::all_reduce) {
    // Chunks whose pieces are all of one size may be gathered in another order than they were scattered; the
    // last chunk takes what is left, unless that were too much.
    const uint64_t pieces = plan->line_members();
    const uint64_t even = base - base % pieces;
    if (elements - even * (plan->chunks_ - 1) <= 2 * even) base = even;
  }
  plan->base_chunk_ = base * shards * request.element_bytes;
  lay_out_phases(*plan);
  number_queues(*plan);
  return plan;
}

void PlanBuilder::number_queues(CollectivePlan& plan) const {
  for (std::vector<PhasePlan>& order : plan.orders_) {
    for (PhasePlan& phase : order) {
      const Axis& axis = plan.axes_[phase.axis];
      phase.queues = queues_of_phase(config_, axis, phase.op);
      const size_t dimension = axis.dimension == Axis::kFlat ? config_.dimensions.size() : axis.dimension;
      phase.queues.first += static_cast<uint32_t>(dimension) * most_queues(config_);
    }
  }
}

}  // namespace weft::collectives
