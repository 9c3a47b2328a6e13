// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The protocol side of a memory, whatever it is made of: base-protocol sockets, checks, bytes, answers in
// their time and order. What an access takes is the model's, which derives from it and knows begin() and
// finish() only: Hbm (`bandwidth`), BankedHbm (`banked`).

#ifndef WEFT_SC_MODELS_MEMORY_TARGET_H
#define WEFT_SC_MODELS_MEMORY_TARGET_H

#include <cstdint>
#include <functional>
#include <memory>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "configs/fifo.h"
#include "configs/types.h"
#include "sc_models/byte_store.h"
#include "sc_models/component.h"
#include "sc_models/memory_causes.h"
#include "tlm_interconnect/ports/timed_queue.h"
#include "vcd/probe_hub.h"

namespace weft {

/// A target of the TLM-2.0 base protocol (IEEE 1666-2011, 15.2), LT and AT, for any initiator. BEGIN_REQ is
/// answered with TLM_UPDATED and END_REQ at once (the queue is unlimited), BEGIN_RESP follows when the data
/// is there, one at a time for each socket. Addresses and lengths need no alignment. DMI is denied.
///
/// Bytes: without keep_bytes() the memory is timing only; data is neither read nor written, nothing is
/// allocated, and debug transport moves nothing. With it, an access reads or writes its bytes in the call
/// that brings it (b_transport, or BEGIN_REQ), so accesses see each other in the order of these calls,
/// whenever the answers come. Byte enables and streaming width hold; debug transport reads and writes as far
/// as the capacity goes, without time.
///
/// Errors take no time: COMMAND_ERROR for TLM_IGNORE_COMMAND; BURST_ERROR for a length or a streaming width
/// of 0; ADDRESS_ERROR beyond the capacity; BYTE_ENABLE_ERROR for enables of length 0; with bytes
/// GENERIC_ERROR for no data pointer.
class MemoryTarget : public sc_core::sc_module, public Component {
 public:
  ~MemoryTarget() override;

  tlm::tlm_target_socket<32>& socket(uint32_t i) { return *clients_[i]->socket; }

  /// From now on the memory stores bytes and gives them back; before the first access.
  void keep_bytes();
  /// Null: timing only.
  const ByteStore* stored() const { return store_.get(); }

  struct Access {
    uint64_t address = 0;
    uint64_t length = 0;  ///< > 0
    bool write = false;
    uint32_t client = 0;  ///< number of the socket
  };
  /// An access that arrives, or is complete, at `at` (>= now). Accesses are numbered as they come.
  using AccessWatch = std::function<void(bool complete, uint64_t number, const Access&, Picoseconds at)>;
  /// Tells of every access from now on; before the first one.
  void watch(AccessWatch watch) {
    watch_ = std::move(watch);
    observed_ = true;
  }
  /// Tells a causal log of its accesses from now on; before the first one.
  void keep_causes(std::unique_ptr<MemoryCauses> causes) {
    causes_ = std::move(causes);
    observed_ = true;
  }
  uint32_t sockets() const { return static_cast<uint32_t>(clients_.size()); }

  uint64_t bytes() const { return bytes_; }
  uint64_t requests() const { return requests_; }
  uint64_t activations() const { return activations_; }
  /// Requests that were accepted and not yet answered.
  uint64_t outstanding() const { return outstanding_; }
  void count(Counters& counters) const final {
    counters.activations += activations_;
    counters.memory_bytes += bytes_;
    counters.memory_outstanding += outstanding_;
  }
  std::string stall_text() const override;
  /// Time in which data moved, of the whole memory.
  virtual Picoseconds busy() const = 0;
  /// From now on it behaves as a new memory whose simulation begins now; its bytes and counters stay. Nothing
  /// is outstanding. Models without a state that outlasts accesses need not do anything.
  virtual void restart() {}

 protected:
  /// One socket an initiator. `capacity` in bytes; 0: unlimited.
  MemoryTarget(sc_core::sc_module_name name, uint64_t capacity, uint32_t sockets, vcd::ProbeHub* probes);

  /// Handle of an access between begin() and finish().
  using Ticket = uint32_t;

  /// An access, already in bytes() and requests(), arrives at `at` (>= now, in any order of `at`). Answer by
  /// finish(), from here or later.
  virtual void begin(Ticket ticket, const Access& access, Picoseconds at) = 0;
  /// The access is complete at `at` (>= now). Throws UserError(internal) for one that is not under way.
  void finish(Ticket ticket, Picoseconds at);
  /// finish() of it comes soon.
  void prefetch(Ticket ticket) const { __builtin_prefetch(&open_[ticket]); }
  /// Called at the time asked for by wake_at().
  virtual void work(Picoseconds /*now*/) {}
  void wake_at(Picoseconds time);

  vcd::Probe bytes_probe_;
  std::unique_ptr<MemoryCauses> causes_;  ///< null: nobody asks

 private:
  /// The target side of one socket.
  class Client : public tlm::tlm_fw_transport_if<> {
   public:
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override;
    unsigned transport_dbg(tlm::tlm_generic_payload& payload) override;

    MemoryTarget* memory = nullptr;
    uint32_t number = 0;
    std::unique_ptr<tlm::tlm_target_socket<32>> socket;
    Fifo<tlm::tlm_generic_payload*> waiting;  ///< answers held back by the response exclusion rule
    tlm::tlm_generic_payload* responding = nullptr;
  };

  struct Open {
    Client* client = nullptr;                     ///< null: by b_transport
    tlm::tlm_generic_payload* payload = nullptr;  ///< null: it is answered
    bool finished = false;
    Picoseconds at = 0;
    uint64_t number = 0;                ///< kept for who watches
    uint32_t socket = 0;                ///< likewise
    sc_core::sc_event* done = nullptr;  ///< of b_transport, while it waits
  };

  /// The status of an access that is what it should be, or of its error.
  tlm::tlm_response_status status_of(const tlm::tlm_generic_payload& payload) const;
  /// Sets the response and moves the bytes; false: an error, which is the answer.
  bool take(tlm::tlm_generic_payload& payload);
  Ticket open(Client* client, tlm::tlm_generic_payload& payload);
  void start(Ticket ticket, const Client& client, Picoseconds at);
  // Somebody looks:
  void tell_start(Ticket ticket, const Access& access, Picoseconds at);
  void tell_finish(Ticket ticket, Picoseconds at);
  void respond(Client& client);
  void respond_with(Client& client, tlm::tlm_generic_payload& payload);
  void process();

  const uint64_t capacity_;
  std::unique_ptr<ByteStore> store_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<Open> open_;
  std::vector<Ticket> free_;
  struct Answer {
    Client* client = nullptr;
    tlm::tlm_generic_payload* payload = nullptr;
  };
  fabric::TimedQueue<Answer, uint64_t> answers_;
  uint64_t sequence_ = 0;
  sc_core::sc_event wake_;
  Picoseconds wake_time_ = kNever;
  bool processing_ = false;  ///< the event is notified at the end, once
  uint64_t bytes_ = 0;
  uint64_t requests_ = 0;
  uint64_t outstanding_ = 0;
  uint64_t activations_ = 0;
  vcd::Probe queue_probe_;
  AccessWatch watch_;      ///< empty: nobody looks
  bool observed_ = false;  ///< watch_ or causes_ is there
};

}  // namespace weft

#endif
