// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// An access that is under way in the pool, how its messages name it, and what the pool's modules share.

#ifndef WEFT_SC_MODELS_POOL_POOL_ACCESS_STATE_H
#define WEFT_SC_MODELS_POOL_POOL_ACCESS_STATE_H

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "configs/config.h"
#include "insight/causal_log.h"
#include "sc_models/activation_wheel.h"
#include "sc_models/pool/pool_access.h"
#include "tlm_interconnect/protocol/packet_pool.h"
#include "vcd/probe_hub.h"
#include "workload/pool/pool_layout.h"
#include "workload/pool/striping.h"

namespace weft {

class ModuleChoices;
class PoolCauses;
class PoolData;
class PoolPackets;

/// Packet::flags of the pool's messages.
enum class PoolMessage : uint8_t {
  single,   ///< from one group to one NPU, or back
  gather,   ///< from a group to all NPUs
  scatter,  ///< from all NPUs to a group: a contribution to a sum
};

/// One access of one NPU, or of all members (in-switch).
struct PoolTransfer {
  uint32_t id = 0;
  PoolOperation operation = PoolOperation::load;
  uint32_t npu = 0;     ///< whose; in-switch: 0
  uint64_t bytes = 0;   ///< of the tensor; in-switch: of a shard
  uint64_t tensor = 0;  ///< bytes that go to or come from the groups: in-switch: all shards
  /// Of an access from outside: all of it is in one group, and goes one way.
  bool external = false;
  uint32_t group = 0;
  uint32_t way = 0;
  /// Chunks of an in-switch access, in the order in which all NPUs send them.
  struct Chunk {
    uint32_t group = 0;
    uint32_t way = 0;
    uint64_t offset = 0;
    uint64_t bytes = 0;
  };
  std::vector<Chunk> chunks;
  struct Member {
    uint32_t token = 0;
    PoolClient* client = nullptr;  ///< null: has not begun
    uint64_t left = 0;             ///< bytes that have not come
    Picoseconds last = 0;
    insight::AccessPart part;                       ///< its beginning
    insight::ActivityId by = insight::kNoActivity;  ///< the stage that ended at `last`
  };
  uint32_t set = 0;                             ///< in-switch: PoolLayout::members()
  const std::vector<uint32_t>* npus = nullptr;  ///< .. they; null: one NPU
  std::vector<Member> members;                  ///< one, or by NPU
  uint32_t begun = 0;
  uint64_t left = 0;  ///< stores: bytes that the groups do not have yet
  Picoseconds last = 0;
  insight::AccessPart part;                       ///< its beginning; of a load: with the request
  insight::ActivityId by = insight::kNoActivity;  ///< stores: the stage that ended at `last`
  // Plain stores of `split: fluid`:
  uint64_t to_send = 0;
  uint64_t to_assemble = 0;  ///< bytes that have not come to the switch that makes chunks of them
  uint64_t piece = 0;        ///< of the present round

  /// Of an NPU in `members`.
  size_t place_of(uint32_t u) const {
    if (npus == nullptr || set == 0) return npus == nullptr ? 0 : u;
    return static_cast<size_t>(std::lower_bound(npus->begin(), npus->end(), u) - npus->begin());
  }
  Member& member(uint32_t u) { return members[place_of(u)]; }
};

/// What switches and groups tell the pool.
class PoolEvents {
 public:
  virtual ~PoolEvents() = default;
  virtual PoolTransfer& transfer(uint32_t id) = 0;
  /// `bytes` are in a group at `at`.
  virtual void stored(PoolTransfer& transfer, uint64_t bytes, Picoseconds at) = 0;
  /// NPU u has `bytes` at `at`.
  virtual void loaded(PoolTransfer& transfer, uint32_t u, uint64_t bytes, Picoseconds at) = 0;
  /// In-switch stores of the same members in the order of their numbers; null: it has not begun.
  virtual const PoolTransfer* scatter(uint32_t set, uint32_t ordinal) const = 0;
};

/// Plain stores under way with `split: fluid`.
struct StoreRound {
  uint32_t active = 0;   ///< stores that are not assembled yet
  uint64_t bytes = 0;    ///< of a round: the sum of their pieces
  uint64_t pending = 0;  ///< bytes that have not come to the switch
};

struct PoolContext {
  const Config& config;
  const MemoryPoolConfig& pool;
  const pool::PoolLayout& layout;
  fabric::PacketPool& packets;
  ActivationWheel& wheel;
  PoolEvents& events;
  StoreRound& round;
  PoolData* data = nullptr;          ///< null: sizes only
  PoolPackets* net = nullptr;        ///< at packet fidelity, in place of links and sockets
  ModuleChoices* choices = nullptr;  ///< models of single modules; null: there are none
  vcd::ProbeHub* probes = nullptr;   ///< null: nobody looks
  PoolCauses* causes = nullptr;      ///< null: nobody asks
};

/// What a message of the pool says.
struct PoolHeader {
  uint32_t transfer = 0;
  uint32_t chunk = 0;
  uint32_t way = 0;
  uint64_t offset = 0;  ///< in the tensor; below 2^48
  PoolMessage kind = PoolMessage::single;

  static PoolHeader of(const fabric::Packet& packet) {
    PoolHeader h;
    h.transfer = static_cast<uint32_t>(packet.id_low >> 32);
    h.chunk = static_cast<uint32_t>(packet.id_low);
    h.way = static_cast<uint32_t>(packet.id_high >> 48);
    h.offset = packet.id_high & ((uint64_t{1} << 48) - 1);
    h.kind = static_cast<PoolMessage>(packet.flags);
    return h;
  }
  void put(fabric::Packet& packet) const {
    packet.id_low = static_cast<uint64_t>(transfer) << 32 | chunk;
    packet.id_high = static_cast<uint64_t>(way) << 48 | offset;
    packet.flags = static_cast<uint8_t>(kind);
  }
};

/// A new message. `source` and `destination`: nodes of the layout.
inline fabric::PacketRef make_pool_message(PoolContext& context, const PoolHeader& header, uint32_t source,
                                           uint32_t destination, uint64_t bytes) {
  const fabric::PacketRef ref = context.packets.acquire();
  fabric::Packet& packet = context.packets[ref];
  header.put(packet);
  packet.source = source;
  packet.destination = destination;
  packet.bytes = bytes;
  return ref;
}

constexpr uint32_t kAllNpus = ~0u;  ///< destination of a gather: all members

}  // namespace weft

#endif
