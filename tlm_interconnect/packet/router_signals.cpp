// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What a router tells waveforms at the end of a cycle: what its inputs are doing, and why outputs that
// something is ready for are idle, or serve others. A router runs in every cycle in which that can change.

#include "tlm_interconnect/packet/router.h"

#include <algorithm>

namespace weft::packet {

using fabric::Stall;

fabric::Stall Router::why_held(uint32_t p, uint32_t v, Ticks t) {
  InputVc& in = inputs_[p * vcs_ + v];
  // In a stage, or nothing is here.
  if (in.ready > t || in.queue.empty() || in.queue.front().first > t) return Stall::none;
  if (((ports_[p].sa_mask >> v) & 1) == 0) return Stall::vc;
  const Port& out = ports_[in.out_port];
  if (out.output_busy >= t + cycle_) return Stall::busy;
  if (in.sent == 0 && ((out.paused_by >> in.virtual_network) & 1) != 0 &&
      pausing_[in.out_port * config_.virtual_networks + in.virtual_network].at(t))
    return Stall::paused;
  const uint32_t needed = strict_cut_through_ && in.sent == 0 ? in.packet_flits : 1;
  if (outputs_[in.out_port * vcs_ + in.out_vc].credit.at(t) < static_cast<int32_t>(needed))
    return Stall::credits;
  return Stall::arbitration;
}

// Of several reasons at one output the one that is nearest to leaving: its number is the lowest.
void Router::tell_cycle(Ticks t) {
  if (!probes_->looks()) return;
  std::vector<Stall>& stalls = probes_->fresh_stalls();
  for (uint32_t p = 0; p < ports(); ++p) {
    const Port& port = ports_[p];
    auto state = RouterProbes::State::idle;
    uint32_t destination = 0;
    for (VcMask m = port.va_mask | port.sa_mask; m != 0; m &= m - 1) {
      const uint32_t v = lowest_vc(m);
      const InputVc& in = inputs_[p * vcs_ + v];
      const auto own = ((port.sa_mask >> v) & 1) == 0 ? RouterProbes::State::vc_allocation
                       : in.sent == 0                 ? RouterProbes::State::switch_allocation
                                                      : RouterProbes::State::sending;
      if (own > state) {
        state = own;
        destination = pool_[in.packet].destination;
      }
      const Stall why = why_held(p, v, t);
      Stall& of_output = stalls[in.out_port];
      if (why != Stall::none) of_output = of_output == Stall::none ? why : std::min(of_output, why);
    }
    probes_->state(p, t, state, destination);
  }
  for (uint32_t p = 0; p < ports(); ++p) probes_->stalled(p, t, stalls[p]);
}

// A crossing has the times at the link's receiving end, and signals those at this end.
void Router::crossed(uint32_t p, const fabric::FlitCrossing& crossing, bool sent) {
  if (!probes_) return;
  using Kind = fabric::FlitCrossing::Kind;
  const Port& port = ports_[p];
  const Ticks first = crossing.first;
  if (crossing.kind == Kind::credits) {
    if (sent) {
      probes_->freed(p, crossing.vc, first - std::min(first, port.credit_latency), crossing.count,
                     crossing.stride);
    } else {
      probes_->credited(p, crossing.vc, first, crossing.count, crossing.stride);
    }
  } else if (crossing.kind == Kind::flits) {
    if (!sent) {
      probes_->arrived(p, crossing.vc, first, crossing.count, crossing.stride);
      return;
    }
    const Ticks way = port.latency + (port.flit_time - std::min(port.flit_time, cycle_));
    probes_->left(p, crossing.vc, first - std::min(first, way), crossing.count,
                  std::max(crossing.stride, port.flit_time),
                  {config_.ecn.flit_bytes, crossing.head.id_low, crossing.has_head(), crossing.has_tail()});
  }
}

bool Router::record(vcd::ProbeHub& probes) {
  std::vector<uint32_t> credits;
  for (uint32_t p = 0; p < ports(); ++p) credits.push_back(outputs_[p * vcs_].credit.depth());
  std::vector<uint32_t> paused_by;
  for (const Port& port : ports_) paused_by.push_back(port.paused_by);
  auto own = std::make_unique<RouterProbes>(ports(), vcs_);
  own->declare(probes, name(), credits, paused_by, !gave_place_);
  if (!own->any()) return false;
  probes_ = std::move(own);
  return true;
}

bool Router::record_link(vcd::ProbeHub& probes, uint32_t output, const std::string& link,
                         const fabric::PacketPool* messages) {
  auto own = probes_ ? std::move(probes_) : std::make_unique<RouterProbes>(ports(), vcs_);
  own->declare_link(probes, output, link, messages, !gave_place_);
  if (!own->any()) return false;
  probes_ = std::move(own);
  return true;
}

}  // namespace weft::packet
