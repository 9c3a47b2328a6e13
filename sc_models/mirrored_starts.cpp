// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/mirrored_starts.h"

#include <algorithm>
#include <map>
#include <utility>

#include "configs/blueprint/carrier.h"

namespace weft {

MirroredStarts::MirroredStarts(Machine& machine) : machine_(machine) {
  machine_.on_starts([this] { start_held(); });
}

MirroredStarts::~MirroredStarts() {
  machine_.on_starts({});
}

bool MirroredStarts::fit(const Config& config) {
  return std::all_of(config.dimensions.begin(), config.dimensions.end(), [](const DimensionConfig& d) {
    return d.size <= 1 || carrier_of(d) == Carrier::direct;
  });
}

bool MirroredStarts::hold(uint32_t rank, trace::NodeIndex node, const CollectiveStart& start) {
  if (start.plane != 0 || start.plan->empty() || machine_.npu(rank).engine()->active() != 1 ||
      mirrorable(*start.plan).dimensions == 0)
    return false;
  held_of_[rank] = held_.size();
  insight::CausalLog* const causes = machine_.causes();
  held_.push_back({rank, node, start, causes == nullptr ? insight::kNoActivity : causes->because()});
  machine_.request_starts();
  return true;
}

bool MirroredStarts::release(uint32_t rank) {
  const auto before = held_of_.find(rank);
  if (before == held_of_.end()) return false;
  const Held held = std::exchange(held_[before->second], Held{});
  held_of_.erase(before);
  start(held);
  return true;
}

void MirroredStarts::start(const Held& held) {
  const CollectiveStart& part = held.start;
  if (machine_.causes() != nullptr) machine_.causes()->because(held.cause);
  machine_.nmu(held.rank).start_collective(part.stream, part.plan, part.priority);
}

const MirroredStarts::Mirrorable& MirroredStarts::mirrorable(const collectives::CollectivePlan& plan) {
  const auto [it, fresh] = mirrorable_.try_emplace(&plan);
  Mirrorable& result = it->second;
  if (!fresh) return result;
  const Config& config = machine_.config();
  // Whether ranks take turns between kinds of phases is decided by what they ran before, which the others of
  // such a collective would not have run.
  if (config.collectives.dimension_scheduling == DimensionScheduling::rg) return result;
  if (!plan.asymmetry(config).empty() || !plan.ties(config).empty()) return result;
  const auto images = plan.link_images(config);
  if ((images.exchanges & images.shifts) != 0) return result;
  for (const collectives::Axis& axis : plan.axes()) {
    // Others of the line may send along it.
    if (!axis.values.empty()) return result = Mirrorable{};
    result.dimensions |= 1u << axis.dimension;
    result.members *= axis.size;
  }
  result.exchanges = images.exchanges;
  return result;
}

void MirroredStarts::start_held() {
  const std::vector<Held> held = std::move(held_);
  held_.clear();
  // By collective and line; of a line by rank.
  std::map<std::pair<uint32_t, uint32_t>, std::vector<const Held*>> lines;
  for (const Held& one : held) {
    if (one.start.plan == nullptr) continue;
    uint32_t base = one.rank;
    for (const collectives::Axis& axis : one.start.plan->axes()) {
      base -= base / axis.stride % axis.size * axis.stride;
    }
    lines[{one.start.stream, base}].push_back(&one);
  }
  held_of_.clear();
  for (auto& [where, members] : lines) {
    std::sort(members.begin(), members.end(), [](const Held* a, const Held* b) { return a->rank < b->rank; });
    if (start_mirrored(members)) continue;
    for (const Held* member : members) start(*member);
  }
}

/// True: all members start now, none has anything else to do until the collective ends, and the first of them
/// has started it for all.
bool MirroredStarts::start_mirrored(const std::vector<const Held*>& members) {
  const Held& first = *members.front();
  const Mirrorable& how = mirrorable(*first.start.plan);
  if (members.size() != how.members) return false;
  for (const Held* member : members) {
    if (!machine_.npu(member->rank).engine()->only_active(member->node)) return false;
    if (!machine_.own_nmu(member->rank).quiet(how.dimensions)) return false;
  }
  Mirrored part;
  for (const Held* member : members) part.ranks.push_back(member->rank);
  part.before = machine_.links(first.rank);
  part.dimensions = how.dimensions;
  part.exchanges = how.exchanges;
  mirrored_[part_key(first.rank, first.start.stream)] = std::move(part);
  if (machine_.causes() != nullptr) machine_.causes()->because(first.cause);
  machine_.own_nmu(first.rank).start_mirrored(first.start.stream, first.start.plan);
  return true;
}

std::vector<uint32_t> MirroredStarts::end(uint32_t rank, const collectives::CollectiveDone& done) {
  const auto it = mirrored_.find(part_key(rank, done.stream));
  if (it == mirrored_.end()) return {};
  const Mirrored part = std::move(it->second);
  mirrored_.erase(it);
  machine_.own_nmu(rank).end_mirrored(done.stream);
  for (const uint32_t member : part.ranks) {
    if (member == rank) continue;
    machine_.adopt_links(member, rank, part.before, part.dimensions, part.exchanges);
    messages_ += done.messages;
  }
  return part.ranks;
}

}  // namespace weft
