// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/policies/allocation/round_robin_switch.h"

namespace weft::packet {

RoundRobinSwitchAllocator::RoundRobinSwitchAllocator(uint32_t ports, uint32_t)
    : ports_(ports),
      input_pointer_(ports, 0),
      output_pointer_(ports, 0),
      proposals_(ports, ports),
      proposed_(ports) {}

void RoundRobinSwitchAllocator::arbitrate(const SwitchRequests& requests,
                                          std::vector<SwitchRequest>& grants) {
  requests.inputs().for_each([&](uint32_t input) {
    const uint32_t output = requests.by_input().first_from(input, input_pointer_[input]);
    proposals_.insert(output, input);
    proposed_.insert(output);
  });
  proposed_.for_each([&](uint32_t output) {
    const uint32_t input = proposals_.first_from(output, output_pointer_[output]);
    proposals_.clear_row(output);
    take_turn(input, output);
    grants.push_back(requests.of(input, output));
  });
  proposed_.clear();
}

}  // namespace weft::packet
