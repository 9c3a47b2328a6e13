// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/pool/memory_pool.h"

#include <fmt/format.h>

#include <algorithm>

#include "configs/blueprint/geometry.h"
#include "configs/units.h"

namespace weft {

using pool::ClassLoad;
using pool::PoolLayout;

MemoryPool::MemoryPool(sc_core::sc_module_name name, const Config& config, fabric::PacketPool& packets,
                       ActivationWheel& wheel, const SharedLink& shared, ModuleChoices* choices,
                       vcd::ProbeHub* probes, packet::PacketNetwork* host, LinkCuts* cuts)
    : sc_core::sc_module(name),
      config_(config),
      layout_(PoolLayout::make(config, PoolLayout::folds(*config.memory_pool))),
      data_(config.run.data == "none" ? nullptr : std::make_unique<PoolData>()),
      context_{config, *config.memory_pool, *layout_, packets, wheel, *this, round_, data_.get()},
      striping_(pool::make_striping(context_.pool.striping, context_.pool.groups, layout_->ways())),
      service_(layout_->group_rate(), 0),
      shared_(shared),
      bytes_(config.npus()) {
  context_.choices = choices;
  context_.probes = probes != nullptr && probes->on() ? probes : nullptr;
  if (packets.causes() != nullptr && packets.causes()->keeps()) {
    causes_ = std::make_unique<PoolCauses>(*packets.causes(), this->name(), *layout_);
    context_.causes = causes_.get();
  }
  if (context_.pool.as_flows()) {
    flows_ = std::make_unique<PoolFlows>(context_);
    return;
  }
  if (context_.pool.as_packets()) {
    net_ = std::make_unique<PoolPackets>(config, *layout_, packets, host, cuts);
    context_.net = net_.get();
    if (context_.probes != nullptr) net_->record(*context_.probes);
  }
  build();
  if (net_ == nullptr) join();
}

MemoryPool::~MemoryPool() = default;

void MemoryPool::follow_packets(PacketHops* hops) {
  if (net_ == nullptr || causes_ == nullptr || !net_->follow(*causes_, hops)) return;
  for_each_link([&](const LinkReport& link) { net_->watch(link); });
}

fabric::LinkType& MemoryPool::type_of(const PoolLayout::Link& link) {
  const auto key = std::make_pair(link.cls, link.count);
  const auto it = types_.find(key);
  if (it != types_.end()) return it->second;
  return types_.emplace(key, fabric::LinkType(layout_->rate(link), layout_->classes()[link.cls].latency))
      .first->second;
}

fabric::Link* MemoryPool::shared(uint32_t node, uint32_t port) const {
  const MemoryPoolConfig& pool = context_.pool;
  const bool npu_link = node < layout_->npus() || layout_->ports(node)[port].peer < layout_->npus();
  if (net_ != nullptr || !shared_ || (pool.design != PoolDesign::graph && !(pool.share && npu_link)))
    return nullptr;
  return shared_(*layout_, node, port);
}

void MemoryPool::build() {
  for (uint32_t n = 0; n < layout_->nodes(); ++n) {
    const PoolLayout::Node& node = layout_->node(n);
    std::vector<fabric::LinkType*> types;
    std::vector<fabric::Link*> others;
    for (uint32_t p = 0; p < layout_->ports(n).size(); ++p) {
      types.push_back(&type_of(layout_->links()[layout_->ports(n)[p].link]));
      others.push_back(shared(n, p));
    }
    if (node.kind == PoolLayout::Kind::npu) {
      ports_.push_back(std::make_unique<PoolPort>(node.name.c_str(), n, context_, types, others));
    } else if (node.kind == PoolLayout::Kind::group) {
      groups_.push_back(
          std::make_unique<CxlMemoryGroup>(node.name.c_str(), node.index, context_, types, others, service_));
    } else {
      SwitchContext context{{}, nullptr, Switching::store_and_forward, context_.packets, context_.wheel};
      for (size_t p = 0; p < types.size() && net_ == nullptr; ++p)
        context.ports.push_back({types[p], layout_->ports(n)[p].at_a, others[p]});
      switches_.push_back(std::make_unique<PoolSwitch>(node.name.c_str(), n, context_, std::move(context)));
    }
  }
}

void MemoryPool::join() {
  const uint32_t npus = layout_->npus();
  for (const PoolLayout::Link& link : layout_->links()) {
    const auto port_of = [&](uint32_t node) {
      const auto& ports = layout_->ports(node);
      const auto number = static_cast<uint32_t>(&link - layout_->links().data());
      return static_cast<size_t>(
          std::find_if(ports.begin(), ports.end(), [&](const auto& p) { return p.link == number; }) -
          ports.begin());
    };
    fabric::fabric_initiator_base& from =
        link.a < npus
            ? static_cast<fabric::fabric_initiator_base&>(*ports_[link.a]->ends()[port_of(link.a)].socket)
            : *switches_[link.a - npus]->ports()[port_of(link.a)].initiator;
    if (link.b >= layout_->group_node(0)) {
      fabric::join(from, *groups_[link.b - layout_->group_node(0)]->ports()[port_of(link.b)].target);
    } else {
      fabric::join(from, *switches_[link.b - npus]->ports()[port_of(link.b)].target);
    }
  }
}

PoolTransfer& MemoryPool::create(PoolOperation operation, uint64_t bytes, uint32_t set) {
  const auto id = static_cast<uint32_t>(transfers_.size());
  transfers_.push_back(std::make_unique<PoolTransfer>());
  ++under_way_;
  PoolTransfer& t = *transfers_.back();
  t.id = id;
  t.operation = operation;
  t.bytes = bytes;
  if (in_switch(operation)) {
    t.set = set;
    t.npus = &layout_->members(set);
  }
  const size_t members = t.npus == nullptr ? 1 : t.npus->size();
  t.tensor = bytes * members;
  t.members.resize(members);
  t.left = t.to_send = t.to_assemble = t.tensor;
  if (t.tensor >> 48 != 0 || t.tensor / members != bytes)
    throw UserError(ExitCode::usage, fmt::format("a {} of {} B in the memory pool is more than 2^48 B; use a "
                                                 "smaller tensor",
                                                 to_string(operation), bytes));
  return t;
}

/// In-switch: the order in which all NPUs send, or groups serve, the chunks.
void MemoryPool::make_chunks(PoolTransfer& t) const {
  const MemoryPoolConfig& pool = context_.pool;
  if (pool.split == PoolSplit::whole) {
    const uint64_t chunks = (t.bytes + pool.chunk - 1) / pool.chunk;
    for (uint64_t j = 0; j < chunks; ++j) {
      for (size_t i = 0; i < t.npus->size(); ++i) {
        const pool::Place place = striping_->place((*t.npus)[i], j);
        t.chunks.push_back({place.group, place.way, i * t.bytes + j * pool.chunk,
                            std::min(pool.chunk, t.bytes - j * pool.chunk)});
      }
    }
    return;
  }
  // Equal chunks of each share; they take turns.
  const Wide room = static_cast<Wide>(layout_->round_links()) * pool.chunk;
  std::vector<PoolLayout::Share> left = layout_->shares(t.tensor, 0);
  for (bool any = true; any;) {
    any = false;
    for (PoolLayout::Share& share : left) {
      if (share.bytes == 0) continue;
      const Wide rounds = (share.bytes + room - 1) / room;
      const Wide bytes = (share.bytes + rounds - 1) / rounds;
      t.chunks.push_back(
          {share.group, share.way, static_cast<uint64_t>(share.offset), static_cast<uint64_t>(bytes)});
      share.offset += bytes;
      share.bytes -= bytes;
      any = true;
    }
  }
}

PoolTransfer& MemoryPool::joined(uint32_t npu, PoolOperation operation, uint64_t bytes, uint32_t set) {
  InSwitch& accesses = in_switch_[stores(operation) ? 1 : 0][set];
  std::vector<uint32_t>& ids = accesses.ids;
  const uint32_t ordinal = accesses.taken[npu]++;
  if (ordinal == ids.size()) {
    PoolTransfer& fresh = create(operation, bytes, set);
    make_chunks(fresh);
    ids.push_back(fresh.id);
    if (data_ != nullptr) data_->begin(fresh);
  }
  PoolTransfer& t = transfer(ids[ordinal]);
  if (t.bytes != bytes)
    throw UserError(
        ExitCode::trace,
        fmt::format("{} number {} of NPU {} has {} B, and of another NPU {} B: the n-th {} of all NPUs "
                    "{}is one access; mend the traces",
                    to_string(operation), ordinal + 1, npu, bytes, t.bytes, to_string(operation),
                    set == 0 ? "" : "of a job or group "));
  return t;
}

void MemoryPool::start(uint32_t npu, uint32_t token, PoolOperation operation, uint64_t bytes,
                       PoolClient& client, const PoolMembers& members) {
  pool::check_access(config_, operation, bytes, 1);
  bytes_[npu] += bytes;
  const Picoseconds now = sc_core::sc_time_stamp().value();
  const bool all = in_switch(operation);
  const uint32_t set = all && members != nullptr ? layout_->members_number(*members) : 0;
  PoolTransfer& t = all ? joined(npu, operation, bytes, set) : create(operation, bytes, 0);
  if (!all) t.npu = npu;
  PoolTransfer::Member& member = t.member(npu);
  member.token = token;
  member.client = &client;
  member.left = t.tensor;
  ++t.begun;
  if (causes_ != nullptr) causes_->begins(t, member);
  if (!all && data_ != nullptr) data_->begin(t);
  if (flows_) return start_flow(t, now);
  if (stores(operation)) {
    if (!all) {
      ++round_.active;
      round_.pending += t.tensor;
    }
    ports_[npu]->store(t);
    return;
  }
  const Picoseconds at = later(now, context_.pool.request_latency);
  if (causes_ != nullptr && t.begun == t.members.size()) causes_->requested(t, now, at);
  if (!all) {
    start_load(t, at);
  } else if (t.begun == t.members.size()) {
    start_gather(t, at);
  }
}

void MemoryPool::access(uint32_t npu, uint32_t token, bool write, uint32_t group, uint32_t way,
                        uint64_t bytes, PoolClient& client) {
  if (!serves_external())
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: an access from outside to memory group {}: groups are not simulated one by "
                    "one; set memory.pool.fidelity to `message` and memory.pool.split to `whole`",
                    name(), group));
  PoolTransfer& t = create(write ? PoolOperation::store : PoolOperation::load, bytes, 0);
  t.npu = npu;
  t.external = true;
  t.group = group;
  t.way = way % layout_->ways();
  PoolTransfer::Member& member = t.members.front();
  member.token = token;
  member.client = &client;
  member.left = t.tensor;
  ++t.begun;
  if (data_ != nullptr) data_->begin(t);
  if (write) {
    ++round_.active;
    round_.pending += t.tensor;
    ports_[npu]->store(t);
    return;
  }
  const Picoseconds at = later(sc_core::sc_time_stamp().value(), context_.pool.request_latency);
  if (context_.pool.split == PoolSplit::fluid) {
    groups_[group]->load(t, at, PoolLayout::Share{group, t.way, 0, bytes});
  } else {
    groups_[group]->load(t, at, std::vector<CxlMemoryGroup::Chunk>{{0, t.way}});
  }
}

