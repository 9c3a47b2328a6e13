// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Moves tensors over a base-protocol initiator socket: splits an access into requests, keeps several in
// flight and tells when the last one is answered. Used by the NPU (local and remote memory) and by the NMU
// (reductions in HBM).

#ifndef WEFT_SC_MODELS_MEMORY_DMA_H
#define WEFT_SC_MODELS_MEMORY_DMA_H

#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "configs/fifo.h"
#include "configs/types.h"
#include "insight/causal_log.h"
#include "sc_models/dma_tensors.h"

namespace weft {

/// Not a module: a member of one. Approximately-timed, four phases; accepts every answer a target may give
/// (15.2): END_REQ skipped or late, BEGIN_RESP as return value, early TLM_COMPLETED, delayed backward calls.
/// Payloads come from a pool of its own, each initialised for its transaction; timing-only traffic points at
/// one shared scratch buffer. An access takes the addresses behind the one before it.
class MemoryDma : public tlm::tlm_bw_transport_if<>, public tlm::tlm_mm_interface {
 public:
  /// Answered access `token`, complete at the absolute time `at` (>= now).
  using Done = std::function<void(uint32_t token, Picoseconds at)>;

  /// An access in words, for errors: "rank 3, node 7 .."
  using Describe = std::function<std::string(uint32_t token)>;

  MemoryDma(const char* socket_name, uint32_t outstanding, uint64_t capacity, Done done, Describe describe);
  ~MemoryDma() override;

  tlm::tlm_initiator_socket<32> socket;

  /// Its requests enable no byte: for memories that keep bytes, while the accesses carry none.
  void without_bytes() { without_bytes_ = true; }

  /// A tensor was loaded and compared. `wrong`: in words, with place and time; empty: nothing.
  using Loaded = std::function<void(uint64_t bytes, const std::string& wrong)>;
  /// Its accesses carry bytes, to and from a memory that keeps them: before the first access. A store makes a
  /// tensor with bytes of its own; a load means one of these (DmaTensors). Before a load its tensor is moved,
  /// by debug transport, to where the access goes, so addresses and times are those of accesses without
  /// bytes. What comes back is compared. An access of more than the capacity carries none.
  void carry_bytes(uint64_t seed, uint64_t owner, Loaded loaded);
  /// The same for accesses that say by a number which bytes they mean: a store writes the bytes of this
  /// number, and a load is compared with them. Two of the same seed and owner mean the same bytes.
  void carry_pieces(uint64_t seed, uint64_t owner, Loaded loaded) {
    carry_bytes(seed, owner, std::move(loaded));
    pieces_ = true;
  }
  /// Its addresses are those from `base` on, for so many bytes as its capacity.
  void begin_at(uint64_t base) { base_ = base; }
  bool carries_bytes() const { return tensors_ != nullptr; }

  /// The next access takes the addresses from 0 on, as the first one has. Nothing is under way.
  void restart() { address_ = 0; }

  /// Its accesses are those of the parts on whose behalf they start; done() is told of after
  /// CausalLog::answers(). Null: nobody asks.
  void keep_causes(insight::CausalLog* log) { causes_ = log; }

  /// bytes > 0. Accesses are served in order. `piece`: the number of its bytes, after carry_pieces().
  void start(uint32_t token, bool store, uint64_t bytes, uint64_t piece = DmaTensors::kNone);

  bool idle() const { return accesses_.empty() && live_ == 0; }

 private:
  static constexpr uint64_t kRequest = 4ull << 20;  ///< bytes of one request at most

  struct Access {
    uint32_t token = 0;
    bool store = false;
    uint64_t to_issue = 0;
    uint64_t to_finish = 0;
    uint64_t bytes = 0;
    Picoseconds last = 0;
    uint64_t piece = DmaTensors::kNone;
    uint64_t tensor = DmaTensors::kNone;
    std::string wrong = {};
    insight::AccessPart part = {};
  };
  struct Request : tlm::tlm_generic_payload {
    explicit Request(tlm::tlm_mm_interface* mm) : tlm::tlm_generic_payload(mm) {}
    Access* access = nullptr;
    uint64_t offset = 0;              ///< in the tensor
    std::vector<unsigned char> data;  ///< of one that carries bytes
  };

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  void free(tlm::tlm_generic_payload* payload) override;

  void issue();
  /// .. on behalf of its access: causes_ is not null.
  tlm::tlm_sync_enum forward(Request& request, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void fill(Request& request, Access& access, uint64_t bytes);
  void begin_tensor(Access& access);
  void begin_piece(Access& access);
  void move_tensor(uint64_t tensor, uint64_t to, uint64_t bytes);
  void compare(const Request& request, Access& access, Picoseconds at);
  void debug(bool write, uint64_t address, std::vector<unsigned char>& data);
  void answered(Request& request, Picoseconds at);

  uint32_t outstanding_limit_;
  uint64_t capacity_;
  Done done_;
  Describe describe_;
  Fifo<std::unique_ptr<Access>> accesses_;  ///< unfinished, in order
  size_t issuing_ = 0;                      ///< index of the access that issues requests
  uint64_t address_ = 0;
  uint64_t base_ = 0;
  uint32_t in_flight_ = 0;
  uint32_t live_ = 0;
  Request* requesting_ = nullptr;  ///< BEGIN_REQ sent, END_REQ not seen
  bool issuing_now_ = false;
  bool without_bytes_ = false;
  bool pieces_ = false;
  insight::CausalLog* causes_ = nullptr;
  std::unique_ptr<DmaTensors> tensors_;  ///< null: no bytes
  Loaded loaded_;
  std::vector<std::unique_ptr<Request>> pool_;
  std::vector<Request*> free_;
};

}  // namespace weft

#endif
