// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/graph/checked_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "configs/dram_spec.h"
#include "configs/end_delays.h"
#include "configs/printable.h"
#include "workload/collectives/bounds.h"
#include "workload/collectives/data.h"
#include "workload/collectives/whole_elements.h"
#include "workload/graph/bounds.h"
#include "workload/tiers/tier_path.h"
#include "workload/tiers/tier_use.h"
#include "workload/trace/group_check.h"
#include "workload/trace/longest_path.h"

namespace weft::graph {
namespace {

bool accesses_memory(const trace::Node& node) {
  return node.type == trace::NodeType::mem_load || node.type == trace::NodeType::mem_store;
}

/// Bytes of the tensors that a rank's memories hold with `run.data: functional`: each store makes one, and
/// loads of a size that was not stored before have one.
class TensorRoom {
 public:
  explicit TensorRoom(const Config& config) : config_(config) {}
  void add(const trace::Node& node) {
    const trace::Location place = tiers::place_of(config_, node.location);
    const bool remote = place == trace::Location::remote;
    // The pool counts its own, and accesses to hosts and drives carry no bytes.
    if (tiers::is_tier(place) || (remote && config_.memory_pool)) return;
    uint64_t& tensors = tensors_[remote ? 1 : 0][node.tensor_size];
    if (node.type == trace::NodeType::mem_store || tensors == 0) ++tensors;
  }
  double bytes() const {
    double all = 0;
    for (const auto& sizes : tensors_) {
      double sum = 0;
      for (const auto& [size, count] : sizes) sum += static_cast<double>(size) * static_cast<double>(count);
      const bool local = &sizes == &tensors_[0];
      if (local && config_.hbm.capacity != 0) sum = std::min(sum, static_cast<double>(config_.hbm.capacity));
      all += sum;
    }
    return all;
  }

