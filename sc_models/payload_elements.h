// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The payloads of data-carrying mode, as bytes that cross a border.

#ifndef WEFT_SC_MODELS_PAYLOAD_ELEMENTS_H
#define WEFT_SC_MODELS_PAYLOAD_ELEMENTS_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tlm_interconnect/border/crossing.h"
#include "workload/collectives/payload_pool.h"

namespace weft {

/// Of the bytes that PayloadElements makes: how many at their end are the elements themselves.
size_t element_bytes(const std::vector<std::byte>& bytes);

class PayloadElements final : public fabric::CrossingElements {
 public:
  /// The pool outlives the object.
  explicit PayloadElements(collectives::PayloadPool& pool) : pool_(pool) {}

  std::vector<std::byte> take(uint32_t handle) override;
  /// Throws std::invalid_argument for bytes that are no payload.
  uint32_t put(const std::vector<std::byte>& bytes) override;

 private:
  collectives::PayloadPool& pool_;
};

}  // namespace weft

#endif
