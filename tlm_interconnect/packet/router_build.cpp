// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A router as it is built, as it begins anew, and what it tells of itself.

#include <algorithm>
#include <utility>

#include "tlm_interconnect/packet/router.h"

namespace weft::packet {
namespace {

bool own_on_cycle(const PacketConfig& config, const std::vector<PortConfig>& ports) {
  for (const PortConfig& p : ports) {
    for (const Ticks t : {p.latency, p.credit_latency, p.flit_time}) {
      if (t % config.cycle != 0) return false;
    }
  }
  return true;
}

// Credits that come back through a peer may have the times of links elsewhere.
bool all_on_cycle(const PacketConfig& config, const std::vector<PortConfig>& ports) {
  return own_on_cycle(config, ports) &&
         std::all_of(ports.begin(), ports.end(), [](const PortConfig& p) { return p.on_cycle; });
}

uint32_t largest_burst(const PacketConfig& config) {
  if (config.switching == FlitSwitching::flit_interleaved) return 1;
  return config.quantum == 0 ? ~0u : config.quantum;
}

}  // namespace

Router::Router(sc_core::sc_module_name name, uint32_t id, const std::vector<PortConfig>& ports,
               const RouterContext& network)
    : sc_module(name),
      WheelModule(network.wheel),
      cycle_(network.config.cycle),
      route_time_(network.config.pipeline.route * cycle_),
      vc_alloc_time_(network.config.pipeline.vc_alloc * cycle_),
      credit_time_(network.config.pipeline.credit * cycle_),
      edges_(cycle_),
      vcs_(network.config.total_vcs()),
      quantum_(largest_burst(network.config)),
      hold_(network.config.switching == FlitSwitching::packet_held),
      aligned_(all_on_cycle(network.config, ports)),
      eager_(network.routing.adaptive() || vc_alloc_time_ == 0),
      shuffles_(network.config.shuffle != 0),
      strict_priority_(network.config.strict_priority),
      strict_cut_through_(network.config.strict_cut_through),
      release_on_credit_(network.config.release_on_credit),
      va_ports_(static_cast<uint32_t>(ports.size())),
      sa_ports_(static_cast<uint32_t>(ports.size())),
      held_ports_(static_cast<uint32_t>(ports.size())),
      ports_(ports.size()),
      inputs_(ports.size() * vcs_),
      outputs_(ports.size() * vcs_),
      gone_(ports.size() * ports.size(), 0),
      pool_(network.pool),
      id_(id),
      requests_(static_cast<uint32_t>(ports.size())),
      switch_allocator_(make_switch_allocator(network.config.switch_allocator,
                                              static_cast<uint32_t>(ports.size()),
                                              network.config.allocator_iterations)),
      vc_allocator_(
          make_vc_allocator(network.config.vc_allocator, static_cast<uint32_t>(ports.size()), vcs_)),
      config_(network.config),
      routing_(network.routing),
      selection_name_(network.selection),
      selection_(make_selection_policy(selection_name_)),
      random_(config_.seed, id),
      shuffle_(config_.shuffle, id),
      granted_inputs_(static_cast<uint32_t>(ports.size())) {
  remembers_ways_ = !routing_.adaptive() && selection_->certain();
  const PipelineConfig& stages = config_.pipeline;
  lookahead_ = kNever;
  links_.reserve(ports.size());
  for (uint32_t p = 0; p < ports.size(); ++p) {
    const PortConfig& in = ports[p];
    endpoints_.push_back(std::make_unique<Endpoint>(*this, p));
    links_.emplace_back(in.name, in.end, *endpoints_.back());
    Port& port = ports_[p];
    // A link slower than the clock also takes longer for each flit.
    port.flit_delay = (stages.switch_alloc + stages.traversal) * cycle_ + in.latency +
                      (in.flit_time > cycle_ ? in.flit_time - cycle_ : 0);
    port.credit_delay = cycle_ + in.credit_latency;
    port.latency = in.latency;
    port.credit_latency = in.credit_latency;
    port.flit_time = in.flit_time;
    port.depth = in.depth;
    port.flit_error = in.flit_error;
    port.replay = in.replay;
    for (uint32_t v = 0; v < vcs_; ++v) outputs_[p * vcs_ + v].credit.set_depth(in.peer_depth);
    lookahead_ = std::min(lookahead_, in.lookahead);
    port.pauses = in.pauses;
    port.paused_by = in.paused_by;
    port.xoff = in.xoff;
    port.xon = in.xon;
    if ((in.pauses | in.paused_by) != 0 && levels_.empty()) {
      levels_ = std::vector<Level>(ports.size() * config_.virtual_networks);
      pausing_ = std::vector<PauseAccount>(ports.size() * config_.virtual_networks);
    }
  }
  own_on_cycle_ = own_on_cycle(config_, ports);
  lookahead_ = decidable(lookahead_);
  constexpr uint32_t kMostWays = 16384;  // 32 KiB
  static_assert(kMostWays < kUnknownWay);
  if (network.routing.by_destination(id) && network.ranks * config_.virtual_networks <= kMostWays) {
    way_ranks_ = network.ranks;
    way_numbers_.assign(size_t{way_ranks_} * config_.virtual_networks, kUnknownWay);
  }
  if (config_.ecn.enabled) {
    ecn_ = std::make_unique<EcnMarker>(config_.ecn, config_.seed, id, static_cast<uint32_t>(ports.size()),
                                       config_.virtual_networks);
    counted_for_.assign(inputs_.size(), kFree);
  }
}

Router::~Router() = default;

// Between cycles a flit may count on a credit that comes within its own cycle.
Ticks Router::decidable(Ticks lookahead) const {
  return own_on_cycle_ ? lookahead : std::max<Ticks>(1, lookahead - std::min(lookahead, cycle_));
}

void Router::set_near(std::vector<Near> near, Ticks others) {
  near_ = std::move(near);
  lookahead_of_others_ = decidable(others);
}

void Router::restart(Ticks now) {
  run_no_more();
  edges_.start_at(now);
  const auto ports = static_cast<uint32_t>(ports_.size());
  selection_ = make_selection_policy(selection_name_);
  switch_allocator_ = make_switch_allocator(config_.switch_allocator, ports, config_.allocator_iterations);
  vc_allocator_ = make_vc_allocator(config_.vc_allocator, ports, vcs_);
  random_ = Random(config_.seed, id_);
  for (Port& port : ports_) {
    port.input_busy = port.output_busy = port.all_free = now;
    port.vc_pointer = 0;
    port.flits_before = port.flits;
    port.last_end = 0;
    port.last_input = kFree;
  }
  for (InputVc& in : inputs_) in.ready = in.free_at = in.eligible = now;
  for (OutputVc& out : outputs_) {
    out.credit.restart();
    out.free_at = now;
    out.draining = false;
    out.watched = false;
  }
  std::fill(gone_.begin(), gone_.end(), 0);
  levels_ = std::vector<Level>(levels_.size());
  for (PauseAccount& account : pausing_) account.restart(now);
  level_due_ = kNever;
  expected_.clear();
  expects_ = kNever;
  if (ecn_) {
    ecn_->restart();
    std::fill(counted_for_.begin(), counted_for_.end(), kFree);
  }
  waiting_packets_.end();
  next_ = kNever;
  notified_ = kNever;
  decided_ = now;
}

void Router::end_of_elaboration() {
  for (LinkPort& link : links_) link.resolve();
}

Router::Waiting Router::waiting(uint32_t p, uint32_t v) const {
  const InputVc& in = inputs_[p * vcs_ + v];
  Waiting w;
  w.packet = in.packet;
  if (in.packet == fabric::kNoPacket) return w;
  w.holds_vc = ((ports_[p].sa_mask >> v) & 1) != 0;
  w.port = in.out_port;
  w.vc = in.out_vc;
  w.vc_mask = in.out_mask;
  w.sent = in.sent;
  w.packet_flits = in.packet_flits;
  w.flits_here = in.pending;
  w.virtual_network = in.virtual_network;
  return w;
}

}  // namespace weft::packet
