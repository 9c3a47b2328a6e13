// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Separable input-first allocation: each input proposes one output in turn, each output takes one proposer in
// turn. Cheaper than iSLIP in hardware and a little worse under load.

#ifndef WEFT_TLM_INTERCONNECT_POLICIES_ALLOCATION_ROUND_ROBIN_SWITCH_H
#define WEFT_TLM_INTERCONNECT_POLICIES_ALLOCATION_ROUND_ROBIN_SWITCH_H

#include "tlm_interconnect/policies/allocation/allocator.h"

namespace weft::packet {

class RoundRobinSwitchAllocator final : public SwitchAllocator {
 public:
  RoundRobinSwitchAllocator(uint32_t ports, uint32_t iterations);
  uint64_t memory(uint32_t input, uint32_t output) const override {
    return (uint64_t{output_pointer_[output]} << 32) | input_pointer_[input];
  }

 private:
  void arbitrate(const SwitchRequests& requests, std::vector<SwitchRequest>& grants) override;
  void take_turn(uint32_t input, uint32_t output) override {
    output_pointer_[output] = after(input);
    input_pointer_[input] = after(output);
  }
  uint32_t after(uint32_t port) const { return port + 1 == ports_ ? 0 : port + 1; }

  uint32_t ports_;
  std::vector<uint32_t> input_pointer_;
  std::vector<uint32_t> output_pointer_;
  PortMatrix proposals_;  ///< per output
  PortSet proposed_;
};

}  // namespace weft::packet

#endif
