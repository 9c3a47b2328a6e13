// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What of a generic payload must not change during its transaction.

#ifndef WEFT_COSIM_TLM_PAYLOAD_SNAPSHOT_H
#define WEFT_COSIM_TLM_PAYLOAD_SNAPSHOT_H

#include <cstdint>
#include <string>
#include <tlm>
#include <vector>

namespace weft::cosim {

class PayloadSnapshot {
 public:
  PayloadSnapshot() = default;
  explicit PayloadSnapshot(const tlm::tlm_generic_payload& payload);

  uint64_t address() const { return address_; }  ///< as it was: interconnects may change it

  // What differs, in words; empty: nothing.
  /// Command, data pointer and length, byte enables (pointer, length and contents), streaming width.
  std::string changed_attribute(const tlm::tlm_generic_payload& payload) const;
  /// The data of a write; of a read the bytes that are not enabled. Only if no attribute has changed.
  std::string changed_data(const tlm::tlm_generic_payload& payload) const;
  /// Extensions that it had and has no more, or has another of.
  std::string lost_extension(const tlm::tlm_generic_payload& payload) const;
  /// Data that came with the response, from now on watched by changed_response().
  void take_response(const tlm::tlm_generic_payload& payload);
  std::string changed_response(const tlm::tlm_generic_payload& payload) const;

 private:
  bool readable() const { return data_ != nullptr && length_ != 0; }

  tlm::tlm_command command_ = tlm::TLM_IGNORE_COMMAND;
  uint64_t address_ = 0;
  unsigned char* data_ = nullptr;
  unsigned length_ = 0;
  unsigned streaming_ = 0;
  unsigned char* enables_ = nullptr;
  unsigned enable_length_ = 0;
  std::vector<unsigned char> bytes_;  ///< empty: none that must not change
  std::vector<unsigned char> enable_bytes_;
  std::vector<unsigned char> response_;
  std::vector<tlm::tlm_extension_base*> extensions_;
};

}  // namespace weft::cosim

#endif
