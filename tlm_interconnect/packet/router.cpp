// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// All stages of a router are in this one file, of more than 600 lines. They work on the same VCs within one
// activation, and the compiler inlines them into each other: this is the innermost loop at packet fidelity.
// Beside it: router_build.cpp, router_joint.cpp, router_pauses.cpp, router_states.cpp, router_trains.cpp.

#include "tlm_interconnect/packet/router.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tlm_interconnect/packet/network_interface.h"
#include "tlm_interconnect/packet/packet_trains.h"
#include "tlm_interconnect/ports/fetch_lines.h"

namespace weft::packet {
namespace {

constexpr const char* kReport = "weft/tlm_interconnect/packet";

}  // namespace

void Router::wake_and_notify(Ticks t) {
  wake(t);
  if (t < notified_) {
    notified_ = t;
    run_at(t);
  }
}

void Router::prepare(bool near) const {
  const auto fetch = [&](uint32_t p) {
    const Port& port = ports_[p];
    if (!near) return fabric::fetch_lines(&port, offsetof(Port, queued));
    const VcMask vcs = port.va_mask | port.sa_mask;
    if (vcs == 0) return;
    const InputVc& in = inputs_[p * vcs_ + static_cast<uint32_t>(__builtin_ctzll(vcs))];
    fabric::fetch_lines(&in, sizeof in);
  };
  va_ports_.for_each(fetch);
  sa_ports_.for_each(fetch);
}

void Router::activate() {
  if (shuffles_ && (shuffle_.next() & 1) != 0) {
    run_again();
    return;
  }
  ++activations_;
  const Ticks now = notified_;  // exact, where the kernel may be up to a picosecond late
  const Ticks horizon = this->horizon(now);
  notified_ = 0;  // transfers that come back while this runs need not notify
  if (expects_ <= now) meet_expected(now);
  if (!disturbed_.empty()) {
    const std::vector<uint32_t> disturbed = std::exchange(disturbed_, {});
    for (const uint32_t rank : disturbed) trains_->resume(rank);
  }
  if (!steps_.empty()) trains_->look();
  decided_ = std::max(decided_, horizon);
  while (next_ < horizon) {
    const Ticks t = next_;
    next_ = kNever;
    cycle(t);
  }
  wake(expects_);
  notified_ = next_;
  if (next_ != kNever) run_at(next_);
}

// What is announced from now on concerns an interface no sooner than the lookahead, so the cycle that it is
// to run next stays.
Ticks Router::horizon(Ticks now) const {
  Ticks horizon = now + lookahead_;
  if (!near_.empty()) {
    horizon = now + lookahead_of_others_;
    for (const Near& near : near_)
      horizon = std::min(horizon, std::max(now, near.interface->busy_until()) + near.lookahead);
  }
  for (const uint32_t interface : steps_)
    horizon = std::min(horizon, interface == kFree ? now : trains_->next_cycle(interface));
  if (expects_ > now) {
    horizon = std::min(horizon, expects_);
  } else {
    for (const Expected& one : expected_) {
      if (one.cycle > now) horizon = std::min(horizon, one.cycle);
    }
  }
  return std::max(horizon, now + std::min(lookahead_, cycle_));
}

void Router::receive(uint32_t port, const fabric::Transfer& transfer) {
  switch (transfer.kind) {
    case fabric::Transfer::Kind::burst:
      receive_burst(port, transfer);
      break;
    case fabric::Transfer::Kind::credit:
      receive_credit(port, transfer);
      break;
    case fabric::Transfer::Kind::pause:
    case fabric::Transfer::Kind::resume:
      receive_pause(port, transfer);
      break;
  }
}

void Router::receive_burst(uint32_t p, const fabric::Transfer& transfer) {
  const uint32_t v = index(transfer.vc);
  InputVc& in = inputs_[p * vcs_ + v];
  in.pending += transfer.flits;
  if (in.pending > ports_[p].depth) {
    SC_REPORT_FATAL(kReport, fmt::format("{} port {} VC {}: {} flits for a buffer of {}: sent without credit",
                                         sc_module::name(), p, v, in.pending, ports_[p].depth)
                                 .c_str());
  }
  if (transfer.first_flit != in.last_next || (in.last_next != 0 && transfer.packet != in.last_packet)) {
    SC_REPORT_FATAL(kReport,
                    fmt::format("{} port {} VC {}: flit {} where flit {} was due: packets mixed in a VC",
                                sc_module::name(), p, v, transfer.first_flit, in.last_next)
                        .c_str());
  }
  in.last_packet = transfer.packet;
  in.last_next = transfer.first_flit + transfer.flits;
  if (in.last_next == transfer.packet_flits) in.last_next = 0;

  if (waiting_packets_.counting() && transfer.first_flit == 0) head_announced(p, v, transfer.packet);
  if (ecn_) count_arrival(p, v, transfer);
  const Ticks first = transfer.first;
  const Ticks stride = transfer.flit_time;
  if (probes_) {
    probes_->arrived(p, v, first, transfer.flits, stride);
  }
  if (ports_[p].pauses != 0) {
    const uint32_t network = v / config_.vcs;
    if (((ports_[p].pauses >> network) & 1) != 0) {
      Level& l = level(p, network);
      l.meter.arrive(first, transfer.flits, stride);
      // More flits delay a resume; it is looked at when it was due without them.
      if (!l.pausing) {
        predict(p, network);
        if (l.due != kNever) wake_and_notify(l.due);
      }
    }
  }
  bool merged = false;
  if (!in.queue.empty()) {
    FlitRun& last = in.queue.back();
    if (last.packet == transfer.packet && last.stride == stride &&
        last.first + static_cast<Ticks>(last.flits) * stride == first) {
      last.flits += transfer.flits;
      merged = true;
    }
  }
  if (!merged) in.queue.push_back({first, transfer.packet, transfer.flits, transfer.packet_flits, stride});

  if (in.packet == fabric::kNoPacket) {
    start_head(p, v);
    wake_and_notify(in.ready);
  } else if (!merged && in.queue.size() == 1 && ((ports_[p].sa_mask >> v) & 1) != 0) {
    wake_and_notify(std::max(on_cycle(first), in.ready));
  }
}

void Router::receive_credit(uint32_t p, const fabric::Transfer& transfer) {
  OutputVc& out = outputs_[p * vcs_ + index(transfer.vc)];
  const Ticks first = transfer.first + credit_time_;
  out.credit.add({first, transfer.flits, transfer.flit_time});
  if (out.credit.outstanding() > static_cast<int64_t>(out.credit.depth())) {
    SC_REPORT_FATAL(kReport, fmt::format("{} port {} VC {}: more credits than the buffer has flits",
                                         sc_module::name(), p, index(transfer.vc))
                                 .c_str());
  }
  if (probes_) {
    probes_->credited(p, index(transfer.vc), first, transfer.flits, transfer.flit_time);
  }
  if (out.watched) {
    out.watched = false;
    ++openings_;
    ++ports_[p].openings;
    wake_and_notify(on_cycle(first));
  }
}

void Router::cycle(Ticks t) {
  now_ = t;
  if (held_count_ != 0) continue_held(t);
  if (vc_alloc_time_ == 0) allocate_vcs(t);
  allocate_switch(t);
  if (vc_alloc_time_ != 0) allocate_vcs(t);
  if (level_due_ != kNever) {
    if (level_due_ <= t) look_at_levels(t);
    wake(level_due_);
  }
  if (probes_) tell_cycle(t);
}

// A packet that has begun goes on to its end, whatever its receiver says.
bool Router::may_begin(const InputVc& in, Ticks t) {
  PauseAccount& account = pausing_[in.out_port * config_.virtual_networks + in.virtual_network];
  if (!account.at(t)) return true;
  wake(account.next_change());  // not known yet: it wakes when it comes
  return false;
}

// Where a pause comes in time this does not happen: see pfc_headroom().
void Router::missed_credit(InputVc& in) {
  Port& out = ports_[in.out_port];
  if (in.overrun || ((out.paused_by >> in.virtual_network) & 1) == 0) return;
  in.overrun = true;
  ++out.overruns;
}

// Departures that are not known yet can only delay XOFF, and arrivals XON.
void Router::predict(uint32_t p, uint32_t network) {
  Level& l = level(p, network);
  const Ticks t = l.pausing ? l.meter.when_at_most(ports_[p].xon) : l.meter.when_at_least(ports_[p].xoff);
  l.due = t == kNever ? kNever : edges_.from(t);
  level_due_ = std::min(level_due_, l.due);
}

// A burst ended inside a packet. If the next flit had come by the time the last one left, the path is still
// held: it goes on with credit, and without costs the cycle in which that is found out.
void Router::continue_held(Ticks t) {
  held_ports_.for_each([&](uint32_t p) {
    Port& port = ports_[p];
    for (VcMask m = port.held_mask; m != 0; m &= m - 1) {
      const uint32_t v = lowest_vc(m);
      InputVc& in = inputs_[p * vcs_ + v];
      if (in.ready > t) {
        wake(in.ready);
        continue;
      }
      Port& out = ports_[in.out_port];
      port.held_mask &= ~vc_bit(v);
      if (port.held_mask == 0) {
        held_ports_.erase(p);
        --held_count_;
      }
      // On a link of more than a flit a cycle: flits of this packet went in this very cycle already.
      const bool begun = out.flit_time < cycle_ && out.output_busy >= t + out.flit_time;
      const bool in_time = !in.queue.empty() && in.queue.front().first <= out.output_busy - cycle_;
      if (!in_time && !begun) continue;
      CreditAccount& credit = outputs_[in.out_port * vcs_ + in.out_vc].credit;
      // A credit that comes by the time of the flit will do; at() must not run ahead of the cycle.
      const bool may_go =
          in_time && (credit.at(t) > 0 || credit.run(std::max(t, out.output_busy), 1, out.flit_time) > 0);
      if (in_time && !may_go && !begun && out.paused_by != 0) missed_credit(in);
      if (may_go && !(begun && damaged(in.out_port, out.flits))) {
        send(p, v, t);
      } else if (begun) {
        hold(p, v);
        in.ready = port.input_busy = out.output_busy = t + cycle_;
        wake(in.ready);
      } else {
        in.ready = t + cycle_;
        if (out.flit_time <= cycle_) port.input_busy = t + cycle_;
        out.output_busy = t + cycle_;
      }
    }
  });
}

// Drawn for each flit by its number, not in the order of bursts, whose lengths depend on what is known.
bool Router::damaged(uint32_t output, uint64_t flit) const {
  const double chance = ports_[output].flit_error;
  if (!(chance > 0)) return false;
  const uint64_t number = flit - ports_[output].flits_before;
  const uint64_t draw = hash64(hash64(hash64(config_.seed) ^ hash64(uint64_t{id_} << 32 | output)) ^ number);
  return unit_of(draw) < chance;
}

void Router::hold(uint32_t p, uint32_t v) {
  Port& port = ports_[p];
  if (port.held_mask == 0) {
    held_ports_.insert(p);
    ++held_count_;
  }
  port.held_mask |= vc_bit(v);
}

void Router::allocate_switch(Ticks t) {
  if (!strict_priority_) {
    allocate_switch(t, ~VcMask{0});
    return;
  }
  // Each virtual network gets what those before it have left.
  for (uint32_t network = config_.virtual_networks; network-- > 0;) allocate_switch(t, vc_mask(network));
  granted_inputs_.clear();
}

// One round, for the input VCs in `vcs`. One function for the same reason as send(): the requests of the loop
// are what the allocator grants below it.
void Router::allocate_switch(Ticks t, VcMask vcs) {
  const Ticks next_cycle = t + cycle_;
  sa_ports_.for_each([&](uint32_t p) {
    Port& port = ports_[p];
    if (port.input_busy > t) {
      wake(port.input_busy);
      return;
    }
    const VcMask mask = port.sa_mask & vcs;
    if (strict_priority_ && granted_inputs_.contains(p)) {
      if (mask != 0) wake(next_cycle);
      return;
    }
    // From the round-robin pointer upwards, then from 0: the first VC that asks for an output has it.
    const VcMask upper = mask & (~VcMask{0} << port.vc_pointer);
    for (uint32_t half = 0; half < 2; ++half) {
      for (VcMask m = half == 0 ? upper : mask & ~upper; m != 0; m &= m - 1) {
        const uint32_t v = lowest_vc(m);
        InputVc& in = inputs_[p * vcs_ + v];
        if (in.ready > t) {
          wake(in.ready);
          continue;
        }
        if (in.queue.empty()) continue;
        if (in.queue.front().first > t) {
          wake(on_cycle(in.queue.front().first));
          continue;
        }
        const Ticks busy = ports_[in.out_port].output_busy;
        if (busy >= next_cycle) {
          wake(aligned_ ? busy : edges_.before(busy));
          continue;
        }
        const uint32_t paused_by = ports_[in.out_port].paused_by;
        if (paused_by != 0 && in.sent == 0 && ((paused_by >> in.virtual_network) & 1) != 0 &&
            !may_begin(in, t))
          continue;
        OutputVc& out = outputs_[in.out_port * vcs_ + in.out_vc];
        const uint32_t needed = strict_cut_through_ && in.sent == 0 ? in.packet_flits : 1;
        if (out.credit.at(t) < static_cast<int32_t>(needed)) {
          const Ticks when = out.credit.when(needed);
          if (paused_by != 0) missed_credit(in);
          if (when == kNever) {
            out.watched = true;
          } else {
            wake(on_cycle(when));
          }
          continue;
        }
        requests_.add(p, in.out_port, v);
      }
    }
  });
  if (requests_.list().empty()) return;

  grants_.clear();
  switch_allocator_->allocate(requests_, grants_);
  for (const SwitchRequest& g : grants_) {
    ports_[g.input].vc_pointer = g.vc + 1 == vcs_ ? 0 : g.vc + 1;
    if (strict_priority_) granted_inputs_.insert(g.input);
    send(g.input, g.vc, t);
  }
  requests_.inputs().for_each([&](uint32_t p) {
    const Port& port = ports_[p];
    if (port.sa_mask == 0) return;
    if (port.input_busy > t) {
      wake(port.input_busy);
      return;
    }
    for (VcMask m = port.sa_mask; m != 0; m &= m - 1) {
      const InputVc& in = inputs_[p * vcs_ + lowest_vc(m)];
      const Ticks busy = ports_[in.out_port].output_busy;
      wake(std::max({next_cycle, in.ready, aligned_ ? busy : edges_.before(busy)}));
    }
  });
  requests_.clear();
}

VcMask Router::free_vcs(uint32_t p, VcMask mask, Ticks t, Ticks& soonest) {
  if (t >= ports_[p].all_free && !release_on_credit_) return mask & ~ports_[p].owned;
  VcMask result = 0;
  for (VcMask m = mask; m != 0; m &= m - 1) {
    const uint32_t v = lowest_vc(m);
    OutputVc& out = outputs_[p * vcs_ + v];
    if (out.owner != kFree) continue;
    if (out.free_at > t) {
      soonest = std::min(soonest, out.free_at);
      continue;
    }
    if (out.draining) {
      if (out.credit.at(t) < static_cast<int32_t>(out.credit.depth())) {
        const Ticks when = out.credit.when(out.credit.depth());
        if (when == kNever) out.watched = true;
        soonest = std::min(soonest, when);
        continue;
      }
      out.draining = false;
    }
    result |= vc_bit(v);
  }
  return result;
}

// Of some free VCs those that would have room for another packet beside this one.
VcMask Router::with_bubble(const InputVc& in, VcMask free, Ticks t, Ticks& soonest) {
  VcMask result = 0;
  for (VcMask m = free; m != 0; m &= m - 1) {
    const uint32_t v = lowest_vc(m);
    OutputVc& out = outputs_[in.out_port * vcs_ + v];
    if (out.credit.at(t) >= static_cast<int32_t>(2 * in.packet_flits)) {
      result |= vc_bit(v);
      continue;
    }
    const Ticks when = out.credit.when(2 * in.packet_flits);
    if (when == kNever) out.watched = true;
    soonest = std::min(soonest, when);
  }
  return result;
}

uint32_t Router::free_credits(uint32_t p, VcMask vc_mask) {
  Ticks soonest = kNever;
  uint32_t credits = 0;
  for (VcMask m = free_vcs(p, vc_mask, now_, soonest); m != 0; m &= m - 1) {
    const int32_t n = outputs_[p * vcs_ + lowest_vc(m)].credit.at(now_);
    if (n > 0) credits += static_cast<uint32_t>(n);
  }
  if (soonest != kNever) wake(on_cycle(soonest));
  return credits;
}

// Of an adaptive route: whether any of the outputs could be taken now. If not, nothing is chosen, and nothing
// drawn, until one of them changes: at `soonest`, or when this router is told of a credit or sends a tail.
bool Router::any_open(Ticks t, Ticks& soonest) {
  // Then an output without credits is not taken.
  const bool by_credits =
      candidates_.size() > 1 && selection_->escapes_without_credits() &&
      std::any_of(candidates_.begin(), candidates_.end(), [](const RouteCandidate& c) { return c.escape; });
  bool open = false;
  bool escape_seen = false;
  for (const RouteCandidate& c : candidates_) {
    if (by_credits && c.escape && std::exchange(escape_seen, true)) continue;  // only the first is taken
    const VcMask free = free_vcs(c.port, c.vc_mask, t, soonest);
    if (!by_credits || c.escape) {
      open = open || free != 0;
      continue;
    }
    for (VcMask m = free; m != 0; m &= m - 1) {
      OutputVc& out = outputs_[c.port * vcs_ + lowest_vc(m)];
      if (out.credit.at(t) > 0) {
        open = true;
        continue;
      }
      const Ticks when = out.credit.when(1);
      if (when == kNever) out.watched = true;
      soonest = std::min(soonest, when);
    }
  }
  return open;
}

// The route of a head, if it depends on the destination alone and has been asked for before.
bool Router::known_route(InputVc& in, uint32_t destination) {
  if (destination >= way_ranks_) return false;
  const uint16_t number = way_numbers_[in.virtual_network * way_ranks_ + destination];
  if (number == kUnknownWay) return false;
  const Way& way = ways_[number];
  in.out_port = way.port;
  in.out_mask = way.vc_mask;
  in.bubble = false;
  in.drawn = false;
  in.routed = true;
  return true;
}

void Router::remember(const InputVc& in, uint32_t destination) {
  if (destination >= way_ranks_) return;
  size_t number = 0;
  while (number < ways_.size() && (ways_[number].port != in.out_port || ways_[number].vc_mask != in.out_mask))
    ++number;
  if (number == ways_.size()) ways_.push_back({in.out_mask, in.out_port});
  way_numbers_[in.virtual_network * way_ranks_ + destination] = static_cast<uint16_t>(number);
}

// False: the head waits, at least until `soonest`.
bool Router::choose_route(uint32_t p, uint32_t v, Ticks t, Ticks& soonest) {
  InputVc& in = inputs_[p * vcs_ + v];
  const fabric::Packet& packet = pool_[in.packet];
  in.virtual_network = packet.virtual_network;
  in.last = (packet.id_high & kLastPacket) != 0;
  if (known_route(in, packet.destination)) return true;
  const RouteQuery query{id_, p, v, packet.source, packet.destination, packet.virtual_network};
  if (remembers_ways_) {
    const KnownWay& way = *known_way(query);
    in.out_port = way.output;
    in.out_mask = way.vc_mask;
    in.bubble = way.bubble;
    in.drawn = false;
    in.routed = true;
    remember(in, packet.destination);
    return true;
  }
  candidates_.clear();
  routing_.route(query, candidates_);
  uint32_t chosen = 0;
  const bool open = !routing_.adaptive() || any_open(t, soonest);
  if (!open) {  // what an explanation of a stall is to name
    while (chosen + 1 < candidates_.size() && !candidates_[chosen].escape) ++chosen;
  } else if (candidates_.size() > 1) {
    chosen = selection_->select(query, candidates_, random_, *this);
  }
  in.out_port = candidates_[chosen].port;
  in.out_mask = candidates_[chosen].vc_mask;
  in.bubble = candidates_[chosen].bubble;
  in.drawn = candidates_.size() > 1 && !selection_->certain();
  if (!open) return false;
  in.routed = !routing_.adaptive();
  if (ecn_ && in.routed && candidates_.size() > 1 && !selection_->certain()) count_front(p, v);
  remember(in, packet.destination);
  return true;
}

void Router::allocate_vcs(Ticks t) {
  vc_requests_.clear();
  va_ports_.for_each([&](uint32_t p) {
    for (VcMask m = ports_[p].va_mask; m != 0; m &= m - 1) {
      const uint32_t v = lowest_vc(m);
      InputVc& in = inputs_[p * vcs_ + v];
      if (in.ready > t) {
        wake(in.ready);
        continue;
      }
      const uint64_t openings = in.routed ? ports_[in.out_port].openings : openings_;
      if (in.closed_until > t && in.closed_since == openings) {
        if (in.closed_until != kNever) wake(on_cycle(in.closed_until));
        continue;
      }
      Ticks soonest = kNever;
      if (!in.routed && !choose_route(p, v, t, soonest)) {
        in.closed_until = soonest;
        in.closed_since = openings_;
        if (soonest != kNever) wake(on_cycle(soonest));
        continue;
      }
      VcMask free = free_vcs(in.out_port, in.out_mask, t, soonest);
      if (in.bubble) free = with_bubble(in, free, t, soonest);
      if (free != 0) {
        vc_requests_.push_back({p * vcs_ + v, in.out_port, free, kNoVc});
      } else if (!in.routed && !selection_->certain()) {
        wake(t + cycle_);  // the next draw may be for one that is free
      } else {
        if (in.routed && !in.bubble) {
          in.closed_until = soonest;
          in.closed_since = ports_[in.out_port].openings;
        }
        if (soonest != kNever) wake(on_cycle(soonest));
      }
    }
  });
  if (vc_requests_.empty()) return;
  for (size_t k = 1; k < vc_requests_.size(); ++k) {
    const uint32_t p = vc_requests_[k].input / vcs_;
    if (p == vc_requests_[k - 1].input / vcs_) ++ports_[p].contests;
  }

  vc_allocator_->allocate(vc_requests_);
  for (const VcRequest& r : vc_requests_) {
    if (r.granted == kNoVc) {
      wake(t + cycle_);
      continue;
    }
    const uint32_t p = r.input / vcs_;
    const uint32_t v = r.input % vcs_;
    InputVc& in = inputs_[r.input];
    Port& port = ports_[p];
    in.out_vc = r.granted;
    if (ecn_ && !in.routed) count_front(p, v);
    in.ready = t + vc_alloc_time_;
    const FlitRun& run = in.queue.front();
    if (run.stride > ports_[r.port].flit_time && in.packet_flits <= port.depth) {
      // From a slow link to a fast one: wait until the packet can go without gaps, as switches do.
      const Ticks last = run.first + static_cast<Ticks>(in.packet_flits - 1) * run.stride;
      const Ticks ahead = static_cast<Ticks>(in.packet_flits) * ports_[r.port].flit_time;
      const Ticks start = last + ports_[r.port].flit_time + cycle_;
      if (start > ahead) {
        in.eligible = std::max(in.eligible, on_cycle(start - ahead));
        in.ready = std::max(in.ready, in.eligible);
      }
    }
    outputs_[r.port * vcs_ + r.granted].owner = r.input;
    ports_[r.port].owned |= vc_bit(r.granted);
    port.va_mask &= ~vc_bit(v);
    if (port.va_mask == 0) va_ports_.erase(p);
    if (port.sa_mask == 0) sa_ports_.insert(p);
    port.sa_mask |= vc_bit(v);
    // Without a cycle of its own it is before switch allocation of this cycle, which is not to run twice.
    const Ticks next = std::max(in.ready, port.input_busy);
    if (next > t) wake(next);
  }
}

// A packet counts in the queue of its output from its arrival on, if that is the only one it can take; else
// from when it has chosen.
void Router::count_arrival(uint32_t p, uint32_t v, const fabric::Transfer& transfer) {
  uint32_t& output = counted_for_[p * vcs_ + v];
  if (transfer.first_flit == 0) {
    RouteCandidate route{};
    output = certain_route(query_of(p, v, transfer.packet), route) ? route.port : kFree;
  }
  if (output == kFree) return;
  ecn_->arrives(output, pool_[transfer.packet].virtual_network, transfer.first, transfer.flits,
                transfer.flit_time);
}

// The packet at the front has chosen its output.
void Router::count_front(uint32_t p, uint32_t v) {
  const InputVc& in = inputs_[p * vcs_ + v];
  for (uint32_t k = 0; k < in.queue.size() && in.queue[k].packet == in.packet; ++k) {
    const FlitRun& run = in.queue[k];
    ecn_->arrives(in.out_port, in.virtual_network, run.first, run.flits, run.stride);
  }
  if (in.last_next != 0 && in.last_packet == in.packet) counted_for_[p * vcs_ + v] = in.out_port;
}

void Router::mark_head(const InputVc& in, Ticks t) {
  fabric::Packet& packet = pool_[in.packet];
  if (packet.source >= config_.ecn.ranks || packet.destination >= config_.ecn.ranks) return;
  if (ecn_->marks(in.out_port, in.virtual_network, t)) packet.marked = 1;
}

RouteQuery Router::query_of(uint32_t p, uint32_t v, fabric::PacketRef ref) const {
  const fabric::Packet& packet = pool_[ref];
  return {id_, p, v, packet.source, packet.destination, packet.virtual_network};
}

void Router::start_head(uint32_t p, uint32_t v) {
  InputVc& in = inputs_[p * vcs_ + v];
  const FlitRun& run = in.queue.front();
  in.packet = run.packet;
  // What is not in the caches, before it is needed: the next packet, and runs after it.
  if (in.queue.size() > 1) __builtin_prefetch(&pool_[in.queue[1].packet]);
  if (in.queue.size() > 3) __builtin_prefetch(&in.queue[3]);
  in.packet_flits = run.packet_flits;
  in.sent = 0;
  in.overrun = false;
  in.routed = false;
  in.closed_until = 0;
  if (run.flits == run.packet_flits ? !came_before(run, in.free_at)
                                    : runs_of_complete(in, 0, in.free_at) == 0)
    ++in.late;
  in.ready = on_cycle(std::max(run.first, in.free_at)) + route_time_;
  in.eligible = in.ready + vc_alloc_time_;
  Port& port = ports_[p];
  if (port.va_mask == 0) va_ports_.insert(p);
  port.va_mask |= vc_bit(v);
}

// How many of `wanted` flits, one every `stride` from `t`, go without a break: each must have come a
// cycle before its turn, which at the clock's own rate is when the one before it leaves.
uint32_t Router::arrived_run(const InputVc& in, Ticks t, uint32_t wanted, Ticks stride) const {
  uint32_t n = 0;
  for (uint32_t k = 0; n < wanted && k < in.queue.size(); ++k) {
    const FlitRun& run = in.queue[k];
    if (run.packet != in.packet) break;
    if (n > 0 && run.first > t + static_cast<Ticks>(n) * stride - cycle_) break;
    if (run.stride <= stride) {
      // If its second flit is in time all others are.
      if (n == 0 && run.flits > 1 && run.first + run.stride > t + stride - cycle_) return 1;
      n += run.flits;
      continue;
    }
    uint32_t j = 1;
    while (j < run.flits && run.first + static_cast<Ticks>(j) * run.stride <=
                                t + static_cast<Ticks>(n + j) * stride - cycle_) {
      ++j;
    }
    n += j;
    if (j < run.flits) break;
  }
  return std::min(n, wanted);
}

// The output passes from one input to another: what that has waited for it.
void Router::turn_to(uint32_t p, uint32_t v, Ticks start) {
  const InputVc& in = inputs_[p * vcs_ + v];
  Port& out = ports_[in.out_port];
  const size_t ports = ports_.size();
  if (out.last_input != kFree) gone_[out.last_input * ports + in.out_port] = out.last_end;
  out.last_input = p;
  const Ticks ready = in.sent == 0 ? in.eligible : on_cycle(in.queue.front().first);
  const Ticks from = std::max(ready, gone_[p * ports + in.out_port]);
  if (start > from) out.queued += start - from;
}

// One function of more than 80 lines on purpose: every burst of flits passes through it, and its steps share
// the input VC, the output VC and the times of the burst. In order: how many flits go, what they take
// (credit, marks), the transfer, what stays behind, and the next decision of this VC.
void Router::send(uint32_t p, uint32_t v, Ticks t) {
  InputVc& in = inputs_[p * vcs_ + v];
  Port& port = ports_[p];
  Port& out_port = ports_[in.out_port];
  OutputVc& out = outputs_[in.out_port * vcs_ + in.out_vc];
  Ticks start = std::max(t, out_port.output_busy);
  const Ticks stride = out_port.flit_time;

  uint32_t n = std::min(in.packet_flits - in.sent, quantum_);
  if (stride < cycle_) {
    // One cycle decides on all flits that begin within it, however short bursts are.
    const auto within = static_cast<uint32_t>((t + cycle_ - start + stride - 1) / stride);
    n = std::min(in.packet_flits - in.sent, std::max(quantum_, within));
  }
  if (n > 1) n = arrived_run(in, start, n, stride);
  if (n > 1) n = out.credit.run(start, n, stride);
  if (out_port.last_input != p) turn_to(p, v, start);
  if (out_port.flit_error > 0) {
    // A damaged flit and those after it are sent again, one replay later. Flits and credits that are known
    // stay known until then. The burst ends before a damaged one.
    if (damaged(in.out_port, out_port.flits)) {
      start += out_port.replay;
      ++out_port.retries;
    }
    for (uint32_t k = 1; k < n; ++k) {
      if (damaged(in.out_port, out_port.flits + k)) n = k;
    }
  }
  out.credit.spend(n);
  if (ecn_) {
    if (in.sent == 0) mark_head(in, t);
    ecn_->leaves(in.out_port, in.virtual_network, start, n, stride);
  }

  fabric::Transfer transfer;
  transfer.kind = fabric::Transfer::Kind::burst;
  transfer.first = start + out_port.flit_delay;
  transfer.flit_time = stride;
  transfer.packet = in.packet;
  transfer.first_flit = in.sent;
  transfer.flits = n;
  transfer.packet_flits = in.packet_flits;
  transfer.vc = static_cast<VcId>(in.out_vc);

  for (uint32_t left = n; left > 0;) {
    FlitRun& run = in.queue.front();
    const uint32_t k = std::min(left, run.flits);
    left -= k;
    run.flits -= k;
    run.first += static_cast<Ticks>(k) * run.stride;
    if (run.flits == 0) in.queue.pop_front();
  }
  in.pending -= n;
  in.sent += n;
  if (port.pauses != 0 && ((port.pauses >> in.virtual_network) & 1) != 0) {
    Level& l = level(p, in.virtual_network);
    l.meter.settle(t - 1);  // what else happens in this cycle is not known yet
    l.meter.depart(start, n, stride);
    if (l.pausing) predict(p, in.virtual_network);
  }
  const Ticks end = start + static_cast<Ticks>(n) * stride;
  out_port.output_busy = end;
  out_port.last_end = end;
  out_port.flits += n;
  if (probes_) {
    probes_->sent(
        p, v, in.out_port, in.out_vc, start, n, stride,
        {config_.ecn.flit_bytes, pool_[in.packet].id_low, in.sent == n, in.sent == in.packet_flits});
  }
  if (!watches_.empty() && watches_[in.out_port] != nullptr)
    watches_[in.out_port]->sent({start, n, stride, in.packet, in.sent == in.packet_flits});
  const Ticks done = aligned_ ? end : edges_.before(end);
  // A VC is decided on once a cycle: of a faster link a part of the last cycle may be left for others.
  const Ticks last = end - stride;
  // A link slower than the crossbar leaves it free between the flits, for the other VCs of this input.
  if (stride <= cycle_) port.input_busy = done;

  if (in.sent == in.packet_flits) {
    ++packets_;
    ++out_port.packets;
    out_port.payload += pool_[in.packet].bytes;
    if (in.last) ++out_port.messages;
    if (packets_ >= counts_until_ && waiting_packets_.counting()) stop_counting();
    if (waiting_packets_.counting()) {
      waiting_packets_.leave(p, v);
      if (in.drawn) {
        count_ways(p, v, in.packet, -1);
      } else {
        waiting_packets_.want(p, in.out_port, -1);
      }
    }
    out.owner = kFree;
    out_port.owned &= ~vc_bit(in.out_vc);
    const Ticks free_at = stride < cycle_ ? edges_.before(last) + cycle_ : done;
    out.free_at = free_at;
    out_port.all_free = std::max(out_port.all_free, free_at);
    out.draining = release_on_credit_;
    in.packet = fabric::kNoPacket;
    in.free_at = free_at;
    port.sa_mask &= ~vc_bit(v);
    if (port.sa_mask == 0) sa_ports_.erase(p);
    ++openings_;
    ++out_port.openings;
    if (eager_) wake(out.free_at);
    if (!in.queue.empty()) {
      start_head(p, v);
      wake(in.ready);
    }
  } else {
    in.ready = stride < cycle_ ? std::max(done, t + cycle_) : done;
    if (stride < cycle_) {
      port.input_busy = in.ready;
      if (hold_) out_port.output_busy = std::max(end, in.ready);
    }
    if (hold_) hold(p, v);
    wake(in.ready);
  }

  const uint32_t out_index = in.out_port;
  fabric::Transfer credit;
  credit.kind = fabric::Transfer::Kind::credit;
  credit.first = start + port.credit_delay;
  credit.flit_time = stride;
  credit.flits = n;
  credit.vc = static_cast<VcId>(v);
  links_[out_index].send(transfer);
  links_[p].send(credit);
}

VcMask Router::vc_mask(uint32_t virtual_network) const {
  return low_vcs(config_.vcs) << (virtual_network * config_.vcs);
}

const Router::KnownWay* Router::known_way(const RouteQuery& query) {
  if (known_ways_.empty()) known_ways_.resize(kKnownWays);
  const uint32_t input = query.in_port * vcs_ + query.in_vc;
  KnownWay& known = known_ways_[((input * 31 + query.source) * 31 + query.destination) % kKnownWays];
  if (known.input == input && known.source == query.source && known.destination == query.destination &&
      known.virtual_network == query.virtual_network) {
    return &known;
  }
  RouteCandidate route{};
  if (!certain_route(query, route)) return nullptr;
  known = {input,        query.source, query.destination, static_cast<uint16_t>(query.virtual_network),
           route.bubble, route.port,   route.vc_mask};
  return &known;
}

bool Router::certain_route(const RouteQuery& query, RouteCandidate& route) {
  if (routing_.adaptive()) return false;
  candidates_.clear();
  routing_.route(query, candidates_);
  if (candidates_.size() == 1) {
    route = candidates_[0];
    return true;
  }
  if (!selection_->certain()) return false;
  route = candidates_[selection_->select(query, candidates_, random_, *this)];
  return true;
}

}  // namespace weft::packet
