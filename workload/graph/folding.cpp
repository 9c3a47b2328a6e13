// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/graph/folding.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <set>
#include <stdexcept>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "configs/blueprint/carrier.h"
#include "workload/collectives/plan.h"
#include "workload/collectives/rules.h"
#include "workload/graph/fidelity_rules.h"
#include "workload/graph/trace_delays.h"

namespace weft::graph {
namespace {

constexpr uint32_t kNoNumber = ~0u;
constexpr uint64_t kWindow = 256ull << 10;  ///< of a trace file while it is looked through

/// 128 bits that tell traces apart.
class Digest {
 public:
  void add(uint64_t value) {
    low_ = mix(low_ ^ value) * 0x9e3779b97f4a7c15ull + high_;
    high_ = mix(high_ + value * 0xc2b2ae3d27d4eb4full) ^ low_;
  }
  std::pair<uint64_t, uint64_t> value() const { return {low_, high_}; }

 private:
  static uint64_t mix(uint64_t h) {
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdull;
    h ^= h >> 29;
    h *= 0xc4ceb9fe1a85ec53ull;
    return h ^ (h >> 32);
  }
  uint64_t low_ = 0x6a09e667f3bcc908ull;
  uint64_t high_ = 0xbb67ae8584caa73bull;
};

/// Sets of ranks that are joined by communication.
class Components {
 public:
  explicit Components(uint32_t ranks) : parent_(ranks) { std::iota(parent_.begin(), parent_.end(), 0u); }
  uint32_t find(uint32_t r) {
    while (parent_[r] != r) r = parent_[r] = parent_[parent_[r]];
    return r;
  }
  void join(uint32_t a, uint32_t b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);  // the lowest rank names the component
  }

 private:
  std::vector<uint32_t> parent_;
};

/// Looks through the traces rank by rank.
class Analysis {
 public:
  struct Rank {
    std::pair<uint64_t, uint64_t> digest;
    std::vector<trace::GroupId> groups;  ///< by first use
    std::string reason;                  ///< it cannot fold, because; empty: it can
    uint32_t exchanges = 0;
    uint32_t shifts = 0;
    bool along_dimensions = true;  ///< all its messages
  };

  Analysis(const Config& config, const trace::JobTrace& traces)
      : config_(config),
        traces_(traces),
        plans_(config),
        rules_(config, plans_),
        delays_(trace_delays(traces, rules_.delays())),
        fidelity_(config),
        components_(traces.npus()),
        shapes_(traces.groups().size()),
        places_(traces.groups().size(), kNoNumber) {
    const auto dims = static_cast<uint32_t>(config.dimensions.size());
    all_dimensions_ = dims >= 32 ? ~0u : (1u << dims) - 1;
    groups_.resize(traces.groups().size());
    for (uint32_t g = 0; g < groups_.size(); ++g) {
      groups_[g].id = g;
      groups_[g].name = traces.groups().name(g);
      if (g != trace::kWorld) groups_[g].ranks = traces.groups().ranks(g);
    }
  }

  Rank look_through(uint32_t rank) {
    const trace::TraceIndex& index = traces_.index(rank);
    trace::NodeCache cache = index.open_cache(kWindow);
    Rank result;
    Digest digest;
    trace::Node node;
    trace::Dependencies dependencies;
    std::vector<trace::NodeIndex> before;
    digest.add(index.size());
    for (trace::NodeIndex i = 0; i < index.size(); ++i) {
      index.decode(cache, i, node, &dependencies);
      before.clear();
      index.for_each_dependency(i, dependencies, [&](trace::NodeIndex p) { before.push_back(p); });
      std::sort(before.begin(), before.end());
      before.erase(std::unique(before.begin(), before.end()), before.end());
      digest.add(before.size());
      for (const trace::NodeIndex p : before) digest.add(p);
      digest.add(static_cast<uint64_t>(node.type) | uint64_t{node.is_cpu_op} << 8 |
                 uint64_t{node.has_duration} << 9 | static_cast<uint64_t>(node.location) << 16 |
                 uint64_t{node.has_comm_type} << 11);
      digest.add(node.duration);
      if (node.has_stream) digest.add(uint64_t{node.stream} | uint64_t{1} << 32);
      digest.add(node.delay);
      digest.add(node.num_ops);
      digest.add(node.tensor_size);
      if (node.type == trace::NodeType::comm_coll && node.has_comm_type) {
        collective(rank, node, digest, result);
      } else if (node.type == trace::NodeType::comm_send || node.type == trace::NodeType::comm_recv) {
        refuse(result, "they exchange point-to-point messages");
        result.along_dimensions = false;
        components_.join(rank, node.peer);
      }
    }
    result.digest = digest.value();
    if ((result.exchanges & result.shifts) != 0) {
      refuse(result, "ring and halving_doubling share a FullyConnected dimension");
    }
    return result;
  }

