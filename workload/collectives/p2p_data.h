// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Data-carrying mode of point-to-point messages: each carries elements of its own, which its receiver
// compares with what was sent.

#ifndef WEFT_WORKLOAD_COLLECTIVES_P2P_DATA_H
#define WEFT_WORKLOAD_COLLECTIVES_P2P_DATA_H

#include <cstdint>
#include <string>
#include <vector>

#include "workload/collectives/data.h"

namespace weft::collectives {

class P2pData {
 public:
  /// The context outlives the object.
  explicit P2pData(DataContext& context) : context_(context) {}

  /// The payload of a message of kind point_to_point from `source` to `destination`: the handle goes with the
  /// message, and ownership with it. Bytes that are no whole element are the first of one.
  uint32_t load(uint32_t source, uint32_t destination, const MessageId& id, uint64_t bytes);

  /// Takes the payload of a message that arrived at `destination`. Empty: it is what load() gave it. Else one
  /// line that names the first wrong element.
  std::string check(uint32_t destination, const Completion& message);

  uint64_t messages() const { return messages_; }  ///< compared so far

 private:
  void fill(uint32_t source, uint32_t destination, const MessageId& id, uint64_t bytes,
            std::vector<std::byte>& out) const;

  DataContext& context_;
  uint64_t messages_ = 0;
};

}  // namespace weft::collectives

#endif
