// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The memory pool of a machine: builds its modules from the layout, joins them, and knows the accesses that
// are under way. docs/memory_pool.md describes what it models.

#ifndef WEFT_SC_MODELS_POOL_MEMORY_POOL_H
#define WEFT_SC_MODELS_POOL_MEMORY_POOL_H

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sc_models/byte_store.h"
#include "sc_models/component.h"
#include "sc_models/pool/cxl_memory_group.h"
#include "sc_models/pool/pool_access.h"
#include "sc_models/pool/pool_access_state.h"
#include "sc_models/pool/pool_causes.h"
#include "sc_models/pool/pool_data.h"
#include "sc_models/pool/pool_flows.h"
#include "sc_models/pool/pool_packets.h"
#include "sc_models/pool/pool_port.h"
#include "sc_models/pool/pool_switch.h"
#include "workload/pool/closed_form.h"
#include "workload/pool/pool_layout.h"

namespace weft {

class MemoryPool final : public sc_core::sc_module, public Component, public PoolAccess, private PoolEvents {
 public:
  /// The machine's link that a port of a node of the layout sends on, with `share` and `design: graph`.
  /// Empty: the pool has links of its own in any case. At packet fidelity `host` is the machine's network
  /// whose links the pool shares; null: it has links of its own.
  using SharedLink =
      std::function<fabric::Link*(const pool::PoolLayout& layout, uint32_t node, uint32_t port)>;

  MemoryPool(sc_core::sc_module_name name, const Config& config, fabric::PacketPool& packets,
             ActivationWheel& wheel, const SharedLink& shared, ModuleChoices* choices = nullptr,
             vcd::ProbeHub* probes = nullptr, packet::PacketNetwork* host = nullptr,
             LinkCuts* cuts = nullptr);
  ~MemoryPool() override;

  // PoolAccess
  void start(uint32_t npu, uint32_t token, PoolOperation operation, uint64_t bytes, PoolClient& client,
             const PoolMembers& members = nullptr) override;
  /// Of the accesses that the NPU has begun; of in-switch ones its shards.
  uint64_t bytes(uint32_t npu) const { return bytes_[npu]; }

  /// An access from outside to one group, over the links of this NPU; `client` hears of its end. `way`: by
  /// which of the ways between a group and an NPU it goes. `bytes`: a chunk at most. Throws
  /// UserError where groups are not simulated one by one.
  void access(uint32_t npu, uint32_t token, bool write, uint32_t group, uint32_t way, uint64_t bytes,
              PoolClient& client);
  bool serves_external() const { return flows_ == nullptr && !layout_->folded(); }
  /// The bytes of accesses from outside; those of the NPUs' tensors have no addresses.
  ByteStore& external_bytes(uint32_t group) { return external_bytes_[group]; }

  const pool::PoolLayout& layout() const { return *layout_; }
  /// What every class of links has carried towards the NPUs, or (store) towards the groups.
  std::vector<pool::ClassLoad> loads(bool store) const;
  uint64_t activations() const;
  uint64_t messages() const { return messages_; }
  /// The most partial sums that one switch held.
  size_t most_sums() const;
  /// With `run.data: functional`: bytes that were compared.
  uint64_t verified() const { return data_ == nullptr ? 0 : data_->verified(); }

  /// At packet fidelity: tells the causal log of the links that a chunk crosses. `hops`: of the machine's
  /// network that carries the pool; null: nobody follows its packets, or the pool has a network of its own.
  void follow_packets(PacketHops* hops);

  // Component
  void count(Counters& counters) const override;
  /// Of every link of its own.
  void for_each_link(const LinkVisitor& visit) const override;
  LinkPlace link_place() const override { return LinkPlace::pool; }
  std::string stall_text() const override;
  void find_unbalanced(std::vector<std::string>& lines) const override;

 private:
  // PoolEvents
  PoolTransfer& transfer(uint32_t id) override { return *transfers_[id]; }
  void stored(PoolTransfer& transfer, uint64_t bytes, Picoseconds at) override;
  void loaded(PoolTransfer& transfer, uint32_t u, uint64_t bytes, Picoseconds at) override;
  const PoolTransfer* scatter(uint32_t set, uint32_t ordinal) const override;

  void build();
  fabric::Link* shared(uint32_t node, uint32_t port) const;
  void join();
  fabric::LinkType& type_of(const pool::PoolLayout::Link& link);
  const fabric::Link& link_at(uint32_t node, uint32_t port) const;
  LinkReport report(uint32_t node, uint32_t port) const;

  /// `set`: of an in-switch access.
  PoolTransfer& create(PoolOperation operation, uint64_t bytes, uint32_t set);
  /// The in-switch access of these members that the NPU takes part in next.
  PoolTransfer& joined(uint32_t npu, PoolOperation operation, uint64_t bytes, uint32_t set);
  void make_chunks(PoolTransfer& transfer) const;
  /// At `analytical` fidelity: with its last member an access becomes a flow.
  void start_flow(PoolTransfer& transfer, Picoseconds now);
  uint64_t carried(uint32_t node, uint32_t port) const;
  void start_load(PoolTransfer& transfer, Picoseconds at);
  void start_gather(PoolTransfer& transfer, Picoseconds at);
  void finish(PoolTransfer& transfer);

  const Config& config_;
  std::unique_ptr<pool::PoolLayout> layout_;
  std::unique_ptr<PoolData> data_;
  std::unique_ptr<PoolCauses> causes_;  ///< null: nobody asks
  StoreRound round_;
  PoolContext context_;
  std::unique_ptr<pool::StripingPolicy> striping_;
  std::map<std::pair<uint32_t, uint32_t>, fabric::LinkType> types_;  ///< by class and count
  fabric::LinkType service_;
  SharedLink shared_;
  std::unique_ptr<PoolFlows> flows_;                   ///< at `analytical` fidelity, in place of the modules
  std::unique_ptr<PoolPackets> net_;                   ///< at packet fidelity, in place of links
  std::vector<std::unique_ptr<PoolPort>> ports_;       ///< by NPU
  std::vector<std::unique_ptr<PoolSwitch>> switches_;  ///< by node, from the first switch on
  std::vector<std::unique_ptr<CxlMemoryGroup>> groups_;
  std::vector<std::unique_ptr<PoolTransfer>> transfers_;  ///< by id; null: over
  uint32_t under_way_ = 0;
  /// In-switch accesses of the same members.
  struct InSwitch {
    std::vector<uint32_t> ids;           ///< in their order
    std::map<uint32_t, uint32_t> taken;  ///< by NPU: how many it has begun
  };
  std::map<uint32_t, InSwitch> in_switch_[2];  ///< gather_loads and scatter_stores, by PoolLayout::members()
  uint64_t messages_ = 0;
  std::vector<uint64_t> bytes_;  ///< by NPU
  std::map<uint32_t, ByteStore> external_bytes_;
  PoolTransfer over_;  ///< stands for a scatter_store that is over
};

}  // namespace weft

#endif