 private:
  const Config& config_;
  std::map<uint64_t, uint64_t> tensors_[2];  ///< how many, by size; local and remote
};

}  // namespace

CheckedJob::CheckedJob(const Config& config, const trace::JobTrace& traces, Folding folding)
    : CheckedJob(config, traces, std::move(folding), RankMap(traces.npus())) {}

CheckedJob::CheckedJob(const Config& config, const trace::JobTrace& traces, Folding folding, RankMap ranks)
    : config_(config),
      traces_(traces),
      folding_(std::move(folding)),
      ranks_(std::move(ranks)),
      plans_(std::make_shared<collectives::PlanBuilder>(config)),
      rules_(std::make_shared<collectives::Rules>(config, *plans_)),
      delays_(trace_delays(traces, rules_->delays())),
      fidelity_(config),
      groups_(traces.groups().size()),
      warnings_(traces.warnings()) {
  for (uint32_t g = 0; g < groups_.size(); ++g) {
    groups_[g].id = g;
    groups_[g].name = traces.groups().name(g);
    if (g != trace::kWorld || !ranks_.whole()) groups_[g].ranks = traces.groups().ranks(g);
    for (uint32_t& member : groups_[g].ranks) member = ranks_.npu(member);
  }
  look_through();
}

std::string CheckedJob::where(uint32_t rank, const trace::Node& node) const {
  return fmt::format("{}: rank {}, node {} (`{}`)", traces_.index(rank).path(), rank, node.id,
                     printable(node.name));
}

collectives::CollectiveRequest CheckedJob::request(uint32_t rank, const trace::Node& node,
                                                   int32_t* priority) const {
  collectives::CollectiveRequest request;
  request.op = node.op;
  request.bytes = node.comm_size;
  const auto group = traces_.groups().find(node.pg_name);
  request.group = &groups_[*group];  // open_job() has refused unknown groups
  request.root = node.has_root                  ? ranks_.npu(node.root)
                 : request.group->ranks.empty() ? 0
                                                : request.group->ranks[0];
  if (config_.run.data != "none")
    collectives::set_elements(config_, request, ExitCode::trace, [&] { return where(rank, node); });
  const auto dimensions = static_cast<uint32_t>(config_.dimensions.size());
  const auto& involved = node.involved_dim;
  if (std::find(involved.begin(), involved.end(), false) != involved.end()) {
    if (involved.size() != dimensions) {
      throw UserError(
          ExitCode::trace,
          fmt::format("{}: involved_dim has {} entries and the topology {} dimensions; give one entry a "
                      "dimension, or leave the attribute out",
                      where(rank, node), involved.size(), dimensions));
    }
    request.involved_dimensions = 0;
    for (uint32_t d = 0; d < dimensions; ++d) request.involved_dimensions |= involved[d] ? 1u << d : 0u;
  }
  const int32_t ruled = rules_->apply(request, node, rank, traces_.index(rank).path());
  if (!delays_.empty()) {
    const auto delay = delays_.find(traces_.collectives().number(request.group->id, node.ordinal));
    if (delay != delays_.end()) rules_->delay(request, delay->second);
  }
  if (priority != nullptr) *priority = ruled;
  return request;
}

void CheckedJob::check_rules(uint32_t rank, const trace::Node& node) {
  if (!rules_->any() && !fidelity_.any()) return;
  const collectives::CollectiveRequest wanted = request(rank, node);
  Ruled own{rules_->find(wanted, node.name), 0, rank, node.index};
  if (fidelity_.any()) own.fidelity = fidelity_.fitting(node, wanted.group->name);
  const uint32_t number = traces_.collectives().number(wanted.group->id, node.ordinal);
  const auto [it, fresh] = ruled_.try_emplace(number, own);
  const Ruled& first = it->second;
  if (fresh || (first.rule == own.rule && first.fidelity == own.fidelity)) return;
  std::string what;
  if (first.rule != own.rule) {
    const auto say = [&](uint32_t r) {
      return r == ~0u ? std::string("no rule") : config_.collectives.rules[r].origin;
    };
    what = fmt::format("{} is for it, but {} for", say(own.rule), say(first.rule));
  } else {
    const uint32_t rule = fidelity_.first_difference(own.fidelity, first.fidelity);
    const bool here = fidelity_.in_set(own.fidelity, rule);
    what = fmt::format("{} is{} for it, but{} for", fidelity_.origin(rule), here ? "" : " not",
                       here ? " not" : "");
  }
  const trace::TraceIndex& other = traces_.index(first.rank);
  trace::NodeCache cache = other.open_cache(16u << 10);
  throw UserError(ExitCode::usage,
                  fmt::format("{}: {} the same collective on rank {}: {}; choose collectives by group or "
                              "operation, or by names and iterations that all members' nodes have",
                              where(rank, node), what, first.rank, other.describe(cache, first.node)));
}

const char* CheckedJob::memory_of(const trace::Node& node) const {
  switch (tiers::place_of(config_, node.location)) {
    case trace::Location::local:
      return "local memory";
    case trace::Location::host:
      return "host memory";
    case trace::Location::nvme:
      return "NVMe";
    default:
      return config_.memory_pool ? "the memory pool" : "a private remote memory";
  }
}

void CheckedJob::check_memory(uint32_t rank, const trace::Node& node) const {
  if (node.tensor_size == 0) return;
  const trace::Location place = tiers::place_of(config_, node.location);
  if (place == trace::Location::remote && config_.memory_pool) {
    check_pool(rank, node);
    return;
  }
  if (place == trace::Location::remote && !config_.remote_memory) {
    throw UserError(
        ExitCode::usage,
        fmt::format(
            "{}: it accesses remote memory and the configuration has none; add "
            "`remote_memory: {{bandwidth: ..., latency: ...}}`, a `memory: {{pool: ..}}` or a `memory: "
            "{{host: ..}}`",
            where(rank, node)));
  }
  if (node.in_switch)
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: its attribute `in_switch` asks for a memory pool's switches, and it accesses "
                    "{}; take the attribute out, or add a `memory: {{pool: ..}}` and `tensor_loc: 1`",
                    where(rank, node), memory_of(node)));
  if (tiers::is_tier(place)) check_tier(rank, node);
  if (place == trace::Location::local && config_.hbm.capacity != 0 &&
      node.tensor_size > config_.hbm.capacity) {
    throw UserError(ExitCode::trace,
                    fmt::format("{}: tensor_size {} B is more than hbm.capacity ({} B); mend the trace or "
                                "raise hbm.capacity",
                                where(rank, node), node.tensor_size, config_.hbm.capacity));
  }
}

