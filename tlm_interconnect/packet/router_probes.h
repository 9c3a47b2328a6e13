// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The waveforms of one router, flit by flit or burst by burst (vcd::WriterOptions::every_step): per output
// port whether it is busy, with which VC and by which input (<router>.out2.busy, .out2.vc, .out2.input), why
// what is ready for it does not leave (.out2.stall) and the credits here for each VC (.out2.vc1_credits); per
// input the state and the destination of the packet at its front (.in0.state, .in0.head), per input VC the
// flits in its buffer (.in0.vc1_flits); with priority flow control whether a virtual network is paused
// (.out2.vn0_paused). And those of links that leave by its outputs. A router commits ahead of time; so do the
// signals.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_ROUTER_PROBES_H
#define WEFT_TLM_INTERCONNECT_PACKET_ROUTER_PROBES_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "configs/ticks.h"
#include "tlm_interconnect/ports/link_signals.h"
#include "vcd/probe_hub.h"

namespace weft::packet {

/// What the signals of a link are told of a burst besides its times.
struct FlitLoad {
  uint32_t flit_bytes = 0;
  uint64_t id = 0;  ///< of their message
  bool begins = false;
  bool ends = false;
};

/// `n` flits from `first`, one every `stride`, for the signals of a link.
fabric::LinkSignals::Burst burst_of(Ticks first, uint32_t n, Ticks stride, const FlitLoad& load);

class RouterProbes {
 public:
  /// Of the packet at the front of an input: the furthest of its VCs.
  enum class State : uint8_t { idle, vc_allocation, switch_allocation, sending };

  RouterProbes(uint32_t ports, uint32_t vcs);
  /// Registers what is selected. `credits`: at the start, per port; `paused_by`: virtual networks that may be
  /// paused, per port. `inside`: it will be told of states, stalls and the inputs that are granted.
  void declare(vcd::ProbeHub& probes, const std::string& router, const std::vector<uint32_t>& credits,
               const std::vector<uint32_t>& paused_by, bool inside);
  /// .. of the link that leaves by an output, by the name that results give it.
  void declare_link(vcd::ProbeHub& probes, uint32_t output, const std::string& link,
                    const fabric::PacketPool* messages, bool inside);
  /// True if anything is selected.
  bool any() const { return any_; }
  /// True if state() or stalled() is to be called.
  bool looks() const { return looks_; }

  /// Flits arrive from `first`, one every `stride`; or credits do, or flits leave.
  void arrived(uint32_t input, uint32_t vc, Ticks first, uint32_t n, Ticks stride);
  void credited(uint32_t output, uint32_t vc, Ticks first, uint32_t n, Ticks stride);
  void sent(uint32_t input, uint32_t input_vc, uint32_t output, uint32_t output_vc, Ticks first, uint32_t n,
            Ticks stride, const FlitLoad& load);
  /// Of a block, which does not tell what goes where: flits leave by an output, or have left an input.
  void left(uint32_t output, uint32_t vc, Ticks first, uint32_t n, Ticks stride, const FlitLoad& load,
            uint32_t input = kUnknown);
  void freed(uint32_t input, uint32_t vc, Ticks first, uint32_t n, Ticks stride);
  /// The pause or its end holds from `from` on.
  void paused(uint32_t output, uint32_t virtual_network, Ticks from, bool on);
  /// From the cycle `t` on; only changes are told. `destination` matters unless the input is idle.
  void state(uint32_t input, Ticks t, State state, uint32_t destination) {
    const Input& in = inputs_[input];
    if (in.last_state != state || (state != State::idle && in.last_head != destination))
      state_changed(input, t, state, destination);
  }
  void stalled(uint32_t output, Ticks t, fabric::Stall why) {
    if (outputs_[output].last_stall != why) stall_changed(output, t, why);
  }
  static constexpr uint32_t kUnknown = ~0u;
  /// One for each output, for the caller to fill: none.
  std::vector<fabric::Stall>& fresh_stalls();

 private:
  struct Output {
    fabric::BusyBit busy;
    vcd::Probe vc;
    vcd::Probe input;
    vcd::Probe stall;
    uint32_t last_vc = 0;
    uint32_t last_input = 0;
    fabric::Stall last_stall = fabric::Stall::none;
    std::vector<vcd::Probe> paused;  ///< by virtual network
    std::unique_ptr<fabric::LinkSignals> link;
  };
  void state_changed(uint32_t input, Ticks t, State state, uint32_t destination);
  void stall_changed(uint32_t output, Ticks t, fabric::Stall why);

  struct Input {
    vcd::Probe state;
    vcd::Probe head;
    State last_state = State::idle;
    uint32_t last_head = 0;
  };

  const uint32_t vcs_;
  bool any_ = false;
  bool looks_ = false;
  std::vector<Output> outputs_;
  std::vector<Input> inputs_;
  std::vector<vcd::Probe> credits_;  ///< port x VCs + VC
  std::vector<vcd::Probe> flits_;    ///< the same
  std::vector<fabric::Stall> stalls_;
};

}  // namespace weft::packet

#endif
