// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The hosts of a machine: the door between its NPUs and their host memories and drives.

#ifndef WEFT_SC_MODELS_TIERS_MEMORY_TIERS_H
#define WEFT_SC_MODELS_TIERS_MEMORY_TIERS_H

#include <memory>
#include <string>
#include <vector>

#include "sc_models/module_choices.h"
#include "sc_models/tiers/host_memory.h"
#include "sc_models/tiers/tier_access.h"
#include "vcd/probe_hub.h"

namespace weft {

class MemoryTiers final : public TierAccess {
 public:
  /// `config` has a host_memory. Hosts of the NPUs `built` are made, inside the present module. The models of
  /// single memories come from `choices`.
  MemoryTiers(const Config& config, ActivationWheel& wheel, const std::vector<uint32_t>& built,
              ModuleChoices& choices, vcd::ProbeHub* probes);
  ~MemoryTiers() override;

  void start(uint32_t npu, uint32_t token, trace::Location place, bool store, uint64_t bytes,
             PoolClient& client) override;
  /// Of the accesses that the NPU has begun.
  uint64_t bytes(uint32_t npu) const { return bytes_[npu]; }

  /// Before the first access.
  void keep_causes(insight::CausalLog& log);

  /// Every host that was made.
  std::vector<const Component*> components() const;
  /// The links of the host of `npu`, an NPU with a host of its own, which does as `built` does.
  void for_each_link_as(uint32_t npu, uint32_t built, const Component::LinkVisitor& visit) const;

 private:
  HostContext context_;
  std::vector<std::unique_ptr<HostMemory>> hosts_;  ///< null: of no NPU that was built
  std::vector<uint64_t> bytes_;                     ///< by NPU
};

/// A memory of the kind that `memory.host` or `memory.nvme` describes. `implementation` and `owner`: as for
/// make_memory().
std::unique_ptr<MemoryTarget> make_tier_memory(const Config& config, trace::Location place,
                                               const std::string& implementation, const std::string& owner,
                                               const char* name, uint32_t sockets, vcd::ProbeHub* probes);

}  // namespace weft

#endif
