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
  uint32_t last_output(uint32_t input) const override { return before(accept_pointer_[input]); }
  uint32_t last_input(uint32_t output) const override { return before(grant_pointer_[output]); }
  void set_last_output(uint32_t input, uint32_t output) override { accept_pointer_[input] = after(output); }
  void set_last_input(uint32_t output, uint32_t input) override { grant_pointer_[output] = after(input); }

 private:
  uint32_t before(uint32_t pointer) const { return (pointer == 0 ? size_ : pointer) - 1; }
  uint32_t after(uint32_t last) const { return last + 1 == size_ ? 0 : last + 1; }
  void take(VcRequest& request, VcMask granted_mask);

  uint32_t vcs_;
  uint32_t size_;                         ///< ports x VCs
  std::vector<uint32_t> grant_pointer_;   ///< per output VC: an input VC
  std::vector<uint32_t> accept_pointer_;  ///< per input VC: an output VC
  std::vector<VcMask> granted_;           ///< scratch: per request, the VCs that granted it
};

}  // namespace weft::packet

#endif
