// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A memory model that asks a TLM-2.0 target of somebody else: `implementation` of an HBM, of remote memory or
// of memory groups.

#ifndef WEFT_COSIM_BLOCKS_TLM_MEMORY_H
#define WEFT_COSIM_BLOCKS_TLM_MEMORY_H

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "cosim/tlm/initiator_edge.h"
#include "sc_models/byte_store.h"
#include "sc_models/memory_model.h"
#include "sc_models/memory_target.h"

namespace weft::cosim {

/// Bind socket() to the target. Times are the target's.
///
/// Writes carry the bytes of the access where the memory keeps bytes (`run.data: functional`), else a
/// pattern. What the target reads must be what was written last: find_unbalanced() tells what was not. An
/// access waits for those before it that it overlaps, if one of them writes. What debug transport moves does
/// not reach the target.
class TlmMemory : public MemoryTarget {
 public:
  struct Options {
    uint64_t capacity = 0;      ///< bytes of the target; 0: unlimited
    bool blocking = false;      ///< it has b_transport only: threads call it
    uint32_t outstanding = 64;  ///< accesses under way at most
  };
  /// Errors: UserError(usage) when the configuration wants more bytes than the target has.
  TlmMemory(sc_core::sc_module_name name, const MemoryContext& context, const Options& options);
  ~TlmMemory() override;

  tlm::tlm_initiator_socket<32>& socket() { return out_.socket; }
  using MemoryTarget::socket;

  Picoseconds busy() const override { return busy_; }
  void find_unbalanced(std::vector<std::string>& lines) const override;
  std::string stall_text() const override;

  /// Bytes that came back from the target and were compared.
  uint64_t compared() const { return compared_; }

 private:
  struct Moved {
    Ticket ticket = 0;
    Access access;
    Picoseconds at = 0;
    bool started = false;
    std::vector<unsigned char> data;
    std::vector<unsigned char> expected;  ///< of a read
    std::vector<unsigned char> known;     ///< .. by byte: not 0, it was written before
  };

  void begin(Ticket ticket, const Access& access, Picoseconds at) override;
  void start_those_that_can();
  void start(Moved& moved);
  void end(Moved& moved, tlm::tlm_response_status status, Picoseconds at);

  InitiatorEdge out_;
  std::deque<std::unique_ptr<Moved>> under_way_;  ///< in the order in which they came
  ByteStore written_;                             ///< by the target's socket
  ByteStore known_;                               ///< 1: the byte was written
  Picoseconds busy_ = 0;
  Picoseconds busy_until_ = 0;
  uint64_t compared_ = 0;
  std::vector<std::string> wrong_;  ///< the first ones
};

}  // namespace weft::cosim

#endif
