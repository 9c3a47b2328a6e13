// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Sits on a base-protocol hop and writes down every rule of IEEE 1666-2011 (clauses 11, 14, 15) that either
// side breaks.

#ifndef WEFT_TESTS_SUPPORT_BASE_PROTOCOL_CHECKER_H
#define WEFT_TESTS_SUPPORT_BASE_PROTOCOL_CHECKER_H

#include <map>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

namespace weft::test {

/// Initiator socket -> `target`, `initiator` -> target socket. Every message begins with the rule's word, see
/// kRules.
class BaseProtocolChecker : public sc_core::sc_module,
                            private tlm::tlm_fw_transport_if<>,
                            private tlm::tlm_bw_transport_if<> {
 public:
  explicit BaseProtocolChecker(sc_core::sc_module_name name);

  tlm::tlm_target_socket<32> target;
  tlm::tlm_initiator_socket<32> initiator;

  const std::vector<std::string>& violations() const { return violations_; }
  /// Adds what is still open at the end: transactions without a response, references not returned.
  void finish();

  uint64_t transactions() const { return transactions_; }
  /// Requests that had no response yet, at the worst time.
  uint32_t most_outstanding() const { return most_outstanding_; }

 private:
  enum class State { request, requested, responding, completed };
  struct Known {
    State state = State::request;
    tlm::tlm_command command{};
    unsigned char* data = nullptr;
    unsigned length = 0;
    unsigned streaming = 0;
    unsigned char* enables = nullptr;
    unsigned enable_length = 0;
    sc_core::sc_time last;  ///< of the latest phase, annotations included
  };

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override;
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) override;

  void broken(const std::string& what);
  void check_new(const tlm::tlm_generic_payload& payload, bool needs_manager);
  void check_unchanged(const tlm::tlm_generic_payload& payload, const Known& known);
  void advance(Known& known, const sc_core::sc_time& delay, const char* where);
  void begin_response(tlm::tlm_generic_payload& payload, Known& known);
  void end_response(tlm::tlm_generic_payload& payload);
  void end_request(const tlm::tlm_generic_payload& payload, Known& known, bool by_response);

  std::map<const tlm::tlm_generic_payload*, Known> open_;
  const tlm::tlm_generic_payload* requesting_ = nullptr;
  const tlm::tlm_generic_payload* responding_ = nullptr;
  std::vector<std::string> violations_;
  uint64_t transactions_ = 0;
  uint32_t most_outstanding_ = 0;
};

}  // namespace weft::test

#endif
