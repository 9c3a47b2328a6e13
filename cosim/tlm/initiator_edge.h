// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The initiator side of the base protocol, for what stands before it: adapters, bridges, pins.

#ifndef WEFT_COSIM_TLM_INITIATOR_EDGE_H
#define WEFT_COSIM_TLM_INITIATOR_EDGE_H

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "configs/types.h"
#include "cosim/tlm/access_pieces.h"
#include "cosim/tlm/payload_pool.h"

namespace weft::cosim {

/// Issues accesses in the order of start(). AT: accepts every answer that a target may give. LT: so many
/// threads call b_transport, each one access after the other. Payloads are its own, with a memory manager;
/// the extensions of `origin` travel with them.
class InitiatorEdge final : public sc_core::sc_module, private tlm::tlm_bw_transport_if<> {
 public:
  using Payload = tlm::tlm_generic_payload;
  /// Complete at `at` (>= now). Read data is in its place.
  using Done = std::function<void(tlm::tlm_response_status status, Picoseconds at)>;
  struct Access {
    bool write = false;
    uint64_t address = 0;
    unsigned char* data = nullptr;
    uint32_t length = 0;
    uint32_t width = 0;                ///< streaming width
    unsigned char* enables = nullptr;  ///< null: all bytes
    uint32_t enable_length = 0;
    Payload* origin = nullptr;  ///< whose extensions it has; null: none
    Done done;
  };

  /// `outstanding`: accesses under way at most, of LT: threads.
  InitiatorEdge(sc_core::sc_module_name name, bool blocking, uint32_t outstanding);
  ~InitiatorEdge() override;

  tlm::tlm_initiator_socket<32> socket;

  /// All of an access but its end.
  static Access access_of(Payload& payload);
  /// The same of a piece. `enables`: null, or one for each byte of the piece.
  static Access part_of(Payload& payload, const AccessPiece& piece, unsigned char* enables);
  /// `at` >= now. What it points at stays until `done`.
  void start(Access access, Picoseconds at);

  bool idle() const { return queue_.empty() && in_flight_ == 0; }
  const PayloadPool& pool() const { return pool_; }

 private:
  class Worker;
  struct Waiting {
    Access access;
    Picoseconds at = 0;
  };

  tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  void issue();
  void send(Waiting next);
  PayloadPool::Payload& fill(Access access);
  void answered(PayloadPool::Payload& payload, Picoseconds at);

  const bool blocking_;
  const uint32_t outstanding_;
  PayloadPool pool_;
  std::deque<Waiting> queue_;
  std::deque<Access> sent_;  ///< that have a payload, by its tag
  std::vector<uint64_t> free_;
  std::vector<std::unique_ptr<Worker>> workers_;
  uint32_t in_flight_ = 0;
  Payload* requesting_ = nullptr;
  bool issuing_ = false;
  sc_core::sc_event work_;  ///< of the workers
};

}  // namespace weft::cosim

#endif