void CheckedJob::check_pool(uint32_t rank, const trace::Node& node) const {
  const MemoryPoolConfig& pool = *config_.memory_pool;
  Wide copies = 1;
  if (node.in_switch) {
    const trace::Groups& groups = traces_.groups();
    const std::string refusal = trace::group_refusal(groups, node.pg_name, rank);
    if (!refusal.empty()) throw UserError(ExitCode::trace, fmt::format("{}: {}", where(rank, node), refusal));
    copies = groups.ranks(*groups.find(node.pg_name)).size();
  }
  const Wide room = static_cast<Wide>(pool.capacity) * pool.groups;
  if (pool.capacity != 0 && copies * node.tensor_size > room)
    throw UserError(
        ExitCode::trace,
        fmt::format("{}: its tensor of {} B does not fit the pool: memory.pool.capacity x groups is {} "
                    "B; mend the trace or raise memory.pool.capacity",
                    where(rank, node), static_cast<uint64_t>(copies) * node.tensor_size,
                    static_cast<uint64_t>(room)));
}

void CheckedJob::check_tier(uint32_t rank, const trace::Node& node) const {
  const bool host = tiers::place_of(config_, node.location) == trace::Location::host;
  if (host ? !config_.host_memory : !config_.nvme)
    throw UserError(
        ExitCode::usage,
        fmt::format(
            "{}: it accesses {} and the configuration has none; add `memory: {{{}: {{bandwidth: ..{}}}}}`",
            where(rank, node), memory_of(node), host ? "host" : "nvme", host ? ", link_bandwidth: .." : ""));
  const uint64_t capacity = host ? config_.host_memory->capacity : config_.nvme->capacity;
  if (capacity == 0 || node.tensor_size <= capacity) return;
  throw UserError(
      ExitCode::trace,
      fmt::format("{}: tensor_size {} B is more than memory.{}.capacity ({} B); mend the trace or "
                  "raise memory.{}.capacity",
                  where(rank, node), node.tensor_size, host ? "host" : "nvme", capacity,
                  host ? "host" : "nvme"));
}

Picoseconds CheckedJob::access_time(uint32_t rank, const trace::Node& node) const {
  const trace::Location place = tiers::place_of(config_, node.location);
  const bool remote = place == trace::Location::remote;
  if (tiers::is_tier(place)) {
    // The memories' models may be of other names: the links only.
    if (node.tensor_size == 0 || (place == trace::Location::host ? !config_.host_memory : !config_.nvme))
      return 0;
    return in_time(
        [&] {
          return tiers::path_of(config_, place, node.type == trace::NodeType::mem_store)
              .least(node.tensor_size);
        },
        [&] {
          return fmt::format("{}: its access of {} B to {}", where(rank, node), node.tensor_size,
                             memory_of(node));
        },
        "check its tensor_size, and the bandwidths of `memory`");
  }
  if (remote && config_.memory_pool) {
    if (config_.memory_pool->design == PoolDesign::graph) return 0;
    // Alone in the pool: the NPU's own link.
    return in_time([&] { return transfer_time(node.tensor_size, config_.memory_pool->in_node_bandwidth); },
                   [&] {
                     return fmt::format("{}: its access of {} B to the memory pool", where(rank, node),
                                        node.tensor_size);
                   },
                   "check its tensor_size, and memory.pool.in_node_bandwidth");
  }
  if (node.tensor_size == 0 || (remote && !config_.remote_memory)) return 0;
  const Rate bandwidth = remote ? config_.remote_memory->bandwidth : config_.hbm.bandwidth;
  const Picoseconds latency = remote ? config_.remote_memory->latency : config_.hbm.latency;
  return in_time([&] { return later(transfer_time(node.tensor_size, bandwidth), latency); },
                 [&] {
                   return fmt::format("{}: its access of {} B to {}", where(rank, node), node.tensor_size,
                                      remote ? "remote memory" : "memory");
                 },
                 "check its tensor_size, and the memory's bandwidth");
}

