// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Initiators for tests of memories, and what their tests say when something is not as it should be.

#ifndef WEFT_TESTS_SUPPORT_MEMORY_INITIATORS_H
#define WEFT_TESTS_SUPPORT_MEMORY_INITIATORS_H

#include <functional>
#include <map>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "sc_models/memory_dma.h"

namespace weft::test {

inline std::string lines(const std::vector<std::string>& v) {
  std::string text;
  for (const auto& line : v) text += line + "\n";
  return text;
}

inline std::string expect(const char* what, uint64_t is, uint64_t should) {
  return is == should
             ? std::string{}
             : std::string(what) + ": " + std::to_string(is) + " instead of " + std::to_string(should) + "\n";
}

/// A DMA in a module of its own: what it started, and when each access was done.
struct Dma : sc_core::sc_module {
  Dma(sc_core::sc_module_name name, uint32_t outstanding, uint64_t capacity)
      : sc_core::sc_module(name),
        dma(
            "socket", outstanding, capacity,
            [this](uint32_t token, Picoseconds at) {
              done[token].push_back(at);
              if (at < sc_core::sc_time_stamp().value()) done[token].push_back(0);
            },
            [](uint32_t token) { return "access " + std::to_string(token); }) {
    SC_HAS_PROCESS(Dma);
    SC_THREAD(run);
  }
  void run() {
    if (script) script();
  }
  MemoryDma dma;
  std::map<uint32_t, std::vector<Picoseconds>> done;
  std::function<void()> script;
};

/// Payloads of its own, for what MemoryDma never does.
struct Manager : tlm::tlm_mm_interface {
  void free(tlm::tlm_generic_payload* p) override {
    ++freed;
    p->reset();
  }
  int freed = 0;
};

struct Initiator : sc_core::sc_module, tlm::tlm_bw_transport_if<> {
  explicit Initiator(sc_core::sc_module_name name) : sc_core::sc_module(name), socket("socket") {
    socket.bind(*this);
    SC_HAS_PROCESS(Initiator);
    SC_THREAD(run);
  }
  void run() {
    if (script) script();
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    if (answer) return answer(p, phase, delay);
    phase = tlm::END_RESP;
    return tlm::TLM_UPDATED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  static void fill(tlm::tlm_generic_payload& p, uint64_t address, unsigned length, unsigned char* data) {
    p.set_command(tlm::TLM_READ_COMMAND);
    p.set_address(address);
    p.set_data_ptr(data);
    p.set_data_length(length);
    p.set_streaming_width(length);
    p.set_byte_enable_ptr(nullptr);
    p.set_dmi_allowed(false);
    p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  }
  tlm::tlm_initiator_socket<32> socket;
  std::function<void()> script;
  std::function<tlm::tlm_sync_enum(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&)> answer;
};

}  // namespace weft::test

#endif
