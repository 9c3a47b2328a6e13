// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The waveforms of one router, flit by flit: per output port whether it is busy and with which VC
// (<router>.out2.busy, <router>.out2.vc) and the credits here for each VC (.out2.vc1_credits); per input VC
// the flits in its buffer (.in0.vc1_flits); with priority flow control whether a virtual network is paused
// (.out2.vn0_paused). A router commits ahead of time; so do the signals.

#ifndef WEFT_TLM_INTERCONNECT_PACKET_ROUTER_PROBES_H
#define WEFT_TLM_INTERCONNECT_PACKET_ROUTER_PROBES_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "configs/ticks.h"
#include "vcd/waves.h"

namespace weft::packet {

class RouterProbes {
 public:
  /// Registers what is selected. `credits`: at the start, per port; `paused_by`: virtual networks that may be
  /// paused, per port.
  RouterProbes(vcd::Waves& waves, const std::string& router, const std::vector<uint32_t>& credits,
               uint32_t vcs, const std::vector<uint32_t>& paused_by);
  /// True if anything is selected.
  bool any() const { return any_; }

  /// Flits arrive from `first`, one every `stride`; or credits do, or flits leave. Nothing before `now` will
  /// change.
  void arrived(Ticks now, uint32_t input, uint32_t vc, Ticks first, uint32_t n, Ticks stride);
  void credited(Ticks now, uint32_t output, uint32_t vc, Ticks first, uint32_t n, Ticks stride);
  void sent(Ticks now, uint32_t input, uint32_t input_vc, uint32_t output, uint32_t output_vc, Ticks first,
            uint32_t n, Ticks stride);
  /// The pause or its end holds from `from` on.
  void paused(uint32_t output, uint32_t virtual_network, Ticks from, bool on);

 private:
  /// A count whose changes become known in any order of their times.
  struct Level {
    vcd::Probe probe;
    int64_t settled = 0;  ///< up to the earliest of `changes`
    std::map<Ticks, int64_t> changes;

    void change(Ticks now, Ticks first, uint32_t n, Ticks stride, int by);
  };
  struct Output {
    vcd::Probe busy;
    vcd::Probe vc;
    std::vector<vcd::Probe> paused;  ///< by virtual network
  };

  const uint32_t vcs_;
  bool any_ = false;
  std::vector<Output> outputs_;
  std::vector<Level> credits_;  ///< port x VCs + VC
  std::vector<Level> flits_;    ///< the same
};

}  // namespace weft::packet

#endif
