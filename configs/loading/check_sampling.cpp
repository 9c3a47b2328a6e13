// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What `packet.sampling` does not go with: it gives collectives their time without their messages.

#include "configs/blueprint/carrier.h"
#include "configs/loading/resolution.h"

namespace weft::loading {

void check_sampling(Resolution& r) {
  const Config& config = r.config;
  if (!config.packet.sampling.enabled) return;
  const auto refuse = [&](bool when, const char* what) {
    if (when) r.complain("packet.sampling.enabled", what);
  };
  refuse(
      !carries_packets(config),
      "nothing is simulated packet by packet, so there is nothing to leave out; write `fidelity: packet` for "
      "a dimension, or turn it off");
  refuse(config.run.data != "none",
         "collectives that are not simulated carry no data; write `run.data: none`, or turn it off");
  refuse(!config.fidelity_rules.empty(),
         "rules of `topology.fidelity_rules` choose how a collective is simulated, and here most are not; "
         "remove one of the two");
  refuse(config.collectives.library.on(),
         "the calls of `collectives.library` have streams of their own; remove one of the two");
  refuse(!config.jobs.empty(),
         "a job of several does not know what the others send; run each alone, or turn it off");
  refuse(
      config.packet.dcqcn.enabled,
      "the rates of `packet.dcqcn` remember the collectives before, also those that would not be simulated; "
      "turn one of the two off");
  refuse(config.memory_pool.has_value(),
         "what `memory.pool` sends over the same links is not looked at; remove one of the two");
  refuse(
      config.replaces_modules(),
      "modules of others would miss the messages of collectives that are not simulated; use Weft's own, or "
      "turn it off");
}

}  // namespace weft::loading
