// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// An NPU's end of the memory pool: sends what it stores, chunk by chunk, and takes what it loads.

#ifndef WEFT_SC_MODELS_POOL_POOL_PORT_H
#define WEFT_SC_MODELS_POOL_POOL_PORT_H

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "sc_models/component.h"
#include "sc_models/pool/pool_access_state.h"
#include "tlm_interconnect/ports/link.h"
#include "tlm_interconnect/ports/timed_queue.h"
#include "tlm_interconnect/protocol/fabric_protocol.h"

namespace weft {

class PoolPort final : public sc_core::sc_module, public Component, private Wakeable {
 public:
  /// One of its links to switches.
  class End final : public fabric::FabricEndpoint {
   public:
    void receive(const fabric::Transfer& transfer) override { owner->take(number, transfer); }

    PoolPort* owner = nullptr;
    uint32_t number = 0;
    fabric::Link link;
    fabric::Link* shared = nullptr;  ///< of another module, in place of `link`
    fabric::Link& sends() { return shared != nullptr ? *shared : link; }
    const fabric::Link& sends() const { return shared != nullptr ? *shared : link; }
    Picoseconds free_at = 0;  ///< its last message has left
    uint32_t credits = 0;
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
    // `split: fluid` without folding: what is left for each group.
    std::vector<uint64_t> group_left;
    std::vector<uint64_t> group_offset;
  };
  struct Piece {
    uint32_t group = 0;
    uint32_t way = 0;
    uint64_t offset = 0;
    uint64_t bytes = 0;
    uint32_t chunk = 0;
    uint32_t end = 0;  ///< by which it leaves
    bool sum = false;  ///< a contribution to a sum
  };

  void take(uint32_t end, const fabric::Transfer& transfer);
  void activate(Picoseconds now) override;
  /// The next piece of the first store, if there is one: it waits for its link, and perhaps for a credit.
  void choose();
  bool has_credit() const;
  void send(Picoseconds now);
  Piece next_piece(Store& store, PoolTransfer& transfer);
  Piece next_of_round(Store& store, PoolTransfer& transfer);
  Piece next_of_groups(Store& store);

  uint32_t npu_;
  PoolContext& context_;
  std::vector<End> ends_;
  std::unique_ptr<pool::StripingPolicy> striping_;
  std::deque<Store> stores_;
  std::optional<Piece> piece_;
  fabric::TimedQueue<uint32_t, uint64_t> credits_coming_;
  uint32_t arrivals_ = 0;
  uint64_t activations_ = 0;
};

}  // namespace weft

#endif
