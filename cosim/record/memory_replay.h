// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A testbench of one memory: the recorded accesses of a job go to it at the times of the job, by the same
// sockets. When each is complete is compared with the recording. Bytes are not recorded: writes write bytes
// that follow from their addresses, and a memory that keeps bytes of its own (AxiMemory) compares reads with
// them.

#ifndef WEFT_COSIM_RECORD_MEMORY_REPLAY_H
#define WEFT_COSIM_RECORD_MEMORY_REPLAY_H

#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <unordered_map>
#include <vector>

#include "configs/config.h"
#include "cosim/record/replay.h"
#include "cosim/tlm/payload_pool.h"
#include "sc_models/dram_policies.h"
#include "sc_models/memory_model.h"

namespace weft::cosim {

class MemoryReplay final : public sc_core::sc_module, public BlockReplay {
 public:
  using Make = std::function<std::unique_ptr<MemoryTarget>(const char* name, const MemoryContext& context)>;

  /// `make`: null for the memory that the recorded configuration has. Errors: UserError(usage) for a
  /// recording of another kind of block. The recording outlives the module.
  MemoryReplay(sc_core::sc_module_name name, const Recording& recording, const Make& make,
               const ReplayOptions& options = {});
  ~MemoryReplay() override;

  void finish() override;
  const ReplayReport& report() const override { return report_; }
  const MemoryTarget& block() const { return *memory_; }
  const char* unit() const override { return "accesses"; }
  uint64_t driven() const override { return driven_; }
  uint64_t expected() const override { return expected_; }
  std::string stall_text() const override { return memory_->stall_text(); }

 private:
  class Initiator;

  void drive();
  void begin(const RecordedEvent& event);
  void complete(uint64_t number, const MemoryTarget::Access& access, Picoseconds at);

  const ReplayOptions options_;
  ReplayReport report_;
  Config config_;
  std::shared_ptr<const DramDevice> dram_;
  std::unique_ptr<MemoryTarget> memory_;
  PayloadPool payloads_;
  std::vector<std::unique_ptr<Initiator>> initiators_;          ///< by socket
  std::unordered_map<uint64_t, const RecordedEvent*> waiting_;  ///< recorded ends, by the access's number
  ReplayFeed feed_;
  uint64_t driven_ = 0;
  uint64_t expected_ = 0;
};

}  // namespace weft::cosim

#endif
