// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/graph/folding/analysis.h"

#include <algorithm>
#include <functional>

#include "configs/blueprint/carrier.h"

namespace weft::graph {
namespace {

constexpr uint32_t kNoPlace = ~0u;
constexpr uint64_t kWindow = 256ull << 10;  ///< of a trace file while it is looked through

}  // namespace

Analysis::Analysis(const Config& config, const trace::JobTrace& traces)
    : config_(config),
      traces_(traces),
      plans_(config),
      rules_(config, plans_),
      fidelity_(config),
      components_(traces.npus()),
      members_(traces.npus()),
      shapes_(config, traces.groups()),
      ways_(config),
      groups_(traces.groups().size()),
      places_(traces.groups().size(), kNoPlace) {
  const auto dims = static_cast<uint32_t>(config.dimensions.size());
  stepwise_ = std::any_of(config.dimensions.begin(), config.dimensions.end(), [](const DimensionConfig& d) {
    return d.size > 1 && carrier_of(d) != Carrier::direct;
  });
  all_dimensions_ = dims >= 32 ? ~0u : (1u << dims) - 1;
  for (uint32_t g = 0; g < groups_.size(); ++g) {
    groups_[g].id = g;
    groups_[g].name = traces.groups().name(g);
    if (g != trace::kWorld) groups_[g].ranks = traces.groups().ranks(g);
  }
}

RankUse Analysis::look_through(uint32_t rank) {
  const trace::TraceIndex& index = traces_.index(rank);
  trace::NodeCache cache = index.open_cache(kWindow);
  RankUse use;
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
      collective(rank, node, digest, use);
    } else if (node.type == trace::NodeType::comm_send || node.type == trace::NodeType::comm_recv) {
      point_to_point(rank, node, digest, use);
    }
  }
  ways_.compare(rank, shapes_, digest, use);
  use.digest = digest.value();
  if ((use.exchanges & use.shifts) != 0)
    use.refuse("ring and halving_doubling share a FullyConnected dimension");
  return use;
}

/// Which of the rank's peers it is, by first use; what is sent; and how the peer lies from the rank.
void Analysis::point_to_point(uint32_t rank, const trace::Node& node, Digest& digest, RankUse& use) {
  use.along_dimensions = false;
  components_.join(rank, node.peer);
  const auto at = std::find_if(use.peers.begin(), use.peers.end(),
                               [&](const Peer& peer) { return peer.rank == node.peer; });
  digest.add(static_cast<uint64_t>(at - use.peers.begin()));
  digest.add(node.tag);
  digest.add(node.comm_size);
  const bool receives = node.type == trace::NodeType::comm_recv;
  if (at == use.peers.end()) {
    use.peers.push_back({node.peer, receives});
    ways_.describe(rank, node.peer, digest);
    use.passes_ranks = use.passes_ranks || ways_.passes_ranks(rank, node.peer);
  } else {
    at->receives = at->receives || receives;
  }
  if (fidelity_.any()) use.refuse("a fidelity rule may be for one of their messages");
}

uint32_t Analysis::place_of(trace::GroupId group, RankUse& use) {
  const auto at = std::find(use.groups.begin(), use.groups.end(), group);
  const auto place = static_cast<uint32_t>(at - use.groups.begin());
  if (at == use.groups.end()) use.groups.push_back(group);
  if (places_[group] == kNoPlace) places_[group] = place;
  if (places_[group] != place) use.refuse("they use their communicator groups in different orders");
  return place;
}

void Analysis::collective(uint32_t rank, const trace::Node& node, Digest& digest, RankUse& use) {
  const trace::GroupId g = *traces_.groups().find(node.pg_name);  // open_job() has refused unknown groups
  uint32_t involved = ~0u;
  const auto& flags = node.involved_dim;
  if (std::find(flags.begin(), flags.end(), false) != flags.end()) {
    involved = 0;
    for (uint32_t d = 0; d < flags.size() && d < 32; ++d) involved |= flags[d] ? 1u << d : 0u;
    if (flags.size() != config_.dimensions.size()) {
      use.refuse("involved_dim does not fit the topology");
      return;  // the job refuses it
    }
  }
  const GroupShape& shape = shapes_.of(g);
  const uint32_t place = place_of(g, use);
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
  digest.add(std::hash<std::string>{}(node.algorithm));

  if (fidelity_.may_lift(node, groups_[g].name))
    use.refuse("a fidelity rule may be for one of their collectives");

  if (!shape.regular) {
    use.refuse("the group is not made of whole dimensions");
    use.along_dimensions = false;
    use.passes_ranks = use.passes_ranks || stepwise_;
    return;
  }
  const Verdict& verdict = judge(shape, request, node, rank, path);
  if (!verdict.reason.empty()) use.refuse(verdict.reason);
  use.exchanges |= verdict.images.exchanges;
  use.shifts |= verdict.images.shifts;
  use.uneven |= verdict.images.uneven;
  use.along_dimensions = use.along_dimensions && verdict.along_dimensions;
  use.passes_ranks = use.passes_ranks || (stepwise_ && !verdict.along_dimensions);
}

const Analysis::Verdict& Analysis::judge(const GroupShape& shape,
                                         const collectives::CollectiveRequest& request,
                                         const trace::Node& node, uint32_t rank, const std::string& path) {
  const auto key =
      std::make_tuple(shape.number, request.op, request.bytes, request.involved_dimensions, request.settings);
  const auto known = verdicts_.find(key);
  if (known != verdicts_.end()) return known->second;
  Verdict& verdict = verdicts_[key];
  const auto plan = rules_.plan(request, node, rank, path);
  if (plan->empty()) return verdict;
  verdict.along_dimensions = plan->along_dimensions();
  verdict.reason = plan->asymmetry(config_);
  if (verdict.reason.empty()) verdict.reason = plan->ties(config_);
  verdict.images = plan->link_images(config_);
  return verdict;
}

/// The ranks that take part in the collective with this one: of a dimension-restricted one its line only.
void Analysis::join_members(uint32_t rank, trace::GroupId g, uint32_t involved) {
  const auto join = [this](uint32_t a, uint32_t b) {
    components_.join(a, b);
    members_.join(a, b);
  };
  if ((involved & all_dimensions_) == all_dimensions_) {
    if (joined_.insert({g, ~0u, 0}).second) {
      const auto& ranks = traces_.groups().ranks(g);
      for (const uint32_t r : ranks) join(ranks.front(), r);
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
  join(first->second, rank);
}

}  // namespace weft::graph
