// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/parts_refusal.h"

#include "workload/collectives/in_switch.h"

namespace weft {

std::string parts_refusal(const Config& config) {
  if (!config.jobs.empty()) return "`jobs`: several jobs share the machine; run it in one process";
  if (config.collectives.library.on())
    return "`collectives.library`: the library's calls are of all ranks; leave the library out, or run in "
           "one "
           "process";
  if (!config.fidelity_rules.empty())
    return "`topology.fidelity_rules` depend on which rank starts first; leave them out, or run in one "
           "process";
  if (config.memory_pool) return "`memory.pool` is shared by all NPUs; run it in one process";
  if (config.host_memory) return "`memory.host` and `memory.nvme` are shared by NPUs; run it in one process";
  if (config.run.data != "none") return "`run.data`: messages between parts carry sizes only; set it to none";
  if (!config.run.cut_links.empty()) return "`run.cut_links` puts borders into links; leave it out";
  if (config.replaces_modules())
    return "`implementations` and `implementation`: modules of others run in one process only";
  if (config.packet.ecn.enabled) return "`packet.ecn` is reported of one process only; turn it off";
  if (config.packet.sampling.enabled)
    return "`packet.sampling` depends on what all ranks do; turn it off, or run in one process";
  for (uint32_t d = 0; d < config.dimensions.size(); ++d)
    if (collectives::uses_unit(config, d))
      return "in_switch collectives need their switches' units whole; choose another algorithm, or run in "
             "one "
             "process";
  if (!config.output.waves.empty())
    return "waveforms (`output.waves`, --waves) are of one process; leave them out, or run in one process";
  if (config.output.timeline)
    return "a timeline (`output.timeline`, --timeline) is of one process; leave it out, or run in one "
           "process";
  return {};
}

}  // namespace weft
