// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/pool/pool_flows.h"

#include <algorithm>
#include <cmath>

#include "sc_models/pool/pool_causes.h"
#include "sc_models/pool/pool_data.h"

namespace weft {

using pool::PoolLayout;

PoolFlows::PoolFlows(PoolContext& context) : context_(context) {
  const PoolLayout& layout = context.layout;
  const auto per_picosecond = [](Rate rate) {
    return static_cast<double>(rate.bytes_per_second) / static_cast<double>(rate.divisor) * 1e-12;
  };
  for (const PoolLayout::Link& link : layout.links())
    capacity_.insert(capacity_.end(), 2, per_picosecond(layout.rate(link)));
  for (uint32_t r = 0; r < layout.groups(); ++r)
    capacity_.insert(capacity_.end(), 2,
                     per_picosecond(layout.group_rate()) * (layout.folded() ? context.pool.groups : 1));
  carried_.resize(capacity_.size());
  context.wheel.add(*this);
}

void PoolFlows::put(Flow& flow, const PoolTransfer& transfer, uint32_t group, uint64_t bytes,
                    uint64_t tensor) {
  if (bytes == 0) return;
  const PoolLayout& layout = context_.layout;
  const bool store = stores(transfer.operation);
  const double share = static_cast<double>(bytes) / static_cast<double>(tensor);
  const uint32_t way = layout.fluid_way(group, transfer.npu);
  Picoseconds latency = 0;
  const auto use = [&](uint32_t resource) {
    carried_[resource] += bytes;
    const auto it =
        std::find_if(flow.uses.begin(), flow.uses.end(), [&](const auto& u) { return u.first == resource; });
    if (it == flow.uses.end())
      flow.uses.emplace_back(resource, share);
    else
      it->second += share;
  };
  const auto measure = [&](const std::vector<uint32_t>& path) {
    Picoseconds sum = 0;
    for (const uint32_t link : path) sum += layout.classes()[layout.links()[link / 2].cls].latency;
    latency = std::max(latency, sum);
  };
  use(group_at(group, store));
  if (in_switch(transfer.operation)) {
    const uint32_t back = store ? 1 : 0;
    for (const uint32_t link : layout.tree(group, way, transfer.set).links) use(link ^ back);
    const uint32_t node = layout.group_node(group);
    use(PoolLayout::directed(layout.ports(node)[layout.next(node, 0, way)]) ^ back);
    for (const uint32_t u : *transfer.npus) measure(layout.path(group, u, way, false));
  } else {
    const std::vector<uint32_t> path = layout.path(group, transfer.npu, way, store);
    for (const uint32_t link : path) use(link);
    measure(path);
  }
  flow.latency = std::max(flow.latency, latency);
}

PoolFlows::Flow PoolFlows::flow_of(const PoolTransfer& transfer) {
  Flow flow;
  flow.transfer = transfer.id;
  flow.left = static_cast<double>(transfer.tensor);
  const uint64_t groups = context_.layout.groups();
  for (uint32_t r = 0; r < groups; ++r)
    put(flow, transfer, r, transfer.tensor / groups + (r < transfer.tensor % groups ? 1 : 0),
        transfer.tensor);
  return flow;
}

void PoolFlows::add(PoolTransfer& transfer, Picoseconds at) {
  starts_.push(at, started_++, static_cast<uint32_t>(coming_.size()));
  coming_.push_back(flow_of(transfer));
  if (!running()) wake_at(at);
}

void PoolFlows::activate(Picoseconds now) {
  ++activations_;
  const auto passed = static_cast<double>(now - last_);
  for (Flow& flow : flows_)
    if (context_.causes != nullptr) note(flow, last_, now);
  last_ = now;
  std::vector<Flow> over;
  for (size_t f = 0; f < flows_.size();) {
    Flow& flow = flows_[f];
    flow.left -= flow.rate * passed;
    if (flow.left > flow.rate * 0.01) {
      ++f;
      continue;
    }
    over.push_back(std::move(flow));
    flows_.erase(flows_.begin() + static_cast<std::ptrdiff_t>(f));
  }
  while (starts_.next() <= now) flows_.push_back(std::move(coming_[starts_.pop().payload]));
  if (starts_.empty()) coming_.clear();
  share();
  double first = HUGE_VAL;
  for (const Flow& flow : flows_) first = std::min(first, flow.left / flow.rate);
  Picoseconds next = starts_.next();
  if (first != HUGE_VAL) next = std::min(next, later(now, static_cast<Picoseconds>(std::ceil(first - 1e-6))));
  wake_at(next);
  for (const Flow& flow : over) finish(flow, now);
}

/// Max-min fair: all rates grow alike until a resource is full; the flows there keep theirs.
void PoolFlows::share() {
  std::vector<double> left = capacity_;
  std::vector<double> wanted(capacity_.size());
  std::vector<bool> fixed(flows_.size(), false);
  for (const Flow& flow : flows_)
    for (const auto& [resource, share] : flow.uses) wanted[resource] += share;
  for (size_t open = flows_.size(); open > 0;) {
    double rate = HUGE_VAL;
    for (size_t r = 0; r < left.size(); ++r)
      if (wanted[r] > 1e-12) rate = std::min(rate, left[r] / wanted[r]);
    for (size_t f = 0; f < flows_.size(); ++f) {
      if (fixed[f]) continue;
      Flow& flow = flows_[f];
      const auto full = std::find_if(flow.uses.begin(), flow.uses.end(), [&](const auto& u) {
        return left[u.first] <= rate * wanted[u.first] * (1 + 1e-9);
      });
      if (full == flow.uses.end()) continue;
      flow.limit = full->first;
      flow.rate = rate;
      fixed[f] = true;
      --open;
    }
    // What the fixed ones use is gone.
    for (size_t r = 0; r < left.size(); ++r) {
      left[r] = capacity_[r];
      wanted[r] = 0;
    }
    for (size_t f = 0; f < flows_.size(); ++f)
      for (const auto& [resource, share] : flows_[f].uses) {
        if (fixed[f])
          left[resource] -= share * flows_[f].rate;
        else
          wanted[resource] += share;
      }
  }
}

void PoolFlows::note(Flow& flow, Picoseconds from, Picoseconds now) const {
  if (from == now) return;
  double share = 0;
  for (const auto& use : flow.uses) share += use.first == flow.limit ? use.second : 0;
  const double alone = static_cast<double>(now - from) * flow.rate * share / capacity_[flow.limit];
  if (!flow.past.empty() && flow.past.back().resource == flow.limit) {
    flow.past.back().to = now;
    flow.past.back().alone += static_cast<Picoseconds>(std::llround(alone));
    return;
  }
  flow.past.push_back({flow.limit, from, now, static_cast<Picoseconds>(std::llround(alone))});
}

void PoolFlows::finish(const Flow& flow, Picoseconds now) {
  PoolTransfer& transfer = context_.events.transfer(flow.transfer);
  const Picoseconds at = later(now, flow.latency);
  if (context_.causes != nullptr) context_.causes->flowed(transfer, flow.past, now, flow.latency);
  PoolData* const data = context_.data;
  if (stores(transfer.operation)) {
    if (data != nullptr) {
      std::vector<uint32_t> parts;
      for (size_t i = 0; i < transfer.members.size(); ++i)
        parts.push_back(data->send(transfer, transfer.npus == nullptr ? transfer.npu : (*transfer.npus)[i], 0,
                                   transfer.tensor));
      data->combine(parts);
      data->write(transfer, 0, parts.front());
    }
    context_.events.stored(transfer, transfer.tensor, at);
    return;
  }
  if (!in_switch(transfer.operation)) {
    if (data != nullptr) data->receive(transfer, transfer.npu, 0, data->read(transfer, 0, transfer.tensor));
    context_.events.loaded(transfer, transfer.npu, transfer.tensor, at);
    return;
  }
  const uint64_t tensor = transfer.tensor;
  const std::vector<uint32_t>& npus = *transfer.npus;  // of the layout: the transfer may be over
  for (const uint32_t u : npus) {
    if (data != nullptr) data->receive(transfer, u, 0, data->read(transfer, 0, tensor));
    context_.events.loaded(transfer, u, tensor, at);
  }
}

}  // namespace weft
