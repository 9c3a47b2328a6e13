// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A switch of the memory pool: forwards a chunk when its tail is there, copies the chunks of a gather_load to
// the ports towards all NPUs, and combines the contributions of a scatter_store. Partial sums have a buffer
// that is counted in chunks. Where it is full, contributions wait at the inputs, and senders run out of
// credits.

#ifndef WEFT_SC_MODELS_POOL_POOL_SWITCH_H
#define WEFT_SC_MODELS_POOL_POOL_SWITCH_H

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "sc_models/pool/pool_access_state.h"
#include "sc_models/pool/pool_packets.h"
#include "sc_models/switch_model.h"
#include "tlm_interconnect/ports/timed_queue.h"

namespace weft {

class PoolSwitch final : public SwitchModel, private PoolNode {
 public:
  /// `node`: of the layout. `switch_context`: its ports are the node's. At packet fidelity it has none: only
  /// what the switch takes part in comes here, by the interfaces of its router.
  PoolSwitch(sc_core::sc_module_name name, uint32_t node, PoolContext& context, SwitchContext switch_context);

  size_t in_flight() const override;
  std::string explain_stall() const override;
  /// The most partial sums that were there at once.
  size_t most_sums() const { return most_sums_; }

 private:
  struct Held {
    Picoseconds tail = 0;
    fabric::PacketRef packet = fabric::kNoPacket;  ///< none: a credit
    uint32_t port = 0;
    uint32_t set = 0;  ///< of a credit
  };
  /// Partial sums of the same members. Other members' have a buffer of their own: nobody waits for others.
  struct Sums {
    std::vector<std::deque<fabric::PacketRef>> inputs;  ///< by port: contributions that wait
    /// By port: sums that go there. With a bounded buffer in the order of the chunks, whichever is complete
    /// first: the input at the other end must not hold a chunk in front of an earlier one.
    std::vector<std::deque<uint64_t>> ready;
    std::vector<uint32_t> credits;  ///< by port: what may be sent there
    uint64_t places = 0;            ///< of the buffer that are taken
    uint32_t next_scatter = 0;      ///< the chunk with the next place: its access ..
    uint32_t next_chunk = 0;        ///< .. and number
  };
  struct Sum {
    std::vector<fabric::PacketRef> parts;  ///< by child; kNoPacket: has not come
    size_t here = 0;
    bool ready = false;  ///< complete, and perhaps waiting for a credit
  };

  void arrive(const Arrival& arrival) override;
  void control(uint32_t port, const fabric::Transfer& transfer) override;
  void work(Picoseconds now) override;
  // PoolNode
  void came(uint32_t port, fabric::PacketRef message, Picoseconds at) override;
  void left(uint32_t port, const fabric::Packet& message, Picoseconds at) override;
  void credited(uint32_t port, uint32_t set, Picoseconds at) override;
  void hold(const Held& held, Picoseconds at);
  /// On behalf of the message's part, if somebody asks.
  fabric::Link::Slot pass_on(fabric::PacketRef ref, uint32_t port, Picoseconds now, Picoseconds tail);
  void send_on(fabric::PacketRef ref, uint32_t port, Picoseconds now, Picoseconds tail);
  void give_credit(uint32_t port, uint32_t set, Picoseconds now);

  uint32_t set_of(const fabric::Packet& packet) const {
    return context_.events.transfer(PoolHeader::of(packet).transfer).set;
  }
  const pool::PoolLayout::Tree& tree(const fabric::Packet& packet, uint32_t group_node) const {
    return context_.layout.tree(group_node - context_.layout.group_node(0), PoolHeader::of(packet).way,
                                set_of(packet));
  }
  Sums& sums_of(uint32_t set);
  void route(fabric::PacketRef ref, uint32_t port, Picoseconds now, Picoseconds tail);
  void copy_to_all(fabric::PacketRef ref, Picoseconds now, Picoseconds tail);
  // Chunks of plain stores, with `split: fluid`:
  void assemble(fabric::PacketRef ref);
  void send_chunk(Picoseconds now);
  // Partial sums:
  bool bounded() const { return context_.pool.buffer != 0; }
  /// Takes what the inputs hold, as far as there is room.
  void take_contributions(uint32_t set, Sums& sums, Picoseconds now);
  bool take(uint32_t set, Sums& sums, uint32_t port, Picoseconds now);
  bool take_one(uint32_t set, Sums& sums, uint32_t port, size_t place, Picoseconds now);
  /// The chunk has the next place in the buffer.
  bool is_next(uint32_t set, Sums& sums, const PoolHeader& header);
  void send_sums(Sums& sums, Picoseconds now);
  uint32_t parent_port(const fabric::Packet& packet) const;

  uint32_t node_;
  PoolContext& context_;
  fabric::TimedQueue<Held, uint64_t> queue_;
  uint32_t arrivals_ = 0;
  uint32_t group_port_ = ~0u;  ///< where it makes chunks; ~0: nowhere
  std::deque<fabric::PacketRef> pieces_;
  uint64_t pieces_bytes_ = 0;
  std::map<uint32_t, Sums> members_;                ///< by PoolLayout::members()
  std::map<uint64_t, Sum> sums_;                    ///< by Packet::id_low
  fabric::TimedQueue<uint32_t, uint64_t> leaving_;  ///< sums whose last byte is still here: their members
  size_t most_sums_ = 0;
};

}  // namespace weft

#endif
