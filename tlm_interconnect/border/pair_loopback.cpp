// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/border/pair_loopback.h"

#include <utility>

namespace weft::fabric {

PairLoopback::PairLoopback(sc_core::sc_module_name module_name, std::set<uint32_t> cut, PacketPool& pool,
                           CrossingElements* elements, std::map<uint32_t, CrossingWatch> watches)
    : sc_core::sc_module(module_name),
      near("near"),
      far("far"),
      cut_(std::move(cut)),
      watches_(std::move(watches)),
      pool_(pool),
      elements_(elements),
      at_npu_(*this),
      at_carrier_(*this) {
  near.bind(static_cast<fabric_fw_if&>(at_npu_));
  far.bind(static_cast<fabric_bw_if&>(at_carrier_));
}

void PairLoopback::pass(const Transfer& transfer, const End& from) {
  Transfer on = transfer;
  FabricPhase phase = FabricPhase::transfer;
  sc_core::sc_time none;
  if (&from == &at_carrier_) {
    near->nb_transport_bw(on, phase, none);
    return;
  }
  if (cut_.count(transfer.target) != 0) {
    const Crossing crossing = take_out(transfer, pool_, elements_);
    const auto watch = watches_.find(transfer.target);
    if (watch != watches_.end()) watch->second(true, crossing);
    on = put_in(from_bytes(to_bytes(crossing)), pool_, elements_);
    ++crossed_;
  }
  far->nb_transport_fw(on, phase, none);
}

}  // namespace weft::fabric
