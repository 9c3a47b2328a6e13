// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/packet/router_probes.h"

#include <utility>

namespace weft::packet {

RouterProbes::RouterProbes(vcd::ProbeHub& probes, const std::string& router,
                           const std::vector<uint32_t>& credits, uint32_t vcs,
                           const std::vector<uint32_t>& paused_by)
    : vcs_(vcs), outputs_(credits.size()), credits_(credits.size() * vcs), flits_(credits.size() * vcs) {
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
    outputs_[p].busy = keep(probes.bit(out + ".busy"), 0);
    outputs_[p].vc = keep(probes.number(out + ".vc", 8), 0);
    for (uint32_t n = 0; n < 32 && (paused_by[p] >> n) != 0; ++n) {
      outputs_[p].paused.emplace_back();
      if (((paused_by[p] >> n) & 1) != 0)
        outputs_[p].paused[n] = keep(probes.bit(out + ".vn" + std::to_string(n) + "_paused"), 0);
    }
    for (uint32_t v = 0; v < vcs; ++v) {
      const std::string vc = ".vc" + std::to_string(v);
      credits_[p * vcs + v] = keep(probes.number(out + vc + "_credits", 32), credits[p]);
      flits_[p * vcs + v] = keep(probes.number(in + vc + "_flits", 32), 0);
    }
  }
}

void RouterProbes::arrived(uint32_t input, uint32_t vc, Ticks first, uint32_t n, Ticks stride) {
  flits_[input * vcs_ + vc].add({first, n, stride, kTicksPerPicosecond}, 1);
}

void RouterProbes::credited(uint32_t output, uint32_t vc, Ticks first, uint32_t n, Ticks stride) {
  credits_[output * vcs_ + vc].add({first, n, stride, kTicksPerPicosecond}, 1);
}

void RouterProbes::sent(uint32_t input, uint32_t input_vc, uint32_t output, uint32_t output_vc, Ticks first,
                        uint32_t n, Ticks stride) {
  flits_[input * vcs_ + input_vc].add({first, n, stride, kTicksPerPicosecond}, -1);
  credits_[output * vcs_ + output_vc].add({first, n, stride, kTicksPerPicosecond}, -1);
  // The burst after this one may start where this one ends: what is set last holds.
  outputs_[output].busy.set(picoseconds(first), true);
  outputs_[output].busy.set(picoseconds(first + n * stride), false);
  if (std::exchange(outputs_[output].last_vc, output_vc) != output_vc)
    outputs_[output].vc.set(picoseconds(first), output_vc);
}

void RouterProbes::paused(uint32_t output, uint32_t virtual_network, Ticks from, bool on) {
  outputs_[output].paused[virtual_network].set(picoseconds(from), on);
}

}  // namespace weft::packet
