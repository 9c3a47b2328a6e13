// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// An initiator that asks in every way in which the base protocol lets an initiator ask, drawn from a seed,
// and looks whether what comes back is right: for tests of memories and of what stands between.

#ifndef WEFT_COSIM_TLM_FUZZ_INITIATOR_H
#define WEFT_COSIM_TLM_FUZZ_INITIATOR_H

#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "configs/types.h"
#include "cosim/tlm/payload_pool.h"

namespace weft::cosim {

enum class FuzzStyle { lt, at, mixed };

/// Reads and writes of a range that nobody else writes: any length and alignment, byte enables (as long as
/// the data, short and repeating), streaming widths below and above the length, delays, payloads with and
/// without a memory manager (LT), END_RESP in all three forms, phases and extensions that nobody knows, debug
/// accesses, addresses that do not exist. It knows what the range holds and compares. Accesses under way
/// never overlap where one of them writes.
class FuzzInitiator final : public sc_core::sc_module, private tlm::tlm_bw_transport_if<> {
 public:
  struct Options {
    uint64_t seed = 1;
    FuzzStyle style = FuzzStyle::mixed;
    uint64_t transactions = 200;
    uint32_t outstanding = 8;      ///< accesses under way at most
    uint64_t base = 0;             ///< first address of the range
    uint64_t size = 1 << 14;       ///< bytes
    uint32_t most_length = 4'200;  ///< bytes of an access at most
    uint64_t outside = 0;          ///< an address from which on there is nothing, for 256 bytes; 0: none
    bool byte_enables = true;
    bool streaming = true;   ///< widths below the length; BURST_ERROR is a fair answer
    bool delays = true;      ///< requests with a delay that is not 0
    bool no_manager = true;  ///< half of the b_transport payloads have none
    bool unknown_phases = true;
    bool unknown_extensions = true;
    bool debug = true;             ///< debug accesses; a target that moves nothing is fair
    bool data = true;              ///< what is read is compared
    Picoseconds most_gap = 5'000;  ///< pause between two accesses at most; 0: none
    int breaks = 0;                ///< number of a rule that it breaks now and then: for tests of checkers
  };
  FuzzInitiator(sc_core::sc_module_name name, const Options& options);
  ~FuzzInitiator() override;

  tlm::tlm_initiator_socket<32> socket;

  /// What was wrong, a line each, as BaseProtocolChecker's.
  const std::vector<std::string>& violations() const { return violations_; }
  const std::set<int>& broken_rules() const { return rules_; }
  /// Adds what never ended. When the simulation is over.
  void finish();

  const PayloadPool& pool() const { return pool_; }
  uint64_t answered() const { return answered_; }
  uint64_t bytes() const { return bytes_; }        ///< of accesses that were TLM_OK_RESPONSE
  uint64_t compared() const { return compared_; }  ///< bytes
  Picoseconds last() const { return last_; }       ///< time of the last answer

 private:
  using Payload = tlm::tlm_generic_payload;
  struct Access;
  class Worker;

  tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  void broken(int rule, uint64_t address, const std::string& what);
  bool done() const { return issued_ >= options_.transactions; }
  void draw(Access& access);
  bool conflicts(uint64_t address, uint64_t bytes, bool write) const;
  void take(Access& access);
  void fill(Payload& payload, Access& access);
  void verify(const Payload& payload, Access& access);
  void compare(Access& access);
  void keep(const Access& access, bool known);
  void debug(Access& access);
  Picoseconds random_delay() { return options_.delays && random_() % 2 == 0 ? random_() % 20'000 : 0; }
  bool breaks(int rule) { return options_.breaks == rule && random_() % 4 == 0; }
  void method();

  const Options options_;
  std::mt19937_64 random_;
  PayloadPool pool_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Access*> under_way_;
  sc_core::sc_event one_over_;
  sc_core::sc_event request_free_;
  sc_core::sc_event in_method_;
  sc_core::sc_event never_;
  Payload* requesting_ = nullptr;
  Payload* deaf_ = nullptr;            ///< whose END_REQ it does not see: breaks rule 10
  std::vector<unsigned char> shadow_;  ///< what the range holds
  std::vector<uint8_t> known_;         ///< by byte: the rule that its last write was about, 0: not known
  uint64_t issued_ = 0;
  uint64_t answered_ = 0;
  uint64_t bytes_ = 0;
  uint64_t compared_ = 0;
  uint64_t order_ = 0;
  Picoseconds last_ = 0;
  std::vector<std::string> violations_;
  std::set<int> rules_;
};

}  // namespace weft::cosim

#endif
