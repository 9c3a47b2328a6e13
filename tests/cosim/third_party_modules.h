// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Modules in the styles of IP that users bring: a DRAM simulator that speaks AT only, register targets and
// bus masters that speak LT only.

#ifndef WEFT_TESTS_COSIM_THIRD_PARTY_MODULES_H
#define WEFT_TESTS_COSIM_THIRD_PARTY_MODULES_H

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <deque>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

namespace weft::test {

/// A DRAM controller: AT only. It needs a memory manager, naturally aligned powers of two up to 64 bytes and
/// no byte enables, takes the bank bits out of the address (in the payload), sets TLM_OK_RESPONSE when the
/// request comes, answers out of order, and dies of phases and calls that it does not know. It does what it
/// dies of by `fatal`.
class DramStyleTarget : public sc_core::sc_module, private tlm::tlm_fw_transport_if<> {
 public:
  DramStyleTarget(sc_core::sc_module_name module_name, uint64_t base, uint64_t size)
      : sc_core::sc_module(module_name), socket("socket"), base_(base), bytes_(size), wake_("wake") {
    socket.bind(*this);
    SC_HAS_PROCESS(DramStyleTarget);
    SC_METHOD(work);
    sensitive << wake_;
    dont_initialize();
  }
  tlm::tlm_target_socket<32> socket;
  std::string fatal;  ///< what it died of first
  uint64_t requests = 0;
  uint64_t most = 0;  ///< under way

 private:
  using Payload = tlm::tlm_generic_payload;
  static constexpr uint64_t kBankBytes = 1024;

