// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The bytes of the pool's messages, groups and NPUs, with `run.data: functional`: what an access must bring
// is generated, put into the groups or the NPUs before it begins, moved, and compared at its end.

#ifndef WEFT_SC_MODELS_POOL_POOL_DATA_H
#define WEFT_SC_MODELS_POOL_POOL_DATA_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sc_models/pool/pool_access_state.h"

namespace weft {

class PoolData {
 public:
  using Bytes = std::vector<std::byte>;

  /// An access begins: its inputs, and the places for its results, are made.
  void begin(const PoolTransfer& transfer);
  /// It has ended: compares its results, and frees its data.
  void end(const PoolTransfer& transfer);

  // Messages' payloads, by handle; 0: none.
  uint32_t copy(uint32_t payload);
  /// The sum of several becomes the first one's; the others are freed.
  void combine(const std::vector<uint32_t>& payloads);

  /// Group: the bytes that it holds of a tensor.
  uint32_t read(const PoolTransfer& transfer, uint64_t offset, uint64_t bytes);
  void write(const PoolTransfer& transfer, uint64_t offset, uint32_t payload);
  /// NPU u: its part of a store, and what a load brings.
  uint32_t send(const PoolTransfer& transfer, uint32_t u, uint64_t offset, uint64_t bytes);
  void receive(const PoolTransfer& transfer, uint32_t u, uint64_t offset, uint32_t payload);

  /// Of a payload; as long as nobody applies it.
  unsigned char* bytes(uint32_t payload) {
    return reinterpret_cast<unsigned char*>(payloads_[payload].data());
  }

  uint64_t verified() const { return verified_; }  ///< bytes that were compared
  const std::vector<std::string>& wrong() const { return wrong_; }
  uint64_t live() const { return payloads_.size() - 1 - free_.size(); }

 private:
  struct Tensors {
    Bytes in_groups;             ///< of the whole tensor, wherever its parts are
    std::vector<bool> written;   ///< scatter, store: by byte, so that nothing comes twice
    std::vector<Bytes> at_npus;  ///< loads: what has come; one, or by NPU
    std::vector<std::vector<bool>> came;
  };
  uint32_t make(const std::byte* from, uint64_t bytes);
  void free(uint32_t payload);
  /// The byte at `offset` of what NPU u sends, or of what the groups hold.
  void fill(const PoolTransfer& transfer, uint32_t u, uint64_t offset, Bytes& bytes) const;
  Bytes expected_sum(const PoolTransfer& transfer) const;
  void compare(const PoolTransfer& transfer, const Bytes& is, const std::vector<bool>& came,
               const Bytes& should, const std::string& where);
  void note(const std::string& line);

  std::vector<Bytes> payloads_{1};
  std::vector<uint32_t> free_;
  std::map<uint32_t, Tensors> tensors_;  ///< by transfer
  uint64_t held_ = 0;                    ///< bytes in tensors_
  uint64_t verified_ = 0;
  std::vector<std::string> wrong_;
};

}  // namespace weft

#endif
