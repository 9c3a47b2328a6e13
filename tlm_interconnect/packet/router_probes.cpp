// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/packet/router_probes.h"

#include <algorithm>
#include <utility>

namespace weft::packet {

using fabric::LinkSignals;
using fabric::Stall;

LinkSignals::Burst burst_of(Ticks first, uint32_t n, Ticks stride, const FlitLoad& load) {
  LinkSignals::Burst burst;
  burst.start = picoseconds(first);
  burst.end = picoseconds(first + n * stride);
  burst.bytes = uint64_t{n} * load.flit_bytes;
  burst.rate = static_cast<double>(load.flit_bytes) * static_cast<double>(kTicksPerSecond) /
               static_cast<double>(stride);
  burst.id = load.id;
  burst.begins = load.begins;
  burst.ends = load.ends;
  return burst;
}

RouterProbes::RouterProbes(uint32_t ports, uint32_t vcs)
    : vcs_(vcs), outputs_(ports), inputs_(ports), credits_(ports * vcs), flits_(ports * vcs) {}

void RouterProbes::declare(vcd::ProbeHub& probes, const std::string& router,
                           const std::vector<uint32_t>& credits, const std::vector<uint32_t>& paused_by,
                           bool inside) {
  const auto keep = [this](const vcd::Probe& probe, uint64_t value) {
    if (probe) {
      any_ = true;
      probe.set(0, value);
    }
    return probe;
  };
  for (uint32_t p = 0; p < credits.size(); ++p) {
    const std::string out = router + ".out" + std::to_string(p);
    const std::string in = router + ".in" + std::to_string(p);
    outputs_[p].busy = fabric::BusyBit(keep(probes.bit(out + ".busy"), 0));
    outputs_[p].vc = keep(probes.number(out + ".vc", 8), 0);
    if (inside) {
      outputs_[p].input = keep(probes.number(out + ".input", 16), 0);
      outputs_[p].stall = keep(probes.enumeration(out + ".stall", fabric::stall_names()), 0);
      inputs_[p].state = keep(
          probes.enumeration(in + ".state", {"idle", "vc_allocation", "switch_allocation", "sending"}), 0);
      inputs_[p].head = keep(probes.number(in + ".head", 32), 0);
    }
    if (outputs_[p].stall || inputs_[p].state || inputs_[p].head) looks_ = true;
    for (uint32_t n = 0; n < 32 && (paused_by[p] >> n) != 0; ++n) {
      outputs_[p].paused.emplace_back();
      if (((paused_by[p] >> n) & 1) != 0)
        outputs_[p].paused[n] = keep(probes.bit(out + ".vn" + std::to_string(n) + "_paused"), 0);
    }
    for (uint32_t v = 0; v < vcs_; ++v) {
      const std::string vc = ".vc" + std::to_string(v);
      credits_[p * vcs_ + v] = keep(probes.number(out + vc + "_credits", 32), credits[p]);
      flits_[p * vcs_ + v] = keep(probes.number(in + vc + "_flits", 32), 0);
    }
  }
}

void RouterProbes::declare_link(vcd::ProbeHub& probes, uint32_t output, const std::string& link,
                                const fabric::PacketPool* messages, bool inside) {
  auto signals =
      std::make_unique<LinkSignals>(probes, link, messages, outputs_[output].busy,
                                    inside ? LinkSignals::Stalls::told : LinkSignals::Stalls::unknown);
  if (!signals->wanted()) return;
  outputs_[output].link = std::move(signals);
  any_ = looks_ = true;
}

void RouterProbes::arrived(uint32_t input, uint32_t vc, Ticks first, uint32_t n, Ticks stride) {
  flits_[input * vcs_ + vc].add({first, n, stride, kTicksPerPicosecond}, 1);
}

void RouterProbes::credited(uint32_t output, uint32_t vc, Ticks first, uint32_t n, Ticks stride) {
  credits_[output * vcs_ + vc].add({first, n, stride, kTicksPerPicosecond}, 1);
}

void RouterProbes::sent(uint32_t input, uint32_t input_vc, uint32_t output, uint32_t output_vc, Ticks first,
                        uint32_t n, Ticks stride, const FlitLoad& load) {
  freed(input, input_vc, first, n, stride);
  left(output, output_vc, first, n, stride, load, input);
}

void RouterProbes::freed(uint32_t input, uint32_t vc, Ticks first, uint32_t n, Ticks stride) {
  flits_[input * vcs_ + vc].add({first, n, stride, kTicksPerPicosecond}, -1);
}

void RouterProbes::left(uint32_t output, uint32_t output_vc, Ticks first, uint32_t n, Ticks stride,
                        const FlitLoad& load, uint32_t input) {
  Output& out = outputs_[output];
  credits_[output * vcs_ + output_vc].add({first, n, stride, kTicksPerPicosecond}, -1);
  out.busy.use(picoseconds(first), picoseconds(first + n * stride));
  if (std::exchange(out.last_vc, output_vc) != output_vc) out.vc.set(picoseconds(first), output_vc);
  if (input != kUnknown && std::exchange(out.last_input, input) != input)
    out.input.set(picoseconds(first), input);
  if (out.link) out.link->carried(burst_of(first, n, stride, load));
}

void RouterProbes::paused(uint32_t output, uint32_t virtual_network, Ticks from, bool on) {
  if (virtual_network < outputs_[output].paused.size())
    outputs_[output].paused[virtual_network].set(picoseconds(from), on);
}

void RouterProbes::state_changed(uint32_t input, Ticks t, State state, uint32_t destination) {
  Input& in = inputs_[input];
  if (std::exchange(in.last_state, state) != state) in.state.set(picoseconds(t), state);
  if (state != State::idle && std::exchange(in.last_head, destination) != destination)
    in.head.set(picoseconds(t), destination);
}

void RouterProbes::stall_changed(uint32_t output, Ticks t, Stall why) {
  Output& out = outputs_[output];
  out.last_stall = why;
  out.stall.set(picoseconds(t), why);
  if (out.link) out.link->stalled(picoseconds(t), why);
}

std::vector<Stall>& RouterProbes::fresh_stalls() {
  stalls_.assign(outputs_.size(), Stall::none);
  return stalls_;
}

}  // namespace weft::packet
