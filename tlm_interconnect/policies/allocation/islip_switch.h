// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// iSLIP (McKeown, "The iSLIP scheduling algorithm for input-queued switches", IEEE/ACM ToN 7(2), 1999): every
// output grants the first requester at or after its pointer, every input accepts the first grant at or after
// its own; the pointers move one beyond the match, and only when it was made in the first iteration.

#ifndef WEFT_TLM_INTERCONNECT_POLICIES_ALLOCATION_ISLIP_SWITCH_H
#define WEFT_TLM_INTERCONNECT_POLICIES_ALLOCATION_ISLIP_SWITCH_H

#include "tlm_interconnect/policies/allocation/allocator.h"

namespace weft::packet {

class IslipSwitchAllocator final : public SwitchAllocator {
 public:
  IslipSwitchAllocator(uint32_t ports, uint32_t iterations);
  uint64_t memory(uint32_t input, uint32_t output) const override {
    return (uint64_t{grant_pointer_[output]} << 32) | accept_pointer_[input];
  }

 private:
  void arbitrate(const SwitchRequests& requests, std::vector<SwitchRequest>& grants) override;
  void take_turn(uint32_t input, uint32_t output) override {
    grant_pointer_[output] = after(input);
    accept_pointer_[input] = after(output);
  }
  uint32_t after(uint32_t port) const { return port + 1 == ports_ ? 0 : port + 1; }

  uint32_t ports_;
  uint32_t iterations_;
  std::vector<uint32_t> grant_pointer_;   ///< per output
  std::vector<uint32_t> accept_pointer_;  ///< per input
  PortMatrix granted_;                    ///< per input: outputs that granted it
  PortSet granted_inputs_;
  PortSet matched_inputs_;
  PortSet matched_outputs_;
};

}  // namespace weft::packet

#endif
