// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The bytes of a memory: pages that exist while they hold anything but zeros; all others read as zeros.

#ifndef WEFT_SC_MODELS_BYTE_STORE_H
#define WEFT_SC_MODELS_BYTE_STORE_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tlm>
#include <unordered_map>

namespace weft {

class ByteStore {
 public:
  static constexpr uint64_t kPage = 4096;

  void read(uint64_t address, unsigned char* data, uint64_t bytes) const;
  void write(uint64_t address, const unsigned char* data, uint64_t bytes);

  /// A read or write of the generic payload with its byte enables and streaming width (IEEE 1666-2011, 14.8
  /// to 14.12). Its attributes were checked: data, a length and a streaming width above 0.
  void execute(tlm::tlm_generic_payload& payload);

  size_t pages() const { return pages_.size(); }

 private:
  using Page = std::array<unsigned char, kPage>;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace weft

#endif
