// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A memory as a library of others might bring it: a convenience socket, b_transport only, 30 ns an access.

#ifndef WEFT_EXAMPLES_OWN_MAIN_FOREIGN_MEMORY_H
#define WEFT_EXAMPLES_OWN_MAIN_FOREIGN_MEMORY_H

#include <tlm_utils/simple_target_socket.h>
#include <algorithm>
#include <cstdint>
#include <systemc>
#include <tlm>
#include <vector>

class ForeignMemory : public sc_core::sc_module {
 public:
  ForeignMemory(const sc_core::sc_module_name& name, uint64_t size)
      : sc_module(name), socket("socket"), bytes_(size) {
    socket.register_b_transport(this, &ForeignMemory::transport);
  }
  tlm_utils::simple_target_socket<ForeignMemory, 32> socket;
  uint64_t reads = 0;
  uint64_t writes = 0;

 private:
  void transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
    sc_core::wait(delay + sc_core::sc_time(30, sc_core::SC_NS));
    delay = sc_core::SC_ZERO_TIME;
    const uint64_t address = p.get_address();
    const uint64_t length = p.get_data_length();
    if (address > bytes_.size() || length > bytes_.size() - address) {
      p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    ++(p.is_write() ? writes : reads);
    unsigned char* const at = bytes_.data() + address;
    if (p.is_write()) {
      std::copy_n(p.get_data_ptr(), length, at);
    } else {
      std::copy_n(at, length, p.get_data_ptr());
    }
    p.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  std::vector<unsigned char> bytes_;
};

#endif