void MemoryPool::start_flow(PoolTransfer& t, Picoseconds now) {
  if (t.begun < t.members.size()) return;
  const Picoseconds at = stores(t.operation) ? now : later(now, context_.pool.request_latency);
  if (causes_ != nullptr) causes_->requested(t, now, at);
  flows_->add(t, at);
}

void MemoryPool::start_load(PoolTransfer& t, Picoseconds at) {
  if (context_.pool.split == PoolSplit::fluid) {
    for (const PoolLayout::Share& share : layout_->shares(t.bytes, t.npu))
      groups_[share.group]->load(t, at, share);
    return;
  }
  const uint32_t groups = layout_->groups();
  std::vector<std::vector<CxlMemoryGroup::Chunk>> chunks(groups);
  const uint64_t count = (t.bytes + context_.pool.chunk - 1) / context_.pool.chunk;
  for (uint64_t j = 0; j < count; ++j) {
    const pool::Place place = striping_->place(t.npu, j);
    chunks[place.group].push_back({static_cast<uint32_t>(j), place.way});
  }
  for (uint32_t r = 0; r < groups; ++r) groups_[r]->load(t, at, std::move(chunks[r]));
}

void MemoryPool::start_gather(PoolTransfer& t, Picoseconds at) {
  if (context_.pool.split == PoolSplit::whole) {
    std::vector<std::vector<uint32_t>> numbers(layout_->groups());
    for (uint32_t i = 0; i < t.chunks.size(); ++i) numbers[t.chunks[i].group].push_back(i);
    for (uint32_t r = 0; r < layout_->groups(); ++r) groups_[r]->gather(t, at, std::move(numbers[r]));
    return;
  }
  for (const PoolLayout::Share& share : layout_->shares(t.tensor, 0))
    groups_[share.group]->load(t, at, share);
}