  Components& components() { return components_; }

 private:
  /// The shape of a group on the machine: the same for groups that differ only in their place.
  struct Shape {
    uint32_t number = kNoNumber;  ///< kNoNumber: not looked at yet
    bool regular = false;         ///< a product of coordinates
  };
  struct Verdict {
    std::string reason;
    uint32_t exchanges = 0;
    uint32_t shifts = 0;
    bool along_dimensions = true;
  };

  static void refuse(Rank& rank, const std::string& reason) {
    if (rank.reason.empty()) rank.reason = reason;
  }

  void collective(uint32_t rank, const trace::Node& node, Digest& digest, Rank& result) {
    const trace::GroupId g = *traces_.groups().find(node.pg_name);  // open_job() has refused unknown groups
    uint32_t involved = ~0u;
    const auto& flags = node.involved_dim;
    if (std::find(flags.begin(), flags.end(), false) != flags.end()) {
      involved = 0;
      for (uint32_t d = 0; d < flags.size() && d < 32; ++d) involved |= flags[d] ? 1u << d : 0u;
      if (flags.size() != config_.dimensions.size()) {
        refuse(result, "involved_dim does not fit the topology");
        return;  // the job refuses it
      }
    }
    const Shape& shape = shape_of(g);
    const auto at = std::find(result.groups.begin(), result.groups.end(), g);
    const auto place = static_cast<uint32_t>(at - result.groups.begin());
    if (at == result.groups.end()) result.groups.push_back(g);
    if (places_[g] == kNoNumber) places_[g] = place;
    if (places_[g] != place) refuse(result, "they use their communicator groups in different orders");
    join_members(rank, g, shape.regular ? involved : ~0u);

    digest.add(place);
    digest.add(shape.number);
    digest.add(static_cast<uint64_t>(node.op) | uint64_t{involved & all_dimensions_} << 8);
    digest.add(node.comm_size);
    digest.add(static_cast<uint64_t>(static_cast<int64_t>(node.priority)));
    digest.add(static_cast<uint64_t>(node.order));
    digest.add(node.ordinal);
    // What else its plan depends on: the rule that applies, and the node's own algorithms.
    collectives::CollectiveRequest request;
    request.op = node.op;
    request.bytes = node.comm_size;
    request.group = &groups_[g];
    request.involved_dimensions = involved;
    request.root = request.group->ranks.empty() ? 0 : request.group->ranks[0];
    const std::string& path = traces_.index(rank).path();
    rules_.apply(request, node, rank, path);
    digest.add(rules_.find(request, node.name));
    if (!delays_.empty()) {
      const auto delay = delays_.find(traces_.collectives().number(g, node.ordinal));
      digest.add(delay == delays_.end() ? 0 : delay->second);
    }
    digest.add(std::hash<std::string>{}(node.algorithm));

    if (fidelity_.may_lift(node, groups_[g].name))
      refuse(result, "a fidelity rule may be for one of their collectives");

    if (!shape.regular) {
      refuse(result, "the group is not made of whole dimensions");
      result.along_dimensions = false;
      return;
    }
    const Verdict& verdict = judge(shape, request, node, rank, path);
    if (!verdict.reason.empty()) refuse(result, verdict.reason);
    result.exchanges |= verdict.exchanges;
    result.shifts |= verdict.shifts;
    result.along_dimensions = result.along_dimensions && verdict.along_dimensions;
  }