Picoseconds CheckedJob::slow_access_time(uint32_t rank, const trace::Node& node) const {
  if (node.tensor_size == 0) return saturated(static_cast<Wide>(access_time(rank, node)) + 1000);
  const trace::Location place = tiers::place_of(config_, node.location);
  const bool remote = place == trace::Location::remote;
  // What an access takes alone in a pool or of a tier, and how long a model of another name takes, is not
  // known here.
  if ((remote && config_.memory_pool) || tiers::is_tier(place)) return kNever;
  const std::string& model =
      remote && config_.remote_memory ? config_.remote_memory->implementation : config_.hbm.implementation;
  if (model != kDefaultMemoryModel && model != "bandwidth") return kNever;
  if (!remote) return slowest_access(config_.hbm, node.tensor_size);
  return saturated(static_cast<Wide>(access_time(rank, node)) + 1000);
}

Picoseconds CheckedJob::upper_bound(uint64_t out_of_order_starts) const {
  return saturated(upper_bound_ +
                   static_cast<Wide>(out_of_order_starts) * collectives::slowest_link(config_));
}

void CheckedJob::check_capacity() {
  tiers::TierUse use(config_);
  if (!use.wanted()) return;
  for (uint32_t r = 0; r < traces_.npus(); ++r)
    if (folding_.built(r)) use.add(traces_.index(r), r, ranks_.npu(r), folding_.times(r));
  for (std::string& warning : use.check()) warnings_.push_back(std::move(warning));
}

void CheckedJob::measure(const collectives::CollectivePlan& plan, uint32_t times, uint32_t group_size,
                         double& data_of_rank) {
  const double share = static_cast<double>(times) / group_size;  // every member counts its part of the row
  size_.collectives += share;
  size_.phases += share * static_cast<double>(plan.phases().size());
  const auto [it, fresh] = sizes_.try_emplace(&plan);
  if (fresh) it->second = collectives::plan_size(config_, plan);
  size_.of_a_rank.raise(it->second);
  if (config_.run.data != "none")
    data_of_rank = std::max(data_of_rank, collectives::data_footprint(plan) / plan.members());
}

/// Ranks that do what this one does, of which it alone is looked at; 0: another one is.
std::vector<uint32_t> CheckedJob::times_looked_at() const {
  std::vector<uint32_t> times(traces_.npus());
  for (uint32_t r = 0; r < traces_.npus(); ++r) times[r] = folding_.built(r) ? folding_.times(r) : 0;
  const Replicas& replicas = folding_.replicas();
  if (replicas.empty() || rules_->any() || config_.run.data != "none") return times;
  std::vector<uint32_t> fewer = times;
  for (size_t k = 0; k < replicas.ranks.size(); ++k)
    for (const uint32_t r : replicas.ranks[k])
      fewer[r] = k == 0 ? static_cast<uint32_t>(replicas.ranks.size()) : 0;
  // Of each group that joins replicas some member must be looked at.
  std::vector<bool> seen(groups_.size(), false);
  for (uint32_t r = 0; r < traces_.npus(); ++r)
    for (const trace::GroupId g : traces_.groups().of_rank(r)) seen[g] = seen[g] || fewer[r] != 0;
  for (trace::GroupId g = 0; g < groups_.size(); ++g) {
    const bool used = traces_.collectives().of_group(g) != 0;
    if (used && replicas.joins[g] && g != trace::kWorld && !seen[g]) return times;
  }
  return fewer;
}

/// Groups that run what this one does, which is looked at for them. `times`: of the rank.
uint32_t CheckedJob::groups_like(uint32_t rank, trace::GroupId group, uint32_t times) const {
  if (const auto* c = folding_.of(rank)) return static_cast<uint32_t>(c->like(group).size());
  return times > 1 && !folding_.replicas().joins[group] ? times : 1;
}