void MemoryPool::stored(PoolTransfer& t, uint64_t bytes, Picoseconds at) {
  ++messages_;
  t.left -= bytes;
  t.last = std::max(t.last, at);
  if (t.left != 0) return;
  if (!in_switch(t.operation) && !flows_) {
    round_.bytes -= t.piece;
    if (!layout_->folded()) {
      --round_.active;
      round_.pending -= t.tensor;
    }
  }
  for (PoolTransfer::Member& member : t.members) member.last = t.last;
  finish(t);
}

void MemoryPool::loaded(PoolTransfer& t, uint32_t u, uint64_t bytes, Picoseconds at) {
  ++messages_;
  PoolTransfer::Member& member = t.member(u);
  member.left -= bytes;
  member.last = std::max(member.last, at);
  if (member.left != 0) return;
  if (--t.begun == 0) {
    finish(t);
  } else {
    if (causes_ != nullptr) causes_->answers(t, member);
    member.client->pool_done(member.token, member.last);
    member.client = nullptr;
  }
}

void MemoryPool::finish(PoolTransfer& t) {
  if (data_ != nullptr) data_->end(t);
  const std::unique_ptr<PoolTransfer> over = std::move(transfers_[t.id]);
  --under_way_;
  for (const PoolTransfer::Member& member : over->members) {
    if (member.client == nullptr) continue;
    if (causes_ != nullptr) causes_->answers(*over, member);
    member.client->pool_done(member.token, member.last);
  }
}

