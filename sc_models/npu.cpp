// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/npu.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "configs/printable.h"
#include "tlm_interconnect/ports/fetch_lines.h"
#include "workload/tiers/tier_path.h"

namespace weft {

Npu::Npu(sc_core::sc_module_name module_name, const NpuContext& context)
    : NpuModel(module_name),
      npu_(context.npu),
      config_(context.config),
      nmu_(context.nmu),
      causes_(context.causes),
      matcher_(index(npu_)),
      memory_(
          "memory", config_.hbm.outstanding, config_.hbm.capacity,
          [this](uint32_t token, Picoseconds at) { access_done(token, at); },
          [this](uint32_t token) {
            return engine_ ? engine_->describe(token) : std::string("a job that is over");
          }),
      pool_(context.pool),
      tiers_(context.tiers) {
  if (config_.remote_memory) {
    remote_ = std::make_unique<MemoryDma>(
        "remote", config_.hbm.outstanding, 0,
        [this](uint32_t token, Picoseconds at) { access_done(token, at); },
        [this](uint32_t token) {
          return engine_ ? engine_->describe(token) : std::string("a job that is over");
        });
  }
  memory_.keep_causes(causes_);
  if (remote_) remote_->keep_causes(causes_);
  if (config_.run.data == "functional") {
    carry_bytes(memory_, 0);
    if (remote_) carry_bytes(*remote_, 1);
  }
  if (vcd::ProbeHub* const probes = context.probes; probes != nullptr && probes->on()) {
    state_probe_ = probes->enumeration(std::string(name()) + ".state",
                                       {"idle", "communicate", "remote_memory", "memory", "compute"});
    node_probe_ = probes->number(std::string(name()) + ".node", 64);
  }
  if (context.wheel == nullptr) own_wheel_ = std::make_unique<NpuWheel>("wheel");
  (own_wheel_ ? *own_wheel_ : *context.wheel).add(*this);
}

Npu::~Npu() = default;

void Npu::load(trace::Feeder& feeder, JobHost& host, const RankMap& ranks, graph::LayerTable* layers) {
  if (host_ != nullptr) throw std::logic_error(fmt::format("{} was given two traces", name()));
  nmu_.attach(*this);
  host_ = &host;
  ranks_ = &ranks;
  rank_ = ranks.rank(index(npu_));
  origin_ = machine_now();
  matcher_ = graph::P2pMatcher(rank_);
  graph::RankServices& own = *this;
  if (watch_ != nullptr) watched_ = std::make_unique<WatchedServices>(own, *watch_, origin_);
  graph::RankServices& services = watched_ ? *watched_ : own;
  engine_ = std::make_unique<graph::RankEngine>(rank_, config_.npu, feeder, services);
  if (layers != nullptr) engine_->set_layers(*layers);
  if (causes_ != nullptr) engine_->keep_causes(*causes_, index(npu_), origin_);
  if (state_probe_ || node_probe_) engine_->set_observer(this);
}

/// `number`: of the DMA in this NPU.
void Npu::carry_bytes(MemoryDma& dma, uint64_t number) {
  dma.carry_bytes(config_.run.seed, uint64_t{index(npu_)} << 1 | number,
                  [this](uint64_t bytes, const std::string& wrong) {
                    if (host_ != nullptr) host_->tensor_loaded(rank_, bytes, wrong);
                  });
}

void Npu::add_footprint_signal(vcd::ProbeHub& probes) {
  if (probes.on()) footprint_probe_ = probes.number(std::string(name()) + ".footprint", 64);
}

void Npu::unload() {
  if (host_ == nullptr) return;
  nmu_.detach();
  host_ = nullptr;
  engine_.reset();
  sending_ = {};
  pending_ = {};
  while (queue_.next() != kNever) queue_.pop();
  held_ = false;
  forget();
}

void Npu::start() {
  hold();
  engine_->start();
}

void Npu::adopt(const Npu& like, const graph::RankImage& image) {
  engine_->adopt(*like.engine_, image);
  matcher_.adopt(like.matcher_, image);
  like.queue_.for_each([this](const auto& entry) { queue_.push(entry.time, entry.order, entry.payload); });
  pushed_ = like.pushed_;
  if (queue_.next() != kNever) run_at(queue_.next());
}

void Npu::hold() {
  if (held_) return;
  held_ = true;
  engine_->hold();
  run_at(machine_now());
}

void Npu::push(Picoseconds at, uint32_t kind, uint32_t token) {
  queue_.push(at, static_cast<uint64_t>(kind) << 56 | pushed_++, token);
  if (!held_) run_at(at);
}

void Npu::prepare() const {
  fabric::fetch_lines(engine_.get(), sizeof(graph::RankEngine));
}

void Npu::run_due() {
  if (!engine_) return;  // unloaded
  ++activations_;
  const Picoseconds t = machine_now();
  if (!held_) {
    held_ = true;
    engine_->hold();
  }
  while (queue_.next() <= t) {
    const auto entry = queue_.pop();
    if (entry.order >> 56 == kNode) {
      engine_->wake(entry.payload);
    } else if (entry.order >> 56 == kSend) {
      send_next();
    } else {
      engine_->memory_done(entry.payload);
    }
  }
  // What starts now may end now (nodes without duration): stay held, so that it comes back here.
  engine_->release();
  held_ = false;
  if (queue_.next() != kNever) run_at(std::max(queue_.next(), t));
}

void Npu::schedule(Picoseconds at, uint32_t token) {
  push(at + origin_, kNode, token);
}

bool Npu::run_node(const trace::Node& node, Picoseconds time) {
  graph::RankServices& services = *this;
  WatchedServices watched(services, *watch_, machine_now() - services.now());
  if (node.type != trace::NodeType::comp)
    watched.start_memory(node);
  else if (!watched.takes_compute(node, time))
    (void)watched.compute_time(node, time);
  return true;
}

void Npu::compute_done(const trace::Node& node) {
  if (watch_ != nullptr) watch_->answered(node, machine_now());
  if (!engine_) return;  // a node without a job
  hold();
  engine_->wake(node.index);
}

std::string Npu::describe(const trace::Node& node) const {
  return engine_
             ? engine_->describe(node.index)
             : fmt::format("node {} \"{}\" ({})", node.id, printable(node.name), trace::to_string(node.type));
}

void Npu::start_memory(const trace::Node& node) {
  if (!takes_memory(node)) start_access(node);
}

void Npu::access_done(uint32_t token, Picoseconds at) {
  if (causes_ != nullptr && engine_) engine_->causes()->answered(token);
  push(at, kMemory, token);
}

void Npu::start_access(const trace::Node& node) {
  if (watch_ != nullptr) watch_->answered(node, machine_now());
  if (!engine_) return;  // a node without a job
  if (causes_ == nullptr) return ask_memory(node);
  insight::AccessPart part = engine_->causes()->accesses(node, now());
  const insight::OnBehalf behalf(causes_, &part);
  ask_memory(node);
}

void Npu::ask_memory(const trace::Node& node) {
  const bool store = node.type == trace::NodeType::mem_store;
  const trace::Location place = tiers::place_of(config_, node.location);
  if (tiers::is_tier(place)) {
    if (tiers_ == nullptr || (place == trace::Location::nvme && !config_.nvme))
      throw UserError(ExitCode::usage,
                      fmt::format("rank {}: the trace accesses {} ({} B) and the configuration has none; add "
                                  "`memory: {{{}: ..}}`",
                                  rank_, place == trace::Location::host ? "host memory" : "NVMe",
                                  node.tensor_size, trace::to_string(place)));
    tiers_->start(index(npu_), node.index, place, store, node.tensor_size, *this);
    return;
  }
  const bool remote = place == trace::Location::remote;
  if (remote && pool_ != nullptr) {
    const PoolOperation op = node.in_switch
                                 ? store ? PoolOperation::scatter_store : PoolOperation::gather_load
                             : store ? PoolOperation::store
                                     : PoolOperation::load;
    pool_->start(index(npu_), node.index, op, node.tensor_size, *this,
                 node.in_switch ? host_->pool_members(rank_, node) : nullptr);
    return;
  }
  if (remote && !remote_) {
    throw UserError(
        ExitCode::usage,
        fmt::format("rank {}: the trace accesses remote memory ({} B) and the configuration has none; add "
                    "`remote_memory: {{bandwidth: ..., latency: ...}}` or a `memory: {{pool: ..}}`",
                    rank_, node.tensor_size));
  }
  (remote ? *remote_ : memory_).start(node.index, store, node.tensor_size);
}

void Npu::start_collective(const trace::Node& node) {
  std::optional<CollectiveStart> part = host_->start_collective(rank_, node);
  if (part) nmu_.start_collective(part->stream, std::move(part->plan), part->priority, part->plane);
}

void Npu::start_send(const trace::Node& node) {
  const MessageId id = matcher_.send(node);
  const NpuId peer{ranks_->npu(node.peer)};
  sending_[static_cast<uint64_t>(index(peer)) << 32 | node.tag].push_back(node.index);
  const SendStart start = host_->start_send(rank_, node, id);
  if (start.delay != 0) return send_later({peer, id, node.comm_size, start});
  nmu_.send(peer, id.round, id.stream, node.comm_size, start.data, start.plane);
}

/// Messages leave in the order in which they were started, as those of one stream.
void Npu::send_later(const Pending& pending) {
  last_send_ = std::max(last_send_, later(machine_now(), pending.start.delay));
  pending_.push_back(pending);
  push(last_send_, kSend, 0);
}

void Npu::send_next() {
  const Pending next = pending_.pop_front();
  nmu_.send(next.peer, next.id.round, next.id.stream, next.bytes, next.start.data, next.start.plane);
}

void Npu::start_receive(const trace::Node& node) {
  const auto match = matcher_.receive(node);
  if (match) {
    engine_->receive_done(match->node);
  } else {
    nmu_.message_awaited(NpuId{ranks_->npu(node.peer)}, true);
  }
}

void Npu::collective_done(NpuId, const collectives::CollectiveDone& done) {
  host_->collective_done(rank_, done);
}

void Npu::collective_done(trace::NodeIndex node) {
  hold();
  engine_->collective_done(node);
}

void Npu::message_injected(NpuId, NpuId destination, const MessageId& id) {
  const uint64_t key = static_cast<uint64_t>(index(destination)) << 32 | id.round;
  Fifo<trace::NodeIndex>& queue = *sending_.find(key);
  const trace::NodeIndex node = queue.pop_front();
  if (queue.empty()) sending_.erase(key);  // a job has many tags
  hold();
  engine_->send_done(node);
}

void Npu::message_arrived(NpuId, const Completion& completion) {
  Completion message = completion;
  message.source = NpuId{ranks_->rank(index(completion.source))};
  host_->message_arrived(rank_, message);
  const auto match = matcher_.arrived(message);
  if (!match) return;
  nmu_.message_awaited(completion.source, false);
  hold();
  engine_->receive_done(match->node);
}

void Npu::rank_changed(uint32_t, graph::RankState state, uint64_t node_id) {
  if (state_probe_) state_probe_.set(machine_now(), static_cast<uint32_t>(state));
  if (node_probe_) node_probe_.set(machine_now(), node_id == graph::kNoNode ? 0 : node_id);
}

}  // namespace weft
