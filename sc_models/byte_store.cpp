// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/byte_store.h"

#include <algorithm>
#include <cstring>

namespace weft {
namespace {

/// Calls `part(page, offset in it, offset in the data, bytes)` for each page.
template <typename Part>
void by_page(uint64_t address, uint64_t bytes, Part&& part) {
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t offset = (address + done) % ByteStore::kPage;
    const uint64_t n = std::min(bytes - done, ByteStore::kPage - offset);
    part((address + done) / ByteStore::kPage, offset, done, n);
    done += n;
  }
}

}  // namespace

void ByteStore::read(uint64_t address, unsigned char* data, uint64_t bytes) const {
  by_page(address, bytes, [&](uint64_t page, uint64_t offset, uint64_t done, uint64_t n) {
    const auto found = pages_.find(page);
    if (found == pages_.end()) {
      std::memset(data + done, 0, n);
    } else {
      std::memcpy(data + done, found->second->data() + offset, n);
    }
  });
}

void ByteStore::write(uint64_t address, const unsigned char* data, uint64_t bytes) {
  by_page(address, bytes, [&](uint64_t page, uint64_t offset, uint64_t done, uint64_t n) {
    const auto zeros = [](const unsigned char* first, uint64_t count) {
      return first[0] == 0 && std::memcmp(first, first + 1, count - 1) == 0;
    };
    const bool clears = zeros(data + done, n);
    const auto found = pages_.find(page);
    if (found == pages_.end()) {
      if (clears) return;
      std::unique_ptr<Page> fresh = std::make_unique<Page>();  // zeros
      std::memcpy(fresh->data() + offset, data + done, n);
      pages_[page] = std::move(fresh);
      return;
    }
    Page& bytes_of = *found->second;
    std::memcpy(bytes_of.data() + offset, data + done, n);
    if (clears && zeros(bytes_of.data(), kPage)) pages_.erase(found);
  });
}

// Byte i of the data belongs to the address + i modulo the streaming width, and moves when byte enable i
// modulo their length says so. Stretches of enabled bytes move at once.
void ByteStore::execute(tlm::tlm_generic_payload& payload) {
  const uint64_t length = payload.get_data_length();
  const uint64_t width = std::min<uint64_t>(payload.get_streaming_width(), length);
  const unsigned char* const enables = payload.get_byte_enable_ptr();
  const uint64_t period = enables != nullptr ? payload.get_byte_enable_length() : 1;
  const auto enabled = [&](uint64_t i) {
    return enables == nullptr || enables[i % period] == TLM_BYTE_ENABLED;
  };
  if (enables != nullptr &&
      std::none_of(enables, enables + period, [](unsigned char e) { return e == TLM_BYTE_ENABLED; }))
    return;
  for (uint64_t i = 0; i < length;) {
    if (!enabled(i)) {
      ++i;
      continue;
    }
    uint64_t n = std::min(length - i, width - i % width);
    if (enables != nullptr) {
      uint64_t run = 1;
      while (run < n && enabled(i + run)) ++run;
      n = run;
    }
    unsigned char* const data = payload.get_data_ptr() + i;
    const uint64_t address = payload.get_address() + i % width;
    payload.is_write() ? write(address, data, n) : read(address, data, n);
    i += n;
  }
}

}  // namespace weft