  const Verdict& judge(const Shape& shape, const collectives::CollectiveRequest& request,
                       const trace::Node& node, uint32_t rank, const std::string& path) {
    const auto key = std::make_tuple(shape.number, request.op, request.bytes, request.involved_dimensions,
                                     request.settings);
    const auto known = verdicts_.find(key);
    if (known != verdicts_.end()) return known->second;
    Verdict& verdict = verdicts_[key];
    const auto plan = rules_.plan(request, node, rank, path);
    if (plan->empty()) return verdict;
    verdict.along_dimensions = plan->along_dimensions();
    verdict.reason = plan->asymmetry(config_);
    if (verdict.reason.empty()) verdict.reason = plan->ties(config_);
    const auto images = plan->link_images(config_);
    verdict.exchanges = images.exchanges;
    verdict.shifts = images.shifts;
    return verdict;
  }

  const Shape& shape_of(trace::GroupId g) {
    Shape& shape = shapes_[g];
    if (shape.number != kNoNumber) return shape;
    std::vector<uint32_t> signature;
    shape.regular = true;
    if (g == trace::kWorld) {
      for (const DimensionConfig& d : config_.dimensions) signature.insert(signature.end(), {d.size, 1});
    } else {
      const auto& ranks = traces_.groups().ranks(g);
      uint64_t points = 1;
      uint32_t stride = 1;
      for (const DimensionConfig& d : config_.dimensions) {
        std::vector<bool> seen(d.size, false);
        uint32_t count = 0;
        for (const uint32_t r : ranks) {
          const uint32_t c = r / stride % d.size;
          count += seen[c] ? 0 : 1;
          seen[c] = true;
        }
        stride *= d.size;
        points *= count;
        signature.insert(signature.end(), {count, count == d.size ? 1u : 0u});
      }
      shape.regular = points == ranks.size();
    }
    if (!shape.regular) signature.push_back(g);  // like no other
    shape.number =
        shape_numbers_.emplace(signature, static_cast<uint32_t>(shape_numbers_.size())).first->second;
    return shape;
  }

  /// The ranks that take part in the collective with this one: of a dimension-restricted one its line only.
  void join_members(uint32_t rank, trace::GroupId g, uint32_t involved) {
    if ((involved & all_dimensions_) == all_dimensions_) {
      if (joined_.insert({g, ~0u, 0}).second) {
        const auto& ranks = traces_.groups().ranks(g);
        for (const uint32_t r : ranks) components_.join(ranks.front(), r);
      }
      return;
    }
    uint32_t line = 0;  // of the rank: its coordinates in the dimensions that take no part
    uint32_t stride = 1;
    for (uint32_t d = 0; d < config_.dimensions.size(); ++d) {
      if ((involved >> d & 1) == 0) line += rank / stride % config_.dimensions[d].size * stride;
      stride *= config_.dimensions[d].size;
    }
    const auto first = lines_.try_emplace(std::make_tuple(g, involved, line), rank).first;
    components_.join(first->second, rank);
  }

  const Config& config_;
  const trace::JobTrace& traces_;
  collectives::PlanBuilder plans_;
  collectives::Rules rules_;
  TraceDelays delays_;
  FidelityRules fidelity_;
  Components components_;
  uint32_t all_dimensions_ = 0;
  std::vector<collectives::Group> groups_;
  std::vector<Shape> shapes_;     ///< by group
  std::vector<uint32_t> places_;  ///< by group: which of its members' groups it is; the same for all of them
  std::map<std::vector<uint32_t>, uint32_t> shape_numbers_;
  std::map<std::tuple<uint32_t, CollectiveOp, uint64_t, uint32_t, uint32_t>, Verdict> verdicts_;
  std::set<std::tuple<trace::GroupId, uint32_t, uint32_t>> joined_;
  std::map<std::tuple<trace::GroupId, uint32_t, uint32_t>, uint32_t> lines_;
};

}  // namespace

std::string folding_refusal(const Config& config) {
  if (config.remapped()) return "the logical topology is not the physical one";
  if (config.replaces_modules()) return "NPUs, NMUs or single modules are of models of their own";
  for (size_t d = 0; d < config.dimensions.size(); ++d) {
    if (config.dimensions[d].size > 1 && carrier_of(config.dimensions[d]) != Carrier::direct) {
      return fmt::format("dimension {} is not analytical", d);
    }
  }
  if (config.collectives.reduction == ReductionKind::hbm) return "reductions contend in the HBM";
  if (config.collectives.library.on()) return "a communication library plans the collectives";
  if (config.run.data != "none") return "every rank's data is computed and checked";
  return {};
}

