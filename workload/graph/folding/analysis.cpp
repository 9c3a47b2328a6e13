// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/graph/folding/analysis.h"

#include <algorithm>
#include <functional>

#include "configs/blueprint/carrier.h"
#include "workload/graph/folding/group_orders.h"

namespace weft::graph {
namespace {

constexpr uint32_t kNoPlace = ~0u;
constexpr uint64_t kWindow = 256ull << 10;  ///< of a trace file while it is looked through

/// What a compute node of so much is to the rank: ranks that share a program may differ in their speed.
uint64_t compute_of(const trace::TraceIndex& index) {
  constexpr uint64_t kMuch = uint64_t{1} << 40;
  trace::Node node;
  node.type = trace::NodeType::comp;
  node.num_ops = kMuch;
  index.view(node);
  return node.num_ops;
}

}  // namespace

Analysis::Analysis(const Config& config, const trace::JobTrace& traces)
    : config_(config),
      traces_(traces),
      plans_(config),
      rules_(config, plans_),
      delays_(trace_delays(traces, rules_.delays())),
      fidelity_(config),
      components_(traces.npus()),
      members_(traces.npus()),
      shapes_(config, traces.groups()),
      ways_(config),
      nodes_(config),
      parts_(config, shapes_, ways_, !nodes_.on()),
      groups_(traces.groups().size()),
      places_(traces.groups().size(), kNoPlace) {
  const auto dims = static_cast<uint32_t>(config.dimensions.size());
  stepwise_ = std::any_of(config.dimensions.begin(), config.dimensions.end(), [](const DimensionConfig& d) {
    return d.size > 1 && carrier_of(d) != Carrier::direct;
  });
  only_switches_ = std::all_of(
      config.dimensions.begin(), config.dimensions.end(),
      [](const DimensionConfig& d) { return d.size <= 1 || carrier_of(d) == Carrier::crossbars; });
  by_node_ = rules_.any() || !delays_.empty() || fidelity_.any();
  all_dimensions_ = dims >= 32 ? ~0u : (1u << dims) - 1;
  for (uint32_t g = 0; g < groups_.size(); ++g) {
    groups_[g].id = g;
    groups_[g].name = traces.groups().name(g);
    if (g != trace::kWorld) groups_[g].ranks = traces.groups().ranks(g);
  }
}

/// A trace while it is read.
struct Analysis::Reading {
  uint32_t rank = 0;
  const trace::TraceIndex& index;
  Program& program;
  Digest& digest;
  trace::Node written;                      ///< the node as it is written
  trace::Node node;                         ///< .. and the rank's
  std::vector<trace::GroupId> groups = {};  ///< by place
  std::vector<uint32_t> peers = {};         ///< by place
  std::set<Kind> kinds = {};
  GroupOrders orders = {};
};

RankUse Analysis::look_through(uint32_t rank) {
  const Program& program = program_of(rank);
  RankUse use;
  use.nodes = program.nodes;
  use.labels = program.labels;
  use.accesses_memory = program.accesses_memory;
  Digest digest;
  digest.add(program.digest);
  digest.add(compute_of(traces_.index(rank)));
  fit_groups(rank, program, digest, use);
  fit_peers(rank, program, digest, use);
  for (const trace::Node& each : program.collectives) fit_collective(rank, each, use);
  ways_.compare(rank, shapes_, digest, use);
  parts_.compare(rank, digest, use);
  use.digest = digest.value();
  if ((use.exchanges & use.shifts) != 0)
    use.refuse("ring and halving_doubling share a FullyConnected dimension");
  return use;
}

/// One program is read once.
const Analysis::Program& Analysis::program_of(uint32_t rank) {
  const void* const shared = by_node_ ? nullptr : traces_.index(rank).program();
  if (shared == nullptr) return last_ = read(rank);
  const auto known = programs_.find(shared);
  return known != programs_.end() ? known->second : programs_.emplace(shared, read(rank)).first->second;
}

Analysis::Program Analysis::read(uint32_t rank) {
  const trace::TraceIndex& index = traces_.index(rank);
  trace::NodeCache cache = index.open_cache(kWindow);
  Program program;
  Digest digest;
  Digest labels;
  Reading reading{rank, index, program, digest, {}, {}};
  trace::Dependencies dependencies;
  std::vector<trace::NodeIndex> before;
  digest.add(index.size());
  program.nodes = index.size();
  for (trace::NodeIndex i = 0; i < index.size(); ++i) {
    trace::Node& node = reading.written;
    index.decode_as_written(cache, i, node, &dependencies);
    before.clear();
    index.for_each_dependency(i, dependencies, [&](trace::NodeIndex p) { before.push_back(p); });
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    labels.add(std::hash<std::string>{}(node.name));
    labels.add(node.has_iteration ? node.iteration + 1 : 0);
    digest.add(before.size());
    for (const trace::NodeIndex p : before) digest.add(p);
    if (only_switches_) reading.orders.add(i, before);
    digest.add(static_cast<uint64_t>(node.type) | uint64_t{node.is_cpu_op} << 8 |
               uint64_t{node.has_duration} << 9 | static_cast<uint64_t>(node.location) << 16 |
               uint64_t{node.has_comm_type} << 11);
    digest.add(node.duration);
    if (node.has_stream) digest.add(uint64_t{node.stream} | uint64_t{1} << 32);
    digest.add(node.delay);
    digest.add(node.num_ops);
    for (const uint64_t size : node.gemm) digest.add(size);
    digest.add(node.delay_cycles);
    digest.add(node.tensor_size);
    if (node.type == trace::NodeType::mem_load || node.type == trace::NodeType::mem_store)
      program.accesses_memory = true;
    if (node.type == trace::NodeType::comm_coll && node.has_comm_type) {
      read_collective(reading);
    } else if (node.type == trace::NodeType::comm_send || node.type == trace::NodeType::comm_recv) {
      read_message(reading);
    }
  }
  program.digest = digest.value();
  program.labels = labels.value();
  for (uint32_t place = 0; place < program.groups.size(); ++place)
    program.at_once.push_back(!only_switches_ || reading.orders.at_once(place));
  return program;
}

/// Bits of the dimensions that take part; ~0u: all.
uint32_t Analysis::involved(const trace::Node& node) const {
  const auto& flags = node.involved_dim;
  if (std::find(flags.begin(), flags.end(), false) == flags.end()) return ~0u;
  uint32_t bits = 0;
  for (uint32_t d = 0; d < flags.size() && d < 32; ++d) bits |= flags[d] ? 1u << d : 0u;
  return bits;
}

trace::GroupId Analysis::group_of(const trace::Node& node) const {
  return *traces_.groups().find(node.pg_name);  // open_job() has refused unknown groups
}

void Analysis::read_collective(Reading& reading) {
  const trace::Node& node = reading.written;
  Digest& digest = reading.digest;
  reading.node = node;
  reading.index.view(reading.node);
  const trace::GroupId g = group_of(reading.node);
  const auto at = std::find(reading.groups.begin(), reading.groups.end(), g);
  const auto place = static_cast<uint32_t>(at - reading.groups.begin());
  if (at == reading.groups.end()) {
    reading.groups.push_back(g);
    reading.program.groups.push_back(node);
  }
  if (only_switches_) reading.orders.collective(place);
  const uint32_t dimensions = involved(node);
  digest.add(place);
  digest.add(static_cast<uint64_t>(node.op) | uint64_t{dimensions & all_dimensions_} << 8);
  digest.add(node.comm_size);
  digest.add(static_cast<uint64_t>(static_cast<int64_t>(node.priority)));
  digest.add(static_cast<uint64_t>(node.order));
  digest.add(node.ordinal);
  digest.add(std::hash<std::string>{}(node.algorithm));
  // What else its plan depends on: the rule that applies.
  const bool fits = dimensions == ~0u || node.involved_dim.size() == config_.dimensions.size();
  if (rules_.any() && fits) digest.add(rules_.find(request(reading.rank, reading.node), node.name));
  if (!delays_.empty()) {
    const auto delay = delays_.find(traces_.collectives().number(g, node.ordinal));
    digest.add(delay == delays_.end() ? 0 : delay->second);
  }
  const Kind kind(place, node.op, node.comm_size, dimensions, node.algorithm,
                  rules_.any() ? node.name : std::string(), fidelity_.any() ? node.index : 0);
  if (reading.kinds.insert(kind).second) reading.program.collectives.push_back(node);
}

/// Which of the rank's peers it is, by first use, and what is sent.
void Analysis::read_message(Reading& reading) {
  const trace::Node& node = reading.written;
  const auto at = std::find(reading.peers.begin(), reading.peers.end(), node.peer);
  const auto place = static_cast<size_t>(at - reading.peers.begin());
  const bool receives = node.type == trace::NodeType::comm_recv;
  if (at == reading.peers.end()) {
    reading.peers.push_back(node.peer);
    reading.program.peers.push_back({node, receives});
  }
  Program::Peer& peer = reading.program.peers[place];
  peer.receives = peer.receives || receives;
  reading.digest.add(place);
  reading.digest.add(node.tag);
  reading.digest.add(node.comm_size);
}

collectives::CollectiveRequest Analysis::request(uint32_t rank, const trace::Node& node) {
  collectives::CollectiveRequest request;
  request.op = node.op;
  request.bytes = node.comm_size;
  request.group = &groups_[group_of(node)];
  request.involved_dimensions = involved(node);
  request.root = request.group->ranks.empty() ? 0 : request.group->ranks[0];
  rules_.apply(request, node, rank, traces_.index(rank).path());
  return request;
}

void Analysis::fit_groups(uint32_t rank, const Program& program, Digest& digest, RankUse& use) {
  for (trace::Node node : program.groups) {
    traces_.index(rank).view(node);
    const trace::GroupId g = group_of(node);
    const auto place = static_cast<uint32_t>(use.groups.size());
    use.groups.push_back(g);
    use.group_uses.push_back(program.at_once[place] ? RankUse::kAtOnce : 0);
    use.first_uses.push_back(node.index);
    if (places_[g] == kNoPlace) places_[g] = place;
    if (places_[g] != place) use.refuse("they use their communicator groups in different orders");
    digest.add(shapes_.of(g).number);
    nodes_.describe(traces_.groups(), g, digest);
  }
}

void Analysis::fit_peers(uint32_t rank, const Program& program, Digest& digest, RankUse& use) {
  if (program.peers.empty()) return;
  use.along_dimensions = false;
  if (fidelity_.any()) use.refuse("a fidelity rule may be for one of their messages");
  for (const Program::Peer& each : program.peers) {
    trace::Node node = each.node;
    traces_.index(rank).view(node);
    use.peers.push_back({node.peer, each.receives});
    components_.join(rank, node.peer);
    ways_.describe(rank, node.peer, digest);
    nodes_.describe(rank, node.peer, digest);
    use.passes_ranks = use.passes_ranks || ways_.passes_ranks(rank, node.peer);
  }
}

void Analysis::fit_collective(uint32_t rank, const trace::Node& written, RankUse& use) {
  trace::Node node = written;
  traces_.index(rank).view(node);
  const trace::GroupId g = group_of(node);
  const uint32_t dimensions = involved(node);
  if (dimensions != ~0u && node.involved_dim.size() != config_.dimensions.size()) {
    use.refuse("involved_dim does not fit the topology");
    use.misfit = true;
    return;  // the job refuses it
  }
  const GroupShape& shape = shapes_.of(g);
  join_members(rank, g, shape.regular ? dimensions : ~0u);
  const collectives::CollectiveRequest wanted = request(rank, node);
  if (fidelity_.may_lift(node, groups_[g].name))
    use.refuse("a fidelity rule may be for one of their collectives");
  if (!shape.regular) {
    use.refuse("the group is not made of whole dimensions");
    use.along_dimensions = false;
    use.passes_ranks = use.passes_ranks || stepwise_;
    return;
  }
  const Verdict& verdict = judge(shape, wanted, node, rank, traces_.index(rank).path());
  const bool shared = (dimensions & all_dimensions_) == all_dimensions_;
  const bool may_be_mixed = shared && verdict.may_be_mixed;
  const auto place = std::find(use.groups.begin(), use.groups.end(), g) - use.groups.begin();
  uint8_t& how = use.group_uses[static_cast<size_t>(place)];
  how |= shared ? RankUse::kShared : RankUse::kLines;
  if (collectives::rooted(node.op)) how |= RankUse::kRooted;
  if (!may_be_mixed) how |= RankUse::kTogether;
  if (!verdict.reason.empty()) {
    if (may_be_mixed) {
      how |= RankUse::kApart;
      if (use.apart.empty()) use.apart = verdict.reason;
    } else {
      use.refuse(verdict.reason);
    }
  }
  use.exchanges |= verdict.images.exchanges;
  use.shifts |= verdict.images.shifts;
  use.uneven |= verdict.images.uneven;
  use.along_dimensions = use.along_dimensions && verdict.along_dimensions;
  use.passes_ranks =
      use.passes_ranks || (stepwise_ && (!verdict.along_dimensions || spans_part_of_a_ring(shape)));
}

/// Some of the Ring's NPUs are between members and are none. At `message` fidelity messages pass them.
bool Analysis::spans_part_of_a_ring(const GroupShape& shape) const {
  for (size_t d = 0; d < shape.coordinates.size(); ++d)
    if (shape.coordinates[d].size() > 1 && carrier_of(config_.dimensions[d]) == Carrier::neighbours)
      return true;
  return false;
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
  if (nodes_.on()) {
    // A closed form ends at one instant for all members, and uses no links.
    verdict.may_be_mixed = false;
    return verdict;
  }
  verdict.along_dimensions = plan->along_dimensions();
  verdict.reason = plan->asymmetry(config_);
  if (verdict.reason.empty()) verdict.reason = plan->ties(config_);
  verdict.images = plan->link_images(config_);
  verdict.may_be_mixed = may_be_mixed(*plan);
  return verdict;
}

/// Its messages go from one simulated rank to another by the switches of these ranks alone, and what a member
/// does follows from its place in the group.
bool Analysis::may_be_mixed(const collectives::CollectivePlan& plan) const {
  if (collectives::rooted(plan.request().op) || !plan.along_dimensions()) return false;
  return std::all_of(plan.axes().begin(), plan.axes().end(), [this](const collectives::Axis& axis) {
    return carrier_of(config_.dimensions[axis.dimension]) == Carrier::crossbars;
  });
}

/// The ranks that take part in the collective with this one: of a dimension-restricted one its line only.
void Analysis::join_members(uint32_t rank, trace::GroupId g, uint32_t involved) {
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
  members_.join(first->second, rank);
}

}  // namespace weft::graph