const PoolTransfer* MemoryPool::scatter(uint32_t set, uint32_t ordinal) const {
  const auto accesses = in_switch_[1].find(set);
  if (accesses == in_switch_[1].end() || ordinal >= accesses->second.ids.size()) return nullptr;
  const PoolTransfer* const t = transfers_[accesses->second.ids[ordinal]].get();
  return t == nullptr ? &over_ : t;
}

const fabric::Link& MemoryPool::link_at(uint32_t node, uint32_t port) const {
  const uint32_t npus = layout_->npus();
  if (node < npus) return ports_[node]->ends()[port].sends();
  if (node >= layout_->group_node(0)) return groups_[node - layout_->group_node(0)]->ports()[port].sends();
  const SwitchModel::Port& end = switches_[node - npus]->ports()[port];
  return end.shared != nullptr ? *end.shared : end.link;
}

LinkReport MemoryPool::report(uint32_t node, uint32_t port) const {
  return net_ != nullptr ? net_->report(node, port) : LinkReport(link_at(node, port));
}

void MemoryPool::for_each_link(const LinkVisitor& visit) const {
  const uint32_t none = Geometry::of_fabric(config_).dimensions();  // of the machine's
  for (uint32_t n = 0; n < layout_->nodes() && !flows_; ++n) {
    for (uint32_t p = 0; p < layout_->ports(n).size(); ++p) {
      const PoolLayout::Port& port = layout_->ports(n)[p];
      if (shared(n, p) != nullptr || (net_ != nullptr && net_->shared(n, p))) continue;
      const std::string& to = layout_->node(port.peer).name;
      const auto same = [&](uint32_t q) { return layout_->ports(n)[q].peer == port.peer; };
      uint32_t before = 0;
      for (uint32_t q = 0; q < p && layout_->ports(n).size() == 2; ++q) before += same(q) ? 1 : 0;
      LinkReport report = this->report(n, p);
      report.name = fmt::format("{}.{}.to_{}{}", name(), layout_->node(n).name, to,
                                before == 0 ? std::string() : fmt::format("_{}", before));
      report.to = to;
      report.dimension = none;
      report.kind = pool_link_kind(layout_->classes()[layout_->links()[port.link].cls]);
      visit(report);
    }
  }
}

