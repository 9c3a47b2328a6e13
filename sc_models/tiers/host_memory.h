// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// One host: its CPU memory and its NVMe drives, both targets of the TLM-2.0 base protocol, its PCIe links,
// and the streams of chunks between these and its NPUs. docs/memory_tiers.md describes what it models.

#ifndef WEFT_SC_MODELS_TIERS_HOST_MEMORY_H
#define WEFT_SC_MODELS_TIERS_HOST_MEMORY_H

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "configs/config.h"
#include "sc_models/activation_wheel.h"
#include "sc_models/component.h"
#include "sc_models/memory_dma.h"
#include "sc_models/memory_target.h"
#include "sc_models/pool/pool_access.h"
#include "sc_models/tiers/tier_tensors.h"
#include "tlm_interconnect/ports/link.h"
#include "tlm_interconnect/ports/timed_queue.h"
#include "workload/tiers/tier_path.h"

namespace weft {

/// What all hosts of a machine share.
struct HostContext {
  const Config& config;
  ActivationWheel& wheel;
  /// By place (host, nvme), and load or store; of what the configuration has not: without stages.
  std::array<std::array<tiers::Path, 2>, 2> paths;
  fabric::LinkType npu_link;
  fabric::LinkType nvme_link;

  HostContext(const Config& config, ActivationWheel& wheel);
};

/// Makes a memory of the host; `name` is that of the module.
using TierMemoryMaker = std::function<std::unique_ptr<MemoryTarget>(trace::Location place, const char* name)>;

class HostMemory final : public sc_core::sc_module, public Component, private Wakeable {
 public:
  /// `first`: the first of its NPUs.
  HostMemory(sc_core::sc_module_name name, uint32_t first, HostContext& context, const TierMemoryMaker& make);
  ~HostMemory() override;

  /// See TierAccess::start().
  void start(uint32_t npu, uint32_t token, trace::Location place, bool store, uint64_t bytes,
             PoolClient& client);

  /// Tells the log how every chunk passes its stages; before the first access.
  void keep_causes(insight::CausalLog& log);

  // Component
  void count(Counters& counters) const override;
  void for_each_link(const LinkVisitor& visit) const override { for_each_link_as(name(), first_, visit); }
  /// .. as those of a host that does the same, called `name` and with `first` as its first NPU.
  void for_each_link_as(const std::string& name, uint32_t first, const LinkVisitor& visit) const;
  LinkPlace link_place() const override { return LinkPlace::hosts; }
  std::string stall_text() const override;
  void find_unbalanced(std::vector<std::string>& lines) const override;

 private:
  struct Access {
    uint32_t token = 0;
    PoolClient* client = nullptr;
    uint64_t bytes = 0;
    uint64_t chunks = 0;
    uint64_t issued = 0;                 ///< chunks
    uint64_t finished = 0;               ///< chunks
    uint64_t first = DmaTensors::kNone;  ///< number of its first chunk's bytes; none: it carries none
    std::string wrong = {};              ///< the first wrong byte that came back
    insight::AccessPart part = {};       ///< its beginning
  };
  /// The loads, or the stores, of an NPU between it and one place.
  struct Stream {
    const tiers::Path* path = nullptr;
    uint32_t port = 0;
    std::deque<uint32_t> pending;  ///< accesses with chunks to issue; the first one is next
    uint32_t open = 0;             ///< accesses that have not ended
    uint32_t under_way = 0;        ///< chunks
    uint64_t issued = 0;           ///< chunks, of all accesses
  };
  struct Chunk {
    uint32_t stream = 0;
    uint32_t stage = 0;
    uint64_t number = 0;  ///< of the stream
    uint64_t bytes = 0;
    uint32_t access = 0;
    uint64_t piece = DmaTensors::kNone;  ///< number of its bytes
    insight::AccessPart part = {};
  };
  struct Port {
    std::unique_ptr<MemoryDma> dmas[2];  ///< to memory and drives
    uint64_t next_piece = 0;             ///< numbers of its chunks' bytes
    std::vector<TierTensors> tensors;    ///< by place; empty: chunks carry no bytes
  };
  static constexpr uint32_t kStreams = 4;  ///< of an NPU
  static constexpr uint32_t kIssue = ~uint32_t{0};

  void build_port(uint32_t port);
  bool carries(const tiers::Path& path, const Access& access) const;
  void end_tensor(uint32_t stream, Access& access);
  void activate(Picoseconds now) override;
  void schedule(Picoseconds at, uint32_t chunk);
  /// `by`: the stage that made room in the window; none: there has been room.
  bool issue(uint32_t stream, Picoseconds now, insight::ActivityId by = insight::kNoActivity);
  void advance(uint32_t chunk, Picoseconds now);
  void passed(uint32_t chunk, Picoseconds at);
  void finish(uint32_t chunk, Picoseconds now);
  fabric::Link& link_of(const tiers::Stage& stage, uint32_t port);
  std::string describe(uint32_t chunk) const;
  /// The chunk's request, or answer, goes over the links of its path.
  void tell_way(Chunk& chunk, bool to_npu, Picoseconds now);

  HostContext& context_;
  insight::CausalLog* causes_ = nullptr;  ///< null: nobody asks
  std::vector<uint32_t> cause_links_;     ///< of the log: as links_, then as nvme_links_
  const uint32_t first_;
  std::unique_ptr<MemoryTarget> memories_[2];
  std::vector<fabric::Link> links_;         ///< by PCIe link: down (to NPUs), up
  std::array<fabric::Link, 2> nvme_links_;  ///< down (to the host), up
  std::vector<Port> ports_;                 ///< by NPU of the host
  std::vector<Stream> streams_;
  std::vector<Access> accesses_;
  std::vector<uint32_t> free_accesses_;
  std::vector<Chunk> chunks_;
  std::vector<uint32_t> free_;
  std::vector<uint32_t> started_;  ///< streams with accesses that began at this instant
  fabric::TimedQueue<uint32_t, uint64_t> queue_;
  uint64_t activations_ = 0;
  uint64_t area_[2] = {0, 0};       ///< bytes of an NPU in each place; 0: unlimited
  std::vector<std::string> wrong_;  ///< bytes that came back wrong and nobody kept: the first ones
  std::string piece_wrong_;         ///< of the chunk that passes a memory
};

}  // namespace weft

#endif
