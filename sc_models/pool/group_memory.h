// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The memory behind a memory group: a target of the TLM-2.0 base protocol that the registry of memory models
// makes (`memory.pool.group_memory`), and the initiator that asks it.

#ifndef WEFT_SC_MODELS_POOL_GROUP_MEMORY_H
#define WEFT_SC_MODELS_POOL_GROUP_MEMORY_H

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "configs/config.h"
#include "sc_models/memory_target.h"
#include "sc_models/module_choices.h"

namespace weft {

/// Approximately-timed, four phases. Not a module: a member of one.
class GroupMemory final : public tlm::tlm_bw_transport_if<>, public tlm::tlm_mm_interface {
 public:
  /// Access `token` is complete at the absolute time `at` (>= now).
  using Done = std::function<void(uint32_t token, Picoseconds at)>;

  /// Below the module that is being constructed. `keeps_bytes`: accesses carry bytes.
  /// `model`: of the memory, as ModuleChoices gives it.
  GroupMemory(const Config& config, const ModuleChoices::Chosen& model, bool keeps_bytes, Done done,
              vcd::ProbeHub* probes = nullptr);
  ~GroupMemory() override;

  /// bytes > 0. `data`: null, or so many bytes that are written, or read when it is done. Accesses begin in
  /// order, at addresses that follow each other.
  void start(uint32_t token, bool write, unsigned char* data, uint64_t bytes);
  /// Its accesses are those of the parts on whose behalf they start.
  void keep_causes(insight::CausalLog& log);
  /// Bytes of accesses that are not complete.
  uint64_t under_way() const { return under_way_; }

  const MemoryTarget& target() const { return *target_; }

 private:
  static constexpr uint64_t kRequest = 4ull << 20;  ///< bytes of one request at most

  struct Access {
    uint32_t token = 0;
    bool write = false;
    unsigned char* data = nullptr;
    uint64_t address = 0;
    uint64_t bytes = 0;
    uint64_t to_issue = 0;
    uint64_t to_finish = 0;
    Picoseconds last = 0;
    insight::AccessPart part;
  };
  struct Request : tlm::tlm_generic_payload {
    explicit Request(tlm::tlm_mm_interface* mm) : tlm::tlm_generic_payload(mm) {}
    std::shared_ptr<Access> access;
  };

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  void free(tlm::tlm_generic_payload* payload) override;

  void issue();
  /// .. on behalf of its access: causes_ is not null.
  tlm::tlm_sync_enum forward(Request& request, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  /// The bytes of a request by debug transport, which takes no time.
  void look(const Request& request, tlm::tlm_command command);
  void answered(Request& request, Picoseconds at);

  const uint64_t capacity_;
  const bool keeps_bytes_;
  Done done_;
  std::unique_ptr<MemoryTarget> target_;
  tlm::tlm_initiator_socket<32> socket_;
  std::deque<std::shared_ptr<Access>> waiting_;  ///< not wholly issued
  uint64_t address_ = 0;
  uint64_t under_way_ = 0;
  Request* requesting_ = nullptr;  ///< BEGIN_REQ sent, END_REQ not seen
  bool issuing_ = false;
  insight::CausalLog* causes_ = nullptr;  ///< null: nobody asks
  std::vector<std::unique_ptr<Request>> requests_;
  std::vector<Request*> free_;
  std::vector<unsigned char> scratch_;  ///< where accesses without data point
};

}  // namespace weft

#endif
