// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/fabric/direct_fabric.h"

#include <string>
#include <utility>

namespace weft::fabric {

DirectFabric::DirectFabric(sc_core::sc_module_name name, uint32_t members, std::vector<uint32_t> slots)
    : sc_core::sc_module(name), slots_(std::move(slots)), hints_(members), members_(members) {
  for (uint32_t b = 0; b * kBank < members; ++b) {
    banks_.push_back(std::make_unique<fabric_multi_target_socket>(("bank" + std::to_string(b)).c_str()));
    banks_.back()->bind(static_cast<fabric_fw_if&>(*this));
  }
}

DirectFabric::~DirectFabric() = default;

void DirectFabric::bind_member(fabric_initiator_base& member) {
  join(member, *banks_[bound_++ / kBank]);
}

void DirectFabric::end_of_elaboration() {
  for (uint32_t s = 0; s < bound_; ++s) {
    hints_[s].interface = (*banks_[s / kBank])[static_cast<int>(s % kBank)];
  }
}

void DirectFabric::receive(const Transfer& transfer) {
  Transfer copy = transfer;
  deliver(copy);
}

}  // namespace weft::fabric
