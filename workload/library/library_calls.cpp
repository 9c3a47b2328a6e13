// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/library/library_calls.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace weft::library {
namespace {

Picoseconds picoseconds(double us) {
  const double ps = std::ceil(us * 1e6 - 1e-6);
  if (!(ps < static_cast<double>(kNever))) time_overflow();
  return ps <= 0 ? 0 : static_cast<Picoseconds>(ps);
}

}  // namespace

uint32_t line_of(const collectives::CollectivePlan& plan, uint32_t rank) {
  std::vector<collectives::AxisView> views;
  plan.views(rank, views);
  uint32_t base = rank;
  for (size_t a = 0; a < views.size(); ++a) {
    const collectives::Axis& axis = plan.axes()[a];
    if (axis.dimension == collectives::Axis::kFlat) return views[a].rank(0);
    base -= axis.value(views[a].me) * axis.stride;
  }
  return base;
}

std::vector<uint32_t> members_with(const collectives::CollectivePlan& plan, uint32_t rank) {
  std::vector<collectives::AxisView> views;
  plan.views(rank, views);
  std::vector<uint32_t> members{rank};
  for (size_t a = 0; a < views.size(); ++a) {
    const collectives::Axis& axis = plan.axes()[a];
    std::vector<uint32_t> more;
    if (axis.dimension == collectives::Axis::kFlat) {
      for (uint32_t i = 0; i < axis.size; ++i) more.push_back(views[a].rank(i));
    } else {
      const uint32_t own = axis.value(views[a].me) * axis.stride;
      for (const uint32_t member : members)
        for (uint32_t i = 0; i < axis.size; ++i) more.push_back(member - own + axis.value(i) * axis.stride);
    }
    members = std::move(more);
  }
  std::sort(members.begin(), members.end());
  return members;
}

LibraryCalls::LibraryCalls(const Config& config)
    : config_(config),
      library_(LibraryMachine::of(config)),
      parameters_(library_.parameters(config.collectives.library)) {}

std::vector<uint32_t> LibraryCalls::npus_of(std::vector<uint32_t> ranks) const {
  if (config_.mapping.empty()) return ranks;
  for (uint32_t& rank : ranks) rank = config_.mapping[rank];
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

const LibraryPlan& LibraryCalls::plan(const collectives::CollectivePlan& plan, uint32_t rank) {
  const auto [it, fresh] = plans_.try_emplace({&plan, line_of(plan, rank)});
  if (!fresh) return it->second;
  const collectives::CollectiveRequest& request = plan.request();
  const uint32_t per_node = library_.machine().gpus_per_node;
  LibraryCall call;
  call.op = *library_op(request.op);
  const std::vector<uint32_t> members = members_with(plan, rank);
  call.bytes = request.op == CollectiveOp::barrier || !plan.empty()
                   ? nccl_bytes(request.op, request.bytes, static_cast<uint32_t>(members.size()))
                   : request.bytes;
  if (members.size() != config_.npus()) {
    std::vector<std::vector<uint32_t>> places(library_.machine().nodes);  // of each node, ascending
    for (const uint32_t npu : npus_of(members)) places[npu / per_node].push_back(npu % per_node);
    const std::vector<uint32_t>* first = nullptr;
    for (const std::vector<uint32_t>& of : places) {
      call.ranks_of_nodes.push_back(static_cast<uint32_t>(of.size()));
      if (of.empty()) continue;
      if (first == nullptr) first = &of;
      if (of != *first) call.same_places = false;
    }
  }
  it->second = library_.plan(call);
  return it->second;
}

Picoseconds LibraryCalls::send_delay(uint32_t from, uint32_t to, uint64_t bytes) const {
  if (bytes == 0 || from == to) return 0;
  const uint32_t per_node = library_.machine().gpus_per_node;
  LibraryCall call{LibraryOp::send, bytes, {1, 1}};
  if (npus_of({from})[0] / per_node == npus_of({to})[0] / per_node) call.ranks_of_nodes = {2};
  LibraryPlan plan = library_.plan(call);
  const double latency = plan.base_us + plan.latency_us + static_cast<double>(plan.loops) * plan.sigma_us;
  return picoseconds(parameters_.launch_us + parameters_.latency_scale * latency);
}

Picoseconds LibraryCalls::end_of(const collectives::CollectivePlan& plan, uint32_t rank,
                                 const LibraryPlan& work, Picoseconds joined, Picoseconds ready,
                                 bool grouped) {
  if (work.bytes == 0) return joined;  // the library launches nothing
  Stream& stream = streams_[communicator(plan, line_of(plan, rank))];
  const double launch = grouped || stream.joined == joined ? 0 : parameters_.launch_us;
  const Picoseconds begin = std::max({joined, ready, stream.free});
  stream.joined = joined;
  stream.free = later(begin, picoseconds(launch + work.work_us(parameters_)));
  return stream.free;
}

}  // namespace weft::library
