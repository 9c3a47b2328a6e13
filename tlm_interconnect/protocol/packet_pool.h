// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Pooled packets of the fabric. A packet is what travels; it is created by an NMU (or a switch that combines
// or multicasts) and returned by whoever consumes its last reference. At `message` and `analytical` fidelity
// a packet is one whole message.

#ifndef WEFT_TLM_INTERCONNECT_PROTOCOL_PACKET_POOL_H
#define WEFT_TLM_INTERCONNECT_PROTOCOL_PACKET_POOL_H

#include <cstdint>
#include <vector>

#include "configs/large_pages.h"
#include "configs/types.h"

namespace weft::insight {
class CausalLog;
}

namespace weft::fabric {

/// A packet's handle in its pool; 0 is no packet.
using PacketRef = uint32_t;
constexpr PacketRef kNoPacket = 0;

/// One cache line. Holds no per-hop state: `queued` and `latency` only add up what the hops report.
struct alignas(64) Packet {
  uint64_t bytes = 0;   ///< payload carried
  uint64_t id_low = 0;  ///< opaque to the fabric: the message's id, given back on delivery
  uint64_t id_high = 0;
  uint64_t submitted = 0;  ///< when the message was ready to be sent: ps; of a packet network's packet: ticks
  union {
    Picoseconds queued = 0;  ///< waiting for links, summed over the hops
    uint64_t marked;         ///< of a packet network's packet: not 0, a router has marked it (ECN)
  };
  union {
    Picoseconds latency = 0;  ///< link latency, summed over the hops
    uint64_t interface;       ///< of a packet network's packet: the number of the one that sent it
  };
  uint32_t source = 0;       ///< rank
  uint32_t destination = 0;  ///< physical NPU: the rank, unless ranks are mapped
  uint32_t data = 0;         ///< handle of the carried elements, 0: none
  uint16_t references = 0;
  uint8_t flags = 0;  ///< opaque to the fabric (NMU: reduction at the receiver)
  union {
    uint8_t virtual_network = 0;  ///< of a packet network's packet: which range of VCs it may use
    uint8_t plane;                ///< of an NMU's message: which fidelities it travels at (FidelityRules)
  };
};
static_assert(sizeof(Packet) <= 128, "a packet is at most two cache lines");

/// Slab pool: handles are stable, get() is one shift and one add, release() restores every field.
class PacketPool {
 public:
  PacketPool();
  PacketPool(const PacketPool&) = delete;
  PacketPool& operator=(const PacketPool&) = delete;

  /// A fresh packet with one reference.
  PacketRef acquire() {
    if (free_.empty()) grow();
    const PacketRef ref = free_.back();
    free_.pop_back();
    ++live_;
    (*this)[ref].references = 1;
    return ref;
  }
  /// Brings the packet that will be acquired next into the caches.
  void prefetch() {
    if (!free_.empty()) __builtin_prefetch(&(*this)[free_.back()], 1);
  }
  void add_reference(PacketRef ref) { ++(*this)[ref].references; }
  /// Drops one reference; the last one returns the packet to the pool.
  void release(PacketRef ref) {
    Packet& p = (*this)[ref];
    if (--p.references == 0) {
      p = Packet{};
      --live_;
      free_.push_back(ref);
    }
  }

  Packet& operator[](PacketRef ref) { return slabs_[ref >> kSlabBits][ref & (kSlabSize - 1)]; }
  const Packet& operator[](PacketRef ref) const { return slabs_[ref >> kSlabBits][ref & (kSlabSize - 1)]; }

  /// Where messages tell what caused them; null: nowhere. Before modules are built.
  void keep_causes(insight::CausalLog* log) { causes_ = log; }
  insight::CausalLog* causes() const { return causes_; }

  /// Packets in use; 0 at the end of every run that finished (an invariant).
  uint64_t live() const { return live_; }

 private:
  static constexpr uint32_t kSlabBits = 12;
  static constexpr uint32_t kSlabSize = 1u << kSlabBits;
  void grow();

  using Slab = std::vector<Packet, LargePageAllocator<Packet>>;
  std::vector<Slab> slabs_;
  std::vector<PacketRef> free_;
  uint64_t live_ = 0;
  insight::CausalLog* causes_ = nullptr;
};

}  // namespace weft::fabric

#endif
