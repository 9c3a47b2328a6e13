// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/policies/allocation/islip_vc.h"

namespace weft::packet {
namespace {

// False also where that would take long to find out.
bool of_different_ports(const std::vector<VcRequest>& requests) {
  constexpr size_t kFew = 4;
  if (requests.size() > kFew) return false;
  for (size_t i = 1; i < requests.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (requests[i].port == requests[j].port) return false;
    }
  }
  return true;
}

}  // namespace

IslipVcAllocator::IslipVcAllocator(uint32_t ports, uint32_t vcs)
    : vcs_(vcs), size_(ports * vcs), grant_pointer_(size_, 0), accept_pointer_(size_, 0) {}

void IslipVcAllocator::take(VcRequest& request, VcMask granted_mask) {
  // The accept pointer runs over all output VCs of the router; within one port that is a rotation of its VCs.
  const uint32_t base = request.port * vcs_;
  const uint32_t pointer = accept_pointer_[request.input];
  VcMask from = granted_mask;
  if (pointer > base && pointer < base + vcs_) {
    const VcMask upper = granted_mask & (~VcMask{0} << (pointer - base));
    if (upper != 0) from = upper;
  }
  const uint32_t vc = lowest_vc(from);
  const uint32_t output = base + vc;
  request.granted = vc;
  accept_pointer_[request.input] = after(output);
  grant_pointer_[output] = after(request.input);
}

void IslipVcAllocator::allocate(std::vector<VcRequest>& requests) {
  const uint32_t n = static_cast<uint32_t>(requests.size());
  if (of_different_ports(requests)) {  // nothing to arbitrate: each is granted all that it asks for
    for (VcRequest& r : requests) take(r, r.mask);
    return;
  }
  granted_.assign(n, 0);
  for (uint32_t i = 0; i < n; ++i) {
    // Decide each port once, at its first request.
    const uint32_t port = requests[i].port;
    VcMask wanted = 0;
    bool first = true;
    for (uint32_t j = 0; j < i && first; ++j) first = requests[j].port != port;
    if (!first) continue;
    for (uint32_t j = i; j < n; ++j) {
      if (requests[j].port == port) wanted |= requests[j].mask;
    }
    for (; wanted != 0; wanted &= wanted - 1) {
      const uint32_t vc = lowest_vc(wanted);
      const uint32_t pointer = grant_pointer_[port * vcs_ + vc];
      uint32_t winner = kNoVc;
      uint32_t best = ~0u;
      for (uint32_t j = i; j < n; ++j) {
        const VcRequest& r = requests[j];
        if (r.port != port || ((r.mask >> vc) & 1) == 0) continue;
        const uint32_t distance = r.input >= pointer ? r.input - pointer : r.input + size_ - pointer;
        if (distance < best) {
          best = distance;
          winner = j;
        }
      }
      granted_[winner] |= vc_bit(vc);
    }
  }
  for (uint32_t i = 0; i < n; ++i) {
    requests[i].granted = kNoVc;
    if (granted_[i] != 0) take(requests[i], granted_[i]);
  }
}

}  // namespace weft::packet
