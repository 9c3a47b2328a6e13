// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Which bytes the accesses of an NPU to one place of its host mean (`run.data: functional`). No kernel.

#ifndef WEFT_SC_MODELS_TIERS_TIER_TENSORS_H
#define WEFT_SC_MODELS_TIERS_TIER_TENSORS_H

#include <cstdint>
#include <map>
#include <vector>

namespace weft {

/// Nodes say how many bytes they access, not which tensor. So each store makes a tensor, and a load means the
/// tensor of its size that was stored last and has not been loaded yet; if all have been, the one stored
/// last; if there is none, one that has been there from the beginning. A tensor is known by the number of its
/// first chunk; those that follow have the numbers behind it.
class TierTensors {
 public:
  /// `next`: numbers of chunks, shared by the places of an NPU.
  explicit TierTensors(uint64_t& next) : next_(&next) {}

  /// A store of so many chunks begins: the first one's number.
  uint64_t begin_store(uint64_t chunks) {
    const uint64_t first = *next_;
    *next_ += chunks;
    return first;
  }
  /// .. has ended: loads may mean it from now on.
  void end_store(uint64_t first, uint64_t bytes) {
    Sized& sized = sized_[bytes];
    sized.unloaded.push_back(first);
    sized.last = first;
    sized.known = true;
  }
  /// The tensor that a load means.
  uint64_t load(uint64_t bytes, uint64_t chunks) {
    Sized& sized = sized_[bytes];
    if (!sized.unloaded.empty()) {
      const uint64_t first = sized.unloaded.back();
      sized.unloaded.pop_back();
      return first;
    }
    if (!sized.known) sized.last = begin_store(chunks);
    sized.known = true;
    return sized.last;
  }

 private:
  struct Sized {
    std::vector<uint64_t> unloaded;  ///< in the order of their stores
    uint64_t last = 0;
    bool known = false;
  };
  uint64_t* next_;
  std::map<uint64_t, Sized> sized_;
};

}  // namespace weft

#endif
