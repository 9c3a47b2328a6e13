// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Delivers transfers by rank, without time of its own: the carrier of `analytical` dimensions and of the pair
// links of FullyConnected, where a socket a pair would be N^2 bindings. Every NMU binds one initiator socket,
// in rank order; a transfer goes to Transfer::target over that NMU's backward path. All timing is the sending
// port's.

#ifndef WEFT_TLM_INTERCONNECT_FABRIC_DIRECT_FABRIC_H
#define WEFT_TLM_INTERCONNECT_FABRIC_DIRECT_FABRIC_H

#include <memory>
#include <vector>

#include "tlm_interconnect/ports/fetch_lines.h"
#include "tlm_interconnect/protocol/fabric_protocol.h"

namespace weft::fabric {

/// A public endpoint: who holds its interface may ask whether it is one (Nmu::Port).
class DirectFabric : public sc_core::sc_module, public FabricEndpoint {
 public:
  /// `members` initiator sockets will be bound, in rank order, with bind_member(). `slots`: where ranks are
  /// among them, if not all of the machine's are; empty: rank r is the r-th.
  DirectFabric(sc_core::sc_module_name name, uint32_t members, std::vector<uint32_t> slots = {});
  ~DirectFabric() override;

  void bind_member(fabric_initiator_base& member);

  /// Where a member keeps what a transfer to it touches; fetched ahead, never read.
  struct Hint {
    fabric_bw_if* interface = nullptr;
    const void* module = nullptr;
    const void* link = nullptr;
  };
  void hint(uint32_t target, const void* module, const void* link) {
    Hint& hint = hints_[slot(target)];
    hint.module = module;
    hint.link = link;
  }
  const Hint* hint(uint32_t target) const { return &hints_[slot(target)]; }
  /// What sending it over the socket does. Not before the simulation starts.
  void deliver(Transfer& transfer) {
    FabricPhase phase = FabricPhase::transfer;
    sc_core::sc_time zero;
    hints_[slot(transfer.target)].interface->nb_transport_bw(transfer, phase, zero);
  }
  /// A transfer to that member may come soon.
  static void prefetch(const Hint* hint) {
    __builtin_prefetch(hint->interface);
    __builtin_prefetch(hint->link);
    fetch_lines(hint->module, 256);
  }

 private:
  void receive(const Transfer& transfer) override;
  void end_of_elaboration() override;
  uint32_t slot(uint32_t target) const { return slots_.empty() ? target : slots_[target]; }

  // sc_port looks for duplicates in all it has bound: banks keep elaboration linear.
  static constexpr uint32_t kBank = 128;
  std::vector<std::unique_ptr<fabric_multi_target_socket>> banks_;
  std::vector<uint32_t> slots_;
  std::vector<Hint> hints_;  ///< by slot
  uint32_t members_ = 0;
  uint32_t bound_ = 0;
};

}  // namespace weft::fabric

#endif
