// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Cuts links between pairs of NPUs that share a carrier (DirectFabric). It stands between one NPU and the
// carrier. What the NPU sends by a cut link leaves the fabric as a Crossing and comes in again, by way of its
// bytes; everything else passes. The other direction of a pair is cut at the other NPU.

#ifndef WEFT_TLM_INTERCONNECT_BORDER_PAIR_LOOPBACK_H
#define WEFT_TLM_INTERCONNECT_BORDER_PAIR_LOOPBACK_H

#include <map>
#include <set>
#include <systemc>

#include "tlm_interconnect/border/border.h"

namespace weft::fabric {

class PairLoopback final : public sc_core::sc_module {
 public:
  /// `cut`: the members of the carrier (Transfer::target) to which the links are cut.
  /// `watches`: by member, who sees the messages to it.
  PairLoopback(sc_core::sc_module_name name, std::set<uint32_t> cut, PacketPool& pool,
               CrossingElements* elements = nullptr, std::map<uint32_t, CrossingWatch> watches = {});

  /// Stands for the carrier: bound by the NPU.
  fabric_target_socket near;
  /// Stands for the NPU: to be bound to the carrier.
  fabric_initiator_socket far;

  /// Messages that have left the NPU by cut links.
  uint64_t crossed() const { return crossed_; }
  size_t links() const { return cut_.size(); }

 private:
  struct End final : FabricEndpoint {
    explicit End(PairLoopback& o) : owner(o) {}
    void receive(const Transfer& transfer) override { owner.pass(transfer, *this); }
    PairLoopback& owner;
  };
  void pass(const Transfer& transfer, const End& from);

  const std::set<uint32_t> cut_;
  const std::map<uint32_t, CrossingWatch> watches_;
  PacketPool& pool_;
  CrossingElements* const elements_;
  End at_npu_;
  End at_carrier_;
  uint64_t crossed_ = 0;
};

}  // namespace weft::fabric

#endif
