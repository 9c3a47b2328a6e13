// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/dma_tensors.h"

#include <algorithm>
#include <cstring>

#include "configs/hash64.h"

namespace weft {
DmaTensors::DmaTensors(uint64_t seed, uint64_t owner, uint64_t capacity)
    : seed_(hash64(seed) ^ hash64(~owner)), capacity_(capacity) {}

template <typename F>
void DmaTensors::for_each_part(uint64_t address, uint64_t bytes, F&& f) const {
  const uint64_t first = capacity_ == 0 ? bytes : std::min(bytes, capacity_ - address);
  f(address, first);
  if (first < bytes) f(0, bytes - first);
}

uint64_t DmaTensors::store(uint64_t address, uint64_t bytes) {
  const uint64_t tensor = next_++;
  place(tensor, address, bytes);
  Sized& sized = sized_[bytes];
  sized.unloaded.push_back(tensor);
  sized.last = tensor;
  return tensor;
}

void DmaTensors::store_as(uint64_t tensor, uint64_t address, uint64_t bytes) {
  if (has(tensor)) forget(tensor);
  place(tensor, address, bytes);
}

uint64_t DmaTensors::find(uint64_t bytes) {
  const auto found = sized_.find(bytes);
  if (found == sized_.end()) return kNone;
  Sized& sized = found->second;
  while (!sized.unloaded.empty()) {
    const uint64_t tensor = sized.unloaded.back();
    sized.unloaded.pop_back();
    if (tensors_.count(tensor) != 0) return tensor;
  }
  return tensors_.count(sized.last) != 0 ? sized.last : kNone;
}

void DmaTensors::move(uint64_t tensor, uint64_t address) {
  const uint64_t bytes = tensors_.at(tensor).bytes;
  forget(tensor);
  place(tensor, address, bytes);
}

void DmaTensors::place(uint64_t tensor, uint64_t address, uint64_t bytes) {
  for_each_part(address, bytes, [&](uint64_t begin, uint64_t n) {
    auto part = parts_.lower_bound(begin);
    if (part != parts_.begin() && std::prev(part)->second.end > begin) --part;
    while (part != parts_.end() && part->first < begin + n) {
      forget(part->second.tensor);
      part = parts_.lower_bound(begin);
    }
  });
  tensors_[tensor] = {address, bytes};
  for_each_part(address, bytes, [&](uint64_t begin, uint64_t n) { parts_[begin] = {begin + n, tensor}; });
}

void DmaTensors::forget(uint64_t tensor) {
  const auto found = tensors_.find(tensor);
  for_each_part(found->second.address, found->second.bytes,
                [&](uint64_t begin, uint64_t) { parts_.erase(begin); });
  tensors_.erase(found);
}

uint64_t DmaTensors::word(uint64_t tensor, uint64_t number) const {
  return hash64(seed_ + hash64(tensor) + number);
}

unsigned char DmaTensors::byte(uint64_t tensor, uint64_t offset) const {
  return static_cast<unsigned char>(word(tensor, offset / 8) >> (offset % 8 * 8));
}

void DmaTensors::fill(uint64_t tensor, uint64_t offset, unsigned char* data, uint64_t n) const {
  for (uint64_t i = 0; i < n;) {
    const uint64_t place = (offset + i) % 8;
    const uint64_t value = word(tensor, (offset + i) / 8) >> (place * 8);
    const uint64_t some = std::min(n - i, 8 - place);
    for (uint64_t b = 0; b < some; ++b) data[i + b] = static_cast<unsigned char>(value >> (b * 8));
    i += some;
  }
}

uint64_t DmaTensors::first_wrong(uint64_t tensor, uint64_t offset, const unsigned char* data,
                                 uint64_t n) const {
  unsigned char should[4096];
  for (uint64_t i = 0; i < n;) {
    const uint64_t some = std::min<uint64_t>(n - i, sizeof(should));
    fill(tensor, offset + i, should, some);
    if (std::memcmp(should, data + i, some) != 0)
      return i + static_cast<uint64_t>(std::mismatch(should, should + some, data + i).first - should);
    i += some;
  }
  return n;
}

}  // namespace weft
