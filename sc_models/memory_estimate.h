// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// How much memory a run will need, told from the configuration and the job before anything is built. The
// figures behind it are measured (docs/performance.md).

#ifndef WEFT_SC_MODELS_MEMORY_ESTIMATE_H
#define WEFT_SC_MODELS_MEMORY_ESTIMATE_H

#include <string>
#include <vector>

#include "configs/config.h"
#include "tlm_interconnect/packet/packet_config.h"
#include "tlm_interconnect/packet/topology.h"
#include "workload/collectives/plan_size.h"

namespace weft {

namespace graph {
class CheckedJob;
}

struct MemoryEstimate {
  struct Part {
    std::string what;
    double bytes = 0;
  };
  std::vector<Part> parts;  ///< largest first

  double bytes() const;
};

/// Of the machine alone. `ranks` of its NPUs have modules of their own; `folded` of these stand for others.
/// `npus`: a trace drives them, so that they have NPU and memory modules.
MemoryEstimate machine_memory(const Config& config, double ranks, double folded, bool npus);

/// Of one access of so many NPUs to the memory pool, with the machine and the pool. Without a pool: of the
/// machine.
MemoryEstimate pool_memory(const Config& config, PoolOperation operation, uint64_t bytes, uint32_t npus);

/// The least that any job of traces on this machine can do with. `fold`: ranks that do alike may share one
/// set of modules.
MemoryEstimate least_memory(const Config& config, bool fold);

/// Of a run of traces.
MemoryEstimate job_memory(const Config& config, const graph::CheckedJob& job);

/// Of a run of several jobs that share the machine.
MemoryEstimate jobs_memory(const Config& config, const std::vector<const graph::CheckedJob*>& jobs);

/// Of collectives on all ranks, one after the other. `size`: of the largest; `data`: bytes of elements.
MemoryEstimate collective_memory(const Config& config, bool folded, const collectives::PlanSize& size,
                                 double data);

/// Of synthetic traffic, in so many processes at once.
MemoryEstimate network_memory(const packet::PacketTopology& topology, const packet::PacketConfig& network,
                              uint32_t packet_flits, double copies);

}  // namespace weft

#endif
