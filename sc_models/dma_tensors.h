// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The tensors that a MemoryDma has in its memory (`run.data: functional`): what bytes they have, where they
// lie, and which of them an access means. No kernel.

#ifndef WEFT_SC_MODELS_DMA_TENSORS_H
#define WEFT_SC_MODELS_DMA_TENSORS_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace weft {

/// Nodes say how many bytes they access, not which tensor. So each store makes a tensor, and a load means the
/// tensor of its size that was stored last and has not been loaded yet; if all have been, the one stored
/// last; if there is none, one that has been in the memory from the beginning. A tensor is gone when another
/// one is put where it lies.
class DmaTensors {
 public:
  static constexpr uint64_t kNone = ~uint64_t{0};

  /// `capacity` of the memory in bytes; 0: unlimited. `owner`: which DMA of those with this seed.
  DmaTensors(uint64_t seed, uint64_t owner, uint64_t capacity);

  /// A new tensor at the address, up to the end of the memory and on from its beginning. At most the
  /// capacity. Its number.
  uint64_t store(uint64_t address, uint64_t bytes);
  /// A tensor with this number in place of the next one; it is not found by its size. One that has it
  /// already is gone.
  void store_as(uint64_t tensor, uint64_t address, uint64_t bytes);
  bool has(uint64_t tensor) const { return tensors_.count(tensor) != 0; }
  /// The tensor that a load of so many bytes means, or kNone.
  uint64_t find(uint64_t bytes);
  uint64_t address(uint64_t tensor) const { return tensors_.at(tensor).address; }
  /// A tensor lies elsewhere now.
  void move(uint64_t tensor, uint64_t address);
  /// Tensors that can still be loaded.
  size_t size() const { return tensors_.size(); }

  /// `n` bytes of a tensor from `offset` on.
  void fill(uint64_t tensor, uint64_t offset, unsigned char* data, uint64_t n) const;
  /// The first of `n` bytes that is not as it should be; n: none.
  uint64_t first_wrong(uint64_t tensor, uint64_t offset, const unsigned char* data, uint64_t n) const;
  unsigned char byte(uint64_t tensor, uint64_t offset) const;

 private:
  struct Tensor {
    uint64_t address = 0;
    uint64_t bytes = 0;
  };
  struct Sized {
    std::vector<uint64_t> unloaded;  ///< in the order of their stores; some may be gone
    uint64_t last = kNone;
  };
  template <typename F>
  void for_each_part(uint64_t address, uint64_t bytes, F&& f) const;
  void place(uint64_t tensor, uint64_t address, uint64_t bytes);
  void forget(uint64_t tensor);
  uint64_t word(uint64_t tensor, uint64_t number) const;

  const uint64_t seed_;
  const uint64_t capacity_;
  uint64_t next_ = 0;
  std::map<uint64_t, Tensor> tensors_;
  struct Part {
    uint64_t end = 0;
    uint64_t tensor = 0;
  };
  std::map<uint64_t, Part> parts_;  ///< of the memory, by their beginning: no two overlap
  std::map<uint64_t, Sized> sized_;
};

}  // namespace weft

#endif
