// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Synthetic traffic for one memory: what `weft memory` measures with. An initiator of the base protocol that
// issues blocks by a pattern, at random times of a given rate or as fast as the memory takes them, and notes
// how long each takes.

#ifndef WEFT_SC_MODELS_MEMORY_TRAFFIC_H
#define WEFT_SC_MODELS_MEMORY_TRAFFIC_H

#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <systemc>
#include <tlm>
#include <vector>

#include "configs/types.h"

namespace weft {

/// Which blocks are accessed, one after the other.
struct MemoryPattern {
  bool random = false;       ///< blocks at random places; otherwise one behind the other
  uint64_t block = 64;       ///< bytes of an access
  uint64_t stride = 64;      ///< from the beginning of a block to that of the next one, when not random
  uint64_t range = 1 << 30;  ///< addresses below; at least a block and a stride
  double reads = 1;          ///< fraction of the blocks
  /// Blocks of one direction before the direction changes. 0: directions change from block to block, at
  /// random places by chance; otherwise reads and writes are two streams in a fixed sequence.
  uint64_t run = 0;
};

class MemoryTraffic final : public sc_core::sc_module,
                            private tlm::tlm_bw_transport_if<>,
                            public tlm::tlm_mm_interface {
 public:
  struct Config {
    MemoryPattern pattern;
    double rate = 0;            ///< bytes a picosecond, at times of a Poisson process; 0: as fast as possible
    uint32_t outstanding = 64;  ///< blocks in flight, as fast as possible
    uint64_t blocks = 0;        ///< > 0
    uint64_t seed = 1;
  };
  MemoryTraffic(sc_core::sc_module_name name, const Config& config);
  ~MemoryTraffic() override;

  tlm::tlm_initiator_socket<32> socket;

  /// The first block is not issued before `at`. Once.
  void start(Picoseconds at);
  bool finished() const { return answered_ == config_.blocks; }
  uint64_t answered() const { return answered_; }

  // Of a finished one.
  Picoseconds time() const { return last_ - begin_; }  ///< from the start to the last answer
  /// Of each block, from its creation to its answer.
  const std::vector<Picoseconds>& latencies() const { return latencies_; }

 private:
  struct Request : tlm::tlm_generic_payload {
    explicit Request(tlm::tlm_mm_interface* mm) : tlm::tlm_generic_payload(mm) {}
    Picoseconds created = 0;
  };

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  void free(tlm::tlm_generic_payload* payload) override;

  void process();
  void issue_all(Picoseconds now);
  void issue(Picoseconds created, Picoseconds now);
  void answered(Request& request, Picoseconds at);
  void next_block(uint64_t& address, bool& write);
  double gap() { return -std::log(1 - uniform_(random_)) * mean_gap_; }

  const Config config_;
  std::mt19937_64 random_;
  std::uniform_real_distribution<double> uniform_{0, 1};
  double mean_gap_ = 0;
  double due_ = 0;  ///< creation of the next block, since the start
  uint64_t issued_ = 0, answered_ = 0;
  uint64_t reads_ = 0, writes_ = 0;
  Picoseconds begin_ = 0, last_ = 0;
  Request* requesting_ = nullptr;  ///< BEGIN_REQ sent, END_REQ not seen
  bool issuing_ = false;           ///< issue_all() is at work
  sc_core::sc_event wake_;
  std::vector<Picoseconds> latencies_;
  std::vector<std::unique_ptr<Request>> pool_;
  std::vector<Request*> free_;
  std::vector<unsigned char> data_;
};

}  // namespace weft

#endif
