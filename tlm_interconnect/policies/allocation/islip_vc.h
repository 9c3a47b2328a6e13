// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// iSLIP between input VCs and output VCs, one iteration: every free output VC asked for grants one head,
// every head accepts one of the VCs it was granted.

#ifndef WEFT_TLM_INTERCONNECT_POLICIES_ALLOCATION_ISLIP_VC_H
#define WEFT_TLM_INTERCONNECT_POLICIES_ALLOCATION_ISLIP_VC_H

#include "tlm_interconnect/policies/allocation/allocator.h"

namespace weft::packet {

class IslipVcAllocator final : public VcAllocator {
 public:
  IslipVcAllocator(uint32_t ports, uint32_t vcs);
  void allocate(std::vector<VcRequest>& requests) override;
  uint64_t memory(uint32_t input, uint32_t output) const override {
    return (uint64_t{grant_pointer_[output]} << 32) | accept_pointer_[input];
  }

 private:
  void take(VcRequest& request, VcMask granted_mask);

  uint32_t vcs_;
  uint32_t size_;                         ///< ports x VCs
  std::vector<uint32_t> grant_pointer_;   ///< per output VC: an input VC
  std::vector<uint32_t> accept_pointer_;  ///< per input VC: an output VC
  std::vector<VcMask> granted_;           ///< scratch: per request, the VCs that granted it
};

}  // namespace weft::packet

#endif
