// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// An initiator of others reaches a machine's memories through the fabric: requests and responses are messages
// on the links, where they wait for those of jobs, and those of jobs for them.

#ifndef WEFT_COSIM_TLM_MM_TO_LINK_H
#define WEFT_COSIM_TLM_MM_TO_LINK_H

#include <cstdint>
#include <deque>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "cosim/tlm/address_map.h"
#include "cosim/tlm/cut_accesses.h"
#include "cosim/tlm/initiator_edge.h"
#include "cosim/tlm/target_edge.h"
#include "sc_models/machine.h"
#include "sc_models/nmu_tap.h"
#include "sc_models/pool/pool_access.h"
#include "tlm_interconnect/ports/timed_queue.h"

namespace weft::cosim {

/// Where accesses leave the fabric: beside a rank of Machine::Options::external.nmus.
class LinkToMm final : public sc_core::sc_module, public ExternalMemory {
 public:
  struct Options {
    uint32_t outstanding = 64;  ///< accesses to the memory under way at most
    uint64_t header = 16;       ///< bytes of a message beside its data
  };
  /// To the rank's HBM, which is in Machine::Options::external.hbms, too.
  LinkToMm(sc_core::sc_module_name name, Machine& machine, uint32_t rank)
      : LinkToMm(name, machine, rank, Options()) {}
  LinkToMm(sc_core::sc_module_name name, Machine& machine, uint32_t rank, const Options& options);
  /// To a memory of `capacity` bytes (0: unlimited) that initiator() is bound to.
  LinkToMm(sc_core::sc_module_name name, Machine& machine, uint32_t rank, uint64_t capacity,
           const Options& options);
  ~LinkToMm() override;

  tlm::tlm_initiator_socket<32>& initiator() { return out_.socket; }

  // ExternalMemory
  void access(tlm::tlm_generic_payload& payload, const Part& part, Done done) override;
  unsigned debug(tlm::tlm_generic_payload& payload) override;
  uint64_t capacity() const override { return capacity_; }
  void respond(NpuId destination, uint64_t bytes, ExternalMessage& message, Picoseconds at) override;

  /// Nothing is under way.
  bool idle() const { return out_.idle(); }

 private:
  void process();

  NmuTap& tap_;
  const uint64_t capacity_;
  const Options options_;
  InitiatorEdge out_;
  struct Response {
    NpuId destination{};
    uint64_t bytes = 0;
    ExternalMessage* message = nullptr;
  };
  fabric::TimedQueue<Response, uint64_t> responses_;
  uint64_t sequence_ = 0;
  sc_core::sc_event wake_;
};

/// Where they enter it: initiator of any style -> target(). Stands beside a rank of
/// Machine::Options::external.nmus. Accesses go by the address map: to memories beside other ranks by
/// messages, to groups of the memory pool over the rank's links to it. One that has a byte outside the map is
/// TLM_ADDRESS_ERROR_RESPONSE and moves nothing. Accesses may cross ranges; they have one response, with the
/// worst status.
class MmToLink final : public sc_core::sc_module, private PoolClient {
 public:
  struct Options {
    uint32_t depth = 64;   ///< accesses under way at most; then END_REQ and b_transport wait. 0: any number
    uint64_t header = 16;  ///< bytes of a message beside its data
    bool warn = true;      ///< the first access outside the map is a warning of SystemC's report handler
  };
  /// All outlive it. What the map says wrong of the machine is thrown when the simulation starts: UserError.
  MmToLink(sc_core::sc_module_name name, Machine& machine, uint32_t rank, AddressMap map)
      : MmToLink(name, machine, rank, std::move(map), Options()) {}
  MmToLink(sc_core::sc_module_name name, Machine& machine, uint32_t rank, AddressMap map,
           const Options& options);
  ~MmToLink() override;

  tlm::tlm_target_socket<32>& target() { return in_.socket; }

  /// Accesses without an answer.
  uint32_t outstanding() const { return in_.outstanding(); }
  /// Accesses with a byte outside the map.
  uint64_t outside() const { return outside_; }

 private:
  using Payload = tlm::tlm_generic_payload;
  struct Crossing;

  void end_of_elaboration() override;
  void begin(TargetEdge::Ticket ticket, Payload& payload, Picoseconds at);
  std::vector<AccessPiece> pieces(const Payload& payload, uint64_t& outside) const;
  void start(TargetEdge::Ticket ticket, Payload& payload, const AccessPiece& piece, unsigned char* enables,
             Picoseconds at);
  void process();
  void go(Crossing& crossing);
  void at_memory(Crossing& crossing);
  void over(Crossing& crossing, tlm::tlm_response_status status, Picoseconds at);
  void pool_done(uint32_t token, Picoseconds at) override;
  unsigned debug(Payload& payload);

  Machine& machine_;
  NmuTap& tap_;
  const AddressMap map_;
  const Options options_;
  CutAccesses cut_;
  TargetEdge in_;
  std::deque<Crossing> crossings_;
  std::vector<uint32_t> free_;
  fabric::TimedQueue<uint32_t, uint64_t> starts_;  ///< numbers in crossings_
  uint64_t sequence_ = 0;
  uint64_t outside_ = 0;
  sc_core::sc_event wake_;
};

}  // namespace weft::cosim

#endif
