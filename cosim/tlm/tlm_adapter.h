// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Joins two modules that speak the base protocol in different ways.

#ifndef WEFT_COSIM_TLM_TLM_ADAPTER_H
#define WEFT_COSIM_TLM_TLM_ADAPTER_H

#include <cstdint>
#include <memory>
#include <systemc>
#include <tlm>

#include "cosim/tlm/cut_accesses.h"
#include "cosim/tlm/initiator_edge.h"
#include "cosim/tlm/target_edge.h"

namespace weft::cosim {

/// Initiator of any style -> `target()`, `initiator()` -> target of the style that the options say. The
/// target sees payloads of the adapter: with a memory manager, free to be changed, without phases of others.
/// With `piece` it sees naturally aligned powers of two; the initiator gets one response, with the worst
/// status, when the last piece is complete.
class TlmAdapter final : public sc_core::sc_module {
 public:
  struct Options {
    /// The target has b_transport only: threads call it. Otherwise it gets AT.
    bool blocking = false;
    /// Accesses (pieces) under way at the target at most; with `blocking` the number of threads.
    uint32_t outstanding = 16;
    /// Accesses of the initiator under way at most; then END_REQ and b_transport wait. 0: any number.
    uint32_t depth = 0;
    /// Bytes of a piece at most, a power of two. 0: accesses are not cut.
    uint32_t piece = 0;
    /// With `piece`: the target knows no byte enables. It gets pieces of enabled bytes only; an access
    /// without any is TLM_OK_RESPONSE.
    bool no_byte_enables = false;
  };

  /// Throws std::invalid_argument for a `piece` that is no power of two.
  TlmAdapter(sc_core::sc_module_name name, const Options& options);
  ~TlmAdapter() override;

  tlm::tlm_target_socket<32>& target() { return in_.socket; }
  tlm::tlm_initiator_socket<32>& initiator() { return out_.socket; }

  /// Accesses without an answer.
  uint32_t outstanding() const { return in_.outstanding(); }
  const PayloadPool& pool() const { return out_.pool(); }

 private:
  using Payload = tlm::tlm_generic_payload;

  void begin(TargetEdge::Ticket ticket, Payload& payload, Picoseconds at);
  void start(TargetEdge::Ticket ticket, Payload& payload, const AccessPiece& piece, unsigned char* enables,
             Picoseconds at);

  const Options options_;
  CutAccesses cut_;
  TargetEdge in_;
  InitiatorEdge out_;
};

}  // namespace weft::cosim

#endif
