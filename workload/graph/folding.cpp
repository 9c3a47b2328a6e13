// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/graph/folding.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "configs/blueprint/carrier.h"
#include "configs/blueprint/shape.h"
#include "workload/collectives/in_switch.h"
#include "workload/graph/fidelity_rules.h"
#include "workload/graph/folding/analysis.h"
#include "workload/graph/folding/library_nodes.h"
#include "workload/graph/folding/own_links.h"
#include "workload/graph/folding/partition.h"

namespace weft::graph {

/// What a rule moves to the links of a dimension would meet modules that are not built. A packet network is
/// whole.
static std::string plane_refusal(const Config& config) {
  const FidelityRules rules(config);
  for (uint32_t p = 1; p < rules.planes(); ++p) {
    const std::vector<DimensionConfig>& dimensions = rules.plane(p).dimensions;
    for (size_t d = 0; d < dimensions.size(); ++d) {
      const Carrier carrier = carrier_of(dimensions[d]);
      if (dimensions[d].size > 1 && carrier != Carrier::direct && carrier != Carrier::packets)
        return fmt::format("a fidelity rule moves messages of dimension {} to `message`", d);
    }
  }
  return {};
}

std::string folding_refusal(const Config& config) {
  if (config.remapped()) return "the logical topology is not the physical one";
  if (config.replaces_modules()) return "NPUs, NMUs or single modules are of models of their own";
  if (!config.run.cut_links.empty()) return "borders cut links (run.cut_links)";
  if (std::string why = LibraryNodes::folding_refusal(config); !why.empty()) return why;
  for (size_t d = 0; d < config.dimensions.size(); ++d) {
    const DimensionConfig& dimension = config.dimensions[d];
    if (dimension.size <= 1 || carrier_of(dimension) == Carrier::direct) continue;
    if (carrier_of(dimension) == Carrier::neighbours && Shape(dimension).wraps()) continue;
    if (carrier_of(dimension) != Carrier::crossbars)
      return fmt::format("dimension {} is not analytical, and no Switch or Ring at message fidelity", d);
    if (dimension.implementation != kDefaultSwitchModel)
      return fmt::format("the switches of dimension {} are of a model of their own", d);
    if (collectives::uses_unit(config, static_cast<uint32_t>(d)))
      return fmt::format("the switches of dimension {} have collective units", d);
  }
  if (std::string why = plane_refusal(config); !why.empty()) return why;
  if (config.collectives.reduction == ReductionKind::hbm) return "reductions contend in the HBM";
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
  std::vector<RankUse> ranks;
  ranks.reserve(npus);
  for (uint32_t r = 0; r < npus; ++r) ranks.push_back(analysis.look_through(r));

  // Their ways would lead through ranks of other components.
  if (std::any_of(ranks.begin(), ranks.end(), [](const RankUse& use) { return use.passes_ranks; })) {
    *this =
        Folding(traces, "messages pass other ranks on their way, and a dimension of it is not analytical");
    return;
  }

  // Messages from outside a line of ranks never come along it, if none in the component turns a corner.
  std::vector<bool> turns(npus, false);
  for (uint32_t r = 0; r < npus; ++r) {
    if (!ranks[r].along_dimensions) turns[analysis.components().find(r)] = true;
  }
  along_dimensions_.resize(npus);
  for (uint32_t r = 0; r < npus; ++r) along_dimensions_[r] = !turns[analysis.components().find(r)];

  Partition partition(config, ranks, analysis);
  for (std::vector<uint32_t>& members : partition.classes()) {
    for (const uint32_t r : members) class_of_[r] = static_cast<uint32_t>(classes_.size());
    if (partition.joined(members.front())) joined_.push_back(members.front());
    classes_.push_back(make_class(std::move(members), ranks, partition));
    const Class& c = classes_.back();
    const uint32_t first = c.representative();
    for (const uint32_t r : c.ranks) {
      auto images = analysis.parts().images(r, ranks[r], first, ranks[first], c.exchanges);
      if (!images.empty()) parts_[r] = std::move(images);
    }
  }
  for (uint32_t r = 0; r < npus; ++r) {
    if (class_of_[r] != kNone) continue;
    whole_.push_back(r);
    const std::string& reason = partition.reason(r);
    ++reasons_[reason.empty() ? "no other rank does the same" : reason];
  }
  find_images(ranks, partition);
  if (classes_.empty() && analysis.only_switches() && !FidelityRules(config).any()) {
    replicas_ = find_replicas(config, traces, ranks);
    own_links_ = own_links(config, traces.groups(), ranks);
  }
}

Folding::Class Folding::make_class(std::vector<uint32_t> members, const std::vector<RankUse>& ranks,
                                   const Partition& partition) {
  Class c;
  const uint32_t first = members.front();
  c.own = ranks[first].groups;
  c.exchanges = partition.exchanges(first);
  c.groups.resize(c.own.size());
  std::vector<std::map<trace::GroupId, uint32_t>> shares(c.own.size());
  for (const uint32_t r : members) {
    for (size_t i = 0; i < c.own.size(); ++i) ++shares[i][ranks[r].groups[i]];
  }
  for (size_t i = 0; i < shares.size(); ++i) {
    for (const auto& [group, count] : shares[i]) c.groups[i].push_back({group, count});
  }
  c.ranks = std::move(members);
  return c;
}

/// A message to a rank goes to the rank that is simulated for it, from that rank's own peer in the same
/// place.
void Folding::find_images(const std::vector<RankUse>& ranks, const Partition& partition) {
  for (const Class& c : classes_) {
    const uint32_t from = c.representative();
    for (const Peer& peer : ranks[from].peers) {
      const uint32_t to = representative(peer.rank);
      const uint32_t place = partition.place_at(from, peer.rank);
      images_.push_back({from, peer.rank, ranks[to].peers[place].rank, to});
    }
  }
}

LinkImages Folding::link_images(uint32_t rank) const {
  const Class* c = of(rank);
  if (c == nullptr) return {};
  const auto parts = parts_.find(rank);
  return {c->exchanges, parts == parts_.end() ? nullptr : &parts->second};
}

std::vector<uint32_t> Folding::representatives() const {
  std::vector<uint32_t> result;
  for (const Class& c : classes_) result.push_back(c.representative());
  return result;
}

}  // namespace weft::graph
