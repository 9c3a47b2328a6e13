// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The VCs of one link, named by their place in a round: the one that a state names comes first. Everybody on
// a path hands out the VCs of a virtual network in turn. So two states that differ only in which VC's turn it
// is go on alike, each with its own VCs.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_VC_NAMES_H
#define WEFT_TLM_INTERCONNECT_PACKET_VC_NAMES_H

#include <cstdint>
#include <numeric>

#include "tlm_interconnect/packet/packet_config.h"

namespace weft::packet {

class VcNames {
 public:
  /// Of a virtual network's VCs from `base` on. `first`: whose place is the first one, counted from `base`.
  VcNames(uint32_t base, uint32_t vcs, uint32_t first) : base_(base), vcs_(vcs), first_(first) {}

  /// Everybody has his own name.
  static VcNames own() { return {0, 1, 0}; }
  /// Of the same virtual network at another link.
  VcNames beginning_with(uint32_t vc) const { return {base_, vcs_, vc - base_}; }
  VcNames unturned() const { return {base_, vcs_, 0}; }

  /// If these names come after some others, and then again: after how many times all VCs are back in their
  /// places.
  uint32_t rounds_after(const VcNames& before) const {
    return vcs_ / std::gcd(vcs_, first_ + vcs_ - before.first_);
  }

  VcMask all() const { return low_vcs(vcs_) << base_; }
  uint32_t first() const { return first_; }
  uint32_t first_vc() const { return base_ + first_; }
  uint32_t before(uint32_t vc) const { return base_ + (vc == base_ ? vcs_ : vc - base_) - 1; }
  uint32_t after(uint32_t vc) const { return vc - base_ + 1 == vcs_ ? base_ : vc + 1; }
  bool has(uint32_t vc) const { return vc - base_ < vcs_; }
  /// The place of a VC. Those of other virtual networks have their own names.
  uint32_t place(uint32_t vc) const {
    if (!has(vc)) return vc;
    const uint32_t n = vc - base_;
    return base_ + (n >= first_ ? n - first_ : n + vcs_ - first_);
  }
  /// The VC in a place.
  uint32_t vc(uint32_t place) const {
    if (!has(place)) return place;
    const uint32_t n = place - base_ + first_;
    return base_ + (n >= vcs_ ? n - vcs_ : n);
  }
  VcMask places(VcMask mask) const {
    const VcMask all = low_vcs(vcs_);
    const VcMask own = (mask >> base_) & all;
    const VcMask turned = first_ == 0 ? own : ((own >> first_) | (own << (vcs_ - first_))) & all;
    return (mask & ~(all << base_)) | (turned << base_);
  }
  /// The VCs in some places.
  VcMask vcs(VcMask places) const {
    return VcNames(base_, vcs_, first_ == 0 ? 0 : vcs_ - first_).places(places);
  }
  /// A number that stands for a VC: equal in two states if they go on alike. A VC of another virtual network
  /// has no place: then they do only if the names are the same in both.
  uint64_t word(uint32_t vc) const {
    return has(vc) ? place(vc) : (uint64_t{1} << 31) | (uint64_t{first_} << 24) | vc;
  }
  /// The same for a VC of another port, whichever it is.
  uint64_t elsewhere() const { return (uint64_t{1} << 31) | (uint64_t{first_} << 24) | (uint64_t{1} << 23); }

 private:
  uint32_t base_;
  uint32_t vcs_;
  uint32_t first_;
};

}  // namespace weft::packet

#endif
