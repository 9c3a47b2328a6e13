// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A memory behind base-protocol sockets, model `bandwidth`: a FIFO server of bytes / (efficiency x bandwidth)
// with a latency behind it. Serves as an NPU's HBM and, with other figures, as the remote memory it reaches.

#ifndef WEFT_SC_MODELS_HBM_H
#define WEFT_SC_MODELS_HBM_H

#include <deque>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "configs/config.h"
#include "tlm_interconnect/ports/timed_queue.h"
#include "vcd/waves.h"

namespace weft {

struct MemoryTiming {
  Rate bandwidth;
  Picoseconds latency = 0;
  uint64_t capacity = 0;    ///< bytes; 0: unlimited
  double efficiency = 1.0;  ///< of the bandwidth, (0, 1]
};

MemoryTiming hbm_timing(const HbmConfig& config);

/// A target of the TLM-2.0 base protocol (IEEE 1666-2011, 15.2), LT and AT. Timing only: data bytes are
/// neither read nor written; DMI is denied and debug transport moves nothing. BEGIN_REQ is answered with
/// TLM_UPDATED and END_REQ at once (the queue is unlimited), BEGIN_RESP follows when the data is there, one
/// at a time for each socket. Responses: ADDRESS_ERROR beyond the capacity, BURST_ERROR for length 0,
/// COMMAND_ERROR for TLM_IGNORE_COMMAND.
class Hbm : public sc_core::sc_module {
 public:
  /// One socket an initiator.
  Hbm(sc_core::sc_module_name name, const MemoryTiming& timing, uint32_t sockets, vcd::Waves* waves);
  ~Hbm() override;

  tlm::tlm_target_socket<32>& socket(uint32_t i) { return *clients_[i]->socket; }

  uint64_t bytes() const { return bytes_; }
  uint64_t requests() const { return requests_; }
  Picoseconds busy() const { return busy_; }
  uint64_t activations() const { return activations_; }
  /// Requests that were accepted and not yet answered.
  uint64_t outstanding() const { return outstanding_; }

 private:
  /// The target side of one socket.
  class Client : public tlm::tlm_fw_transport_if<> {
   public:
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override;
    unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }

    Hbm* hbm = nullptr;
    uint32_t number = 0;
    std::unique_ptr<tlm::tlm_target_socket<32>> socket;
    std::deque<tlm::tlm_generic_payload*> waiting;  ///< answers held back by the response exclusion rule
    tlm::tlm_generic_payload* responding = nullptr;
  };

  /// Checks and serves a request that arrives at `at`: when its answer is due.
  Picoseconds serve(tlm::tlm_generic_payload& payload, Picoseconds at);
  void respond(Client& client);
  void process();
  void wake_at(Picoseconds time);

  MemoryTiming timing_;
  std::vector<std::unique_ptr<Client>> clients_;
  struct Answer {
    Client* client = nullptr;
    tlm::tlm_generic_payload* payload = nullptr;
  };
  fabric::TimedQueue<Answer, uint64_t> answers_;
  uint64_t sequence_ = 0;
  sc_core::sc_event wake_;
  Picoseconds wake_time_ = kNever;
  Picoseconds free_at_ = 0;
  uint64_t bytes_ = 0;
  uint64_t requests_ = 0;
  uint64_t outstanding_ = 0;
  Picoseconds busy_ = 0;
  uint64_t activations_ = 0;
  vcd::Probe queue_probe_;
  vcd::Probe bytes_probe_;
};

}  // namespace weft

#endif
