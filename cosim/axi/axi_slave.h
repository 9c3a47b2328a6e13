// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Serves an AXI4 master port of a block, for example an RTL DMA: pins -> initiator() -> TLM-2.0 target.

#ifndef WEFT_COSIM_AXI_AXI_SLAVE_H
#define WEFT_COSIM_AXI_AXI_SLAVE_H

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "configs/types.h"
#include "cosim/axi/axi_checker.h"
#include "cosim/axi/axi_pins.h"
#include "cosim/clock/block_clock.h"
#include "cosim/tlm/initiator_edge.h"

namespace weft::cosim {

/// INCR, WRAP and FIXED bursts of any size become accesses; WSTRB becomes byte enables, and a FIXED burst has
/// a streaming width. A write begins when its last beat is there. Responses of one id keep their order; those
/// of different ids come as they are complete. TLM_ADDRESS_ERROR_RESPONSE is DECERR, every other error
/// SLVERR.
class AxiSlave final : public sc_core::sc_module, private ClockUser {
 public:
  struct Options {
    uint32_t outstanding = 16;  ///< bursts of each direction without a response at most
    bool blocking = false;      ///< the target has b_transport only
  };
  /// Errors: UserError(usage) for pins that are missing or do not fit; it names block and pin.
  AxiSlave(sc_core::sc_module_name name, BlockClock& clock, AxiPins pins)
      : AxiSlave(name, clock, std::move(pins), Options()) {}
  AxiSlave(sc_core::sc_module_name name, BlockClock& clock, AxiPins pins, const Options& options);
  ~AxiSlave() override;

  tlm::tlm_initiator_socket<32>& initiator() { return out_.socket; }
  AxiChecker& checker() { return checker_; }

  bool idle() const { return quiet(); }
  /// What it waits for; "": nothing.
  std::string stall_text() const { return checker_.stall_text(); }

 private:
  struct Burst {
    uint64_t id = 0;
    uint64_t address = 0;
    uint32_t beats = 1;
    uint32_t size = 1;  ///< bytes of a beat
    uint32_t type = 1;
    uint32_t beat = 0;  ///< the next one
    std::vector<unsigned char> data;
    std::vector<unsigned char> enables;
    uint32_t parts = 0;  ///< accesses under way
    bool complete = false;
    Picoseconds at = 0;
    tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
  };
  using Queue = std::deque<std::unique_ptr<Burst>>;

  void before_end_of_elaboration() override { check_bound(*pins_.object()); }
  void edge(Picoseconds now, bool reset) override;
  bool quiet() const override;
  std::unique_ptr<Burst> request(bool write) const;
  void take(Picoseconds now);
  void take_beat(Burst& burst);
  void start(Burst& burst, bool write, Picoseconds now);
  void show(Picoseconds now);
  void show_read(Picoseconds now);
  static Burst* next(std::map<uint64_t, Queue>& queues, Picoseconds now);
  /// Of the beat: its first byte in the burst's data, in the bus, and how many there are.
  struct Lanes {
    uint32_t offset = 0, lane = 0, bytes = 0;
  };
  Lanes lanes(const Burst& burst, uint32_t beat) const;

  BlockClock& clock_;
  AxiPins pins_;
  const Options options_;
  AxiChecker checker_;
  InitiatorEdge out_;
  Queue filling_;  ///< writes whose beats are not all here
  struct Beat {
    std::vector<uint32_t> words, strobes;
  };
  std::deque<Beat> beats_;            ///< that came before their request
  std::map<uint64_t, Queue> writes_;  ///< by id, without a response
  std::map<uint64_t, Queue> reads_;
  uint32_t under_way_[2] = {};
  Burst* reading_ = nullptr;  ///< whose beats are on the pins
  bool answering_ = false;    ///< BVALID is high
  std::vector<uint32_t> words_;
};

}  // namespace weft::cosim

#endif
