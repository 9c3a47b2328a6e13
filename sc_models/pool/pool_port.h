// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// An NPU's end of the memory pool: sends what it stores, chunk by chunk, and takes what it loads.

#ifndef WEFT_SC_MODELS_POOL_POOL_PORT_H
#define WEFT_SC_MODELS_POOL_POOL_PORT_H

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "sc_models/component.h"
#include "sc_models/pool/pool_access_state.h"
#include "sc_models/pool/pool_packets.h"
#include "tlm_interconnect/ports/link.h"
#include "tlm_interconnect/ports/timed_queue.h"
#include "tlm_interconnect/protocol/fabric_protocol.h"

namespace weft {

class PoolPort final : public sc_core::sc_module, public Component, private PoolNode, private Wakeable {
 public:
  /// One of its links to switches.
  class End final : public fabric::FabricEndpoint {
   public:
    void receive(const fabric::Transfer& transfer) override {
      const Picoseconds tail = transfer.first + transfer.flit_time;
      if (transfer.kind == fabric::Transfer::Kind::credit)
        owner->credited(number, transfer.data, tail);
      else
        owner->came(number, transfer.packet, tail);
    }

    PoolPort* owner = nullptr;
    uint32_t number = 0;
    fabric::Link link;
    fabric::Link* shared = nullptr;  ///< of another module, in place of `link`
    fabric::Link& sends() { return shared != nullptr ? *shared : link; }
    const fabric::Link& sends() const { return shared != nullptr ? *shared : link; }
    Picoseconds free_at = 0;            ///< its last message has left
    uint64_t backlog = 0;               ///< at packet fidelity: bytes that have not left
    std::map<uint32_t, uint32_t> used;  ///< credits by members: contributions that may not be replaced yet
    std::unique_ptr<fabric::fabric_initiator_socket> socket;
  };

  /// `types`: of the links, by port of the layout's node; `shared`: those of other modules, or null.
  PoolPort(sc_core::sc_module_name name, uint32_t npu, PoolContext& context,
           const std::vector<fabric::LinkType*>& types, const std::vector<fabric::Link*>& shared);

  std::vector<End>& ends() { return ends_; }
  const std::vector<End>& ends() const { return ends_; }

  /// A store begins now.
  void store(PoolTransfer& transfer);

  void count(Counters& counters) const override;
  std::string stall_text() const override;

 private:
  /// A store that is not sent yet.
  struct Store {
    uint32_t transfer = 0;
    uint64_t offset = 0;
    uint64_t left = 0;
    uint32_t chunk = 0;  ///< the next one
    // `split: fluid` without folding: what is left of each.
    std::vector<pool::PoolLayout::Share> shares;
  };
  struct Piece {
    uint32_t group = 0;
    uint32_t way = 0;
    uint64_t offset = 0;
    uint64_t bytes = 0;
    uint32_t chunk = 0;
    uint32_t end = 0;  ///< by which it leaves
    bool sum = false;  ///< a contribution to a sum
    size_t store = 0;  ///< in stores_
  };

  // PoolNode
  void came(uint32_t port, fabric::PacketRef message, Picoseconds at) override;
  void left(uint32_t port, const fabric::Packet& message, Picoseconds at) override;
  void credited(uint32_t port, uint32_t set, Picoseconds at) override;
  void granted(fabric::PacketRef message) override;

  void activate(Picoseconds now) override;
  /// The next piece, if there is one, of the first store that needs no credit or has one.
  void choose();
  /// The end by which the store's next contribution to a sum leaves.
  uint32_t end_of(const Store& store, const PoolTransfer& transfer) const;
  bool has_credit(const Store& store) const;
  /// The link takes the next piece now.
  bool free(const Piece& piece, Picoseconds now) const;
  void send(Picoseconds now);
  Piece next_piece(Store& store, PoolTransfer& transfer);
  Piece next_of_round(Store& store, PoolTransfer& transfer);
  Piece next_of_shares(Store& store);

  uint32_t npu_;
  PoolContext& context_;
  std::vector<End> ends_;
  std::unique_ptr<pool::StripingPolicy> striping_;
  std::deque<Store> stores_;
  std::optional<Piece> piece_;
  struct Credit {
    uint32_t end = 0;
    uint32_t set = 0;
  };
  fabric::TimedQueue<Credit, uint64_t> credits_coming_;
  uint64_t most_backlog_ = 0;  ///< at packet fidelity: bytes above which no piece is begun
  struct Departure {
    uint64_t bytes;  ///< of a contribution to a sum; 0: a chunk for a group
    uint32_t end;
  };
  fabric::TimedQueue<Departure, uint64_t> departures_;  ///< at packet fidelity: what leaves
  uint32_t asked_ = 0;                                  ///< .. chunks for groups that have not left
  std::deque<fabric::PacketRef> granted_;               ///< .. that may go
  uint32_t arrivals_ = 0;
  uint64_t activations_ = 0;
};

}  // namespace weft

#endif
