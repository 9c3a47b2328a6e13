// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// An NPU's end of the memory pool: sends what it stores, chunk by chunk, and takes what it loads.

#ifndef WEFT_SC_MODELS_POOL_POOL_PORT_H
#define WEFT_SC_MODELS_POOL_POOL_PORT_H

#include <deque>
#include <memory>
#include <vector>

#include "sc_models/component.h"
#include "sc_models/pool/pool_access_state.h"
#include "tlm_interconnect/ports/link.h"
#include "tlm_interconnect/ports/timed_queue.h"
#include "tlm_interconnect/protocol/fabric_protocol.h"

namespace weft {

class PoolPort final : public sc_core::sc_module,
                       public Component,
                       private fabric::FabricEndpoint,
                       private Wakeable {
 public:
  /// `shared`: it sends on this link, which somebody else counts; null: on its own.
  PoolPort(sc_core::sc_module_name name, uint32_t npu, PoolContext& context, fabric::LinkType& type,
           fabric::Link* shared);

  fabric::fabric_initiator_socket socket;

  /// A store begins now.
  void store(PoolTransfer& transfer);

  const fabric::Link& link() const { return own_; }
  bool shares() const { return shared_ != nullptr; }
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
  };

  void receive(const fabric::Transfer& transfer) override;
  void activate(Picoseconds now) override;
  bool may_send() const;
  void send(Picoseconds now);
  Piece next_piece(Store& store, PoolTransfer& transfer);
  Piece next_of_round(Store& store, PoolTransfer& transfer);
  Piece next_of_groups(Store& store);

  uint32_t npu_;
  PoolContext& context_;
  fabric::Link own_;
  fabric::Link* shared_;
  std::unique_ptr<pool::StripingPolicy> striping_;
  std::deque<Store> stores_;
  Picoseconds free_at_ = 0;  ///< its last message has left
  uint32_t credits_;
  fabric::TimedQueue<uint32_t, uint64_t> credits_coming_;
  uint32_t arrivals_ = 0;
  uint64_t activations_ = 0;
};

}  // namespace weft

#endif
