// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// `memory.host` and `memory.nvme`: the CPU memory of the NPUs' hosts, and the NVMe drives behind it.
// docs/memory_tiers.md has what they model and their formulas.

#ifndef WEFT_CONFIGS_MEMORY_TIERS_H
#define WEFT_CONFIGS_MEMORY_TIERS_H

#include <cstdint>
#include <optional>
#include <string>

#include "configs/types.h"

namespace weft {

struct HostMemoryConfig {
  std::string per = "node";  ///< node | npu: whose it is
  uint32_t nodes = 1;        ///< with `per: node`; the NPUs are divided among them in order
  Rate bandwidth;            ///< of the memory: reads and writes together; 0: unlimited
  Picoseconds latency = 0;
  double efficiency = 1;
  uint64_t capacity = 0;  ///< of a host, bytes; 0: unlimited
  std::string over_capacity = "warn";
  std::string implementation = "auto";  ///< kDefaultMemoryModel
  std::optional<uint32_t> links;        ///< PCIe links of a host; none: one for each of its NPUs
  Rate link_bandwidth;                  ///< of a PCIe link, a direction
  Picoseconds link_latency = 0;
  uint64_t chunk = 1 << 20;
  uint32_t window = 0;           ///< chunks of a stream that are under way at most; 0: as many as pay
  std::string order = "shared";  ///< shared | in_order: between the accesses of a stream

  uint32_t hosts(uint32_t npus) const { return per == "npu" ? npus : nodes; }
  uint32_t npus_of_host(uint32_t npus) const { return npus / hosts(npus); }
  uint32_t host_of(uint32_t npu, uint32_t npus) const { return npu / npus_of_host(npus); }
  uint32_t links_of_host(uint32_t npus) const { return links ? *links : npus_of_host(npus); }
};

struct NvmeConfig {
  Rate bandwidth;  ///< of the drives of a host: reads and writes together
  Picoseconds latency = 0;
  double efficiency = 1;
  uint64_t capacity = 0;  ///< of a host's drives, bytes; 0: unlimited
  std::string over_capacity = "warn";
  std::string implementation = "auto";
  Rate link_bandwidth;  ///< between drives and host, a direction
  Picoseconds link_latency = 0;
  std::string path = "staged";  ///< staged | direct: through the host's memory, or past it
  uint64_t chunk = 1 << 20;
  uint32_t window = 0;
  std::string order = "shared";
};

/// For `weft describe`. `nvme`: null if there is none.
std::string describe_tiers(const HostMemoryConfig& host, const NvmeConfig* nvme, uint32_t npus);
/// The lines of a drawing (Graphviz, between the braces). `full`: every module.
std::string draw_tiers(const HostMemoryConfig& host, const NvmeConfig* nvme, uint32_t npus, bool full);

}  // namespace weft

#endif