void CheckedJob::look_through() {
  // Every collective's plan is made here, so that what cannot run is refused before anything does.
  CostModel minimal;
  CostModel serial;
  minimal.memory = [this](uint32_t rank, const trace::Node& node) { return access_time(rank, node); };
  serial.memory = [this](uint32_t rank, const trace::Node& node) { return slow_access_time(rank, node); };
  const Picoseconds hop = collectives::nearest_link(config_);
  // A member that comes last may find everybody else's messages there already: it then waits for nothing but
  // its own endpoint. Of some all-reduces its own contribution must come back.
  std::shared_ptr<const collectives::CollectivePlan> plan;  // of the node that is looked at
  minimal.collective = [this, hop, &plan](uint32_t, const trace::Node&) -> Picoseconds {
    if (!plan->brings_back()) return 0;
    return 2 * hop + least_end_delays(config_).start;
  };
  std::unordered_map<const collectives::CollectivePlan*, Picoseconds> serial_times;
  serial.collective = [this, &serial_times, &plan](uint32_t, const trace::Node&) -> Picoseconds {
    auto [it, fresh] = serial_times.try_emplace(plan.get(), 0);
    if (fresh) it->second = collectives::serial_time_apart(config_, *plan);
    return it->second;
  };
  minimal.send = [least = least_end_delays(config_).start](uint32_t, const trace::Node&) -> Picoseconds {
    return least;
  };
  serial.send = [this](uint32_t rank, const trace::Node& node) -> Picoseconds {
    return collectives::message_time(config_, ranks_.npu(rank), ranks_.npu(node.peer), node.comm_size);
  };
  Bounds bounds(config_.npu, minimal, serial);
  const std::vector<uint32_t> times_of = times_looked_at();
  uint64_t reduced = 0;
  for (uint32_t r = 0; r < traces_.npus(); ++r) {
    const uint32_t times = times_of[r];
    if (times == 0) continue;
    double data = 0;
    TensorRoom room(config_);
    const auto path = trace::longest_path(traces_.index(r), [&](const trace::Node& node) {
      uint32_t groups = 1;
      if (node.type == trace::NodeType::comm_coll && node.has_comm_type) {
        check_rules(r, node);
        const collectives::CollectiveRequest wanted = request(r, node);
        plan = rules_->plan(wanted, node, r, traces_.index(r).path());
        groups = groups_like(r, wanted.group->id, times);
        if (plan->chunks_reduced()) reduced += times;
        measure(*plan, times, wanted.group->size(traces_.npus()), data);
      }
      if (node.type == trace::NodeType::comm_send) {
        size_.of_a_rank.bytes = std::max(size_.of_a_rank.bytes, static_cast<double>(node.comm_size));
        size_.of_a_rank.messages = std::max(size_.of_a_rank.messages, 1.0);
      }
      if (accesses_memory(node)) {
        check_memory(r, node);
        if (config_.run.data == "functional") room.add(node);
      }
      bounds.add(r, node, times, groups);
      return bounds.minimal_cost(r, node);
    });
    bounds.path(r, path.time);
    size_.data_bytes += data + room.bytes();
  }
  check_capacity();
  ruled_.clear();
  lower_bound_ = bounds.lower();
  upper_bound_ = bounds.upper();
  if (reduced == 0) return;
  const bool bytes = config_.run.data == "none";
  warnings_.push_back(
      fmt::format("{} collective nodes have fewer {} than their chunks{}: they use one "
                  "chunk {}",
                  reduced, bytes ? "bytes" : "elements",
                  config_.collectives.chunks == kAutoChunks
                      ? std::string{}
                      : fmt::format(" (collectives.chunks: {})", config_.collectives.chunks),
                  bytes ? "a byte" : "an element"));
}

Folding fold_job(const Config& config, const trace::JobTrace& traces, const std::string& whole) {
  return whole.empty() ? Folding(config, traces) : Folding(traces, whole);
}

}  // namespace weft::graph
