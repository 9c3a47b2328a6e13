// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/npu.h"

#include <fmt/format.h>

#include "configs/stop.h"

namespace weft {

Npu::Npu(sc_core::sc_module_name module_name, NpuId rank, const Config& config, Nmu& nmu, vcd::Waves* waves)
    : sc_core::sc_module(module_name),
      rank_(rank),
      config_(config),
      nmu_(nmu),
      memory_(
          "memory", config.hbm.outstanding, config.hbm.capacity,
          [this](uint32_t token, Picoseconds at) { push(at, kMemory, token); },
          [this](uint32_t token) { return engine_->describe(token); }),
      matcher_(index(rank)),
      wake_("wake") {
  if (config.remote_memory) {
    remote_ = std::make_unique<MemoryDma>(
        "remote", config.hbm.outstanding, 0,
        [this](uint32_t token, Picoseconds at) { push(at, kMemory, token); },
        [this](uint32_t token) { return engine_->describe(token); });
  }
  if (waves != nullptr && waves->on()) {
    state_probe_ = waves->enumeration(std::string(name()) + ".state",
                                      {"idle", "communicate", "remote_memory", "memory", "compute"});
    node_probe_ = waves->number(std::string(name()) + ".node", 64);
  }
  SC_HAS_PROCESS(Npu);
  SC_METHOD(process);
  sensitive << wake_;
  dont_initialize();
}

Npu::~Npu() = default;

void Npu::load(trace::Feeder& feeder, CollectiveHost& host, graph::LayerTable* layers) {
  host_ = &host;
  graph::RankServices& services = *this;
  engine_ = std::make_unique<graph::RankEngine>(index(rank_), config_.npu, feeder, services);
  if (layers != nullptr) engine_->set_layers(*layers);
  if (state_probe_ || node_probe_) engine_->set_observer(this);
}

void Npu::start() {
  hold();
  engine_->start();
}

void Npu::hold() {
  if (held_) return;
  held_ = true;
  engine_->hold();
  wake_at_ = now();
  wake_.notify(sc_core::SC_ZERO_TIME);
}

void Npu::push(Picoseconds at, uint32_t kind, uint32_t token) {
  queue_.push(at, static_cast<uint64_t>(kind) << 56 | pushed_++, token);
  if (at < wake_at_ && !held_) {
    wake_at_ = at;
    wake_.notify(sc_core::sc_time::from_value(at - now()));
  }
}

void Npu::process() {
  if (stop_requested()) sc_core::sc_pause();
  ++activations_;
  const Picoseconds t = now();
  if (!held_) {
    held_ = true;
    engine_->hold();
  }
  while (queue_.next() <= t) {
    const auto entry = queue_.pop();
    if (entry.order >> 56 == kNode) {
      engine_->wake(entry.payload);
    } else {
      engine_->memory_done(entry.payload);
    }
  }
  // What starts now may end now (nodes without duration): stay held, so that it comes back here.
  engine_->release();
  held_ = false;
  wake_at_ = queue_.next();
  if (wake_at_ <= t) {
    wake_.notify(sc_core::SC_ZERO_TIME);
  } else if (wake_at_ != kNever) {
    wake_.notify(sc_core::sc_time::from_value(wake_at_ - t));
  }
}

void Npu::schedule(Picoseconds at, uint32_t token) {
  push(at, kNode, token);
}

void Npu::start_memory(trace::NodeIndex node, bool store, bool remote, uint64_t bytes) {
  if (remote && !remote_) {
    throw UserError(
        ExitCode::usage,
        fmt::format("rank {}: the trace accesses remote memory ({} B) and the configuration has none; add "
                    "`remote_memory: {{bandwidth: ..., latency: ...}}`",
                    index(rank_), bytes));
  }
  (remote ? *remote_ : memory_).start(node, store, bytes);
}

void Npu::start_collective(const trace::Node& node) {
  host_->start_collective(index(rank_), node);
}

void Npu::start_send(const trace::Node& node) {
  const MessageId id = matcher_.send(node);
  sending_[static_cast<uint64_t>(node.peer) << 32 | node.tag].push_back(node.index);
  const NpuId peer{node.peer};
  nmu_.send(peer, id.round, id.stream, node.comm_size,
            host_->send_data(index(rank_), peer, id, node.comm_size), host_->send_plane(node));
}

void Npu::start_receive(const trace::Node& node) {
  const auto match = matcher_.receive(node);
  if (match) {
    engine_->receive_done(match->node);
  } else {
    nmu_.engine().message_awaited(NpuId{node.peer}, true);
  }
}

void Npu::collective_done(trace::NodeIndex node) {
  hold();
  engine_->collective_done(node);
}

void Npu::message_injected(NpuId destination, const MessageId& id) {
  auto& queue = sending_[static_cast<uint64_t>(index(destination)) << 32 | id.round];
  const trace::NodeIndex node = queue.front();
  queue.pop_front();
  hold();
  engine_->send_done(node);
}

void Npu::message_arrived(const Completion& completion) {
  const auto match = matcher_.arrived(completion);
  if (!match) return;
  nmu_.engine().message_awaited(completion.source, false);
  hold();
  engine_->receive_done(match->node);
}

void Npu::rank_changed(uint32_t, graph::RankState state, uint64_t node_id) {
  if (state_probe_) state_probe_.set(now(), static_cast<uint32_t>(state));
  if (node_probe_) node_probe_.set(now(), node_id == graph::kNoNode ? 0 : node_id);
}

}  // namespace weft