uint64_t MemoryPool::carried(uint32_t node, uint32_t port) const {
  if (net_ != nullptr) return net_->payload(node, port);
  if (!flows_) return link_at(node, port).bytes();
  return saturated(flows_->link_bytes(PoolLayout::directed(layout_->ports(node)[port])));
}

std::vector<ClassLoad> MemoryPool::loads(bool store) const {
  std::vector<ClassLoad> loads;
  const auto add = [](ClassLoad& load, uint64_t bytes, uint64_t count) {
    load.links += count;
    load.total += bytes;
    load.most = std::max(load.most, (bytes + count - 1) / count);
    load.least = std::min(load.least, bytes / count);
  };
  ClassLoad groups{"group", 0, 0, 0, ~uint64_t{0}};
  for (uint32_t r = 0; r < layout_->groups(); ++r) {
    uint64_t bytes = 0;
    if (flows_) {
      bytes = saturated(flows_->group_bytes(r, store));
    } else if (layout_->group_hop() || context_.pool.group_memory != kDefaultMemoryModel) {
      bytes = store ? groups_[r]->bytes_stored() : groups_[r]->bytes_loaded();
    } else {
      for (const PoolLayout::Port& port : layout_->ports(layout_->group_node(r)))
        bytes +=
            carried(store ? port.peer : layout_->group_node(r),
                    store ? port.peer_port
                          : static_cast<uint32_t>(&port - layout_->ports(layout_->group_node(r)).data()));
    }
    add(groups, bytes, layout_->folded() ? context_.pool.groups : 1);
  }
  loads.push_back(groups);
  for (uint32_t c = 0; c < layout_->classes().size(); ++c) {
    const std::string& name = layout_->classes()[c].name;
    if (name == "group") continue;
    ClassLoad load{name, 0, 0, 0, ~uint64_t{0}};
    for (uint32_t n = 0; n < layout_->nodes(); ++n) {
      for (uint32_t p = 0; p < layout_->ports(n).size(); ++p) {
        const PoolLayout::Port& port = layout_->ports(n)[p];
        const PoolLayout::Link& link = layout_->links()[port.link];
        if (link.cls == c && (layout_->both_ways(c) || port.at_a == store))
          add(load, carried(n, p), link.count);
      }
    }
    loads.push_back(load);
  }
  return loads;
}

uint64_t MemoryPool::activations() const {
  Counters counters;
  count(counters);
  return counters.activations;
}

size_t MemoryPool::most_sums() const {
  size_t most = 0;
  for (const auto& s : switches_) most = std::max(most, s->most_sums());
  return most;
}

void MemoryPool::count(Counters& counters) const {
  if (flows_) counters.activations += flows_->activations();
  if (net_ != nullptr) net_->count(counters);
  for (const auto& port : ports_) port->count(counters);
  for (const auto& s : switches_) s->count(counters);
  for (const auto& group : groups_) group->count(counters);
}

std::string MemoryPool::stall_text() const {
  std::string text;
  for (const auto& t : transfers_) {
    if (t == nullptr) continue;
    text += fmt::format("  {}: {} accesses are not complete; the first: {} of {} B", name(), under_way_,
                        to_string(t->operation), t->bytes);
    if (in_switch(t->operation) && t->begun < t->members.size())
      text += fmt::format(", which {} of {} NPUs have begun", t->begun, t->members.size());
    text += "\n";
    break;
  }
  if (text.empty()) return text;
  if (net_ != nullptr) text += net_->stall_text();
  for (const auto& port : ports_) text += port->stall_text();
  for (const auto& s : switches_) text += s->stall_text();
  for (const auto& group : groups_) text += group->stall_text();
  return text;
}

void MemoryPool::find_unbalanced(std::vector<std::string>& lines) const {
  if (under_way_ != 0)
    lines.push_back(fmt::format("{} accesses of the memory pool are not complete", under_way_));
  if (net_ != nullptr) net_->find_unbalanced(lines);
  if (data_ == nullptr) return;
  lines.insert(lines.end(), data_->wrong().begin(), data_->wrong().end());
  if (data_->live() != 0)
    lines.push_back(
        fmt::format("the bytes of {} messages of the memory pool were never applied", data_->live()));
}

}  // namespace weft