  void die(const std::string& what) {
    if (fatal.empty()) fatal = what;
  }
  tlm::tlm_sync_enum nb_transport_fw(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    if (phase == tlm::BEGIN_REQ) {
      if (!p.has_mm()) die("no memory manager");
      p.acquire();
      ++requests;
      p.set_response_status(tlm::TLM_OK_RESPONSE);
      const uint64_t n = p.get_data_length();
      if (n > 64 || (n & (n - 1)) != 0) die("length " + std::to_string(n));
      if (p.get_address() % n != 0) die("alignment");
      if (p.get_byte_enable_ptr() != nullptr) die("byte enables");
      if (p.get_streaming_width() < n) die("streaming width");
      if (p.get_address() < base_ || p.get_address() - base_ + n > bytes_.size()) {
        p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      } else {
        const uint64_t at = p.get_address() - base_;
        if (p.is_write())
          std::copy_n(p.get_data_ptr(), n, bytes_.begin() + static_cast<std::ptrdiff_t>(at));
        else
          std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at), n, p.get_data_ptr());
        p.set_address(at % kBankBytes);
      }
      const uint64_t bank = p.get_address() / kBankBytes % 3;
      const uint64_t begin = sc_core::sc_time_stamp().value() + delay.value();
      due_.insert({begin + 2'000, {&p, true}});
      due_.insert({begin + 30'000 + 7'000 * bank + 1'000 * (requests % 5), {&p, false}});
      most = std::max<uint64_t>(most, due_.size());
      rearm();
      return tlm::TLM_ACCEPTED;
    }
    if (phase == tlm::END_RESP) {
      responding_ = nullptr;
      p.release();
      rearm();
      return tlm::TLM_COMPLETED;
    }
    die("an extended phase");
    return tlm::TLM_ACCEPTED;
  }
  void b_transport(Payload&, sc_core::sc_time&) override { die("b_transport"); }
  bool get_direct_mem_ptr(Payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(Payload&) override { return 0; }

  void rearm() {
    if (!due_.empty()) {
      const uint64_t now = sc_core::sc_time_stamp().value();
      wake_.notify(sc_core::sc_time::from_value(std::max(now, due_.begin()->first) - now));
    }
  }
  void work() {
    const uint64_t now = sc_core::sc_time_stamp().value();
    for (auto it = due_.begin(); it != due_.end() && it->first <= now;) {
      const auto [payload, request] = it->second;
      if (!request && responding_ != nullptr) {
        ++it;
        continue;
      }
      it = due_.erase(it);
      tlm::tlm_phase phase = request ? tlm::END_REQ : tlm::BEGIN_RESP;
      sc_core::sc_time delay;
      if (!request) responding_ = payload;
      const tlm::tlm_sync_enum answer = socket->nb_transport_bw(*payload, phase, delay);
      if (!request && answer != tlm::TLM_ACCEPTED) {
        responding_ = nullptr;
        payload->release();
      }
      it = due_.begin();  // calls may have added some
    }
    if (responding_ == nullptr || (!due_.empty() && due_.begin()->first > now)) rearm();
  }

  uint64_t base_;
  std::vector<unsigned char> bytes_;
  std::multimap<uint64_t, std::pair<Payload*, bool>> due_;
  Payload* responding_ = nullptr;
  sc_core::sc_event wake_;
};

/// A register file behind a convenience socket: b_transport only. Every access takes 10 ns of its thread;
/// byte enables and streaming widths are done byte by byte.
class RegisterStyleTarget : public sc_core::sc_module {
 public:
  RegisterStyleTarget(sc_core::sc_module_name module_name, uint64_t size)
      : sc_core::sc_module(module_name), socket("socket"), bytes_(size) {
    socket.register_b_transport(this, &RegisterStyleTarget::transport);
  }
  tlm_utils::simple_target_socket<RegisterStyleTarget, 32> socket;
  uint32_t most = 0;  ///< calls at the same time

 private:
  void transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
    most = std::max(most, ++inside_);
    sc_core::wait(delay + sc_core::sc_time(10, sc_core::SC_NS));
    delay = sc_core::SC_ZERO_TIME;
    --inside_;
    const uint64_t width = std::min(p.get_streaming_width(), p.get_data_length());
    if (p.get_address() + width > bytes_.size()) {
      p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    for (unsigned i = 0; i < p.get_data_length(); ++i) {
      if (p.get_byte_enable_ptr() != nullptr &&
          p.get_byte_enable_ptr()[i % p.get_byte_enable_length()] != TLM_BYTE_ENABLED)
        continue;
      unsigned char& byte = bytes_[p.get_address() + i % width];
      p.is_write() ? byte = p.get_data_ptr()[i] : p.get_data_ptr()[i] = byte;
    }
    p.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  std::vector<unsigned char> bytes_;
  uint32_t inside_ = 0;
};

/// A bus master: b_transport only, payloads on the stack without a memory manager, 10 ns of delay, byte
/// enables, and a burst to one register by a streaming width below the length.
class BusStyleInitiator : public sc_core::sc_module {
 public:
  explicit BusStyleInitiator(sc_core::sc_module_name module_name)
      : sc_core::sc_module(module_name), socket("socket") {
    SC_HAS_PROCESS(BusStyleInitiator);
    SC_THREAD(run);
  }
  tlm_utils::simple_initiator_socket<BusStyleInitiator, 32> socket;
  std::string wrong;

 private:
  tlm::tlm_response_status access(bool write, uint64_t address, std::vector<unsigned char>& data,
                                  unsigned width, std::vector<unsigned char> enables = {}) {
    tlm::tlm_generic_payload p;
    p.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    p.set_address(address);
    p.set_data_ptr(data.data());
    p.set_data_length(static_cast<unsigned>(data.size()));
    p.set_streaming_width(width);
    p.set_byte_enable_ptr(enables.empty() ? nullptr : enables.data());
    p.set_byte_enable_length(static_cast<unsigned>(enables.size()));
    sc_core::sc_time delay(10, sc_core::SC_NS);
    socket->b_transport(p, delay);
    if (delay == sc_core::SC_ZERO_TIME && sc_core::sc_time_stamp() < sc_core::sc_time(10, sc_core::SC_NS))
      wrong += "the delay was forgotten\n";
    sc_core::wait(delay);
    return p.get_response_status();
  }
  void run() {
    std::vector<unsigned char> data(100);
    for (unsigned i = 0; i < data.size(); ++i) data[i] = static_cast<unsigned char>(i + 1);
    if (access(true, 0x103, data, 100) != tlm::TLM_OK_RESPONSE) wrong += "write\n";
    std::vector<unsigned char> fifo = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    if (access(true, 0x110, fifo, 4) != tlm::TLM_OK_RESPONSE) wrong += "burst to a register\n";
    std::vector<unsigned char> holes = {0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5};
    const unsigned char on = TLM_BYTE_ENABLED;
    const unsigned char off = TLM_BYTE_DISABLED;
    if (access(true, 0x120, holes, 6, {off, on, on}) != tlm::TLM_OK_RESPONSE) wrong += "byte enables\n";
    std::vector<unsigned char> expected = data;
    for (unsigned i = 0; i < 4; ++i) expected[0x110 - 0x103 + i] = fifo[8 + i];
    for (unsigned i = 0; i < 6; ++i)
      if (i % 3 != 0) expected[0x120 - 0x103 + i] = holes[i];
    std::vector<unsigned char> back(100);
    if (access(false, 0x103, back, 100) != tlm::TLM_OK_RESPONSE) wrong += "read\n";
    if (back != expected) wrong += "data\n";
    if (access(false, ~0ull - 200, back, 100) != tlm::TLM_ADDRESS_ERROR_RESPONSE)
      wrong += "an address that does not exist\n";
    finished = true;
  }

 public:
  bool finished = false;
};

}  // namespace weft::test

#endif
