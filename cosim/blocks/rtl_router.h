// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A credit-based RTL router in the place of one router of a packet network: flit by flit, against credits, on
// the pins of RouterPins. Buffers, virtual channels, allocators and their times are the block's. The
// network's routing policy says where a packet goes: its head flit carries the output port and the virtual
// channels that it may take there (look-ahead routing).
//
//     class MyRouter final : public weft::cosim::RtlRouter {
//      public:
//       MyRouter(sc_core::sc_module_name name, weft::RouterPlace place, weft::Parameters& parameters)
//           : RtlRouter(name, std::move(place), parameters, {8, 4, 16}), rtl_("rtl") {
//         connect(rtl_.clk, rtl_.rst_n, WEFT_ROUTER_PINS(rtl_));
//       }
//       Vmy_router rtl_;
//     };
//
// A flit that arrives at a time is at the block's pins for the first edge after that time. A flit, or a
// credit, that is on the block's pins at an edge leaves then: it is at the other end the link's latency
// later.

#ifndef WEFT_COSIM_BLOCKS_RTL_ROUTER_H
#define WEFT_COSIM_BLOCKS_RTL_ROUTER_H

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "cosim/axis/pins.h"
#include "cosim/clock/block_clock.h"
#include "sc_models/router_model.h"
#include "tlm_interconnect/packet/packet_config.h"

namespace weft::cosim {

/// What the block is made for: parameters of its RTL.
struct RouterShape {
  uint32_t ports = 0;
  uint32_t vcs = 0;    ///< of all virtual networks
  uint32_t depth = 0;  ///< flits of an input buffer: at least `packet.buffer_flits` of the machine
  uint32_t tag_bits = 16;
};

/// The pins of a router block. Each holds the bits of all ports, port 0 lowest; V is RouterShape::vcs, vc has
/// max(1, ceil(log2 V)) bits, a port max(1, ceil(log2 ports)).
struct RouterPins {
  std::unique_ptr<DrivenPin> in_valid;    ///< 1 bit a port: a flit comes
  std::unique_ptr<DrivenPin> in_vc;       ///< vc
  std::unique_ptr<DrivenPin> in_head;     ///< 1 bit
  std::unique_ptr<DrivenPin> in_tail;     ///< 1 bit
  std::unique_ptr<DrivenPin> in_out;      ///< port: where the packet goes; of head flits
  std::unique_ptr<DrivenPin> in_ovcs;     ///< V bits: the virtual channels that it may take there
  std::unique_ptr<DrivenPin> in_tag;      ///< tag_bits: to come out with the flit
  std::unique_ptr<DrivenPin> out_credit;  ///< V bits: the other end has taken a flit out of its buffer
  std::unique_ptr<DrivenPin> cfg_depth;   ///< 8 bits in all: flits of the buffers at the other ends
  std::unique_ptr<DrivenPin> cfg_gap;     ///< 8 bits a port: cycles that a flit takes on the port's link
  std::unique_ptr<Pin> in_credit;         ///< V bits: a flit has left the input buffer
  std::unique_ptr<Pin> out_valid;         ///< 1 bit
  std::unique_ptr<Pin> out_vc;            ///< vc
  std::unique_ptr<Pin> out_tag;           ///< tag_bits
};

class RtlRouter : public RouterModel, private ClockUser {
 public:
  ~RtlRouter() override;

  size_t in_flight() const override { return in_block_ + waiting_; }
  std::string explain_stall() const override;
  uint64_t activations() const override { return clock_.edges(); }

 protected:
  /// The clock has the network's cycle. Reads the clock's parameters but `period`. Errors: UserError(usage)
  /// for a router that the block cannot stand for.
  RtlRouter(sc_core::sc_module_name name, RouterPlace place, Parameters& parameters,
            const RouterShape& shape);

  BlockClock& clock() { return clock_; }
  /// Once, in the constructor.
  void connect(sc_core::sc_in<bool>& clock, sc_core::sc_in<bool>& reset, RouterPins pins);

 private:
  /// A packet of which flits are in the block or on their way to it.
  struct PacketHere {
    fabric::PacketHead head;
    uint32_t flits = 0;
    uint32_t left = 0;  ///< flits that have not left the block
    uint32_t out = 0;
    packet::VcMask out_vcs = 0;
    uint32_t next_out = 0;
  };
  struct Flit {
    uint32_t packet = ~0u;  ///< none: the tag is free
    uint32_t number = 0;
  };
  struct Run {  ///< flits that come
    Ticks first = 0;
    Ticks stride = 0;
    uint32_t count = 0;
    uint32_t packet = 0;
    uint32_t first_flit = 0;
    uint8_t vc = 0;
  };
  struct CreditRun {
    Ticks first = 0;
    Ticks stride = 0;
    uint32_t count = 0;
  };
  void arrive(uint32_t port, const fabric::FlitCrossing& crossing) override;
  void edge(Picoseconds now, bool reset) override;
  bool quiet() const override { return waiting_ == 0 && in_block_ == 0 && credits_waiting_ == 0 && !shown_; }
  void take(Picoseconds now);
  void show(Picoseconds now);
  void send_flit(uint32_t port, uint32_t vc, uint32_t tag, Picoseconds now);
  uint32_t new_packet(uint32_t port, const fabric::FlitCrossing& crossing);
  [[noreturn]] void wrong(uint32_t port, const std::string& what) const;

  const RouterShape shape_;
  BlockClock clock_;
  RouterPins pins_;
  uint32_t vc_bits_ = 1;
  uint32_t port_bits_ = 1;
  std::vector<std::deque<Run>> coming_;         ///< by port
  std::vector<std::deque<CreditRun>> credits_;  ///< by port and VC
  std::vector<uint32_t> entering_;              ///< by port and VC: the packet that comes in
  std::vector<PacketHere> packets_;
  std::vector<uint32_t> free_packets_;
  std::vector<Flit> flits_;  ///< by tag
  std::vector<uint32_t> free_tags_;
  std::vector<uint32_t> held_;  ///< by input port and VC: flits in the block
  size_t waiting_ = 0;
  size_t in_block_ = 0;
  size_t credits_waiting_ = 0;
  bool shown_ = false;  ///< pins are not idle
};

}  // namespace weft::cosim

/// The pins in_valid, in_vc .. of a model.
#define WEFT_ROUTER_PINS(model)                                                                 \
  ::weft::cosim::RouterPins {                                                                   \
    ::weft::cosim::drive_pin((model).in_valid), ::weft::cosim::drive_pin((model).in_vc),        \
        ::weft::cosim::drive_pin((model).in_head), ::weft::cosim::drive_pin((model).in_tail),   \
        ::weft::cosim::drive_pin((model).in_out), ::weft::cosim::drive_pin((model).in_ovcs),    \
        ::weft::cosim::drive_pin((model).in_tag), ::weft::cosim::drive_pin((model).out_credit), \
        ::weft::cosim::drive_pin((model).cfg_depth), ::weft::cosim::drive_pin((model).cfg_gap), \
        ::weft::cosim::read_pin((model).in_credit), ::weft::cosim::read_pin((model).out_valid), \
        ::weft::cosim::read_pin((model).out_vc), ::weft::cosim::read_pin((model).out_tag)       \
  }

#endif
