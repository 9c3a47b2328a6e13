// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/policies/allocation/islip_switch.h"

namespace weft::packet {

IslipSwitchAllocator::IslipSwitchAllocator(uint32_t ports, uint32_t iterations)
    : ports_(ports),
      iterations_(iterations == 0 ? 1 : iterations),
      grant_pointer_(ports, 0),
      accept_pointer_(ports, 0),
      granted_(ports, ports),
      granted_inputs_(ports),
      matched_inputs_(ports),
      matched_outputs_(ports) {}

void IslipSwitchAllocator::arbitrate(const SwitchRequests& requests, std::vector<SwitchRequest>& grants) {
  matched_inputs_.clear();
  matched_outputs_.clear();
  for (uint32_t iteration = 0; iteration < iterations_; ++iteration) {
    requests.outputs().for_each([&](uint32_t output) {
      if (matched_outputs_.contains(output)) return;
      uint32_t input = requests.by_output().first_from(output, grant_pointer_[output]);
      if (iteration > 0) {  // only inputs still without a match
        const uint32_t stop = input;
        while (matched_inputs_.contains(input)) {
          input = requests.by_output().first_from(output, after(input));
          if (input == stop) return;
        }
      }
      granted_.insert(input, output);
      granted_inputs_.insert(input);
    });
    bool any = false;
    granted_inputs_.for_each([&](uint32_t input) {
      const uint32_t output = granted_.first_from(input, accept_pointer_[input]);
      granted_.clear_row(input);
      grants.push_back(requests.of(input, output));
      any = true;
      matched_inputs_.insert(input);
      matched_outputs_.insert(output);
      if (iteration == 0) take_turn(input, output);
    });
    granted_inputs_.clear();
    if (!any) break;
  }
}

}  // namespace weft::packet
