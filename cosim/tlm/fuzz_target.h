// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A memory that answers in every way in which the base protocol lets a target answer, drawn from a seed: for
// tests of initiators and of what stands between.

#ifndef WEFT_COSIM_TLM_FUZZ_TARGET_H
#define WEFT_COSIM_TLM_FUZZ_TARGET_H

#include <cstdint>
#include <map>
#include <random>
#include <systemc>
#include <tlm>
#include <vector>

#include "configs/types.h"
#include "sc_models/byte_store.h"

namespace weft::cosim {

/// LT and AT. Answers to BEGIN_REQ: TLM_COMPLETED; TLM_UPDATED with BEGIN_RESP or END_REQ; TLM_ACCEPTED with
/// END_REQ later or none. Responses come in any order, with and without delays, between phases that nobody
/// knows. END_RESP is taken in all three forms. b_transport waits, or adds to the delay. Requests take effect
/// in the order in which they come.
class FuzzTarget final : public sc_core::sc_module, private tlm::tlm_fw_transport_if<> {
 public:
  struct Options {
    uint64_t seed = 1;
    uint64_t size = 1 << 16;            ///< bytes; above: TLM_ADDRESS_ERROR_RESPONSE
    Picoseconds least_latency = 1'000;  ///< from a request to its response
    Picoseconds most_latency = 50'000;
    bool non_blocking = true;    ///< false: nb_transport_fw is a violation of whoever calls it
    bool waits = true;           ///< b_transport may call wait()
    bool byte_enables = true;    ///< false: TLM_BYTE_ENABLE_ERROR_RESPONSE
    bool streaming = true;       ///< false: TLM_BURST_ERROR_RESPONSE where the width is less
    bool unknown_phases = true;  ///< it sends some
    int breaks = 0;              ///< number of a rule that it breaks now and then: for tests of checkers
  };
  FuzzTarget(sc_core::sc_module_name name, const Options& options);

  tlm::tlm_target_socket<32> socket;

  uint64_t requests() const { return requests_; }
  /// Requests that were not answered.
  uint64_t outstanding() const { return outstanding_; }
  uint64_t most_outstanding() const { return most_outstanding_; }

 private:
  using Payload = tlm::tlm_generic_payload;
  enum class Call { end_req, response, unknown };
  struct Due {
    Payload* payload = nullptr;
    Call call = Call::response;
    uint64_t number = 0;
  };

  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void b_transport(Payload& payload, sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(Payload& payload, tlm::tlm_dmi& dmi) override;
  unsigned transport_dbg(Payload& payload) override;

  tlm::tlm_sync_enum request(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void execute(Payload& payload);
  void spoil(Payload& payload);
  tlm::tlm_response_status status_of(const Payload& payload) const;
  void process();
  void call_due(const Due& due);
  void respond(Payload& payload);
  void schedule(Picoseconds at, const Due& due);
  bool breaks(int rule) { return options_.breaks == rule && random_() % 4 == 0; }
  Picoseconds draw(Picoseconds least, Picoseconds most) { return least + random_() % (most - least + 1); }

  const Options options_;
  std::mt19937_64 random_;
  ByteStore store_;
  std::map<std::pair<Picoseconds, uint64_t>, Due> due_;
  std::vector<Payload*> ready_;  ///< responses that wait for the last END_RESP
  Payload* responding_ = nullptr;
  uint64_t sequence_ = 0;
  uint64_t requests_ = 0;
  uint64_t outstanding_ = 0;
  uint64_t most_outstanding_ = 0;
  sc_core::sc_event wake_;
  sc_core::sc_event never_;
};

}  // namespace weft::cosim

#endif
