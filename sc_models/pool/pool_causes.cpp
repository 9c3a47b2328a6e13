// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/pool/pool_causes.h"

#include <algorithm>

namespace weft {

PoolCauses::PoolCauses(insight::CausalLog& log, const std::string& name, const pool::PoolLayout& layout)
    : log_(log),
      requests_(log.add_link({name + ".requests", "pool requests"})),
      name_(name),
      layout_(layout) {}

void PoolCauses::begins(PoolTransfer& transfer, PoolTransfer::Member& member) {
  member.part = log_.present() != nullptr ? *log_.present() : insight::AccessPart{};
  transfer.part = member.part;  // in-switch: the last one that begins
}

void PoolCauses::requested(PoolTransfer& transfer, Picoseconds now, Picoseconds at) {
  log_.pass_way(transfer.part, requests_, now, at);
}

insight::AccessPart& PoolCauses::part(fabric::PacketRef message) {
  if (message >= parts_.size()) parts_.resize(message + size_t{1});
  return parts_[message];
}

void PoolCauses::copied(fabric::PacketRef message, fabric::PacketRef copy) {
  const insight::AccessPart original = part(message);
  part(copy) = original;
}

void PoolCauses::loaded(PoolTransfer::Member& member, fabric::PacketRef message, Picoseconds at) {
  if (at >= member.last) member.by = part(message).last;
}

void PoolCauses::stored(PoolTransfer& transfer, fabric::PacketRef message, Picoseconds at) {
  if (at >= transfer.last) transfer.by = part(message).last;
}

void PoolCauses::answers(const PoolTransfer& transfer, const PoolTransfer::Member& member) {
  log_.answers(stores(transfer.operation) ? transfer.by : member.by);
}

void PoolCauses::flowed(PoolTransfer& transfer, const std::vector<FlowUse>& uses, Picoseconds end,
                        Picoseconds latency) {
  if (resources_.empty()) {
    for (const pool::PoolLayout::Link& link : layout_.links()) {
      const pool::PoolLayout::Class& links = layout_.classes()[link.cls];
      const uint32_t number = log_.add_link({name_ + "." + links.name, pool_link_kind(links)});
      resources_.insert(resources_.end(), 2, number);
    }
    const uint32_t group = log_.add_link({name_ + ".groups", "pool groups"});
    resources_.insert(resources_.end(), size_t{2} * layout_.groups(), group);
    way_ = log_.add_link({name_ + ".way", "pool ways"});
  }
  insight::AccessPart part = transfer.part;
  for (const FlowUse& use : uses) {
    insight::Activity stage;
    stage.ready = use.from;
    stage.begin = use.to - std::min(use.to - use.from, use.alone);
    stage.end = use.to;
    log_.pass(part, resources_[use.resource], stage);
  }
  log_.pass_way(part, way_, end, end + latency);
  transfer.by = part.last;
  for (PoolTransfer::Member& member : transfer.members) member.by = part.last;
}

}  // namespace weft
