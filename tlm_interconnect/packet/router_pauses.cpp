// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Priority flow control of a router: when it pauses its senders, and when its receivers have paused it.

#include "tlm_interconnect/packet/router.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft::packet {

void Router::receive_pause(uint32_t p, const fabric::Transfer& transfer) {
  const uint32_t network = index(transfer.vc) / config_.vcs;
  PauseAccount& account = pausing_[p * config_.virtual_networks + network];
  const Ticks from = edges_.from(transfer.first + credit_time_);
  const bool on = transfer.kind == fabric::Transfer::Kind::pause;
  if (((ports_[p].paused_by >> network) & 1) == 0 || account.expects_resume() == on) {
    SC_REPORT_FATAL("weft/tlm_interconnect/packet",
                    fmt::format("{} port {} virtual network {}: a {} that nobody can have sent",
                                sc_module::name(), p, network, on ? "pause" : "resume")
                        .c_str());
  }
  account.change(from);
  if (!on) wake_and_notify(from);
  if (probes_) probes_->paused(p, network, from, on);
}

// After the decisions of a cycle: everything up to it is known.
void Router::look_at_levels(Ticks t) {
  level_due_ = kNever;
  for (uint32_t p = 0; p < ports(); ++p) {
    const Port& port = ports_[p];
    if (port.pauses == 0 || port.aside) continue;
    for (uint32_t m = port.pauses; m != 0; m &= m - 1) {
      const auto network = static_cast<uint32_t>(__builtin_ctz(m));
      Level& l = level(p, network);
      if (l.due <= t) {
        l.meter.settle(t);
        const int64_t flits = l.meter.occupancy(t);
        if (l.pausing ? flits <= port.xon : flits >= port.xoff) {
          l.pausing = !l.pausing;
          if (l.pausing) ++l.pauses;
          pause(p, network, l.pausing, t);
        }
        predict(p, network);
      }
      level_due_ = std::min(level_due_, l.due);
    }
  }
}

void Router::pause(uint32_t p, uint32_t network, bool on, Ticks t) {
  fabric::Transfer transfer;
  transfer.kind = on ? fabric::Transfer::Kind::pause : fabric::Transfer::Kind::resume;
  transfer.first = t + ports_[p].credit_delay + config_.pfc.delay;
  transfer.vc = static_cast<VcId>(network * config_.vcs);
  links_[p].send(transfer);
}

Ticks Router::next_level(uint32_t p) const {
  Ticks next = kNever;
  for (uint32_t m = ports_[p].pauses; m != 0; m &= m - 1)
    next =
        std::min(next, levels_[p * config_.virtual_networks + static_cast<uint32_t>(__builtin_ctz(m))].due);
  return next;
}

PauseAccount::Figures Router::pauses(uint32_t output) const {
  PauseAccount::Figures sum;
  const Ticks now = kernel_time();
  for (uint32_t m = ports_[output].paused_by; m != 0; m &= m - 1) {
    const auto network = static_cast<uint32_t>(__builtin_ctz(m));
    sum += pausing_[output * config_.virtual_networks + network].figures(now);
  }
  return sum;
}

bool Router::paused(uint32_t output, uint32_t virtual_network) const {
  return ((ports_[output].paused_by >> virtual_network) & 1) != 0 &&
         pausing_[output * config_.virtual_networks + virtual_network].paused(kernel_time());
}

}  // namespace weft::packet
