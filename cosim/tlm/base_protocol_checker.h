// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Sits on a base-protocol hop and writes down every rule of IEEE 1666-2011 (clauses 11, 14, 15) that either
// side breaks. The rules have the numbers of docs/tlm_edges.md.

#ifndef WEFT_COSIM_TLM_BASE_PROTOCOL_CHECKER_H
#define WEFT_COSIM_TLM_BASE_PROTOCOL_CHECKER_H

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "cosim/tlm/payload_pool.h"
#include "cosim/tlm/payload_snapshot.h"

namespace weft::cosim {

/// Initiator socket -> `target`, `initiator` -> target socket. It takes no time and changes nothing, but
/// holds a reference to every non-blocking payload until the next delta cycle after its end. Call finish()
/// when the simulation is over; then violations() has all there is, a line each:
/// "rule 7, dma.socket -> hbm.port0, at 1200 ps, address 0x40: BEGIN_REQ before the last END_REQ".
class BaseProtocolChecker : public sc_core::sc_module,
                            private tlm::tlm_fw_transport_if<>,
                            private tlm::tlm_bw_transport_if<> {
 public:
  struct Options {
    /// The hop in messages; empty: the names of the two sockets.
    std::string hop;
    /// Both sides get what they have to ignore: an unknown phase between the others, another phase and
    /// delay beside TLM_ACCEPTED; and debug accesses are done twice. For sides that survive it.
    bool provoke = false;
    /// Direct memory pointers may be granted; otherwise they are a violation (rule 27).
    bool dmi = false;
    /// Every violation is an error of SystemC's report handler, too, when it is found.
    bool report = false;
    /// Bytes that the target has; 0: not known. TLM_OK_RESPONSE beyond them is a violation (rule 23).
    uint64_t capacity = 0;
    /// So many transactions have to come; 0: not known. Fewer are a violation by finish(), named after
    /// the answer behind which the initiator stopped.
    uint64_t transactions = 0;
  };

  explicit BaseProtocolChecker(sc_core::sc_module_name name) : BaseProtocolChecker(name, Options()) {}
  BaseProtocolChecker(sc_core::sc_module_name name, const Options& options);

  tlm::tlm_target_socket<32> target;
  tlm::tlm_initiator_socket<32> initiator;

  const std::vector<std::string>& violations() const { return violations_; }
  /// Numbers of the rules that were broken.
  const std::set<int>& broken_rules() const { return rules_; }
  /// Adds what is still open at the end: transactions that never ended, references that were not returned.
  void finish();
  /// .. and payloads of this pool that are still out (rule 28). The pool outlives finish().
  void watch(const PayloadPool& pool) { pools_.push_back(&pool); }

  uint64_t transactions() const { return transactions_; }
  /// Requests that had no response yet, at the worst time.
  uint32_t most_outstanding() const { return most_outstanding_; }

 private:
  using Payload = tlm::tlm_generic_payload;
  enum class State { request, requested, responding };
  /// How the other side answered last.
  enum class Form { none, accepted, end_req, completed, returned_response, early_response, response };
  struct Known {
    State state = State::request;
    Form form = Form::none;
    uint64_t number = 0;        ///< of the transaction
    sc_core::sc_time begin;     ///< of BEGIN_REQ, annotation included
    sc_core::sc_time last;      ///< of the latest phase
    sc_core::sc_time response;  ///< of BEGIN_RESP
    int references = 0;         ///< at BEGIN_REQ
    bool held = false;
    bool overtaken = false;  ///< its response was out of order
    PayloadSnapshot snapshot;
  };
  struct Ended {
    Payload* payload = nullptr;
    int references = 0;
    Form form = Form::none;
    uint64_t address = 0;
  };

  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void b_transport(Payload& payload, sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(Payload& payload, tlm::tlm_dmi& dmi) override;
  unsigned transport_dbg(Payload& payload) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) override;

  void broken(int rule, const Payload* payload, const std::string& what) {
    broken_at(rule, payload != nullptr ? payload->get_address() : 0, payload != nullptr, what);
  }
  void broken_at(int rule, uint64_t address, bool has_address, const std::string& what);
  std::string hop();
  void check_new(const Payload& payload, bool needs_manager);
  void check_unchanged(const Payload& payload, const Known& known);
  bool beyond(const Payload& payload, uint64_t address) const;
  void check_response(Payload& payload, Known& known);
  void advance(const Payload& payload, Known& known, const sc_core::sc_time& delay, const char* where);
  void begin_request(Payload& payload, const sc_core::sc_time& delay);
  void end_request(const Payload& payload, Known& known, bool by_response);
  void begin_response(Payload& payload, Known& known, const sc_core::sc_time& delay, Form form);
  void end_response(Payload& payload, const sc_core::sc_time& delay, const char* where);
  void close(Payload& payload);
  void request_answered(Payload& payload, Known& known, tlm::tlm_sync_enum answer,
                        const tlm::tlm_phase& phase, const sc_core::sc_time& delay);
  tlm::tlm_sync_enum ignorable(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay,
                               bool forward);
  void probe(Payload& payload, bool forward);
  void check_moved(Payload& payload, unsigned moved);
  void scribble(tlm::tlm_sync_enum answer, tlm::tlm_phase& phase, sc_core::sc_time& delay) const;
  void check_scribble(const Payload& payload, const sc_core::sc_time& delay, const char* who);
  void check_accepted(const Payload& payload, tlm::tlm_sync_enum answer, bool same, const char* who);
  void sweep();

  const Options options_;
  std::string hop_;
  std::map<const Payload*, Known> open_;
  std::vector<Ended> ended_;  ///< whose payloads this checker still holds
  std::set<const Payload*> blocking_;
  std::set<uint64_t> unanswered_;  ///< numbers of transactions without a response
  const Payload* requesting_ = nullptr;
  const Payload* responding_ = nullptr;
  bool debugging_ = false;
  bool frees_ = false;  ///< the initiator gives its payloads back
  Form last_form_ = Form::none;
  sc_core::sc_event sweep_;  ///< a transaction has ended
  std::vector<const PayloadPool*> pools_;
  std::vector<std::string> violations_;
  std::set<int> rules_;
  uint64_t transactions_ = 0;
  uint32_t most_outstanding_ = 0;
};

}  // namespace weft::cosim

#endif
