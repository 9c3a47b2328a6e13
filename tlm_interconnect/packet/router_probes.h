// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The waveforms of one router, flit by flit or burst by burst (vcd::WriterOptions::every_step): per output
// port whether it is busy and with which VC
// (<router>.out2.busy, <router>.out2.vc) and the credits here for each VC (.out2.vc1_credits); per input VC
// the flits in its buffer (.in0.vc1_flits); with priority flow control whether a virtual network is paused
// (.out2.vn0_paused). A router commits ahead of time; so do the signals.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_ROUTER_PROBES_H
#define WEFT_TLM_INTERCONNECT_PACKET_ROUTER_PROBES_H

#include <cstdint>
#include <string>
#include <vector>

#include "configs/ticks.h"
#include "vcd/probe_hub.h"

namespace weft::packet {

class RouterProbes {
 public:
  /// Registers what is selected. `credits`: at the start, per port; `paused_by`: virtual networks that may be
  /// paused, per port.
  RouterProbes(vcd::ProbeHub& probes, const std::string& router, const std::vector<uint32_t>& credits,
               uint32_t vcs, const std::vector<uint32_t>& paused_by);
  /// True if anything is selected.
  bool any() const { return any_; }

  /// Flits arrive from `first`, one every `stride`; or credits do, or flits leave.
  void arrived(uint32_t input, uint32_t vc, Ticks first, uint32_t n, Ticks stride);
  void credited(uint32_t output, uint32_t vc, Ticks first, uint32_t n, Ticks stride);
  void sent(uint32_t input, uint32_t input_vc, uint32_t output, uint32_t output_vc, Ticks first, uint32_t n,
            Ticks stride);
  /// The pause or its end holds from `from` on.
  void paused(uint32_t output, uint32_t virtual_network, Ticks from, bool on);

 private:
  struct Output {
    vcd::Probe busy;
    vcd::Probe vc;
    uint32_t last_vc = 0;
    std::vector<vcd::Probe> paused;  ///< by virtual network
  };

  const uint32_t vcs_;
  bool any_ = false;
  std::vector<Output> outputs_;
  std::vector<vcd::Probe> credits_;  ///< port x VCs + VC
  std::vector<vcd::Probe> flits_;    ///< the same
};

}  // namespace weft::packet

#endif
