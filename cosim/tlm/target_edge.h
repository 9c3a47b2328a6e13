// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The target side of the base protocol, for what stands behind it: adapters, bridges, pins. Whoever owns it
// gets each access once and answers when it likes.

#ifndef WEFT_COSIM_TLM_TARGET_EDGE_H
#define WEFT_COSIM_TLM_TARGET_EDGE_H

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "configs/types.h"
#include "tlm_interconnect/ports/timed_queue.h"

namespace weft::cosim {

/// LT and AT, from one initiator socket. END_REQ comes with BEGIN_REQ while there is room; then it comes when
/// there is room again, and b_transport waits. Responses come as they are finished, one BEGIN_RESP at a time.
/// DMI is denied, phases that are none of the base protocol's are ignored.
class TargetEdge final : public sc_core::sc_module, private tlm::tlm_fw_transport_if<> {
 public:
  using Payload = tlm::tlm_generic_payload;
  using Ticket = uint32_t;
  /// The access arrives at `at` (>= now). Its payload stays until finish(). Answer from here or later.
  using Begin = std::function<void(Ticket ticket, Payload& payload, Picoseconds at)>;
  /// transport_dbg.
  using Debug = std::function<unsigned(Payload& payload)>;

  /// `depth`: accesses under way at most; 0: any number.
  TargetEdge(sc_core::sc_module_name name, uint32_t depth, Begin begin, Debug debug);
  ~TargetEdge() override;

  tlm::tlm_target_socket<32> socket;

  /// The access is complete at `at` (>= now).
  void finish(Ticket ticket, tlm::tlm_response_status status, Picoseconds at);

  /// What the attributes themselves say: TLM_OK_RESPONSE, or the error of an access that cannot be executed.
  static tlm::tlm_response_status check(const Payload& payload);

  uint64_t accesses() const { return accesses_; }
  /// Accesses without an answer.
  uint32_t outstanding() const { return outstanding_; }

 private:
  struct Open {
    Payload* payload = nullptr;
    bool blocking = false;
    bool finished = false;
    Picoseconds at = 0;
    std::unique_ptr<sc_core::sc_event> done;
  };

  void b_transport(Payload& payload, sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(Payload& payload, tlm::tlm_dmi& dmi) override;
  unsigned transport_dbg(Payload& payload) override { return debug_(payload); }

  bool full() const { return depth_ != 0 && under_way_ >= depth_; }
  Ticket open(Payload& payload, bool blocking);
  void begin(Ticket ticket, Picoseconds at);
  void close(Ticket ticket);
  void respond();
  void process();
  void wake_at(Picoseconds at);

  const uint32_t depth_;
  Begin begin_;
  Debug debug_;
  std::deque<Open> open_;
  std::vector<Ticket> free_;
  uint32_t under_way_ = 0;   ///< begun and not finished
  Payload* held_ = nullptr;  ///< BEGIN_REQ without END_REQ
  Picoseconds held_at_ = 0;
  fabric::TimedQueue<Payload*, uint64_t> answers_;
  std::deque<Payload*> waiting_;  ///< for the last END_RESP
  Payload* responding_ = nullptr;
  uint64_t sequence_ = 0;
  uint64_t accesses_ = 0;
  uint32_t outstanding_ = 0;
  sc_core::sc_event wake_;
  sc_core::sc_event room_;
};

}  // namespace weft::cosim

#endif
