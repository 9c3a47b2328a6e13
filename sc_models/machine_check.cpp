// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/machine_check.h"

#include "sc_models/packet_region.h"
#include "workload/graph/fidelity_rules.h"

namespace weft {

void check_machine(const Config& config) {
  const graph::FidelityRules rules(config);
  for (uint32_t p = 0; p < rules.planes(); ++p) packet_regions_of(rules.plane(p));
}

std::vector<std::string> machine_warnings(const Config& config) {
  std::vector<std::string> warnings;
  const graph::FidelityRules rules(config);
  for (uint32_t p = 0; p < rules.planes(); ++p) {
    const Config& plane = rules.plane(p);
    for (std::string& warning : packet_warnings(plane, packet_regions_of(plane)))
      warnings.push_back(std::move(warning));
  }
  return warnings;
}

}  // namespace weft
