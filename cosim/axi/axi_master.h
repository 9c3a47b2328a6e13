// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Drives an AXI4 slave port of a block, for example an RTL memory controller: TLM-2.0 initiator -> target()
// -> pins.

#ifndef WEFT_COSIM_AXI_AXI_MASTER_H
#define WEFT_COSIM_AXI_AXI_MASTER_H

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "configs/types.h"
#include "cosim/axi/axi_checker.h"
#include "cosim/axi/axi_pins.h"
#include "cosim/clock/block_clock.h"
#include "cosim/tlm/cut_accesses.h"
#include "cosim/tlm/target_edge.h"

namespace weft::cosim {

/// Accesses become INCR bursts of the full width, cut at multiples of 4 KiB and at 256 beats; byte enables
/// become WSTRB. Bursts take ids in turns; those of one id are answered in their order. Requests are held
/// while the reset is active. SLVERR is TLM_GENERIC_ERROR_RESPONSE, DECERR TLM_ADDRESS_ERROR_RESPONSE, and an
/// access has the worst of its bursts.
class AxiMaster final : public sc_core::sc_module, private ClockUser {
 public:
  struct Options {
    uint32_t outstanding = 16;  ///< bursts of each direction without a response at most
    uint32_t ids = 0;           ///< how many ids it uses at most; 0: all that the pins have
    uint64_t base = 0;          ///< added to addresses
    /// Debug accesses, which have no pins; empty: they move nothing.
    std::function<unsigned(tlm::tlm_generic_payload& payload)> debug = {};
  };
  /// Errors: UserError(usage) for pins that are missing or do not fit; it names block and pin.
  AxiMaster(sc_core::sc_module_name name, BlockClock& clock, AxiPins pins)
      : AxiMaster(name, clock, std::move(pins), Options()) {}
  AxiMaster(sc_core::sc_module_name name, BlockClock& clock, AxiPins pins, Options options);
  ~AxiMaster() override;

  tlm::tlm_target_socket<32>& target() { return in_.socket; }
  AxiChecker& checker() { return checker_; }

  /// Accesses without an answer.
  uint32_t outstanding() const { return in_.outstanding(); }
  /// What it waits for; "": nothing.
  std::string stall_text() const { return checker_.stall_text(); }

 private:
  using Payload = tlm::tlm_generic_payload;
  struct Burst {
    uint32_t ticket = 0;
    Payload* payload = nullptr;
    AccessPiece piece;
    unsigned char* enables = nullptr;
    Picoseconds at = 0;  ///< edges after that see it
    uint64_t number = 0;
    uint64_t id = 0;
    uint32_t beat = 0;  ///< the next one
    tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
  };

  void before_end_of_elaboration() override { check_bound(*pins_.object()); }
  void edge(Picoseconds now, bool reset) override;
  bool quiet() const override;
  void begin(uint32_t ticket, Payload& payload, Picoseconds at);
  void start(uint32_t ticket, Payload& payload, const AccessPiece& piece, unsigned char* enables,
             Picoseconds at);
  uint32_t beats(const AccessPiece& piece) const;
  void take_responses(Picoseconds now);
  void take_requests();
  void show(Picoseconds now);
  void show_beat(const Burst& burst);
  void over(const Burst& burst, Picoseconds now);

  BlockClock& clock_;
  AxiPins pins_;
  const Options options_;
  AxiChecker checker_;
  uint32_t ids_ = 1;
  CutAccesses cut_;
  TargetEdge in_;
  std::deque<Burst> waiting_[2];               ///< reads, writes: no request yet
  std::deque<Burst> data_;                     ///< writes whose beats are not all taken
  std::vector<std::deque<Burst>> answers_[2];  ///< by id: without a response
  uint32_t under_way_[2] = {};
  uint64_t next_id_[2] = {};
  bool requesting_[2] = {};  ///< ARVALID, AWVALID are high
  bool beating_ = false;     ///< WVALID is high
  std::vector<uint32_t> words_;
  std::vector<uint32_t> strobes_;
};

}  // namespace weft::cosim

#endif
