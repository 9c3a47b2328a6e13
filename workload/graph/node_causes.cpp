// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/graph/node_causes.h"

#include "insight/activity_listener.h"

namespace weft::graph {

using insight::ActivityId;
using insight::ActivityKind;
using insight::NodeKind;

namespace {

NodeKind kind_of(const trace::Node& node) {
  switch (node.type) {
    case trace::NodeType::comp:
      return NodeKind::compute;
    case trace::NodeType::mem_load:
    case trace::NodeType::mem_store:
      return node.location == trace::Location::local ? NodeKind::local_memory : NodeKind::remote_memory;
    default:
      return NodeKind::communication;
  }
}

/// That it moves; of a compute node none.
uint64_t bytes_of(const trace::Node& node) {
  const NodeKind kind = kind_of(node);
  if (kind == NodeKind::compute) return 0;
  return kind == NodeKind::communication ? node.comm_size : node.tensor_size;
}

}  // namespace

NodeCauses::NodeCauses(insight::CausalLog& log, trace::Feeder& feeder, uint32_t npu, Picoseconds origin)
    : log_(log), feeder_(feeder), npu_(npu), origin_(origin), of_node_(feeder.node_count()) {
  feeder_.keep_order();
}

void NodeCauses::ready(const trace::Node& node, Picoseconds now) {
  const trace::NodeIndex by = feeder_.released_by(node.index);
  ActivityId cause = insight::kNoActivity;
  if (by != trace::kNoNode) {
    cause = of_node_[by];
  } else if (now != 0) {
    cause = last_;  // the feeder had no room for it
  }
  ready_[node.index] = {cause, now};
}

/// What it waited for last: a dependency, or a slot.
ActivityId NodeCauses::cause(const trace::Node& node, Picoseconds now) {
  const auto at = ready_.find(node.index);
  const Ready ready = at->second;
  ready_.erase(at);
  return ready.at == now ? ready.cause : freed_[node.is_cpu_op ? 1 : 0];
}

void NodeCauses::started(const trace::Node& node, Picoseconds now) {
  const ActivityId id = cause(node, now);
  of_node_[node.index] = id;
  log_.because(id);
  if (log_.listener() != nullptr)
    log_.listener()->node_began(
        {npu_, node.index, node.id, node.name, kind_of(node), bytes_of(node), origin_ + now});
}

insight::AccessPart NodeCauses::accesses(const trace::Node& node, Picoseconds now) {
  insight::Activity access;
  access.where = npu_;
  access.what = node.index;
  access.by_head = node.location == trace::Location::local ? 0 : 1;
  return log_.begin_access(access, of_node_[node.index], origin_ + now);
}

void NodeCauses::answered(trace::NodeIndex node) {
  const ActivityId id = log_.take_answer();
  if (id != insight::kNoActivity) answers_[node] = id;
}

void NodeCauses::ended(const trace::Node& node, RankState state, Picoseconds since, Picoseconds now) {
  if (log_.listener() != nullptr) log_.listener()->node_ended(npu_, node.index, origin_ + now);
  ActivityId id = log_.because();
  if (state != RankState::communication) {
    const ActivityKind kind = state == RankState::compute        ? ActivityKind::compute
                              : state == RankState::local_memory ? ActivityKind::local_memory
                                                                 : ActivityKind::remote_memory;
    insight::Activity activity;
    activity.kind = static_cast<uint32_t>(kind);
    activity.cause = of_node_[node.index];
    activity.where = npu_;
    activity.what = node.index;
    activity.ready = activity.begin = origin_ + since;
    activity.end = origin_ + now;
    if (const auto answer = answers_.find(node.index); answer != answers_.end()) {
      activity.before = answer->second;
      answers_.erase(answer);
    }
    id = log_.add(activity);
    if (state == RankState::compute) freed_[node.is_cpu_op ? 1 : 0] = id;
  }
  end(node, id, now);
}

void NodeCauses::passed(const trace::Node& node, Picoseconds now) {
  end(node, cause(node, now), now);
}

void NodeCauses::end(const trace::Node& node, ActivityId id, Picoseconds now) {
  of_node_[node.index] = id;
  last_ = id;
  log_.because(id);
  log_.ended(npu_, id, origin_ + now);
}

}  // namespace weft::graph
