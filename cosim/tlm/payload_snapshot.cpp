// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/tlm/payload_snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace weft::cosim {
namespace {

std::string first_difference(const std::vector<unsigned char>& was, const unsigned char* is) {
  if (was.empty() || std::memcmp(was.data(), is, was.size()) == 0) return {};
  const size_t i = static_cast<size_t>(std::mismatch(was.begin(), was.end(), is).first - was.begin());
  return fmt::format("byte {} is 0x{:02x} and was 0x{:02x}", i, is[i], was[i]);
}

}  // namespace

PayloadSnapshot::PayloadSnapshot(const tlm::tlm_generic_payload& payload)
    : command_(payload.get_command()),
      address_(payload.get_address()),
      data_(payload.get_data_ptr()),
      length_(payload.get_data_length()),
      streaming_(payload.get_streaming_width()),
      enables_(payload.get_byte_enable_ptr()),
      enable_length_(enables_ != nullptr ? payload.get_byte_enable_length() : 0) {
  if (enables_ != nullptr) enable_bytes_.assign(enables_, enables_ + enable_length_);
  const bool watched =
      command_ == tlm::TLM_WRITE_COMMAND || (command_ == tlm::TLM_READ_COMMAND && enable_length_ != 0);
  if (watched && readable()) bytes_.assign(data_, data_ + length_);
  for (unsigned i = 0; i < tlm::max_num_extensions(); ++i) extensions_.push_back(payload.get_extension(i));
}

std::string PayloadSnapshot::changed_attribute(const tlm::tlm_generic_payload& p) const {
  if (p.get_command() != command_) return "the command";
  if (p.get_data_ptr() != data_) return "the data pointer";
  if (p.get_data_length() != length_)
    return fmt::format("the data length, {} instead of {}", p.get_data_length(), length_);
  if (p.get_streaming_width() != streaming_)
    return fmt::format("the streaming width, {} instead of {}", p.get_streaming_width(), streaming_);
  if (p.get_byte_enable_ptr() != enables_) return "the byte enable pointer";
  if (enables_ == nullptr) return {};
  if (p.get_byte_enable_length() != enable_length_)
    return fmt::format("the byte enable length, {} instead of {}", p.get_byte_enable_length(),
                       enable_length_);
  const std::string byte = first_difference(enable_bytes_, enables_);
  return byte.empty() ? byte : "the byte enables: " + byte;
}

std::string PayloadSnapshot::changed_data(const tlm::tlm_generic_payload& p) const {
  if (bytes_.empty()) return {};
  const unsigned char* const data = p.get_data_ptr();
  if (command_ == tlm::TLM_WRITE_COMMAND) return first_difference(bytes_, data);
  for (unsigned i = 0; i < length_; ++i)
    if (enable_bytes_[i % enable_length_] == TLM_BYTE_DISABLED && data[i] != bytes_[i])
      return fmt::format("byte {} is 0x{:02x} and was 0x{:02x}", i, data[i], bytes_[i]);
  return {};
}

std::string PayloadSnapshot::lost_extension(const tlm::tlm_generic_payload& p) const {
  for (unsigned i = 0; i < extensions_.size(); ++i)
    if (extensions_[i] != nullptr && p.get_extension(i) != extensions_[i])
      return fmt::format("extension number {} is {}", i,
                         p.get_extension(i) == nullptr ? "gone" : "another object");
  return {};
}

void PayloadSnapshot::take_response(const tlm::tlm_generic_payload& p) {
  if (readable() && command_ == tlm::TLM_READ_COMMAND && p.is_response_ok())
    response_.assign(data_, data_ + length_);
}

std::string PayloadSnapshot::changed_response(const tlm::tlm_generic_payload& p) const {
  return response_.empty() ? std::string{} : first_difference(response_, p.get_data_ptr());
}

}  // namespace weft::cosim