const std::vector<Folding::Class::Share>& Folding::Class::like(trace::GroupId group) const {
  const auto at = std::find(own.begin(), own.end(), group);
  if (at == own.end()) throw std::logic_error("a folded rank was asked for a group that it does not use");
  return groups[static_cast<size_t>(at - own.begin())];
}

Folding::Folding(const trace::JobTrace& traces, const std::string& why)
    : class_of_(traces.npus(), kNone), whole_(traces.npus()), along_dimensions_(traces.npus(), false) {
  std::iota(whole_.begin(), whole_.end(), 0u);
  reasons_[why] = traces.npus();
}

Folding::Folding(const Config& config, const trace::JobTrace& traces) : class_of_(traces.npus(), kNone) {
  const uint32_t npus = traces.npus();
  std::string why = folding_refusal(config);
  if (why.empty() && config.memory_pool) why = "ranks share the memory pool";
  if (why.empty() && config.host_memory && config.host_memory->per != "npu")
    why = "ranks share hosts (memory.host.per)";
  if (!why.empty()) {
    *this = Folding(traces, why);
    return;
  }
  Analysis analysis(config, traces);
  std::vector<Analysis::Rank> ranks;
  ranks.reserve(npus);
  for (uint32_t r = 0; r < npus; ++r) ranks.push_back(analysis.look_through(r));

  // Messages from outside a line of ranks never come along it, if none in the component turns a corner.
  std::vector<bool> turns(npus, false);
  for (uint32_t r = 0; r < npus; ++r) {
    if (!ranks[r].along_dimensions) turns[analysis.components().find(r)] = true;
  }
  along_dimensions_.resize(npus);
  for (uint32_t r = 0; r < npus; ++r) along_dimensions_[r] = !turns[analysis.components().find(r)];

  // A component folds as a whole or not at all.
  std::vector<std::string> reason(npus);  // by the component's lowest rank
  for (uint32_t r = 0; r < npus; ++r) {
    const uint32_t root = analysis.components().find(r);
    std::string& of_component = reason[root];
    if (!of_component.empty()) continue;
    if (!ranks[r].reason.empty()) {
      of_component = ranks[r].reason;
    } else if (ranks[r].digest != ranks[root].digest || ranks[r].groups.size() != ranks[root].groups.size()) {
      of_component = "ranks that communicate with each other have different traces";
    }
  }
  std::map<std::pair<uint64_t, uint64_t>, std::vector<uint32_t>> alike;
  for (uint32_t r = 0; r < npus; ++r) {
    if (reason[analysis.components().find(r)].empty()) alike[ranks[r].digest].push_back(r);
  }
  std::vector<std::vector<uint32_t>> members;
  for (auto& entry : alike) {
    if (entry.second.size() > 1) members.push_back(std::move(entry.second));
  }
  std::sort(members.begin(), members.end());
  for (auto& list : members) {
    const auto number = static_cast<uint32_t>(classes_.size());
    Class c;
    const uint32_t first = list.front();
    c.own = ranks[first].groups;
    c.exchanges = ranks[first].exchanges;
    c.groups.resize(c.own.size());
    std::vector<std::map<trace::GroupId, uint32_t>> shares(c.own.size());
    for (const uint32_t r : list) {
      class_of_[r] = number;
      for (size_t i = 0; i < c.own.size(); ++i) ++shares[i][ranks[r].groups[i]];
    }
    for (size_t i = 0; i < shares.size(); ++i) {
      for (const auto& [group, count] : shares[i]) c.groups[i].push_back({group, count});
    }
    c.ranks = std::move(list);
    classes_.push_back(std::move(c));
  }
  for (uint32_t r = 0; r < npus; ++r) {
    if (class_of_[r] != kNone) continue;
    whole_.push_back(r);
    const std::string& of_component = reason[analysis.components().find(r)];
    ++reasons_[of_component.empty() ? "no other rank does the same" : of_component];
  }
}

std::vector<uint32_t> Folding::representatives() const {
  std::vector<uint32_t> result;
  for (const Class& c : classes_) result.push_back(c.representative());
  return result;
}

}  // namespace weft::graph
